//! Evaluates graphs on the CPU in 64-bit floating point, directly from the definitions of the operators: the reference for results of devices.

use std::collections::BTreeMap;

use tileheap_tensor::graph::{Attribute, BlockId, NodeId, NodeKind, Operator};
use tileheap_tensor::{Graph, TensorId};

/// The elements of each tensor, in row-major order.
pub type Values = BTreeMap<TensorId, Vec<f64>>;

/// Computes every tensor of the graph from its inputs and constants; each loop runs for its number of iterations in `rounds`, then leaves at its
/// first exit.
pub fn evaluate(
    graph: &Graph,
    symbols: &[u64],
    given: &BTreeMap<TensorId, Vec<f32>>,
    rounds: &[(NodeId, u64)],
) -> Values {
    let widen =
        |(id, values): (&TensorId, &Vec<f32>)| (*id, values.iter().map(|&value| value.into()).collect());
    let mut evaluation = Evaluation {
        graph,
        symbols,
        rounds,
        values: given.iter().map(widen).collect(),
    };
    evaluation.block(BlockId::ROOT, usize::MAX);
    evaluation.values
}

struct Evaluation<'a> {
    graph: &'a Graph,
    symbols: &'a [u64],
    rounds: &'a [(NodeId, u64)],
    values: Values,
}

/// The elements of an operand, and its dimensions.
struct Operand<'a> {
    dims: Vec<usize>,
    elements: &'a [f64],
}

impl Evaluation<'_> {
    fn block(&mut self, block: BlockId, most: usize) {
        let graph = self.graph;
        for &node in graph.block(block).nodes.iter().take(most) {
            match &graph.node(node).kind {
                NodeKind::Operator(operator) => self.operator(node, operator),
                NodeKind::Loop(repeated) => {
                    let rounds = self
                        .rounds
                        .iter()
                        .find(|(of, _)| *of == node)
                        .map_or(0, |(_, rounds)| *rounds);
                    let parameters = &graph.block(repeated.body).inputs;
                    for (parameter, input) in parameters.iter().zip(&graph.node(node).inputs) {
                        self.values.insert(*parameter, self.values[input].clone());
                    }
                    for _ in 0..rounds {
                        self.block(repeated.body, usize::MAX);
                        let carried = repeated
                            .carried
                            .iter()
                            .map(|carry| (carry.into, self.values[&carry.value].clone()));
                        let carried: Vec<_> = carried.collect();
                        self.values.extend(carried);
                    }
                    let exit = &repeated.exits[0];
                    self.block(repeated.body, exit.after as usize);
                    for (output, result) in graph.node(node).outputs.iter().zip(&exit.results) {
                        self.values.insert(*output, self.values[result].clone());
                    }
                }
                NodeKind::Branch(_) => panic!("the reference has no branches"),
            }
        }
    }

    fn dims(&self, tensor: TensorId) -> Vec<usize> {
        let dims = self
            .graph
            .shape_at(tensor, self.symbols)
            .expect("a shape within its range");
        dims.into_iter().map(|dim| dim as usize).collect()
    }

    fn operator(&mut self, node: NodeId, operator: &Operator) {
        let graph = self.graph;
        let node = graph.node(node);
        let operand = |input: &TensorId| Operand {
            dims: self.dims(*input),
            elements: &self.values[input],
        };
        let operands: Vec<Operand<'_>> = node.inputs.iter().map(operand).collect();
        let dims = self.dims(node.outputs[0]);
        let mut parts = Vec::new();
        let [x, others @ ..] = &operands[..] else {
            panic!("node `{}` has no input", node.name)
        };
        let result = match operator.name.as_str() {
            "conv2d" => convolution(operator, x, &others[0], others.get(1), &dims),
            "conv2d_transpose" => transposed_convolution(operator, x, &others[0], others.get(1), &dims),
            "dense" => dense(x, &others[0], others.get(1)),
            "matmul" => matmul(operator, x, &others[0], &dims),
            "max_pool2d" | "avg_pool2d" | "global_avg_pool2d" => pool(operator, x, &dims),
            "add" => broadcast(x, &others[0], &dims, |a, b| a + b),
            "sub" => broadcast(x, &others[0], &dims, |a, b| a - b),
            "mul" => broadcast(x, &others[0], &dims, |a, b| a * b),
            "div" => broadcast(x, &others[0], &dims, |a, b| a / b),
            "max" => broadcast(x, &others[0], &dims, f64::max),
            "min" => broadcast(x, &others[0], &dims, f64::min),
            "slice" | "split" | "transpose" | "pad" | "resize2d" => {
                parts = (1..node.outputs.len())
                    .map(|part| moved(operator, x, &dims, part))
                    .collect();
                moved(operator, x, &dims, 0)
            }
            "concat" => concat(operator, &operands, &dims),
            "softmax" => lines(operator, x, softmax),
            "layer_norm" => {
                let epsilon = match operator.attributes.get("epsilon") {
                    Some(Attribute::Float(epsilon)) => *epsilon,
                    _ => 1e-5,
                };
                let (scale, shift) = (others[0].elements, others[1].elements);
                lines(operator, x, |line| layer_norm(line, scale, shift, epsilon))
            }
            "convert" | "copy" | "cast" | "reshape" | "flatten" => x.elements.to_vec(),
            name => x.elements.iter().map(|&value| activated(name, value)).collect(),
        };
        let result = match operator.attributes.get("activation") {
            Some(Attribute::Text(name)) => result.into_iter().map(|value| activated(name, value)).collect(),
            _ => result,
        };
        let all = std::iter::once(result).chain(parts);
        self.values.extend(node.outputs.iter().copied().zip(all));
    }
}

