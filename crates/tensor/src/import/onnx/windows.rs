//! Shape inference for convolutions and pools over any number of spatial axes.

use super::Reader;
use super::proto::NodeProto;
use super::rules::{Operands, Outputs};
use crate::error::Result;
use crate::graph::{Dim, ElementType, Shape};

/// The parameters of windows along each spatial axis.
struct Windows {
    strides: Vec<i64>,
    dilations: Vec<i64>,
    before: Vec<i64>,
    after: Vec<i64>,
    /// True if the padding is chosen so that the output has one element for each stride of the input.
    is_same: bool,
    rounds_up: bool,
}

impl Windows {
    /// The window parameters of a node; `None` if the length of a list does not match the number of axes, or if a stride or dilation is not positive.
    fn of(node: &NodeProto, axes: usize) -> Option<Windows> {
        let ints = |name: &str| node.ints(name).filter(|ints| !ints.is_empty());
        let each = |name: &str| {
            let given = ints(name).map_or_else(|| vec![1; axes], <[i64]>::to_vec);
            (given.len() == axes && given.iter().all(|&value| value > 0)).then_some(given)
        };
        let automatic = node.attribute("auto_pad").map(|attribute| attribute.s.as_slice());
        let pads = match automatic {
            None | Some(b"" | b"NOTSET") => ints("pads"),
            _ => None,
        };
        let pads = pads.map_or_else(|| vec![0; 2 * axes], <[i64]>::to_vec);
        (pads.len() == 2 * axes).then_some(())?;
        Some(Windows {
            strides: each("strides")?,
            dilations: each("dilations")?,
            before: pads[..axes].to_vec(),
            after: pads[axes..].to_vec(),
            is_same: matches!(automatic, Some(b"SAME_UPPER" | b"SAME_LOWER")),
            rounds_up: node.int("ceil_mode", 0) != 0,
        })
    }

    fn reach(&self, axis: usize, kernel: &Dim) -> Dim {
        (kernel.clone() - 1) * self.dilations[axis] + 1
    }

    /// The number of windows along an axis.
    fn count(&self, axis: usize, side: &Dim, kernel: &Dim) -> Dim {
        let stride = self.strides[axis];
        if self.is_same {
            return side.clone().ceil_div(stride);
        }
        let begin = side.clone() + self.before[axis];
        let room = begin.clone() + self.after[axis] - self.reach(axis, kernel);
        match self.rounds_up {
            false => room.floor_div(stride) + 1,
            // The last window begins within the input or the padding before it.
            true => (room.ceil_div(stride) + 1).min((begin - 1).floor_div(stride) + 1),
        }
    }

    fn counts(&self, sides: &[Dim], kernel: &[Dim]) -> Option<Vec<Dim>> {
        (sides.len() == kernel.len()).then_some(())?;
        let axes = sides.iter().zip(kernel).enumerate();
        Some(
            axes.map(|(axis, (side, kernel))| self.count(axis, side, kernel))
                .collect(),
        )
    }

    /// The output sides of a transposed convolution: `output_shape` if the node has it; otherwise the sides that windows of this kernel would reduce
    /// to `sides`, plus `output_padding`.
    fn transposed(&self, node: &NodeProto, sides: &[Dim], kernel: &[Dim]) -> Option<Vec<Dim>> {
        if let Some(given) = node.ints("output_shape").filter(|given| !given.is_empty()) {
            // Some exporters write the whole shape.
            let spatial = given.get(given.len().checked_sub(sides.len())?..)?;
            return Some(spatial.iter().map(|&side| side.into()).collect());
        }
        (sides.len() == kernel.len()).then_some(())?;
        let more = node.ints("output_padding").unwrap_or(&[]);
        let side = |(axis, (side, kernel)): (usize, (&Dim, &Dim))| {
            let stride = self.strides[axis];
            if self.is_same {
                return side.clone() * stride;
            }
            let more = more.get(axis).copied().unwrap_or(0);
            let more = more
                .saturating_sub(self.before[axis])
                .saturating_sub(self.after[axis]);
            (side.clone() - 1) * stride + self.reach(axis, kernel) + more
        };
        Some(sides.iter().zip(kernel).enumerate().map(side).collect())
    }
}

