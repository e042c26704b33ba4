//! The submissions of a frame, and resources that alternate from frame to frame.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use ash::vk;
use ash::vk::Handle;
use tileheap::frame::{BatchId, FrameBuilder, LoadOp};

use super::flatten::{Flat, flatten};
use super::objects::{Resource, number_of};
use super::recording::RecordedList;
use super::resource_table::ResourceTable;
use super::timing::SubmittedTimes;
use crate::document::SemaphoreUse;
use crate::document::recording::RecordedStep;

/// A queue of the program.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Queue {
    pub(crate) handle: u64,
    pub(crate) family: u32,
    pub(crate) capabilities: vk::QueueFlags,
}

impl Queue {
    pub(crate) fn number(&self) -> u32 {
        number_of(vk::Queue::from_raw(self.handle))
    }
}

/// A submitted command buffer.
#[derive(Debug)]
pub(crate) struct Submitted {
    pub(crate) name: String,
    pub(crate) ops: Arc<RecordedList>,
    /// The passes of the command buffer, with the descriptors at submission; `None` until a document needs the frame.
    pub(crate) flat: Option<Flat>,
    /// The timestamps of the passes, if they are timed.
    pub(crate) times: Option<Arc<SubmittedTimes>>,
}

/// A submitted batch. A binary semaphore has the value 0.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub(crate) waits: Vec<SemaphoreUse>,
    pub(crate) signals: Vec<SemaphoreUse>,
    pub(crate) commands: Vec<Submitted>,
}

/// The state of semaphores between two host operations, as it is when all submitted work has completed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Semaphores {
    /// The highest value of each timeline semaphore.
    pub(crate) timelines: BTreeMap<u32, u64>,
    /// Binary semaphores that are signaled.
    pub(crate) signaled: BTreeSet<u32>,
}

impl Semaphores {
    /// Adds a semaphore; `value` is the initial value of a timeline semaphore.
    pub(crate) fn create(&mut self, semaphore: u32, value: Option<u64>) {
        self.destroy(semaphore);
        self.timelines.extend(value.map(|value| (semaphore, value)));
    }

    pub(crate) fn destroy(&mut self, semaphore: u32) {
        self.timelines.remove(&semaphore);
        self.signaled.remove(&semaphore);
    }

    pub(crate) fn is_timeline(&self, semaphore: u32) -> bool {
        self.timelines.contains_key(&semaphore)
    }

    pub(crate) fn signal(&mut self, semaphore: u32, value: u64) {
        match self.timelines.get_mut(&semaphore) {
            Some(known) => *known = value.max(*known),
            None => _ = self.signaled.insert(semaphore),
        }
    }

    pub(crate) fn wait(&mut self, semaphore: u32) {
        self.signaled.remove(&semaphore);
    }
}

/// A host operation of a frame, such as a submit or a fence wait.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum HostStep {
    /// A batch of a submit; for a submit without batches, only the fence.
    Submit {
        submit: usize,
        batch: usize,
        fence: Option<u32>,
    },
    Other(RecordedStep),
}

/// A frame of a program, as it was submitted.
#[derive(Debug, Default)]
pub(crate) struct Submits {
    pub(crate) number: u64,
    pub(crate) submits: Vec<(Queue, Vec<Batch>)>,
    pub(crate) steps: Vec<HostStep>,
    pub(crate) resources: ResourceTable,
    /// The state of semaphores when the frame began.
    pub(crate) before: Semaphores,
    /// The number of the last image or buffer that was created before the frame began.
    pub(crate) created_before: u64,
    /// The number of the first allocation of memory that was made after the frame began.
    pub(crate) allocated_before: u32,
}

impl Submits {
    /// Adds the batches of a submit, the last of which signals the fence.
    pub(crate) fn submit(&mut self, queue: Queue, batches: Vec<Batch>, fence: Option<u32>) {
        let submit = self.submits.len();
        let last = batches.len().saturating_sub(1);
        self.steps.extend((0..=last).map(|batch| HostStep::Submit {
            submit,
            batch,
            fence: fence.filter(|_| batch == last),
        }));
        self.submits.push((queue, batches));
    }

    /// Adds a host operation. Omits a wait that repeats an earlier one if only waits came in between.
    pub(crate) fn step(&mut self, step: RecordedStep) {
        let is_wait = |step: &HostStep| {
            matches!(
                step,
                HostStep::Other(
                    RecordedStep::WaitFence(_)
                        | RecordedStep::WaitSemaphore { .. }
                        | RecordedStep::WaitIdle(_)
                )
            )
        };
        let step = HostStep::Other(step);
        let mut waits = self.steps.iter().rev().take_while(|step| is_wait(step));
        if !(is_wait(&step) && waits.any(|known| *known == step)) {
            self.steps.push(step);
        }
    }

    pub(crate) fn flatten(&mut self) {
        let batches = self.submits.iter_mut().flat_map(|(_, batches)| batches);
        for command in batches.flat_map(|batch| &mut batch.commands) {
            command
                .flat
                .get_or_insert_with(|| flatten(&command.ops, &mut self.resources));
        }
    }

    pub(crate) fn batches(&self) -> impl Iterator<Item = &Batch> {
        self.submits.iter().flat_map(|(_, batches)| batches)
    }

    /// Iterates over the timestamps of the command buffers.
    pub(crate) fn times(&self) -> impl Iterator<Item = &Arc<SubmittedTimes>> {
        let commands = self.batches().flat_map(|batch| &batch.commands);
        commands.filter_map(|commands| commands.times.as_ref())
    }

    /// Iterates over the flattened command buffers.
    pub(crate) fn flats(&self) -> impl Iterator<Item = &Flat> {
        let commands = self.batches().flat_map(|batch| &batch.commands);
        commands.filter_map(|commands| commands.flat.as_ref())
    }

    /// Summarizes the frame's use of each of its resources, by key.
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

/// A frame's use of a resource: whether the first access needs earlier contents, and whether all accesses are reads.
#[derive(Clone, Debug)]
pub(crate) struct FirstUse {
    resource: Resource,
    /// True if the first access needs contents.
    pub(crate) read_first: bool,
    /// True if all accesses are reads, and none accesses an attachment.
    only_read: bool,
}

/// Finds pairs of resources that alternate from frame to frame, from their uses in this frame and in an adjacent one. Maps the key of the resource that
/// this frame reads to that of the resource that it writes.
///
/// ```text
/// frame before, or next   reads b, writes a
/// this frame              reads a, writes b     a has the contents that the previous frame wrote
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

/// The semaphores of a frame: one for each pair of a signal and a wait for it; unpaired signals and waits of binary semaphores become external semaphores.
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

    pub(crate) fn batch(&mut self, builder: &mut FrameBuilder, id: BatchId, batch: &Batch) {
        for wait in &batch.waits {
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
                // The value of a timeline may have been signaled frames ago, so the wait orders nothing in this frame.
                None if timeline => {}
                None => {
                    let semaphore = builder.external_semaphore(self.name("external wait"));
                    builder.wait(id, semaphore, wait.stages);
                }
            }
        }
        self.open.extend(batch.signals.iter().map(|signal| (*signal, id)));
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

/// Makes names unique.
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
