//! Shapes of outputs, as expressions of the inputs' dimensions.

use super::{Attribute, Dim, ElementType, InPlace, Operator, Shape, Tensor};

/// What an operator makes.
#[derive(Debug, Default)]
pub(super) struct Inferred {
    pub(super) outputs: Vec<(ElementType, Shape)>,
    pub(super) in_place: Vec<InPlace>,
    /// The input whose bytes the output is.
    pub(super) view_of: Option<u32>,
}

impl Inferred {
    fn one(element: ElementType, dims: Vec<Dim>) -> Inferred {
        Inferred {
            outputs: vec![(element, Shape(dims))],
            ..Inferred::default()
        }
    }
}

type Answer<T> = Result<T, String>;

const UNARY: [&str; 24] = [
    "relu",
    "relu6",
    "hard_swish",
    "hard_sigmoid",
    "sigmoid",
    "tanh",
    "exp",
    "log",
    "sqrt",
    "rsqrt",
    "erf",
    "gelu",
    "silu",
    "neg",
    "abs",
    "clip",
    "leaky_relu",
    "softmax",
    "layer_norm",
    "batch_norm",
    "copy",
    "not",
    "cast",
    "elu",
];
const BINARY: [&str; 8] = ["add", "sub", "mul", "div", "max", "min", "pow", "mod"];
const COMPARE: [&str; 6] = ["less", "less_equal", "greater", "equal", "and", "or"];

pub(super) fn infer(operator: &Operator, inputs: &[&Tensor]) -> Answer<Inferred> {
    let call = Call { operator, inputs };
    match operator.name.as_str() {
        "conv2d" => call.convolution(),
        "conv2d_transpose" => call.transposed_convolution(),
        "max_pool2d" | "avg_pool2d" => call.pool(),
        "global_avg_pool2d" => {
            let dims = call.dims_of(0, Some(4))?;
            Ok(call.same_element(vec![dims[0].clone(), dims[1].clone(), 1.into(), 1.into()]))
        }
        "resize2d" => {
            let mut dims = call.dims_of(0, Some(4))?.to_vec();
            let scale = call.pair("scale", 2)?;
            dims[2] = dims[2].clone() * scale[0];
            dims[3] = dims[3].clone() * scale[1];
            Ok(call.same_element(dims))
        }
        "dense" => call.dense(),
        "matmul" => call.matmul(),
        "reshape" => call.reshape(),
        "flatten" => call.flatten(),
        "transpose" => call.transpose(),
        "concat" => call.concat(),
        "slice" => call.slice(),
        "split" => call.split(),
        "pad" => call.pad(),
        "reduce" => call.reduce(),
        name if UNARY.contains(&name) => {
            let dims = call.dims_of(0, None)?.to_vec();
            let element = call.inputs[0].element;
            let to = match call.text("to") {
                Some(to) => to.parse()?,
                None => element,
            };
            let mut inferred = Inferred::one(to, dims);
            if to.bytes() == element.bytes() {
                inferred.in_place.push(InPlace { output: 0, input: 0 });
            }
            Ok(inferred)
        }
        name if BINARY.contains(&name) || COMPARE.contains(&name) => call.broadcast(COMPARE.contains(&name)),
        name => Err(format!("no operator `{name}` is known; give its outputs' shapes")),
    }
}

struct Call<'a> {
    operator: &'a Operator,
    inputs: &'a [&'a Tensor],
}

