//! Runs every strategy on random packing problems: checked, repeated, and compared with an exhaustive search.

use proptest::prelude::*;
use tileheap_pack::units::{Alignment, Bytes, Span};
use tileheap_pack::{
    Error, Item, Packer, Packing, PartialPacking, Problem, ProblemDesc, Steps, Strategy as Packs, Verdict,
    check, fit, lower_bound, minimize, pack, select,
};

use crate::go_on;

/// Parameters of the items of a random problem.
#[derive(Clone, Copy)]
struct Draw {
    items: usize,
    steps: u32,
    size: u64,
    /// Upper limit of fixed offsets.
    reach: u64,
    alignments: &'static [u64],
}

const SMALL: Draw = Draw {
    items: 40,
    steps: 24,
    size: 5000,
    reach: 60_000,
    alignments: &[1, 1, 3, 64, 256, 12_288, 20_480],
};

const TINY: Draw = Draw {
    items: 5,
    steps: 5,
    size: 4,
    reach: 8,
    alignments: &[1, 1, 2, 3],
};

/// Sparse steps, which are sorted by a different path than dense ones.
const SPARSE: Draw = Draw {
    items: 60,
    steps: u32::MAX,
    size: 1 << 50,
    reach: 1 << 55,
    alignments: &[1, 4096, 1_000_003],
};

fn item(draw: Draw) -> impl Strategy<Value = Item> {
    let size = prop_oneof![9 => 1..=draw.size, 1 => Just(0)];
    let alignment = proptest::sample::select(draw.alignments);
    let fixed = proptest::option::weighted(0.1, 0..=draw.reach);
    let together = proptest::option::weighted(0.15, 0..3u32);
    let span = (0..=draw.steps, 0..=draw.steps).prop_map(|(a, b)| match a.cmp(&b) {
        // About a tenth of all spans are empty, some of them reversed.
        std::cmp::Ordering::Greater if a % 8 != 0 => Span::new(b, a),
        _ => Span::new(a, b),
    });
    let lowest = prop_oneof![9 => Just(0), 1 => 0..=draw.reach / 4];
    (span, size, alignment, fixed, together, lowest).prop_map(
        |(span, size, alignment, fixed, together, lowest)| Item {
            fixed: fixed.map(|offset| Bytes(offset - offset % alignment)),
            lowest: Bytes(if fixed.is_some() { 0 } else { lowest }),
            together,
            ..Item::new(span, Bytes(size), Alignment::new(alignment).unwrap())
        },
    )
}

/// Problems with fixed offsets, groups and conflicts; each is left out in one of three problems.
fn problem(draw: Draw) -> impl Strategy<Value = Problem> {
    let items = proptest::collection::vec(item(draw), 0..=draw.items);
    let pairs = proptest::collection::vec((0..draw.items as u32, 0..draw.items as u32), 0..draw.items / 2);
    (items, pairs, 0..3, 0..3, 0..3).prop_map(|(mut items, pairs, fix, group, conflict)| {
        for item in &mut items {
            item.fixed = item.fixed.filter(|_| fix > 0);
            item.together = item.together.filter(|_| group > 0);
        }
        let count = items.len() as u32;
        let conflicts = pairs
            .into_iter()
            .filter(|&(a, b)| conflict > 0 && a < b && b < count);
        repaired(ProblemDesc {
            items,
            conflicts: conflicts.collect(),
            capacity: None,
        })
    })
}

/// Removes what validation refuses: a random offset that collides, a conflict inside a group.
fn repaired(mut desc: ProblemDesc) -> Problem {
    loop {
        match desc.clone().build() {
            Ok(problem) => return problem,
            Err(Error::FixedCollision(_, item) | Error::Misaligned(item, ..)) => {
                // Another member of the group may be the fixed one.
                members(&mut desc, item).for_each(|member| member.fixed = None);
            }
            // A lowest offset and a fixed one in the same group.
            Err(Error::EmptyBounds { item, .. }) => {
                members(&mut desc, item).for_each(|member| member.lowest = Bytes::ZERO);
            }
            Err(Error::GroupFixedTwice(_, b, ..)) => desc.items[b as usize].fixed = None,
            Err(Error::ConflictInGroup(a, b)) => desc.conflicts.retain(|&pair| pair != (a, b)),
            Err(error) => panic!("{error}"),
        }
    }
}

