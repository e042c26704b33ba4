//! Shapes: integers and expressions of bounded symbols.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A symbol of a graph, by its index in [`Graph::symbols`](super::Graph::symbols).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SymbolId(pub u32);

/// A dimension whose value is known only when the network runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Symbol {
    /// Its name: `batch`, `sequence`.
    pub name: String,
    /// The least and the greatest value, both included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<(u64, u64)>,
    /// The value for an example input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub example: Option<u64>,
}

/// A dimension: a number, a symbol, or an expression of them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dim {
    /// A number; a negative one is refused when the graph is built.
    Fixed(i64),
    /// A symbol.
    Symbol(SymbolId),
    /// An operation on two dimensions.
    Binary(DimOperator, Box<(Dim, Dim)>),
}

/// An operator on two dimensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DimOperator {
    /// The sum of two.
    Add,
    /// The first minus the second.
    Sub,
    /// The product of two.
    Mul,
    /// The first divided by the second, rounded down.
    FloorDiv,
    /// The first divided by the second, rounded up.
    CeilDiv,
    /// The larger of two.
    Max,
    /// The smaller of two.
    Min,
}

type Value = fn(i64, i64) -> Option<i64>;

/// By [`DimOperator`]: name in documents, sign in messages, value (`None`: undefined, or past 64 bits), and its right identity.
const OPERATORS: [(DimOperator, &str, &str, Value, Option<i64>); 7] = [
    (DimOperator::Add, "add", "+", i64::checked_add, Some(0)),
    (DimOperator::Sub, "sub", "-", i64::checked_sub, Some(0)),
    (DimOperator::Mul, "mul", "*", i64::checked_mul, Some(1)),
    (DimOperator::FloorDiv, "floor-div", "/", floor_div, None),
    (DimOperator::CeilDiv, "ceil-div", "/^", ceil_div, None),
    (DimOperator::Max, "max", "max", |a, b| Some(a.max(b)), None),
    (DimOperator::Min, "min", "min", |a, b| Some(a.min(b)), None),
];

fn floor_div(a: i64, b: i64) -> Option<i64> {
    (b > 0).then(|| a.div_euclid(b))
}

fn ceil_div(a: i64, b: i64) -> Option<i64> {
    (b > 0).then(|| -(-a).div_euclid(b))
}

impl DimOperator {
    /// Its name in documents.
    pub fn name(self) -> &'static str {
        OPERATORS[self as usize].1
    }

    /// The operator with this name.
    pub fn named(name: &str) -> Option<DimOperator> {
        let found = OPERATORS.iter().find(|row| row.1 == name);
        found.map(|row| row.0)
    }

    /// The value if both are numbers, otherwise the expression.
    pub fn apply(self, a: Dim, b: Dim) -> Dim {
        let (.., value, neutral) = OPERATORS[self as usize];
        let known = match (a.fixed(), b.fixed()) {
            (_, Some(y)) if neutral == Some(y) => return a,
            (Some(x), Some(y)) => value(x, y),
            _ => None,
        };
        known.map_or_else(|| Dim::Binary(self, Box::new((a, b))), Dim::Fixed)
    }
}

impl Dim {
    /// The number, if it is one.
    pub fn fixed(&self) -> Option<i64> {
        match self {
            Dim::Fixed(value) => Some(*value),
            _ => None,
        }
    }

    /// Divides by `by`, rounding down.
    pub fn floor_div(self, by: impl Into<Dim>) -> Dim {
        DimOperator::FloorDiv.apply(self, by.into())
    }

    /// Divides by `by`, rounding up.
    pub fn ceil_div(self, by: impl Into<Dim>) -> Dim {
        DimOperator::CeilDiv.apply(self, by.into())
    }

    /// The larger of two.
    pub fn max(self, other: impl Into<Dim>) -> Dim {
        DimOperator::Max.apply(self, other.into())
    }

    /// The smaller of two.
    pub fn min(self, other: impl Into<Dim>) -> Dim {
        DimOperator::Min.apply(self, other.into())
    }

