//! Products of matrices.

use super::call::{Answer, Call, Inferred, agree, broadcast};
use super::definition::{BuiltInKernel, Definition, OperatorClass};

/// `[.., k]` by `[o, k]`, and a bias.
pub(super) const DENSE: Definition = Definition {
    inputs: 3,
    kernel: Some(BuiltInKernel::Dense),
    vector_inputs: &[2],
    ..Definition::new("dense", OperatorClass::Contraction, dense)
};

pub(super) const MATMUL: Definition = Definition {
    inputs: 2,
    onnx: &["MatMul"],
    kernel: Some(BuiltInKernel::MatMul),
    ..Definition::new("matmul", OperatorClass::Contraction, matmul)
};

fn dense(call: &Call<'_>) -> Answer<Inferred> {
    let (data, weight) = (call.dims_of(0, None)?, call.dims_of(1, Some(2))?);
    let (last, rest) = data.split_last().ok_or("a dense layer of a scalar")?;
    agree(last, &weight[1])?;
    let mut dims = rest.to_vec();
    dims.push(weight[0].clone());
    Ok(call.same_element(dims))
}

fn matmul(call: &Call<'_>) -> Answer<Inferred> {
    let (a, b) = (call.dims_of(0, None)?, call.dims_of(1, None)?);
    let ([a_outer @ .., rows, inner], [b_outer @ .., other, columns]) = (a, b) else {
        return Err("a product of matrices needs two dimensions of each".to_owned());
    };
    let transposed = call.int("transpose_b", 0)? != 0;
    let (other, columns) = if transposed {
        (columns, other)
    } else {
        (other, columns)
    };
    agree(inner, other)?;
    let mut dims = broadcast(a_outer, b_outer)?;
    dims.extend([rows.clone(), columns.clone()]);
    Ok(call.same_element(dims))
}
