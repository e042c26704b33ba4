//! LiteRT's assignments.

use serde_json::Value;
use tileheap_baselines::tensor::pools::litert::{
    Assignment, LiteRecord, Rule, assign, positional_maximums, reallocation_graph, task_profiles,
};
use tileheap_tensor::MemoryDesc;
use tileheap_tensor::plan::Offsets;
use tileheap_tensor::plan::placement::{SpaceItem, place};
use tileheap_tensor::units::{Bytes, Span};

use super::{case, list, number, numbers, text};

fn sides(value: &Value) -> Vec<u64> {
    value.as_u64().map_or_else(|| numbers(value), |size| vec![size])
}

fn rule(strategy: &str) -> Rule {
    match strategy {
        "NAIVE" => Rule::Naive,
        "EQUALITY" => Rule::Equality,
        "GREEDY_IN_ORDER" => Rule::InOrder,
        "MINCOSTFLOW" => Rule::MinCostFlow,
        "GREEDY_BY_BREADTH" => Rule::ByBreadth,
        "GREEDY_BY_SIZE" => Rule::BySize,
        "GREEDY_BEST" => Rule::Best,
        other => panic!("{other} is a strategy of LiteRT"),
    }
}

#[test]
fn tensors_take_the_objects_that_litert_gives_them() {
    let Some(cases) = case("tflite_gpu_memory_management.json") else {
        return;
    };
    for of in list(&cases["assign"]) {
        let records: Vec<LiteRecord> = list(&of["records"])
            .iter()
            .map(|record| LiteRecord {
                size: sides(&record["size"]),
                first: number(&record["first_task"]) as u32,
                last: number(&record["last_task"]) as u32,
            })
            .collect();
        for expect in list(&of["expect"]) {
            let name = format!("{} {}", of["name"], expect["strategy"]);
            if text(&expect["kind"]) == "offsets" {
                let lifetime = |record: &LiteRecord| Span::new(record.first, record.last + 1);
                let items: Vec<SpaceItem> = records
                    .iter()
                    .map(|record| SpaceItem::record("t", lifetime(record), Bytes(record.size[0])))
                    .collect();
                let strategy = Offsets(tileheap_pack::Strategy::GreedyBySize);
                let space = place(&items, &[MemoryDesc::new("arena")], &strategy).unwrap();
                let offsets: Vec<u64> = space.regions.iter().map(|region| region.offset.0).collect();
                assert_eq!(offsets, numbers(&expect["offsets"]), "{name}");
                assert_eq!(space.memories[0].size.0, number(&expect["total_size"]), "{name}");
                continue;
            }
            let found = assign(&records, rule(text(&expect["strategy"])));
            let objects: Vec<u64> = found.objects.iter().map(|&object| object as u64).collect();
            assert_eq!(objects, numbers(&expect["object_ids"]), "{name}");
            let sizes: Vec<Vec<u64>> = list(&expect["object_sizes"]).iter().map(sides).collect();
            assert_eq!(found.sizes, sizes, "{name}");
        }
    }
}

#[test]
fn objects_become_offsets() {
    let Some(cases) = case("tflite_gpu_memory_management.json") else {
        return;
    };
    for of in list(&cases["objects_to_offsets"]) {
        let assignment = Assignment {
            objects: numbers(&of["object_ids"])
                .into_iter()
                .map(|object| object as usize)
                .collect(),
            sizes: list(&of["object_sizes"]).iter().map(sides).collect(),
        };
        let (offsets, total) = assignment.offsets();
        assert_eq!(offsets, numbers(&of["offsets"]), "{}", of["name"]);
        assert_eq!(total, number(&of["total_size"]), "{}", of["name"]);
    }
}

#[test]
fn maximums_and_profiles() {
    let Some(cases) = case("tflite_gpu_memory_management.json") else {
        return;
    };
    for of in list(&cases["positional_maximums"]) {
        let records: Vec<LiteRecord> = list(&of["records"])
            .iter()
            .map(|record| match numbers(record)[..] {
                [size, first, last] => LiteRecord {
                    size: vec![size],
                    first: first as u32,
                    last: last as u32,
                },
                _ => panic!("{record} is size, first and last task"),
            })
            .collect();
        assert_eq!(
            positional_maximums(&records),
            numbers(&of["positional_maximums"]),
            "{}",
            of["name"]
        );
        if let Some(profiles) = of["task_profiles"].as_array() {
            let expected: Vec<Vec<usize>> = profiles
                .iter()
                .map(|profile| numbers(profile).into_iter().map(|id| id as usize).collect())
                .collect();
            assert_eq!(task_profiles(&records), expected, "{}", of["name"]);
        }
    }
}

#[test]
fn who_may_take_whose_memory() {
    let Some(cases) = case("tflite_gpu_memory_management.json") else {
        return;
    };
    let graph = |value: &Value| -> Vec<Vec<usize>> {
        list(value)
            .iter()
            .map(|ids| numbers(ids).into_iter().map(|id| id as usize).collect())
            .collect()
    };
    for of in list(&cases["reallocation_graph"]) {
        let found = reallocation_graph(&graph(&of["deps_graph"]));
        assert_eq!(found, graph(&of["reallocation_graph"]), "{}", of["name"]);
    }
}