    /// The least and the greatest value if each symbol lies in `range`, by interval arithmetic: correct, but not always
    /// tight if a symbol occurs twice. `None` for a symbol without a range, a divisor that may be 0, or past 64 bits.
    pub fn bounds(&self, range: &impl Fn(SymbolId) -> Option<(i64, i64)>) -> Option<(i64, i64)> {
        match self {
            Dim::Fixed(value) => Some((*value, *value)),
            Dim::Symbol(symbol) => range(*symbol),
            Dim::Binary(operator, pair) => {
                let (.., value, _) = OPERATORS[*operator as usize];
                let (a, b) = (pair.0.bounds(range)?, pair.1.bounds(range)?);
                let corners = [(a.0, b.0), (a.0, b.1), (a.1, b.0), (a.1, b.1)];
                let values: Option<Vec<i64>> = corners.into_iter().map(|(x, y)| value(x, y)).collect();
                let values = values?;
                Some((*values.iter().min()?, *values.iter().max()?))
            }
        }
    }

    /// Its value, if every symbol has one.
    pub fn at(&self, value: &impl Fn(SymbolId) -> Option<i64>) -> Option<i64> {
        let range = |symbol| value(symbol).map(|value| (value, value));
        self.bounds(&range).map(|(value, _)| value)
    }

    /// The first symbol in the expression.
    pub fn symbol(&self) -> Option<SymbolId> {
        match self {
            Dim::Fixed(_) => None,
            Dim::Symbol(symbol) => Some(*symbol),
            Dim::Binary(_, pair) => pair.0.symbol().or_else(|| pair.1.symbol()),
        }
    }
}

macro_rules! arithmetic {
    ($($operator:ident $method:ident),*) => {$(
        impl<T: Into<Dim>> std::ops::$operator<T> for Dim {
            type Output = Dim;
            fn $method(self, other: T) -> Dim {
                DimOperator::$operator.apply(self, other.into())
            }
        }
    )*};
}
arithmetic!(Add add, Sub sub, Mul mul);

macro_rules! from_number {
    ($($number:ty),*) => {$(
        impl From<$number> for Dim {
            fn from(value: $number) -> Dim {
                // A number past 63 bits is not a dimension of anything: it is refused like a negative one.
                Dim::Fixed(i64::try_from(value).unwrap_or(i64::MIN))
            }
        }
    )*};
}
from_number!(i32, i64, u32, u64, usize);

impl From<SymbolId> for Dim {
    fn from(symbol: SymbolId) -> Dim {
        Dim::Symbol(symbol)
    }
}

impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Dim::Fixed(value) => write!(f, "{value}"),
            Dim::Symbol(symbol) => write!(f, "s{}", symbol.0),
            Dim::Binary(operator, pair) => {
                write!(f, "({} {} {})", pair.0, OPERATORS[*operator as usize].2, pair.1)
            }
        }
    }
}

/// The dimensions of a tensor, outermost first; without any, the tensor has one element.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Shape(pub Vec<Dim>);

impl Shape {
    /// A shape of numbers and symbols.
    pub fn new<D: Into<Dim>>(dims: impl IntoIterator<Item = D>) -> Shape {
        Shape(dims.into_iter().map(Into::into).collect())
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.0.len()
    }

    /// The dimensions as numbers, if all are fixed.
    pub fn fixed(&self) -> Option<Vec<u64>> {
        let fixed = |dim: &Dim| dim.fixed().and_then(|value| u64::try_from(value).ok());
        self.0.iter().map(fixed).collect()
    }
}

impl<D: Into<Dim>, const N: usize> From<[D; N]> for Shape {
    fn from(dims: [D; N]) -> Shape {
        Shape::new(dims)
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dims: Vec<String> = self.0.iter().map(Dim::to_string).collect();
        write!(f, "[{}]", dims.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_follow_the_ranges() {
        let n = Dim::from(SymbolId(0));
        // A convolution of 3 with stride 2 and padding 1.
        let out = (n.clone() + 2 - 3).floor_div(2) + 1;
        let range = |_| Some((4, 225));
        assert_eq!(out.bounds(&range), Some((2, 113)));
        assert_eq!(out.at(&|_| Some(224)), Some(112));
        assert_eq!((Dim::from(4) - n).bounds(&range), Some((-221, 0)));
        assert_eq!(Dim::from(7).ceil_div(4), Dim::Fixed(2));
        assert_eq!(out.bounds(&|_| None), None);
    }
}
