//! The implementation of [`Policy`]: hit, upload or bypass.

use super::desc::CoherentDesc;
use super::history::DECAY;
use super::state::Coherent;
use crate::Geometry;
use crate::error::Result;
use crate::ids::TextureId;
use crate::journal::{EvictionReason, Journal};
use crate::list::NONE;
use crate::policy::{ParameterValues, Policy, PolicyDesc, UploadMode};
use crate::request::{Request, RequestOutcome};
use crate::units::Bytes;

impl Coherent {
    /// The policy with default parameters: textures are uploaded whole and move within the cache.
    pub const DESC: PolicyDesc<'static> = PolicyDesc {
        relocates: true,
        ..PolicyDesc::new(
            "coherent",
            "Keeps the textures that the next frame will most likely request; compacts memory.",
            &create::<true, false>,
        )
        .with_parameters(CoherentDesc::PARAMETERS)
    };

    /// The policy that [keeps levels](CoherentDesc::keeps_levels).
    pub const KEEPING_LEVELS: PolicyDesc<'static> = PolicyDesc {
        name: "coherent-levels",
        description: "Like `coherent`, but uploads only the missing levels of a texture that is requested at a finer level.",
        uploads: UploadMode::MissingLevels,
        create: &create::<true, true>,
        ..Coherent::DESC
    };

    /// The policy that never [relocates](CoherentDesc::relocates), for callers that cannot copy within the cache.
    pub const WITHOUT_RELOCATION: PolicyDesc<'static> = PolicyDesc {
        name: "coherent-still",
        description: "Like `coherent`, but never moves textures: evicts until a free block is large enough.",
        relocates: false,
        create: &create::<false, false>,
        ..Coherent::DESC
    };
}

fn create<const RELOCATES: bool, const KEEPS_LEVELS: bool>(
    geometry: &Geometry,
    budget: Bytes,
    _seed: u64,
    values: &ParameterValues,
) -> Result<Box<dyn Policy>> {
    let desc = CoherentDesc {
        relocates: RELOCATES,
        keeps_levels: KEEPS_LEVELS,
        ..CoherentDesc::of(values)
    };
    Ok(Box::new(Coherent::new(geometry, budget, desc)?))
}

/// Stale textures are evicted until 1 / `SLACK` of memory is free in addition to the request, before all of
/// memory is searched for blocks to merge.
const SLACK: u64 = 128;

impl Policy for Coherent {
    fn request(&mut self, request: Request, journal: &mut Journal) -> RequestOutcome {
        let key = request.texture.0;
        let size = request.size.0.next_multiple_of(self.limits.unit);
        self.begin_swap(journal);
        let again = self.note_request(key as usize);
        let state = &mut self.states[key as usize];
        (state.wanted_block, state.wanted_level, state.wanted_texels) = (size, request.level, request.size.0);
        let (mut kept, state) = (0, *state);
        if state.node != NONE {
            if state.level >= request.level {
                self.touch(key);
                self.set_oversized(key, state.level > request.level);
                return RequestOutcome::Hit {
                    offset: Bytes(self.heap.at(state.node).offset),
                };
            }
            self.evict(key, EvictionReason::Upgraded, journal);
            kept = if self.desc.keeps_levels {
                state.resident_texels
            } else {
                0
            };
        }
        self.swap.requested(key);
        let reserved = self.swap.reserved_from(key);
        let has_room = self.heap.free_bytes() >= size + reserved;
        let node = self.heap.best_fit(size).filter(|_| has_room).or_else(|| {
            let value = size * self.coherence.max(512);
            let most = match again {
                true => value / 1024 * self.desc.accepted_cost,
                false => value,
            };
            let own_value = self.value_of_new(key);
            if !self.make_room(size + reserved, most, own_value, journal) {
                return None;
            }
            let (slack, limit) = (self.heap.size() / SLACK, self.desc.search_blocks as u32);
            loop {
                let hole = self.heap.best_fit(size);
                if let Some(hole) = hole {
                    return Some(hole);
                }
                let (end, most) = match self.desc.relocates {
                    true => (size + slack, 0),
                    false => (u64::MAX, most),
                };
                let free = self.heap.free_bytes();
                if free >= end || !self.make_room(free + size / 4 + 1, most, own_value, journal) {
                    let heap = self.desc.relocates.then_some(&mut self.heap)?;
                    return Some(heap.compact_to_fit(size, limit, journal));
                }
            }
        });
        let Some(node) = node else {
            if again && self.desc.relocates {
                self.swap.note_missing(key, size);
            }
            return RequestOutcome::Bypass;
        };
        self.heap.take(node, size, key);
        let state = &mut self.states[key as usize];
        (state.node, state.level, state.resident_texels) = (node, request.level, request.size.0);
        self.links.push_back(&mut self.recency, key);
        if self.first_now == NONE {
            self.first_now = key;
        }
        let offset = Bytes(self.heap.at(node).offset);
        journal.place(request, offset, Bytes(size), request.size - Bytes(kept))
    }

    fn release(&mut self, texture: TextureId, journal: &mut Journal) {
        self.swap.forget(texture.0);
        let state = self.states.get(texture.index());
        if state.is_some_and(|state| state.node != NONE) {
            self.evict(texture.0, EvictionReason::Released, journal);
        }
    }

    fn set_budget(&mut self, budget: Bytes, journal: &mut Journal) -> Result<()> {
        let end = self.limits.usable(budget)?.0;
        self.swap.cancel();
        while let Some(key) = self.heap.owner_past(end) {
            self.evict(key, EvictionReason::Budget, journal);
        }
        self.heap.set_end(end);
        Ok(())
    }

    fn end_frame(&mut self, _journal: &mut Journal) {
        if let Some(observed) = (self.returned * 1024).checked_div(self.last_requested) {
            self.coherence = (3 * self.coherence + observed) / 4;
        }
        self.choose_swap();
        self.absences.end_frame(self.frame);
        self.last_requested = self.requested;
        (self.requested, self.returned, self.passed, self.requested_ahead) = (0, 0, 0, 0);
        self.disorder -= self.disorder / DECAY;
        self.requested_again.clear();
        self.requested_again.resize(self.last_requested as usize, false);
        self.first_now = NONE;
        self.frame += 1;
    }
}
