//! Rules and searches allocate nothing once a packer has seen problems of that size.

use tileheap_pack::units::SplitMix64;
use tileheap_pack::units::{Alignment, Bytes, Span};
use tileheap_pack::{Answer, Goal, Item, Packer, Packing, PackingStrategy, Problem, Steps, Strategy};
use tileheap_testkit::counting;
use tileheap_testkit::generators::{ProblemKind, every_kind, sixteen_items};

use crate::go_on;

/// Problems of 16 items that no rule packs at the lower bound, with their own capacity and with one that is too small.
fn beyond_the_rules(kind: ProblemKind) -> Vec<Problem> {
    let mut packer = Packer::default();
    let mut beyond = Vec::new();
    for problem in sixteen_items(kind, 50) {
        let bound = packer.lower_bound(&problem);
        let mut rules = Strategy::ALL.into_iter().filter(|&strategy| !searches(strategy));
        if rules.any(|strategy| packer.pack(&problem, strategy).height == bound) {
            continue;
        }
        let answer = packer.minimize(&problem, Strategy::Auto, STEPS, &mut go_on);
        let Some(Packing { height: best, .. }) = answer.packing else {
            continue;
        };
        for capacity in [best, Bytes((bound.0 + best.0) / 2)] {
            let desc = problem.clone().into_desc().capacity(capacity);
            beyond.push(desc.build().expect("a capacity harms no problem"));
        }
    }
    beyond
}

const STEPS: Steps = Steps(1000);

fn searches(strategy: Strategy) -> bool {
    matches!(strategy, Strategy::HillClimb | Strategy::Exact | Strategy::Auto)
}

/// Includes searches: the cheap rules fail on all of these, some have no packing within their capacity, and some have parts that are searched
/// separately.
#[test]
fn every_strategy_allocates_nothing_on_few_items_of_every_kind() {
    for kind in every_kind() {
        let problems = beyond_the_rules(kind);
        let (mut packer, mut answer) = (Packer::default(), Answer::default());
        let mut impossible = 0;
        let mut all = || {
            for problem in &problems {
                for strategy in Strategy::ALL {
                    for goal in [Goal::Lowest, Goal::Within] {
                        strategy.search_into(problem, (goal, STEPS), &mut go_on, &mut packer, &mut answer);
                    }
                    impossible += u32::from(answer.is_impossible());
                }
            }
        };
        all();
        let before = counting::allocation_count();
        all();
        assert_eq!(counting::allocation_count() - before, 0, "{kind:?}");
        assert!(problems.len() >= 4, "{kind:?}: {}", problems.len());
        assert!(
            impossible > 0 || !(kind.constraints || kind.alignments),
            "{kind:?}"
        );
    }
}

/// The general search, which small problems seldom reach, and the steps around it: independent parts, and large items first.
#[test]
fn searching_many_items_allocates_nothing() {
    let mut random = SplitMix64::new(5);
    let items = (0..140).map(|index| {
        let (part, index) = (index / 70, index % 70);
        let first = part * 1000 + random.below(30) as u32;
        let span = Span::new(first, first + 1 + random.below(20) as u32);
        let size = Bytes((1 + random.below(50)) * if index % 3 == 0 { 100_000 } else { 7 });
        Item::new(
            span,
            size,
            Alignment::new(1 + u64::from(index) % 4).expect("it is not 0"),
        )
    });
    let problem = Problem::new(items.collect()).expect("items alone are sound");
    let (mut packer, mut answer) = (Packer::default(), Answer::default());
    for strategy in Strategy::ALL
        .into_iter()
        .filter(|&strategy| strategy != Strategy::Glue)
    {
        let mut run = || {
            strategy.search_into(
                &problem,
                (Goal::Lowest, Steps(20_000)),
                &mut go_on,
                &mut packer,
                &mut answer,
            );
            answer.steps
        };
        let steps = run();
        let before = counting::allocation_count();
        assert_eq!(run(), steps, "{strategy}");
        assert_eq!(counting::allocation_count() - before, 0, "{strategy}");
        assert!(steps.0 > 1000 || strategy != Strategy::Exact, "{steps:?}");
    }
}
