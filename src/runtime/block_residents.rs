//! The images and buffers in a block of the pool, by offset.

use std::collections::{BTreeMap, VecDeque};

use crate::units::Bytes;

/// Per offset, the indices of images and buffers, in the order in which they were last lent.
///
/// Plans declare resources in the same order, so the first one that the newest lease has not taken is often the one that it looks for.
#[derive(Default)]
pub(super) struct BlockResidents(BTreeMap<Bytes, VecDeque<u32>>);

impl BlockResidents {
    /// All residents.
    pub(super) fn iter(&self) -> impl Iterator<Item = u32> {
        self.0.values().flatten().copied()
    }

    /// Adds a resident that is lent now.
    pub(super) fn add(&mut self, offset: Bytes, index: u32) {
        self.0.entry(offset).or_default().push_back(index);
    }

    /// Searches the residents at `offset` up to the first one that is not free, lends the first one that `is_wanted` accepts, and moves it to the end of
    /// the list.
    pub(super) fn lend(
        &mut self,
        offset: Bytes,
        is_free: impl Fn(u32) -> bool,
        is_wanted: impl Fn(u32) -> bool,
    ) -> Option<u32> {
        let there = self.0.get_mut(&offset)?;
        let mut free = there.iter().take_while(|&&index| is_free(index));
        let position = free.position(|&index| is_wanted(index))?;
        let index = there.remove(position)?;
        there.push_back(index);
        Some(index)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn residents_are_lent_in_turns() {
        let mut residents = BlockResidents::default();
        let any = |_: u32| true;
        residents.add(Bytes(4), 1);
        residents.add(Bytes(4), 2);
        residents.add(Bytes(8), 3);
        assert_eq!(residents.lend(Bytes(4), any, any), Some(1));
        assert_eq!(residents.iter().collect::<Vec<_>>(), [2, 1, 3]);
        // A resident that is not free ends the search.
        assert_eq!(residents.lend(Bytes(4), |index| index != 2, any), None);
        assert_eq!(residents.lend(Bytes(4), any, |index| index == 1), Some(1));
        assert_eq!(residents.lend(Bytes(4), any, |index| index == 3), None);
        assert_eq!(residents.lend(Bytes(0), any, any), None);
    }
}
