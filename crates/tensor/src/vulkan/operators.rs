//! Maps operators to kernels: the kernel of a node, its operands and its numbers.
//!
//! | operator | kernel | operands |
//! |---|---|---|
//! | `conv2d` | `conv2d`, `depthwise` where each channel is a group | data `[n, c, h, w]` packed in `c`, weights `[o, i, h, w]` in `o`, bias |
//! | `dense` | `dense` | data `[.., k]` packed in `k`, weights `[o, k]` in `o`, bias |
//! | `matmul` | `matmul` | both packed in their last axis |
//! | `max_pool2d`, `avg_pool2d`, `global_avg_pool2d` | `pool` | packed in `c`; padding counts in no mean |
//! | `add`, `mul` | `binary` | packed in the same axis, or of length 1 in it |
//! | `relu`, `relu6`, `hard_swish`, `sigmoid`, `tanh` | `activate` | any |
//! | `softmax`, `layer_norm` (data, scale, shift) | the same | packed in the axis they go along, by default the last |
//! | `convert`, `copy`, `cast` | `copy` | any storage to any; plain buffers hold 32-bit elements |
//! | `reshape`, `flatten` | `reshape`; none if both are in the same bytes | any; plain ones as views alone |
//! | any other | the caller's of that name ([`KernelSet::add`](super::KernelSet::add)) | inputs, then outputs |
//!
//! `conv2d`, `dense`, `matmul`, `add` and `mul` have an attribute `activation`, the name of a function of their results.

use super::operand::{OperandShape, OperandStorage};
use crate::error::{Error, Result};
use crate::graph::operators::{BuiltInKernel, OPERATORS, definition};
use crate::graph::{Attribute, ElementType, Graph, Node, Operator, TensorId};
use crate::storage::CONVERT;

/// An operand of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operand {
    Tensor(TensorId),
    /// So many vectors of zeros, for an absent bias.
    Zeros(u32),
}

/// A kernel with its operands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) kernel: String,
    pub(super) operands: Vec<Operand>,
    pub(super) way: u32,
    pub(super) activation: u32,
    pub(super) numbers: [[i32; 4]; 4],
    /// The extent of the dispatch, in vectors.
    pub(super) work: [u32; 4],
    /// The axis that each invocation loops over.
    pub(super) along: Option<usize>,
}

impl Call {
    /// A kernel without numbers, dispatched over `work` vectors.
    fn new(kernel: &str, operands: &[TensorId], work: [u32; 4]) -> Call {
        Call {
            kernel: kernel.to_owned(),
            operands: operands.iter().copied().map(Operand::Tensor).collect(),
            way: 0,
            activation: 0,
            numbers: [[0; 4]; 4],
            work,
            along: None,
        }
    }
}

/// Inputs of an operator that kernels read from vector buffers alone: biases.
pub(super) fn vector_inputs(operator: &str) -> &'static [usize] {
    definition(operator).map_or(&[], |definition| definition.vector_inputs)
}

/// Whether a kernel computes a node: the caller evaluates conditions of loops, and only those have no float outputs.
pub(super) fn computes(graph: &Graph, node: &Node) -> bool {
    node.outputs.iter().any(|&output| is_float(graph, output))
}

/// Whether kernels support a tensor's element type.
pub(super) fn is_float(graph: &Graph, tensor: TensorId) -> bool {
    matches!(
        graph.tensor(tensor).element,
        ElementType::Float32 | ElementType::Float16
    )
}

/// The kernel call of a node, with the shapes of `shape_of`; `None` for a view of its input.
pub(super) fn call(
    graph: &Graph,
    node: &Node,
    operator: &Operator,
    shape_of: &dyn Fn(TensorId) -> Result<OperandShape>,
) -> Result<Option<Call>> {
    let node_call = NodeCall {
        graph,
        node,
        operator,
        shape_of,
    };
    if operator.name == CONVERT {
        return node_call.copy().map(Some);
    }
    let Some(kernel) = definition(&operator.name).and_then(|definition| definition.kernel) else {
        return node_call.custom(&operator.name).map(Some);
    };
    let call = match kernel {
        BuiltInKernel::Convolution => node_call.convolution(),
        BuiltInKernel::Dense => node_call.dense(),
        BuiltInKernel::MatMul => node_call.matmul(),
        BuiltInKernel::MaxPool => node_call.pool(0),
        BuiltInKernel::AveragePool => node_call.pool(1),
        BuiltInKernel::GlobalAveragePool => node_call.global_pool(),
        BuiltInKernel::Add => node_call.binary(0),
        BuiltInKernel::Multiply => node_call.binary(1),
        BuiltInKernel::Softmax => node_call.along("softmax"),
        BuiltInKernel::LayerNorm => node_call.layer_norm(),
        BuiltInKernel::Copy => node_call.copy(),
        BuiltInKernel::Activation(number) => node_call.activate(number),
        BuiltInKernel::Reshape => return node_call.reshape(),
    };
    call.map(Some)
}

