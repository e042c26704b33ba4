//! LiteRT's memory assignments.

use serde_json::Value;
use tileheap_baselines::tensor::pools::litert::{
    Assignment, LiteRecord, Rule, assign, positional_maximums, task_profiles,
};
use tileheap_tensor::MemoryDesc;
use tileheap_tensor::plan::Offsets;
use tileheap_tensor::plan::placement::{SpaceItem, place};
use tileheap_tensor::units::{Bytes, Span};

use super::{case, indices, list, number, numbers, text};

/// Tensors that are live in half-open intervals of tasks.
fn records(of: &Value) -> Vec<LiteRecord> {
    let record = |tensor: &Value| LiteRecord {
        size: numbers(&tensor[0]),
        first: number(&tensor[1]) as u32,
        last: number(&tensor[2]) as u32 - 1,
    };
    list(&of["tensors"]).iter().map(record).collect()
}

fn assignment(of: &Value) -> Assignment {
    Assignment {
        objects: indices(&of["of_tensor"]),
        sizes: list(&of["sizes"]).iter().map(numbers).collect(),
    }
}

fn rule(name: &str) -> Rule {
    match name {
        "naive" => Rule::Naive,
        "equality" => Rule::Equality,
        "in-order" => Rule::InOrder,
        "min-cost-flow" => Rule::MinCostFlow,
        "by-breadth" => Rule::ByBreadth,
        "by-size" => Rule::BySize,
        other => panic!("{other} is a rule of LiteRT"),
    }
}

#[test]
fn tensors_take_the_objects_that_litert_gives_them() {
    for of in list(&case("litert")["assignments"]) {
        let (name, records) = (text(&of["name"]), records(of));
        for (by, expected) in of["objects"].as_object().unwrap() {
            assert_eq!(assign(&records, rule(by)), assignment(expected), "{name} {by}");
        }
        let Some(arena) = of.get("arena") else { continue };
        let item = |record: &LiteRecord| {
            let lifetime = Span::new(record.first, record.last + 1);
            SpaceItem::record("t", lifetime, Bytes(record.size[0]))
        };
        let items: Vec<SpaceItem> = records.iter().map(item).collect();
        let strategy = Offsets(tileheap_pack::Strategy::GreedyBySize);
        let space = place(&items, &[MemoryDesc::new("arena")], &strategy).unwrap();
        let offsets: Vec<u64> = space.regions.iter().map(|region| region.offset.0).collect();
        assert_eq!(offsets, numbers(&arena["offsets"]), "{name}");
        assert_eq!(space.memories[0].size.0, number(&arena["size"]), "{name}");
    }
}

#[test]
fn objects_become_offsets() {
    for of in list(&case("litert")["layouts"]) {
        let expected = (numbers(&of["offsets"]), number(&of["size"]));
        assert_eq!(assignment(of).offsets(), expected, "{of}");
    }
}

fn lists(value: &Value) -> Vec<Vec<usize>> {
    list(value).iter().map(indices).collect()
}

#[test]
fn maximums_and_profiles() {
    for of in list(&case("litert")["maximums"]) {
        let records = records(of);
        assert_eq!(positional_maximums(&records), numbers(&of["maximums"]), "{of}");
        if let Some(profiles) = of.get("profiles") {
            assert_eq!(task_profiles(&records), lists(profiles), "{of}");
        }
    }
}
