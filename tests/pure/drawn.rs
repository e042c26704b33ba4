//! Small frames with drawings: their plans, and the tables of their third frame, as text. Other tests use these frames by name.

use serde_json::{Value, json};
use tileheap::frame::{Frame, ResourceId};
use tileheap::lower::{DeviceQueues, LoweringDesc, lower};
use tileheap::plan::PlanOptions;
use tileheap::profile::DeviceProfile;

use crate::lowered_check::device;
use crate::planned::plan_with;

/// The text of a frame.
pub(crate) fn text(name: &str) -> String {
    let file = std::fs::read_to_string(tileheap_testkit::data("cases/drawn.json")).expect("a readable file");
    let file: Value = serde_json::from_str(&file).expect("a document");
    file["frames"][name].to_string()
}

pub(crate) fn frame(name: &str) -> Frame {
    Frame::from_json(&text(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

pub(crate) fn named<const N: usize>(frame: &Frame, names: [&str; N]) -> [ResourceId; N] {
    names.map(|name| frame.resource_named(name).expect("a resource of this name"))
}

/// A document with other values at some positions.
fn changed(mut document: Value, changes: &Value) -> Value {
    for (place, value) in changes.as_object().into_iter().flatten() {
        *document.pointer_mut(place).expect("a place") = value.clone();
    }
    document
}

#[test]
fn frames_are_planned_and_lowered_as_drawn() {
    let preset = DeviceProfile::preset("adreno-830").unwrap().to_json();
    let preset: Value = serde_json::from_str(&preset).unwrap();
    let default = serde_json::to_value(PlanOptions::default()).unwrap();
    tileheap_testkit::assert_cases("drawn", |file, case| {
        let frame = &file["frames"][case["frame"].as_str().expect("the name of a frame")];
        let frame = Frame::from_json(&frame.to_string()).unwrap();
        let profile = changed(preset.clone(), &case["device"]).to_string();
        let profile = DeviceProfile::from_json(&profile).unwrap();
        let options = serde_json::from_value(changed(default.clone(), &case["options"])).unwrap();
        let plan = plan_with(&frame, &profile, &options);
        assert_eq!(plan.violations(), []);
        let queues = match case["apart"].as_bool() {
            Some(true) => DeviceQueues::separate_families(&frame),
            _ => DeviceQueues::single_queue(&frame),
        };
        let mut lowering_desc = LoweringDesc::first(queues);
        for _ in 0..2 {
            lowering_desc = lowering_desc.after(&lower(&plan, &lowering_desc).unwrap());
        }
        let tables = lower(&plan, &lowering_desc).unwrap();
        assert_eq!(
            tables.violations(&frame, &lowering_desc, &device(&plan, &lowering_desc)),
            []
        );
        let lines = |text: String| text.lines().map(str::to_owned).collect::<Vec<_>>();
        json!({ "plan": lines(plan.to_string()), "tables": lines(tables.text(&frame)) })
    });
}
