//! Barriers: the plan's, made into Vulkan's structs once, and recorded as one call before and one after each pass.
//!
//! The structs of all passes lie in flat tables, so that recording hands out slices and builds nothing. Only external
//! resources change from frame to frame; their handles are written into the tables when a frame begins.

use ash::vk;

use super::bound_resource::BoundResource;
use super::create::full_subresource_range;
use super::device_queue::DeviceQueue;
use super::functions::Functions;
use super::legacy;
use crate::frame::{PassId, Persistence};
use crate::plan::passes::{Barrier, BarrierCause, TransferHalf};
use crate::plan::{PlacementId, Plan};
use crate::units::Run;

/// The side of a pass.
#[derive(Clone, Copy)]
pub(super) enum Side {
    LoadOp = 0,
    After = 1,
}

/// The barriers of one call.
#[derive(Clone, Copy, Default)]
struct Batch {
    images: Run,
    buffers: Run,
    memory: Run,
    /// All stages together, for the call that takes one pair of masks.
    stages: (vk::PipelineStageFlags, vk::PipelineStageFlags),
}

/// The barriers of every pass of a frame, of one parity.
pub(super) struct Barriers {
    /// Per pass, before and after.
    batches: Vec<[Batch; 2]>,
    structs: Structs,
    /// What to write anew for every frame.
    external: Vec<External>,
}

enum Structs {
    /// `vkCmdPipelineBarrier2`.
    Two(Two),
    /// `vkCmdPipelineBarrier`.
    One {
        images: Vec<vk::ImageMemoryBarrier<'static>>,
        buffers: Vec<vk::BufferMemoryBarrier<'static>>,
        memory: Vec<vk::MemoryBarrier<'static>>,
    },
}

#[derive(Default)]
struct Two {
    images: Vec<vk::ImageMemoryBarrier2<'static>>,
    buffers: Vec<vk::BufferMemoryBarrier2<'static>>,
    memory: Vec<vk::MemoryBarrier2<'static>>,
}

/// A barrier of an external resource: its place in the table of images or of buffers.
struct External {
    placement: PlacementId,
    index: usize,
}

impl Barriers {
    /// `places` are the objects of the plan's placements in frames of one parity.
    pub(super) fn new(
        plan: &Plan,
        places: &[BoundResource],
        queues: &[DeviceQueue],
        synchronization_2: bool,
    ) -> Barriers {
        let mut two = Two::default();
        let mut external = Vec::new();
        let mut batch = |run: Run| {
            let starts = (
                two.images.len() as u32,
                two.buffers.len() as u32,
                two.memory.len() as u32,
            );
            for barrier in run.of(&plan.barriers) {
                let Some(families) = families_of(barrier, queues) else {
                    continue;
                };
                let index = two.push(
                    plan,
                    barrier,
                    places[barrier.placement.index()],
                    families,
                    starts.2 as usize,
                );
                if matches!(
                    plan.frame.resource(barrier.resource).persistence,
                    Persistence::External(_)
                ) {
                    external.push(External {
                        placement: barrier.placement,
                        index,
                    });
                }
            }
            Batch {
                images: Run {
                    first: starts.0,
                    end: two.images.len() as u32,
                },
                buffers: Run {
                    first: starts.1,
                    end: two.buffers.len() as u32,
                },
                memory: Run {
                    first: starts.2,
                    end: two.memory.len() as u32,
                },
                stages: Default::default(),
            }
        };
        let mut batches: Vec<[Batch; 2]> = plan
            .passes
            .iter()
            .map(|pass| [batch(pass.before), batch(pass.after)])
            .collect();
        let structs = if synchronization_2 {
            Structs::Two(two)
        } else {
            for batch in batches.as_flattened_mut() {
                batch.stages = two.stages_of(batch);
            }
            two.into_one()
        };
        Barriers {
            batches,
            structs,
            external,
        }
    }

