//! Public convolutional networks as graphs, at any image size. Only shapes: the caller fills in the constants.

use tileheap_tensor::graph::Attribute;
use tileheap_tensor::{ElementType, Graph, GraphBuilder, Result, TensorId};

/// A network being built: convolutions and sums are fused with their activation, as in the results that other projects publish.
struct Net {
    graph: GraphBuilder,
    element: ElementType,
    count: u32,
}

type Built = Result<TensorId>;

/// An unfinished network and its result (scores or a picture), which is not marked as an output yet.
pub type Unfinished = Result<(GraphBuilder, TensorId)>;

/// Name of the fused activation ReLU; the alternatives are [`RELU6`] and [`NOTHING`].
const RELU: &str = "relu";
const RELU6: &str = "relu6";
const NOTHING: &str = "";

impl Net {
    fn new(name: &str, element: ElementType) -> Net {
        Net {
            graph: GraphBuilder::new(name),
            element,
            count: 0,
        }
    }

    fn input(&mut self, channels: u64, side: u64) -> TensorId {
        self.graph.input("input", self.element, [1, channels, side, side])
    }

    fn name(&mut self, what: &str) -> String {
        self.count += 1;
        format!("{what}{}", self.count)
    }

    fn channels(&self, x: TensorId) -> u64 {
        self.graph.tensor(x).shape.fixed().expect("known shapes")[1]
    }

    fn op(&mut self, what: &str, attributes: Vec<(&str, Attribute)>, inputs: &[TensorId]) -> Built {
        let name = self.name(what);
        Ok(self.graph.operator(&name, what, attributes, inputs)?[0])
    }

    /// Adds a convolution with a bias and the fused activation `then`.
    fn conv(&mut self, x: TensorId, out: u64, kernel: u64, stride: i64, groups: u64, then: &str) -> Built {
        let inner = self.channels(x) / groups;
        let (weights, bias) = (self.name("w"), self.name("b"));
        let shape = [out, inner, kernel, kernel];
        let weights = self.graph.constant(weights, self.element, shape);
        let bias = self.graph.constant(bias, self.element, [out]);
        let pad = (kernel as i64 - 1) / 2;
        let mut attributes = vec![
            ("strides", vec![stride, stride].into()),
            ("padding", vec![pad, pad].into()),
            ("groups", (groups as i64).into()),
        ];
        attributes.extend(activation(then));
        self.op("conv2d", attributes, &[x, weights, bias])
    }

    fn add(&mut self, a: TensorId, b: TensorId, then: &str) -> Built {
        self.op("add", activation(then).into_iter().collect(), &[a, b])
    }

    fn max_pool(&mut self, x: TensorId, kernel: i64, stride: i64, pad: i64) -> Built {
        let attributes = vec![
            ("kernel", kernel.into()),
            ("strides", stride.into()),
            ("padding", pad.into()),
        ];
        self.op("max_pool2d", attributes, &[x])
    }

    fn concat(&mut self, inputs: &[TensorId]) -> Built {
        self.op("concat", vec![("axis", 1.into())], inputs)
    }

    /// Adds global average pooling, flattening and a dense layer whose results are the scores.
    fn classify(mut self, x: TensorId, classes: u64) -> Unfinished {
        let pooled = self.op("global_avg_pool2d", vec![], &[x])?;
        let flat = self.op("flatten", vec![], &[pooled])?;
        let inner = self.channels(x);
        let weights = self.graph.constant("classes", self.element, [classes, inner]);
        let bias = self.graph.constant("classes bias", self.element, [classes]);
        let scores = self.op("dense", vec![], &[flat, weights, bias])?;
        Ok((self.graph, scores))
    }
}

fn activation(then: &str) -> Option<(&'static str, Attribute)> {
    (then != NOTHING).then(|| ("activation", Attribute::Text(then.to_owned())))
}

/// The seven networks for which other projects publish results of memory planning.
pub fn networks(element: ElementType) -> Result<Vec<Graph>> {
    let all = [
        mobilenet_v1("MobileNetV1 224", element, 224, 1000),
        mobilenet_v2("MobileNetV2 224", element, 224, 1000),
        resnet18("ResNet-18 224", element, 224, 1000),
        resnet50("ResNet-50 224", element, 224, 1000),
        vgg16("VGG-16 224", element, 224, 1000),
        squeezenet("SqueezeNet 1.0 227", element, 227, 1000),
        unet("U-Net 256", element, 256),
    ];
    let finished = all.into_iter().map(|unfinished| {
        let (mut graph, computed) = unfinished?;
        graph.output(computed);
        graph.build()
    });
    finished.collect()
}

/// MobileNetV1.
pub fn mobilenet_v1(name: &str, element: ElementType, side: u64, classes: u64) -> Unfinished {
    let mut net = Net::new(name, element);
    let mut x = net.input(3, side);
    x = net.conv(x, 32, 3, 2, 1, RELU6)?;
    let mut before = 32;
    for out in [64, 128, 128, 256, 256, 512, 512, 512, 512, 512, 512, 1024, 1024] {
        // Sides are halved where channels are doubled, except the first time.
        let stride = if out > before && out > 64 { 2 } else { 1 };
        before = out;
        let channels = net.channels(x);
        x = net.conv(x, channels, 3, stride, channels, RELU6)?;
        x = net.conv(x, out, 1, 1, 1, RELU6)?;
    }
    net.classify(x, classes)
}

