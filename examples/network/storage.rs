//! The storage of each tensor: only buffers, or textures for tensors with two-dimensional locality.

use tileheap_tensor::layout::{Convention, ConventionForm};
use tileheap_tensor::{ElementType, Graph, Layout, LayoutRule, Result, TensorId};
use tileheap_testkit::tensor::{is_weights, packed_axis};

/// The storage of a network's tensors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Storing {
    Buffers,
    /// 2D images.
    Textures,
    /// Image arrays.
    Layers,
}

/// The layout of every tensor at its largest size: packed by 4 along the axis that kernels use.
pub(crate) fn layouts(graph: &Graph, storing: Storing) -> Result<Vec<Layout>> {
    let one = |id: TensorId| {
        let tensor = graph.tensor(id);
        let shape = graph.shape_bound(id, Default::default())?;
        let (weights, axis) = (is_weights(graph, id), packed_axis(graph, id));
        // A vector of features, or a single pixel, has no two-dimensional locality.
        let flat = shape.len() < 2 || !weights && shape.iter().rev().take(2).any(|&side| side == 1);
        let generation = if storing == Storing::Layers {
            ConventionForm::Layered
        } else {
            ConventionForm::Flat
        };
        let convention = if weights {
            Convention::Weight
        } else {
            Convention::Texture
        };
        let rule = match tensor.element {
            ElementType::Bool => LayoutRule::buffer(),
            _ if storing == Storing::Buffers || flat => LayoutRule::packed_buffer(axis),
            _ => convention.packing(shape.len(), axis, generation),
        };
        let layout = rule.apply(&tensor.name, &shape, tensor.element)?;
        // Weights of a wide layer exceed the limits as one row.
        match layout.extent.width > 16_384 {
            true => LayoutRule::packed_buffer(axis).apply(&tensor.name, &shape, tensor.element),
            false => Ok(layout),
        }
    };
    graph.tensor_ids().map(one).collect()
}
