//! Entry points of queues, and of the destruction of devices: submissions and frame boundaries.

use ash::vk;
use ash::vk::Handle;
use tileheap_layer::{array, batches, call_down, given, host_waits, text};

use super::device::{DEVICES, Device, TimedSubmit, device_entry_points};
use super::recorder;
use crate::document::SemaphoreUse;
use crate::document::recording::{self, RecordedStep};
use crate::model::objects::{Resource, number_of};
use crate::model::submits::{Batch, Queue};
use crate::settings::FrameBoundaryRule;
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
        let all = array!(infos, count).iter().map(batches::Batch::from_v1);
        let submit = submit(&device, queue, all, fence);
        let result = call_down!(device.next, vkQueueSubmit(queue, count, infos, fence));
        device.submitted(submit, result)
    }
    vkQueueSubmit2(queue, count, infos, fence) |device| {
        let all = array!(infos, count).iter().map(batches::Batch::from_v2);
        let submit = submit(&device, queue, all, fence);
        let result = call_down!(device.next, vkQueueSubmit2(queue, count, infos, fence));
        device.submitted(submit, result)
    }
    vkQueueBindSparse(queue, count, infos, fence) |device| {
        if device.is_capturing() {
            device.bind_sparse(queue, array!(infos, count), fence);
        }
        let result = call_down!(device.next, vkQueueBindSparse(queue, count, infos, fence));
        device.lose(result)
    }
    vkResetFences(handle, count, fences) |device| {
        for fence in array!(fences, count) {
            device.step(|_| Some(RecordedStep::ResetFence(number_of(*fence))));
        }
        call_down!(device.next, vkResetFences(handle, count, fences))
    }
    vkSignalSemaphore(handle, info) |device| {
        let given = given!(info);
        let (semaphore, value) = (number_of(given.semaphore), given.value);
        device.step(|_| Some(RecordedStep::SignalSemaphore { semaphore, value }));
        call_down!(device.next, vkSignalSemaphore(handle, info))
    }
    vkAcquireNextImageKHR(handle, swapchain, timeout, semaphore, fence, out) |device| {
        let result = call_down!(device.next, vkAcquireNextImageKHR(handle, swapchain, timeout, semaphore, fence, out));
        acquired(&device, result, (swapchain, semaphore, fence), out);
        result
    }
    vkAcquireNextImage2KHR(handle, info, out) |device| {
        let result = call_down!(device.next, vkAcquireNextImage2KHR(handle, info, out));
        let given = given!(info);
        acquired(&device, result, (given.swapchain, given.semaphore, given.fence), out);
        result
    }
    vkGetEventStatus(handle, event) |device| {
        device.step(|_| Some(RecordedStep::Outside("vkGetEventStatus".to_owned())));
        call_down!(device.next, vkGetEventStatus(handle, event))
    }
    vkGetFenceFdKHR(handle, info, out) |device| {
        device.step(|_| Some(RecordedStep::Outside("vkGetFenceFdKHR".to_owned())));
        call_down!(device.next, vkGetFenceFdKHR(handle, info, out))
    }
    vkGetSemaphoreFdKHR(handle, info, out) |device| {
        device.step(|_| Some(RecordedStep::Outside("vkGetSemaphoreFdKHR".to_owned())));
        call_down!(device.next, vkGetSemaphoreFdKHR(handle, info, out))
    }
    vkGetFenceWin32HandleKHR(handle, info, out) |device| {
        device.step(|_| Some(RecordedStep::Outside("vkGetFenceWin32HandleKHR".to_owned())));
        call_down!(device.next, vkGetFenceWin32HandleKHR(handle, info, out))
    }
    vkGetSemaphoreWin32HandleKHR(handle, info, out) |device| {
        device.step(|_| Some(RecordedStep::Outside("vkGetSemaphoreWin32HandleKHR".to_owned())));
        call_down!(device.next, vkGetSemaphoreWin32HandleKHR(handle, info, out))
    }
    vkWaitForPresentKHR(handle, swapchain, present, timeout) |device| {
        device.step(|_| Some(RecordedStep::Outside("vkWaitForPresentKHR".to_owned())));
        call_down!(device.next, vkWaitForPresentKHR(handle, swapchain, present, timeout))
    }
    vkQueuePresentKHR(queue, info) |device| {
        presented(&device, given!(info));
        device.end_frame_at(|rule| *rule == FrameBoundaryRule::Present);
        let result = call_down!(device.next, vkQueuePresentKHR(queue, info));
        device.write_due();
        device.lose(result)
    }
    vkQueueBeginDebugUtilsLabelEXT(queue, info) |device| {
        device.end_frame_at(|rule| is_label(rule, given!(info)));
        call_down!(device.next, vkQueueBeginDebugUtilsLabelEXT(queue, info));
    }
    vkQueueInsertDebugUtilsLabelEXT(queue, info) |device| {
        device.end_frame_at(|rule| is_label(rule, given!(info)));
        call_down!(device.next, vkQueueInsertDebugUtilsLabelEXT(queue, info));
    }
}

host_waits! { device_entry_points, |device| device.next, |wait| {
    device.waited(wait);
    device.write_due();
} }

