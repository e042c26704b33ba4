//! Problems with pools: answers are compared with all possible placements, and the checker refuses each kind of damage.

use tileheap_pack::pools::{
    Pool, PoolItem, PoolPlacement, PoolsDesc, PoolsError, PoolsPacking, ReservedRange, check, solve,
};
use tileheap_pack::units::{Alignment, Bytes, Span, SplitMix64};
use tileheap_pack::{Error, Problem, Steps, Strategy, Verdict, pack};
use tileheap_testkit::generators::FAMILIES;

use crate::go_on;

fn spans(random: &mut SplitMix64, count: u64) -> Vec<Span> {
    let span = |_| {
        let first = random.below(6) as u32;
        Span::new(first, first + random.below(4) as u32)
    };
    (0..count).map(span).collect()
}

/// A few items; every feature occurs now and then.
fn random(random: &mut SplitMix64) -> PoolsDesc {
    let mut desc = PoolsDesc::default();
    let pools = 1 + random.below(2);
    for pool in 0..pools {
        let mut of = Pool {
            name: format!("pool {pool}"),
            capacity: Some(Bytes(3 + random.below(6))),
            reserved: Vec::new(),
        };
        if random.one_in(3) {
            let count = random.below(2);
            of.reserved.push(ReservedRange {
                offset: Bytes(random.below(6)),
                size: Bytes(random.below(3)),
                lifetimes: spans(random, count),
            });
        }
        desc.pools.push(of);
    }
    if random.one_in(4) {
        desc.pools[0].capacity = None;
    }
    let count = 1 + random.below(5);
    for id in 0..count {
        let intervals = 1 + random.below(2);
        let mut item = PoolItem::new(format!("{id}"), spans(random, intervals), Bytes(random.below(5)));
        item.alignment = Alignment::new(random.pick(&[1, 1, 1, 2, 3])).unwrap();
        match random.below(10) {
            0 => item.offset = Some(Bytes(random.below(3) * item.alignment.get())),
            1 => item.lowest = Some(Bytes(random.below(4))),
            2 => item.highest = Some(Bytes(random.below(5))),
            3 => item.pools.push("pool 0".to_owned()),
            _ => {}
        }
        desc.items.push(item);
    }
    let pair = |random: &mut SplitMix64| {
        let name = |random: &mut SplitMix64| random.below(count).to_string();
        let (a, b) = (name(random), name(random));
        (a != b).then_some((a, b))
    };
    if random.one_in(4) {
        desc.share.extend(pair(random).map(|(a, b)| vec![a, b]));
    }
    desc.conflicts.extend(pair(random).filter(|_| random.one_in(3)));
    for _ in 0..random.below(4) {
        desc.exclusive.extend(pair(random));
    }
    for _ in 0..random.below(6) {
        let cost = 1 + random.below(3);
        desc.penalties.extend(pair(random).map(|(a, b)| (a, b, cost)));
    }
    desc
}

/// Returns the lowest (height of the pool without a capacity, cost) of all placements.
fn best(desc: &PoolsDesc, room: u64) -> Option<(u64, u64)> {
    let packing = PoolsPacking {
        places: Vec::new(),
        heights: vec![Bytes(0); desc.pools.len()],
        cost: 0,
    };
    let mut best = None;
    place_next(desc, room, packing, &mut best);
    best
}

fn place_next(desc: &PoolsDesc, room: u64, packing: PoolsPacking, best: &mut Option<(u64, u64)>) {
    let next = packing.places.len();
    let open = desc.pools.iter().position(|pool| pool.capacity.is_none());
    let found = (open.map_or(0, |open| packing.heights[open].0), packing.cost);
    if best.is_some_and(|best| found >= best) {
        return;
    }
    if next == desc.items.len() {
        *best = Some(found);
        return;
    }
    for pool in 0..desc.pools.len() {
        let top = desc.pools[pool].capacity.map_or(room, |capacity| capacity.0);
        for offset in 0..=top {
            let mut tried = packing.clone();
            tried.places.push(PoolPlacement {
                pool: pool as u32,
                offset: Bytes(offset),
            });
            if extend(desc, &mut tried) {
                place_next(desc, room, tried, best);
            }
        }
    }
}

