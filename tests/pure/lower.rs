//! Lowering: tables from plans, frame after frame.

use crate::planned::plan_on;
use tileheap::frame::synthetic::{SyntheticDesc, synthetic};
use tileheap::lower::tables::submission::Semaphore;
use tileheap::lower::{Checked, DeviceQueues, Lowered, Lowerer, Situation, lower};
use tileheap::plan::Plan;

fn planned(seed: u64) -> Plan {
    let frame = synthetic(seed, SyntheticDesc::default());
    plan_on(&frame, "adreno-830")
}

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
fn what_was_lowered_before_changes_nothing() {
    let mut lowerer = Lowerer::default();
    for plan in (0..30).map(planned) {
        let situation = Situation::first(DeviceQueues::one(&plan.frame));
        let tables = lowerer.lower(&plan, &situation).unwrap();
        assert_eq!(tables, lower(&plan, &situation).unwrap());
        lowerer.recycle(tables);
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
