//! How far the device has come: frames counted by timeline semaphores, or by fences where there are none.

use ash::vk;

use super::device_state::DeviceState;
use super::error::{RuntimeError, VkResultExt};
use super::owned::OwnedObjects;
use crate::Result;
use crate::plan::Plan;

/// A frame of a [`BoundFrame`](super::BoundFrame): 0, 1, 2, ….
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FrameNumber(pub u64);

/// Frames of one bound plan, submitted and complete.
#[derive(Default)]
pub(super) struct Progress {
    submitted: u64,
    /// A submission failed halfway: no count holds any more.
    failed: Option<(&'static str, vk::Result)>,
    /// Per queue of the frame, whether anything is submitted to it.
    used: Vec<bool>,
    counting: Counting,
}

/// What counts the frames.
enum Counting {
    /// Per queue of the frame, a semaphore whose value is the number of frames complete there; null where unused.
    Timeline(Vec<vk::Semaphore>),
    /// Per frame in flight, and in that per queue, a fence; null where unused.
    Fences([Vec<vk::Fence>; FENCED_FRAMES]),
}

impl Default for Counting {
    fn default() -> Counting {
        Counting::Timeline(Vec::new())
    }
}

/// Frames that can be in flight where fences count them; one more waits for the oldest.
const FENCED_FRAMES: usize = 4;

impl Progress {
    pub(super) fn new(state: &DeviceState, plan: &Plan, owned: &mut OwnedObjects) -> Result<Progress> {
        let mut used = vec![false; plan.frame.queues().len()];
        for submit in plan.frame.submits() {
            used[submit.queue.index()] |= !submit.batches.is_empty();
        }
        let counting = if state.functions.timeline_semaphore.is_some() {
            let create = |&used: &bool| {
                if used {
                    semaphore(state, owned, true)
                } else {
                    Ok(Default::default())
                }
            };
            Counting::Timeline(used.iter().map(create).collect::<Result<_>>()?)
        } else {
            tracing::debug!(reason = "no timeline semaphores", "frames are counted by fences");
            let mut frames: [Vec<vk::Fence>; FENCED_FRAMES] = Default::default();
            for fences in &mut frames {
                let create = |&used: &bool| {
                    if used {
                        fence(state, owned)
                    } else {
                        Ok(Default::default())
                    }
                };
                *fences = used.iter().map(create).collect::<Result<_>>()?;
            }
            Counting::Fences(frames)
        };
        Ok(Progress {
            submitted: 0,
            failed: None,
            used,
            counting,
        })
    }

    /// Frames submitted so far.
    pub(super) fn submitted(&self) -> u64 {
        self.submitted
    }

    /// Whether anything is submitted to a queue of the frame.
    pub(super) fn uses(&self, queue: usize) -> bool {
        self.used[queue]
    }

    /// The number of the next frame.
    ///
    /// # Errors
    /// When an earlier submission failed.
    pub(super) fn next(&self) -> Result<FrameNumber> {
        match self.failed {
            None => Ok(FrameNumber(self.submitted)),
            Some((call, result)) => {
                let what = "an earlier frame; bind anew".to_owned();
                Err(RuntimeError::Vulkan { call, result, what }.into())
            }
        }
    }

    /// The semaphore whose value counts the frames complete on a queue, where there is one.
    pub(super) fn counter(&self, queue: usize) -> Option<vk::Semaphore> {
        match &self.counting {
            Counting::Timeline(semaphores) => Some(semaphores[queue]),
            Counting::Fences(_) => None,
        }
    }

    /// Makes the next frame's fences ready, if fences count; waits for the oldest frame if none is free.
    pub(super) fn prepare(&self, state: &DeviceState) -> Result<()> {
        let Counting::Fences(frames) = &self.counting else {
            return Ok(());
        };
        let Some(oldest) = self.submitted.checked_sub(FENCED_FRAMES as u64) else {
            return Ok(());
        };
        self.wait(state, FrameNumber(oldest), u64::MAX)?;
        for fence in frames[oldest as usize % FENCED_FRAMES]
            .iter()
            .filter(|fence| **fence != vk::Fence::null())
        {
            // SAFETY: it was waited for, so no submission uses it.
            unsafe { state.device.reset_fences(&[*fence]) }.with_call("vkResetFences", || "a frame")?;
        }
        Ok(())
    }

    /// The fence for the last submission of the next frame to a queue; null where semaphores count.
    pub(super) fn fence(&self, queue: usize) -> vk::Fence {
        match &self.counting {
            Counting::Timeline(_) => vk::Fence::null(),
            Counting::Fences(frames) => frames[self.submitted as usize % FENCED_FRAMES][queue],
        }
    }

