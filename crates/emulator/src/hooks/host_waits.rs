//! Entry points of semaphores, fences, events and host waits, which order submissions.

use ash::vk;
use tileheap_layer::{array, call_down, chained, given, host_waits};

use super::creates::creates;
use super::device::{Device, device_entry_points};
use crate::model::finding::Finding;
use crate::model::order::tracker::Tracker;

/// Applies a change to the model of a device, and reports the findings, including those of batches that waited for the change.
pub(crate) fn follow<F: IntoIterator<Item = Finding>>(
    device: &Device,
    change: impl FnOnce(&mut Tracker) -> F,
) {
    if let Some(check) = &device.check {
        let findings = change(&mut check.tracker());
        device.reporter.report_all(findings);
    }
}

creates! {
    /// Registers timeline semaphores.
    vkCreateSemaphore;
    |device, info, semaphore| {
        let kind = chained!(info.p_next => vk::SemaphoreTypeCreateInfo<'_>);
        if let Some(kind) = kind.filter(|kind| kind.semaphore_type == vk::SemaphoreType::TIMELINE) {
            follow(&device, |tracker| {
                tracker.create_timeline(semaphore, kind.initial_value);
                None
            });
        }
    }
}

host_waits! {
    device_entry_points, |device| device.driver.commands, |wait| follow(&device, |tracker| tracker.wait(wait))
}

macro_rules! destroys {
    ($($command:ident: $destroy:ident;)+) => {
        device_entry_points! {$(
            /// Unregisters the object, since its handle may be reused.
            $command(handle, object, allocator) |device| {
                follow(&device, |tracker| {
                    tracker.$destroy(object);
                    None
                });
                call_down!(device.driver.commands, $command(handle, object, allocator));
            }
        )+}
    };
}

destroys! {
    vkDestroySemaphore: destroy_semaphore;
    vkDestroyFence: destroy_fence;
    vkDestroyEvent: destroy_event;
}

device_entry_points! {
    /// Signals the semaphore in the model: batches that wait for the value may now run.
    vkSignalSemaphore(handle, info) |device| {
        let signal = given!(info);
        follow(&device, |tracker| tracker.signal(signal.semaphore, signal.value));
        call_down!(device.driver.commands, vkSignalSemaphore(handle, info))
    }

    /// Resets the fences in the model: they no longer cover any submission.
    vkResetFences(handle, count, fences) |device| {
        for fence in array!(fences, count) {
            follow(&device, |tracker| tracker.reset_fence(*fence));
        }
        call_down!(device.driver.commands, vkResetFences(handle, count, fences))
    }
}
