//! Barriers: what Vulkan demands of each by itself.

use ash::vk;

use super::checker::Checker;
use super::replay_errors::BarrierError;
use crate::frame::{PassId, QueueId};
use crate::plan::passes::{Barrier, TransferHalf};
use crate::scopes::{unmade, unsupported};

pub(super) fn check(checker: &mut Checker<'_>) {
    let plan = checker.plan;
    for (pass, planned) in plan.frame.pass_ids().zip(&plan.passes) {
        for run in [planned.before, planned.after] {
            let barriers = run.of(&plan.barriers);
            for (index, barrier) in barriers.iter().enumerate() {
                check_scopes(checker, pass, barrier);
                check_layouts(checker, pass, barrier);
                check_queues(checker, pass, barrier);
                let again = |other: &Barrier| other.placement == barrier.placement && is_transition(other);
                if is_transition(barrier) && barriers[..index].iter().any(again) {
                    let (resource, pass) = (checker.resource(barrier.resource), checker.pass(pass));
                    checker.report(BarrierError::TwoTransitions { resource, pass });
                }
            }
        }
    }
}

/// Whether the barrier itself writes the resource: a change of layout, or of the owner.
pub(super) fn is_transition(barrier: &Barrier) -> bool {
    barrier.old_layout != barrier.new_layout || barrier.transfer.is_some()
}

/// The scopes that count: the second of a release and the first of an acquire are ignored by Vulkan.
fn check_scopes(checker: &mut Checker<'_>, pass: PassId, barrier: &Barrier) {
    let plan = checker.plan;
    let half = barrier.transfer.map(|transfer| transfer.half);
    let queue = &plan.frame.queues()[plan.frame.queue_of(pass).index()];
    let source = (barrier.src_stages, barrier.src_access);
    let destination = (barrier.dst_stages, barrier.dst_access);
    let source = (half != Some(TransferHalf::Acquire)).then_some(source);
    let destination = (half != Some(TransferHalf::Release)).then_some(destination);
    for (stages, access) in source.into_iter().chain(destination) {
        if let Some(stage) = unsupported(stages, queue.capabilities) {
            checker.report(BarrierError::Stage {
                resource: checker.resource(barrier.resource),
                pass: checker.pass(pass),
                stage,
                queue: queue.name.clone(),
            });
        }
        if let Some(access) = unmade(stages, access) {
            checker.report(BarrierError::Access {
                resource: checker.resource(barrier.resource),
                pass: checker.pass(pass),
                access,
                stages,
            });
        }
    }
}

fn check_layouts(checker: &mut Checker<'_>, pass: PassId, barrier: &Barrier) {
    let layouts = [barrier.old_layout, barrier.new_layout];
    let (resource, pass) = (checker.resource(barrier.resource), checker.pass(pass));
    if !checker.plan.frame.resource(barrier.resource).is_image() {
        if layouts != [vk::ImageLayout::UNDEFINED; 2] {
            checker.report(BarrierError::BufferLayout { resource, pass });
        }
    } else if [vk::ImageLayout::UNDEFINED, vk::ImageLayout::PREINITIALIZED].contains(&barrier.new_layout) {
        checker.report(BarrierError::NewLayout {
            resource,
            pass,
            layout: barrier.new_layout,
        });
    }
}

fn check_queues(checker: &mut Checker<'_>, pass: PassId, barrier: &Barrier) {
    let frame = &checker.plan.frame;
    let Some(transfer) = barrier.transfer else { return };
    let name = |queue: QueueId| frame.queues()[queue.index()].name.clone();
    let (queue, half) = (frame.queue_of(pass), transfer.half);
    let belongs = match half {
        TransferHalf::Release => transfer.from,
        TransferHalf::Acquire => transfer.to,
    };
    let (resource, pass) = (checker.resource(barrier.resource), checker.pass(pass));
    if transfer.from == transfer.to {
        let queue = name(transfer.from);
        checker.report(BarrierError::TransferToItself {
            resource,
            pass,
            half,
            queue,
        });
    } else if queue != belongs {
        let (queue, belongs) = (name(queue), name(belongs));
        checker.report(BarrierError::TransferQueue {
            resource,
            pass,
            half,
            queue,
            belongs,
        });
    }
}
