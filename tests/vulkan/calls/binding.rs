//! Memory as it is asked for: lazy, dedicated, in granules, more than was said before; and submissions that the caller makes.

use std::sync::Arc;

use ash::vk;
use tileheap::frame::{ClearValue, Frame, FrameBuilder, ImageDesc, LoadOp};
use tileheap::plan::{MemoryKind, PlanOptions};
use tileheap_testkit::fake_driver::{Call, Config, Tile};
use tileheap_testkit::runtime_rig::{EXTENT, on_fake};

use super::Rig;
use tileheap_testkit::frames::one_queue;

/// A depth buffer that nobody needs after the pass that tests against it.
fn lazy_frame() -> Frame {
    let mut frame = FrameBuilder::new("lazy", EXTENT);
    let depth = frame.image("depth", ImageDesc::new(vk::Format::D32_SFLOAT, EXTENT));
    let color = frame.image("color", ImageDesc::new(vk::Format::R8G8B8A8_UNORM, EXTENT));
    let commands = one_queue(&mut frame, vk::QueueFlags::GRAPHICS);
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
        let plan = rig.tile.plan(&lazy_frame(), &PlanOptions::default()).unwrap();
        let bound = rig.tile.bind(&plan).unwrap();
        let depth = plan.frame.resource_named("depth").unwrap();
        assert_eq!(bound.plan().memory_of(depth), Some(MemoryKind::Lazy));
        let lazy = rig.tile.profile().lazy_type_bits();
        let is_lazy =
            |call: &Call| matches!(call, Call::Allocate { memory_type, .. } if lazy >> memory_type & 1 == 1);
        assert!(rig.fake.driver.journal().iter().any(is_lazy));
    }
}

#[test]
fn dedicated_images_get_an_allocation_each() {
    let rig = Rig::new(Config {
        dedicated_images: true,
        ..Config::modern()
    });
    let bound = rig.bind(&PlanOptions::default());
    let placements = bound.plan().placements.iter();
    let own = placements.filter(|one| one.memory == MemoryKind::Dedicated && one.object.is_some());
    let planned = own.count();
    let is_dedicated = |call: &&Call| matches!(call, Call::Allocate { dedicated, .. } if dedicated.is_some());
    assert!(planned > 0);
    assert_eq!(
        rig.fake.driver.journal().iter().filter(is_dedicated).count(),
        planned
    );
}

#[test]
fn blocks_are_whole_granules() {
    let rig = Rig::new(Config {
        buffer_image_granularity: 65_536,
        ..Config::modern()
    });
    let mut bound = rig.bind(&PlanOptions::default());
    rig.run(&mut bound);
}

#[test]
fn a_driver_that_refuses_every_resource_gets_an_ordinary_plan() {
    let tile = Tile {
        requirements: false,
        ..Tile::whole()
    };
    let rig = Rig::new(Config {
        tile,
        ..Config::modern()
    });
    let bound = rig.bind(&PlanOptions::default());
    let mut placements = bound.plan().placements.iter();
    assert!(placements.all(|placement| placement.memory != MemoryKind::Tile));
}

#[test]
fn requirements_that_grow_are_planned_for_anew() {
    let rig = Rig::new(Config {
        grows_when_created: 4096,
        ..Config::modern()
    });
    let frame = &rig.fake.described.frame;
    let plan = rig.tile.plan(frame, &PlanOptions::default()).unwrap();
    let bound = rig.tile.bind(&plan).unwrap();
    assert_ne!(**bound.plan(), *plan);
    for (placement, old) in bound.plan().placements.iter().zip(&plan.placements) {
        if placement.memory == MemoryKind::Arena && frame.resource(placement.resource).is_image() {
            assert!(placement.size > old.size);
        }
    }
    // What holds is remembered: the next time around, nothing has to be planned anew.
    let again = rig.tile.plan(frame, &PlanOptions::default()).unwrap();
    assert!(Arc::ptr_eq(&again, bound.plan()));
}

#[test]
fn the_caller_may_submit() {
    let rig = Rig::new(Config::modern());
    let mut bound = rig.bind(&PlanOptions::default());
    for _ in 0..2 {
        let recorder = rig.fake.record(&mut bound).unwrap();
        let mut batches = Vec::new();
        let number = on_fake!(recorder.submit_with(|call| {
            batches.push(call.batches.len());
            on_fake!(
                rig.fake
                    .device
                    .queue_submit2(call.queue.handle, call.batches, call.fence)
            )
        }));
        assert_eq!(batches, [2, 1]);
        assert!(bound.wait(number.unwrap(), u64::MAX).unwrap());
    }
    // What the caller's submission returns comes back, and ends the bound plan's frames.
    let recorder = rig.fake.record(&mut bound).unwrap();
    let failed = on_fake!(recorder.submit_with(|_| Err(vk::Result::ERROR_OUT_OF_HOST_MEMORY)));
    assert!(
        failed
            .unwrap_err()
            .to_string()
            .contains("ERROR_OUT_OF_HOST_MEMORY")
    );
    let over = rig.fake.record(&mut bound).unwrap_err();
    assert!(over.to_string().contains("bind anew"), "{over}");
    // The loss of the device ends those of all.
    let mut other = rig.bind(&PlanOptions::default());
    let recorder = rig.fake.record(&mut other).unwrap();
    let lost = on_fake!(recorder.submit_with(|_| Err(vk::Result::ERROR_DEVICE_LOST)));
    assert!(lost.unwrap_err().is_device_lost() && rig.tile.is_device_lost());
    assert!(rig.fake.record(&mut bound).unwrap_err().is_device_lost());
    on_fake!(bound.destroy());
    on_fake!(other.destroy());
}
