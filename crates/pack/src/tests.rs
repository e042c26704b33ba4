//! Tests every strategy on timelines drawn in comments.

use super::*;
use crate::units::{Alignment, Bytes, Span};

fn item(first: u32, end: u32, size: u64) -> Item {
    Item::new(Span::new(first, end), Bytes(size), Alignment::ONE)
}

fn aligned(first: u32, end: u32, size: u64, alignment: u64) -> Item {
    let alignment = Alignment::new(alignment).unwrap();
    Item {
        alignment,
        ..item(first, end, size)
    }
}

fn fixed(first: u32, end: u32, size: u64, offset: u64) -> Item {
    Item {
        fixed: Some(Bytes(offset)),
        ..item(first, end, size)
    }
}

fn grouped(first: u32, end: u32, size: u64, group: u32) -> Item {
    Item {
        together: Some(group),
        ..item(first, end, size)
    }
}

/// Number of strategies other than the naive one.
const OTHERS: usize = Strategy::ALL.len() - 1;

/// Packs a problem with every strategy; returns the heights of all strategies but `naive`. Panics if the checker rejects a packing.
fn heights(desc: ProblemDesc) -> Vec<u64> {
    let problem = desc.build().unwrap();
    let strategies = Strategy::ALL.into_iter();
    let heights = strategies.map(|strategy| {
        let packing = pack(&problem, strategy);
        check(&problem, &packing).unwrap_or_else(|error| panic!("{strategy}: {error}"));
        assert!(packing.height >= lower_bound(&problem), "{strategy}");
        packing.height.0
    });
    heights.skip(1).collect()
}

/// Packs each drawn timeline; every strategy must reach its height.
#[test]
fn drawn_timelines_are_packed_as_drawn() {
    let desc = ProblemDesc::new;
    let apart = || vec![item(0, 1, 4), item(1, 2, 4), item(2, 3, 4)];
    for (height, problem) in [
        //   7 ┤┌── b ──┐
        //   4 ┤├── a ──┤┌───── c ─────┐
        //   0 ┼┴───────┴┴─────────────┴──► steps
        (7, desc(vec![item(0, 3, 4), item(0, 3, 3), item(3, 9, 7)])),
        // The first instance of minimalloc's papers: lifetimes that touch do not overlap.
        //   8 ┤┌─ b1 ─┐┌─ b2 ─────┐
        //   4 ┤├─ b3 ─┴┴──────────┤
        //   0 ┼┴──────────────────┴──► steps
        (8, desc(vec![item(0, 3, 4), item(3, 9, 4), item(0, 9, 4)])),
        // Tile memory is aligned to three pages, which opens gaps.
        // 24,577 ┤      ┌─ b ─┐
        // 12,288 ┤      └─────┘
        //      1 ┤┌─ a ──────┐
        //      0 ┼┴──────────┴──► steps
        (
            12_289,
            desc(vec![aligned(0, 2, 1, 12_288), aligned(1, 3, 1, 12_288)]),
        ),
        // The fixed item is used last; items that overlap it must avoid its bytes from the start.
        (7, desc(vec![item(0, 4, 3), item(0, 2, 4), fixed(2, 4, 4, 0)])),
        (4, desc(apart())),
        (8, desc(apart()).conflict(0, 2)),
        // Empty lifetimes and empty items conflict with nothing.
        (8, desc(vec![item(0, 4, 8), item(2, 2, 8), item(1, 3, 0)])),
        (0, ProblemDesc::default()),
        // In its gap the group takes no bytes; c overlaps its second member, which takes as much as the first.
        //   5 ┤     ┌─ b ─┐
        //   4 ┤┌ g ┐└─────┘┌ g ┐
        //   0 ┼┴───┴──────┬┴───┤
        //                 └ c ─┘
        (
            6,
            desc(vec![
                grouped(0, 2, 4, 9),
                grouped(6, 8, 2, 9),
                item(2, 6, 5),
                item(5, 7, 1),
            ]),
        ),
    ] {
        assert_eq!(heights(problem), [height; OTHERS]);
    }
}

