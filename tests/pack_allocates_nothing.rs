//! The rules, and `auto` where it need not search, allocate nothing once a packer has seen problems of that size.

#[path = "support/counting.rs"]
mod counting;

use tileheap::frame::SplitMix64;
use tileheap::pack::{Item, Packer, Packing, Problem, Strategy};
use tileheap::units::{Alignment, Bytes, Span};

fn exempt() -> bool {
    false
}

/// What packing all problems with one packer allocates, after it has packed them before.
fn allocations(problems: &[Problem], strategy: Strategy) -> usize {
    let (mut packer, mut packing) = (Packer::default(), Packing::default());
    let mut all = || {
        for problem in problems {
            packer.pack_into(problem, strategy, &mut packing);
            assert!(packing.height >= packer.lower_bound(problem));
        }
    };
    all();
    let before = counting::so_far();
    all();
    counting::so_far() - before
}

fn problems(count: u64, items: u64) -> Vec<Problem> {
    let mut random = SplitMix64::new(items);
    let page = Alignment::new(4096).expect("4096 is not 0");
    let mut item = || {
        let first = random.below(items * 3 / 2) as u32;
        let end = first + 1 + random.below(items / 2) as u32;
        let size = Bytes((1 + random.below(64)) * 4096);
        Item::new(Span::new(first, end), size, page)
    };
    let problem = |_| Problem::new((0..items).map(|_| item()).collect()).expect("items alone are sound");
    (0..count).map(problem).collect()
}

#[test]
fn rules_allocate_nothing_after_warm_up() {
    for items in [16, 300] {
        let problems = problems(100, items);
        for strategy in [
            Strategy::Naive,
            Strategy::GreedyBySize,
            Strategy::FirstFitBySize,
            Strategy::GreedyByBreadth,
            Strategy::FirstFitByBirth,
            Strategy::BestFitByBirth,
            Strategy::GreedyByArea,
            Strategy::GreedyByConflicts,
            Strategy::Quick,
        ] {
            assert_eq!(allocations(&problems, strategy), 0, "{strategy}, {items} items");
        }
    }
}

#[test]
fn auto_allocates_nothing_where_a_rule_reaches_the_bound() {
    let mut packer = Packer::default();
    let mut problems = problems(200, 16);
    problems.retain(|problem| packer.pack(problem, Strategy::Quick).height == packer.lower_bound(problem));
    assert!(problems.len() > 100, "{}", problems.len());
    assert_eq!(allocations(&problems, Strategy::Auto), 0);
}
