//! Maps ONNX operators to those of this crate.

use super::known::{Known, Number};
use super::proto::NodeProto;
use super::shapes::quotient;
use super::{Reader, element, wrapped, wrong};
use crate::error::{Error, Result};
use crate::graph::operators::{OPERATORS, definition};
use crate::graph::{Attribute, Dim, ElementType, Operator, Shape, TensorId};
use crate::units::Bytes;

type Attributes = Vec<(&'static str, Attribute)>;

/// An operator of this crate, with its attributes.
type Mapped = (&'static str, Attributes);

impl Reader<'_> {
    pub(super) fn node(&mut self, node: &NodeProto) -> Result<()> {
        self.count += 1;
        if node.op_type == "Constant" {
            return self.constant_node(node);
        }
        if let Some(known) = self.folded(node).filter(is_short) {
            let name = self.output(node)?.to_owned();
            let id = self
                .graph
                .constant(&name, known.element, Shape::new(known.dims.iter().copied()));
            self.known.insert(name.clone(), known);
            self.ids.insert(name, id);
            return Ok(());
        }
        let mut inputs = Vec::with_capacity(node.input.len());
        for input in node.input.iter().filter(|input| !input.is_empty()) {
            inputs.push(self.id(input, &self.name(node))?);
        }
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
            _ if inputs.is_empty() => return self.described_by_the_file(node, &inputs),
            "Squeeze" | "Unsqueeze" => return self.squeeze(node, &inputs),
            "Reshape" => return self.reshape(node, &inputs),
            "Gather" if inputs.len() > 1 => return self.gather(node, &inputs),
            "Slice" => return self.slice(node, &inputs),
            "Gemm" if node.int("transB", 0) == 0 => return self.gemm(node, &inputs),
            _ => {}
        }
        if let Some((operator, attributes)) = self.mapped(node, &inputs)? {
            let most = definition(operator).map_or(usize::MAX, |definition| definition.inputs);
            let taken = &inputs[..inputs.len().min(most)];
            let made = self
                .graph
                .operator(self.output(node)?, operator, attributes, taken)?;
            return self.keep(node, &made);
        }
        let Some(sizes) = self.sized(node, &inputs) else {
            return self.described_by_the_file(node, &inputs);
        };
        let named = node.output.iter().zip(sizes).filter(|(name, _)| !name.is_empty());
        let outputs = named.map(|(name, (element, shape))| (name.clone(), element, shape));
        let made = self.made(node, &inputs, outputs.collect());
        if node.op_type == "Expand" && self.dims(made[0]) == self.dims(inputs[0]) {
            self.view_if_within(made[0], inputs[0]);
        }
        let kept = node.output.iter().filter(|name| !name.is_empty()).zip(made);
        self.ids.extend(kept.map(|(name, id)| (name.clone(), id)));
        Ok(())
    }

    pub(super) fn name(&self, node: &NodeProto) -> String {
        match node.name.as_str() {
            "" => format!("{} {}", node.op_type, self.count),
            name => name.to_owned(),
        }
    }

    fn output<'n>(&self, node: &'n NodeProto) -> Result<&'n str> {
        let output = node.output.first().map_or("", String::as_str);
        match output.is_empty() {
            true => Err(wrong(format!("node `{}` has no output", self.name(node)))),
            false => Ok(output),
        }
    }

    pub(super) fn fault(&self, node: &NodeProto, problem: impl Into<String>) -> Error {
        Error::operator(&self.name(node), &node.op_type, problem.into())
    }

    /// Names a node's outputs as the file does; a shape in the file must match.
    pub(super) fn keep(&mut self, node: &NodeProto, made: &[TensorId]) -> Result<()> {
        for (name, &id) in node.output.iter().zip(made).filter(|(name, _)| !name.is_empty()) {
            let inferred = &self.graph.tensor(id).shape;
            let said = self.described.get(name).and_then(|(_, shape)| shape.fixed());
            let both = said.zip(inferred.fixed());
            if let Some((said, inferred)) = both.filter(|(said, inferred)| said != inferred) {
                let problem = format!("`{name}` is {inferred:?}, but {said:?} in the file");
                return Err(self.fault(node, problem));
            }
            self.ids.insert(name.clone(), id);
        }
        Ok(())
    }

    /// Adds a node of any operator, with the outputs that the file describes.
    fn described_by_the_file(&mut self, node: &NodeProto, inputs: &[TensorId]) -> Result<()> {
        let mut outputs = Vec::new();
        for output in node.output.iter().filter(|output| !output.is_empty()) {
            let Some((element, shape)) = self.described.get(output) else {
                let problem = format!(
                    "it is not known here, and the file has no shape of `{output}`: infer shapes when it is written"
                );
                return Err(self.fault(node, problem));
            };
            outputs.push((output.clone(), *element, shape.clone()));
        }
        let made = self.made(node, inputs, outputs);
        let is_same = matches!(
            node.op_type.as_str(),
            "Reshape" | "Flatten" | "Squeeze" | "Unsqueeze" | "Identity"
        );
        if let (true, Some(&input)) = (is_same, inputs.first()) {
            self.view_if_within(made[0], input);
        }
        self.keep(node, &made)
    }

    /// Makes a tensor a view of another one with the same elements, unless its bound is not known to be at most as large.
    fn view_if_within(&mut self, tensor: TensorId, base: TensorId) {
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
    }

    /// A `Constant`: a tensor, a number or a list of them.
    fn constant_node(&mut self, node: &NodeProto) -> Result<()> {
        let name = self.output(node)?.to_owned();
        let of = |attribute: &str| node.attribute(attribute);
        if let Some(tensor) = of("value").and_then(|value| value.t.as_ref()) {
            return self.constant(&name, tensor);
        }
        let fraction = |&value: &f32| Number::Fraction(f64::from(value));
        let (numbers, dims) = if let Some(value) = of("value_int") {
            (vec![Number::Whole(value.i.into())], Vec::new())
        } else if let Some(values) = of("value_ints") {
            let numbers = values.ints.iter().map(|&value| Number::Whole(value.into()));
            (numbers.collect(), vec![values.ints.len()])
        } else if let Some(value) = of("value_float") {
            (vec![fraction(&value.f)], Vec::new())
        } else if let Some(values) = of("value_floats") {
            (
                values.floats.iter().map(fraction).collect(),
                vec![values.floats.len()],
            )
        } else {
            // Strings and sparse tensors: their readers have shapes in the file.
            let id = self.graph.constant(&name, ElementType::Bits64, Shape::default());
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

    /// Adds a view of the same elements with other dimensions.
    fn reshape(&mut self, node: &NodeProto, inputs: &[TensorId]) -> Result<()> {
        let data = self.dims(inputs[0]);
        let keeps_zeros = node.int("allowzero", 0) != 0;
        let fixed = self.numbers(node, "shape", 1);
        if let Some(shape) = fixed.filter(|shape| !keeps_zeros && shape.iter().all(|&dim| dim > 0)) {
            let attributes: Attributes = vec![("shape", shape.into())];
            let made = self
                .graph
                .operator(self.output(node)?, "reshape", attributes, &inputs[..1])?;
            return self.keep(node, &made);
        }
        let Some(mut dims) = self.open_numbers(node, "shape", 1) else {
            return self.described_by_the_file(node, inputs);
        };
        for (axis, dim) in dims.iter_mut().enumerate() {
            if dim.fixed() == Some(0) && !keeps_zeros {
                let kept = data.get(axis).cloned();
                *dim =
                    kept.ok_or_else(|| self.fault(node, format!("it keeps axis {axis} of {}", data.len())))?;
            }
        }
        if let Some(open) = dims.iter().position(|dim| dim.fixed() == Some(-1)) {
            let others = [&dims[..open], &dims[open + 1..]].concat();
            dims[open] = quotient(&data, &others);
        }
        let count = |dims: &[Dim]| {
            dims.iter()
                .try_fold(1i64, |all, dim| all.checked_mul(dim.fixed()?))
        };
        if let Some((from, to)) = count(&data).zip(count(&dims)).filter(|(from, to)| from != to) {
            return Err(self.fault(node, format!("{from} elements cannot be reshaped to {to}")));
        }
        let (output, element) = (
            self.output(node)?.to_owned(),
            self.graph.tensor(inputs[0]).element,
        );
        let outputs = vec![(output, element, Shape(dims))];
        let (name, operator) = (self.name(node), Operator::named("reshape"));
        let made = self.graph.node(name, operator, &inputs[..1], outputs, Vec::new());
        self.view_if_within(made[0], inputs[0]);
        self.keep(node, &made)
    }

    fn made(
        &mut self,
        node: &NodeProto,
        inputs: &[TensorId],
        outputs: Vec<(String, ElementType, Shape)>,
    ) -> Vec<TensorId> {
        let (name, operator) = (self.name(node), Operator::named(&node.op_type));
        self.graph.node(name, operator, inputs, outputs, Vec::new())
    }

    /// Adds a node with one output of this shape and the element type of its first input.
    fn one(&mut self, node: &NodeProto, inputs: &[TensorId], dims: Vec<Dim>) -> Result<Vec<TensorId>> {
        let output = self.output(node)?.to_owned();
        let element = self.graph.tensor(inputs[0]).element;
        Ok(self.made(node, inputs, vec![(output, element, Shape(dims))]))
    }

    pub(super) fn dims(&self, id: TensorId) -> Vec<Dim> {
        self.graph.tensor(id).shape.0.clone()
    }

    /// Integers from an attribute, or from a known input.
    pub(super) fn numbers(&self, node: &NodeProto, attribute: &str, place: usize) -> Option<Vec<i64>> {
        let input = || self.input_known(node, place)?.fixed();
        node.ints(attribute).map(<[i64]>::to_vec).or_else(input)
    }

    /// Like `numbers`, but some may be open dimensions.
    pub(super) fn open_numbers(&self, node: &NodeProto, attribute: &str, place: usize) -> Option<Vec<Dim>> {
        let input = || self.input_known(node, place)?.wholes();
        let given = node.ints(attribute);
        given
            .map(|ints| ints.iter().map(|&int| int.into()).collect())
            .or_else(input)
    }

    fn mapped(&self, node: &NodeProto, inputs: &[TensorId]) -> Result<Option<Mapped>> {
        let ints = |name: &str, default: &[i64]| node.ints(name).unwrap_or(default).to_vec();
        let int = |name: &str, default: i64| Attribute::from(node.int(name, default));
        let mapped: Mapped = match node.op_type.as_str() {
            "Conv" | "ConvTranspose" if inputs.len() > 1 => {
                let (strides, dilations) = (ints("strides", &[1, 1]), ints("dilations", &[1, 1]));
                let weights = self.dims(inputs[1]);
                let kernel: Vec<i64> = weights.iter().skip(2).filter_map(Dim::fixed).collect();
                let padding = self.padding(node, inputs[0], &kernel, &strides, &dilations)?;
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
            "MaxPool" | "AveragePool" => {
                let (kernel, strides) = (ints("kernel_shape", &[]), ints("strides", &[1, 1]));
                let padding = self.padding(node, inputs[0], &kernel, &strides, &[1, 1])?;
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
            "Flatten" => ("flatten", vec![("axis", int("axis", 1))]),
            "Transpose" => {
                let axes = node.ints("perm").map(|axes| ("axes", axes.to_vec().into()));
                ("transpose", axes.into_iter().collect())
            }
            "Concat" => ("concat", vec![("axis", int("axis", 0))]),
            "Split" => {
                let parts = ("parts", (node.output.len() as i64).into());
                let sizes = self.numbers(node, "split", 1);
                let even = sizes.is_none_or(|sizes| sizes.windows(2).all(|pair| pair[0] == pair[1]));
                return Ok(even.then(|| ("split", vec![("axis", int("axis", 0)), parts])));
            }
            "ReduceMean" | "ReduceSum" | "ReduceMax" | "ReduceMin" | "ReduceProd" | "ReduceL2" => {
                let axes = self.numbers(node, "axes", 1).map(|axes| ("axes", axes.into()));
                let keep = ("keep", int("keepdims", 1));
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

    /// Top, left, bottom, right: from the file, or so that the output has as many elements as there are strides.
    fn padding(
        &self,
        node: &NodeProto,
        input: TensorId,
        kernel: &[i64],
        strides: &[i64],
        dilations: &[i64],
    ) -> Result<Vec<i64>> {
        let automatic = node.attribute("auto_pad").map(|attribute| attribute.s.as_slice());
        let upper = match automatic {
            None | Some(b"NOTSET") => return Ok(node.ints("pads").unwrap_or(&[0; 4]).to_vec()),
            Some(b"VALID") => return Ok(vec![0; 4]),
            Some(how) => how == b"SAME_UPPER",
        };
        let dims = self.dims(input);
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for axis in 0..2 {
            let side = dims.get(axis + 2).and_then(Dim::fixed);
            let parts = (side, kernel.get(axis), strides.get(axis), dilations.get(axis));
            let (Some(side), Some(kernel), Some(&stride), Some(dilation)) = parts else {
                return Err(self.fault(node, "padding that follows from sides that are not fixed"));
            };
            let reach = (kernel - 1) * dilation + 1;
            let windows = (side + stride - 1) / stride.max(1);
            let all = ((windows - 1) * stride + reach - side).max(0);
            let (less, more) = (all / 2, all - all / 2);
            before.push(if upper { less } else { more });
            after.push(if upper { more } else { less });
        }
        before.extend(after);
        Ok(before)
    }

    /// Removes or adds axes of length 1: a view of the same bytes.
    fn squeeze(&mut self, node: &NodeProto, inputs: &[TensorId]) -> Result<()> {
        let mut dims = self.dims(inputs[0]);
        let axes = self.numbers(node, "axes", 1);
        let adds = node.op_type == "Unsqueeze";
        if axes.is_none() && (adds || inputs.len() > 1) {
            return self.described_by_the_file(node, inputs);
        }
        let added = axes.as_ref().filter(|_| adds).map_or(0, Vec::len);
        let rank = dims.len() + added;
        let ones = || {
            (0..rank as i64)
                .filter(|&axis| dims[axis as usize].fixed() == Some(1))
                .collect()
        };
        let axes: Vec<i64> = axes.unwrap_or_else(ones);
        let places: Option<Vec<usize>> = axes.iter().map(|&axis| wrapped(axis, rank)).collect();
        let Some(mut places) = places else {
            return Err(self.fault(node, format!("there are no axes {axes:?} of {rank}")));
        };
        places.sort_unstable();
        match adds {
            true => places.into_iter().for_each(|axis| dims.insert(axis, 1.into())),
            false => places.into_iter().rev().for_each(|axis| drop(dims.remove(axis))),
        }
        let made = self.one(node, &inputs[..1], dims)?;
        self.graph.view(made[0], inputs[0], Bytes::ZERO);
        self.keep(node, &made)
    }

    /// Gathers rows of a table.
    fn gather(&mut self, node: &NodeProto, inputs: &[TensorId]) -> Result<()> {
        let (data, indices) = (self.dims(inputs[0]), self.dims(inputs[1]));
        let axis = node.int("axis", 0);
        let Some(place) = wrapped(axis, data.len()) else {
            return Err(self.fault(node, format!("there is no axis {axis} of {}", data.len())));
        };
        let dims = [&data[..place], &indices[..], &data[place + 1..]].concat();
        let made = self.one(node, inputs, dims)?;
        self.keep(node, &made)
    }

    /// Slices along each axis in turn.
    fn slice(&mut self, node: &NodeProto, inputs: &[TensorId]) -> Result<()> {
        let of = |name: &str, place: usize| self.open_numbers(node, name, place);
        let fixed = |name: &str, place: usize| self.numbers(node, name, place);
        let (Some(begins), Some(ends)) = (of("starts", 1), of("ends", 2)) else {
            return self.described_by_the_file(node, inputs);
        };
        // Without axes, the first ones are sliced; given axes must be known.
        let is_given = |place: usize| node.input.get(place).is_some_and(|input| !input.is_empty());
        let axes = fixed("axes", 3).or_else(|| (!is_given(3)).then(|| (0..begins.len() as i64).collect()));
        let steps = fixed("steps", 4).or_else(|| (!is_given(4)).then(|| vec![1; begins.len()]));
        let mut dims = self.dims(inputs[0]);
        let places = axes.and_then(|axes| {
            axes.iter()
                .map(|&axis| wrapped(axis, dims.len()))
                .collect::<Option<Vec<_>>>()
        });
        let (Some(places), Some(steps)) = (places, steps) else {
            return self.described_by_the_file(node, inputs);
        };
        for (((axis, begin), end), step) in places.into_iter().zip(begins).zip(ends).zip(steps) {
            match self.sliced_dim(&dims[axis], &begin, &end, step) {
                Some(dim) => dims[axis] = dim,
                None => return self.described_by_the_file(node, inputs),
            }
        }
        let made = self.one(node, &inputs[..1], dims)?;
        self.keep(node, &made)
    }

    /// The number of indices that a slice takes of a dimension.
    fn sliced_dim(&self, dim: &Dim, begin: &Dim, end: &Dim, step: i64) -> Option<Dim> {
        if step <= 0 {
            // With a negative step, only slices of fixed dimensions are tracked.
            let (count, begin, end) = (dim.fixed()?, begin.fixed()?, end.fixed()?);
            let place = |index: i64| {
                if index < 0 {
                    index.saturating_add(count)
                } else {
                    index
                }
            };
            let (begin, end) = (place(begin).clamp(-1, count - 1), place(end).clamp(-1, count - 1));
            let taken = (begin - end).max(0);
            return step
                .checked_neg()
                .filter(|&by| by > 0)
                .map(|by| Dim::from(taken).ceil_div(by));
        }
        let place = |index: &Dim| match index.fixed() {
            Some(index) if index < 0 => Some((dim.clone() + index).max(0)),
            Some(index) if self.range(dim)?.0 >= index => Some(index.into()),
            Some(index) if self.range(dim)?.1 <= index => Some(dim.clone()),
            None if index == dim => Some(dim.clone()),
            None if self.range(index)?.0 < 0 => None,
            _ => Some(index.clone().min(dim.clone())),
        };
        // A slice from a negative index to the end has a fixed length, in which no dimension occurs twice.
        if let (Some(from), Some(i64::MAX)) = (
            begin.fixed().filter(|&from| from < 0),
            end.fixed().map(at_the_end),
        ) {
            return Some(dim.clone().min(from.checked_neg()?).ceil_div(step));
        }
        let (begin, end) = (place(begin)?, place(end)?);
        let taken = if begin.fixed() == Some(0) {
            end
        } else {
            end - begin
        };
        let taken = match self.range(&taken)?.0 < 0 {
            true => taken.max(0),
            false => taken,
        };
        Some(if step == 1 { taken } else { taken.ceil_div(step) })
    }

    /// `a * b + c` where `b` is not transposed; if it is, the weights are those of a dense layer.
    fn gemm(&mut self, node: &NodeProto, inputs: &[TensorId]) -> Result<()> {
        let output = self.output(node)?.to_owned();
        let product = match inputs.len() {
            2 => output.clone(),
            _ => format!("{output}/product"),
        };
        let mut last = self.graph.operator(&product, "matmul", [], &inputs[..2])?[0];
        if let Some(&added) = inputs.get(2) {
            last = self.graph.operator(&output, "add", [], &[last, added])?[0];
        }
        self.keep(node, &[last])
    }
}

/// Replaces an end past all dimensions by the greatest number.
fn at_the_end(end: i64) -> i64 {
    if end >= i64::from(i32::MAX) { i64::MAX } else { end }
}

/// Returns true if no dimension is an expression of many terms: sums of sums would double with every node.
fn is_short(known: &Known) -> bool {
    fn terms(dim: &Dim, most: usize) -> usize {
        match dim {
            Dim::Binary(_, pair) if most > 0 => {
                let first = terms(&pair.0, most - 1);
                first + terms(&pair.1, most.saturating_sub(first))
            }
            _ => 1,
        }
    }
    known.numbers.iter().all(|number| match number {
        Number::Whole(dim) => terms(dim, 65) <= 64,
        Number::Fraction(_) => true,
    })
}
