//! The records of one address space, in the order of their accesses, and indexed by the bytes of their resources.

use std::collections::BTreeMap;

use crate::intervals::Intervals;
use crate::record::Record;

/// The records of an address space.
#[derive(Clone, Debug, Default)]
pub(crate) struct Records {
    all: BTreeMap<u64, Record>,
    by_bytes: Intervals,
    /// Number of records added so far.
    added: u64,
}

impl Records {
    /// Returns the number of records.
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// Returns `true` if there are no records.
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Iterates over all records, in the order of their accesses.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Record> {
        self.all.values()
    }

    /// Iterates over all records, in the order of their accesses.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Record> {
        self.all.values_mut()
    }

    /// Adds a record.
    pub(crate) fn push(&mut self, record: Record) {
        self.by_bytes.insert(self.added, bytes(&record));
        self.all.insert(self.added, record);
        self.added += 1;
    }

    /// Returns the numbers of the records whose resources share bytes with a range, in the order of their accesses.
    pub(crate) fn overlapping(&self, range: (u64, u64)) -> Vec<u64> {
        self.by_bytes.overlapping(range)
    }

    /// Returns the record with this number.
    pub(crate) fn get_mut(&mut self, number: u64) -> Option<&mut Record> {
        self.all.get_mut(&number)
    }

    /// Removes a record.
    pub(crate) fn remove(&mut self, number: u64) {
        if let Some(record) = self.all.remove(&number) {
            self.by_bytes.remove(number, bytes(&record));
        }
    }

    /// Removes all records that do not meet a condition.
    pub(crate) fn retain(&mut self, mut meets: impl FnMut(&mut Record) -> bool) {
        let by_bytes = &mut self.by_bytes;
        self.all.retain(|number, record| {
            let stays = meets(record);
            if !stays {
                by_bytes.remove(*number, bytes(record));
            }
            stays
        });
    }
}

fn bytes(record: &Record) -> (u64, u64) {
    (record.origin.bytes.first, record.origin.bytes.end)
}
