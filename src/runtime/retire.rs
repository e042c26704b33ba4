//! Retired frames: destroyed when the device has completed their last submission.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::device_state::DeviceState;
use super::owned::OwnedObjects;
use super::progress::{Progress, lock};
use crate::Result;

/// The objects of a frame after [`BoundFrame::retire`](super::BoundFrame::retire).
pub(super) struct RetiredFrame {
    pub(super) owned: OwnedObjects,
    pub(super) progress: Arc<Mutex<Progress>>,
    /// Frames submitted by then.
    pub(super) submitted: u64,
}

/// The retired frames of a device.
#[derive(Default)]
pub(super) struct RetiredFrames(Mutex<Vec<RetiredFrame>>);

impl RetiredFrames {
    pub(super) fn push(&self, frame: RetiredFrame) {
        self.lock().push(frame);
    }

    /// Destroys the frames that are complete; returns how many are not.
    pub(super) fn collect(&self, state: &DeviceState) -> Result<usize> {
        let mut retired = self.lock();
        let mut index = 0;
        while index < retired.len() {
            let RetiredFrame {
                progress, submitted, ..
            } = &retired[index];
            if lock(progress).is_past(state, *submitted)? {
                let mut frame = retired.remove(index);
                // SAFETY: every frame it submitted is complete, and retiring it consumed the caller's handle.
                unsafe { frame.owned.destroy() };
            } else {
                index += 1;
            }
        }
        Ok(retired.len())
    }

    /// The number of retired frames.
    pub(super) fn len(&self) -> usize {
        self.lock().len()
    }

    /// Destroys everything.
    ///
    /// # Safety
    /// None of it is in use on the device.
    pub(super) unsafe fn destroy(&self) {
        for mut frame in self.lock().drain(..) {
            // SAFETY: the caller's duty.
            unsafe { frame.owned.destroy() };
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<RetiredFrame>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
