//! Semaphores and fences.

use std::sync::Arc;

use ash::vk::PipelineStageFlags2 as S;
use tileheap_sync::program::{Batch, CommandBuffer, FenceId, HostStep, QueueId, SemaphoreId, SemaphoreUse};

use super::batches::{PROMISES, Promise, Steps, TIMELINES};
use super::masks;
use super::past::Cross;

impl Steps {
    /// Submits the generated commands, with their semaphores.
    pub(super) fn finish(
        &mut self,
        queue: usize,
        buffers: Vec<Arc<CommandBuffer>>,
        early: Option<bool>,
        keeps: bool,
    ) {
        let mut waits = Vec::new();
        let careful = self.draw.careful();
        if keeps && careful {
            for other in self.unkept() {
                self.draw.cross.push(Cross {
                    queue: other,
                    from: S::ALL_COMMANDS,
                    to: S::ALL_COMMANDS,
                });
            }
        }
        let cross = std::mem::take(&mut self.draw.cross);
        for other in 0..self.families.len() {
            if self.last[other].is_none() || keeps && self.draw.kept[other] {
                continue;
            }
            let (mut from, mut to) = (S::NONE, S::NONE);
            for one in cross.iter().filter(|one| one.queue == other && (other != queue)) {
                from |= one.from;
                to |= one.to;
            }
            let random = &mut self.draw.random;
            if !careful {
                if random.one_in(2) {
                    continue;
                }
                from = if random.one_in(2) && !from.is_empty() {
                    from
                } else {
                    masks::semaphore_stages(random)
                };
                to = if random.one_in(2) && !to.is_empty() {
                    to
                } else {
                    masks::semaphore_stages(random)
                };
            } else if from.is_empty() {
                continue;
            }
            from = if random.one_in(2) {
                S::ALL_COMMANDS
            } else {
                masks::widen(random, from)
            };
            to = if random.one_in(2) || to.contains(S::ALL_COMMANDS) {
                S::ALL_COMMANDS
            } else {
                masks::widen(random, to)
            };
            let binary = self.draw.random.one_in(2);
            let wait = self.signal(other, from, to, binary);
            if self.draw.kept[other] {
                self.draw.kept[queue] = true;
            }
            if from == S::ALL_COMMANDS && to == S::ALL_COMMANDS {
                for past in self.draw.past.iter_mut().filter(|past| past.queue == other) {
                    past.seen |= 1 << queue;
                }
            }
            waits.push(wait);
        }
        let mut signals = Vec::new();
        if keeps {
            if let Some(promise) = self.promise.take() {
                let stages = if careful {
                    S::ALL_COMMANDS
                } else {
                    masks::semaphore_stages(&mut self.draw.random)
                };
                signals.push(SemaphoreUse {
                    semaphore: PROMISES,
                    value: promise.value,
                    stages,
                });
                self.draw.kept.fill(false);
            }
        }
        if let Some(by_host) = early.filter(|_| !self.draw.kept[queue]) {
            let stages = if careful {
                S::ALL_COMMANDS
            } else {
                masks::semaphore_stages(&mut self.draw.random)
            };
            self.promised += 1 + self.draw.random.below(2);
            waits.push(SemaphoreUse {
                semaphore: PROMISES,
                value: self.promised,
                stages,
            });
            self.promise = Some(Promise {
                value: self.promised,
                by_host,
            });
            self.draw.kept[queue] = true;
        }
        let fence = if self.draw.random.one_in(4) {
            Some(self.fence())
        } else {
            None
        };
        if let Some(fence) = fence.filter(|_| !self.draw.kept[queue]) {
            self.fences.push((fence, self.steps.len()));
        }
        if !self.draw.kept.contains(&true) {
            let binary = waits
                .iter()
                .map(|wait| wait.semaphore)
                .filter(|semaphore| semaphore.0 > 100);
            self.free
                .extend(binary.map(|semaphore| (semaphore, self.steps.len())));
        }
        self.last[queue] = Some(self.steps.len());
        let (number, family) = (self.number(), self.families[queue]);
        let queue = QueueId(queue as u64);
        self.steps.push(HostStep::Submit(Batch {
            number,
            queue,
            family,
            waits,
            command_buffers: buffers,
            signals,
            fence,
        }));
    }

    pub(super) fn fence(&mut self) -> FenceId {
        self.unused.pop().unwrap_or_else(|| {
            self.fence += 1;
            FenceId(self.fence)
        })
    }

    /// Makes the last batch of `queue` signal; returns the wait for it.
    pub(super) fn signal(&mut self, queue: usize, from: S, to: S, binary: bool) -> SemaphoreUse {
        let step = self.last[queue].unwrap_or_default();
        let kept = self.draw.kept.contains(&true);
        if binary && !self.draw.kept[queue] {
            let free = self.free.iter().position(|(_, waited)| *waited < step && !kept);
            let semaphore = match free {
                Some(index) => self.free.remove(index).0,
                None => {
                    self.semaphores += 1;
                    SemaphoreId(100 + self.semaphores)
                }
            };
            self.batch(step).signals.push(SemaphoreUse {
                semaphore,
                value: 0,
                stages: from,
            });
            return SemaphoreUse {
                semaphore,
                value: 0,
                stages: to,
            };
        }
        let semaphore = SemaphoreId(TIMELINES + queue as u64);
        let next = self.values[queue] + 1 + self.draw.random.below(2);
        let signals = &mut self.batch(step).signals;
        let value = match signals.iter_mut().find(|one| one.semaphore == semaphore) {
            Some(signal) => {
                signal.stages |= from;
                signal.value
            }
            None => {
                signals.push(SemaphoreUse {
                    semaphore,
                    value: next,
                    stages: from,
                });
                self.values[queue] = next;
                next
            }
        };
        let below = self.draw.care < 100 && self.draw.random.one_in(4);
        SemaphoreUse {
            semaphore,
            value: if below { value - 1 } else { value },
            stages: to,
        }
    }
}
