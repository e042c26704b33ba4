//! The progress of the device: frames counted by timeline semaphores, or by fences if there are none.

use std::collections::VecDeque;

use ash::vk;

use super::device_state::DeviceState;
use super::error::{RuntimeError, RuntimeRule, VkResultExt};
use super::owned::OwnedObjects;
use crate::Result;

/// The number of a frame of a [`BoundFrame`](super::BoundFrame) or a [`DynamicFrame`](super::DynamicFrame): 0, 1, 2, ….
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FrameNumber(pub u64);

/// Counts the submitted and the completed frames of a series.
pub(super) struct Progress {
    submitted: u64,
    /// The failed call and its result, if a submission failed halfway: the counts are then no longer valid.
    failed: Option<(&'static str, vk::Result)>,
    counting: Counting,
}

/// The objects that count frames.
enum Counting {
    /// Per queue that frames are submitted to: its timeline semaphore, its number and the latest value that its timeline will reach. `ends` contains, for
    /// each frame that is not known to be complete, oldest first, the value of each timeline at which the frame is complete.
    Timelines {
        semaphores: Vec<vk::Semaphore>,
        numbers: Vec<usize>,
        latest: Vec<u64>,
        ends: VecDeque<u64>,
    },
    /// Per frame in flight, a fence, and the number of threads that wait for it; there is one queue. `is_reset` is true if the next frame's fence is reset;
    /// the frame that used it before is complete, and the fence no longer counts it.
    Fences {
        fences: [vk::Fence; FENCED_FRAMES],
        waiting: [usize; FENCED_FRAMES],
        is_reset: bool,
    },
    /// The fences are destroyed: every submitted frame is complete.
    Ended,
}

/// The number of frames that can be in flight if fences count them; the next frame waits for the oldest one.
const FENCED_FRAMES: usize = 4;

impl Progress {
    /// Creates the progress of a new series, whose frames are counted by the timelines of these queues (number and semaphore), or by fences on devices
    /// without timeline semaphores.
    pub(super) fn new(
        state: &DeviceState,
        queues: impl Iterator<Item = (usize, vk::Semaphore)>,
        owned: &mut OwnedObjects,
    ) -> Result<Progress> {
        let counting = if state.functions.timeline_semaphore.is_some() {
            let (numbers, semaphores): (Vec<_>, Vec<_>) = queues.unzip();
            Counting::Timelines {
                ends: VecDeque::with_capacity(4 * semaphores.len()),
                latest: vec![0; semaphores.len()],
                semaphores,
                numbers,
            }
        } else {
            tracing::debug!(reason = "no timeline semaphores", "frames are counted by fences");
            let mut fences = [vk::Fence::null(); FENCED_FRAMES];
            for created in &mut fences {
                *created = fence(state, owned)?;
            }
            Counting::Fences {
                fences,
                waiting: [0; FENCED_FRAMES],
                is_reset: false,
            }
        };
        Ok(Progress {
            submitted: 0,
            failed: None,
            counting,
        })
    }

    /// Number of frames submitted so far.
    pub(super) fn submitted(&self) -> u64 {
        self.submitted
    }

    /// The number of the next frame.
    ///
    /// # Errors
    /// When an earlier submission failed, or the device is lost.
    pub(super) fn next(&self, state: &DeviceState) -> Result<FrameNumber> {
        state.check_not_lost()?;
        match self.failed {
            None => Ok(FrameNumber(self.submitted)),
            Some((call, result)) => {
                let what = "an earlier frame; bind again".to_owned();
                Err(RuntimeError::Vulkan { call, result, what }.into())
            }
        }
    }

    /// The frame whose fence the next frame reuses, and the fence; `None` if semaphores count frames, or the fence is unused.
    pub(super) fn frame_to_reuse(&self) -> Option<(FrameNumber, usize)> {
        let Counting::Fences { .. } = self.counting else {
            return None;
        };
        let oldest = self.submitted.checked_sub(FENCED_FRAMES as u64)?;
        Some((FrameNumber(oldest), oldest as usize % FENCED_FRAMES))
    }

