//! Entry points of events and subpasses, and what barriers mean for the order of accesses.

use ash::vk;
use ash::vk::Handle;
use tileheap_layer::dependencies::{self, first_kind, of_memory, second_kind, wide};

use super::recorder::{Recorder, recorded_commands};
use crate::model::objects::Object;
use crate::model::order::log::{Change, Dependency, Event, Memory};
use crate::model::resources::Resource;
use crate::tables::device_commands::DeviceTable;

recorded_commands! {
    /// Keeps what is before it.
    vkCmdSetEvent(commands, event, stages) => commands DeviceTable |recorder| {
        order_event(recorder, Event::Set(event, wide(stages)));
    };

    /// What was kept is of no use any more.
    vkCmdResetEvent(commands, event, stages) => commands DeviceTable |recorder| {
        order_event(recorder, Event::Reset(event));
    };

    /// As `vkCmdResetEvent`.
    vkCmdResetEvent2(commands, event, stages) => commands DeviceTable |recorder| {
        order_event(recorder, Event::Reset(event));
    };

    /// Attachments are stored, loaded and in order by subpass.
    vkCmdNextSubpass(commands, contents) => commands DeviceTable |recorder| {
        next_subpass(recorder, "vkCmdNextSubpass");
    };

    /// As `vkCmdNextSubpass`.
    vkCmdNextSubpass2(commands, begin, end) => commands DeviceTable |recorder| next_subpass(recorder, "vkCmdNextSubpass2");
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

/// A dependency with what it is for: bytes of tile memory, and what it does with them.
fn ordered(recorder: &Recorder, flags: vk::DependencyFlags, one: dependencies::Dependency) -> Dependency {
    use dependencies::Memory as M;
    let resources = &recorder.device.resources;
    let (from, to) = one.families;
    let (memory, change) = match one.memory {
        M::None => (Memory::None, Change::None),
        M::All => (Memory::All, Change::None),
        M::Buffer(buffer, offset, size) => {
            let resource = resources.buffers.get(buffer.as_raw());
            let memory = bytes_of(resource.as_deref(), offset, size);
            (memory, family_change(flags, Object::of(buffer), from, to))
        }
        M::Image(image, range, old, new) => {
            let resource = resources.images.get(image.as_raw());
            let memory = bytes_of(resource.as_deref(), 0, vk::WHOLE_SIZE);
            // A transition of a part leaves the others alone, whichever bytes they are in.
            let is_whole = resource.as_deref().is_some_and(|image| image.is_all(&range));
            let is_changed = old != new && memory != Memory::None && is_whole;
            let change = match family_change(flags, Object::of(image), from, to) {
                Change::None if is_changed && from == to => Change::Layout(Object::of(image)),
                change => change,
            };
            (memory, change)
        }
    };
    Dependency {
        memory,
        change,
        ..Dependency::global(&one)
    }
}

/// The stages of a barrier of the first kind, and its flags.
pub(super) type Scopes = (
    vk::PipelineStageFlags,
    vk::PipelineStageFlags,
    vk::DependencyFlags,
);

/// Its memory, buffer and image barriers.
pub(super) type Barriers<'a> = (
    &'a [vk::MemoryBarrier<'a>],
    &'a [vk::BufferMemoryBarrier<'a>],
    &'a [vk::ImageMemoryBarrier<'a>],
);

/// Follows a barrier, or a wait for events, of the first kind.
#[inline(never)]
pub(super) fn order_barriers(
    recorder: &Recorder,
    command: &'static str,
    events: &[vk::Event],
    (from, to, flags): Scopes,
    (memory, buffers, images): Barriers<'_>,
) {
    let recording = &mut *recorder.lock();
    recording.at.is_between(command);
    if buffers.is_empty() && images.is_empty() && !memory.is_empty() {
        // What memory barriers order is that of execution as well.
        let all = of_memory((from, to), memory).map(|one| Dependency::global(&one));
        return recording.order.barrier(all, events, &recording.at);
    }
    let all = first_kind((from, to), memory, buffers, images).map(|one| ordered(recorder, flags, one));
    recording.order.barrier(all, events, &recording.at);
}

/// Follows dependency infos: all of a barrier, or one for each event.
pub(super) fn order_dependencies(
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
        let all = second_kind(info).map(|one| ordered(recorder, info.dependency_flags, one));
        match ordered_as {
            OrderedAs::Barrier => recording.order.barrier(all, &[], &recording.at),
            OrderedAs::Wait(events) => {
                recording
                    .order
                    .barrier(all, &events[index..=index], &recording.at);
            }
            OrderedAs::Set(event) => {
                let none = vk::PipelineStageFlags2::NONE;
                let stages = all.fold(none, |all, one| all | one.src);
                recording.order.event(Event::Set(event, stages));
            }
        }
    }
}
