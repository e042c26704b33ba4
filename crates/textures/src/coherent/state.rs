//! The policy's state: residents in a heap, their recency, and counts of frames.

use super::desc::CoherentDesc;
use super::small::Small;
use crate::Geometry;
use crate::budget::BudgetLimits;
use crate::error::Result;
use crate::heap::{Heap, Node};
use crate::ids::{Level, TextureId};
use crate::journal::{Event, EvictionReason, Journal};
use crate::list::{Links, List, NONE};
use crate::units::Bytes;

#[derive(Clone, Copy, Debug)]
pub(super) struct TextureState {
    /// [`NONE`]: not resident.
    pub(super) node: u32,
    pub(super) level: Level,
    /// The frame it was last asked for, resident or not.
    pub(super) requested: u32,
    /// How many others that frame had asked for before.
    pub(super) place: u32,
    /// At which level, and how much that is in bytes.
    pub(super) wanted_level: Level,
    pub(super) wanted: u64,
    /// The same before it is rounded up, and what it has of that where it is resident.
    pub(super) wanted_texels: u64,
    pub(super) held: u64,
    /// Whether it is there at a finer level than that.
    pub(super) is_oversized: bool,
    /// How often it came back after frames without it, and how many those were in all.
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

/// Memory goes to the bytes that the next frame most likely asks for.
///
/// ```text
/// recency   stale …      │ used in the last frame, not yet in this one │ used in this frame
/// costs     little, less │ its size, times how much of a frame is like │ never goes
///           with age     │ the one before: learnt, and doubted as soon │
///                        │ as this frame turns out to be another       │
/// ```
/// What a frame skips over is overdue: a texture that the last frame asked for before others that this one has asked for
/// already. How often such a texture comes after all is learnt; while that is seldom, it counts as gone.
///
/// A texture that is missing takes a free hole. Where none fits, room is made: first of those that are gone, of the longest unused
/// the one that is least likely to come back, by how often it did; then of levels finer than what was asked for last; then of those that are due last in this frame, but only
/// if they are worth less than the newcomer. Then what is free is gathered by moving textures ([`CoherentDesc::moving`]), or,
/// for who cannot move, a window of neighbouring blocks is sought that costs little. If all of that costs more than the
/// texture is worth, it is bypassed. So when frames need more than there is, a stable part stays, the rest passes by, and
/// nothing is thrown out in the frame that uses it.
///
/// A hit is O(1). A miss is O(textures that go) and a search of [`CoherentDesc::looks`] blocks; the search for a stretch to
/// gather looks at all of them at worst.
///
/// Where frames ask for more than there is, the smallest textures have bytes of their own, an eighth at most: they are what is still
/// as it was when the view moves on.
///
/// `docs/cache_tournament.md` has it against every other policy: ten scenarios, five budgets, ten seeds, November 2026, by
/// `benches/tournament.rs`. In mean bytes it is nowhere behind the best of the others that upload whole chains, and at most 1.10
/// of Belady's policy, which knows the future. Against [`floor`](super::floor) it is at most 1.09 where memory holds more than a
/// frame; where it holds less at most 1.15 but for two scenarios: zoom, 1.20 and 1.25 at 0.8 and 0.95 of the working set, and
/// cyclic, 1.50 at 0.95. There the bound keeps parts of textures, which no policy can: those 0.95 are 24.7 slots. The 99th
/// percentile of bytes a frame is nowhere behind by more than 1.03 (flight at 0.8 and 0.95). Without moving
/// ([`CoherentDesc::without_relocation`]) ours is behind the best of those that do not move by 1.19 (mixed at 1.05) and at most 1.04 elsewhere, in
/// the 99th percentile by 1.08. Keeping levels ([`CoherentDesc::keeping_levels`]) it has at most 0.82 of the bytes of the paper's first
/// attempt, which uploads single levels, too; its 99th percentile is behind that one's by 1.16 and 1.05 (flight at 0.8 and 0.5).
///
/// On a flight captured from `examples/terrain` (320 x 180, 300 frames in a working set that moves, 6 MiB on lavapipe) the bound is
/// 91,496 B a frame; ours and the compacting heap come to 91,709 B, ours without moving to 94,790 B, plain LRU to 96,593 B.
///
/// ```
/// use tileheap_textures::*;
/// use tileheap_textures::units::Bytes;
///
/// let mut textures = Textures::new(Geometry::wulfram());
/// let grass = textures.next_id();
/// textures.create(grass, ChainId(0))?;
/// let mut cache = Coherent::new(textures.geometry(), Bytes::mib(2), CoherentDesc::without_relocation())?; // moves nothing
/// let mut journal = Journal::new();
/// cache.begin_frame(&mut journal);
/// let outcome = cache.request(textures.request(grass, Level(7))?, &mut journal);
/// cache.end_frame(&mut journal);
/// assert!(matches!(outcome, Outcome::Upload { .. }));
/// # Ok::<(), tileheap_textures::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Coherent {
    pub(super) desc: CoherentDesc,
    pub(super) limits: BudgetLimits,
    pub(super) heap: Heap,
    pub(super) unit: u64,
    pub(super) states: Vec<TextureState>,
    pub(super) links: Links,
    /// Residents by recency.
    pub(super) recency: List,
    pub(super) small: Small,
    /// Residents at finer levels than were asked for last, the longest so first. The latest are dropped first: what is
    /// coarse for long comes close again sooner (zoom at 1.05 of the working set: 1.02 of the bound, 1.72 the other way).
    pub(super) oversized_links: Links,
    pub(super) oversized: List,
    /// The first resident by recency that this frame asked for.
    pub(super) first_now: u32,
    pub(super) frame: u32,
    /// Textures that the last frame asked for, those of this one, and of these those that the last one had too.
    pub(super) before: u64,
    pub(super) requested: u64,
    pub(super) returned: u64,
    /// The place after the last one in the last frame of those that came back in this one: who was before is overdue.
    pub(super) passed: u64,
    /// Those of this frame that came back although they were overdue.
    pub(super) late: u64,
    /// How much of a frame comes back in the next one, in 1024ths, over time.
    pub(super) coherence: u64,
    /// How much of what is overdue comes back in the same frame, in 1024ths, over time.
    pub(super) lateness: u64,
}

impl Coherent {
    /// A cache of `budget` bytes.
    ///
    /// # Errors
    /// If the budget does not hold the largest texture, or is too large for the tables.
    pub fn new(geometry: &Geometry, budget: Bytes, desc: CoherentDesc) -> Result<Coherent> {
        let (unit, limits) = (geometry.unit().get(), BudgetLimits::of(geometry));
        Ok(Coherent {
            desc,
            heap: Heap::new(limits.usable(budget)?, unit),
            limits,
            unit,
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

    /// Puts a resident where those are that this frame asked for.
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
        journal.push(Event::Evict {
            texture: TextureId(key),
            part: Level(0),
            offset: Bytes(offset),
            block: Bytes(size),
            reason,
        });
        if self.first_now == key {
            self.first_now = self.links.next(key);
        }
        self.links.remove(&mut self.recency, key);
        self.set_oversized(key, false);
        self.small.remove(size);
        self.heap.release(node)
    }
}
