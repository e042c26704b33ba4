//! The flight of `examples/terrain --window`: scripted keys, its output, and the pixels of the window.

use std::ops::Range;

use super::screen::{USUAL, in_window, show};

const SIZE: [u16; 2] = [480, 270];

/// Returns true if any sky is visible at the height of the monitor's upper edge, in these columns: above its title the monitor
/// darkens the sky, and before the first frame everything is black.
fn has_sky(pixels: &[[u8; 3]], columns: Range<usize>) -> bool {
    let mut rows = pixels.chunks(usize::from(SIZE[0])).take(22).skip(16);
    rows.any(|row| row[columns.clone()].iter().flatten().any(|&byte| byte >= 120))
}

const LEFT_OF_MONITOR: Range<usize> = 20..200;
const BEHIND_MONITOR: Range<usize> = 226..460;

/// Returns true if a frame is shown with the monitor.
fn has_monitor(pixels: &[[u8; 3]]) -> bool {
    has_sky(pixels, LEFT_OF_MONITOR) && !has_sky(pixels, BEHIND_MONITOR)
}

/// The overlay is redrawn in every frame, hides and reappears, the budget changes, the window is resized, and it closes on request.
#[test]
fn the_flight_heeds_its_keys_and_shows_the_cache_as_it_is() {
    let arguments = ["--memory", "6MiB", "--uploads", "256KiB"];
    let Some((_server, shown, hand)) = show(USUAL, in_window("terrain", "480x270", &arguments)) else {
        return;
    };
    let key = |character: char| hand.key(character as u32);
    hand.wait_to_see("the overlay", |hand| has_monitor(&hand.pixels(SIZE)));
    // The overlay moves while the flight does.
    let before = hand.pixels(SIZE);
    let (monitor, memory) = (38..96, 221..244);
    hand.wait_to_see("a moving overlay", |hand| {
        let now = hand.pixels(SIZE);
        [&monitor, &memory].into_iter().all(|rows| {
            let width = usize::from(SIZE[0]);
            let range = rows.start * width..rows.end * width;
            before[range.clone()] != now[range]
        })
    });
    key(' ');
    shown.expect_line("stands still");
    key('o');
    shown.expect_line("overlay off");
    hand.wait_to_see("no overlay", |hand| has_sky(&hand.pixels(SIZE), BEHIND_MONITOR));
    key('o');
    shown.expect_line("overlay on");
    hand.wait_to_see("the overlay again", |hand| has_monitor(&hand.pixels(SIZE)));
    key('-');
    assert_eq!(shown.expect_line("budget "), "4,718,592 B");
    key(' ');
    shown.expect_line("flies on");
    hand.resize(600, 340);
    assert_eq!(shown.expect_line("resized to "), "600 x 340");
    hand.wait_to_see("a picture of another size", |hand| {
        // Below the old window area, which may still be shown.
        let below = &hand.pixels([600, 340])[600 * usize::from(SIZE[1])..];
        below.iter().any(|&pixel| pixel != [0; 3])
    });
    hand.ask_to_close();
    shown.expect_line("presented ");
    shown.assert_ends_well();
}
