//! The vocabulary of a cache: who is asked for, what becomes of it, what changes in memory.

use std::fmt;

use super::{CacheError, ChainId, Geometry, Level};
use crate::units::Bytes;

/// A texture: a small number, given out in order, so that tables are indexed by it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TextureId(pub u32);

impl TextureId {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for TextureId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// One use of a texture in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Who.
    pub texture: TextureId,
    /// The finest level that is wanted. A texture that is there at a finer one serves as well.
    pub level: Level,
    /// The texture's chain.
    pub chain: ChainId,
    /// What the texture takes at that level, and what an upload moves.
    pub size: Bytes,
}

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The texture is there.
    Hit {
        /// The first byte of its block.
        offset: Bytes,
    },
    /// The texture was placed and has to be uploaded before it is drawn; the journal says who had to go.
    Upload {
        /// The first byte of its block.
        offset: Bytes,
    },
    /// The texture gets no place this time: it is drawn from elsewhere, at the same cost in bytes, or something coarser is.
    Bypass,
}

/// Why a texture leaves its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
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
        reason: Reason,
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
        /// this one in the same request, with [`Reason::Upgraded`]: those are copied.
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

/// Which textures exist, and with which chain.
///
/// Ids are dense: a new one is the number of those before it; a released one may be created again.
#[derive(Clone, Debug)]
pub struct Textures {
    geometry: Geometry,
    chains: Vec<Option<ChainId>>,
}

impl Textures {
    /// No textures.
    pub fn new(geometry: Geometry) -> Textures {
        Textures {
            geometry,
            chains: Vec::new(),
        }
    }

    /// The sizes that there are.
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// The smallest id that was never created.
    pub fn next_id(&self) -> TextureId {
        TextureId(self.chains.len() as u32)
    }

    /// A texture comes to be. One that exists stays as it is.
    ///
    /// # Errors
    /// If the id exists with another chain, is not the next new one, or the chain is unknown.
    pub fn create(&mut self, texture: TextureId, chain: ChainId) -> Result<(), CacheError> {
        let chains = self.geometry.chains().len();
        if usize::from(chain.0) >= chains {
            return Err(CacheError::NoChain {
                texture,
                chain,
                chains,
            });
        }
        let expected = self.next_id();
        match self.chains.get_mut(texture.index()) {
            Some(Some(first)) if *first != chain => Err(CacheError::TwoSizes {
                texture,
                first: *first,
                second: chain,
            }),
            Some(slot) => {
                *slot = Some(chain);
                Ok(())
            }
            None if texture == expected => {
                self.chains.push(Some(chain));
                Ok(())
            }
            None => Err(CacheError::Sparse { texture, expected }),
        }
    }

    /// A texture gets new contents, perhaps of another size. Whoever holds the old ones has to release them.
    ///
    /// # Errors
    /// If the id does not exist or the chain is unknown.
    pub fn replace(&mut self, texture: TextureId, chain: ChainId) -> Result<(), CacheError> {
        self.release(texture)?;
        self.create(texture, chain)
    }

    /// A texture ceases to be.
    ///
    /// # Errors
    /// If the id does not exist.
    pub fn release(&mut self, texture: TextureId) -> Result<(), CacheError> {
        match self.chains.get_mut(texture.index()) {
            Some(slot @ Some(_)) => {
                *slot = None;
                Ok(())
            }
            _ => Err(CacheError::Unknown { texture }),
        }
    }

    /// A use of a texture at a level.
    ///
    /// # Errors
    /// If the id or the level does not exist.
    pub fn request(&self, texture: TextureId, level: Level) -> Result<Request, CacheError> {
        let chain = self.chains.get(texture.index()).copied().flatten();
        let chain = chain.ok_or(CacheError::Unknown { texture })?;
        match self.geometry.size(chain, level) {
            Some(size) => Ok(Request {
                texture,
                level,
                chain,
                size,
            }),
            None => Err(CacheError::NoLevel {
                texture,
                level,
                chain,
                finest: self.geometry.chains()[usize::from(chain.0)].finest(),
            }),
        }
    }
}
