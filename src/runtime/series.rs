//! A series of frames: those of one bound frame, or of all that a dynamic frame binds.
//!
//! ```text
//! Series                      progress, borrower of the pool
//!   ├─ BoundFrame (day)       Device::bind: one bound frame      DynamicFrame: one for each description
//!   └─ BoundFrame (night)
//! ```
//! Its frames run one after another, regardless of their description, so they can share blocks of memory and one count of submitted
//! frames. A series ends when its last bound frame is dropped.

use std::sync::{Arc, MutexGuard};

use ash::vk;

use super::device_state::DeviceState;
use super::owned::{Guard, OwnedObjects};
use super::pool::Borrower;
use super::progress::Progress;
use super::retire::{RetiredList, RetiredObjects};
use super::shared_progress::SharedProgress;
use crate::Result;

/// State shared by the bound frames of a series.
pub(super) struct Series {
    state: Arc<DeviceState>,
    retired: Arc<RetiredList>,
    pub(super) borrower: Borrower,
    progress: Arc<SharedProgress>,
    /// The queue families that share the histories of the series in any of its plans; empty if there is only one family, or only one plan, whose tables then
    /// list the families.
    pub(super) families: Vec<u32>,
    /// The fences that count the series' frames on devices without timeline semaphores; taken when the series ends.
    owned: Option<OwnedObjects>,
}

impl Series {
    /// Creates a series whose frames run on these queues of the device (number and timeline).
    pub(super) fn new(
        state: &Arc<DeviceState>,
        retired: &Arc<RetiredList>,
        queues: impl Iterator<Item = (usize, vk::Semaphore)>,
        families: Vec<u32>,
    ) -> Result<Arc<Series>> {
        let mut guard = Guard::new(state.clone());
        let progress = Progress::new(state, queues, &mut guard.owned)?;
        let number = state.pool.lock().next_number();
        Ok(Arc::new(Series {
            state: state.clone(),
            retired: retired.clone(),
            borrower: Borrower { number },
            progress: Arc::new(SharedProgress::new(progress)),
            families,
            owned: Some(guard.keep()),
        }))
    }

    /// Locks the progress of the series.
    pub(super) fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock()
    }

    /// The progress of the series, to share with threads that wait for its frames.
    pub(super) fn shared_progress(&self) -> &Arc<SharedProgress> {
        &self.progress
    }

    /// Retires objects of a bound frame of the series: they are destroyed when the device has completed all frames submitted so far.
    pub(super) fn retire(&self, owned: OwnedObjects) {
        let submitted = self.progress().submitted();
        self.retired.push(RetiredObjects {
            owned,
            progress: self.progress.clone(),
            submitted,
            is_bound_frame: true,
        });
    }

    /// Destroys the fences that count the frames of the series.
    ///
    /// # Safety
    /// None of its frames is in flight, or will be.
    pub(super) unsafe fn destroy(&mut self) {
        if let Some(mut owned) = self.owned.take() {
            self.progress.end();
            // SAFETY: the caller's duty.
            unsafe { owned.destroy() };
        }
    }

    /// Destroys everything that was retired on the device, everything in the pool that is no longer borrowed, and the fences that count the frames of the
    /// series.
    ///
    /// # Safety
    /// Nothing is in use on the device, nothing more is submitted to it, and the bound frames of the series are dropped.
    pub(super) unsafe fn abandon(&mut self) {
        // SAFETY: the caller's duty.
        unsafe { self.retired.destroy() };
        // SAFETY: the caller's duty.
        unsafe { self.state.pool.abandon(&self.state, self.borrower) };
        // SAFETY: the caller's duty.
        unsafe { self.destroy() };
    }
}

impl Drop for Series {
    fn drop(&mut self) {
        self.state.pool.lock().forget_borrower(self.borrower.number);
        let Some(mut owned) = self.owned.take() else {
            return;
        };
        let submitted = self.progress().submitted();
        if submitted == 0 {
            // SAFETY: no frame was submitted, so no submission has its fences.
            unsafe { owned.destroy() };
        } else if self.state.functions.timeline_semaphore.is_none() {
            self.retired.push(RetiredObjects {
                owned,
                progress: self.progress.clone(),
                submitted,
                is_bound_frame: false,
            });
        }
    }
}
