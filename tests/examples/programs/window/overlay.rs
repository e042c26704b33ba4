//! The overlay of `examples/deferred --window`: scripted keys and mouse, what it prints of them, and the pixels of the window.

use super::screen::{Hand, Running, Shown, USUAL, deferred, keys, show};
use tileheap_testkit as support;
use tileheap_testkit::places::{Place, named, place, tallest};

/// A line for every plan that is applied, or known to be better than it was.
#[derive(Debug)]
struct PlanLine {
    number: u64,
    /// `searched` or `proved optimal`.
    found: String,
    on_chip: u64,
    bound: u64,
    /// How much of the heap may be used; `None` without one.
    heap: Option<u64>,
    pinned: String,
    excluded: String,
}

/// `frame 7: plan 2 searched: 1,024 B of 2,048 B on chip, 1,024 B bound of 4,096 B; pinned nothing; excluded depth`
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

    /// The places that are printed next, of a plan of this number or a later one.
    fn expect_places(&self, number: u64) -> Vec<Place> {
        let places = std::cell::RefCell::new(Vec::new());
        self.expect("places", |line| {
            places.borrow_mut().extend(place(line));
            let plan: u64 = line.strip_prefix("places of plan ")?.parse().ok()?;
            if plan >= number {
                return Some(());
            }
            places.borrow_mut().clear();
            None
        });
        places.into_inner()
    }
}

/// Residents are in light colours, on a dark ground.
fn is_light(pixel: [u8; 3]) -> bool {
    pixel.into_iter().map(u32::from).sum::<u32>() > 400
}

/// The renderer with tile memory, of a real device or the emulator's.
fn on_chip(size: &str, pixels: [i16; 2], scale: &str) -> Option<(Running, Shown, Hand)> {
    let mut command = deferred(size, &["--log"]);
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
    let places = shown.expect_places(1);
    let name = tallest(&places);
    let (row, block) = (format!("row {name}"), format!("block {name}"));

    // The map shows who lives there in the colour of the list.
    let see_both = |row: [i16; 2], block: [i16; 2]| {
        hand.wait_to_see("a resident in its colour", |hand| {
            let pixel = hand.pixel(block);
            is_light(pixel) && hand.pixel(row) == pixel
        });
    };
    let (check, edge) = (named(&places, &row).check(), named(&places, &block).edge());
    see_both(check, edge);
    hand.point(edge);
    assert_eq!(shown.expect_line("details of "), name);

    // A click keeps it off.
    let colour = hand.pixel(check);
    hand.click(named(&places, &row).middle());
    let without = shown.expect_plan("a plan without it", |_| true);
    assert_eq!((without.number, without.excluded.as_str()), (2, name.as_str()));
    assert!(without.bound <= first.bound.max(without.heap.unwrap_or(0)));
    let now = shown.expect_places(2);
    assert!(now.iter().all(|place| place.name != block), "{now:#?}");
    hand.wait_to_see("an empty box", |hand| !is_light(hand.pixel(check)));

    // The same again with the keyboard: the first plan is known still.
    hand.key(u32::from(' '));
    let back = shown.expect_plan("the first plan", |plan| plan.excluded == "nothing");
    assert_eq!(
        (back.found.as_str(), back.on_chip),
        (first.found.as_str(), first.on_chip)
    );
    hand.wait_to_see("a full box", |hand| hand.pixel(check) == colour);

    // Less of the heap, and all of it again.
    for _ in 0..3 {
        hand.key(u32::from('-'));
    }
    let mut least = first.heap;
    for _ in 0..3 {
        let less = shown.expect_plan("a smaller heap", |plan| plan.heap < least);
        assert!(less.bound <= less.heap.expect("a heap"), "{less:?}");
        least = less.heap;
    }
    for _ in 0..3 {
        hand.key(u32::from('='));
    }
    let whole = shown.expect_plan("the whole heap", |plan| plan.heap == first.heap);
    assert_eq!(whole.on_chip, first.on_chip);

    // The slider, down to nothing.
    let (slider, plot) = (named(&places, "slider"), named(&places, "plot"));
    let x = slider.middle()[0];
    hand.point([x, plot.top]);
    hand.press();
    hand.point([x, plot.top + plot.height / 2]);
    let half = shown.expect_plan("half a heap", |plan| plan.heap < first.heap);
    assert!(half.heap > Some(0), "{half:?}");
    hand.point([x, plot.top + plot.height]);
    hand.release();
    let nothing = shown.expect_plan("no heap left", |plan| plan.heap == Some(0));
    assert_eq!((nothing.on_chip, nothing.bound), (0, 0));
    let now = shown.expect_places(nothing.number);
    assert!(
        now.iter().all(|place| !place.name.starts_with("block ")),
        "{now:#?}"
    );
    hand.key(u32::from('r'));
    let reset = shown.expect_plan("everything as it was", |plan| plan.heap == first.heap);
    assert_eq!((reset.on_chip, reset.pinned.as_str()), (first.on_chip, "nothing"));

    // Another size, and the overlay goes with it.
    hand.resize(900, 640);
    assert_eq!(shown.expect_line("resized to "), "900 x 640");
    hand.key(keys::F1);
    let hidden = shown.expect_places(reset.number);
    assert!(hidden.is_empty(), "{hidden:#?}");
    hand.key(keys::F1);
    let places = shown.expect_places(reset.number);
    let name = tallest(&places);
    let (row, block) = (
        named(&places, &format!("row {name}")),
        named(&places, &format!("block {name}")),
    );
    see_both(row.check(), block.edge());
    hand.click(block.middle());
    let without = shown.expect_plan("a plan without it", |plan| plan.excluded == name);
    assert!(without.number > reset.number);

    // Hidden it is not there to be clicked, and Escape closes.
    let colour = hand.pixel(row.edge());
    hand.key(keys::F1);
    hand.wait_to_see("the scene alone", |hand| hand.pixel(row.edge()) != colour);
    hand.click(row.middle());
    hand.key(keys::ESCAPE);
    shown.expect("the end, and no other wish", |line| {
        let other = plan_line(line).is_some_and(|plan| plan.excluded != name);
        assert!(!other, "{line}");
        line.starts_with("presented ").then_some(())
    });
    shown.assert_ends_well();
}

