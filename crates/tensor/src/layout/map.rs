//! Index maps: from an element to its location; packing and unpacking of whole tensors.

use super::{ImageExtent, Layout};

/// The location of an element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Location {
    /// The index of the image in the grid; 0 if the layout is not split.
    pub image: u64,
    /// The layer within the image.
    pub layer: u64,
    /// The row within the image.
    pub y: u64,
    /// The texel within the row; for a buffer, within the whole buffer.
    pub x: u64,
    /// The element within the texel.
    pub lane: u64,
}

impl Layout {
    /// Locates an element.
    ///
    /// # Panics
    /// If the index is outside the shape.
    pub fn locate(&self, index: &[u64]) -> Location {
        assert!(
            index.len() == self.shape.len() && index.iter().zip(&self.shape).all(|(at, dim)| at < dim),
            "index {index:?} is outside the shape {:?}",
            self.shape
        );
        let (texel, lane) = self.texel_of(index);
        self.location(texel, lane)
    }

    /// The index of the element's texel in blocked row-major order, and the lane.
    fn texel_of(&self, index: &[u64]) -> (u64, u64) {
        match &self.rule.reshape {
            Some(reshape) => self.reshaped_texel_of(unravel(ravel(index, &self.shape), reshape)),
            None => self.reshaped_texel_of(index.to_vec()),
        }
    }

    /// Like [`Layout::texel_of`], for an index in the rule's reshaped dimensions.
    fn reshaped_texel_of(&self, mut at: Vec<u64>) -> (u64, u64) {
        if !self.rule.order.is_empty() {
            at = self.rule.order.iter().map(|&axis| at[axis]).collect();
        }
        let mut lane = 0;
        for pack in &self.rule.packs {
            lane = lane * pack.by + at[pack.axis] % pack.by;
            at[pack.axis] /= pack.by;
        }
        if self.rule.packs.is_empty() && self.lanes > 1 {
            lane = at
                .pop()
                .expect("the last axis of an image without packs is its lanes");
        }
        (ravel(&at, &self.blocked), lane)
    }

    fn location(&self, texel: u64, lane: u64) -> Location {
        let ImageExtent { width, height, .. } = self.extent;
        let (x, y, layer) = (texel % width, texel / width % height, texel / width / height);
        let (grid, tile) = (self.grid(), self.tile.unwrap_or(self.extent));
        let (column, row) = (x / tile.width, y / tile.height);
        Location {
            image: (layer / tile.layers * grid.height + row) * grid.width + column,
            layer: layer % tile.layers,
            y: y % tile.height,
            x: x % tile.width,
            lane,
        }
    }

    /// The number of elements in all images, including the padding of texels.
    pub fn padded_elements(&self) -> u64 {
        self.extent.texels() * self.lanes
    }

    /// Packs row-major elements: images one after another, each layer by layer, row by row, texel by texel; padding is the
    /// default value.
    ///
    /// # Panics
    /// If the number of elements is not that of the layout.
    pub fn pack<T: Copy + Default>(&self, elements: &[T]) -> Vec<T> {
        assert_eq!(
            elements.len() as u64,
            self.elements(),
            "`elements` must have one value for each element of the tensor"
        );
        let mut packed = vec![T::default(); self.padded_elements() as usize];
        self.visit(|logical, physical| packed[physical] = elements[logical]);
        packed
    }

    /// Unpacks the result of [`Layout::pack`] into row-major order.
    ///
    /// # Panics
    /// If the length is not [`Layout::padded_elements`].
    pub fn unpack<T: Copy + Default>(&self, packed: &[T]) -> Vec<T> {
        assert_eq!(
            packed.len() as u64,
            self.padded_elements(),
            "`packed` must have `padded_elements()` elements"
        );
        let mut elements = vec![T::default(); self.elements() as usize];
        self.visit(|logical, physical| elements[logical] = packed[physical]);
        elements
    }

    /// Calls `see` with every element's position in row-major order and its position in packed order.
    fn visit(&self, mut see: impl FnMut(usize, usize)) {
        let images = self.images();
        let mut bases = Vec::with_capacity(images.len());
        let mut base = 0;
        for image in &images {
            bases.push(base);
            base += image.texels() * self.lanes;
        }
        if self.elements() == 0 {
            return;
        }
        // In a single image, lanes are contiguous across texels.
        let packed = |lane: u64| {
            if images.len() == 1 {
                return lane;
            }
            let at = self.location(lane / self.lanes, lane % self.lanes);
            let image = images[at.image as usize];
            let within = ((at.layer * image.height + at.y) * image.width + at.x) * self.lanes + at.lane;
            bases[at.image as usize] + within
        };
        // A reshape keeps the row-major order. An element's packed position is a sum of one term per dimension, so a table for each
        // dimension leaves one addition per element. Mapping each index separately takes eight times as long (256 x 256 x 3 x 3 elements).
        let dims = self.rule.reshape.as_ref().unwrap_or(&self.shape);
        let parts: Vec<Vec<u64>> = (0..dims.len()).map(|axis| self.lane_parts(dims, axis)).collect();
        let Some((row, outer)) = parts.split_last() else {
            return see(0, packed(0) as usize);
        };
        let mut index = vec![0; outer.len()];
        for first in (0..self.elements() as usize).step_by(row.len()) {
            let start: u64 = index.iter().zip(outer).map(|(&at, part)| part[at]).sum();
            for (at, part) in row.iter().enumerate() {
                see(first + at, packed(start + part) as usize);
            }
            for (at, part) in index.iter_mut().zip(outer).rev() {
                *at += 1;
                if *at < part.len() {
                    break;
                }
                *at = 0;
            }
        }
    }

