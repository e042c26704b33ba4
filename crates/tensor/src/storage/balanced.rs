//! Images where operators read them as such.

use super::policy::{PackedTensor, StoragePolicy};
use crate::layout::{Convention, Generation, LayoutRule};

/// An image wherever the form is packed and some operator reads it so, with the tensor's own rows and columns; rows of single texels are
/// buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Balanced;

impl StoragePolicy for Balanced {
    fn name(&self) -> &str {
        "balanced"
    }

    fn rule(&self, tensor: &PackedTensor<'_>) -> LayoutRule {
        let (rank, axis) = (tensor.shape.len(), tensor.axis);
        if tensor.is_weight() {
            return Convention::Weight.packing(rank, axis, Generation::Flat);
        }
        // A row of single texels has no locality to keep. What elementwise operators read is an image too, or their results could not be
        // written over it.
        let single_texels = tensor.shape[2] * tensor.shape[3] == 1;
        if tensor.is_read_as_image() && !single_texels {
            Convention::Texture.packing(rank, axis, Generation::Flat)
        } else {
            tensor.buffer()
        }
    }
}
