//! Drawn packing problems through every strategy: judged, repeated, and compared with an exhaustive search.

use proptest::prelude::*;
use tileheap::pack::{
    Item, PackFault, Packer, Packing, Problem, ProblemDesc, Shelf, Strategy as Packs, check, lower_bound,
    pack,
};
use tileheap::units::{Alignment, Bytes, Span};

/// How the items of a drawn problem look.
#[derive(Clone, Copy)]
struct Draw {
    items: usize,
    steps: u32,
    size: u64,
    /// Fixed offsets are below.
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

/// Sparse steps, which take other ways through the sorting than dense ones.
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
        // A tenth or so of all spans is empty, some of them backwards.
        std::cmp::Ordering::Greater if a % 8 != 0 => Span::new(b, a),
        _ => Span::new(a, b),
    });
    (span, size, alignment, fixed, together).prop_map(|(span, size, alignment, fixed, together)| Item {
        span,
        size: Bytes(size),
        alignment: Alignment::new(alignment).unwrap(),
        fixed: fixed.map(|offset| Bytes(offset - offset % alignment)),
        together,
    })
}

/// Problems with fixed offsets, groups and conflicts; and, one time in three each, without some of these.
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

/// Lets go of what the validation refuses: a drawn offset that collides, a conflict inside a group.
fn repaired(mut desc: ProblemDesc) -> Problem {
    loop {
        match desc.clone().build() {
            Ok(problem) => return problem,
            Err(PackFault::FixedCollision { b: item, .. } | PackFault::Misaligned { item, .. }) => {
                // The fixed member of a group may be another one.
                let group = desc.items[item as usize].together;
                for (index, other) in desc.items.iter_mut().enumerate() {
                    if index == item as usize || (group.is_some() && other.together == group) {
                        other.fixed = None;
                    }
                }
            }
            Err(PackFault::GroupFixedTwice { b, .. }) => desc.items[b as usize].fixed = None,
            Err(PackFault::ConflictInGroup { a, b }) => desc.conflicts.retain(|&pair| pair != (a, b)),
            Err(fault) => panic!("{fault}"),
        }
    }
}

fn judge(problem: &Problem) -> Result<(), TestCaseError> {
    let bound = lower_bound(problem);
    let mut used = Packer::default();
    let mut best: Option<Bytes> = None;
    for strategy in Packs::ALL {
        let packing = pack(problem, strategy);
        if let Err(fault) = check(problem, &packing) {
            return Err(TestCaseError::fail(format!("{strategy}: {fault}")));
        }
        prop_assert!(
            packing.height >= bound,
            "{strategy}: {} < {bound}",
            packing.height
        );
        prop_assert_eq!(
            &packing,
            &used.pack(problem, strategy),
            "{} is not repeatable",
            strategy
        );
        prop_assert_eq!(
            &packing,
            &used.pack(problem, strategy),
            "{} is not repeatable",
            strategy
        );
        match strategy {
            Packs::Naive => {}
            Packs::Auto => prop_assert!(best.is_none_or(|best| packing.height == best)),
            _ => best = Some(best.map_or(packing.height, |best| best.min(packing.height))),
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

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
    }

    /// A shelf is a first fit in any order: what it gives is free, and nothing lower is.
    #[test]
    fn a_shelf_gives_the_lowest_free_offset(items in proptest::collection::vec(item(TINY), 0..12)) {
        let capacity = 12;
        let mut shelf = Shelf::with_capacity(Some(Bytes(capacity)));
        let mut placed: Vec<(Item, u64)> = Vec::new();
        for (index, item) in items.into_iter().enumerate() {
            let (size, alignment) = (item.size.0, item.alignment.get());
            let free = |offset: u64| {
                offset.is_multiple_of(alignment) && offset + size <= capacity && placed.iter().all(|&(other, at)| {
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
            }
            if let Some(offset) = lowest {
                shelf.place(index as u32, item.span, offset, item.size);
                placed.push((item, offset.0));
            }
        }
    }
}

/// The lowest height of all packings up to `limit`, found by trying every offset of every item.
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
        if item.fixed.is_some_and(|fixed| fixed.0 != offset) || !offset.is_multiple_of(item.alignment.get()) {
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
    let refused = |offsets: [u64; 5], height: u64| {
        let offsets = offsets.map(Bytes).to_vec();
        let height = Bytes(height);
        check(&problem, &Packing { offsets, height }).unwrap_err()
    };
    // Shifted to where it is not aligned.
    assert_eq!(
        refused([0, 0, 12, 12, 7], 24),
        PackFault::Misaligned {
            item: 4,
            offset: Bytes(7),
            alignment: Alignment::new(12).unwrap()
        }
    );
    // Shifted onto the group's second member.
    assert_eq!(
        refused([0, 0, 12, 0, 24], 36),
        PackFault::Overlap {
            a: 1,
            b: 3,
            a_span: Span::new(3, 6),
            b_span: Span::new(3, 6),
            offset: Bytes(0),
            end: Bytes(12),
        }
    );
    assert_eq!(
        refused([24, 0, 12, 12, 0], 36),
        PackFault::GroupSplit {
            a: 0,
            b: 1,
            a_offset: Bytes(24),
            b_offset: Bytes(0)
        }
    );
    assert_eq!(
        refused([0, 0, 24, 12, 0], 36),
        PackFault::MovedFixed {
            item: 2,
            expected: Bytes(12),
            found: Bytes(24)
        }
    );
    assert_eq!(
        refused([0, 0, 12, 12, 12], 24),
        PackFault::ConflictOverlap {
            a: 4,
            b: 3,
            offset: Bytes(12),
            end: Bytes(24)
        }
    );
    let claims = |height| PackFault::WrongHeight {
        claimed: Bytes(height),
        end: Bytes(24),
    };
    assert_eq!(refused([0, 0, 12, 12, 0], 23), claims(23));
    assert_eq!(refused([0, 0, 12, 12, 0], 36), claims(36));
    assert!(matches!(
        refused([0, 0, 12, u64::MAX - 3, 0], 24),
        PackFault::EndOverflow { item: 3, .. }
    ));
    let short = Packing {
        offsets: vec![Bytes(0)],
        height: Bytes(12),
    };
    assert_eq!(
        check(&problem, &short),
        Err(PackFault::OffsetCount {
            expected: 5,
            found: 1
        })
    );
}

/// A group takes its largest size for each of its members, also for the small ones.
#[test]
fn the_judge_counts_a_group_at_its_largest() {
    let member = |first, end, size| Item {
        together: Some(0),
        ..Item::new(Span::new(first, end), Bytes(size), Alignment::ONE)
    };
    let beside = Item::new(Span::new(4, 5), Bytes(1), Alignment::ONE);
    let problem = Problem::new(vec![member(0, 2, 8), member(4, 6, 2), beside]).unwrap();
    let offsets = vec![Bytes(0), Bytes(0), Bytes(2)];
    let fault = check(
        &problem,
        &Packing {
            offsets,
            height: Bytes(8),
        },
    )
    .unwrap_err();
    assert!(matches!(fault, PackFault::Overlap { a: 1, b: 2, .. }), "{fault}");
}