impl Call<'_> {
    fn dims_of(&self, input: usize, rank: Option<usize>) -> Answer<&[Dim]> {
        let tensor = self
            .inputs
            .get(input)
            .ok_or_else(|| format!("input {input} is missing"))?;
        match rank {
            Some(rank) if tensor.shape.rank() != rank => Err(format!(
                "input {input} is {}, where {rank} dimensions are expected",
                tensor.shape
            )),
            _ => Ok(&tensor.shape.0),
        }
    }

    fn same_element(&self, dims: Vec<Dim>) -> Inferred {
        Inferred::one(self.inputs[0].element, dims)
    }

    fn ints(&self, name: &str) -> Answer<Option<Vec<i64>>> {
        match self.operator.attributes.get(name) {
            None => Ok(None),
            Some(Attribute::Ints(values)) => Ok(Some(values.clone())),
            Some(Attribute::Int(value)) => Ok(Some(vec![*value])),
            Some(_) => Err(format!("`{name}` is not made of whole numbers")),
        }
    }

    fn int(&self, name: &str, default: i64) -> Answer<i64> {
        match self.ints(name)?.as_deref() {
            None => Ok(default),
            Some([value]) => Ok(*value),
            Some(values) => Err(format!("`{name}` is {values:?}, where one number is expected")),
        }
    }

    fn text(&self, name: &str) -> Option<&str> {
        match self.operator.attributes.get(name) {
            Some(Attribute::Text(text)) => Some(text),
            _ => None,
        }
    }

    fn pair(&self, name: &str, default: i64) -> Answer<[i64; 2]> {
        match self.ints(name)?.as_deref() {
            None => Ok([default; 2]),
            Some([value]) => Ok([*value; 2]),
            Some([height, width]) => Ok([*height, *width]),
            Some(values) => Err(format!(
                "`{name}` is {values:?}, where height and width are expected"
            )),
        }
    }

    /// Top, left, bottom, right.
    fn padding(&self) -> Answer<[i64; 4]> {
        match self.ints("padding")?.as_deref() {
            None => Ok([0; 4]),
            Some([all]) => Ok([*all; 4]),
            Some([height, width]) => Ok([*height, *width, *height, *width]),
            Some(&[top, left, bottom, right]) => Ok([top, left, bottom, right]),
            Some(values) => Err(format!(
                "`padding` is {values:?}, where 1, 2 or 4 numbers are expected"
            )),
        }
    }

    fn axis(&self, name: &str, default: i64, rank: usize) -> Answer<usize> {
        wrap(self.int(name, default)?, rank)
    }

    fn convolution(&self) -> Answer<Inferred> {
        let (data, weight) = (self.dims_of(0, Some(4))?, self.dims_of(1, Some(4))?);
        let groups = self.int("groups", 1)?;
        if let (Some(channels), Some(inner)) = (data[1].fixed(), weight[1].fixed())
            && inner.checked_mul(groups) != Some(channels)
        {
            return Err(format!(
                "{channels} channels, and weights for {inner} x {groups} groups"
            ));
        }
        let (strides, dilations, pads) = (
            self.pair("strides", 1)?,
            self.pair("dilations", 1)?,
            self.padding()?,
        );
        positive("strides", &strides)?;
        positive("dilations", &dilations)?;
        let side = |axis: usize| {
            let kernel = (weight[axis + 2].clone() - 1) * dilations[axis] + 1;
            (data[axis + 2].clone() + (pads[axis] + pads[axis + 2]) - kernel).floor_div(strides[axis]) + 1
        };
        Ok(self.same_element(vec![data[0].clone(), weight[0].clone(), side(0), side(1)]))
    }

    /// Weights `[i, o, h, w]`.
    fn transposed_convolution(&self) -> Answer<Inferred> {
        let (data, weight) = (self.dims_of(0, Some(4))?, self.dims_of(1, Some(4))?);
        let (strides, pads, more) = (
            self.pair("strides", 1)?,
            self.padding()?,
            self.pair("output_padding", 0)?,
        );
        positive("strides", &strides)?;
        let side = |axis: usize| {
            let between = (data[axis + 2].clone() - 1) * strides[axis];
            between + weight[axis + 2].clone() + (more[axis] - pads[axis] - pads[axis + 2])
        };
        let channels = weight[1].clone() * self.int("groups", 1)?;
        Ok(self.same_element(vec![data[0].clone(), channels, side(0), side(1)]))
    }

    fn pool(&self) -> Answer<Inferred> {
        let data = self.dims_of(0, Some(4))?;
        let kernel = self.pair("kernel", 2)?;
        let (strides, pads) = (self.pair("strides", 1)?, self.padding()?);
        positive("strides", &strides)?;
        let up = self.int("ceil_mode", 0)? != 0;
        let side = |axis: usize| {
            let room = data[axis + 2].clone() + (pads[axis] + pads[axis + 2] - kernel[axis]);
            let windows = if up {
                room.ceil_div(strides[axis])
            } else {
                room.floor_div(strides[axis])
            };
            windows + 1
        };
        Ok(self.same_element(vec![data[0].clone(), data[1].clone(), side(0), side(1)]))
    }

    fn dense(&self) -> Answer<Inferred> {
        let (data, weight) = (self.dims_of(0, None)?, self.dims_of(1, Some(2))?);
        let (last, rest) = data.split_last().ok_or("a dense layer of a scalar")?;
        agree(last, &weight[1])?;
        let mut dims = rest.to_vec();
        dims.push(weight[0].clone());
        Ok(self.same_element(dims))
    }

    fn matmul(&self) -> Answer<Inferred> {
        let (a, b) = (self.dims_of(0, None)?, self.dims_of(1, None)?);
        let ([a_outer @ .., rows, inner], [b_outer @ .., other, columns]) = (a, b) else {
            return Err("a product of matrices needs two dimensions of each".to_owned());
        };
        let transposed = self.int("transpose_b", 0)? != 0;
        let (other, columns) = if transposed {
            (columns, other)
        } else {
            (other, columns)
        };
        agree(inner, other)?;
        let mut dims = broadcast(a_outer, b_outer)?;
        dims.extend([rows.clone(), columns.clone()]);
        Ok(self.same_element(dims))
    }

    fn reshape(&self) -> Answer<Inferred> {
        let data = self.dims_of(0, None)?;
        let shape = self.ints("shape")?.ok_or("`shape` is missing")?;
        let all = product(data);
        // 0 keeps a dimension, and one -1 is what is left.
        let mut dims = Vec::new();
        for (axis, &dim) in shape.iter().enumerate() {
            dims.push(match dim {
                0 => data
                    .get(axis)
                    .cloned()
                    .ok_or("`shape` keeps a dimension that is not there")?,
                dim => Dim::from(dim),
            });
        }
        if let Some(open) = shape.iter().position(|&dim| dim == -1) {
            // What is kept is not divided by: a symbol would have to be bounded twice.
            let (mut left, mut by) = (data.to_vec(), Vec::new());
            for (axis, dim) in dims.iter().enumerate().filter(|(axis, _)| *axis != open) {
                match left.iter().position(|other| other == dim) {
                    Some(kept) => drop(left.remove(kept)),
                    None => by.push(dims[axis].clone()),
                }
            }
            dims[open] = product(&left).floor_div(product(&by));
        }
        if let (Some(from), Some(to)) = (all.fixed(), product(&dims).fixed())
            && from != to
        {
            return Err(format!("{from} elements cannot be {to}"));
        }
        Ok(self.reshaped(dims))
    }

    fn reshaped(&self, dims: Vec<Dim>) -> Inferred {
        Inferred {
            view_of: Some(0),
            ..self.same_element(dims)
        }
    }

    fn flatten(&self) -> Answer<Inferred> {
        let data = self.dims_of(0, None)?;
        let axis = self.int("axis", 1)?.clamp(0, data.len() as i64) as usize;
        Ok(self.reshaped(vec![product(&data[..axis]), product(&data[axis..])]))
    }

    fn transpose(&self) -> Answer<Inferred> {
        let data = self.dims_of(0, None)?;
        let axes = self
            .ints("axes")?
            .unwrap_or_else(|| (0..data.len() as i64).rev().collect());
        let mut sorted = axes.clone();
        sorted.sort_unstable();
        if !sorted.into_iter().eq(0..data.len() as i64) {
            return Err(format!("{axes:?} is no order of {} axes", data.len()));
        }
        Ok(self.same_element(axes.iter().map(|&axis| data[axis as usize].clone()).collect()))
    }

    fn concat(&self) -> Answer<Inferred> {
        let mut dims = self.dims_of(0, None)?.to_vec();
        let axis = self.axis("axis", 1, dims.len())?;
        for input in 1..self.inputs.len() {
            let other = self.dims_of(input, Some(dims.len()))?;
            for (index, dim) in other.iter().enumerate() {
                if index == axis {
                    dims[axis] = dims[axis].clone() + dim.clone();
                } else {
                    agree(&dims[index], dim)?;
                }
            }
        }
        Ok(self.same_element(dims))
    }

    fn slice(&self) -> Answer<Inferred> {
        let mut dims = self.dims_of(0, None)?.to_vec();
        let axis = self.axis("axis", 0, dims.len())?;
        let begin = self.int("begin", 0)?;
        dims[axis] = match self.ints("end")?.as_deref() {
            Some([end]) if begin >= 0 && *end >= 0 => Dim::from(*end).min(dims[axis].clone()) - begin,
            Some([end]) if begin >= 0 => dims[axis].clone() + *end - begin,
            None if begin >= 0 => dims[axis].clone() - begin,
            None => Dim::from(-begin).min(dims[axis].clone()),
            _ => return Err("`begin` and `end` are one number each, `begin` below 0 only alone".to_owned()),
        };
        Ok(self.same_element(dims))
    }

    fn split(&self) -> Answer<Inferred> {
        let mut dims = self.dims_of(0, None)?.to_vec();
        let axis = self.axis("axis", 0, dims.len())?;
        let parts = self.int("parts", 2)?;
        if parts < 1 || dims[axis].fixed().is_some_and(|dim| dim % parts != 0) {
            return Err(format!("{} cannot be split into {parts}", dims[axis]));
        }
        dims[axis] = dims[axis].clone().floor_div(parts);
        let part = (self.inputs[0].element, Shape(dims));
        Ok(Inferred {
            outputs: vec![part; parts as usize],
            ..Inferred::default()
        })
    }

    fn pad(&self) -> Answer<Inferred> {
        let mut dims = self.dims_of(0, Some(4))?.to_vec();
        let pads = self.padding()?;
        for axis in 0..2 {
            dims[axis + 2] = dims[axis + 2].clone() + (pads[axis] + pads[axis + 2]);
        }
        Ok(self.same_element(dims))
    }

    fn reduce(&self) -> Answer<Inferred> {
        let data = self.dims_of(0, None)?;
        let keep = self.int("keep", 1)? != 0;
        let axes = self
            .ints("axes")?
            .unwrap_or_else(|| (0..data.len() as i64).collect());
        let axes: Vec<usize> = axes
            .iter()
            .map(|&axis| wrap(axis, data.len()))
            .collect::<Result<_, _>>()?;
        let reduced = data
            .iter()
            .enumerate()
            .filter_map(|(axis, dim)| match axes.contains(&axis) {
                false => Some(dim.clone()),
                true => keep.then(|| 1.into()),
            });
        Ok(self.same_element(reduced.collect()))
    }

    fn broadcast(&self, compares: bool) -> Answer<Inferred> {
        let (a, b) = (self.dims_of(0, None)?, self.dims_of(1, None)?);
        let dims = broadcast(a, b)?;
        let element = if compares {
            ElementType::Bool
        } else {
            self.inputs[0].element
        };
        let mut inferred = Inferred::one(element, dims);
        for (index, input) in self.inputs.iter().enumerate().take(2) {
            if input.shape == inferred.outputs[0].1 && input.element.bytes() == element.bytes() {
                let input = index as u32;
                inferred.in_place.push(InPlace { output: 0, input });
            }
        }
        Ok(inferred)
    }
}

