//! Shapes: whole numbers and expressions of bounded symbols.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A symbol of a graph, by its place in [`Graph::symbols`](super::Graph::symbols).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SymbolId(pub u32);

/// A dimension that is known when the network runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Symbol {
    /// Its name: `batch`, `sequence`.
    pub name: String,
    /// The least and the greatest value, both inside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<(u64, u64)>,
    /// The value of an example input.
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
    /// The sum of two.
    Add(Box<(Dim, Dim)>),
    /// The first less the second.
    Sub(Box<(Dim, Dim)>),
    /// The product of two.
    Mul(Box<(Dim, Dim)>),
    /// The first by the second, rounded down.
    FloorDiv(Box<(Dim, Dim)>),
    /// The first by the second, rounded up.
    CeilDiv(Box<(Dim, Dim)>),
    /// The larger of two.
    Max(Box<(Dim, Dim)>),
    /// The smaller of two.
    Min(Box<(Dim, Dim)>),
}

impl Dim {
    /// The number, where it is one.
    pub fn fixed(&self) -> Option<i64> {
        match self {
            Dim::Fixed(value) => Some(*value),
            _ => None,
        }
    }

    /// The first by the second, rounded down.
    pub fn floor_div(self, by: impl Into<Dim>) -> Dim {
        fold(
            self,
            by.into(),
            |a, b| (b > 0).then(|| a.div_euclid(b)),
            Dim::FloorDiv,
        )
    }

    /// The first by the second, rounded up.
    pub fn ceil_div(self, by: impl Into<Dim>) -> Dim {
        fold(
            self,
            by.into(),
            |a, b| (b > 0).then(|| -(-a).div_euclid(b)),
            Dim::CeilDiv,
        )
    }

    /// The larger of two.
    pub fn max(self, other: impl Into<Dim>) -> Dim {
        fold(self, other.into(), |a, b| Some(a.max(b)), Dim::Max)
    }

    /// The smaller of two.
    pub fn min(self, other: impl Into<Dim>) -> Dim {
        fold(self, other.into(), |a, b| Some(a.min(b)), Dim::Min)
    }

    /// The least and the greatest value where each symbol lies in `range`, by interval arithmetic: right, and not always
    /// tight where a symbol occurs twice. `None` for a symbol without a range, a divisor that may be 0, or past 64 bits.
    pub fn bounds(&self, range: &impl Fn(SymbolId) -> Option<(i64, i64)>) -> Option<(i64, i64)> {
        type Step = fn(i64, i64) -> Option<i64>;
        let corners = |pair: &(Dim, Dim), step: Step| {
            let (a, b) = (pair.0.bounds(range)?, pair.1.bounds(range)?);
            let mut values = [0; 4];
            for (value, (x, y)) in values
                .iter_mut()
                .zip([(a.0, b.0), (a.0, b.1), (a.1, b.0), (a.1, b.1)])
            {
                *value = step(x, y)?;
            }
            Some((*values.iter().min()?, *values.iter().max()?))
        };
        match self {
            Dim::Fixed(value) => Some((*value, *value)),
            Dim::Symbol(symbol) => range(*symbol),
            Dim::Add(pair) => corners(pair, i64::checked_add),
            Dim::Sub(pair) => corners(pair, i64::checked_sub),
            Dim::Mul(pair) => corners(pair, i64::checked_mul),
            Dim::FloorDiv(pair) => corners(pair, |a, b| (b > 0).then(|| a.div_euclid(b))),
            Dim::CeilDiv(pair) => corners(pair, |a, b| (b > 0).then(|| -(-a).div_euclid(b))),
            Dim::Max(pair) => corners(pair, |a, b| Some(a.max(b))),
            Dim::Min(pair) => corners(pair, |a, b| Some(a.min(b))),
        }
    }

    /// Its value where every symbol has one.
    pub fn at(&self, value: &impl Fn(SymbolId) -> Option<i64>) -> Option<i64> {
        let range = |symbol| value(symbol).map(|value| (value, value));
        self.bounds(&range).map(|(value, _)| value)
    }

    /// The first symbol in it.
    pub fn symbol(&self) -> Option<SymbolId> {
        match self {
            Dim::Fixed(_) => None,
            Dim::Symbol(symbol) => Some(*symbol),
            Dim::Add(pair) | Dim::Sub(pair) | Dim::Mul(pair) | Dim::FloorDiv(pair) | Dim::CeilDiv(pair) => {
                pair.0.symbol().or_else(|| pair.1.symbol())
            }
            Dim::Max(pair) | Dim::Min(pair) => pair.0.symbol().or_else(|| pair.1.symbol()),
        }
    }
}

/// Two dimensions as one: their value where both are numbers, the expression otherwise.
fn fold(a: Dim, b: Dim, value: fn(i64, i64) -> Option<i64>, name: fn(Box<(Dim, Dim)>) -> Dim) -> Dim {
    match (a.fixed(), b.fixed()) {
        (Some(x), Some(y)) => value(x, y).map_or_else(|| name(Box::new((a, b))), Dim::Fixed),
        _ => name(Box::new((a, b))),
    }
}

macro_rules! arithmetic {
    ($($operator:ident $method:ident $value:ident $neutral:literal),*) => {$(
        impl<T: Into<Dim>> std::ops::$operator<T> for Dim {
            type Output = Dim;
            fn $method(self, other: T) -> Dim {
                let other = other.into();
                if other.fixed() == Some($neutral) {
                    return self;
                }
                fold(self, other, i64::$value, Dim::$operator)
            }
        }
    )*};
}
arithmetic!(Add add checked_add 0, Sub sub checked_sub 0, Mul mul checked_mul 1);

macro_rules! from_number {
    ($($number:ty),*) => {$(
        impl From<$number> for Dim {
            fn from(value: $number) -> Dim {
                // A number past 63 bits is no dimension of anything: it is refused like a negative one.
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
        let (pair, sign) = match self {
            Dim::Fixed(value) => return write!(f, "{value}"),
            Dim::Symbol(symbol) => return write!(f, "s{}", symbol.0),
            Dim::Add(pair) => (pair, "+"),
            Dim::Sub(pair) => (pair, "-"),
            Dim::Mul(pair) => (pair, "*"),
            Dim::FloorDiv(pair) => (pair, "/"),
            Dim::CeilDiv(pair) => (pair, "/^"),
            Dim::Max(pair) => (pair, "max"),
            Dim::Min(pair) => (pair, "min"),
        };
        write!(f, "({} {sign} {})", pair.0, pair.1)
    }
}

/// The dimensions of a tensor, outermost first; a tensor of none is one element.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Shape(pub Vec<Dim>);

impl Shape {
    /// A shape of numbers and symbols.
    pub fn new<D: Into<Dim>>(dims: impl IntoIterator<Item = D>) -> Shape {
        Shape(dims.into_iter().map(Into::into).collect())
    }

    /// How many dimensions.
    pub fn rank(&self) -> usize {
        self.0.len()
    }

    /// The numbers, where all dimensions are.
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