    /// Writes the handles of external resources into the tables.
    pub(super) fn refresh(&mut self, places: &[BoundResource]) {
        for external in &self.external {
            let index = external.index;
            match (places[external.placement.index()], &mut self.structs) {
                (BoundResource::Image(image), Structs::Two(two)) => two.images[index].image = image.handle,
                (BoundResource::Image(image), Structs::One { images, .. }) => {
                    images[index].image = image.handle
                }
                (BoundResource::Buffer(buffer), Structs::Two(two)) => {
                    let barrier = &mut two.buffers[index];
                    (barrier.buffer, barrier.offset, barrier.size) =
                        (buffer.handle, buffer.offset, buffer.size);
                }
                (BoundResource::Buffer(buffer), Structs::One { buffers, .. }) => {
                    let barrier = &mut buffers[index];
                    (barrier.buffer, barrier.offset, barrier.size) =
                        (buffer.handle, buffer.offset, buffer.size);
                }
                (BoundResource::Missing, _) => {}
            }
        }
    }

    /// Records the barriers on one side of a pass, in one call; none if there are none.
    ///
    /// # Safety
    /// `commands` is recording, outside a render pass; the functions are those of its device.
    pub(super) unsafe fn record(
        &self,
        device: &ash::Device,
        functions: &Functions,
        commands: vk::CommandBuffer,
        pass: PassId,
        side: Side,
    ) {
        let batch = &self.batches[pass.index()][side as usize];
        if batch.images.is_empty() && batch.buffers.is_empty() && batch.memory.is_empty() {
            return;
        }
        match (&self.structs, &functions.synchronization_2) {
            (Structs::Two(two), Some(functions)) => {
                let info = vk::DependencyInfo::default()
                    .image_memory_barriers(batch.images.of(&two.images))
                    .buffer_memory_barriers(batch.buffers.of(&two.buffers))
                    .memory_barriers(batch.memory.of(&two.memory));
                // SAFETY: the caller's duty; the handles are alive, the bound plan's or imported for this frame.
                unsafe { (functions.cmd_pipeline_barrier2_khr)(commands, &info) };
            }
            (
                Structs::One {
                    images,
                    buffers,
                    memory,
                },
                _,
            ) => {
                // SAFETY: as above.
                unsafe {
                    device.cmd_pipeline_barrier(
                        commands,
                        batch.stages.0,
                        batch.stages.1,
                        vk::DependencyFlags::empty(),
                        batch.memory.of(memory),
                        batch.buffers.of(buffers),
                        batch.images.of(images),
                    );
                }
            }
            (Structs::Two(_), None) => unreachable!("the tables were made for the device's functions"),
        }
    }
}

