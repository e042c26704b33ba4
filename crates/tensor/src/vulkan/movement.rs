//! Operators that move elements: their kernels, operands and parameters.

use super::operators::{Call, NodeCall, elements};
use crate::error::Result;
use crate::graph::{Attribute, TensorId};

/// The parameters of a gather that moves nothing: axes in order, offsets 0, repeats 1.
const IDENTITY: [[i32; 4]; 3] = [[0, 1, 2, 3], [0; 4], [1; 4]];

impl NodeCall<'_> {
    /// The packed axis of a tensor, and its number of elements.
    fn lanes(&self, tensor: TensorId) -> Result<[i32; 2]> {
        match self.shape(tensor)?.lanes {
            Some((axis @ 0..4, count)) => Ok([axis as i32, count as i32]),
            _ => {
                let name = self.name(tensor);
                Err(self.fault(format!("tensor `{name}` is not packed along one of its axes")))
            }
        }
    }

    pub(super) fn reshape(&self) -> Result<Vec<Call>> {
        let (input, output) = (self.input(0)?, self.output()?);
        let (source, target) = (self.shape(input)?, self.shape(output)?);
        if source.lanes.is_none() && target.lanes.is_none() && self.graph.tensor(output).view.is_some() {
            return Ok(Vec::new());
        }
        let numbers = [self.lanes(input)?, self.lanes(output)?].map(|[axis, count]| [axis, count, 0, 0]);
        Ok(vec![Call {
            numbers: [numbers[0], numbers[1], [0; 4], [0; 4]],
            ..Call::new("reshape", &[input, output], target.extent)
        }])
    }

    /// The call of kernel `gather`. For each axis of the output: the input's axis, the first index there, and the number of repeats of each element.
    fn gather(&self, output: TensorId, [axes, begins, repeats]: [[i32; 4]; 3]) -> Result<Call> {
        let input = self.input(0)?;
        let ([from, inner], [to, outer]) = (self.lanes(input)?, self.lanes(output)?);
        Ok(Call {
            numbers: [axes, begins, repeats, [from, inner, to, outer]],
            ..Call::new("gather", &[input, output], self.shape(output)?.extent)
        })
    }

    pub(super) fn slice(&self) -> Result<Call> {
        let (axis, [begin, _]) = (self.axis(self.input(0)?, 0)?, self.ints("begin", [0, 0])?);
        let count = elements(self.shape(self.input(0)?)?, axis) as i32;
        let [axes, mut begins, repeats] = IDENTITY;
        begins[axis] = if begin < 0 { (count + begin).max(0) } else { begin };
        self.gather(self.output()?, [axes, begins, repeats])
    }

    pub(super) fn split(&self) -> Result<Vec<Call>> {
        let axis = self.axis(self.input(0)?, 0)?;
        let [axes, mut begins, repeats] = IDENTITY;
        let part = |&output: &TensorId| {
            let call = self.gather(output, [axes, begins, repeats])?;
            begins[axis] += elements(self.shape(output)?, axis) as i32;
            Ok(call)
        };
        self.node.outputs.iter().map(part).collect()
    }

    pub(super) fn transpose(&self) -> Result<Call> {
        let rank = self.graph.tensor(self.input(0)?).shape.rank();
        let ones = 4usize.checked_sub(rank);
        let ones = ones
            .ok_or_else(|| self.fault(format!("kernels transpose tensors of at most 4 axes, not {rank}")))?;
        let [mut axes, begins, repeats] = IDENTITY;
        let order = match self.operator.attributes.get("axes") {
            Some(Attribute::Ints(order)) => order.clone(),
            _ => (0..rank as i64).rev().collect(),
        };
        for (axis, from) in axes[ones..].iter_mut().zip(order) {
            *axis = from as i32 + ones as i32;
        }
        self.gather(self.output()?, [axes, begins, repeats])
    }

    /// The kernel call that pads a tensor with zeros.
    pub(super) fn pad(&self) -> Result<Call> {
        let [top, left] = self.ints("padding", [0, 0])?;
        self.gather(self.output()?, [IDENTITY[0], [0, 0, -top, -left], IDENTITY[2]])
    }

    pub(super) fn resize(&self) -> Result<Call> {
        let [height, width] = self.ints("scale", [2, 2])?;
        self.gather(self.output()?, [IDENTITY[0], IDENTITY[1], [1, 1, height, width]])
    }

    /// Returns a call for each input but the last. It writes the vectors that begin in this input, the last of which may end in the next input; the
    /// last call also writes the vectors that begin in the last input. A single input is copied.
    pub(super) fn concat(&self) -> Result<Vec<Call>> {
        let (inputs, output) = (&self.node.inputs, self.output()?);
        let (axis, target) = (self.axis(output, 1)?, self.shape(output)?.extent);
        let [along, _] = self.lanes(output)?;
        let by = if along as usize == axis { 4 } else { 1 };
        let mut begins = vec![0];
        for (index, &input) in inputs.iter().enumerate() {
            let name = self.name(input);
            if self.lanes(input)?[0] != along {
                let output = self.name(output);
                return Err(self.fault(format!("tensors `{name}` and `{output}` are packed differently")));
            }
            let count = elements(self.shape(input)?, axis);
            if by > 1 && count < 3 && index > 0 && index + 1 < inputs.len() {
                return Err(self.fault(format!(
                    "tensor `{name}` has {count} elements along the packed axis, but an input between two others must have at least 3"
                )));
            }
            begins.push(begins[index] + count);
        }
        if inputs.len() < 2 {
            return Ok(vec![self.copy()?]);
        }
        let part = |left: usize| {
            let first = begins[left].div_ceil(by);
            let end = match left + 2 == inputs.len() {
                true => target[axis],
                false => begins[left + 1].div_ceil(by),
            };
            let mut work = target;
            work[axis] = end - first;
            let part = [axis as u32, first, work[axis], along as u32].map(|number| number as i32);
            let [begin, next, end] = [0, 1, 2].map(|place| begins[left + place] as i32);
            Call {
                numbers: [part, [begin, next, end, 0], [0; 4], [0; 4]],
                continues: left > 0,
                ..Call::new("concat", &[inputs[left], inputs[left + 1], output], work)
            }
        };
        let parts = (0..inputs.len() - 1).map(part);
        Ok(parts.filter(|part| !part.work.contains(&0)).collect())
    }
}
