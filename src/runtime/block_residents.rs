//! The images and buffers in a block of the pool, by offset.

use std::collections::{BTreeMap, VecDeque};

use crate::units::Bytes;

/// Per offset, the indices of images and buffers, in the order in which they were last lent.
///
/// Plans declare resources in the same order, so the first one that the newest lease has not taken is often the one that it looks for.
#[derive(Default)]
pub(super) struct BlockResidents(BTreeMap<Bytes, VecDeque<u32>>);

impl BlockResidents {
    /// The residents at an offset.
    pub(super) fn at(&self, offset: Bytes) -> impl Iterator<Item = u32> {
        self.0.get(&offset).into_iter().flatten().copied()
    }

    /// All residents.
    pub(super) fn iter(&self) -> impl Iterator<Item = u32> {
        self.0.values().flatten().copied()
    }

    /// Adds a resident that is lent now.
    pub(super) fn add(&mut self, offset: Bytes, index: u32) {
        self.0.entry(offset).or_default().push_back(index);
    }

    /// Moves a resident that is lent again to the end.
    pub(super) fn lend(&mut self, offset: Bytes, index: u32) {
        let there = self.0.get_mut(&offset).expect("it was added there");
        if let Some(position) = there.iter().position(|&other| other == index) {
            there.remove(position);
            there.push_back(index);
        }
    }

    /// Removes a resident.
    pub(super) fn remove(&mut self, offset: Bytes, index: u32) {
        if let Some(there) = self.0.get_mut(&offset) {
            there.retain(|&other| other != index);
            if there.is_empty() {
                self.0.remove(&offset);
            }
        }
    }
}
