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

use super::{case, list, number, numbers, text};

fn flattened(scope: &str, generation: Generation, shape: &[u64], element: ElementType) -> Layout {
    let convention: Convention = scope.parse().unwrap();
    convention
        .rule(shape.len(), generation)
        .apply("t", shape, element)
        .unwrap()
}

fn check_extent(layout: &Layout, expected: &Value, at: &str) {
    assert_eq!(layout.extent.width, number(&expected["width"]), "{at}");
    assert_eq!(layout.extent.height, number(&expected["height"]), "{at}");
    assert_eq!(
        layout.extent.layers,
        expected["depth"].as_u64().unwrap_or(1),
        "{at}"
    );
    assert_eq!(layout.lanes, number(&expected["channel"]), "{at}");
}

#[test]
fn shapes_are_flattened() {
    let Some(cases) = case("tvm_flattening.json") else {
        return;
    };
    let mut found = 0;
    for (_, group) in cases
        .as_object()
        .unwrap()
        .iter()
        .filter(|(_, group)| group.is_array())
    {
        for of in list(group) {
            let (shape, scope) = (numbers(&of["shape"]), text(&of["scope"]));
            check_extent(
                &flattened(scope, Generation::Flat, &shape, ElementType::Float32),
                of,
                scope,
            );
            found += 1;
        }
    }
    assert!(found > 0);
}

#[test]
fn scopes_follow_from_shapes() {
    let Some(cases) = case("tvm_scope_rule.json") else {
        return;
    };
    let limits = &cases["limits"];
    let pitch = Alignment::new(number(&limits["image_base_address_alignment"])).unwrap();
    let limits = ScopeLimits {
        side: number(&limits["texture_spatial_limit"]),
        depth: number(&limits["texture_depth_limit"]),
    };
    for of in list(&cases["cases"]) {
        let shape = numbers(&of["shape"]);
        let at = format!("{shape:?}");
        let scope = |generation| adreno_scope(&shape, generation, limits).map_or("global", Convention::scope);
        assert_eq!(scope(Generation::Flat), text(&of["relay_scope"]), "{at}");
        assert_eq!(scope(Generation::Layered), text(&of["relax_scope"]), "{at}");
        if of["relay_flatten_2d"].is_object() {
            for (element, bytes) in [
                (ElementType::Float32, "relay_bytes_f32"),
                (ElementType::Float16, "relay_bytes_f16"),
            ] {
                let layout = flattened(scope(Generation::Flat), Generation::Flat, &shape, element);
                check_extent(&layout, &of["relay_flatten_2d"], &at);
                assert_eq!(layout.bytes_with_pitch(pitch).0, number(&of[bytes]), "{at}");
            }
        }
        if of["relax_flatten_3d"].is_object() {
            let layout = flattened(
                scope(Generation::Layered),
                Generation::Layered,
                &shape,
                ElementType::Float32,
            );
            check_extent(&layout, &of["relax_flatten_3d"], &at);
        }
    }
}

