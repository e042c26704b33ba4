//! Places keys in blocks of arenas; a key is a texture, or one of its levels.

use super::arena::Arena;
use super::desc::{ArenasDesc, IdleVictim};
use super::temperature::Temperature;
use super::view::ArenaSide;
use crate::Geometry;
use crate::blocks::{BlockClass, BlockTable};
use crate::budget::BudgetLimits;
use crate::error::Result;
use crate::ids::{Level, TextureId};
use crate::journal::{CacheEvent, EvictionReason, Journal};
use crate::list::{Links, List, NONE};
use crate::units::{Bytes, SplitMix64};

/// The state of a key that has or had a block.
#[derive(Clone, Copy, Debug)]
struct KeyState {
    arena: u32,
    /// The number of the block; [`NONE`] if the key is not resident.
    number: u32,
    level: Level,
    /// The frame in which the key was last used.
    used: u32,
}

const ABSENT: KeyState = KeyState {
    arena: 0,
    number: NONE,
    level: Level(0),
    used: 0,
};

/// Arenas, the keys in them, and the walls between them. Requests are O(1), except for the choice of a free block, which is
/// O(log64 blocks).
#[derive(Clone, Debug)]
pub(super) struct Engine {
    pub(super) desc: ArenasDesc,
    pub(super) limits: BudgetLimits,
    pub(super) table: BlockTable,
    /// Keys per texture: key `n * levels + level` stands for level `level` of texture n.
    pub(super) levels: u32,
    pub(super) usable: u64,
    pub(super) arenas: Vec<Arena>,
    /// The last move of each wall: update and direction.
    pub(super) walls: Vec<Option<(u64, ArenaSide)>>,
    /// Cache updates so far.
    pub(super) updates: u64,
    pub(super) moves: u64,
    pub(super) reversals: u64,
    states: Vec<KeyState>,
    links: Links,
    /// The number of the current frame. It begins at `active_frames`, so that a key that was never used does not count as active.
    frame: u32,
    random: SplitMix64,
}

impl Engine {
    /// Creates the arenas of a table, with initial walls; each texture has `levels` keys.
    ///
    /// # Errors
    /// If the budget does not hold the largest texture, or is too large for the tables.
    pub(super) fn new(
        table: BlockTable,
        geometry: &Geometry,
        budget: Bytes,
        seed: u64,
        desc: ArenasDesc,
        levels: u32,
    ) -> Result<Engine> {
        let limits = BudgetLimits::of(geometry);
        let usable = limits.usable(budget)?.0;
        let arena = |class: &BlockClass| Arena::new(class.block.0, usable);
        let arenas: Vec<Arena> = table.classes().iter().map(arena).collect();
        let mut engine = Engine {
            desc,
            limits,
            table,
            levels,
            usable,
            walls: vec![None; arenas.len() - 1],
            arenas,
            updates: 0,
            moves: 0,
            reversals: 0,
            states: Vec::new(),
            links: Links::default(),
            frame: desc.active_frames.max(1),
            random: SplitMix64::new(seed),
        };
        engine.build_walls();
        engine.choose_sides();
        Ok(engine)
    }

    /// The offset of the block of `key`, if the key is resident at `level` or finer; marks the key as used.
    pub(super) fn hit(&mut self, key: u32, level: Level) -> Option<Bytes> {
        let state = *self.states.get(key as usize)?;
        if state.number == NONE || state.level < level {
            return None;
        }
        self.touch(key);
        Some(Bytes(self.arenas[state.arena as usize].offset(state.number)))
    }

    /// Places `key` in a block of `arena` and evicts it from its former block, if any; returns offset and size. `None` if the arena has no blocks;
    /// the former block is then kept.
    pub(super) fn place(
        &mut self,
        key: u32,
        arena: usize,
        level: Level,
        journal: &mut Journal,
    ) -> Option<(Bytes, Bytes)> {
        let reached = key as usize + 1;
        if self.states.len() < reached {
            self.states.resize(reached, ABSENT);
            self.links.grow(reached);
        }
        let there = &mut self.arenas[arena];
        if there.is_empty() {
            there.boiled += 1;
            return None;
        }
        self.evict(key, EvictionReason::Upgraded, journal);
        let number = match self.arenas[arena].pick_free() {
            Some(number) => number,
            None => self.make_room(arena, journal),
        };
        let there = &mut self.arenas[arena];
        there.take(number, key);
        there.active += 1;
        self.links.push_back(&mut there.recency, key);
        self.states[key as usize] = KeyState {
            arena: arena as u32,
            number,
            level,
            used: self.frame,
        };
        Some((Bytes(there.offset(number)), Bytes(there.block)))
    }

