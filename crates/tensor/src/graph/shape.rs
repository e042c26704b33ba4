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
    /// The symbol's name, such as `batch` or `sequence`.
    pub name: String,
    /// The least and the greatest value, both included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<(u64, u64)>,
    /// The symbol's value for the example inputs.
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
    /// The first plus the second.
    Add,
    /// The first minus the second.
    Sub,
    /// The first times the second.
    Mul,
    /// The first divided by the second, rounded down.
    FloorDiv,
    /// The first divided by the second, rounded up.
    CeilDiv,
    /// The larger of the two operands.
    Max,
    /// The smaller of the two operands.
    Min,
}

type Value = fn(i64, i64) -> Option<i64>;

/// Per [`DimOperator`]: its name in documents, its sign in messages, its function (`None` if the result is undefined or overflows), and its right identity.
const OPERATORS: [(DimOperator, &str, &str, Value, Option<i64>); 7] = [
    (DimOperator::Add, "add", "+", i64::checked_add, Some(0)),
    (DimOperator::Sub, "sub", "-", i64::checked_sub, Some(0)),
    (DimOperator::Mul, "mul", "*", i64::checked_mul, Some(1)),
    (DimOperator::FloorDiv, "floor-div", "/", floor_div, Some(1)),
    (DimOperator::CeilDiv, "ceil-div", "/^", ceil_div, Some(1)),
    (DimOperator::Max, "max", "max", |a, b| Some(a.max(b)), None),
    (DimOperator::Min, "min", "min", |a, b| Some(a.min(b)), None),
];

fn floor_div(a: i64, b: i64) -> Option<i64> {
    (b > 0).then(|| a.div_euclid(b))
}

fn ceil_div(a: i64, b: i64) -> Option<i64> {
    // Rounding up adds 1 only for a divisor above 1, so that it is in range.
    (b > 0).then(|| a.div_euclid(b) + i64::from(a.rem_euclid(b) > 0))
}

impl DimOperator {
    /// The name of the operator in documents.
    pub fn name(self) -> &'static str {
        OPERATORS[self as usize].1
    }

    /// The operator with this name in documents.
    pub fn named(name: &str) -> Option<DimOperator> {
        let found = OPERATORS.iter().find(|row| row.1 == name);
        found.map(|row| row.0)
    }

    /// Applies the operator. The result is a number if both operands are numbers and the operation is defined for them, otherwise a simplified expression.
    /// Successive additions of numbers are combined, so that a dimension which a convolution preserves stays the same dimension.
    pub fn apply(self, a: Dim, b: Dim) -> Dim {
        let (.., value, neutral) = OPERATORS[self as usize];
        let known = match (a.fixed(), b.fixed()) {
            (_, Some(y)) if neutral == Some(y) => return a,
            (Some(x), None) if neutral == Some(x) && self.is_commutative() => return b,
            (Some(x), Some(y)) => value(x, y),
            (None, Some(y)) => {
                let (base, first) = a.offset().unwrap_or((&a, 0));
                let sum = self.offset(y).and_then(|more| first.checked_add(more));
                if let Some(sum) = sum {
                    return base.clone().plus(sum);
                }
                None
            }
            _ if matches!(self, DimOperator::Max | DimOperator::Min) && a == b => return a,
            _ => None,
        };
        known.map_or_else(|| Dim::Binary(self, Box::new((a, b))), Dim::Fixed)
    }

    fn is_commutative(self) -> bool {
        matches!(self, DimOperator::Add | DimOperator::Mul)
    }

    /// The number that this operator adds to its first operand if the second one is `number`; `None` if it is not an addition or subtraction.
    fn offset(self, number: i64) -> Option<i64> {
        match self {
            DimOperator::Add => Some(number),
            DimOperator::Sub => number.checked_neg(),
            _ => None,
        }
    }
}

impl Dim {
    /// The value of the dimension, if it is a number.
    pub fn fixed(&self) -> Option<i64> {
        match self {
            Dim::Fixed(value) => Some(*value),
            _ => None,
        }
    }

    /// Splits a sum of a dimension and a number into the two; `None` for any other dimension.
    fn offset(&self) -> Option<(&Dim, i64)> {
        match self {
            Dim::Binary(operator, pair) => Some((&pair.0, operator.offset(pair.1.fixed()?)?)),
            _ => None,
        }
    }