impl Two {
    /// Adds a barrier; gives its index in the table of its kind. Its batch's memory barriers start at `first_memory`.
    fn push(
        &mut self,
        plan: &Plan,
        barrier: &Barrier,
        place: BoundResource,
        (from, to): (u32, u32),
        first_memory: usize,
    ) -> usize {
        if matches!(barrier.cause, BarrierCause::Aliasing | BarrierCause::Ladder) {
            // The bytes were another resource's, or another image's of the same resource: that one's accesses are outside an image or buffer barrier's scope.
            let memory = vk::MemoryBarrier2::default()
                .src_stage_mask(barrier.src_stages)
                .src_access_mask(barrier.src_access)
                .dst_stage_mask(barrier.dst_stages)
                .dst_access_mask(barrier.dst_access);
            let same = |other: &vk::MemoryBarrier2<'_>| {
                (
                    other.src_stage_mask,
                    other.src_access_mask,
                    other.dst_stage_mask,
                    other.dst_access_mask,
                ) == (
                    barrier.src_stages,
                    barrier.src_access,
                    barrier.dst_stages,
                    barrier.dst_access,
                )
            };
            if !self.memory[first_memory..].iter().any(same) {
                self.memory.push(memory);
            }
        }
        let resource = plan.frame.resource(barrier.resource);
        if resource.is_image() {
            let image = if let BoundResource::Image(image) = place {
                image.handle
            } else {
                vk::Image::null()
            };
            self.images.push(
                vk::ImageMemoryBarrier2::default()
                    .src_stage_mask(barrier.src_stages)
                    .src_access_mask(barrier.src_access)
                    .dst_stage_mask(barrier.dst_stages)
                    .dst_access_mask(barrier.dst_access)
                    .old_layout(barrier.old_layout)
                    .new_layout(barrier.new_layout)
                    .src_queue_family_index(from)
                    .dst_queue_family_index(to)
                    .image(image)
                    .subresource_range(full_subresource_range(resource.aspects())),
            );
            self.images.len() - 1
        } else {
            let buffer = if let BoundResource::Buffer(buffer) = place {
                buffer
            } else {
                Default::default()
            };
            self.buffers.push(
                vk::BufferMemoryBarrier2::default()
                    .src_stage_mask(barrier.src_stages)
                    .src_access_mask(barrier.src_access)
                    .dst_stage_mask(barrier.dst_stages)
                    .dst_access_mask(barrier.dst_access)
                    .src_queue_family_index(from)
                    .dst_queue_family_index(to)
                    .buffer(buffer.handle)
                    .offset(buffer.offset)
                    .size(buffer.size),
            );
            self.buffers.len() - 1
        }
    }

    /// All source stages and all destination stages of a batch, in the older flags.
    fn stages_of(&self, batch: &Batch) -> (vk::PipelineStageFlags, vk::PipelineStageFlags) {
        let images = batch
            .images
            .of(&self.images)
            .iter()
            .map(|one| (one.src_stage_mask, one.dst_stage_mask));
        let buffers = batch
            .buffers
            .of(&self.buffers)
            .iter()
            .map(|one| (one.src_stage_mask, one.dst_stage_mask));
        let memory = batch
            .memory
            .of(&self.memory)
            .iter()
            .map(|one| (one.src_stage_mask, one.dst_stage_mask));
        let none = vk::PipelineStageFlags2::NONE;
        let (src, dst) = images
            .chain(buffers)
            .chain(memory)
            .fold((none, none), |sum, one| (sum.0 | one.0, sum.1 | one.1));
        (legacy::source_stages(src), legacy::destination_stages(dst))
    }

    /// The same barriers in the older structs.
    fn into_one(self) -> Structs {
        let image = |one: vk::ImageMemoryBarrier2<'static>| {
            vk::ImageMemoryBarrier::default()
                .src_access_mask(legacy::access(one.src_access_mask))
                .dst_access_mask(legacy::access(one.dst_access_mask))
                .old_layout(one.old_layout)
                .new_layout(one.new_layout)
                .src_queue_family_index(one.src_queue_family_index)
                .dst_queue_family_index(one.dst_queue_family_index)
                .image(one.image)
                .subresource_range(one.subresource_range)
        };
        let buffer = |one: vk::BufferMemoryBarrier2<'static>| {
            vk::BufferMemoryBarrier::default()
                .src_access_mask(legacy::access(one.src_access_mask))
                .dst_access_mask(legacy::access(one.dst_access_mask))
                .src_queue_family_index(one.src_queue_family_index)
                .dst_queue_family_index(one.dst_queue_family_index)
                .buffer(one.buffer)
                .offset(one.offset)
                .size(one.size)
        };
        let memory = |one: vk::MemoryBarrier2<'static>| {
            vk::MemoryBarrier::default()
                .src_access_mask(legacy::access(one.src_access_mask))
                .dst_access_mask(legacy::access(one.dst_access_mask))
        };
        Structs::One {
            images: self.images.into_iter().map(image).collect(),
            buffers: self.buffers.into_iter().map(buffer).collect(),
            memory: self.memory.into_iter().map(memory).collect(),
        }
    }
}

