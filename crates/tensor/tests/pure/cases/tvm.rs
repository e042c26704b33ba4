//! TVM: flattening, scopes by shape, tokens, graph plans, graph JSON.

use std::collections::BTreeMap;

use serde_json::Value;
use tileheap_baselines::tensor::pools::token::{
    Token, TokenPlan, TokenPool, TokenRule, TokenValue, plan_tokens,
};
use tileheap_tensor::ElementType;
use tileheap_tensor::import::tvm::{PoolEntryKind, TvmGraph};
use tileheap_tensor::layout::Layout;
use tileheap_tensor::layout::{Convention, Generation};
use tileheap_tensor::storage::{ScopeLimits, adreno_scope};
use tileheap_tensor::units::Alignment;

use super::{case, indices, list, number, numbers, rows, text};

fn flattened(scope: &str, generation: Generation, shape: &[u64], element: ElementType) -> Layout {
    let convention: Convention = scope.parse().unwrap();
    convention
        .rule(shape.len(), generation)
        .apply("t", shape, element)
        .unwrap()
}

fn extent(layout: &Layout) -> [u64; 4] {
    let extent = &layout.extent;
    [extent.width, extent.height, extent.layers, layout.lanes]
}

fn shape(row: &BTreeMap<String, String>) -> Vec<u64> {
    row["shape"]
        .split('x')
        .map(|side| side.parse().unwrap())
        .collect()
}

/// The numbers in columns; none where the first is empty.
fn columns<const N: usize>(row: &BTreeMap<String, String>, names: [&str; N]) -> Option<[u64; N]> {
    (!row[names[0]].is_empty()).then(|| names.map(|name| row[name].parse().unwrap()))
}

#[test]
fn shapes_are_flattened() {
    for row in rows("tvm_flattening") {
        let layout = flattened(
            &row["scope"],
            Generation::Flat,
            &shape(&row),
            ElementType::Float32,
        );
        let [width, height, channel] = columns(&row, ["width", "height", "channel"]).unwrap();
        assert_eq!(extent(&layout), [width, height, 1, channel], "{row:?}");
    }
}

#[test]
fn scopes_follow_from_shapes() {
    // Images begin at multiples of this.
    let pitch = Alignment::new(64).unwrap();
    let limits = ScopeLimits {
        side: 16384,
        depth: 2048,
    };
    for row in rows("tvm_scopes") {
        let shape = shape(&row);
        let scope = |generation| adreno_scope(&shape, generation, limits).map_or("global", Convention::scope);
        assert_eq!(scope(Generation::Flat), row["relay_scope"], "{row:?}");
        assert_eq!(scope(Generation::Layered), row["relax_scope"], "{row:?}");
        let relay = ["width", "height", "channel"].map(|side| format!("relay_{side}"));
        if let Some([width, height, channel]) = columns(&row, relay.each_ref().map(String::as_str)) {
            for (element, bytes) in [
                (ElementType::Float32, "relay_bytes_f32"),
                (ElementType::Float16, "relay_bytes_f16"),
            ] {
                let layout = flattened(scope(Generation::Flat), Generation::Flat, &shape, element);
                assert_eq!(extent(&layout), [width, height, 1, channel], "{row:?}");
                let [bytes] = columns(&row, [bytes]).unwrap();
                assert_eq!(layout.bytes_with_pitch(pitch).0, bytes, "{row:?}");
            }
        }
        let relax = ["width", "height", "depth", "channel"].map(|side| format!("relax_{side}"));
        if let Some(expected) = columns(&row, relax.each_ref().map(String::as_str)) {
            let (generation, element) = (Generation::Layered, ElementType::Float32);
            let layout = flattened(scope(generation), generation, &shape, element);
            assert_eq!(extent(&layout), expected, "{row:?}");
        }
    }
}

