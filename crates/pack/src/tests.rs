//! Every strategy on drawn timelines.

use super::*;
use crate::units::{Alignment, Bytes, Span};

fn item(first: u32, end: u32, size: u64) -> Item {
    Item::new(Span::new(first, end), Bytes(size), Alignment::ONE)
}

fn aligned(first: u32, end: u32, size: u64, alignment: u64) -> Item {
    Item::new(
        Span::new(first, end),
        Bytes(size),
        Alignment::new(alignment).unwrap(),
    )
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

/// All strategies but the naive one.
const OTHERS: usize = Strategy::ALL.len() - 1;

/// The height of every strategy but naive, if the checker accepts the packing.
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

/// ```text
///   7 ┤┌── b ──┐
///   4 ┤├── a ──┤┌───── c ─────┐
///   0 ┼┴───────┴┴─────────────┴──► steps
/// ```
#[test]
fn disjoint_lifetimes_share_bytes() {
    let items = vec![item(0, 3, 4), item(0, 3, 3), item(3, 9, 7)];
    assert_eq!(heights(ProblemDesc::new(items)), [7; OTHERS]);
}

/// The first instance of minimalloc's papers:
/// ```text
///   8 ┤┌─ b1 ─┐┌─ b2 ─────┐
///   4 ┤├─ b3 ─┴┴──────────┤
///   0 ┼┴──────────────────┴──► steps
/// ```
#[test]
fn lifetimes_that_touch_do_not_overlap() {
    let items = vec![item(0, 3, 4), item(3, 9, 4), item(0, 9, 4)];
    assert_eq!(heights(ProblemDesc::new(items)), [8; OTHERS]);
}

/// Tile memory is aligned to three pages:
/// ```text
/// 24,577 ┤      ┌─ b ─┐
/// 12,288 ┤      └─────┘
///      1 ┤┌─ a ──────┐
///      0 ┼┴──────────┴──► steps
/// ```
#[test]
fn alignment_opens_gaps() {
    let items = vec![aligned(0, 2, 1, 12_288), aligned(1, 3, 1, 12_288)];
    assert_eq!(heights(ProblemDesc::new(items)), [12_289; OTHERS]);
}

#[test]
fn fixed_items_stay_and_the_others_give_way() {
    // The fixed item is used last; items that overlap it must avoid its bytes from the start.
    let items = vec![item(0, 4, 3), item(0, 2, 4), fixed(2, 4, 4, 0)];
    assert_eq!(heights(ProblemDesc::new(items)), [7; OTHERS]);
}

/// ```text
///   5 ┤     ┌─ b ─┐
///   4 ┤┌ g ┐└─────┘┌ g ┐     b's lifetime is in the group's gap; c overlaps its second member
///   0 ┼┴───┴──────┬┴───┤
///                 └ c ─┘
/// ```
#[test]
fn a_group_shares_one_offset_and_sleeps_in_between() {
    let items = vec![
        grouped(0, 2, 4, 9),
        grouped(6, 8, 2, 9),
        item(2, 6, 5),
        item(5, 7, 1),
    ];
    let problem = Problem::new(items).unwrap();
    assert_eq!(lower_bound(&problem), Bytes(6));
    for strategy in Strategy::ALL {
        let packing = pack(&problem, strategy);
        check(&problem, &packing).unwrap();
        assert_eq!(packing.offsets[0], packing.offsets[1]);
    }
}

#[test]
fn conflicts_hold_for_all_lifetimes() {
    let items = vec![item(0, 1, 4), item(1, 2, 4), item(2, 3, 4)];
    assert_eq!(heights(ProblemDesc::new(items.clone())), [4; OTHERS]);
    assert_eq!(heights(ProblemDesc::new(items).conflict(0, 2)), [8; OTHERS]);
}

#[test]
fn empty_lifetimes_and_empty_items_conflict_with_nothing() {
    let items = vec![item(0, 4, 8), item(2, 2, 8), item(1, 3, 0)];
    assert_eq!(heights(ProblemDesc::new(items)), [8; OTHERS]);
    assert_eq!(heights(ProblemDesc::default()), [0; OTHERS]);
}

#[test]
fn naive_is_the_sum() {
    let items = vec![aligned(0, 1, 3, 4), aligned(1, 2, 3, 4), aligned(2, 3, 3, 4)];
    let problem = Problem::new(items).unwrap();
    assert_eq!(pack(&problem, Strategy::Naive).height, Bytes(11));
}

#[test]
fn a_capacity_is_reported() {
    let problem = ProblemDesc::new(vec![item(0, 1, 4)])
        .capacity(Bytes(3))
        .build()
        .unwrap();
    assert!(!pack(&problem, Strategy::Auto).fits(&problem));
}

#[test]
fn faults_name_items() {
    let fault = |desc: ProblemDesc| desc.build().unwrap_err();
    let of = |items: Vec<Item>| fault(ProblemDesc::new(items));
    let two = || ProblemDesc::new(vec![grouped(0, 1, 4, 0), grouped(0, 1, 4, 0)]);
    assert_eq!(
        fault(two().conflict(0, 2)),
        Error::UnknownItem { a: 0, b: 2, items: 2 }
    );
    assert_eq!(fault(two().conflict(0, 1)), Error::ConflictInGroup { a: 0, b: 1 });
    assert_eq!(
        of(vec![fixed(0, 2, 4, 0), item(0, 2, 4), fixed(1, 3, 4, 3)]),
        Error::FixedCollision { a: 0, b: 2 }
    );
    let apart = ProblemDesc::new(vec![fixed(0, 1, 4, 0), fixed(2, 3, 4, 3)]);
    assert!(apart.clone().build().is_ok());
    assert_eq!(fault(apart.conflict(1, 0)), Error::FixedCollision { a: 0, b: 1 });
    let misaligned = Item {
        fixed: Some(Bytes(4)),
        ..aligned(0, 1, 1, 3)
    };
    assert!(matches!(of(vec![misaligned]), Error::Misaligned { item: 0, .. }));
    let (a, b) = (fixed(0, 1, 1, 0), fixed(2, 3, 1, 1));
    let together = |item: Item| Item {
        together: Some(7),
        ..item
    };
    assert!(matches!(
        of(vec![together(a), together(b)]),
        Error::GroupFixedTwice { a: 0, b: 1, .. }
    ));
    let (a, b) = (aligned(0, 1, 1, u64::MAX), aligned(0, 1, 1, u64::MAX - 1));
    assert!(matches!(
        of(vec![together(a), together(b)]),
        Error::GroupAlignment { item: 1, .. }
    ));
    assert!(matches!(
        of(vec![fixed(0, 1, 2, u64::MAX - 1)]),
        Error::EndOverflow { item: 0, .. }
    ));
    assert!(matches!(
        of(vec![item(0, 1, u64::MAX), item(2, 3, 1)]),
        Error::SumOverflow { item: 1, .. }
    ));
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

#[test]
fn shelf_answers_and_keeps_to_its_capacity() {
    // As drawn on `Shelf`.
    let mut shelf = Shelf::with_capacity(Some(Bytes(12)));
    shelf.place(0, Span::new(0, 3), Bytes(0), Bytes(5));
    shelf.place(1, Span::new(4, 7), Bytes(5), Bytes(3));
    let lowest = |shelf: &Shelf, first, end, size| {
        shelf.lowest_fit(Span::new(first, end), Bytes(size), Alignment::ONE)
    };
    assert_eq!(lowest(&shelf, 0, 2, 3), Some(Bytes(5)));
    assert_eq!(lowest(&shelf, 4, 9, 3), Some(Bytes(0)));
    assert_eq!(lowest(&shelf, 2, 5, 4), Some(Bytes(8)));
    assert_eq!(lowest(&shelf, 2, 5, 5), None);
    let in_the_way: Vec<u32> = shelf.overlapping(Span::new(2, 5), Bytes(4)..Bytes(6)).collect();
    assert_eq!(in_the_way, [0, 1]);
    assert_eq!(shelf.overlapping(Span::new(3, 4), Bytes(0)..Bytes(12)).count(), 0);
    assert_eq!(shelf.height(), Bytes(8));
    shelf.place(2, Span::new(4, 7), Bytes(10), Bytes(2));
    // Gaps [0, 5) and [8, 10): the smaller takes it.
    let best = |size| shelf.best_fit(Span::new(5, 6), Bytes(size), Alignment::ONE);
    assert_eq!(best(2), Some(Bytes(8)));
    assert_eq!(best(4), Some(Bytes(0)));
    assert_eq!(best(6), None);
    shelf.clear();
    assert_eq!(lowest(&shelf, 0, 9, 12), Some(Bytes(0)));
}

/// Weights per byte that pass 64 bits once they are scaled: prices are coarser then, and the choice is still proved.
#[test]
fn select_takes_weights_near_their_limit() {
    let item = |first, end, size| Item::new(Span::new(first, end), Bytes(size), Alignment::ONE);
    // 4 ┤┌─ b ─┐┌─ c ─┐   a over both steps or b and c: b and c weigh 1 more
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
