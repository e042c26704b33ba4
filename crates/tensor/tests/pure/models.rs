//! The default strategy on public networks and on compilers' tables: plain records at the bound, graphs at theirs, and every strategy judged.

use std::path::PathBuf;

use tileheap_tensor::import::{read_lines, read_records};
use tileheap_tensor::plan::Offsets;
use tileheap_tensor::plan::placement::place;
use tileheap_tensor::{MemoryDesc, TensorPlanOptions};

fn files(folder: &str, ending: &str) -> Vec<PathBuf> {
    let files = std::fs::read_dir(tileheap_testkit::data("tensor").join(folder)).unwrap();
    let files = files
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_string_lossy().ends_with(ending));
    let mut files: Vec<PathBuf> = files.collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

#[test]
fn records_are_placed_at_the_bound() {
    let others = ["totals.csv", "_plan.csv"];
    let compiled = files("compilers", ".csv").into_iter();
    let compiled = compiled.filter(|file| !others.iter().any(|end| file.to_string_lossy().ends_with(end)));
    for file in files("models", ".csv").into_iter().chain(compiled) {
        let items = read_records(&std::fs::read_to_string(&file).unwrap()).unwrap();
        let memories = [MemoryDesc::new("device")];
        let space = place(&items, &memories, &Offsets(tileheap_pack::Strategy::Auto)).unwrap();
        let memory = &space.memories[0];
        assert_eq!(memory.size, memory.lower_bound, "{}", file.display());
    }
}

#[test]
fn networks_are_planned_at_the_bound() {
    for file in files("models", ".jsonl") {
        let graph = read_lines(&std::fs::read_to_string(&file).unwrap()).unwrap();
        let layouts = crate::buffers(&graph);
        let plan = crate::planned(&graph, &layouts, &TensorPlanOptions::default(), 64).unwrap();
        assert_eq!(plan.size(), plan.lower_bound(), "{}", graph.name());
    }
}

/// `place` accepts the result of every strategy.
#[test]
fn every_strategy_is_sound() {
    let files = files("models", "mobilenet_v2.fp16.csv");
    let items = read_records(&std::fs::read_to_string(&files[0]).unwrap()).unwrap();
    for strategy in crate::strategies() {
        let name = strategy.name();
        let space = place(&items, &[MemoryDesc::new("device")], &*strategy).unwrap();
        assert!(space.memories[0].size >= space.memories[0].lower_bound, "{name}");
    }
}
