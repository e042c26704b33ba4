//! Submits whose command buffers contain the layer's timestamps.
//!
//! Queries are read as soon as a submit is known to be complete: after a host wait, when the layer's own fence after the submit is signaled, or when
//! the command buffer is recorded or submitted again.

use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ash::vk;
use ash::vk::PipelineStageFlags2 as S;
use tileheap_layer::call_down;
use tileheap_layer::host_waits::HostWait;

use super::device::{Device, Fences, TimedSubmit};
use super::recorder;
use crate::model::objects::number_of;
use crate::model::timing::SubmittedTimes;

/// The maximum time to wait for the layer's fences when a capture ends or a device is destroyed.
pub(crate) const MAX_WAIT: Duration = Duration::from_secs(1);

impl TimedSubmit {
    /// Records that the timestamps were not written, or that nothing shows when they are.
    pub(crate) fn lose(&self) {
        self.times.iter().for_each(|one| one.lose());
    }

    /// Returns true if this host wait shows that the submit is complete.
    fn is_complete_after(&self, wait: HostWait) -> bool {
        match wait {
            HostWait::Fence(fence) => self.fence == fence,
            HostWait::Semaphore(semaphore, value) => {
                let number = number_of(semaphore);
                // A signal after some stages may come before the timestamps.
                let covers = |stages: S| stages.contains(S::ALL_COMMANDS);
                let mut signals = self.signals.iter();
                signals.any(|one| one.semaphore == number && one.value <= value && covers(one.stages))
            }
            HostWait::Queue(queue) => self.queue == queue,
            HostWait::Device => true,
            HostWait::AnyOf => false,
        }
    }
}

/// Reads timestamps that the device has written.
fn read_all(times: &[Arc<SubmittedTimes>]) {
    for one in times {
        one.complete();
        recorder::read_times(one);
    }
}

// No lock is held while the driver is called: a thread may never come back from it if the program ends meanwhile.
impl Device {
    fn fences(&self) -> MutexGuard<'_, Fences> {
        self.fences.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Submits a fence after a submit with timestamps. Called during the program's submit, so that nothing else uses the queue.
    pub(crate) fn follow_timestamps(&self, submit: TimedSubmit) {
        if submit.times.is_empty() {
            return;
        }
        self.complete_timestamps();
        let free = self.fences().free.pop();
        let (handle, none) = (self.handle, std::ptr::null());
        let fence = free.or_else(|| {
            let (info, mut fence) = (vk::FenceCreateInfo::default(), vk::Fence::null());
            let result = call_down!(self.next, vkCreateFence(handle, &info, none, &mut fence));
            (result == vk::Result::SUCCESS).then_some(fence)
        });
        let Some(fence) = fence else {
            return submit.lose();
        };
        let result = call_down!(self.next, vkQueueSubmit(submit.queue, 0, std::ptr::null(), fence));
        match result {
            vk::Result::SUCCESS => self.fences().pending.push((fence, submit)),
            _ => {
                submit.lose();
                self.fences().free.push(fence);
            }
        }
    }

    /// Reads timestamps whose fences are signaled.
    pub(crate) fn complete_timestamps(&self) {
        // The driver's own exit handlers may have run.
        if self.is_exiting.load(Ordering::Relaxed) {
            return;
        }
        let pending = std::mem::take(&mut self.fences().pending);
        for (fence, submit) in pending {
            let status = call_down!(self.next, vkGetFenceStatus(self.handle, fence));
            if status != vk::Result::SUCCESS {
                if status != vk::Result::NOT_READY {
                    submit.lose();
                }
                self.fences().pending.push((fence, submit));
                continue;
            }
            read_all(&submit.times);
            let result = call_down!(self.next, vkResetFences(self.handle, 1, &fence));
            if result == vk::Result::SUCCESS {
                self.fences().free.push(fence);
            } else {
                call_down!(self.next, vkDestroyFence(self.handle, fence, std::ptr::null()));
            }
        }
    }

    /// Reads timestamps of the submits that are complete after a host wait.
    pub(crate) fn complete_timestamps_after(&self, wait: HostWait) {
        let mut known = Vec::new();
        for (_, submit) in &mut self.fences().pending {
            if submit.is_complete_after(wait) {
                known.append(&mut submit.times);
            }
        }
        read_all(&known);
    }

    /// Gives up on timestamps that are not read yet: the device is lost.
    pub(crate) fn lose_timestamps(&self) {
        self.fences().pending.iter().for_each(|(_, submit)| submit.lose());
    }

    /// Destroys the layer's fences before the device. A program that has waited only for its own fences does not know whether the layer's, which were
    /// submitted later, are signaled. A fence that is not signaled in time is left to the driver: it must not be destroyed while a submit refers to
    /// it (VUID-vkDestroyFence-fence-01120).
    pub(crate) fn destroy_fences(&self) {
        let Fences { free, pending } = std::mem::take(&mut *self.fences());
        let began = Instant::now();
        let is_unused = |fence: &vk::Fence| {
            let left = MAX_WAIT.saturating_sub(began.elapsed()).as_nanos() as u64;
            let result = call_down!(self.next, vkWaitForFences(self.handle, 1, fence, vk::TRUE, left));
            // Objects of a lost device can be destroyed ("Lost Device").
            [vk::Result::SUCCESS, vk::Result::ERROR_DEVICE_LOST].contains(&result)
        };
        let signaled = pending.into_iter().map(|(fence, _)| fence).filter(is_unused);
        for fence in free.into_iter().chain(signaled) {
            call_down!(self.next, vkDestroyFence(self.handle, fence, std::ptr::null()));
        }
    }
}

#[cfg(test)]
mod tests;
