//! Lowering: from plans to tables, frame after frame.

use std::sync::Arc;

use crate::planned::{plan_on, plan_with};
use ash::vk;
use tileheap::Checked;
use tileheap::frame::external::{ExternalDesc, ExternalFamily, ResourceState};
use tileheap::frame::synthetic::{SyntheticDesc, synthetic};
use tileheap::frame::{
    AccessKind, BufferDesc, ClearValue, Frame, FrameBuilder, ImageDesc, LoadOp, Persistence,
};
use tileheap::lower::check::LoweringRule;
use tileheap::lower::tables::commands::{BarrierCause, Families, ImageBarrierRow, Scopes};
use tileheap::lower::{DeviceQueues, FamilyQueue, LowerError, Lowered, Lowerer, LoweringDesc, lower};
use tileheap::measure::estimate;
use tileheap::plan::{Plan, PlanOptions, plan as make_plan};
use tileheap::profile::{DeviceProfile, Features};
use tileheap::units::Bytes;
use tileheap_testkit::frames::one_queue;
use tileheap_testkit::generators::descriptions::describe;

fn planned(seed: u64) -> Checked<Plan> {
    let frame = synthetic(seed, SyntheticDesc::default());
    plan_on(&frame, "adreno-830")
}

fn frames(plan: &Checked<Plan>, queues: &DeviceQueues, count: usize) -> Vec<Checked<Lowered>> {
    let mut lowering_desc = LoweringDesc::first(queues.clone());
    let mut frames = Vec::new();
    for _ in 0..count {
        let lowered = lower(plan, &lowering_desc).unwrap();
        lowering_desc = lowering_desc.after(&lowered);
        frames.push(lowered);
    }
    frames
}

#[test]
fn every_other_frame_of_a_plan_has_the_same_tables() {
    for seed in 0..50 {
        let plan = planned(seed);
        for queues in [
            DeviceQueues::single_queue(&plan.frame),
            DeviceQueues::separate_families(&plan.frame),
        ] {
            let frames = frames(&plan, &queues, 6);
            assert_eq!(frames[2], frames[4], "seed {seed}");
            assert_eq!(frames[3], frames[5], "seed {seed}");
        }
    }
}

#[test]
fn what_was_lowered_before_changes_nothing() {
    let mut lowerer = Lowerer::default();
    for plan in (0..30).map(planned) {
        let lowering_desc = LoweringDesc::first(DeviceQueues::single_queue(&plan.frame));
        let tables = lowerer.lower(&plan, &lowering_desc).unwrap();
        assert_eq!(tables, lower(&plan, &lowering_desc).unwrap());
        lowerer.recycle(tables);
    }
}

#[test]
fn on_one_queue_nothing_of_earlier_frames_is_waited_for_by_semaphores() {
    for seed in 0..50 {
        let plan = planned(seed);
        for lowered in frames(&plan, &DeviceQueues::single_queue(&plan.frame), 3) {
            let mut waits = lowered.waits.iter();
            assert!(waits.all(|wait| wait.semaphore.queue().is_none()));
        }
    }
}

#[test]
fn tables_are_read_back_as_they_were_written() {
    for seed in 0..20 {
        let plan = planned(seed);
        let lowering_desc = LoweringDesc::first(DeviceQueues::separate_families(&plan.frame));
        let lowered = lower(&plan, &lowering_desc).unwrap();
        let text = lowered.to_json(&plan.frame, &lowering_desc);
        assert_eq!(
            Lowered::from_json(plan.frame.name(), &text).unwrap(),
            (lowered.into_inner(), lowering_desc)
        );
    }
}

#[test]
fn tables_of_another_frame_or_version_are_refused() {
    let plan = planned(1);
    let lowering_desc = LoweringDesc::first(DeviceQueues::single_queue(&plan.frame));
    let text = lower(&plan, &lowering_desc)
        .unwrap()
        .to_json(&plan.frame, &lowering_desc);
    let refusal = |frame: &str, text: &str| Lowered::from_json(frame, text).unwrap_err().to_string();
    let other = refusal("other", &text);
    assert!(other.contains("this frame is `other`"), "{other}");
    let newer = refusal(
        plan.frame.name(),
        &text.replacen("\"version\": 2", "\"version\": 9", 1),
    );
    assert!(newer.contains("reads version 2"), "{newer}");
}

