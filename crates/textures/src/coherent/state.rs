//! The policy's state: residents in a heap, their recency, and counts of frames.

use super::absences::Absences;
use super::desc::CoherentDesc;
use super::duels::Duels;
use super::swap::Swap;
use crate::Geometry;
use crate::budget::BudgetLimits;
use crate::error::Result;
use crate::heap::{Heap, HeapNode};
use crate::ids::Level;
use crate::journal::{EvictionReason, Journal};
use crate::list::{Links, List, NONE};
use crate::units::Bytes;

#[derive(Clone, Copy, Debug)]
pub(super) struct TextureState {
    /// The texture's node in the heap; [`NONE`] if the texture is not resident.
    pub(super) node: u32,
    pub(super) level: Level,
    /// The frame that last requested the texture, resident or not.
    pub(super) requested: u32,
    /// The texture's position among the requests of that frame.
    pub(super) place: u32,
    /// The last requested level, and the size of the texture at that level in bytes, rounded up to units.
    pub(super) wanted_level: Level,
    pub(super) wanted_block: u64,
    /// Bytes before rounding: of the texture at that level, and of its resident levels.
    pub(super) wanted_texels: u64,
    pub(super) resident_texels: u64,
    /// True if the texture is resident at a finer level than `wanted_level`.
    pub(super) is_oversized: bool,
    /// Number of times that the texture returned after an absence, and the average of this number for textures of the same ages, in 1024ths.
    pub(super) returns: u64,
    pub(super) expected: u64,
    /// The number of the texture's last pair in `duels`.
    pub(super) duel: u32,
}

pub(super) const NEVER: TextureState = TextureState {
    node: NONE,
    level: Level(0),
    requested: 0,
    place: 0,
    wanted_level: Level(0),
    wanted_block: 0,
    wanted_texels: 0,
    resident_texels: 0,
    is_oversized: false,
    returns: 0,
    expected: 0,
    duel: 0,
};

#[doc = include_str!("../../docs/coherent.md")]
#[derive(Clone, Debug)]
pub struct Coherent {
    pub(super) desc: CoherentDesc,
    pub(super) limits: BudgetLimits,
    pub(super) heap: Heap,
    pub(super) states: Vec<TextureState>,
    pub(super) links: Links,
    /// Resident textures by recency.
    pub(super) recency: List,
    pub(super) absences: Absences,
    pub(super) duels: Duels,
    pub(super) swap: Swap,
    /// Textures resident at finer levels than last requested, in the order in which they became so. The most recent are shrunk first: a
    /// texture that has been coarse for long is refined sooner (scenario `zoom` with a budget of 1.05 working sets: traffic of 1.02 times
    /// the lower bound, otherwise 1.72 times).
    pub(super) oversized_links: Links,
    pub(super) oversized: List,
    /// The first resident texture, by recency, that this frame requested.
    pub(super) first_now: u32,
    pub(super) frame: u32,
    /// Number of textures that the last frame requested.
    pub(super) last_requested: u64,
    /// Number of textures that this frame has requested.
    pub(super) requested: u64,
    /// Number of textures that both frames have requested.
    pub(super) returned: u64,
    /// The position in the last frame before which textures are overdue if this frame has not requested them.
    pub(super) passed: u64,
    /// For each texture of the last frame, by position, true if this frame requested it; and the number of those at `passed` or later.
    pub(super) requested_again: Vec<bool>,
    pub(super) requested_ahead: u64,
    /// The number of textures after `passed` that may be requested before the next texture counts as overdue, in 1024ths; increases whenever an
    /// overdue texture is requested.
    pub(super) disorder: u64,
    /// Moving average of the share of a frame that the next one requests, in 1024ths.
    pub(super) coherence: u64,
}

impl Coherent {
    /// Creates a cache of `budget` bytes.
    ///
    /// # Errors
    /// If the budget does not hold the largest texture, or is too large for the tables.
    pub fn new(geometry: &Geometry, budget: Bytes, desc: CoherentDesc) -> Result<Coherent> {
        let limits = BudgetLimits::of(geometry);
        Ok(Coherent {
            desc,
            heap: Heap::new(limits.usable(budget)?, limits.unit),
            limits,
            states: Vec::new(),
            links: Links::default(),
            recency: List::default(),
            absences: Absences::new(),
            duels: Duels::default(),
            swap: Swap::default(),
            oversized_links: Links::default(),
            oversized: List::default(),
            first_now: NONE,
            frame: 2,
            last_requested: 0,
            requested: 0,
            returned: 0,
            passed: 0,
            requested_again: Vec::new(),
            requested_ahead: 0,
            disorder: 0,
            coherence: 1024,
        })
    }

    pub(super) fn set_oversized(&mut self, key: u32, is_oversized: bool) {
        if std::mem::replace(&mut self.states[key as usize].is_oversized, is_oversized) != is_oversized {
            match is_oversized {
                true => self.oversized_links.push_back(&mut self.oversized, key),
                false => self.oversized_links.remove(&mut self.oversized, key),
            }
        }
    }

    /// Moves a resident texture to the end of the recency list, among those that this frame requested.
    pub(super) fn touch(&mut self, key: u32) {
        if self.first_now == key {
            let next = self.links.next(key);
            self.first_now = if next == NONE { key } else { next };
        }
        self.links.move_to_back(&mut self.recency, key);
        if self.first_now == NONE {
            self.first_now = key;
        }
    }

    pub(super) fn evict(&mut self, key: u32, reason: EvictionReason, journal: &mut Journal) -> u32 {
        let state = &mut self.states[key as usize];
        let node = std::mem::replace(&mut state.node, NONE);
        let &HeapNode { offset, size, .. } = self.heap.at(node);
        journal.evict(key, offset, size, reason);
        if self.first_now == key {
            self.first_now = self.links.next(key);
        }
        self.links.remove(&mut self.recency, key);
        self.set_oversized(key, false);
        self.heap.release(node)
    }
}
