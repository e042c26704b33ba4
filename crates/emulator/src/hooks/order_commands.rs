//! Entry points of events and subpasses, and the effect of barriers on the order of accesses.

use ash::vk;
use ash::vk::Handle;
use tileheap_layer::dependencies::{self, from_v1, from_v2, of_memory, stage_flags_2};
use tileheap_sync::program::{
    BarrierChange, Dependency, DependencyMemory, DependencyScopes, ResourceId, ResourcePart,
};

use super::recorder::{Recorder, recorded_commands};
use crate::model::objects::Object;
use crate::model::order::log::{self, Event};
use crate::model::parts::any_subresources;
use crate::model::recording::Recording;
use crate::model::resources::Resource;
use crate::model::transitions;
use crate::tables::device_commands::DeviceTable;

recorded_commands! {
    /// Records that the event stores a first scope for later waits.
    vkCmdSetEvent(commands, event, stages) => commands DeviceTable |recorder| {
        order_event(recorder, Event::Set(event, stage_flags_2(stages)));
    };

    /// Records that the event no longer stores a scope.
    vkCmdResetEvent(commands, event, stages) => commands DeviceTable |recorder| {
        order_event(recorder, Event::Reset(event));
    };

    /// Same as `vkCmdResetEvent`.
    vkCmdResetEvent2(commands, event, stages) => commands DeviceTable |recorder| {
        order_event(recorder, Event::Reset(event));
    };

    /// Tracks the end of a subpass and the beginning of the next one, with their loads, stores and dependencies.
    vkCmdNextSubpass(commands, contents) => commands DeviceTable |recorder| {
        next_subpass(recorder, "vkCmdNextSubpass");
    };

    /// Same as `vkCmdNextSubpass`.
    vkCmdNextSubpass2(commands, begin, end) => commands DeviceTable |recorder| next_subpass(recorder, "vkCmdNextSubpass2");
}

fn order_event(recorder: &Recorder, event: Event) {
    if recorder.follows_order {
        let recording = &mut *recorder.lock();
        recording.order.event(event, &recording.at);
    }
}

fn next_subpass(recorder: &Recorder, command: &'static str) {
    let recording = &mut *recorder.lock();
    recording.at.is_between(command);
    if let Some(pass) = &mut recording.pass {
        pass.subpasses.next(&mut recording.order, &recording.at);
    }
}

/// The command that a dependency is recorded with.
#[derive(Clone, Copy)]
pub(super) enum DependencyCommand<'a> {
    /// `vkCmdPipelineBarrier2`.
    Barrier,
    /// `vkCmdWaitEvents2`, with an event for each dependency info.
    Wait(&'a [vk::Event]),
    /// `vkCmdSetEvent2`.
    Set(vk::Event),
}

impl DependencyCommand<'_> {
    /// The name of the command, if it performs the layout transitions of its barriers.
    pub(super) fn discards(self) -> Option<&'static str> {
        match self {
            DependencyCommand::Barrier => Some("vkCmdPipelineBarrier2"),
            DependencyCommand::Wait(_) => Some("vkCmdWaitEvents2"),
            DependencyCommand::Set(_) => None,
        }
    }
}

/// The flag that makes a queue family ownership transfer use the stages of its barrier (`VK_KHR_maintenance8`).
const ALL_STAGES: vk::DependencyFlags = vk::DependencyFlags::from_raw(0x20);

/// The queue family ownership transfer of a barrier; `None` if the barrier transfers nothing, or if the transfer uses the stages of the barrier. A
/// resource with concurrent sharing has no owner among the families of the device: it is only transferred to and from external families.
///
/// Source: "Queue Family Ownership Transfer": resources "with a `VkSharingMode` of `VK_SHARING_MODE_EXCLUSIVE` must have their ownership explicitly
/// transferred"; those "shared with external APIs or instances", "regardless of the `VkSharingMode`".
fn family_change(
    flags: vk::DependencyFlags,
    (from, to): (u32, u32),
    is_concurrent: impl FnOnce() -> bool,
) -> Option<BarrierChange> {
    let is_ignored = [from, to].contains(&vk::QUEUE_FAMILY_IGNORED);
    if from == to || is_ignored || flags.contains(ALL_STAGES) {
        return None;
    }
    let change = BarrierChange::Family { from, to };
    (log::is_external(change) || !is_concurrent()).then_some(change)
}

