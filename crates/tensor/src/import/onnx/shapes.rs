//! Shapes of operators that this crate does not have: what exporters write beside those.

use super::proto::NodeProto;
use super::{Reader, wrapped};
use crate::graph::{Dim, ElementType, Shape, TensorId};

impl Reader<'_> {
    /// The outputs of a node, where they follow from its inputs and from what is known.
    pub(super) fn sized(&self, node: &NodeProto, inputs: &[TensorId]) -> Option<Vec<(ElementType, Shape)>> {
        let element = |place: usize| Some(self.graph.tensor(*inputs.get(place)?).element);
        let dims = |place: usize| Some(self.dims(*inputs.get(place)?));
        let axis = |default: i64, rank: usize| wrapped(node.int("axis", default), rank);
        let known = |attribute: &str, place: usize| {
            let numbers = self.numbers(node, attribute, place)?;
            Some(numbers.into_iter().map(Dim::from).collect::<Vec<_>>())
        };
        let one = |element: Option<ElementType>, dims: Vec<Dim>| Some(vec![(element?, Shape(dims))]);
        let data = dims(0)?;
        match node.op_type.as_str() {
            "Where" => one(element(1), broadcast(&broadcast(&data, &dims(1)?), &dims(2)?)),
            "Max" | "Min" | "Sum" | "Mean" => {
                let all = (0..inputs.len()).filter_map(dims);
                let dims = all.fold(Vec::new(), |all, dims| broadcast(&all, &dims));
                one(element(0), dims)
            }
            "Expand" => one(element(0), broadcast(&data, &known("shape", 1)?)),
            "ConstantOfShape" => one(Some(ElementType::Float32), known("shape", 0)?),
            "Tile" => {
                let times = data.into_iter().zip(known("repeats", 1)?);
                one(element(0), times.map(|(dim, times)| dim * times).collect())
            }
            "Pad" => {
                let pads = self.numbers(node, "pads", 1)?;
                let rank = data.len();
                let side = |(axis, dim): (usize, Dim)| Some(dim + *pads.get(axis)? + *pads.get(axis + rank)?);
                let dims: Option<_> = data.into_iter().enumerate().map(side).collect();
                one(element(0), dims?)
            }
            "ArgMax" | "ArgMin" | "OneHot" | "TopK" => {
                let mut dims = data;
                let at = axis(if node.op_type == "TopK" { -1 } else { 0 }, dims.len())?;
                match node.op_type.as_str() {
                    "TopK" => {
                        dims[at] = self.numbers(node, "k", 1)?.first().copied()?.into();
                        let shape = Shape(dims);
                        return Some(vec![(element(0)?, shape.clone()), (ElementType::Int64, shape)]);
                    }
                    "OneHot" => return None,
                    _ if node.int("keepdims", 1) != 0 => dims[at] = 1.into(),
                    _ => drop(dims.remove(at)),
                }
                one(Some(ElementType::Int64), dims)
            }
            "Split" => {
                let at = axis(0, data.len())?;
                let part = |size: i64| {
                    let mut dims = data.clone();
                    dims[at] = size.into();
                    Some((element(0)?, Shape(dims)))
                };
                self.numbers(node, "split", 1)?.into_iter().map(part).collect()
            }
            "DepthToSpace" | "SpaceToDepth" => {
                let [n, c, h, w] = <[Dim; 4]>::try_from(data).ok()?;
                let size = node.int("blocksize", 1).max(1);
                let area = size.checked_mul(size)?;
                let [c, h, w] = match node.op_type.as_str() {
                    "DepthToSpace" => [c.floor_div(area), h * size, w * size],
                    _ => [c * area, h.floor_div(size), w.floor_div(size)],
                };
                one(element(0), vec![n, c, h, w])
            }
            "LSTM" | "GRU" | "RNN" => {
                // [sequence, batch, features] by [directions, gates * hidden, features]; or the batch first.
                let ([a, b, _], directions) = (<[Dim; 3]>::try_from(data).ok()?, dims(1)?.first()?.clone());
                let hidden = Dim::from(node.int("hidden_size", -1));
                let (all, last) = match node.int("layout", 0) {
                    0 => ([&a, &directions, &b, &hidden], [&directions, &b, &hidden]),
                    _ => ([&a, &b, &directions, &hidden], [&a, &directions, &hidden]),
                };
                let (element, last) = (element(0)?, Shape(last.map(Dim::clone).to_vec()));
                let all = Shape(all.map(Dim::clone).to_vec());
                Some(vec![(element, all), (element, last.clone()), (element, last)])
            }
            "Resize" | "Upsample" => {
                let sizes = self.known.get(node.input.get(3)?)?.iter();
                let dims: Vec<Dim> = sizes.map(|&size| size.into()).collect();
                one(element(0), dims).filter(|one| data.len() == one[0].1.rank())
            }
            _ => None,
        }
    }
}

/// The dimensions of two operands together: a 1 gives way to the other.
fn broadcast(a: &[Dim], b: &[Dim]) -> Vec<Dim> {
    let (long, short) = if a.len() >= b.len() { (a, b) } else { (b, a) };
    let mut dims = long.to_vec();
    for (dim, other) in dims[long.len() - short.len()..].iter_mut().zip(short) {
        if dim.fixed() == Some(1) {
            *dim = other.clone();
        }
    }
    dims
}
