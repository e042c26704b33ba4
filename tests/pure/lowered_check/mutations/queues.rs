//! Damage to the order of queues and the sharing of resources between them.

use ash::vk::PipelineStageFlags2 as S;
use tileheap::Checked;
use tileheap::lower::tables::commands::BarrierCause;
use tileheap::lower::tables::objects::ImageRow;
use tileheap::lower::{DeviceQueues, FamilyQueue, Lowered, LoweringDesc, lower};
use tileheap::plan::Plan;
use tileheap::units::Run;

use super::{AMOUNT, Sound, arrangements, device, executable, is_hazard, is_layout, refused, rule_of};
use crate::drawn::frame;
use crate::planned::plan_on;

#[test]
fn tile_memory_of_the_frame_before_is_not_waited_for() {
    // A4, A5: on one device queue a barrier waits for whatever used the bytes before, in any submit and on any declared queue.
    let mut found = 0;
    for seed in 0..100 {
        let Some(plan) = executable(seed) else { continue };
        for queues in arrangements(&plan) {
            let first = LoweringDesc::first(queues);
            let second = first.after(&lower(&plan, &first).unwrap());
            if !second.before.bytes.iter().any(|one| one.space.is_tile()) {
                continue;
            }
            // Tables for unused memory, executed after a frame has used it.
            let mut fresh = second.clone();
            fresh.before.bytes.clear();
            let tables = lower(&plan, &fresh).unwrap();
            let errors = tables.violations(&plan.frame, &second, &device(&plan, &second));
            assert!(errors.iter().any(is_hazard), "seed {seed}: {errors:?}");
            found += 1;
        }
    }
    assert!(found >= AMOUNT.enough, "{found}");
}

#[test]
fn families_that_share_a_resource_are_listed_wrongly() {
    let images = |sound: &Sound| (0..sound.tables.images.len()).collect::<Vec<_>>();
    for families in [vec![0], vec![0, 0], vec![0, 999]] {
        let damage = |tables: &mut Lowered, &row: &usize| {
            let first = tables.families.len() as u32;
            tables.families.extend(&families);
            let end = tables.families.len() as u32;
            tables.images[row].sharing.families = Run::new(first, end);
        };
        refused(images, damage, |error| rule_of(error) == "pQueueFamilyIndices");
    }
}

/// `scene` is drawn on one queue, sampled there and on another one of the same family, and sampled on a third one of another family. Semaphores name
/// the stages of these uses.
fn three_queues() -> Checked<Plan> {
    plan_on(&frame("three queues"), "adreno-830")
}

fn real_queues(queues: [(u32, u32); 3]) -> LoweringDesc {
    let queues = queues.map(|(family, index)| FamilyQueue { family, index });
    LoweringDesc::first(DeviceQueues::new(&queues))
}

#[test]
fn a_resource_that_families_share_is_exclusive() {
    let plan = three_queues();
    let lowering_desc = real_queues([(0, 0), (0, 1), (1, 0)]);
    let mut tables = lower(&plan, &lowering_desc).unwrap().into_inner();
    let is_shared = |image: &&mut ImageRow| !image.sharing.families.is_empty();
    let shared = tables.images.iter_mut().find(is_shared).expect("a shared image");
    shared.sharing.families = Run::default();
    let errors = tables.violations(&plan.frame, &lowering_desc, &device(&plan, &lowering_desc));
    assert!(errors.iter().any(is_layout), "{errors:?}");
}

#[test]
fn transfers_go_through_narrow_semaphores() {
    // A6: without maintenance8, only ALL_COMMANDS orders both halves.
    let plan = three_queues();
    let lowering_desc = real_queues([(0, 0), (1, 0), (2, 0)]);
    let tables = lower(&plan, &lowering_desc).unwrap().into_inner();
    let mut releases = tables.image_barriers.iter();
    assert!(releases.any(|barrier| barrier.cause == BarrierCause::Release));
    let device = device(&plan, &lowering_desc);
    for row in 0..tables.waits.len() {
        let mut narrow = tables.clone();
        narrow.waits[row].stages &= !S::ALL_COMMANDS;
        let errors = narrow.violations(&plan.frame, &lowering_desc, &device);
        assert!(
            errors.iter().any(is_hazard),
            "wait {row}: {errors:?}\n{}",
            tables.text(&plan.frame)
        );
    }
    for row in 0..tables.signals.len() {
        if tables.signals[row].semaphore.queue().is_none() {
            let mut narrow = tables.clone();
            narrow.signals[row].stages &= !S::ALL_COMMANDS;
            let errors = narrow.violations(&plan.frame, &lowering_desc, &device);
            assert!(errors.iter().any(is_hazard), "signal {row}: {errors:?}");
        }
    }
}
