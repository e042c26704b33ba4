//! `tileheap tensors`: reports, comparisons, traces, and what is wrong with what was given.

use crate::run::{json, scratch, tileheap, tileheap_with};
use crate::support;

const RECORDS: &[u8] = b"id,lower,upper,size\na,0,2,64\nb,1,3,64\nc,2,4,64\n";
const TVM: &[u8] = br#"{"nodes": [{"op": "null", "name": "x", "inputs": []}, {"op": "null", "name": "p0", "inputs": []},
  {"op": "tvm_op", "name": "tvmgen_default_fused_nn_contrib_conv2d_NCHWc", "inputs": [[0, 0, 0], [1, 0, 0]]},
  {"op": "tvm_op", "name": "tvmgen_default_fused_nn_relu", "inputs": [[2, 0, 0]]}],
  "arg_nodes": [0, 1], "heads": [[3, 0, 0]], "node_row_ptr": [0, 1, 2, 3, 4], "attrs": {
  "shape": ["list_shape", [[1, 8, 40, 40, 4], [8, 32, 1, 1, 4], [1, 8, 40, 40, 4], [1, 8, 40, 40, 4]]],
  "dltype": ["list_str", ["float32", "float32", "float32", "float32"]], "storage_id": ["list_int", [0, 1, 2, 3]]}}"#;

#[test]
fn records_are_placed_and_drawn() {
    let text = tileheap_with(RECORDS, &["tensors", "-", "--dump"]).good();
    assert!(text.contains("128 B") && text.contains("ratio 1.000"), "{text}");
    assert!(
        text.contains("Live at the peak, step 1: 128 B") && text.contains("Live bytes over 4 steps"),
        "{text}"
    );
    let text = tileheap_with(RECORDS, &["tensors", "-", "--strategy", "naive"]).good();
    assert!(text.contains("192 B") && text.contains("ratio 1.500"), "{text}");
}

#[test]
fn the_allocation_graph_is_dumped() {
    let text = tileheap_with(RECORDS, &["tensors", "-", "--dump"]).good();
    let graph: Vec<&str> = text
        .lines()
        .skip_while(|line| !line.starts_with("Allocation graph of memory device: 128 B"))
        .skip(1)
        .filter_map(|line| line.split("  ").last())
        .collect();
    let expected = [
        "source -> a [0, 2)",
        "source -> b [1, 3)",
        "a [0, 2) -> c [2, 4)",
        "b [1, 3) -> sink",
        "c [2, 4) -> sink",
    ];
    assert_eq!(graph, expected, "{text}");
}

#[test]
fn where_there_are_several_memories_each_place_says_in_which() {
    let memories = ["tensors", "-", "--memory", "sram=64,dram", "--dump"];
    let text = tileheap_with(RECORDS, &memories).good();
    let dumped: Vec<&str> = text
        .lines()
        .skip_while(|line| *line != "Tensors")
        .take(4)
        .collect();
    assert!(
        dumped.iter().any(|line| line.contains("sram at 0 B"))
            && dumped.iter().any(|line| line.contains("dram at 0 B")),
        "{text}"
    );
    let peak: Vec<&str> = text
        .lines()
        .skip_while(|line| !line.starts_with("Live at the peak"))
        .skip(1)
        .take(2)
        .collect();
    assert!(
        peak.iter().any(|line| line.contains("sram")) && peak.iter().any(|line| line.contains("dram")),
        "{text}"
    );
    let message = tileheap_with(RECORDS, &["tensors", "-", "--compare", "--trace", "trace.json"]).bad(2);
    assert!(message.contains("--trace"), "{message}");
}

#[test]
fn a_graph_is_written_as_one_of_our_own_and_planned_alike() {
    let file = scratch("tensors-graph.json");
    let path = file.to_str().unwrap();
    let of_tvm = tileheap_with(TVM, &["tensors", "-", "--graph", path]).good();
    let ours = tileheap(&["tensors", path]).good();
    let bytes = |text: &str| {
        text.lines()
            .find(|line| line.contains("total"))
            .unwrap()
            .to_owned()
    };
    assert_eq!(bytes(&of_tvm), bytes(&ours));
    let message = tileheap_with(RECORDS, &["tensors", "-", "--graph", path]).bad(2);
    assert!(message.contains("--graph"), "{message}");
}

#[test]
fn strategies_are_compared_side_by_side() {
    let text = tileheap_with(RECORDS, &["tensors", "-", "--compare"]).good();
    for strategy in [
        "auto",
        "naive",
        "executorch-document",
        "token-rfc",
        "litert-best",
        "nnc",
        "storage-ids",
    ] {
        assert!(
            text.lines().any(|line| line.starts_with(strategy)),
            "{strategy}: {text}"
        );
    }
}