/// Returns true if the last place is compatible with those before; adds its cost and height.
fn extend(desc: &PoolsDesc, packing: &mut PoolsPacking) -> bool {
    let last = packing.places.len() - 1;
    let (item, at) = (&desc.items[last], packing.places[last]);
    let shares = |a: usize, b: usize| {
        let (a, b) = (&desc.items[a].id, &desc.items[b].id);
        desc.share.iter().any(|list| list.contains(a) && list.contains(b))
    };
    let size = |of: usize| {
        let members = (0..desc.items.len()).filter(|&other| other == of || shares(of, other));
        members.map(|member| desc.items[member].size.0).max().unwrap()
    };
    let pool = &desc.pools[at.pool as usize];
    let end = at.offset.0 + size(last);
    let overlap = |a: &[Span], b: &[Span]| a.iter().any(|a| b.iter().any(|b| a.overlaps(*b)));
    let allowed = (item.pools.is_empty() || item.pools.contains(&pool.name))
        && pool.capacity.is_none_or(|capacity| end <= capacity.0)
        && at.offset.0 % item.alignment.get() == 0
        && item.offset.is_none_or(|offset| offset == at.offset)
        && item.lowest.is_none_or(|lowest| lowest <= at.offset)
        && item.highest.is_none_or(|highest| highest >= at.offset);
    let is_live = item.lifetimes.iter().any(|span| !span.is_empty());
    let reserved = pool.reserved.iter().any(|range| {
        let live = is_live && (range.lifetimes.is_empty() || overlap(&range.lifetimes, &item.lifetimes));
        live && at.offset.0.max(range.offset.0) < end.min((range.offset + range.size).0)
    });
    if !allowed || reserved {
        return false;
    }
    for other in 0..last {
        let there = packing.places[other];
        if shares(other, last) && there != at {
            return false;
        }
        let start = there.offset.0.max(at.offset.0);
        let meets = there.pool == at.pool && start < end.min(there.offset.0 + size(other));
        if !meets {
            continue;
        }
        let (a, b) = (&item.id, &desc.items[other].id);
        let is = |(x, y): &(String, String)| (x == a && y == b) || (x == b && y == a);
        let live = overlap(&item.lifetimes, &desc.items[other].lifetimes);
        let apart = desc.conflicts.iter().any(is) || live && !desc.exclusive.iter().any(is);
        if apart && !shares(other, last) {
            return false;
        }
        let penalties = desc.penalties.iter();
        let paid = penalties.filter(|(x, y, _)| is(&(x.clone(), y.clone())));
        packing.cost += paid.map(|(_, _, cost)| cost).sum::<u64>();
    }
    let height = &mut packing.heights[at.pool as usize];
    *height = (*height).max(Bytes(end));
    true
}

#[test]
fn few_items_with_every_feature_are_placed_at_the_lowest_cost() {
    let mut chances = SplitMix64::new(20);
    let (mut valid, mut infeasible, mut paid) = (0, 0, 0);
    // 100,000 rounds also pass (2026-11-23), and take three times as long.
    for round in 0..30_000 {
        let desc = random(&mut chances);
        let Ok(problem) = desc.clone().build() else {
            continue;
        };
        valid += 1;
        let answer = solve(&problem, Steps::default(), &mut go_on);
        assert_eq!(answer.verdict, Verdict::Proved, "round {round}: {desc:?}");
        // Enough room to stack everything, around reserved ranges.
        let expected = best(&desc, 16);
        let open = desc.pools.iter().position(|pool| pool.capacity.is_none());
        let found = answer.packing.as_ref().map(|packing| {
            check(&problem, packing).unwrap_or_else(|error| panic!("round {round}: {error}: {desc:?}"));
            (open.map_or(0, |open| packing.heights[open].0), packing.cost)
        });
        assert_eq!(found, expected, "round {round}: {desc:?}");
        infeasible += usize::from(found.is_none());
        assert_eq!(found.is_none(), !answer.conflict.is_empty());
        if let Some((_, cost)) = found {
            assert_eq!(answer.bound, cost);
            paid += usize::from(cost > 0);
        }
    }
    assert!(
        valid > 20_000 && infeasible > 400 && paid > 400,
        "{valid}, {infeasible}, {paid}"
    );
}

