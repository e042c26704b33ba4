//! Entry points of queues, and the end of devices: what is submitted, and the borders of frames.

use ash::vk;
use ash::vk::Handle;
use tileheap_layer::host_waits::HostWait;
use tileheap_layer::{array, batches, call_down, given, host_waits, text};

use super::device::{DEVICES, Device, device_entry_points};
use super::recorder;
use crate::document::{BatchSync, SemaphoreUse};
use crate::model::objects::number_of;
use crate::model::submits::{Batch, Queue};
use crate::settings::BorderRule;
use crate::tables::DeviceTable;

device_entry_points! {
    vkGetDeviceQueue(handle, family, index, out) |device| {
        call_down!(device.next, vkGetDeviceQueue(handle, family, index, out));
        remember(&device, *given!(out), family);
    }
    vkGetDeviceQueue2(handle, info, out) |device| {
        call_down!(device.next, vkGetDeviceQueue2(handle, info, out));
        remember(&device, *given!(out), given!(info).queue_family_index);
    }
    vkQueueSubmit(queue, count, infos, fence) |device| {
        if device.is_capturing() {
            let all = array!(infos, count).iter().map(|info| batch(&device, batches::Batch::first_kind(info)));
            device.submit(queue, all.collect(), fence);
        }
        let result = call_down!(device.next, vkQueueSubmit(queue, count, infos, fence));
        device.lose(result)
    }
    vkQueueSubmit2(queue, count, infos, fence) |device| {
        if device.is_capturing() {
            let all = array!(infos, count).iter().map(|info| batch(&device, batches::Batch::second_kind(info)));
            device.submit(queue, all.collect(), fence);
        }
        let result = call_down!(device.next, vkQueueSubmit2(queue, count, infos, fence));
        device.lose(result)
    }
    vkQueuePresentKHR(queue, info) |device| {
        device.border(|rule| *rule == BorderRule::Present);
        let result = call_down!(device.next, vkQueuePresentKHR(queue, info));
        device.lose(result)
    }
    vkQueueBeginDebugUtilsLabelEXT(queue, info) |device| {
        device.border(|rule| is_label(rule, given!(info)));
        call_down!(device.next, vkQueueBeginDebugUtilsLabelEXT(queue, info));
    }
    vkQueueInsertDebugUtilsLabelEXT(queue, info) |device| {
        device.border(|rule| is_label(rule, given!(info)));
        call_down!(device.next, vkQueueInsertDebugUtilsLabelEXT(queue, info));
    }
}

host_waits! { device_entry_points, |device| device.next, |wait| device.waited(wait) }

tileheap_layer::entry_points! {
    of DeviceTable:
    vkDestroyDevice(handle, allocator) {
        if handle == vk::Device::null() {
            return;
        }
        if let Some(device) = DEVICES.remove(handle) {
            device.end();
            recorder::forget_device(handle);
            call_down!(device.next, vkDestroyDevice(handle, allocator));
        }
    }
}

fn is_label(rule: &BorderRule, label: &vk::DebugUtilsLabelEXT<'_>) -> bool {
    matches!(rule, BorderRule::Label(name) if *name == text!(label.p_label_name))
}

fn remember(device: &Device, queue: vk::Queue, family: u32) {
    let all = vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE | vk::QueueFlags::TRANSFER;
    let flags = device.known.families.get(family as usize).copied().unwrap_or(all);
    let known = Queue {
        handle: queue.as_raw(),
        family,
        capabilities: flags & all,
    };
    device.queues.insert(queue.as_raw(), known);
}

/// A binary semaphore has no value, and a wait for the value 0 waits for nothing.
fn semaphore(device: &Device, (handle, value, stages): batches::SemaphoreUse) -> Option<SemaphoreUse> {
    let timeline = device.semaphores.get(handle.as_raw()).unwrap_or(false);
    let semaphore = number_of(handle.as_raw());
    (!timeline || value > 0).then_some(SemaphoreUse {
        semaphore,
        value: if timeline { value } else { 0 },
        stages,
    })
}

fn batch(device: &Device, given: batches::Batch) -> Batch {
    let signals = given.signals.iter();
    let signals = signals
        .map(|(semaphore, value, _)| HostWait::Semaphore(*semaphore, *value))
        .collect();
    let uses = |all: Vec<_>| all.into_iter().filter_map(|one| semaphore(device, one)).collect();
    Batch {
        sync: BatchSync {
            waits: uses(given.waits),
            signals: uses(given.signals),
            ..BatchSync::default()
        },
        signals,
        commands: given.commands.into_iter().map(recorder::submitted).collect(),
        ..Batch::default()
    }
}
