//! The recording state of a frame's declared command buffers.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ash::vk;

/// The recording state of a declared command buffer in the current frame.
#[derive(Default)]
pub(super) struct CommandSlot {
    is_taken: AtomicBool,
    /// Number of command buffers that are not finished.
    unfinished: AtomicU32,
    /// The command buffers, in submission order; several if a pass is recorded in parts.
    handles: Mutex<Vec<vk::CommandBuffer>>,
}

impl CommandSlot {
    /// Takes the slot for recording; false if it was taken before.
    pub(super) fn take(&self, commands: vk::CommandBuffer) -> bool {
        let was_taken = self.is_taken.swap(true, Ordering::AcqRel);
        if !was_taken {
            self.add(commands);
        }
        !was_taken
    }

    /// Adds a command buffer that is submitted after the others.
    pub(super) fn add(&self, commands: vk::CommandBuffer) {
        self.unfinished.fetch_add(1, Ordering::AcqRel);
        self.handles().push(commands);
    }

    /// Counts one of the command buffers as finished.
    pub(super) fn finish(&self) {
        self.unfinished.fetch_sub(1, Ordering::AcqRel);
    }

    pub(super) fn free(&self) {
        self.handles().clear();
        self.unfinished.store(0, Ordering::Release);
        self.is_taken.store(false, Ordering::Release);
    }

    pub(super) fn is_free(&self) -> bool {
        !self.is_taken.load(Ordering::Acquire)
    }

    /// Returns true if the declared command buffer was recorded completely.
    pub(super) fn is_done(&self) -> bool {
        !self.is_free() && self.unfinished.load(Ordering::Acquire) == 0
    }

    /// The slot's command buffers, in the order of their submission.
    pub(super) fn handles(&self) -> MutexGuard<'_, Vec<vk::CommandBuffer>> {
        self.handles.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
