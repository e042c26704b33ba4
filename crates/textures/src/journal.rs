//! What changes in memory: events, in order.

use crate::ids::{Level, TextureId};
use crate::request::{Outcome, Request};
use crate::units::Bytes;

/// Why a texture is evicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvictionReason {
    /// Another texture needs the space.
    Replaced,
    /// The wall of an arena moves over it.
    Wall,
    /// It is placed again at a finer level by the same request.
    Upgraded,
    /// It was released, or its contents were replaced.
    Released,
    /// The budget was reduced.
    Budget,
}

/// One change in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A block is freed.
    Evict {
        /// The texture.
        texture: TextureId,
        /// The part: 0, except for policies that store every level in a block of its own.
        part: Level,
        /// First byte of the block.
        offset: Bytes,
        /// Size of the block.
        block: Bytes,
        /// The reason.
        reason: EvictionReason,
    },
    /// A block is assigned and must be filled.
    Place {
        /// The texture.
        texture: TextureId,
        /// The part: 0, except for policies that store every level in a block of its own.
        part: Level,
        /// The finest resident level after the upload.
        level: Level,
        /// First byte of the block.
        offset: Bytes,
        /// Size of the block.
        block: Bytes,
        /// Bytes to upload: less than the chain if the levels of the block that the same request evicted with
        /// [`EvictionReason::Upgraded`] are kept, which are copied.
        upload: Bytes,
    },
    /// A block's contents are copied to another offset, by policies that relocate.
    Move {
        /// The texture.
        texture: TextureId,
        /// First byte before.
        from: Bytes,
        /// First byte after. If the two overlap, `to` is the lower offset.
        to: Bytes,
        /// Size of the block.
        block: Bytes,
    },
    /// The finest levels of a texture are dropped, by policies that relocate. The others stay in the first part of its block, and may
    /// have to be copied within it.
    Shrink {
        /// The texture.
        texture: TextureId,
        /// The finest remaining level.
        level: Level,
        /// First byte of the block.
        offset: Bytes,
        /// Size of the block before.
        from: Bytes,
        /// Size of the block after.
        block: Bytes,
    },
    /// The walls of an arena move.
    Walls {
        /// Index of the arena, from the left.
        arena: u32,
        /// Its first byte.
        start: Bytes,
        /// The first byte after it.
        end: Bytes,
    },
}

impl Event {
    /// The part that it concerns: 0, except for policies that store every level in a block of its own.
    pub fn part(&self) -> Level {
        match *self {
            Event::Evict { part, .. } | Event::Place { part, .. } => part,
            _ => Level(0),
        }
    }

    /// The texture that it concerns; none for walls.
    pub fn texture(&self) -> Option<TextureId> {
        match *self {
            Event::Evict { texture, .. }
            | Event::Place { texture, .. }
            | Event::Move { texture, .. }
            | Event::Shrink { texture, .. } => Some(texture),
            Event::Walls { .. } => None,
        }
    }
}

/// Events in order. Keep one and clear it every frame, so that the steady state allocates nothing.
#[derive(Clone, Debug, Default)]
pub struct Journal {
    events: Vec<Event>,
}

impl Journal {
    /// An empty journal.
    pub fn new() -> Journal {
        Journal {
            events: Vec::with_capacity(256),
        }
    }

    /// The events since the journal was last cleared.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// Removes all events; the capacity is kept.
    pub fn clear(&mut self) {
        self.events.clear();
    }

    /// Removes the last events; `count` remain.
    pub(crate) fn truncate(&mut self, count: usize) {
        self.events.truncate(count);
    }

    /// Appends an event: for policies.
    pub fn push(&mut self, event: Event) {
        self.events.push(event);
    }

    /// Appends the placement of a requested texture as a whole in a block of so many bytes, of which `upload` are uploaded.
    pub fn place(&mut self, request: Request, offset: Bytes, block: Bytes, upload: Bytes) -> Outcome {
        self.push(Event::Place {
            texture: request.texture,
            part: Level(0),
            level: request.level,
            offset,
            block,
            upload,
        });
        Outcome::Upload { offset }
    }

    /// Appends the eviction of a texture that is placed as a whole.
    pub fn evict(&mut self, texture: u32, offset: u64, block: u64, reason: EvictionReason) {
        self.push(Event::Evict {
            texture: TextureId(texture),
            part: Level(0),
            offset: Bytes(offset),
            block: Bytes(block),
            reason,
        });
    }

    /// Appends the move of a texture that is placed as a whole.
    pub fn moved(&mut self, texture: u32, block: u64, from: u64, to: u64) {
        self.push(Event::Move {
            texture: TextureId(texture),
            from: Bytes(from),
            to: Bytes(to),
            block: Bytes(block),
        });
    }
}
