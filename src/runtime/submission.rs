//! The semaphores and lists that submitting a bound frame needs.

use ash::vk;

use super::device_queue::DeviceQueue;
use super::device_state::DeviceState;
use super::owned::OwnedObjects;
use super::progress::{Progress, semaphore};
use crate::Result;
use crate::frame::BatchId;
use crate::plan::Plan;
use crate::units::Run;

/// The semaphores of a bound plan, and the lists that submitting fills again and again.
#[derive(Default)]
pub(super) struct Submission {
    /// Per semaphore of the frame; external ones change from frame to frame.
    pub(super) semaphores: Vec<Signal>,
    /// Where no timeline counts frames: per pair of queues, from x to, two that alternate; null where one is unused.
    ///
    /// Two, since the next signal may come before the wait for the last one has begun, but not the one after that.
    pub(super) around: Vec<[vk::Semaphore; 2]>,
    /// Per queue of the frame, its first and last batch.
    pub(super) ends: Vec<Option<(BatchId, BatchId)>>,
    pub(super) lists: Lists,
}

/// A semaphore and its value in this frame (0 for binary ones).
#[derive(Clone, Copy, Default)]
pub(super) struct Signal {
    pub(super) handle: vk::Semaphore,
    pub(super) value: u64,
}

/// One submission call's structs.
#[derive(Default)]
pub(super) struct Lists {
    pub(super) waits: Vec<vk::SemaphoreSubmitInfo<'static>>,
    pub(super) commands: Vec<vk::CommandBufferSubmitInfo<'static>>,
    pub(super) signals: Vec<vk::SemaphoreSubmitInfo<'static>>,
    /// Per batch, its runs in those.
    pub(super) runs: Vec<[Run; 3]>,
    pub(super) infos: Vec<vk::SubmitInfo2<'static>>,
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

    pub(super) fn clear(&mut self) {
        self.waits.clear();
        self.commands.clear();
        self.signals.clear();
        self.runs.clear();
        self.infos.clear();
    }

    /// The batches' structs, pointing into the lists, which do not change until the next call.
    pub(super) fn point(&mut self) {
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
