//! Semaphores and lists for submitting a bound frame.

use ash::vk;

use super::device_queue::DeviceQueue;
use super::device_state::DeviceState;
use super::legacy::LegacyBatch;
use super::owned::OwnedObjects;
use super::progress::semaphore;
use crate::Result;
use crate::lower::Lowered;
use crate::plan::Plan;
use crate::units::Run;

/// The semaphores of a bound plan, and the lists that are refilled for every submission.
#[derive(Default)]
pub(super) struct Submission {
    /// Per semaphore of the frame, its handle and value; external ones change from frame to frame.
    pub(super) semaphores: Vec<Signal>,
    pub(super) lists: Lists,
}

/// A semaphore and its value in this frame (0 for binary ones).
#[derive(Clone, Copy, Default)]
pub(super) struct Signal {
    pub(super) handle: vk::Semaphore,
    pub(super) value: u64,
}

/// The structs of one submission call.
#[derive(Default)]
pub(super) struct Lists {
    pub(super) waits: Vec<vk::SemaphoreSubmitInfo<'static>>,
    pub(super) commands: Vec<vk::CommandBufferSubmitInfo<'static>>,
    pub(super) signals: Vec<vk::SemaphoreSubmitInfo<'static>>,
    /// Per batch, its runs of `waits`, `commands` and `signals`.
    pub(super) runs: Vec<[Run; 3]>,
    pub(super) infos: Vec<vk::SubmitInfo2<'static>>,
}

/// One submission call, as passed to the callback of [`FrameRecorder::submit_with`](super::FrameRecorder::submit_with).
#[derive(Clone, Copy, Debug)]
pub struct SubmitCall<'a> {
    /// The queue to submit to.
    pub queue: DeviceQueue,
    /// The batches in the structs of synchronization2 (also on devices without it).
    pub batches: &'a [vk::SubmitInfo2<'a>],
    /// The fence that the call signals: null, except in the last call of a frame if fences count the frames.
    pub fence: vk::Fence,
    /// True if the semaphores are timeline semaphores.
    pub(super) has_timelines: bool,
}

impl SubmitCall<'_> {
    /// Converts the batches to `VkSubmitInfo` and passes them to `with`, for devices without synchronization2.
    pub fn with_submit_infos<R>(&self, with: impl FnOnce(&[vk::SubmitInfo<'_>]) -> R) -> R {
        let older = self.batches.iter().map(|batch| {
            // SAFETY: `Lists::point` made the pointers from slices that live as long as the call.
            unsafe { LegacyBatch::new(batch) }
        });
        let older: Vec<LegacyBatch> = older.collect();
        let mut values: Vec<_> = older.iter().map(LegacyBatch::values).collect();
        let infos: Vec<_> = older
            .iter()
            .zip(&mut values)
            .map(|(batch, values)| batch.info(self.has_timelines.then_some(values)))
            .collect();
        with(&infos)
    }
}

impl Submission {
    pub(super) fn new(
        state: &DeviceState,
        plan: &Plan,
        tables: &Lowered,
        owned: &mut OwnedObjects,
    ) -> Result<Submission> {
        let timeline = state.functions.timeline_semaphore.is_some();
        let mut semaphores = Vec::with_capacity(plan.frame.semaphores().len());
        for declared in plan.frame.semaphores() {
            // External ones belong to the caller: nothing to create or to name.
            let mut handle = vk::Semaphore::null();
            if !declared.external {
                handle = semaphore(state, owned, timeline)?;
                state.set_name(handle, &declared.name);
            }
            semaphores.push(Signal { handle, value: 0 });
        }
        let lists = Lists::for_tables(tables);
        Ok(Submission { semaphores, lists })
    }

    pub(super) fn semaphores(&self) -> &[Signal] {
        &self.semaphores
    }

    /// The handles and values of the frame's semaphores; those of external ones must be set for every frame.
    pub(super) fn semaphores_mut(&mut self) -> &mut [Signal] {
        &mut self.semaphores
    }
}

impl Lists {
    /// Creates lists that never have to grow: for each batch and queue, they have room for two more waits than the tables.
    fn for_tables(tables: &Lowered) -> Lists {
        let batches = tables.batches.len();
        Lists {
            waits: Vec::with_capacity(tables.waits.len() + 2 * tables.queues.len() * batches),
            commands: Vec::with_capacity(tables.command_buffers.len()),
            signals: Vec::with_capacity(tables.signals.len()),
            runs: Vec::with_capacity(batches),
            infos: Vec::with_capacity(batches),
        }
    }

    pub(super) fn clear(&mut self) {
        self.waits.clear();
        self.commands.clear();
        self.signals.clear();
        self.runs.clear();
        self.infos.clear();
    }

    /// Creates the structs of the batches, which point into the lists: the lists must not change until they are cleared.
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
