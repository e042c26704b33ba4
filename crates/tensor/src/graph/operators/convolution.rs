//! Convolutions over `[n, c, h, w]`.

use super::call::{Answer, Call, Inferred, positive};
use super::definition::{BuiltInKernel, Definition, OperandForm, OperatorClass};

/// Weights `[o, i, h, w]`.
pub(super) const CONV2D: Definition = Definition {
    inputs: 3,
    form: OperandForm::Packed,
    weights: Some(1),
    kernel: Some(BuiltInKernel::Convolution),
    vector_inputs: &[2],
    ..Definition::new("conv2d", OperatorClass::Contraction, convolution)
};

/// Weights `[i, o, h, w]`.
pub(super) const CONV2D_TRANSPOSE: Definition = Definition {
    inputs: 3,
    form: OperandForm::Packed,
    weights: Some(1),
    ..Definition::new(
        "conv2d_transpose",
        OperatorClass::Contraction,
        transposed_convolution,
    )
};

fn convolution(call: &Call<'_>) -> Answer<Inferred> {
    let (data, weight) = (call.dims_of(0, Some(4))?, call.dims_of(1, Some(4))?);
    let groups = call.int("groups", 1)?;
    if let (Some(channels), Some(inner)) = (data[1].fixed(), weight[1].fixed()) {
        if inner.checked_mul(groups) != Some(channels) {
            return Err(format!(
                "{channels} channels, and weights for {inner} x {groups} groups"
            ));
        }
    }
    let (strides, dilations, pads) = (
        call.pair("strides", 1)?,
        call.pair("dilations", 1)?,
        call.padding()?,
    );
    positive("strides", &strides)?;
    positive("dilations", &dilations)?;
    let side = |axis: usize| {
        let kernel = (weight[axis + 2].clone() - 1) * dilations[axis] + 1;
        (data[axis + 2].clone() + (pads[axis] + pads[axis + 2]) - kernel).floor_div(strides[axis]) + 1
    };
    Ok(call.same_element(vec![data[0].clone(), weight[0].clone(), side(0), side(1)]))
}

/// Weights `[i, o, h, w]`.
fn transposed_convolution(call: &Call<'_>) -> Answer<Inferred> {
    let (data, weight) = (call.dims_of(0, Some(4))?, call.dims_of(1, Some(4))?);
    let (strides, pads, more) = (
        call.pair("strides", 1)?,
        call.padding()?,
        call.pair("output_padding", 0)?,
    );
    positive("strides", &strides)?;
    let side = |axis: usize| {
        let between = (data[axis + 2].clone() - 1) * strides[axis];
        between + weight[axis + 2].clone() + (more[axis] - pads[axis] - pads[axis + 2])
    };
    let channels = weight[1].clone() * call.int("groups", 1)?;
    Ok(call.same_element(vec![data[0].clone(), channels, side(0), side(1)]))
}
