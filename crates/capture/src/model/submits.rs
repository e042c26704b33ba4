//! What was submitted in a frame, and which resources take turns from frame to frame.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use ash::vk;
use ash::vk::Handle;
use tileheap::frame::{BatchId, FrameBuilder, LoadOp};
use tileheap_layer::host_waits::HostWait;

use super::flatten::{Flat, flatten};
use super::objects::Resource;
use super::recording::Op;
use crate::document::{BatchSync, SemaphoreUse};

/// A queue of the program.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Queue {
    pub(crate) handle: u64,
    pub(crate) family: u32,
    pub(crate) capabilities: vk::QueueFlags,
}

/// A submitted command buffer.
#[derive(Debug)]
pub(crate) struct Submitted {
    pub(crate) name: String,
    pub(crate) ops: Arc<Vec<Op>>,
    /// Its passes as of submission; made when the frame is written where that was not certain.
    pub(crate) flat: Option<Flat>,
}

/// A submitted batch. A binary semaphore has the value 0.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub(crate) sync: BatchSync,
    pub(crate) commands: Vec<Submitted>,
    /// Timeline semaphores' values that it signals.
    pub(crate) signals: Vec<HostWait>,
    /// Of the batches of the device, from 1.
    pub(crate) number: u64,
    /// Of each queue, the last batch that the host knew to be complete.
    pub(crate) completed: BTreeMap<u64, u64>,
}

/// What the host knows to be complete.
#[derive(Debug, Default)]
pub(crate) struct Completed {
    batches: u64,
    /// What shows that a batch of a queue is complete, with all that the queue ran before.
    shown: Vec<(HostWait, u64, u64)>,
    /// Of each queue, the last batch that is complete.
    completed: BTreeMap<u64, u64>,
}

impl Completed {
    /// Numbers the batches of a submit, which signals the fence.
    pub(crate) fn submit(&mut self, queue: vk::Queue, batches: &mut [Batch], fence: vk::Fence) {
        let handle = queue.as_raw();
        self.shown.retain(|(wait, ..)| *wait != HostWait::Queue(queue));
        for batch in batches {
            self.batches += 1;
            (batch.number, batch.completed) = (self.batches, self.completed.clone());
            let signals = batch.signals.iter();
            self.shown
                .extend(signals.map(|wait| (*wait, handle, batch.number)));
        }
        let waits = [HostWait::Queue(queue), HostWait::Fence(fence)];
        self.shown.extend(waits.map(|wait| (wait, handle, self.batches)));
    }

    /// Something is complete.
    pub(crate) fn waited(&mut self, wait: HostWait) {
        let completed = &mut self.completed;
        self.shown.retain(|(shown, queue, batch)| {
            let is_shown = match (wait, *shown) {
                (HostWait::Semaphore(one, reached), HostWait::Semaphore(other, value)) => {
                    one == other && value <= reached
                }
                (HostWait::Device, _) => true,
                (one, other) => one == other,
            };
            if is_shown {
                let last = completed.entry(*queue).or_default();
                *last = (*batch).max(*last);
            }
            !is_shown
        });
    }
}

/// A frame of a program, as it was submitted.
#[derive(Debug, Default)]
pub(crate) struct Submits {
    pub(crate) number: u64,
    pub(crate) submits: Vec<(Queue, Vec<Batch>)>,
}

impl Submits {
    pub(crate) fn flatten(&mut self) {
        let batches = self.submits.iter_mut().flat_map(|(_, batches)| batches);
        for command in batches.flat_map(|batch| &mut batch.commands) {
            command.flat.get_or_insert_with(|| flatten(&command.ops));
        }
    }

    pub(crate) fn batches(&self) -> impl Iterator<Item = &Batch> {
        self.submits.iter().flat_map(|(_, batches)| batches)
    }

    /// Of each batch, what it waits for and signals.
    pub(crate) fn synchronized(&self) -> Vec<BatchSync> {
        let of_queue = |(queue, batches): &(Queue, Vec<Batch>)| {
            let handle = queue.handle;
            batches
                .iter()
                .map(|batch| (handle, batch.number))
                .collect::<Vec<_>>()
        };
        let all: Vec<_> = self.submits.iter().flat_map(of_queue).collect();
        let last = |(queue, number): (&u64, &u64)| {
            let is_in = |(of, one): &(u64, u64)| of == queue && one <= number;
            all.iter().rposition(is_in).map(|index| index as u32)
        };
        let of = |batch: &Batch| BatchSync {
            completed: batch.completed.iter().filter_map(last).collect(),
            ..batch.sync.clone()
        };
        self.batches().map(of).collect()
    }

    /// Of each command buffer.
    pub(crate) fn flats(&self) -> impl Iterator<Item = &Flat> {
        let commands = self.batches().flat_map(|batch| &batch.commands);
        commands.filter_map(|commands| commands.flat.as_ref())
    }

