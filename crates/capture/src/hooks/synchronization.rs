//! Entry points of barriers and events.

use ash::vk;
use tileheap_layer::dependencies::{self, from_v1, from_v2, stage_flags_2};
use tileheap_layer::{array, call_down, given};

use super::device::{Device, device_entry_points};
use super::recorder::commands;
use crate::document::recording::{DependencyScopes, RecordedStep};
use crate::model::objects::number_of;
use crate::model::recording::{Dependency, DependencyMemory, Op, Synchronization};

commands! {
    vkCmdPipelineBarrier(from, to, flags, memory_count, memory, buffer_count, buffers, image_count, images) |device, recording| {
        let (buffers, images) = (array!(buffers, buffer_count), array!(images, image_count));
        let all = all_named(device, from_v1((from, to), array!(memory, memory_count), buffers, images));
        recording.push(Op::Synchronization(Synchronization::Barrier(all)));
    };
    vkCmdPipelineBarrier2(info) |device, recording| {
        recording.push(Op::Synchronization(Synchronization::Barrier(all_named(device, from_v2(given!(info))))));
    };
    vkCmdSetEvent(event, stages) |device, recording| {
        recording.push(Op::Synchronization(Synchronization::SetEvent(number_of(event), stage_flags_2(stages))));
    };
    vkCmdSetEvent2(event, info) |device, recording| {
        let stages = from_v2(given!(info)).fold(vk::PipelineStageFlags2::NONE, |all, one| all | one.src_stages);
        recording.push(Op::Synchronization(Synchronization::SetEvent(number_of(event), stages)));
    };
    vkCmdResetEvent(event, stages) |device, recording| {
        recording.push(Op::Synchronization(Synchronization::ResetEvent(number_of(event))));
    };
    vkCmdResetEvent2(event, stages) |device, recording| {
        recording.push(Op::Synchronization(Synchronization::ResetEvent(number_of(event))));
    };
    vkCmdWaitEvents(event_count, events, from, to, memory_count, memory, buffer_count, buffers, image_count, images) |device, recording| {
        let (buffers, images) = (array!(buffers, buffer_count), array!(images, image_count));
        let all = all_named(device, from_v1((from, to), array!(memory, memory_count), buffers, images));
        let events = array!(events, event_count).iter().map(|event| number_of(*event)).collect();
        recording.push(Op::Synchronization(Synchronization::WaitEvents(events, all)));
    };
    vkCmdWaitEvents2(count, events, infos) |device, recording| {
        for (event, info) in array!(events, count).iter().zip(array!(infos, count)) {
            let events = vec![number_of(*event)];
            recording.push(Op::Synchronization(Synchronization::WaitEvents(events, all_named(device, from_v2(info)))));
        }
    };
}

device_entry_points! {
    vkSetEvent(handle, event) |device| {
        device.step(|_| Some(RecordedStep::HostEvent(number_of(event))));
        call_down!(device.next, vkSetEvent(handle, event))
    }
    vkResetEvent(handle, event) |device| {
        device.step(|_| Some(RecordedStep::HostEvent(number_of(event))));
        call_down!(device.next, vkResetEvent(handle, event))
    }
}

/// Resolves the resource of a dependency; with an unknown resource it becomes an execution dependency.
fn named(device: &Device, one: dependencies::Dependency) -> Dependency {
    use dependencies::DependencyMemory as M;
    let memory = match one.memory {
        M::None => DependencyMemory::None,
        M::All => DependencyMemory::All,
        M::Buffer(buffer, offset, size) => {
            let range = device.objects.buffer_range(buffer, offset, size);
            range.map_or(DependencyMemory::None, DependencyMemory::Buffer)
        }
        M::Image(image, range, old, new) => {
            let image = device.objects.image(image);
            image.map_or(DependencyMemory::None, |image| DependencyMemory::Image {
                range: image.range(range),
                image,
                old,
                new,
            })
        }
    };
    Dependency {
        scopes: DependencyScopes::of(&one),
        memory,
        families: transfer(one.families),
    }
}

/// Returns the queue families of an ownership transfer; `None` if they are equal or ignored.
fn transfer((from, to): (u32, u32)) -> Option<[u32; 2]> {
    let ignored = [from, to].contains(&vk::QUEUE_FAMILY_IGNORED);
    (from != to && !ignored).then_some([from, to])
}

fn all_named(device: &Device, all: impl Iterator<Item = dependencies::Dependency>) -> Vec<Dependency> {
    // Nearly all barriers have one dependency: no spare capacity.
    let mut named_ones = Vec::with_capacity(all.size_hint().0);
    named_ones.extend(all.map(|one| named(device, one)));
    named_ones
}

#[test]
fn a_transfer_of_ownership_names_two_queue_families() {
    let ignored = vk::QUEUE_FAMILY_IGNORED;
    assert_eq!(
        transfer((0, vk::QUEUE_FAMILY_EXTERNAL)),
        Some([0, vk::QUEUE_FAMILY_EXTERNAL])
    );
    assert_eq!([(1, 1), (0, ignored), (ignored, 0)].map(transfer), [None; 3]);
}
