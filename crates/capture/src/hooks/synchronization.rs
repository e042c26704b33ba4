//! Entry points of barriers and events.

use ash::vk;
use ash::vk::Handle;
use tileheap_layer::dependencies::{self, first_kind, second_kind, wide};
use tileheap_layer::{array, given};

use super::device::Device;
use super::recorder::commands;
use crate::document::{Command, Dependency, Memory};
use crate::model::objects::{Resource, number_of};
use crate::model::recording::Op;

commands! {
    vkCmdPipelineBarrier(from, to, flags, memory_count, memory, buffer_count, buffers, image_count, images) |device, recording| {
        let (buffers, images) = (array!(buffers, buffer_count), array!(images, image_count));
        let all = all_named(device, first_kind((from, to), array!(memory, memory_count), buffers, images));
        recording.push(Op::Sync(Command::Barrier(all)));
    };
    vkCmdPipelineBarrier2(info) |device, recording| {
        recording.push(Op::Sync(Command::Barrier(all_named(device, second_kind(given!(info))))));
    };
    vkCmdSetEvent(event, stages) |device, recording| {
        let all = all_named(device, first_kind((stages, vk::PipelineStageFlags::empty()), &[], &[], &[]));
        recording.push(Op::Sync(Command::SetEvent { event: number_of(event.as_raw()), dependencies: all }));
    };
    vkCmdSetEvent2(event, info) |device, recording| {
        let dependencies = all_named(device, second_kind(given!(info)));
        recording.push(Op::Sync(Command::SetEvent { event: number_of(event.as_raw()), dependencies }));
    };
    vkCmdResetEvent(event, stages) |device, recording| {
        let (event, stages) = (number_of(event.as_raw()), wide(stages));
        recording.push(Op::Sync(Command::ResetEvent { event, stages }));
    };
    vkCmdResetEvent2(event, stages) |device, recording| {
        recording.push(Op::Sync(Command::ResetEvent { event: number_of(event.as_raw()), stages }));
    };
    vkCmdWaitEvents(event_count, events, from, to, memory_count, memory, buffer_count, buffers, image_count, images) |device, recording| {
        let (buffers, images) = (array!(buffers, buffer_count), array!(images, image_count));
        let all = all_named(device, first_kind((from, to), array!(memory, memory_count), buffers, images));
        let events = array!(events, event_count).iter().map(|event| number_of(event.as_raw())).collect();
        recording.push(Op::Sync(Command::WaitEvents { events, dependencies: all }));
    };
    vkCmdWaitEvents2(count, events, infos) |device, recording| {
        for (event, info) in array!(events, count).iter().zip(array!(infos, count)) {
            let (events, dependencies) = (vec![number_of(event.as_raw())], all_named(device, second_kind(info)));
            recording.push(Op::Sync(Command::WaitEvents { events, dependencies }));
        }
    };
}

/// A dependency with the resource that it is of; of an unknown one, that of execution alone.
fn named(device: &Device, one: dependencies::Dependency) -> Dependency<Resource> {
    use dependencies::Memory as M;
    let memory = match one.memory {
        M::None => Memory::None,
        M::All => Memory::All,
        M::Buffer(buffer, offset, size) => {
            let buffer = device.objects.buffer(buffer);
            buffer.map_or(Memory::None, |buffer| Memory::Buffer {
                resource: Resource::Buffer(buffer),
                offset,
                size: (size != vk::WHOLE_SIZE).then_some(size),
            })
        }
        M::Image(image, range, old, new) => {
            let image = device.objects.image(image);
            image.map_or(Memory::None, |image| Memory::Image {
                part: image.range(range),
                resource: Resource::Image(image),
                old,
                new,
            })
        }
    };
    Dependency {
        memory,
        families: transfer(one.families),
        ..Dependency::global(&one)
    }
}

/// The queue families of a transfer of ownership, which names two that differ.
fn transfer((from, to): (u32, u32)) -> Option<[u32; 2]> {
    let ignored = [from, to].contains(&vk::QUEUE_FAMILY_IGNORED);
    (from != to && !ignored).then_some([from, to])
}

fn all_named(
    device: &Device,
    all: impl Iterator<Item = dependencies::Dependency>,
) -> Vec<Dependency<Resource>> {
    all.map(|one| named(device, one)).collect()
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
