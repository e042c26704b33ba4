//! Submit: each declared submit as one call, with the semaphores the frame declares and those that order its frames.
//!
//! ```text
//!            frame n                       frame n + 1
//! queue a    [batch]──s──┐     [batch]╌╌╌╌╌╌►[batch] …       s: declared in the frame
//! queue b        └──────►[batch]╌╌╌╌╌╌╌╌╌╌╌╌►[batch] …       ╌: every queue's first batch waits for the other queues' last of
//! ```                                                            the frame before; on one queue barriers do that

use std::sync::atomic::Ordering;

use ash::vk;

use super::bound::BoundFrame;
use super::device_state::DeviceState;
use super::error::VkResultExt;
use super::legacy::OlderBatch;
use super::owned::OwnedObjects;
use super::progress::{Progress, semaphore};
use super::{DeviceQueue, FrameNumber, RuntimeError};
use crate::Result;
use crate::frame::{BatchId, SemaphoreOp, SubmitId};
use crate::plan::Plan;
use crate::units::Run;

/// The semaphores of a bound plan, and the lists that submitting fills again and again.
#[derive(Default)]
pub(super) struct Submission {
    /// Per semaphore of the frame; external ones change from frame to frame.
    semaphores: Vec<Signal>,
    /// Where no timeline counts frames: per pair of queues, from x to, two that take turns; null where one is unused.
    ///
    /// Two, since the next signal may come before the wait for the last one has begun, but not the one after that.
    around: Vec<[vk::Semaphore; 2]>,
    /// Per queue of the frame, its first and last batch.
    ends: Vec<Option<(BatchId, BatchId)>>,
    lists: Lists,
}

/// A semaphore and its value in this frame (0 for binary ones).
#[derive(Clone, Copy, Default)]
pub(super) struct Signal {
    pub(super) handle: vk::Semaphore,
    pub(super) value: u64,
}

/// One submission call's structs.
#[derive(Default)]
struct Lists {
    waits: Vec<vk::SemaphoreSubmitInfo<'static>>,
    commands: Vec<vk::CommandBufferSubmitInfo<'static>>,
    signals: Vec<vk::SemaphoreSubmitInfo<'static>>,
    /// Per batch, its runs in those.
    runs: Vec<[Run; 3]>,
    infos: Vec<vk::SubmitInfo2<'static>>,
}

/// One submission call, as [`FrameRecorder::submit_with`](super::FrameRecorder::submit_with) hands it out.
#[derive(Clone, Copy, Debug)]
pub struct SubmitCall<'a> {
    /// Where it goes.
    pub queue: DeviceQueue,
    /// Its batches, as synchronization2 describes them (also on devices without it).
    pub batches: &'a [vk::SubmitInfo2<'a>],
    /// To be signalled by the call; null unless fences count the frames.
    pub fence: vk::Fence,
}

impl Submission {
    pub(super) fn new(
        state: &DeviceState,
        plan: &Plan,
        progress: &Progress,
        owned: &mut OwnedObjects,
    ) -> Result<Submission> {
        let frame = &plan.frame;
        let timeline = state.functions.timeline_semaphore.is_some();
        let mut semaphores = Vec::with_capacity(frame.semaphores().len());
        for declared in frame.semaphores() {
            // External ones are the caller's: nothing to create or to name.
            let mut handle = vk::Semaphore::null();
            if !declared.external {
                handle = semaphore(state, owned, timeline)?;
                state.set_name(handle, &declared.name);
            }
            semaphores.push(Signal { handle, value: 0 });
        }
        let queues = frame.queues().len();
        let mut ends = vec![None; queues];
        for (index, batch) in frame.batches().iter().enumerate() {
            let (batch, queue) = (BatchId(index as u32), frame.submits()[batch.submit.index()].queue);
            let (_, last) = ends[queue.index()].get_or_insert((batch, batch));
            *last = batch;
        }
        let mut around = Vec::new();
        if !timeline && queues > 1 {
            around = vec![[vk::Semaphore::null(); 2]; queues * queues];
            for (index, pair) in around.iter_mut().enumerate() {
                let (from, to) = (index / queues, index % queues);
                if from != to && progress.uses(from) && progress.uses(to) {
                    *pair = [semaphore(state, owned, false)?, semaphore(state, owned, false)?];
                }
            }
        }
        let lists = Lists::for_plan(plan);
        Ok(Submission {
            semaphores,
            around,
            ends,
            lists,
        })
    }

    /// The external semaphores' handles, to be set for every frame.
    pub(super) fn semaphores_mut(&mut self) -> &mut [Signal] {
        &mut self.semaphores
    }
}

impl Lists {
    /// Lists that never have to grow.
    fn for_plan(plan: &Plan) -> Lists {
        let frame = &plan.frame;
        let batches = frame.batches();
        let around = frame.queues().len() + 1;
        let waits: usize = batches.iter().map(|batch| batch.waits.len() + around).sum();
        let signals: usize = batches.iter().map(|batch| batch.signals.len() + around).sum();
        Lists {
            waits: Vec::with_capacity(waits),
            commands: Vec::with_capacity(frame.command_buffers().len()),
            signals: Vec::with_capacity(signals),
            runs: Vec::with_capacity(batches.len()),
            infos: Vec::with_capacity(batches.len()),
        }
    }

    fn clear(&mut self) {
        self.waits.clear();
        self.commands.clear();
        self.signals.clear();
        self.runs.clear();
        self.infos.clear();
    }

    /// The batches' structs, pointing into the lists, which do not change until the next call.
    fn point(&mut self) {
        for [waits, commands, signals] in &self.runs {
            let (waits, commands, signals) = (
                waits.of(&self.waits),
                commands.of(&self.commands),
                signals.of(&self.signals),
            );
            self.infos.push(vk::SubmitInfo2 {
                wait_semaphore_info_count: waits.len() as u32,
                p_wait_semaphore_infos: waits.as_ptr(),
                command_buffer_info_count: commands.len() as u32,
                p_command_buffer_infos: commands.as_ptr(),
                signal_semaphore_info_count: signals.len() as u32,
                p_signal_semaphore_infos: signals.as_ptr(),
                ..Default::default()
            });
        }
    }
}

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
/// As `vkQueueSubmit2`: handles alive, command buffers executable, the queue used by nobody else.
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
    /// Whether every declared command buffer was recorded in this turn.
    pub(super) fn check_recorded(&self) -> Result<()> {
        for (slot, declared) in self.slots.iter().zip(self.plan.frame.command_buffers()) {
            if !slot.is_done() {
                let what = "is submitted and was not recorded to its end in this turn".to_owned();
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