/// The memory that a barrier applies to, and the change that it makes. For a placed resource, `of_placed` returns the part; for a resource that is
/// not placed but is transferred to another queue family, the part is `ordinary`.
fn of_resource(
    recorder: &Recorder,
    object: Object,
    resource: Option<&Resource>,
    (family, ordinary): (Option<BarrierChange>, ResourcePart),
    of_placed: impl FnOnce(&Resource) -> (ResourcePart, BarrierChange),
) -> (DependencyMemory, BarrierChange) {
    match (resource.filter(|one| one.place.get().is_some()), family) {
        (Some(resource), family) => {
            let (part, change) = of_placed(resource);
            (
                DependencyMemory::Part(ResourceId(resource.number), part),
                family.unwrap_or(change),
            )
        }
        // The owner outside of the device may order a release and its acquire in ways that are not seen.
        (None, Some(change)) if !log::is_external(change) => {
            let resources = &recorder.device.resources;
            let mut tracker = recorder.check().tracker();
            let number = tracker.number_of_transferred(object, || resources.next_number());
            (DependencyMemory::Part(number, ordinary), change)
        }
        (None, _) => (DependencyMemory::Execution, BarrierChange::None),
    }
}

/// Converts a dependency to the model's form.
fn model_dependency(
    recorder: &Recorder,
    flags: vk::DependencyFlags,
    one: dependencies::Dependency,
) -> Dependency {
    use dependencies::DependencyMemory as M;
    let resources = &recorder.device.resources;
    let is_concurrent = || match one.memory {
        M::Buffer(buffer, ..) => resources.concurrent_buffers.get(buffer.as_raw()).is_some(),
        M::Image(image, ..) => resources.concurrent_images.get(image.as_raw()).is_some(),
        M::None | M::All => false,
    };
    let family = family_change(flags, one.families, is_concurrent).filter(|_| recorder.follows_order);
    if flags.contains(ALL_STAGES) && one.families.0 != one.families.1 {
        recorder.check().tracker().allow_unseen_transfers();
    }
    let (extent, change) = match one.memory {
        M::None => (DependencyMemory::Execution, BarrierChange::None),
        M::All => (DependencyMemory::All, BarrierChange::None),
        M::Buffer(buffer, offset, size) => {
            let resource = resources.buffers.get(buffer.as_raw());
            let transfer = (family, ResourcePart::Bytes(offset, offset.saturating_add(size)));
            of_resource(
                recorder,
                Object::of(buffer),
                resource.as_deref(),
                transfer,
                |buffer| (buffer.bytes(offset, size), BarrierChange::None),
            )
        }
        M::Image(image, range, old, new) => {
            let resource = resources.images.get(image.as_raw());
            let transfer = (family, any_subresources(&range));
            of_resource(
                recorder,
                Object::of(image),
                resource.as_deref(),
                transfer,
                |image| {
                    let (part, is_exact) = image.barrier_part(&range);
                    let discards = transitions::discards(old, new);
                    let change = match is_exact && old != new {
                        true => BarrierChange::Layout { discards },
                        false => BarrierChange::None,
                    };
                    (part, change)
                },
            )
        }
    };
    Dependency {
        scopes: scopes(&one),
        memory: extent,
        change,
    }
}

/// Converts the scopes of a dependency to the model's form.
pub(crate) fn scopes(one: &dependencies::Dependency) -> DependencyScopes {
    DependencyScopes {
        src: one.src_stages,
        src_access: one.src_access,
        dst: one.dst_stages,
        dst_access: one.dst_access,
    }
}

/// A dependency for all memory.
fn global(one: &dependencies::Dependency) -> Dependency {
    Dependency {
        scopes: scopes(one),
        memory: DependencyMemory::All,
        change: BarrierChange::None,
    }
}

/// The first and second stage masks and the dependency flags of a Vulkan 1.0 barrier.
pub(super) type Stages = (
    vk::PipelineStageFlags,
    vk::PipelineStageFlags,
    vk::DependencyFlags,
);

/// The memory, buffer and image barriers of a Vulkan 1.0 barrier command.
pub(super) type Barriers<'a> = (
    &'a [vk::MemoryBarrier<'a>],
    &'a [vk::BufferMemoryBarrier<'a>],
    &'a [vk::ImageMemoryBarrier<'a>],
);