    /// For each index of one dimension, the term that it adds to an element's packed position.
    fn lane_parts(&self, dims: &[u64], axis: usize) -> Vec<u64> {
        let lane_of = |at| {
            let mut index = vec![0; dims.len()];
            index[axis] = at;
            let (texel, lane) = self.reshaped_texel_of(index);
            texel * self.lanes + lane
        };
        (0..dims[axis]).map(lane_of).collect()
    }
}

/// Converts an index to a row-major position.
fn ravel(index: &[u64], dims: &[u64]) -> u64 {
    index.iter().zip(dims).fold(0, |sum, (at, dim)| sum * dim + at)
}

fn unravel(mut linear: u64, dims: &[u64]) -> Vec<u64> {
    let mut index = vec![0; dims.len()];
    for (at, &dim) in index.iter_mut().zip(dims).rev() {
        *at = linear % dim;
        linear /= dim;
    }
    index
}

#[cfg(test)]
mod tests {
    use super::super::{AxisPacking, Convention, ConventionForm, Flattening, LayoutRule, Storage};
    use super::*;
    use crate::graph::ElementType;
    use crate::units::{Alignment, Bytes, SplitMix64};

    /// Asserts that every element has its own position, where [`Layout::locate`] finds it, and that the rest is padding.
    fn is_one_to_one(layout: &Layout) {
        let values: Vec<u64> = (1..=layout.elements()).collect();
        let packed = layout.pack(&values);
        let images = layout.images();
        for (first, &value) in values.iter().enumerate() {
            let at = layout.locate(&unravel(first as u64, &layout.shape));
            let (before, rest) = images.split_at(at.image as usize);
            let texels: u64 = before.iter().map(|image| image.texels()).sum();
            let within = (at.layer * rest[0].height + at.y) * rest[0].width + at.x;
            let place = (texels + within) * layout.lanes + at.lane;
            assert_eq!(packed[place as usize], value);
        }
        assert_eq!(layout.unpack(&packed), values);
        assert_eq!(packed.iter().filter(|&&value| value != 0).count(), values.len());
    }

    #[test]
    fn the_conventions_are_one_to_one() {
        for convention in Convention::ALL {
            for generation in [ConventionForm::Flat, ConventionForm::Layered] {
                let plain = convention.rule(5, generation);
                is_one_to_one(&plain.apply("t", &[2, 3, 4, 5, 4], ElementType::Float32).unwrap());
                let packed = convention.packing(4, 1, generation);
                is_one_to_one(&packed.apply("t", &[2, 7, 3, 5], ElementType::Float16).unwrap());
            }
        }
    }

    #[test]
    fn random_rules_are_one_to_one() {
        let mut random = SplitMix64::new(11);
        for _ in 0..300 {
            let shape: Vec<u64> = (0..3).map(|_| 1 + random.below(6)).collect();
            let reshape = (random.below(3) == 0).then(|| vec![shape[0] * shape[1], 1, shape[2]]);
            let order = [vec![], vec![2, 0, 1], vec![1, 2, 0]][random.below(3) as usize].clone();
            let mut pack = |by| {
                let axis = random.below(3) as usize;
                AxisPacking { axis, by }
            };
            let packs = vec![pack(4), pack(2), pack(4)][..1 + random.below(3) as usize].to_vec();
            let layers = random.below(3) as usize;
            let rows = layers + random.below(3 - layers as u64) as usize;
            let rule = LayoutRule {
                storage: Storage::ImageArray,
                reshape,
                order,
                packs,
                flattening: Flattening { layers, rows },
            };
            let mut layout = rule.apply("t", &shape, ElementType::Int8).unwrap();
            let mut side = |most| 1 + random.below(most);
            let [width, height, layers] = [side(3), side(3), side(2)];
            layout.tile = (side(2) == 1).then_some(ImageExtent {
                width,
                height,
                layers,
            });
            is_one_to_one(&layout);
        }
    }

    #[test]
    fn bytes_follow_the_pitch() {
        let rule = Convention::Texture.packing(4, 1, ConventionForm::Flat);
        let layout = rule.apply("t", &[1, 6, 2, 3], ElementType::Float32).unwrap();
        // 2 blocks of channels x 2 rows, 3 texels of 16 B: rows of 48 B start at multiples of 64.
        let at = layout.locate(&[0, 5, 1, 2]);
        assert_eq!((at.y, at.x, at.lane), (3, 2, 1));
        assert_eq!(
            layout.bytes_with_pitch(Alignment::new(64).unwrap()),
            Bytes(4 * 64)
        );
    }
}
