//! Tables and a graph that compilers produced from our own small networks, in `tests/data/tensor/compilers`.

use std::collections::BTreeMap;

use tileheap_tensor::graph::TensorSource;
use tileheap_tensor::import::read_records;
use tileheap_tensor::import::tvm::TvmGraph;
use tileheap_tensor::layout::{ConventionForm, StorageReason};
use tileheap_tensor::plan::placement::{PlacedRegions, SpaceItem, place};
use tileheap_tensor::plan::{Offsets, StorageIds};
use tileheap_tensor::storage::{Adreno, GivenScopes, POLICIES};
use tileheap_tensor::units::Span;
use tileheap_tensor::{ElementType, GraphBuilder, MemoryDesc, PlacementStrategy, TensorPlanOptions, check};
use tileheap_testkit::tensor::assert_says;

fn read(file: &str) -> String {
    let path = tileheap_testkit::data(&format!("tensor/compilers/{file}"));
    std::fs::read_to_string(path).unwrap()
}

/// The fields of a table's lines, without the header.
fn fields(text: &str) -> impl Iterator<Item = Vec<&str>> {
    text.lines().skip(1).map(|line| line.split(',').collect())
}

fn placed(table: &str, strategy: &dyn PlacementStrategy) -> (Vec<SpaceItem>, PlacedRegions) {
    let items = read_records(&read(&format!("{table}.csv"))).unwrap();
    let space = place(&items, &[MemoryDesc::new("arena")], strategy).unwrap();
    (items, space)
}

#[test]
fn the_compilers_own_totals_are_reproduced() {
    let totals = read("totals.csv");
    for fields in fields(&totals) {
        let (table, strategy, bytes): (_, _, u64) = (fields[0], fields[1], fields[2].parse().unwrap());
        let (_, space) = placed(table, crate::strategy(strategy));
        assert_eq!(space.memories[0].size.0, bytes, "{table} by {strategy}");
    }
}

/// The same table as other tools would write it: a byte order mark, other columns and orders, quotes, line endings, blanks.
#[test]
fn tables_are_read_in_any_form() {
    let plain = read("litert_mobilenet_v2.csv");
    let expected = read_records(&plain).unwrap();
    assert!(expected.iter().all(|item| item.alignment.get() == 64));
    let mut other = "\u{feff} Size ,\"Alignment\",note,upper,lower,id\r\n".to_owned();
    for row in fields(&plain) {
        let [id, lower, upper, size, alignment] = row[..] else {
            panic!("{row:?}")
        };
        other += &format!("{size},\"{alignment}\",\"a, b\",  {upper}, {lower},\"{id}\"\r\n  \r\n");
    }
    assert_eq!(read_records(&other).unwrap(), expected);
    for (from, to, words) in [
        (",64\n", ",0\n", "line 2: the alignment is 0"),
        ("t0,0,1", "t0,0,one", "line 2: upper `one` is not a whole number"),
        (
            "t0,0,1",
            "t0,0,10000000000000000000000",
            "line 2: upper 10000000000000000000000 is too large: the limit is 2^64 - 1",
        ),
        ("t0,0,1", "t0,1,0", "line 2: lower 1 is above upper 0"),
        ("t0,0,1,", "t0,0,", "line 2: 4 fields, but the header has 5"),
        ("t68,", "t0,", "line 3: id `t0` is also on line 2"),
        ("lower", "first", "line 1: the header has no column `lower`"),
    ] {
        assert_says(read_records(&plain.replacen(from, to, 1)).unwrap_err(), &[words]);
    }
    assert_says(read_records("  \n").unwrap_err(), &["is missing"]);
}

/// LiteRT's own addresses: live tensors share bytes only if a result overwrites its operand, and the arena is larger than ours.
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

/// IREE rounds its total up to the alignment, as it does each slice.
#[test]
fn the_layouts_of_iree_are_reproduced() {
    let totals = [
        ("iree_lstm", 2_816),
        ("iree_transformer", 294_912),
        ("iree_mobilenet_v2", 8_872_512),
    ];
    for (table, bytes) in totals {
        let (items, space) = placed(table, crate::strategy("iree"));
        let total = space.memories[0].size.align_up(items[0].alignment);
        assert_eq!(total.0, bytes, "{table}");
    }
}

