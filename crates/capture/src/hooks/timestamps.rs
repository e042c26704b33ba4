//! Timestamps that the layer writes into command buffers of the program: their queries, and reading them.
//!
//! A command buffer has its own query pool.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use ash::vk;
use ash::vk::Handle;
use tileheap_layer::call_down;

use super::device::Device;
use crate::model::timing::{MAX_TIMESTAMPS, Mark, SubmittedTimes};

/// The queries of a command buffer.
pub(crate) struct Timestamps {
    device: Arc<Device>,
    valid_bits: u32,
    /// The query pool; null if it could not be created.
    queries: OnceLock<vk::QueryPool>,
    /// The timestamps of the last submission; `None` if there are none.
    submitted: Mutex<Option<Arc<SubmittedTimes>>>,
}

impl Timestamps {
    pub(crate) fn new(device: Arc<Device>, valid_bits: u32) -> Timestamps {
        Timestamps {
            device,
            valid_bits,
            queries: OnceLock::new(),
            submitted: Mutex::default(),
        }
    }

    fn submitted(&self) -> MutexGuard<'_, Option<Arc<SubmittedTimes>>> {
        self.submitted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Prepares a new recording; returns false if there are no queries.
    pub(crate) fn begin(&self) -> bool {
        // The command buffer is not pending any more.
        self.read(true);
        *self.submitted() = None;
        let create = || {
            let info = vk::QueryPoolCreateInfo::default()
                .query_type(vk::QueryType::TIMESTAMP)
                .query_count(MAX_TIMESTAMPS);
            let mut pool = vk::QueryPool::null();
            let (handle, none) = (self.device.handle, std::ptr::null());
            let result = call_down!(
                self.device.next,
                vkCreateQueryPool(handle, &info, none, &mut pool)
            );
            if result == vk::Result::SUCCESS {
                pool
            } else {
                vk::QueryPool::null()
            }
        };
        *self.queries.get_or_init(create) != vk::QueryPool::null()
    }

    /// Records a timestamp that is written once all earlier commands are complete. The first timestamp of a command buffer also resets its queries.
    pub(crate) fn write(&self, commands: vk::CommandBuffer, mark: Mark) {
        let (Mark::Before(number) | Mark::After(number)) = mark;
        let Some(pool) = self.queries.get().copied() else {
            return;
        };
        let next = &self.device.next;
        if number == 0 {
            call_down!(next, vkCmdResetQueryPool(commands, pool, 0, MAX_TIMESTAMPS));
        }
        let stage = vk::PipelineStageFlags::BOTTOM_OF_PIPE;
        call_down!(next, vkCmdWriteTimestamp(commands, stage, pool, number));
    }

    /// Returns the `count` timestamps of a new submission.
    pub(crate) fn submit(&self, commands: vk::CommandBuffer, count: u32) -> Arc<SubmittedTimes> {
        // An earlier submission of the same recording is complete: simultaneous ones are not measured.
        self.read(true);
        let times = Arc::new(SubmittedTimes::new(commands.as_raw(), count, self.valid_bits));
        *self.submitted() = Some(times.clone());
        times
    }

    /// Reads the timestamps of the last submission if the device is known to have finished it, because that was recorded or `is_known` is true.
    pub(crate) fn read(&self, is_known: bool) {
        let submitted = self.submitted();
        let (Some(times), Some(pool)) = (submitted.as_ref(), self.queries.get().copied()) else {
            return;
        };
        times.read(is_known, || {
            let mut values = vec![[0u64; 2]; times.count as usize];
            let (bytes, out) = (size_of_val(&*values), values.as_mut_ptr().cast());
            let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WITH_AVAILABILITY;
            let (handle, stride) = (self.device.handle, 16);
            let result = call_down!(
                self.device.next,
                vkGetQueryPoolResults(handle, pool, 0, times.count, bytes, out, stride, flags)
            );
            let is_written = result == vk::Result::SUCCESS && values.iter().all(|one| one[1] != 0);
            is_written.then(|| values.iter().map(|one| one[0]).collect())
        });
    }
}

impl Drop for Timestamps {
    fn drop(&mut self) {
        // The command buffer is freed, so that it is not pending any more.
        self.read(true);
        if let Some(pool) = self.queries.get().copied() {
            let (handle, none) = (self.device.handle, std::ptr::null());
            call_down!(self.device.next, vkDestroyQueryPool(handle, pool, none));
        }
    }
}