    /// The next frame was submitted, or failed to be.
    pub(super) fn advance(&mut self, result: Result<(), RuntimeError>) -> Result<FrameNumber> {
        match result {
            Ok(()) => {
                self.submitted += 1;
                Ok(FrameNumber(self.submitted - 1))
            }
            Err(error) => {
                if let RuntimeError::Vulkan { call, result, .. } = &error {
                    self.failed = Some((call, *result));
                }
                Err(error.into())
            }
        }
    }

    /// Whether every frame submitted is complete. Never, once a submission has failed halfway.
    pub(super) fn is_idle(&self, state: &DeviceState) -> Result<bool> {
        if self.failed.is_some() {
            return Ok(false);
        }
        Ok(self.completed(state)?.map_or(0, |frame| frame.0 + 1) == self.submitted)
    }

    /// The newest complete frame.
    pub(super) fn completed(&self, state: &DeviceState) -> Result<Option<FrameNumber>> {
        let count = match &self.counting {
            Counting::Timeline(semaphores) => {
                let mut least = self.submitted;
                for semaphore in semaphores.iter().filter(|one| **one != vk::Semaphore::null()) {
                    least = least.min(counter_value(state, *semaphore)?);
                }
                least
            }
            Counting::Fences(frames) => {
                let oldest = self.submitted.saturating_sub(FENCED_FRAMES as u64);
                let mut count = oldest;
                for frame in oldest..self.submitted {
                    for fence in &frames[frame as usize % FENCED_FRAMES] {
                        if *fence != vk::Fence::null() && !is_signalled(state, *fence)? {
                            return Ok(count.checked_sub(1).map(FrameNumber));
                        }
                    }
                    count = frame + 1;
                }
                count
            }
        };
        Ok(count.checked_sub(1).map(FrameNumber))
    }

    /// Waits for a frame; false if time ran out.
    pub(super) fn wait(&self, state: &DeviceState, frame: FrameNumber, timeout: u64) -> Result<bool> {
        let (number, submitted) = (frame.0, self.submitted);
        if number >= submitted {
            return Err(RuntimeError::NotSubmitted { number, submitted }.into());
        }
        let waited = match &self.counting {
            Counting::Timeline(semaphores) => wait_for_value(state, semaphores, number + 1, timeout),
            // Its fences count a later frame already, which waited for this one.
            Counting::Fences(_) if number + (FENCED_FRAMES as u64) < submitted => Ok(()),
            Counting::Fences(frames) => {
                wait_for_fences(state, &frames[number as usize % FENCED_FRAMES], timeout)
            }
        };
        match waited {
            Ok(()) => Ok(true),
            Err(vk::Result::TIMEOUT) => Ok(false),
            Err(result) => Err(result).with_call("vkWaitSemaphores or vkWaitForFences", || {
                format!("frame {number}")
            })?,
        }
    }
}

/// One after the other: the values are those of one frame, and waiting needs no list then.
fn wait_for_value(
    state: &DeviceState,
    semaphores: &[vk::Semaphore],
    value: u64,
    timeout: u64,
) -> ash::prelude::VkResult<()> {
    let functions = state
        .functions
        .timeline_semaphore
        .as_ref()
        .expect("they count the frames");
    for semaphore in semaphores.iter().filter(|one| **one != vk::Semaphore::null()) {
        let (semaphores, values) = ([*semaphore], [value]);
        let info = vk::SemaphoreWaitInfo::default()
            .semaphores(&semaphores)
            .values(&values);
        // SAFETY: the semaphore is alive, and the frame that signals the value is submitted.
        let result = unsafe { (functions.wait_semaphores_khr)(state.device.handle(), &info, timeout) };
        result.result()?;
    }
    Ok(())
}

fn wait_for_fences(state: &DeviceState, fences: &[vk::Fence], timeout: u64) -> ash::prelude::VkResult<()> {
    for fence in fences.iter().filter(|one| **one != vk::Fence::null()) {
        // SAFETY: the fence is alive and submitted.
        unsafe { state.device.wait_for_fences(&[*fence], true, timeout) }?;
    }
    Ok(())
}

fn counter_value(state: &DeviceState, semaphore: vk::Semaphore) -> Result<u64> {
    let functions = state
        .functions
        .timeline_semaphore
        .as_ref()
        .expect("it counts the frames");
    let mut value = 0;
    // SAFETY: the semaphore is alive and a timeline.
    let result =
        unsafe { (functions.get_semaphore_counter_value_khr)(state.device.handle(), semaphore, &mut value) };
    Ok(result
        .result_with_success(value)
        .with_call("vkGetSemaphoreCounterValue", || "frames complete")?)
}

fn is_signalled(state: &DeviceState, fence: vk::Fence) -> Result<bool> {
    // SAFETY: the fence is alive.
    let status = unsafe { state.device.get_fence_status(fence) };
    Ok(status.with_call("vkGetFenceStatus", || "a frame")?)
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
    // SAFETY: timeline semaphores are created only where the feature is enabled.
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
