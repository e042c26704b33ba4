//! Signals to the command after the program that it captured.

use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

use crate::run::{command, scratch};

/// The program leaves a frame that the command cannot read to its end: a pipe, which the test opens once the command reads it.
#[test]
fn signals_end_the_command_once_the_program_has_ended() {
    let folder = scratch("captured before a signal");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    let manifest = r#"{"layer": {"library_path": "./libVkLayer_tileheap_capture.so"}}"#;
    std::fs::write(folder.join("VkLayer_tileheap_capture.json"), manifest).expect("a manifest");
    std::fs::write(folder.join("libVkLayer_tileheap_capture.so"), "").expect("a file");
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
