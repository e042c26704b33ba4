//! The judge of other planners' output on files that compilers wrote: sound as they are, and refused if damaged.

use std::path::Path;

use tileheap_tensor::judge::{
    Allocations, Buffer, BufferFault, JudgedAllocations, ReadOptions, SpanEnds, judge, read,
};
use tileheap_tensor::units::{Bytes, SplitMix64};

/// A file of `tests/data/tensor/judge`.
fn data(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/tensor/judge");
    std::fs::read(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn allocations(bytes: &[u8]) -> Allocations {
    read(bytes, &ReadOptions::default()).unwrap()
}

fn judged(bytes: &[u8]) -> JudgedAllocations {
    judge(allocations(bytes)).unwrap()
}

/// A file with one sequence of 32-bit words replaced.
fn patched(name: &str, from: &[i32], to: &[i32]) -> Vec<u8> {
    let mut bytes = data(name);
    let bytes_of = |words: &[i32]| {
        words
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect::<Vec<u8>>()
    };
    let (from, to) = (bytes_of(from), bytes_of(to));
    let found: Vec<usize> = (0..bytes.len() - from.len())
        .filter(|&at| bytes[at..].starts_with(&from))
        .collect();
    let &[at] = &found[..] else {
        panic!("{} places in {name}", found.len())
    };
    bytes[at..at + to.len()].copy_from_slice(&to);
    bytes
}

/// A text with one part replaced.
fn replaced(name: &str, from: &str, to: &str) -> Vec<u8> {
    let text = String::from_utf8(data(name)).unwrap();
    let text = text.replace("\r\n", "\n");
    assert_eq!(text.matches(from).count(), 1, "{from}");
    text.replace(from, to).into_bytes()
}

/// Names of the buffers that overlap, the number of shared bytes, and the first and the last step of their first overlap.
fn overlaps(bytes: &[u8]) -> Vec<(String, String, u64, u32, u32)> {
    let judged = judged(bytes);
    let name = |index: u32| judged.allocations.buffers[index as usize].name.clone();
    let listed = judged.overlaps.iter().map(|of| {
        let (first, last) = (of.steps[0].first.0, of.steps[0].end.0 - 1);
        (name(of.a), name(of.b), of.bytes.0, first, last)
    });
    listed.collect()
}

fn named(a: &str, b: &str, bytes: u64, first: u32, last: u32) -> (String, String, u64, u32, u32) {
    (a.to_owned(), b.to_owned(), bytes, first, last)
}

const FILES: [(&str, usize); 10] = [
    ("network_vela.tflite", 6),
    ("control.tflite", 22),
    ("transformer.pte", 50),
    ("cache.pte", 11),
    ("cond.pte", 10),
    ("two.pte", 61),
    ("views.pte", 9),
    ("relax_planned.txt", 6),
    ("relax_killed.txt", 7),
    ("iree_mlp.txt", 4),
];

#[test]
fn files_as_compilers_wrote_them_are_sound() {
    for (name, count) in FILES {
        let judged = judged(&data(name));
        let of = &judged.allocations;
        assert!(
            judged.is_sound(),
            "{name}: {:?} {:?} {:#?}",
            overlaps(&data(name)),
            judged.faults,
            of.buffers
        );
        assert_eq!(of.buffers.len(), count, "{name}: {:#?}", of.buffers);
        for (arena, bytes) in of.arenas.iter().zip(&judged.arenas) {
            assert!(
                bytes.bound <= bytes.packed && bytes.packed <= bytes.used,
                "{name}: {bytes:?}"
            );
            assert!(
                arena.size.is_none_or(|size| bytes.used <= size),
                "{name}: {bytes:?}"
            );
        }
    }
}

#[test]
fn the_bytes_of_plans_are_those_their_compilers_tell() {
    let used = |name: &str| {
        judged(&data(name))
            .arenas
            .iter()
            .map(|arena| arena.used.0)
            .sum::<u64>()
    };
    assert_eq!(used("network_vela.tflite"), 18 * 1024);
    assert_eq!(used("cond.pte"), 513);
    assert_eq!(used("cache.pte"), 768);
    assert_eq!(used("relax_planned.txt"), 16_384);
    assert_eq!(used("iree_mlp.txt"), 8192);
}

#[test]
fn an_offset_that_makes_live_tensors_of_a_model_collide_is_found() {
    // `sin_in` is at 2,048, `sin` at 10,240; the operator between them reads one and writes the other.
    let bytes = patched("network_vela.tflite", &[2048, 10240, 2048], &[2048, 8192, 2048]);
    assert_eq!(overlaps(&bytes), [named("sin_in", "sin", 2048, 3, 3)]);
    // In place is allowed only at exactly the same offset.
    let bytes = patched("network_vela.tflite", &[2048, 10240, 2048], &[2048, 2048, 10240]);
    assert_eq!(overlaps(&bytes), []);
}

#[test]
fn a_lifetime_of_a_model_that_is_longer_is_found() {
    // The last operator reads `picture`, which `sum` overwrote, instead of `sum`.
    let bytes = patched("network_vela.tflite", &[8, 1, 2, 2, 7, 4], &[8, 1, 2, 2, 7, 3]);
    let found = overlaps(&bytes);
    assert!(
        found.contains(&named("picture", "sin_in", 0, 0, 0)) || !found.is_empty(),
        "{found:?}"
    );
    assert!(
        found.iter().all(|of| of.0 == "picture" || of.1 == "picture"),
        "{found:?}"
    );
}

#[test]
fn a_tensor_that_nothing_writes_is_found() {
    // The third operator reads what the fourth one writes.
    let mut found = 0;
    for (bytes, name) in [
        (
            patched("cache.pte", &[4, 6, 11, 12, 10, 10], &[10, 6, 11, 12, 10, 10]),
            "value 10",
        ),
        (
            patched("cache.pte", &[13, 22, 20, 20], &[13, 22, 13, 13]),
            "value 20",
        ),
    ] {
        let judged = judged(&bytes);
        let of = &judged.allocations;
        let unwritten = judged
            .faults
            .iter()
            .filter(|fault| matches!(fault.fault, BufferFault::NeverWritten { .. }));
        found += unwritten
            .filter(|fault| of.buffers[fault.buffer as usize].name == name)
            .count();
    }
    assert_eq!(found, 1);
}

#[test]
fn a_lifetime_of_a_program_that_is_longer_is_found() {
    // The view reads the transposed weights, which the results of `topk` overwrote.
    let bytes = patched("cache.pte", &[13, 22, 20, 20], &[6, 22, 20, 20]);
    let found = overlaps(&bytes);
    assert_eq!(
        found[..2],
        [
            named("value 6", "value 13", 48, 4, 4),
            named("value 6", "value 14", 96, 4, 4)
        ]
    );
}

#[test]
fn a_view_that_is_not_where_its_base_is_is_found() {
    // Value 29 is a view of value 24, at 512.
    let bytes = data("views.pte");
    let places = (0..bytes.len() - 4).step_by(4);
    let moved = places.filter(|&place| bytes[place..].starts_with(&512u32.to_le_bytes()));
    let moved = moved.filter_map(|place| {
        let mut bytes = bytes.clone();
        bytes[place..place + 4].copy_from_slice(&256u32.to_le_bytes());
        read(&bytes, &ReadOptions::default()).ok()
    });
    let is_moved = |of: &Buffer| of.name == "value 29" && of.offset == Bytes(256);
    let moved: Vec<Allocations> = moved.filter(|of| of.buffers.iter().any(is_moved)).collect();
    assert_eq!(moved.len(), 1);
    let judged = judge(moved.into_iter().next().unwrap()).unwrap();
    let found = judged.faults.iter().find_map(|fault| match fault.fault {
        BufferFault::DetachedView { expected, .. } => Some((fault.buffer, expected)),
        _ => None,
    });
    let (view, expected) = found.unwrap();
    assert_eq!(judged.allocations.buffers[view as usize].name, "value 29");
    assert_eq!(expected, Bytes(512));
}

/// Moves every tensor onto every other one that is live at the same time.
#[test]
fn every_tensor_that_is_moved_onto_a_live_one_is_found() {
    for (name, least) in [
        ("transformer.pte", 40),
        ("network_vela.tflite", 3),
        ("control.tflite", 10),
        ("two.pte", 30),
    ] {
        let bytes = data(name);
        let sound = allocations(&bytes);
        let mut count = 0;
        for (index, buffer) in sound.buffers.iter().enumerate() {
            let at = |bytes: &[u8], to: u64| {
                let moved = read(bytes, &ReadOptions::default()).ok()?;
                let mut expected = sound.clone();
                expected.buffers.get_mut(index)?.offset = Bytes(to);
                let offsets = |of: &Allocations| {
                    of.buffers
                        .iter()
                        .map(|of| (of.index, of.offset))
                        .collect::<Vec<_>>()
                };
                (offsets(&moved) == offsets(&expected)).then_some(moved)
            };
            let word = (buffer.offset.0 as u32).to_le_bytes();
            let places = (0..bytes.len() - 4)
                .step_by(4)
                .filter(|&place| bytes[place..].starts_with(&word));
            let probe = buffer.offset.0 + 4096;
            let put = |place: usize, to: u64| {
                let mut bytes = bytes.clone();
                bytes[place..place + 4].copy_from_slice(&(to as u32).to_le_bytes());
                bytes
            };
            let Some(place) = places
                .clone()
                .find(|&place| at(&put(place, probe), probe).is_some())
            else {
                continue;
            };
            // A view whose operator was removed is identified only by its place.
            let has_views = |one: &Buffer| {
                let data = |of: &Buffer| of.view.map(|of| of.data);
                sound.buffers.iter().filter(|of| data(of) == data(one)).count() > 1
            };
            if has_views(buffer) {
                continue;
            }
            for other in &sound.buffers {
                let is_alive = other.lifetimes.iter().any(|one| {
                    buffer.lifetimes.iter().any(|two| {
                        one.overlaps(*two) && one.first.max(two.first).0 + 1 < one.end.min(two.end).0
                    })
                });
                if !is_alive
                    || other == buffer
                    || has_views(other)
                    || other.arena != buffer.arena
                    || other.size == Bytes::ZERO
                {
                    continue;
                }
                let moved = at(&put(place, other.offset.0), other.offset.0).unwrap();
                let judged = judge(moved).unwrap();
                assert!(!judged.is_sound(), "{name}: {} onto {}", buffer.name, other.name);
                count += 1;
            }
        }
        assert!(count >= least, "{name}: {count}");
    }
}

#[test]
fn tensors_of_a_script_in_a_storage_that_is_taken_are_found() {
    let bytes = replaced(
        "relax_planned.txt",
        "alloc4: R.Tensor((1, 8, 64), dtype=\"float32\") = R.memory.alloc_tensor(storage,",
        "alloc4: R.Tensor((1, 8, 64), dtype=\"float32\") = R.memory.alloc_tensor(storage1,",
    );
    let found = overlaps(&bytes);
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!(
        (found[0].0.as_str(), found[0].1.as_str(), found[0].2),
        ("alloc3", "alloc4", 2048)
    );
    // `lv` is another name for `alloc`, whose storage others took.
    let bytes = replaced("relax_planned.txt", "conv2d2(lv8,", "conv2d2(lv,");
    let found = overlaps(&bytes);
    assert!(
        found
            .iter()
            .any(|of| (of.0.as_str(), of.1.as_str()) == ("alloc", "alloc2")),
        "{found:?}"
    );
    // A storage that is too small.
    let bytes = replaced(
        "relax_planned.txt",
        "storage1: R.Any = R.memory.alloc_storage(R.shape([8192])",
        "storage1: R.Any = R.memory.alloc_storage(R.shape([8188])",
    );
    let judged = judged(&bytes);
    assert!(
        matches!(judged.faults[0].fault, BufferFault::OutsideStorage { .. }),
        "{:?}",
        judged.faults
    );
}

#[test]
fn slices_that_overlap_are_found() {
    let bytes = replaced(
        "iree_mlp.txt",
        "%c4096_3 = arith.constant 4096 : index",
        "%c4096_3 = arith.constant 2048 : index",
    );
    let found = overlaps(&bytes);
    assert_eq!(
        found,
        [
            named("%4#1", "%4#2", 2048, 1, 1),
            named("%4#2", "%4#3", 2048, 2, 3)
        ]
    );
    let bytes = replaced("iree_mlp.txt", "[0, 1] = %c4096,", "[0, 2] = %c4096,");
    assert_eq!(overlaps(&bytes), [named("%4#1", "%4#3", 4096, 2, 2)]);
}

#[test]
fn storage_ids_that_live_entries_share_are_found() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/tensor/compilers");
    let text = std::fs::read_to_string(folder.join("tvm_relax_adreno_resnet18.json")).unwrap();
    let found = judged(text.as_bytes());
    assert!(found.is_sound(), "{:?}", overlaps(text.as_bytes()));
    let graph = r#"{
        "nodes": [
            { "op": "null", "name": "x", "inputs": [] },
            { "op": "tvm_op", "name": "a", "inputs": [[0, 0, 0]], "attrs": { "func_name": "a" } },
            { "op": "tvm_op", "name": "view", "inputs": [[1, 0, 0]], "attrs": { "func_name": "__nop" } },
            { "op": "tvm_op", "name": "b", "inputs": [[2, 0, 0]], "attrs": { "func_name": "b" } }
        ],
        "arg_nodes": [0], "heads": [[3, 0, 0]], "node_row_ptr": [0, 1, 2, 3, 4],
        "attrs": {
            "shape": ["list_shape", [[64], [64], [8, 8], [64]]],
            "dltype": ["list_str", ["float32", "float32", "float32", "float32"]],
            "storage_id": ["list_int", [0, 1, 1, 2]]
        }
    }"#;
    assert!(judged(graph.as_bytes()).is_sound());
    let bad = graph.replace("[0, 1, 1, 2]", "[0, 1, 1, 1]");
    assert_eq!(overlaps(bad.as_bytes()), [named("view", "b", 256, 3, 3)]);
}

