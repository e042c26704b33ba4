//! `examples/by_hand` as a program: it executes the tables of `deferred` without the runtime, and renders the same texels.

use tileheap_testkit as support;

use support::{example, own_file};

use super::output::{complaint, printed, read_picture};

/// Renders some frames with the runtime and by hand, in emulated tile memory if a profile is named; returns the output of `by_hand`.
/// `None`, and the test is skipped, if the emulator is not available.
fn render_both(size: &str, frames: &str, profile: Option<&str>) -> Option<String> {
    let name = |program: &str| format!("{program}-{size}-{frames}-{}.png", profile.unwrap_or("none"));
    let pictures = ["deferred", "by_hand"].map(|program| own_file(&name(program)));
    let mut texts = Vec::new();
    for (program, picture) in ["deferred", "by_hand"].into_iter().zip(&pictures) {
        let mut command = example(program);
        command.args(["--size", size, "--frames", frames, "--seed", "3", "--output"]);
        command.arg(picture);
        if profile.is_some_and(|profile| !support::emulate(&mut command, profile)) {
            return None;
        }
        if program == "by_hand" {
            command.arg("--compare").arg(&pictures[0]);
        }
        texts.push(printed(command));
    }
    let [by_runtime, by_hand] = pictures.map(|picture| read_picture(&picture));
    assert!(by_runtime == by_hand, "{size}, {profile:?}: the pictures differ");
    let printed = texts.pop()?;
    assert!(printed.contains("identical"), "{printed}");
    Some(printed)
}

#[test]
fn tables_executed_by_hand_draw_what_the_runtime_draws() {
    // Histories swap their copies every frame, and the first frame clears them.
    for (size, frames) in [("333x187", "1"), ("160x90", "4")] {
        render_both(size, frames, None).expect("no emulator is needed");
    }
}

#[test]
fn tile_memory_is_bound_by_hand_as_the_tables_say() {
    for profile in ["adreno-830", "hostile"] {
        let Some(printed) = render_both("320x180", "3", Some(profile)) else {
            return;
        };
        let on_chip = printed.lines().find(|line| line.contains("kept on chip"));
        let on_chip = on_chip.unwrap_or_else(|| panic!("{printed}"));
        assert!(!on_chip.contains(" 0 B"), "{profile}: {on_chip}");
    }
}

#[test]
fn what_cannot_be_done_by_hand_is_said_in_one_line() {
    let fault = |arguments: &[&str], environment: &[(&str, &str)]| {
        let mut command = example("by_hand");
        command.args(arguments).envs(environment.iter().copied());
        complaint(&command.output().expect("cargo runs"))
    };
    let small = ["--size", "32x18", "--frames", "1"];
    let other = own_file("by_hand-other.png");
    let other = other.to_str().expect("a UTF-8 path");
    let mut command = example("by_hand");
    command.args(["--size", "16x16", "--frames", "1", "--output", other]);
    printed(command);
    let output = own_file("by_hand-small.png");
    let output = ["--output", output.to_str().expect("a UTF-8 path")];
    let compared = |file| fault(&[&small[..], &output, &["--compare", file]].concat(), &[]);
    assert!(compared(other).contains("another size"));
    assert!(compared("no-such.png").contains("no-such.png"));
    assert!(compared(file!()).contains("by_hand.rs"));
    assert!(fault(&["--device", "99"], &[]).contains("99"));
    assert!(fault(&["--size", "0x18"], &[]).contains("0x18"));
    fault(&small, &[("VK_DRIVER_FILES", "/dev/null")]);
}
