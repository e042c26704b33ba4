//! Networks to plan and to run, and their reference results.

pub mod networks;
pub mod reference;

use std::collections::BTreeMap;

use tileheap_tensor::graph::{NodeKind, TensorSource};
use tileheap_tensor::{ElementType, Graph, TensorId};

pub use crate::assert_says;

/// Returns `count` pseudorandom multiples of 2^-10 in `[-1, 1)`, generated from `seed` by xorshift.
pub fn noise(seed: u64, count: usize) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 53) as f32 / 1024.0 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

/// Noise for every input and constant. Weights of `[out, ..]` are scaled so that sums of products have about the size of their inputs;
/// biases are small; Boolean elements are true.
pub fn values(graph: &Graph, symbols: &[u64], seed: u64) -> BTreeMap<TensorId, Vec<f32>> {
    let given = graph.tensor_ids().filter(|id| {
        let source = graph.tensor(*id).source;
        source == TensorSource::Constant || graph.inputs().contains(id)
    });
    let noisy = given.map(|id| {
        let shape = graph.shape_at(id, symbols).expect("in range");
        let count = shape.iter().product::<u64>() as usize;
        let fraction = match (graph.tensor(id).source, &shape[..]) {
            (TensorSource::Constant, [_]) => 8,
            (TensorSource::Constant, [_, inner @ ..]) => (inner.iter().product::<u64>() / 6).isqrt(),
            _ => 1,
        };
        // A power of two, so that no bits are lost.
        let fraction = fraction.max(1).next_power_of_two() as f32;
        let noise = noise(seed + u64::from(id.0), count).into_iter();
        match graph.tensor(id).element {
            ElementType::Bool => (id, vec![1.0; count]),
            _ => (id, noise.map(|value| value / fraction).collect()),
        }
    });
    noisy.collect()
}

/// The axis along which kernels pack a tensor: channels for rank 4, for weights their outputs (inputs for a transposed convolution),
/// otherwise the last axis.
pub fn packed_axis(graph: &Graph, id: TensorId) -> usize {
    let rank = graph.tensor(id).shape.rank();
    match (is_weights(graph, id), rank) {
        (true, _) => 0,
        (false, 4) => 1,
        _ => rank.saturating_sub(1),
    }
}

/// Returns true if a tensor is the weights of a convolution or a dense layer.
pub fn is_weights(graph: &Graph, id: TensorId) -> bool {
    graph.nodes().iter().any(|node| match &node.kind {
        NodeKind::Operator(operator) => {
            let takes_weights = matches!(operator.name.as_str(), "conv2d" | "conv2d_transpose" | "dense");
            takes_weights && node.inputs.get(1) == Some(&id)
        }
        _ => false,
    })
}