/// Tracks a Vulkan 1.0 barrier for all memory, if the last dependency has the same scopes and no waiting or allocation is needed; otherwise does nothing
/// and returns `false`.
#[inline(always)]
pub(super) fn repeat_barrier(
    recorder: &Recorder,
    command: &'static str,
    stages: (vk::PipelineStageFlags, vk::PipelineStageFlags),
    memory: &vk::MemoryBarrier<'_>,
) -> bool {
    let Some(mut recording) = recorder.try_lock() else {
        return false;
    };
    let Recording { order, at, .. } = &mut *recording;
    match of_memory(stages, std::slice::from_ref(memory)).next() {
        Some(one) => order.repeat_global_barrier(scopes(&one), command, at),
        None => false,
    }
}

/// Tracks the dependencies of a Vulkan 1.0 barrier or wait for events.
#[inline(never)]
pub(super) fn order_barriers(
    recorder: &Recorder,
    command: &'static str,
    events: &[vk::Event],
    (from, to, flags): Stages,
    (memory, buffers, images): Barriers<'_>,
) {
    if !events.is_empty() {
        wait_for_host(recorder, stage_flags_2(from));
    }
    let recording = &mut *recorder.lock();
    recording.at.is_between(command);
    if buffers.is_empty() && images.is_empty() && !memory.is_empty() {
        // The scopes of memory barriers are also their execution dependency.
        if let ([_], [], Some(one)) = (memory, events, of_memory((from, to), memory).next()) {
            return recording.order.global_barrier(global(&one), &recording.at);
        }
        let all = of_memory((from, to), memory).map(|one| global(&one));
        return recording.order.barrier(all, events, &recording.at);
    }
    let all = from_v1((from, to), memory, buffers, images).map(|one| model_dependency(recorder, flags, one));
    recording.order.barrier(all, events, &recording.at);
}

/// Tracks a wait for events that the host may set, as its stages show (VUID-vkCmdWaitEvents-srcStageMask-01158): the layer does not know what the
/// host has waited for before it sets them.
fn wait_for_host(recorder: &Recorder, stages: vk::PipelineStageFlags2) {
    if stages.contains(vk::PipelineStageFlags2::HOST) {
        recorder.check().tracker().allow_unseen_order();
    }
}

/// Logs the `VkDependencyInfo` of a barrier or of `vkCmdSetEvent2`, or the infos of `vkCmdWaitEvents2`, one for each event.
pub(super) fn order_dependencies(
    recorder: &Recorder,
    command: DependencyCommand<'_>,
    infos: &[vk::DependencyInfo<'_>],
) {
    let recording = &mut *recorder.lock();
    if let Some(command) = command.discards() {
        recording.at.is_between(command);
    }
    for (index, info) in infos.iter().enumerate() {
        let all = from_v2(info).map(|one| model_dependency(recorder, info.dependency_flags, one));
        match command {
            DependencyCommand::Barrier => recording.order.barrier(all, &[], &recording.at),
            DependencyCommand::Wait(events) => {
                let all: Vec<Dependency> = all.collect();
                all.iter().for_each(|one| wait_for_host(recorder, one.scopes.src));
                recording
                    .order
                    .barrier(all, &events[index..=index], &recording.at);
            }
            DependencyCommand::Set(event) => {
                let none = vk::PipelineStageFlags2::NONE;
                let stages = all.fold(none, |all, one| all | one.scopes.src);
                recording.order.event(Event::Set(event, stages), &recording.at);
            }
        }
    }
}

#[test]
fn concurrent_resources_are_only_transferred_to_external_families() {
    let change = |from, to, is_concurrent| {
        let none = vk::DependencyFlags::empty();
        family_change(none, (from, to), || is_concurrent).is_some()
    };
    let [external, foreign] = [vk::QUEUE_FAMILY_EXTERNAL, vk::QUEUE_FAMILY_FOREIGN_EXT];
    assert_eq!(
        [false, true].map(|concurrent| change(0, 1, concurrent)),
        [true, false]
    );
    for (from, to) in [(0, external), (external, 0), (1, foreign), (foreign, 1)] {
        assert!(change(from, to, true) && change(from, to, false), "{from} {to}");
    }
    for (from, to) in [
        (1, 1),
        (0, vk::QUEUE_FAMILY_IGNORED),
        (vk::QUEUE_FAMILY_IGNORED, 0),
    ] {
        assert!(!change(from, to, false), "{from} {to}");
    }
    assert_eq!(family_change(ALL_STAGES, (0, 1), || false), None);
}
