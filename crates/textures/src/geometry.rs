//! How large textures are: chains of levels, and the classes of blocks that hold them.

use std::fmt;

use super::CacheError;
use crate::units::{Alignment, Bytes};

/// A mip level as the paper counts: 0 is 1 x 1, n is 2^n x 2^n. A texture at level n has all levels from 0 to n.
///
/// Vulkan counts the other way: a texture of `k` levels in all whose finest wanted is Vulkan's level `m` is at `k - 1 - m`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Level(pub u8);

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Which chain of a [`Geometry`] a texture has: its index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChainId(pub u16);

impl fmt::Display for ChainId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The size of a texture at each of its levels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain(Box<[Bytes]>);

impl Chain {
    /// `sizes[n]` is what levels 0 to n take together, for instance what a driver requires of an image of n + 1 levels.
    pub fn new(sizes: Vec<Bytes>) -> Chain {
        Chain(sizes.into_boxed_slice())
    }

    /// A full mip chain of `width` x `height` texels, without padding.
    ///
    /// # Panics
    /// If a side is 0.
    pub fn mips(width: u32, height: u32, bytes_per_texel: u32) -> Chain {
        let finest = width.max(height).ilog2();
        let texels = |level: u32| {
            let side = |side: u32| u64::from((side >> (finest - level)).max(1));
            side(width) * side(height) * u64::from(bytes_per_texel)
        };
        let sum = |total: &mut u64, level| {
            *total += texels(level);
            Some(Bytes(*total))
        };
        Chain((0..=finest).scan(0, sum).collect())
    }

    /// What levels 0 to n take together, by n.
    pub fn sizes(&self) -> &[Bytes] {
        &self.0
    }

    /// The finest level.
    pub fn finest(&self) -> Level {
        Level(self.0.len() as u8 - 1)
    }
}

/// The sizes that the textures of one cache can have, and the unit that blocks are rounded up to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Geometry {
    chains: Vec<Chain>,
    unit: Alignment,
}

impl Geometry {
    /// Chains by [`ChainId`]; every block starts at a multiple of `unit`.
    ///
    /// # Errors
    /// For no chains or too many, and for a chain whose sizes fall or are 0.
    pub fn new(chains: Vec<Chain>, unit: Alignment) -> Result<Geometry, CacheError> {
        if chains.is_empty() || chains.len() > 1 << 16 {
            return Err(CacheError::ChainCount { chains: chains.len() });
        }
        for (index, chain) in chains.iter().enumerate() {
            check_chain(index, chain.sizes(), unit)?;
        }
        Ok(Geometry { chains, unit })
    }

    /// The paper's: square textures of 8 bits up to 256 x 256, blocks of multiples of 8 bytes.
    ///
    /// Source: Blow 1998, figure 6.
    pub fn wulfram() -> Geometry {
        let chains = vec![Chain::mips(256, 256, 1)];
        Geometry::new(chains, EIGHT).expect("the paper's sizes rise")
    }

    /// The chains by [`ChainId`].
    pub fn chains(&self) -> &[Chain] {
        &self.chains
    }

    /// What every offset is a multiple of.
    pub fn unit(&self) -> Alignment {
        self.unit
    }

    /// What a texture of `chain` takes at `level`; `None` where it has no such level.
    pub fn size(&self, chain: ChainId, level: Level) -> Option<Bytes> {
        let sizes = self.chains.get(usize::from(chain.0))?.sizes();
        sizes.get(usize::from(level.0)).copied()
    }

    /// The largest block that a texture needs.
    pub fn largest(&self) -> Bytes {
        let finest = |chain: &Chain| *chain.sizes().last().expect("chains have levels");
        let largest = self.chains.iter().map(finest).max();
        largest.expect("there are chains").align_up(self.unit)
    }

    /// The largest number of levels of a chain.
    pub fn levels(&self) -> usize {
        let levels = self.chains.iter().map(|chain| chain.sizes().len()).max();
        levels.expect("there are chains")
    }
}

const EIGHT: Alignment = Alignment::new(8).unwrap();