/// Serialized documents are read back unchanged; searches trust no more of a damaged document than was checked.
#[test]
fn damaged_documents_are_refused_or_are_other_problems() {
    let mut chances = SplitMix64::new(22);
    let mut others = 0;
    for round in 0..50_000 {
        let desc = random(&mut chances);
        let mut text = serde_json::to_string(&desc).unwrap();
        assert_eq!(serde_json::from_str::<PoolsDesc>(&text).unwrap(), desc);
        for _ in 0..1 + chances.below(3) {
            let at = chances.below(text.len() as u64) as usize;
            let inserted = chances.pick(&[
                "",
                "0",
                "9",
                "99999999999999",
                "-",
                "\"",
                ",",
                "[",
                "]",
                "[]",
                "null",
            ]);
            text.replace_range(at..at + chances.below(2) as usize, inserted);
        }
        if let Some(Ok(problem)) = serde_json::from_str(&text).ok().map(PoolsDesc::build) {
            let answer = solve(&problem, Steps(200), &mut go_on);
            if let Some(packing) = &answer.packing {
                check(&problem, packing).unwrap_or_else(|error| panic!("round {round}: {error}: {text}"));
            }
            others += 1;
        }
    }
    assert!(others > 1000, "{others}");
}

fn item(id: &str, first: u32, end: u32, size: u64) -> PoolItem {
    PoolItem::new(id, vec![Span::new(first, end)], Bytes(size))
}

fn sound() -> (PoolsDesc, PoolsPacking) {
    let mut a = item("a", 0, 2, 4);
    a.lifetimes.push(Span::new(4, 6));
    let pool = |name: &str, reserved| Pool {
        name: name.to_owned(),
        capacity: Some(Bytes(12)),
        reserved,
    };
    let reserved = ReservedRange {
        offset: Bytes(8),
        size: Bytes(4),
        lifetimes: Vec::new(),
    };
    let mut e = item("e", 0, 6, 4);
    e.pools = vec!["dram".to_owned()];
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    let desc = PoolsDesc {
        pools: vec![pool("sram", vec![reserved]), pool("dram", Vec::new())],
        items: vec![
            a,
            item("b", 2, 4, 4),
            item("c", 0, 4, 4),
            item("d", 0, 4, 4),
            e,
            item("f", 6, 8, 2),
        ],
        share: vec![vec!["c".to_owned(), "f".to_owned()]],
        conflicts: vec![pair("e", "f")],
        exclusive: vec![pair("c", "d")],
        penalties: vec![("a".to_owned(), "b".to_owned(), 5)],
    };
    let places = [(0, 0), (0, 0), (0, 4), (0, 4), (1, 0), (0, 4)].map(|(pool, offset)| PoolPlacement {
        pool,
        offset: Bytes(offset),
    });
    let packing = PoolsPacking {
        places: places.to_vec(),
        heights: vec![Bytes(8), Bytes(4)],
        cost: 5,
    };
    (desc, packing)
}

