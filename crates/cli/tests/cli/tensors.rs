//! `tileheap tensors`: reports, comparisons, traces, and what is wrong with what was given.

use crate::run::{Run, json, list, place, tileheap, tileheap_with};
use crate::support;

const RECORDS: &str = "id,lower,upper,size\na,0,2,64\nb,1,3,64\nc,2,4,64\n";
const TVM: &str = r#"{"nodes": [{"op": "null", "name": "x", "inputs": []}, {"op": "null", "name": "p0", "inputs": []},
  {"op": "tvm_op", "name": "tvmgen_default_fused_nn_contrib_conv2d_NCHWc", "inputs": [[0, 0, 0], [1, 0, 0]]},
  {"op": "tvm_op", "name": "tvmgen_default_fused_nn_relu", "inputs": [[2, 0, 0]]}],
  "arg_nodes": [0, 1], "heads": [[3, 0, 0]], "node_row_ptr": [0, 1, 2, 3, 4], "attrs": {
  "shape": ["list_shape", [[1, 8, 40, 40, 4], [8, 32, 1, 1, 4], [1, 8, 40, 40, 4], [1, 8, 40, 40, 4]]],
  "dltype": ["list_str", ["float32", "float32", "float32", "float32"]], "storage_id": ["list_int", [0, 1, 2, 3]]}}"#;

fn tensors(input: &str, options: &[&str]) -> Run {
    tileheap_with(input.as_bytes(), &[&["tensors", "-"], options].concat())
}

/// So many lines from the one that starts so.
fn lines<'a>(text: &'a str, start: &str, count: usize) -> Vec<&'a str> {
    let from = text.lines().skip_while(|line| !line.starts_with(start));
    from.take(count).collect()
}

#[test]
fn records_are_placed_drawn_and_dumped() {
    let text = tensors(RECORDS, &["--dump"]).shows(&[
        "128 B",
        "ratio 1.000",
        "Live at the peak, step 1: 128 B",
        "Live bytes over 4 steps",
    ]);
    let graph = lines(&text, "Allocation graph of memory device: 128 B", 6);
    let graph = graph[1..].iter().filter_map(|line| line.split("  ").last());
    let expected = [
        "source -> a [0, 2)",
        "source -> b [1, 3)",
        "a [0, 2) -> c [2, 4)",
        "b [1, 3) -> sink",
        "c [2, 4) -> sink",
    ];
    assert!(graph.eq(expected), "{text}");
    tensors(RECORDS, &["--strategy", "naive"]).shows(&["192 B", "ratio 1.500"]);
}

#[test]
fn where_there_are_several_memories_each_place_says_in_which() {
    let text = tensors(RECORDS, &["--memory", "sram=64,dram", "--dump"]).good();
    for (start, count, parts) in [
        ("Tensors", 4, ["sram at 0 B", "dram at 0 B"]),
        ("Live at the peak", 3, ["sram", "dram"]),
    ] {
        let lines = lines(&text, start, count);
        for part in parts {
            assert!(lines.iter().any(|line| line.contains(part)), "{text}");
        }
    }
    tensors(RECORDS, &["--compare", "--trace", "trace.json"]).names(2, &["--trace"]);
}

/// The line of all memories.
fn total(text: &str) -> &str {
    text.lines().find(|line| line.contains("total")).expect("a total")
}

#[test]
fn a_graph_is_written_as_one_of_our_own_and_planned_alike() {
    let path = place("tensors-graph.json");
    let of_tvm = tensors(TVM, &["--graph", &path]).good();
    assert_eq!(total(&of_tvm), total(&tileheap(&["tensors", &path]).good()));
    tensors(RECORDS, &["--graph", &path]).names(2, &["--graph"]);
}

#[test]
fn strategies_are_compared_side_by_side() {
    let text = tensors(RECORDS, &["--compare"]).good();
    let strategies = "auto naive executorch-document token-rfc litert-best nnc storage-ids";
    for strategy in strategies.split(' ') {
        assert!(!lines(&text, strategy, 1).is_empty(), "{strategy}: {text}");
    }
}

