//! The guide matches its sources: the diffs between the steps of `examples/forward` and of
//! `examples/cpp/guide`, the C++ program, the list of chapters.
//!
//! `TILEHEAP_REWRITE=1 cargo test -p tileheap --test examples` writes the sources into the guide.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use similar::TextDiff;
use tileheap::profile::DeviceProfile;
use tileheap::units::Bytes;

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

/// A chapter that converts a program in steps, and the folder of the program: `step_N` has the files that step N changes.
struct Chapter {
    path: &'static str,
    folder: &'static str,
}

const CHAPTERS: [Chapter; 2] = [
    Chapter {
        path: "docs/guide/integrate.md",
        folder: "examples/forward",
    },
    Chapter {
        path: "docs/guide/cpp.md",
        folder: "examples/cpp/guide",
    },
];

impl Chapter {
    /// The files that later steps change, as `step_1/gpu.rs`.
    fn changed(&self) -> BTreeSet<String> {
        let steps = (1..).map(|step| format!("step_{step}"));
        let folders = steps.map(|step| (root().join(self.folder).join(&step), step));
        let there = folders.take_while(|(folder, _)| folder.is_dir());
        there
            .flat_map(|(folder, step)| {
                names(folder)
                    .into_iter()
                    .map(move |file| format!("{step}/{file}"))
            })
            .collect()
    }

    /// The diff between a step's file and the newest earlier one: all of it, or the hunks that contain a text.
    fn difference(&self, changed: &str, text: Option<&str>) -> String {
        let (step, file) = changed.split_once('/').expect("a step and a file");
        let step: u32 = step
            .strip_prefix("step_")
            .and_then(|step| step.parse().ok())
            .expect("a number");
        let earlier = (0..step).rev().map(|step| format!("step_{step}/{file}"));
        let before = earlier
            .map(|path| format!("{}/{path}", self.folder))
            .find(|path| root().join(path).is_file());
        let to = format!("{}/{changed}", self.folder);
        let (old, new) = (before.as_deref().map_or_else(String::new, read), read(&to));
        let from = before.unwrap_or_else(|| "/dev/null".to_owned());
        let mut written = format!("--- {from}\n+++ {to}\n");
        let diff = TextDiff::from_lines(&old, &new);
        let mut shown = 0;
        for hunk in diff.unified_diff().context_radius(3).iter_hunks() {
            let hunk = hunk.to_string();
            if text.is_none_or(|text| hunk.contains(text)) {
                written += &hunk;
                shown += 1;
            }
        }
        assert!(shown > 0, "{to}: no hunk contains {text:?}");
        written
    }

    /// The lines of a file from the first one that contains a text to the next empty line.
    fn part(&self, file: &str, text: &str) -> String {
        let path = format!("{}/{file}", self.folder);
        let program = read(&path);
        let lines = program.lines().skip_while(|line| !line.contains(text));
        let part: String = lines
            .take_while(|line| !line.is_empty())
            .map(|line| format!("{line}\n"))
            .collect();
        assert!(!part.is_empty(), "{path}: no line contains {text:?}");
        part
    }

    /// The source that belongs after a mark line of the guide, in fences, and its file:
    ///
    /// - `<!-- diff: step_1/gpu.rs -->`: the diff from the previous step;
    /// - `<!-- diff: step_1/gpu.rs, hunks with TEXT -->`: the hunks of the diff that contain the text;
    /// - `<!-- part: step_1/gpu.rs, from TEXT -->`: lines of the file, from the first with the text to the next empty one.
    fn shown<'a>(&self, line: &'a str) -> Option<(&'a str, String)> {
        let mark = line.strip_prefix("<!-- ")?.strip_suffix(" -->")?;
        let (kind, rest) = mark.split_once(": ")?;
        let (file, rest) = rest
            .split_once(", ")
            .map_or((rest, None), |(file, rest)| (file, Some(rest)));
        let text = |words: &str| {
            rest.map(|rest| {
                rest.strip_prefix(words)
                    .unwrap_or_else(|| panic!("{line}: not `{words}`"))
            })
        };
        let source = match kind {
            "diff" => format!("```diff\n{}```\n", self.difference(file, text("hunks with "))),
            "part" => {
                let text = text("from ").unwrap_or_else(|| panic!("{line}: from which line?"));
                let part = self.part(file, text);
                // Rust's parts do not compile by themselves: they are shown as additions.
                let added = |line| format!("+{line}\n");
                match file.ends_with(".rs") {
                    true => format!("```diff\n{}```\n", part.lines().map(added).collect::<String>()),
                    false => format!("```cpp\n{part}```\n"),
                }
            }
            _ => return None,
        };
        Some((file, source))
    }

    /// The guide with the current source after each mark, and the files.
    fn with_sources(&self, text: &str) -> (String, BTreeSet<String>) {
        let (mut written, mut files) = (String::new(), BTreeSet::new());
        let mut lines = text.lines().peekable();
        while let Some(line) = lines.next() {
            written += line;
            written.push('\n');
            let Some((file, source)) = self.shown(line) else {
                continue;
            };
            if lines.peek().is_some_and(|next| next.starts_with("```")) {
                // Skips the old source, up to its closing fence: no source line starts with one.
                let _old = lines.by_ref().find(|line| *line == "```");
            }
            written += &source;
            files.insert(file.to_owned());
        }
        (written, files)
    }
}

