//! Tests of the examples' windows on a virtual screen (Xvfb): they open, present, survive resizes, close without errors; and their
//! overlays react to keyboard and mouse.

mod flight;
mod overlay;
mod screen;

use screen::{USUAL, deferred, open, show};

#[test]
fn presents_sixty_frames_and_changes_size_in_between() {
    let command = deferred("320x180", &["--frames", "60", "--resize-after", "20"]);
    let Some((_server, shown, _)) = open(USUAL, command) else {
        return;
    };
    assert_eq!(shown.expect_line("resized to "), "240 x 120");
    let presented = shown.expect_line("presented ");
    assert!(presented.starts_with("60 frames"), "presented {presented}");
    shown.assert_ends_well();
}

#[test]
fn follows_its_window_and_closes_when_asked() {
    let Some((_server, shown, hand)) = show(USUAL, deferred("320x180", &[])) else {
        return;
    };
    // The window exists before the renderer, which uses its current size; a renderer with a size prints the plan.
    shown.expect_line("Frame `deferred`");
    for (width, height) in [(400, 300), (200, 100)] {
        hand.resize(width, height);
        assert_eq!(shown.expect_line("resized to "), format!("{width} x {height}"));
    }
    hand.ask_to_close();
    shown.expect_line("presented ");
    shown.assert_ends_well();
}
