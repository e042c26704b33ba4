//! Constant folding: shapes that exporters compute node by node, including those with dynamic dimensions.
//!
//! ```text
//! x [batch, 64] ─► Shape ─► Gather 0 ─► Concat with -1 ─► Reshape      known: [batch, 64], batch, [batch, -1]
//! ```
//! Numbers derived from shapes are constants of the graph: the caller writes them once the shapes are known.

use super::known::Number::{Fraction, Integer};
use super::known::{Known, MAX_FRACTIONS, MAX_KNOWN, Number, count, is_fractional};
use super::proto::NodeProto;
use super::{Reader, element, wrapped};
use crate::graph::{Dim, DimOperator, ElementType};

impl Reader<'_> {
    /// The known value of an input, if any.
    pub(super) fn input_known(&self, node: &NodeProto, place: usize) -> Option<&Known> {
        self.known.get(node.input.get(place)?)
    }

    /// The value of a node's output, if it follows from constants and shapes.
    pub(super) fn folded(&self, node: &NodeProto) -> Option<Known> {
        let known = |place: usize| self.input_known(node, place);
        match node.op_type.as_str() {
            "Shape" => {
                let dims = self.dims(*self.ids.get(node.input.first()?)?);
                let rank = dims.len() as i64;
                let place = |name: &str, default: i64| {
                    let index = node.int(name, default);
                    (if index < 0 { index + rank } else { index }).clamp(0, rank) as usize
                };
                let (first, end) = (place("start", 0), place("end", rank));
                let numbers = dims.get(first..end.max(first))?.iter().cloned().map(Integer);
                Some(Known::list(numbers.collect()))
            }
            "Size" => {
                let dims = self.dims(*self.ids.get(node.input.first()?)?);
                let all = dims.into_iter().fold(Dim::Fixed(1), |all, dim| all * dim);
                Known::list(vec![Integer(all)]).shaped(Vec::new())
            }
            "Identity" => known(0).cloned(),
            "Cast" => cast(known(0)?, element(node.int("to", 0) as i32)?),
            "Unsqueeze" | "Squeeze" | "Reshape" | "Flatten" => self.reshaped(node, known(0)?),
            "Gather" => {
                let (data, at) = (known(0)?, known(1)?);
                let is_first = wrapped(node.int("axis", 0), data.dims.len()) == Some(0);
                let places = at
                    .fixed()?
                    .into_iter()
                    .map(|index| wrapped(index, *data.dims.first()?));
                data.rows(&places.collect::<Option<Vec<_>>>()?, &at.dims)
                    .filter(|_| is_first)
            }
            "Concat" => {
                let parts: Option<Vec<&Known>> = (0..node.input.len()).map(known).collect();
                let parts = parts?;
                let first = *parts.first()?;
                let is_first = wrapped(node.int("axis", 0), first.dims.len()) == Some(0);
                let same = parts.iter().all(|part| part.dims.get(1..) == first.dims.get(1..));
                let all: usize = parts.iter().map(|part| part.numbers.len()).sum();
                (is_first && same && all <= MAX_KNOWN).then_some(())?;
                let mut sides = parts.iter().filter_map(|part| part.dims.first());
                let mut dims = first.dims.clone();
                *dims.first_mut()? = sides.try_fold(0usize, |all, &side| all.checked_add(side))?;
                Some(Known {
                    numbers: parts.iter().flat_map(|part| part.numbers.clone()).collect(),
                    dims,
                    element: first.element,
                })
            }
            "Slice" => self.sliced(node, known(0)?),
            "Where" => {
                let (choice, a, b) = (known(0)?, known(1)?, known(2)?);
                let dims = broadcast(&broadcast(&choice.dims, &a.dims)?, &b.dims)?;
                let numbers = each(&dims, |index| {
                    let of = |known: &Known| known.numbers.get(place(index, &dims, &known.dims)).cloned();
                    match of(choice)?.fixed()? {
                        0 => of(b),
                        _ => of(a),
                    }
                });
                let element = a.element;
                Some(Known {
                    numbers: numbers?,
                    dims,
                    element,
                })
            }
            "Range" => {
                let of = |place: usize| known(place)?.fixed()?.first().copied();
                let (first, end, by) = (of(0)?, of(1)?, of(2)?);
                let count = i128::from(end) - i128::from(first);
                let by = i128::from(by);
                if by == 0 {
                    return None;
                }
                let count = if count.signum() == by.signum() {
                    (count.abs() + by.abs() - 1) / by.abs()
                } else {
                    0
                };
                let count = usize::try_from(count).ok().filter(|&count| count <= MAX_KNOWN)?;
                let numbers = (0..count).map(|index| {
                    let value = i128::from(first) + index as i128 * by;
                    i64::try_from(value).ok().map(|value| Integer(value.into()))
                });
                let list = Known::list(numbers.collect::<Option<_>>()?);
                let element = known(0)?.element;
                Some(Known { element, ..list })
            }
            "ConstantOfShape" => {
                let value = self.filled(node);
                let dims = known(0)?.fixed()?;
                self.repeated(&value, &dims)
            }
            "Expand" => {
                let (data, to) = (known(0)?, known(1)?.fixed()?);
                let to: Option<Vec<usize>> = to.iter().map(|&dim| usize::try_from(dim).ok()).collect();
                let dims = broadcast(&data.dims, &to?)?;
                let numbers = each(&dims, |index| {
                    data.numbers.get(place(index, &dims, &data.dims)).cloned()
                });
                let element = data.element;
                Some(Known {
                    numbers: numbers?,
                    dims,
                    element,
                })
            }
            "ReduceProd" | "ReduceSum" | "ReduceMax" | "ReduceMin" => {
                let data = known(0).filter(|data| data.dims.len() == 1)?;
                let axes = match self.is_given(node, "axes", 1) {
                    true => self.numbers(node, "axes", 1)?,
                    false => Vec::new(),
                };
                if axes.is_empty() && node.int("noop_with_empty_axes", 0) != 0 {
                    return Some(data.clone());
                }
                if axes.iter().any(|&axis| wrapped(axis, 1).is_none()) {
                    return None;
                }
                let dims = match node.int("keepdims", 1) {
                    0 => Vec::new(),
                    _ => vec![1],
                };
                let mut all = data.numbers.iter().cloned();
                let first = all.next()?;
                let one = all.try_fold(first, |all, number| {
                    let all = self.combined(&node.op_type[6..], &all, &number);
                    all.filter(Number::is_short)
                })?;
                let element = data.element;
                Some(Known {
                    numbers: vec![one],
                    dims,
                    element,
                })
            }
            "Neg" | "Abs" | "Sign" | "Not" | "Floor" | "Ceil" | "Round" | "Sqrt" => {
                let data = known(0)?;
                let numbers = data.numbers.iter().map(|number| changed(&node.op_type, number));
                let (dims, element) = (data.dims.clone(), data.element);
                Some(Known {
                    numbers: numbers.collect::<Option<_>>()?,
                    dims,
                    element,
                })
            }
            name @ ("Add" | "Sub" | "Mul" | "Div" | "Mod" | "Pow" | "Max" | "Min" | "Equal" | "Less"
            | "Greater" | "LessOrEqual" | "GreaterOrEqual" | "And" | "Or") => {
                let mut all = (0..node.input.len()).map(known);
                let first = all.next()??.clone();
                all.try_fold(first, |a, b| {
                    let all = self.pairwise(name, &a, b?);
                    all.filter(|all| all.numbers.iter().all(Number::is_short))
                })
            }
            _ => None,
        }
    }

    /// The number that a node fills a tensor with, and its type.
    pub(super) fn filled(&self, node: &NodeProto) -> Known {
        let value = node.attribute("value").and_then(|value| value.t.as_ref());
        let element = value.map_or(ElementType::Float32, |tensor| self.element_of(tensor));
        let known = value.and_then(|tensor| tensor.known(element));
        let zero = match is_fractional(element) {
            true => Fraction(0.0),
            false => Integer(0.into()),
        };
        Known {
            numbers: vec![
                known
                    .and_then(|known| known.numbers.first().cloned())
                    .unwrap_or(zero),
            ],
            dims: Vec::new(),
            element,
        }
    }

    fn repeated(&self, value: &Known, dims: &[i64]) -> Option<Known> {
        let dims: Option<Vec<usize>> = dims.iter().map(|&dim| usize::try_from(dim).ok()).collect();
        let dims = dims?;
        let most = if value.is_fractional() {
            MAX_FRACTIONS
        } else {
            MAX_KNOWN
        };
        let count = dims.iter().try_fold(1usize, |all, &dim| all.checked_mul(dim));
        let count = count.filter(|&count| count <= most)?;
        Some(Known {
            numbers: vec![value.numbers.first()?.clone(); count],
            dims,
            element: value.element,
        })
    }

    fn reshaped(&self, node: &NodeProto, data: &Known) -> Option<Known> {
        let axes = |rank: usize| {
            let axes = self.numbers(node, "axes", 1)?;
            axes.into_iter()
                .map(|axis| wrapped(axis, rank))
                .collect::<Option<Vec<usize>>>()
        };
        let mut dims = data.dims.clone();
        match node.op_type.as_str() {
            "Unsqueeze" => {
                let count = self.numbers(node, "axes", 1)?.len();
                let mut axes = axes(dims.len() + count)?;
                axes.sort_unstable();
                axes.into_iter()
                    .try_for_each(|axis| (axis <= dims.len()).then(|| dims.insert(axis, 1)))?;
            }
            "Squeeze" => {
                let axes = match self.is_given(node, "axes", 1) {
                    true => axes(dims.len())?,
                    false => (0..dims.len()).filter(|&axis| dims[axis] == 1).collect(),
                };
                axes.iter().all(|&axis| dims[axis] == 1).then_some(())?;
                let mut index = 0..;
                dims.retain(|_| index.next().is_none_or(|index| !axes.contains(&index)));
            }
            "Flatten" => {
                let axis = node.int("axis", 1);
                let axis = usize::try_from(if axis < 0 { axis + dims.len() as i64 } else { axis }).ok()?;
                let (outer, inner) = (dims.get(..axis)?, dims.get(axis..)?);
                dims = vec![count(outer)?, count(inner)?];
            }
            _ => {
                let to = self.numbers(node, "shape", 1)?;
                let keep = node.int("allowzero", 0) == 0;
                let kept = |(axis, &dim): (usize, &i64)| match dim {
                    0 if keep => dims.get(axis).map(|&dim| dim as i64),
                    dim => Some(dim),
                };
                let to: Option<Vec<i64>> = to.iter().enumerate().map(kept).collect();
                let to = to?;
                let mut others = to.iter().filter(|&&dim| dim >= 0);
                let others = others.try_fold(1i64, |all, &dim| all.checked_mul(dim))?;
                let open = |dim: i64| match dim {
                    -1 => (data.numbers.len() as i64).checked_div(others),
                    dim => Some(dim),
                };
                let all = to.into_iter().map(|dim| usize::try_from(open(dim)?).ok());
                dims = all.collect::<Option<_>>()?;
            }
        }
        data.shaped(dims)
    }

    fn sliced(&self, node: &NodeProto, data: &Known) -> Option<Known> {
        let (begins, ends) = (self.numbers(node, "starts", 1)?, self.numbers(node, "ends", 2)?);
        // Given axes and steps must be known.
        let given = |name: &str, place: usize, default: Vec<i64>| match self.is_given(node, name, place) {
            true => self.numbers(node, name, place),
            false => Some(default),
        };
        let axes = given("axes", 3, (0..begins.len() as i64).collect())?;
        let steps = given("steps", 4, vec![1; begins.len()])?;
        let (&[begin], &[end], &[axis], &[by]) = (&begins[..], &ends[..], &axes[..], &steps[..]) else {
            return None;
        };
        let count = *data.dims.first()? as i64;
        if wrapped(axis, data.dims.len()) != Some(0) || by == 0 {
            return None;
        }
        if count == 0 {
            return data.rows(&[], &[0]);
        }
        // With a negative step, one before the first index is a valid end, but not a valid beginning.
        let place = |index: i64| {
            if index < 0 {
                index.saturating_add(count)
            } else {
                index
            }
        };
        let (begin, end) = match by > 0 {
            true => (place(begin).clamp(0, count), place(end).clamp(0, count)),
            false => (place(begin).clamp(0, count - 1), place(end).clamp(-1, count - 1)),
        };
        let mut places = Vec::new();
        let mut at = begin;
        while (by > 0 && at < end) || (by < 0 && at > end) {
            places.push(at as usize);
            at = at.saturating_add(by);
        }
        data.rows(&places, &[places.len()])
    }

    fn pairwise(&self, name: &str, a: &Known, b: &Known) -> Option<Known> {
        let dims = broadcast(&a.dims, &b.dims)?;
        let compares = matches!(
            name,
            "Equal" | "Less" | "Greater" | "LessOrEqual" | "GreaterOrEqual"
        );
        let numbers = each(&dims, |index| {
            let of = |known: &Known| known.numbers.get(place(index, &dims, &known.dims)).cloned();
            self.combined(name, &of(a)?, &of(b)?)
        })?;
        let element = if compares { ElementType::Bool } else { a.element };
        let most = if a.is_fractional() && !compares {
            MAX_FRACTIONS
        } else {
            MAX_KNOWN
        };
        (numbers.len() <= most).then_some(Known {
            numbers,
            dims,
            element,
        })
    }

    /// Applies a binary operator, or the operation of a reduction (`Sum` for `ReduceSum`), to two numbers.
    fn combined(&self, name: &str, a: &Number, b: &Number) -> Option<Number> {
        if let (Integer(x), Integer(y)) = (a, b) {
            return self.combined_integers(name, x, y).map(Integer);
        }
        let (x, y) = (a.value()?, b.value()?);
        let truth = |is: bool| Integer(i64::from(is).into());
        Some(match name {
            "Add" | "Sum" => Fraction(x + y),
            "Sub" => Fraction(x - y),
            "Mul" | "Prod" => Fraction(x * y),
            "Div" => Fraction(x / y),
            "Pow" => Fraction(x.powf(y)),
            "Max" => Fraction(x.max(y)),
            "Min" => Fraction(x.min(y)),
            "Equal" => truth(x == y),
            "Less" => truth(x < y),
            "Greater" => truth(x > y),
            "LessOrEqual" => truth(x <= y),
            "GreaterOrEqual" => truth(x >= y),
            _ => return None,
        })
    }

    fn combined_integers(&self, name: &str, x: &Dim, y: &Dim) -> Option<Dim> {
        let both = x.fixed().zip(y.fixed());
        let truth = |is: Option<bool>| is.map(|is| Dim::from(i64::from(is)));
        match (name, both) {
            ("Add" | "Sum", Some((x, y))) => x.checked_add(y).map(Dim::from),
            ("Sub", Some((x, y))) => x.checked_sub(y).map(Dim::from),
            ("Mul" | "Prod", Some((x, y))) => x.checked_mul(y).map(Dim::from),
            // Integer division truncates towards 0.
            ("Div", Some((x, y))) => x.checked_div(y).map(Dim::from),
            ("Mod", Some((x, y))) => x.checked_rem_euclid(y).filter(|_| y > 0).map(Dim::from),
            ("Pow", Some((x, y))) => x.checked_pow(u32::try_from(y).ok()?).map(Dim::from),
            ("And", Some((x, y))) => truth(Some(x != 0 && y != 0)),
            ("Or", Some((x, y))) => truth(Some(x != 0 || y != 0)),
            ("Add" | "Sum", None) => Some(x.clone() + y.clone()),
            ("Sub", None) if x == y => Some(0.into()),
            ("Sub", None) => Some(x.clone() - y.clone()),
            ("Mul" | "Prod", None) => Some(x.clone() * y.clone()),
            ("Div", None) if x == y => Some(1.into()),
            // Only for dimensions that are not negative.
            ("Div", None) if y.fixed().is_some_and(|y| y > 0) && self.range(x)?.0 >= 0 => {
                Some(x.clone().floor_div(y.clone()))
            }
            ("Mod", None) if y.fixed().is_some_and(|y| y > 0) && self.range(x)?.0 >= 0 => {
                Some(x.clone() - x.clone().floor_div(y.clone()) * y.clone())
            }
            ("Max", _) => Some(x.clone().max(y.clone())),
            ("Min", _) => Some(x.clone().min(y.clone())),
            ("Equal" | "LessOrEqual" | "GreaterOrEqual", _) if x == y => truth(Some(true)),
            ("Less" | "Greater", _) if x == y => truth(Some(false)),
            _ => {
                let (a, b) = (self.range(x)?, self.range(y)?);
                let (less, greater) = (a.1 < b.0, a.0 > b.1);
                let (at_most, at_least) = (a.1 <= b.0, a.0 >= b.1);
                let known = |yes: bool, no: bool| (yes || no).then_some(yes);
                truth(match name {
                    "Equal" => (less || greater).then_some(false),
                    "Less" => known(less, at_least),
                    "Greater" => known(greater, at_most),
                    "LessOrEqual" => known(at_most, greater),
                    "GreaterOrEqual" => known(at_least, less),
                    _ => None,
                })
            }
        }
    }
}

