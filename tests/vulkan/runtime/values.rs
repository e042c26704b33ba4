//! Values on a real driver: each pass gets the image of the value that it uses, and the pixels are those of the described frame.

use std::panic::{AssertUnwindSafe, catch_unwind};

use ash::vk;
use tileheap::execute::ExecutedFrame;
use tileheap::frame::{AccessKind, ClearValue, Frame, FrameBuilder, ImageDesc, LoadOp, ResourceId};
use tileheap::plan::PlanOptions;
use tileheap::runtime::{BoundBuffer, Capabilities, Parity, PassCommands};

use tileheap_testkit::frames::extent;
use tileheap_testkit::gpu::{Gpu, copy_to_buffer};

use super::{begin, host_read, submit, wait};

const EXTENT: vk::Extent2D = extent(16, 8);
const BYTES: u64 = 4 * 16 * 8;
const COLORS: [[u8; 4]; 3] = [[255, 0, 51, 255], [0, 255, 0, 51], [51, 51, 255, 0]];

/// `pool` is cleared and copied three times, to a third of `out` each.
fn pooled() -> Frame {
    let mut frame = FrameBuilder::new("pooled", EXTENT);
    let pool = frame.image("pool", ImageDesc::new(vk::Format::R8G8B8A8_UNORM, EXTENT));
    let out = host_read(&mut frame, "out", BYTES * COLORS.len() as u64);
    let queue = frame.queue("main", vk::QueueFlags::GRAPHICS);
    let submit = frame.submit(queue);
    let batch = frame.batch(submit);
    let commands = frame.command_buffer(batch, "commands");
    for (round, color) in COLORS.into_iter().enumerate() {
        let color = ClearValue::Float(color.map(|part| f32::from(part) / 255.0));
        frame
            .render_pass(commands, format!("draw {round}"))
            .color(pool, LoadOp::Clear(color));
        let load = if round == 0 {
            LoadOp::DontCare
        } else {
            LoadOp::Load
        };
        frame
            .transfer_pass(commands, format!("copy {round}"))
            .transfer_source(pool)
            .access(out, AccessKind::TransferDestination, false, true, load);
    }
    frame.build().expect("a sound frame")
}

#[test]
fn each_pass_gets_the_image_of_its_value() {
    let mut gpu = Gpu::new(Capabilities::empty());
    let frame = pooled();
    let id = |name: &str| frame.resource_named(name).expect("a resource");
    let (pool, out): (ResourceId, ResourceId) = (id("pool"), id("out"));
    let executed = ExecutedFrame::as_described(&frame)
        .separate_values()
        .expect("values");
    let host = gpu.host_buffer(BYTES * COLORS.len() as u64);
    let plan = gpu
        .runtime()
        .plan(&executed, &PlanOptions::default())
        .expect("a plan");
    plan.check().expect("a sound plan");
    assert_eq!(plan.described(), &frame);
    let mut bound = gpu.runtime().bind(&plan).expect("a bound plan");

    let mut images = Vec::new();
    for pass in frame.pass_ids() {
        let access = bound.access(pass, pool, Parity::Even);
        assert_eq!(access, bound.access(pass, 0_usize, Parity::Even));
        assert_eq!(access.resource, pool);
        images.push(access.image());
    }
    let [first, a, second, b, third, c] = images[..] else {
        panic!("six passes");
    };
    assert_eq!([first, second, third], [a, b, c]);
    assert!(first != second && second != third && third != first);
    // A single image has only the memory of one value.
    let asked = catch_unwind(AssertUnwindSafe(|| bound.memory(pool, Parity::Even)));
    let message = asked.expect_err("several values");
    let message = message.downcast_ref::<String>().expect("a message");
    assert!(message.contains("`pool` has 3 values"), "{message}");

    for _ in 0..2 {
        let commands = gpu.primaries(1)[0];
        let recorder = begin(&mut bound, out, &host);
        let declared = frame.passes()[0].command_buffer;
        // SAFETY: new.
        let mut recording = unsafe { recorder.record(commands, declared) }.expect("recording");
        for (number, pass) in frame.pass_ids().enumerate() {
            let copied = |commands: &PassCommands<'_>| {
                if number % 2 == 0 {
                    return;
                }
                let to = commands.access(out).buffer();
                let to = BoundBuffer {
                    offset: to.offset + number as u64 / 2 * BYTES,
                    ..to
                };
                let color = vk::ImageAspectFlags::COLOR;
                let image = commands.access(pool).image();
                copy_to_buffer(
                    commands.device(),
                    commands.command_buffer(),
                    image,
                    color,
                    EXTENT,
                    &to,
                );
            };
            recording.pass(pass, copied).expect("recorded");
        }
        recording.finish().expect("recorded");
        let number = submit(recorder).0;
        wait(&bound, number);
        for (pixels, color) in host.bytes().chunks(BYTES as usize).zip(COLORS) {
            assert!(pixels.chunks(4).all(|pixel| pixel == color), "{color:?}");
        }
    }
}
