//! Objects of retired frames: destroyed when the device has completed the last submission that uses them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::device_state::DeviceState;
use super::owned::OwnedObjects;
use super::shared_progress::SharedProgress;
use crate::Result;

/// The objects of a bound frame after [`BoundFrame::retire`](super::BoundFrame::retire), or of a series that has ended.
pub(super) struct RetiredObjects {
    pub(super) owned: OwnedObjects,
    pub(super) progress: Arc<SharedProgress>,
    /// Number of frames of the series submitted when the objects were retired.
    pub(super) submitted: u64,
    /// True for the objects of a bound frame.
    pub(super) is_bound_frame: bool,
}

impl RetiredObjects {
    /// Returns true if the device has completed every submission that uses the objects, and nothing else refers to the fences of a series.
    fn is_complete(&self, state: &DeviceState) -> Result<bool> {
        // The fences of a series outlive its retired frames and handles to its progress, which query their status.
        if !self.is_bound_frame && Arc::strong_count(&self.progress) > 1 {
            return Ok(false);
        }
        self.progress.lock().is_past(state, self.submitted)
    }
}

/// The retired objects of a device.
#[derive(Default)]
pub(super) struct RetiredList(Mutex<Vec<RetiredObjects>>);

impl RetiredList {
    pub(super) fn push(&self, objects: RetiredObjects) {
        self.lock().push(objects);
    }

    /// Destroys the objects whose frames are complete; returns the number of bound frames that remain.
    pub(super) fn collect(&self, state: &DeviceState) -> Result<usize> {
        let (mut complete, mut result) = (Vec::new(), Ok(()));
        let mut retired = self.lock();
        let mut index = 0;
        while index < retired.len() {
            match retired[index].is_complete(state) {
                Ok(true) => complete.push(retired.remove(index).owned),
                Ok(false) => index += 1,
                Err(error) => {
                    result = Err(error);
                    break;
                }
            }
        }
        let waiting = retired.iter().filter(|one| one.is_bound_frame).count();
        // Other threads may retire frames meanwhile.
        drop(retired);
        for mut owned in complete {
            // SAFETY: every submission that uses it is complete, and retiring it consumed the caller's handle.
            unsafe { owned.destroy() };
        }
        result.map(|()| waiting)
    }

    /// The number of entries that are not destroyed yet.
    pub(super) fn len(&self) -> usize {
        self.lock().len()
    }

    /// Destroys all retired objects, without checking that the device has finished with them.
    ///
    /// # Safety
    /// None of it is in use on the device.
    pub(super) unsafe fn destroy(&self) {
        let retired = std::mem::take(&mut *self.lock());
        for mut frame in retired {
            if !frame.is_bound_frame {
                frame.progress.end();
            }
            // SAFETY: the caller's duty.
            unsafe { frame.owned.destroy() };
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<RetiredObjects>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
