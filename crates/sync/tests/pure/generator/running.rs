//! The order in which batches run: checks that semaphores and fences are used validly, and that everything runs.

use std::collections::{BTreeMap, BTreeSet};

use tileheap_sync::program::{Batch, FenceId, HostStep, Program, QueueId, SemaphoreId};

#[derive(Default)]
struct RunningBatch<'a> {
    /// The pending batches, by queue, in the order of the queues' first batches.
    queues: Vec<(QueueId, u32, Vec<&'a Batch>)>,
    timelines: BTreeMap<SemaphoreId, u64>,
    /// Binary semaphores with a signal.
    signaled: BTreeSet<SemaphoreId>,
    /// Fences in use, and whether their batch has run.
    fences: BTreeMap<FenceId, bool>,
}

/// Checks that every batch runs in the end, and that waits, signals and resets are valid.
pub(super) fn all_run(program: &Program) -> Result<(), String> {
    let mut running = RunningBatch {
        timelines: program.timelines.iter().copied().collect(),
        ..RunningBatch::default()
    };
    for step in &program.steps {
        let idle = running.queues.iter().all(|queue| queue.2.is_empty());
        let holds = match step {
            HostStep::Submit(batch) => {
                running.submit(batch)?;
                batch
                    .fence
                    .is_none_or(|fence| running.fences.insert(fence, false).is_none())
            }
            HostStep::WaitFence(fence) => running.fences.get(fence) == Some(&true),
            HostStep::ResetFence(fence) => running.fences.remove(fence) == Some(true),
            HostStep::WaitSemaphore(semaphore, value) => {
                running.timelines.get(semaphore).is_some_and(|now| now >= value)
            }
            HostStep::SignalSemaphore(semaphore, value) => running.signal(*semaphore, *value),
            HostStep::WaitIdle(_) => idle,
            HostStep::Host(..) => true,
        };
        if !holds {
            return Err(format!("out of turn: {step:?}"));
        }
        while running.run_some()? {}
    }
    if running.queues.iter().any(|queue| !queue.2.is_empty()) {
        return Err("a batch that never runs".to_owned());
    }
    Ok(())
}

impl<'a> RunningBatch<'a> {
    fn submit(&mut self, batch: &'a Batch) -> Result<(), String> {
        match self.queues.iter_mut().find(|queue| queue.0 == batch.queue) {
            Some((_, family, _)) if *family != batch.family => {
                return Err("a queue of two families".to_owned());
            }
            Some((_, _, batches)) => batches.push(batch),
            None => self.queues.push((batch.queue, batch.family, vec![batch])),
        }
        Ok(())
    }

    /// Runs each queue's batches until one waits; returns true if any ran.
    fn run_some(&mut self) -> Result<bool, String> {
        let mut any = false;
        for index in 0..self.queues.len() {
            while let Some(batch) = self.queues[index].2.first().copied() {
                let reached = |now: &u64, value| *now >= value;
                if batch.waits.iter().any(|one| {
                    self.timelines
                        .get(&one.semaphore)
                        .is_some_and(|now| !reached(now, one.value))
                }) {
                    break;
                }
                self.queues[index].2.remove(0);
                any = true;
                self.run(batch)?;
            }
        }
        Ok(any)
    }

    fn run(&mut self, batch: &Batch) -> Result<(), String> {
        for wait in &batch.waits {
            if !self.timelines.contains_key(&wait.semaphore) && !self.signaled.remove(&wait.semaphore) {
                return Err("a binary wait without a signal".to_owned());
            }
        }
        for (index, signal) in batch.signals.iter().enumerate() {
            let twice = batch.signals[..index]
                .iter()
                .any(|other| other.semaphore == signal.semaphore);
            if twice || !self.signal(signal.semaphore, signal.value) {
                return Err("a semaphore that is signaled out of turn".to_owned());
            }
        }
        if let Some(fence) = batch.fence {
            self.fences.insert(fence, true);
        }
        Ok(())
    }

    /// Returns true if the signal is valid.
    fn signal(&mut self, semaphore: SemaphoreId, value: u64) -> bool {
        match self.timelines.get_mut(&semaphore) {
            Some(now) if *now < value => {
                *now = value;
                true
            }
            Some(_) => false,
            None => self.signaled.insert(semaphore),
        }
    }
}
