//! Output only for terminals: bold headings, and progress of long operations.

use std::io::{Read, Write};
use std::process::{Command, Stdio};

use serde_json::json;

use crate::run::{FRAME, command, file, scratch};
use crate::support;

/// The command on a terminal of its own, created by `script`, which every Debian has. `None`, and the test is listed as skipped, if it is not
/// installed.
fn on_terminal(arguments: &[&str]) -> Option<Command> {
    with_redirection(arguments, "")
}

/// The same with a redirection, in the syntax of a shell. The command replaces the shell: Ctrl-C would end some shells, and with them `script`.
fn with_redirection(arguments: &[&str], redirection: &str) -> Option<Command> {
    if Command::new("script").arg("--version").output().is_err() {
        support::skip("`script`, which makes a terminal, is not installed");
        return None;
    }
    let words = command();
    let words = std::iter::once(words.get_program()).chain(words.get_args());
    let words = words
        .map(|word| word.to_str().expect("UTF-8"))
        .chain(arguments.iter().copied());
    let words: Vec<String> = words.map(|word| format!("'{word}'")).collect();
    let mut terminal = Command::new("script");
    terminal.args(["--quiet", "--return", "--command"]).arg(format!(
        "stty columns 100; exec {} {redirection}",
        words.join(" ")
    ));
    terminal
        .arg("/dev/null")
        .env("TERM", "xterm")
        .env_remove("NO_COLOR")
        .env_remove("CLICOLOR_FORCE");
    terminal
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    Some(terminal)
}

/// Reads what a program prints until it contains `text`.
fn read_until(shown: &mut impl Read, text: &str, seen: &mut String) {
    let mut byte = [0];
    while !seen.contains(text) {
        let count = shown.read(&mut byte).expect("what is shown");
        assert_eq!(count, 1, "it ended too soon: {seen}");
        seen.push(char::from(byte[0]));
    }
}

/// Presses Ctrl-C when the command shows `text`, and returns everything that it prints. It must succeed.
fn interrupted(mut terminal: Command, text: &str) -> String {
    let mut terminal = terminal.stdin(Stdio::piped()).spawn().expect("a terminal");
    let mut shown = terminal.stdout.take().expect("a pipe");
    let mut seen = String::new();
    read_until(&mut shown, text, &mut seen);
    let mut keys = terminal.stdin.take().expect("a pipe");
    keys.write_all(b"\x03").expect("Ctrl-C");
    shown.read_to_string(&mut seen).expect("the rest");
    assert!(terminal.wait().expect("it ends").success(), "{seen}");
    seen
}