    /// Resets a fence for the next frame.
    pub(super) fn reset_fence(&mut self, state: &DeviceState, fence: usize) -> Result<()> {
        let Counting::Fences { fences, is_reset, .. } = &mut self.counting else {
            return Ok(());
        };
        // SAFETY: the frame that signaled it is complete, and no thread waits for it.
        let reset = unsafe { state.device.reset_fences(&[fences[fence]]) };
        reset.with_call("vkResetFences", || "a frame")?;
        *is_reset = true;
        Ok(())
    }

    /// Discards the timeline values of complete frames.
    pub(super) fn forget_complete(&mut self, state: &DeviceState) -> Result<()> {
        let complete = self.completed(state)?.map_or(0, |frame| frame.0 + 1);
        let open = self.submitted - complete;
        if let Counting::Timelines { semaphores, ends, .. } = &mut self.counting {
            let known = ends.len() - open as usize * semaphores.len();
            ends.drain(..known);
        }
        Ok(())
    }

    /// The fence for the last submission of the next frame; null if semaphores count frames.
    pub(super) fn fence(&self) -> vk::Fence {
        match &self.counting {
            Counting::Fences { fences, .. } => fences[self.submitted as usize % FENCED_FRAMES],
            Counting::Timelines { .. } | Counting::Ended => vk::Fence::null(),
        }
    }

    /// Records that the next frame was submitted. `reached` lists numbers of queues, each with the value that its timeline reaches at the end of the frame.
    pub(super) fn advance(&mut self, reached: &[(usize, u64)]) -> FrameNumber {
        if let Counting::Timelines {
            numbers,
            latest,
            ends,
            ..
        } = &mut self.counting
        {
            for (number, latest) in numbers.iter().zip(latest) {
                if let Some((_, value)) = reached.iter().find(|(other, _)| other == number) {
                    *latest = *value;
                }
                ends.push_back(*latest);
            }
        }
        if let Counting::Fences { is_reset, .. } = &mut self.counting {
            *is_reset = false;
        }
        self.submitted += 1;
        FrameNumber(self.submitted - 1)
    }

    /// Records that the submission of the next frame failed.
    pub(super) fn fail(&mut self, state: &DeviceState, error: RuntimeError) -> crate::Error {
        state.note_loss(&error);
        if let RuntimeError::Vulkan { call, result, .. } = &error {
            self.failed = Some((call, *result));
        }
        error.into()
    }

    /// Returns `true` if a submission has failed halfway.
    pub(super) fn has_failed(&self) -> bool {
        self.failed.is_some()
    }

    /// Returns `true` if the first `count` frames are complete. Always false once a submission has failed halfway.
    pub(super) fn is_past(&self, state: &DeviceState, count: u64) -> Result<bool> {
        if self.has_failed() {
            return Ok(false);
        }
        Ok(self.completed(state)?.map_or(0, |frame| frame.0 + 1) >= count)
    }

    /// The newest complete frame; `None` if no frame is complete.
    pub(super) fn completed(&self, state: &DeviceState) -> Result<Option<FrameNumber>> {
        let mut count;
        match &self.counting {
            Counting::Timelines { semaphores, ends, .. } => {
                let width = semaphores.len().max(1);
                let open = ends.len() / width;
                let mut complete = open;
                for (index, semaphore) in semaphores.iter().enumerate().filter(|_| open > 0) {
                    let value = counter_value(state, *semaphore)?;
                    let reached = |&frame: &usize| ends[frame * width + index] <= value;
                    complete = complete.min((0..open).take_while(reached).count());
                }
                count = self.submitted - (open - complete) as u64;
            }
            Counting::Ended => count = self.submitted,
            Counting::Fences { fences, is_reset, .. } => {
                let counted = FENCED_FRAMES as u64 - u64::from(*is_reset);
                count = self.submitted.saturating_sub(counted);
                while count < self.submitted && is_signaled(state, fences[count as usize % FENCED_FRAMES])? {
                    count += 1;
                }
            }
        };
        Ok(count.checked_sub(1).map(FrameNumber))
    }

