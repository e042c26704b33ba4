//! What is read before it is written, what a store is, and how long the judgement takes.

use ash::vk;
use tileheap::frame::external::ExternalDesc;
use tileheap::frame::tables::Contents;
use tileheap::frame::{FrameBuilder, ImageDesc, LoadOp, Persistence, ResourceId};

use super::{ALL, EXTENT, buffer, color, refused};

#[test]
fn contents() {
    refused(
        |frame, commands| {
            let image = color(frame, "i");
            frame.compute_pass(commands, "p").sampled(image);
            frame.compute_pass(commands, "q").storage_write(image);
        },
        "pass `p` reads `i` before anything in the frame has written it: write or clear it first, or declare it History or External",
    );
    refused(
        |frame, commands| {
            let swapchain = Persistence::External(ExternalDesc::SWAPCHAIN);
            let image = frame.resource("i", ImageDesc::new(vk::Format::R8_UNORM, EXTENT), swapchain);
            frame.render_pass(commands, "p").color(image, LoadOp::Load);
        },
        "pass `p` reads `i` before anything in the frame has written it: write or clear it first, or declare it History or External",
    );
    refused(
        |frame, commands| {
            let image = color(frame, "i");
            let pass = frame.render_pass(commands, "p");
            pass.color(image, LoadOp::DontCare).storage_write(image);
        },
        "pass `p` declares two writers of `i`: merge the accesses or split the pass",
    );
    refused(
        |frame, commands| {
            let image = color(frame, "i");
            frame.compute_pass(commands, "p").sampled_previous(image);
        },
        "pass `p` uses the previous version of `i`: only History resources have one",
    );
    let history = |frame: &mut FrameBuilder| {
        let desc = ImageDesc::new(vk::Format::R8_UNORM, EXTENT);
        frame.resource("i", desc, Persistence::History)
    };
    refused(
        |frame, commands| {
            let image = history(frame);
            frame.compute_pass(commands, "p").storage_write(image).previous();
        },
        "pass `p` uses the previous version of `i`: it cannot be written",
    );
    refused(
        |frame, commands| {
            let image = history(frame);
            frame.compute_pass(commands, "p").sampled_previous(image);
        },
        "pass `p` uses the previous version of `i`: no pass writes its current version",
    );
}

/// What the runtime is to record is a store, and nothing else.
#[test]
fn stores() {
    type Reads = fn(&mut FrameBuilder) -> (ResourceId, ResourceId);
    let refused_store = |resources: Reads, both: bool, why: &str| {
        refused(
            |frame, commands| {
                let (from, to) = resources(frame);
                frame.render_pass(commands, "draw").color(from, LoadOp::DontCare);
                let pass = frame.render_pass(commands, "s").contents(Contents::Store);
                let pass = pass.sampled(from);
                if both {
                    pass.color(to, LoadOp::DontCare);
                }
            },
            &format!("pass `s` cannot be recorded by the runtime: {why}"),
        );
    };
    refused_store(
        |frame| (color(frame, "a"), color(frame, "b")),
        false,
        "a store reads one resource and overwrites another one, and does nothing else",
    );
    refused_store(
        |frame| {
            let srgb = ImageDesc::new(vk::Format::R8G8B8A8_SRGB, EXTENT);
            (frame.image("a", srgb), frame.image("b", srgb))
        },
        true,
        "sRGB is rounded on its way to linear and back",
    );
    refused_store(
        |frame| {
            let half = ImageDesc::scaled(vk::Format::R8G8B8A8_UNORM, 0.5, 0.5);
            (color(frame, "a"), frame.image("b", half))
        },
        true,
        "the resources of a store differ in format or size",
    );
}

#[test]
fn many_uses_are_judged_in_time() {
    // Quadratic checks would take minutes here.
    let mut frame = FrameBuilder::new("f", EXTENT);
    let target = buffer(&mut frame, "b");
    let mut last = None;
    let queues = ["one", "two"].map(|name| frame.queue(name, vk::QueueFlags::COMPUTE));
    for index in 0..2000 {
        let submit = frame.submit(queues[index % 2]);
        let batch = frame.batch(submit);
        if let Some(last) = last.replace(batch) {
            let semaphore = frame.semaphore(format!("s{index}"));
            frame.signal(last, semaphore, ALL);
            frame.wait(batch, semaphore, ALL);
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