#[test]
fn tokens_are_requested_grown_and_released() {
    for of in list(&case("tvm_tokens")["cases"]) {
        let mut pool = TokenPool::new(TokenRule::Later);
        let mut readers: BTreeMap<usize, u64> = BTreeMap::new();
        let mut storage: BTreeMap<&str, usize> = BTreeMap::new();
        for (index, step) in list(&of["steps"]).iter().enumerate() {
            let at = format!("{}, step {index}", of["name"]);
            if text(&step[0]) == "blocks" {
                let found = [pool.blocks().len(), pool.free_blocks()];
                assert_eq!(found.to_vec(), indices(&step[1]), "{at}");
                continue;
            }
            let (name, expected) = (text(&step[1]), &step[2]);
            let token = &of["tokens"][name];
            let (element, scope, reads) = (text(&token[1]), text(&token[2]), number(&token[3]));
            let element: ElementType = element.parse().unwrap();
            let layout = flattened(scope, Generation::Flat, &numbers(&token[0]), element);
            let token = Token::image(layout.extent.width, layout.extent.height, element, scope);
            match text(&step[0]) {
                "flatten" => {
                    let [width, height, _, lanes] = extent(&layout);
                    assert_eq!(vec![width, height, lanes], numbers(expected), "{at}");
                }
                "request" => match pool.request(&token) {
                    None => assert!(expected.is_null(), "{at}: no block, and {expected} is expected"),
                    Some(granted) => {
                        // A token that makes its block grow takes it over, and is counted once more.
                        let before = readers.get(&granted.block).copied().unwrap_or(0);
                        let count = reads + if granted.grown { 1 } else { before };
                        readers.insert(granted.block, count);
                        storage.insert(name, granted.block);
                        assert_eq!(granted.block as u64, number(&expected[0]), "{at}");
                        assert_eq!(count, number(&expected[1]), "{at}");
                        let [width, height] = pool.blocks()[granted.block].reported;
                        assert_eq!(vec![width, height, 4], numbers(&expected[2]), "{at}");
                    }
                },
                "open" => {
                    let block = pool.alloc(&token);
                    assert_eq!(block as u64, number(expected), "{at}");
                    readers.insert(block, reads);
                    storage.insert(name, block);
                }
                "drop" => *readers.get_mut(&storage[name]).unwrap() -= 1,
                "release" => {
                    if readers[&storage[name]] == 0 {
                        pool.release(storage[name]);
                    }
                }
                other => panic!("{at}: {other} is a step"),
            }
        }
    }
}

/// The three rules for images, where they part ways.
#[test]
fn the_three_rules_differ_where_they_should() {
    let image = |width, height| Token::image(width, height, ElementType::Float32, "global.texture");
    let with = |rule, blocks: &[(u64, u64)]| {
        let mut pool = TokenPool::new(rule);
        for &(width, height) in blocks {
            pool.alloc(&image(width, height));
        }
        (0..blocks.len()).for_each(|block| pool.release(block));
        pool
    };
    // Nothing is near: the text expands what there is, the ones that shipped open another.
    let far = [(10, 10)];
    assert_eq!(with(TokenRule::Rfc, &far).allocate(&image(100, 100)), 0);
    assert_eq!(with(TokenRule::Later, &far).allocate(&image(100, 100)), 1);
    assert_eq!(
        with(TokenRule::First, &far).allocate(&image(100, 100)),
        0,
        "10,000 texels are asked for, 9,900 added"
    );
    assert_eq!(
        with(TokenRule::First, &[(1000, 1)]).allocate(&image(1, 100)),
        1,
        "99,000 would be added for 100"
    );
    // Least added area, then least waste.
    let three = [(40, 40), (20, 30), (20, 21)];
    assert_eq!(with(TokenRule::Rfc, &three).allocate(&image(20, 20)), 2);
    let mut grown = with(TokenRule::Rfc, &[(10, 20), (18, 20)]);
    assert_eq!(grown.allocate(&image(20, 20)), 1);
    assert_eq!(grown.blocks()[1].size, [20, 20]);
    // Another scope is another pool for the later rule alone.
    let other = Token::image(10, 10, ElementType::Float32, "global.texture-weight");
    assert_eq!(with(TokenRule::First, &far).allocate(&other), 0);
    assert_eq!(with(TokenRule::Later, &far).allocate(&other), 1);
    let half = Token::image(10, 10, ElementType::Float16, "global.texture");
    assert_eq!(
        with(TokenRule::Rfc, &far).allocate(&half),
        1,
        "of the same type only"
    );
}