#[test]
fn naive_is_the_sum() {
    let items = vec![aligned(0, 1, 3, 4), aligned(1, 2, 3, 4), aligned(2, 3, 3, 4)];
    let problem = Problem::new(items).unwrap();
    assert_eq!(pack(&problem, Strategy::Naive).height, Bytes(11));
}

#[test]
fn faults_name_items() {
    let together = |item: Item| Item {
        together: Some(7),
        ..item
    };
    let desc = ProblemDesc::new;
    let two = || desc(vec![grouped(0, 1, 4, 0), grouped(0, 1, 4, 0)]);
    let apart = || desc(vec![fixed(0, 1, 4, 0), fixed(2, 3, 4, 3)]);
    assert!(apart().build().is_ok());
    let misaligned = Item {
        fixed: Some(Bytes(4)),
        ..aligned(0, 1, 1, 3)
    };
    let alignment = |alignment| Alignment::new(alignment).unwrap();
    let most = u64::MAX;
    let [large, larger] = [most - 1, most].map(|alignment| together(aligned(0, 1, 1, alignment)));
    for (problem, fault) in [
        (two().conflict(0, 2), Error::UnknownItem(0, 2, 2)),
        (two().conflict(0, 1), Error::ConflictInGroup(0, 1)),
        (
            desc(vec![fixed(0, 2, 4, 0), item(0, 2, 4), fixed(1, 3, 4, 3)]),
            Error::FixedCollision(0, 2),
        ),
        (apart().conflict(1, 0), Error::FixedCollision(0, 1)),
        (
            desc(vec![misaligned]),
            Error::Misaligned(0, Bytes(4), alignment(3)),
        ),
        (
            desc(vec![together(fixed(0, 1, 1, 0)), together(fixed(2, 3, 1, 1))]),
            Error::GroupFixedTwice(0, 1, Bytes(0), Bytes(1)),
        ),
        (
            desc(vec![larger, large]),
            Error::GroupAlignment(1, alignment(most - 1), alignment(most)),
        ),
        (
            desc(vec![fixed(0, 1, 2, most - 1)]),
            Error::EndOverflow(0, Bytes(2), Bytes(most - 1)),
        ),
        (
            desc(vec![item(0, 1, most), item(2, 3, 1)]),
            Error::SumOverflow(1, Bytes(1), Alignment::ONE),
        ),
    ] {
        assert_eq!(problem.build().unwrap_err(), fault);
    }
}

#[test]
fn names_are_read_back() {
    for strategy in Strategy::ALL {
        assert_eq!(strategy.to_string().parse::<Strategy>().unwrap(), strategy);
        assert_eq!(
            serde_json::to_string(&strategy).unwrap(),
            format!("\"{strategy}\"")
        );
    }
    assert!("tetris".parse::<Strategy>().is_err());
}

/// Weights per byte that exceed 64 bits once scaled: prices are coarser then, and the choice is still proved.
#[test]
fn select_takes_weights_near_their_limit() {
    // 4 ┤┌─ b ─┐┌─ c ─┐   a over both steps, or b and c: b and c weigh 1 more
    // 0 ┼┴── a ┴┴─────┴
    let items = vec![item(0, 2, 4), item(0, 1, 3), item(1, 2, 3)];
    let desc = ProblemDesc::new(items).capacity(Bytes(4));
    let problem = desc.build().unwrap();
    let weights = [1 << 61, 1 << 60, (1 << 60) + 1];
    let mut go_on = |_| std::ops::ControlFlow::Continue(());
    let selection = select(&problem, &weights, Steps::default(), &mut go_on);
    assert_eq!(selection.weight, (1 << 61) + 1);
    assert_eq!(selection.verdict, Verdict::Proved);
    assert!(selection.offsets[0].is_none());
}
