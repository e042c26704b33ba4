//! Signals to the command and to the program that it captures.

use std::fs::File;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::run::{FRAME, Run, command, contains, json, scratch};

/// A folder with the manifest of a layer that nothing loads, and a captured frame for shell scripts that stand for programs.
fn folder_with_layer(name: &str) -> PathBuf {
    let folder = scratch(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    let manifest = r#"{"layer": {"library_path": "./libVkLayer_tileheap_capture.so"}}"#;
    let mut captured = json(FRAME);
    captured["capture"] = json(r#"{"version": 2, "program": "game", "device": "a device"}"#);
    for (file, text) in [
        ("VkLayer_tileheap_capture.json", manifest),
        ("libVkLayer_tileheap_capture.so", ""),
        ("captured.json", &captured.to_string()),
    ] {
        std::fs::write(folder.join(file), text).expect("a file");
    }
    folder
}

/// Captures a shell script.
fn capture(folder: &Path, options: &[&str], script: &str) -> Command {
    let mut capture = command();
    capture.args(["capture", "--layers", ".", "--no-open", "--output", "new"]);
    capture.args(options).args(["--", "sh", "-c", script]);
    capture.current_dir(folder).stdin(Stdio::null());
    capture
}

/// The part of a script that leaves frame 4.
const FRAME_4: &str = "cp captured.json \"$VK_TILEHEAP_CAPTURE_FOLDER/frame-4.json\"";
/// The part of a script that creates a device.
const DEVICE: &str = "echo 'device `x` was created' >> \"$VK_TILEHEAP_CAPTURE_FOLDER/capture.log\"";

#[test]
fn a_capture_without_a_frame_says_how_the_program_ended() {
    let folder = folder_with_layer("ends of programs");
    for (options, script, part) in [
        (&[][..], "exit 127", "the program failed with status 127: "),
        (&[], "kill -s TERM $$", "signal 15 (SIGTERM) ended the program: "),
        (
            &[],
            &format!("{DEVICE}; kill -s SEGV $$"),
            "signal 11 (SIGSEGV) ended the program: it created a Vulkan device, but submitted no passes",
        ),
        (
            &["--frames", "50"],
            &format!("{DEVICE}; exit 1"),
            "the program failed with status 1: it created a Vulkan device, but frame 50 did not begin",
        ),
        (&[], "true", "the program ended with status 0: "),
    ] {
        let output = capture(&folder, options, script).output();
        let run = Run::new(&output.expect("it starts"));
        run.names(1, &["no frame of `sh` was captured: ", part]);
        assert!(!folder.join("new").exists(), "{script}");
    }
}

/// A failed program may have been meant to fail, or fails at its end; a signal or a missing frame is a failure. The report is written in either case.
#[test]
fn a_signal_or_a_missing_frame_makes_a_capture_fail_but_keeps_its_report() {
    let folder = folder_with_layer("incomplete captures");
    let not_captured = "was not captured, because the program ended before it; frame 4 was captured instead";
    for (options, end, status, message, notice) in [
        (&[][..], "exit 0", 0, "", ""),
        (&[], "exit 7", 0, "the program failed with status 7", ""),
        (&["--frames", "4"], "exit 0", 0, "", ""),
        (
            &[],
            "kill -s SEGV $$",
            1,
            "signal 11 (SIGSEGV) ended the program",
            "Signal 11",
        ),
        (&["--frames", "50"], "exit 0", 1, not_captured, not_captured),
        (
            &["--frames", "4..6"],
            "exit 0",
            1,
            "frame 5 was not captured, because the program ended before it",
            "Frame 5",
        ),
    ] {
        let output = capture(&folder, options, &format!("{FRAME_4}; {end}")).output();
        let run = Run::new(&output.expect("it starts"));
        assert_eq!(run.status, status, "{options:?}, {end}: {}", run.err);
        assert_eq!(run.err.is_empty(), message.is_empty(), "{}", run.err);
        contains(run.err, &[message]);
        contains(
            run.out,
            &["A frame moves", notice, "new/frame-4.json", "new/report.html"],
        );
        let report = std::fs::read_to_string(folder.join("new/report.json")).expect("a report");
        let report = &json(&report)[0];
        assert_eq!(report["program"]["status"].is_null(), end.starts_with("kill"));
        let written = report["notice"].as_str().unwrap_or_default();
        assert!(
            written.contains(notice) && written.is_empty() == notice.is_empty(),
            "{report}"
        );
    }
}

#[test]
fn the_files_of_a_capture_are_written_before_its_report_is_printed() {
    let folder = folder_with_layer("unread reports");
    for is_full in [false, true] {
        let mut unread = capture(&folder, &[], FRAME_4);
        let unread = unread.stdout(match is_full {
            true => File::options()
                .write(true)
                .open("/dev/full")
                .expect("a device")
                .into(),
            false => Stdio::piped(),
        });
        let mut unread = unread.stderr(Stdio::piped()).spawn().expect("it starts");
        drop(unread.stdout.take());
        let run = Run::new(&unread.wait_with_output().expect("it ends"));
        let error = "tileheap: cannot write to standard output: No space left on device (os error 28)\n";
        let expected = if is_full { (1, error) } else { (0, "") };
        assert_eq!((run.status, &*run.err), expected);
        for file in ["report.html", "report.json"] {
            std::fs::remove_file(folder.join("new").join(file)).expect(file);
        }
    }
}

/// Also after a capture that left its lock because it was killed.
#[test]
fn two_commands_do_not_capture_to_one_folder() {
    let folder = folder_with_layer("two captures");
    std::fs::create_dir(folder.join("new")).expect("a folder");
    std::fs::write(folder.join("new/capture.lock"), "").expect("a file");
    let script = format!("{FRAME_4}; until [ -e done ]; do sleep 0.01; done");
    let mut first = capture(&folder, &[], &script)
        .stdout(Stdio::null())
        .spawn()
        .expect("it starts");
    while !folder.join("new/frame-4.json").exists() {
        assert!(first.try_wait().expect("its status").is_none(), "it ended");
        std::thread::yield_now();
    }
    let second = capture(&folder, &[], "true").output().expect("it starts");
    Run::new(&second).names(1, &["another `tileheap capture` is writing to `new`"]);
    assert!(folder.join("new/frame-4.json").exists());
    std::fs::write(folder.join("done"), "").expect("a file");
    assert!(first.wait().expect("it ends").success());
    assert!(!folder.join("new/capture.lock").exists());
}

/// In a process group of its own, the command is not in the foreground of a terminal, which would send Ctrl-C to the program as well.
#[test]
fn an_interrupt_of_the_command_ends_the_program() {
    let folder = folder_with_layer("interrupted");
    let mut interrupted = capture(&folder, &[], &format!("{FRAME_4}; exec sleep 1000"));
    interrupted
        .process_group(0)
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut interrupted = interrupted.spawn().expect("it starts");
    while !folder.join("new/frame-4.json").exists() {
        assert!(interrupted.try_wait().expect("its status").is_none(), "it ended");
        std::thread::yield_now();
    }
    let sent = Command::new("kill")
        .args(["-s", "INT", &interrupted.id().to_string()])
        .status();
    assert!(sent.expect("a signal is sent").success());
    let run = Run::new(&interrupted.wait_with_output().expect("it ends"));
    assert_eq!(run.status, 1, "{}", run.err);
    contains(run.err, &["signal 2 (SIGINT) ended the program"]);
}

/// The program leaves a frame that the command cannot read to its end: a pipe, which the test opens once the command reads it.
#[test]
fn signals_end_the_command_once_the_program_has_ended() {
    let folder = folder_with_layer("captured before a signal");
    for (name, signal) in [("INT", 2), ("TERM", 15), ("HUP", 1), ("QUIT", 3)] {
        let frame = format!("frames-{name}/frame-0.json");
        let mut planning = command()
            .args(["capture", "--layers", ".", "--no-open", "--output"])
            .arg(format!("frames-{name}"))
            .args([
                "--",
                "sh",
                "-c",
                "mkfifo \"$VK_TILEHEAP_CAPTURE_FOLDER/frame-0.json\"",
            ])
            .current_dir(&folder)
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the command starts");
        while !folder.join(&frame).exists() {
            assert!(
                planning.try_wait().expect("its status").is_none(),
                "{name}: it ended"
            );
            std::thread::yield_now();
        }
        let unread = File::options()
            .write(true)
            .open(folder.join(&frame))
            .expect("the pipe");
        let sent = Command::new("kill")
            .args(["-s", name, &planning.id().to_string()])
            .status();
        assert!(sent.expect("a signal is sent").success());
        // It would end with an error about an empty frame if it ignored the signal.
        drop(unread);
        let ended = planning.wait().expect("it ends");
        assert_eq!(ended.signal(), Some(signal), "{name}: {ended}");
    }
}
