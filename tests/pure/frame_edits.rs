//! Frames after edits, and the memory requirements of frames on a device: whole documents, compared.

use ash::vk;
use serde_json::{Value, json};
use tileheap::frame::{Frame, FrameBuilder, ImageDesc, LoadOp};
use tileheap::measure::{estimate, estimate_unpadded};
use tileheap::profile::DeviceProfile;
use tileheap_testkit::frames::extent;

/// The frame after one edit; `None` if there is nothing to edit.
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
        other => panic!("{other} is not an edit"),
    }
}

/// Declares batches that each draw one image and read the previous one, alternating between queues, with a semaphore between consecutive batches.
fn declare(frame: &mut FrameBuilder, batches: usize, queues: usize) {
    frame.reset(format!("{batches} batches"), extent(64, 64));
    let queue =
        |frame: &mut FrameBuilder, index| frame.queue(format!("queue {index}"), vk::QueueFlags::GRAPHICS);
    let queues: Vec<_> = (0..queues).map(|index| queue(frame, index)).collect();
    let (mut last, all) = (None, vk::PipelineStageFlags2::ALL_COMMANDS);
    for index in 0..batches {
        let desc = ImageDesc::new(vk::Format::R8G8B8A8_UNORM, extent(64, 64));
        let image = frame.image(format!("image {index}"), desc);
        let submit = frame.submit(queues[index % queues.len()]);
        let batch = frame.batch(submit);
        let commands = frame.command_buffer(batch, format!("commands {index}"));
        let mut pass = frame.render_pass(commands, format!("pass {index}"));
        if let Some((read, _)) = last {
            pass = pass.sampled(read);
        }
        pass.color(image, LoadOp::DontCare);
        if let Some((_, semaphore)) = last {
            frame.wait(batch, semaphore, all);
        }
        let done = frame.external_semaphore(format!("done {index}"));
        frame.signal(batch, done, all);
        last = Some((image, done));
    }
}

#[test]
fn a_description_of_a_frame_that_is_reset_is_as_a_new_one() {
    for [before, after] in [[(70, 2), (3, 1)], [(3, 2), (70, 1)], [(3, 1), (70, 2)]] {
        let mut used = FrameBuilder::default();
        declare(&mut used, before.0, before.1);
        let mut used = used.build().unwrap().to_builder();
        declare(&mut used, after.0, after.1);
        let mut new = FrameBuilder::default();
        declare(&mut new, after.0, after.1);
        assert_eq!(
            used.to_frame().unwrap(),
            new.to_frame().unwrap(),
            "{before:?}, {after:?}"
        );
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
                estimate_unpadded(&frame, &profile, &claims, &bytes)
            }
        };
        needs.map_or_else(|error| error.to_string().into(), |needs| json!(needs.resources))
    });
}
