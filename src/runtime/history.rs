//! The first contents of history: zero, so that frame 0 reads something, and always the same.

use ash::vk;

use super::barrier::families_of;
use super::bound_resource::BoundResource;
use super::create::full_subresource_range;
use super::device_queue::DeviceQueue;
use super::device_state::DeviceState;
use super::error::RuntimeError;
use super::one_shot::OneShotCommands;
use crate::Result;
use crate::frame::tables::{Resource, Version};
use crate::frame::{PassId, Persistence, ResourceId};
use crate::plan::passes::{Barrier, TransferHalf};
use crate::plan::{PlacementId, Plan};

/// One copy of a history resource, to be cleared.
struct Copy<'a> {
    resource: &'a Resource,
    place: BoundResource,
    /// The layout in which the first frame expects the previous version.
    layout: vk::ImageLayout,
    queue: DeviceQueue,
    /// From and to which family the first frame acquires it; ignored where it does not.
    families: (u32, u32),
}

/// Clears both copies of every history resource of which the previous version is read, and waits for it.
pub(super) fn clear(
    state: &DeviceState,
    plan: &Plan,
    queues: &[DeviceQueue],
    places: &[BoundResource],
) -> Result<()> {
    let copies: Vec<Copy<'_>> = plan
        .frame
        .resource_ids()
        .flat_map(|id| copies_of(plan, queues, places, id))
        .collect();
    for (index, queue) in queues.iter().enumerate() {
        // Queues of the frame may share one of the device.
        let first = !queues[..index].contains(queue);
        let mine: Vec<_> = copies
            .iter()
            .filter(|copy| first && copy.queue == *queue)
            .collect();
        if !mine.is_empty() {
            tracing::debug!(copies = mine.len(), "clearing history");
            // SAFETY: the queue is the device's.
            let once = unsafe { OneShotCommands::begin(&state.device, *queue, "clearing history") }?;
            for copy in mine {
                clear_one(state, once.command_buffer(), copy)?;
            }
            // SAFETY: no other thread uses the queue (`Device::bind` says so), and the resources are alive.
            unsafe { once.submit_and_wait() }?;
        }
    }
    Ok(())
}

fn copies_of<'a>(
    plan: &'a Plan,
    queues: &[DeviceQueue],
    places: &[BoundResource],
    id: ResourceId,
) -> Vec<Copy<'a>> {
    let resource = plan.frame.resource(id);
    let placements = plan.resources[id.index()].placements.indices();
    let reads = plan.frame.uses_of(id).iter().map(|&index| index as usize);
    let first = reads
        .into_iter()
        .find(|&index| plan.frame.accesses()[index].version == Version::Previous);
    let Some(read) = first.filter(|_| resource.persistence == Persistence::History && placements.len() == 2)
    else {
        return Vec::new();
    };
    let previous = PlacementId(placements.start as u32 + 1);
    let entry = entry_of(plan, previous);
    let ignored = (vk::QUEUE_FAMILY_IGNORED, vk::QUEUE_FAMILY_IGNORED);
    let reader = queues[plan.frame.queue_of(plan.frame.accesses()[read].pass).index()];
    let layout = entry.map_or(plan.accesses[read].layout, |barrier| barrier.old_layout);
    let transfer = entry.and_then(|barrier| {
        let families = families_of(barrier, queues).filter(|families| *families != ignored)?;
        Some((queues[barrier.transfer?.from.index()], families))
    });
    let (queue, families) = transfer.unwrap_or((reader, ignored));
    placements
        .map(|index| {
            // Only the copy that frame 0 reads is acquired in it; the other one is written first, its contents discarded.
            let families = if index == previous.index() {
                families
            } else {
                ignored
            };
            Copy {
                resource,
                place: places[index],
                layout,
                queue,
                families,
            }
        })
        .collect()
}

/// The barrier through which the previous version comes into a frame.
fn entry_of(plan: &Plan, previous: PlacementId) -> Option<&Barrier> {
    let before = |pass: PassId| plan.passes[pass.index()].before.of(&plan.barriers).iter();
    let release = |barrier: &&Barrier| {
        barrier
            .transfer
            .is_some_and(|one| one.half == TransferHalf::Release)
    };
    let barriers = plan.frame.pass_ids().flat_map(before);
    barriers
        .filter(|barrier| !release(barrier))
        .find(|barrier| barrier.placement == previous)
}

