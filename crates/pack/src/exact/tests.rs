//! Every combination of switches: answers pass the checker and agree with each other.

use super::*;
use crate::units::SplitMix64;
use crate::units::{Alignment, Bytes, Span};
use crate::{Item, Packing, ProblemDesc, check, lower_bound};

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

fn every_combination() -> impl Iterator<Item = Switches> {
    (0..32).map(|bits| Switches {
        parts: bits & 1 > 0,
        valleys: bits & 2 > 0,
        twins: bits & 4 > 0,
        table: bits & 8 > 0,
        heads: bits & 16 > 0,
    })
}

#[test]
fn every_combination_of_switches_finds_the_same_optimum() {
    let mut random = SplitMix64::new(8);
    let mut exact = Exact::default();
    let mut offsets = Vec::new();
    let mut above_the_bound = 0;
    for round in 0..300 {
        let problem = drawn(&mut random);
        exact.reduce(&problem, None);
        let mut optimum = None;
        for switches in every_combination() {
            let mut capacity = lower_bound(&problem).0;
            loop {
                match exact.fit(capacity, switches, u64::MAX, &mut |_| true).0 {
                    Outcome::Packed => break,
                    Outcome::Impossible => capacity += 1,
                    other => panic!("{other:?}"),
                }
            }
            exact.write(&problem, &mut offsets);
            let mut packing = Packing::default();
            packing.set(&problem, &offsets);
            check(&problem, &packing).unwrap_or_else(|fault| panic!("round {round}, {switches:?}: {fault}"));
            assert!(packing.height.0 <= capacity, "round {round}, {switches:?}");
            assert_eq!(
                *optimum.get_or_insert(capacity),
                capacity,
                "round {round}, {switches:?}"
            );
        }
        above_the_bound += u32::from(optimum > Some(lower_bound(&problem).0));
    }
    assert!(
        above_the_bound > 20,
        "{above_the_bound}: too easy to tell anything"
    );
}

#[test]
fn a_caller_may_end_a_search() {
    let items = (0..40).map(|index| {
        let span = Span::new(index % 7, index % 7 + 1 + index % 5);
        Item::new(span, Bytes(7 + u64::from(index * 13 % 11)), Alignment::ONE)
    });
    let problem = Problem::new(items.collect()).unwrap();
    let mut exact = Exact::default();
    exact.reduce(&problem, None);
    let bound = lower_bound(&problem).0;
    let (outcome, steps) = exact.fit(bound, Switches::DEFAULT, 5, &mut |_| true);
    assert!(
        outcome == Outcome::OutOfSteps && steps <= 6,
        "{outcome:?} {steps}"
    );
}
