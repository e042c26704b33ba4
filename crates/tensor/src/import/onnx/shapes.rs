//! Output dimensions of `Resize`, and quotients of shapes.

use super::known::Known;
use super::proto::NodeProto;
use super::{Reader, wrapped};
use crate::graph::{Dim, DimOperator};

impl Reader<'_> {
    /// Applies the scales or sizes of a `Resize` to dimensions; if the node has `axes`, only these change.
    pub(super) fn resized(&self, node: &NodeProto, mut dims: Vec<Dim>) -> Option<Vec<Dim>> {
        let axes = node
            .ints("axes")
            .map_or_else(|| (0..dims.len() as i64).collect(), <[i64]>::to_vec);
        let places: Option<Vec<usize>> = axes.iter().map(|&axis| wrapped(axis, dims.len())).collect();
        let places = places?;
        let sizes = self.input_known(node, 3).and_then(Known::integers);
        if sizes.is_none() && node.input.get(3).is_some_and(|sizes| !sizes.is_empty()) {
            return None;
        }
        if let Some(sizes) = sizes.filter(|sizes| !sizes.is_empty()) {
            if sizes.len() != places.len() {
                return None;
            }
            let policy = node
                .attribute("keep_aspect_ratio_policy")
                .map(|policy| policy.s.as_slice());
            let is_larger = match policy {
                None | Some(b"" | b"stretch") => {
                    places
                        .into_iter()
                        .zip(sizes)
                        .for_each(|(axis, size)| dims[axis] = size);
                    return Some(dims);
                }
                Some(policy) => policy == b"not_smaller",
            };
            // One scale for all of these axes: the smallest or the largest of them.
            let ratio = |(&axis, size): (&usize, &Dim)| {
                let side = dims[axis].fixed().filter(|&side| side > 0)?;
                Some(size.fixed()? as f32 / side as f32)
            };
            let ratios = places
                .iter()
                .zip(&sizes)
                .map(ratio)
                .collect::<Option<Vec<f32>>>()?;
            let scale = ratios
                .into_iter()
                .reduce(|a, b| if is_larger { a.max(b) } else { a.min(b) })?;
            for axis in places {
                let side = dims[axis].fixed()? as f32 * scale;
                dims[axis] = (side.round() as i64).into();
            }
            return Some(dims);
        }
        let mode = node.attribute("coordinate_transformation_mode");
        if mode.is_some_and(|mode| mode.s == b"tf_crop_and_resize") {
            return None; // Scales apply to the region of interest.
        }
        // In older versions, without regions of interest, scales are the second input or an attribute.
        let given = node
            .attribute("scales")
            .map(|scales| scales.floats.iter().copied().map(f64::from).collect());
        let place = if node.input.len() > 2 { 2 } else { 1 };
        let scales: Vec<f64> = given.or_else(|| self.input_known(node, place)?.values())?;
        if scales.len() != places.len() {
            return None;
        }
        for (axis, scale) in places.into_iter().zip(scales) {
            let (up, down) = (scale.round(), (1.0 / scale).round());
            let dim = dims[axis].clone();
            dims[axis] = match dim.fixed() {
                // In 32 bits, as ONNX Runtime computes it: 10 by 0.7 are 7, where ONNX's inference, in more bits, has 6.
                Some(dim) if scale > 0.0 => ((dim as f32 * scale as f32).floor() as i64).into(),
                None if scale >= 1.0 && up == scale => dim * (up as i64),
                None if scale > 0.0 && down * scale == 1.0 => dim.floor_div(down as i64),
                _ => return None,
            };
        }
        Some(dims)
    }
}

/// The product of some dimensions divided by that of others, rounded down. Equal symbolic factors and common divisors of the numbers cancel first, so
/// that bounds stay tight.
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
