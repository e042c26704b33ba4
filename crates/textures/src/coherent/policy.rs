//! The implementation of [`Policy`]: hit, upload or bypass.

use super::desc::CoherentDesc;
use super::state::Coherent;
use crate::Geometry;
use crate::error::Result;
use crate::ids::TextureId;
use crate::journal::{EvictionReason, Journal};
use crate::list::NONE;
use crate::policy::{Policy, PolicyDesc};
use crate::request::{Outcome, Request};
use crate::units::Bytes;

impl Coherent {
    /// The policy with default parameters: textures are uploaded whole and move within the cache.
    pub const DESC: PolicyDesc<'static> = PolicyDesc {
        name: "coherent",
        description: "Keeps what the next frame most likely requests; compacts memory.",
        uploads_whole: true,
        relocates: true,
        create: &|geometry, budget, _| boxed(geometry, budget, CoherentDesc::default()),
    };

    /// The policy with [`CoherentDesc::keeping_levels`].
    pub const KEEPING_LEVELS: PolicyDesc<'static> = PolicyDesc {
        name: "coherent-levels",
        description: "The same; uploads only the missing levels of a texture that is requested at a finer one.",
        uploads_whole: false,
        create: &|geometry, budget, _| boxed(geometry, budget, CoherentDesc::keeping_levels()),
        ..Coherent::DESC
    };

    /// The policy with [`CoherentDesc::without_relocation`].
    pub const WITHOUT_RELOCATION: PolicyDesc<'static> = PolicyDesc {
        name: "coherent-still",
        description: "The same without moving textures.",
        relocates: false,
        create: &|geometry, budget, _| boxed(geometry, budget, CoherentDesc::without_relocation()),
        ..Coherent::DESC
    };
}

fn boxed(geometry: &Geometry, budget: Bytes, desc: CoherentDesc) -> Result<Box<dyn Policy>> {
    Ok(Box::new(Coherent::new(geometry, budget, desc)?))
}

impl Policy for Coherent {
    fn request(&mut self, request: Request, journal: &mut Journal) -> Outcome {
        let key = request.texture.0;
        let size = request.size.0.next_multiple_of(self.limits.unit);
        let again = self.note_request(key as usize, size);
        let state = &mut self.states[key as usize];
        (state.wanted, state.wanted_level, state.wanted_texels) = (size, request.level, request.size.0);
        let (mut kept, state) = (0, *state);
        if state.node != NONE {
            if state.level >= request.level {
                self.touch(key);
                self.set_oversized(key, state.level > request.level);
                return Outcome::Hit {
                    offset: Bytes(self.heap.at(state.node).offset),
                };
            }
            self.evict(key, EvictionReason::Upgraded, journal);
            kept = if self.desc.keeps_levels { state.held } else { 0 };
        }
        let reserved = self.small.reserved(size);
        let has_room = self.heap.free() >= size + reserved;
        let hole = has_room.then(|| self.heap.best_fit(size)).flatten();
        let node = hole.or_else(|| {
            let value = size * self.coherence.max(512);
            let most = match again {
                true => value / 1024 * self.desc.accepted_cost,
                false => value,
            };
            if !self.desc.relocates {
                let window = self.window(size, most)?;
                return Some(self.clear(window, journal));
            }
            if !self.make_room(size + reserved, most, journal) {
                return None;
            }
            let limit = self.desc.search_blocks;
            let hole = self.heap.best_fit(size);
            Some(hole.unwrap_or_else(|| journal.gather(&mut self.heap, size, limit)))
        });
        let Some(node) = node else {
            return Outcome::Bypass;
        };
        self.heap.take(node, size, key);
        self.small.add(size);
        let state = &mut self.states[key as usize];
        (state.node, state.level, state.held) = (node, request.level, request.size.0);
        self.links.push_back(&mut self.recency, key);
        if self.first_now == NONE {
            self.first_now = key;
        }
        let offset = Bytes(self.heap.at(node).offset);
        journal.place(request, offset, Bytes(size), request.size - Bytes(kept))
    }

    fn release(&mut self, texture: TextureId, journal: &mut Journal) {
        let state = self.states.get(texture.index());
        if state.is_some_and(|state| state.node != NONE) {
            self.evict(texture.0, EvictionReason::Released, journal);
        }
    }

    fn set_budget(&mut self, budget: Bytes, journal: &mut Journal) -> Result<()> {
        let end = self.limits.usable(budget)?.0;
        while let Some(key) = self.heap.past(end) {
            self.evict(key, EvictionReason::Budget, journal);
        }
        self.heap.set_end(end);
        Ok(())
    }

    fn end_frame(&mut self, _journal: &mut Journal) {
        if let Some(observed) = (self.returned * 1024).checked_div(self.before) {
            self.coherence = (3 * self.coherence + observed) / 4;
            let overdue = self.late + self.before - self.returned;
            if let Some(observed) = (self.late * 1024).checked_div(overdue) {
                self.lateness = (3 * self.lateness + observed) / 4;
            }
        }
        self.small.end_frame(self.heap.size());
        self.before = self.requested;
        (self.requested, self.returned, self.passed, self.late) = (0, 0, 0, 0);
        self.first_now = NONE;
        self.frame += 1;
    }
}