    /// Adds a number to an expression that is not itself a sum with a number.
    fn plus(self, number: i64) -> Dim {
        let (operator, number) = match number.checked_neg() {
            Some(less) if less > 0 => (DimOperator::Sub, less),
            _ => (DimOperator::Add, number),
        };
        match number {
            0 => self,
            _ => Dim::Binary(operator, Box::new((self, Dim::Fixed(number)))),
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

    /// The larger of this dimension and `other`.
    pub fn max(self, other: impl Into<Dim>) -> Dim {
        DimOperator::Max.apply(self, other.into())
    }

    /// The smaller of this dimension and `other`.
    pub fn min(self, other: impl Into<Dim>) -> Dim {
        DimOperator::Min.apply(self, other.into())
    }

    /// The least and the greatest value if each symbol lies in `range`, by interval arithmetic: correct, but not always tight if a symbol
    /// occurs twice. `None` for a symbol without a range, a divisor that may be 0, or values that overflow.
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

    /// Returns the dimension that results from broadcasting this one with `other`, for symbols in `range`. At run time, the two dimensions are assumed to be
    /// equal, or one of them to be 1.
    pub(crate) fn broadcast(&self, other: &Dim, range: &impl Fn(SymbolId) -> Option<(i64, i64)>) -> Dim {
        match (self.fixed(), other.fixed()) {
            (Some(1), _) => other.clone(),
            // A dynamic dimension is equal to a fixed one, or 1.
            (Some(_), _) | (_, Some(1)) => self.clone(),
            (None, Some(_)) => other.clone(),
            (None, None) => {
                let (a, b) = (self.bounds(range), other.bounds(range));
                let is_more = |range: Option<(i64, i64)>| range.is_some_and(|(least, _)| least > 1);
                let is_one = |range: Option<(i64, i64)>| range.is_some_and(|(_, most)| most <= 1);
                match () {
                    () if self.has_operand(other) || is_more(a) || is_one(b) => self.clone(),
                    () if other.has_operand(self) || is_more(b) || is_one(a) => other.clone(),
                    () => self.clone().max(other.clone()),
                }
            }
        }
    }

    /// Returns true if `other` is this dimension itself, or if this dimension is a maximum and `other` is one of its operands.
    fn has_operand(&self, other: &Dim) -> bool {
        let is_operand = |pair: &(Dim, Dim)| pair.0.has_operand(other) || pair.1.has_operand(other);
        self == other || matches!(self, Dim::Binary(DimOperator::Max, pair) if is_operand(pair))
    }

    /// The value of the dimension for these values of its symbols; `None` if a symbol has no value, or an operation is undefined or overflows.
    pub fn at(&self, value: &impl Fn(SymbolId) -> Option<i64>) -> Option<i64> {
        let range = |symbol| value(symbol).map(|value| (value, value));
        self.bounds(&range).map(|(value, _)| value)
    }

    /// The number of terms (numbers and symbols) of the expression: exact up to `most`, otherwise some number above `most`.
    pub(crate) fn terms(&self, most: usize) -> usize {
        match self {
            Dim::Binary(_, pair) if most > 0 => {
                let first = pair.0.terms(most);
                first + pair.1.terms(most.saturating_sub(first))
            }
            _ => 1,
        }
    }

    /// The sum of dimensions, as a tree of logarithmic depth.
    pub(crate) fn sum(mut dims: Vec<Dim>) -> Dim {
        while dims.len() > 1 {
            let mut rest = dims.into_iter();
            dims = Vec::new();
            while let Some(dim) = rest.next() {
                dims.push(match rest.next() {
                    Some(next) => dim + next,
                    None => dim,
                });
            }
        }
        dims.pop().unwrap_or(Dim::Fixed(0))
    }

    /// The first symbol in the expression, if any.
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

/// The dimensions of a tensor, outermost first; empty for a scalar.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Shape(pub Vec<Dim>);

impl Shape {
    /// Creates a shape from its dimensions.
    pub fn new<D: Into<Dim>>(dims: impl IntoIterator<Item = D>) -> Shape {
        Shape(dims.into_iter().map(Into::into).collect())
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.0.len()
    }

    /// The dimensions as numbers; `None` if one is not fixed or is negative.
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
        for (a, b, quotient) in [
            (7, 4, 2),
            (8, 4, 2),
            (-7, 4, -1),
            (i64::MIN, 3, i64::MIN / 3),
            (i64::MAX, 1, i64::MAX),
        ] {
            assert_eq!(Dim::from(a).ceil_div(b), Dim::Fixed(quotient));
        }
        assert_eq!(out.bounds(&|_| None), None);
    }

    #[test]
    fn numbers_in_expressions_are_summed() {
        let n = Dim::from(SymbolId(0));
        // A convolution of 3 with padding 1.
        assert_eq!((n.clone() + 2 - 3).floor_div(1) + 1, n);
        assert_eq!(n.clone() + 2 - 5, n.clone() - 3);
        assert_eq!(n.clone() - 2 + 5, n.clone() + 3);
        assert_eq!((Dim::from(0) + n.clone() * 1).max(n.clone()), n);
        let sums = [(i64::MAX, 1), (i64::MIN, -1), (i64::MIN, i64::MAX)];
        for (first, second) in sums {
            let sum = n.clone() + first + second;
            let expected = i128::from(first) + i128::from(second);
            assert_eq!(sum.at(&|_| Some(0)), i64::try_from(expected).ok());
        }
    }

    #[test]
    fn dynamic_dimensions_are_broadcast_to_the_larger() {
        let [n, m] = [0, 1].map(|index| Dim::from(SymbolId(index)));
        let of = |a: &Dim, b: &Dim, ranges: [(i64, i64); 2]| {
            a.broadcast(b, &|symbol: SymbolId| Some(ranges[symbol.0 as usize]))
        };
        // One of them is 1, or they are equal.
        assert_eq!(of(&n, &m, [(1, 1), (1, 8)]), m);
        assert_eq!(of(&n, &m, [(1, 8), (1, 1)]), n);
        assert_eq!(of(&n, &m, [(1, 8), (2, 8)]), m);
        assert_eq!(of(&n, &m, [(2, 8), (1, 64)]), n);
        let larger = of(&n, &m, [(1, 8), (1, 8)]);
        for (a, b, expected) in [(1, 8, 8), (8, 1, 8), (8, 8, 8)] {
            assert_eq!(
                larger.at(&|symbol| Some([a, b][symbol.0 as usize])),
                Some(expected)
            );
        }
        assert_eq!(of(&larger, &m, [(1, 8), (1, 8)]), larger);
        assert_eq!(of(&m, &larger, [(1, 8), (1, 8)]), larger);
        assert_eq!(of(&n, &Dim::from(4), [(1, 8), (1, 8)]), Dim::from(4));
        assert_eq!(of(&n, &Dim::from(1), [(1, 8), (1, 8)]), n);
        assert_eq!(n.broadcast(&m, &|_| None), n.max(m));
    }
}