#[test]
fn a_lowering_needs_a_device_queue_for_each_declared_queue() {
    let plan = planned(1);
    let lowering_desc = LoweringDesc::first(DeviceQueues::new(&[]));
    let refusal = lower(&plan, &lowering_desc).unwrap_err().to_string();
    assert!(refusal.contains("but 0 device queues were given"), "{refusal}");
}

/// A camera's image that the frame samples, and a buffer that it fills for another process.
fn foreign() -> Checked<Plan> {
    let extent = vk::Extent2D { width: 8, height: 4 };
    let ours = ExternalDesc::in_layout(vk::ImageLayout::GENERAL);
    let camera = ExternalDesc {
        entry: ours.entry.owned_by(ExternalFamily::Foreign),
        exit: ours.exit.owned_by(ExternalFamily::Foreign),
    };
    let mut filled = ExternalDesc::in_layout(vk::ImageLayout::UNDEFINED);
    filled.exit = filled.exit.owned_by(ExternalFamily::External);
    let mut frame = FrameBuilder::new("foreign", extent);
    let image = ImageDesc::new(vk::Format::R8G8B8A8_UNORM, extent);
    let camera = frame.resource("camera", image, Persistence::External(camera));
    let buffer = BufferDesc::new(Bytes(128));
    let filled = frame.resource("filled", buffer, Persistence::External(filled));
    let scene = one_queue(&mut frame, vk::QueueFlags::COMPUTE);
    let pass = frame.compute_pass(scene, "convert").sampled(camera);
    pass.storage_write(filled);
    let frame = frame.build().unwrap();
    assert_eq!(Frame::from_json(&frame.to_json()).unwrap(), frame);
    plan_on(&frame, "adreno-830")
}

#[test]
fn external_resources_are_acquired_from_their_family_and_released_to_it() {
    let plan = foreign();
    let lowering_desc = LoweringDesc::first(DeviceQueues::single_queue(&plan.frame));
    let tables = lower(&plan, &lowering_desc).unwrap().into_inner();
    let (own, foreign) = (0, vk::QUEUE_FAMILY_FOREIGN_EXT);
    let (none, external) = (vk::QUEUE_FAMILY_IGNORED, vk::QUEUE_FAMILY_EXTERNAL);
    let families = |src, dst| Families { src, dst };
    let images: Vec<_> = tables.image_barriers.iter().map(|row| row.families).collect();
    let buffers: Vec<_> = tables.buffer_barriers.iter().map(|row| row.families).collect();
    assert_eq!(images, [families(foreign, own), families(own, foreign)]);
    assert_eq!(buffers, [families(none, none), families(own, external)]);

    let device = crate::lowered_check::device(&plan, &lowering_desc);
    let wrong = [
        (0, families(none, none), LoweringRule::Owner),
        (
            0,
            families(foreign, 7),
            LoweringRule::Parameter("queueFamilyIndex"),
        ),
        (0, families(external, own), LoweringRule::NotReleased),
        (1, families(none, none), LoweringRule::NotReleased),
    ];
    for (row, wrong, rule) in wrong {
        let mut damaged = tables.clone();
        damaged.image_barriers[row].families = wrong;
        let errors = damaged.violations(&plan.frame, &lowering_desc, &device);
        assert!(errors.iter().any(|error| error.rule == rule), "{errors:#?}");
    }
}

#[test]
fn color_attachments_that_are_only_read_are_not_stored_or_their_store_is_waited_for() {
    let extent = vk::Extent2D { width: 8, height: 4 };
    let mut frame = FrameBuilder::new("read only", extent);
    let image = frame.image("image", ImageDesc::new(vk::Format::R8G8B8A8_UNORM, extent));
    let scene = one_queue(&mut frame, vk::QueueFlags::GRAPHICS);
    let pass = frame.render_pass(scene, "clear");
    pass.color(image, LoadOp::Clear(ClearValue::ZERO));
    for name in ["first", "second"] {
        let pass = frame.render_pass(scene, name);
        pass.read(image, AccessKind::ColorAttachment);
    }
    let plan = plan_on(&frame.build().unwrap(), "adreno-830");
    let found = |plan: &Checked<Plan>| {
        let lowering_desc = LoweringDesc::first(DeviceQueues::single_queue(&plan.frame));
        let tables = lower(plan, &lowering_desc).unwrap();
        let stores: Vec<_> = tables
            .attachments
            .iter()
            .map(|row| row.operations.store)
            .collect();
        let written = vk::AccessFlags2::COLOR_ATTACHMENT_WRITE;
        let barriers = tables.image_barriers.iter();
        let barriers = barriers.filter(|barrier| barrier.scopes.src_access.contains(written));
        (stores, barriers.count())
    };
    use vk::AttachmentStoreOp as Op;
    assert_eq!(found(&plan), (vec![Op::STORE, Op::NONE, Op::NONE], 1));
    let mut profile = DeviceProfile::clone(&plan.profile);
    profile.features -= Features::STORE_OP_NONE;
    let plan = plan_with(&plan.frame, &profile, &PlanOptions::default());
    assert_eq!(found(&plan), (vec![Op::STORE, Op::STORE, Op::STORE], 2));
}

