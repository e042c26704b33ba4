//! Changes in memory, as a sequence of events.

use crate::ids::{Level, TextureId};
use crate::request::{Request, RequestOutcome};
use crate::units::Bytes;

/// The reason for an eviction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvictionReason {
    /// Another texture needed the space.
    Replaced,
    /// The wall of an arena moved past the block.
    Wall,
    /// The texture is placed again at a finer level by the same request.
    Upgraded,
    /// The texture was released, or its contents were replaced.
    Released,
    /// The budget was reduced.
    Budget,
}

/// A change in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheEvent {
    /// A block is freed.
    Evict {
        /// The texture.
        texture: TextureId,
        /// The part of the texture: its level for policies that store every level in a separate block, otherwise 0.
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
        /// The part of the texture: its level for policies that store every level in a separate block, otherwise 0.
        part: Level,
        /// The finest resident level after the upload.
        level: Level,
        /// First byte of the block.
        offset: Bytes,
        /// Size of the block.
        block: Bytes,
        /// Bytes to upload: less than the whole chain if levels are kept and copied from the block that the same
        /// request evicted with [`EvictionReason::Upgraded`].
        upload: Bytes,
    },
    /// A block's contents are copied to another offset; only by policies that relocate.
    Move {
        /// The texture.
        texture: TextureId,
        /// The block's first byte before the move.
        from: Bytes,
        /// The block's first byte after the move. If the two blocks overlap, `to` is the lower offset.
        to: Bytes,
        /// Size of the block.
        block: Bytes,
    },
    /// The finest levels of a texture are dropped; only by policies that relocate. The others stay in the first part of its block,
    /// and may have to be copied within it.
    Shrink {
        /// The texture.
        texture: TextureId,
        /// The finest remaining level.
        level: Level,
        /// First byte of the block.
        offset: Bytes,
        /// Size of the block before the change.
        from: Bytes,
        /// Size of the block after the change.
        block: Bytes,
    },
    /// An arena's start or end changes.
    Walls {
        /// Index of the arena, from the left.
        arena: u32,
        /// The arena's first byte.
        start: Bytes,
        /// The first byte after the arena.
        end: Bytes,
    },
}

impl CacheEvent {
    /// The part that the event affects: its level for policies that store every level in a separate block, otherwise 0.
    pub fn part(&self) -> Level {
        match *self {
            CacheEvent::Evict { part, .. } | CacheEvent::Place { part, .. } => part,
            _ => Level(0),
        }
    }

    /// The texture that the event affects; `None` for walls.
    pub fn texture(&self) -> Option<TextureId> {
        match *self {
            CacheEvent::Evict { texture, .. }
            | CacheEvent::Place { texture, .. }
            | CacheEvent::Move { texture, .. }
            | CacheEvent::Shrink { texture, .. } => Some(texture),
            CacheEvent::Walls { .. } => None,
        }
    }
}

/// A sequence of events. Keep one and clear it every frame, so that the steady state does not allocate.
#[derive(Clone, Debug, Default)]
pub struct Journal {
    events: Vec<CacheEvent>,
}

impl Journal {
    /// An empty journal.
    pub fn new() -> Journal {
        Journal {
            events: Vec::with_capacity(256),
        }
    }

    /// The events since the journal was last cleared.
    pub fn events(&self) -> &[CacheEvent] {
        &self.events
    }

    /// Removes all events; the capacity is kept.
    pub fn clear(&mut self) {
        self.events.clear();
    }

    /// Keeps the first `count` events, and removes the others.
    pub(crate) fn truncate(&mut self, count: usize) {
        self.events.truncate(count);
    }

    /// Appends an event: for policies.
    pub fn push(&mut self, event: CacheEvent) {
        self.events.push(event);
    }

    /// Appends the placement of a requested texture, as a whole, in a block of `block` bytes; `upload` bytes of it are uploaded.
    pub fn place(&mut self, request: Request, offset: Bytes, block: Bytes, upload: Bytes) -> RequestOutcome {
        self.push(CacheEvent::Place {
            texture: request.texture,
            part: Level(0),
            level: request.level,
            offset,
            block,
            upload,
        });
        RequestOutcome::Upload { offset }
    }

    /// Appends the eviction of a texture that is placed as a whole.
    pub fn evict(&mut self, texture: u32, offset: u64, block: u64, reason: EvictionReason) {
        self.push(CacheEvent::Evict {
            texture: TextureId(texture),
            part: Level(0),
            offset: Bytes(offset),
            block: Bytes(block),
            reason,
        });
    }

    /// Appends the move of a texture that is placed as a whole.
    pub fn moved(&mut self, texture: u32, block: u64, from: u64, to: u64) {
        self.push(CacheEvent::Move {
            texture: TextureId(texture),
            from: Bytes(from),
            to: Bytes(to),
            block: Bytes(block),
        });
    }
}