fn activated(name: &str, x: f64) -> f64 {
    match name {
        "relu" => x.max(0.0),
        "relu6" => x.clamp(0.0, 6.0),
        "hard_swish" => x * (x + 3.0).clamp(0.0, 6.0) / 6.0,
        "sigmoid" => 1.0 / (1.0 + (-x).exp()),
        "tanh" => x.tanh(),
        "gelu" => x * (1.0 + erf(x / std::f64::consts::SQRT_2)) / 2.0,
        "silu" => x / (1.0 + (-x).exp()),
        "erf" => erf(x),
        "exp" => x.exp(),
        "sqrt" => x.sqrt(),
        name => panic!("the reference has no operator `{name}`"),
    }
}

/// The error function: its power series for |x| < 4, and ±1 beyond, where the series loses all digits.
fn erf(x: f64) -> f64 {
    if x.abs() >= 4.0 {
        return x.signum();
    }
    let (mut power, mut sum) = (x, x);
    for n in 1..80 {
        power *= -x * x / f64::from(n);
        sum += power / f64::from(2 * n + 1);
    }
    sum * 2.0 / std::f64::consts::PI.sqrt()
}

fn pair(operator: &Operator, name: &str, default: i64) -> [i64; 2] {
    match operator.attributes.get(name) {
        Some(Attribute::Int(value)) => [*value; 2],
        Some(Attribute::Ints(values)) if values.len() == 1 => [values[0]; 2],
        Some(Attribute::Ints(values)) => [values[0], values[1]],
        _ => [default; 2],
    }
}

/// The positions of a window that are inside `extent`, with their index in the window.
fn window(
    at: usize,
    stride: i64,
    padding: i64,
    dilation: i64,
    size: i64,
    extent: usize,
) -> Vec<(usize, usize)> {
    let first = at as i64 * stride - padding;
    let places = (0..size).map(|k| (first + k * dilation, k as usize));
    let inside = places.filter(|(place, _)| (0..extent as i64).contains(place));
    inside.map(|(place, k)| (place as usize, k)).collect()
}

fn convolution(
    operator: &Operator,
    x: &Operand<'_>,
    w: &Operand<'_>,
    bias: Option<&Operand<'_>>,
    dims: &[usize],
) -> Vec<f64> {
    let (strides, padding) = (pair(operator, "strides", 1), pair(operator, "padding", 0));
    let dilations = pair(operator, "dilations", 1);
    let groups = pair(operator, "groups", 1)[0] as usize;
    let (inner, kh, kw) = (w.dims[1], w.dims[2], w.dims[3]);
    let (channels, height, width) = (x.dims[1], x.dims[2], x.dims[3]);
    let mut result = Vec::with_capacity(dims.iter().product());
    for n in 0..dims[0] {
        for o in 0..dims[1] {
            let first = o / (dims[1] / groups) * inner;
            for oy in 0..dims[2] {
                let rows = window(oy, strides[0], padding[0], dilations[0], kh as i64, height);
                for ox in 0..dims[3] {
                    let mut sum = bias.map_or(0.0, |bias| bias.elements[o]);
                    let columns = window(ox, strides[1], padding[1], dilations[1], kw as i64, width);
                    for i in 0..inner {
                        for &(y, ky) in &rows {
                            let row = ((n * channels + first + i) * height + y) * width;
                            let weights = ((o * inner + i) * kh + ky) * kw;
                            for &(x_at, kx) in &columns {
                                sum += x.elements[row + x_at] * w.elements[weights + kx];
                            }
                        }
                    }
                    result.push(sum);
                }
            }
        }
    }
    result
}

