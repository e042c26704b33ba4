//! Makes room with relocation: evicts the cheapest textures anywhere and merges the free blocks.

use super::state::Coherent;
use crate::heap::HeapNode;
use crate::ids::TextureId;
use crate::journal::{CacheEvent, EvictionReason, Journal};
use crate::list::NONE;
use crate::units::Bytes;

/// Maximum number of textures of the last frame that are evicted for one missing texture.
const MAX_DUE: usize = 16;
/// Maximum number of stale textures that are compared.
const MAX_CANDIDATES: usize = 64;

impl Coherent {
    /// Evicts and shrinks textures until at least `size` bytes are free in total; returns false without changes if that costs more than
    /// `most`, or requires evicting textures whose value is at least `own_value`, that of the new one.
    ///
    /// In order: stale textures, either the least recently used or those of the least value among them, whichever proved better; levels
    /// finer than the last requested one; then textures that this frame is expected to request last.
    pub(super) fn make_room(&mut self, size: u64, most: u64, own_value: u64, journal: &mut Journal) -> bool {
        let (mut candidates, rest) = self.stale_candidates();
        let (mut free, mut chosen) = (self.heap.free_bytes(), 0);
        let (by_value, all) = (self.duels.by_value(), &candidates.0[..candidates.1]);
        let (oldest, worst) = (all.first().copied(), all.iter().min().copied());
        while free < size && chosen < candidates.1 {
            let left = &mut candidates.0[chosen..candidates.1];
            let least = (0..left.len())
                .min_by_key(|&at| if by_value { left[at].0 } else { 0 })
                .expect("at least one candidate is left");
            left.swap(0, least);
            let (value, key) = left[0];
            if value >= own_value {
                break;
            }
            free += self.heap.at(self.states[key as usize].node).size;
            chosen += 1;
        }
        // The stale textures after the candidates, in order of recency.
        let (mut more, mut next) = (0, rest);
        while free < size
            && chosen == candidates.1
            && next != NONE
            && self.is_stale(next)
            && self.value(next) < own_value
        {
            free += self.heap.at(self.states[next as usize].node).size;
            next = self.links.next(next);
            more += 1;
        }
        let mut over = self.oversized.last;
        for _ in 0..self.desc.search_blocks {
            if free >= size || over == NONE {
                break;
            }
            if !self.is_stale(over) {
                let state = &self.states[over as usize];
                free += self.heap.at(state.node).size - state.wanted_block;
            }
            over = self.oversized_links.previous(over);
        }
        let mut due = [NONE; MAX_DUE];
        if free < size && !self.choose_due(size - free, most, &mut due) {
            return false;
        }
        if let (true, Some((_, worst)), Some((_, oldest))) = (chosen == 1 && worst != oldest, worst, oldest) {
            let duel = self.duels.begin(worst, oldest);
            for key in [worst, oldest] {
                self.states[key as usize].duel = duel;
            }
        }
        let mut next = rest;
        for _ in 0..more {
            let key = next;
            next = self.links.next(key);
            self.evict(key, EvictionReason::Replaced, journal);
        }
        let chosen = candidates.0[..chosen].iter().map(|&(_, key)| key);
        for key in chosen.chain(due.into_iter().filter(|&key| key != NONE)) {
            self.evict(key, EvictionReason::Replaced, journal);
        }
        while self.heap.free_bytes() < size {
            let mut key = self.oversized.last;
            while self.is_stale(key) {
                key = self.oversized_links.previous(key);
            }
            self.shrink(key, journal);
        }
        true
    }

    /// The least recently used textures that are stale, with their values, and their number; also the first texture after them.
    fn stale_candidates(&self) -> (([(u64, u32); MAX_CANDIDATES], usize), u32) {
        let (mut found, mut count) = ([(0, NONE); MAX_CANDIDATES], 0);
        let most = (self.desc.candidates as usize).min(MAX_CANDIDATES);
        let mut rest = self.recency.first;
        while count < most && rest != NONE && self.is_stale(rest) {
            found[count] = (self.value(rest), rest);
            count += 1;
            rest = self.links.next(rest);
        }
        ((found, count), rest)
    }

    /// Selects textures that this frame is expected to request last, until they free `size` bytes; returns false if a bounded search finds no
    /// selection that costs at most `most`.
    pub(super) fn choose_due(&self, size: u64, most: u64, due: &mut [u32; MAX_DUE]) -> bool {
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
            let own = state.wanted_block * likely;
            if cost + own <= most {
                due[count] = key;
                count += 1;
                cost += own;
                // Its excess levels are already counted.
                freed += if state.is_oversized {
                    state.wanted_block
                } else {
                    self.heap.at(state.node).size
                };
                if freed >= size {
                    return true;
                }
                if count == MAX_DUE {
                    return false;
                }
            }
            key = self.links.previous(key);
        }
        false
    }

    /// Drops the levels of a resident texture that are finer than the last requested one.
    pub(super) fn shrink(&mut self, key: u32, journal: &mut Journal) {
        self.set_oversized(key, false);
        let state = &mut self.states[key as usize];
        state.level = state.wanted_level;
        state.resident_texels = state.wanted_texels;
        let &HeapNode { offset, size, .. } = self.heap.at(state.node);
        if state.wanted_block < size {
            self.heap.shrink(state.node, state.wanted_block);
        }
        journal.push(CacheEvent::Shrink {
            texture: TextureId(key),
            level: state.level,
            offset: Bytes(offset),
            from: Bytes(size),
            block: Bytes(state.wanted_block),
        });
    }
}