#[test]
fn a_tvm_graph_is_planned_and_written_back_with_scopes() {
    let (trace, scopes) = (place("tensors-trace.json"), place("tensors-scopes.json"));
    let options = ["--policy", "adreno", "--trace", &trace, "--scopes", &scopes];
    tensors(TVM, &options).shows(&["conversions"]);
    let read = |path: &str| json(&std::fs::read_to_string(path).unwrap());
    let trace = read(&trace);
    let mut events = list(&trace["traceEvents"]).iter();
    assert!(
        events.any(|event| event["name"] == "tvmgen_default_fused_nn_relu"),
        "{trace}"
    );
    let weight = "global.texture-weight";
    let given = serde_json::json!(["list_str", ["global.texture", weight, "global.texture", ""]]);
    assert_eq!(read(&scopes)["attrs"]["storage_scope"], given);
    // What was written is honoured without a policy, and written back.
    let again = place("tensors-again.json");
    let text = tileheap(&["tensors", &scopes, "--dump", "--scopes", &again]);
    text.shows(&["3 in images", "policy given", "no texture scope was given"]);
    assert_eq!(read(&again), read(&scopes));
}

#[test]
fn switches_decide_about_inputs_images_and_bounds() {
    let balanced = |more: &[&str]| tensors(TVM, &[&["--policy", "balanced"], more].concat());
    // 204,800 B each: x, the convolution and the rectifier; the weights are outside.
    for (options, bytes) in [
        (&[][..], "409,600"),
        (&["--keep-inputs"], "614,400"),
        (&["--external", "inputs,outputs"], "204,800"),
    ] {
        let text = balanced(options).good();
        assert_eq!(total(&text).split_whitespace().nth(1), Some(bytes), "{options:?}");
    }
    let oversize = |with: &str| balanced(&["--dump", "--image-limit", "100", "--oversize", with]);
    oversize("buffer").shows(&["exceeds the limit of 100 x 100 x 1: a buffer"]);
    oversize("grid").shows(&["images)"]);
    balanced(&["--input", "y"]).names(2, &["input `y` is no `null` node"]);
}

#[test]
fn carried_values_are_kept_in_place_copied_or_refused() {
    let text = r#"{"format": "tileheap-graph", "version": 1, "name": "g", "tensors": [{"name": "x", "element": "f32", "shape": [4]}],
      "inputs": ["x"], "outputs": ["l"], "nodes": [{"name": "l", "inputs": ["x"], "loop": {"parameters": ["p"], "nodes": [
      {"name": "y", "operator": "softmax", "inputs": ["p"]}, {"name": "z", "operator": "add", "inputs": ["y", "p"]}],
      "carried": [["z", "p"]], "exits": [{"after": 2, "condition": "z", "results": ["z"]}]}}]}"#;
    tensors(text, &[]).shows(&[" 0 copies"]);
    let copied = tensors(text, &["--carry", "copy"]);
    copied.shows(&["`z` is copied to `l/0`, in every round: copies were asked for"]);
    let refused = ["--carry", "forbid", "--unroll-limit", "1", "--no-in-place"];
    tensors(text, &refused).names(1, &["`l/0` needs a copy in every round"]);
}

#[test]
fn what_is_wrong_is_named_on_one_line() {
    let above = "id,lower,upper,size\na,3,2,64\n";
    tensors(above, &[]).names(2, &["line 2", "lower 3"]);
    let short = tensors(RECORDS, &["--memory", "sram=127"]);
    short.names(1, &["`sram` has 127 B", "128 B are needed"]);
    tensors("{}", &[]).names(2, &["graph"]);
}

#[test]
fn every_model_and_every_compilers_file_is_planned() {
    for folder in ["tensor/models", "tensor/compilers"] {
        for entry in std::fs::read_dir(support::data(folder)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.to_str().unwrap();
            if name.ends_with("totals.csv") || (name.ends_with(".onnx") && !cfg!(feature = "onnx")) {
                continue;
            }
            tileheap(&["tensors", name]).shows(&["total", "Live at the peak"]);
        }
    }
}
