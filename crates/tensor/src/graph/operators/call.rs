//! The attributes and inputs of an operator, with typed accessors for shape inference.

use crate::graph::element::ElementType;
use crate::graph::node::{Attribute, InPlace, Operator};
use crate::graph::shape::{Dim, Shape, Symbol, SymbolId};
use crate::graph::tensor::Tensor;

/// The inferred outputs of an operator, and the inputs that they may overwrite or are views of.
#[derive(Debug, Default)]
pub(in crate::graph) struct Inferred {
    pub(in crate::graph) outputs: Vec<(ElementType, Shape)>,
    pub(in crate::graph) in_place: Vec<InPlace>,
    /// The input of which the output is a view.
    pub(in crate::graph) view_of: Option<u32>,
}

impl Inferred {
    pub(super) fn one(element: ElementType, dims: Vec<Dim>) -> Inferred {
        Inferred {
            outputs: vec![(element, Shape(dims))],
            ..Inferred::default()
        }
    }
}

pub(super) type Answer<T> = Result<T, String>;

/// An operator with its inputs, and the symbols of their dimensions.
pub(super) struct Call<'a> {
    pub(super) operator: &'a Operator,
    pub(super) inputs: &'a [&'a Tensor],
    pub(super) symbols: &'a [Symbol],
}

impl Call<'_> {
    pub(super) fn dims_of(&self, input: usize, rank: Option<usize>) -> Answer<&[Dim]> {
        let tensor = self.inputs.get(input);
        let shape = &tensor.ok_or_else(|| format!("input {input} is missing"))?.shape;
        match rank.filter(|&rank| shape.rank() != rank) {
            Some(rank) => Err(format!(
                "input {input} has the shape {shape}, but must have rank {rank}"
            )),
            None => Ok(&shape.0),
        }
    }

    pub(super) fn same_element(&self, dims: Vec<Dim>) -> Inferred {
        Inferred::one(self.inputs[0].element, dims)
    }

    pub(super) fn ints(&self, name: &str) -> Answer<Option<Vec<i64>>> {
        match self.operator.attributes.get(name) {
            None => Ok(None),
            Some(Attribute::Ints(values)) => Ok(Some(values.clone())),
            Some(Attribute::Int(value)) => Ok(Some(vec![*value])),
            Some(_) => Err(format!("`{name}` must be an integer or a list of integers")),
        }
    }

    pub(super) fn int(&self, name: &str, default: i64) -> Answer<i64> {
        match self.ints(name)?.as_deref() {
            None => Ok(default),
            Some([value]) => Ok(*value),
            Some(values) => Err(format!("`{name}` is {values:?}, but must be one number")),
        }
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        match self.operator.attributes.get(name) {
            Some(Attribute::Text(text)) => Some(text),
            _ => None,
        }
    }

    pub(super) fn pair(&self, name: &str, default: i64) -> Answer<[i64; 2]> {
        match self.ints(name)?.as_deref() {
            None => Ok([default; 2]),
            Some([value]) => Ok([*value; 2]),
            Some([height, width]) => Ok([*height, *width]),
            Some(values) => Err(format!(
                "`{name}` is {values:?}, but must be one number, or height and width"
            )),
        }
    }

    /// The `padding` attribute as top, left, bottom, right.
    pub(super) fn padding(&self) -> Answer<[i64; 4]> {
        match self.ints("padding")?.as_deref() {
            None => Ok([0; 4]),
            Some([all]) => Ok([*all; 4]),
            Some([height, width]) => Ok([*height, *width, *height, *width]),
            Some(&[top, left, bottom, right]) => Ok([top, left, bottom, right]),
            Some(values) => Err(format!("`padding` is {values:?}, but must be 1, 2 or 4 numbers")),
        }
    }

    pub(super) fn axis(&self, name: &str, default: i64, rank: usize) -> Answer<usize> {
        wrap(self.int(name, default)?, rank)
    }

    /// The broadcast dimensions of two operands.
    pub(super) fn broadcast(&self, a: &[Dim], b: &[Dim]) -> Answer<Vec<Dim>> {
        let range = |symbol: SymbolId| {
            let (least, most) = self.symbols.get(symbol.0 as usize)?.range?;
            Some((i64::try_from(least).ok()?, i64::try_from(most).ok()?))
        };
        let (long, short) = if a.len() >= b.len() { (a, b) } else { (b, a) };
        let mut dims = long.to_vec();
        for (dim, other) in dims[long.len() - short.len()..].iter_mut().zip(short) {
            if dim.fixed() != Some(1) && other.fixed() != Some(1) {
                agree(dim, other)?;
            }
            *dim = dim.broadcast(other, &range);
        }
        Ok(dims)
    }

    pub(super) fn reshaped(&self, dims: Vec<Dim>) -> Inferred {
        Inferred {
            view_of: Some(0),
            ..self.same_element(dims)
        }
    }
}

pub(super) fn product(dims: &[Dim]) -> Dim {
    dims.iter().fold(Dim::Fixed(1), |all, dim| dim.clone() * all)
}

pub(super) fn wrap(axis: i64, rank: usize) -> Answer<usize> {
    let wrapped = if axis < 0 { axis + rank as i64 } else { axis };
    let inside = (0..rank as i64).contains(&wrapped);
    inside
        .then_some(wrapped as usize)
        .ok_or_else(|| format!("axis {axis} is out of range for a tensor of rank {rank}"))
}

pub(super) fn positive(name: &str, values: &[i64]) -> Answer<()> {
    match values.iter().all(|&value| value > 0) {
        true => Ok(()),
        false => Err(format!("`{name}` is {values:?}: every value must be above 0")),
    }
}

/// Returns an error if two dimensions differ; those with symbols are assumed to be equal.
pub(super) fn agree(a: &Dim, b: &Dim) -> Answer<()> {
    match (a.fixed(), b.fixed()) {
        (Some(x), Some(y)) if x != y => Err(format!("dimensions {x} and {y} must be equal")),
        _ => Ok(()),
    }
}
