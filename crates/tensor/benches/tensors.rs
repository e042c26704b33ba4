//! Tensor planning time: the seven networks of the published comparison tables, storage choice included, and the networks of
//! `tests/data/tensor/models`.

use std::hint::black_box;
use std::path::Path;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use tileheap_tensor::import::read_lines;
use tileheap_tensor::units::Alignment;
use tileheap_tensor::{
    ElementType, Graph, StorageOptions, TensorPlanOptions, TensorRequirements, choose, plan,
};

fn graphs() -> Vec<Graph> {
    let mut graphs =
        tileheap_testkit::tensor::networks::networks(ElementType::Float16).expect("known shapes");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/tensor/models");
    for name in ["convnext_tiny", "gpt2s_prefill128", "lstm2_loop32"] {
        let text =
            std::fs::read_to_string(folder.join(format!("{name}.jsonl"))).expect("data of the repository");
        graphs.push(read_lines(&text).expect("a network"));
    }
    graphs
}

fn plans(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("tensors");
    let pitch = Alignment::new(64).expect("not 0");
    for graph in graphs() {
        let choice = choose(&graph, &StorageOptions::default()).expect("within the limits");
        let needs: Vec<TensorRequirements> = choice
            .layouts
            .iter()
            .map(|layout| TensorRequirements::of_layout(layout, pitch))
            .collect();
        let size = format!("{}, {} tensors", graph.name(), choice.graph.tensors().len());
        group.bench_function(BenchmarkId::new("choose", &size), |bencher| {
            bencher.iter(|| choose(black_box(&graph), &StorageOptions::default()));
        });
        group.bench_function(BenchmarkId::new("plan", &size), |bencher| {
            bencher.iter(|| {
                plan(
                    &choice.graph,
                    &choice.layouts,
                    black_box(&needs),
                    &TensorPlanOptions::default(),
                )
            });
        });
    }
    group.finish();
}

criterion_group!(benches, plans);
criterion_main!(benches);
