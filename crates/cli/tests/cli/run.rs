//! Running the command.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// The result of a run of the command.
pub(crate) struct Run {
    pub(crate) status: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Run {
    pub(crate) fn new(output: &Output) -> Run {
        Run {
            status: output
                .status
                .code()
                .expect("the command was not killed by a signal"),
            out: String::from_utf8(output.stdout.clone()).expect("UTF-8 on standard output"),
            err: String::from_utf8(output.stderr.clone()).expect("UTF-8 on standard error"),
        }
    }

    /// Standard output of a successful run without messages on standard error.
    pub(crate) fn good(self) -> String {
        assert_eq!((self.status, self.err.as_str()), (0, ""), "{}", self.out);
        self.out
    }

    /// Standard output of a run with a negative answer, without messages on standard error.
    pub(crate) fn denied(self) -> String {
        assert_eq!((self.status, self.err.as_str()), (3, ""), "{}", self.out);
        self.out
    }

    /// [`Run::good`], with these parts.
    pub(crate) fn shows(self, parts: &[&str]) -> String {
        contains(self.good(), parts)
    }

    /// [`Run::bad`], with these parts.
    pub(crate) fn names(self, status: i32, parts: &[&str]) -> String {
        contains(self.bad(status), parts)
    }

    /// The one line on standard error of a run that failed with `status` and printed nothing.
    pub(crate) fn bad(self, status: i32) -> String {
        assert_eq!((self.status, self.out.as_str()), (status, ""), "{}", self.err);
        assert!(
            self.err.starts_with("tileheap: ") && self.err.ends_with('\n'),
            "{}",
            self.err
        );
        assert_eq!(self.err.lines().count(), 1, "{}", self.err);
        assert!(!self.err.contains("panicked"), "{}", self.err);
        self.err.trim_end().to_owned()
    }
}

pub(crate) fn contains(text: String, parts: &[&str]) -> String {
    for part in parts {
        assert!(text.contains(part), "{part} is not in: {text}");
    }
    text
}

pub(crate) fn command() -> Command {
    tileheap_testkit::runnable(env!("CARGO_BIN_EXE_tileheap"))
}

pub(crate) fn tileheap(arguments: &[&str]) -> Run {
    Run::new(
        &command()
            .args(arguments)
            .stdin(Stdio::null())
            .output()
            .expect("the command starts"),
    )
}

/// Runs the command with text on standard input.
pub(crate) fn tileheap_with(input: &[u8], arguments: &[&str]) -> Run {
    tileheap_in(".".as_ref(), input, arguments)
}

/// Runs the command in a folder, with text on standard input.
pub(crate) fn tileheap_in(folder: &Path, input: &[u8], arguments: &[&str]) -> Run {
    let mut child = command()
        .current_dir(folder)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    // A command that needs no input may end before it is written.
    let _ = stdin.write_all(input);
    drop(stdin);
    Run::new(&child.wait_with_output().expect("the command ends"))
}

/// The path of a scratch file; each test chooses its own names, so that tests do not overwrite each other's files.
pub(crate) fn scratch(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    std::fs::create_dir_all(&folder).expect("a folder for scratch files");
    folder.join(name)
}

/// The same as text.
pub(crate) fn place(name: &str) -> String {
    scratch(name).to_str().expect("a path in UTF-8").to_owned()
}

pub(crate) fn file(name: &str, text: &str) -> String {
    std::fs::write(scratch(name), text).expect("a scratch file");
    place(name)
}

/// A file of `tests/data` of the workspace.
pub(crate) fn shared(name: &str) -> String {
    let path = crate::support::data(name);
    path.to_str().expect("a path in UTF-8").to_owned()
}

/// The frames of `tests/data` of the workspace.
pub(crate) fn shared_frames() -> Vec<String> {
    let entries = std::fs::read_dir(shared("frames")).expect("a folder of frames");
    let paths = entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"));
    let mut paths: Vec<_> = paths
        .map(|path| path.to_str().expect("a path in UTF-8").to_owned())
        .collect();
    paths.sort();
    assert!(!paths.is_empty());
    paths
}

pub(crate) fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON on standard output")
}

pub(crate) fn planned(frame: &str, options: &[&str]) -> Value {
    json(&tileheap(&[&["plan", frame, "--json"], options].concat()).good())
}

pub(crate) fn number(value: &Value) -> u64 {
    value.as_u64().expect("a number")
}

pub(crate) fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

/// The first element of a list whose field at `pointer` equals `wanted`.
pub(crate) fn find<'a>(all: &'a Value, pointer: &str, wanted: &Value) -> &'a Value {
    let found = list(all).iter().find(|one| one.pointer(pointer) == Some(wanted));
    found.unwrap_or_else(|| panic!("{pointer} is nowhere {wanted}"))
}

/// Three passes: one draws albedo, one reads it and writes hdr, one reads that.
pub(crate) const FRAME: &str = include_str!("../data/three_passes.json");
