//! Submit: each row of submits as one call, with the semaphores that the frame declares and the timelines of its queues.
//!
//! ```text
//!            frame n                          frame n + 1
//! queue a    [batch 1]──s──┐                  [batch 2]──…      s: declared in the frame
//! queue b        └─────────►[batch 1]╌╌╌╌╌╌╌╌►    …             ╌: a batch waits for a value of the other queue's timeline if it
//!                                                                  takes over bytes from there; on one queue barriers do that
//! ```

use ash::vk;

use super::bound_frame::BoundFrame;
use super::device_state::DeviceState;
use super::encoded_frame::EncodedFrame;
use super::error::{RuntimeRule, VkResultExt};
use super::progress::FrameNumber;
use super::submission::{Signal, Submission, SubmitCall};
use super::use_stamp::UseStamp;
use crate::Result;
use crate::lower::tables::DeviceQueueIndex;
use crate::lower::tables::submission::{SemaphoreRow, SubmitRow};
use crate::units::Run;

impl BoundFrame {
    /// Makes each of the frame's submission calls through `call`.
    pub(super) fn submit_by(
        &mut self,
        frame: usize,
        call: &mut dyn FnMut(&DeviceState, &SubmitCall<'_>) -> ash::prelude::VkResult<()>,
    ) -> Result<FrameNumber> {
        self.series.shared_progress().prepare(&self.state)?;
        self.stamp = UseStamp::next();
        let timelines = self.timelines.clone();
        // Held for the caller: `call` may be a function of its own.
        let mut queues = timelines.hold();
        for base in &mut self.bases {
            base.submitted = queues[base.number].submitted;
        }
        let heap = self.state.tile_bytes();
        let submits = self.lowering.encoded[frame].tables.submits.len();
        for index in 0..submits {
            let row = self.lowering.encoded[frame].tables.submits[index];
            self.gather(frame, &row);
            let one = SubmitCall {
                queue: self.queues[self.plan.frame.submits()[row.submit.index()].queue.index()],
                batches: &self.submission.lists.infos,
                fence: if index + 1 == submits {
                    self.series.progress().fence()
                } else {
                    vk::Fence::null()
                },
                has_timelines: self.state.functions.timeline_semaphore.is_some(),
            };
            let what = || format!("submit {index} of frame `{}`", self.plan.frame.name());
            let base = self.bases[row.queue.0 as usize];
            if let Err(error) = call(&self.state, &one).with_call(function_of(&self.state), what) {
                queues[base.number].forget_tile(heap);
                return Err(self.series.progress().fail(&self.state, error));
            }
            queues[base.number].submitted += row.batches.len() as u64;
        }
        let EncodedFrame {
            tables,
            parity: tables_parity,
            ..
        } = &self.lowering.encoded[frame];
        for (index, base) in (0..).map(DeviceQueueIndex).zip(&mut self.bases) {
            let queue = &mut queues[base.number];
            match self.uses_tile {
                false => {}
                true if base.is_overtaken() || base.semaphore == vk::Semaphore::null() => {
                    queue.forget_tile(heap)
                }
                true => queue.keep_tile(index, self.number, &tables.after.bytes),
            }
            base.submitted_at_begin = queue.submitted;
        }
        self.lowering
            .last_state
            .contents
            .clone_from(&tables.after.contents);
        self.lowering.last_state.bytes.clear();
        let own = tables.after.bytes.iter().filter(|one| !one.space.is_tile());
        self.lowering.last_state.bytes.extend(own);
        self.takeover_waits.clear();
        let used = self.bases.iter().filter(|base| base.batches > 0);
        self.takeover_waits
            .extend(used.map(|base| (base.number, base.submitted_at_begin)));
        if let Some(owned) = &self.owned {
            let counted = self.state.functions.timeline_semaphore.is_some();
            let ends: &[_] = if counted { &self.takeover_waits } else { &[] };
            let mut pool = self.state.pool.lock();
            pool.record_use(&owned.lease, self.number, ends);
            for history in &self.objects.handles.histories {
                let current = tables_parity.index() * usize::from(history.has_two_copies);
                for (copy, &(object, block)) in history.copies[..1 + usize::from(history.has_two_copies)]
                    .iter()
                    .enumerate()
                {
                    let left = tables.after.contents.iter().filter(|one| one.object == object);
                    pool.keep_contents(block, history.written && copy == current, left.copied());
                }
            }
        }
        self.next_parity = self.next_parity.next();
        Ok(self.series.progress().advance(&self.takeover_waits))
    }

    /// Fills the lists for one submit.
    fn gather(&mut self, frame: usize, submit: &SubmitRow) {
        let BoundFrame {
            lowering,
            recording,
            submission,
            bases,
            uses_tile,
            takeover_waits,
            timelines,
            ..
        } = self;
        let Submission { semaphores, lists } = submission;
        let tables = &lowering.encoded[frame].tables;
        let own = bases[submit.queue.0 as usize];
        lists.clear();
        for batch in submit.batches.of(&tables.batches) {
            let starts = (lists.waits.len(), lists.commands.len(), lists.signals.len());
            let info = |row: &SemaphoreRow| match row.semaphore.queue() {
                None => Some(signal_info(semaphores[row.semaphore.index as usize], row.stages)),
                Some(queue) => {
                    let base = &bases[queue.0 as usize];
                    let (handle, value) = (base.semaphore, base.value(row.semaphore.value));
                    // Not needed if nothing was submitted by then, or if there is one queue and fences count frames.
                    let needed = handle != vk::Semaphore::null() && value > 0;
                    needed.then(|| signal_info(Signal { handle, value }, row.stages))
                }
            };
            lists
                .waits
                .extend(batch.waits.of(&tables.waits).iter().filter_map(info));
            lists
                .signals
                .extend(batch.signals.of(&tables.signals).iter().filter_map(info));
            if *uses_tile && batch.is_first && own.is_overtaken() && own.semaphore != vk::Semaphore::null() {
                let all = Signal {
                    handle: own.semaphore,
                    value: own.submitted,
                };
                lists
                    .waits
                    .push(signal_info(all, vk::PipelineStageFlags2::ALL_COMMANDS));
            }
            for &(queue, value) in takeover_waits.iter().filter(|_| batch.is_first) {
                let handle = timelines.semaphore(queue);
                let all = vk::PipelineStageFlags2::ALL_COMMANDS;
                lists.waits.push(signal_info(Signal { handle, value }, all));
            }
            let commands = batch.command_buffers.of(&tables.command_buffers).iter();
            for row in commands {
                let handles = recording.slots[row.commands.index()].handles();
                let info = |&handle| vk::CommandBufferSubmitInfo::default().command_buffer(handle);
                lists.commands.extend(handles.iter().map(info));
            }
            let run = |first: usize, end: usize| Run::new(first as u32, end as u32);
            lists.runs.push([
                run(starts.0, lists.waits.len()),
                run(starts.1, lists.commands.len()),
                run(starts.2, lists.signals.len()),
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

/// The name of the function that submits on this device.
fn function_of(state: &DeviceState) -> &'static str {
    if state.functions.synchronization_2.is_some() {
        "vkQueueSubmit2"
    } else {
        "vkQueueSubmit"
    }
}

/// Submits with `vkQueueSubmit2`, or with `vkQueueSubmit` on devices without synchronization2.
///
/// # Safety
/// Like `vkQueueSubmit2`: handles alive, command buffers executable, no other thread uses the queue.
pub(super) unsafe fn call(state: &DeviceState, call: &SubmitCall<'_>) -> ash::prelude::VkResult<()> {
    let queue = call.queue.handle;
    if let Some(functions) = &state.functions.synchronization_2 {
        let count = call.batches.len() as u32;
        // SAFETY: the caller's duty.
        return unsafe { (functions.queue_submit2_khr)(queue, count, call.batches.as_ptr(), call.fence) }
            .result();
    }
    // SAFETY: the caller's duty.
    call.with_submit_infos(|infos| unsafe { state.device.queue_submit(queue, infos, call.fence) })
}

impl BoundFrame {
    /// Returns an error if a declared command buffer was not recorded in this frame, or a semaphore is not imported.
    pub(super) fn check_recorded(&self) -> Result<()> {
        for (slot, declared) in self.recording.slots.iter().zip(self.plan.frame.command_buffers()) {
            if !slot.is_done() {
                return Err(RuntimeRule::Recording.broken(format!(
                    "command buffer `{commands}` is submitted before its recording is finished: FrameRecorder::record \
                     begins it, Commands::finish ends it",
                    commands = declared.name
                )));
            }
        }
        self.check_semaphores()
    }
}
