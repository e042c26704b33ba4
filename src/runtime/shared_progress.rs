//! The progress of a series, shared by threads that record and threads that wait.
//!
//! ```text
//! recording thread   submit 7 ──────────── submit 8 ───────────► submit 9
//! another thread            wait(7) ───────────────┐ complete
//!                           lock, copy, unlock     vkWaitSemaphores or vkWaitForFences, without the lock
//! ```

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ash::vk;

use super::device_state::DeviceState;
use super::error::VkResultExt;
use super::progress::{FrameNumber, Progress, WaitTarget};
use crate::Result;

/// The progress of a series, shared by its bound frames and by threads that wait for its frames.
///
/// The lock is held only briefly, never while waiting for the device.
pub(super) struct SharedProgress {
    progress: Mutex<Progress>,
    /// Notified when a thread no longer waits for a fence.
    fence_released: Condvar,
}

impl SharedProgress {
    pub(super) fn new(progress: Progress) -> SharedProgress {
        SharedProgress {
            progress: Mutex::new(progress),
            fence_released: Condvar::new(),
        }
    }

    /// Locks the progress of the frames.
    pub(super) fn lock(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Prepares for the next frame: if fences count frames, waits for the frame whose fence the next one reuses, and resets that fence; otherwise discards
    /// the timeline values of complete frames.
    pub(super) fn prepare(&self, state: &DeviceState) -> Result<()> {
        let oldest = self.lock().frame_to_reuse();
        let Some((frame, fence)) = oldest else {
            return self.lock().forget_complete(state);
        };
        self.wait(state, frame, u64::MAX)?;
        let mut progress = self.lock();
        while *progress.waiting_for(fence) > 0 {
            progress = self.until_released(progress);
        }
        progress.reset_fence(state, fence)
    }

    /// Waits for a frame; false if time ran out.
    pub(super) fn wait(&self, state: &DeviceState, frame: FrameNumber, timeout: u64) -> Result<bool> {
        let deadline = Instant::now().checked_add(Duration::from_nanos(timeout));
        // Waits for one object at a time, which needs no list.
        for index in 0.. {
            let mut progress = self.lock();
            let Some(target) = progress.wait_target(state, frame, index)? else {
                break;
            };
            if let WaitTarget::Fence(_, fence) = target {
                *progress.waiting_for(fence) += 1;
            }
            drop(progress);
            let left = match (timeout, deadline) {
                (u64::MAX, _) | (_, None) => u64::MAX,
                (_, Some(deadline)) if index > 0 => {
                    deadline.saturating_duration_since(Instant::now()).as_nanos() as u64
                }
                _ => timeout,
            };
            let waited = wait_for(state, target, left);
            if let WaitTarget::Fence(_, fence) = target {
                *self.lock().waiting_for(fence) -= 1;
                self.fence_released.notify_all();
            }
            match waited {
                // On a lost device, waits may succeed for work that was never done.
                Ok(()) => state.check_not_lost()?,
                Err(vk::Result::TIMEOUT) => return Ok(false),
                Err(result) => {
                    let failed = Err(result).with_call("vkWaitSemaphores or vkWaitForFences", || {
                        format!("frame {}", frame.0)
                    });
                    return state.noting_loss(failed.map_err(crate::Error::from));
                }
            }
        }
        Ok(true)
    }

    /// Waits for the threads that wait for fences, then counts every submitted frame as complete. Call it before the fences are destroyed.
    pub(super) fn end(&self) {
        let mut progress = self.lock();
        while progress.has_waiting_threads() {
            progress = self.until_released(progress);
        }
        progress.end();
    }

    fn until_released<'a>(&self, progress: MutexGuard<'a, Progress>) -> MutexGuard<'a, Progress> {
        self.fence_released
            .wait(progress)
            .unwrap_or_else(PoisonError::into_inner)
    }
}

fn wait_for(state: &DeviceState, target: WaitTarget, timeout: u64) -> ash::prelude::VkResult<()> {
    match target {
        WaitTarget::Timeline(semaphore, value) => {
            let functions = state.functions.timeline_semaphore.as_ref();
            let functions = functions.expect("timeline semaphores count frames only if they are enabled");
            let (semaphores, values) = ([semaphore], [value]);
            let info = vk::SemaphoreWaitInfo::default()
                .semaphores(&semaphores)
                .values(&values);
            // SAFETY: the semaphore is alive, and the frame that signals the value is submitted.
            unsafe { (functions.wait_semaphores_khr)(state.device.handle(), &info, timeout) }.result()
        }
        // SAFETY: the fence is submitted; it is neither reset nor destroyed while a thread is counted as waiting.
        WaitTarget::Fence(fence, _) => unsafe { state.device.wait_for_fences(&[fence], true, timeout) },
    }
}
