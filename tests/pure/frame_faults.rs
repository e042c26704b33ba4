//! Every fault of a frame's description, with the names in its message.

use ash::vk;
use serde_json::{Value, json};
use tileheap::frame::{
    AccessKind, BufferDesc, ClearValue, CommandBufferId, Frame, FrameBuilder, ImageDesc, LoadOp, ResourceId,
};
use tileheap::units::Bytes;
use tileheap_testkit::frames::{extent, one_queue};

#[test]
fn what_cannot_be_described_is_refused() {
    tileheap_testkit::assert_cases("frame_faults", |file, case| {
        let mut frame = file["base"].clone();
        let one_of = |passes: &Value| {
            let commands = json!({ "name": "scene", "passes": passes });
            json!([{ "queue": "main", "batches": [{ "command_buffers": [commands] }] }])
        };
        for (key, value) in case.as_object().expect("a case has fields") {
            match key.as_str() {
                "resources" => {
                    let more = value.as_array().expect("a list").iter().cloned();
                    frame["resources"].as_array_mut().expect("a list").extend(more);
                }
                "passes" => frame["submits"] = one_of(value),
                "queues" | "semaphores" | "submits" => frame[key] = value.clone(),
                _ => {}
            }
        }
        let fault = Frame::from_json(&frame.to_string()).expect_err("a fault");
        fault.to_string().into()
    });
}

const EXTENT: vk::Extent2D = extent(64, 64);

/// Descriptions that no document can express are refused with this message.
#[track_caller]
fn refused(declare: impl FnOnce(&mut FrameBuilder, CommandBufferId), message: &str) {
    let mut frame = FrameBuilder::new("f", EXTENT);
    let commands = one_queue(&mut frame, vk::QueueFlags::GRAPHICS);
    declare(&mut frame, commands);
    assert_eq!(frame.build().unwrap_err().to_string(), message);
}

fn color(frame: &mut FrameBuilder) -> ResourceId {
    frame.image("i", ImageDesc::new(vk::Format::R8G8B8A8_UNORM, EXTENT))
}

#[test]
fn what_only_a_builder_can_say_is_refused() {
    refused(
        |frame, first| {
            let queue = frame.queue("other", vk::QueueFlags::GRAPHICS);
            let submit = frame.submit(queue);
            let batch = frame.batch(submit);
            frame.command_buffer(batch, "elsewhere");
            frame.compute_pass(first, "p");
        },
        "pass `p` is declared out of submission order: add it before anything that is submitted later",
    );
    refused(
        |frame, commands| {
            let foreign = color(&mut FrameBuilder::new("other", EXTENT));
            frame.compute_pass(commands, "p").sampled(foreign);
        },
        "pass `p` refers to resource `#0`, which the frame does not declare",
    );
    refused(
        |frame, _| {
            for index in 0..300 {
                frame.queue(format!("q{index}"), vk::QueueFlags::COMPUTE);
            }
        },
        "the frame has 301 queues: at most 256 can be planned",
    );
    refused(
        |frame, commands| {
            frame.image("i", ImageDesc::scaled(vk::Format::R8_UNORM, f32::NAN, 1.0));
            frame.compute_pass(commands, "p");
        },
        "image `i` is scaled by NaN x 1: a scale must be a finite number above 0",
    );
    refused(
        |frame, commands| {
            frame.image("i", ImageDesc::new(vk::Format::R8_UNORM, extent(0, 64)));
            frame.compute_pass(commands, "p");
        },
        "image `i` has a zero extent (0 x 64 x 1): every side must be at least 1 texel",
    );
    let mut frame = FrameBuilder::new("f", extent(0, 64));
    let commands = one_queue(&mut frame, vk::QueueFlags::GRAPHICS);
    frame.image("i", ImageDesc::scaled(vk::Format::R8_UNORM, 1.0, 1.0));
    frame.compute_pass(commands, "p");
    assert_eq!(
        frame.build().unwrap_err().to_string(),
        "image `i` is a fraction of the frame's base extent, which is 0 x 64: set the base extent to at least 1 x 1"
    );
    refused(
        |frame, commands| {
            let image = color(frame);
            let value = ClearValue::Float([0.0, f32::NAN, 0.0, 0.0]);
            frame
                .render_pass(commands, "p")
                .color(image, LoadOp::Clear(value));
        },
        "pass `p` clears `i` to a value that is not a number",
    );
}

#[test]
fn settings_that_say_nothing_do_not_tell_frames_apart() {
    let frame = |load_op: LoadOp| {
        let mut frame = FrameBuilder::new("f", EXTENT);
        let commands = one_queue(&mut frame, vk::QueueFlags::GRAPHICS);
        let image = color(&mut frame);
        frame.render_pass(commands, "p").color(image, LoadOp::DontCare);
        let pass = frame.compute_pass(commands, "q");
        pass.access(image, AccessKind::SampledImage, true, false, load_op);
        frame.build().unwrap()
    };
    assert_eq!(frame(LoadOp::DontCare), frame(LoadOp::Load));
}

#[test]
fn an_order_through_a_third_queue_suffices() {
    let mut frame = FrameBuilder::new("f", EXTENT);
    let target = frame.buffer("b", BufferDesc::new(Bytes(256)));
    let all = vk::PipelineStageFlags2::ALL_COMMANDS;
    let mut last = None;
    for name in ["one", "two", "three"] {
        let queue = frame.queue(name, vk::QueueFlags::COMPUTE);
        let submit = frame.submit(queue);
        let batch = frame.batch(submit);
        if let Some(last) = last.replace(batch) {
            let semaphore = frame.semaphore(format!("before {name}"));
            frame.signal(last, semaphore, all);
            frame.wait(batch, semaphore, all);
        }
        let commands = frame.command_buffer(batch, name);
        if name != "two" {
            frame.compute_pass(commands, name).storage_write(target);
        }
    }
    frame.build().unwrap();
}

#[test]
fn many_uses_are_judged_in_time() {
    // Quadratic checks would take minutes here.
    let mut frame = FrameBuilder::new("f", EXTENT);
    let target = frame.buffer("b", BufferDesc::new(Bytes(256)));
    let all = vk::PipelineStageFlags2::ALL_COMMANDS;
    let mut last = None;
    let queues = ["one", "two"].map(|name| frame.queue(name, vk::QueueFlags::COMPUTE));
    for index in 0..2000 {
        let submit = frame.submit(queues[index % 2]);
        let batch = frame.batch(submit);
        if let Some(last) = last.replace(batch) {
            let semaphore = frame.semaphore(format!("s{index}"));
            frame.signal(last, semaphore, all);
            frame.wait(batch, semaphore, all);
        }
        let commands = frame.command_buffer(batch, format!("c{index}"));
        let mut pass = frame.compute_pass(commands, format!("p{index}"));
        if index == 0 {
            pass = pass.storage_write(target);
        }
        for _ in 0..100 * index.min(1) {
            pass = pass.uniform(target);
        }
    }
    frame.build().unwrap();
}
