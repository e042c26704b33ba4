//! Submit: each declared submit as one call, with the semaphores the frame declares and those that order its frames.
//!
//! ```text
//!            frame n                       frame n + 1
//! queue a    [batch]──s──┐     [batch]╌╌╌╌╌╌►[batch] …       s: declared in the frame
//! queue b        └──────►[batch]╌╌╌╌╌╌╌╌╌╌╌╌►[batch] …       ╌: every queue's first batch waits for the other queues' last of
//! ```                                                            the frame before; on one queue barriers do that

use std::sync::atomic::Ordering;

use ash::vk;

use super::bound_frame::BoundFrame;
use super::device_state::DeviceState;
use super::error::{RuntimeError, VkResultExt};
use super::legacy::OlderBatch;
use super::progress::FrameNumber;
use super::submission::{Signal, Submission, SubmitCall};
use crate::Result;
use crate::frame::SubmitId;
use crate::frame::tables::SemaphoreOp;
use crate::units::Run;

impl BoundFrame {
    /// Submits the frame's every submit by `call`.
    pub(super) fn submit_by(
        &mut self,
        mut call: impl FnMut(&DeviceState, &SubmitCall<'_>) -> ash::prelude::VkResult<()>,
    ) -> Result<FrameNumber> {
        self.progress.prepare(&self.state)?;
        let submits = self.plan.frame.submits().len() as u32;
        let mut result = Ok(());
        for submit in (0..submits).map(SubmitId) {
            self.gather(submit);
            let declared = self.plan.frame.submits()[submit.index()];
            let last = self.submission.ends[declared.queue.index()].map(|(_, last)| last.0);
            let fence = if last == Some(declared.batches.end.wrapping_sub(1)) {
                self.progress.fence(declared.queue.index())
            } else {
                vk::Fence::null()
            };
            let batches = &self.submission.lists.infos;
            let one = SubmitCall {
                queue: self.queues[declared.queue.index()],
                batches,
                fence,
            };
            let what = || format!("submit {} of frame `{}`", submit.index(), self.plan.frame.name());
            result = call(&self.state, &one).with_call(function_of(&self.state), what);
            if result.is_err() {
                break;
            }
        }
        self.progress.advance(result)
    }

    /// Fills the lists for one submit.
    fn gather(&mut self, submit: SubmitId) {
        let BoundFrame {
            plan,
            submission,
            progress,
            slots,
            ..
        } = self;
        let Submission {
            semaphores,
            around,
            ends,
            lists,
        } = submission;
        let (frame, number) = (&plan.frame, progress.submitted());
        let queue = frame.submits()[submit.index()].queue.index();
        let queues = frame.queues().len();
        let others = || (0..queues).filter(|other| *other != queue && progress.uses(*other));
        lists.clear();
        for index in frame.submits()[submit.index()].batches.indices() {
            let batch = &frame.batches()[index];
            let starts = (lists.waits.len(), lists.commands.len(), lists.signals.len());
            let declared = |op: &SemaphoreOp| signal_info(semaphores[op.semaphore.index()], op.stages);
            lists.waits.extend(batch.waits.iter().map(declared));
            lists.signals.extend(batch.signals.iter().map(declared));
            let everything = vk::PipelineStageFlags2::ALL_COMMANDS;
            let (first, last) = ends[queue].expect("the queue has this batch");
            if first.index() == index && number > 0 {
                for other in others() {
                    let signal = match progress.counter(other) {
                        Some(handle) => Signal {
                            handle,
                            value: number,
                        },
                        None => Signal {
                            handle: around[other * queues + queue][(number as usize - 1) % 2],
                            value: 0,
                        },
                    };
                    lists.waits.push(signal_info(signal, everything));
                }
            }
            if last.index() == index {
                if let Some(handle) = progress.counter(queue) {
                    lists.signals.push(signal_info(
                        Signal {
                            handle,
                            value: number + 1,
                        },
                        everything,
                    ));
                } else {
                    for other in others() {
                        let handle = around[queue * queues + other][number as usize % 2];
                        lists
                            .signals
                            .push(signal_info(Signal { handle, value: 0 }, everything));
                    }
                }
            }
            let commands = slots[batch.command_buffers.indices()].iter();
            lists.commands.extend(commands.map(|slot| {
                let handle = <vk::CommandBuffer as vk::Handle>::from_raw(slot.handle.load(Ordering::Acquire));
                vk::CommandBufferSubmitInfo::default().command_buffer(handle)
            }));
            lists.runs.push([
                Run {
                    first: starts.0 as u32,
                    end: lists.waits.len() as u32,
                },
                Run {
                    first: starts.1 as u32,
                    end: lists.commands.len() as u32,
                },
                Run {
                    first: starts.2 as u32,
                    end: lists.signals.len() as u32,
                },
            ]);
        }
        lists.point();
    }
}

fn signal_info(signal: Signal, stages: vk::PipelineStageFlags2) -> vk::SemaphoreSubmitInfo<'static> {
    vk::SemaphoreSubmitInfo::default()
        .semaphore(signal.handle)
        .value(signal.value)
        .stage_mask(stages)
}

/// The function that submits on this device.
fn function_of(state: &DeviceState) -> &'static str {
    if state.functions.synchronization_2.is_some() {
        "vkQueueSubmit2"
    } else {
        "vkQueueSubmit"
    }
}

/// Makes the call, in the way the device has.
///
/// # Safety
/// As `vkQueueSubmit2`: handles alive, command buffers executable, no other thread uses the queue.
pub(super) unsafe fn call(state: &DeviceState, call: &SubmitCall<'_>) -> ash::prelude::VkResult<()> {
    let queue = call.queue.handle;
    if let Some(functions) = &state.functions.synchronization_2 {
        let count = call.batches.len() as u32;
        // SAFETY: the caller's duty.
        return unsafe { (functions.queue_submit2_khr)(queue, count, call.batches.as_ptr(), call.fence) }
            .result();
    }
    let timeline = state.functions.timeline_semaphore.is_some();
    let older = call.batches.iter().map(|batch| {
        // SAFETY: `Lists::point` made the pointers from slices that live as long as the call.
        unsafe { OlderBatch::new(batch) }
    });
    let older: Vec<OlderBatch> = older.collect();
    let mut values: Vec<_> = older.iter().map(OlderBatch::values).collect();
    let infos: Vec<_> = older
        .iter()
        .zip(&mut values)
        .map(|(batch, values)| batch.info(timeline.then_some(values)))
        .collect();
    // SAFETY: the caller's duty.
    unsafe { state.device.queue_submit(queue, &infos, call.fence) }
}

impl BoundFrame {
    /// Whether every declared command buffer was recorded in this frame.
    pub(super) fn check_recorded(&self) -> Result<()> {
        for (slot, declared) in self.slots.iter().zip(self.plan.frame.command_buffers()) {
            if !slot.is_done() {
                let what = "is submitted before its recording is finished".to_owned();
                return Err(RuntimeError::Recording {
                    commands: declared.name.clone(),
                    what,
                }
                .into());
            }
        }
        Ok(())
    }
}
