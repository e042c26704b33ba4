//! Memory as it is asked for: lazy, dedicated, in granules; and submissions that the caller makes.

use ash::vk;
use tileheap::frame::{ClearValue, Frame, FrameBuilder, ImageDesc, LoadOp};
use tileheap::plan::MemoryKind;

use super::rig::{EXTENT, Outside, Pool, Rig, frame, record};
use tileheap_testkit::fake_driver::{Call, Config};

/// A depth buffer that nobody needs after the pass that tests against it.
fn lazy_frame() -> Frame {
    let mut frame = FrameBuilder::new("lazy", EXTENT);
    let depth = frame.image("depth", ImageDesc::new(vk::Format::D32_SFLOAT, EXTENT));
    let color = frame.image("color", ImageDesc::new(vk::Format::R8G8B8A8_UNORM, EXTENT));
    let queue = frame.queue("main", vk::QueueFlags::GRAPHICS);
    let submit = frame.submit(queue);
    let batch = frame.batch(submit);
    let commands = frame.command_buffer(batch, "scene");
    frame
        .render_pass(commands, "draw")
        .color(color, LoadOp::Clear(ClearValue::ZERO))
        .depth(depth, LoadOp::Clear(ClearValue::DepthStencil(1.0, 0)));
    frame.render_pass(commands, "again").color(color, LoadOp::Load);
    frame.build().expect("a sound frame")
}

#[test]
fn lazy_attachments_get_lazy_memory() {
    for config in [Config::modern(), Config::vulkan_1_1()] {
        let rig = Rig::new(Config { lazy: true, ..config });
        let frame = lazy_frame();
        let bound = rig.bind(&frame).expect("bound");
        let depth = frame.resource_named("depth").expect("declared");
        let placements = bound.plan().resources[depth.index()].placements;
        let placement = placements.of(&bound.plan().placements)[0];
        assert_eq!(placement.memory, MemoryKind::Lazy);
        let lazy = rig.context().tile().profile().lazy_type_bits();
        let allocated = rig.driver.journal().into_iter().any(|call| match call {
            Call::Allocate { memory_type, .. } => lazy >> memory_type & 1 == 1,
            _ => false,
        });
        assert!(allocated);
        bound.retire();
        rig.finish();
    }
}

#[test]
fn dedicated_images_get_an_allocation_each() {
    let rig = Rig::new(Config {
        dedicated_images: true,
        ..Config::modern()
    });
    let bound = rig.bind(&frame()).expect("bound");
    let own = bound
        .plan()
        .placements
        .iter()
        .filter(|one| one.memory == MemoryKind::Dedicated && one.object.is_some());
    let (planned, mut dedicated) = (own.count(), 0);
    for call in rig.driver.journal() {
        if let Call::Allocate {
            dedicated: Some(_), ..
        } = call
        {
            dedicated += 1;
        }
    }
    assert!(planned > 0);
    assert_eq!(planned, dedicated);
    bound.retire();
    rig.finish();
}

#[test]
fn blocks_are_whole_granules() {
    let rig = Rig::new(Config {
        buffer_image_granularity: 65_536,
        ..Config::modern()
    });
    let frame = frame();
    let (pool, outside) = (
        Pool::new(rig.context()).expect("a pool"),
        Outside::new(rig.context()),
    );
    let mut bound = rig.bind(&frame).expect("bound");
    let number = super::rig::run(rig.context(), &mut bound, &frame, &pool, &outside).expect("submitted");
    assert!(bound.wait(number, u64::MAX).expect("waited"));
    bound.retire();
    pool.destroy(rig.context());
    outside.destroy(rig.context());
    rig.finish();
}

#[test]
fn the_caller_may_submit() {
    let rig = Rig::new(Config::modern());
    let frame = frame();
    let (pool, outside) = (
        Pool::new(rig.context()).expect("a pool"),
        Outside::new(rig.context()),
    );
    let mut bound = rig.bind(&frame).expect("bound");
    for _ in 0..2 {
        let recorder = record(rig.context(), &mut bound, &frame, &pool, &outside).expect("recorded");
        let mut calls = 0;
        let submit = |device: &ash::Device, queue, batches: &[vk::SubmitInfo2<'_>], fence| {
            // SAFETY: one thread; the call is made as it is handed out.
            unsafe { device.queue_submit2(queue, batches, fence) }
        };
        // SAFETY: one thread, and every call is made.
        let number = unsafe {
            recorder.submit_with(|call| {
                calls += 1;
                assert_eq!(call.batches.len(), 1);
                assert_eq!(call.batches[0].command_buffer_info_count, 2);
                submit(
                    rig.context().device(),
                    call.queue.handle,
                    call.batches,
                    call.fence,
                )
            })
        };
        assert_eq!(calls, 1);
        assert!(bound.wait(number.expect("submitted"), u64::MAX).expect("waited"));
    }
    // What the caller's submission returns comes back, and ends the bound plan's frames.
    let recorder = record(rig.context(), &mut bound, &frame, &pool, &outside).expect("recorded");
    // SAFETY: nothing is submitted.
    let lost = unsafe { recorder.submit_with(|_| Err(vk::Result::ERROR_DEVICE_LOST)) };
    assert!(lost.expect_err("lost").to_string().contains("ERROR_DEVICE_LOST"));
    let over = record(rig.context(), &mut bound, &frame, &pool, &outside).expect_err("over");
    assert!(over.to_string().contains("bind anew"), "{over}");
    // SAFETY: the last frame never ran.
    unsafe { bound.destroy() };
    pool.destroy(rig.context());
    outside.destroy(rig.context());
    rig.finish();
}