tileheap_layer::entry_points! {
    of DeviceTable:
    vkDestroyDevice(handle, allocator) {
        if handle == vk::Device::null() {
            return;
        }
        if let Some(device) = DEVICES.remove(handle) {
            device.end();
            recorder::forget_device(handle);
            device.destroy_fences();
            call_down!(device.next, vkDestroyDevice(handle, allocator));
        }
    }
}

fn is_label(rule: &FrameBoundaryRule, label: &vk::DebugUtilsLabelEXT<'_>) -> bool {
    matches!(rule, FrameBoundaryRule::Label(name) if *name == text!(label.p_label_name))
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

/// Returns an image of a swapchain.
fn swapchain_image(device: &Device, swapchain: vk::SwapchainKHR, index: u32) -> Option<Resource> {
    let image = *device
        .swapchains
        .get(swapchain.as_raw())?
        .images()
        .get(index as usize)?;
    device.objects.image(image).map(Resource::Image)
}

fn acquired(
    device: &Device,
    result: vk::Result,
    (swapchain, semaphore, fence): (vk::SwapchainKHR, vk::Semaphore, vk::Fence),
    index: *const u32,
) {
    if ![vk::Result::SUCCESS, vk::Result::SUBOPTIMAL_KHR].contains(&result) {
        return;
    }
    device.step(|frame| {
        let image = swapchain_image(device, swapchain, *given!(index))?;
        Some(RecordedStep::Acquire {
            resource: frame.resources.number(&image),
            semaphore: (!semaphore.is_null()).then(|| number_of(semaphore)),
            fence: (!fence.is_null()).then(|| number_of(fence)),
        })
    });
}

fn presented(device: &Device, info: &vk::PresentInfoKHR<'_>) {
    let waits = array!(info.p_wait_semaphores, info.wait_semaphore_count).iter();
    let swapchains = array!(info.p_swapchains, info.swapchain_count).iter();
    let indices = array!(info.p_image_indices, info.swapchain_count);
    device.step(|frame| {
        let images = swapchains.zip(indices);
        let images = images.filter_map(|(swapchain, index)| swapchain_image(device, *swapchain, *index));
        Some(RecordedStep::Present {
            resources: images.map(|image| frame.resources.number(&image)).collect(),
            waits: waits.map(|semaphore| number_of(*semaphore)).collect(),
        })
    });
}

/// Converts submitted semaphores: the value of a binary semaphore is 0, and timeline semaphores with the value 0 are omitted, since a wait for this value
/// waits for nothing.
fn semaphores(device: &Device, all: Vec<batches::SemaphoreUse>) -> Vec<SemaphoreUse> {
    let one = |(handle, value, stages): batches::SemaphoreUse| {
        let semaphore = number_of(handle);
        let is_timeline = device.semaphores(|all| all.is_timeline(semaphore));
        (!is_timeline || value > 0).then_some(SemaphoreUse {
            semaphore,
            value: if is_timeline { value } else { 0 },
            stages,
        })
    };
    all.into_iter().filter_map(one).collect()
}

fn batch(device: &Device, given: batches::Batch) -> Batch {
    Batch {
        waits: semaphores(device, given.waits),
        signals: semaphores(device, given.signals),
        commands: given.commands.into_iter().map(recorder::submitted).collect(),
    }
}

/// Adds a submit to the frame; returns its timestamps, with the objects that the program can wait on for its completion.
fn submit(
    device: &Device,
    queue: vk::Queue,
    batches: impl Iterator<Item = batches::Batch>,
    fence: vk::Fence,
) -> TimedSubmit {
    if !device.is_capturing() {
        return TimedSubmit::default();
    }
    let all: Vec<Batch> = batches.map(|given| batch(device, given)).collect();
    let commands = all.iter().flat_map(|batch| &batch.commands);
    let times = commands.filter_map(|one| one.times.clone()).collect();
    let signals = all.last().map_or_else(Vec::new, |last| last.signals.clone());
    device.submit(queue, all, fence);
    TimedSubmit {
        queue,
        fence,
        signals,
        times,
    }
}

impl Device {
    /// Follows the timestamps of a submit if it succeeded, writes due documents, and ends the capture if the device is lost. Returns `result`.
    pub(super) fn submitted(&self, submit: TimedSubmit, result: vk::Result) -> vk::Result {
        match result {
            vk::Result::SUCCESS => self.follow_timestamps(submit),
            _ => submit.lose(),
        }
        self.write_due();
        self.lose(result)
    }

    /// Adds sparse binding as batches without command buffers, which only wait and signal.
    fn bind_sparse(&self, queue: vk::Queue, infos: &[vk::BindSparseInfo<'_>], fence: vk::Fence) {
        let fence = (!fence.is_null()).then(|| number_of(fence));
        let (number, family) = (number_of(queue), self.family_of(queue));
        let last = infos.len().saturating_sub(1);
        let none = [vk::BindSparseInfo::default()];
        let all = if infos.is_empty() { &none[..] } else { infos };
        for (index, info) in all.iter().enumerate() {
            let bound = batch(self, batches::Batch::sparse(info));
            self.step(|_| {
                Some(RecordedStep::Submit(recording::Batch {
                    queue: number,
                    family,
                    waits: bound.waits,
                    command_buffers: Vec::new(),
                    signals: bound.signals,
                    fence: fence.filter(|_| index == last),
                }))
            });
        }
    }
}
