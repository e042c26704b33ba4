//! Numbers that are known before execution.

use crate::graph::{Dim, ElementType};

/// Maximum number of elements of a tracked tensor: larger ones are data, not shapes.
pub(super) const MAX_KNOWN: usize = 4_096;

/// Maximum number of tracked fractions: a few are scales, more are weights.
pub(super) const MAX_FRACTIONS: usize = 16;

/// Maximum number of dimensions of a tracked tensor.
pub(super) const MAX_KNOWN_RANK: usize = 64;

/// Maximum number of terms of a tracked number.
const MAX_TERMS: usize = 64;

/// Maximum total number of terms in the numbers that a model's nodes compute; they take about 100 MB.
pub(super) const MAX_TRACKED: usize = 1 << 21;

/// A small tensor whose numbers are known: a shape, axes, scales.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Known {
    /// Its elements, in row-major order.
    pub(super) numbers: Vec<Number>,
    pub(super) dims: Vec<usize>,
    pub(super) element: ElementType,
}

/// An element of a known tensor.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Number {
    /// An integer, or a dynamic dimension.
    Integer(Dim),
    /// A floating-point number, such as a scale.
    Fraction(f64),
}

impl Number {
    /// Returns true if the number has at most `MAX_TERMS` terms.
    pub(super) fn is_short(&self) -> bool {
        self.terms() <= MAX_TERMS
    }

    fn terms(&self) -> usize {
        match self {
            Number::Integer(dim) => dim.terms(MAX_TERMS + 1),
            Number::Fraction(_) => 1,
        }
    }

    pub(super) fn fixed(&self) -> Option<i64> {
        match self {
            Number::Integer(dim) => dim.fixed(),
            Number::Fraction(_) => None,
        }
    }

    pub(super) fn value(&self) -> Option<f64> {
        match self {
            Number::Integer(dim) => dim.fixed().map(|value| value as f64),
            Number::Fraction(value) => Some(*value),
        }
    }
}

impl Known {
    /// The total number of terms of its numbers.
    pub(super) fn terms(&self) -> usize {
        self.numbers.iter().map(Number::terms).sum()
    }

    pub(super) fn list(numbers: Vec<Number>) -> Known {
        Known {
            dims: vec![numbers.len()],
            element: ElementType::Int64,
            numbers,
        }
    }

    pub(super) fn shaped(&self, dims: Vec<usize>) -> Option<Known> {
        (count(&dims)? == self.numbers.len()).then(|| Known { dims, ..self.clone() })
    }

    /// The elements as dimensions, which may be expressions of symbols; `None` if any element is a fraction.
    pub(super) fn integers(&self) -> Option<Vec<Dim>> {
        let whole = |number: &Number| match number {
            Number::Integer(dim) => Some(dim.clone()),
            Number::Fraction(_) => None,
        };
        self.numbers.iter().map(whole).collect()
    }

    /// The elements if all are integers without symbols.
    pub(super) fn fixed(&self) -> Option<Vec<i64>> {
        self.numbers.iter().map(Number::fixed).collect()
    }

    /// The elements as floating-point numbers, if none has symbols.
    pub(super) fn values(&self) -> Option<Vec<f64>> {
        self.numbers.iter().map(Number::value).collect()
    }

    pub(super) fn is_fractional(&self) -> bool {
        is_fractional(self.element)
    }

    /// Gathers the rows at these indices of the first axis; `dims`, the dimensions of the index tensor, replace that axis. `None` if an index is out
    /// of range or the result is too large to track.
    pub(super) fn rows(&self, places: &[usize], dims: &[usize]) -> Option<Known> {
        let row = count(self.dims.get(1..)?)?;
        let all = places.len().checked_mul(row)?;
        (all <= MAX_KNOWN).then_some(())?;
        let rows = places.iter().map(|&place| {
            let first = place.checked_mul(row)?;
            self.numbers.get(first..first.checked_add(row)?)
        });
        Some(Known {
            numbers: rows.collect::<Option<Vec<_>>>()?.concat(),
            dims: [dims, &self.dims[1..]].concat(),
            element: self.element,
        })
    }
}

/// The number of elements of a tensor with these dimensions; `None` if it overflows `usize`.
pub(super) fn count(dims: &[usize]) -> Option<usize> {
    dims.iter().try_fold(1usize, |all, &dim| all.checked_mul(dim))
}

pub(super) fn is_fractional(element: ElementType) -> bool {
    use ElementType::{BFloat16, Float16, Float32, Float64};
    matches!(element, Float64 | Float32 | Float16 | BFloat16)
}
