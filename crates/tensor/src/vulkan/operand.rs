//! The layout of a tensor as kernels see it: its storage, its extent, and which axes become rows and columns.

use crate::error::{Error, Result};
use crate::layout::{Layout, Storage};

/// The storage of an operand, as far as kernel variants distinguish it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OperandStorage {
    /// A buffer of vectors of 4 elements.
    Buffer,
    /// A 2D image, one vector per texel.
    Image,
    /// An image array, one vector per texel.
    Array,
    /// A texel buffer, one vector per texel.
    Texels,
    /// A buffer of 32-bit floats in row-major order.
    Plain,
}

/// The letter of each storage in the table of kernels.
const LETTERS: [(OperandStorage, char); 5] = [
    (OperandStorage::Buffer, 'b'),
    (OperandStorage::Image, 'i'),
    (OperandStorage::Array, 'a'),
    (OperandStorage::Texels, 't'),
    (OperandStorage::Plain, 'p'),
];

impl OperandStorage {
    pub(super) fn letter(self) -> char {
        LETTERS[self as usize].1
    }

    #[cfg(test)]
    pub(super) fn of_letter(letter: char) -> Option<OperandStorage> {
        let found = LETTERS.into_iter().find(|(_, known)| *known == letter);
        found.map(|(storage, _)| storage)
    }
}

/// A tensor's form on the device: the part of its layout that pipelines depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OperandLayout {
    /// The storage.
    pub storage: OperandStorage,
    /// For an image, how many of the four axes form rows (and layers); the others form columns.
    pub split: u32,
}

/// A tensor as kernels see it: `[a, b, c, d]` vectors of 4 elements; shapes with fewer axes are padded with leading ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OperandShape {
    pub(super) layout: OperandLayout,
    /// The extent in vectors; for a plain tensor, in elements.
    pub(super) extent: [u32; 4],
    /// The axis along which the elements of a vector lie, and its number of elements; `None` for plain tensors.
    pub(super) lanes: Option<(u32, u32)>,
}

impl OperandShape {
    /// A row of vectors in a buffer.
    pub(super) fn row(vectors: u32) -> OperandShape {
        OperandShape {
            layout: OperandLayout {
                storage: OperandStorage::Buffer,
                split: 3,
            },
            extent: [1, 1, 1, vectors],
            lanes: Some((3, vectors * 4)),
        }
    }
}

/// Converts the layout of a tensor to the shape that kernels see.
pub(super) fn operand_shape(name: &str, layout: &Layout) -> Result<OperandShape> {
    let fault = |problem: String| Error::tensor(name, problem);
    let rule = &layout.rule;
    // A buffer of [A, B, C, D, 4] consists of vectors: TVM's form of a packed tensor.
    let vectors = rule.storage == Storage::Buffer && layout.lanes == 1 && layout.blocked.len() == 5;
    let blocked = match layout.blocked[..] {
        [ref outer @ .., 4] if vectors => outer,
        ref all => all,
    };
    let rank = blocked.len();
    if rank > 4 {
        let axes = &layout.blocked;
        return Err(fault(format!(
            "kernels support at most 4 axes, not counting the packed one, but its blocked shape {axes:?} has {rank}"
        )));
    }
    if rule.reshape.is_some() || !rule.order.is_empty() {
        let problem = "its axes are reshaped or reordered, but kernels need them unchanged";
        return Err(fault(problem.to_owned()));
    }
    if layout.tile.is_some() {
        let images = layout.grid().texels();
        return Err(fault(format!(
            "it is split into {images} images, but kernels support only one"
        )));
    }
    let ones = 4 - rank;
    let mut extent = [1; 4];
    for (axis, &dim) in extent[ones..].iter_mut().zip(blocked) {
        *axis = u32::try_from(dim).map_err(|_| fault(format!("dimension {dim} exceeds 32 bits")))?;
    }
    let lanes = match rule.packs[..] {
        [] if layout.lanes == 1 && !vectors => None,
        // The last axis, 4 elements, is not an axis of vectors.
        [] => Some((4, 4)),
        [pack] if pack.by == 4 => Some(((pack.axis + ones) as u32, layout.shape[pack.axis] as u32)),
        ref packs => {
            return Err(fault(format!(
                "kernels support one axis packed by 4, not {packs:?}"
            )));
        }
    };
    let storage = match rule.storage {
        Storage::Buffer if lanes.is_none() => OperandStorage::Plain,
        Storage::Buffer => OperandStorage::Buffer,
        Storage::TexelBuffer => OperandStorage::Texels,
        Storage::Image2d => OperandStorage::Image,
        Storage::ImageArray => OperandStorage::Array,
        Storage::Image3d => return Err(fault("kernels do not support 3D images".to_owned())),
    };
    let flattening = rule.flattening;
    let rows = (flattening.rows + ones) as u32;
    let (split, layers) = match storage {
        OperandStorage::Image => (rows, 0),
        OperandStorage::Array => (rows, flattening.rows.saturating_sub(1)),
        _ => (3, flattening.layers),
    };
    if flattening.layers != layers || !(1..=4).contains(&split) {
        let problem = format!("{flattening:?} of {rank} axes matches no storage convention");
        return Err(fault(problem));
    }
    let layout = OperandLayout { storage, split };
    Ok(OperandShape {
        layout,
        extent,
        lanes,
    })
}
