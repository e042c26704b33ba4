//! The layer through the loader, under programs of this repository: `bash scripts/stage-capture.sh` stages it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tileheap::frame::tables::{PassKind, Version};
use tileheap::frame::{Frame, LoadOp};
use tileheap_capture::check::check;
use tileheap_capture::document::{Border, Capture, Inferred};
use tileheap_capture::{LAYER_NAME, settings};

/// Puts the layer under a program; `None`, and the test listed as skipped, where it is not staged.
fn captured(mut program: Command, folder: &Path, set: &[(&str, &str)]) -> Option<Output> {
    let layer = tileheap_testkit::workspace().join("target/capture");
    if !layer.join("VkLayer_tileheap_capture.json").is_file() {
        tileheap_testkit::skip("the capture layer is not staged: bash scripts/stage-capture.sh");
        return None;
    }
    let layers = LAYER_NAME.to_str().expect("ASCII");
    program
        .env("VK_ADD_LAYER_PATH", layer)
        .env("VK_INSTANCE_LAYERS", layers);
    program.env(settings::FOLDER, folder).envs(set.iter().copied());
    Some(program.output().expect("the program runs"))
}

fn folder(name: &str) -> PathBuf {
    let folder = tileheap_testkit::own_file(name);
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

fn read(path: &Path) -> (Frame, Capture) {
    let text = std::fs::read_to_string(path).expect("a document");
    let frame = Frame::from_json(&text).expect("a frame");
    let capture = Capture::from_json(&text)
        .expect("a document")
        .expect("what a capture adds");
    assert_eq!(
        (frame.passes().len(), frame.resources().len()),
        (capture.passes.len(), capture.resources.len())
    );
    (frame, capture)
}

#[test]
fn the_third_frame_of_deferred_is_the_one_that_it_describes() {
    let folder = folder("capture_deferred");
    let described = tileheap_testkit::own_file("described.json");
    let mut program = tileheap_testkit::example("deferred");
    program
        .args(["--frames", "3", "--size", "320x180", "--output"])
        .arg(tileheap_testkit::own_file("picture.png"));
    program.arg("--dump-frame").arg(&described);
    let Some(output) = captured(program, &folder, &[(settings::BORDER, "submits:1")]) else {
        return;
    };
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("frame-2.json"), "{said}");
    let (frame, capture) = read(&folder.join("frame-2.json"));
    let expected =
        Frame::from_json(&std::fs::read_to_string(described).expect("its own frame")).expect("a frame");
    assert_eq!((capture.border, capture.frame), (Border::Submits, 2));
    assert_eq!(capture.followed(), Some(1.0), "{:?}", capture.unresolved);
    let kinds = |frame: &Frame| -> Vec<(String, PassKind)> {
        frame
            .passes()
            .iter()
            .map(|pass| (pass.name.clone(), pass.kind))
            .collect()
    };
    assert_eq!(kinds(&frame), kinds(&expected));
    // Every access that it declares is there, of what has a name; the rest is what it does not declare: its own buffers.
    for access in expected.accesses() {
        let resource = &expected.resource(access.resource).name;
        let Some(same) = frame.resource_named(resource) else {
            continue;
        };
        let found = frame
            .accesses_of(access.pass)
            .iter()
            .find(|one| (one.resource, one.kind) == (same, access.kind));
        let found = found.unwrap_or_else(|| panic!("{access:?} of {resource}"));
        let of = |one: &tileheap::frame::tables::Access| {
            (one.reads, one.writes, one.version, one.load_op, one.range)
        };
        assert_eq!(of(found), of(access), "{resource}");
    }
    let history = frame
        .resource_named("resolved")
        .expect("two images that take turns are one resource");
    assert_eq!(capture.resources[history.index()].inferred, Inferred::History);
    assert!(
        frame
            .accesses_to(history)
            .any(|access| access.version == Version::Previous)
    );
    // The check does not tell the two copies of a history apart.
    let mut findings = check(&frame, &capture).expect("a capture of this frame");
    findings.retain(|finding| !finding.message.contains("`resolved`"));
    assert_eq!(findings, [], "its own synchronization covers it");
}

#[test]
fn a_program_that_ends_early_leaves_what_there_is() {
    let folder = folder("capture_forward");
    let Some(output) = captured(tileheap_testkit::example("forward"), &folder, &[]) else {
        return;
    };
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("the program ended before frame 2; frame 0 is written instead"),
        "{said}"
    );
    let (frame, capture) = read(&folder.join("frame-0.json"));
    assert_eq!(capture.border, Border::End);
    assert!(
        frame
            .accesses()
            .iter()
            .any(|access| matches!(access.load_op, LoadOp::Clear(_)))
    );
    assert!(capture.passes.iter().map(|pass| pass.vertices).sum::<u64>() > 0);
}

#[test]
fn a_folder_that_cannot_be_written_and_wrong_settings_are_named() {
    let folder = tileheap_testkit::own_file("not_a_folder");
    std::fs::write(&folder, "a file").expect("a file");
    let Some(output) = captured(tileheap_testkit::example("forward"), &folder, &[]) else {
        return;
    };
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && said.contains("cannot be written"),
        "{said}"
    );
    let wrong = captured(
        tileheap_testkit::example("forward"),
        &folder,
        &[(settings::FRAMES, "x")],
    );
    let said = wrong
        .map(|output| String::from_utf8_lossy(&output.stderr).into_owned())
        .unwrap_or_default();
    assert!(said.contains("nothing is captured"), "{said}");
}
