//! Entry points of semaphores and fences, and of what the host waits for: it orders submissions.

use std::sync::PoisonError;

use ash::vk;

use tileheap_layer::arrays::elements;
use tileheap_layer::call_down;
use tileheap_layer::chain::find;

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
    vkCreateSemaphore(vk::SemaphoreCreateInfo<'_>) -> vk::Semaphore;
    |device, info, semaphore| {
        // SAFETY: The chain is valid.
        let kind = unsafe { find::<vk::SemaphoreTypeCreateInfo<'_>>(info.p_next) };
        if let Some(kind) = kind.filter(|kind| kind.semaphore_type == vk::SemaphoreType::TIMELINE) {
            with_order(&device, |followed| followed.order.create_timeline(semaphore, kind.initial_value));
        }
    }
}

device_entry_points! {
    /// The handle may become another semaphore's.
    fn vkDestroySemaphore(
        handle: vk::Device,
        semaphore: vk::Semaphore,
        allocator: *const vk::AllocationCallbacks<'_>,
    ) |device| {
        with_order(&device, |followed| followed.order.destroy_semaphore(semaphore));
        call_down!(device.driver.commands, vkDestroySemaphore(handle, semaphore, allocator));
    }

    /// Batches that wait for the value may run.
    fn vkSignalSemaphore(handle: vk::Device, info: *const vk::SemaphoreSignalInfo<'_>) -> vk::Result |device| {
        // SAFETY: Valid usage: a valid structure.
        let signal = unsafe { &*info };
        let mut findings = Vec::new();
        with_order(&device, |FollowedOrder { order, reported }| {
            findings = reported.findings(&order.signal_from_host(signal.semaphore, signal.value));
        });
        device.reporter.report_all(findings);
        call_down!(device.driver.commands, vkSignalSemaphore(handle, info))
    }

    /// What the values cover is complete.
    fn vkWaitSemaphores(
        handle: vk::Device,
        info: *const vk::SemaphoreWaitInfo<'_>,
        timeout: u64,
    ) -> vk::Result |device| {
        let result = call_down!(device.driver.commands, vkWaitSemaphores(handle, info, timeout));
        // SAFETY: Valid usage: a valid structure.
        let info = unsafe { &*info };
        let is_all = info.semaphore_count == 1 || !info.flags.contains(vk::SemaphoreWaitFlags::ANY);
        if result == vk::Result::SUCCESS && is_all {
            // SAFETY: As above.
            let semaphores = unsafe { elements(info.p_semaphores, info.semaphore_count) };
            // SAFETY: As above.
            let values = unsafe { elements(info.p_values, info.semaphore_count) };
            with_order(&device, |followed| {
                let mut waited = semaphores.iter().zip(values);
                waited.by_ref().for_each(|(semaphore, value)| followed.order.semaphore_waited(*semaphore, *value));
            });
        }
        result
    }

    /// What the value covers is complete.
    fn vkGetSemaphoreCounterValue(
        handle: vk::Device,
        semaphore: vk::Semaphore,
        out: *mut u64,
    ) -> vk::Result |device| {
        let result = call_down!(device.driver.commands, vkGetSemaphoreCounterValue(handle, semaphore, out));
        if result == vk::Result::SUCCESS {
            // SAFETY: The driver has written it.
            let value = unsafe { *out };
            with_order(&device, |followed| followed.order.semaphore_waited(semaphore, value));
        }
        result
    }

    /// What the fences cover is complete.
    fn vkWaitForFences(
        handle: vk::Device,
        count: u32,
        fences: *const vk::Fence,
        wait_all: vk::Bool32,
        timeout: u64,
    ) -> vk::Result |device| {
        let result = call_down!(device.driver.commands, vkWaitForFences(handle, count, fences, wait_all, timeout));
        if result == vk::Result::SUCCESS && (count == 1 || wait_all != vk::FALSE) {
            // SAFETY: Valid usage.
            let fences = unsafe { elements(fences, count) };
            with_order(&device, |followed| fences.iter().for_each(|fence| followed.order.fence_waited(*fence)));
        }
        result
    }

    /// What the fence covers is complete, if it is signaled.
    fn vkGetFenceStatus(handle: vk::Device, fence: vk::Fence) -> vk::Result |device| {
        let result = call_down!(device.driver.commands, vkGetFenceStatus(handle, fence));
        if result == vk::Result::SUCCESS {
            with_order(&device, |followed| followed.order.fence_waited(fence));
        }
        result
    }

    /// The fences cover nothing.
    fn vkResetFences(handle: vk::Device, count: u32, fences: *const vk::Fence) -> vk::Result |device| {
        // SAFETY: Valid usage.
        let all = unsafe { elements(fences, count) };
        with_order(&device, |followed| all.iter().for_each(|fence| followed.order.fence_reset(*fence)));
        call_down!(device.driver.commands, vkResetFences(handle, count, fences))
    }

    /// The handle may become another fence's.
    fn vkDestroyFence(
        handle: vk::Device,
        fence: vk::Fence,
        allocator: *const vk::AllocationCallbacks<'_>,
    ) |device| {
        with_order(&device, |followed| followed.order.fence_reset(fence));
        call_down!(device.driver.commands, vkDestroyFence(handle, fence, allocator));
    }

    /// All that the queue did is complete.
    fn vkQueueWaitIdle(queue: vk::Queue) -> vk::Result |device| {
        let result = call_down!(device.driver.commands, vkQueueWaitIdle(queue));
        if result == vk::Result::SUCCESS {
            with_order(&device, |followed| followed.order.idle(Some(queue)));
        }
        result
    }

    /// All that the device did is complete.
    fn vkDeviceWaitIdle(handle: vk::Device) -> vk::Result |device| {
        let result = call_down!(device.driver.commands, vkDeviceWaitIdle(handle));
        if result == vk::Result::SUCCESS {
            with_order(&device, |followed| followed.order.idle(None));
        }
        result
    }
}
