//! `examples/tile_bugs` on the emulator: every bug is seen, and the same program without it is clean.

use tileheap_testkit as support;

use std::process::Output;

use super::output::{read_picture, text};

/// What the example prints of a run.
struct Run {
    lost: usize,
    /// Ids.
    messages: Vec<String>,
    texels: Vec<[u8; 4]>,
}

/// Runs the example on the emulator; `None`, and the test is skipped, where there is none.
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
    // Of the validation layer's messages, what is not tested here: it may or may not be there.
    let ids = after("message ").map(|message| message.split(':').next().unwrap_or_default().to_owned());
    Some(Run {
        lost: lost.expect("a number"),
        messages: ids.filter(|id| id.starts_with("TILEHEAP-")).collect(),
        texels: read_picture(&picture).2,
    })
}

/// What a bug shows.
enum Shows {
    /// At least so many percent of the picture are lost contents.
    Lost(usize),
    /// The picture is not the right one.
    Damage,
    /// A message with this id.
    Message(&'static str),
}

/// Runs a bug and its remedy.
fn is_seen(bug: &str, shows: &[Shows]) {
    let (Some(wrong), Some(right)) = (run(bug, false, "adreno-830"), run(bug, true, "adreno-830")) else {
        return;
    };
    assert_eq!((right.lost, &right.messages[..]), (0, &[][..]), "without the bug");
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
                    "{} texels lost",
                    wrong.lost
                );
            }
            Shows::Damage => assert!(differ * 100 >= right.texels.len(), "{differ} texels differ"),
            Shows::Message(id) => {
                assert!(
                    wrong.messages.iter().any(|said| said == id),
                    "{:?}",
                    wrong.messages
                );
            }
        }
    }
}

#[test]
fn contents_end_with_their_batch() {
    is_seen("across-batches", &[Shows::Lost(50), Shows::Damage]);
}

#[test]
fn with_the_submit_boundary_they_end_with_the_submit() {
    let Some(across) = run("across-batches", false, "generous") else {
        return;
    };
    assert_eq!((across.lost, &across.messages[..]), (0, &[][..]));
}

#[test]
fn a_binding_ends_with_its_command_buffer() {
    is_seen("unbound-command-buffer", &[Shows::Lost(50), Shows::Damage]);
}

#[test]
fn what_lies_above_a_smaller_object_is_lost() {
    is_seen("smaller-object", &[Shows::Lost(20), Shows::Damage]);
}

#[test]
fn pictures_that_share_bytes_damage_each_other() {
    is_seen(
        "shared-bytes",
        &[Shows::Damage, Shows::Message("TILEHEAP-reads-discarded")],
    );
}

#[test]
fn accesses_without_order_are_told() {
    for bug in [
        "read-after-write",
        "write-after-read",
        "write-after-write",
        "across-plans",
        "across-queues",
    ] {
        is_seen(bug, &[Shows::Message("TILEHEAP-missing-order")]);
    }
}

#[test]
fn a_secondary_that_does_not_say_what_is_bound_loses_it() {
    is_seen(
        "unbound-secondary",
        &[Shows::Lost(50), Shows::Message("TILEHEAP-inheritance-missing")],
    );
}

#[test]
fn what_is_not_stored_is_lost() {
    is_seen("store-dont-care", &[Shows::Lost(50), Shows::Damage]);
}

#[test]
fn a_transition_from_undefined_loses_contents() {
    is_seen("undefined-layout", &[Shows::Lost(50), Shows::Damage]);
}

#[test]
fn another_object_over_the_same_bytes_is_told() {
    is_seen("wrong-object", &[Shows::Message("TILEHEAP-wrong-object")]);
}

#[test]
fn without_tile_memory_the_gallery_says_what_it_needs() {
    let output = support::example("tile_bugs")
        .args(["--bug", "wrong-object"])
        .output()
        .expect("cargo runs");
    let complaints = text(&output.stderr);
    // On the emulator or a device with tile memory, it runs.
    assert!(
        output.status.success() || complaints.contains("emulator/README.md"),
        "{complaints}"
    );
    assert!(complaints.lines().count() <= 1, "{complaints}");
}