#[test]
fn errors_of_files_name_the_field() {
    let error = |bytes: &[u8]| read(bytes, &ReadOptions::default()).unwrap_err().to_string();
    let bytes = patched("network_vela.tflite", &[0, 1, 10, -1], &[0, 1, 9, -1]);
    let found = error(&bytes);
    assert!(
        found.contains("`OfflineMemoryAllocation`: it has 9 offsets, but the model has 10 tensors"),
        "{found}"
    );
    let bytes = patched(
        "network_vela.tflite",
        &[0, 1, 10, -1, -1, 0, 496],
        &[0, 1, 10, -1, -1, 0, -496],
    );
    let found = error(&bytes);
    assert!(
        found.contains("`picture`, has the invalid offset -496"),
        "{found}"
    );
    let found = error(&data("cache.pte")[..400]);
    assert!(
        found.starts_with("ExecuTorch program: ") && found.contains("400 bytes"),
        "{found}"
    );
    let text = String::from_utf8(data("iree_mlp.txt")).unwrap();
    let (before, _) = text.rsplit_once("// -----// IR Dump After").unwrap();
    let (before, _) = before
        .rsplit_once("// -----// IR Dump Before")
        .map(|(_, rest)| (rest, ()))
        .unwrap();
    let found = error(format!("// -----// IR Dump Before{before}").as_bytes());
    assert!(
        found.contains("the dump after iree-stream-layout-slices is missing"),
        "{found}"
    );
    assert!(error(&[0xff, 0xfe, 0]).contains("not UTF-8 text"));
    let found = error(b"{\"format\": \"tileheap-frame\", \"passes\": []}");
    assert!(found.contains("JSON file: `nodes` is missing"), "{found}");
}