    /// The object at `index`, counted from 0, in the list of objects to wait for until `frame` is complete. `None` after the last one, and for a frame that
    /// is known to be complete.
    ///
    /// # Errors
    /// When the frame was not submitted, or the device is lost.
    pub(super) fn wait_target(
        &self,
        state: &DeviceState,
        frame: FrameNumber,
        index: usize,
    ) -> Result<Option<WaitTarget>> {
        let (number, submitted) = (frame.0, self.submitted);
        if number >= submitted {
            return Err(RuntimeRule::NotSubmitted.broken(format!(
                "cannot wait for frame {number} before FrameRecorder::submit submits it; the number of submitted frames is {submitted}"
            )));
        }
        let back = (submitted - number) as usize;
        let target = match &self.counting {
            Counting::Timelines { semaphores, ends, .. } => {
                // Frames that are no longer listed are complete.
                let first = ends.len().checked_sub(back * semaphores.len());
                let semaphore = semaphores.get(index).zip(first);
                semaphore.map(|(&semaphore, first)| WaitTarget::Timeline(semaphore, ends[first + index]))
            }
            Counting::Ended => None,
            // Its fence counts a later frame already, which waited for this one.
            Counting::Fences { is_reset, .. } if back + usize::from(*is_reset) > FENCED_FRAMES => None,
            Counting::Fences { fences, .. } => {
                let fence = number as usize % FENCED_FRAMES;
                (index == 0).then(|| WaitTarget::Fence(fences[fence], fence))
            }
        };
        if target.is_some() {
            state.check_not_lost()?;
        }
        Ok(target)
    }

    /// The number of threads that wait for a fence; while it is not 0, the fence must not be reset or destroyed.
    pub(super) fn waiting_for(&mut self, fence: usize) -> &mut usize {
        match &mut self.counting {
            Counting::Fences { waiting, .. } => &mut waiting[fence],
            Counting::Timelines { .. } | Counting::Ended => {
                unreachable!("only fences are waited for by index")
            }
        }
    }

    /// Returns true if a thread waits for any fence of the series.
    pub(super) fn has_waiting_threads(&self) -> bool {
        matches!(&self.counting, Counting::Fences { waiting, .. } if waiting.iter().any(|&threads| threads > 0))
    }

    /// Counts every submitted frame as complete, before the fences are destroyed.
    pub(super) fn end(&mut self) {
        if let Counting::Fences { .. } = self.counting {
            self.counting = Counting::Ended;
        }
    }
}

/// An object that the host waits for.
#[derive(Clone, Copy)]
pub(super) enum WaitTarget {
    /// A timeline semaphore, and the value that it reaches.
    Timeline(vk::Semaphore, u64),
    /// A fence, and its index.
    Fence(vk::Fence, usize),
}

pub(super) fn counter_value(state: &DeviceState, semaphore: vk::Semaphore) -> Result<u64> {
    let functions = state
        .functions
        .timeline_semaphore
        .as_ref()
        .expect("timeline semaphores count frames only if they are enabled");
    state.check_not_lost()?;
    let mut value = 0;
    // SAFETY: the semaphore is alive and a timeline.
    let result =
        unsafe { (functions.get_semaphore_counter_value_khr)(state.device.handle(), semaphore, &mut value) };
    let value = result
        .result_with_success(value)
        .with_call("vkGetSemaphoreCounterValue", || "frames complete");
    state.noting_loss(value.map_err(crate::Error::from))
}

fn is_signaled(state: &DeviceState, fence: vk::Fence) -> Result<bool> {
    state.check_not_lost()?;
    // SAFETY: the fence is alive.
    let status = unsafe { state.device.get_fence_status(fence) };
    let status = status.with_call("vkGetFenceStatus", || "a frame");
    state.noting_loss(status.map_err(crate::Error::from))
}

/// Creates a semaphore: a timeline from 0, or a binary one.
pub(super) fn semaphore(
    state: &DeviceState,
    owned: &mut OwnedObjects,
    timeline: bool,
) -> Result<vk::Semaphore> {
    let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
    let mut info = vk::SemaphoreCreateInfo::default();
    if timeline {
        info = info.push_next(&mut kind);
    }
    // SAFETY: timeline semaphores are created only if the feature is enabled.
    let semaphore =
        unsafe { state.device.create_semaphore(&info, None) }.with_call("vkCreateSemaphore", || "a frame")?;
    owned.semaphores.push(semaphore);
    Ok(semaphore)
}

fn fence(state: &DeviceState, owned: &mut OwnedObjects) -> Result<vk::Fence> {
    let info = vk::FenceCreateInfo::default();
    // SAFETY: the creation info is the default one.
    let fence = unsafe { state.device.create_fence(&info, None) }.with_call("vkCreateFence", || "a frame")?;
    owned.fences.push(fence);
    Ok(fence)
}
