//! Properties of answers to any problem: a packing whenever one is possible, and no false proofs.

use std::ops::ControlFlow;

use tileheap_pack::units::{Alignment, Bytes, Span, SplitMix64};
use tileheap_pack::{
    Item, Packer, Packing, Problem, ProblemDesc, Progress, Steps, Strategy, Verdict, check, fit, lower_bound,
    minimize, select,
};
use tileheap_testkit::generators::{FAMILIES, PerfectDesc, perfect};

use crate::go_on;

fn item(first: u32, end: u32, size: u64) -> Item {
    Item::new(Span::new(first, end), Bytes(size), Alignment::ONE)
}

/// Many items of all sizes.
fn many(count: u64) -> Problem {
    let mut random = SplitMix64::new(count);
    let items = (0..count).map(|_| {
        let first = random.below(count * 3 / 2) as u32;
        let bits = random.below(20);
        let end = first + 1 + random.below(200) as u32;
        item(first, end, 1 + random.below(1 << bits))
    });
    Problem::new(items.collect()).unwrap()
}

#[test]
fn without_a_capacity_there_is_a_packing_however_small_the_budget() {
    for problem in [many(100), many(3000), many(25_000)] {
        for strategy in [Strategy::Auto, Strategy::Exact, Strategy::HillClimb] {
            let answer = minimize(&problem, strategy, Steps(1), &mut go_on);
            let packing = answer.packing.expect("nothing forbids a packing");
            assert_eq!(packing.offsets.len(), problem.items().len());
            let answer = fit(&problem, strategy, Steps(1), &mut go_on);
            assert!(answer.packing.is_some() && answer.verdict == Verdict::Proved);
        }
    }
}

#[test]
fn the_largest_item_is_placed() {
    let problem = Problem::new(vec![item(0, 1, u64::MAX), item(0, 1, 0)]).unwrap();
    for strategy in Strategy::ALL {
        for answer in [
            minimize(&problem, strategy, Steps(10), &mut go_on),
            fit(&problem, strategy, Steps(10), &mut go_on),
        ] {
            let packing = answer.packing.expect("the block takes it");
            assert_eq!(packing.height, Bytes(u64::MAX), "{strategy}");
            assert_eq!(answer.verdict, Verdict::Proved, "{strategy}");
            check(&problem, &packing).unwrap();
        }
    }
}

/// A search with an unlimited budget that cannot be settled ends only through its callback.
#[test]
fn a_search_without_a_budget_improves_until_it_is_ended() {
    let problem = many(300);
    let mut packer = Packer::default();
    let first = packer.minimize(&problem, Strategy::Auto, Steps::default(), &mut go_on);
    let mut until = |progress: Progress| match progress.steps.0 < 3_000_000 {
        true => ControlFlow::Continue(()),
        false => ControlFlow::Break(()),
    };
    let answer = packer.minimize(&problem, Strategy::Auto, Steps::UNLIMITED, &mut until);
    let packing = answer.packing.as_ref().unwrap();
    check(&problem, packing).unwrap();
    assert!(packing.height <= first.packing.unwrap().height);
    assert_ne!(answer.verdict, Verdict::OutOfSteps);
    let done = packer.minimize(&problem, Strategy::Quick, Steps::UNLIMITED, &mut until);
    assert!(done.packing.is_some(), "a strategy without a search runs once");
}

/// The rules of `quick` run even if they exceed their share of the budget.
#[test]
fn the_default_is_never_worse_than_quick() {
    for problem in [many(3000), many(40_000)] {
        let mut packer = Packer::default();
        let quick = packer.pack(&problem, Strategy::Quick).height;
        let answer = packer.minimize(&problem, Strategy::Auto, Steps::default(), &mut go_on);
        assert!(answer.packing.unwrap().height <= quick);
    }
}