    /// How the frame uses its resources, by key.
    pub(crate) fn first_uses(&self) -> HashMap<usize, FirstUse> {
        let mut uses: HashMap<usize, FirstUse> = HashMap::new();
        for access in self
            .flats()
            .flat_map(|flat| &flat.passes)
            .flat_map(|pass| &pass.accesses)
        {
            let only_read = !access.writes && !access.kind.is_attachment();
            let first = || FirstUse {
                resource: access.resource.clone(),
                read_first: access.reads || access.kind.is_attachment() && access.load == LoadOp::Load,
                only_read,
            };
            uses.entry(access.resource.key()).or_insert_with(first).only_read &= only_read;
        }
        uses
    }
}

/// How a frame uses a resource.
#[derive(Clone, Debug)]
pub(crate) struct FirstUse {
    resource: Resource,
    /// The first access needs contents.
    pub(crate) read_first: bool,
    /// All accesses are reads, and none of an attachment.
    only_read: bool,
}

/// Resources that take turns: which one is read instead of which that is written, by what the frame and the one before do with them.
///
/// ```text
/// frame before   reads b, writes a
/// this frame     reads a, writes b     a is what the frame before left in b
/// ```
pub(crate) fn alternating(
    now: &HashMap<usize, FirstUse>,
    before: &HashMap<usize, FirstUse>,
) -> BTreeMap<usize, usize> {
    let in_order = |wanted: fn(&FirstUse) -> bool| {
        let mut all: Vec<_> = now.iter().filter(|(_, one)| wanted(one)).collect();
        all.sort_by_key(|(_, one)| one.resource.common().number);
        all
    };
    let written = |one: &FirstUse| !one.only_read && !one.read_first;
    let (mut pairs, mut taken) = (BTreeMap::new(), HashSet::new());
    for (a, read) in in_order(|one| one.only_read) {
        let was_written = before.get(a).is_some_and(written);
        let other = in_order(|one| !one.only_read && !one.read_first)
            .into_iter()
            .find(|(b, other)| {
                let was_read = before.get(*b).is_some_and(|was| was.only_read);
                was_written && was_read && !taken.contains(*b) && read.resource.is_like(&other.resource)
            });
        if let Some((b, _)) = other {
            taken.insert(*b);
            pairs.insert(*a, *b);
        }
    }
    pairs
}

/// Semaphores of a frame: one for each pair of a signal and a wait for it; binary ones without a partner are of the outside.
#[derive(Default)]
pub(crate) struct Links {
    open: Vec<(SemaphoreUse, BatchId)>,
    count: u32,
}

impl Links {
    fn name(&mut self, word: &str) -> String {
        self.count += 1;
        format!("{word} {}", self.count)
    }

    pub(crate) fn batch(&mut self, builder: &mut FrameBuilder, id: BatchId, sync: &BatchSync) {
        for wait in &sync.waits {
            let timeline = wait.value > 0;
            let is_it = |(signal, _): &(SemaphoreUse, BatchId)| {
                signal.semaphore == wait.semaphore && signal.value >= wait.value
            };
            match self.open.iter().position(is_it) {
                Some(at) => {
                    let (signal, from) = self.open[at];
                    if !timeline {
                        self.open.remove(at);
                    }
                    let semaphore = builder.semaphore(self.name("semaphore"));
                    builder.signal(from, semaphore, signal.stages);
                    builder.wait(id, semaphore, wait.stages);
                }
                // The value of a timeline may be one of frames ago: it orders nothing in this one.
                None if timeline => {}
                None => {
                    let semaphore = builder.external_semaphore(self.name("external wait"));
                    builder.wait(id, semaphore, wait.stages);
                }
            }
        }
        self.open.extend(sync.signals.iter().map(|signal| (*signal, id)));
    }

    pub(crate) fn finish(mut self, builder: &mut FrameBuilder) {
        for (signal, id) in std::mem::take(&mut self.open) {
            if signal.value == 0 {
                let semaphore = builder.external_semaphore(self.name("external signal"));
                builder.signal(id, semaphore, signal.stages);
            }
        }
    }
}

/// Gives each name once.
#[derive(Default)]
pub(crate) struct Names(HashSet<String>);

impl Names {
    pub(crate) fn unique(&mut self, wanted: &str, or: impl FnOnce() -> String) -> String {
        let plain = |c: &char| !c.is_control() && *c != '\u{2028}' && *c != '\u{2029}';
        let name: String = wanted.chars().filter(plain).take(48).collect();
        let name = if name.trim().is_empty() { or() } else { name };
        let numbered = (2..).map(|number| format!("{name} ({number})"));
        let mut all = std::iter::once(name.clone()).chain(numbered);
        all.find(|name| self.0.insert(name.clone()))
            .expect("there are more numbers than names")
    }
}
