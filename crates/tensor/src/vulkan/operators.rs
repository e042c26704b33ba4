//! Maps operators to kernels: the kernel of a node, its operands and its parameters.
//!
//! | operator | kernel | operands |
//! |---|---|---|
//! | `conv2d` | `conv2d`, `depthwise` where each channel is a group | data `[n, c, h, w]` packed in `c`, weights `[o, i, h, w]` in `o`, bias |
//! | `conv2d_transpose` | the same, one group | weights `[i, o, h, w]` packed in `i` |
//! | `dense` | `dense` | data `[.., k]` packed in `k`, weights `[o, k]` in `o`, bias |
//! | `matmul` | `matmul` | both packed in their last axis |
//! | `max_pool2d`, `avg_pool2d`, `global_avg_pool2d` | `pool` | packed in `c`; padding counts in no mean |
//! | `add`, `mul`, `sub`, `div`, `max`, `min` | `binary` | packed in the same axis, or of length 1 in it |
//! | `relu`, `relu6`, `hard_swish`, `sigmoid`, `tanh`, `gelu`, `silu`, `erf`, `exp`, `sqrt` | `activate` | any |
//! | `softmax`, `layer_norm` (data, scale, shift) | the same | packed in the axis they go along, by default the last |
//! | `slice`, `split`, `transpose`, `pad`, `resize2d` (the nearest element) | `gather` | packed in any axes |
//! | `concat` | the same, for each input but the last | all packed in one axis; in that axis the inner inputs have 3 elements or more |
//! | `convert`, `copy`, `cast` | `copy` | any storage to any; plain buffers hold 32-bit elements |
//! | `reshape`, `flatten` | `reshape`; none if both are in the same bytes | any; plain ones only as views |
//! | any other | the caller's kernel of that name ([`KernelSet::add`](super::KernelSet::add)) | inputs, then outputs |
//!
//! Convolutions, `dense`, `matmul` and the `binary` operators have an attribute `activation`, the name of a function applied to their results.

use super::operand::{OperandShape, OperandStorage};
use crate::error::{Error, Result};
use crate::graph::operators::{BuiltInKernel, OPERATORS, definition};
use crate::graph::{Attribute, ElementType, Graph, Node, Operator, TensorId};
use crate::storage::CONVERT;

/// An operand of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operand {
    Tensor(TensorId),
    /// This many vectors of zeros, for an absent bias.
    Zeros(u32),
}

/// A kernel with its operands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) kernel: String,
    pub(super) operands: Vec<Operand>,
    pub(super) function: u32,
    pub(super) activation: u32,
    pub(super) numbers: [[i32; 4]; 4],
    /// The extent of the dispatch, in vectors.
    pub(super) work: [u32; 4],
    /// The axis that each invocation loops over.
    pub(super) loop_axis: Option<usize>,
    /// True if the call writes only a part of its output, after an earlier call wrote another part.
    pub(super) continues: bool,
}

impl Call {
    /// A kernel without parameters, dispatched over `work` vectors.
    pub(super) fn new(kernel: &str, operands: &[TensorId], work: [u32; 4]) -> Call {
        Call {
            kernel: kernel.to_owned(),
            operands: operands.iter().copied().map(Operand::Tensor).collect(),
            function: 0,
            activation: 0,
            numbers: [[0; 4]; 4],
            work,
            loop_axis: None,
            continues: false,
        }
    }
}

/// Inputs of an operator that kernels read only from vector buffers, such as biases.
pub(super) fn vector_inputs(operator: &str) -> &'static [usize] {
    definition(operator).map_or(&[], |definition| definition.vector_inputs)
}

/// Returns true if a kernel computes a node. Nodes without float outputs compute conditions and counters, which the caller evaluates.
pub(super) fn computes(graph: &Graph, node: &Node) -> bool {
    node.outputs.iter().any(|&output| is_float(graph, output))
}

/// Returns true if kernels support a tensor's element type.
pub(super) fn is_float(graph: &Graph, tensor: TensorId) -> bool {
    matches!(
        graph.tensor(tensor).element,
        ElementType::Float32 | ElementType::Float16
    )
}

