//! Learns how frames follow each other, and derives the cost of evicting a texture.

use super::state::{Coherent, NEVER};
use crate::list::NONE;

/// Overdue textures count as stale if a smaller share of them is requested after all, in 1024ths.
const OVERDUE: u64 = 256;

/// Prior for textures without history: returns in 1024ths, and frames.
const PRIOR: u64 = 512;
const CALM: u64 = 32;

impl Coherent {
    /// Counts a texture of `size` bytes once per frame; whether the last frame requested it too.
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

    /// Probability that a texture of the last frame that is not overdue will be requested, in 1024ths.
    pub(super) fn likely(&self) -> u64 {
        let left = self.before.saturating_sub(self.passed).max(1);
        let expected = (self.before * self.coherence).saturating_sub(self.returned * 1024);
        let rest = (expected / left).min(1024);
        let confidence = self.desc.confidence;
        let seen = (self.coherence * confidence + 1024 * self.returned) / (confidence + self.requested);
        rest.min(seen)
    }

    /// Whether a texture is probably no longer in use: the last frame did not request it, or it is overdue and overdue textures are
    /// rarely requested.
    pub(super) fn is_stale(&self, key: u32) -> bool {
        let state = &self.states[key as usize];
        match self.frame - state.requested {
            0 => false,
            1 => u64::from(state.place) < self.passed && self.lateness < OVERDUE,
            _ => true,
        }
    }

    /// Probability per frame that a stale texture is requested again, in 2^20ths: its returns over the frames without it.
    pub(super) fn hazard(&self, key: u32) -> u64 {
        let state = &self.states[key as usize];
        let absent = u64::from(state.absent) + u64::from(self.frame - state.requested);
        ((u64::from(state.returns) << 20) + (PRIOR << 10)) / (absent + CALM)
    }

    /// Cost of evicting the owner of a node, in 1024ths of bytes; `None` if this frame used it.
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