/// The smallest block is no larger than a capacity in which the same budget finds a packing.
#[test]
fn minimize_finds_what_fit_finds() {
    for seed in 0..4 {
        let desc = PerfectDesc {
            items: 300,
            steps: 400,
            height: 4000,
            pinwheels: 4,
            draws: 3,
        };
        let (items, _) = perfect(seed, desc);
        let desc = ProblemDesc::new(items).capacity(Bytes(desc.height));
        let problem = desc.build().unwrap();
        let within = fit(&problem, Strategy::Auto, Steps::default(), &mut go_on);
        let lowest = minimize(&problem, Strategy::Auto, Steps::default(), &mut go_on);
        let height = |packing: Option<Packing>| packing.map_or(Bytes(u64::MAX), |packing| packing.height);
        assert!(height(lowest.packing) <= height(within.packing), "seed {seed}");
    }
}

/// Thousands of items, few of which the relaxation takes fractionally.
#[test]
fn selections_of_training_graphs_end_soon_and_near_their_bound() {
    let family = FAMILIES
        .iter()
        .find(|family| family.name == "training-graph")
        .unwrap();
    for (seed, items) in [(1, 600), (2, 1600)] {
        let desc = ProblemDesc::new(family.generate(seed, items).items);
        let weights: Vec<u64> = desc
            .items
            .iter()
            .zip(2..)
            .map(|(item, uses)| item.size.0 * (2 + uses % 3))
            .collect();
        let peak = lower_bound(&desc.clone().build().unwrap());
        let problem = desc.capacity(Bytes(peak.0 / 3)).build().unwrap();
        let found = select(&problem, &weights, Steps::default(), &mut go_on);
        assert!(
            found.weight >= found.bound - found.bound / 500,
            "{} of {}",
            found.weight,
            found.bound
        );
        assert!(found.steps < Steps(80_000), "{:?}", found.steps);
    }
}

/// Random items, an eighth of them at fixed offsets, or with pairs that must not share bytes.
fn obstructed(seed: u64, count: u64, fixed: bool) -> Problem {
    let mut random = SplitMix64::new(seed);
    let (steps, mut at) = (count / 2 + 4, 0);
    let mut items = Vec::new();
    for index in 0..count {
        let first = random.below(steps);
        let longest = [6, steps][usize::from(random.below(4) == 0)];
        let end = (first + 1 + random.below(longest)).min(steps + 4);
        let size = match random.below(3) {
            0 => 1 + random.below(100),
            1 => 16 * (1 + random.below(64)),
            _ => 1 + random.below(2_000),
        };
        let mut item = Item::new(Span::new(first as u32, end as u32), Bytes(size), Alignment::ONE);
        if fixed && index < count / 8 {
            item.fixed = Some(Bytes(at));
            at += size + random.below(50);
        }
        items.push(item);
    }
    let mut desc = ProblemDesc::new(items);
    for _ in 0..if fixed { 0 } else { count } {
        let pair = [random.below(count) as u32, random.below(count) as u32];
        if pair[0] != pair[1] {
            desc.conflicts.push((pair[0], pair[1]));
        }
    }
    desc.build().unwrap()
}

#[test]
fn the_default_is_not_worse_than_any_strategy_with_half_of_its_steps() {
    let mut packer = Packer::default();
    let mut worse = Vec::new();
    for seed in 0..24 {
        let problem = obstructed(seed, 150, seed % 2 == 0);
        let mut height = |strategy, steps| {
            let answer = packer.minimize(&problem, strategy, Steps(steps), &mut go_on);
            answer.packing.map(|packing| packing.height)
        };
        let ours = height(Strategy::Auto, 8_000).expect("it has no bounds of offsets");
        let others = Strategy::ALL
            .into_iter()
            .filter(|&strategy| strategy != Strategy::Auto);
        let lower = others.filter(|&strategy| height(strategy, 4_000).is_some_and(|other| other < ours));
        worse.extend(lower.map(|strategy| (seed, strategy)));
    }
    assert_eq!(worse, []);
}