/// An item and the other members of its group.
fn members(desc: &mut ProblemDesc, item: u32) -> impl Iterator<Item = &mut Item> {
    let group = desc.items[item as usize].together;
    let items = (0..).zip(&mut desc.items);
    let members =
        items.filter(move |(index, other)| *index == item || group.is_some() && other.together == group);
    members.map(|(_, member)| member)
}

fn judge(problem: &Problem) -> Result<(), TestCaseError> {
    let bound = lower_bound(problem);
    let mut used = Packer::default();
    let (mut rules, mut searches) = (Bytes(u64::MAX), Bytes(u64::MAX));
    for strategy in Packs::ALL {
        let searching = matches!(strategy, Packs::HillClimb | Packs::Exact | Packs::Auto);
        // Strategies that search are only checked on small problems.
        if problem.items().len() > 12 && searching {
            continue;
        }
        let packing = pack(problem, strategy);
        if let Err(error) = check(problem, &packing) {
            return Err(TestCaseError::fail(format!("{strategy}: {error}")));
        }
        prop_assert!(
            packing.height >= bound,
            "{strategy}: {} < {bound}",
            packing.height
        );
        for _ in 0..2 {
            prop_assert_eq!(
                &packing,
                &used.pack(problem, strategy),
                "{} is not repeatable",
                strategy
            );
        }
        let best = if searching { &mut searches } else { &mut rules };
        if strategy != Packs::Auto {
            *best = packing.height.min(*best);
            continue;
        }
        let answer = minimize(problem, Packs::Auto, Steps::default(), &mut go_on);
        prop_assert_eq!(answer.packing.as_ref(), Some(&packing));
        prop_assert!(packing.height <= rules, "{} > {rules}", packing.height);
        prop_assert!(
            answer.bound <= rules.min(searches),
            "the bound is above a height that was found"
        );
        // Two searches with the same budget that both exhaust it may end slightly apart; nothing is below what is proved.
        let is_proved = answer.verdict == Verdict::Proved;
        let apart = if is_proved { 0 } else { searches.0 / 1_000_000_000 };
        prop_assert!(
            packing.height.0 <= searches.0 + apart,
            "{} > {searches}",
            packing.height
        );
    }
    Ok(())
}