fn cast(data: &Known, to: ElementType) -> Option<Known> {
    let whole = |number: &Number| match number {
        Fraction(value) if to == ElementType::Bool => Some(Integer(i64::from(*value != 0.0).into())),
        Fraction(value) if value.trunc().abs() < 9e15 => Some(Integer((value.trunc() as i64).into())),
        Fraction(_) => None,
        Integer(dim) if to == ElementType::Bool => Some(Integer(i64::from(dim.fixed()? != 0).into())),
        Integer(dim) => Some(Integer(dim.clone())),
    };
    let fraction = |number: &Number| number.value().map(Fraction);
    let numbers: Option<Vec<Number>> = match is_fractional(to) {
        // Larger tensors of fractions are data; a dynamic dimension has no value as a fraction.
        true if data.numbers.len() > MAX_FRACTIONS => return None,
        true => data.numbers.iter().map(fraction).collect(),
        false => data.numbers.iter().map(whole).collect(),
    };
    Some(Known {
        numbers: numbers?,
        dims: data.dims.clone(),
        element: to,
    })
}

fn changed(name: &str, number: &Number) -> Option<Number> {
    match (name, number) {
        ("Floor" | "Ceil" | "Round", Integer(_)) => Some(number.clone()),
        ("Neg", Integer(dim)) => Some(Integer(DimOperator::Sub.apply(0.into(), dim.clone()))),
        ("Abs", Integer(dim)) => dim.fixed()?.checked_abs().map(|value| Integer(value.into())),
        ("Sign", Integer(dim)) => Some(Integer(dim.fixed()?.signum().into())),
        ("Not", Integer(dim)) => Some(Integer(i64::from(dim.fixed()? == 0).into())),
        ("Neg", Fraction(value)) => Some(Fraction(-value)),
        ("Abs", Fraction(value)) => Some(Fraction(value.abs())),
        ("Floor", Fraction(value)) => Some(Fraction(value.floor())),
        ("Ceil", Fraction(value)) => Some(Fraction(value.ceil())),
        ("Round", Fraction(value)) => Some(Fraction(value.round_ties_even())),
        ("Sqrt", Fraction(value)) => Some(Fraction(value.sqrt())),
        _ => None,
    }
}

