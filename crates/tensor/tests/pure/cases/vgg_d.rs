//! NNC's training graph of VGG-D. The case gives a bound on its arena and no graph; the layers are public (Simonyan and Zisserman,
//! arXiv 1409.1556, table 1, column D), and so is what each one's gradient reads.

use tileheap_tensor::graph::{InPlace, Operator};
use tileheap_tensor::units::Bytes;
use tileheap_tensor::{ElementType, Graph, GraphBuilder, Shape, TensorId, TensorPlanOptions};

use crate::strategy;

use super::planned;

/// A layer that was computed forwards: what its gradient needs.
struct Done {
    input: TensorId,
    /// None of a pool.
    weights: Option<TensorId>,
    output: TensorId,
    has_relu: bool,
}

struct Training {
    graph: GraphBuilder,
    count: u32,
    done: Vec<Done>,
}

impl Training {
    fn node(
        &mut self,
        what: &str,
        inputs: &[TensorId],
        outputs: &[Vec<u64>],
        over: Option<u32>,
    ) -> Vec<TensorId> {
        self.count += 1;
        let name = format!("{what} {}", self.count);
        let output = |(index, shape): (usize, &Vec<u64>)| {
            let shape = Shape::new(shape.clone());
            (format!("{name}.{index}"), ElementType::Float32, shape)
        };
        let made = outputs.iter().enumerate().map(output).collect();
        let in_place = over.map(|input| InPlace { output: 0, input }).into_iter();
        let operator = Operator::named(what);
        self.graph.node(&name, operator, inputs, made, in_place.collect())
    }

    /// A convolution or dense layer, with its rectifier in its place.
    fn layer(
        &mut self,
        what: &str,
        input: TensorId,
        weights: Vec<u64>,
        output: Vec<u64>,
        has_relu: bool,
    ) -> TensorId {
        let (name, f32) = (format!("weights {}", self.count), ElementType::Float32);
        let bias = self.graph.constant(format!("{name} bias"), f32, [weights[0]]);
        let weights = self.graph.constant(&name, f32, Shape::new(weights));
        let mut made = self.node(what, &[input, weights, bias], std::slice::from_ref(&output), None)[0];
        if has_relu {
            made = self.node("relu", &[made], &[output], Some(0))[0];
        }
        self.done.push(Done {
            input,
            weights: Some(weights),
            output: made,
            has_relu,
        });
        made
    }

    fn shape(&self, tensor: TensorId) -> Vec<u64> {
        self.graph.tensor(tensor).shape.fixed().unwrap()
    }

    /// Gradients, last layer first. Those of weights are taken as they are made: nothing here reads them.
    fn backwards(&mut self, mut gradient: TensorId) -> TensorId {
        let picture = self.done[0].input;
        let mut last = gradient;
        for done in std::mem::take(&mut self.done).into_iter().rev() {
            let (input, output) = (done.input, done.output);
            if done.has_relu {
                let shape = self.shape(gradient);
                gradient = self.node("relu backward", &[gradient, output], &[shape], Some(0))[0];
            }
            let of_input = self.shape(input);
            let Some(weights) = done.weights else {
                gradient = self.node("pool backward", &[gradient, input, output], &[of_input], None)[0];
                continue;
            };
            let of_weights = self.shape(weights);
            let mut outputs = vec![of_weights.clone(), vec![of_weights[0]]];
            if input != picture {
                outputs.push(of_input);
            }
            let made = self.node("backward", &[gradient, input, weights], &outputs, None);
            last = made[0];
            gradient = made.get(2).copied().unwrap_or(last);
        }
        last
    }
}

/// One picture forwards and backwards.
fn training() -> (Graph, TensorId) {
    let mut net = Training {
        graph: GraphBuilder::new("VGG-D"),
        count: 0,
        done: Vec::new(),
    };
    let mut side = 224;
    let picture = net
        .graph
        .input("picture", ElementType::Float32, [1, 3, side, side]);
    let (mut x, mut channels) = (picture, 3);
    for (width, layers) in [(64, 2), (128, 2), (256, 3), (512, 3), (512, 3)] {
        for _ in 0..layers {
            let weights = vec![width, channels, 3, 3];
            x = net.layer("conv", x, weights, vec![1, width, side, side], true);
            channels = width;
        }
        side /= 2;
        let pooled = net.node("pool", &[x], &[vec![1, width, side, side]], None)[0];
        net.done.push(Done {
            input: x,
            weights: None,
            output: pooled,
            has_relu: false,
        });
        x = pooled;
    }
    let mut features = channels * side * side;
    for outputs in [4096, 4096, 1000] {
        let (weights, has_relu) = (vec![outputs, features], outputs != 1000);
        x = net.layer("dense", x, weights, vec![1, outputs], has_relu);
        features = outputs;
    }
    let loss = net.node("softmax and loss backward", &[x], &[vec![1, 1000]], None)[0];
    let last = net.backwards(loss);
    net.graph.output(last);
    (net.graph.build().unwrap(), picture)
}

/// By NNC's own rule; weights and picture are the caller's.
pub(crate) fn stays_within(most: Bytes) {
    let (graph, picture) = training();
    let options = TensorPlanOptions {
        strategy: strategy("nnc"),
        external: vec![picture],
        ..TensorPlanOptions::default()
    };
    let plan = planned(&graph, &options, 64);
    let (size, bound) = (plan.size(), plan.lower_bound());
    // The bound is that of this graph, and of none much smaller: all activations beside the largest gradient.
    let is_tight = bound.0 * 1000 > most.0 * 999;
    assert!(
        size <= most && is_tight,
        "{size} of {most} at most, bound {bound}"
    );
}
