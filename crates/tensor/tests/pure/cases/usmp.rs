//! TVM's unified static memory planner.

use serde_json::Value;
use tileheap_baselines::tensor::pools::usmp::{UsmpBuffer, UsmpOrder, UsmpPool, assign};
use tileheap_pack::{Item, ProblemDesc, Steps, Strategy, check, lower_bound, pack, spread};
use tileheap_tensor::units::{Alignment, Bytes, Span};

use super::{case, list, number, numbers, text};

fn buffers(of: &Value) -> Vec<UsmpBuffer> {
    let sizes = of["buffers"].as_object().unwrap();
    // Buffers that were taken from TIR, whose memory pressure is stated, have its allocations' alignment of 16; those written down by
    // name have none.
    let from_tir = of.get("memory_pressure").is_some();
    let alignment = of["alignment"].as_u64().unwrap_or(if from_tir { 16 } else { 1 });
    let mut buffers: Vec<UsmpBuffer> = sizes
        .iter()
        .map(|(name, size)| UsmpBuffer {
            name: name.clone(),
            size: Bytes(number(size)),
            alignment: Alignment::new(alignment).unwrap(),
            conflicts: Vec::new(),
        })
        .collect();
    let index = |name: &Value| sizes.keys().position(|key| key == text(name)).unwrap();
    for pair in list(&of["conflicts"]) {
        let (a, b) = (index(&pair[0]), index(&pair[1]));
        buffers[a].conflicts.push(b);
        buffers[b].conflicts.push(a);
    }
    for directed in ["conflicts_directed_as_in_test", "conflicts_allowed_per_test"] {
        for (name, others) in of[directed].as_object().into_iter().flatten() {
            let a = sizes.keys().position(|key| key == name).unwrap();
            buffers[a].conflicts = list(others).iter().map(index).collect();
        }
    }
    buffers
}

fn pools(of: &Value) -> Vec<UsmpPool> {
    let pool = |pool: &Value| UsmpPool {
        name: text(&pool["name"]).to_owned(),
        size_hint: pool["size_hint_bytes"].as_u64().map(Bytes),
    };
    list(&of["pools"]).iter().map(pool).collect()
}

/// The same as a packing problem; buffers that the rule would take first by name come first.
fn hill_climb(of: &[UsmpBuffer], pools: &[UsmpPool]) -> (Vec<(usize, Bytes)>, Vec<Bytes>) {
    let mut order: Vec<usize> = (0..of.len()).collect();
    order.sort_by(|&a, &b| of[b].name.cmp(&of[a].name));
    let place = |buffer: usize| order.iter().position(|&other| other == buffer).unwrap() as u32;
    // Each lives at a step of its own: who is in whose way is what the pairs say.
    let items = order.iter().enumerate().map(|(step, &buffer)| {
        Item::new(
            Span::new(step as u32, step as u32 + 1),
            of[buffer].size,
            Alignment::ONE,
        )
    });
    let mut desc = ProblemDesc::new(items.collect());
    for (index, buffer) in of.iter().enumerate() {
        // The climb may take either of two first, and then the other's list counts: what one side alone declares binds nobody.
        // (One of the published tests declares a buffer to be in conflict with itself.)
        let both = |&&other: &&usize| other != index && of[other].conflicts.contains(&index);
        for &other in buffer.conflicts.iter().filter(both) {
            desc = desc.conflict(place(index), place(other));
        }
    }
    let problem = desc.build().unwrap();
    let (mut places, sizes) = match pools {
        [_] => {
            let packing = pack(&problem, Strategy::HillClimb);
            check(&problem, &packing).unwrap();
            (
                packing
                    .offsets
                    .iter()
                    .map(|&offset| (0, offset))
                    .collect::<Vec<_>>(),
                vec![packing.height],
            )
        }
        _ => {
            let worths: Vec<u64> = problem.items().iter().map(|item| item.size.0).collect();
            let memories: Vec<Option<Bytes>> = pools.iter().map(|pool| pool.size_hint).collect();
            let mut go_on = |_| std::ops::ControlFlow::Continue(());
            let spread = spread(&problem, &worths, &memories, Steps::default(), &mut go_on);
            (
                spread.places.into_iter().map(Option::unwrap).collect(),
                spread.heights,
            )
        }
    };
    let by_buffer = (0..of.len())
        .map(|buffer| places[place(buffer) as usize])
        .collect();
    places = by_buffer;
    (places, sizes)
}