fn graph_plan(values: &Value, rule: TokenRule) -> TokenPlan {
    let token = |of: &Value| match (of.as_u64(), of[1].as_str()) {
        (Some(bytes), _) => Token::bytes(bytes),
        (None, Some("global")) => Token::bytes(numbers(&of[0]).iter().product::<u64>() * 4),
        (None, scope) => {
            let (scope, element) = (scope.unwrap(), ElementType::Float32);
            let extent = flattened(scope, Generation::Flat, &numbers(&of[0]), element).extent;
            Token::image(extent.width, extent.height, element, scope)
        }
    };
    let values: Vec<TokenValue> = list(values)
        .iter()
        .map(|value| TokenValue {
            token: token(&value[0]),
            inputs: indices(&value[1]),
            is_input: list(&value[1]).is_empty(),
        })
        .collect();
    plan_tokens(&values, rule)
}

#[test]
fn graphs_are_planned_with_tokens() {
    for of in list(&case("tvm_graphs")["graphs"]) {
        for rule in [TokenRule::Rfc, TokenRule::First, TokenRule::Later] {
            let plan = graph_plan(&of["values"], rule);
            let at = format!("{} {rule:?}", of["name"]);
            if let Some(scopes) = of.get("scopes") {
                let found = plan.blocks.iter().map(|block| {
                    let image = block.image.as_ref();
                    image.map_or("global", |(_, scope)| scope)
                });
                let scopes: Vec<&str> = list(scopes).iter().map(text).collect();
                assert_eq!(found.collect::<Vec<_>>(), scopes, "{at}");
            }
            if let Some(sizes) = of.get("first_sizes") {
                let found: Vec<u64> = plan.first.iter().map(|size| size[0]).collect();
                assert_eq!(found, numbers(sizes), "{at}");
            }
            if let Some(sizes) = of.get("sizes") {
                let found: Vec<u64> = plan.blocks.iter().map(|block| block.size[0]).collect();
                assert_eq!(found, numbers(sizes), "{at}");
            }
        }
    }
}

#[test]
fn graph_json_is_read_honoured_and_written_back() {
    let cases = case("tvm_graphs");
    let example = &cases["json"];
    let graph = TvmGraph::read(&example.to_string(), &[]).unwrap();
    let entries = graph.pool_entries().unwrap();
    let expected = list(&cases["entries"]);
    assert_eq!(entries.len(), expected.len());
    for (entry, expected) in entries.iter().zip(expected) {
        assert_eq!(u64::from(entry.storage_id), number(&expected["storage"]));
        match entry.kind {
            PoolEntryKind::Buffer(bytes) => assert_eq!(bytes.0, number(&expected["bytes"])),
            PoolEntryKind::Texture {
                height,
                width,
                channel,
                element,
            } => {
                assert_eq!(vec![height, width, channel], numbers(&expected["texture"]));
                assert_eq!(element.name(), text(&expected["type"]));
            }
        }
    }
    // Written back as it was, or with other scopes.
    let scope = |id| graph.graph.tensor(id).scope.clone().unwrap_or_default();
    let written: Value = serde_json::from_str(&graph.write(scope)).unwrap();
    assert_eq!(&written, example);
    let plain: Value = serde_json::from_str(&graph.write(|_| "global".to_owned())).unwrap();
    let again = TvmGraph::read(&plain.to_string(), &[]).unwrap();
    assert!(
        again
            .pool_entries()
            .unwrap()
            .iter()
            .all(|entry| matches!(entry.kind, PoolEntryKind::Buffer(_)))
    );
}
