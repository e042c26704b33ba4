//! The networks: MobileNetV2- and ResNet-18-shaped ones, and an LSTM in a loop. Their weights are noise, scaled so
//! that activations keep their size from layer to layer.

use std::collections::BTreeMap;

use tileheap_tensor::graph::{Attribute, NodeId, NodeKind, Source};
use tileheap_tensor::{ElementType, Graph, GraphBuilder, Result, TensorId};

use crate::args::Model;
use tileheap_testkit::tensor::networks::{Unfinished, mobilenet_v2, resnet18};

/// Of the networks that classify pictures.
const CLASSES: u64 = 100;

/// A network with the values of its constants and inputs.
pub(crate) struct Seeded {
    pub(crate) graph: Graph,
    pub(crate) values: BTreeMap<TensorId, Vec<f32>>,
    /// How many rounds its loops run.
    pub(crate) rounds: Vec<(NodeId, u64)>,
}

/// A model for square pictures of `size` pixels (of the LSTM: that many features).
pub(crate) fn build(model: Model, size: u32, rounds: u64, element: ElementType, seed: u64) -> Result<Seeded> {
    let (name, side) = (model.name(), size.into());
    let graph = match model {
        Model::Mobilenet => likely(mobilenet_v2(name, element, side, CLASSES))?,
        Model::Resnet => likely(resnet18(name, element, side, CLASSES))?,
        Model::Lstm => lstm(name, element, side)?,
    };
    let values = seeded(&graph, seed);
    let looped = (0..)
        .zip(graph.nodes())
        .filter(|(_, node)| matches!(node.kind, NodeKind::Loop(_)));
    let rounds = looped.map(|(index, _)| (NodeId(index), rounds)).collect();
    Ok(Seeded {
        graph,
        values,
        rounds,
    })
}

/// A network with its scores and their softmax for outputs: of both, since a softmax hides what is small.
fn likely(network: Unfinished) -> Result<Graph> {
    let (mut graph, scores) = network?;
    let likely = graph.operator("likely", "softmax", [], &[scores])?[0];
    graph.output(scores);
    graph.output(likely);
    graph.build()
}

/// Noise for every input and constant. Sums over the products that weights of `[out, ..]` take part in keep the size of what is
/// multiplied; biases are small.
fn seeded(graph: &Graph, seed: u64) -> BTreeMap<TensorId, Vec<f32>> {
    let mut noise = Noise(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let mut values = BTreeMap::new();
    for id in graph.tensor_ids() {
        let tensor = graph.tensor(id);
        let shape = tensor.shape.fixed().expect("known shapes");
        let count = shape.iter().product::<u64>() as usize;
        let scale = match (tensor.source, &shape[..]) {
            (Source::Constant, [_]) => 0.1,
            (Source::Constant, [_, inner @ ..]) => (6.0 / inner.iter().product::<u64>() as f32).sqrt(),
            _ if !graph.inputs().contains(&id) => continue,
            _ if tensor.element == ElementType::Bool => {
                values.insert(id, vec![1.0; count]);
                continue;
            }
            _ => 1.0,
        };
        values.insert(id, noise.take(count, scale));
    }
    values
}

/// An LSTM cell that runs round after round on the same input, its two states carried.
fn lstm(name: &str, element: ElementType, size: u64) -> Result<Graph> {
    let mut graph = GraphBuilder::new(name);
    let [x, h, c] = ["x", "h", "c"].map(|name| graph.input(name, element, [1, size]));
    let go_on = graph.input("go on", ElementType::Bool, [1]);
    let gates = ["input gate", "forget gate", "candidate", "output gate"];
    let weights = gates.map(|gate| {
        let mut square = |of: &str| graph.constant(format!("{gate} of {of}"), element, [size, size]);
        let squares = [square("x"), square("h")];
        (squares, graph.constant(format!("{gate} bias"), element, [size]))
    });
    let left = graph.repeat("lstm", &[x, h, c, go_on], |graph, parameters| {
        let &[x, h, c, go_on] = parameters else {
            unreachable!("one parameter per input")
        };
        graph.leave_unless(go_on, &[h, c]);
        let mut opened = Vec::new();
        for (gate, ([of_x, of_h], bias)) in gates.into_iter().zip(weights) {
            let from_x = graph.operator(&format!("{gate} from x"), "dense", [], &[x, of_x, bias])?[0];
            let from_h = graph.operator(&format!("{gate} from h"), "dense", [], &[h, of_h])?[0];
            let activation = if gate == "candidate" { "tanh" } else { "sigmoid" };
            let activation = [("activation", Attribute::Text(activation.to_owned()))];
            opened.push(graph.operator(gate, "add", activation, &[from_x, from_h])?[0]);
        }
        let kept = graph.operator("kept", "mul", [], &[opened[1], c])?[0];
        let added = graph.operator("added", "mul", [], &[opened[0], opened[2]])?[0];
        let next_c = graph.operator("next c", "add", [], &[kept, added])?[0];
        let seen = graph.operator("seen", "tanh", [], &[next_c])?[0];
        let next_h = graph.operator("next h", "mul", [], &[opened[3], seen])?[0];
        graph.carry(next_h, h);
        graph.carry(next_c, c);
        Ok(())
    })?;
    // Outputs of their own: what a loop leaves is where its last round put it.
    for (name, left) in [("last h", left[0]), ("last c", left[1])] {
        let out = graph.operator(name, "copy", [], &[left])?[0];
        graph.output(out);
    }
    graph.build()
}

/// Numbers that look like noise and are the same for the same seed: xorshift.
struct Noise(u64);

impl Noise {
    /// Between `-scale` and `scale`, exact in 16 bits.
    fn take(&mut self, count: usize, scale: f32) -> Vec<f32> {
        let mut next = || {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            let value = (self.0 >> 40) as f32 / (1u64 << 23) as f32 - 1.0;
            half::f16::from_f32(value * scale).to_f32()
        };
        (0..count).map(|_| next()).collect()
    }
}