#[test]
fn the_checker_refuses_each_kind_of_damage() {
    let (desc, packing) = sound();
    let problem = desc.clone().build().unwrap();
    check(&problem, &packing).unwrap();
    let refused = |change: &dyn Fn(&mut PoolsPacking)| {
        let mut packing = packing.clone();
        change(&mut packing);
        match check(&problem, &packing).unwrap_err() {
            Error::Pools(broken) => broken,
            other => panic!("{other}"),
        }
    };
    let move_to = |item: usize, offset: u64| {
        refused(&|packing| packing.places[item].offset = Bytes(offset)).to_string()
    };
    for (found, named) in [
        (move_to(0, 4), "`a` and `c` must not share"),
        (move_to(1, 8), "`b` and `sram` must not share"),
        (move_to(4, 9), "`e` is placed at 9 B"),
        (move_to(5, 0), "`c` and `f` must have the same offset"),
    ] {
        assert!(found.contains(named), "{found}");
    }
    let elsewhere = refused(&|packing| packing.places[4].pool = 0);
    assert!(matches!(elsewhere, PoolsError::InvalidPlace(..)));
    let higher = refused(&|packing| packing.heights[1] = Bytes(8));
    assert!(matches!(higher, PoolsError::Height(..)));
    let cheaper = refused(&|packing| packing.cost = 4);
    assert_eq!(cheaper, PoolsError::Cost(4, 5));
    let fewer = refused(&|packing| packing.places.truncate(3));
    assert_eq!(fewer, PoolsError::PlaceCount(3, 6));
    // Without the exclusive pair, the second lifetime or the conflict, the verdict on the same packing changes.
    let judged = |change: &dyn Fn(&mut PoolsDesc)| {
        let mut desc = desc.clone();
        change(&mut desc);
        check(&desc.build().unwrap(), &packing)
    };
    judged(&|desc| desc.exclusive.clear()).unwrap_err();
    judged(&|desc| desc.items[1].lifetimes = vec![Span::new(3, 5)]).unwrap_err();
    judged(&|desc| desc.conflicts.push(("a".to_owned(), "b".to_owned()))).unwrap_err();
    judged(&|desc| desc.conflicts.clear()).unwrap();
}

#[test]
fn contradictions_are_named() {
    let message = |change: &dyn Fn(&mut PoolsDesc)| {
        let (mut desc, _) = sound();
        change(&mut desc);
        desc.build().unwrap_err().to_string()
    };
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    let text = |text: &str| text.to_owned();
    for (change, named) in [
        (
            &(|desc: &mut PoolsDesc| desc.conflicts.push(pair("f", "c"))) as &dyn Fn(&mut PoolsDesc),
            &["`c` and `f`", "must have the same offset"][..],
        ),
        (&|desc| desc.conflicts.push(pair("c", "d")), &["exclusive"]),
        (
            &|desc| desc.items[1].id = text("a"),
            &["two items are called `a`"],
        ),
        (&|desc| desc.penalties.push((text("a"), text("x"), 1)), &["`x`"]),
        (&|desc| desc.share.push(vec![text("e"), text("c")]), &["`e`"]),
        (&|desc| desc.items[0].size = Bytes(u64::MAX), &["limit"]),
        (
            &|desc| {
                desc.items[0].offset = Some(Bytes(8));
                desc.items[0].pools = vec![text("sram")];
            },
            &["reserved"],
        ),
    ] {
        let found = message(change);
        assert!(named.iter().all(|named| found.contains(named)), "{found}");
    }
}

/// If no packing exists, the answer lists the items that do not fit.
#[test]
fn too_much_for_a_pool_is_an_answer() {
    let (mut desc, _) = sound();
    desc.items.push(item("g", 0, 4, 10));
    desc.items.push(item("h", 3, 4, 10));
    let answer = solve(&desc.build().unwrap(), Steps::default(), &mut go_on);
    assert_eq!((answer.packing, answer.verdict), (None, Verdict::Proved));
    assert!(!answer.conflict.is_empty());
}

/// If best fit by size meets a capacity without penalties, the search with penalties meets it at once.
#[test]
fn a_capacity_that_best_fit_meets_is_met() {
    for (family, seed) in FAMILIES.iter().zip(0..) {
        let items = family.generate(seed, 150).items;
        let problem = Problem::new(items.clone()).unwrap();
        let capacity = pack(&problem, Strategy::GreedyBySize).height;
        let named = items.iter().enumerate().map(|(id, item)| PoolItem {
            alignment: item.alignment,
            ..PoolItem::new(id.to_string(), vec![item.span], item.size)
        });
        let desc = PoolsDesc {
            pools: vec![Pool {
                name: "pool".into(),
                capacity: Some(capacity),
                ..Pool::default()
            }],
            items: named.collect(),
            penalties: (1..items.len())
                .map(|id| ((id - 1).to_string(), id.to_string(), 1))
                .collect(),
            ..PoolsDesc::default()
        };
        let problem = desc.build().unwrap();
        let answer = solve(&problem, Steps(1), &mut go_on);
        check(&problem, &answer.packing.expect(family.name)).unwrap();
    }
}