/// LiteRT keeps the input to the end. Its arena has one temporary that is not in the table, so that some offsets differ.
#[test]
fn the_arena_of_litert_is_reproduced() {
    let mut items = read_records(&read("litert_mobilenet_v2.csv")).unwrap();
    let end = items.iter().map(|item| item.span().end).max().unwrap();
    items[0].lifetimes = vec![Span {
        end,
        ..items[0].lifetimes[0]
    }];
    let arena = crate::strategy("litert-arena");
    let space = place(&items, &[MemoryDesc::new("arena")], arena).unwrap();
    let plan = read("litert_mobilenet_v2_plan.csv");
    let theirs = fields(&plan).map(|fields| fields[5].parse::<u64>().unwrap());
    let same = space
        .regions
        .iter()
        .zip(theirs)
        .filter(|(ours, theirs)| ours.offset.0 == *theirs);
    assert_eq!((space.memories[0].size.0, same.count()), (6_623_232, 53));
}

/// The storages of Relax for Adreno, shared by buffers and images: its own total, without the input.
#[test]
fn the_storages_of_relax_are_taken_as_given() {
    let text = read("tvm_relax_adreno_resnet18.json");
    let read = TvmGraph::read(&text, &[]).unwrap();
    let choice = crate::chosen(&read.graph, &GivenScopes(ConventionForm::Flat));
    let options = TensorPlanOptions {
        external: vec![read.entries[0]],
        ..crate::apart_by(&StorageIds)
    };
    // TVM adds up the storages, whose sizes are multiples of 32.
    let plan = crate::planned(&choice.graph, &choice.layouts, &options, 32).unwrap();
    assert_eq!(plan.size().0, 4_923_296);
}

/// A graph of Relax for Adreno: tensors with a texture scope are images of the corresponding extent, in no more bytes than TVM's
/// storages of all but the input, and the document is written back unchanged; relax's own rule chooses the same scopes. Relay's rule
/// also places reductions in textures.
#[test]
fn the_graph_of_relax_keeps_its_scopes_in_no_more_bytes() {
    let text = read("tvm_relax_adreno_resnet18.json");
    let read = TvmGraph::read(&text, &[]).unwrap();
    let options = TensorPlanOptions {
        external: vec![read.entries[0]],
        ..TensorPlanOptions::default()
    };
    let mut images = BTreeMap::new();
    for policy in POLICIES {
        let choice = crate::chosen(&read.graph, policy);
        assert!(choice.conversions.is_empty());
        let plan = crate::planned(&choice.graph, &choice.layouts, &options, 64).unwrap();
        let size = plan.size();
        assert!(
            size == plan.lower_bound() && size.0 <= 4_923_296,
            "{policy:?}: {size}"
        );
        for id in choice.graph.tensor_ids() {
            let is_image = choice.layouts[id.index()].rule.storage.is_image();
            let is_asked = choice.reasons[id.index()] == StorageReason::AsRequested;
            assert_eq!(is_image, is_asked, "{policy:?}");
            *images.entry(policy.name()).or_insert(0) += u32::from(is_image);
            let tensor = choice.graph.tensor(id);
            if let (true, Some(scope)) = (policy.name() == "given", &tensor.scope) {
                let [a, b, c, d, 4] = tensor.shape.fixed().unwrap()[..] else {
                    panic!("{tensor:?}")
                };
                let extent = choice.layouts[id.index()].extent;
                let expected = match scope.as_str() {
                    "global.texture-nhwc" => [c * d, a * b, 1],
                    _ => [b * c * d, a, 1],
                };
                let extent = [extent.width, extent.height, extent.layers];
                assert_eq!(extent, expected, "{tensor:?}");
            }
        }
        if policy.name().starts_with("given") || policy.name() == "adreno-layered" {
            let written = read.write(|id| choice.scope(id).to_owned());
            let json = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
            assert_eq!(json(&written), json(&text));
        }
    }
    let all = POLICIES.map(|policy| (policy.name(), images[policy.name()]));
    let given = [
        ("row-major", 0),
        ("buffers", 0),
        ("given", 20),
        ("given-layered", 20),
    ];
    let ours = [("adreno", 21), ("adreno-layered", 20), ("balanced", 21)];
    assert_eq!(all[..], given.into_iter().chain(ours).collect::<Vec<_>>());
}