/// The queue families of a barrier: both ignored unless it is half of a transfer between two families; `None` for a
/// release where both queues have one family, since its acquire alone is then an ordinary barrier.
pub(super) fn families_of(barrier: &Barrier, queues: &[DeviceQueue]) -> Option<(u32, u32)> {
    let ignored = (vk::QUEUE_FAMILY_IGNORED, vk::QUEUE_FAMILY_IGNORED);
    let Some(transfer) = barrier.transfer else {
        return Some(ignored);
    };
    let (from, to) = (
        queues[transfer.from.index()].family,
        queues[transfer.to.index()].family,
    );
    match transfer.half {
        _ if from != to => Some((from, to)),
        TransferHalf::Release => None,
        TransferHalf::Acquire => Some(ignored),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::frame::{ClearValue, Frame, FrameBuilder, ImageDesc, LoadOp};
    use crate::measure::estimate;
    use crate::plan::{PlanOptions, plan};
    use crate::profile::DeviceProfile;

    /// An image made on one queue and read on another.
    fn frame() -> Frame {
        let extent = vk::Extent2D { width: 4, height: 4 };
        let mut frame = FrameBuilder::new("two queues", extent);
        let image = frame.image("image", ImageDesc::new(vk::Format::R8G8B8A8_UNORM, extent));
        let (draws, computes) = (vk::QueueFlags::GRAPHICS, vk::QueueFlags::COMPUTE);
        let (graphics, compute) = (frame.queue("graphics", draws), frame.queue("compute", computes));
        let drawn = frame.semaphore("drawn");
        let submit = frame.submit(graphics);
        let batch = frame.batch(submit);
        frame.signal(batch, drawn, vk::PipelineStageFlags2::ALL_COMMANDS);
        let commands = frame.command_buffer(batch, "draw");
        frame
            .render_pass(commands, "draw")
            .color(image, LoadOp::Clear(ClearValue::ZERO));
        let submit = frame.submit(compute);
        let batch = frame.batch(submit);
        frame.wait(batch, drawn, vk::PipelineStageFlags2::ALL_COMMANDS);
        let commands = frame.command_buffer(batch, "read");
        frame.compute_pass(commands, "read").sampled(image);
        frame.build().expect("a sound frame")
    }

    /// Families of the image barriers before and after each pass, on queues of such families.
    fn families(of: [u32; 2]) -> Vec<[Vec<(u32, u32)>; 2]> {
        let frame = frame();
        let profile = Arc::new(DeviceProfile::preset("no-tile-memory").expect("known"));
        let requirements = Arc::new(estimate(&frame, &profile).expect("estimated"));
        let plan = plan(&frame, &requirements, &profile, &PlanOptions::default()).expect("a plan");
        let queues = of.map(|family| DeviceQueue {
            handle: vk::Queue::null(),
            family,
            capabilities: vk::QueueFlags::GRAPHICS,
        });
        let places = vec![BoundResource::Missing; plan.placements.len()];
        let barriers = Barriers::new(&plan, &places, &queues, true);
        let Structs::Two(two) = &barriers.structs else {
            panic!("created for synchronization2");
        };
        let of_batch = |batch: &Batch| {
            let images = batch.images.of(&two.images).iter();
            images
                .map(|one| (one.src_queue_family_index, one.dst_queue_family_index))
                .collect()
        };
        barriers
            .batches
            .iter()
            .map(|[before, after]| [of_batch(before), of_batch(after)])
            .collect()
    }

    #[test]
    fn a_transfer_is_released_and_acquired() {
        let none = (vk::QUEUE_FAMILY_IGNORED, vk::QUEUE_FAMILY_IGNORED);
        assert_eq!(
            families([0, 2]),
            [[vec![none], vec![(0, 2)]], [vec![(0, 2)], vec![]]]
        );
    }

    #[test]
    fn within_one_family_the_acquire_alone_remains() {
        let none = (vk::QUEUE_FAMILY_IGNORED, vk::QUEUE_FAMILY_IGNORED);
        assert_eq!(families([1, 1]), [[vec![none], vec![]], [vec![none], vec![]]]);
    }
}
