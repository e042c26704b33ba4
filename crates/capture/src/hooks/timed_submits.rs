//! The submits whose command buffers have timestamps of the layer.
//!
//! A fence after each of them shows that the queries can be read; those of a command buffer that is recorded again can be read in any case.

use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ash::vk;
use tileheap_layer::call_down;

use super::device::{Device, Fences};
use crate::model::timing::SubmittedTimes;

/// The maximum wait for the layer's fences at the end of a device, all together.
const MAX_WAIT: Duration = Duration::from_secs(1);

impl Device {
    fn fences(&self) -> MutexGuard<'_, Fences> {
        self.fences.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Submits a fence after a submit with timestamps. The program does not use the queue meanwhile.
    pub(crate) fn follow_timestamps(&self, queue: vk::Queue, times: Vec<Arc<SubmittedTimes>>) {
        if times.is_empty() {
            return;
        }
        self.complete_timestamps();
        let mut fences = self.fences();
        let (handle, none) = (self.handle, std::ptr::null());
        let fence = fences.free.pop().or_else(|| {
            let (info, mut fence) = (vk::FenceCreateInfo::default(), vk::Fence::null());
            let result = call_down!(self.next, vkCreateFence(handle, &info, none, &mut fence));
            (result == vk::Result::SUCCESS).then_some(fence)
        });
        let Some(fence) = fence else { return };
        match call_down!(self.next, vkQueueSubmit(queue, 0, std::ptr::null(), fence)) {
            vk::Result::SUCCESS => fences.pending.push((fence, times)),
            _ => fences.free.push(fence),
        }
    }

    /// Marks timestamps whose fences are signaled.
    pub(crate) fn complete_timestamps(&self) {
        let Fences { free, pending } = &mut *self.fences();
        pending.retain(|(fence, times)| {
            let is_done = call_down!(self.next, vkGetFenceStatus(self.handle, *fence)) == vk::Result::SUCCESS;
            if is_done {
                times.iter().for_each(|one| one.complete());
                let result = call_down!(self.next, vkResetFences(self.handle, 1, fence));
                if result == vk::Result::SUCCESS {
                    free.push(*fence);
                } else {
                    call_down!(self.next, vkDestroyFence(self.handle, *fence, std::ptr::null()));
                }
            }
            !is_done
        });
    }

    /// Destroys the layer's fences before the device. A program that has waited only for its own fences does not know whether the layer's, which were
    /// submitted later, are signaled. One that is not signaled in time is left to the driver: it must not be destroyed while a submit refers to it
    /// (VUID-vkDestroyFence-fence-01120).
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
