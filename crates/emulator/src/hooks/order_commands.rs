//! Entry points of events and subpasses, and what barriers mean for the order of accesses.

use ash::vk;
use ash::vk::Handle;
use tileheap_layer::arrays::elements;

use super::recorder::{Recorder, recorded_commands};
use crate::model::objects::Object;
use crate::model::order::log::{Change, Dependency, Event, Memory};
use crate::model::resources::Resource;

recorded_commands! {
    /// Keeps what is before it.
    fn vkCmdSetEvent(commands, event: vk::Event, stages: vk::PipelineStageFlags) => commands |recorder| {
        let stages = vk::PipelineStageFlags2::from_raw(stages.as_raw().into());
        order_event(recorder, Event::Set(event, stages));
    };

    /// What was kept is of no use any more.
    fn vkCmdResetEvent(commands, event: vk::Event, stages: vk::PipelineStageFlags) => commands |recorder| {
        order_event(recorder, Event::Reset(event));
    };

    /// As `vkCmdResetEvent`.
    fn vkCmdResetEvent2(commands, event: vk::Event, stages: vk::PipelineStageFlags2) => commands |recorder| {
        order_event(recorder, Event::Reset(event));
    };

    /// Attachments are stored, loaded and in order by subpass.
    fn vkCmdNextSubpass(commands, contents: vk::SubpassContents) => commands |recorder| {
        next_subpass(recorder, "vkCmdNextSubpass");
    };

    /// As `vkCmdNextSubpass`.
    fn vkCmdNextSubpass2(
        commands,
        begin: *const vk::SubpassBeginInfo<'_>,
        end: *const vk::SubpassEndInfo<'_>,
    ) => commands |recorder| next_subpass(recorder, "vkCmdNextSubpass2");
}

fn order_event(recorder: &Recorder, event: Event) {
    let mut recording = recorder.lock();
    if recording.order.is_on {
        recording.order.event(event);
    }
}

fn next_subpass(recorder: &Recorder, command: &'static str) {
    let recording = &mut *recorder.lock();
    recording.at.is_between(command);
    if let Some(pass) = &mut recording.pass {
        pass.subpasses.next(&mut recording.order, &recording.at);
    }
}

/// A command with dependencies.
#[derive(Clone, Copy)]
pub(super) enum OrderedAs<'a> {
    /// `vkCmdPipelineBarrier2`.
    Barrier,
    /// `vkCmdWaitEvents2`, with an event for each dependency info.
    Wait(&'a [vk::Event]),
    /// `vkCmdSetEvent2`.
    Set(vk::Event),
}

impl OrderedAs<'_> {
    /// The command, if transitions happen there.
    pub(super) fn discards(self) -> Option<&'static str> {
        match self {
            OrderedAs::Barrier => Some("vkCmdPipelineBarrier2"),
            OrderedAs::Wait(_) => Some("vkCmdWaitEvents2"),
            OrderedAs::Set(_) => None,
        }
    }
}

/// Bits of a barrier's masks, whatever their type.
fn wide(stages: vk::PipelineStageFlags) -> vk::PipelineStageFlags2 {
    vk::PipelineStageFlags2::from_raw(stages.as_raw().into())
}

fn wide_access(access: vk::AccessFlags) -> vk::AccessFlags2 {
    vk::AccessFlags2::from_raw(access.as_raw().into())
}

/// The bytes of a resource from an offset on, for so many.
fn bytes_of(resource: Option<&Resource>, offset: u64, size: u64) -> Memory {
    resource
        .and_then(|resource| resource.place.get())
        .map_or(Memory::None, |place| {
            let first = place.first.saturating_add(offset).min(place.end);
            Memory::Bytes(first, first.saturating_add(size).min(place.end))
        })
}

/// The bit by which a queue family transfer uses the stages of its barrier (`VK_KHR_maintenance8`).
const ALL_STAGES: vk::DependencyFlags = vk::DependencyFlags::from_raw(0x20);

/// A transfer between queue families, if it is one of which the stages are ignored.
fn family_change(flags: vk::DependencyFlags, object: Object, from: u32, to: u32) -> Change {
    let is_own = |family| {
        ![
            vk::QUEUE_FAMILY_IGNORED,
            vk::QUEUE_FAMILY_EXTERNAL,
            vk::QUEUE_FAMILY_FOREIGN_EXT,
        ]
        .contains(&family)
    };
    let is_transfer = from != to && is_own(from) && is_own(to);
    if is_transfer && !flags.contains(ALL_STAGES) {
        Change::Family(object, from, to)
    } else {
        Change::None
    }
}

/// What a buffer or image barrier is for: its bytes, and what it does with them.
macro_rules! of_buffer {
    ($recorder:ident, $flags:expr, $barrier:expr) => {{
        let barrier = $barrier;
        let resource = $recorder.device.resources.buffers.get(barrier.buffer.as_raw());
        let object = Object(vk::ObjectType::BUFFER, barrier.buffer.as_raw());
        let (from, to) = (barrier.src_queue_family_index, barrier.dst_queue_family_index);
        let memory = bytes_of(resource.as_deref(), barrier.offset, barrier.size);
        (memory, family_change($flags, object, from, to))
    }};
}

