//! `examples/tile_bugs` on the emulator: every bug is detected, and the same program without it is clean.

use tileheap_testkit as support;

use std::process::Output;

use super::output::{read_picture, text};

/// The output of a run of the example.
struct Run {
    lost: usize,
    /// The ids of reported messages.
    messages: Vec<String>,
    texels: Vec<[u8; 4]>,
}

/// Runs the example on the emulator; `None`, and the test is skipped, if there is none.
fn run(bug: &str, fixed: bool, profile: &str) -> Option<Run> {
    let picture = support::own_file(&format!("{bug}-{fixed}-{profile}.png"));
    let mut example = support::example("tile_bugs");
    example.args(["--bug", bug, "--output"]).arg(&picture);
    if fixed {
        example.arg("--fixed");
    }
    if !support::emulate(&mut example, profile) {
        return None;
    }
    let Output {
        status,
        stdout,
        stderr,
    } = example.output().expect("cargo runs");
    let (printed, complaints) = (text(&stdout), text(&stderr));
    assert!(status.success(), "{complaints}{printed}");
    assert!(printed.contains("tileheap emulator"), "{printed}");
    let after = |start: &'static str| printed.lines().filter_map(move |line| line.strip_prefix(start));
    let lost = after("lost contents: ").next().expect("the count is printed");
    let lost = lost.split(' ').next().and_then(|count| count.parse().ok());
    // Messages of the validation layer, which may or may not be installed, are not tested here.
    let ids = after("message ").map(|message| message.split(':').next().unwrap_or_default().to_owned());
    Some(Run {
        lost: lost.expect("a number"),
        messages: ids.filter(|id| id.starts_with("TILEHEAP-")).collect(),
        texels: read_picture(&picture).2,
    })
}

/// The effect of a bug.
#[derive(Clone, Copy)]
enum Shows {
    /// At least this percentage of the picture is lost contents.
    Lost(usize),
    /// The picture differs from the correct one.
    Damage,
    /// A message with this id.
    Message(&'static str),
}

fn is_seen(bug: &str, shows: &[Shows]) {
    let (Some(wrong), Some(right)) = (run(bug, false, "adreno-830"), run(bug, true, "adreno-830")) else {
        return;
    };
    assert_eq!((right.lost, &right.messages[..]), (0, &[][..]), "without {bug}");
    let differ = wrong
        .texels
        .iter()
        .zip(&right.texels)
        .filter(|(one, other)| one != other);
    let differ = differ.count();
    for shows in shows {
        match shows {
            Shows::Lost(percent) => {
                assert!(
                    wrong.lost * 100 >= wrong.texels.len() * percent,
                    "{bug}: {} texels lost",
                    wrong.lost
                );
            }
            Shows::Damage => assert!(
                differ * 100 >= right.texels.len(),
                "{bug}: {differ} texels differ"
            ),
            Shows::Message(id) => {
                assert!(
                    wrong.messages.iter().any(|said| said == id),
                    "{bug}: {:?}",
                    wrong.messages
                );
            }
        }
    }
}

#[test]
fn with_the_submit_boundary_they_end_with_the_submit() {
    let Some(across) = run("across-batches", false, "generous") else {
        return;
    };
    assert_eq!((across.lost, &across.messages[..]), (0, &[][..]));
}

#[test]
fn every_bug_is_seen() {
    use Shows::{Damage, Lost, Message};
    let order = [Message("TILEHEAP-missing-order")];
    let lost = Message("TILEHEAP-reads-discarded");
    for (bug, shows) in [
        ("across-batches", &[Lost(50), Damage, lost][..]),
        (
            "unbound-command-buffer",
            &[Lost(50), Damage, Message("TILEHEAP-wrong-object")],
        ),
        ("smaller-object", &[Lost(20), Damage, lost]),
        ("shared-bytes", &[Damage, lost]),
        ("read-after-write", &order),
        ("write-after-read", &order),
        ("write-after-write", &order),
        ("across-plans", &order),
        ("across-queues", &order),
        (
            "unbound-secondary",
            &[Lost(50), Message("TILEHEAP-inheritance-missing")],
        ),
        ("store-dont-care", &[Lost(50), Damage, lost]),
        ("undefined-layout", &[Lost(50), Damage, lost]),
        ("wrong-object", &[Message("TILEHEAP-wrong-object")]),
    ] {
        is_seen(bug, shows);
    }
}

#[test]
fn without_tile_memory_the_gallery_says_what_it_needs() {
    let output = support::example("tile_bugs")
        .args(["--bug", "wrong-object"])
        .output()
        .expect("cargo runs");
    let complaints = text(&output.stderr);
    // With the emulator or a device with tile memory, it runs.
    assert!(
        output.status.success() || complaints.contains("docs/guide/emulator.md"),
        "{complaints}"
    );
    assert!(complaints.lines().count() <= 1, "{complaints}");
}
