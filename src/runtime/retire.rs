//! What was given up and waits for the device to be done with it.

use std::sync::PoisonError;

use super::device::Inner;
use super::owned::OwnedObjects;
use super::progress::Progress;
use crate::Result;

/// A bound plan after [`BoundFrame::retire`](super::Bound::retire).
pub(super) struct Retired {
    pub(super) owned: OwnedObjects,
    pub(super) progress: Progress,
}

impl Inner {
    pub(super) fn retire(&self, retired: Retired) {
        self.retired
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(retired);
    }

    /// Destroys what is complete; returns how many are not.
    pub(super) fn collect(&self) -> Result<usize> {
        let mut retired = self.retired.lock().unwrap_or_else(PoisonError::into_inner);
        let mut index = 0;
        while index < retired.len() {
            if retired[index].progress.is_idle(self)? {
                let mut done = retired.remove(index);
                // SAFETY: every frame it submitted is complete, and giving it up took the caller's handle.
                unsafe { done.owned.destroy(&self.device, &self.memory) };
            } else {
                index += 1;
            }
        }
        Ok(retired.len())
    }

    /// Destroys everything that was retired.
    ///
    /// # Safety
    /// None of it is in use on the device.
    pub(super) unsafe fn destroy_retired(&self) {
        let mut retired = self.retired.lock().unwrap_or_else(PoisonError::into_inner);
        for mut one in retired.drain(..) {
            // SAFETY: the caller's duty.
            unsafe { one.owned.destroy(&self.device, &self.memory) };
        }
    }
}