fn product(dims: &[Dim]) -> Dim {
    dims.iter().fold(Dim::Fixed(1), |all, dim| dim.clone() * all)
}

fn wrap(axis: i64, rank: usize) -> Answer<usize> {
    let wrapped = if axis < 0 { axis + rank as i64 } else { axis };
    let inside = (0..rank as i64).contains(&wrapped);
    inside
        .then_some(wrapped as usize)
        .ok_or_else(|| format!("there is no axis {axis} of {rank}"))
}

fn positive(name: &str, values: &[i64]) -> Answer<()> {
    match values.iter().all(|&value| value > 0) {
        true => Ok(()),
        false => Err(format!("`{name}` is {values:?}, and has to be above 0")),
    }
}

/// Two dimensions that have to be the same; symbols are taken at their word.
fn agree(a: &Dim, b: &Dim) -> Answer<()> {
    match (a.fixed(), b.fixed()) {
        (Some(x), Some(y)) if x != y => Err(format!("{x} meets {y}")),
        _ => Ok(()),
    }
}

fn broadcast(a: &[Dim], b: &[Dim]) -> Answer<Vec<Dim>> {
    let (long, short) = if a.len() >= b.len() { (a, b) } else { (b, a) };
    let mut dims = long.to_vec();
    let from = long.len() - short.len();
    for (dim, other) in dims[from..].iter_mut().zip(short) {
        if dim.fixed() == Some(1) {
            *dim = other.clone();
        } else if other.fixed() != Some(1) {
            agree(dim, other)?;
        }
    }
    Ok(dims)
}
