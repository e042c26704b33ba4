//! Running the command.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// What a run of the command came to.
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

    /// Standard output of a run that went well and had nothing to complain about.
    pub(crate) fn good(self) -> String {
        assert_eq!((self.status, self.err.as_str()), (0, ""), "{}", self.out);
        self.out
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

/// The command, on the test bed's libraries where a run of the tests asks for them.
pub(crate) fn command() -> Command {
    let program = env!("CARGO_BIN_EXE_tileheap");
    match std::env::var_os("TILEHEAP_RUNNER") {
        None => Command::new(program),
        Some(runner) => {
            let mut command = Command::new(runner);
            command.arg(program);
            command
        }
    }
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

/// The same with a text on standard input.
pub(crate) fn tileheap_with(input: &[u8], arguments: &[&str]) -> Run {
    let mut child = command()
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    // A command that needs no input may be gone before it is written.
    let _ = stdin.write_all(input);
    drop(stdin);
    Run::new(&child.wait_with_output().expect("the command ends"))
}

/// A path for a file of a test, which names it so that tests do not meet.
pub(crate) fn scratch(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    std::fs::create_dir_all(&folder).expect("a folder for scratch files");
    folder.join(name)
}

/// A file of a test with this text.
pub(crate) fn file(name: &str, text: &str) -> String {
    let path = scratch(name);
    std::fs::write(&path, text).expect("a scratch file");
    path.to_str().expect("a path in UTF-8").to_owned()
}

pub(crate) fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON on standard output")
}

/// Two passes: one draws albedo and depth, one reads them and writes the swapchain.
pub(crate) const FRAME: &str = r#"{
  "format": "tileheap-frame", "version": 2, "name": "two passes", "base_extent": [1280, 720],
  "queues": [{ "name": "graphics", "capabilities": ["VK_QUEUE_GRAPHICS_BIT"] }],
  "resources": [
    { "name": "albedo", "image": { "format": "VK_FORMAT_R8G8B8A8_UNORM", "scale": [1.0, 1.0] } },
    { "name": "hdr", "image": { "format": "VK_FORMAT_R16G16B16A16_SFLOAT", "scale": [0.5, 0.5] } }
  ],
  "submits": [{ "queue": "graphics", "batches": [{ "command_buffers": [{ "name": "scene", "passes": [
    { "name": "gbuffer", "kind": "render", "accesses": [
      { "resource": "albedo", "kind": "color_attachment", "writes": true, "load_op": { "clear": { "float": [0, 0, 0, 1] } } }
    ] },
    { "name": "lighting", "kind": "render", "accesses": [
      { "resource": "albedo", "kind": "sampled_image", "reads": true },
      { "resource": "hdr", "kind": "color_attachment", "writes": true, "load_op": "dont_care" }
    ] },
    { "name": "expose", "kind": "compute", "accesses": [
      { "resource": "hdr", "kind": "sampled_image", "reads": true }
    ] }
  ] }] }] }]
}"#;
