//! `examples/alias_bugs`: without its bug, every program paints the same picture; with it, reads of lost contents change the picture.

use tileheap_testkit as support;

use std::process::Command;

use super::output::{Picture, printed, read_picture, text};

/// Runs a program with or without its bug.
fn run(bug: &str, fixed: bool) -> Picture {
    let picture = support::own_file(&format!("alias-{bug}-{fixed}.png"));
    let mut example = support::example("alias_bugs");
    example.args(["--bug", bug, "--output"]).arg(&picture);
    if fixed {
        example.arg("--fixed");
    }
    let printed = printed(example);
    // The validation layer prints to standard output, unless it has a log file.
    let reported = ["VUID-", "SYNC-HAZARD", "UNASSIGNED-"];
    let reported = reported.iter().any(|id| printed.contains(id));
    assert!(!reported, "{printed}");
    read_picture(&picture)
}

/// The names of all bugs, as the program lists them.
fn bugs() -> Vec<String> {
    let mut list: Command = support::example("alias_bugs");
    let output = list.output().expect("cargo runs");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let lines = text(&output.stdout).lines().take_while(|line| !line.is_empty());
    let names = lines.filter_map(|line| line.split_whitespace().next());
    names.map(str::to_owned).collect()
}

/// Bugs that damage the picture on every device without checks or compression. In-order execution of a driver hides the others.
const SEEN: [&str; 8] = [
    "short-lifetime",
    "oversized-clear",
    "stale-offset",
    "transient-history",
    "uncleared-target",
    "uncleared-buffer",
    "late-readback",
    "unstored-attachment",
];

#[test]
fn every_fixed_program_paints_the_same_picture() {
    let bugs = bugs();
    assert!(bugs.len() >= 13, "{bugs:?}");
    let right = run(&bugs[0], true);
    assert_eq!((right.0, right.1), (256, 144));
    // The sky and the medallion: the picture has more than one color.
    assert_ne!(right.2[0], right.2[98 * 256 + 194]);
    for bug in &bugs {
        assert!(run(bug, true) == right, "{bug}, without it");
        let wrong = run(bug, false);
        let differ = wrong.2.iter().zip(&right.2).filter(|(one, other)| one != other);
        let differ = differ.count();
        if SEEN.contains(&bug.as_str()) {
            assert!(differ * 20 >= right.2.len(), "{bug}: {differ} texels differ");
        }
    }
    let unknown = SEEN.iter().find(|seen| !bugs.iter().any(|bug| bug == *seen));
    assert_eq!(unknown, None);
}

#[test]
fn without_a_device_the_gallery_of_aliases_says_so_in_one_line() {
    let mut example = support::example("alias_bugs");
    example
        .args(["--bug", "short-lifetime"])
        .env("VK_DRIVER_FILES", "/dev/null");
    let output = example.output().expect("cargo runs");
    let complaint = super::output::complaint(&output);
    assert!(complaint.starts_with("error: "), "{complaint}");
}
