//! Reads operators that reshape, slice and select.

use super::known::Known;
use super::proto::NodeProto;
use super::shapes::quotient;
use super::{Reader, wrapped};
use crate::error::Result;
use crate::graph::{Attribute, Dim, ElementType, Shape, TensorId};
use crate::units::Bytes;

impl Reader<'_> {
    /// Adds a view of the same elements with other dimensions.
    pub(super) fn reshape(&mut self, node: &NodeProto, inputs: &[TensorId]) -> Result<()> {
        let data = self.dims(inputs[0]);
        let keeps_zeros = node.int("allowzero", 0) != 0;
        let fixed = self.numbers(node, "shape", 1);
        if let Some(shape) = fixed.filter(|shape| !keeps_zeros && shape.iter().all(|&dim| dim > 0)) {
            let attributes: Vec<(&str, Attribute)> = vec![("shape", shape.into())];
            let made = self
                .graph
                .operator(self.output(node)?, "reshape", attributes, &inputs[..1])?;
            return self.name_outputs(node, &made);
        }
        let Some(mut dims) = self.symbolic_numbers(node, "shape", 1) else {
            return self.described_by_the_file(node, inputs);
        };
        for (axis, dim) in dims.iter_mut().enumerate() {
            if dim.fixed() == Some(0) && !keeps_zeros {
                let kept = data.get(axis).cloned();
                *dim = kept.ok_or_else(|| {
                    self.fault(
                        node,
                        format!(
                            "its shape keeps the length of axis {axis}, but the input has rank {}",
                            data.len()
                        ),
                    )
                })?;
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
            return Err(self.fault(node, format!("cannot reshape {from} elements to {to} elements")));
        }
        let (output, element) = (
            self.output(node)?.to_owned(),
            self.graph.tensor(inputs[0]).element,
        );
        let outputs = vec![(output, element, Shape(dims))];
        let made = self.add_operator(node, "reshape", &inputs[..1], outputs)?;
        self.view_if_within(made[0], inputs[0]);
        self.name_outputs(node, &made)
    }

    /// Removes or adds axes of length 1: a view of the same bytes.
    pub(super) fn squeeze(&mut self, node: &NodeProto, inputs: &[TensorId]) -> Result<()> {
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
            return Err(self.fault(
                node,
                format!("one of the axes {axes:?} is out of range for a tensor of rank {rank}"),
            ));
        };
        places.sort_unstable();
        if places.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(self.fault(
                node,
                format!("the axes {axes:?} of a rank-{rank} tensor name one axis twice"),
            ));
        }
        let is_longer = |&&axis: &&usize| dims[axis].fixed().is_some_and(|side| side != 1);
        if let Some(axis) = places.iter().find(is_longer).filter(|_| !adds) {
            let problem = format!(
                "axis {axis} has {} elements; only axes of 1 element can be removed",
                dims[*axis]
            );
            return Err(self.fault(node, problem));
        }
        match adds {
            true => places.into_iter().for_each(|axis| dims.insert(axis, 1.into())),
            false => places.into_iter().rev().for_each(|axis| drop(dims.remove(axis))),
        }
        let made = self.add_node_with_dims(node, &inputs[..1], dims)?;
        self.graph.view(made[0], inputs[0], Bytes::ZERO);
        self.name_outputs(node, &made)
    }

    /// Reads a `Gather`: selects slices along an axis by index; the dimensions of the index tensor replace that axis.
    pub(super) fn gather(&mut self, node: &NodeProto, inputs: &[TensorId]) -> Result<()> {
        let (data, indices) = (self.dims(inputs[0]), self.dims(inputs[1]));
        let axis = node.int("axis", 0);
        let Some(place) = wrapped(axis, data.len()) else {
            let problem = format!("axis {axis} is out of range for a tensor of rank {}", data.len());
            return Err(self.fault(node, problem));
        };
        let dims = [&data[..place], &indices[..], &data[place + 1..]].concat();
        let made = self.add_node_with_dims(node, inputs, dims)?;
        self.name_outputs(node, &made)
    }

    /// Slices along each axis in turn.
    pub(super) fn slice(&mut self, node: &NodeProto, inputs: &[TensorId]) -> Result<()> {
        let of = |name: &str, place: usize| self.symbolic_numbers(node, name, place);
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
        let made = self.add_node_with_dims(node, &inputs[..1], dims)?;
        self.name_outputs(node, &made)
    }

    /// The number of indices that a slice takes from a dimension; `None` if it cannot be determined.
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
            if count == 0 {
                return Some(0.into());
            }
            // One before the first index is a valid end, but not a valid beginning.
            let (begin, end) = (place(begin).clamp(0, count - 1), place(end).clamp(-1, count - 1));
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

    /// Reads a `Gemm` whose `b` is not transposed: `a * b + c`. One with a transposed `b` is a dense layer.
    pub(super) fn gemm(&mut self, node: &NodeProto, inputs: &[TensorId]) -> Result<()> {
        let output = self.output(node)?.to_owned();
        if inputs.len() < 2 {
            return Err(self.fault(node, "it has fewer than two operands"));
        }
        let product = match inputs.len() {
            2 => output.clone(),
            _ => format!("{output}/product"),
        };
        let mut last = self.graph.operator(&product, "matmul", [], &inputs[..2])?[0];
        if let Some(&added) = inputs.get(2) {
            last = self.graph.operator(&output, "add", [], &[last, added])?[0];
        }
        self.name_outputs(node, &[last])
    }

    /// Adds a node that selects elements by their values. The number of results is a symbol, bounded by the number of elements (along the axis, if
    /// the node has one) or, for `NonMaxSuppression`, by the number of boxes that it may select.
    pub(super) fn selected(&mut self, node: &NodeProto, inputs: &[TensorId]) -> Result<()> {
        let data = inputs.first().map(|&input| self.dims(input)).unwrap_or_default();
        let most = |dims: &[Dim]| {
            dims.iter()
                .try_fold(1i64, |all, dim| all.checked_mul(self.range(dim)?.1))
        };
        let axis = node.attribute("axis").and_then(|of| wrapped(of.i, data.len()));
        let limit = match (node.op_type.as_str(), axis) {
            ("NonMaxSuppression", _) => {
                let scores = inputs.get(1).map(|&scores| self.dims(scores)).unwrap_or_default();
                // Without this input nothing is selected; if its value is not known, any number of boxes may be.
                let is_given = node.input.get(2).is_some_and(|name| !name.is_empty());
                let each = self.input_known(node, 2).and_then(Known::fixed);
                let each = each.and_then(|each| each.first().copied());
                let each = each.unwrap_or(if is_given { i64::MAX } else { 0 });
                let boxes = scores.get(2).and_then(|boxes| self.range(boxes)).map(|of| of.1);
                let classes = scores.get(..2).and_then(most);
                classes
                    .zip(boxes)
                    .and_then(|(all, boxes)| all.checked_mul(each.clamp(0, boxes)))
            }
            (_, Some(axis)) => most(&data[axis..=axis]),
            (_, None) => most(&data),
        };
        let limit = limit.and_then(|limit| u64::try_from(limit).ok());
        let (Some(limit), Some(&first)) = (limit.filter(|&limit| limit < 1 << 40), inputs.first()) else {
            return self.described_by_the_file(node, inputs);
        };
        let output = self.output(node)?.to_owned();
        let at = usize::from(node.op_type == "NonZero").max(axis.unwrap_or(0));
        let count = self.symbol_within(&output, at, (0, limit));
        let element = self.graph.tensor(first).element;
        let int64 = |dims: Vec<Dim>| (ElementType::Int64, Shape(dims));
        let of_data = |count: &Dim| {
            let mut dims = data.clone();
            match axis {
                Some(axis) => dims[axis] = count.clone(),
                None => dims = vec![count.clone()],
            }
            (element, Shape(dims))
        };
        let outputs = match node.op_type.as_str() {
            "NonZero" => vec![int64(vec![(data.len() as i64).into(), count])],
            "NonMaxSuppression" => vec![int64(vec![count, 3.into()])],
            "Compress" => vec![of_data(&count)],
            _ => {
                let all = match axis {
                    Some(axis) => data[axis].clone(),
                    None => data.iter().fold(Dim::Fixed(1), |all, dim| all * dim.clone()),
                };
                let places = int64(vec![count.clone()]);
                vec![of_data(&count), places.clone(), int64(vec![all]), places]
            }
        };
        let named = node
            .output
            .iter()
            .zip(outputs)
            .filter(|(name, _)| !name.is_empty());
        let outputs = named.map(|(name, (element, shape))| (name.clone(), element, shape));
        let made = self.add_node(node, inputs, outputs.collect())?;
        self.name_outputs(node, &made)
    }
}

/// Replaces an end past every possible dimension, as exporters write it for "to the end", with `i64::MAX`.
fn at_the_end(end: i64) -> i64 {
    if end >= i64::from(i32::MAX) { i64::MAX } else { end }
}
