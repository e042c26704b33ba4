//! What is learnt of how frames follow each other, and what that makes a texture worth.

use super::{Coherent, NEVER};
use crate::list::NONE;

/// Who is overdue counts as gone if fewer come back after all, in 1024ths.
const OVERDUE: u64 = 256;

/// What a texture that never came back counts as: so many returns in 1024ths, and so many frames.
const PRIOR: u64 = 512;
const CALM: u64 = 32;

impl Coherent {
    /// Counts a texture once a frame, of so many bytes; whether the last frame had it too.
    pub(super) fn ask(&mut self, key: usize, size: u64) -> bool {
        if self.slots.len() <= key {
            self.slots.resize(key + 1, NEVER);
            self.links.reach(key + 1);
            self.over_links.reach(key + 1);
            self.heap.reserve(key + 1);
        }
        let slot = &mut self.slots[key];
        let (asked, place) = (slot.asked, u64::from(slot.place));
        if asked != self.frame {
            if asked != 0 && asked + 1 < self.frame {
                slot.returns += 1;
                slot.absent += self.frame - asked - 1;
            }
            slot.asked = self.frame;
            slot.place = self.asked as u32;
            self.asked += 1;
            self.small.ask(size);
        }
        if asked + 1 == self.frame {
            self.returned += 1;
            self.late += u64::from(place < self.passed);
            self.passed = self.passed.max(place + 1);
        }
        asked + 1 >= self.frame
    }

    /// How likely it is that a texture of the last frame that is not overdue will be asked for, in 1024ths.
    pub(super) fn likely(&self) -> u64 {
        let left = self.before.saturating_sub(self.passed).max(1);
        let expected = (self.before * self.coherence).saturating_sub(self.returned * 1024);
        let rest = (expected / left).min(1024);
        let patience = self.desc.patience;
        let seen = (self.coherence * patience + 1024 * self.returned) / (patience + self.asked);
        rest.min(seen)
    }

    /// Whether frames come without this texture, as far as can be told: the last one did, or this one has asked for others
    /// that came after it, and keeps the order of the last.
    pub(super) fn is_gone(&self, key: u32) -> bool {
        let slot = &self.slots[key as usize];
        match self.frame - slot.asked {
            0 => false,
            1 => u64::from(slot.place) < self.passed && self.lateness < OVERDUE,
            _ => true,
        }
    }

    /// How likely it is that who is gone comes back in a frame, in 2^20ths: how often it did, over the frames without it.
    pub(super) fn hazard(&self, key: u32) -> u64 {
        let slot = &self.slots[key as usize];
        let absent = u64::from(slot.absent) + u64::from(self.frame - slot.asked);
        ((u64::from(slot.returns) << 20) + (PRIOR << 10)) / (absent + CALM)
    }

    /// What it costs to evict who is in a node, in 1024ths of bytes; `None` for who was used in this frame.
    pub(super) fn cost(&self, node: u32, likely: u64) -> Option<u64> {
        let node = self.heap.at(node);
        if node.owner == NONE {
            return Some(0);
        }
        let age = u64::from(self.frame - self.slots[node.owner as usize].asked);
        match age {
            0 => None,
            1 if self.is_gone(node.owner) => Some(node.size * self.lateness.max(64)),
            1 => Some(self.slots[node.owner as usize].wanted * likely),
            _ => Some(node.size * 128 / age),
        }
    }
}
