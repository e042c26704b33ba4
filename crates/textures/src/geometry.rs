//! Sizes of textures: mip chains, and the unit to which blocks are rounded up.

use crate::error::{Error, Result};
use crate::ids::{Level, MipChainId};
use crate::units::{Alignment, Bytes};

/// The size of a texture at each of its levels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MipChain(Box<[Bytes]>);

impl MipChain {
    /// Creates a chain from total sizes: `sizes[n]` is that of levels 0 to n, such as the memory requirement of an image
    /// with n + 1 levels.
    pub fn new(sizes: Vec<Bytes>) -> MipChain {
        MipChain(sizes.into_boxed_slice())
    }

    /// A full mip chain of `width` x `height` texels, without padding.
    ///
    /// # Panics
    /// If a side is 0.
    pub fn mips(width: u32, height: u32, bytes_per_texel: u32) -> MipChain {
        let finest = width.max(height).ilog2();
        let texels = |level: u32| {
            let side = |side: u32| u64::from((side >> (finest - level)).max(1));
            side(width) * side(height) * u64::from(bytes_per_texel)
        };
        let sum = |total: &mut u64, level| {
            *total += texels(level);
            Some(Bytes(*total))
        };
        MipChain((0..=finest).scan(0, sum).collect())
    }

    /// For each level n, the total size of levels 0 to n.
    pub fn sizes(&self) -> &[Bytes] {
        &self.0
    }

    /// The finest level.
    pub fn finest(&self) -> Level {
        Level(self.0.len() as u8 - 1)
    }
}

/// The sizes of the textures of a cache, and the unit to which blocks are rounded up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Geometry {
    chains: Vec<MipChain>,
    unit: Alignment,
}

impl Geometry {
    /// Creates a geometry from chains by [`MipChainId`]; every block starts at a multiple of `unit`.
    ///
    /// # Errors
    /// If there are no chains or too many, or the sizes of a chain decrease or are 0.
    pub fn new(chains: Vec<MipChain>, unit: Alignment) -> Result<Geometry> {
        if chains.is_empty() || chains.len() > 1 << 16 {
            let count = chains.len();
            return Err(Error::Geometry(format!(
                "the geometry has {count} chains; it must have 1 to 65,536"
            )));
        }
        for (index, chain) in chains.iter().enumerate() {
            check_chain(index, chain.sizes(), unit)?;
        }
        Ok(Geometry { chains, unit })
    }

    /// The geometry of Wulfram, the game of Blow's paper (1998): square textures of up to 256 x 256 texels with 8 bits each, in blocks whose sizes
    /// are multiples of 8 bytes.
    ///
    /// Source: Blow 1998, figure 6.
    pub fn wulfram() -> Geometry {
        let chains = vec![MipChain::mips(256, 256, 1)];
        Geometry::new(chains, EIGHT).expect("the paper's sizes do not decrease")
    }

    /// The chains by [`MipChainId`].
    pub fn chains(&self) -> &[MipChain] {
        &self.chains
    }

    /// The unit of which every offset is a multiple.
    pub fn unit(&self) -> Alignment {
        self.unit
    }

    /// Size of a texture of `chain` at `level`; `None` if the chain has no such level.
    pub fn size(&self, chain: MipChainId, level: Level) -> Option<Bytes> {
        let sizes = self.chains.get(usize::from(chain.0))?.sizes();
        sizes.get(usize::from(level.0)).copied()
    }

    /// The block size of the largest texture.
    pub fn largest(&self) -> Bytes {
        let finest = |chain: &MipChain| *chain.sizes().last().expect("every chain has at least one level");
        let largest = self.chains.iter().map(finest).max();
        largest
            .expect("a geometry has at least one chain")
            .align_up(self.unit)
    }

    /// The largest number of levels of any chain.
    pub fn levels(&self) -> usize {
        let levels = self.chains.iter().map(|chain| chain.sizes().len()).max();
        levels.expect("a geometry has at least one chain")
    }
}

const EIGHT: Alignment = Alignment::new(8).unwrap();

fn check_chain(chain: usize, sizes: &[Bytes], unit: Alignment) -> Result<()> {
    let levels = sizes.len();
    if !(1..=32).contains(&levels) {
        return Err(Error::Geometry(format!(
            "the number of levels of chain {chain} is {levels}; it must be from 1 to 32"
        )));
    }
    let mut before = Bytes(1);
    let is_wrong =
        |&size: &Bytes| std::mem::replace(&mut before, size) > size || size.checked_align_up(unit).is_none();
    match sizes.iter().position(is_wrong) {
        None => Ok(()),
        Some(level) => Err(Error::Geometry(format!(
            "level {level} of chain {chain} has {}; sizes must not be 0, decrease, or exceed 2^64 - 1 B when aligned",
            sizes[level]
        ))),
    }
}
