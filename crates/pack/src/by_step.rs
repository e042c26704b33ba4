//! Sorting by step: counting sort if there are few steps, comparison sort if they are sparse.

use crate::lists::{refill, reset};

/// Scratch memory of sorting by step.
#[derive(Debug, Default)]
pub(super) struct ByStep {
    /// Per step, the position of its next id in the sorted list.
    next: Vec<u32>,
    /// Step and position of each id as one number, so that an unstable sort, which needs no memory, keeps the order of equal steps.
    keys: Vec<u64>,
    /// The ids in their original order.
    ids: Vec<u32>,
}

impl ByStep {
    /// Replaces the contents of `sorted` with `ids` in ascending order of their steps, which are all at most `last`; ids of the same step keep their
    /// order.
    pub(super) fn sort(
        &mut self,
        ids: impl Iterator<Item = u32> + Clone,
        step: impl Fn(u32) -> u32,
        last: u32,
        sorted: &mut Vec<u32>,
    ) {
        sorted.clear();
        let count = ids.clone().count();
        if !is_dense(last, count) {
            refill(&mut self.ids, ids);
            self.keys.clear();
            let places = self.ids.iter().zip(0u64..);
            self.keys
                .extend(places.map(|(&id, place)| u64::from(step(id)) << 32 | place));
            self.keys.sort_unstable();
            let places = self.keys.iter().map(|&key| key as u32 as usize);
            sorted.extend(places.map(|place| self.ids[place]));
            return;
        }
        reset(&mut self.next, last as usize + 2, 0);
        for id in ids.clone() {
            self.next[step(id) as usize + 1] += 1;
        }
        let mut before = 0;
        for next in &mut self.next {
            before += *next;
            *next = before;
        }
        sorted.resize(count, 0);
        for id in ids {
            let next = &mut self.next[step(id) as usize];
            sorted[*next as usize] = id;
            *next += 1;
        }
    }
}

/// Returns true if a table of all steps up to `last` is cheaper than a comparison sort of `count` ids.
pub(super) fn is_dense(last: u32, count: usize) -> bool {
    last as usize <= 8 * count + 64
}