#[test]
fn a_tvm_graph_is_planned_and_written_back_with_scopes() {
    let (trace, scopes) = (scratch("tensors-trace.json"), scratch("tensors-scopes.json"));
    let arguments = [
        "tensors",
        "-",
        "--policy",
        "adreno",
        "--trace",
        trace.to_str().unwrap(),
        "--scopes",
        scopes.to_str().unwrap(),
    ];
    let text = tileheap_with(TVM, &arguments).good();
    assert!(text.contains("conversions"), "{text}");
    let trace = json(&std::fs::read_to_string(trace).unwrap());
    assert!(
        trace["traceEvents"]
            .as_array()
            .unwrap()
            .iter()
            .any(|event| event["name"] == "tvmgen_default_fused_nn_relu"),
        "{trace}"
    );
    let scopes = json(&std::fs::read_to_string(scopes).unwrap());
    let weight = "global.texture-weight";
    let given = serde_json::json!(["list_str", ["global.texture", weight, "global.texture", ""]]);
    assert_eq!(scopes["attrs"]["storage_scope"], given);
    // What was written is honoured without a policy, and written back.
    let (file, again) = (scratch("tensors-given.json"), scratch("tensors-again.json"));
    std::fs::write(&file, scopes.to_string()).unwrap();
    let path = file.to_str().unwrap();
    let text = tileheap(&["tensors", path, "--dump", "--scopes", again.to_str().unwrap()]).good();
    assert!(
        text.contains("3 in images")
            && text.contains("policy given")
            && text.contains("no texture scope was given"),
        "{text}"
    );
    assert_eq!(json(&std::fs::read_to_string(again).unwrap()), scopes);
}

#[test]
fn switches_decide_about_inputs_images_and_bounds() {
    let total = |more: &[&str]| {
        let text = tileheap_with(TVM, &[&["tensors", "-", "--policy", "balanced"], more].concat()).good();
        text.lines()
            .find(|line| line.contains("total"))
            .unwrap()
            .split_whitespace()
            .nth(1)
            .unwrap()
            .to_owned()
    };
    // 204,800 B each: x, the convolution and the rectifier; the weights are outside.
    assert_eq!(total(&[]), "409,600");
    assert_eq!(total(&["--keep-inputs"]), "614,400");
    assert_eq!(total(&["--external", "inputs,outputs"]), "204,800");
    let dump = |more: &[&str]| {
        tileheap_with(
            TVM,
            &[&["tensors", "-", "--policy", "balanced", "--dump"], more].concat(),
        )
    };
    assert!(
        dump(&["--image-limit", "100", "--oversize", "buffer"])
            .good()
            .contains("exceeds the limit of 100 x 100 x 1: a buffer")
    );
    assert!(
        dump(&["--image-limit", "100", "--oversize", "grid"])
            .good()
            .contains("images)")
    );
    assert!(
        dump(&["--input", "y"])
            .bad(2)
            .contains("input `y` is no `null` node")
    );
}

#[test]
fn carried_values_are_kept_in_place_copied_or_refused() {
    let text = br#"{"format": "tileheap-graph", "version": 1, "name": "g", "tensors": [{"name": "x", "element": "f32", "shape": [4]}],
      "inputs": ["x"], "outputs": ["l"], "nodes": [{"name": "l", "inputs": ["x"], "loop": {"parameters": ["p"], "nodes": [
      {"name": "y", "operator": "softmax", "inputs": ["p"]}, {"name": "z", "operator": "add", "inputs": ["y", "p"]}],
      "carried": [["z", "p"]], "exits": [{"after": 2, "condition": "z", "results": ["z"]}]}}]}"#;
    let avoided = tileheap_with(text, &["tensors", "-"]).good();
    assert!(avoided.contains(" 0 copies"), "{avoided}");
    let copied = tileheap_with(text, &["tensors", "-", "--carry", "copy"]).good();
    assert!(
        copied.contains("`z` is copied to `l/0`, in every round: copies were asked for"),
        "{copied}"
    );
    let refused = tileheap_with(
        text,
        &[
            "tensors",
            "-",
            "--carry",
            "forbid",
            "--unroll-limit",
            "1",
            "--no-in-place",
        ],
    )
    .bad(1);
    assert!(refused.contains("`l/0` needs a copy in every round"), "{refused}");
}

#[test]
fn what_is_wrong_is_named_on_one_line() {
    let message = tileheap_with(b"id,lower,upper,size\na,3,2,64\n", &["tensors", "-"]).bad(2);
    assert!(
        message.contains("line 2") && message.contains("lower 3"),
        "{message}"
    );
    let message = tileheap_with(RECORDS, &["tensors", "-", "--memory", "sram=127"]).bad(1);
    assert!(
        message.contains("`sram` has 127 B") && message.contains("128 B are needed"),
        "{message}"
    );
    let message = tileheap_with(b"{}", &["tensors", "-"]).bad(2);
    assert!(message.contains("graph"), "{message}");
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
            let text = tileheap(&["tensors", name]).good();
            assert!(
                text.contains("total") && text.contains("Live at the peak"),
                "{name}: {text}"
            );
        }
    }
}
