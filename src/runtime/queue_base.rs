//! The numbers of a frame's batches on the timelines of its queues.

use ash::vk;

/// Data about one of a frame's queues while the frame is recorded and submitted.
#[derive(Clone, Copy, Default)]
pub(super) struct QueueBase {
    /// Number of the queue on the device.
    pub(super) number: usize,
    /// The queue's timeline semaphore.
    pub(super) semaphore: vk::Semaphore,
    /// Number of batches that the frame submits to the queue.
    pub(super) batches: u64,
    /// Number of batches submitted to the queue when the frame began, or when the previous frame was submitted.
    pub(super) submitted_at_begin: u64,
    /// Number of batches submitted to the queue before this frame.
    pub(super) submitted: u64,
}

impl QueueBase {
    /// Returns true if another frame was submitted to the queue since this one began.
    pub(super) fn is_overtaken(&self) -> bool {
        self.submitted != self.submitted_at_begin
    }

    /// The timeline value for a value relative to the beginning of the frame.
    pub(super) fn value(&self, relative: i64) -> u64 {
        let base = if relative > 0 {
            self.submitted
        } else {
            self.submitted_at_begin
        };
        base.saturating_add_signed(relative)
    }
}
