//! Matrix products, and reductions over axes.

use super::call::{Answer, Call, Inferred, agree, wrap};
use super::definition::{BuiltInKernel, OperatorClass, OperatorDefinition};
use crate::graph::shape::Dim;

/// The product of `[.., k]` and the weights `[o, k]`, with an optional bias.
pub(super) const DENSE: OperatorDefinition = OperatorDefinition {
    inputs: 3,
    kernel: Some(BuiltInKernel::Dense),
    vector_inputs: &[2],
    ..OperatorDefinition::new("dense", OperatorClass::Contraction, dense)
};

pub(super) const MATMUL: OperatorDefinition = OperatorDefinition {
    inputs: 2,
    onnx: &["MatMul"],
    kernel: Some(BuiltInKernel::MatMul),
    ..OperatorDefinition::new("matmul", OperatorClass::Contraction, matmul)
};

fn dense(call: &Call<'_>) -> Answer<Inferred> {
    let (data, weight) = (call.dims_of(0, None)?, call.dims_of(1, Some(2))?);
    let (last, rest) = data
        .split_last()
        .ok_or("the input of a dense layer must not be a scalar")?;
    agree(last, &weight[1])?;
    let mut dims = rest.to_vec();
    dims.push(weight[0].clone());
    Ok(call.same_element(dims))
}

fn matmul(call: &Call<'_>) -> Answer<Inferred> {
    let (a, b) = (call.dims_of(0, None)?, call.dims_of(1, None)?);
    let ([a_outer @ .., rows, inner], [b_outer @ .., other, columns]) = (a, b) else {
        return Err("both inputs of a matrix product must have at least two dimensions".to_owned());
    };
    let transposed = call.int("transpose_b", 0)? != 0;
    let (other, columns) = if transposed {
        (columns, other)
    } else {
        (other, columns)
    };
    agree(inner, other)?;
    let mut dims = call.broadcast(a_outer, b_outer)?;
    dims.extend([rows.clone(), columns.clone()]);
    Ok(call.same_element(dims))
}

pub(super) const REDUCE: OperatorDefinition =
    OperatorDefinition::new("reduce", OperatorClass::Reduction, reduce);

fn reduce(call: &Call<'_>) -> Answer<Inferred> {
    let data = call.dims_of(0, None)?;
    let keep = call.int("keep", 1)? != 0;
    let axes = call.ints("axes")?;
    let axes = axes
        .unwrap_or_else(|| (0..data.len() as i64).collect())
        .into_iter();
    let axes: Vec<usize> = axes
        .map(|axis| wrap(axis, data.len()))
        .collect::<Result<_, _>>()?;
    let reduced = |(axis, dim): (usize, &Dim)| match axes.contains(&axis) {
        false => Some(dim.clone()),
        true => keep.then(|| 1.into()),
    };
    Ok(call.same_element(data.iter().enumerate().filter_map(reduced).collect()))
}