impl Reader<'_> {
    /// Returns an error if the weights of a convolution, or the second matrix of a product, do not match the data.
    pub(super) fn check_channels(&self, node: &NodeProto) -> Result<()> {
        let of = Operands { reader: self, node };
        let (at, is_product) = match node.op_type.as_str() {
            "Conv" | "ConvInteger" | "DeformConv" | "ConvTranspose" => (1, false),
            "QLinearConv" => (3, false),
            "MatMulInteger" => (1, true),
            "QLinearMatMul" => (3, true),
            _ => return Ok(()),
        };
        let (Some(data), Some(weights)) = (of.dims(0), of.dims(at)) else {
            return Ok(());
        };
        let fixed = |dim: Option<&Dim>| dim.and_then(Dim::fixed);
        if is_product {
            let rows = weights.get(weights.len().saturating_sub(2));
            return match fixed(data.last()).zip(fixed(rows)) {
                Some((columns, rows)) if columns != rows => Err(self.fault(
                    node,
                    format!("the first matrix has {columns} columns, but the second has {rows} rows"),
                )),
                _ => Ok(()),
            };
        }
        // A transposed convolution has all input channels in its weights.
        let is_transposed = node.op_type == "ConvTranspose";
        let groups = if is_transposed { 1 } else { node.int("group", 1) };
        let inner = fixed(weights.get(usize::from(!is_transposed)));
        match fixed(data.get(1)).zip(inner) {
            Some((channels, inner)) if inner.checked_mul(groups) != Some(channels) => {
                let problem = match is_transposed {
                    true => {
                        format!("the input has {channels} channels, but the weights need {inner} channels")
                    }
                    false => format!(
                        "the input has {channels} channels, but the weights need {inner} channels x {groups} groups"
                    ),
                };
                Err(self.fault(node, problem))
            }
            _ => Ok(()),
        }
    }

    /// The outputs of a convolution or pool.
    pub(super) fn windowed(&self, of: &Operands<'_>) -> Option<Outputs> {
        let node = of.node;
        let data = of.dims(0)?;
        let sides = data.get(2..).filter(|sides| !sides.is_empty())?;
        let first_two = |channels: Dim, sides: Vec<Dim>| [vec![data[0].clone(), channels], sides].concat();
        match node.op_type.as_str() {
            "Conv" | "ConvInteger" | "DeformConv" | "QLinearConv" => {
                let (weights, element) = match node.op_type.as_str() {
                    "QLinearConv" => (of.dims(3)?, of.element(7)?),
                    "ConvInteger" => (of.dims(1)?, ElementType::Int32),
                    _ => (of.dims(1)?, of.element(0)?),
                };
                let counts = Windows::of(node, sides.len())?.counts(sides, weights.get(2..)?)?;
                of.one(element, first_two(weights[0].clone(), counts))
            }
            "ConvTranspose" => {
                let weights = of.dims(1)?;
                let windows = Windows::of(node, sides.len())?;
                let sides = windows.transposed(node, sides, weights.get(2..)?)?;
                let channels = weights[1].clone() * node.int("group", 1);
                of.one(of.element(0)?, first_two(channels, sides))
            }
            "MaxPool" | "AveragePool" | "LpPool" => {
                let kernel: Vec<Dim> = node
                    .ints("kernel_shape")?
                    .iter()
                    .map(|&side| side.into())
                    .collect();
                let windows = Windows::of(node, sides.len())?;
                // Versions of ONNX differ in the last window: the file says which it follows.
                let said = self
                    .described
                    .get(node.output.first()?)
                    .filter(|_| windows.rounds_up);
                let dims = match said.filter(|(_, shape)| shape.fixed().is_some()) {
                    Some((_, shape)) => shape.0.clone(),
                    None => first_two(data[1].clone(), windows.counts(sides, &kernel)?),
                };
                Some(vec![
                    (of.element(0)?, Shape(dims.clone())),
                    (ElementType::Int64, Shape(dims)),
                ])
            }
            "MaxUnpool" => {
                if let Some(given) = of.symbolic_numbers(None, 2) {
                    return of.one(of.element(0)?, given);
                }
                let kernel: Vec<Dim> = node
                    .ints("kernel_shape")?
                    .iter()
                    .map(|&side| side.into())
                    .collect();
                let sides = Windows::of(node, sides.len())?.transposed(node, sides, &kernel)?;
                of.one(of.element(0)?, first_two(data[1].clone(), sides))
            }
            "GlobalAveragePool" | "GlobalMaxPool" | "GlobalLpPool" => {
                let ones = vec![1.into(); sides.len()];
                of.one(of.element(0)?, first_two(data[1].clone(), ones))
            }
            "MaxRoiPool" => {
                let pooled = node.ints("pooled_shape")?.iter().map(|&side| Dim::from(side));
                let regions = of.dims(1)?.first()?.clone();
                let dims = [vec![regions, data[1].clone()], pooled.collect()].concat();
                of.one(of.element(0)?, dims)
            }
            "RoiAlign" => {
                let side = |name: &str| Dim::from(node.int(name, 1));
                let dims = vec![
                    of.dims(1)?.first()?.clone(),
                    data[1].clone(),
                    side("output_height"),
                    side("output_width"),
                ];
                of.one(of.element(0)?, dims)
            }
            "GridSample" => {
                let grid = of.dims(1)?;
                let places = grid.get(1..grid.len().checked_sub(1)?)?.to_vec();
                of.one(of.element(0)?, first_two(data[1].clone(), places))
            }
            _ => None,
        }
    }
}
