//! Frames after edits, and what frames need of a device's memory: whole documents, compared.

use serde_json::{Value, json};
use tileheap::frame::Frame;
use tileheap::measure::{estimate, raw};
use tileheap::profile::DeviceProfile;

/// The frame after one edit; `None` where there is nothing to edit.
fn edited(frame: &Frame, edit: &Value) -> Option<tileheap::Result<Frame>> {
    let (kind, of) = edit.as_object()?.iter().next()?;
    let text = |name: &Value| name.as_str().expect("a name").to_owned();
    let pass = |name: &Value| frame.pass_named(&text(name)).expect("a pass of this name");
    match kind.as_str() {
        "merged" => frame.merged(pass(of)),
        "split" => {
            let resource = frame.resource_named(&text(&of[0]));
            frame.split(resource.expect("a resource of this name"), pass(&of[1]))
        }
        "without_pass" => Some(frame.without_pass(pass(of))),
        "without_access" => Some(frame.without_access(of.as_u64().expect("an index") as usize)),
        other => panic!("{other} is no edit"),
    }
}

#[test]
fn frames_are_edited() {
    tileheap_testkit::assert_cases("frame_edits", |file, case| {
        let described = &file["frames"][case["frame"].as_str().expect("the name of a frame")];
        let mut frame = Frame::from_json(&described.to_string()).unwrap();
        for edit in case["edits"].as_array().expect("edits") {
            match edited(&frame, edit) {
                None => return Value::Null,
                Some(Err(error)) => return error.to_string().into(),
                Some(Ok(edited)) => frame = edited,
            }
        }
        let text = frame.to_json();
        assert_eq!(Frame::from_json(&text).unwrap().to_json(), text);
        serde_json::from_str(&text).unwrap()
    });
}

#[test]
fn requirements_are_estimated() {
    tileheap_testkit::assert_cases("measured", |_, case| {
        let frame = Frame::from_json(&case["frame"].to_string()).unwrap();
        let profile = DeviceProfile::preset(case["profile"].as_str().expect("a preset")).unwrap();
        let needs = match case.get("claims") {
            None => estimate(&frame, &profile),
            Some(claims) => {
                let claims: Vec<Option<bool>> = serde_json::from_value(claims.clone()).unwrap();
                let bytes: Vec<u32> = serde_json::from_value(case["texel_bytes"].clone()).unwrap();
                raw(&frame, &profile, &claims, &bytes)
            }
        };
        needs.map_or_else(|error| error.to_string().into(), |needs| json!(needs.resources))
    });
}
