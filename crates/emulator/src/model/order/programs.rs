//! Random programs, as [`super::definition`] reads them and as the model runs them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ash::vk;
use ash::vk::Handle;
use tileheap_units::SplitMix64;
use vk::{AccessFlags2 as A, PipelineStageFlags2 as S};

use super::log::{Access, AccessKind, Change, Dependency, Event, Log, Memory};
use super::record::Hazard;
use super::scopes::Usage;
use super::submits::{Order, OrderedBatch};
use crate::model::objects::Object;
use crate::model::position::{Position, Submit};

/// Sets of stages: vertex, fragment, color output, compute, copy; and of all commands besides.
pub(super) const ALL: u8 = 0b11_1111;
/// A mask, its first and its second scope, and the stages whose accesses it holds.
pub(super) const MASKS: [(S, u8, u8, u8); 13] = [
    (S::VERTEX_SHADER, 0b1, 0b111, 0b1),
    (S::FRAGMENT_SHADER, 0b11, 0b110, 0b10),
    (S::COLOR_ATTACHMENT_OUTPUT, 0b111, 0b100, 0b100),
    (S::COMPUTE_SHADER, 0b1000, 0b1000, 0b1000),
    (S::COMPUTE_SHADER, 0b1000, 0b1000, 0b1000),
    (S::COPY, 0b1_0000, 0b1_0000, 0b1_0000),
    (S::ALL_TRANSFER, 0b1_0000, 0b1_0000, 0b1_0000),
    (S::ALL_GRAPHICS, 0b111, 0b111, 0b111),
    (S::ALL_COMMANDS, ALL, ALL, ALL),
    (S::NONE, 0, 0, 0),
    (S::TOP_OF_PIPE, 0, ALL, 0),
    (S::BOTTOM_OF_PIPE, ALL, 0, 0),
    (
        S::from_raw(S::FRAGMENT_SHADER.as_raw() | S::COMPUTE_SHADER.as_raw()),
        0b1011,
        0b1110,
        0b1010,
    ),
];
/// Accesses: sampled, storage read and write, color read and write, transfer read and write.
pub(super) const ACCESSES: [A; 7] = [
    A::SHADER_SAMPLED_READ,
    A::SHADER_STORAGE_READ,
    A::SHADER_STORAGE_WRITE,
    A::COLOR_ATTACHMENT_READ,
    A::COLOR_ATTACHMENT_WRITE,
    A::TRANSFER_READ,
    A::TRANSFER_WRITE,
];
pub(super) const WRITES: u8 = 0b101_0100;
pub(super) const ACCESS_MASKS: [(A, u8); 9] = [
    (A::NONE, 0),
    (A::SHADER_WRITE, 0b100),
    (A::SHADER_READ, 0b11),
    (A::SHADER_SAMPLED_READ, 0b1),
    (A::COLOR_ATTACHMENT_WRITE, 0b1_0000),
    (A::TRANSFER_WRITE, 0b100_0000),
    (A::MEMORY_WRITE, WRITES),
    (A::MEMORY_READ, !WRITES & 0x7F),
    (
        A::from_raw(A::MEMORY_READ.as_raw() | A::MEMORY_WRITE.as_raw()),
        0x7F,
    ),
];
/// Stage and access of each use.
pub(super) const USES: [(u8, u8); 13] = [
    (0, 0),
    (0, 1),
    (0, 2),
    (1, 0),
    (1, 1),
    (1, 2),
    (2, 3),
    (2, 4),
    (3, 0),
    (3, 1),
    (3, 2),
    (4, 5),
    (4, 6),
];
pub(super) const STAGES: [S; 5] = [
    S::VERTEX_SHADER,
    S::FRAGMENT_SHADER,
    S::COLOR_ATTACHMENT_OUTPUT,
    S::COMPUTE_SHADER,
    S::COPY,
];
/// A layout transition.
pub(super) const TRANSITION: (u8, u8) = (5, 7);
/// Resources share bytes.
pub(super) const PLACES: [(u64, u64); 5] = [(0, 4), (4, 8), (0, 8), (2, 6), (0, 4)];

