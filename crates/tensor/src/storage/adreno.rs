//! TVM's rules for Adreno.
//!
//! Source: TVM's [RFC](crate#sources), L1.1 (`CollectStorageInfo`); TVM at ce22736e and 5d4dc872.

use super::policy::{PackedTensor, StoragePolicy};
use super::scope::{ScopeLimits, adreno_scope};
use crate::layout::{Generation, LayoutRule};

/// TVM's relay rule for Adreno: an image where every reader takes one, of the squarest convention, in 2D.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Adreno;

/// TVM's relax rule for Adreno: the first convention that fits, in layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdrenoLayered;

impl StoragePolicy for Adreno {
    fn name(&self) -> &str {
        "adreno"
    }

    fn rule(&self, tensor: &PackedTensor<'_>) -> LayoutRule {
        // Weights with a window are read once a window: from buffers, but for halves.
        let window = tensor.shape[2..].iter().any(|&side| side != 1);
        let from_buffer = tensor.is_weight() && window && tensor.element().bytes() != 2;
        if tensor.is_only_read_as_image() && !from_buffer {
            packing(tensor, Generation::Flat)
        } else {
            tensor.buffer()
        }
    }
}

impl StoragePolicy for AdrenoLayered {
    fn name(&self) -> &str {
        "adreno-layered"
    }

    fn rule(&self, tensor: &PackedTensor<'_>) -> LayoutRule {
        if tensor.is_only_read_as_image() && !tensor.is_weight() {
            packing(tensor, Generation::Layered)
        } else {
            tensor.buffer()
        }
    }
}

fn packing(tensor: &PackedTensor<'_>, generation: Generation) -> LayoutRule {
    let limits = ScopeLimits {
        side: tensor.limits.side_2d,
        depth: tensor.limits.layers,
    };
    match adreno_scope(&tensor.blocked(), generation, limits) {
        Some(convention) => convention.packing(tensor.shape.len(), tensor.axis, generation),
        None => tensor.buffer(),
    }
}
