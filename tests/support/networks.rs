//! Public convolutional networks as graphs: the seven of the peers' tables, and an LSTM as a loop. Shapes alone, no weights.
#![allow(dead_code, unreachable_pub)] // No program uses all of it.

use tileheap::tensor::{Attribute, ElementType, Graph, GraphBuilder, TensorFault, TensorId};

/// A network being built: convolutions fused with their activation, as the peers' tables count tensors.
struct Net {
    graph: GraphBuilder,
    element: ElementType,
    count: u32,
}

type Built = Result<TensorId, TensorFault>;

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

    fn conv(&mut self, x: TensorId, out: u64, kernel: u64, stride: i64, groups: u64) -> Built {
        let inner = self.channels(x) / groups;
        let name = self.name("w");
        let w = self
            .graph
            .constant(name, self.element, [out, inner, kernel, kernel]);
        let pad = (kernel as i64 - 1) / 2;
        let attributes = vec![
            ("strides", vec![stride, stride].into()),
            ("padding", vec![pad, pad].into()),
            ("groups", (groups as i64).into()),
        ];
        self.op("conv2d", attributes, &[x, w])
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

    /// Global pool, flatten, dense.
    fn classify(mut self, x: TensorId, classes: u64) -> Result<Graph, TensorFault> {
        let pooled = self.op("global_avg_pool2d", vec![], &[x])?;
        let flat = self.op("flatten", vec![], &[pooled])?;
        let inner = self.channels(x);
        let w = self.graph.constant("classes", self.element, [classes, inner]);
        let y = self.op("dense", vec![], &[flat, w])?;
        self.graph.output(y);
        self.graph.build()
    }
}

/// The seven networks of the peers' tables.
pub fn networks(element: ElementType) -> Result<Vec<Graph>, TensorFault> {
    Ok(vec![
        mobilenet_v1(element)?,
        mobilenet_v2(element)?,
        resnet(element, false)?,
        resnet(element, true)?,
        vgg16(element)?,
        squeezenet(element)?,
        unet(element)?,
    ])
}

fn mobilenet_v1(element: ElementType) -> Result<Graph, TensorFault> {
    let mut net = Net::new("MobileNetV1 224", element);
    let mut x = net.input(3, 224);
    x = net.conv(x, 32, 3, 2, 1)?;
    let layers = [
        (64, 1),
        (128, 2),
        (128, 1),
        (256, 2),
        (256, 1),
        (512, 2),
        (512, 1),
        (512, 1),
        (512, 1),
        (512, 1),
        (512, 1),
        (1024, 2),
        (1024, 1),
    ];
    for (out, stride) in layers {
        let channels = net.channels(x);
        x = net.conv(x, channels, 3, stride, channels)?;
        x = net.conv(x, out, 1, 1, 1)?;
    }
    net.classify(x, 1000)
}

fn mobilenet_v2(element: ElementType) -> Result<Graph, TensorFault> {
    let mut net = Net::new("MobileNetV2 224", element);
    let mut x = net.input(3, 224);
    x = net.conv(x, 32, 3, 2, 1)?;
    for (expand, out, repeats, stride) in [
        (1, 16, 1, 1),
        (6, 24, 2, 2),
        (6, 32, 3, 2),
        (6, 64, 4, 2),
        (6, 96, 3, 1),
        (6, 160, 3, 2),
        (6, 320, 1, 1),
    ] {
        for repeat in 0..repeats {
            let (before, inner) = (x, net.channels(x) * expand);
            if expand > 1 {
                x = net.conv(x, inner, 1, 1, 1)?;
            }
            x = net.conv(x, inner, 3, if repeat == 0 { stride } else { 1 }, inner)?;
            x = net.conv(x, out, 1, 1, 1)?;
            if repeat > 0 {
                x = net.op("add", vec![], &[before, x])?;
            }
        }
    }
    x = net.conv(x, 1280, 1, 1, 1)?;
    net.classify(x, 1000)
}

