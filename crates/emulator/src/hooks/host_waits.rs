//! Entry points of semaphores and fences, and of what the host waits for: it orders submissions.

use std::sync::PoisonError;

use ash::vk;
use tileheap_layer::host_waits::HostWait;
use tileheap_layer::{array, call_down, chained, given, host_waits};

use super::creates::creates;
use super::device::{Device, FollowedOrder, device_entry_points};

/// The order of a device's accesses, if it is followed.
fn with_order(device: &Device, change: impl FnOnce(&mut FollowedOrder)) {
    if let Some(order) = device.tile.as_ref().and_then(|tile| tile.order.as_ref()) {
        change(&mut order.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

creates! {
    /// Registers timeline semaphores.
    vkCreateSemaphore;
    |device, info, semaphore| {
        let kind = chained!(info.p_next => vk::SemaphoreTypeCreateInfo<'_>);
        if let Some(kind) = kind.filter(|kind| kind.semaphore_type == vk::SemaphoreType::TIMELINE) {
            with_order(&device, |followed| followed.order.create_timeline(semaphore, kind.initial_value));
        }
    }
}

host_waits! {
    device_entry_points, |device| device.driver.commands, |wait| with_order(&device, |FollowedOrder { order, .. }| match wait {
        HostWait::Fence(fence) => order.fence_waited(fence),
        HostWait::Semaphore(semaphore, value) => order.semaphore_waited(semaphore, value),
        HostWait::Queue(queue) => order.idle(Some(queue)),
        HostWait::Device => order.idle(None),
    })
}

device_entry_points! {
    /// The handle may become another semaphore's.
    vkDestroySemaphore(handle, semaphore, allocator) |device| {
        with_order(&device, |followed| followed.order.destroy_semaphore(semaphore));
        call_down!(device.driver.commands, vkDestroySemaphore(handle, semaphore, allocator));
    }

    /// Batches that wait for the value may run.
    vkSignalSemaphore(handle, info) |device| {
        let signal = given!(info);
        let mut findings = Vec::new();
        with_order(&device, |FollowedOrder { order, reported }| {
            findings = reported.findings(&order.signal_from_host(signal.semaphore, signal.value));
        });
        device.reporter.report_all(findings);
        call_down!(device.driver.commands, vkSignalSemaphore(handle, info))
    }

    /// The fences cover nothing.
    vkResetFences(handle, count, fences) |device| {
        let all = array!(fences, count);
        with_order(&device, |followed| all.iter().for_each(|fence| followed.order.fence_reset(*fence)));
        call_down!(device.driver.commands, vkResetFences(handle, count, fences))
    }

    /// The handle may become another fence's.
    vkDestroyFence(handle, fence, allocator) |device| {
        with_order(&device, |followed| followed.order.fence_reset(fence));
        call_down!(device.driver.commands, vkDestroyFence(handle, fence, allocator));
    }

}