#[test]
fn tokens_are_requested_grown_and_released() {
    let Some(cases) = case("tvm_token_allocator_2d.json") else {
        return;
    };
    for of in list(&cases["cases"]) {
        let name = text(&of["name"]);
        let mut pool = TokenPool::new(TokenRule::Later);
        let mut counts: BTreeMap<usize, i64> = BTreeMap::new();
        let mut storage: BTreeMap<&str, usize> = BTreeMap::new();
        let mut alone: BTreeMap<&str, i64> = BTreeMap::new();
        for (step, form) in list(&of["steps"]).iter().enumerate() {
            let at = format!("{name}, step {step}");
            let id = text(&form["token"]);
            let desc = &of["tokens"][id];
            let element: ElementType = text(&desc["dtype"]).parse().unwrap();
            let scope = text(&desc["scope"]);
            let layout = flattened(scope, Generation::Flat, &numbers(&desc["shape"]), element);
            let token = Token::image(layout.extent.width, layout.extent.height, element, scope);
            let references = desc["ref_counter"].as_i64().unwrap();
            match text(&form["op"]) {
                "size2d" => check_extent(&layout, form, &at),
                "request" => match (pool.request(&token), &form["result"]) {
                    (None, Value::Null) => {}
                    (Some(granted), expected) => {
                        // A token that makes its block grow takes it over, and is counted once more.
                        let count = counts.get(&granted.block).copied().unwrap_or(0);
                        let count = if granted.grown {
                            references + 1
                        } else {
                            count + references
                        };
                        counts.insert(granted.block, count);
                        storage.insert(id, granted.block);
                        assert_eq!(granted.block as u64, number(&expected["storage_id"]), "{at}");
                        assert_eq!(count, expected["ref_counter"].as_i64().unwrap(), "{at}");
                        let [width, height] = pool.blocks()[granted.block].reported;
                        assert_eq!([width, height, 4].to_vec(), numbers(&expected["size2d"]), "{at}");
                    }
                    (None, expected) => panic!("{at}: no block, and {expected} is expected"),
                },
                "alloc" => {
                    let block = pool.alloc(&token);
                    assert_eq!(block as u64, number(&form["storage_id"]), "{at}");
                    counts.insert(block, references);
                    storage.insert(id, block);
                }
                "unref" => match storage.get(id) {
                    Some(block) => *counts.get_mut(block).unwrap() -= 1,
                    None => *alone.entry(id).or_insert(references) -= 1,
                },
                "check_for_release" => {
                    let block = storage[id];
                    if counts[&block] == 0 {
                        pool.release(block);
                    }
                }
                other => panic!("{at}: {other} is an operation"),
            }
            if let (Some(blocks), Some(free)) = (form["blocks"].as_u64(), form["free"].as_u64()) {
                assert_eq!(
                    (pool.blocks().len() as u64, pool.free_blocks() as u64),
                    (blocks, free),
                    "{at}"
                );
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

fn graph_plan(nodes: &Value, rule: TokenRule) -> TokenPlan {
    let names: Vec<&str> = list(nodes).iter().map(|node| text(&node["id"])).collect();
    let values: Vec<TokenValue> = list(nodes)
        .iter()
        .map(|node| {
            let token = match (node["bytes"].as_u64(), node["scope"].as_str()) {
                (Some(bytes), _) => Token::bytes(bytes),
                (None, Some("global" | "") | None) => {
                    Token::bytes(numbers(&node["shape"]).iter().product::<u64>() * 4)
                }
                (None, Some(scope)) => {
                    let layout = flattened(
                        scope,
                        Generation::Flat,
                        &numbers(&node["shape"]),
                        ElementType::Float32,
                    );
                    Token::image(
                        layout.extent.width,
                        layout.extent.height,
                        ElementType::Float32,
                        scope,
                    )
                }
            };
            let inputs = list(&node["inputs"])
                .iter()
                .map(|id| names.iter().position(|name| *name == text(id)).unwrap());
            TokenValue {
                token,
                inputs: inputs.collect(),
                is_input: list(&node["inputs"]).is_empty(),
            }
        })
        .collect();
    plan_tokens(&values, rule)
}

#[test]
fn graphs_are_planned_with_tokens() {
    let Some(cases) = case("tvm_graph_plan.json") else {
        return;
    };
    for (name, of) in cases
        .as_object()
        .unwrap()
        .iter()
        .filter(|(_, of)| of.get("nodes").is_some())
    {
        let expect = &of["expect"];
        for rule in [TokenRule::Rfc, TokenRule::First, TokenRule::Later] {
            let plan = graph_plan(&of["nodes"], rule);
            let count = expect["storages"]
                .as_u64()
                .or_else(|| expect["num_storages"].as_u64())
                .unwrap();
            assert_eq!(plan.blocks.len() as u64, count, "{name} {rule:?}");
            for (id, scope) in expect["scope_by_storage_id"].as_object().into_iter().flatten() {
                let block = &plan.blocks[id.parse::<usize>().unwrap()];
                let found = block.image.as_ref().map_or("global", |(_, scope)| scope);
                assert_eq!(found, text(scope), "{name} {id}");
            }
            for (id, size) in expect["storage_sizes_at_pre_17571"]
                .as_object()
                .into_iter()
                .flatten()
            {
                assert_eq!(
                    plan.first[id.parse::<usize>().unwrap()][0],
                    number(size),
                    "{name} {id}"
                );
            }
            for (id, size) in expect["storage_sizes_at_17571_ce22736e"]
                .as_object()
                .into_iter()
                .flatten()
            {
                assert_eq!(
                    plan.blocks[id.parse::<usize>().unwrap()].size[0],
                    number(size),
                    "{name} {id}"
                );
            }
        }
    }
}

#[test]
fn graph_json_is_read_honoured_and_written_back() {
    let Some(cases) = case("tvm_graph_plan.json") else {
        return;
    };
    let of = &cases["graph_json_storage_scope"];
    let example = &of["example"];
    let graph = TvmGraph::read(&example.to_string()).unwrap();
    let entries = graph.pool_entries().unwrap();
    let expected = list(&of["expected_pools_for_example"]);
    assert_eq!(entries.len(), expected.len());
    for (entry, expected) in entries.iter().zip(expected) {
        assert_eq!(u64::from(entry.storage_id), number(&expected["sid"]));
        match entry.kind {
            PoolEntryKind::Buffer(bytes) => assert_eq!(bytes.0, number(&expected["bytes"])),
            PoolEntryKind::Texture {
                height,
                width,
                channel,
                element,
            } => {
                assert_eq!(
                    [height, width, channel].to_vec(),
                    numbers(&expected["shape_h_w_c"])
                );
                assert_eq!(element.name(), text(&expected["dtype"]));
            }
        }
    }
    // Written back as it was, and without the field where nothing is in a texture.
    let scope = |id| graph.graph.tensor(id).scope.clone().unwrap_or_default();
    let written: Value = serde_json::from_str(&graph.write(scope)).unwrap();
    assert_eq!(&written, example);
    let plain: Value = serde_json::from_str(&graph.write(|_| "global".to_owned())).unwrap();
    assert!(plain["attrs"].get("storage_scope").is_none());
    let again = TvmGraph::read(&plain.to_string()).unwrap();
    assert!(
        again
            .pool_entries()
            .unwrap()
            .iter()
            .all(|entry| matches!(entry.kind, PoolEntryKind::Buffer(_)))
    );
}