#[test]
fn headings_are_bold_on_a_terminal_that_wants_it() {
    let frame = file("bold.json", FRAME);
    let shown = |changed: &dyn Fn(&mut Command), arguments: &[&str]| {
        // A slow machine would also show progress.
        let mut terminal = with_redirection(arguments, "2>/dev/null")?;
        changed(&mut terminal);
        let output = terminal.output().expect("a terminal");
        Some(String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let plan = ["plan", &frame];
    let Some(bold) = shown(&|_| (), &plan) else { return };
    assert!(bold.contains("\u{1b}[1m") && bold.contains("Totals"), "{bold}");
    for arguments in [&plan[..], &["--help"]] {
        for (name, value) in [("NO_COLOR", "1"), ("TERM", "dumb")] {
            // `CI` makes some libraries use colors on any terminal.
            let changed = |terminal: &mut Command| _ = terminal.env(name, value).env("CI", "true");
            let plain = shown(&changed, arguments).expect("a terminal");
            assert!(
                !plain.contains('\u{1b}') && plain.contains("tile"),
                "{name}: {plain}"
            );
        }
    }
}

/// The trace goes to a pipe that is not read yet, so that the test decides how long it takes.
#[test]
fn what_takes_long_says_so_on_a_terminal() {
    let pipe = scratch("slow.trace");
    let _ = std::fs::remove_file(&pipe);
    let made = Command::new("mkfifo").arg(&pipe).status().expect("mkfifo starts");
    assert!(made.success());
    let path = pipe.to_str().expect("UTF-8");
    let Some(mut terminal) = on_terminal(&["trace", "still", "--frames", "2", "-o", path]) else {
        return;
    };
    let mut terminal = terminal.spawn().expect("a terminal");
    let mut shown = terminal.stdout.take().expect("a pipe");
    let mut seen = String::new();
    read_until(&mut shown, "writing", &mut seen);
    let trace = std::fs::read(&pipe).expect("the trace");
    assert!(trace.starts_with(b"tileheap-trace\n"));
    shown.read_to_string(&mut seen).expect("the rest");
    assert!(terminal.wait().expect("it ends").success());
    // The line is gone at the end.
    let last = seen.rfind("writing").map(|at| &seen[at..]);
    assert!(
        last.is_some_and(|last| last.contains("\u{1b}[2K") || last.contains("\u{1b}[J")),
        "{seen:?}"
    );
}

/// HTML is not printed to a terminal: the command says what to do instead. Images need no page.
#[test]
fn a_page_is_not_poured_into_a_terminal() {
    let frame = file("poured.json", FRAME);
    let Some(mut terminal) = on_terminal(&["report", &frame]) else {
        return;
    };
    let output = terminal.output().expect("a terminal");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("-o") && !said.contains("<html"), "{said}");
    let picture = scratch("poured.svg");
    let picture = picture.to_str().expect("a path in UTF-8");
    let mut terminal = on_terminal(&["report", &frame, "--svg", picture]).expect("as before");
    assert!(terminal.status().expect("a terminal").success());
    assert!(std::fs::read_to_string(picture).is_ok_and(|text| text.ends_with("</svg>\n")));
}

/// Padded items, whose lowest packing is not proved within a second.
#[test]
fn an_interrupted_search_prints_its_best_answer() {
    let mut table = "id,lower,upper,size,alignment\n".to_owned();
    for item in 0..120 {
        let (first, length, size) = (item * 37 % 50, 5 + item * 11 % 20, 1 + item * 7919 % 1000);
        table += &format!("{item},{first},{},{size},64\n", first + length);
    }
    let table = file("interrupted.csv", &table);
    let Some(terminal) = on_terminal(&["pack", &table, "--time", "10min"]) else {
        return;
    };
    let shown = interrupted(terminal, "steps, best");
    assert!(
        shown.contains("height") && shown.contains("none before the time limit or Ctrl-C"),
        "{shown}"
    );
}

/// Ctrl-C ends all searches of the command, not only the current one. A search of 300 passes takes minutes.
#[test]
fn interrupted_advice_prints_the_best_combination_so_far() {
    let (mut resources, mut passes) = (Vec::new(), Vec::new());
    for pass in 0..300 {
        let (scale, format) = (
            [1.0, 0.5, 0.25][pass * 7 % 3],
            ["RGBA8", "RGBA16F", "R8"][pass * 5 % 3],
        );
        resources.push(json!({"name": format!("t{pass}"), "format": format, "extent_scale": [scale, scale]}));
        let earlier = [1, 2 + pass * 3 % 5]
            .into_iter()
            .filter_map(|back| pass.checked_sub(back));
        let reads: Vec<_> = earlier
            .map(|read| json!({"res": format!("t{read}"), "use": "sampled"}))
            .collect();
        passes.push(
            json!({"name": format!("p{pass}"), "type": "raster", "submit": 0, "reads": reads,
            "writes": [{"res": format!("t{pass}"), "use": "color"}]}),
        );
    }
    let frame =
        json!({"name": "long", "base_extent": [1920, 1080], "resources": resources, "passes": passes});
    let frame = file("interrupted.json", &frame.to_string());
    let search = ["advise", &frame, "--search-steps", "none"];
    let Some(terminal) = on_terminal(&search) else {
        return;
    };
    let shown = interrupted(terminal, "on chip so far");
    assert!(
        shown.contains("Combinations of changes") && shown.contains("interrupted by Ctrl-C"),
        "{shown}"
    );
}
