//! Learns how the requests of successive frames repeat, and derives the cost of evicting a texture from that.

use super::absences::ONE;
use super::state::{Coherent, NEVER};

/// The share of a frame's textures that the next frame must request for frames to count as repeating, in 1024ths.
const MIN_COHERENCE: u64 = 256;

/// Number of frames after which most disorder is forgotten. With 16, the traffic of the scenario `mixed` with a budget of 1.00 working sets
/// is 1.05 times the lower bound; with 64, it is 1.01 times.
pub(super) const DECAY: u64 = 64;

/// Number of returns of a texture above which its counts are halved, so that older returns weigh less.
const MAX_RETURNS: u64 = 32;

impl Coherent {
    /// Counts a texture once per frame; returns true if the last frame, or an earlier request of this one, requested it too.
    pub(super) fn note_request(&mut self, key: usize) -> bool {
        if self.states.len() <= key {
            self.states.resize(key + 1, NEVER);
            self.links.grow(key + 1);
            self.oversized_links.grow(key + 1);
            self.heap.reserve(key + 1);
            self.swap.reserve(key + 1);
        }
        let state = &mut self.states[key];
        let (requested, place) = (state.requested, u64::from(state.place));
        if requested != self.frame {
            if requested != 0 && requested + 1 < self.frame {
                state.returns += 1;
                state.expected += self.absences.at(self.frame - requested).1;
                if state.returns > MAX_RETURNS {
                    state.returns /= 2;
                    state.expected /= 2;
                }
            }
            self.duels.end(state.duel, key as u32);
            self.absences.request(requested, self.frame);
            state.requested = self.frame;
            state.place = self.requested as u32;
            self.requested += 1;
        }
        if requested + 1 == self.frame {
            self.returned += 1;
            self.pass(place);
        }
        requested + 1 >= self.frame
    }

    /// Records that this frame requests the texture at position `place` of the last frame, and updates which textures are overdue.
    fn pass(&mut self, place: u64) {
        if place < self.passed {
            self.disorder = (self.disorder + 1024).min(self.last_requested * (1024 / 8));
        }
        self.requested_again[place as usize] = true;
        self.requested_ahead += u64::from(place >= self.passed);
        while self.requested_ahead > self.disorder / 1024 {
            self.requested_ahead -= u64::from(self.requested_again[self.passed as usize]);
            self.passed += 1;
        }
    }

    /// Probability that a texture of the last frame that is not overdue will still be requested, in 1024ths.
    pub(super) fn likely(&self) -> u64 {
        let left = self.last_requested.saturating_sub(self.passed).max(1);
        let expected = (self.last_requested * self.coherence).saturating_sub(self.returned * 1024);
        let rest = (expected / left).min(1024);
        let confidence = self.desc.confidence;
        let seen = (self.coherence * confidence + 1024 * self.returned) / (confidence + self.requested);
        rest.min(seen)
    }

    /// Returns true if a texture is probably unused: the last frame did not request it, it is overdue, or frames do not repeat.
    pub(super) fn is_stale(&self, key: u32) -> bool {
        let state = &self.states[key as usize];
        match self.frame - state.requested {
            0 => false,
            1 => u64::from(state.place) < self.passed || self.coherence < MIN_COHERENCE,
            _ => true,
        }
    }

    /// Value of keeping a texture that this frame has not requested, per byte and frame: the value for its age, scaled by the ratio
    /// of its actual to its expected repeat requests.
    pub(super) fn value(&self, key: u32) -> u64 {
        let age = self.frame - self.states[key as usize].requested;
        self.value_at(key, age.max(2))
    }

    /// The value of keeping a texture that is requested now: at least the probability that the next frame requests it.
    pub(super) fn value_of_new(&self, key: u32) -> u64 {
        self.value_at(key, 1).max(self.coherence * (ONE / 1024))
    }

    fn value_at(&self, key: u32, age: u32) -> u64 {
        let state = &self.states[key as usize];
        let (value, expected) = self.absences.at(age);
        value * (state.returns + 1) * 1024 / (state.expected + expected + 1024)
    }
}
