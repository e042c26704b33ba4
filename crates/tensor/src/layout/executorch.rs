//! ExecuTorch's layouts on Vulkan, by name.
//!
//! Source: `backends/vulkan/runtime/api/containers/Tensor.cpp` and `backends/vulkan/utils.py` of pytorch/executorch at cff6f4d.

use super::{Flattening, LayoutRule, Pack, Storage};

/// How ExecuTorch packs a tensor `[n, c, h, w]`, of which leading axes may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PackedLayout {
    /// The packed axis, from the last: width 0, height 1, channels 2.
    pub packed: usize,
    /// The axis in whose direction blocks of 4 by 4 extend, or that would be packed next.
    pub outer: usize,
    /// Bytes in words of four, not floats.
    pub int8: bool,
    /// Blocks of 4 by 4 elements.
    pub block: bool,
    /// The packed axis lies outside of the other in a buffer's order.
    pub transposed: bool,
}

/// Names, packed axis, outer packed axis, int8, block, transposed.
const TABLE: [(&str, PackedLayout); 8] = [
    ("kWidthPacked", layout(0, 1, false, false, false)),
    ("kHeightPacked", layout(1, 0, false, false, false)),
    ("kChannelsPacked", layout(2, 0, false, false, false)),
    ("kPackedInt8_4W", layout(0, 1, true, false, false)),
    ("kPackedInt8_4C", layout(2, 0, true, false, false)),
    ("kPackedInt8_4W4C", layout(2, 0, true, true, false)),
    ("kPackedInt8_4H4W", layout(0, 1, true, true, false)),
    ("kPackedInt8_4C1W", layout(2, 0, true, false, true)),
];

const fn layout(packed: usize, outer: usize, int8: bool, block: bool, transposed: bool) -> PackedLayout {
    PackedLayout {
        packed,
        outer,
        int8,
        block,
        transposed,
    }
}

impl PackedLayout {
    /// A layout by ExecuTorch's name.
    pub fn named(name: &str) -> Option<PackedLayout> {
        let found = TABLE.iter().find(|(known, _)| *known == name);
        found.map(|(_, layout)| *layout)
    }

    /// How many elements of the packed axis lie together.
    pub const fn block_size(&self, texture: bool) -> u64 {
        match (self.int8, self.block, texture) {
            (true, false, true) => 16,
            (true, ..) | (false, _, true) => 4,
            (false, _, false) => 1,
        }
    }

    /// `[n, c, h, w]`, padded to whole blocks.
    pub fn padded(&self, sizes: &[u64], texture: bool) -> [u64; 4] {
        let mut padded = four(sizes);
        let mut pad = |axis: usize, by: u64| padded[3 - axis] = padded[3 - axis].div_ceil(by) * by;
        pad(self.packed, self.block_size(texture));
        if self.block {
            pad(self.outer, 4);
        }
        padded
    }

    /// The axes in the order in which they lie, outermost first; of a tensor that does not have the packed axis, all as they are.
    pub fn dim_order(&self, rank: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..rank).collect();
        // Blocks that extend along the packed axis' neighbour keep the axes in place.
        if self.packed < rank {
            let packed = order.remove(rank - 1 - self.packed);
            let before = usize::from(self.transposed);
            order.insert(order.len().saturating_sub(before), packed);
        }
        order
    }

    /// Elements from one index of an axis to the next in a buffer.
    pub fn strides(&self, sizes: &[u64]) -> Vec<u64> {
        let mut strides = vec![1; sizes.len()];
        let mut stride = 1;
        for &axis in self.dim_order(sizes.len()).iter().rev() {
            strides[axis] = stride;
            stride *= sizes[axis];
        }
        strides
    }

    /// Elements that are stored: whole words of int8, whole texels.
    pub fn physical_elements(&self, sizes: &[u64], texture: bool) -> u64 {
        let padded: u64 = self.padded(sizes, texture).iter().product();
        if self.int8 { padded / 4 } else { padded }
    }

    /// The layout of a tensor in an image whose x, y and z are width, height, and channels of all batches.
    pub fn rule(&self, sizes: &[u64]) -> LayoutRule {
        let pack = |axis: usize, by: u64| Pack { axis: 3 - axis, by };
        let outer = self.block.then(|| pack(self.outer, 4));
        let packs = outer
            .into_iter()
            .chain([pack(self.packed, self.block_size(true))])
            .collect();
        LayoutRule {
            storage: Storage::Image3d,
            reshape: Some(four(sizes).to_vec()),
            packs,
            flattening: Flattening { layers: 2, rows: 3 },
            ..LayoutRule::default()
        }
    }
}

/// With leading axes of 1.
fn four(sizes: &[u64]) -> [u64; 4] {
    let mut all = [1; 4];
    for (to, &size) in all.iter_mut().rev().zip(sizes.iter().rev()) {
        *to = size;
    }
    all
}