/// Two images on two queues; the second queue waits for the first at these stages, and reads the first queue's image or fills another.
fn across(waiting: vk::PipelineStageFlags2, reads: bool) -> tileheap::Result<Frame> {
    let extent = vk::Extent2D {
        width: 256,
        height: 256,
    };
    let mut frame = FrameBuilder::new("across", extent);
    let [first, second] =
        ["first", "second"].map(|name| frame.image(name, ImageDesc::new(vk::Format::R8G8B8A8_UNORM, extent)));
    let semaphore = frame.semaphore("semaphore");
    for (index, image) in [first, second].into_iter().enumerate() {
        let queue = frame.queue(format!("queue {index}"), vk::QueueFlags::COMPUTE);
        let submit = frame.submit(queue);
        let batch = frame.batch(submit);
        match index {
            0 => frame.signal(batch, semaphore, vk::PipelineStageFlags2::NONE),
            _ => frame.wait(batch, semaphore, waiting),
        }
        let commands = frame.command_buffer(batch, format!("commands {index}"));
        let pass = frame.compute_pass(commands, format!("pass {index}"));
        match index == 1 && reads {
            true => pass.sampled(first),
            false => pass.storage_write(image),
        };
    }
    frame.build()
}

#[test]
fn a_wait_at_no_stage_orders_nothing() {
    use vk::PipelineStageFlags2 as S;
    for stages in [S::NONE, S::BOTTOM_OF_PIPE] {
        let error = across(stages, true).unwrap_err().to_string();
        assert!(error.contains("on two queues"), "{error}");
        let plan = plan_on(&across(stages, false).unwrap(), "adreno-830");
        for queues in [
            DeviceQueues::single_queue(&plan.frame),
            DeviceQueues::separate_families(&plan.frame),
        ] {
            assert_eq!(frames(&plan, &queues, 3).len(), 3);
        }
    }
    // A signal without stages is widened to the stages of the wait.
    let plan = plan_on(&across(S::COMPUTE_SHADER, true).unwrap(), "adreno-830");
    let frames = frames(&plan, &DeviceQueues::separate_families(&plan.frame), 1);
    let signals = frames[0].signals.iter().map(|row| row.stages);
    assert!(signals.clone().any(|stages| stages.contains(S::COMPUTE_SHADER)));
}

#[test]
fn separate_layouts_leave_the_other_aspect_as_it_is() {
    let extent = vk::Extent2D { width: 8, height: 8 };
    let mut frame = FrameBuilder::new("depth", extent);
    let external = ExternalDesc::in_layout(vk::ImageLayout::DEPTH_READ_ONLY_OPTIMAL);
    let desc = ImageDesc::new(vk::Format::D24_UNORM_S8_UINT, extent);
    let image = frame.resource("image", desc, Persistence::External(external));
    let scene = one_queue(&mut frame, vk::QueueFlags::GRAPHICS);
    let clear = LoadOp::Clear(ClearValue::DepthStencil(1.0, 0));
    let pass = frame.render_pass(scene, "depth").depth(image, clear);
    pass.aspect(vk::ImageAspectFlags::DEPTH);
    let plan = plan_on(&frame.build().unwrap(), "adreno-830");
    let tables = lower(
        &plan,
        &LoweringDesc::first(DeviceQueues::single_queue(&plan.frame)),
    )
    .unwrap();
    assert!(!tables.image_barriers.is_empty());
    for barrier in &tables.image_barriers {
        assert_eq!(barrier.range.aspects, vk::ImageAspectFlags::DEPTH);
    }
}