macro_rules! of_image {
    ($recorder:ident, $flags:expr, $barrier:expr) => {{
        let barrier = $barrier;
        let resource = $recorder.device.resources.images.get(barrier.image.as_raw());
        let object = Object(vk::ObjectType::IMAGE, barrier.image.as_raw());
        let memory = bytes_of(resource.as_deref(), 0, vk::WHOLE_SIZE);
        let (from, to) = (barrier.src_queue_family_index, barrier.dst_queue_family_index);
        let both = vk::ImageAspectFlags::DEPTH | vk::ImageAspectFlags::STENCIL;
        // A transition of a part leaves the others alone, whichever bytes they are in.
        let is_whole = resource.as_deref().is_some_and(|image| {
            image.single && (!image.two_aspects || barrier.subresource_range.aspect_mask.contains(both))
        });
        let is_changed = barrier.old_layout != barrier.new_layout && memory != Memory::None && is_whole;
        let change = match family_change($flags, object, from, to) {
            Change::None if is_changed && from == to => Change::Layout(object),
            change => change,
        };
        (memory, change)
    }};
}

/// The stages of a barrier of the first kind, and its flags.
pub(super) type Scopes = (
    vk::PipelineStageFlags,
    vk::PipelineStageFlags,
    vk::DependencyFlags,
);

/// Its memory, buffer and image barriers with their counts.
pub(super) type Counted<'a> = (
    (u32, *const vk::MemoryBarrier<'a>),
    (u32, *const vk::BufferMemoryBarrier<'a>),
    (u32, *const vk::ImageMemoryBarrier<'a>),
);

/// Follows a barrier, or a wait for events, of the first kind.
///
/// # Safety
/// The pointers are to as many valid structures.
#[inline(never)]
pub(super) unsafe fn order_barriers(
    recorder: &Recorder,
    command: &'static str,
    events: &[vk::Event],
    (from, to, flags): Scopes,
    ((memory_count, memory), (buffer_count, buffers), (image_count, images)): Counted<'_>,
) {
    let recording = &mut *recorder.lock();
    recording.at.is_between(command);
    let (src, dst) = (wide(from), wide(to));
    let one = |src_access, dst_access, memory, change| Dependency {
        src,
        src_access: wide_access(src_access),
        dst,
        dst_access: wide_access(dst_access),
        memory,
        change,
    };
    // SAFETY: The caller's promise.
    let memory = unsafe { elements(memory, memory_count) };
    let all = memory
        .iter()
        .map(|it| one(it.src_access_mask, it.dst_access_mask, Memory::All, Change::None));
    if buffer_count == 0 && image_count == 0 && memory_count > 0 {
        return recording.order.barrier(all, events, &recording.at);
    }
    let none = vk::AccessFlags::empty();
    let mut dependencies = vec![one(none, none, Memory::None, Change::None)];
    dependencies.extend(all);
    // SAFETY: The caller's promise.
    for barrier in unsafe { elements(buffers, buffer_count) } {
        let (memory, change) = of_buffer!(recorder, flags, barrier);
        dependencies.push(one(
            barrier.src_access_mask,
            barrier.dst_access_mask,
            memory,
            change,
        ));
    }
    // SAFETY: The caller's promise.
    for barrier in unsafe { elements(images, image_count) } {
        let (memory, change) = of_image!(recorder, flags, barrier);
        dependencies.push(one(
            barrier.src_access_mask,
            barrier.dst_access_mask,
            memory,
            change,
        ));
    }
    recording.order.barrier(dependencies, events, &recording.at);
}

/// Follows dependency infos: all of a barrier, or one for each event.
///
/// # Safety
/// They are valid.
pub(super) unsafe fn order_dependencies(
    recorder: &Recorder,
    ordered_as: OrderedAs<'_>,
    infos: &[vk::DependencyInfo<'_>],
) {
    let recording = &mut *recorder.lock();
    if !recording.order.is_on {
        return;
    }
    if let Some(command) = ordered_as.discards() {
        recording.at.is_between(command);
    }
    for (index, info) in infos.iter().enumerate() {
        // SAFETY: The caller's promise.
        let dependencies = unsafe { dependencies_of(recorder, info) };
        match ordered_as {
            OrderedAs::Barrier => recording.order.barrier(dependencies, &[], &recording.at),
            OrderedAs::Wait(events) => {
                recording
                    .order
                    .barrier(dependencies, &events[index..=index], &recording.at);
            }
            OrderedAs::Set(event) => {
                let none = vk::PipelineStageFlags2::NONE;
                let stages = dependencies.iter().fold(none, |all, one| all | one.src);
                recording.order.event(Event::Set(event, stages));
            }
        }
    }
}

/// # Safety
/// It is valid.
unsafe fn dependencies_of(recorder: &Recorder, info: &vk::DependencyInfo<'_>) -> Vec<Dependency> {
    let flags = info.dependency_flags;
    macro_rules! one {
        ($barrier:expr, $of:expr) => {{
            let (memory, change) = $of;
            Dependency {
                src: $barrier.src_stage_mask,
                src_access: $barrier.src_access_mask,
                dst: $barrier.dst_stage_mask,
                dst_access: $barrier.dst_access_mask,
                memory,
                change,
            }
        }};
    }
    // SAFETY: The caller's promise.
    let memory = unsafe { elements(info.p_memory_barriers, info.memory_barrier_count) };
    // SAFETY: The caller's promise.
    let buffers = unsafe { elements(info.p_buffer_memory_barriers, info.buffer_memory_barrier_count) };
    // SAFETY: The caller's promise.
    let images = unsafe { elements(info.p_image_memory_barriers, info.image_memory_barrier_count) };
    let memory = memory.iter().map(|it| one!(it, (Memory::All, Change::None)));
    let buffers = buffers.iter().map(|it| one!(it, of_buffer!(recorder, flags, it)));
    let images = images.iter().map(|it| one!(it, of_image!(recorder, flags, it)));
    memory.chain(buffers).chain(images).collect()
}
