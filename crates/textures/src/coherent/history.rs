//! What is learnt of how frames follow each other, and what that makes a texture worth.

use super::state::{Coherent, NEVER};
use crate::list::NONE;

/// Who is overdue counts as gone if fewer come back after all, in 1024ths.
const OVERDUE: u64 = 256;

/// What a texture that never came back counts as: so many returns in 1024ths, and so many frames.
const PRIOR: u64 = 512;
const CALM: u64 = 32;

impl Coherent {
    /// Counts a texture once a frame, of so many bytes; whether the last frame had it too.
    pub(super) fn note_request(&mut self, key: usize, size: u64) -> bool {
        if self.states.len() <= key {
            self.states.resize(key + 1, NEVER);
            self.links.reach(key + 1);
            self.oversized_links.reach(key + 1);
            self.heap.reserve(key + 1);
        }
        let state = &mut self.states[key];
        let (requested, place) = (state.requested, u64::from(state.place));
        if requested != self.frame {
            if requested != 0 && requested + 1 < self.frame {
                state.returns += 1;
                state.absent += self.frame - requested - 1;
            }
            state.requested = self.frame;
            state.place = self.requested as u32;
            self.requested += 1;
            self.small.request(size);
        }
        if requested + 1 == self.frame {
            self.returned += 1;
            self.late += u64::from(place < self.passed);
            self.passed = self.passed.max(place + 1);
        }
        requested + 1 >= self.frame
    }

    /// How likely it is that a texture of the last frame that is not overdue will be asked for, in 1024ths.
    pub(super) fn likely(&self) -> u64 {
        let left = self.before.saturating_sub(self.passed).max(1);
        let expected = (self.before * self.coherence).saturating_sub(self.returned * 1024);
        let rest = (expected / left).min(1024);
        let confidence = self.desc.confidence;
        let seen = (self.coherence * confidence + 1024 * self.returned) / (confidence + self.requested);
        rest.min(seen)
    }

    /// Whether frames come without this texture, as far as can be told: the last one did, or this one has asked for others
    /// that came after it, and keeps the order of the last.
    pub(super) fn is_stale(&self, key: u32) -> bool {
        let state = &self.states[key as usize];
        match self.frame - state.requested {
            0 => false,
            1 => u64::from(state.place) < self.passed && self.lateness < OVERDUE,
            _ => true,
        }
    }

    /// How likely it is that who is gone comes back in a frame, in 2^20ths: how often it did, over the frames without it.
    pub(super) fn hazard(&self, key: u32) -> u64 {
        let state = &self.states[key as usize];
        let absent = u64::from(state.absent) + u64::from(self.frame - state.requested);
        ((u64::from(state.returns) << 20) + (PRIOR << 10)) / (absent + CALM)
    }

    /// What it costs to evict who is in a node, in 1024ths of bytes; `None` for who was used in this frame.
    pub(super) fn cost(&self, node: u32, likely: u64) -> Option<u64> {
        let node = self.heap.at(node);
        if node.owner == NONE {
            return Some(0);
        }
        let age = u64::from(self.frame - self.states[node.owner as usize].requested);
        match age {
            0 => None,
            1 if self.is_stale(node.owner) => Some(node.size * self.lateness.max(64)),
            1 => Some(self.states[node.owner as usize].wanted * likely),
            _ => Some(node.size * 128 / age),
        }
    }
}