/// The barriers of an external buffer, each with its cause, in a frame in which each pass only reads (`false`) or only writes it.
fn of_external(entry: ResourceState, exit: ResourceState, writes: &[bool]) -> Vec<(BarrierCause, Scopes)> {
    let extent = vk::Extent2D { width: 8, height: 8 };
    let mut frame = FrameBuilder::new("external", extent);
    let external = Persistence::External(ExternalDesc { entry, exit });
    let buffer = frame.resource("buffer", BufferDesc::new(Bytes(256)), external);
    let scene = one_queue(&mut frame, vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE);
    for (index, writes) in writes.iter().enumerate() {
        let pass = frame.compute_pass(scene, format!("pass {index}"));
        match writes {
            true => pass.storage_write(buffer),
            false => pass.storage_read(buffer),
        };
    }
    let plan = plan_on(&frame.build().unwrap(), "adreno-830");
    let tables = lower(
        &plan,
        &LoweringDesc::first(DeviceQueues::single_queue(&plan.frame)),
    )
    .unwrap();
    let barriers = tables.buffer_barriers.iter();
    barriers.map(|row| (row.cause, row.scopes)).collect()
}

#[test]
fn reads_at_the_ends_of_a_frame_hide_no_write_from_the_caller() {
    use BarrierCause::{Entry, Exit, Hazard};
    use vk::{AccessFlags2 as A, PipelineStageFlags2 as S};
    let state = |stages, access| ResourceState::new(vk::ImageLayout::UNDEFINED, stages, access);
    let indices = state(S::INDEX_INPUT, A::INDEX_READ);
    let compute = state(S::COMPUTE_SHADER, A::SHADER_STORAGE_READ);
    let causes = |entry, exit, writes: &[bool]| {
        let found = of_external(entry, exit, writes).into_iter();
        found.map(|(cause, _)| cause).collect::<Vec<_>>()
    };
    // The write waits for the caller's reads through the read before it.
    let found = of_external(indices, compute, &[false, true, false]);
    let [(Entry, entry), (Hazard, write), (Hazard, _)] = found[..] else {
        panic!("{found:#?}");
    };
    assert_eq!((entry.src_stages, entry.src_access), (indices.stages, A::NONE));
    assert!(write.src_stages.contains(entry.dst_stages), "{write:?}");
    // The caller's reads see the write through the read after it, unless they use the same stages and accesses.
    let found = of_external(compute, indices, &[true, false]);
    let [(Entry, _), (Hazard, read), (Exit, exit)] = found[..] else {
        panic!("{found:#?}");
    };
    assert_eq!((exit.src_stages, exit.src_access), (read.dst_stages, A::NONE));
    assert_eq!(
        (exit.dst_stages, exit.dst_access),
        (indices.stages, indices.access)
    );
    assert_eq!(causes(compute, compute, &[true, false]), [Entry, Hazard]);
    // There are no waits between reads.
    assert_eq!(causes(indices, indices, &[false, false]), []);
}

#[test]
fn an_external_image_that_is_only_read_changes_its_layout_after_the_reads_of_the_caller() {
    use vk::{AccessFlags2 as A, ImageLayout as L, PipelineStageFlags2 as S};
    let entry = ResourceState::new(
        L::SHADER_READ_ONLY_OPTIMAL,
        S::FRAGMENT_SHADER,
        A::SHADER_SAMPLED_READ,
    );
    let exit = ResourceState::new(L::TRANSFER_SRC_OPTIMAL, S::ALL_TRANSFER, A::TRANSFER_READ);
    let extent = vk::Extent2D { width: 8, height: 8 };
    let mut frame = FrameBuilder::new("external", extent);
    let external = Persistence::External(ExternalDesc { entry, exit });
    let desc = ImageDesc::new(vk::Format::R8G8B8A8_UNORM, extent);
    let image = frame.resource("image", desc, external);
    let scene = one_queue(&mut frame, vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE);
    frame.compute_pass(scene, "sample").sampled(image);
    let plan = plan_on(&frame.build().unwrap(), "adreno-830");
    let tables = lower(
        &plan,
        &LoweringDesc::first(DeviceQueues::single_queue(&plan.frame)),
    )
    .unwrap();
    let stages = |row: &ImageBarrierRow| (row.scopes.src_stages, row.new_layout);
    let found: Vec<_> = tables.image_barriers.iter().map(stages).collect();
    let (fragment, compute) = (S::FRAGMENT_SHADER, S::COMPUTE_SHADER);
    assert_eq!(found, [(fragment, entry.layout), (compute, exit.layout)]);
}

