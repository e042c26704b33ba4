//! Outputs of the command that the README and the guide show are current; `TILEHEAP_GOLDEN=write` writes them again.
//!
//! A mark names the command, and the fence after it shows lines of its output, in order; `…` stands for any number of lines:
//!
//! ```text
//! <!-- run: tileheap plan tests/data/frames/qualcomm_tile_memory_sample.json -->
//! ```

use std::path::{Path, PathBuf};

use crate::run::tileheap_in;
use crate::support::workspace;

const GAP: &str = "…";

/// The lines of `shown` as `output` has them now. Lines between gaps are found by the text of the first one before its first digit.
fn current(shown: &[&str], output: &str) -> Vec<String> {
    let mut rest = output.lines();
    let mut lines = Vec::new();
    for (index, part) in shown.split(|line| *line == GAP).enumerate() {
        if index > 0 {
            lines.push(GAP.to_owned());
        }
        let Some(first) = part.first() else { continue };
        let key = first
            .split(|c: char| c.is_ascii_digit())
            .next()
            .unwrap_or_default();
        let found = rest
            .by_ref()
            .find(|line| line.starts_with(key))
            .unwrap_or_else(|| panic!("no line starts with `{key}`, in order: {output}"));
        lines.push(found.to_owned());
        lines.extend(rest.by_ref().take(part.len() - 1).map(str::to_owned));
    }
    lines
}

/// The page with the current output after each mark, and the number of marks.
fn with_outputs(text: &str, run: impl Fn(&str) -> String) -> (String, usize) {
    let (mut written, mut marks) = (String::new(), 0);
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        written += line;
        written.push('\n');
        let Some(command) = line
            .strip_prefix("<!-- run: ")
            .and_then(|rest| rest.strip_suffix(" -->"))
        else {
            continue;
        };
        let fence = lines.next();
        assert_eq!(fence, Some("```text"), "no fence after {line}");
        let shown: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        assert!(!shown.is_empty(), "{line} shows nothing");
        let now = current(&shown, &run(command)).join("\n");
        written += &format!("```text\n{now}\n```\n");
        marks += 1;
    }
    (written, marks)
}

fn pages() -> Vec<PathBuf> {
    let guide = workspace().join("docs/guide");
    let entries = std::fs::read_dir(guide).expect("the guide");
    let mut pages: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    pages.retain(|path| path.extension().is_some_and(|end| end == "md"));
    pages.push(workspace().join("README.md"));
    pages.sort();
    pages
}

#[test]
fn outputs_in_the_readme_and_the_guide_are_current() {
    let run = |command: &str| {
        let words: Vec<&str> = command.split_whitespace().collect();
        assert_eq!(words[0], "tileheap", "{command}");
        tileheap_in(workspace(), b"", &words[1..]).good()
    };
    let write = std::env::var_os("TILEHEAP_GOLDEN").is_some_and(|value| value == "write");
    let mut marks = 0;
    for path in pages() {
        let text = std::fs::read_to_string(&path).expect("a page");
        let (written, found) = with_outputs(&text, run);
        marks += found;
        if write {
            std::fs::write(&path, &written).expect("the page can be written");
        }
        let differs = text
            .lines()
            .zip(written.lines())
            .find(|(is, should)| is != should);
        assert!(
            write || text == written,
            "{}: TILEHEAP_GOLDEN=write writes it again: {differs:?}",
            Path::new(&path).display()
        );
    }
    assert!(marks >= 2, "{marks} marks");
}

#[test]
fn changed_figures_are_written_and_missing_lines_are_named() {
    let page = "<!-- run: tileheap plan x -->\n```text\n…\nTotals, 6 passes\n  traffic 10 B\n…\n```\nend\n";
    let output = "Frame\n\nTotals, 7 passes\n  traffic 12 B\nlast\n";
    let (written, marks) = with_outputs(page, |command| {
        assert_eq!(command, "tileheap plan x");
        output.to_owned()
    });
    assert_eq!(marks, 1);
    assert_eq!(
        written,
        page.replace("6 passes", "7 passes").replace("10 B", "12 B")
    );
    let missing = std::panic::catch_unwind(|| current(&["Sums, 6 passes"], output)).unwrap_err();
    let message = missing.downcast_ref::<String>().expect("a message");
    assert!(message.contains("no line starts with `Sums, `"), "{message}");
}
