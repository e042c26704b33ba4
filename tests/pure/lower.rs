//! Lowering: tables from plans, frame after frame.

use std::sync::Arc;

use crate::planned::plan_on;
use ash::vk;
use ash::vk::PipelineStageFlags2 as S;
use tileheap::frame::synthetic::{SyntheticDesc, synthetic};
use tileheap::frame::{BufferDesc, Frame, FrameBuilder, ImageDesc, LoadOp, SemaphoreId};
use tileheap::lower::tables::commands::BarrierCause;
use tileheap::lower::tables::objects::SharingReason;
use tileheap::lower::tables::submission::Semaphore;
use tileheap::lower::{Checked, DeviceQueues, FamilyQueue, Lowered, Situation, lower};
use tileheap::measure::estimate;
use tileheap::plan::{Plan, PlanOptions, plan};
use tileheap::profile::{DeviceProfile, Features};
use tileheap::units::Bytes;
use tileheap_testkit::frames::one_queue;

fn planned(seed: u64) -> Plan {
    let frame = synthetic(seed, SyntheticDesc::default());
    plan_on(&frame, "adreno-830")
}

/// The first frames of a plan.
fn frames(plan: &Plan, queues: &DeviceQueues, count: usize) -> Vec<Checked<Lowered>> {
    let mut situation = Situation::first(queues.clone());
    let mut frames = Vec::new();
    for _ in 0..count {
        let lowered = lower(plan, &situation).unwrap();
        situation = situation.after(&lowered);
        frames.push(lowered);
    }
    frames
}

#[test]
fn every_other_frame_of_a_plan_has_the_same_tables() {
    for seed in 0..50 {
        let plan = planned(seed);
        for queues in [DeviceQueues::one(&plan.frame), DeviceQueues::apart(&plan.frame)] {
            let frames = frames(&plan, &queues, 6);
            assert_eq!(frames[2], frames[4], "seed {seed}");
            assert_eq!(frames[3], frames[5], "seed {seed}");
        }
    }
}

#[test]
fn on_one_queue_nothing_of_earlier_frames_is_waited_for_by_semaphores() {
    for seed in 0..50 {
        let plan = planned(seed);
        for lowered in frames(&plan, &DeviceQueues::one(&plan.frame), 3) {
            let earlier = |semaphore| matches!(semaphore, Semaphore::Queue { .. });
            assert!(!lowered.waits.iter().any(|wait| earlier(wait.semaphore)));
        }
    }
}

#[test]
fn two_declared_queues_that_are_one_transfer_nothing() {
    let plan = planned(3);
    let own = |family| FamilyQueue { family, index: 0 };
    let queues: Vec<_> = (0..plan.frame.queues().len()).map(|_| own(0)).collect();
    let lowered = frames(&plan, &DeviceQueues::new(&queues), 1).pop().unwrap();
    let ignored = vk::QUEUE_FAMILY_IGNORED;
    assert!(
        lowered
            .image_barriers
            .iter()
            .all(|barrier| barrier.families.src == ignored)
    );
    assert!(
        lowered
            .image_barriers
            .iter()
            .all(|barrier| barrier.cause != BarrierCause::Release)
    );
}

#[test]
fn tables_are_read_back_as_they_were_written() {
    for seed in 0..20 {
        let plan = planned(seed);
        let situation = Situation::first(DeviceQueues::apart(&plan.frame));
        let lowered = lower(&plan, &situation).unwrap();
        let text = lowered.to_json(plan.frame.name(), &situation);
        assert_eq!(
            Lowered::from_json(plan.frame.name(), &text).unwrap(),
            (lowered.into_inner(), situation)
        );
    }
}

#[test]
fn tables_of_another_frame_or_version_are_refused() {
    let plan = planned(1);
    let situation = Situation::first(DeviceQueues::one(&plan.frame));
    let text = lower(&plan, &situation)
        .unwrap()
        .to_json(plan.frame.name(), &situation);
    let refusal = |frame: &str, text: &str| Lowered::from_json(frame, text).unwrap_err().to_string();
    let other = refusal("other", &text);
    assert!(other.contains("this frame is `other`"), "{other}");
    let newer = refusal(
        plan.frame.name(),
        &text.replacen("\"version\": 1", "\"version\": 9", 1),
    );
    assert!(newer.contains("reads version 1"), "{newer}");
}

#[test]
fn a_situation_needs_a_device_queue_for_each_declared_queue() {
    let plan = planned(1);
    let situation = Situation::first(DeviceQueues::new(&[]));
    let refusal = lower(&plan, &situation).unwrap_err().to_string();
    assert!(refusal.contains("and 0 are given"), "{refusal}");
}

