//! Reductions over axes.

use super::call::{Answer, Call, Inferred, wrap};
use super::definition::{Definition, OperatorClass};

pub(super) const REDUCE: Definition = Definition::new("reduce", OperatorClass::Reduction, reduce);

fn reduce(call: &Call<'_>) -> Answer<Inferred> {
    let data = call.dims_of(0, None)?;
    let keep = call.int("keep", 1)? != 0;
    let axes = call
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
    Ok(call.same_element(reduced.collect()))
}