/// The kernel calls of a node, with shapes from `shape_of`; none for a view of its input, or if there is nothing to compute.
pub(super) fn calls(
    graph: &Graph,
    node: &Node,
    operator: &Operator,
    shape_of: &dyn Fn(TensorId) -> Result<OperandShape>,
) -> Result<Vec<Call>> {
    let of = NodeCall {
        graph,
        node,
        operator,
        shape_of,
    };
    let kernel = definition(&operator.name).and_then(|definition| definition.kernel);
    let call = match kernel {
        _ if operator.name == CONVERT => of.copy(),
        None => of.custom(&operator.name),
        Some(BuiltInKernel::Convolution) => of.convolution(),
        Some(BuiltInKernel::TransposedConvolution) => of.transposed_convolution(),
        Some(BuiltInKernel::Dense) => of.dense(),
        Some(BuiltInKernel::MatMul) => of.matmul(),
        Some(BuiltInKernel::MaxPool) => of.pool(0),
        Some(BuiltInKernel::AveragePool) => of.pool(1),
        Some(BuiltInKernel::GlobalAveragePool) => of.global_pool(),
        Some(BuiltInKernel::Softmax) => of.loop_over_axis("softmax"),
        Some(BuiltInKernel::LayerNorm) => of.layer_norm(),
        Some(BuiltInKernel::Copy) => of.copy(),
        Some(BuiltInKernel::Binary(function)) => of.binary(function),
        Some(BuiltInKernel::Activation(number)) => of.activate(number),
        Some(BuiltInKernel::Slice) => of.slice(),
        Some(BuiltInKernel::Transpose) => of.transpose(),
        Some(BuiltInKernel::Pad) => of.pad(),
        Some(BuiltInKernel::Resize) => of.resize(),
        Some(BuiltInKernel::Reshape) => return of.reshape(),
        Some(BuiltInKernel::Split) => return of.split(),
        Some(BuiltInKernel::Concat) => return of.concat(),
    };
    let mut calls = vec![call?];
    calls.retain(|call| !call.work.contains(&0));
    Ok(calls)
}

/// The number of elements of a tensor along one of its last four axes.
pub(super) fn elements(shape: OperandShape, axis: usize) -> u32 {
    match shape.lanes {
        Some((along, count)) if along as usize == axis => count,
        // In TVM's form, channels are counted in groups of four.
        Some((4, _)) if axis == 1 => 4 * shape.extent[1],
        _ => shape.extent[axis],
    }
}

/// A node to compute, with the shapes of its tensors.
pub(super) struct NodeCall<'a> {
    pub(super) graph: &'a Graph,
    pub(super) node: &'a Node,
    pub(super) operator: &'a Operator,
    shape_of: &'a dyn Fn(TensorId) -> Result<OperandShape>,
}

