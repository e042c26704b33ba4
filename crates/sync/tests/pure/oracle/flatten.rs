//! Steps, batches, semaphores and fences: from a program to its operations in processing order, and to its dependencies.

use std::collections::{HashMap, VecDeque};

use ash::vk;
use tileheap_sync::program::*;
use tileheap_sync::{Action as Did, MemoryUse};
use vk::PipelineStageFlags2 as S;

use super::Rules;
use super::operations::{AccessScope, Action, Dependency, Flat, Place, Scope, Signal, Subpass};
use super::passes::Instance;
use super::stages::{self, EVERY};

/// The state of a queue.
#[derive(Debug)]
pub(super) struct Queue<'p> {
    pub(super) id: QueueId,
    pub(super) family: u32,
    /// Pending batches, with the steps that submitted them.
    kept: VecDeque<(usize, &'p Batch)>,
    pub(super) subpass: Option<Subpass>,
    pub(super) last_instance: Option<usize>,
    pub(super) pass: Instance,
}

/// The state while steps run.
pub(super) struct Flattener<'p> {
    pub(super) rules: &'p Rules,
    pub(super) resources: &'p [Resource],
    pub(super) flat: Flat,
    pub(super) queues: Vec<Queue<'p>>,
    /// The first scopes of the events that are set.
    pub(super) events: HashMap<(QueueId, EventId), Scope>,
    /// The number of render pass instances.
    pub(super) instances: usize,
    timelines: HashMap<SemaphoreId, Vec<(u64, Option<usize>)>>,
    binaries: HashMap<SemaphoreId, usize>,
    fences: HashMap<FenceId, usize>,
    clock: usize,
}

/// The operations of a program, in processing order.
pub(crate) fn flatten(program: &Program, rules: &Rules) -> Flat {
    let timelines = program
        .timelines
        .iter()
        .map(|(semaphore, value)| (*semaphore, vec![(*value, None)]))
        .collect();
    let mut state = Flattener {
        rules,
        resources: &program.resources,
        flat: Flat::default(),
        queues: Vec::new(),
        events: HashMap::new(),
        instances: 0,
        timelines,
        binaries: HashMap::new(),
        fences: HashMap::new(),
        clock: 0,
    };
    for (index, step) in program.steps.iter().enumerate() {
        state.step(index + 1, step);
        while state.run_kept() {}
    }
    state.flat
}

impl<'p> Flattener<'p> {
    pub(super) fn tick(&mut self) -> usize {
        self.clock += 1;
        self.clock
    }

    pub(super) fn depend(&mut self, dependency: Dependency) -> usize {
        self.flat.dependencies.push(dependency);
        self.flat.dependencies.len() - 1
    }

    fn step(&mut self, now: usize, step: &'p HostStep) {
        match step {
            HostStep::Submit(batch) => {
                let queue = self
                    .queues
                    .iter()
                    .position(|queue| queue.id == batch.queue)
                    .unwrap_or_else(|| {
                        let (id, family) = (batch.queue, batch.family);
                        self.queues.push(Queue {
                            id,
                            family,
                            kept: VecDeque::new(),
                            subpass: None,
                            last_instance: None,
                            pass: Instance::default(),
                        });
                        self.queues.len() - 1
                    });
                self.queues[queue].kept.push_back((now, batch));
            }
            HostStep::WaitFence(fence) => {
                if let Some(signal) = self.fences.get(fence) {
                    self.host_wait(*signal, now);
                }
            }
            HostStep::ResetFence(fence) => {
                self.fences.remove(fence);
            }
            HostStep::WaitSemaphore(semaphore, value) => {
                if let Some(signal) = self.signal_that_reaches(*semaphore, *value) {
                    self.host_wait(signal, now);
                }
            }
            HostStep::SignalSemaphore(semaphore, value) => {
                self.flat.signals.push(Signal {
                    is_fence: false,
                    queue: None,
                });
                let signal = self.flat.signals.len() - 1;
                // The exception "host signal".
                let available = if self.rules.host_signal {
                    AccessScope::Everything
                } else {
                    AccessScope::Nothing
                };
                self.depend(Dependency {
                    first: vec![Scope::Host {
                        after: 0,
                        before: now,
                    }],
                    second: vec![Scope::Signal(signal)],
                    available,
                    visible: AccessScope::Nothing,
                });
                if let Some(values) = self.timelines.get_mut(semaphore) {
                    values.push((*value, Some(signal)));
                }
            }
            // "Waiting Idle": equivalent to submitting a fence to each queue and waiting for it.
            HostStep::WaitIdle(which) => {
                for queue in 0..self.queues.len() {
                    if which.is_none_or(|which| which == self.queues[queue].id) {
                        let signal = self.fence_signal(queue);
                        self.host_wait(signal, now);
                    }
                }
            }
            HostStep::Host(batch, tag, access) => {
                let at = self.tick();
                self.access(*batch, *tag, at, Place::Host(now), access);
            }
        }
    }

    /// A host wait: the signal operation happens before later operations of the host.
    fn host_wait(&mut self, signal: usize, now: usize) {
        if self.rules.host_waits {
            let second = vec![Scope::Host {
                after: now,
                before: usize::MAX,
            }];
            let (available, visible) = (AccessScope::Nothing, AccessScope::Nothing);
            self.depend(Dependency {
                first: vec![Scope::Signal(signal)],
                second,
                available,
                visible,
            });
        }
    }

