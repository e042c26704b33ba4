//! The interface of storage policies.

use std::fmt;

use super::form::operand_form;
use super::kernel;
use crate::graph::operators::OperandForm;
use crate::graph::{ElementType, Graph, NodeId, TensorId, TensorSource};
use crate::layout::{Convention, ConventionForm, ImageLimits, LayoutRule};

/// Decides for each packed tensor whether it is a buffer or an image, and the layout of the image.
///
/// A tensor is packed, four channels per vector, if the operators that read it require it; all others are row-major buffers. The
/// built-in policies are listed in [`POLICIES`](super::POLICIES); policies for other targets implement the same trait, and
/// [`StoragePolicies`](super::StoragePolicies) holds both by name.
///
/// ```
/// use tileheap_tensor::layout::{Convention, ConventionForm, LayoutRule};
/// use tileheap_tensor::storage::{PackedTensor, StoragePolicies, StoragePolicy};
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
///     fn rule(&self, tensor: &PackedTensor<'_>) -> Result<LayoutRule, String> {
///         match tensor.is_weight() {
///             true => Ok(tensor.image(Convention::Weight, ConventionForm::Flat)),
///             false => Err("activations are in buffers".to_owned()),
///         }
///     }
/// }
///
/// let mut graph = GraphBuilder::new("one convolution");
/// let x = graph.input("x", ElementType::Float16, [1, 32, 40, 40]);
/// let w = graph.constant("w", ElementType::Float16, [32, 32, 1, 1]);
/// let y = graph.operator("y", "conv2d", [], &[x, w])?[0];
/// graph.output(y);
/// let mut policies = StoragePolicies::default();
/// policies.register(&WeightImages);
/// let policy = policies.named("weight-images")?;
/// let choice = choose(&graph.build()?, &StorageOptions { policy, ..StorageOptions::default() })?;
/// assert!(choice.layouts[w.index()].rule.storage.is_image());
/// assert_eq!(choice.reasons[y.index()].to_string(), "no image: activations are in buffers");
/// # Ok::<(), tileheap_tensor::Error>(())
/// ```
pub trait StoragePolicy: fmt::Debug + Send + Sync {
    /// The name of the policy, for the command line.
    fn name(&self) -> &str;

    /// Describes the policy in one sentence.
    fn description(&self) -> &str {
        ""
    }

    /// Returns true if the operands of convolutions, pools and the operators between them are packed, four channels per vector, with conversions
    /// where other operators read them. If false, every tensor is a row-major buffer, and the error of [`StoragePolicy::rule`] is its reason.
    fn packs(&self) -> bool {
        true
    }

    /// The layout rule of a packed tensor, which has to pack the tensor's axis by 4.
    ///
    /// # Errors
    /// If the tensor has to be a buffer with the same packing: the reason.
    fn rule(&self, tensor: &PackedTensor<'_>) -> Result<LayoutRule, String>;
}

/// A packed tensor, as policies see it.
#[derive(Clone, Copy, Debug)]
pub struct PackedTensor<'a> {
    /// The graph, conversions included.
    pub graph: &'a Graph,
    /// The tensor.
    pub id: TensorId,
    /// The axis packed by 4: 1 of activations, 0 of weights; `None` if the last axis of the shape is the 4 of a texel.
    pub axis: Option<usize>,
    /// The tensor's dimensions, with symbols at their upper bounds.
    pub shape: &'a [u64],
    /// The nodes that read the tensor.
    pub readers: &'a [NodeId],
    /// The device's limits.
    pub limits: ImageLimits,
}

impl PackedTensor<'_> {
    /// Returns true if the tensor holds convolution weights.
    pub fn is_weight(&self) -> bool {
        let tensor = self.graph.tensor(self.id);
        self.axis == Some(0)
            || self.axis.is_none() && (tensor.source == TensorSource::Constant || tensor.kept)
    }

    /// The type of the tensor's elements.
    pub fn element(&self) -> ElementType {
        self.graph.tensor(self.id).element
    }

    /// The rule of a buffer with the tensor's packing.
    pub fn buffer(&self) -> LayoutRule {
        self.axis
            .map_or_else(LayoutRule::buffer, LayoutRule::packed_buffer)
    }

    /// The rule of an image with the tensor's packing.
    pub fn image(&self, convention: Convention, generation: ConventionForm) -> LayoutRule {
        let rank = self.shape.len();
        match self.axis {
            Some(axis) => convention.packing(rank, axis, generation),
            None => convention.rule(rank, generation),
        }
    }

    /// The dimensions after packing, `[a, b, c, d, 4]`.
    pub fn blocked(&self) -> Vec<u64> {
        let mut blocked = self.shape.to_vec();
        if let Some(axis) = self.axis {
            blocked[axis] = blocked[axis].div_ceil(4);
            blocked.push(4);
        }
        blocked
    }

    /// Checks that some reader accepts images, and that the tensor's producer can write one.
    ///
    /// # Errors
    /// The reason why it is not an image.
    pub fn is_used_as_image(&self) -> Result<(), String> {
        self.is_made_as_image()?;
        let mut all = self.readers.iter().map(|&reader| self.takes_image(reader));
        let first = all.next().ok_or("nothing reads it")?;
        first.or_else(|why| all.find(Result::is_ok).unwrap_or(Err(why)))
    }

    /// Checks that every reader accepts images, that the tensor's producer can write one, and that the tensor is not an output
    /// of the graph.
    ///
    /// # Errors
    /// The reason why it is not an image.
    pub fn is_only_used_as_image(&self) -> Result<(), String> {
        self.is_made_as_image()?;
        if self.graph.outputs().contains(&self.id) || self.readers.is_empty() {
            return Err("it is an output of the graph, or nothing reads it".to_owned());
        }
        self.readers
            .iter()
            .try_for_each(|&reader| self.takes_image(reader))
    }

    /// Returns true if some reader is a compiler's kernel that reduces the tensor.
    pub fn is_reduced(&self) -> bool {
        let mut readers = self.readers.iter().map(|&reader| self.graph.node(reader));
        readers.any(|reader| kernel::function(reader).is_some_and(kernel::reduces))
    }

    fn is_made_as_image(&self) -> Result<(), String> {
        match (self.axis, self.graph.tensor(self.id).source) {
            (None, TensorSource::Node(node)) => self.takes_image(node),
            _ => Ok(()),
        }
    }

    fn takes_image(&self, node: NodeId) -> Result<(), String> {
        let node = self.graph.node(node);
        match kernel::function(node) {
            Some(function) => kernel::takes_images(function),
            // Operators that accept other than plain tensors do not include conversions.
            None if operand_form(node) != OperandForm::Plain => Ok(()),
            None => Err(format!("node `{}` needs it in row-major order", node.name)),
        }
    }
}
