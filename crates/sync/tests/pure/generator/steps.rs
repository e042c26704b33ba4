//! Steps of the host, and whole programs.

use std::sync::Arc;

use ash::vk::{AccessFlags2 as A, PipelineStageFlags2 as S};
use tileheap_sync::program::{
    AccessKind, BarrierChange, Command, CommandBuffer, Dependency, DependencyMemory, DependencyScopes,
    HostStep, MemoryAccess, Program, QueueId, SemaphoreId, Tiling,
};
use tileheap_units::SplitMix64;

use super::batches::{PROMISES, Steps, TIMELINES};
use super::past::{Commands, Draw, HOST, Past, Touch};
use super::{edit, places};

/// Maximum number of steps of a program.
const MAX_STEPS: usize = 8;

/// A valid program of this seed.
pub(crate) fn program(seed: u64) -> Program {
    let mut random = SplitMix64::new(seed);
    let granularity = random.pick(&[16, 16, 16, 1]);
    let care = random.pick(&[100, 100, 100, 100, 100, 100, 50, 50, 80, 0]);
    let resources = places::resources(&mut random);
    let queues = random.pick(&[1, 1, 2, 2, 2, 3, 3]);
    let families: Vec<u32> = (0..queues)
        .map(|queue| {
            if queue == 1 {
                random.below(2) as u32
            } else {
                queue / 2
            }
        })
        .collect();
    let count = 2 + random.below(MAX_STEPS as u64 - 2) as usize;
    let queues = families.len();
    let values: Vec<u64> = (0..queues).map(|_| random.below(3)).collect();
    let draw = Draw {
        random,
        care,
        resources,
        granularity,
        past: Vec::new(),
        log: Vec::new(),
        secondaries: Vec::new(),
        cross: Vec::new(),
        queue: 0,
        family: 0,
        kept: vec![false; queues],
        events: vec![[false; 2]; queues],
        tags: 0,
        instances: 0,
        subpass: None,
    };
    let mut timelines = vec![(PROMISES, 0)];
    timelines.extend(
        values
            .iter()
            .zip(TIMELINES..)
            .map(|(value, id)| (SemaphoreId(id), *value)),
    );
    let mut drawn = Steps {
        draw,
        steps: Vec::new(),
        families,
        last: vec![None; queues],
        values,
        promise: None,
        promised: 0,
        fences: Vec::new(),
        unused: Vec::new(),
        free: Vec::new(),
        reusable: Vec::new(),
        released: Vec::new(),
        number: 0,
        semaphores: 0,
        fence: 0,
    };
    while drawn.steps.len() + usize::from(drawn.promise.is_some()) < count {
        drawn.step();
    }
    drawn.keep_promise();
    let Steps { draw, steps, .. } = drawn;
    let mut program = Program {
        resources: draw.resources,
        granularity,
        timelines,
        steps,
    };
    let mut random = draw.random;
    if care == 100 && random.one_in(3) {
        edit::one_detail(&mut random, &mut program);
    }
    if random.one_in(10) {
        edit::unknown_accesses(&mut random, &mut program);
    }
    program
}

impl Steps {
    fn step(&mut self) {
        let idle = self.promise.is_none() && !self.draw.kept.contains(&true);
        let by_host = self.promise.as_ref().is_some_and(|promise| promise.by_host);
        if by_host && self.draw.care == 100 && !self.draw.random.one_in(3) {
            return self.keep_promise();
        }
        match self.draw.random.below(16) {
            0..=2 => self.host(),
            3 | 4 if !self.fences.is_empty() => {
                let index = self.draw.random.below(self.fences.len() as u64) as usize;
                self.wait_fence(index);
            }
            5 => self.wait_value(),
            6 if idle => {
                let queue = self.draw.random.below(self.families.len() as u64) as usize;
                let queue = if self.draw.random.one_in(2) {
                    None
                } else {
                    Some(queue)
                };
                self.steps
                    .push(HostStep::WaitIdle(queue.map(|queue| QueueId(queue as u64))));
                self.done(|past| queue.is_none_or(|queue| past.queue == queue));
            }
            7 if self.promise.is_some() => self.keep_promise(),
            _ if by_host && self.draw.care == 100 => self.keep_promise(),
            _ => self.submit(),
        }
    }

    fn done(&mut self, of: impl Fn(&Past) -> bool) {
        for past in self
            .draw
            .past
            .iter_mut()
            .filter(|past| past.queue != HOST && of(past))
        {
            past.done = true;
        }
    }