fn resnet(element: ElementType, deep: bool) -> Result<Graph, TensorFault> {
    let mut net = Net::new(if deep { "ResNet-50 224" } else { "ResNet-18 224" }, element);
    let mut x = net.input(3, 224);
    x = net.conv(x, 64, 7, 2, 1)?;
    x = net.max_pool(x, 3, 2, 1)?;
    let blocks = if deep { [3, 4, 6, 3] } else { [2, 2, 2, 2] };
    for (stage, blocks) in blocks.into_iter().enumerate() {
        let width = 64 << stage;
        for block in 0..blocks {
            let stride = if stage > 0 && block == 0 { 2 } else { 1 };
            let (mut short, out) = (x, if deep { width * 4 } else { width });
            x = if deep {
                let inner = net.conv(x, width, 1, 1, 1)?;
                let inner = net.conv(inner, width, 3, stride, 1)?;
                net.conv(inner, out, 1, 1, 1)?
            } else {
                let inner = net.conv(x, width, 3, stride, 1)?;
                net.conv(inner, width, 3, 1, 1)?
            };
            if block == 0 && (deep || stage > 0) {
                short = net.conv(short, out, 1, stride, 1)?;
            }
            x = net.op("add", vec![], &[x, short])?;
        }
    }
    net.classify(x, 1000)
}

fn vgg16(element: ElementType) -> Result<Graph, TensorFault> {
    let mut net = Net::new("VGG-16 224", element);
    let mut x = net.input(3, 224);
    for (width, layers) in [(64, 2), (128, 2), (256, 3), (512, 3), (512, 3)] {
        for _ in 0..layers {
            x = net.conv(x, width, 3, 1, 1)?;
        }
        x = net.max_pool(x, 2, 2, 0)?;
    }
    net.classify(x, 1000)
}

fn squeezenet(element: ElementType) -> Result<Graph, TensorFault> {
    let mut net = Net::new("SqueezeNet 1.0 227", element);
    let mut x = net.input(3, 227);
    x = net.conv(x, 96, 7, 2, 1)?;
    x = net.max_pool(x, 3, 2, 0)?;
    for (index, (squeeze, expand)) in [
        (16, 64),
        (16, 64),
        (32, 128),
        (32, 128),
        (48, 192),
        (48, 192),
        (64, 256),
        (64, 256),
    ]
    .into_iter()
    .enumerate()
    {
        let small = net.conv(x, squeeze, 1, 1, 1)?;
        let (one, three) = (
            net.conv(small, expand, 1, 1, 1)?,
            net.conv(small, expand, 3, 1, 1)?,
        );
        x = net.concat(&[one, three])?;
        if index == 2 || index == 6 {
            x = net.max_pool(x, 3, 2, 0)?;
        }
    }
    x = net.conv(x, 1000, 1, 1, 1)?;
    net.classify(x, 1000)
}

fn unet(element: ElementType) -> Result<Graph, TensorFault> {
    let mut net = Net::new("U-Net 256", element);
    let mut x = net.input(4, 256);
    let mut skips = Vec::new();
    for width in [32, 64, 128, 256] {
        x = net.conv(x, width, 3, 1, 1)?;
        x = net.conv(x, width, 3, 1, 1)?;
        skips.push(x);
        x = net.max_pool(x, 2, 2, 0)?;
    }
    x = net.conv(x, 512, 3, 1, 1)?;
    x = net.conv(x, 512, 3, 1, 1)?;
    for (skip, width) in skips.into_iter().rev().zip([256, 128, 64, 32]) {
        let inner = net.channels(x);
        let name = net.name("w");
        let w = net.graph.constant(name, net.element, [inner, width, 2, 2]);
        let up = net.op("conv2d_transpose", vec![("strides", 2.into())], &[x, w])?;
        x = net.concat(&[skip, up])?;
        x = net.conv(x, width, 3, 1, 1)?;
        x = net.conv(x, width, 3, 1, 1)?;
    }
    x = net.conv(x, 4, 1, 1, 1)?;
    net.graph.output(x);
    net.graph.build()
}
