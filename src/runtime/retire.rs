//! Objects of retired frames: destroyed when the device has completed the last submission that uses them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::device_state::DeviceState;
use super::owned::OwnedObjects;
use super::progress::Progress;
use super::series::lock;
use crate::Result;

/// The objects of a bound frame after [`BoundFrame::retire`](super::BoundFrame::retire), or of a series that has ended.
pub(super) struct RetiredObjects {
    pub(super) owned: OwnedObjects,
    pub(super) progress: Arc<Mutex<Progress>>,
    /// Frames submitted by then.
    pub(super) submitted: u64,
    /// True for those of a bound frame.
    pub(super) of_frame: bool,
}

/// The retired frames of a device.
#[derive(Default)]
pub(super) struct RetiredFrames(Mutex<Vec<RetiredObjects>>);

impl RetiredFrames {
    pub(super) fn push(&self, objects: RetiredObjects) {
        self.lock().push(objects);
    }

    /// Destroys the objects whose frames are complete; returns the number of bound frames that remain.
    pub(super) fn collect(&self, state: &DeviceState) -> Result<usize> {
        let mut retired = self.lock();
        let mut index = 0;
        while index < retired.len() {
            let RetiredObjects {
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
        Ok(retired.iter().filter(|one| one.of_frame).count())
    }

    /// The number of entries that are not destroyed yet.
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

    fn lock(&self) -> MutexGuard<'_, Vec<RetiredObjects>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