/// Depth is drawn, then tested against on the first queue while the second one samples it; both results meet on the first.
///
/// ```text
/// graphics   [ depth ]──drawn──┐  [ shade ]     ┌──occluded──►[ merge ]
/// compute                      └─►[ occlude ]───┘
/// ```
fn concurrent_reads() -> Frame {
    let extent = vk::Extent2D {
        width: 64,
        height: 64,
    };
    let mut frame = FrameBuilder::new("concurrent reads", extent);
    let depth = frame.image("depth", ImageDesc::new(vk::Format::D32_SFLOAT, extent));
    let [lit, ao, merged] = ["lit", "ao", "merged"]
        .map(|name| frame.image(name, ImageDesc::new(vk::Format::R8G8B8A8_UNORM, extent)));
    let graphics = frame.queue("graphics", vk::QueueFlags::GRAPHICS);
    let compute = frame.queue("compute", vk::QueueFlags::COMPUTE);
    let [drawn, occluded] = ["drawn", "occluded"].map(|name| frame.semaphore(name));
    let batch = |frame: &mut FrameBuilder, queue, wait: Option<SemaphoreId>, signal: Option<SemaphoreId>| {
        let submit = frame.submit(queue);
        let batch = frame.batch(submit);
        wait.into_iter()
            .for_each(|semaphore| frame.wait(batch, semaphore, S::ALL_COMMANDS));
        signal
            .into_iter()
            .for_each(|semaphore| frame.signal(batch, semaphore, S::ALL_COMMANDS));
        frame.command_buffer(batch, format!("commands {}", batch.index()))
    };
    let commands = batch(&mut frame, graphics, None, Some(drawn));
    frame
        .render_pass(commands, "depth")
        .depth(depth, LoadOp::DontCare);
    let commands = batch(&mut frame, compute, Some(drawn), Some(occluded));
    frame
        .compute_pass(commands, "occlude")
        .sampled(depth)
        .storage_write(ao);
    let commands = batch(&mut frame, graphics, None, None);
    frame
        .render_pass(commands, "shade")
        .depth_read_only(depth)
        .color(lit, LoadOp::DontCare);
    let commands = batch(&mut frame, graphics, Some(occluded), None);
    (frame.render_pass(commands, "merge").sampled(lit).sampled(ao)).color(merged, LoadOp::DontCare);
    frame.build().unwrap()
}

#[test]
fn several_queues_read_at_the_same_time() {
    let frame = concurrent_reads();
    let row = |tables: &Lowered, name| {
        let resource = frame.resource_named(name);
        let image = tables
            .images
            .iter()
            .find(|image| Some(image.resource) == resource);
        image.unwrap().sharing
    };
    for (store_none, waits) in [(true, 0), (false, 1)] {
        let mut profile = DeviceProfile::preset("adreno-830").unwrap();
        profile.features.set(Features::STORE_OP_NONE, store_none);
        let profile = Arc::new(profile);
        let needs = Arc::new(estimate(&frame, &profile).unwrap());
        let plan = plan(&frame, &needs, &profile, &PlanOptions::default()).unwrap();
        let tables = &frames(&plan, &DeviceQueues::apart(&frame), 1)[0];
        // Ending `shade` writes depth, unless the device can leave it alone: then it waits for the other queue's batch.
        let shade = tables.batches[2].waits.of(&tables.waits);
        assert_eq!(shade.len(), waits, "{}", tables.text(&frame));
        let reason = if store_none {
            SharingReason::ConcurrentReads
        } else {
            SharingReason::Transfers
        };
        assert_eq!(row(tables, "depth").reason, reason);
        assert_eq!(
            row(tables, "depth").families.len(),
            if store_none { 2 } else { 0 }
        );
        assert_eq!(row(tables, "ao").reason, SharingReason::Transfers);
        assert_eq!(row(tables, "lit").reason, SharingReason::OneFamily);
        let said = "shared by queue families [0, 1], which read it at the same time";
        assert_eq!(tables.text(&frame).contains(said), store_none);
    }
}

#[test]
fn shaders_of_a_render_pass_are_any_unless_it_says_fragment() {
    let stages = |narrow: bool| {
        let extent = vk::Extent2D {
            width: 64,
            height: 64,
        };
        let mut frame = FrameBuilder::new("bones", extent);
        let bones = frame.buffer("bones", BufferDesc::new(Bytes(256)));
        let color = frame.image("color", ImageDesc::new(vk::Format::R8G8B8A8_UNORM, extent));
        let commands = one_queue(&mut frame, vk::QueueFlags::GRAPHICS);
        frame.compute_pass(commands, "animate").storage_write(bones);
        let draw = frame.render_pass(commands, "draw").storage_read(bones);
        let draw = if narrow { draw.fragment() } else { draw };
        draw.color(color, LoadOp::DontCare);
        let frame = frame.build().unwrap();
        let plan = plan_on(&frame, "adreno-830");
        let tables = frames(&plan, &DeviceQueues::one(&frame), 1).remove(0);
        let hazard = tables
            .buffer_barriers
            .iter()
            .find(|one| one.cause == BarrierCause::Hazard);
        hazard.unwrap().scopes.dst_stages
    };
    assert_eq!(stages(true), S::FRAGMENT_SHADER);
    assert_eq!(stages(false), S::PRE_RASTERIZATION_SHADERS | S::FRAGMENT_SHADER);
}