fn transposed_convolution(
    operator: &Operator,
    x: &Operand<'_>,
    w: &Operand<'_>,
    bias: Option<&Operand<'_>>,
    dims: &[usize],
) -> Vec<f64> {
    let ([sy, sx], [py, px]) = (pair(operator, "strides", 1), pair(operator, "padding", 0));
    let channels = (0..dims[0] * dims[1]).map(|at| bias.map_or(0.0, |bias| bias.elements[at % dims[1]]));
    let (plane, kernel) = (dims[2] * dims[3], &w.dims[1..]);
    let mut result: Vec<f64> = channels.flat_map(|of| std::iter::repeat_n(of, plane)).collect();
    // Each element of the source is scattered.
    for (index, value) in indices(&x.dims).zip(x.elements) {
        let [n, i, y, x] = index[..] else {
            panic!("a picture has four dimensions")
        };
        let of_channel = w.elements.chunks_exact(kernel.iter().product()).nth(i);
        for (at, weight) in indices(kernel).zip(of_channel.expect("weights of every channel")) {
            let (oy, ox) = (
                y as i64 * sy + at[1] as i64 - py,
                x as i64 * sx + at[2] as i64 - px,
            );
            if (0..dims[2] as i64).contains(&oy) && (0..dims[3] as i64).contains(&ox) {
                let row = (n * dims[1] + at[0]) * dims[2] + oy as usize;
                result[row * dims[3] + ox as usize] += value * weight;
            }
        }
    }
    result
}

fn dense(x: &Operand<'_>, w: &Operand<'_>, bias: Option<&Operand<'_>>) -> Vec<f64> {
    let (outputs, inner) = (w.dims[0], w.dims[1]);
    let mut result = Vec::new();
    for line in x.elements.chunks_exact(inner) {
        for o in 0..outputs {
            let weights = &w.elements[o * inner..][..inner];
            let sum: f64 = line.iter().zip(weights).map(|(a, b)| a * b).sum();
            result.push(sum + bias.map_or(0.0, |bias| bias.elements[o]));
        }
    }
    result
}

fn matmul(operator: &Operator, a: &Operand<'_>, b: &Operand<'_>, dims: &[usize]) -> Vec<f64> {
    let transposed = pair(operator, "transpose_b", 0)[0] != 0;
    let [outer @ .., rows, columns] = dims else {
        panic!("a product of matrices has two dimensions")
    };
    let inner = a.dims[a.dims.len() - 1];
    let batches: usize = outer.iter().product();
    let of = |operand: &Operand<'_>, batch: usize| {
        let matrix: usize = operand.dims[operand.dims.len() - 2..].iter().product();
        let count = operand.elements.len() / matrix;
        if count == 1 { 0 } else { batch * matrix }
    };
    let mut result = Vec::with_capacity(dims.iter().product());
    for batch in 0..batches {
        let (left, right) = (&a.elements[of(a, batch)..], &b.elements[of(b, batch)..]);
        for row in 0..*rows {
            for column in 0..*columns {
                let right_at = |k: usize| match transposed {
                    true => right[column * inner + k],
                    false => right[k * columns + column],
                };
                result.push((0..inner).map(|k| left[row * inner + k] * right_at(k)).sum());
            }
        }
    }
    result
}

fn pool(operator: &Operator, x: &Operand<'_>, dims: &[usize]) -> Vec<f64> {
    let (height, width) = (x.dims[2], x.dims[3]);
    let global = operator.name == "global_avg_pool2d";
    let kernel = match global {
        true => [height as i64, width as i64],
        false => pair(operator, "kernel", 2),
    };
    let (strides, padding) = (pair(operator, "strides", 1), pair(operator, "padding", 0));
    let mut result = Vec::with_capacity(dims.iter().product());
    for plane in 0..dims[0] * dims[1] {
        for oy in 0..dims[2] {
            for ox in 0..dims[3] {
                let rows = window(oy, strides[0], padding[0], 1, kernel[0], height);
                let columns = window(ox, strides[1], padding[1], 1, kernel[1], width);
                let values = rows.iter().flat_map(|&(y, _)| {
                    let row = &x.elements[(plane * height + y) * width..];
                    columns.iter().map(|&(x_at, _)| row[x_at])
                });
                let count = (rows.len() * columns.len()) as f64;
                result.push(match operator.name.as_str() {
                    "max_pool2d" => values.fold(f64::NEG_INFINITY, f64::max),
                    _ => values.sum::<f64>() / count,
                });
            }
        }
    }
    result
}

/// Every index of a tensor, in row-major order.
fn indices(dims: &[usize]) -> impl Iterator<Item = Vec<usize>> {
    let dims = dims.to_vec();
    (0..dims.iter().product()).map(move |mut rest: usize| {
        let mut index = vec![0; dims.len()];
        for (at, &dim) in index.iter_mut().zip(&dims).rev() {
            (*at, rest) = (rest % dim, rest / dim);
        }
        index
    })
}

