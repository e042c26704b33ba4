//! Runs batches in an order in which they can run: a batch that waits for a value is kept until the value is signaled, and so are all later batches of its
//! queue.

use std::collections::VecDeque;

use tileheap_units::IdMap;

use crate::program::{Batch, Command, CommandBuffer, QueueId, SemaphoreId, Tag};

/// A batch, and the step that submitted it.
#[derive(Clone, Debug)]
pub(crate) struct Submitted {
    pub(crate) batch: Batch,
    pub(crate) step: u64,
}

/// A value that was signaled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Signaled {
    pub(crate) value: u64,
    /// The queue that signaled the value; `None` for the host, the initial value, and binary semaphores, whose value is 0.
    pub(crate) by: Option<QueueId>,
}

impl Signaled {
    /// Returns true if this is the same signal as `other`, or an earlier one of the same queue.
    pub(crate) fn comes_before(self, other: Signaled) -> bool {
        self.by == other.by && self.value <= other.value
    }
}

/// Maximum number of pending batches per queue before the oldest runs even though its wait is not satisfied: the signal may come from outside the
/// program.
const MAX_PENDING_BATCHES: usize = 64;

/// Maximum number of values remembered per timeline semaphore.
const MAX_TIMELINE_VALUES: usize = 1024;

/// The pending batches, and the values that timeline semaphores have reached.
#[derive(Clone, Debug, Default)]
pub(crate) struct Schedule {
    /// The signals of each timeline semaphore in ascending order of values; binary semaphores have no entry.
    timelines: IdMap<SemaphoreId, Vec<Signaled>>,
    pending: Vec<(QueueId, VecDeque<Submitted>)>,
}

impl Schedule {
    pub(crate) fn create_timeline(&mut self, semaphore: SemaphoreId, value: u64) {
        self.timelines
            .insert(semaphore, vec![Signaled { value, by: None }]);
    }

    pub(crate) fn destroy_semaphore(&mut self, semaphore: SemaphoreId) {
        self.timelines.remove(&semaphore);
    }

    pub(crate) fn is_timeline(&self, semaphore: SemaphoreId) -> bool {
        self.timelines.contains_key(&semaphore)
    }

    /// Returns the signal that satisfies a wait for `value`: the one with the lowest value that is at least `value`. A wait for a binary semaphore is always
    /// satisfied.
    pub(crate) fn reached(&self, semaphore: SemaphoreId, value: u64) -> Option<Signaled> {
        match self.timelines.get(&semaphore) {
            None => Some(Signaled { value: 0, by: None }),
            Some(signals) => signals.iter().copied().find(|signaled| signaled.value >= value),
        }
    }

    /// Records a signal and returns it; for binary semaphores the value is 0.
    pub(crate) fn signal(&mut self, semaphore: SemaphoreId, value: u64, by: Option<QueueId>) -> Signaled {
        let Some(signals) = self.timelines.get_mut(&semaphore) else {
            return Signaled { value: 0, by: None };
        };
        let signaled = Signaled { value, by };
        let at = signals.partition_point(|known| known.value < value);
        signals.insert(at, signaled);
        signals.drain(..signals.len().saturating_sub(MAX_TIMELINE_VALUES));
        signaled
    }

    pub(crate) fn submit(&mut self, submitted: Submitted) {
        let queue = submitted.batch.queue;
        match self.pending.iter_mut().find(|(known, _)| *known == queue) {
            Some((_, pending)) => pending.push_back(submitted),
            None => self.pending.push((queue, VecDeque::from([submitted]))),
        }
    }

    /// Removes and returns the pending batches of a queue up to the last one that meets a condition.
    pub(crate) fn take_up_to(&mut self, queue: usize, meets: impl Fn(&Batch) -> bool) -> Vec<Submitted> {
        let pending = &mut self.pending[queue].1;
        let last = pending.iter().rposition(|submitted| meets(&submitted.batch));
        pending.drain(..last.map_or(0, |last| last + 1)).collect()
    }

    /// Calls `each` with the tags of the commands of all pending batches.
    pub(crate) fn each_tag(&self, each: &mut impl FnMut(Tag)) {
        for submitted in self.pending.iter().flat_map(|(_, batches)| batches) {
            let buffers = submitted.batch.command_buffers.iter();
            buffers.for_each(|commands| tags(commands, each));
        }
    }

    /// Returns `true` if no batch is pending.
    pub(crate) fn is_idle(&self) -> bool {
        self.pending.iter().all(|(_, batches)| batches.is_empty())
    }

    /// Returns the number of queues that batches were submitted to.
    pub(crate) fn queues(&self) -> usize {
        self.pending.len()
    }

    /// Removes and returns the next batch of a queue if its waits are satisfied (with `true`), or if too many batches are pending (with `false`).
    pub(crate) fn next_of(&mut self, queue: usize) -> Option<(Submitted, bool)> {
        let pending = &self.pending[queue].1;
        let mut waits = pending.front()?.batch.waits.iter();
        let can_run = waits.all(|wait| self.reached(wait.semaphore, wait.value).is_some());
        let is_full = pending.len() > MAX_PENDING_BATCHES;
        let next = (can_run || is_full).then(|| self.pending[queue].1.pop_front())?;
        next.map(|submitted| (submitted, can_run))
    }
}

fn tags(commands: &CommandBuffer, each: &mut impl FnMut(Tag)) {
    for (tag, command) in &commands.commands {
        each(*tag);
        if let Command::Execute(secondary) = command {
            tags(secondary, each);
        }
    }
}
