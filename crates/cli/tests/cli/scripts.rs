//! Runs the scripts of commands in `tests/data/commands`: they state the output and exit status of each command. Each script has its own folder, with
//! `frame.json` and `renderer.json`.
//!
//! ```text
//! # A comment.
//! << frame.csv                           a file, up to `>>`
//! id,lower,upper,size
//! >>
//! $ plan frame.json --json > plan.json   it succeeds, and its output is kept
//!   Totals                               a part of its output
//!   not batch 7                          not a part of its output
//!   /totals/tile_bytes = 0               a value of the document; also <= and >=
//! $2 plan - --color < frame.json        it ends with status 2 and one line with these parts
//!   --color
//! $3> gate frame.json --min-on-chip 90%  a negative answer, on standard output
//! set plan.json /passes/0/step = 9 > spoilt.json
//! replace frame.json albedo => color > other.json
//! same plan.json again.json
//! gone report.html                       there is no such file
//! open page.html 1200x900                in a browser; the following lines use this page, and functions of `page.js`
//! move middle('albedo')                  the mouse; `click` clicks there
//! press Tab Enter
//! told albedo,                           the start of the tooltip; without a text: it is hidden
//! hear searchbox Search                  role, and a part of the name, in the accessibility tree
//! js return all('figure').length ~> 2    the result of the body of a function
//! ```
//! `@` before an argument stands for the workspace's `tests/data`; the value `@/resources/0` copies the value there; no value removes.

use std::path::{Path, PathBuf};
use std::sync::MutexGuard;

use serde_json::Value;

use crate::browser::{Browser, browser};
use crate::report::RENDERER;
use crate::run::{FRAME, Run, json, scratch, shared, tileheap_in};

struct Script {
    folder: PathBuf,
    /// `None` until a page is opened.
    browser: Option<MutexGuard<'static, Browser>>,
}

impl Script {
    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.folder.join(name), text).expect("a file of a script");
    }

    fn command(&self, line: &str, expected: &[&str]) {
        let (status, line) = line.split_once(' ').expect("a command");
        let (line, kept) = line.split_once(" > ").unwrap_or((line, ""));
        let (line, input) = line.split_once(" < ").unwrap_or((line, ""));
        let input = if input.is_empty() {
            String::new()
        } else {
            self.read(input)
        };
        let data = |word: &str| word.strip_prefix('@').map_or_else(|| word.to_owned(), shared);
        let words: Vec<String> = line.split_whitespace().map(data).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let run: Run = tileheap_in(&self.folder, input.as_bytes(), &words);
        let said = match status {
            "" => run.good(),
            "3>" => run.denied(),
            status => run.bad(status.parse().expect("a status")),
        };
        for part in expected {
            if let Some(part) = part.strip_prefix("not ") {
                assert!(!said.contains(part), "{part} is in: {said}");
            } else if part.starts_with('/') {
                let [at, relation, value] = part.splitn(3, ' ').collect::<Vec<_>>()[..] else {
                    panic!("a place, a relation and a value: {part}");
                };
                let (found, wanted) = (json(&said).pointer(at).cloned(), Some(json(value)));
                let number =
                    |value: &Option<Value>| value.as_ref().and_then(Value::as_f64).expect("a number");
                let is_so = match relation {
                    "<=" => number(&found) <= number(&wanted),
                    ">=" => number(&found) >= number(&wanted),
                    _ => found == wanted,
                };
                assert!(is_so, "{part}: {found:?}");
            } else {
                assert!(said.contains(part), "{part} is not in: {said}");
            }
        }
        if !kept.is_empty() {
            self.write(kept, &said);
        }
    }

    /// Writes a document in which the value at a place is replaced, or removed; `-` appends to an array.
    fn set(&self, rest: &str) {
        let (rest, kept) = rest.split_once(" > ").expect("a file to write");
        let (from, rest) = rest.split_once(' ').expect("a place");
        let (place, value) = rest.split_once(" = ").unwrap_or((rest, ""));
        let mut document = json(&self.read(from));
        let value = match value.strip_prefix('@') {
            Some(other) => document.pointer(other).cloned(),
            None if value.is_empty() => None,
            None => Some(json(value)),
        };
        let (parent, last) = place.rsplit_once('/').expect("a place");
        match (document.pointer_mut(parent).expect("found"), value) {
            (Value::Object(fields), Some(value)) => _ = fields.insert(last.to_owned(), value),
            (Value::Object(fields), None) => _ = fields.remove(last),
            (Value::Array(all), Some(value)) if last == "-" => all.push(value),
            (Value::Array(all), Some(value)) => all[last.parse::<usize>().expect("an index")] = value,
            (other, _) => panic!("{place} in {other}"),
        }
        self.write(kept, &document.to_string());
    }

    fn replace(&self, rest: &str) {
        let (rest, kept) = rest.rsplit_once(" > ").expect("a file to write");
        let (from, rest) = rest.split_once(' ').expect("a text");
        let (old, new) = rest.split_once(" => ").expect("another text");
        let text = self.read(from);
        assert!(text.contains(old), "{old} is not in {from}");
        self.write(kept, &text.replacen(old, new, 1));
    }
}

