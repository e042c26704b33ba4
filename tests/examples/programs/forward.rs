//! `examples/forward`: every step renders the same picture, and the last one places the shadow maps on chip.

use tileheap_testkit as support;

use std::path::Path;
use std::process::Command;

use support::{example, own_file};

use super::output::printed;

/// Renders every step; returns the output.
fn compare(mut command: Command, picture: &Path) -> String {
    command
        .args(["--compare", "--size", "161x91", "--output"])
        .arg(picture);
    let printed = printed(command);
    let same = |step: &u32| printed.contains(&format!("step {step}: identical, 14651 texels"));
    assert_eq!((1..=4).filter(same).count(), 4, "{printed}");
    printed
}

#[test]
fn the_picture_is_the_same_at_every_step_and_the_last_one_brings_the_shadow_maps_on_chip() {
    let (ordinary, emulated) = (own_file("forward-ordinary.png"), own_file("forward-emulated.png"));
    compare(example("forward"), &ordinary);
    let mut command = example("forward");
    if !support::emulate(&mut command, "adreno-830") {
        return;
    }
    let printed = compare(command, &emulated);
    let (before, after) = printed.split_once("step 3: identical").expect("asserted");
    assert!(
        before.contains("crosses from batch 0 to batch 1 after `lamp`"),
        "{before}"
    );
    assert!(!after.contains("crosses from"), "{after}");
    let read = |path| std::fs::read(path).expect("the picture was written");
    assert!(read(&ordinary) == read(&emulated), "the pictures differ");
}

/// Identical if merged, reordered and fused; in strips, except for a few pixels that may change when drawn at another origin. If more
/// pixels differ, the program fails.
#[test]
fn the_picture_is_the_same_in_the_best_arrangement() {
    let picture = own_file("forward-best.png");
    // Without tile memory, or in that of this run; in a small heap; in a heap for everything, or for a strip of the visible output.
    let (own, small, whole) = (None, Some("98304"), Some("8355840"));
    let (exact, little) = ("order,merge,fuse", ["3", "320x192"]);
    let (merged, first) = ("depth, forward: merged\n", "batch 0\n");
    let shown = if super::is_emulated() { first } else { merged };
    for (heap, [step, size], allow, shows) in [
        (own, little, exact, shown),
        (small, little, exact, merged),
        (whole, little, "order,merge,fuse,strips", first),
        (
            whole,
            ["4", "1280x720"],
            "order,strips",
            "depth, forward, tone_map: ",
        ),
    ] {
        let mut command = example("forward");
        let arguments = "--best --compare --frames 1 --output";
        command.args(arguments.split(' ')).arg(&picture);
        command.args(["--step", step, "--size", size, "--allow", allow]);
        if let Some(heap) = heap {
            if !support::emulate(&mut command, "adreno-830") {
                return;
            }
            command.env("VK_TILEHEAP_EMULATOR_HEAP_SIZE", heap);
        }
        let printed = printed(command);
        let (of, limit) = if step == "4" { (921_600, 921) } else { (61_440, 0) };
        let exactly = format!("identical: {of} texels with and without aliasing");
        let nearly = format!("of {of} texels differ from the frame as described; at most {limit} may");
        for part in [&exactly[..], &nearly, shows] {
            assert!(printed.contains(part), "{heap:?} {allow}: no `{part}`: {printed}");
        }
        // Two batches are fused, unless this run's heap has room for everything without that.
        let fused = !printed.contains("\nbatch 1\n");
        assert!(fused || heap.is_none() && super::is_emulated(), "{printed}");
    }
}