/// The broadcast dimensions of two operands; `None` if they are incompatible or have too many elements to track.
fn broadcast(a: &[usize], b: &[usize]) -> Option<Vec<usize>> {
    let (long, short) = if a.len() >= b.len() { (a, b) } else { (b, a) };
    let mut dims = long.to_vec();
    for (dim, &other) in dims[long.len() - short.len()..].iter_mut().zip(short) {
        match (*dim, other) {
            (x, y) if x == y || y == 1 => {}
            (1, y) => *dim = y,
            _ => return None,
        }
    }
    let count = dims.iter().try_fold(1usize, |all, &dim| all.checked_mul(dim))?;
    (count <= MAX_KNOWN).then_some(dims)
}

/// Computes a number for each index of a tensor; `None` if any of them is `None`.
fn each(dims: &[usize], number: impl FnMut(usize) -> Option<Number>) -> Option<Vec<Number>> {
    (0..dims.iter().product()).map(number).collect()
}

/// The index in an operand that corresponds to an index of the broadcast result.
fn place(index: usize, dims: &[usize], of: &[usize]) -> usize {
    let (mut rest, mut at, mut stride) = (index, 0, 1);
    for axis in (0..dims.len()).rev() {
        let here = rest % dims[axis];
        rest /= dims[axis];
        if let Some(own) = (axis + of.len()).checked_sub(dims.len()) {
            at += if of[own] == 1 { 0 } else { here * stride };
            stride *= of[own];
        }
    }
    at
}
