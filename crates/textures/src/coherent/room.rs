//! Makes room with relocation: evicts the cheapest textures anywhere and merges the free blocks.

use super::state::Coherent;
use crate::heap::Node;
use crate::ids::TextureId;
use crate::journal::{Event, EvictionReason, Journal};
use crate::list::NONE;
use crate::units::Bytes;

/// The most textures of the last frame that are evicted for one missing texture.
const DUE: usize = 16;

impl Coherent {
    /// Frees at least `size` bytes anywhere; false without evictions if that costs more than `most`.
    ///
    /// In order: stale textures, of the least recently used the one least likely to return; levels finer than last requested; then
    /// textures that this frame will request last.
    pub(super) fn make_room(&mut self, size: u64, most: u64, journal: &mut Journal) -> bool {
        let (mut free, mut stale) = (self.heap.free(), self.recency.first);
        while free < size && stale != NONE && self.is_stale(stale) {
            free += self.heap.at(self.states[stale as usize].node).size;
            stale = self.links.next(stale);
        }
        let mut over = self.oversized.last;
        while free < size && over != NONE {
            if !self.is_stale(over) {
                let state = &self.states[over as usize];
                free += self.heap.at(state.node).size - state.wanted;
            }
            over = self.oversized_links.previous(over);
        }
        let mut due = [NONE; DUE];
        if free < size && !self.choose_due(size - free, most, &mut due) {
            return false;
        }
        while self.heap.free() < size {
            let Some(victim) = self.least_likely() else { break };
            self.evict(victim, EvictionReason::Replaced, journal);
        }
        for key in due.into_iter().filter(|&key| key != NONE) {
            self.evict(key, EvictionReason::Replaced, journal);
        }
        while self.heap.free() < size {
            let mut key = self.oversized.last;
            while self.is_stale(key) {
                key = self.oversized_links.previous(key);
            }
            self.shrink(key, journal);
        }
        true
    }

    /// Of the least recently used stale textures, the one least likely to return.
    fn least_likely(&self) -> Option<u32> {
        let (mut key, mut best) = (self.recency.first, None);
        for _ in 0..self.desc.oldest_candidates {
            if key == NONE || !self.is_stale(key) {
                break;
            }
            let hazard = self.hazard(key);
            if best.is_none_or(|(least, _)| hazard < least) {
                best = Some((hazard, key));
            }
            key = self.links.next(key);
        }
        best.map(|(_, key)| key)
    }

    /// Selects textures that this frame will request last, until they free `size` bytes; false if they cost more than `most`.
    pub(super) fn choose_due(&self, size: u64, most: u64, due: &mut [u32; DUE]) -> bool {
        let likely = self.likely();
        let mut key = match self.first_now {
            NONE => self.recency.last,
            first => self.links.previous(first),
        };
        let (mut freed, mut cost, mut count) = (0, 0, 0);
        for _ in 0..self.desc.search_blocks {
            if key == NONE || self.states[key as usize].requested + 1 != self.frame || self.is_stale(key) {
                return false;
            }
            let state = &self.states[key as usize];
            let own = state.wanted * likely;
            if cost + own <= most {
                due[count] = key;
                count += 1;
                cost += own;
                // Its excess levels were counted already.
                freed += if state.is_oversized {
                    state.wanted
                } else {
                    self.heap.at(state.node).size
                };
                if freed >= size {
                    return true;
                }
                if count == DUE {
                    return false;
                }
            }
            key = self.links.previous(key);
        }
        false
    }

    /// Drops the levels of a resident texture that are finer than last requested.
    pub(super) fn shrink(&mut self, key: u32, journal: &mut Journal) {
        self.set_oversized(key, false);
        let state = &mut self.states[key as usize];
        state.level = state.wanted_level;
        state.held = state.wanted_texels;
        let &Node { offset, size, .. } = self.heap.at(state.node);
        if state.wanted < size {
            self.heap.shrink(state.node, state.wanted);
            self.small.remove(size);
            self.small.add(state.wanted);
        }
        journal.push(Event::Shrink {
            texture: TextureId(key),
            level: state.level,
            offset: Bytes(offset),
            from: Bytes(size),
            block: Bytes(state.wanted),
        });
    }
}
