//! What holds each tensor: buffers alone, or textures for whatever has two dimensions to be near in.

use tileheap_tensor::layout::{Convention, Generation};
use tileheap_tensor::{ElementType, Graph, Layout, LayoutRule, Result, TensorId};
use tileheap_testkit::tensor::{is_weights, packed_axis};

/// How a network's tensors are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Storing {
    Buffers,
    /// 2D images.
    Textures,
    /// Image arrays.
    Layers,
}

/// The layout of every tensor at its largest: packed by 4 along the axis that kernels want.
pub(crate) fn layouts(graph: &Graph, storing: Storing) -> Result<Vec<Layout>> {
    let one = |id: TensorId| {
        let tensor = graph.tensor(id);
        let shape = graph.shape_bound(id, Default::default())?;
        let (weights, axis) = (is_weights(graph, id), packed_axis(graph, id));
        // A vector of features, or a single pixel, has nothing near it.
        let flat = shape.len() < 2 || !weights && shape.iter().rev().take(2).any(|&side| side == 1);
        let generation = if storing == Storing::Layers {
            Generation::Layered
        } else {
            Generation::Flat
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
        // Weights of a wide layer pass the limits as one row.
        match layout.extent.width > 16_384 {
            true => LayoutRule::packed_buffer(axis).apply(&tensor.name, &shape, tensor.element),
            false => Ok(layout),
        }
    };
    graph.tensor_ids().map(one).collect()
}