/// The pool and offset of each buffer, and the size of each pool.
type Answer = (Vec<(usize, Bytes)>, Vec<Bytes>);

fn run(algorithm: &str, of: &[UsmpBuffer], pools: &[UsmpPool]) -> Result<Answer, String> {
    let order = match algorithm {
        "greedy_by_size" => UsmpOrder::Size,
        "greedy_by_conflicts" => UsmpOrder::Conflicts,
        "hill_climb" => return Ok(hill_climb(of, pools)),
        other => panic!("{other} is an algorithm of USMP"),
    };
    let places = assign(of, pools, order).map_err(|fault| fault.to_string())?;
    let mut sizes = vec![Bytes::ZERO; pools.len()];
    for (&(pool, offset), buffer) in places.iter().zip(of) {
        sizes[pool] = sizes[pool].max(offset + buffer.size);
    }
    Ok((places, sizes))
}

#[test]
fn buffers_go_where_usmp_puts_them() {
    let Some(cases) = case("tvm_usmp.json") else {
        return;
    };
    for of in list(&cases["cases"])
        .iter()
        .filter(|of| of.get("buffers").is_some())
    {
        let (buffers, pools) = (buffers(of), pools(of));
        let name = &of["name"];
        for algorithm in list(&of["algorithms"]).iter().map(text) {
            let found = run(algorithm, &buffers, &pools);
            if of.get("expect_error").is_some() {
                let fault = found.unwrap_err();
                assert!(
                    fault.contains("does not fit") && fault.contains(&pools[0].name),
                    "{name}: {fault}"
                );
                continue;
            }
            let (places, _) = found.unwrap();
            for (buffer, (_, offset)) in buffers.iter().zip(places) {
                assert_eq!(
                    offset.0,
                    number(&of["expect_offsets"][&buffer.name]),
                    "{name} {algorithm} {}",
                    buffer.name
                );
            }
        }
        for (algorithm, size) in of["expect_workspace"].as_object().into_iter().flatten() {
            let (_, sizes) = run(algorithm, &buffers, &pools).unwrap();
            assert_eq!(sizes, [Bytes(number(size))], "{name} {algorithm}");
        }
        for (algorithm, expected) in of["expect_pool_sizes"].as_object().into_iter().flatten() {
            let (_, sizes) = run(algorithm, &buffers, &pools).unwrap();
            for (pool, size) in pools.iter().zip(sizes) {
                assert_eq!(
                    size.0,
                    number(&expected[&pool.name]),
                    "{name} {algorithm} {}",
                    pool.name
                );
            }
        }
    }
}

#[test]
fn intervals_are_climbed_to_the_bound() {
    let Some(cases) = case("tvm_usmp.json") else {
        return;
    };
    for of in list(&cases["cases"]) {
        let Some(intervals) = of["intervals_closed_start_end_size"].as_array() else {
            continue;
        };
        let items = intervals.iter().map(|interval| match numbers(interval)[..] {
            [first, last, size] => Item::new(
                Span::new(first as u32, last as u32 + 1),
                Bytes(size),
                Alignment::ONE,
            ),
            _ => panic!("{interval} is first, last and size"),
        });
        let problem = ProblemDesc::new(items.collect()).build().unwrap();
        let bound = lower_bound(&problem).0;
        assert_eq!(bound, number(&of["lower_bound_max_live"]), "{}", of["name"]);
        let packing = pack(&problem, Strategy::HillClimb);
        check(&problem, &packing).unwrap();
        // The tolerance of the published test.
        assert!(
            100 * (packing.height.0 - bound) < 5 * packing.height.0 || packing.height.0 == bound,
            "{}",
            of["name"]
        );
    }
}
