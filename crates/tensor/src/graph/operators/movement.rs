//! Operators that move elements: views, transposes, slices, concatenations.

use super::call::{Answer, Call, Inferred, agree, product};
use super::definition::{BuiltInKernel, OperandForm, OperatorClass, OperatorDefinition};
use crate::graph::shape::{Dim, Shape};

pub(super) const RESHAPE: OperatorDefinition = OperatorDefinition {
    kernel: Some(BuiltInKernel::Reshape),
    ..OperatorDefinition::new("reshape", OperatorClass::Injective, reshape)
};
pub(super) const FLATTEN: OperatorDefinition = OperatorDefinition {
    kernel: Some(BuiltInKernel::Reshape),
    ..OperatorDefinition::new("flatten", OperatorClass::Injective, flatten)
};
pub(super) const CONCAT: OperatorDefinition = OperatorDefinition {
    inputs: usize::MAX,
    form: OperandForm::ConcatChannels,
    kernel: Some(BuiltInKernel::Concat),
    ..OperatorDefinition::new("concat", OperatorClass::Injective, concat)
};
pub(super) const TRANSPOSE: OperatorDefinition =
    OperatorDefinition::new("transpose", OperatorClass::Injective, transpose)
        .computed_by(BuiltInKernel::Transpose);
pub(super) const SLICE: OperatorDefinition =
    OperatorDefinition::new("slice", OperatorClass::Injective, slice).computed_by(BuiltInKernel::Slice);
pub(super) const SPLIT: OperatorDefinition =
    OperatorDefinition::new("split", OperatorClass::Injective, split).computed_by(BuiltInKernel::Split);
pub(super) const PAD: OperatorDefinition =
    OperatorDefinition::new("pad", OperatorClass::Injective, pad).computed_by(BuiltInKernel::Pad);

fn reshape(call: &Call<'_>) -> Answer<Inferred> {
    let data = call.dims_of(0, None)?;
    let shape = call.ints("shape")?.ok_or("`shape` is missing")?;
    let all = product(data);
    // 0 keeps a dimension, and one -1 stands for the remaining elements.
    let mut dims = Vec::new();
    for (axis, &dim) in shape.iter().enumerate() {
        let kept = || data.get(axis).cloned();
        dims.push(match dim {
            0 => kept().ok_or_else(|| {
                let rank = data.len();
                format!("`shape` keeps the length of axis {axis}, but the input has rank {rank}")
            })?,
            dim => Dim::from(dim),
        });
    }
    if let Some(open) = shape.iter().position(|&dim| dim == -1) {
        // Kept dimensions are left out of the division: otherwise a symbol would be bounded twice.
        let (mut left, mut by) = (data.to_vec(), Vec::new());
        for (axis, dim) in dims.iter().enumerate().filter(|(axis, _)| *axis != open) {
            match left.iter().position(|other| other == dim) {
                Some(kept) => drop(left.remove(kept)),
                None => by.push(dims[axis].clone()),
            }
        }
        dims[open] = product(&left).floor_div(product(&by));
    }
    let both = all.fixed().zip(product(&dims).fixed());
    if let Some((from, to)) = both.filter(|(from, to)| from != to) {
        return Err(format!("cannot reshape {from} elements to {to} elements"));
    }
    Ok(call.reshaped(dims))
}

fn flatten(call: &Call<'_>) -> Answer<Inferred> {
    let data = call.dims_of(0, None)?;
    let axis = call.int("axis", 1)?.clamp(0, data.len() as i64) as usize;
    Ok(call.reshaped(vec![product(&data[..axis]), product(&data[axis..])]))
}

fn transpose(call: &Call<'_>) -> Answer<Inferred> {
    let data = call.dims_of(0, None)?;
    let axes = call
        .ints("axes")?
        .unwrap_or_else(|| (0..data.len() as i64).rev().collect());
    let mut sorted = axes.clone();
    sorted.sort_unstable();
    if !sorted.into_iter().eq(0..data.len() as i64) {
        return Err(format!(
            "`axes` is {axes:?}, which is not a permutation of the input's {} axes",
            data.len()
        ));
    }
    Ok(call.same_element(axes.iter().map(|&axis| data[axis as usize].clone()).collect()))
}

fn concat(call: &Call<'_>) -> Answer<Inferred> {
    let mut dims = call.dims_of(0, None)?.to_vec();
    let axis = call.axis("axis", 1, dims.len())?;
    let mut along = vec![dims[axis].clone()];
    for input in 1..call.inputs.len() {
        let other = call.dims_of(input, Some(dims.len()))?;
        for (index, dim) in other.iter().enumerate() {
            if index == axis {
                along.push(dim.clone());
            } else {
                agree(&dims[index], dim)?;
            }
        }
    }
    dims[axis] = Dim::sum(along);
    Ok(call.same_element(dims))
}

fn slice(call: &Call<'_>) -> Answer<Inferred> {
    let mut dims = call.dims_of(0, None)?.to_vec();
    let axis = call.axis("axis", 0, dims.len())?;
    let begin = call.int("begin", 0)?;
    dims[axis] =
        match call.ints("end")?.as_deref() {
            Some([end]) if begin >= 0 && *end >= 0 => Dim::from(*end).min(dims[axis].clone()) - begin,
            Some([end]) if begin >= 0 => dims[axis].clone() + *end - begin,
            None if begin >= 0 => dims[axis].clone() - begin,
            None => (Dim::from(0) - begin).min(dims[axis].clone()),
            _ => return Err(
                "`begin` and `end` must be one number each, and `begin` may be negative only without `end`"
                    .to_owned(),
            ),
        };
    Ok(call.same_element(dims))
}

/// Maximum number of outputs of a `split`.
const MAX_PARTS: i64 = 1 << 16;

fn split(call: &Call<'_>) -> Answer<Inferred> {
    let mut dims = call.dims_of(0, None)?.to_vec();
    let axis = call.axis("axis", 0, dims.len())?;
    let parts = call.int("parts", 2)?;
    if !(1..=MAX_PARTS).contains(&parts) || dims[axis].fixed().is_some_and(|dim| dim % parts != 0) {
        return Err(format!(
            "dimension {} cannot be split into {parts} equal parts (1 to {MAX_PARTS} parts are supported)",
            dims[axis]
        ));
    }
    dims[axis] = dims[axis].clone().floor_div(parts);
    let part = (call.inputs[0].element, Shape(dims));
    Ok(Inferred {
        outputs: vec![part; parts as usize],
        ..Inferred::default()
    })
}

fn pad(call: &Call<'_>) -> Answer<Inferred> {
    let mut dims = call.dims_of(0, Some(4))?.to_vec();
    let pads = call.padding()?;
    for axis in 0..2 {
        dims[axis + 2] = dims[axis + 2].clone() + pads[axis] + pads[axis + 2];
    }
    Ok(call.same_element(dims))
}