impl Script {
    /// Opens a page; returns false if there is no browser.
    fn open(&mut self, rest: &str) -> bool {
        if self.browser.is_none() {
            self.browser = browser();
        }
        let Some(browser) = &mut self.browser else {
            return false;
        };
        browser.assert_no_faults();
        let (page, size) = rest.split_once(' ').expect("a size");
        let (width, height) = size.split_once('x').expect("a size");
        let side = |text: &str| text.parse().expect("pixels");
        let page = self.folder.join(page);
        browser.open(page.to_str().expect("UTF-8"), (side(width), side(height)));
        browser.run(include_str!("../data/page.js"));
        true
    }

    fn step(&mut self, verb: &str, rest: &str) {
        let browser = self.browser.as_mut().expect("an open page");
        match verb {
            "move" | "click" => {
                let place = browser.run(&format!("return {rest}"));
                let [x, y] = [0, 1].map(|side| place[side].as_f64().expect("a place"));
                if verb == "move" {
                    browser.move_mouse(x, y)
                } else {
                    browser.click(x, y)
                }
            }
            "press" => rest.split(' ').for_each(|key| browser.press(key)),
            "told" => {
                let told = browser.run("return told()");
                let told = told.as_str().expect("a text");
                assert!(
                    told.starts_with(rest) && told.is_empty() == rest.is_empty(),
                    "{told}"
                );
            }
            "hear" => {
                let (role, name) = rest.split_once(' ').unwrap_or((rest, ""));
                let spoken = browser.spoken();
                assert!(
                    spoken.iter().any(|told| told.0 == role && told.1.contains(name)),
                    "{spoken:?}"
                );
            }
            "js" => match rest.split_once(" ~> ") {
                Some((body, expected)) => assert_eq!(browser.run(body), json(expected)),
                None => _ = browser.run(rest),
            },
            other => panic!("{other}"),
        }
    }
}

fn run(path: &Path) {
    let name = path.file_stem().and_then(|name| name.to_str()).expect("a name");
    let folder = scratch(&format!("script of {name}"));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    let mut script = Script {
        folder,
        browser: None,
    };
    script.write("frame.json", FRAME);
    script.write("renderer.json", RENDERER);
    let text = std::fs::read_to_string(path).expect("a script");
    let mut lines = text.lines().zip(1..).peekable();
    while let Some((line, number)) = lines.next() {
        eprintln!("{name}:{number}: {line}");
        match line.split_once(' ').unwrap_or((line, "")) {
            ("" | "#", _) => {}
            ("<<", name) => {
                let body = lines.by_ref().map(|(line, _)| line);
                let body: Vec<&str> = body.take_while(|line| *line != ">>").collect();
                script.write(name, &body.join("\n"));
            }
            ("set", rest) => script.set(rest),
            ("replace", rest) => script.replace(rest),
            ("same", rest) => {
                let (one, other) = rest.split_once(' ').expect("two files");
                assert_eq!(script.read(one), script.read(other));
            }
            ("gone", rest) => assert!(!script.folder.join(rest).exists(), "{rest}"),
            ("open", rest) => {
                if !script.open(rest) {
                    return;
                }
            }
            (command, _) if command.starts_with('$') => {
                let mut expected = Vec::new();
                while let Some((part, _)) = lines.next_if(|(line, _)| line.starts_with("  ")) {
                    expected.push(part.trim());
                }
                script.command(&line[1..], &expected);
            }
            (verb, rest) => script.step(verb, rest),
        }
    }
    if let Some(browser) = &mut script.browser {
        browser.assert_no_faults();
    }
}

#[test]
fn commands_print_what_their_scripts_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/commands");
    let paths = std::fs::read_dir(folder)
        .expect("scripts")
        .map(|entry| entry.expect("a script").path());
    let paths: Vec<_> = paths
        .filter(|path| cfg!(feature = "onnx") || !path.ends_with("onnx.txt"))
        .collect();
    assert!(paths.len() >= 8, "{paths:?}");
    std::thread::scope(|scope| {
        for path in &paths {
            let thread = std::thread::Builder::new().name(path.display().to_string());
            thread.spawn_scoped(scope, move || run(path)).expect("a thread");
        }
    });
}
