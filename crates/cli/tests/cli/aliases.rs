//! `run --layer aliasing` on `examples/alias_bugs`: each bug fails with its message, and the same program without it passes. So do programs of
//! `examples/cpp/guide`.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::run::{place, scratch, tileheap};
use crate::support::{cpp_program, skip, workspace};

const CONTENTS: &str = "TILEHEAP-reads-discarded";
const ORDER: &str = "TILEHEAP-missing-order";

/// The message for each bug.
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

/// Runs a program under the layer: the exit status, and the ids of all messages. Each test has its own `outcome`, a scratch file.
fn run(folder: &str, outcome: &str, program: &[&str]) -> (i32, Vec<String>) {
    let json = place(outcome);
    let options = [
        "run", "--layer", "aliasing", "--layers", folder, "--json", &json, "--",
    ];
    let run = tileheap(&[&options[..], program].concat());
    let text = std::fs::read_to_string(scratch(outcome)).expect("the outcome is written");
    let outcome: Value = serde_json::from_str(&text).expect("JSON");
    let messages = outcome["messages"].as_array().expect("a list of messages");
    let ids = messages
        .iter()
        .map(|message| message["id"].as_str().expect("an id"));
    (run.status, ids.map(str::to_owned).collect())
}

/// The folder of the layer. `None`, and the calling test is listed as skipped, if it is not staged.
fn layer() -> Option<String> {
    if std::env::var_os("TILEHEAP_RUNNER").is_some() {
        skip("the test bed sets its own environment");
        return None;
    }
    let folder = workspace().join("target/aliasing");
    let folder = std::env::var("TILEHEAP_ALIASING").unwrap_or(folder.to_str().expect("UTF-8").to_owned());
    if !Path::new(&folder)
        .join("libVkLayer_tileheap_aliasing.so")
        .is_file()
    {
        skip("the layer is not staged: scripts/stage-aliasing.sh");
        return None;
    }
    Some(folder)
}

#[test]
fn every_bug_with_shared_memory_fails_and_its_fixed_program_passes() {
    let Some(folder) = layer() else { return };
    let built =
        std::env::var_os("TILEHEAP_BUILT_EXAMPLES").map(|examples| Path::new(&examples).join("alias_bugs"));
    let Some(program) = built else {
        return skip("TILEHEAP_BUILT_EXAMPLES is not set: scripts/test.sh does it");
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
    let picture = place("aliases.png");
    for (bug, id) in BUGS {
        let command = [program, "--output", &picture, "--bug", bug];
        let wrong = run(&folder, "alias_bugs.json", &command);
        assert_eq!(wrong, (3, vec![id.to_owned()]), "{bug}");
        let right = run(&folder, "alias_bugs.json", &[&command[..], &["--fixed"]].concat());
        assert_eq!(right, (0, vec![]), "{bug}, without it");
    }
}

/// The steps of the guide's chapter on C++, from the first one that shares memory.
#[test]
fn programs_of_the_guide_order_what_shares_memory() {
    let Some(folder) = layer() else { return };
    let (texels, picture) = (place("guide.rgba"), place("guide.png"));
    let steps = (2..).map(|step| (step, workspace().join(format!("examples/cpp/guide/step_{step}"))));
    let steps = steps.take_while(|(_, folder)| folder.is_dir());
    let steps: Vec<usize> = steps.map(|(step, _)| step).collect();
    assert!(steps.len() >= 3, "{steps:?}");
    for step in steps {
        let Some(program) = cpp_program(&format!("guide_{step}")) else {
            return;
        };
        let program = program.get_program().to_str().expect("UTF-8");
        let size = ["--size", "160x90", "--resize", "101x59", "--frames", "6"];
        let files = ["--toggle", "--texels", &texels, "--output", &picture];
        let ran = run(&folder, "guide.json", &[&[program][..], &size, &files].concat());
        assert_eq!(ran, (0, vec![]), "guide_{step}");
    }
}