    /// "Semaphore Waiting", with the exception "lowest value". Initial values have no signal operation.
    fn signal_that_reaches(&self, semaphore: SemaphoreId, value: u64) -> Option<usize> {
        let reaching = self
            .timelines
            .get(&semaphore)?
            .iter()
            .filter(|(signaled, _)| *signaled >= value);
        let lowest = if self.rules.lowest_value {
            reaching.min_by_key(|entry| entry.0)
        } else {
            reaching.max_by_key(|entry| entry.0)
        };
        lowest?.1
    }

    fn can_run(&self, batch: &Batch) -> bool {
        batch.waits.iter().all(|wait| {
            let values = self.timelines.get(&wait.semaphore);
            values.is_none_or(|values| values.iter().any(|(value, _)| *value >= wait.value))
        })
    }

    /// Runs all batches that can run, queue by queue; returns true if any did.
    fn run_kept(&mut self) -> bool {
        let mut ran = false;
        for queue in 0..self.queues.len() {
            while let Some((submitted, batch)) = self.queues[queue].kept.front().copied() {
                if !self.can_run(batch) {
                    break;
                }
                self.queues[queue].kept.pop_front();
                self.batch(queue, submitted, batch);
                ran = true;
            }
        }
        ran
    }

    fn batch(&mut self, queue: usize, submitted: usize, batch: &'p Batch) {
        let start = self.tick();
        self.queues[queue].family = batch.family;
        let id = batch.queue;
        let commands = |stages| {
            vec![Scope::Commands {
                queue: id,
                after: start,
                before: usize::MAX,
                subpass: None,
                stages,
            }]
        };
        // "Host Write Ordering Guarantees": the host's writes are available to the host domain, and `vkQueueSubmit` has a memory domain
        // operation and a visibility operation for all of the device.
        if self.rules.submissions_cover_the_host {
            let before = if self.rules.host_waits_are_for_later_submissions {
                submitted
            } else {
                usize::MAX
            };
            let first = vec![Scope::Host { after: 0, before }];
            let everything = AccessScope::Everything;
            self.depend(Dependency {
                first,
                second: commands(EVERY),
                available: everything,
                visible: everything,
            });
        }
        for wait in &batch.waits {
            let signal = if self.timelines.contains_key(&wait.semaphore) {
                self.signal_that_reaches(wait.semaphore, wait.value)
            } else if self.rules.waits_unsignal {
                self.binaries.remove(&wait.semaphore)
            } else {
                self.binaries.get(&wait.semaphore).copied()
            };
            if let Some(signal) = signal {
                self.semaphore_wait(signal, wait.stages, &commands);
            }
        }
        for command_buffer in &batch.command_buffers {
            self.commands(queue, batch.number, command_buffer);
        }
        let end = self.tick();
        let signals: Vec<usize> = batch
            .signals
            .iter()
            .map(|signal| self.semaphore_signal(queue, start, end, signal.stages))
            .collect();
        for (signal, operation) in batch.signals.iter().zip(signals) {
            match self.timelines.get_mut(&signal.semaphore) {
                Some(values) => values.push((signal.value, Some(operation))),
                None => _ = self.binaries.insert(signal.semaphore, operation),
            }
        }
        if let Some(fence) = batch.fence {
            let signal = self.fence_signal(queue);
            self.fences.insert(fence, signal);
        }
    }

    /// "Semaphore Waiting": available writes are visible to all accesses at the stages.
    fn semaphore_wait(&mut self, signal: usize, stages: S, commands: &dyn Fn(S) -> Vec<Scope>) {
        let scope = if self.rules.waits_have_stages {
            stages::second_synchronization_scope(stages, self.rules)
        } else {
            EVERY
        };
        let (nothing, everything) = (AccessScope::Nothing, AccessScope::Everything);
        let first = vec![Scope::Signal(signal)];
        self.depend(Dependency {
            first,
            second: commands(scope),
            available: nothing,
            visible: everything,
        });
    }

    /// "Semaphore Signaling": commands of this and earlier batches at the stages, and earlier signals of the queue.
    fn semaphore_signal(&mut self, queue: usize, start: usize, end: usize, stages: S) -> usize {
        let stages = stages::first_synchronization_scope(stages, self.rules);
        let after = if self.rules.signals_cover_earlier_batches {
            0
        } else {
            start
        };
        self.signal(queue, after, end, stages, false)
    }

    /// "Fences": everything that was submitted to the queue, and all its signals.
    fn fence_signal(&mut self, queue: usize) -> usize {
        let at = self.tick();
        self.signal(queue, 0, at, EVERY, true)
    }

    fn signal(&mut self, queue: usize, after: usize, before: usize, stages: S, is_fence: bool) -> usize {
        let id = self.queues[queue].id;
        self.flat.signals.push(Signal {
            is_fence,
            queue: Some((id, before)),
        });
        let signal = self.flat.signals.len() - 1;
        let mut first = vec![Scope::Commands {
            queue: id,
            after,
            before,
            subpass: None,
            stages,
        }];
        if self.rules.signals_cover_earlier_signals {
            first.push(Scope::Signals { queue: id, before });
        }
        let (available, visible) = (AccessScope::Everything, AccessScope::Nothing);
        self.depend(Dependency {
            first,
            second: vec![Scope::Signal(signal)],
            available,
            visible,
        });
        signal
    }

    pub(super) fn access(&mut self, batch: u64, tag: Tag, at: usize, place: Place, access: &MemoryAccess) {
        let did = Did::Access(access.stage, access.access);
        self.flat.actions.push(Action {
            at,
            place,
            stage: access.stage,
            access: Some(*access),
            writes: access.access.is_empty() || stages::writes(access.access),
            usage: MemoryUse {
                batch,
                tag,
                resource: access.resource,
                part: access.part,
                action: did,
            },
            after: Vec::new(),
            before: Vec::new(),
            companions: Vec::new(),
        });
    }
}
