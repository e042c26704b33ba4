//! Kinds of memory allocations: lazy, dedicated, in granules, larger than reported before; and submissions made by the caller.

use std::sync::Arc;

use ash::vk;
use tileheap::frame::{ClearValue, Frame, FrameBuilder, ImageDesc, LoadOp};
use tileheap::plan::{MemoryKind, PlanOptions, ResidencyStrategy};
use tileheap::units::Bytes;
use tileheap_testkit::fake_driver::{Call, Config, Tile};
use tileheap_testkit::runtime_rig::{EXTENT, on_fake};

use super::Rig;
use tileheap_testkit::frames::one_queue;

/// A frame with a depth buffer that is only needed by the pass that tests against it.
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

/// Eight images that are all alive in the last pass, so that none shares bytes.
fn wide_frame() -> Frame {
    // 64 MiB each: gpu-allocator allocates these by themselves, and smaller ones in blocks of up to 64 MiB.
    let extent = vk::Extent2D {
        width: 4096,
        height: 4096,
    };
    let mut frame = FrameBuilder::new("wide", extent);
    let commands = one_queue(&mut frame, vk::QueueFlags::GRAPHICS);
    let image = |frame: &mut FrameBuilder, name: String| {
        frame.image(name, ImageDesc::new(vk::Format::R8G8B8A8_UNORM, extent))
    };
    let all: Vec<_> = (0..8)
        .map(|number| image(&mut frame, format!("image {number}")))
        .collect();
    for (number, &image) in all.iter().enumerate() {
        frame
            .render_pass(commands, format!("draw {number}"))
            .color(image, LoadOp::Clear(ClearValue::ZERO));
    }
    let sum = image(&mut frame, "sum".to_owned());
    let mut last = frame.render_pass(commands, "sum");
    for &image in &all {
        last = last.sampled(image);
    }
    last.color(sum, LoadOp::DontCare);
    frame.build().expect("a sound frame")
}

/// Arenas are split where the device's largest allocation is smaller; what no allocation holds is refused by name.
#[test]
fn arenas_are_split_at_the_largest_allocation() {
    let off = PlanOptions {
        strategy: ResidencyStrategy::Off,
        ..PlanOptions::default()
    };
    let arenas = |config: Config| {
        let rig = Rig::new(config);
        let plan = rig.tile.plan(&wide_frame(), &off).unwrap();
        plan.check().unwrap();
        let bound = rig.tile.bind(&plan).unwrap();
        let limit = rig.tile.profile().limits.max_allocation;
        let objects = bound.plan().objects.iter();
        let sizes: Vec<_> = objects
            .filter(|object| object.memory == MemoryKind::Arena)
            .map(|object| object.size)
            .collect();
        assert!(sizes.iter().all(|size| *size <= limit), "{sizes:?} {limit}");
        let journal = rig.fake.driver.journal();
        let allocated = journal.iter().filter_map(|call| match call {
            Call::Allocate { size, .. } => Some(*size),
            _ => None,
        });
        assert!(allocated.max() <= Some(limit.0));
        sizes
    };
    let [one] = arenas(Config::modern())[..] else {
        panic!("one arena without a limit");
    };
    let image = one.0 / 9;
    for images in [1, 2, 4] {
        let limited = arenas(Config {
            largest_allocation: Some(image * images),
            ..Config::modern()
        });
        assert_eq!(limited.len() as u64, 9_u64.div_ceil(images), "{images}");
        assert_eq!(limited.iter().map(|size| size.0).sum::<u64>(), one.0);
    }
    let rig = Rig::new(Config {
        largest_allocation: Some(image - 1),
        ..Config::modern()
    });
    let refused = rig
        .tile
        .plan(&wide_frame(), &off)
        .expect_err("a refusal")
        .to_string();
    for part in ["`image 0`", &Bytes(image).to_string(), "maxMemoryAllocationSize"] {
        assert!(refused.contains(part), "{refused}");
    }
}

#[test]
fn a_driver_that_refuses_every_resource_gets_an_ordinary_plan() {
    let tile = Tile {
        requirements: false,
        ..Tile::supported()
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
        extra_bytes_when_created: 4096,
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
    // The working plan is cached: the next call does not need to plan again.
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
    // The result of the caller's submission is returned, and ends the bound plan's frames.
    let recorder = rig.fake.record(&mut bound).unwrap();
    let failed = on_fake!(recorder.submit_with(|_| Err(vk::Result::ERROR_OUT_OF_HOST_MEMORY)));
    assert!(
        failed
            .unwrap_err()
            .to_string()
            .contains("ERROR_OUT_OF_HOST_MEMORY")
    );
    let over = rig.fake.record(&mut bound).unwrap_err();
    assert!(over.to_string().contains("bind again"), "{over}");
    // The loss of the device ends the frames of all bound plans.
    let mut other = rig.bind(&PlanOptions::default());
    let recorder = rig.fake.record(&mut other).unwrap();
    let lost = on_fake!(recorder.submit_with(|_| Err(vk::Result::ERROR_DEVICE_LOST)));
    assert!(lost.unwrap_err().is_device_lost() && rig.tile.is_device_lost());
    assert!(rig.fake.record(&mut bound).unwrap_err().is_device_lost());
    on_fake!(bound.destroy());
    on_fake!(other.destroy());
}
