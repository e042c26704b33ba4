//! The policy's state: residents in a heap, their recency, and counts of frames.

use super::desc::CoherentDesc;
use super::small::Small;
use crate::Geometry;
use crate::budget::BudgetLimits;
use crate::error::Result;
use crate::heap::{Heap, Node};
use crate::ids::Level;
use crate::journal::{EvictionReason, Journal};
use crate::list::{Links, List, NONE};
use crate::units::Bytes;

#[derive(Clone, Copy, Debug)]
pub(super) struct TextureState {
    /// Node in the heap; [`NONE`] if it is not resident.
    pub(super) node: u32,
    pub(super) level: Level,
    /// The frame that last requested it, resident or not.
    pub(super) requested: u32,
    /// Its position among the requests of that frame.
    pub(super) place: u32,
    /// The last requested level, and its size in bytes, rounded up to units.
    pub(super) wanted_level: Level,
    pub(super) wanted: u64,
    /// The same before rounding, and what is resident of it.
    pub(super) wanted_texels: u64,
    pub(super) held: u64,
    /// Whether it is resident at a finer level than that.
    pub(super) is_oversized: bool,
    /// How often it was requested after frames without it, and the number of those frames.
    pub(super) returns: u32,
    pub(super) absent: u32,
}

pub(super) const NEVER: TextureState = TextureState {
    node: NONE,
    level: Level(0),
    requested: 0,
    place: 0,
    wanted_level: Level(0),
    wanted: 0,
    wanted_texels: 0,
    held: 0,
    is_oversized: false,
    returns: 0,
    absent: 0,
};

/// Keeps the textures that the next frame most likely requests.
///
/// ```text
/// recency   stale …      │ used in the last frame, not yet in this one │ used in this frame
/// cost      little, less │ size times the learnt probability that      │ never evicted
///           with age     │ frames repeat, less as soon as this frame   │
///                        │ turns out to differ                         │
/// ```
/// A texture is overdue if the last frame requested it before others that this frame has requested already. The policy learns
/// how often overdue textures are requested after all; while that is rare, they count as stale.
///
/// A missing texture takes a free block. If none fits, space is freed in this order: stale textures, of the least recently used the
/// one least likely to return; levels finer than last requested; textures that this frame will request last, but only if they cost
/// less than the new texture. Then free blocks are merged by moving textures ([`CoherentDesc::relocates`]), or else a window of
/// neighbouring blocks of low cost is evicted. If all of that costs more than the texture, it is bypassed. So if frames need more
/// than there is, a stable part stays resident, the rest is bypassed, and no texture is evicted in the frame that uses it.
///
/// A hit is O(1). A miss is O(evictions) and a search of [`CoherentDesc::search_blocks`] blocks; the search for blocks to merge
/// visits all of them at worst.
///
/// If frames request more than the budget, up to an eighth of it is reserved for the smallest textures, which are requested unchanged
/// when the view moves.
///
/// Source: `docs/cache_tournament.md` (ten scenarios, five budgets, ten seeds, November 2026, by `benches/tournament.rs`). In mean
/// bytes it matches or beats all other policies that upload whole chains, and needs at most 1.10 times those of Belady's policy,
/// which knows the future. It is within 1.09 of [`lower_bound`](crate::replay::lower_bound) if memory holds more than a frame, and
/// otherwise within 1.15 except in two scenarios: zoom, 1.20 and 1.25 at 0.8 and 0.95 of the working set, and cyclic, 1.50 at 0.95,
/// where the bound keeps parts of textures, which no policy can. The 99th percentile of bytes per frame is within 1.03 of the best.
/// [Without relocation](CoherentDesc::without_relocation) it is within 1.19 of the best policy that does not relocate (mixed at 1.05;
/// 1.04 elsewhere), in the 99th percentile within 1.08. [Keeping levels](CoherentDesc::keeping_levels) it needs at most 0.82 times the
/// bytes of the paper's first attempt, which also uploads single levels; its 99th percentile is within 1.16 of that.
///
/// On a flight captured from `examples/terrain` (320 x 180, 300 frames, 6 MiB on lavapipe) the lower bound is 91,496 B per frame;
/// this policy and a compacting LRU heap need 91,709 B, without relocation 94,790 B, plain LRU 96,593 B.
#[derive(Clone, Debug)]
pub struct Coherent {
    pub(super) desc: CoherentDesc,
    pub(super) limits: BudgetLimits,
    pub(super) heap: Heap,
    pub(super) states: Vec<TextureState>,
    pub(super) links: Links,
    /// Resident textures by recency.
    pub(super) recency: List,
    pub(super) small: Small,
    /// Textures resident at finer levels than last requested, the longest so first. The latest are shrunk first: a texture
    /// that has been coarse for long is refined again sooner (zoom at 1.05 of the working set: 1.02 of the bound, 1.72 otherwise).
    pub(super) oversized_links: Links,
    pub(super) oversized: List,
    /// The first resident by recency that this frame requested.
    pub(super) first_now: u32,
    pub(super) frame: u32,
    /// Number of textures that the last frame requested, that this frame requested, and that both did.
    pub(super) before: u64,
    pub(super) requested: u64,
    pub(super) returned: u64,
    /// One past the last position in the last frame of textures that this frame requested: earlier ones are overdue.
    pub(super) passed: u64,
    /// Number of overdue textures that this frame requested.
    pub(super) late: u64,
    /// Moving average of the share of a frame that the next one requests, in 1024ths.
    pub(super) coherence: u64,
    /// Moving average of the share of overdue textures that the same frame requests, in 1024ths.
    pub(super) lateness: u64,
}

impl Coherent {
    /// A cache of `budget` bytes.
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
            small: Small::new(),
            oversized_links: Links::default(),
            oversized: List::default(),
            first_now: NONE,
            frame: 2,
            before: 0,
            requested: 0,
            returned: 0,
            passed: 0,
            late: 0,
            coherence: 1024,
            lateness: 0,
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
        let &Node { offset, size, .. } = self.heap.at(node);
        journal.evict(key, offset, size, reason);
        if self.first_now == key {
            self.first_now = self.links.next(key);
        }
        self.links.remove(&mut self.recency, key);
        self.set_oversized(key, false);
        self.small.remove(size);
        self.heap.release(node)
    }
}