    /// Makes the host signal a value that batches wait for.
    pub(super) fn keep_promise(&mut self) {
        if let Some(promise) = self.promise.take() {
            self.steps
                .push(HostStep::SignalSemaphore(PROMISES, promise.value));
            self.promised = promise.value;
            self.draw.kept.fill(false);
        }
    }

    fn wait_fence(&mut self, index: usize) {
        let (fence, step) = self.fences.remove(index);
        let queue = self.batch(step).queue.0 as usize;
        self.steps.push(HostStep::WaitFence(fence));
        if self.last[queue] == Some(step) {
            self.done(|past| past.queue == queue);
        }
        if self.draw.random.one_in(2) {
            self.steps.push(HostStep::ResetFence(fence));
            self.unused.push(fence);
        }
    }

    /// Waits for a value that the last batch of a queue signals.
    fn wait_value(&mut self) {
        let queue = self.draw.random.below(self.families.len() as u64) as usize;
        if self.last[queue].is_none() || self.draw.kept[queue] {
            return;
        }
        self.draw.queue = queue;
        let stages = self
            .draw
            .random
            .pick(&[S::ALL_COMMANDS, S::COPY, S::COMPUTE_SHADER]);
        let wait = self.signal(queue, stages, S::NONE, false);
        self.steps
            .push(HostStep::WaitSemaphore(wait.semaphore, wait.value));
        if stages == S::ALL_COMMANDS && self.draw.care == 100 {
            self.done(|past| past.queue == queue);
        }
    }

    /// Makes the host read or write a buffer; if careful, after a batch that makes it ready.
    fn host(&mut self) {
        let linear: Vec<_> = (0..self.draw.resources.len())
            .filter(|index| self.draw.resources[*index].tiling == Tiling::Linear)
            .collect();
        let index = self.draw.random.pick(&linear);
        let resource = self.draw.resources[index];
        let part = places::part(&mut self.draw.random, &resource);
        let access = self.draw.random.pick(&[A::HOST_READ, A::HOST_WRITE]);
        let resource = tileheap_sync::program::ResourceId(index as u32);
        let access = MemoryAccess {
            resource,
            part,
            stage: S::HOST,
            access,
            kind: AccessKind::Whole,
            discards: false,
        };
        if self.draw.careful() && self.unfinished(&access) {
            if self.promise.as_ref().is_some_and(|promise| promise.by_host) {
                return;
            }
            if self.promise.is_some() || self.steps.len() + 3 > MAX_STEPS {
                return self.submit();
            }
            self.ready(&access);
        } else if self.promise.as_ref().is_some_and(|promise| !promise.by_host) && self.draw.care == 100 {
            return self.submit();
        }
        let (number, tag) = (self.number(), self.draw.tag());
        self.steps.push(HostStep::Host(number, tag, access));
        let past = Past {
            touch: Touch::from(&access),
            queue: HOST,
            subpass: None,
            done: false,
            seen: 0,
        };
        self.draw.past.push(past);
    }

    /// Submits a batch that makes memory ready for the host, and waits for it.
    fn ready(&mut self, access: &MemoryAccess) {
        let queue = self.draw.random.below(self.families.len() as u64) as usize;
        self.begin(queue);
        let need = self.draw.need(&access.into(), |_| true);
        let scopes = DependencyScopes {
            src: S::NONE,
            src_access: A::NONE,
            dst: S::HOST,
            dst_access: access.access,
        };
        let mut scopes = self.draw.first(need, scopes);
        if need.waited {
            scopes.src = S::ALL_COMMANDS;
        }
        let extent = self.draw.random.pick(&[
            DependencyMemory::All,
            DependencyMemory::Part(access.resource, access.part),
        ]);
        let extent = if need.others || need.waited {
            DependencyMemory::All
        } else {
            extent
        };
        let mut commands = Commands::new();
        self.draw.push(
            &mut commands,
            Command::Barrier(vec![Dependency {
                scopes,
                memory: extent,
                change: BarrierChange::None,
            }]),
        );
        self.finish(queue, vec![Arc::new(CommandBuffer { commands })], None, false);
        let step = self.steps.len() - 1;
        let fence = self.batch(step).fence;
        match fence {
            Some(fence) => {
                self.fences.retain(|(other, _)| *other != fence);
                self.steps.push(HostStep::WaitFence(fence));
            }
            None if self.draw.random.one_in(2) => {
                let fence = self.fence();
                self.batch(step).fence = Some(fence);
                self.steps.push(HostStep::WaitFence(fence));
            }
            None => self.steps.push(HostStep::WaitIdle(Some(QueueId(queue as u64)))),
        }
        self.done(|past| past.queue == queue);
    }
}