/// Records: to the layout for clearing, clear, to the layout for the first frame.
fn clear_one(state: &DeviceState, commands: vk::CommandBuffer, copy: &Copy<'_>) -> Result<()> {
    use vk::{AccessFlags as A, PipelineStageFlags as S};
    let device = &state.device;
    // A release makes available only; what acquires makes visible.
    let released = copy.families.0 != vk::QUEUE_FAMILY_IGNORED;
    let visible = if released {
        A::empty()
    } else {
        A::MEMORY_READ | A::MEMORY_WRITE
    };
    let (from, to) = copy.families;
    match copy.place {
        BoundResource::Image(image) => {
            let aspects = copy.resource.aspects();
            let colour = aspects.contains(vk::ImageAspectFlags::COLOR);
            let needed = if colour {
                vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE
            } else {
                vk::QueueFlags::GRAPHICS
            };
            if !copy.queue.capabilities.intersects(needed) {
                let why =
                    format!("its first contents need a queue of {needed:?} where its history is first used");
                return Err(RuntimeError::Unsupported {
                    resource: copy.resource.name.clone(),
                    why,
                }
                .into());
            }
            let range = full_subresource_range(aspects);
            let into = vk::ImageMemoryBarrier::default()
                .dst_access_mask(A::TRANSFER_WRITE)
                .old_layout(vk::ImageLayout::UNDEFINED)
                .new_layout(vk::ImageLayout::TRANSFER_DST_OPTIMAL)
                .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                .image(image.handle)
                .subresource_range(range);
            barrier(state, commands, (S::TOP_OF_PIPE, S::TRANSFER), &[], &[into]);
            let layout = vk::ImageLayout::TRANSFER_DST_OPTIMAL;
            if colour {
                let zero = vk::ClearColorValue { uint32: [0; 4] };
                // SAFETY: recording on a graphics or compute queue; history images have TRANSFER_DST usage.
                unsafe { device.cmd_clear_color_image(commands, image.handle, layout, &zero, &[range]) };
            } else {
                let zero = vk::ClearDepthStencilValue {
                    depth: 0.0,
                    stencil: 0,
                };
                // SAFETY: recording on a graphics queue; history images have TRANSFER_DST usage.
                unsafe {
                    device.cmd_clear_depth_stencil_image(commands, image.handle, layout, &zero, &[range])
                };
            }
            let out = into
                .src_access_mask(A::TRANSFER_WRITE)
                .dst_access_mask(visible)
                .old_layout(layout)
                .new_layout(copy.layout)
                .src_queue_family_index(from)
                .dst_queue_family_index(to);
            barrier(state, commands, (S::TRANSFER, S::ALL_COMMANDS), &[], &[out]);
        }
        BoundResource::Buffer(buffer) => {
            // SAFETY: recording; history buffers have TRANSFER_DST usage; the size's rest below 4 bytes is left out.
            unsafe { device.cmd_fill_buffer(commands, buffer.handle, 0, vk::WHOLE_SIZE, 0) };
            let out = vk::BufferMemoryBarrier::default()
                .src_access_mask(A::TRANSFER_WRITE)
                .dst_access_mask(visible)
                .src_queue_family_index(from)
                .dst_queue_family_index(to)
                .buffer(buffer.handle)
                .size(vk::WHOLE_SIZE);
            barrier(state, commands, (S::TRANSFER, S::ALL_COMMANDS), &[out], &[]);
        }
        BoundResource::Missing => {}
    }
    Ok(())
}

fn barrier(
    state: &DeviceState,
    commands: vk::CommandBuffer,
    (src, dst): (vk::PipelineStageFlags, vk::PipelineStageFlags),
    buffers: &[vk::BufferMemoryBarrier<'_>],
    images: &[vk::ImageMemoryBarrier<'_>],
) {
    let none = vk::DependencyFlags::empty();
    // SAFETY: recording outside render passes; the handles are alive.
    unsafe {
        state
            .device
            .cmd_pipeline_barrier(commands, src, dst, none, &[], buffers, images)
    };
}