#[test]
fn the_guide_shows_what_every_step_changes() {
    for chapter in CHAPTERS {
        let path = chapter.path;
        let text = read(path);
        let (written, files) = chapter.with_sources(&text);
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
        let there = chapter.changed();
        let missing: Vec<&String> = there.difference(&files).collect();
        assert!(missing.is_empty(), "{path} shows nothing of {missing:?}");
        assert!(there.len() >= 6, "{there:?}");
    }
}

#[test]
fn sources_are_found_again() {
    let [forward, cpp] = CHAPTERS;
    let cases = [
        (
            &forward,
            "step_4/seen.rs",
            "<!-- diff: step_4/seen.rs -->",
            "-    let batch = frame.batch(submit);",
        ),
        (
            &cpp,
            "step_3/renderer.hpp",
            "<!-- diff: step_3/renderer.hpp, hunks with bind_tile_memory(commands, SHADOW) -->",
            "+        bind_tile_memory(commands, SHADOW);",
        ),
        (
            &cpp,
            "step_4/renderer.hpp",
            "<!-- part: step_4/renderer.hpp, from Waits for a frame in flight -->",
            "    void wait(uint32_t slot) const",
        ),
    ];
    for (chapter, file, mark, line) in cases {
        let (once, files) = chapter.with_sources(&format!("a\n{mark}\nb\n"));
        assert_eq!(files, BTreeSet::from([file.to_owned()]));
        assert!(once.contains(line), "{once}");
        assert!(once.starts_with("a\n") && once.ends_with("```\nb\n"), "{once}");
        assert_eq!(chapter.with_sources(&once).0, once);
    }
    let some = cpp.difference("step_3/renderer.hpp", Some("bind_tile_memory(commands, SHADOW)"));
    assert!(some.len() < cpp.difference("step_3/renderer.hpp", None).len());
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

/// Each chapter is compiled, and listed in the index and in the book.
#[test]
fn chapters_are_modules_and_listed() {
    let (modules, list) = (read("examples/support/lib.rs"), read("docs/guide/README.md"));
    let book = read("docs/SUMMARY.md");
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
        assert!(
            book.contains(&format!("](guide/{chapter})")),
            "{chapter} is not in the book"
        );
    }
}

#[test]
fn the_profile_in_the_guide_is_read_and_no_field_can_be_left_out() {
    let page = read("docs/guide/measuring.md");
    let (_, rest) = page.split_once("```json\n").expect("a profile");
    let (text, _) = rest.split_once("```\n").expect("its end");
    let profile = DeviceProfile::from_json(text).expect("a valid profile");
    assert_eq!(profile.tile.expect("a tile heap").size, Bytes(8_355_840));
    let document: serde_json::Value = serde_json::from_str(text).expect("JSON");
    for field in document.as_object().expect("an object").keys() {
        let mut without = document.clone();
        without.as_object_mut().expect("an object").remove(field);
        let is_optional = ["source", "tile"].contains(&field.as_str());
        assert_eq!(
            DeviceProfile::from_json(&without.to_string()).is_ok(),
            is_optional,
            "{field}"
        );
    }
}