/// A graph as relay writes it: fused names, 5-d shapes, a `null` node for each weight. Nothing overwrites a weight.
#[test]
fn weights_of_relay_are_there_for_the_second_run() {
    let text = |names: [&str; 3], storages: [u32; 5]| {
        let null = |name: &str| format!(r#"{{"op": "null", "name": "{name}", "inputs": []}}"#);
        let kernel = |name: &str, inputs: &str| {
            format!(
                r#"{{"op": "tvm_op", "name": "tvmgen_default_fused_{name}", "inputs": {inputs},
                "attrs": {{"func_name": "tvmgen_default_fused_{name}", "num_inputs": "2", "num_outputs": "1", "flatten_data": "0"}}}}"#
            )
        };
        let [data, weights, others] = names.map(null);
        let first = kernel("nn_contrib_conv2d_NCHWc_nn_relu", "[[0, 0, 0], [1, 0, 0]]");
        let second = kernel("nn_contrib_conv2d_NCHWc_add_3", "[[2, 0, 0], [3, 0, 0]]");
        let nodes = [data, weights, first, others, second];
        format!(
            r#"{{"nodes": [{}], "arg_nodes": [0, 1, 3], "heads": [[4, 0, 0]], "node_row_ptr": [0, 1, 2, 3, 4, 5], "attrs": {{
            "shape": ["list_shape", [[1, 8, 4, 4, 4], [8, 32, 1, 1, 4], [1, 8, 4, 4, 4], [8, 32, 1, 1, 4], [1, 8, 4, 4, 4]]],
            "dltype": ["list_str", ["float32", "float32", "float32", "float32", "float32"]],
            "storage_id": ["list_int", {storages:?}]}}}}"#,
            nodes.join(",")
        )
    };
    let sources = |text: &str, inputs: &[String]| {
        let read = TvmGraph::read(text, inputs).unwrap();
        let choice = crate::chosen(&read.graph, &Adreno);
        let made = choice
            .graph
            .find("tvmgen_default_fused_nn_contrib_conv2d_NCHWc_nn_relu");
        let made = made.unwrap().index();
        assert!(
            choice.layouts[made].rule.storage.is_image(),
            "{}",
            choice.reasons[made]
        );
        crate::planned(&choice.graph, &choice.layouts, &TensorPlanOptions::default(), 64).unwrap();
        [0, 1, 3].map(|entry| {
            let tensor = read.graph.tensor(read.entries[entry]);
            (tensor.source == TensorSource::Constant, tensor.kept)
        })
    };
    let (input, kept, constant) = ((false, false), (false, true), (true, false));
    let relays = text(["data", "p0", "p1"], [0, 1, 2, 3, 4]);
    let shared = text(["data", "w", "v"], [0, 1, 2, 3, 0]);
    // Without relay's names: a first operand may be a table as well as the data, unless the storage ids or the caller decide.
    let bare = text(["data", "w", "v"], [0, 1, 2, 3, 4]);
    let named = ["data".to_owned()];
    for (text, inputs, first) in [
        (&relays, &[][..], input),
        (&bare, &[], kept),
        (&shared, &[], input),
        (&bare, &named, input),
    ] {
        assert_eq!(sources(text, inputs), [first, constant, constant]);
    }
    let refused = |text: &str, inputs: &[String]| TvmGraph::read(text, inputs).unwrap_err();
    assert_says(
        refused(&bare, &["x".to_owned()]),
        &["input `x` is not a `null` node"],
    );
    for (from, to, words) in [
        ("tvm_op", "tvm_ext", "conv2d_NCHWc_nn_relu` is a `tvm_ext`"),
        // A kernel that reads a later output.
        (
            "[[0, 0, 0], [1, 0, 0]]",
            "[[4, 0, 0]]",
            "conv2d_NCHWc_nn_relu` reads",
        ),
        ("[1, 8, 4, 4, 4]", "[4294967296, 4294967296]", "`data`: its size"),
        ("float32", "float8", "node `data`: `float8`"),
    ] {
        assert_says(refused(&bare.replacen(from, to, 1), &[]), &[words]);
    }
    for end in (0..bare.len()).step_by(7) {
        refused(&bare[..end], &[]);
    }
}

/// The judge refuses a plan in which an output overwrites an input that the next run reads.
#[test]
fn the_judge_runs_twice() {
    let mut graph = GraphBuilder::new("cache");
    let [x, cache] = ["x", "cache"].map(|name| graph.input(name, ElementType::UInt8, [4]));
    let y = graph.operator("y", "add", [], &[x, cache]).unwrap()[0];
    let z = graph.operator("z", "exp", [], &[y]).unwrap()[0];
    graph.output(z);
    let graph = graph.build().unwrap();
    let (layouts, kept) = (crate::buffers(&graph), graph.clone().with_kept_inputs());
    let plan = crate::planned(&graph, &layouts, &TensorPlanOptions::default(), 1).unwrap();
    let needs = crate::needs(&layouts, 1);
    check(&kept, &needs, &plan, 1).unwrap();
    assert_says(check(&kept, &needs, &plan, 2).unwrap_err(), &["hold"]);
    crate::planned(&kept, &layouts, &TensorPlanOptions::default(), 1).unwrap();
}