struct NodeCall<'a> {
    graph: &'a Graph,
    node: &'a Node,
    operator: &'a Operator,
    shape_of: &'a dyn Fn(TensorId) -> Result<OperandShape>,
}

impl NodeCall<'_> {
    fn fault(&self, problem: impl Into<String>) -> Error {
        Error::operator(&self.node.name, &self.operator.name, problem.into())
    }

    fn input(&self, index: usize) -> Result<TensorId> {
        let input = self.node.inputs.get(index).copied();
        input.ok_or_else(|| self.fault(format!("input {index} is missing")))
    }

    fn output(&self) -> Result<TensorId> {
        let output = self.node.outputs.first().copied();
        output.ok_or_else(|| self.fault("it has no output"))
    }

    fn shape(&self, tensor: TensorId) -> Result<OperandShape> {
        (self.shape_of)(tensor)
    }

    fn name(&self, tensor: TensorId) -> &str {
        &self.graph.tensor(tensor).name
    }

    /// The shape of a tensor, which must be packed along `axis` of its last four.
    fn packed(&self, tensor: TensorId, axis: u32) -> Result<OperandShape> {
        let shape = self.shape(tensor)?;
        match shape.lanes {
            Some((along, _)) if along == axis => Ok(shape),
            // TVM's form: the lanes are a separate axis.
            Some((4, _)) => Ok(shape),
            lanes => {
                let found = lanes.map(|(axis, _)| format!("packed along axis {axis}"));
                let (name, found) = (self.name(tensor), found.as_deref().unwrap_or("not packed"));
                Err(self.fault(format!(
                    "its kernel needs tensor `{name}` packed by 4 along axis {axis} of its last four; it is {found}"
                )))
            }
        }
    }

    fn ints(&self, name: &str, default: [i64; 2]) -> Result<[i32; 2]> {
        let values = match self.operator.attributes.get(name) {
            None => default,
            Some(Attribute::Int(value)) => [*value; 2],
            Some(Attribute::Ints(values)) => match values[..] {
                [value] => [value; 2],
                [first, second, ..] => [first, second],
                [] => return Err(self.fault(format!("`{name}` is empty"))),
            },
            Some(_) => return Err(self.fault(format!("`{name}` is not a list of integers"))),
        };
        let narrow = |value: i64| {
            let narrowed = i32::try_from(value);
            narrowed.map_err(|_| self.fault(format!("`{name}` is {value}, which exceeds 32 bits")))
        };
        Ok([narrow(values[0])?, narrow(values[1])?])
    }

    fn activation(&self) -> Result<u32> {
        match self.operator.attributes.get("activation") {
            None => Ok(0),
            Some(Attribute::Text(name)) => {
                let kernels = OPERATORS.iter().map(|known| (known.name, known.kernel));
                let known = kernels.filter_map(|(name, kernel)| match kernel {
                    Some(BuiltInKernel::Activation(number)) => Some((name, number)),
                    _ => None,
                });
                let found = known.clone().find(|(known, _)| known == name);
                found.map(|(_, number)| number).ok_or_else(|| {
                    let known: Vec<&str> = known.map(|(name, _)| name).collect();
                    self.fault(format!("`activation` is `{name}`; expected one of {known:?}"))
                })
            }
            Some(other) => Err(self.fault(format!("`activation` is {other:?}, not a name"))),
        }
    }

    /// A call with the bias at input 2 before its output, or zeros for as many vectors of outputs.
    fn with_bias(&self, mut call: Call, vectors: u32) -> Call {
        let bias = self.node.inputs.get(2);
        let bias = bias.map_or(Operand::Zeros(vectors), |&bias| Operand::Tensor(bias));
        call.operands.insert(2, bias);
        call
    }

    fn convolution(&self) -> Result<Call> {
        let (data, weights, output) = (self.input(0)?, self.input(1)?, self.output()?);
        let (source, target) = (self.packed(data, 1)?, self.packed(output, 1)?);
        let shape = self.packed(weights, 0)?;
        let [groups, _] = self.ints("groups", [1, 1])?;
        let channels = |shape: OperandShape| match shape.lanes {
            Some((0..4, count)) => count,
            _ => 4 * shape.extent[1],
        };
        let (all, outputs) = (channels(source), channels(target));
        let kernel = if groups == 1 {
            "conv2d"
        } else if groups as u32 == all && outputs == all && shape.extent[1] == 1 {
            "depthwise"
        } else {
            return Err(self.fault(format!(
                "{groups} groups of {all} channels for {outputs} outputs; kernels support one group, or one group per channel"
            )));
        };
        let ([sy, sx], [py, px]) = (self.ints("strides", [1, 1])?, self.ints("padding", [0, 0])?);
        let [dy, dx] = self.ints("dilations", [1, 1])?;
        let call = Call {
            activation: self.activation()?,
            numbers: [[sy, sx, py, px], [dy, dx, 0, 0], [0; 4], [0; 4]],
            ..Call::new(kernel, &[data, weights, output], target.extent)
        };
        Ok(self.with_bias(call, target.extent[1]))
    }

    fn dense(&self) -> Result<Call> {
        let (data, weights, output) = (self.input(0)?, self.input(1)?, self.output()?);
        self.packed(data, 3)?;
        self.packed(weights, 2)?;
        let target = self.packed(output, 3)?;
        let call = Call {
            activation: self.activation()?,
            ..Call::new("dense", &[data, weights, output], target.extent)
        };
        Ok(self.with_bias(call, target.extent[3]))
    }

    fn matmul(&self) -> Result<Call> {
        let (left, right, output) = (self.input(0)?, self.input(1)?, self.output()?);
        let (from, target) = (self.packed(left, 3)?, self.packed(output, 3)?);
        self.packed(right, 3)?;
        let [transposed, _] = self.ints("transpose_b", [0, 0])?;
        let count = |shape: OperandShape| shape.lanes.map_or(0, |(_, count)| count as i32);
        Ok(Call {
            way: u32::from(transposed != 0),
            activation: self.activation()?,
            numbers: [[count(from), count(target), 0, 0], [0; 4], [0; 4], [0; 4]],
            ..Call::new("matmul", &[left, right, output], target.extent)
        })
    }

    fn pool(&self, way: u32) -> Result<Call> {
        let ([sy, sx], [py, px]) = (self.ints("strides", [1, 1])?, self.ints("padding", [0, 0])?);
        let [wy, wx] = self.ints("kernel", [2, 2])?;
        self.pool_of(way, [[sy, sx, py, px], [wy, wx, 0, 0], [0; 4], [0; 4]])
    }

    fn global_pool(&self) -> Result<Call> {
        let [_, _, h, w] = self.shape(self.input(0)?)?.extent;
        self.pool_of(1, [[1, 1, 0, 0], [h as i32, w as i32, 0, 0], [0; 4], [0; 4]])
    }

    fn pool_of(&self, way: u32, numbers: [[i32; 4]; 4]) -> Result<Call> {
        let (data, output) = (self.input(0)?, self.output()?);
        self.packed(data, 1)?;
        let target = self.packed(output, 1)?;
        Ok(Call {
            way,
            numbers,
            ..Call::new("pool", &[data, output], target.extent)
        })
    }

    fn binary(&self, way: u32) -> Result<Call> {
        let output = self.output()?;
        let target = self.shape(output)?;
        let Some((axis, count)) = target.lanes else {
            return Err(self.fault(format!("tensor `{}` is in a plain buffer", self.name(output))));
        };
        // 1 if one element serves all lanes.
        let one = |input: TensorId| {
            let shape = self.shape(input)?;
            match shape.lanes {
                Some((_, 1)) if count > 1 && shape.extent == [1; 4] => Ok(1),
                Some((along, 1)) if count > 1 && along == axis => Ok(1),
                Some((along, elements)) if along == axis && elements == count => Ok(0),
                _ => {
                    let (input, output) = (self.name(input), self.name(output));
                    Err(self.fault(format!("tensors `{input}` and `{output}` are packed differently")))
                }
            }
        };
        let (left, right) = (self.input(0)?, self.input(1)?);
        Ok(Call {
            way,
            activation: self.activation()?,
            numbers: [[one(left)?, one(right)?, 0, 0], [0; 4], [0; 4], [0; 4]],
            ..Call::new("binary", &[left, right, output], target.extent)
        })
    }

    fn activate(&self, activation: u32) -> Result<Call> {
        let (input, output) = (self.input(0)?, self.output()?);
        let (source, target) = (self.shape(input)?, self.shape(output)?);
        if source.lanes != target.lanes {
            return Err(self.fault("its input and output are packed differently"));
        }
        Ok(Call {
            activation,
            ..Call::new("activate", &[input, output], target.extent)
        })
    }

    /// A kernel that loops over one packed axis.
    fn along(&self, kernel: &str) -> Result<Call> {
        let (input, output) = (self.input(0)?, self.output()?);
        let rank = self.graph.tensor(input).shape.rank() as i64;
        let [axis, _] = self.ints("axis", [-1, -1])?.map(i64::from);
        let from_last = if axis < 0 { -axis } else { rank - axis };
        if !(1..=rank.min(4)).contains(&from_last) {
            return Err(self.fault("`axis` is not an axis of its input"));
        }
        let axis = (4 - from_last) as u32;
        let target = self.packed(output, axis)?;
        let source = self.packed(input, axis)?;
        let Some((_, count)) = source.lanes.filter(|(along, _)| *along == axis) else {
            return Err(self.fault("its input is packed along another axis"));
        };
        let mut work = target.extent;
        work[axis as usize] = 1;
        Ok(Call {
            numbers: [[axis as i32, count as i32, 0, 0], [0; 4], [0; 4], [0; 4]],
            along: Some(axis as usize),
            ..Call::new(kernel, &[input, output], work)
        })
    }

    fn layer_norm(&self) -> Result<Call> {
        let mut call = self.along("layer_norm")?;
        let parameters = [Operand::Tensor(self.input(1)?), Operand::Tensor(self.input(2)?)];
        call.operands.splice(1..1, parameters);
        let epsilon = match self.operator.attributes.get("epsilon") {
            None => 1e-5,
            Some(Attribute::Float(value)) => *value as f32,
            Some(other) => return Err(self.fault(format!("`epsilon` is {other:?}, not a number"))),
        };
        call.numbers[1][0] = epsilon.to_bits() as i32;
        Ok(call)
    }

    fn copy(&self) -> Result<Call> {
        let (input, output) = (self.input(0)?, self.output()?);
        let (source, target) = (self.shape(input)?, self.shape(output)?);
        copy_call(input, source, output, target).map_err(|problem| self.fault(problem))
    }

    fn reshape(&self) -> Result<Option<Call>> {
        let (input, output) = (self.input(0)?, self.output()?);
        let (source, target) = (self.shape(input)?, self.shape(output)?);
        if source.lanes.is_none() && target.lanes.is_none() && self.graph.tensor(output).view.is_some() {
            return Ok(None);
        }
        let (Some(from @ (0..4, _)), Some(to @ (0..4, _))) = (source.lanes, target.lanes) else {
            return Err(self.fault("kernels do not reshape plain buffers"));
        };
        let numbers = |(axis, count): (u32, u32)| [axis as i32, count as i32, 0, 0];
        Ok(Some(Call {
            numbers: [numbers(from), numbers(to), [0; 4], [0; 4]],
            ..Call::new("reshape", &[input, output], target.extent)
        }))
    }

    /// A kernel of the caller: inputs, then outputs; its numbers are the attribute `numbers`.
    fn custom(&self, name: &str) -> Result<Call> {
        let mut numbers = [[0; 4]; 4];
        if let Some(Attribute::Ints(values)) = self.operator.attributes.get("numbers") {
            for (number, value) in numbers.as_flattened_mut().iter_mut().zip(values) {
                *number = *value as i32;
            }
        }
        let operands = [&self.node.inputs[..], &self.node.outputs].concat();
        Ok(Call {
            numbers,
            ..Call::new(name, &operands, self.shape(self.output()?)?.extent)
        })
    }
}