/// The element at an index, broadcast along dimensions of size 1.
fn element(of: &Operand<'_>, index: &[usize]) -> f64 {
    let axes = index[index.len() - of.dims.len()..].iter().zip(&of.dims);
    of.elements[axes.fold(0, |place, (&at, &dim)| place * dim + at % dim)]
}

fn broadcast(a: &Operand<'_>, b: &Operand<'_>, dims: &[usize], apply: impl Fn(f64, f64) -> f64) -> Vec<f64> {
    let combined = indices(dims).map(|index| apply(element(a, &index), element(b, &index)));
    combined.collect()
}

fn axis(operator: &Operator, default: i64, rank: usize) -> usize {
    pair(operator, "axis", default)[0].rem_euclid(rank as i64) as usize
}

/// The elements of output `part` of an operator that only moves elements, such as `split` or `transpose`.
fn moved(operator: &Operator, x: &Operand<'_>, dims: &[usize], part: usize) -> Vec<f64> {
    let from = |mut index: Vec<usize>| {
        let rank = index.len();
        match operator.name.as_str() {
            "split" => index[axis(operator, 0, rank)] += part * dims[axis(operator, 0, rank)],
            "slice" => {
                let (axis, [begin, _]) = (axis(operator, 0, rank), pair(operator, "begin", 0));
                index[axis] += if begin < 0 {
                    x.dims[axis] - begin.unsigned_abs() as usize
                } else {
                    begin as usize
                };
            }
            "transpose" => {
                let Some(Attribute::Ints(axes)) = operator.attributes.get("axes") else {
                    return index.into_iter().rev().collect();
                };
                let to = index.clone();
                axes.iter()
                    .zip(to)
                    .for_each(|(&axis, at)| index[axis as usize] = at);
            }
            "pad" => {
                let [top, left] = pair(operator, "padding", 0);
                index[2] = index[2].wrapping_sub(top as usize);
                index[3] = index[3].wrapping_sub(left as usize);
            }
            _ => {
                let [height, width] = pair(operator, "scale", 2);
                index[2] /= height as usize;
                index[3] /= width as usize;
            }
        }
        index
    };
    let inside = |index: &[usize]| index.iter().zip(&x.dims).all(|(at, dim)| at < dim);
    let found = indices(dims).map(from);
    found
        .map(|index| if inside(&index) { element(x, &index) } else { 0.0 })
        .collect()
}

fn concat(operator: &Operator, operands: &[Operand<'_>], dims: &[usize]) -> Vec<f64> {
    let axis = axis(operator, 1, dims.len());
    let found = indices(dims).map(|mut index| {
        let mut of = operands.iter();
        let from = of.find(|operand| {
            let inside = index[axis] < operand.dims[axis];
            index[axis] -= if inside { 0 } else { operand.dims[axis] };
            inside
        });
        element(from.expect("an operand of every element"), &index)
    });
    found.collect()
}

/// Applies a function to every line along an axis, by default the last.
fn lines(operator: &Operator, x: &Operand<'_>, apply: impl Fn(&[f64]) -> Vec<f64>) -> Vec<f64> {
    let axis = axis(operator, -1, x.dims.len());
    let (count, stride): (usize, usize) = (x.dims[axis], x.dims[axis + 1..].iter().product());
    let mut result = vec![0.0; x.elements.len()];
    for outer in 0..x.elements.len() / (count * stride) {
        for inner in 0..stride {
            let place = |k: usize| (outer * count + k) * stride + inner;
            let line: Vec<f64> = (0..count).map(|k| x.elements[place(k)]).collect();
            for (k, value) in apply(&line).into_iter().enumerate() {
                result[place(k)] = value;
            }
        }
    }
    result
}

fn softmax(line: &[f64]) -> Vec<f64> {
    let most = line.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let powers: Vec<f64> = line.iter().map(|value| (value - most).exp()).collect();
    let sum: f64 = powers.iter().sum();
    powers.into_iter().map(|power| power / sum).collect()
}

fn layer_norm(line: &[f64], scale: &[f64], shift: &[f64], epsilon: f64) -> Vec<f64> {
    let count = line.len() as f64;
    let mean = line.iter().sum::<f64>() / count;
    let variance = line.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
    let by = 1.0 / (variance + epsilon).sqrt();
    let lanes = line.iter().zip(scale.iter().zip(shift));
    let normal = lanes.map(|(value, (scale, shift))| (value - mean) * by * scale + shift);
    normal.collect()
}
