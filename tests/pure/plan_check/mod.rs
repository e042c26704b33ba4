//! The plan checker on plans made by hand: it accepts the sound ones, and names what is wrong with the others.
//!
//! A test damages a sound plan in one way and looks for the fault that belongs to it, among others where the damage breaks
//! several rules.

use crate::hand::{BLOCK, DEVICE_LOCAL, Eraser, LAZY, TILE, deferred, late, two_queues};
use ash::vk::PipelineStageFlags2 as S;
use std::sync::Arc;
use tileheap::lower::check::DeviceFacts;
use tileheap::lower::{DeviceQueues, Situation, lower};
use tileheap::measure::{Dedicated, Requirements, ResourceRequirements};
use tileheap::plan::check::{CheckError, Rule};
use tileheap::plan::{MemoryKind, ObjectId, PlacementReason, Plan, Strategy, Totals};
use tileheap::profile::DeviceProfile;
use tileheap::units::{Alignment, Bytes, Run, Span};

/// The faults of a sound plan after `damage`.
fn faults(mut plan: Plan, damage: impl FnOnce(&mut Plan)) -> Vec<CheckError> {
    assert_eq!(plan.violations(), [], "the plan is sound before the damage");
    damage(&mut plan);
    plan.violations()
}

/// Asserts that a sound plan breaks a rule after `damage`, with these words.
fn assert_broken(plan: Plan, rule: Rule, words: &[&str], damage: impl FnOnce(&mut Plan)) {
    let found = faults(plan, damage);
    let says = |fault: &CheckError| words.iter().all(|one| fault.message.contains(one));
    let is_named = found.iter().any(|fault| fault.rule == rule && says(fault));
    assert!(is_named, "none of these is {rule:?} with {words:?}: {found:#?}");
}

mod bytes;
mod contents;
mod residence;
mod structure;
mod totals;

fn change_profile(plan: &mut Plan, change: impl FnOnce(&mut DeviceProfile)) {
    change(Arc::make_mut(&mut plan.profile));
}

fn change_requirement(plan: &mut Plan, resource: &str, change: impl FnOnce(&mut ResourceRequirements)) {
    let index = plan.frame.resource_named(resource).unwrap().index();
    let requirements: &mut Requirements = Arc::make_mut(&mut plan.requirements);
    change(&mut requirements.resources[index]);
}

/// The plan that reads tile memory in the second batch, on a device that allows it.
fn late_in_submit() -> Plan {
    let mut plan = late();
    change_profile(&mut plan, |profile| {
        profile.tile.as_mut().unwrap().queue_submit_boundary = true
    });
    plan
}

#[test]
fn a_sound_plan_is_accepted() {
    assert_eq!(deferred().violations(), []);
    assert_eq!(deferred().check(), Ok(()));
    assert_lowered(&deferred());
    assert_lowered(&late_in_submit());
}

/// Lowers a plan for two frames, which the checker of tables accepts.
fn assert_lowered(plan: &Plan) {
    for queues in [DeviceQueues::apart(&plan.frame), DeviceQueues::one(&plan.frame)] {
        let device = DeviceFacts::declared(&plan.profile, &plan.requirements, &plan.frame, &queues);
        let mut situation = Situation::first(queues);
        for _ in 0..2 {
            let tables = lower(plan, &situation).expect("lowered");
            assert_eq!(tables.violations(&plan.frame, &situation, &device), []);
            situation = situation.after(&tables);
        }
    }
}

#[test]
fn a_sound_plan_on_two_queues_is_accepted() {
    assert_eq!(two_queues(S::ALL_COMMANDS).violations(), []);
    assert_lowered(&two_queues(S::ALL_COMMANDS));
}

#[test]
fn faults_name_the_thing_the_demand_and_the_limit() {
    let found = faults(deferred(), |plan| {
        plan.placement("depth", 0).offset = Bytes(5 * 8192)
    });
    assert_eq!(
        found[0].to_string(),
        "resource `depth` is at offset 40,960 B in Tile, no multiple of its alignment 12,288 B \
         (VUID-VkBindImageMemoryInfo-pNext-12329, -VkBindBufferMemoryInfo-memory-10740)"
    );
}