#[test]
fn files_that_were_cut_short_are_named() {
    let error = |bytes: &[u8]| read(bytes, &ReadOptions::default()).unwrap_err().to_string();
    for name in ["transformer.pte", "cache.pte", "cond.pte", "two.pte", "views.pte"] {
        let bytes = data(name);
        for end in [64, bytes.len() / 2, bytes.len() - 1] {
            let found = error(&bytes[..end]);
            let expected = format!(
                "the file is incomplete: it has {end} bytes, but its header says {}",
                bytes.len()
            );
            assert!(found.contains(&expected), "{name}: {found}");
        }
    }
    let text = String::from_utf8(data("iree_mlp.txt")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let last = lines.iter().rposition(|&line| line == "}").unwrap();
    for end in (2..=last).step_by(3).chain([last]) {
        // Between the dumps of two functions, nothing shows that one is missing; what has no slices is not judged.
        let Err(found) = read(lines[..end].join("\n").as_bytes(), &ReadOptions::default())
            .map(|of| assert_eq!(of.buffers, [], "{end}"))
        else {
            assert!(
                lines[end - 1] == "}" || lines[end - 1].is_empty() || lines[end - 1].starts_with("//"),
                "{end}"
            );
            continue;
        };
        let found = found.to_string();
        let is_told = [
            "has no end",
            "is missing",
            "is not a list of slices",
            "before iree-stream-layout-slices, but",
        ]
        .iter()
        .any(|text| found.contains(text));
        assert!(found.starts_with("IREE dump: ") && is_told, "{end}: {found}");
    }
    let found = error(b"// -----// IR Dump Before CSE (cse) //----- //\nmodule {\n}\n");
    assert!(
        found.contains("the dump of iree-stream-layout-slices is missing"),
        "{found}"
    );
}

#[test]
fn options_of_other_formats_are_refused() {
    let error = |name: &str, options: &ReadOptions| read(&data(name), options).unwrap_err().to_string();
    let ends = ReadOptions {
        ends: SpanEnds::Inclusive,
        ..ReadOptions::default()
    };
    let inputs = ReadOptions {
        inputs: vec!["x".to_owned()],
        ..ReadOptions::default()
    };
    for name in [
        "network_vela.tflite",
        "cache.pte",
        "iree_mlp.txt",
        "relax_planned.txt",
    ] {
        assert!(
            error(name, &ends).contains("`ends` applies only to tables"),
            "{name}"
        );
        assert!(
            error(name, &inputs).contains("`inputs` applies only to TVM graphs"),
            "{name}"
        );
    }
}

/// Readers neither panic nor take long, whatever the bytes; anything they accept is judged.
#[test]
fn damaged_files_are_refused_or_judged() {
    let mut chances = SplitMix64::new(29);
    let graph = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/tensor/compilers");
    let graph = std::fs::read(graph.join("tvm_relax_adreno_resnet18.json")).unwrap();
    let table = b"id,lower,upper,size,offset,arena,gaps,in_place\na,0,9,8,0,x,2-4@1:3 5-6,\nb,8,12,8,0,x,,a\nc,0,9,4,8,y,,\n";
    let files = FILES.iter().map(|&(name, _)| (name, data(name)));
    for (name, bytes) in files.chain([("graph", graph), ("table", table.to_vec())]) {
        let mut read_anyway = 0;
        for round in 0..3000 {
            let mut damaged = bytes.clone();
            for _ in 0..1 + chances.below(4) {
                let at = chances.below(damaged.len() as u64) as usize;
                match chances.below(5) {
                    0 => damaged[at] = chances.below(256) as u8,
                    1 => damaged[at] ^= 1 << chances.below(8),
                    2 => {
                        let word = (chances.below(1 << 32) as u32).to_le_bytes();
                        let end = damaged.len().min(at + 4);
                        damaged[at..end].copy_from_slice(&word[..end - at]);
                    }
                    3 if round % 7 == 0 => damaged.truncate(at.max(8)),
                    _ => {
                        let from = chances.below(damaged.len() as u64) as usize;
                        damaged[at] = damaged[from];
                    }
                }
            }
            if let Ok(allocations) = read(&damaged, &ReadOptions::default()) {
                // Not all sums of sizes fit in 64 bits.
                let _ = judge(allocations);
                read_anyway += 1;
            }
        }
        assert!(read_anyway > 100, "{name}: {read_anyway}");
    }
}
