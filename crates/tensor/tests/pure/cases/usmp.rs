//! TVM's unified static memory planner.

use serde_json::Value;
use tileheap_pack::{Item, ProblemDesc, Steps, Strategy, check, lower_bound, pack, spread};
use tileheap_tensor::units::{Alignment, Bytes, Span};
use tileheap_testkit::tensor::usmp::{UsmpBuffer, UsmpOrder, UsmpPool, assign};

use super::{case, indices, list, number, numbers};

fn buffers(of: &Value) -> Vec<UsmpBuffer> {
    let conflicts = list(&of["conflicts"]).iter().map(indices);
    let buffer = |(index, (&size, conflicts)): (usize, (&u64, Vec<usize>))| UsmpBuffer {
        name: format!("buffer {index:02}"),
        size: Bytes(size),
        alignment: Alignment::new(number(&of["alignment"])).unwrap(),
        conflicts,
    };
    let sizes = numbers(&of["sizes"]);
    sizes.iter().zip(conflicts).enumerate().map(buffer).collect()
}

fn pools(of: &Value) -> Vec<UsmpPool> {
    let pool = |(index, size): (usize, &Value)| UsmpPool {
        name: format!("pool {index}"),
        size_hint: size.as_u64().map(Bytes),
    };
    list(&of["pools"]).iter().enumerate().map(pool).collect()
}

/// The same as a packing problem; buffers that the rule would take first by name come first.
fn hill_climb(of: &[UsmpBuffer], pools: &[UsmpPool]) -> Answer {
    let mut order: Vec<usize> = (0..of.len()).collect();
    order.sort_by(|&a, &b| of[b].name.cmp(&of[a].name));
    let place = |buffer: usize| order.iter().position(|&other| other == buffer).unwrap() as u32;
    // Each lives at a step of its own: who is in whose way is what the pairs say.
    let spans = (0..).map(|step| Span::new(step, step + 1));
    let items = order.iter().zip(spans);
    let items = items.map(|(&buffer, span)| Item::new(span, of[buffer].size, Alignment::ONE));
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
    let (places, sizes): (Vec<(usize, Bytes)>, _) = if pools.len() == 1 {
        let packing = pack(&problem, Strategy::HillClimb);
        check(&problem, &packing).unwrap();
        let places = packing.offsets.iter().map(|&offset| (0, offset));
        (places.collect(), vec![packing.height])
    } else {
        let worths: Vec<u64> = problem.items().iter().map(|item| item.size.0).collect();
        let memories: Vec<Option<Bytes>> = pools.iter().map(|pool| pool.size_hint).collect();
        let mut go_on = |_| std::ops::ControlFlow::Continue(());
        let spread = spread(&problem, &worths, &memories, Steps::default(), &mut go_on);
        let places = spread.places.into_iter().map(Option::unwrap);
        (places.collect(), spread.heights)
    };
    let by_buffer = (0..of.len()).map(|buffer| places[place(buffer) as usize]);
    (by_buffer.collect(), sizes)
}

/// The pool and offset of each buffer, and the size of each pool.
type Answer = (Vec<(usize, Bytes)>, Vec<Bytes>);

fn run(algorithm: &str, of: &[UsmpBuffer], pools: &[UsmpPool]) -> Result<Answer, String> {
    let order = match algorithm {
        "by-size" => UsmpOrder::Size,
        "by-conflicts" => UsmpOrder::Conflicts,
        "hill-climb" => return Ok(hill_climb(of, pools)),
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
    for of in list(&case("tvm_usmp")["buffers"]) {
        let (buffers, pools) = (buffers(of), pools(of));
        for (algorithm, expected) in of["expected"].as_object().unwrap() {
            let at = format!("{} {algorithm}", of["name"]);
            let found = run(algorithm, &buffers, &pools);
            if expected.is_null() {
                let fault = found.unwrap_err();
                let named = fault.contains("does not fit") && fault.contains(&pools[0].name);
                assert!(named, "{at}: {fault}");
                continue;
            }
            let (places, sizes) = found.unwrap();
            if let Some(offsets) = expected.get("offsets") {
                let places: Vec<u64> = places.iter().map(|(_, offset)| offset.0).collect();
                assert_eq!(places, numbers(offsets), "{at}");
            }
            if let Some(expected) = expected.get("pools") {
                let sizes: Vec<u64> = sizes.iter().map(|size| size.0).collect();
                assert_eq!(sizes, numbers(expected), "{at}");
            }
        }
    }
}

#[test]
fn intervals_are_climbed_to_the_bound() {
    for of in list(&case("tvm_usmp")["tensors"]) {
        let item = |tensor: &Value| {
            let tensor = numbers(tensor);
            let lifetime = Span::new(tensor[0] as u32, tensor[1] as u32);
            Item::new(lifetime, Bytes(tensor[2]), Alignment::ONE)
        };
        let items = list(&of["tensors"]).iter().map(item).collect();
        let problem = ProblemDesc::new(items).build().unwrap();
        let bound = lower_bound(&problem).0;
        assert_eq!(bound, number(&of["bound"]), "{}", of["name"]);
        let packing = pack(&problem, Strategy::HillClimb);
        check(&problem, &packing).unwrap();
        // The tolerance of the published test.
        let height = packing.height.0;
        assert!(
            100 * (height - bound) < 5 * height || height == bound,
            "{}",
            of["name"]
        );
    }
}
