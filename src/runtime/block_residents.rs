//! The images and buffers in a block of the pool, by offset.

use std::collections::{BTreeMap, VecDeque};

use crate::units::Bytes;

/// Per offset, the indices of images and buffers, in the order in which they were lent last.
///
/// Plans declare resources in the same order, so the first one that the newest lease has not taken is often the one that it looks for.
#[derive(Default)]
pub(super) struct BlockResidents(BTreeMap<Bytes, VecDeque<u32>>);

impl BlockResidents {
    /// Those at an offset.
    pub(super) fn at(&self, offset: Bytes) -> impl Iterator<Item = u32> {
        self.0.get(&offset).into_iter().flatten().copied()
    }

    /// Every one of them.
    pub(super) fn iter(&self) -> impl Iterator<Item = u32> {
        self.0.values().flatten().copied()
    }

    /// Adds one that was lent now.
    pub(super) fn add(&mut self, offset: Bytes, index: u32) {
        self.0.entry(offset).or_default().push_back(index);
    }

    /// Puts one last that is lent again.
    pub(super) fn lend(&mut self, offset: Bytes, index: u32) {
        let there = self.0.get_mut(&offset).expect("it was added there");
        if let Some(position) = there.iter().position(|&other| other == index) {
            there.remove(position);
            there.push_back(index);
        }
    }

    /// Removes one.
    pub(super) fn remove(&mut self, offset: Bytes, index: u32) {
        if let Some(there) = self.0.get_mut(&offset) {
            there.retain(|&other| other != index);
            if there.is_empty() {
                self.0.remove(&offset);
            }
        }
    }
}
