//! Builds the object `recording` of a frame document from submitted commands and host steps.

use std::collections::HashMap;
use std::sync::Arc;

use ash::vk;
use tileheap::format;
use tileheap_sync::program::SharingMode;

#[cfg(test)]
use super::objects::Buffer;
use super::objects::{Image, Resource};
use super::recording::RecordedList;
use super::submits::{HostStep, Queue, Submits};
use crate::document::MemoryBinding;
use crate::document::recording::{self, Batch, CommandBuffer, MemoryFacts, RecordedStep, Recording};

/// Maps numbers to consecutive numbers from 0, in order of first occurrence.
#[derive(Default)]
struct Renumbered(HashMap<u64, u32>);

impl Renumbered {
    fn number(&mut self, of: u64) -> u32 {
        let next = self.0.len() as u32;
        *self.0.entry(of).or_insert(next)
    }
}

/// A recording that is being built.
#[derive(Default)]
struct Builder {
    recording: Recording,
    memories: Renumbered,
    alias_groups: Renumbered,
    queues: Renumbered,
    /// The numbers of command buffers for each recorded list of commands: more than one if descriptors changed between submits.
    known: HashMap<*const RecordedList, Vec<u32>>,
    /// True if the device has the feature `maintenance9`.
    has_maintenance9: bool,
}

/// Builds a recording of a frame's submits and host steps. `granularity` is the device's `bufferImageGranularity`; `has_maintenance9` is true if the device
/// has the feature `maintenance9`.
pub(crate) fn recording(frame: &Submits, granularity: u64, has_maintenance9: bool) -> Recording {
    let mut builder = Builder {
        has_maintenance9,
        ..Builder::default()
    };
    builder.recording.granularity = granularity;
    let resources = frame.resources.all.iter();
    for resource in resources {
        let described = builder.resource(resource, frame);
        builder.recording.resources.push(described);
    }
    for step in &frame.steps {
        let step = builder.step(step, frame);
        builder.recording.steps.push(step);
    }
    let named = builder.recording.steps.iter().flat_map(semaphores);
    let mut named: Vec<u32> = named.collect();
    named.sort_unstable();
    named.dedup();
    let before = &frame.before;
    for semaphore in named {
        if let Some(value) = before.timelines.get(&semaphore) {
            builder.recording.timelines.push((semaphore, *value));
        } else if before.signaled.contains(&semaphore) {
            builder.recording.signaled.push(semaphore);
        }
    }
    builder.recording
}

/// Returns the sharing mode of a resource, on a device with or without the feature `maintenance9`.
fn sharing_of(resource: &Resource, has_maintenance9: bool) -> SharingMode {
    let mode = resource.common().sharing_mode;
    match resource {
        Resource::Buffer(_) => SharingMode::of_buffer(mode, has_maintenance9),
        Resource::Image(image) => {
            let tiling = match image.linear {
                true => vk::ImageTiling::LINEAR,
                false => vk::ImageTiling::OPTIMAL,
            };
            SharingMode::of_image(mode, tiling, image.desc.usage, has_maintenance9)
        }
    }
}

/// Returns the semaphores that a step refers to.
fn semaphores(step: &RecordedStep) -> Vec<u32> {
    match step {
        RecordedStep::Submit(batch) => {
            let all = batch.waits.iter().chain(&batch.signals);
            all.map(|one| one.semaphore).collect()
        }
        RecordedStep::WaitSemaphore { semaphore, .. } | RecordedStep::SignalSemaphore { semaphore, .. } => {
            vec![*semaphore]
        }
        RecordedStep::Acquire { semaphore, .. } => semaphore.iter().copied().collect(),
        RecordedStep::Present { waits, .. } => waits.clone(),
        RecordedStep::WaitFence(_)
        | RecordedStep::ResetFence(_)
        | RecordedStep::WaitIdle(_)
        | RecordedStep::HostEvent(_)
        | RecordedStep::Outside(_) => Vec::new(),
    }
}

impl Builder {
    fn resource(&mut self, resource: &Resource, frame: &Submits) -> recording::Resource {
        let common = resource.common();
        let (kind, word) = match resource {
            Resource::Buffer(buffer) => (
                recording::ResourceKind::Buffer {
                    size: buffer.desc.size.0,
                },
                "buffer",
            ),
            Resource::Image(image) => (
                self.image(image),
                if image.swapchain {
                    "swapchain image"
                } else {
                    "image"
                },
            ),
        };
        let name = match common.name() {
            name if name.trim().is_empty() => format!("{word} {}", common.number),
            name => name,
        };
        let placement = common.placement().map(|placed| MemoryBinding {
            object: self.memory(placed.object, common.is_mapped()),
            ..placed
        });
        // The contents of linear resources in memory older than the frame are not known.
        let in_new_memory = common
            .placement()
            .is_some_and(|placed| placed.object >= frame.allocated_before);
        let (host_writes, is_undefined) = match resource {
            Resource::Buffer(_) => (common.is_mapped(), in_new_memory),
            Resource::Image(image) => {
                let is_copied = image.desc.usage.contains(vk::ImageUsageFlags::HOST_TRANSFER_EXT);
                // Images that begin in `PREINITIALIZED` or `ZERO_INITIALIZED_EXT` keep the contents of their memory.
                let is_undefined = image.starts_undefined && !image.swapchain;
                (
                    is_copied || image.linear && common.is_mapped(),
                    is_undefined && (!image.linear || in_new_memory),
                )
            }
        };
        recording::Resource {
            name,
            kind,
            placement,
            created: common.number > frame.created_before && !host_writes && is_undefined,
            host_writes,
            concurrent: common.sharing_mode == vk::SharingMode::CONCURRENT,
            exclusive: sharing_of(resource, self.has_maintenance9) == SharingMode::Exclusive,
            unchecked: why_unchecked(resource).map(str::to_owned),
        }
    }

