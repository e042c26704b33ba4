//! What changes in memory: events, in order.

use crate::ids::{Level, TextureId};
use crate::units::Bytes;

/// Why a texture leaves its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvictionReason {
    /// Another one takes its place.
    Replaced,
    /// A wall moves over it.
    Wall,
    /// It comes back elsewhere at a finer level.
    Upgraded,
    /// Its contents are gone: released, or replaced by new contents.
    Released,
    /// The budget became smaller.
    Budget,
}

/// One change in memory, in the order in which they happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A block is freed.
    Evict {
        /// Who was there.
        texture: TextureId,
        /// Which part: 0, but for policies that store every level alone.
        part: Level,
        /// First byte of the block.
        offset: Bytes,
        /// Size of the block.
        block: Bytes,
        /// Why.
        reason: EvictionReason,
    },
    /// A block is taken and has to be filled.
    Place {
        /// Who.
        texture: TextureId,
        /// Which part: 0, but for policies that store every level alone.
        part: Level,
        /// The level it then is at.
        level: Level,
        /// First byte of the block.
        offset: Bytes,
        /// Size of the block.
        block: Bytes,
        /// What is to be uploaded. Less than the chain where the texture keeps the levels that it had in the block that it left for
        /// this one in the same request, with [`EvictionReason::Upgraded`]: those are copied.
        upload: Bytes,
    },
    /// A block's contents are copied to another place. Only policies that compact do that.
    Move {
        /// Who.
        texture: TextureId,
        /// First byte before.
        from: Bytes,
        /// First byte now. Where the two overlap, copies go toward lower addresses.
        to: Bytes,
        /// Size of the block.
        block: Bytes,
    },
    /// The finest levels of a texture are dropped; the others stay, in the first part of its block. Only policies that move do
    /// that: what is left may have to be copied within the block.
    Shrink {
        /// Who.
        texture: TextureId,
        /// The finest level that is left.
        level: Level,
        /// First byte of the block.
        offset: Bytes,
        /// Size of the block before.
        from: Bytes,
        /// Size of the block now.
        block: Bytes,
    },
    /// An arena has new walls.
    Walls {
        /// Which, from the left.
        arena: u32,
        /// Its first byte.
        start: Bytes,
        /// The first byte after it.
        end: Bytes,
    },
}

/// The events since it was last cleared. Keep one and clear it every frame: then steady frames allocate nothing.
#[derive(Clone, Debug, Default)]
pub struct Journal {
    events: Vec<Event>,
}

impl Journal {
    /// No events, with room for some.
    pub fn new() -> Journal {
        Journal {
            events: Vec::with_capacity(256),
        }
    }

    /// What happened, in order.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// Forgets what happened; memory is kept.
    pub fn clear(&mut self) {
        self.events.clear();
    }

    /// Appends an event: for policies.
    pub fn push(&mut self, event: Event) {
        self.events.push(event);
    }
}
