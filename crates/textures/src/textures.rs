//! The set of existing textures.

use crate::Geometry;
use crate::error::{Error, Result};
use crate::ids::{Level, MipChainId, TextureId};
use crate::request::Request;

/// The existing textures, each with its chain.
///
/// Ids are dense: a new id is the number of earlier ones; a released id may be reused.
#[derive(Clone, Debug)]
pub struct TextureTable {
    geometry: Geometry,
    chains: Vec<Option<MipChainId>>,
}

impl TextureTable {
    /// An empty table.
    pub fn new(geometry: Geometry) -> TextureTable {
        TextureTable {
            geometry,
            chains: Vec::new(),
        }
    }

    /// The sizes of textures.
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// The smallest id that was never created.
    pub fn next_id(&self) -> TextureId {
        TextureId(self.chains.len() as u32)
    }

    /// Creates a texture. Does nothing if it exists with that chain.
    ///
    /// # Errors
    /// If the id exists with another chain, is not the next new one, or the chain is unknown.
    pub fn create(&mut self, texture: TextureId, chain: MipChainId) -> Result<()> {
        let chains = self.geometry.chains().len();
        if usize::from(chain.0) >= chains {
            return Err(Error::UnknownChain(texture, chain, chains));
        }
        let expected = self.next_id();
        match self.chains.get_mut(texture.index()) {
            Some(Some(first)) if *first != chain => Err(Error::ChainMismatch(texture, *first, chain)),
            Some(slot) => {
                *slot = Some(chain);
                Ok(())
            }
            None if texture == expected => {
                self.chains.push(Some(chain));
                Ok(())
            }
            None => Err(Error::IdOutOfOrder(texture, expected)),
        }
    }

    /// Replaces the contents of a texture, possibly with another size. A cache that holds it must release it.
    ///
    /// # Errors
    /// If the id does not exist or the chain is unknown.
    pub fn replace(&mut self, texture: TextureId, chain: MipChainId) -> Result<()> {
        self.release(texture)?;
        self.create(texture, chain)
    }

    /// Releases a texture; its id may then be reused.
    ///
    /// # Errors
    /// If the id does not exist.
    pub fn release(&mut self, texture: TextureId) -> Result<()> {
        let slot = self.chains.get_mut(texture.index()).and_then(Option::take);
        slot.map(drop).ok_or(Error::UnknownTexture(texture))
    }

    /// The request for a texture at a level.
    ///
    /// # Errors
    /// If the id or the level does not exist.
    pub fn request(&self, texture: TextureId, level: Level) -> Result<Request> {
        let chain = self
            .chains
            .get(texture.index())
            .copied()
            .flatten()
            .ok_or(Error::UnknownTexture(texture))?;
        let finest = self.geometry.chains()[usize::from(chain.0)].finest();
        let unknown = Error::UnknownLevel(texture, level, chain, finest);
        let size = self.geometry.size(chain, level).ok_or(unknown)?;
        Ok(Request {
            texture,
            level,
            chain,
            size,
        })
    }
}
