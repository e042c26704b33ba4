//! Holes with moving: free what is worth least, wherever it is, and gather it.

use super::Coherent;
use crate::heap::Node;
use crate::list::NONE;
use crate::units::Bytes;
use crate::{Event, Journal, Reason, TextureId};

/// The most textures that are due and go for one that is not there.
const DUE: usize = 16;

impl Coherent {
    /// Frees `size` bytes or more, wherever they are; false, and nobody goes, if that costs more than `most`.
    ///
    /// First go those that are gone, of the longest unused who is least likely to come back; then the levels that are finer than what is
    /// asked for; then, of those that are due in this frame, the ones that are due last.
    pub(super) fn make_room(&mut self, size: u64, most: u64, journal: &mut Journal) -> bool {
        let (mut free, mut stale) = (self.heap.free(), self.recency.first);
        while free < size && stale != NONE && self.is_gone(stale) {
            free += self.heap.at(self.slots[stale as usize].node).size;
            stale = self.links.next(stale);
        }
        let mut over = self.over.last;
        while free < size && over != NONE {
            if !self.is_gone(over) {
                let slot = &self.slots[over as usize];
                free += self.heap.at(slot.node).size - slot.wanted;
            }
            over = self.over_links.previous(over);
        }
        let mut due = [NONE; DUE];
        if free < size && !self.choose_due(size - free, most, &mut due) {
            return false;
        }
        while self.heap.free() < size {
            let Some(victim) = self.least_likely() else { break };
            self.evict(victim, Reason::Replaced, journal);
        }
        for key in due.into_iter().filter(|&key| key != NONE) {
            self.evict(key, Reason::Replaced, journal);
        }
        while self.heap.free() < size {
            let mut key = self.over.last;
            while self.is_gone(key) {
                key = self.over_links.previous(key);
            }
            self.shrink(key, journal);
        }
        true
    }

    /// Of the longest unused that are gone, who is the least likely to come back.
    fn least_likely(&self) -> Option<u32> {
        let (mut key, mut best) = (self.recency.first, None);
        for _ in 0..self.desc.elders {
            if key == NONE || !self.is_gone(key) {
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

    /// Of those that are due in this frame the last ones, as many as it takes; false if they cost more than `most`.
    pub(super) fn choose_due(&self, size: u64, most: u64, due: &mut [u32; DUE]) -> bool {
        let likely = self.likely();
        let mut key = match self.first_now {
            NONE => self.recency.last,
            first => self.links.previous(first),
        };
        let (mut freed, mut cost, mut count) = (0, 0, 0);
        for _ in 0..self.desc.looks {
            if key == NONE || self.slots[key as usize].asked + 1 != self.frame || self.is_gone(key) {
                return false;
            }
            let slot = &self.slots[key as usize];
            let own = slot.wanted * likely;
            if cost + own <= most {
                due[count] = key;
                count += 1;
                cost += own;
                // What it has too much of was counted already.
                freed += if slot.is_over {
                    slot.wanted
                } else {
                    self.heap.at(slot.node).size
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

    pub(super) fn gather(&mut self, size: u64, journal: &mut Journal) -> u32 {
        self.heap.gather(size, self.desc.looks, |owner, size, from, to| {
            journal.push(Event::Move {
                texture: TextureId(owner),
                from: Bytes(from),
                to: Bytes(to),
                block: Bytes(size),
            });
        })
    }

    /// Drops the levels of a resident that were not asked for last.
    pub(super) fn shrink(&mut self, key: u32, journal: &mut Journal) {
        self.set_over(key, false);
        let slot = &mut self.slots[key as usize];
        slot.level = slot.wanted_level;
        slot.held = slot.wanted_texels;
        let &Node { offset, size, .. } = self.heap.at(slot.node);
        if slot.wanted < size {
            self.heap.shrink(slot.node, slot.wanted);
            self.small.go(size);
            self.small.come(slot.wanted);
        }
        journal.push(Event::Shrink {
            texture: TextureId(key),
            level: slot.level,
            offset: Bytes(offset),
            from: Bytes(size),
            block: Bytes(slot.wanted),
        });
    }
}
