//! The model's memory use: the accesses, operations and resources that it keeps, and for how long.

use ash::vk::PipelineStageFlags2;
use tileheap_units::IdSet;

use crate::finding::MemoryUse;
use crate::operation::{HostWait, Operation};
use crate::program::{QueueId, ResourceId, SemaphoreId, Tag};
use crate::record::Record;
use crate::records::Records;
use crate::schedule::Signaled;

use super::Model;

/// Maximum number of operations in the log before all records are advanced past it.
const MAX_LOG: usize = 4096;

/// Minimum number of removed resources before the model looks for those that it can drop.
const MAX_REMOVED: usize = 64;

/// The size of a model, and the work that it has performed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelStatistics {
    /// Number of known resources, including removed ones.
    pub resources: usize,
    /// Number of accesses that later ones are compared with.
    pub records: usize,
    /// Number of comparisons with earlier accesses whose resources share bytes.
    pub compared_records: u64,
    /// Number of synchronization operations that changed, or might have changed, the state of an access; counted once per access.
    pub followed_operations: u64,
    /// Number of synchronization operations that could not change the state of an access; counted once per access.
    pub skipped_operations: u64,
    /// Number of decisions to follow or skip operations; one decision can skip many.
    pub decisions: u64,
}

/// The operations that the host has waited for.
enum Waited {
    /// All operations.
    Everything,
    /// All operations of a queue, and those ordered before them.
    Queue(QueueId),
    /// A signal at a position of the log, and the operations that it covers: all earlier work on its queue, or that of some stages.
    Signal {
        position: u64,
        queue: QueueId,
        stages: Option<PipelineStageFlags2>,
    },
    /// Not determined: all operations have to be followed.
    Unknown,
}

impl Waited {
    /// Returns `true` if the host now knows that an access is complete and available, `false` if this wait does not affect it, and `None` if
    /// all operations since have to be applied in order to know.
    fn settles(&self, record: &Record) -> Option<bool> {
        let is_of = |queue: &QueueId| record.origin.queue == Some(*queue);
        match self {
            Waited::Everything => Some(true),
            Waited::Queue(queue) => is_of(queue).then_some(true),
            Waited::Signal { position, .. } if record.added_at > *position => Some(false),
            Waited::Signal { queue, stages, .. } => {
                let is_at = |stages: &PipelineStageFlags2| record.origin.usage.stage().intersects(*stages);
                (is_of(queue) && stages.as_ref().is_none_or(is_at)).then_some(true)
            }
            Waited::Unknown => None,
        }
    }
}

impl Model {
    /// Returns the size of the model, and the work that it has performed.
    pub fn statistics(&self) -> ModelStatistics {
        ModelStatistics {
            resources: self.resources.len(),
            records: self.records.values().map(Records::len).sum(),
            compared_records: self.work.compared,
            followed_operations: self.work.followed,
            skipped_operations: self.work.skipped,
            decisions: self.work.decisions,
        }
    }

    /// Calls `each` with every use that later findings may name, with some more than once: the uses of accesses that later ones are compared with,
    /// and of writes and losses of contents. See [`Model::each_tag`] for the tags of all commands.
    pub fn each_use(&self, mut each: impl FnMut(&MemoryUse)) {
        let records = self.records.values().flat_map(Records::iter);
        records.for_each(|record| each(&record.used));
        self.contents.each_use(&mut each);
    }

    /// Calls `each` with the tag of every command that later findings may name, with some more than once: the tags of [`Model::each_use`], of
    /// discards of memory, and of batches that wait for a signal.
    pub fn each_tag(&self, mut each: impl FnMut(Tag)) {
        self.each_use(|used| each(used.tag));
        self.contents.each_discard(&mut each);
        self.schedule.each_tag(&mut each);
    }

    /// Clears the log once it is full: advances every record past it, and drops reads that the host knows to be complete.
    pub(super) fn forget(&mut self) {
        if self.log.len() < MAX_LOG {
            return;
        }
        for records in self.records.values_mut() {
            for record in records.iter_mut() {
                record.advance(&self.log, self.forgotten, &mut self.work);
                record.compact(&self.last_instance);
            }
            records.retain(|record| !record.is_complete() || record.writes());
        }
        self.forgotten += self.log.len() as u64;
        self.log.clear();
    }

    /// Drops accesses to device-only memory that no later work can conflict with, because the host has waited for them. Drops nothing while batches
    /// are pending, since those may still conflict.
    pub(super) fn drop_settled(&mut self, wait: HostWait) {
        if !self.schedule.is_idle() {
            self.has_settled = true;
            return;
        }
        // Accesses that an earlier wait has settled are only found by following all operations.
        let waited = match std::mem::take(&mut self.has_settled) {
            true => Waited::Unknown,
            false => self.waited(wait),
        };
        for memory in &self.device_only {
            let Some(records) = self.records.get_mut(memory) else {
                continue;
            };
            records.retain(|record| match waited.settles(record) {
                Some(is_settled) => !is_settled,
                None => {
                    record.advance(&self.log, self.forgotten, &mut self.work);
                    !record.is_settled()
                }
            });
        }
    }

    /// Returns the part of the log that a wait of the host covers.
    fn waited(&self, wait: HostWait) -> Waited {
        let mut signals = self.log.operations().iter().enumerate().rev();
        let found = match wait {
            HostWait::Device => return Waited::Everything,
            HostWait::Queue(queue) => return Waited::Queue(queue),
            HostWait::Fence(waited) => signals.find_map(|(index, operation)| match operation {
                Operation::SignalFence { queue, fence, .. } if *fence == waited => {
                    Some(Some((index, *queue, None)))
                }
                Operation::ResetFence(fence) if *fence == waited => Some(None),
                _ => None,
            }),
            HostWait::Semaphore(waited, value) => signals.find_map(|(index, operation)| match operation {
                Operation::Signal { queue, signals, .. } => {
                    let is_it =
                        |signal: &&(SemaphoreId, Signaled, _)| (signal.0, signal.1) == (waited, value);
                    let signal = signals.iter().find(is_it)?;
                    Some(Some((index, *queue, Some(signal.2))))
                }
                Operation::Unsignal(semaphore) if *semaphore == waited => Some(None),
                _ => None,
            }),
        };
        let found = found.flatten();
        found.map_or(Waited::Unknown, |(index, queue, stages)| Waited::Signal {
            position: self.forgotten + index as u64,
            queue,
            stages,
        })
    }

    /// Drops removed resources if no access to them is remembered and no alias of them is left.
    pub(super) fn drop_removed(&mut self) {
        let records = self.records.values().flat_map(Records::iter);
        let known: IdSet<ResourceId> = records
            .flat_map(|record| [record.used.resource, record.origin.class])
            .collect();
        let contents = &self.contents;
        self.resources
            .retain(|id, placed| !placed.is_removed || known.contains(id) || contents.has_members(*id));
        let resources = &self.resources;
        for record in self.records.values_mut().flat_map(Records::iter_mut) {
            record.forget_classes(&|class| resources.contains_key(&class));
        }
        self.removed = self.resources.values().filter(|placed| placed.is_removed).count();
        self.max_removed = MAX_REMOVED.max(2 * self.removed);
    }
}