proptest! {
    // Shrinking a case in which searches run out of steps would take hours.
    #![proptest_config(ProptestConfig { max_shrink_time: 60_000, ..ProptestConfig::with_cases(600) })]

    #[test]
    fn every_strategy_is_accepted(problem in problem(SMALL)) {
        judge(&problem)?;
    }

    #[test]
    fn every_strategy_is_accepted_on_sparse_steps(problem in problem(SPARSE)) {
        judge(&problem)?;
    }

    #[test]
    fn nothing_beats_an_exhaustive_search(problem in problem(TINY)) {
        let naive = pack(&problem, Packs::Naive).height.0;
        let optimum = optimum(&problem, naive);
        prop_assert!(lower_bound(&problem).0 <= optimum);
        for strategy in Packs::ALL {
            let height = pack(&problem, strategy).height.0;
            prop_assert!(height >= optimum, "{strategy}: {height} < {optimum}");
        }
        judge(&problem)?;
        for strategy in [Packs::Exact, Packs::Auto] {
            let answer = minimize(&problem, strategy, Steps::default(), &mut go_on);
            prop_assert_eq!(answer.verdict, Verdict::Proved, "{}", strategy);
            prop_assert_eq!(answer.bound.0, optimum, "{}", strategy);
            let packing = answer.packing.expect("there are no upper bounds");
            prop_assert_eq!(packing.height.0, optimum, "{}", strategy);
            prop_assert_eq!(check(&problem, &packing), Ok(()));
        }
    }

    /// Within the optimum everything fits; with one byte less nothing does, and each item of a minimal conflict is needed.
    #[test]
    fn a_capacity_is_met_or_proved_too_small(problem in problem(TINY)) {
        let naive = pack(&problem, Packs::Naive).height.0;
        let optimum = optimum(&problem, naive);
        let fit_in = |desc: ProblemDesc, capacity: u64| {
            let problem = desc.capacity(Bytes(capacity)).build().unwrap();
            let answer = fit(&problem, Packs::Auto, Steps::default(), &mut go_on);
            assert_eq!(answer.verdict, Verdict::Proved);
            answer
        };
        let desc = problem.clone().into_desc();
        let packing = fit_in(desc.clone(), optimum).packing.expect("it fits");
        prop_assert_eq!(check(&problem, &packing), Ok(()));
        prop_assert!(packing.height.0 <= optimum);
        if optimum > 0 {
            let answer = fit_in(desc.clone(), optimum - 1);
            prop_assert!(answer.is_impossible());
            let conflict = answer.conflict.expect("an impossible fit has a conflict");
            prop_assert!(!conflict.items.is_empty());
            let only = |items: &[u32]| {
                let place = |item: u32| items.iter().position(|&other| other == item).map(|index| index as u32);
                let pairs = desc.conflicts.iter().filter_map(|&(a, b)| Some((place(a)?, place(b)?)));
                ProblemDesc {
                    items: items.iter().map(|&item| desc.items[item as usize]).collect(),
                    conflicts: pairs.collect(),
                    capacity: None,
                }
            };
            prop_assert!(fit_in(only(&conflict.items), optimum - 1).is_impossible());
            if conflict.minimal {
                for &left_out in &conflict.items {
                    let group = desc.items[left_out as usize].together;
                    let stays = |&&item: &&u32| item != left_out && (group.is_none() || desc.items[item as usize].together != group);
                    let rest: Vec<u32> = conflict.items.iter().filter(stays).copied().collect();
                    prop_assert!(fit_in(only(&rest), optimum - 1).packing.is_some());
                }
            }
        }
    }

    /// Loads ignore alignments and groups; for few items every choice is tried, and the best is proved.
    #[test]
    fn a_selection_is_the_best_of_all_subsets(
        items in proptest::collection::vec(item(TINY), 0..6),
        weights in proptest::collection::vec(0..20u64, 6),
        capacity in 1..8u64,
        plain in proptest::bool::weighted(0.7),
    ) {
        let items: Vec<Item> = items
            .into_iter()
            .map(|item| if plain { Item::new(item.span, item.size, Alignment::ONE) } else { Item { fixed: None, ..item } })
            .collect();
        let weights = &weights[..items.len()];
        let problem = ProblemDesc::new(items.clone()).capacity(Bytes(capacity)).build().unwrap();
        let selection = select(&problem, weights, Steps::default(), &mut go_on);
        let sum = |chosen: &dyn Fn(usize) -> bool| -> u64 {
            (0..items.len()).filter(|&index| chosen(index)).map(|index| weights[index]).sum()
        };
        let fits = |chosen: &dyn Fn(usize) -> bool| {
            let kept: Vec<Item> = (0..items.len()).filter(|&index| chosen(index)).map(|index| items[index]).collect();
            let problem = ProblemDesc::new(kept).capacity(Bytes(capacity)).build().unwrap();
            fit(&problem, Packs::Exact, Steps::default(), &mut go_on).packing.is_some()
        };
        let mut best = 0;
        for subset in 0..1u32 << items.len() {
            let chosen = |index: usize| subset >> index & 1 > 0;
            let whole = (0..items.len()).all(|a| (0..items.len()).all(|b| {
                let same = items[a].together.is_some() && items[a].together == items[b].together;
                !same || chosen(a) == chosen(b)
            }));
            if whole && sum(&chosen) > best && fits(&chosen) {
                best = sum(&chosen);
            }
        }
        prop_assert_eq!(sum(&|index| selection.offsets[index].is_some()), selection.weight);
        prop_assert_eq!((selection.weight, selection.bound), (best, best), "{:?}", selection);
        prop_assert_eq!(selection.verdict, Verdict::Proved);
        let kept: Vec<usize> = (0..items.len()).filter(|&index| selection.offsets[index].is_some()).collect();
        let part = Problem::new(kept.iter().map(|&index| items[index]).collect()).unwrap();
        let packing = Packing {
            offsets: kept.iter().map(|&index| selection.offsets[index].unwrap()).collect(),
            height: selection.height,
        };
        prop_assert_eq!(check(&part, &packing), Ok(()));
        prop_assert!(selection.height.0 <= capacity);
    }

    /// A shelf is a first fit in any order: the offset it returns is free, and no lower one is.
    #[test]
    fn a_shelf_gives_the_lowest_free_offset(items in proptest::collection::vec(item(TINY), 0..12)) {
        let capacity = 12;
        let mut shelf = PartialPacking::with_capacity(Some(Bytes(capacity)));
        let mut placed: Vec<(Item, u64)> = Vec::new();
        for item in items {
            let (size, alignment) = (item.size.0, item.alignment.get());
            let free = |offset: u64| {
                offset % alignment == 0 && offset + size <= capacity && placed.iter().all(|&(other, at)| {
                    let apart = offset + size <= at || at + other.size.0 <= offset;
                    apart || size == 0 || other.size.0 == 0 || !other.span.overlaps(item.span)
                })
            };
            let lowest = (0..=capacity).find(|&offset| free(offset)).map(Bytes);
            if size > 0 {
                prop_assert_eq!(shelf.lowest_fit(item.span, item.size, item.alignment), lowest);
                let best = shelf.best_fit(item.span, item.size, item.alignment);
                prop_assert_eq!(best.is_some(), lowest.is_some());
                prop_assert!(best.is_none_or(|offset| free(offset.0)));
                // The free bytes around an offset; unbounded above all blocks.
                let around = |offset: u64| {
                    let beside = placed.iter().filter(|(other, _)| other.size.0 > 0 && other.span.overlaps(item.span));
                    let below = beside.clone().map(|(other, at)| at + other.size.0).filter(|&end| end <= offset).max();
                    let above = beside.map(|&(_, at)| at).filter(|&at| at > offset).min();
                    above.map_or(u64::MAX, |above| above - below.unwrap_or(0))
                };
                let least = (0..=capacity).filter(|&offset| free(offset)).map(around).min();
                prop_assert_eq!(best.map(|offset| around(offset.0)), least);
                let overlapping = placed.iter().zip(0u32..).filter(|((other, at), _)| {
                    other.size.0 > 0 && other.span.overlaps(item.span) && *at < 6 && at + other.size.0 > 2
                });
                let mut found: Vec<u32> = shelf.overlapping(item.span, Bytes(2)..Bytes(6)).collect();
                found.sort_unstable();
                prop_assert_eq!(found, overlapping.map(|(_, id)| id).collect::<Vec<_>>());
            }
            if let Some(offset) = lowest {
                shelf.place(placed.len() as u32, item.span, offset, item.size);
                placed.push((item, offset.0));
            }
        }
    }
}

