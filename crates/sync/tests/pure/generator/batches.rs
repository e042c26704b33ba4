//! Batches and their ordering.

use std::sync::Arc;

use ash::vk::PipelineStageFlags2 as S;
use tileheap_sync::program::{
    BarrierChange, Batch, Command, CommandBuffer, Dependency, DependencyMemory, FenceId, HostStep,
    MemoryAccess, SemaphoreId,
};

use super::buffers::{Reusable, may_repeat};
use super::masks;
use super::past::{Commands, Cross, Draw, Touch};

/// The timeline that batches wait for before it is signaled.
pub(super) const PROMISES: SemaphoreId = SemaphoreId(9);
/// The first queue's timeline; those of the others follow.
pub(super) const TIMELINES: u64 = 10;

pub(super) struct Promise {
    pub(super) value: u64,
    pub(super) by_host: bool,
}

pub(super) struct Steps {
    pub(super) draw: Draw,
    pub(super) steps: Vec<HostStep>,
    pub(super) families: Vec<u32>,
    /// The step of each queue's last batch.
    pub(super) last: Vec<Option<usize>>,
    /// The last value of each queue's timeline.
    pub(super) values: Vec<u64>,
    pub(super) promise: Option<Promise>,
    pub(super) promised: u64,
    /// Fences with the steps of their running batches.
    pub(super) fences: Vec<(FenceId, usize)>,
    /// Fences that may be submitted.
    pub(super) unused: Vec<FenceId>,
    /// Free binary semaphores, with the steps whose batches waited for them last.
    pub(super) free: Vec<(SemaphoreId, usize)>,
    pub(super) reusable: Vec<Reusable>,
    pub(super) released: Vec<(usize, Dependency)>,
    pub(super) number: u64,
    pub(super) semaphores: u64,
    pub(super) fence: u64,
}

impl Steps {
    pub(super) fn batch(&mut self, step: usize) -> &mut Batch {
        match &mut self.steps[step] {
            HostStep::Submit(batch) => batch,
            _ => unreachable!("the step of a batch"),
        }
    }

    pub(super) fn number(&mut self) -> u64 {
        self.number += 1;
        self.number
    }

    pub(super) fn unkept(&mut self) -> Vec<usize> {
        (0..self.families.len())
            .filter(|queue| !self.draw.kept[*queue])
            .collect()
    }

    /// Submits a random batch.
    pub(super) fn submit(&mut self) {
        let by_batch = self.promise.as_ref().is_some_and(|promise| !promise.by_host);
        let queues = if by_batch || self.draw.care == 100 {
            self.unkept()
        } else {
            (0..self.families.len()).collect()
        };
        if queues.is_empty() {
            return self.keep_promise();
        }
        let queue = self.draw.random.pick(&queues);
        self.begin(queue);
        let others = self.unkept();
        let early = self.promise.is_none() && !self.draw.kept[queue] && self.draw.random.one_in(8);
        let mut early_by_host = early && self.draw.random.one_in(3);
        if others.len() < 2 {
            early_by_host = true;
        }
        let mut first = Commands::new();
        self.acquire(&mut first);
        let reused = self.reuse(&mut first);
        let (mut buffers, touches) = match reused {
            Some(buffers) => (buffers, None),
            None => {
                let (buffers, reusable) = self.draw.command_buffers(first);
                (buffers, Some(self.draw.log.clone()).filter(|_| reusable))
            }
        };
        let last = buffers.last().map(Arc::clone);
        if let (Some(touches), Some(buffer)) = (touches, last) {
            if buffers.len() == 1 {
                self.reusable.push(Reusable { buffer, touches });
            }
        }
        let family = self.families[queue];
        if self.draw.random.one_in(4) && self.families.iter().any(|other| *other != family) {
            let (commands, dependency) = self.draw.release(1 - family);
            buffers.push(Arc::new(CommandBuffer { commands }));
            self.released.push((queue, dependency));
        }
        let keeps = by_batch && !self.draw.kept[queue] && self.draw.random.one_in(2);
        self.finish(queue, buffers, early.then_some(early_by_host), keeps);
    }

    pub(super) fn begin(&mut self, queue: usize) {
        self.draw.queue = queue;
        self.draw.family = self.families[queue];
        self.draw.cross.clear();
        self.draw.log.clear();
    }

    /// Acquires resources that other queues released.
    fn acquire(&mut self, out: &mut Commands) {
        for (queue, mut dependency) in std::mem::take(&mut self.released) {
            let BarrierChange::Family { to, .. } = dependency.change else {
                continue;
            };
            if to != self.draw.family || queue == self.draw.queue || self.draw.kept[queue] {
                self.released.push((queue, dependency));
                continue;
            }
            dependency.scopes = masks::scopes(&mut self.draw.random);
            dependency.scopes.dst = self.draw.random.pick(&masks::STAGES);
            self.draw.transfer_family(out, dependency);
        }
    }

    /// A command buffer that was submitted before, after a full barrier.
    fn reuse(&mut self, first: &mut Commands) -> Option<Vec<Arc<CommandBuffer>>> {
        if self.reusable.is_empty() || !self.draw.random.one_in(3) {
            return None;
        }
        let careful = self.draw.careful();
        let index = self.draw.random.below(self.reusable.len() as u64) as usize;
        let queue = self.draw.queue;
        let mut set = Vec::new();
        if !may_repeat(&self.reusable[index].buffer.commands, careful, queue, &mut set) {
            return None;
        }
        for (event, is_set) in set {
            self.draw.events[queue][event.0 as usize % 2] = is_set;
        }
        if careful {
            for queue in self.unkept() {
                if queue != self.draw.queue && self.last[queue].is_some() {
                    self.draw.cross.push(Cross {
                        queue,
                        from: S::ALL_COMMANDS,
                        to: S::ALL_COMMANDS,
                    });
                }
            }
            let all = Dependency {
                scopes: masks::full(),
                memory: DependencyMemory::All,
                change: BarrierChange::None,
            };
            self.draw.push(first, Command::Barrier(vec![all]));
        }
        let touches = self.reusable[index].touches.clone();
        for touch in touches {
            self.draw.record(touch);
        }
        let before = Arc::new(CommandBuffer {
            commands: std::mem::take(first),
        });
        let again = Arc::clone(&self.reusable[index].buffer);
        Some(if before.commands.is_empty() {
            vec![again]
        } else {
            vec![before, again]
        })
    }

    /// Returns true if the device has work that must complete before this host access.
    pub(super) fn unfinished(&self, access: &MemoryAccess) -> bool {
        let touch = Touch::from(access);
        self.draw.before(&touch).next().is_some()
    }
}
