//! The networks: public convolutional ones, an LSTM in a loop, a transformer block, a perceptron for pixels. Their weights are noise, scaled
//! so that activations keep their magnitude from layer to layer.

use std::collections::BTreeMap;
use std::sync::Arc;

use tileheap_tensor::graph::{Attribute, NodeId, NodeKind};
use tileheap_tensor::{ElementType, Graph, GraphBuilder, Result, TensorId};

use crate::args::Model;
use tileheap_testkit::tensor::networks::{
    Unfinished, mobilenet_v1, mobilenet_v2, resnet18, resnet50, squeezenet, unet, vgg16,
};
use tileheap_testkit::tensor::values;

/// Number of classes of networks that classify pictures.
const CLASSES: u64 = 100;

/// A network with the values of its constants and inputs.
pub(crate) struct Seeded {
    pub(crate) graph: Arc<Graph>,
    pub(crate) values: BTreeMap<TensorId, Vec<f32>>,
    /// The number of rounds of each loop.
    pub(crate) rounds: Vec<(NodeId, u64)>,
}

/// A model for square pictures with sides of `size` pixels (for the LSTM: that many features; for the transformer: half as many tokens).
pub(crate) fn build(model: Model, size: u32, rounds: u64, element: ElementType, seed: u64) -> Result<Seeded> {
    let (name, side) = (&*model.name(), size.into());
    type Pictured = fn(&str, ElementType, u64, u64) -> Unfinished;
    let network: Option<Pictured> = match model {
        Model::Mobilenet => Some(mobilenet_v2),
        Model::MobilenetV1 => Some(mobilenet_v1),
        Model::Resnet => Some(resnet18),
        Model::Resnet50 => Some(resnet50),
        Model::Vgg => Some(vgg16),
        Model::Squeezenet => Some(squeezenet),
        _ => None,
    };
    let graph = match (model, network) {
        (_, Some(network)) => likely(network(name, element, side, CLASSES))?,
        (Model::Unet, _) => finished(unet(name, element, side)?)?,
        (Model::Transformer, _) => finished(transformer(name, element, side / 2)?)?,
        (Model::Mlp, _) => finished(perceptron(name, element, side * side / 4)?)?,
        _ => lstm(name, element, side)?,
    };
    let values = values(&graph, &[], seed);
    let looped = (0..)
        .zip(graph.nodes())
        .filter(|(_, node)| matches!(node.kind, NodeKind::Loop(_)));
    let rounds = looped.map(|(index, _)| (NodeId(index), rounds)).collect();
    Ok(Seeded {
        graph: Arc::new(graph),
        values,
        rounds,
    })
}

/// A network with its scores and their softmax as outputs: both, since a softmax hides small values.
fn likely(network: Unfinished) -> Result<Graph> {
    let (mut graph, scores) = network?;
    let likely = graph.operator("likely", "softmax", [], &[scores])?[0];
    graph.output(likely);
    finished((graph, scores))
}

fn finished((mut graph, made): (GraphBuilder, TensorId)) -> Result<Graph> {
    graph.output(made);
    graph.build()
}

/// A dense layer with a bias; weights are `[out, in]`.
fn layer(
    graph: &mut GraphBuilder,
    name: &str,
    x: TensorId,
    out: u64,
    then: Option<&str>,
) -> Result<TensorId> {
    let (element, shape) = (graph.tensor(x).element, graph.tensor(x).shape.fixed());
    let inner = shape
        .and_then(|shape| shape.last().copied())
        .expect("known shapes");
    let weights = graph.constant(format!("{name} weights"), element, [out, inner]);
    let bias = graph.constant(format!("{name} bias"), element, [out]);
    let then = then.map(|then| ("activation", Attribute::Text(then.to_owned())));
    Ok(graph.operator(name, "dense", then, &[x, weights, bias])?[0])
}

/// Attention with four heads, then two dense layers, each with a residual connection.
fn transformer(name: &str, element: ElementType, tokens: u64) -> Unfinished {
    const WIDTH: u64 = 64;
    const HEADS: u64 = 4;
    let mut graph = GraphBuilder::new(name);
    let x = graph.input("tokens", element, [tokens, WIDTH]);
    let ints = |name: &'static str, values: &[u64]| {
        let values: Vec<i64> = values.iter().map(|&value| value as i64).collect();
        [(name, Attribute::Ints(values))]
    };
    let norm = |graph: &mut GraphBuilder, name: &str, x: TensorId| {
        let scale = graph.constant(format!("{name} scale"), element, [WIDTH]);
        let shift = graph.constant(format!("{name} shift"), element, [WIDTH]);
        graph.operator(name, "layer_norm", [], &[x, scale, shift])
    };
    let first = norm(&mut graph, "first norm", x)?[0];
    let mut heads = Vec::new();
    for part in ["query", "key", "value"] {
        let made = layer(&mut graph, part, first, WIDTH, None)?;
        let shape = ints("shape", &[tokens, HEADS, WIDTH / HEADS]);
        let split = graph.operator(&format!("{part} split"), "reshape", shape, &[made])?;
        let axes = ints("axes", &[1, 0, 2]);
        heads.push(graph.operator(&format!("{part} heads"), "transpose", axes, &split)?[0]);
    }
    let transposed = [("transpose_b", Attribute::Int(1))];
    let scores = graph.operator("scores", "matmul", transposed, &heads[..2])?[0];
    let quarter = graph.constant("quarter", element, [1, 1, 1]);
    let scaled = graph.operator("scaled", "mul", [], &[scores, quarter])?;
    let attention = graph.operator("attention", "softmax", [], &scaled)?[0];
    let mixed = graph.operator("mixed", "matmul", [], &[attention, heads[2]])?;
    let together = graph.operator("together", "transpose", ints("axes", &[1, 0, 2]), &mixed)?;
    let merged = graph.operator("merged", "reshape", ints("shape", &[tokens, WIDTH]), &together)?[0];
    let projected = layer(&mut graph, "projected", merged, WIDTH, None)?;
    let middle = graph.operator("middle", "add", [], &[x, projected])?[0];
    let second = norm(&mut graph, "second norm", middle)?[0];
    let wide = layer(&mut graph, "wide", second, 4 * WIDTH, Some("gelu"))?;
    let narrow = layer(&mut graph, "narrow", wide, WIDTH, None)?;
    let y = graph.operator("y", "add", [], &[middle, narrow])?[0];
    Ok((graph, y))
}

/// Maps sixteen features of each pixel to a color through four layers of 64.
fn perceptron(name: &str, element: ElementType, pixels: u64) -> Unfinished {
    let mut graph = GraphBuilder::new(name);
    let mut x = graph.input("features", element, [pixels, 16]);
    for index in 0..4 {
        x = layer(&mut graph, &format!("layer {index}"), x, 64, Some("relu"))?;
    }
    let color = layer(&mut graph, "color", x, 3, Some("sigmoid"))?;
    Ok((graph, color))
}

/// An LSTM cell that runs in a loop on the same input, with two carried states.
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
        graph.exit_unless(go_on, &[h, c]);
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
    // Separate outputs: a loop leaves its results where its last round put them.
    for (name, left) in [("last h", left[0]), ("last c", left[1])] {
        let out = graph.operator(name, "copy", [], &[left])?[0];
        graph.output(out);
    }
    graph.build()
}
