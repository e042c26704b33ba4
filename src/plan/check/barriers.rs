//! Barriers: what Vulkan demands of each by itself.

use ash::vk;

use super::Judge;
use super::scopes::{unmade, unsupported};
use crate::frame::{PassId, QueueId};
use crate::plan::{Barrier, TransferHalf};

/// A barrier that Vulkan does not allow.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BarrierError {
    /// A stage that the queue does not have (VUID-vkCmdPipelineBarrier2-srcStageMask-09675, -dstStageMask-09676).
    #[error(
        "a barrier of `{resource}` at pass `{pass}` names stage {stage:?}, which queue `{queue}` does not have (VUID-vkCmdPipelineBarrier2-srcStageMask-09675)"
    )]
    Stage {
        /// The resource.
        resource: String,
        /// The pass.
        pass: String,
        /// The stage.
        stage: vk::PipelineStageFlags2,
        /// The queue.
        queue: String,
    },
    /// An access that none of the named stages makes (VUID-VkImageMemoryBarrier2-srcAccessMask-03900 and so on).
    #[error(
        "a barrier of `{resource}` at pass `{pass}` names access {access:?}, which no stage of {stages:?} makes (VUID-VkImageMemoryBarrier2-srcAccessMask-03900 and following)"
    )]
    Access {
        /// The resource.
        resource: String,
        /// The pass.
        pass: String,
        /// The access.
        access: vk::AccessFlags2,
        /// The stages.
        stages: vk::PipelineStageFlags2,
    },
    /// A transition to no layout (VUID-VkImageMemoryBarrier2-newLayout-01198).
    #[error(
        "a barrier of image `{resource}` at pass `{pass}` has new layout {layout:?} (VUID-VkImageMemoryBarrier2-newLayout-01198)"
    )]
    NewLayout {
        /// The image.
        resource: String,
        /// The pass.
        pass: String,
        /// The layout.
        layout: vk::ImageLayout,
    },
    /// A buffer with a layout.
    #[error("a barrier of buffer `{resource}` at pass `{pass}` names a layout: buffers have UNDEFINED")]
    BufferLayout {
        /// The buffer.
        resource: String,
        /// The pass.
        pass: String,
    },
    /// Two transitions of one image in one dependency, which are in no order.
    #[error("two barriers at pass `{pass}` change the layout or owner of `{resource}` at once")]
    TwoTransitions {
        /// The resource.
        resource: String,
        /// The pass.
        pass: String,
    },
    /// One half of a queue transfer on the wrong queue.
    #[error(
        "the {half:?} of `{resource}` at pass `{pass}` is recorded on queue `{queue}` and belongs on `{belongs}`"
    )]
    TransferQueue {
        /// The resource.
        resource: String,
        /// The pass.
        pass: String,
        /// Which half.
        half: TransferHalf,
        /// Where it is recorded.
        queue: String,
        /// Where it belongs.
        belongs: String,
    },
    /// A transfer from a queue to itself.
    #[error("the {half:?} of `{resource}` at pass `{pass}` transfers from queue `{queue}` to itself")]
    TransferToItself {
        /// The resource.
        resource: String,
        /// The pass.
        pass: String,
        /// Which half.
        half: TransferHalf,
        /// The queue.
        queue: String,
    },
}

pub(super) fn check(judge: &mut Judge<'_>) {
    let plan = judge.plan;
    for (pass, planned) in plan.frame.pass_ids().zip(&plan.passes) {
        for run in [planned.before, planned.after] {
            let barriers = run.of(&plan.barriers);
            for (index, barrier) in barriers.iter().enumerate() {
                check_scopes(judge, pass, barrier);
                check_layouts(judge, pass, barrier);
                check_queues(judge, pass, barrier);
                let again = |other: &Barrier| other.placement == barrier.placement && is_transition(other);
                if is_transition(barrier) && barriers[..index].iter().any(again) {
                    let (resource, pass) = (judge.resource(barrier.resource), judge.pass(pass));
                    judge.report(BarrierError::TwoTransitions { resource, pass });
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
fn check_scopes(judge: &mut Judge<'_>, pass: PassId, barrier: &Barrier) {
    let plan = judge.plan;
    let half = barrier.transfer.map(|transfer| transfer.half);
    let queue = &plan.frame.queues()[plan.frame.queue_of(pass).index()];
    let source = (barrier.src_stages, barrier.src_access);
    let destination = (barrier.dst_stages, barrier.dst_access);
    let source = (half != Some(TransferHalf::Acquire)).then_some(source);
    let destination = (half != Some(TransferHalf::Release)).then_some(destination);
    for (stages, access) in source.into_iter().chain(destination) {
        if let Some(stage) = unsupported(stages, queue.capabilities) {
            judge.report(BarrierError::Stage {
                resource: judge.resource(barrier.resource),
                pass: judge.pass(pass),
                stage,
                queue: queue.name.clone(),
            });
        }
        if let Some(access) = unmade(stages, access) {
            judge.report(BarrierError::Access {
                resource: judge.resource(barrier.resource),
                pass: judge.pass(pass),
                access,
                stages,
            });
        }
    }
}

fn check_layouts(judge: &mut Judge<'_>, pass: PassId, barrier: &Barrier) {
    let layouts = [barrier.old_layout, barrier.new_layout];
    let (resource, pass) = (judge.resource(barrier.resource), judge.pass(pass));
    if !judge.plan.frame.resource(barrier.resource).is_image() {
        if layouts != [vk::ImageLayout::UNDEFINED; 2] {
            judge.report(BarrierError::BufferLayout { resource, pass });
        }
    } else if [vk::ImageLayout::UNDEFINED, vk::ImageLayout::PREINITIALIZED].contains(&barrier.new_layout) {
        judge.report(BarrierError::NewLayout {
            resource,
            pass,
            layout: barrier.new_layout,
        });
    }
}

fn check_queues(judge: &mut Judge<'_>, pass: PassId, barrier: &Barrier) {
    let frame = &judge.plan.frame;
    let Some(transfer) = barrier.transfer else { return };
    let name = |queue: QueueId| frame.queues()[queue.index()].name.clone();
    let (queue, half) = (frame.queue_of(pass), transfer.half);
    let belongs = match half {
        TransferHalf::Release => transfer.from,
        TransferHalf::Acquire => transfer.to,
    };
    let (resource, pass) = (judge.resource(barrier.resource), judge.pass(pass));
    if transfer.from == transfer.to {
        let queue = name(transfer.from);
        judge.report(BarrierError::TransferToItself {
            resource,
            pass,
            half,
            queue,
        });
    } else if queue != belongs {
        let (queue, belongs) = (name(queue), name(belongs));
        judge.report(BarrierError::TransferQueue {
            resource,
            pass,
            half,
            queue,
            belongs,
        });
    }
}
