//! `run --layer aliasing` on `examples/alias_bugs`: each bug fails with its message, and the same program without it passes.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::run::{place, scratch, tileheap};
use crate::support::{skip, workspace};

const CONTENTS: &str = "TILEHEAP-reads-discarded";
const ORDER: &str = "TILEHEAP-missing-order";

/// The message that each bug gives.
const BUGS: [(&str, &str); 13] = [
    ("short-lifetime", CONTENTS),
    ("no-source-stage", ORDER),
    ("own-image-barrier", ORDER),
    ("late-semaphore-wait", ORDER),
    ("oversized-clear", CONTENTS),
    ("stale-offset", CONTENTS),
    ("transient-history", CONTENTS),
    ("frames-in-flight", ORDER),
    ("uncleared-target", CONTENTS),
    ("uncleared-buffer", CONTENTS),
    ("indirect-arguments", ORDER),
    ("late-readback", CONTENTS),
    ("unstored-attachment", CONTENTS),
];

/// The exit status, and the ids of all messages.
fn run(folder: &str, program: &str, bug: &str, more: &[&str]) -> (i32, Vec<String>) {
    let (outcome, picture) = (place("aliases.json"), place("aliases.png"));
    let options = [
        "run", "--layer", "aliasing", "--layers", folder, "--json", &outcome, "--", program, "--output",
        &picture, "--bug", bug,
    ];
    let run = tileheap(&[&options[..], more].concat());
    let text = std::fs::read_to_string(scratch("aliases.json")).expect("the outcome is written");
    let outcome: Value = serde_json::from_str(&text).expect("JSON");
    let messages = outcome["messages"].as_array().expect("a list of messages");
    let ids = messages
        .iter()
        .map(|message| message["id"].as_str().expect("an id"));
    (run.status, ids.map(str::to_owned).collect())
}

#[test]
fn every_bug_with_shared_memory_fails_and_its_fixed_program_passes() {
    if std::env::var_os("TILEHEAP_RUNNER").is_some() {
        return skip("the test bed has an environment of its own");
    }
    let folder = workspace().join("target/aliasing");
    let folder = std::env::var("TILEHEAP_ALIASING").unwrap_or(folder.to_str().expect("UTF-8").to_owned());
    let built =
        std::env::var_os("TILEHEAP_BUILT_EXAMPLES").map(|examples| Path::new(&examples).join("alias_bugs"));
    let staged = Path::new(&folder).join("libtileheap_aliasing.so").is_file();
    let (Some(program), true) = (built, staged) else {
        return skip(
            "the layer is not staged, or TILEHEAP_BUILT_EXAMPLES is not set: scripts/test.sh does both",
        );
    };
    let program = program.to_str().expect("UTF-8");
    let listed = Command::new(program)
        .output()
        .expect("the gallery lists its bugs");
    let listed = String::from_utf8(listed.stdout).expect("UTF-8");
    let listed = listed
        .lines()
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_whitespace().next());
    assert!(listed.eq(BUGS.map(|(bug, _)| bug)), "the table has every bug");
    for (bug, id) in BUGS {
        let wrong = run(&folder, program, bug, &[]);
        assert_eq!(wrong, (3, vec![id.to_owned()]), "{bug}");
        let right = run(&folder, program, bug, &["--fixed"]);
        assert_eq!(right, (0, vec![]), "{bug}, without it");
    }
}
