//! The interface of storage policies.

use std::fmt;

use super::form::operand_form;
use super::rewrite::is_conversion;
use crate::graph::operators::OperandForm;
use crate::graph::{ElementType, Graph, NodeId, TensorId};
use crate::layout::{ImageLimits, LayoutRule};

/// Decides for each packed tensor whether it is a buffer or an image, and how the image is laid out.
///
/// A tensor is packed, four channels side by side, where the operators that read it want that; all others are row-major buffers. The
/// built-in policies are listed in [`POLICIES`](super::POLICIES); a caller's own enters by the same trait.
///
/// ```
/// use tileheap_tensor::layout::{Convention, Generation, LayoutRule};
/// use tileheap_tensor::storage::{PackedTensor, StoragePolicy};
/// use tileheap_tensor::{ElementType, GraphBuilder, StorageOptions, choose};
///
/// /// Weights in images, activations in buffers.
/// #[derive(Debug)]
/// struct WeightImages;
///
/// impl StoragePolicy for WeightImages {
///     fn name(&self) -> &str {
///         "weight-images"
///     }
///
///     fn rule(&self, tensor: &PackedTensor<'_>) -> LayoutRule {
///         match tensor.is_weight() {
///             true => Convention::Weight.packing(tensor.shape.len(), tensor.axis, Generation::Flat),
///             false => tensor.buffer(),
///         }
///     }
/// }
///
/// let mut graph = GraphBuilder::new("one convolution");
/// let x = graph.input("x", ElementType::Float16, [1, 32, 40, 40]);
/// let w = graph.constant("w", ElementType::Float16, [32, 32, 1, 1]);
/// let y = graph.operator("y", "conv2d", [], &[x, w])?[0];
/// graph.output(y);
/// let choice = choose(&graph.build()?, &StorageOptions { policy: &WeightImages, ..StorageOptions::default() })?;
/// assert!(choice.layouts[w.index()].rule.storage.is_image());
/// assert!(!choice.layouts[y.index()].rule.storage.is_image());
/// # Ok::<(), tileheap_tensor::Error>(())
/// ```
pub trait StoragePolicy: fmt::Debug + Send + Sync {
    /// Its name, on the command line.
    fn name(&self) -> &str;

    /// The layout rule of a packed tensor; it has to pack the tensor's axis by 4.
    fn rule(&self, tensor: &PackedTensor<'_>) -> LayoutRule;
}

/// A packed tensor, as policies see it.
#[derive(Clone, Copy, Debug)]
pub struct PackedTensor<'a> {
    /// The graph, conversions included.
    pub graph: &'a Graph,
    /// The tensor.
    pub id: TensorId,
    /// The axis packed by 4: 1 of activations, 0 of weights.
    pub axis: usize,
    /// Its largest dimensions.
    pub shape: &'a [u64],
    /// The nodes that read it.
    pub readers: &'a [NodeId],
    /// The device's limits.
    pub limits: ImageLimits,
}

impl PackedTensor<'_> {
    /// Whether it holds convolution weights.
    pub fn is_weight(&self) -> bool {
        self.axis == 0
    }

    /// Type of its elements.
    pub fn element(&self) -> ElementType {
        self.graph.tensor(self.id).element
    }

    /// A buffer with the same packing.
    pub fn buffer(&self) -> LayoutRule {
        LayoutRule::packed_buffer(self.axis)
    }

    /// The dimensions as packed, `[a, b, c, d, 4]`.
    pub fn blocked(&self) -> Vec<u64> {
        let mut blocked = self.shape.to_vec();
        blocked[self.axis] = blocked[self.axis].div_ceil(4);
        blocked.push(4);
        blocked
    }

    /// Whether some reader takes images.
    pub fn is_read_as_image(&self) -> bool {
        self.readers.iter().any(|&reader| self.takes_image(reader))
    }

    /// Whether every reader takes images, and it is no output of the graph.
    pub fn is_only_read_as_image(&self) -> bool {
        !self.readers.is_empty()
            && self.readers.iter().all(|&reader| self.takes_image(reader))
            && !self.graph.outputs().contains(&self.id)
    }

    fn takes_image(&self, reader: NodeId) -> bool {
        let node = self.graph.node(reader);
        operand_form(node) != OperandForm::Plain && !is_conversion(node)
    }
}