/// Returns the lowest height of all packings up to `limit`, by trying every offset of every item.
fn optimum(problem: &Problem, limit: u64) -> u64 {
    fn size(items: &[Item], index: usize) -> u64 {
        let group = items[index].together;
        let members = items.iter().enumerate();
        let members =
            members.filter(|&(other, item)| other == index || (group.is_some() && item.together == group));
        members.map(|(_, item)| item.size.0).max().unwrap()
    }
    fn allowed(problem: &Problem, offsets: &[u64], offset: u64) -> bool {
        let items = problem.items();
        let b = offsets.len();
        let item = &items[b];
        if offset < item.lowest.0
            || item.fixed.is_some_and(|fixed| fixed.0 != offset)
            || offset % item.alignment.get() != 0
        {
            return false;
        }
        (0..b).all(|a| {
            if items[a].together.is_some() && items[a].together == item.together {
                return offsets[a] == offset;
            }
            let conflict = problem.conflicts().contains(&(a as u32, b as u32));
            let apart = offset + size(items, b) <= offsets[a] || offsets[a] + size(items, a) <= offset;
            apart
                || !(conflict || items[a].span.overlaps(item.span))
                || size(items, a) == 0
                || size(items, b) == 0
        })
    }
    fn search(problem: &Problem, offsets: &mut Vec<u64>, height: u64, best: &mut u64) {
        let items = problem.items();
        if offsets.len() == items.len() {
            *best = height;
            return;
        }
        let size = size(items, offsets.len());
        let mut offset = 0;
        while height.max(offset + size) < *best {
            if allowed(problem, offsets, offset) {
                offsets.push(offset);
                search(problem, offsets, height.max(offset + size), best);
                offsets.pop();
            }
            offset += 1;
        }
    }
    let mut best = limit + 1;
    search(problem, &mut Vec::new(), 0, &mut best);
    assert!(best <= limit, "the naive packing is one of all");
    best
}

