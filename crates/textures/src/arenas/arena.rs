//! A single arena: blocks of one size, with their owners, recency and temperature.

use super::temperature::Temperature;
use super::view::ArenaSide;
use crate::bits::Bits;
use crate::list::{List, NONE};
use crate::units::Bytes;

/// Blocks `[first, end)`; block n starts at `phase + n * block`. The phase only changes while there are no blocks, so that a
/// block keeps its number while walls move.
#[derive(Clone, Debug, Default)]
pub(super) struct Arena {
    pub(super) block: u64,
    pub(super) phase: u64,
    pub(super) first: u32,
    pub(super) end: u32,
    /// Free blocks, by number.
    pub(super) free: Bits,
    pub(super) free_count: u32,
    /// The owner of each block, by number.
    pub(super) owner: Box<[u32]>,
    /// Resident keys, from the least to the most recently used.
    pub(super) recency: List,
    /// Number of resident keys that are active.
    pub(super) active: u32,
    /// Number of evictions of active keys, and of requests while the arena had no blocks, since the last update.
    pub(super) boiled: u32,
    /// The value of [`boiled`](Arena::boiled) at the last update.
    pub(super) boiled_at_update: u32,
    pub(super) recent: Temperature,
    /// The side for new textures: the cooler one.
    pub(super) side: ArenaSide,
    /// The arena's first byte and the byte after it, as last reported.
    pub(super) logged: (Bytes, Bytes),
}

impl Arena {
    pub(super) fn new(block: u64, usable: u64) -> Arena {
        let capacity = usable / block + 1;
        Arena {
            block,
            free: Bits::new(capacity),
            owner: vec![NONE; capacity as usize].into_boxed_slice(),
            ..Arena::default()
        }
    }

    /// Grows the tables for `usable` bytes of memory.
    pub(super) fn grow_tables(&mut self, usable: u64) {
        let capacity = usable / self.block + 1;
        if capacity as usize <= self.owner.len() {
            return;
        }
        let mut owner = std::mem::take(&mut self.owner).into_vec();
        owner.resize(capacity as usize, NONE);
        self.owner = owner.into_boxed_slice();
        self.free = Bits::new(capacity);
        let free = (self.first..self.end).filter(|&number| self.owner[number as usize] == NONE);
        free.for_each(|number| self.free.insert(number));
    }

    pub(super) fn count(&self) -> u32 {
        self.end - self.first
    }

    pub(super) fn is_empty(&self) -> bool {
        self.first == self.end
    }

    pub(super) fn offset(&self, number: u32) -> u64 {
        self.phase + u64::from(number) * self.block
    }

    pub(super) fn start(&self) -> u64 {
        self.offset(self.first)
    }

    pub(super) fn stop(&self) -> u64 {
        self.offset(self.end)
    }

    /// Sets the offset at which an empty arena starts.
    pub(super) fn settle(&mut self, offset: u64) {
        debug_assert!(self.is_empty(), "only an empty arena is renumbered");
        self.phase = offset % self.block;
        self.first = (offset / self.block) as u32;
        self.end = self.first;
    }

    /// Adds a free block on a side.
    pub(super) fn add(&mut self, side: ArenaSide) {
        match side {
            ArenaSide::Left => self.first -= 1,
            ArenaSide::Right => self.end += 1,
        }
        self.free.insert(self.edge(side));
        self.free_count += 1;
    }

    /// Removes the outermost block on a side, which must be free.
    pub(super) fn drop(&mut self, side: ArenaSide) {
        let number = self.edge(side);
        debug_assert_eq!(self.owner[number as usize], NONE, "the block was vacated");
        self.free.remove(number);
        self.free_count -= 1;
        match side {
            ArenaSide::Left => self.first += 1,
            ArenaSide::Right => self.end -= 1,
        }
    }

    /// The number of the outermost block on a side.
    pub(super) fn edge(&self, side: ArenaSide) -> u32 {
        match side {
            ArenaSide::Left => self.first,
            ArenaSide::Right => self.end - 1,
        }
    }

    /// The free block nearest the cooler side.
    pub(super) fn pick_free(&self) -> Option<u32> {
        if self.free_count == 0 {
            return None;
        }
        match self.side {
            ArenaSide::Left => self.free.first_from(self.first),
            ArenaSide::Right => self.free.last_below(self.end),
        }
    }

    pub(super) fn take(&mut self, number: u32, key: u32) {
        self.free.remove(number);
        self.free_count -= 1;
        self.owner[number as usize] = key;
    }

    pub(super) fn give(&mut self, number: u32) {
        self.free.insert(number);
        self.free_count += 1;
        self.owner[number as usize] = NONE;
    }
}
