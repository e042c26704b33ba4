//! Maps ONNX operators to those of this crate.

use super::known::{Known, MAX_KNOWN_RANK, MAX_TRACKED, Number};
use super::proto::{NodeProto, is_onnx_domain};
use super::{Reader, element, invalid, onnx_support, wrapped};
use crate::error::{Error, Result};
use crate::graph::operators::{OPERATORS, definition};
use crate::graph::{Attribute, Dim, ElementType, InPlace, Operator, Shape, TensorId};
use crate::units::Bytes;
use tileheap_json::clip;

/// Maximum length of the name of a node in bytes.
const MAX_NAME: usize = 512;

type Attributes = Vec<(&'static str, Attribute)>;

/// An operator of this crate, with its attributes.
type Mapped = (&'static str, Attributes);

/// ONNX operators that reduce over axes.
const REDUCTIONS: [&str; 10] = [
    "ReduceL1",
    "ReduceL2",
    "ReduceLogSum",
    "ReduceLogSumExp",
    "ReduceMax",
    "ReduceMean",
    "ReduceMin",
    "ReduceProd",
    "ReduceSum",
    "ReduceSumSquare",
];

/// Operators of other domains that are mapped by name, like those of ONNX.
const LIKE_ONNX: [&str; 7] = [
    "DequantizeLinear",
    "FastGelu",
    "Gelu",
    "LayerNormalization",
    "QuantizeLinear",
    "QuickGelu",
    "SimplifiedLayerNormalization",
];

/// ONNX operators of two operands that must have the same element type.
const OPERATORS_OF_EQUAL_TYPES: [&str; 19] = [
    "Add",
    "And",
    "BitShift",
    "BitwiseAnd",
    "BitwiseOr",
    "BitwiseXor",
    "Concat",
    "Div",
    "Equal",
    "Greater",
    "GreaterOrEqual",
    "Less",
    "LessOrEqual",
    "MatMul",
    "Mod",
    "Mul",
    "Or",
    "Sub",
    "Xor",
];

/// ONNX operators that copy their first operand and replace some of its elements.
const OPERATORS_THAT_UPDATE: [&str; 4] = ["Scatter", "ScatterElements", "ScatterND", "TensorScatter"];

impl Reader<'_> {
    pub(super) fn node(&mut self, node: &NodeProto) -> Result<()> {
        self.count += 1;
        if let Some((function, bytes)) = self.functions.called_by(node) {
            return self.call(node, function, bytes);
        }
        if !is_onnx_domain(&node.domain) && !LIKE_ONNX.contains(&node.op_type.as_str()) {
            let inputs = self.inputs(node)?;
            return self.described_by_the_file(node, &inputs);
        }
        if node.op_type == "Constant" {
            return self.constant_node(node);
        }
        if let Some(known) = self.folded(node).filter(|known| self.is_tracked(known)) {
            self.tracked += known.terms();
            let name = self.output(node)?.to_owned();
            let id = self
                .graph
                .constant(&name, known.element, Shape::new(known.dims.iter().copied()));
            self.known.insert(name.clone(), known);
            self.ids.insert(name, id);
            return Ok(());
        }
        let inputs = self.inputs(node)?;
        if node.op_type == "Cast" {
            self.value_element(node.int("to", 0) as i32);
        }
        match node.op_type.as_str() {
            // Outputs of the model keep their names.
            "Identity" if !self.outputs.contains(self.output(node)?) && !inputs.is_empty() => {
                self.ids.insert(self.output(node)?.to_owned(), inputs[0]);
                return Ok(());
            }
            "If" => return self.branch(node, &inputs),
            "Loop" => return self.repeat(node),
            "Scan" => return self.scan(node),
            "NonZero" | "Compress" | "Unique" | "NonMaxSuppression" => return self.selected(node, &inputs),
            _ if inputs.is_empty() => return self.add_inferred_node(node, &inputs),
            "Squeeze" | "Unsqueeze" => return self.squeeze(node, &inputs),
            "Reshape" => return self.reshape(node, &inputs),
            "Gather" if inputs.len() > 1 => return self.gather(node, &inputs),
            "Slice" => return self.slice(node, &inputs),
            "Gemm" if node.int("transA", 0) == 0 && node.int("transB", 0) == 0 => {
                return self.gemm(node, &inputs);
            }
            _ => {}
        }
        if let Some((operator, attributes)) = self.mapped(node, &inputs)? {
            let most = definition(operator).map_or(usize::MAX, |definition| definition.inputs);
            let taken = &inputs[..inputs.len().min(most)];
            self.note_mixed_types(node, taken);
            let made = self
                .graph
                .operator(self.output(node)?, operator, attributes, taken)?;
            return self.name_outputs(node, &made);
        }
        self.add_inferred_node(node, &inputs)
    }

    /// Adds a note if the two operands of an operator that needs equal types have different ones; the result is planned with the type of the first.
    fn note_mixed_types(&mut self, node: &NodeProto, operands: &[TensorId]) {
        let [a, b] = operands else { return };
        let [a, b] = [a, b].map(|&id| self.graph.tensor(id).element);
        let same = OPERATORS_OF_EQUAL_TYPES.contains(&node.op_type.as_str());
        if same && a != b {
            let (name, operator) = (self.name(node), clip(&node.op_type).to_string());
            let problem = "its operands must have the same type, but have";
            let note = format!(
                "node `{}` ({operator}): {problem} {a} and {b}; the plan uses that of the first",
                clip(&name)
            );
            self.graph.note(note);
        }
    }

    /// Returns true if a value is small enough to be tracked: few dimensions, no expressions of many terms, and few terms in the whole model,
    /// since sums of sums would double with every node.
    fn is_tracked(&self, known: &Known) -> bool {
        known.dims.len() <= MAX_KNOWN_RANK
            && known.numbers.iter().all(Number::is_short)
            && self.tracked + known.terms() <= MAX_TRACKED
    }

    /// The operands of a node, except omitted ones.
    fn inputs(&self, node: &NodeProto) -> Result<Vec<TensorId>> {
        let given = node.input.iter().filter(|input| !input.is_empty());
        given.map(|input| self.id(input, &self.name(node))).collect()
    }

    /// Adds a node; the shapes of its outputs are inferred from its operands, or taken from the file if that is not possible.
    fn add_inferred_node(&mut self, node: &NodeProto, inputs: &[TensorId]) -> Result<()> {
        self.check_channels(node)?;
        let Some(sizes) = self.sized(node) else {
            return self.described_by_the_file(node, inputs);
        };
        let named = node.output.iter().zip(sizes).filter(|(name, _)| !name.is_empty());
        let outputs = named.map(|(name, (element, shape))| (name.clone(), element, shape));
        let made = self.add_node(node, inputs, outputs.collect())?;
        if let (true, Some(&first), Some(&input)) = (node.op_type == "Expand", made.first(), inputs.first()) {
            if self.dims(first) == self.dims(input) {
                self.view_if_within(first, input);
            }
        }
        self.name_outputs(node, &made)
    }

    pub(super) fn name(&self, node: &NodeProto) -> String {
        match node.name.as_str() {
            "" => format!("{} {}", clip(&node.op_type), self.count),
            // It becomes part of the name of every tensor of a body.
            name if name.len() > MAX_NAME => format!("{}~{}", clip(name), self.count),
            name => name.to_owned(),
        }
    }

    pub(super) fn output<'n>(&self, node: &'n NodeProto) -> Result<&'n str> {
        let output = node.output.first().map_or("", String::as_str);
        match output.is_empty() {
            true => Err(invalid(format!("node `{}` has no output", self.name(node)))),
            false => Ok(output),
        }
    }

    pub(super) fn fault(&self, node: &NodeProto, problem: impl Into<String>) -> Error {
        Error::operator(&self.name(node), &node.op_type, problem.into())
    }

    /// Names a node's outputs as the file does; a shape in the file must match. `made` has tensors for all outputs, or only for those with a name.
    pub(super) fn name_outputs(&mut self, node: &NodeProto, made: &[TensorId]) -> Result<()> {
        let named = node.output.iter().filter(|name| !name.is_empty()).count();
        let of_named = made.len() == named;
        let outputs = node.output.iter().filter(|name| !of_named || !name.is_empty());
        for (name, &id) in outputs.zip(made).filter(|(name, _)| !name.is_empty()) {
            let inferred = &self.graph.tensor(id).shape;
            let said = self.described.get(name).and_then(|(_, shape)| shape.fixed());
            let both = said.zip(inferred.fixed());
            if let Some((said, inferred)) = both.filter(|(said, inferred)| said != inferred) {
                let problem =
                    format!("the inferred shape of `{name}` is {inferred:?}, but the file says {said:?}");
                return Err(self.fault(node, problem));
            }
            self.graph.rename(id, name);
            self.ids.insert(name.clone(), id);
        }
        Ok(())
    }

    /// Adds a node whose output types and shapes are taken from the file; returns an error if the file does not give one of them.
    pub(super) fn described_by_the_file(&mut self, node: &NodeProto, inputs: &[TensorId]) -> Result<()> {
        if is_onnx_domain(&node.domain) && onnx_support(&node.op_type).is_none() {
            let name = self.name(node);
            self.unknown_operators.entry(node.op_type.clone()).or_insert(name);
        }
        let mut outputs = Vec::new();
        for output in node.output.iter().filter(|output| !output.is_empty()) {
            let Some((element, shape)) = self.described.get(output) else {
                let problem = format!(
                    "its output shapes cannot be inferred, and the file has no shape for `{output}`: run shape inference before saving the model"
                );
                return Err(self.fault(node, problem));
            };
            outputs.push((output.clone(), *element, shape.clone()));
        }
        let made = self.add_node(node, inputs, outputs)?;
        let is_same = matches!(
            node.op_type.as_str(),
            "Reshape" | "Flatten" | "Squeeze" | "Unsqueeze" | "Identity"
        );
        if let (true, Some(&input), Some(&first)) = (is_same, inputs.first(), made.first()) {
            self.view_if_within(first, input);
        }
        self.name_outputs(node, &made)
    }

    /// Makes a tensor a view of another one with the same elements, if the tensor's maximum size is known to be no larger than the other
    /// one's; returns true if it did.
    pub(super) fn view_if_within(&mut self, tensor: TensorId, base: TensorId) -> bool {
        let most = |id: TensorId| {
            let mut dims = self.dims(id).into_iter();
            dims.try_fold(1i64, |all, dim| all.checked_mul(self.range(&dim)?.1))
        };
        let same = self.graph.tensor(tensor).element == self.graph.tensor(base).element;
        let within = most(tensor)
            .zip(most(base))
            .is_some_and(|(part, whole)| part <= whole);
        if same && within {
            self.graph.view(tensor, base, Bytes::ZERO);
        }
        same && within
    }

    /// Reads a `Constant` node, whose value is a dense or sparse tensor, a number, a list of numbers, or strings.
    fn constant_node(&mut self, node: &NodeProto) -> Result<()> {
        let name = self.output(node)?.to_owned();
        let of = |attribute: &str| node.attribute(attribute);
        if let Some(tensor) = of("value").and_then(|value| value.t.as_ref()) {
            return self.constant(&name, tensor);
        }
        let fraction = |&value: &f32| Number::Fraction(f64::from(value));
        let (numbers, dims) = if let Some(value) = of("value_int") {
            (vec![Number::Integer(value.i.into())], Vec::new())
        } else if let Some(values) = of("value_ints") {
            let numbers = values.ints.iter().map(|&value| Number::Integer(value.into()));
            (numbers.collect(), vec![values.ints.len()])
        } else if let Some(value) = of("value_float") {
            (vec![fraction(&value.f)], Vec::new())
        } else if let Some(values) = of("value_floats") {
            (
                values.floats.iter().map(fraction).collect(),
                vec![values.floats.len()],
            )
        } else if let Some(tensor) = of("sparse_value").and_then(|value| value.sparse_tensor.as_ref()) {
            self.sparse_constant(&name, tensor);
            return Ok(());
        } else {
            // Strings.
            let dims = of("value_strings").map(|value| value.strings.len());
            let id = self.graph.constant(&name, ElementType::Bits64, Shape::new(dims));
            self.ids.insert(name, id);
            return Ok(());
        };
        let element = match numbers.first() {
            Some(Number::Fraction(_)) => ElementType::Float32,
            _ => ElementType::Int64,
        };
        let id = self
            .graph
            .constant(&name, element, Shape::new(dims.iter().copied()));
        let known = Known {
            numbers,
            dims,
            element,
        };
        self.known.insert(name.clone(), known);
        self.ids.insert(name, id);
        Ok(())
    }

    pub(super) fn add_node(
        &mut self,
        node: &NodeProto,
        inputs: &[TensorId],
        outputs: Vec<(String, ElementType, Shape)>,
    ) -> Result<Vec<TensorId>> {
        self.add_operator(node, &node.op_type, inputs, outputs)
    }

    /// Returns true if an operator writes new elements into its first operand, whose other elements stay as they are.
    fn is_updated_in_place(
        &self,
        operator: &str,
        inputs: &[TensorId],
        outputs: &[(String, ElementType, Shape)],
    ) -> bool {
        let ([data, ..], [(_, element, shape)]) = (inputs, outputs) else {
            return false;
        };
        let data = self.graph.tensor(*data);
        OPERATORS_THAT_UPDATE.contains(&operator) && data.element == *element && data.shape == *shape
    }

    /// Adds a node of this operator.
    pub(super) fn add_operator(
        &mut self,
        node: &NodeProto,
        operator: &str,
        inputs: &[TensorId],
        mut outputs: Vec<(String, ElementType, Shape)>,
    ) -> Result<Vec<TensorId>> {
        for (name, _, shape) in &mut outputs {
            let limited = self.graph.limit_shape(name, shape);
            limited.map_err(|problem| self.fault(node, problem))?;
        }
        let is_over_first = self.is_updated_in_place(operator, inputs, &outputs);
        let in_place = is_over_first.then_some(InPlace { output: 0, input: 0 });
        let (name, operator) = (self.name(node), Operator::named(operator));
        let in_place = in_place.into_iter().collect();
        Ok(self.graph.node(name, operator, inputs, outputs, in_place))
    }

    /// Adds a node with one output of this shape and the element type of its first input.
    pub(super) fn add_node_with_dims(
        &mut self,
        node: &NodeProto,
        inputs: &[TensorId],
        dims: Vec<Dim>,
    ) -> Result<Vec<TensorId>> {
        let output = self.output(node)?.to_owned();
        let element = self.graph.tensor(inputs[0]).element;
        self.add_node(node, inputs, vec![(output, element, Shape(dims))])
    }

    pub(super) fn dims(&self, id: TensorId) -> Vec<Dim> {
        self.graph.tensor(id).shape.0.clone()
    }

    /// Integers from an attribute, or from a known input.
    pub(super) fn numbers(&self, node: &NodeProto, attribute: &str, place: usize) -> Option<Vec<i64>> {
        let input = || self.input_known(node, place)?.fixed();
        node.ints(attribute).map(<[i64]>::to_vec).or_else(input)
    }

    /// Like `numbers`, but some may be dynamic dimensions.
    pub(super) fn symbolic_numbers(
        &self,
        node: &NodeProto,
        attribute: &str,
        place: usize,
    ) -> Option<Vec<Dim>> {
        let input = || self.input_known(node, place)?.integers();
        let given = node.ints(attribute);
        given
            .map(|ints| ints.iter().map(|&int| int.into()).collect())
            .or_else(input)
    }

    fn mapped(&self, node: &NodeProto, inputs: &[TensorId]) -> Result<Option<Mapped>> {
        let ints = |name: &str, default: &[i64]| {
            let given = node.ints(name).filter(|given| !given.is_empty());
            given.unwrap_or(default).to_vec()
        };
        let int = |name: &str, default: i64| Attribute::from(node.int(name, default));
        let rank = self.graph.tensor(inputs[0]).shape.rank();
        // Further outputs, such as masks and means, have shapes of their own.
        let outputs = node.output.iter().filter(|name| !name.is_empty()).count();
        let mapped: Mapped = match node.op_type.as_str() {
            "Conv" | "ConvTranspose" if inputs.len() > 1 => {
                let (strides, dilations) = (ints("strides", &[1, 1]), ints("dilations", &[1, 1]));
                let weights = self.dims(inputs[1]);
                let kernel: Vec<i64> = weights.iter().skip(2).filter_map(Dim::fixed).collect();
                let is_transposed = node.op_type == "ConvTranspose";
                let is_other = node.attribute("output_shape").is_some()
                    || node
                        .attribute("auto_pad")
                        .is_some_and(|of| of.s.starts_with(b"SAME"))
                    || dilations != [1, 1];
                if rank != 4 || weights.len() != 4 || is_transposed && is_other {
                    return Ok(None);
                }
                let Some(padding) = self.padding(node, inputs[0], &kernel, &strides, &dilations) else {
                    return Ok(None);
                };
                let (operator, own) = match node.op_type.as_str() {
                    "Conv" => ("conv2d", ("dilations", dilations.into())),
                    _ => (
                        "conv2d_transpose",
                        ("output_padding", ints("output_padding", &[0, 0]).into()),
                    ),
                };
                let (strides, padding) = (("strides", strides.into()), ("padding", padding.into()));
                (operator, vec![strides, padding, ("groups", int("group", 1)), own])
            }
            "GlobalAveragePool" if rank != 4 => return Ok(None),
            "Dropout" | "LayerNormalization" | "BatchNormalization" if outputs > 1 => return Ok(None),
            "MatMul" if inputs.iter().any(|&input| self.dims(input).len() < 2) => return Ok(None),
            "MaxPool" | "AveragePool" => {
                let (kernel, strides) = (ints("kernel_shape", &[]), ints("strides", &[1, 1]));
                let is_dilated = node
                    .ints("dilations")
                    .is_some_and(|all| all.iter().any(|&by| by != 1));
                if rank != 4 || outputs > 1 || is_dilated || node.int("ceil_mode", 0) != 0 {
                    return Ok(None);
                }
                let Some(padding) = self.padding(node, inputs[0], &kernel, &strides, &[1, 1]) else {
                    return Ok(None);
                };
                let operator = match node.op_type.as_str() {
                    "MaxPool" => "max_pool2d",
                    _ => "avg_pool2d",
                };
                let windows = [("kernel", kernel), ("strides", strides), ("padding", padding)];
                let windows = windows.map(|(name, values)| (name, values.into()));
                let ceil = ("ceil_mode", int("ceil_mode", 0));
                (operator, windows.into_iter().chain([ceil]).collect())
            }
            "Gemm" if node.int("transA", 0) == 0 => ("dense", vec![]),
            "Max" | "Min" if inputs.len() != 2 => return Ok(None),
            "Softmax" => ("softmax", vec![("axis", int("axis", -1))]),
            "Clip" => {
                let bound = |name: &str, place: usize| {
                    let input = || self.input_known(node, place)?.values()?.first().copied();
                    node.attribute(name)
                        .map(|attribute| f64::from(attribute.f))
                        .or_else(input)
                };
                let six = (bound("min", 1), bound("max", 2)) == (Some(0.0), Some(6.0));
                (if six { "relu6" } else { "clip" }, vec![])
            }
            "Cast" => {
                let to = element(node.int("to", 0) as i32).unwrap_or(super::UNKNOWN);
                ("cast", vec![("to", to.name().into())])
            }
            "Flatten" => {
                let axis = node.int("axis", 1);
                let axis = if axis < 0 {
                    axis.saturating_add(rank as i64)
                } else {
                    axis
                };
                ("flatten", vec![("axis", axis.into())])
            }
            "Transpose" => {
                let axes = node.ints("perm").filter(|axes| !axes.is_empty());
                let axes = axes.map(|axes| ("axes", axes.to_vec().into()));
                ("transpose", axes.into_iter().collect())
            }
            "Concat" => ("concat", vec![("axis", int("axis", 0))]),
            "Split" => {
                let parts = ("parts", (node.output.len() as i64).into());
                let is_given = self.is_given(node, "split", 1);
                let sizes = self.numbers(node, "split", 1);
                let is_even = match (is_given, sizes) {
                    (true, Some(sizes)) => sizes.windows(2).all(|pair| pair[0] == pair[1]),
                    (true, None) => false,
                    (false, _) => wrapped(node.int("axis", 0), rank).is_some_and(|axis| {
                        let parts = node.output.len().max(1) as i64;
                        match self.dims(inputs[0])[axis].fixed() {
                            Some(side) => side % parts == 0,
                            None => node.attribute("num_outputs").is_none(),
                        }
                    }),
                };
                return Ok(is_even.then(|| ("split", vec![("axis", int("axis", 0)), parts])));
            }
            name if name.starts_with("Reduce") && REDUCTIONS.contains(&name) => {
                let is_given = self.is_given(node, "axes", 1);
                let axes = self.numbers(node, "axes", 1);
                if is_given && axes.is_none() {
                    return Ok(None); // Their number is not known.
                }
                let axes = axes.filter(|axes| !axes.is_empty());
                if axes.is_none() && node.int("noop_with_empty_axes", 0) != 0 {
                    return Ok(Some(("copy", vec![])));
                }
                let keep = ("keep", int("keepdims", 1));
                let axes = axes.map(|axes| ("axes", axes.into()));
                ("reduce", std::iter::once(keep).chain(axes).collect())
            }
            name => {
                let same = OPERATORS
                    .iter()
                    .find(|definition| definition.onnx.contains(&name));
                return Ok(same.map(|definition| (definition.name, vec![])));
            }
        };
        Ok(Some(mapped))
    }

    /// Returns true if a node has this attribute or input, known or not.
    pub(super) fn is_given(&self, node: &NodeProto, attribute: &str, place: usize) -> bool {
        node.attribute(attribute).is_some() || node.input.get(place).is_some_and(|input| !input.is_empty())
    }

    /// The padding: top, left, bottom, right; as stated in the file, or such that the output has one element per stride. `None` if that depends on a
    /// side that is not fixed.
    fn padding(
        &self,
        node: &NodeProto,
        input: TensorId,
        kernel: &[i64],
        strides: &[i64],
        dilations: &[i64],
    ) -> Option<Vec<i64>> {
        let automatic = node.attribute("auto_pad").map(|attribute| attribute.s.as_slice());
        let upper = match automatic {
            None | Some(b"" | b"NOTSET") => {
                let pads = node.ints("pads").filter(|pads| !pads.is_empty());
                return Some(pads.unwrap_or(&[0; 4]).to_vec());
            }
            Some(b"VALID") => return Some(vec![0; 4]),
            Some(how) => how == b"SAME_UPPER",
        };
        let dims = self.dims(input);
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for axis in 0..2 {
            let side = dims.get(axis + 2).and_then(Dim::fixed);
            let parts = (side, kernel.get(axis), strides.get(axis), dilations.get(axis));
            let (Some(side), Some(kernel), Some(&stride), Some(&dilation)) = parts else {
                return None;
            };
            let reach = kernel.checked_sub(1)?.checked_mul(dilation)?.checked_add(1)?;
            let windows = side.checked_add(stride)?.checked_sub(1)?.checked_div(stride)?;
            let covered = windows.checked_sub(1)?.checked_mul(stride)?.checked_add(reach)?;
            let all = covered.checked_sub(side)?.max(0);
            let (less, more) = (all / 2, all - all / 2);
            before.push(if upper { less } else { more });
            after.push(if upper { more } else { less });
        }
        before.extend(after);
        Some(before)
    }
}