fn check_chain(chain: usize, sizes: &[Bytes], unit: Alignment) -> Result<(), CacheError> {
    let fault = |level, size, before| {
        Err(CacheError::Chain {
            chain,
            level,
            size,
            before,
        })
    };
    if sizes.is_empty() || sizes.len() > 32 {
        return fault(sizes.len(), Bytes::ZERO, Bytes::ZERO);
    }
    let mut before = Bytes(1);
    for (level, &size) in sizes.iter().enumerate() {
        if size < before || size.checked_align_up(unit).is_none() {
            return fault(level, size, before);
        }
        before = size;
    }
    Ok(())
}

/// One class of blocks: all of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockClass {
    /// The largest texture that the class is meant for.
    pub texture: Bytes,
    /// What a block takes: a multiple of the unit, not below `texture`.
    pub block: Bytes,
}

/// Classes of blocks by ascending size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockTable {
    classes: Vec<BlockClass>,
    unit: Alignment,
}

impl BlockTable {
    /// A class for every size that a texture can have. Of the paper's geometry: its figure 6, with two classes of 8 bytes.
    pub fn per_size(geometry: &Geometry) -> BlockTable {
        let sizes = geometry
            .chains
            .iter()
            .flat_map(|chain| chain.sizes().iter().copied());
        BlockTable::of(sizes.collect(), geometry.unit)
    }

    /// A class for every size that a block can have.
    pub fn per_block(geometry: &Geometry) -> BlockTable {
        let mut table = BlockTable::per_size(geometry);
        table.classes.dedup_by(|next, class| {
            let same = next.block == class.block;
            if same {
                class.texture = next.texture;
            }
            same
        });
        table
    }

    /// What the policies take by default: [`per_size`](BlockTable::per_size) of one chain, as in the paper; of more chains
    /// [`per_block`](BlockTable::per_block), for classes that differ in nothing only split memory.
    pub fn new(geometry: &Geometry) -> BlockTable {
        match geometry.chains() {
            [_] => BlockTable::per_size(geometry),
            _ => BlockTable::per_block(geometry),
        }
    }

    /// A class for every size of a single level, without the levels below: the paper's first attempt.
    pub fn per_mip(geometry: &Geometry) -> BlockTable {
        let sizes = geometry.chains.iter().flat_map(|chain| {
            let below = std::iter::once(Bytes::ZERO).chain(chain.sizes().iter().copied());
            let single = chain.sizes().iter().zip(below).map(|(&size, below)| size - below);
            // A level that adds nothing still needs a block to stand for it.
            single.map(|size| size.max(Bytes(1)))
        });
        BlockTable::of(sizes.collect(), geometry.unit)
    }

    fn of(mut sizes: Vec<Bytes>, unit: Alignment) -> BlockTable {
        sizes.sort_unstable();
        sizes.dedup();
        let class = |texture: Bytes| BlockClass {
            texture,
            block: texture.align_up(unit),
        };
        BlockTable {
            classes: sizes.into_iter().map(class).collect(),
            unit,
        }
    }

    /// The classes by ascending size.
    pub fn classes(&self) -> &[BlockClass] {
        &self.classes
    }

    /// What every block is a multiple of.
    pub fn unit(&self) -> Alignment {
        self.unit
    }

    /// The class of the smallest block that holds `size` bytes; `None` if none does. O(log classes).
    ///
    /// Of several classes with that block, the first that is meant for the size, or else the last.
    pub fn class_of(&self, size: Bytes) -> Option<usize> {
        let block = self.classes.partition_point(|class| class.block < size);
        let fitting = self.classes.get(block)?.block;
        let meant = self.classes.partition_point(|class| class.texture < size);
        match self.classes.get(meant) {
            Some(class) if class.block == fitting => Some(meant),
            _ => Some(meant.max(1) - 1),
        }
    }

    /// The most that the gaps at the walls can come to: at each, a unit less than the smaller of its blocks.
    ///
    /// Source: Blow 1998, section II: 29,088 bytes for the table of figure 6.
    pub fn worst_gaps(&self) -> Bytes {
        let gap = |pair: &[BlockClass]| pair[0].block - Bytes(self.unit.get());
        self.classes.windows(2).map(gap).sum()
    }
}