    fn image(&mut self, image: &Image) -> recording::ResourceKind {
        let vk::Extent3D { width, height, depth } = image.extent;
        recording::ResourceKind::Image {
            format: image.desc.format,
            extent: [width, height, depth],
            levels: image.desc.mip_levels,
            layers: image.desc.array_layers,
            is_3d: image.is_3d(),
            linear: image.linear,
            swapchain: image.swapchain,
            alias_group: image.alias_group.map(|group| self.alias_groups.number(group)),
        }
    }

    fn memory(&mut self, allocation: u32, mapped: bool) -> u32 {
        let number = self.memories.number(allocation.into());
        if number as usize == self.recording.memories.len() {
            self.recording.memories.push(MemoryFacts { mapped });
        }
        number
    }

    fn step(&mut self, step: &HostStep, frame: &Submits) -> RecordedStep {
        match step {
            HostStep::Submit { submit, batch, fence } => {
                let (queue, batches) = &frame.submits[*submit];
                self.batch(queue, batches.get(*batch), *fence)
            }
            HostStep::Other(RecordedStep::WaitIdle(Some(queue))) => {
                RecordedStep::WaitIdle(Some(self.queues.number((*queue).into())))
            }
            HostStep::Other(RecordedStep::Submit(batch)) => RecordedStep::Submit(Batch {
                queue: self.queues.number(batch.queue.into()),
                ..batch.clone()
            }),
            HostStep::Other(step) => step.clone(),
        }
    }

    fn batch(
        &mut self,
        queue: &Queue,
        batch: Option<&super::submits::Batch>,
        fence: Option<u32>,
    ) -> RecordedStep {
        let mut step = Batch {
            queue: self.queues.number(queue.number().into()),
            family: queue.family,
            fence,
            ..Batch::default()
        };
        if let Some(batch) = batch {
            step.waits.clone_from(&batch.waits);
            step.signals.clone_from(&batch.signals);
            let commands = batch.commands.iter().map(|one| self.command_buffer(one));
            step.command_buffers = commands.collect();
        }
        RecordedStep::Submit(step)
    }

    /// Returns the index of a command buffer in the recording; submitting it again with equal accesses returns the same index.
    fn command_buffer(&mut self, submitted: &super::submits::Submitted) -> u32 {
        let commands = submitted.flat.as_ref().map_or(&[][..], |flat| &flat.commands);
        let known = self.known.entry(Arc::as_ptr(&submitted.ops)).or_default();
        let all = &mut self.recording.command_buffers;
        if let Some(same) = known.iter().find(|one| all[**one as usize].commands == commands) {
            return *same;
        }
        let number = all.len() as u32;
        known.push(number);
        let name = match &submitted.name {
            name if name.trim().is_empty() => format!("commands {number}"),
            name => name.clone(),
        };
        all.push(CommandBuffer {
            name,
            commands: commands.to_vec(),
        });
        number
    }
}

/// Returns the reason why accesses to a resource cannot be checked; `None` if they can be.
fn why_unchecked(resource: &Resource) -> Option<&'static str> {
    if resource.common().is_shared() {
        return Some("sparse, protected or external memory");
    }
    match resource {
        Resource::Image(image) if format::texel_block(image.desc.format).is_none() => {
            Some("several planes, or an unknown format")
        }
        _ => None,
    }
}

#[test]
fn resources_that_may_need_no_transfer_are_not_exclusive() {
    use vk::{ImageUsageFlags as Usage, SharingMode as Mode};
    let buffer = |mode| vk::BufferCreateInfo::default().size(64).sharing_mode(mode);
    let image = |usage| {
        let info = vk::ImageCreateInfo::default()
            .format(vk::Format::R8_UNORM)
            .usage(usage);
        Resource::Image(Arc::new(Image::new(1, &info)))
    };
    let mut frame = Submits::default();
    for resource in [
        Resource::Buffer(Arc::new(Buffer::new(1, &buffer(Mode::CONCURRENT)))),
        Resource::Buffer(Arc::new(Buffer::new(2, &buffer(Mode::EXCLUSIVE)))),
        image(Usage::SAMPLED),
        image(Usage::COLOR_ATTACHMENT),
    ] {
        frame.resources.number(&resource);
    }
    let exclusive = |has_maintenance9| {
        let resources = recording(&frame, 1, has_maintenance9).resources;
        resources.iter().map(|one| one.exclusive).collect::<Vec<_>>()
    };
    assert_eq!(exclusive(false), [false, true, true, true]);
    assert_eq!(exclusive(true), [false, false, false, true]);
}
