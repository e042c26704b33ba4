//! The networks: MobileNetV2- and ResNet-18-shaped ones, and an LSTM in a loop. Their weights are noise, scaled so that
//! activations keep their size from layer to layer.

use std::collections::BTreeMap;

use tileheap::tensor::{
    Attribute, ElementType, Graph, GraphBuilder, NodeId, NodeKind, TensorFault, TensorId,
};

use crate::args::Model;

/// A network with the values of its constants and inputs.
pub(crate) struct Seeded {
    pub(crate) graph: Graph,
    pub(crate) values: BTreeMap<TensorId, Vec<f32>>,
    /// How many rounds its loops run.
    pub(crate) rounds: Vec<(NodeId, u64)>,
}

/// A model for square pictures of `size` pixels (of the LSTM: that many features).
pub(crate) fn build(
    model: Model,
    size: u32,
    rounds: u64,
    element: ElementType,
    seed: u64,
) -> Result<Seeded, TensorFault> {
    let mut sketch = Sketch {
        graph: GraphBuilder::new(model.name()),
        element,
        noise: Noise(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1),
        values: BTreeMap::new(),
        count: 0,
    };
    match model {
        Model::Mobilenet => sketch.mobilenet(size)?,
        Model::Resnet => sketch.resnet(size)?,
        Model::Lstm => sketch.lstm(size)?,
    }
    let Sketch { graph, values, .. } = sketch;
    let graph = graph.build()?;
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

struct Sketch {
    graph: GraphBuilder,
    element: ElementType,
    noise: Noise,
    values: BTreeMap<TensorId, Vec<f32>>,
    count: u32,
}

/// How a convolution goes over its input.
struct Convolution {
    outputs: u32,
    kernel: u32,
    stride: u32,
    /// A channel by itself.
    depthwise: bool,
    activation: Option<&'static str>,
}

impl Sketch {
    /// A name of its own for a node.
    fn name(&mut self, kind: &str) -> String {
        self.count += 1;
        format!("{kind} {}", self.count)
    }

    /// A constant of noise whose sums over `inner` products keep the size of what is multiplied.
    fn weights(&mut self, name: &str, shape: &[u32], inner: u32) -> TensorId {
        let count = shape.iter().product::<u32>() as usize;
        let scale = (6.0 / inner.max(1) as f32).sqrt();
        let dims = tileheap::tensor::Shape(shape.iter().map(|&dim| i64::from(dim).into()).collect());
        let id = self.graph.constant(name, self.element, dims);
        self.values.insert(id, self.noise.take(count, scale));
        id
    }

    fn input(&mut self, name: &str, shape: &[u32]) -> TensorId {
        let count = shape.iter().product::<u32>() as usize;
        let dims = tileheap::tensor::Shape(shape.iter().map(|&dim| i64::from(dim).into()).collect());
        let id = self.graph.input(name, self.element, dims);
        self.values.insert(id, self.noise.take(count, 1.0));
        id
    }

    fn convolution(&mut self, x: TensorId, inputs: u32, of: &Convolution) -> Result<TensorId, TensorFault> {
        let name = self.name(if of.depthwise { "depthwise" } else { "conv" });
        let inner = if of.depthwise { 1 } else { inputs };
        let products = inner * of.kernel * of.kernel;
        let w = self.weights(
            &format!("{name} weights"),
            &[of.outputs, inner, of.kernel, of.kernel],
            products,
        );
        let b = self.weights(&format!("{name} bias"), &[of.outputs], 600);
        let (stride, padding) = (i64::from(of.stride), i64::from(of.kernel / 2));
        let mut attributes = vec![
            ("strides", Attribute::Ints(vec![stride; 2])),
            ("padding", Attribute::Ints(vec![padding; 2])),
        ];
        if of.depthwise {
            attributes.push(("groups", Attribute::Int(inputs.into())));
        }
        if let Some(activation) = of.activation {
            attributes.push(("activation", Attribute::Text(activation.to_owned())));
        }
        Ok(self.graph.operator(&name, "conv2d", attributes, &[x, w, b])?[0])
    }

    fn node(&mut self, operator: &str, inputs: &[TensorId]) -> Result<TensorId, TensorFault> {
        let name = self.name(operator);
        Ok(self.graph.operator(&name, operator, [], inputs)?[0])
    }

    /// Pool, dense layer, softmax.
    fn classify(&mut self, x: TensorId, channels: u32, classes: u32) -> Result<(), TensorFault> {
        let pooled = self.node("global_avg_pool2d", &[x])?;
        let flat = self.node("flatten", &[pooled])?;
        let w = self.weights("classifier weights", &[classes, channels], channels);
        let b = self.weights("classifier bias", &[classes], 600);
        let scores = self.node("dense", &[flat, w, b])?;
        let likely = self.node("softmax", &[scores])?;
        // Of both, since a softmax hides what is small.
        self.graph.output(scores);
        self.graph.output(likely);
        Ok(())
    }

    /// MobileNetV2: inverted residuals of expansion, depthwise convolution, projection.
    fn mobilenet(&mut self, size: u32) -> Result<(), TensorFault> {
        let of = |outputs, kernel, stride, depthwise, activation| Convolution {
            outputs,
            kernel,
            stride,
            depthwise,
            activation,
        };
        let relu6 = Some("relu6");
        let mut x = self.input("picture", &[1, 3, size, size]);
        x = self.convolution(x, 3, &of(32, 3, 2, false, relu6))?;
        let mut channels = 32;
        // Expansion, channels, repeats, stride of the first.
        let stages = [
            (1, 16, 1, 1),
            (6, 24, 2, 2),
            (6, 32, 3, 2),
            (6, 64, 4, 2),
            (6, 96, 3, 1),
            (6, 160, 3, 2),
            (6, 320, 1, 1),
        ];
        for (expansion, outputs, repeats, first) in stages {
            for repeat in 0..repeats {
                let stride = if repeat == 0 { first } else { 1 };
                let (before, wide) = (x, channels * expansion);
                if expansion > 1 {
                    x = self.convolution(x, channels, &of(wide, 1, 1, false, relu6))?;
                }
                x = self.convolution(x, wide, &of(wide, 3, stride, true, relu6))?;
                x = self.convolution(x, wide, &of(outputs, 1, 1, false, None))?;
                if stride == 1 && channels == outputs {
                    x = self.node("add", &[before, x])?;
                }
                channels = outputs;
            }
        }
        x = self.convolution(x, channels, &of(1280, 1, 1, false, relu6))?;
        self.classify(x, 1280, 100)
    }

    /// ResNet-18: pairs of 3 x 3 convolutions around which their input goes.
    fn resnet(&mut self, size: u32) -> Result<(), TensorFault> {
        let of = |outputs, kernel, stride, activation| Convolution {
            outputs,
            kernel,
            stride,
            depthwise: false,
            activation,
        };
        let mut x = self.input("picture", &[1, 3, size, size]);
        x = self.convolution(x, 3, &of(64, 7, 2, Some("relu")))?;
        let name = self.name("pool");
        let window = [("kernel", 3), ("strides", 2), ("padding", 1)];
        let window = window.map(|(name, side)| (name, Attribute::Ints(vec![side; 2])));
        x = self.graph.operator(&name, "max_pool2d", window, &[x])?[0];
        let mut channels = 64;
        for (outputs, first) in [(64, 1), (128, 2), (256, 2), (512, 2)] {
            for stride in [first, 1] {
                let mut around = x;
                let inner = self.convolution(x, channels, &of(outputs, 3, stride, Some("relu")))?;
                let inner = self.convolution(inner, outputs, &of(outputs, 3, 1, None))?;
                if stride != 1 || channels != outputs {
                    around = self.convolution(x, channels, &of(outputs, 1, stride, None))?;
                }
                let sum = self.node("add", &[inner, around])?;
                x = self.node("relu", &[sum])?;
                channels = outputs;
            }
        }
        self.classify(x, 512, 100)
    }

    /// An LSTM cell that runs round after round on the same input, its two states carried.
    fn lstm(&mut self, size: u32) -> Result<(), TensorFault> {
        let hidden = size;
        let x = self.input("x", &[1, size]);
        let (h, c) = (self.input("h", &[1, hidden]), self.input("c", &[1, hidden]));
        let go_on = self.graph.input("go on", ElementType::Bool, [1]);
        self.values.insert(go_on, vec![1.0]);
        let gates = ["input gate", "forget gate", "candidate", "output gate"];
        let weights: Vec<[TensorId; 3]> = gates
            .iter()
            .map(|gate| {
                [
                    self.weights(&format!("{gate} of x"), &[hidden, size], 2 * size),
                    self.weights(&format!("{gate} of h"), &[hidden, hidden], 2 * size),
                    self.weights(&format!("{gate} bias"), &[hidden], 600),
                ]
            })
            .collect();
        let left = self
            .graph
            .repeat("lstm", &[x, h, c, go_on], |graph, parameters| {
                let &[x, h, c, go_on] = parameters else {
                    unreachable!("one parameter per input")
                };
                graph.leave_unless(go_on, &[h, c]);
                let mut opened = Vec::new();
                for (gate, &[of_x, of_h, bias]) in gates.iter().zip(&weights) {
                    let from_x = graph.operator(&format!("{gate} from x"), "dense", [], &[x, of_x, bias])?[0];
                    let from_h = graph.operator(&format!("{gate} from h"), "dense", [], &[h, of_h])?[0];
                    let activation = if *gate == "candidate" { "tanh" } else { "sigmoid" };
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
            let out = self.graph.operator(name, "copy", [], &[left])?[0];
            self.graph.output(out);
        }
        Ok(())
    }
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
