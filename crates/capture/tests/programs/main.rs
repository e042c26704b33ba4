//! Runs programs of this repository with the layer through the loader; `bash scripts/stage-capture.sh` stages the layer.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tileheap::frame::tables::{Access, HistoryVersion, PassKind};
use tileheap::frame::{BatchId, Frame};
use tileheap_capture::check::check;
use tileheap_capture::document::{Capture, FrameBoundary, InferredLifetime};
use tileheap_capture::{LAYER, LAYER_NAME, settings};

#[cfg(unix)]
mod android;
mod order;
mod small;

/// Runs a program with the layer and some settings; returns `None`, and lists the test as skipped, if the layer is not staged.
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
    program.env(LAYER.variable(settings::FOLDER), folder);
    program.envs(set.iter().map(|(key, value)| (LAYER.variable(key), value)));
    // Programs write their pictures to the current folder, which must not be in the sources.
    program.current_dir(folder.parent().expect("a folder in target"));
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

/// Returns the kind and batch of each pass.
fn passes(frame: &Frame) -> Vec<(PassKind, BatchId)> {
    let of = |pass| (frame.pass(pass).kind, frame.batch_of(pass));
    frame.pass_ids().map(of).collect()
}

/// Compares every pass with its batch, and every declared access with its reads and writes, operation and part; a resource must correspond to the
/// same one throughout.
fn assert_same(frame: &Frame, expected: &Frame) {
    assert_eq!(passes(frame), passes(expected));
    let mut same = BTreeMap::new();
    for access in expected.accesses() {
        let of = |one: &Access| {
            (
                one.kind,
                one.reads,
                one.writes,
                one.version,
                one.load_op,
                one.range,
            )
        };
        let known = same.get(&access.resource).copied();
        let found = frame.accesses_of(access.pass).iter().find(|one| {
            let fits = known.map_or(!same.values().any(|taken| *taken == one.resource), |known| {
                known == one.resource
            });
            fits && of(one) == of(access)
        });
        let name = &expected.resource(access.resource).name;
        let found = found.unwrap_or_else(|| panic!("{access:?} of {name} as {known:?}"));
        same.insert(access.resource, found.resource);
    }
}

fn own_frame(path: &Path) -> Frame {
    let text = std::fs::read_to_string(path).expect("its own frame");
    Frame::from_json(&text).expect("a frame")
}

/// Checks that the frame's own synchronization orders every access.
fn assert_no_mistakes(name: &str, capture: &Capture) {
    let report = check(&capture.recording).expect("a recording");
    assert!(report.checked > 0, "{name}");
    assert_eq!(report.findings, [], "{name}");
}

const EACH_SUBMIT: (&str, &str) = (settings::BORDER, "submits:1");

#[test]
fn the_third_frame_of_deferred_is_the_one_that_it_describes() {
    let folder = folder("capture_deferred");
    let described = tileheap_testkit::own_file("described.json");
    let mut program = tileheap_testkit::example("deferred");
    program
        .args(["--frames", "4", "--size", "320x180", "--output"])
        .arg(tileheap_testkit::own_file("picture.png"));
    program.arg("--dump-frame").arg(&described);
    let Some(output) = captured(program, &folder, &[EACH_SUBMIT, (settings::FRAMES, "2")]) else {
        return;
    };
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("frame-2.json"), "{said}");
    let (frame, capture) = read(&folder.join("frame-2.json"));
    assert_eq!((capture.border, capture.frame), (FrameBoundary::Submits, 2));
    assert!(capture.compared, "with the fourth frame");
    assert_eq!(capture.wasted, [], "it stores nothing that nothing reads");
    assert_eq!(capture.followed(), Some(1.0), "{:?}", capture.unresolved);
    let expected = own_frame(&described);
    assert_same(&frame, &expected);
    let names =
        |frame: &Frame| -> Vec<String> { frame.passes().iter().map(|pass| pass.name.clone()).collect() };
    assert_eq!(names(&frame), names(&expected));
    assert!(capture.passes.iter().map(|pass| pass.vertices).sum::<u64>() > 0);
    let history = frame
        .resource_named("resolved")
        .expect("two images that take turns are one resource");
    assert_eq!(
        capture.resources[history.index()].inferred,
        InferredLifetime::History
    );
    assert!(
        frame
            .accesses_to(history)
            .any(|access| access.version == HistoryVersion::Previous)
    );
    assert_no_mistakes("deferred", &capture);
}

#[test]
fn what_forward_and_network_submit_is_what_they_describe() {
    for (name, arguments) in [
        ("forward", &["--step", "3"][..]),
        ("forward", &["--step", "4"]),
        ("network", &["--tile", "--model", "lstm"]),
    ] {
        let folder = folder("capture_described");
        let described = tileheap_testkit::own_file("described_too.json");
        let run = || {
            let mut program = tileheap_testkit::example(name);
            program.args(arguments);
            program
        };
        let mut dumping = run();
        dumping.arg("--dump-frame").arg(&described);
        assert!(dumping.status().expect("it runs").success(), "{name}");
        let expected = own_frame(&described);
        if captured(run(), &folder, &[EACH_SUBMIT, (settings::FRAMES, "0..40")]).is_none() {
            return;
        }
        let documents = std::fs::read_dir(&folder)
            .expect("the folder")
            .flatten()
            .filter(|file| file.path().extension().is_some_and(|kind| kind == "json"));
        let (frame, capture) = documents
            .map(|file| read(&file.path()))
            .find(|(frame, _)| passes(frame) == passes(&expected))
            .unwrap_or_else(|| panic!("{name} has no such frame"));
        assert_eq!(capture.followed(), Some(1.0), "{:?}", capture.unresolved);
        assert_same(&frame, &expected);
        assert_no_mistakes(name, &capture);
    }
}

#[test]
fn every_pass_of_a_frame_is_timed_and_the_frame_stays_the_same() {
    let run = |name: &str, timestamps: &str| {
        let folder = folder(name);
        let mut program = tileheap_testkit::example("deferred");
        program
            .args(["--frames", "4", "--size", "320x180", "--output"])
            .arg(tileheap_testkit::own_file(&format!("{name}.png")));
        let set = [
            EACH_SUBMIT,
            (settings::FRAMES, "2"),
            (settings::TIMESTAMPS, timestamps),
        ];
        let output = captured(program, &folder, &set)?;
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        let picture = std::fs::read(tileheap_testkit::own_file(&format!("{name}.png"))).expect("a picture");
        Some((read(&folder.join("frame-2.json")), picture))
    };
    let (Some(timed), Some(plain)) = (run("capture_timed", "true"), run("capture_untimed", "false")) else {
        return;
    };
    assert_same(&timed.0.0, &plain.0.0);
    assert_eq!(timed.1, plain.1, "the pictures");
    let times = |capture: &Capture| -> Vec<Option<u64>> {
        capture.passes.iter().map(|pass| pass.nanoseconds).collect()
    };
    assert!(times(&plain.0.1).iter().all(Option::is_none));
    let times = times(&timed.0.1);
    assert!(
        times.iter().all(|time| time.is_some_and(|time| time > 0)),
        "{times:?}"
    );
    assert_no_mistakes("deferred with timestamps", &timed.0.1);
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