#[test]
fn a_copy_inside_of_an_image_needs_what_a_render_pass_drew() {
    let extent = vk::Extent2D { width: 8, height: 8 };
    for swapped in [false, true] {
        let mut frame = FrameBuilder::new("copy", extent);
        let image = frame.image("image", ImageDesc::new(vk::Format::R8G8B8A8_UNORM, extent));
        let scene = one_queue(&mut frame, vk::QueueFlags::GRAPHICS);
        let pass = frame.render_pass(scene, "draw");
        pass.color(image, LoadOp::Clear(ClearValue::ZERO));
        let pass = frame.transfer_pass(scene, "copy");
        match swapped {
            true => pass.transfer_source(image).transfer_destination(image),
            false => pass.transfer_destination(image).transfer_source(image),
        };
        let plan = plan_on(&frame.build().unwrap(), "adreno-830");
        let tables = lower(
            &plan,
            &LoweringDesc::first(DeviceQueues::single_queue(&plan.frame)),
        )
        .unwrap();
        assert_eq!(
            tables.attachments[0].operations.store,
            vk::AttachmentStoreOp::STORE
        );
        let copied = tables.image_barriers.last().unwrap();
        assert_ne!(copied.old_layout, vk::ImageLayout::UNDEFINED);
    }
}

#[test]
fn layers_on_two_queues_wait_for_what_the_caller_did_on_the_first_one() {
    use vk::{AccessFlags2 as A, ImageLayout as L, PipelineStageFlags2 as S};
    let extent = vk::Extent2D { width: 8, height: 8 };
    let mut frame = FrameBuilder::new("layers", extent);
    let entry = ResourceState::new(L::GENERAL, S::COMPUTE_SHADER, A::SHADER_STORAGE_WRITE);
    let exit = ResourceState::new(L::GENERAL, S::NONE, A::NONE);
    let desc = ImageDesc {
        array_layers: 2,
        ..ImageDesc::new(vk::Format::R8G8B8A8_UNORM, extent)
    };
    let external = Persistence::External(ExternalDesc { entry, exit });
    let image = frame.resource("image", desc, external);
    let semaphore = frame.semaphore("semaphore");
    for layer in 0..2 {
        let queue = frame.queue(format!("queue {layer}"), vk::QueueFlags::COMPUTE);
        let submit = frame.submit(queue);
        let batch = frame.batch(submit);
        match layer {
            0 => frame.signal(batch, semaphore, S::COPY),
            _ => frame.wait(batch, semaphore, S::COMPUTE_SHADER),
        }
        let commands = frame.command_buffer(batch, format!("commands {layer}"));
        let pass = frame.compute_pass(commands, format!("pass {layer}"));
        pass.storage_update(image).layer(layer);
    }
    let plan = plan_on(&frame.build().unwrap(), "adreno-830");
    let queues = [0, 1].map(|index| FamilyQueue { family: 0, index });
    let tables = lower(&plan, &LoweringDesc::first(DeviceQueues::new(&queues))).unwrap();
    let sources = tables.image_barriers.iter().map(|row| row.scopes.src_stages);
    assert_eq!(sources.collect::<Vec<_>>(), [S::COMPUTE_SHADER, S::ALL_COMMANDS]);
    let mut signals = tables.signals.iter();
    assert!(signals.any(|row| row.stages.contains(S::ALL_COMMANDS)));
}

#[test]
fn random_descriptions_are_lowered_without_a_fault_on_any_queues() {
    let profile = Arc::new(
        DeviceProfile::preset("adreno-830")
            .unwrap()
            .without_frame_limits(),
    );
    let (mut lowered, mut faults) = (0, Vec::new());
    for seed in 1..1500 {
        let Ok(frame) = describe(seed).builder().build() else {
            continue;
        };
        let Ok(needs) = estimate(&frame, &profile) else {
            continue;
        };
        let Ok(plan) = make_plan(&frame, &Arc::new(needs), &profile, &Default::default()) else {
            continue;
        };
        let one_family = (0..frame.queues().len() as u32).map(|index| FamilyQueue { family: 0, index });
        let one_family = DeviceQueues::new(&one_family.collect::<Vec<_>>());
        for queues in [
            DeviceQueues::separate_families(&frame),
            DeviceQueues::single_queue(&frame),
            one_family,
        ] {
            match lower(&plan, &LoweringDesc::first(queues)) {
                Err(LowerError::Check(error)) => faults.push(format!("seed {seed}: {error}")),
                result => lowered += u32::from(result.is_ok()),
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
    assert!(lowered > 1500, "{lowered}");
}