/// Two pixels to a point: the window has twice the pixels, the overlay twice the size, and the pointer finds what is below it.
#[test]
fn on_a_screen_of_high_density_it_is_as_large_as_elsewhere() {
    let Some((_server, shown, hand)) = on_chip("860x580", [1800, 1240], "2") else {
        return;
    };
    let first = shown.expect_plan("a plan", |_| true);
    assert_eq!(hand.size(), [1720, 1160]);
    let places = shown.expect_places(1);
    let name = tallest(&places);
    let (row, block) = (
        named(&places, &format!("row {name}")),
        named(&places, &format!("block {name}")),
    );
    // 300 points wide and 17 high, as in `deferred/overlay/layout.rs`.
    assert_eq!([row.width, row.height], [600, 34]);
    let check = [row.left + 22, row.top + 16];
    hand.wait_to_see("a resident in its colour", |hand| {
        let pixel = hand.pixel(block.edge());
        is_light(pixel) && hand.pixel(check) == pixel
    });
    // Its lower right corner, where half the pixels would be another row.
    hand.point([row.left + row.width - 3, row.top + row.height - 3]);
    assert_eq!(shown.expect_line("details of "), name);
    hand.click(block.middle());
    let without = shown.expect_plan("a plan without it", |_| true);
    assert_eq!((without.number, without.excluded.as_str()), (2, name.as_str()));
    let slider = named(&places, "slider");
    let click = |below_top: i16| hand.click([slider.middle()[0], slider.top + below_top]);
    click(slider.height / 2);
    let half = shown.expect_plan("half of what is shown", |plan| plan.heap < first.heap);
    click(slider.height / 4 * 3);
    let quarter = shown.expect_plan("a quarter of it", |plan| plan.heap < half.heap);
    // Of a heap much larger than what lives there, a part is shown.
    let share = quarter.heap.expect("a heap") * 100 / half.heap.expect("a heap");
    assert!((40..=60).contains(&share), "{share} %");
    hand.key(keys::ESCAPE);
    shown.expect_line("presented ");
    shown.assert_ends_well();
}

#[test]
fn without_a_tile_heap_it_shows_ordinary_memory() {
    let command = deferred("880x600", &["--log", "--no-tile-memory"]);
    let Some((_server, shown, hand)) = show(USUAL, command) else {
        return;
    };
    let first = shown.expect_plan("a plan", |_| true);
    assert_eq!((first.heap, first.on_chip), (None, 0));
    let places = shown.expect_places(1);
    assert!(places.iter().all(|place| place.name != "slider"), "{places:#?}");
    let name = tallest(&places);
    let row = named(&places, &format!("row {name}"));
    hand.point(row.middle());
    assert_eq!(shown.expect_line("details of "), name);
    // There is nothing to choose: no key and no click makes another plan.
    hand.click(row.middle());
    for key in [u32::from(' '), u32::from('-'), keys::TAB, keys::UP] {
        hand.key(key);
    }
    hand.point([870, 10]);
    // From the row that the click chose to the one above it.
    let chosen = shown.expect_line("details of ");
    assert_ne!(chosen, name);
    hand.key(keys::DOWN);
    assert_eq!(shown.expect_line("details of "), name);
    hand.key(keys::ESCAPE);
    shown.expect("the end, and no other plan", |line| {
        assert!(plan_line(line).is_none(), "{line}");
        line.starts_with("presented ").then_some(())
    });
    shown.assert_ends_well();
}