/// A copy from one storage to another.
pub(super) fn copy_call(
    input: TensorId,
    source: OperandShape,
    output: TensorId,
    target: OperandShape,
) -> Result<Call, String> {
    let (numbers, work) = match (source.lanes, target.lanes) {
        (None, None) => return Err("both tensors are in plain buffers".to_owned()),
        (Some(from), Some(to)) if from != to => {
            return Err("the tensors are packed along different axes".to_owned());
        }
        (Some(_), Some(_)) => ([0; 4], target.extent),
        // A plain tensor of [.., 4] has the bytes of its vectors, but is addressed by elements.
        (None, Some((4, _))) | (Some((4, _)), None) => {
            return Err(
                "kernels do not copy between a plain buffer and a tensor of `[.., 4]` vectors".to_owned(),
            );
        }
        (None, Some((axis, count))) => ([axis as i32, count as i32, 0, 0], target.extent),
        (Some((axis, count)), None) => ([axis as i32, count as i32, 0, 0], source.extent),
    };
    // The kernel uses the target's shape in vectors.
    Ok(Call {
        numbers: [[0; 4], [0; 4], [0; 4], numbers],
        ..Call::new("copy", &[input, output], work)
    })
}

/// The shape in a kernel's push constants: that of a plain operand is its counterpart's, in vectors.
pub(super) fn kernel_shape(call: &Call, shape: OperandShape) -> [u32; 4] {
    match shape.lanes {
        None if shape.scope.storage == OperandStorage::Plain => call.work,
        _ => shape.extent,
    }
}

/// Whether two shapes have the same elements at the same bytes of a buffer.
pub(super) fn same_bytes(a: OperandShape, b: OperandShape) -> bool {
    let long = |shape: OperandShape| shape.extent.into_iter().filter(|dim| *dim != 1);
    match (a.lanes, b.lanes) {
        (None, None) => true,
        (Some((_, from)), Some((_, to))) => from == to && long(a).eq(long(b)),
        _ => false,
    }
}
