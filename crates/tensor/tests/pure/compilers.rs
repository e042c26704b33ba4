//! Tables and a graph that compilers made of our own small networks, in `tests/data/tensor/compilers`.

use std::collections::BTreeMap;

use tileheap_tensor::import::read_records;
use tileheap_tensor::import::tvm::TvmGraph;
use tileheap_tensor::plan::Offsets;
use tileheap_tensor::plan::placement::{Space, SpaceItem, place};
use tileheap_tensor::units::Alignment;
use tileheap_tensor::{MemoryDesc, PlacementStrategy};

const TABLES: [&str; 9] = [
    "executorch_lstm",
    "executorch_transformer",
    "executorch_unet",
    "iree_lstm",
    "iree_mobilenet_v2",
    "iree_transformer",
    "litert_mobilenet_v2",
    "relax_resnet18_llvm",
    "relax_unet_llvm",
];

fn read(file: &str) -> String {
    let path = tileheap_testkit::data(&format!("tensor/compilers/{file}"));
    std::fs::read_to_string(path).unwrap()
}

/// The fields of a table's lines, without the header.
fn fields(text: &str) -> impl Iterator<Item = Vec<&str>> {
    text.lines().skip(1).map(|line| line.split(',').collect())
}

fn placed(table: &str, strategy: &dyn PlacementStrategy) -> (Vec<SpaceItem>, Space) {
    let text = read(&format!("{table}.csv"));
    let mut items = read_records(&text).unwrap();
    for (item, fields) in items.iter_mut().zip(fields(&text)) {
        item.alignment = Alignment::new(fields[4].parse().unwrap()).unwrap();
    }
    let space = place(&items, &[MemoryDesc::new("arena")], strategy).unwrap();
    (items, space)
}

#[test]
fn tables_are_placed_at_the_bound() {
    for table in TABLES {
        let (_, space) = placed(table, &Offsets(tileheap_pack::Strategy::Auto));
        let memory = &space.memories[0];
        assert_eq!(memory.size, memory.lower_bound, "{table}");
    }
}

#[test]
fn the_compilers_own_totals_are_reproduced() {
    let totals = read("totals.csv");
    for fields in fields(&totals) {
        let (table, strategy, bytes): (_, _, u64) = (fields[0], fields[1], fields[2].parse().unwrap());
        let (_, space) = placed(table, &*crate::strategy(strategy));
        assert_eq!(space.memories[0].size.0, bytes, "{table} by {strategy}");
    }
}

/// LiteRT's own addresses: live tensors share bytes only where a result overwrites its operand, and the arena is larger than ours.
#[test]
fn the_plan_of_litert_is_sound_and_larger() {
    let (items, ours) = placed("litert_mobilenet_v2", &Offsets(tileheap_pack::Strategy::Auto));
    let plan = read("litert_mobilenet_v2_plan.csv");
    let offsets: Vec<u64> = fields(&plan).map(|fields| fields[5].parse().unwrap()).collect();
    assert_eq!(offsets.len(), items.len());
    let ends = |index: usize| offsets[index] + items[index].size.0;
    for a in 0..items.len() {
        for b in 0..a {
            let apart = ends(a) <= offsets[b] || ends(b) <= offsets[a];
            let (result, operand) = (items[a].lifetimes[0], items[b].lifetimes[0]);
            let in_place = offsets[a] == offsets[b] && result.first.0 + 1 == operand.end.0;
            assert!(apart || in_place || !items[a].overlaps(&items[b]), "{a} and {b}");
        }
    }
    let size = (0..items.len()).map(ends).max().unwrap();
    assert_eq!((size, ours.memories[0].size.0), (6_623_232, 6_021_120));
}

/// A graph of Relax for Adreno: 5-d shapes, scopes, and the storage that it gave to its intermediates.
#[test]
fn the_graph_of_relax_keeps_its_scopes_and_storages() {
    let graph = TvmGraph::read(&read("tvm_relax_adreno_resnet18.json"))
        .unwrap()
        .graph;
    let in_textures = graph.tensors().iter().filter(|tensor| tensor.scope.is_some());
    assert_eq!((in_textures.count(), graph.tensors().len()), (20, 26));
    let mut storages = BTreeMap::new();
    for tensor in graph.tensors().iter().filter(|tensor| tensor.name != "input_1") {
        let elements: u64 = tensor.shape.fixed().unwrap().iter().product();
        let storage: &mut u64 = storages.entry(tensor.storage_id).or_default();
        *storage = (*storage).max(elements * 4);
    }
    assert_eq!(storages.values().sum::<u64>(), 4_923_296);
}