pub(super) fn object(index: usize) -> Object {
    Object(vk::ObjectType::IMAGE, index as u64 + 1)
}

#[derive(Clone, Debug)]
pub(super) struct One {
    pub(super) src: usize,
    pub(super) src_access: usize,
    pub(super) dst: usize,
    pub(super) dst_access: usize,
    /// A resource whose bytes it is for; 9 for none.
    pub(super) of: Option<usize>,
    pub(super) changes: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Use {
    pub(super) resource: usize,
    /// Stage and access.
    pub(super) of: (u8, u8),
    pub(super) kind: AccessKind,
    pub(super) subpass: u32,
}

#[derive(Clone, Debug)]
pub(super) enum Command {
    Access(Use),
    Barrier(Vec<One>, Option<Vec<u64>>),
    Set(u64, usize),
    Reset(u64),
    Run(Vec<(u32, Command)>),
}

#[derive(Clone, Debug)]
pub(super) struct Batch {
    pub(super) queue: u64,
    pub(super) window: u64,
    pub(super) waits: Vec<(u64, u64, usize)>,
    pub(super) commands: Vec<Vec<(u32, Command)>>,
    pub(super) signals: Vec<(u64, u64, usize)>,
    pub(super) fence: u64,
}

#[derive(Clone, Debug)]
pub(super) enum Step {
    Submit(Batch),
    Fence(u64),
    Value(u64, u64),
    Idle(Option<u64>),
    HostSignal(u64, u64),
}

/// Semaphores: binary ones from 1, timelines from 11; queue `n % queues` signals number n.
pub(super) const TIMELINE: u64 = 10;

pub(super) struct Generator {
    random: SplitMix64,
    queues: u64,
    number: u32,
    values: BTreeMap<u64, u64>,
    /// Binary semaphores that are signaled.
    signaled: BTreeSet<u64>,
    fences: u64,
    window: u64,
    /// Values that are waited for and not signaled yet.
    missing: Vec<(u64, u64)>,
    /// Queues on which a batch waits for one: they signal nothing.
    blocked: BTreeSet<u64>,
}

impl Generator {
    fn mask(&mut self) -> usize {
        self.random.below(MASKS.len() as u64) as usize
    }

    fn one(&mut self) -> One {
        let access = |random: &mut SplitMix64| random.below(ACCESS_MASKS.len() as u64) as usize;
        let of = self
            .random
            .one_in(3)
            .then(|| self.random.below(PLACES.len() as u64) as usize);
        One {
            src: self.mask(),
            src_access: access(&mut self.random),
            dst: self.mask(),
            dst_access: access(&mut self.random),
            of: of.or(self.random.one_in(6).then_some(9)),
            changes: false,
        }
    }

    fn ones(&mut self) -> Vec<One> {
        let mut ones: Vec<_> = (0..=self.random.below(2)).map(|_| self.one()).collect();
        ones[0].changes = ones[0].of.is_some_and(|of| of != 9) && self.random.one_in(2);
        ones
    }

    fn command(&mut self, queue: u64, is_secondary: bool) -> (u32, Command) {
        self.number += 1;
        let number = self.number;
        let event = queue * 2 + self.random.below(2);
        let command = match self.random.below(16) {
            0..8 => {
                let of = self.random.pick(&USES);
                let kind = match (WRITES >> of.1 & 1, of.0) {
                    (_, 2) => AccessKind::Attachment,
                    (_, 4) => self.random.pick(&[AccessKind::Part, AccessKind::Whole]),
                    (1, _) => AccessKind::Storage,
                    _ => self.random.pick(&[AccessKind::Whole, AccessKind::Storage]),
                };
                let resource = self.random.below(PLACES.len() as u64) as usize;
                let subpass = self.random.below(3) as u32 * u32::from(!is_secondary);
                Command::Access(Use {
                    resource,
                    of,
                    kind,
                    subpass,
                })
            }
            8..12 => Command::Barrier(self.ones(), None),
            12 => Command::Set(event, self.mask()),
            13 => Command::Barrier(
                self.ones(),
                Some(vec![event, event ^ 1][..1 + self.random.below(2) as usize].to_vec()),
            ),
            14 if !is_secondary => Command::Run((0..3).map(|_| self.command(queue, true)).collect()),
            _ => Command::Reset(event),
        };
        (number, command)
    }

