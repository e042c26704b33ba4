//! The guide agrees with its sources: the diffs between the steps of `examples/forward`, the C++ program, the list of chapters.
//!
//! `TILEHEAP_REWRITE=1 cargo test -p tileheap --test examples` writes the diffs into the guide.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use similar::TextDiff;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn names(folder: PathBuf) -> BTreeSet<String> {
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let name = |entry: std::io::Result<fs::DirEntry>| entry.expect("an entry").file_name().into_string();
    entries.map(|entry| name(entry).expect("UTF-8")).collect()
}

/// The files that steps after the first change, as `step_1/gpu.rs`.
fn changed() -> Vec<String> {
    let steps = (1..).map(|step| format!("step_{step}"));
    let folders = steps.map(|step| (root().join("examples/forward").join(&step), step));
    let there = folders.take_while(|(folder, _)| folder.is_dir());
    there
        .flat_map(|(folder, step)| {
            names(folder)
                .into_iter()
                .map(move |file| format!("{step}/{file}"))
        })
        .collect()
}

/// The difference between a step's file and the newest one before it.
fn difference(changed: &str) -> String {
    let (step, file) = changed.split_once('/').expect("a step and a file");
    let step: u32 = step
        .strip_prefix("step_")
        .and_then(|step| step.parse().ok())
        .expect("a number");
    let earlier = (0..step).rev().map(|step| format!("step_{step}/{file}"));
    let before = earlier
        .map(|path| format!("examples/forward/{path}"))
        .find(|path| root().join(path).is_file());
    let (old, new) = (
        before.as_deref().map_or_else(String::new, read),
        read(&format!("examples/forward/{changed}")),
    );
    let from = before.unwrap_or_else(|| "/dev/null".to_owned());
    TextDiff::from_lines(&old, &new)
        .unified_diff()
        .context_radius(3)
        .header(&from, &format!("examples/forward/{changed}"))
        .to_string()
}

/// The guide with the current diff after each mark; and the marks.
fn with_differences(text: &str) -> (String, Vec<String>) {
    let (mut written, mut marks) = (String::new(), Vec::new());
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        written += line;
        written.push('\n');
        let mark = line
            .strip_prefix("<!-- diff: ")
            .and_then(|rest| rest.strip_suffix(" -->"));
        let Some(mark) = mark else { continue };
        if lines.peek() == Some(&"```diff") {
            // The old diff, to its closing fence: no line of a diff starts with one.
            let _old = lines.by_ref().find(|line| *line == "```");
        }
        written += &format!("```diff\n{}```\n", difference(mark));
        marks.push(mark.to_owned());
    }
    (written, marks)
}

#[test]
fn the_guide_shows_every_difference_between_the_steps() {
    let path = "docs/guide/integrate.md";
    let text = read(path);
    let (written, marks) = with_differences(&text);
    if std::env::var_os("TILEHEAP_REWRITE").is_some() {
        fs::write(root().join(path), &written).expect("the guide can be written");
    } else if let Some((line, (is, should))) = (1..)
        .zip(text.lines().zip(written.lines()))
        .find(|(_, (is, should))| is != should)
    {
        panic!(
            "{path}:{line} is `{is}`, and should be `{should}`: TILEHEAP_REWRITE=1 cargo test -p tileheap --test examples"
        );
    } else {
        assert_eq!(text.len(), written.len(), "{path} ends too early");
    }
    let (shown, there): (BTreeSet<_>, BTreeSet<_>) =
        (marks.iter().collect(), changed().into_iter().collect());
    assert_eq!(shown, there.iter().collect::<BTreeSet<_>>());
    assert!(there.len() >= 6, "{there:?}");
}

#[test]
fn differences_are_found_again() {
    let (once, marks) = with_differences("a\n<!-- diff: step_4/seen.rs -->\nb\n");
    assert_eq!(marks, ["step_4/seen.rs"]);
    assert!(once.contains("-    let batch = frame.batch(submit);"), "{once}");
    assert!(once.starts_with("a\n") && once.ends_with("```\nb\n"), "{once}");
    assert_eq!(with_differences(&once).0, once);
}

#[test]
fn pieces_of_cpp_in_the_guide_are_the_program_s() {
    let program = read("crates/emulator/examples/tile_memory.cpp");
    let text = read("docs/guide/emulator.md");
    let pieces: Vec<&str> = text
        .split("```cpp\n")
        .skip(1)
        .map(|rest| rest.split("```").next().expect("a fence"))
        .collect();
    assert!(pieces.len() >= 3);
    for piece in pieces {
        assert!(program.contains(piece), "not in the program:\n{piece}");
    }
}

/// Each chapter is compiled, is listed, and links to files that exist.
#[test]
fn chapters_are_modules_and_listed() {
    let (modules, list) = (read("examples/support/lib.rs"), read("docs/guide/README.md"));
    let chapters = names(root().join("docs/guide"));
    let chapters: Vec<&String> = chapters.iter().filter(|name| name.ends_with(".md")).collect();
    assert!(chapters.len() >= 9, "{chapters:?}");
    for chapter in chapters {
        assert!(
            modules.contains(&format!("/guide/{chapter}\"")),
            "{chapter} is not compiled"
        );
        assert!(
            chapter == "README.md" || list.contains(&format!("]({chapter})")),
            "{chapter} is not listed"
        );
        for rest in read(&format!("docs/guide/{chapter}")).split("](").skip(1) {
            let target = rest.split(')').next().expect("a link");
            let is_local =
                (target.ends_with(".md") || target.contains("pictures/")) && !target.contains("://");
            assert!(
                !is_local || root().join("docs/guide").join(target).is_file(),
                "{chapter}: {target}"
            );
        }
    }
}
