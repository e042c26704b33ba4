//! Entry points of semaphores and fences, and of what the host waits for: it orders submissions.

use std::sync::PoisonError;

use ash::vk;
use tileheap_layer::{array, call_down, chained, given};

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

/// Declares entry points after which something is complete: the driver's command, and what follows in the order where it succeeds.
macro_rules! waits {
    ($($(#[$doc:meta])* $command:ident($handle:ident $(, $arg:ident)*) |$order:ident| $then:block)+) => {
        device_entry_points! {$(
            $(#[$doc])*
            $command($handle $(, $arg)*) |device| {
                let result = call_down!(device.driver.commands, $command($handle $(, $arg)*));
                if result == vk::Result::SUCCESS {
                    with_order(&device, |FollowedOrder { order: $order, .. }| $then);
                }
                result
            }
        )+}
    };
}

waits! {
    /// What the values cover is complete.
    vkWaitSemaphores(handle, info, timeout) |order| {
        let info = given!(info);
        let semaphores = array!(info.p_semaphores, info.semaphore_count);
        let values = array!(info.p_values, info.semaphore_count);
        if semaphores.len() == 1 || !info.flags.contains(vk::SemaphoreWaitFlags::ANY) {
            semaphores.iter().zip(values).for_each(|(semaphore, value)| order.semaphore_waited(*semaphore, *value));
        }
    }

    /// What the value covers is complete.
    vkGetSemaphoreCounterValue(handle, semaphore, out) |order| {
        order.semaphore_waited(semaphore, *given!(out));
    }

    /// What the fences cover is complete.
    vkWaitForFences(handle, count, fences, wait_all, timeout) |order| {
        if count == 1 || wait_all != vk::FALSE {
            array!(fences, count).iter().for_each(|fence| order.fence_waited(*fence));
        }
    }

    /// What the fence covers is complete, if it is signaled.
    vkGetFenceStatus(handle, fence) |order| {
        order.fence_waited(fence);
    }

    /// All that the queue did is complete.
    vkQueueWaitIdle(queue) |order| {
        order.idle(Some(queue));
    }

    /// All that the device did is complete.
    vkDeviceWaitIdle(handle) |order| {
        order.idle(None);
    }
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
