//! The memory of the model: which accesses, operations and resources it keeps, and for how long.

use std::collections::HashSet;

use crate::finding::Use;
use crate::program::{ResourceId, Tag};

use super::Model;

/// Operations in the log before all records are advanced past it.
const MAX_LOG: usize = 4096;

/// The least number of removed resources above which they are searched for ones to drop.
const MAX_REMOVED: usize = 64;

/// The size of a model, and the work that it has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statistics {
    /// Resources that are known, removed ones included.
    pub resources: usize,
    /// Accesses that later ones are compared with.
    pub records: usize,
    /// Synchronization operations that changed, or might have changed, what happens after an access; each is counted once per access.
    pub followed_operations: u64,
    /// Synchronization operations that could not change that.
    pub skipped_operations: u64,
}

impl Model {
    /// The size of the model, and the work that it has done.
    pub fn statistics(&self) -> Statistics {
        Statistics {
            resources: self.resources.len(),
            records: self.records.values().map(Vec::len).sum(),
            followed_operations: self.work.followed,
            skipped_operations: self.work.skipped,
        }
    }

    /// Every use that later findings may name, some more than once: of accesses that later ones are compared with, and of writes and losses of
    /// contents. See [`Model::each_tag`] for the tags of all commands.
    pub fn each_use(&self, mut each: impl FnMut(&Use)) {
        let records = self.records.values().flatten();
        records.for_each(|record| each(&record.used));
        self.contents.each_use(&mut each);
    }

    /// The tag of every command that later findings may name, some more than once: those of [`Model::each_use`], of discards of memory, and
    /// of batches that wait for a signal.
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

    /// Drops accesses to device-only memory that no later work can conflict with, because the host has waited for them. Drops nothing while
    /// batches are pending, since those may still conflict.
    pub(super) fn drop_settled(&mut self) {
        if !self.schedule.is_idle() {
            return;
        }
        for memory in &self.device_only {
            let Some(records) = self.records.get_mut(memory) else {
                continue;
            };
            for record in records.iter_mut() {
                record.advance(&self.log, self.forgotten, &mut self.work);
            }
            records.retain(|record| !record.is_settled());
        }
    }

    /// Drops resources that were removed, if no access to them is remembered and no resource that is the same is left.
    pub(super) fn drop_removed(&mut self) {
        let records = self.records.values().flatten();
        let known: HashSet<ResourceId> = records
            .flat_map(|record| [record.used.resource, record.origin.class])
            .collect();
        let contents = &self.contents;
        self.resources
            .retain(|id, placed| !placed.is_removed || known.contains(id) || contents.has_members(*id));
        let resources = &self.resources;
        for record in self.records.values_mut().flatten() {
            record.forget_classes(&|class| resources.contains_key(&class));
        }
        self.removed = self.resources.values().filter(|placed| placed.is_removed).count();
        self.max_removed = MAX_REMOVED.max(2 * self.removed);
    }
}
