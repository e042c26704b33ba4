//! Shapes of operators that this crate does not have: what exporters write beside those.

use super::Reader;
use super::proto::NodeProto;
use crate::graph::{Dim, ElementType, Shape, TensorId};

impl Reader<'_> {
    /// The outputs of a node, where they follow from its inputs and from what is known.
    pub(super) fn sized(&self, node: &NodeProto, inputs: &[TensorId]) -> Option<Vec<(ElementType, Shape)>> {
        let element = |place: usize| Some(self.graph.tensor(*inputs.get(place)?).element);
        let dims = |place: usize| Some(self.dims(*inputs.get(place)?));
        let axis = |default: i64, rank: usize| {
            let axis = node.int("axis", default);
            usize::try_from(if axis < 0 { axis + rank as i64 } else { axis })
                .ok()
                .filter(|&axis| axis < rank)
        };
        let one = |element: Option<ElementType>, dims: Vec<Dim>| Some(vec![(element?, Shape(dims))]);
        let data = dims(0)?;
        match node.op_type.as_str() {
            "Where" => one(element(1), broadcast(&broadcast(&data, &dims(1)?), &dims(2)?)),
            "Max" | "Min" | "Sum" | "Mean" => {
                let all = (0..inputs.len()).filter_map(dims);
                one(
                    element(0),
                    all.fold(Vec::new(), |all, dims| broadcast(&all, &dims)),
                )
            }
            "Expand" => {
                let to: Vec<Dim> = self
                    .numbers(node, "shape", 1)?
                    .into_iter()
                    .map(Dim::from)
                    .collect();
                one(element(0), broadcast(&data, &to))
            }
            "ConstantOfShape" => {
                let to = self.numbers(node, "shape", 0)?;
                one(
                    Some(ElementType::Float32),
                    to.into_iter().map(Dim::from).collect(),
                )
            }
            "Tile" => {
                let times = self.numbers(node, "repeats", 1)?;
                one(
                    element(0),
                    data.into_iter()
                        .zip(times)
                        .map(|(dim, times)| dim * times)
                        .collect(),
                )
            }
            "Pad" => {
                let pads = self.numbers(node, "pads", 1)?;
                let rank = data.len();
                let side = |(axis, dim): (usize, Dim)| Some(dim + *pads.get(axis)? + *pads.get(axis + rank)?);
                one(
                    element(0),
                    data.into_iter().enumerate().map(side).collect::<Option<_>>()?,
                )
            }
            "ArgMax" | "ArgMin" | "OneHot" | "TopK" => {
                let mut dims = data;
                let at = axis(if node.op_type == "TopK" { -1 } else { 0 }, dims.len())?;
                match node.op_type.as_str() {
                    "TopK" => {
                        dims[at] = self.numbers(node, "k", 1)?.first().copied()?.into();
                        return Some(vec![
                            (element(0)?, Shape(dims.clone())),
                            (ElementType::Int64, Shape(dims)),
                        ]);
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
                let ([n, c, h, w], size) =
                    (<[Dim; 4]>::try_from(data).ok()?, node.int("blocksize", 1).max(1));
                let dims = match node.op_type.as_str() {
                    "DepthToSpace" => vec![n, c.floor_div(size.checked_mul(size)?), h * size, w * size],
                    _ => vec![
                        n,
                        c * size.checked_mul(size)?,
                        h.floor_div(size),
                        w.floor_div(size),
                    ],
                };
                one(element(0), dims)
            }
            "LSTM" | "GRU" | "RNN" => {
                // [sequence, batch, features] by [directions, gates * hidden, features]; or the batch first.
                let ([a, b, _], directions) = (<[Dim; 3]>::try_from(data).ok()?, dims(1)?.first()?.clone());
                let hidden = Dim::from(node.int("hidden_size", -1));
                let (all, last) = match node.int("layout", 0) {
                    0 => (
                        vec![a, directions.clone(), b.clone(), hidden.clone()],
                        vec![directions, b, hidden],
                    ),
                    _ => (
                        vec![a.clone(), b, directions.clone(), hidden.clone()],
                        vec![a, directions, hidden],
                    ),
                };
                let (element, last) = (element(0)?, Shape(last));
                Some(vec![
                    (element, Shape(all)),
                    (element, last.clone()),
                    (element, last),
                ])
            }
            "Resize" | "Upsample" => {
                let sizes = node.input.get(3).and_then(|name| self.known.get(name));
                let dims: Vec<Dim> = sizes?.iter().map(|&size| size.into()).collect();
                one(element(0), dims).filter(|_| data.len() == sizes.map_or(0, Vec::len))
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
