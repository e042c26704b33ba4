//! Shape inference for operators of exported models that this crate does not define.

use super::known::Known;
use super::proto::NodeProto;
use super::{Reader, element as element_named, wrapped};
use crate::graph::{Dim, DimOperator, ElementType, Shape, TensorId};

impl Reader<'_> {
    /// The dimensions times scales, or the requested sizes; only for the named axes, if any.
    fn resized(&self, node: &NodeProto, mut dims: Vec<Dim>) -> Option<Vec<Dim>> {
        let axes = node
            .ints("axes")
            .map_or_else(|| (0..dims.len() as i64).collect(), <[i64]>::to_vec);
        let places: Option<Vec<usize>> = axes.iter().map(|&axis| wrapped(axis, dims.len())).collect();
        let places = places?;
        if let Some(sizes) = self
            .input_known(node, 3)
            .and_then(Known::wholes)
            .filter(|sizes| !sizes.is_empty())
        {
            // Other policies preserve the input's aspect ratio.
            let policy = node
                .attribute("keep_aspect_ratio_policy")
                .map(|policy| policy.s.as_slice());
            let is_stretched = matches!(policy, None | Some(b"" | b"stretch"));
            if sizes.len() != places.len() || !is_stretched {
                return None;
            }
            places
                .into_iter()
                .zip(sizes)
                .for_each(|(axis, size)| dims[axis] = size);
            return Some(dims);
        }
        // In older versions, without regions of interest, scales are the second input or an attribute.
        let given = node
            .attribute("scales")
            .map(|scales| scales.floats.iter().copied().map(f64::from).collect());
        let inputs = [2, 1]
            .into_iter()
            .filter_map(|place| self.input_known(node, place)?.values());
        let scales = given.or_else(|| {
            inputs
                .into_iter()
                .find(|scales: &Vec<f64>| scales.len() == places.len())
        })?;
        if scales.len() != places.len() {
            return None;
        }
        for (axis, scale) in places.into_iter().zip(scales) {
            let (up, down) = (scale.round(), (1.0 / scale).round());
            let dim = dims[axis].clone();
            dims[axis] = match dim.fixed() {
                Some(dim) if scale > 0.0 => ((dim as f64 * scale).floor() as i64).into(),
                None if scale >= 1.0 && up == scale => dim * (up as i64),
                None if scale > 0.0 && down * scale == 1.0 => dim.floor_div(down as i64),
                _ => return None,
            };
        }
        Some(dims)
    }

    /// The outputs of a node, if they follow from its inputs and from known values.
    pub(super) fn sized(&self, node: &NodeProto, inputs: &[TensorId]) -> Option<Vec<(ElementType, Shape)>> {
        let element = |place: usize| Some(self.graph.tensor(*inputs.get(place)?).element);
        let dims = |place: usize| Some(self.dims(*inputs.get(place)?));
        let axis = |default: i64, rank: usize| wrapped(node.int("axis", default), rank);
        let known = |attribute: &str, place: usize| self.open_numbers(node, attribute, place);
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
            "ConstantOfShape" => one(Some(self.filled(node).element), known("shape", 0)?),
            "Range" => {
                let of = |place: usize| self.input_known(node, place)?.wholes()?.pop();
                let (first, end, by) = (of(0)?, of(1)?, of(2)?);
                let count = match by.fixed()? {
                    by if by > 0 => (end - first).ceil_div(by),
                    by => (first - end).ceil_div(by.checked_neg().filter(|&by| by > 0)?),
                };
                let is_some = self.range(&count).is_some_and(|(least, _)| least >= 0);
                one(element(0), vec![if is_some { count } else { count.max(0) }])
            }
            "QuantizeLinear" => {
                let named = element_named(node.int("output_dtype", 0) as i32);
                one(named.or_else(|| element(2)).or(Some(ElementType::UInt8)), data)
            }
            "DequantizeLinear" => one(element(1), data),
            "DynamicQuantizeLinear" => {
                let scalar = |element| (element, Shape::default());
                let data = (ElementType::UInt8, Shape(data));
                Some(vec![data, scalar(element(0)?), scalar(ElementType::UInt8)])
            }
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
                // [sequence, batch, features] by [directions, gates * hidden, features]; or with the batch first.
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
            "Resize" | "Upsample" => one(element(0), self.resized(node, data)?),
            _ => None,
        }
    }
}

/// The broadcast dimensions of two operands.
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

/// The product of some dimensions divided by that of others: equal factors cancel, and numbers are divided, so that
/// bounds stay tight.
pub(super) fn quotient(all: &[Dim], by: &[Dim]) -> Dim {
    let mut left = Factors::of(all);
    let mut by = Factors::of(by);
    by.open.retain(
        |factor| match left.open.iter().position(|other| other == factor) {
            Some(same) => {
                left.open.swap_remove(same);
                false
            }
            None => true,
        },
    );
    let divisor = greatest_divisor(left.number, by.number);
    left.number /= divisor;
    by.number /= divisor;
    match by.open.is_empty() && by.number == 1 {
        true => left.product(),
        false => left.product().floor_div(by.product()),
    }
}

/// The factors of a product.
struct Factors {
    number: i64,
    open: Vec<Dim>,
}

impl Factors {
    fn of(dims: &[Dim]) -> Factors {
        let mut factors = Factors {
            number: 1,
            open: Vec::new(),
        };
        let mut rest: Vec<&Dim> = dims.iter().collect();
        while let Some(dim) = rest.pop() {
            match dim {
                Dim::Binary(DimOperator::Mul, pair) => rest.extend([&pair.0, &pair.1]),
                Dim::Fixed(number) => match factors.number.checked_mul(*number) {
                    Some(product) => factors.number = product,
                    None => factors.open.push(dim.clone()),
                },
                _ => factors.open.push(dim.clone()),
            }
        }
        factors
    }

    fn product(self) -> Dim {
        let mut open = self.open.into_iter();
        match open.next() {
            None => self.number.into(),
            Some(first) => open.fold(first, |all, dim| all * dim) * self.number,
        }
    }
}

/// The greatest common divisor; 1 if both are 0.
fn greatest_divisor(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b > 0 {
        (a, b) = (b, a % b);
    }
    i64::try_from(a).unwrap_or(1).max(1)
}