impl NodeCall<'_> {
    pub(super) fn fault(&self, problem: impl Into<String>) -> Error {
        Error::operator(&self.node.name, &self.operator.name, problem.into())
    }

    pub(super) fn input(&self, index: usize) -> Result<TensorId> {
        let input = self.node.inputs.get(index).copied();
        input.ok_or_else(|| self.fault(format!("input {index} is missing")))
    }

    pub(super) fn output(&self) -> Result<TensorId> {
        let output = self.node.outputs.first().copied();
        output.ok_or_else(|| self.fault("it has no output"))
    }

    pub(super) fn shape(&self, tensor: TensorId) -> Result<OperandShape> {
        (self.shape_of)(tensor)
    }

    pub(super) fn name(&self, tensor: TensorId) -> &str {
        &self.graph.tensor(tensor).name
    }

    /// The shape of a tensor, which must be packed along `axis` of its last four axes, or be in TVM's form with the lanes as a separate axis.
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
                    "its kernel needs tensor `{name}` packed by 4 along axis {axis} of its last four axes, but the tensor is {found}"
                )))
            }
        }
    }

    pub(super) fn ints(&self, name: &str, default: [i64; 2]) -> Result<[i32; 2]> {
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
            narrowed.map_err(|_| {
                self.fault(format!(
                    "`{name}` is {value}, which does not fit in a signed 32-bit integer"
                ))
            })
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

    /// Inserts the bias, which is input 2 of the node, into the operands; `vectors` vectors of zeros if it is absent.
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
        let (all, outputs) = (elements(source, 1), elements(target, 1));
        let kernel = if groups == 1 {
            "conv2d"
        } else if groups as u32 == all && outputs == all && shape.extent[1] == 1 {
            "depthwise"
        } else {
            return Err(self.fault(format!(
                "it has {groups} groups, {all} input channels and {outputs} output channels, but kernels support only one group, or one group per channel"
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

    fn transposed_convolution(&self) -> Result<Call> {
        let (data, weights, output) = (self.input(0)?, self.input(1)?, self.output()?);
        let (source, target) = (self.packed(data, 1)?, self.packed(output, 1)?);
        self.packed(weights, 0)?;
        let [groups, _] = self.ints("groups", [1, 1])?;
        if groups != 1 {
            return Err(self.fault(format!("`groups` is {groups}, but the kernel supports only 1")));
        }
        let ([sy, sx], [py, px]) = (self.ints("strides", [1, 1])?, self.ints("padding", [0, 0])?);
        let call = Call {
            activation: self.activation()?,
            numbers: [
                [sy, sx, py, px],
                [elements(source, 1) as i32, 0, 0, 0],
                [0; 4],
                [0; 4],
            ],
            ..Call::new("conv2d_transpose", &[data, weights, output], target.extent)
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
            function: u32::from(transposed != 0),
            activation: self.activation()?,
            numbers: [[count(from), count(target), 0, 0], [0; 4], [0; 4], [0; 4]],
            ..Call::new("matmul", &[left, right, output], target.extent)
        })
    }

    fn pool(&self, function: u32) -> Result<Call> {
        let ([sy, sx], [py, px]) = (self.ints("strides", [1, 1])?, self.ints("padding", [0, 0])?);
        let [wy, wx] = self.ints("kernel", [2, 2])?;
        self.pool_of(function, [[sy, sx, py, px], [wy, wx, 0, 0], [0; 4], [0; 4]])
    }

    fn global_pool(&self) -> Result<Call> {
        let [_, _, h, w] = self.shape(self.input(0)?)?.extent;
        self.pool_of(1, [[1, 1, 0, 0], [h as i32, w as i32, 0, 0], [0; 4], [0; 4]])
    }

    fn pool_of(&self, function: u32, numbers: [[i32; 4]; 4]) -> Result<Call> {
        let (data, output) = (self.input(0)?, self.output()?);
        self.packed(data, 1)?;
        let target = self.packed(output, 1)?;
        Ok(Call {
            function,
            numbers,
            ..Call::new("pool", &[data, output], target.extent)
        })
    }

    fn binary(&self, function: u32) -> Result<Call> {
        let output = self.output()?;
        let target = self.shape(output)?;
        let Some((axis, count)) = target.lanes else {
            return Err(self.fault(format!(
                "tensor `{}` is not packed along one of its axes",
                self.name(output)
            )));
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
                    Err(self.fault(format!(
                        "input `{input}` must be packed along axis {axis} with {count} elements, like output `{output}`, or have one element there"
                    )))
                }
            }
        };
        let (left, right) = (self.input(0)?, self.input(1)?);
        Ok(Call {
            function,
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

    /// The attribute `axis`, as one of the last four.
    pub(super) fn axis(&self, tensor: TensorId, default: i64) -> Result<usize> {
        let rank = self.graph.tensor(tensor).shape.rank() as i64;
        let [axis, _] = self.ints("axis", [default; 2])?.map(i64::from);
        let from_last = if axis < 0 { -axis } else { rank - axis };
        if !(1..=rank.min(4)).contains(&from_last) {
            return Err(self.fault("`axis` is not one of the last four axes of its tensors"));
        }
        Ok((4 - from_last) as usize)
    }

    /// A call of a kernel that loops over one packed axis.
    fn loop_over_axis(&self, kernel: &str) -> Result<Call> {
        let (input, output) = (self.input(0)?, self.output()?);
        let axis = self.axis(input, -1)? as u32;
        let target = self.packed(output, axis)?;
        let source = self.packed(input, axis)?;
        let Some((_, count)) = source.lanes.filter(|(along, _)| *along == axis) else {
            return Err(self.fault("its input is packed along another axis"));
        };
        let mut work = target.extent;
        work[axis as usize] = 1;
        Ok(Call {
            numbers: [[axis as i32, count as i32, 0, 0], [0; 4], [0; 4], [0; 4]],
            loop_axis: Some(axis as usize),
            ..Call::new(kernel, &[input, output], work)
        })
    }

    fn layer_norm(&self) -> Result<Call> {
        let mut call = self.loop_over_axis("layer_norm")?;
        let parameters = [Operand::Tensor(self.input(1)?), Operand::Tensor(self.input(2)?)];
        call.operands.splice(1..1, parameters);
        let epsilon = match self.operator.attributes.get("epsilon") {
            None => 1e-5,
            Some(Attribute::Float(value)) => *value as f32,
            Some(other) => {
                return Err(self.fault(format!(
                    "`epsilon` must be a floating-point number, but is {other:?}"
                )));
            }
        };
        call.numbers[1][0] = epsilon.to_bits() as i32;
        Ok(call)
    }

    pub(super) fn copy(&self) -> Result<Call> {
        let (input, output) = (self.input(0)?, self.output()?);
        let (source, target) = (self.shape(input)?, self.shape(output)?);
        copy_call(input, source, output, target).map_err(|problem| self.fault(problem))
    }

    /// A call of the caller's kernel: inputs, then outputs; its parameters are the attribute `numbers`.
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

/// The call that copies a tensor from one storage to another; returns an error if no kernel does.
pub(super) fn copy_call(
    input: TensorId,
    source: OperandShape,
    output: TensorId,
    target: OperandShape,
) -> Result<Call, String> {
    let (numbers, work) = match (source.lanes, target.lanes) {
        (None, None) => return Err("kernels do not copy between two plain buffers".to_owned()),
        (Some(from), Some(to)) if from != to => {
            return Err("the tensors are packed along different axes".to_owned());
        }
        (Some(_), Some(_)) => ([0; 4], target.extent),
        // A plain tensor of [.., 4] has the same bytes as its vectors, but is addressed by elements.
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

/// The shape of an operand in a kernel's push constants; for a plain operand, the extent of the dispatch in vectors.
pub(super) fn kernel_shape(call: &Call, shape: OperandShape) -> [u32; 4] {
    match shape.lanes {
        None if shape.layout.storage == OperandStorage::Plain => call.work,
        _ => shape.extent,
    }
}

/// Returns true if two shapes place the same elements at the same bytes of a buffer.
pub(super) fn same_bytes(a: OperandShape, b: OperandShape) -> bool {
    let long = |shape: OperandShape| shape.extent.into_iter().filter(|dim| *dim != 1);
    match (a.lanes, b.lanes) {
        (None, None) => true,
        (Some((_, from)), Some((_, to))) => from == to && long(a).eq(long(b)),
        _ => false,
    }
}