    fn step(&mut self) -> Step {
        if self.missing.is_empty() && self.random.one_in(6) {
            let known: Vec<_> = self.values.clone().into_iter().collect();
            return match self.random.below(3) {
                0 if self.fences > 0 => Step::Fence(1 + self.random.below(self.fences)),
                1 if !known.is_empty() => {
                    let (semaphore, value) = self.random.pick(&known);
                    Step::Value(semaphore, 1 + self.random.below(value))
                }
                _ => Step::Idle((!self.random.one_in(3)).then(|| 1 + self.random.below(self.queues))),
            };
        }
        if let Some((semaphore, value)) = self.missing.first().copied().filter(|_| self.random.one_in(4)) {
            self.values.insert(semaphore, value);
            self.missing.clear();
            return Step::HostSignal(semaphore, value);
        }
        let queue = 1 + self.random.below(self.queues);
        self.window += self.random.below(2);
        let mut waits = Vec::new();
        if self.missing.is_empty() {
            self.blocked.clear();
        }
        let is_early = self.missing.is_empty() && self.random.one_in(6);
        if is_early {
            self.blocked.insert(queue);
        }
        let is_blocked = self.blocked.contains(&queue);
        for _ in 0..self.random.below(3) {
            let (stages, semaphore) = (self.mask(), 1 + self.random.below(4));
            if !is_blocked && self.signaled.remove(&semaphore) {
                waits.push((semaphore, 0, stages));
            } else {
                let timeline = semaphore + TIMELINE;
                let value = self.values[&timeline] + u64::from(is_early && self.missing.is_empty());
                if value > self.values[&timeline] {
                    self.missing.push((timeline, value));
                }
                waits.push((timeline, value, stages));
            }
        }
        let count = 1 + self.random.below(2);
        let lengths: Vec<_> = (0..count).map(|_| 1 + self.random.below(5)).collect();
        let commands = lengths.into_iter();
        let commands = commands.map(|length| (0..length).map(|_| self.command(queue, false)).collect());
        let commands = commands.collect();
        let mut signals = Vec::new();
        for _ in 0..self.random.below(3) {
            let stages = self.mask();
            let semaphore = 1 + self.random.below(4);
            if is_blocked || semaphore % self.queues != queue % self.queues {
                continue;
            }
            if self.random.one_in(2) {
                self.signaled.insert(semaphore);
                signals.push((semaphore, 0, stages));
            } else {
                let value = self.values.entry(semaphore + TIMELINE).or_default();
                *value += 1;
                let point = (semaphore + TIMELINE, *value);
                self.missing.retain(|missing| *missing != point);
                signals.push((point.0, point.1, stages));
            }
        }
        let has_fence = self.random.one_in(3);
        self.fences += u64::from(has_fence);
        Step::Submit(Batch {
            queue,
            window: self.window,
            waits,
            commands,
            signals,
            fence: if has_fence { self.fences } else { 0 },
        })
    }
}

pub(super) fn program(seed: u64) -> Vec<Step> {
    let mut random = SplitMix64::new(seed);
    let (queues, steps) = (1 + random.below(3), 2 + random.below(6));
    let mut generator = Generator {
        random,
        queues,
        number: 0,
        values: (1..5).map(|semaphore| (semaphore + TIMELINE, 1)).collect(),
        signaled: BTreeSet::new(),
        fences: 0,
        window: 0,
        missing: Vec::new(),
        blocked: BTreeSet::new(),
    };
    (0..steps).map(|_| generator.step()).collect()
}

/// Pairs of commands.
pub(super) type Pairs = BTreeSet<(u32, u32)>;

/// What the model finds.
pub(super) fn modelled(program: &[Step]) -> Pairs {
    fn log_of(commands: &[(u32, Command)]) -> Log {
        let mut log = Log {
            has_accesses: true,
            ..Log::default()
        };
        for (number, command) in commands {
            let mut at = Position::default();
            at.actions = *number;
            match command {
                Command::Access(it) => {
                    let usage = Usage::of(STAGES[usize::from(it.of.0)], ACCESSES[usize::from(it.of.1)]);
                    let (place, usage) = (PLACES[it.resource], usage.expect("a usage"));
                    let list = log.lists.len() as u32;
                    log.lists
                        .push(vec![Access::new(object(it.resource), place, usage, it.kind)]);
                    log.events.push(Event::Access(list, it.subpass, at));
                }
                Command::Barrier(ones, events) => {
                    let first = log.dependencies.len() as u32;
                    log.dependencies.extend(ones.iter().map(|one| Dependency {
                        src: MASKS[one.src].0,
                        src_access: ACCESS_MASKS[one.src_access].0,
                        dst: MASKS[one.dst].0,
                        dst_access: ACCESS_MASKS[one.dst_access].0,
                        memory: match one.of {
                            None => Memory::All,
                            Some(9) => Memory::None,
                            Some(of) => Memory::Bytes(PLACES[of].0, PLACES[of].1),
                        },
                        change: match one.of {
                            Some(of) if one.changes => Change::Layout(object(of)),
                            _ => Change::None,
                        },
                    }));
                    let end = log.dependencies.len() as u32;
                    let handles =
                        |events: &Vec<u64>| events.iter().map(|event| vk::Event::from_raw(*event)).collect();
                    log.events.push(match events {
                        None => Event::Barrier(first, end, at),
                        Some(events) => Event::Wait(handles(events), first, end, at),
                    });
                }
                Command::Set(event, mask) => log
                    .events
                    .push(Event::Set(vk::Event::from_raw(*event), MASKS[*mask].0)),
                Command::Reset(event) => log.events.push(Event::Reset(vk::Event::from_raw(*event))),
                Command::Run(commands) => log.events.push(Event::Run(Arc::new(log_of(commands)), 0)),
            }
        }
        log
    }
    let mut order = Order::default();
    (1..5).for_each(|semaphore| order.create_timeline(vk::Semaphore::from_raw(semaphore + TIMELINE), 1));
    let mut pairs = Pairs::new();
    for (number, step) in program.iter().enumerate() {
        let uses = |uses: &[(u64, u64, usize)]| {
            let of = |(semaphore, value, mask): &(u64, u64, usize)| {
                (vk::Semaphore::from_raw(*semaphore), *value, MASKS[*mask].0)
            };
            uses.iter().map(of).collect()
        };
        let hazards = match step {
            Step::Submit(batch) => order.submit(OrderedBatch {
                window: batch.window,
                waits: uses(&batch.waits),
                logs: batch.commands.iter().map(|all| Arc::new(log_of(all))).collect(),
                signals: uses(&batch.signals),
                fence: vk::Fence::from_raw(batch.fence),
                ..OrderedBatch::empty(Submit {
                    number: number as u64,
                    batch: 0,
                    queue: batch.queue,
                })
            }),
            Step::HostSignal(semaphore, value) => {
                order.signal_from_host(vk::Semaphore::from_raw(*semaphore), *value)
            }
            Step::Fence(fence) => {
                order.fence_waited(vk::Fence::from_raw(*fence));
                Vec::new()
            }
            Step::Value(semaphore, value) => {
                order.semaphore_waited(vk::Semaphore::from_raw(*semaphore), *value);
                Vec::new()
            }
            Step::Idle(queue) => {
                order.idle(queue.map(vk::Queue::from_raw));
                Vec::new()
            }
        };
        let numbers = |hazard: &Hazard| (hazard.before.at.actions, hazard.after.at.actions);
        pairs.extend(hazards.iter().map(numbers));
    }
    pairs
}