/// ```text
/// 24 ┤┌── 2 ──┐┌─ 3 ─┐
/// 12 ┤├── 0 ──┤├─ 1 ─┤          0 and 1 form a group; 2 is fixed; 3 and 4 are in conflict
///  0 ┼┴───────┴┴─────┴┬ 4 ┬──►
/// ```
fn sound() -> (Problem, Packing) {
    let twelve = Alignment::new(12).unwrap();
    let item = |first, end| Item::new(Span::new(first, end), Bytes(12), twelve);
    let group = |item: Item| Item {
        together: Some(5),
        ..item
    };
    let fixed = Item {
        fixed: Some(Bytes(12)),
        ..item(0, 3)
    };
    let items = vec![
        group(item(0, 3)),
        group(item(3, 6)),
        fixed,
        item(3, 6),
        item(6, 8),
    ];
    let problem = ProblemDesc::new(items).conflict(4, 3).build().unwrap();
    let packing = Packing {
        offsets: vec![Bytes(0), Bytes(0), Bytes(12), Bytes(12), Bytes(0)],
        height: Bytes(24),
    };
    (problem, packing)
}

#[test]
fn the_judge_refuses_each_kind_of_damage() {
    let (problem, packing) = sound();
    assert_eq!(check(&problem, &packing), Ok(()));
    let overlap = Error::Overlap {
        a: 1,
        b: 3,
        a_span: Span::new(3, 6),
        b_span: Span::new(3, 6),
        offset: Bytes(0),
        end: Bytes(12),
    };
    let far = u64::MAX - 3;
    for (offsets, height, fault) in [
        // Shifted to a misaligned offset; onto the group's second member; away from it; ...
        (
            vec![0, 0, 12, 12, 7],
            24,
            Error::Misaligned(4, Bytes(7), Alignment::new(12).unwrap()),
        ),
        (vec![0, 0, 12, 0, 24], 36, overlap),
        (
            vec![24, 0, 12, 12, 0],
            36,
            Error::GroupSplit(0, 1, Bytes(24), Bytes(0)),
        ),
        (
            vec![0, 0, 24, 12, 0],
            36,
            Error::MovedFixed(2, Bytes(12), Bytes(24)),
        ),
        (
            vec![0, 0, 12, 12, 12],
            24,
            Error::ConflictOverlap(4, 3, Bytes(12), Bytes(24)),
        ),
        (
            vec![0, 0, 12, 12, 0],
            23,
            Error::WrongHeight(Bytes(23), Bytes(24)),
        ),
        (
            vec![0, 0, 12, 12, 0],
            36,
            Error::WrongHeight(Bytes(36), Bytes(24)),
        ),
        (
            vec![0, 0, 12, far, 0],
            24,
            Error::EndOverflow(3, Bytes(12), Bytes(far)),
        ),
        (vec![0], 12, Error::OffsetCount(1, 5)),
    ] {
        let (offsets, height) = (offsets.into_iter().map(Bytes).collect(), Bytes(height));
        assert_eq!(check(&problem, &Packing { offsets, height }), Err(fault));
    }
}

/// A group takes its largest size for each of its members, including small ones.
#[test]
fn the_judge_counts_a_group_at_its_largest() {
    let member = |first, end, size| Item {
        together: Some(0),
        ..Item::new(Span::new(first, end), Bytes(size), Alignment::ONE)
    };
    let beside = Item::new(Span::new(4, 5), Bytes(1), Alignment::ONE);
    let problem = Problem::new(vec![member(0, 2, 8), member(4, 6, 2), beside]).unwrap();
    let offsets = vec![Bytes(0), Bytes(0), Bytes(2)];
    let height = Bytes(8);
    let error = check(&problem, &Packing { offsets, height }).unwrap_err();
    assert!(matches!(error, Error::Overlap { a: 1, b: 2, .. }), "{error}");
}