    /// Frees the block of `key`, if any.
    pub(super) fn evict(&mut self, key: u32, reason: EvictionReason, journal: &mut Journal) {
        let state = self.states.get(key as usize).copied();
        let Some(state) = state.filter(|state| state.number != NONE) else {
            return;
        };
        let active = self.is_active(&state);
        let arena = &mut self.arenas[state.arena as usize];
        journal.push(CacheEvent::Evict {
            texture: TextureId(key / self.levels),
            part: Level((key % self.levels) as u8),
            offset: Bytes(arena.offset(state.number)),
            block: Bytes(arena.block),
            reason,
        });
        arena.give(state.number);
        arena.active -= u32::from(active);
        self.links.remove(&mut arena.recency, key);
        self.states[key as usize] = ABSENT;
    }

    /// Evicts a key of a full arena and returns its block: the least recently used key if it is inactive and [`IdleVictim::Oldest`] is set, otherwise
    /// a random one.
    fn make_room(&mut self, arena: usize, journal: &mut Journal) -> u32 {
        let there = &self.arenas[arena];
        let oldest = there.recency.first;
        let idle = !self.is_active(&self.states[oldest as usize]);
        let victim = if idle && self.desc.idle_victim == IdleVictim::Oldest {
            oldest
        } else {
            let number = there.first + self.random.below(u64::from(there.count())) as u32;
            there.owner[number as usize]
        };
        let number = self.states[victim as usize].number;
        if self.is_active(&self.states[victim as usize]) {
            self.arenas[arena].boiled += 1;
        }
        self.evict(victim, EvictionReason::Replaced, journal);
        number
    }

    fn touch(&mut self, key: u32) {
        let state = &mut self.states[key as usize];
        let arena = &mut self.arenas[state.arena as usize];
        if state.used + self.desc.active_frames <= self.frame {
            arena.active += 1;
        }
        state.used = self.frame;
        self.links.move_to_back(&mut arena.recency, key);
    }

    fn is_active(&self, state: &KeyState) -> bool {
        state.used + self.desc.active_frames > self.frame
    }

    /// Measures temperatures at the end of a frame.
    pub(super) fn measure(&mut self) {
        for arena in &mut self.arenas {
            let occupied = if arena.is_empty() && arena.boiled > 0 {
                // Without blocks there is no share; an empty arena with requests counts as full.
                Temperature::ONE
            } else {
                Temperature::share(u64::from(arena.active), u64::from(arena.count()))
            };
            let bonus = Temperature(self.desc.bonus.0.saturating_mul(u64::from(arena.boiled)));
            arena.recent = arena.recent.recent((occupied + bonus).min(self.desc.ceiling));
            arena.boiled_at_update = arena.boiled;
            arena.boiled = 0;
        }
    }

    /// Starts a frame and recounts active keys. O(active keys).
    pub(super) fn start_frame(&mut self) {
        self.frame += 1;
        for arena in 0..self.arenas.len() {
            self.arenas[arena].active = 0;
            // The recency list starts with the least recently used: only its tail is active.
            if self.desc.active_frames > 1 {
                let List { last, .. } = self.arenas[arena].recency;
                let (mut key, mut active) = (last, 0);
                while key != NONE && self.is_active(&self.states[key as usize]) {
                    active += 1;
                    key = self.links.previous(key);
                }
                self.arenas[arena].active = active;
            }
        }
    }

    /// Frees the outermost block on a side of an arena, and removes it from the arena.
    pub(super) fn vacate(
        &mut self,
        arena: usize,
        side: ArenaSide,
        reason: EvictionReason,
        journal: &mut Journal,
    ) {
        let there = &self.arenas[arena];
        let key = there.owner[there.edge(side) as usize];
        if key != NONE {
            self.evict(key, reason, journal);
        }
        self.arenas[arena].drop(side);
    }
}
