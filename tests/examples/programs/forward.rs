//! `examples/forward`: the same picture at every step, and shadow maps that come on chip with the last one.

use tileheap_testkit as support;

use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;

use support::{example, own_file};
use tileheap::frame::Frame;
use tileheap::measure::estimate;
use tileheap::plan::{MemoryKind, NotTile, PlacementReason, Plan, PlanOptions, plan};
use tileheap::profile::DeviceProfile;

use super::output::text;

/// Renders every step; what it printed. The emulator, where there is one, has nothing to say.
fn compare(mut command: Command, picture: &Path) -> String {
    command
        .args(["--compare", "--size", "161x91", "--output"])
        .arg(picture);
    command.env("VK_TILEHEAP_EMULATOR_LOG", "true");
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().expect("cargo runs");
    let (printed, complaints) = (text(&stdout), text(&stderr));
    assert!(status.success(), "{complaints}{printed}");
    assert!(!complaints.contains("TILEHEAP-"), "{complaints}");
    for step in 1..=4 {
        assert!(
            printed.contains(&format!("step {step}: identical, 14651 texels")),
            "{printed}"
        );
    }
    printed.to_owned()
}

#[test]
fn the_picture_is_the_same_at_every_step() {
    compare(example("forward"), &own_file("forward.png"));
}

#[test]
fn in_tile_memory_too_where_the_last_step_brings_the_shadow_maps() {
    let (ordinary, emulated) = (own_file("forward-ordinary.png"), own_file("forward-emulated.png"));
    compare(example("forward"), &ordinary);
    let mut command = example("forward");
    if !support::emulate(&mut command, "adreno-830") {
        return;
    }
    let printed = compare(command, &emulated);
    let (before, after) = printed.split_once("step 3: identical").expect("asserted");
    assert!(
        before.contains("crosses from batch 0 to batch 1 after `lamp`"),
        "{before}"
    );
    assert!(!after.contains("crosses from"), "{after}");
    let read = |path| std::fs::read(path).expect("the picture was written");
    assert!(read(&ordinary) == read(&emulated), "the pictures differ");
}

/// The frame of a step, planned for a device by numbers.
fn planned(step: &str) -> Plan {
    let dump = own_file(&format!("forward-{step}.json"));
    let mut command = example("forward");
    command.args(["--step", step, "--dump-frame"]).arg(&dump);
    let output = command.output().expect("cargo runs");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let dumped = std::fs::read_to_string(&dump).expect("the frame was written");
    let frame = Frame::from_json(&dumped).expect("a frame");
    let profile = Arc::new(DeviceProfile::preset("adreno-830").expect("the preset is there"));
    let needs = Arc::new(estimate(&frame, &profile).expect("sizes"));
    plan(&frame, &needs, &profile, &PlanOptions::default()).expect("a plan")
}

#[test]
fn one_batch_brings_the_shadow_maps_on_chip() {
    let (before, after) = (planned("3"), planned("4"));
    for name in ["sun", "lamp"] {
        let map = before.frame.resource_named(name).expect("declared");
        let reason = before.resources[map.index()].reason;
        assert!(
            matches!(reason, PlacementReason::Arena(NotTile::CrossesWindows { .. })),
            "{reason:?}"
        );
        let map = after.frame.resource_named(name).expect("declared");
        assert_eq!(after.memory_of(map), Some(MemoryKind::Tile));
    }
    assert_eq!(after.totals.on_chip_bytes, after.totals.eligible_bytes);
}