/// MobileNetV2: inverted residuals of expansion, depthwise convolution, projection.
pub fn mobilenet_v2(name: &str, element: ElementType, side: u64, classes: u64) -> Unfinished {
    let mut net = Net::new(name, element);
    let mut x = net.input(3, side);
    x = net.conv(x, 32, 3, 2, 1, RELU6)?;
    // The stride applies to the first of the repeats.
    let channels = [16, 24, 32, 64, 96, 160, 320];
    let repeats = [1, 2, 3, 4, 3, 3, 1];
    let strides = [1, 2, 2, 2, 1, 2, 1];
    for ((out, repeats), stride) in channels.into_iter().zip(repeats).zip(strides) {
        let expand = if out == 16 { 1 } else { 6 };
        for repeat in 0..repeats {
            let (before, inner) = (x, net.channels(x) * expand);
            if expand > 1 {
                x = net.conv(x, inner, 1, 1, 1, RELU6)?;
            }
            let stride = if repeat == 0 { stride } else { 1 };
            x = net.conv(x, inner, 3, stride, inner, RELU6)?;
            x = net.conv(x, out, 1, 1, 1, NOTHING)?;
            if repeat > 0 {
                x = net.add(before, x, NOTHING)?;
            }
        }
    }
    x = net.conv(x, 1280, 1, 1, 1, RELU6)?;
    net.classify(x, classes)
}

/// ResNet-18.
pub fn resnet18(name: &str, element: ElementType, side: u64, classes: u64) -> Unfinished {
    resnet(name, element, side, classes, false)
}

/// ResNet-50.
pub fn resnet50(name: &str, element: ElementType, side: u64, classes: u64) -> Unfinished {
    resnet(name, element, side, classes, true)
}

/// A residual network: blocks of two 3 x 3 convolutions or, if `deep`, of a 1 x 1, a 3 x 3 and a 1 x 1 convolution, each block with a skip
/// connection.
fn resnet(name: &str, element: ElementType, side: u64, classes: u64, deep: bool) -> Unfinished {
    let mut net = Net::new(name, element);
    let mut x = net.input(3, side);
    x = net.conv(x, 64, 7, 2, 1, RELU)?;
    x = net.max_pool(x, 3, 2, 1)?;
    let blocks = if deep { [3, 4, 6, 3] } else { [2, 2, 2, 2] };
    for (stage, blocks) in blocks.into_iter().enumerate() {
        let width = 64 << stage;
        for block in 0..blocks {
            let stride = if stage > 0 && block == 0 { 2 } else { 1 };
            let (mut short, out) = (x, if deep { width * 4 } else { width });
            x = if deep {
                let inner = net.conv(x, width, 1, 1, 1, RELU)?;
                let inner = net.conv(inner, width, 3, stride, 1, RELU)?;
                net.conv(inner, out, 1, 1, 1, NOTHING)?
            } else {
                let inner = net.conv(x, width, 3, stride, 1, RELU)?;
                net.conv(inner, width, 3, 1, 1, NOTHING)?
            };
            if block == 0 && (deep || stage > 0) {
                short = net.conv(short, out, 1, stride, 1, NOTHING)?;
            }
            x = net.add(x, short, RELU)?;
        }
    }
    net.classify(x, classes)
}

/// VGG-16.
pub fn vgg16(name: &str, element: ElementType, side: u64, classes: u64) -> Unfinished {
    let mut net = Net::new(name, element);
    let mut x = net.input(3, side);
    for (width, layers) in [(64, 2), (128, 2), (256, 3), (512, 3), (512, 3)] {
        for _ in 0..layers {
            x = net.conv(x, width, 3, 1, 1, RELU)?;
        }
        x = net.max_pool(x, 2, 2, 0)?;
    }
    net.classify(x, classes)
}

/// SqueezeNet 1.0.
pub fn squeezenet(name: &str, element: ElementType, side: u64, classes: u64) -> Unfinished {
    let mut net = Net::new(name, element);
    let mut x = net.input(3, side);
    x = net.conv(x, 96, 7, 2, 1, RELU)?;
    x = net.max_pool(x, 3, 2, 0)?;
    for (index, squeeze) in [16, 16, 32, 32, 48, 48, 64, 64].into_iter().enumerate() {
        let small = net.conv(x, squeeze, 1, 1, 1, RELU)?;
        let one = net.conv(small, 4 * squeeze, 1, 1, 1, RELU)?;
        let three = net.conv(small, 4 * squeeze, 3, 1, 1, RELU)?;
        x = net.concat(&[one, three])?;
        if index == 2 || index == 6 {
            x = net.max_pool(x, 3, 2, 0)?;
        }
    }
    x = net.conv(x, classes, 1, 1, 1, RELU)?;
    net.classify(x, classes)
}

/// U-Net.
pub fn unet(name: &str, element: ElementType, side: u64) -> Unfinished {
    let mut net = Net::new(name, element);
    let mut x = net.input(4, side);
    let mut skips = Vec::new();
    for width in [32, 64, 128, 256] {
        x = net.conv(x, width, 3, 1, 1, RELU)?;
        x = net.conv(x, width, 3, 1, 1, RELU)?;
        skips.push(x);
        x = net.max_pool(x, 2, 2, 0)?;
    }
    x = net.conv(x, 512, 3, 1, 1, RELU)?;
    x = net.conv(x, 512, 3, 1, 1, RELU)?;
    for (skip, width) in skips.into_iter().rev().zip([256, 128, 64, 32]) {
        let inner = net.channels(x);
        let name = net.name("w");
        let w = net.graph.constant(name, net.element, [inner, width, 2, 2]);
        let up = net.op("conv2d_transpose", vec![("strides", 2.into())], &[x, w])?;
        x = net.concat(&[skip, up])?;
        x = net.conv(x, width, 3, 1, 1, RELU)?;
        x = net.conv(x, width, 3, 1, 1, RELU)?;
    }
    x = net.conv(x, 4, 1, 1, 1, NOTHING)?;
    Ok((net.graph, x))
}
