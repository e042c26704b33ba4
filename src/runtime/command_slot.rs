//! The recording state of a frame's declared command buffers.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use ash::vk;

/// The recording state of a declared command buffer in the current frame.
#[derive(Default)]
pub(super) struct CommandSlot {
    pub(super) handle: AtomicU64,
    state: AtomicU8,
}

impl CommandSlot {
    const FREE: u8 = 0;
    const RECORDING: u8 = 1;
    const DONE: u8 = 2;

    /// Takes the slot for recording; false if it was taken before.
    pub(super) fn take(&self, commands: vk::CommandBuffer) -> bool {
        let taken =
            self.state
                .compare_exchange(Self::FREE, Self::RECORDING, Ordering::AcqRel, Ordering::Acquire);
        if taken.is_ok() {
            self.handle.store(vk::Handle::as_raw(commands), Ordering::Release);
        }
        taken.is_ok()
    }

    pub(super) fn free(&self) {
        self.state.store(Self::FREE, Ordering::Release);
    }

    pub(super) fn is_free(&self) -> bool {
        self.state.load(Ordering::Acquire) == Self::FREE
    }

    pub(super) fn done(&self) {
        self.state.store(Self::DONE, Ordering::Release);
    }

    pub(super) fn is_done(&self) -> bool {
        self.state.load(Ordering::Acquire) == Self::DONE
    }
}
