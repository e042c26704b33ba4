//! The messages that the guide explains are those of the source.

use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn sources(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, files);
        } else if path.extension().is_some_and(|end| end == "rs") {
            files.push(path);
        }
    }
}

/// A source with every string on one line: a backslash at the end of a line continues it without the spaces of the next.
fn joined(text: &str) -> String {
    let mut joined = String::new();
    let mut continues = false;
    for line in text.lines() {
        let line = if continues { line.trim_start() } else { line };
        continues = line.ends_with('\\');
        joined += line.strip_suffix('\\').unwrap_or(line);
        if !continues {
            joined.push('\n');
        }
    }
    joined.replace("\\\"", "\"")
}

/// The fixed parts of a message, in order.
fn parts(message: &str) -> Vec<&str> {
    let parts = message.split(['…', '`']).map(str::trim);
    parts.filter(|part| part.len() >= 3).collect()
}

/// Returns true if the text has the parts in order, each at most `NEAR` bytes after the one before.
fn has(text: &str, parts: &[&str]) -> bool {
    const NEAR: usize = 250;
    let Some((first, rest)) = parts.split_first() else {
        return true;
    };
    text.match_indices(first).any(|(at, _)| {
        let mut end = at + first.len();
        rest.iter().all(|part| {
            let mut limit = (end + NEAR).min(text.len());
            while !text.is_char_boundary(limit) {
                limit -= 1;
            }
            let found = text[end..limit].find(part);
            end += found.map_or(0, |at| at + part.len());
            found.is_some()
        })
    })
}

#[test]
fn explained_messages_are_those_of_the_source() {
    let mut files = vec![];
    sources(&root().join("src"), &mut files);
    for entry in std::fs::read_dir(root().join("crates")).expect("the crates") {
        sources(&entry.expect("an entry").path().join("src"), &mut files);
    }
    let read = |path: &PathBuf| std::fs::read_to_string(path).expect("a source");
    let texts: Vec<String> = files.iter().map(|path| joined(&read(path))).collect();
    let page = read(&root().join("docs/guide/messages.md"));
    let quoted = page
        .lines()
        .filter_map(|line| line.strip_prefix("| `` ")?.split_once(" `` |"));
    let messages: Vec<&str> = quoted.map(|(message, _)| message).collect();
    let missing: Vec<&&str> = messages
        .iter()
        .filter(|message| {
            let parts = parts(message);
            parts.is_empty() || !texts.iter().any(|text| has(text, &parts))
        })
        .collect();
    assert!(missing.is_empty(), "no source has {missing:#?}");
    assert!(messages.len() >= 50, "{} messages", messages.len());
}

#[test]
fn changed_messages_are_found() {
    let source = "fn f() {\n    err(\"pass `{p}` reads {part}`{r}` \\\n         before it\")\n}\n";
    let text = joined(source);
    assert!(has(&text, &parts("pass `…` reads `…` before it")));
    assert!(!has(&text, &parts("pass `…` writes `…` before it")));
    assert!(!has(&text, &parts("before it … reads")));
    assert!(has("a \"b\" c", &parts("a \"b\"")));
}
