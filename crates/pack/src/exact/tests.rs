//! Tests of the search for any number of units, on problems that `small` would otherwise solve.

use std::ops::ControlFlow;

use super::*;
use crate::search_state::SearchState;
use crate::units::SplitMix64;
use crate::units::{Alignment, Bytes, Span};
use crate::{Item, Packer, Packing, ProblemDesc, Steps, check, lower_bound};

fn drawn(random: &mut SplitMix64) -> Problem {
    let count = 3 + random.below(8);
    let steps = 2 + random.below(9);
    let plain = random.below(3) > 0;
    let items = (0..count).map(|_| {
        let first = random.below(steps) as u32;
        let end = first + 1 + random.below(steps) as u32;
        let alignment = if plain { 1 } else { random.pick(&[1, 1, 2, 3]) };
        let alignment = Alignment::new(alignment).unwrap();
        let mut item = Item::new(Span::new(first, end), Bytes(1 + random.below(6)), alignment);
        if !plain {
            item.together = (random.below(6) == 0).then_some(1);
            item.lowest = Bytes(random.below(3));
        }
        item
    });
    let mut desc = ProblemDesc::new(items.collect());
    if !plain && random.below(2) == 0 {
        let pair = (random.below(count) as u32, random.below(count) as u32);
        let group = |index: u32| desc.items[index as usize].together;
        if pair.0 != pair.1 && (group(pair.0).is_none() || group(pair.0) != group(pair.1)) {
            desc.conflicts.push(pair);
        }
    }
    desc.build().unwrap()
}

#[test]
fn both_exact_searches_find_the_same_optimum() {
    let mut random = SplitMix64::new(8);
    let (mut exact, mut packer) = (Exact::default(), Packer::default());
    let mut offsets = Vec::new();
    let mut above_the_bound = 0;
    for round in 0..2000 {
        let problem = drawn(&mut random);
        exact.model.reduce(&problem, None);
        let mut capacity = lower_bound(&problem).0;
        let (outcome, steps) = exact.fit(capacity, 5, &mut |_| true);
        assert!(
            steps <= 6 && (steps > 4 || outcome != RunResult::OutOfSteps),
            "round {round}"
        );
        while exact.fit(capacity, u64::MAX, &mut |_| true).0 != RunResult::Packed {
            capacity += 1;
        }
        exact.write(&problem, &mut offsets);
        let mut packing = Packing::default();
        packing.set(&problem, &offsets);
        check(&problem, &packing).unwrap_or_else(|fault| panic!("round {round}: {fault}"));
        assert!(packing.height.0 <= capacity, "round {round}");
        let mut go_on = |_| ControlFlow::Continue(());
        let mut few = SearchState::new(0, 0, Steps::default(), &mut go_on, Vec::new());
        assert!(packer.search_small(&problem, 400_000, &mut few), "round {round}");
        assert_eq!(few.height, capacity, "round {round}");
        above_the_bound += u32::from(capacity > lower_bound(&problem).0);
    }
    assert!(
        above_the_bound > 130,
        "only {above_the_bound} of the problems end above the bound"
    );
}
