//! Records barriers and events, of both versions.

use ash::vk;

use crate::execute::Executor;
use crate::masks;
use crate::recording::*;
use crate::resources::range;

impl Executor<'_> {
    /// A barrier, or a wait for an event.
    pub(crate) fn barrier(&self, commands: vk::CommandBuffer, barrier: &Barrier, event: Option<vk::Event>) {
        let device = &self.gpu.device;
        if barrier.second {
            self.with_dependency(barrier, |info| {
                // SAFETY: recording outside of a pass; resources of this recording.
                unsafe {
                    match event {
                        None => device.cmd_pipeline_barrier2(commands, info),
                        Some(event) => {
                            device.cmd_wait_events2(commands, &[event], std::slice::from_ref(info))
                        }
                    }
                }
            });
            return;
        }
        let (source, destination) = masks::stages(&barrier.members);
        let source = masks::first_stages(source, vk::PipelineStageFlags::TOP_OF_PIPE);
        let destination = masks::first_stages(destination, vk::PipelineStageFlags::BOTTOM_OF_PIPE);
        let (mut memory, mut buffers, mut images) = (Vec::new(), Vec::new(), Vec::new());
        for member in &barrier.members {
            let [from, to] = [member.masks.source.1, member.masks.destination.1].map(masks::first_access);
            match member.scope {
                Scope::Memory => {
                    memory.push(
                        vk::MemoryBarrier::default()
                            .src_access_mask(from)
                            .dst_access_mask(to),
                    );
                }
                Scope::Buffer(cells) => {
                    let (buffer, offset, size) = self.resources.bytes(self.recording, cells);
                    let one = vk::BufferMemoryBarrier::default()
                        .src_access_mask(from)
                        .dst_access_mask(to)
                        .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                        .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED);
                    buffers.push(one.buffer(buffer).offset(offset).size(size));
                }
                Scope::Image {
                    image,
                    first,
                    count,
                    from: old,
                    to: new,
                } => {
                    let one = vk::ImageMemoryBarrier::default()
                        .src_access_mask(from)
                        .dst_access_mask(to)
                        .old_layout(old)
                        .new_layout(new)
                        .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                        .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED);
                    let kind = self.recording.image_kind(image);
                    let one = one.image(self.resources.images[image]);
                    images.push(one.subresource_range(range(kind, first, count)));
                }
            }
        }
        // SAFETY: recording outside of a pass; resources of this recording.
        unsafe {
            match event {
                None => {
                    let flags = vk::DependencyFlags::empty();
                    device.cmd_pipeline_barrier(
                        commands,
                        source,
                        destination,
                        flags,
                        &memory,
                        &buffers,
                        &images,
                    );
                }
                Some(event) => {
                    device.cmd_wait_events(
                        commands,
                        &[event],
                        source,
                        destination,
                        &memory,
                        &buffers,
                        &images,
                    );
                }
            }
        }
    }

    pub(crate) fn set_event(&self, commands: vk::CommandBuffer, event: vk::Event, barrier: &Barrier) {
        let device = &self.gpu.device;
        if barrier.second {
            // SAFETY: recording outside of a pass.
            self.with_dependency(barrier, |info| unsafe {
                device.cmd_set_event2(commands, event, info)
            });
        } else {
            let source = masks::first_stages(
                masks::stages(&barrier.members).0,
                vk::PipelineStageFlags::TOP_OF_PIPE,
            );
            // SAFETY: recording outside of a pass.
            unsafe { device.cmd_set_event(commands, event, source) };
        }
    }

    fn with_dependency(&self, barrier: &Barrier, record: impl FnOnce(&vk::DependencyInfo<'_>)) {
        let (mut memory, mut buffers, mut images) = (Vec::new(), Vec::new(), Vec::new());
        for member in &barrier.members {
            let Masks { source, destination } = member.masks;
            match member.scope {
                Scope::Memory => memory.push(
                    vk::MemoryBarrier2::default()
                        .src_stage_mask(source.0)
                        .src_access_mask(source.1)
                        .dst_stage_mask(destination.0)
                        .dst_access_mask(destination.1),
                ),
                Scope::Buffer(cells) => {
                    let (buffer, offset, size) = self.resources.bytes(self.recording, cells);
                    let one = vk::BufferMemoryBarrier2::default()
                        .src_stage_mask(source.0)
                        .src_access_mask(source.1)
                        .dst_stage_mask(destination.0)
                        .dst_access_mask(destination.1)
                        .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                        .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED);
                    buffers.push(one.buffer(buffer).offset(offset).size(size));
                }
                Scope::Image {
                    image,
                    first,
                    count,
                    from,
                    to,
                } => {
                    let one = vk::ImageMemoryBarrier2::default()
                        .src_stage_mask(source.0)
                        .src_access_mask(source.1)
                        .dst_stage_mask(destination.0)
                        .dst_access_mask(destination.1)
                        .old_layout(from)
                        .new_layout(to)
                        .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
                        .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED);
                    let kind = self.recording.image_kind(image);
                    let one = one.image(self.resources.images[image]);
                    images.push(one.subresource_range(range(kind, first, count)));
                }
            }
        }
        let info = vk::DependencyInfo::default()
            .memory_barriers(&memory)
            .buffer_memory_barriers(&buffers)
            .image_memory_barriers(&images);
        record(&info);
    }
}
