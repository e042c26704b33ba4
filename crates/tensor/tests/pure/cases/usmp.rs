//! TVM's unified static memory planner: the results of its hill climbing, reproduced by the packing engine.

use serde_json::Value;
use tileheap_pack::{Item, Problem, ProblemDesc, Steps, Strategy, check, lower_bound, pack, spread};
use tileheap_tensor::units::{Alignment, Bytes, Span};

use super::{case, indices, list, number, numbers};

/// A problem with the buffers in the order of the rule, which takes them from the last name to the first.
fn problem(of: &Value) -> Problem {
    let sizes = numbers(&of["sizes"]);
    // Each buffer is live at its own step: conflicts are those of the declared pairs.
    let items = sizes
        .iter()
        .rev()
        .zip(0..)
        .map(|(&size, step)| Item::new(Span::new(step, step + 1), Bytes(size), Alignment::ONE));
    let mut desc = ProblemDesc::new(items.collect());
    let conflicts: Vec<Vec<usize>> = list(&of["conflicts"]).iter().map(indices).collect();
    let place = |buffer: usize| (sizes.len() - 1 - buffer) as u32;
    for (index, others) in conflicts.iter().enumerate() {
        // The climb may place either buffer first, and then the other's list counts: a conflict that only one side declares is
        // not binding. (One of the published tests declares a buffer to be in conflict with itself.)
        let both = |&&other: &&usize| other != index && conflicts[other].contains(&index);
        for &other in others.iter().filter(both) {
            desc = desc.conflict(place(index), place(other));
        }
    }
    desc.build().unwrap()
}

#[test]
fn buffers_go_where_usmp_climbs() {
    for of in list(&case("tvm_usmp")["buffers"]) {
        let (problem, expected) = (problem(of), &of["expected"]);
        let pools: Vec<Option<Bytes>> = list(&of["pools"])
            .iter()
            .map(|size| size.as_u64().map(Bytes))
            .collect();
        let sizes = if pools.len() == 1 {
            let packing = pack(&problem, Strategy::HillClimb);
            check(&problem, &packing).unwrap();
            if let Some(offsets) = expected.get("offsets") {
                let found: Vec<u64> = packing.offsets.iter().rev().map(|offset| offset.0).collect();
                assert_eq!(found, numbers(offsets), "{}", of["name"]);
                continue;
            }
            vec![packing.height]
        } else {
            let weights: Vec<u64> = problem.items().iter().map(|item| item.size.0).collect();
            let mut go_on = |_| std::ops::ControlFlow::Continue(());
            spread(&problem, &weights, &pools, Steps::default(), &mut go_on).heights
        };
        let sizes: Vec<u64> = sizes.iter().map(|size| size.0).collect();
        assert_eq!(sizes, numbers(&expected["pools"]), "{}", of["name"]);
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
