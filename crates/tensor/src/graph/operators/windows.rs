//! Convolutions, pools and resizing over `[n, c, h, w]`.

use super::call::{Answer, Call, Inferred, positive};
use super::definition::{BuiltInKernel, OperandForm, OperatorClass, OperatorDefinition};

/// Convolution with weights `[o, i, h, w]`.
pub(super) const CONV2D: OperatorDefinition = OperatorDefinition {
    inputs: 3,
    form: OperandForm::Packed,
    weights: Some(1),
    kernel: Some(BuiltInKernel::Convolution),
    vector_inputs: &[2],
    ..OperatorDefinition::new("conv2d", OperatorClass::Contraction, convolution)
};

/// Transposed convolution with weights `[i, o, h, w]`.
pub(super) const CONV2D_TRANSPOSE: OperatorDefinition = OperatorDefinition {
    inputs: 3,
    form: OperandForm::Packed,
    weights: Some(1),
    kernel: Some(BuiltInKernel::TransposedConvolution),
    vector_inputs: &[2],
    ..OperatorDefinition::new(
        "conv2d_transpose",
        OperatorClass::Contraction,
        transposed_convolution,
    )
};

fn convolution(call: &Call<'_>) -> Answer<Inferred> {
    let (data, weight) = (call.dims_of(0, Some(4))?, call.dims_of(1, Some(4))?);
    let groups = call.int("groups", 1)?;
    let fixed = data[1].fixed().zip(weight[1].fixed());
    let differ = |&(channels, inner): &(i64, i64)| inner.checked_mul(groups) != Some(channels);
    if let Some((channels, inner)) = fixed.filter(differ) {
        return Err(format!(
            "the input has {channels} channels, but the weights need {inner} channels x {groups} groups"
        ));
    }
    let (strides, dilations) = (call.pair("strides", 1)?, call.pair("dilations", 1)?);
    let pads = call.padding()?;
    positive("strides", &strides)?;
    positive("dilations", &dilations)?;
    let side = |axis: usize| {
        let kernel = (weight[axis + 2].clone() - 1) * dilations[axis] + 1;
        (data[axis + 2].clone() + pads[axis] + pads[axis + 2] - kernel).floor_div(strides[axis]) + 1
    };
    Ok(call.same_element(vec![data[0].clone(), weight[0].clone(), side(0), side(1)]))
}

/// Infers the output of a transposed convolution with weights `[i, o, h, w]`.
fn transposed_convolution(call: &Call<'_>) -> Answer<Inferred> {
    let (data, weight) = (call.dims_of(0, Some(4))?, call.dims_of(1, Some(4))?);
    let (strides, more) = (call.pair("strides", 1)?, call.pair("output_padding", 0)?);
    let pads = call.padding()?;
    positive("strides", &strides)?;
    let side = |axis: usize| {
        let between = (data[axis + 2].clone() - 1) * strides[axis];
        between + weight[axis + 2].clone() + more[axis] - pads[axis] - pads[axis + 2]
    };
    let channels = weight[1].clone() * call.int("groups", 1)?;
    Ok(call.same_element(vec![data[0].clone(), channels, side(0), side(1)]))
}

const fn window(
    name: &'static str,
    infer: fn(&Call<'_>) -> Answer<Inferred>,
    kernel: Option<BuiltInKernel>,
) -> OperatorDefinition {
    OperatorDefinition {
        form: OperandForm::Packed,
        kernel,
        ..OperatorDefinition::new(name, OperatorClass::Contraction, infer)
    }
}

pub(super) const MAX_POOL2D: OperatorDefinition = window("max_pool2d", pool, Some(BuiltInKernel::MaxPool));
pub(super) const AVG_POOL2D: OperatorDefinition =
    window("avg_pool2d", pool, Some(BuiltInKernel::AveragePool));
pub(super) const GLOBAL_AVG_POOL2D: OperatorDefinition = OperatorDefinition {
    onnx: &["GlobalAveragePool"],
    ..window(
        "global_avg_pool2d",
        global_pool,
        Some(BuiltInKernel::GlobalAveragePool),
    )
};
/// Repeats each element `scale` times along the height and the width: nearest-neighbor scaling.
pub(super) const RESIZE2D: OperatorDefinition = OperatorDefinition {
    form: OperandForm::Packed,
    kernel: Some(BuiltInKernel::Resize),
    ..OperatorDefinition::new("resize2d", OperatorClass::Injective, resize)
};

fn pool(call: &Call<'_>) -> Answer<Inferred> {
    let data = call.dims_of(0, Some(4))?;
    let kernel = call.pair("kernel", 2)?;
    let (strides, pads) = (call.pair("strides", 1)?, call.padding()?);
    positive("strides", &strides)?;
    let up = call.int("ceil_mode", 0)? != 0;
    let side = |axis: usize| {
        let room = data[axis + 2].clone() + pads[axis] + pads[axis + 2] - kernel[axis];
        let begin = data[axis + 2].clone() + pads[axis] - 1;
        match up {
            // The last window begins within the data or the padding before it.
            true => (room.ceil_div(strides[axis]) + 1).min(begin.floor_div(strides[axis]) + 1),
            false => room.floor_div(strides[axis]) + 1,
        }
    };
    Ok(call.same_element(vec![data[0].clone(), data[1].clone(), side(0), side(1)]))
}

fn global_pool(call: &Call<'_>) -> Answer<Inferred> {
    let dims = call.dims_of(0, Some(4))?;
    Ok(call.same_element(vec![dims[0].clone(), dims[1].clone(), 1.into(), 1.into()]))
}

fn resize(call: &Call<'_>) -> Answer<Inferred> {
    let mut dims = call.dims_of(0, Some(4))?.to_vec();
    let scale = call.pair("scale", 2)?;
    dims[2] = dims[2].clone() * scale[0];
    dims[3] = dims[3].clone() * scale[1];
    Ok(call.same_element(dims))
}
