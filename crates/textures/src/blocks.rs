//! Size classes of blocks, for policies that divide memory by size.

use crate::units::{Alignment, Bytes};
use crate::{Geometry, MipChain};

/// A class of blocks of the same size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockClass {
    /// Size of the largest texture that the class is meant for.
    pub texture: Bytes,
    /// Size of a block: a multiple of the unit, at least `texture`.
    pub block: Bytes,
}

/// Classes of blocks in ascending order of size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockTable {
    classes: Vec<BlockClass>,
    unit: Alignment,
}

impl BlockTable {
    /// A class for each size of a texture. For the geometry of Blow's paper (1998), these are the classes of its figure 6, including two of 8 bytes.
    pub fn per_size(geometry: &Geometry) -> BlockTable {
        let sizes = geometry.chains().iter().flat_map(MipChain::sizes).copied();
        BlockTable::of(sizes.collect(), geometry.unit())
    }

    /// The default table: [`per_size`](BlockTable::per_size) for one chain, as in the paper; for several chains, one class for each block
    /// size, since classes of equal size only divide memory.
    pub fn new(geometry: &Geometry) -> BlockTable {
        let mut table = BlockTable::per_size(geometry);
        if geometry.chains().len() > 1 {
            table.classes.dedup_by(|next, class| {
                let same = next.block == class.block;
                if same {
                    class.texture = next.texture;
                }
                same
            });
        }
        table
    }

    /// A class for each size of a single level, excluding the coarser levels: the paper's first attempt.
    pub fn per_mip(geometry: &Geometry) -> BlockTable {
        let sizes = geometry.chains().iter().flat_map(|chain| {
            let below = std::iter::once(Bytes::ZERO).chain(chain.sizes().iter().copied());
            let single = chain.sizes().iter().zip(below).map(|(&size, below)| size - below);
            // A level that adds no bytes still needs a block.
            single.map(|size| size.max(Bytes(1)))
        });
        BlockTable::of(sizes.collect(), geometry.unit())
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

    /// The classes in ascending order of size.
    pub fn classes(&self) -> &[BlockClass] {
        &self.classes
    }

    /// The class of the smallest block that holds `size` bytes; `None` if none does. O(log classes).
    ///
    /// Of several classes with that block, the first whose textures are large enough, otherwise the last.
    pub fn class_of(&self, size: Bytes) -> Option<usize> {
        let block = self.classes.partition_point(|class| class.block < size);
        let fitting = self.classes.get(block)?.block;
        let meant = self.classes.partition_point(|class| class.texture < size);
        match self.classes.get(meant) {
            Some(class) if class.block == fitting => Some(meant),
            _ => Some(meant.max(1) - 1),
        }
    }

    /// Upper bound on the unused bytes between neighboring arenas: for each pair of adjacent block sizes, the smaller size minus one unit, summed.
    ///
    /// Source: Blow 1998, section II: 29,088 bytes for the table of figure 6.
    pub fn worst_gaps(&self) -> Bytes {
        let gap = |pair: &[BlockClass]| pair[0].block - Bytes(self.unit.get());
        self.classes.windows(2).map(gap).sum()
    }
}
