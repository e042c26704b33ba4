//! `tileheap tensors`: reports, comparisons, traces, and what is wrong with what was given.

use crate::run::{json, scratch, tileheap, tileheap_with};
use crate::support;

const RECORDS: &[u8] = b"id,lower,upper,size\na,0,2,64\nb,1,3,64\nc,2,4,64\n";
const TVM: &[u8] = br#"{"nodes": [{"op": "null", "name": "x", "inputs": []}, {"op": "tvm_op", "name": "conv2d", "inputs": [[0, 0, 0]]},
  {"op": "tvm_op", "name": "relu", "inputs": [[1, 0, 0]]}],
  "arg_nodes": [0], "heads": [[2, 0, 0]], "node_row_ptr": [0, 1, 2, 3], "attrs": {
  "shape": ["list_shape", [[1, 32, 40, 40], [1, 32, 40, 40], [1, 32, 40, 40]]], "dltype": ["list_str", ["float32", "float32", "float32"]],
  "storage_id": ["list_int", [0, 1, 2]]}}"#;

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
            .any(|event| event["name"] == "relu"),
        "{trace}"
    );
    let scopes = json(&std::fs::read_to_string(scopes).unwrap());
    assert_eq!(
        scopes["attrs"]["storage_scope"][1].as_array().unwrap().len(),
        3,
        "{scopes}"
    );
    assert!(
        scopes["attrs"]["storage_scope"][1][1]
            .as_str()
            .unwrap()
            .starts_with("global.texture"),
        "{scopes}"
    );
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
