//! The overlay of `examples/deferred --window`: scripted keys and mouse, its output, and the pixels of the window.

use std::ops::Range;

use super::screen::{Hand, Running, Shown, USUAL, deferred, keys, show};
use tileheap_testkit as support;

/// The line of output for a plan that is applied or was improved.
#[derive(Debug)]
struct PlanLine {
    number: u64,
    /// `searched` or `proved optimal`.
    found: String,
    on_chip: u64,
    bound: u64,
    /// The limit on the used part of the heap; `None` without a heap.
    heap: Option<u64>,
    pinned: String,
    excluded: String,
}

/// Parses `frame 7: plan 2 searched: 1,024 B of 2,048 B on chip, 1,024 B bound of 4,096 B; pinned nothing; excluded depth`.
fn plan_line(line: &str) -> Option<PlanLine> {
    let (_, rest) = line.strip_prefix("frame ")?.split_once(": plan ")?;
    let (number, rest) = rest.split_once(' ')?;
    let (found, rest) = rest.split_once(": ")?;
    let (on_chip, rest) = rest.split_once(" of ")?;
    let (_, rest) = rest.split_once(" on chip, ")?;
    let (bound, rest) = rest.split_once(" bound of ")?;
    let (heap, rest) = rest.split_once("; pinned ")?;
    let (pinned, excluded) = rest.split_once("; excluded ")?;
    let bytes = |text: &str| text.strip_suffix(" B")?.replace(',', "").parse().ok();
    Some(PlanLine {
        number: number.parse().ok()?,
        found: found.to_owned(),
        on_chip: bytes(on_chip)?,
        bound: bytes(bound)?,
        heap: bytes(heap),
        pinned: pinned.to_owned(),
        excluded: excluded.to_owned(),
    })
}

impl Shown {
    fn expect_plan(&self, what: &str, wanted: impl Fn(&PlanLine) -> bool) -> PlanLine {
        self.expect(what, |line| plan_line(line).filter(&wanted))
    }
}

/// Returns true if the panel at the window's left edge is shown: above its first line the sky is darker than next to it. Before the
/// first frame everything is black.
fn has_panel(hand: &Hand) -> bool {
    let pixels = hand.pixels([300, 20]);
    let blue = |columns: Range<usize>| {
        let rows = pixels.chunks(300).skip(15);
        rows.flat_map(move |row| row[columns.clone()].iter().map(|pixel| pixel[2]))
    };
    blue(24..300).max() < blue(0..11).min()
}

/// The renderer with tile memory, of a real device or the emulator, on a screen with a scale factor.
fn on_chip(size: &str, pixels: [i16; 2], scale: &str) -> Option<(Running, Shown, Hand)> {
    let mut command = deferred(size, &[]);
    command.env("WINIT_X11_SCALE_FACTOR", scale);
    // A run on the emulator has its own profile.
    let there =
        std::env::var_os("TILEHEAP_EMULATOR").is_some() || support::emulate(&mut command, "adreno-830");
    there.then(|| show(pixels, command)).flatten()
}

#[test]
fn keys_and_mouse_change_the_plan_as_it_runs() {
    let Some((_server, shown, hand)) = on_chip("880x600", USUAL, "1") else {
        return;
    };
    let first = shown.expect_plan("a plan", |_| true);
    assert!(first.heap.is_some() && first.on_chip > 0, "{first:?}");

    // The third resource of the list: off, and back to the planner's choice.
    (0..2).for_each(|_| hand.key(keys::DOWN));
    hand.key(u32::from(' '));
    let without = shown.expect_plan("a plan without it", |plan| plan.excluded != "nothing");
    assert_eq!(without.number, 2);
    assert!(without.bound <= without.heap.unwrap_or(0));
    hand.key(u32::from(' '));
    let back = shown.expect_plan("the first plan", |plan| plan.excluded == "nothing");
    assert_eq!((&back.found, back.on_chip), (&first.found, first.on_chip));

    // A smaller part of the heap, and all of it again.
    let mut least = first.heap;
    for _ in 0..3 {
        hand.key(u32::from('-'));
        let less = shown.expect_plan("a smaller heap", |plan| plan.heap < least);
        assert!(less.bound <= less.heap.expect("a heap"), "{less:?}");
        least = less.heap;
    }
    (0..3).for_each(|_| hand.key(u32::from('=')));
    let whole = shown.expect_plan("the whole heap", |plan| plan.heap == first.heap);
    assert_eq!(whole.on_chip, first.on_chip);

    // Resizes the window; then hides the overlay, so that clicks have no effect.
    hand.resize(900, 640);
    assert_eq!(shown.expect_line("resized to "), "900 x 640");
    // Clicks have no effect until a frame has shown the overlay.
    hand.wait_to_see("the overlay", has_panel);
    let row = [100, 150];
    hand.click(row);
    let clicked = shown.expect_plan("a plan after a click", |plan| plan.excluded != "nothing");
    hand.key(keys::F1);
    hand.wait_to_see("the scene alone", |hand| !has_panel(hand));
    hand.click(row);
    hand.key(keys::ESCAPE);
    shown.expect("the end, and no other wish", |line| {
        let other = plan_line(line).is_some_and(|plan| plan.excluded != clicked.excluded);
        assert!(!other, "{line}");
        line.starts_with("presented ").then_some(())
    });
    shown.assert_ends_well();
}

/// Two pixels per point: twice the pixels, and the pointer finds the same resources at twice the distance.
#[test]
fn on_a_screen_of_high_density_it_is_as_large_as_elsewhere() {
    let mut names = Vec::new();
    for scale in [1, 2] {
        let pixels = [900 * scale, 620 * scale];
        let Some((_server, shown, hand)) = on_chip("860x580", pixels, &scale.to_string()) else {
            return;
        };
        shown.expect_plan("a plan", |_| true);
        assert_eq!(hand.size(), [860, 580].map(|side| side * scale as u16));
        // Clicks have no effect before the first frame.
        hand.wait_to_see("a frame", |hand| {
            hand.pixels([200, 40]).iter().any(|&pixel| pixel != [0; 3])
        });
        // `exposure`: small enough to be on chip everywhere.
        hand.click([100 * scale, 292 * scale]);
        let without = shown.expect_plan("a plan after a click", |plan| plan.number == 2);
        // The number of pixels determines whether it is on chip.
        names.push([without.pinned, without.excluded].concat().replace("nothing", ""));
        hand.key(keys::ESCAPE);
        shown.expect_line("presented ");
        shown.assert_ends_well();
    }
    assert_eq!(names[0], names[1]);
}
