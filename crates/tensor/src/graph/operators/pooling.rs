//! Pools and resizing over `[n, c, h, w]`.

use super::call::{Answer, Call, Inferred, positive};
use super::definition::{BuiltInKernel, Definition, OperandForm, OperatorClass};

const fn window(
    name: &'static str,
    infer: fn(&Call<'_>) -> Answer<Inferred>,
    kernel: Option<BuiltInKernel>,
) -> Definition {
    Definition {
        form: OperandForm::Packed,
        kernel,
        ..Definition::new(name, OperatorClass::Contraction, infer)
    }
}

pub(super) const MAX_POOL2D: Definition = window("max_pool2d", pool, Some(BuiltInKernel::MaxPool));
pub(super) const AVG_POOL2D: Definition = window("avg_pool2d", pool, Some(BuiltInKernel::AveragePool));
pub(super) const GLOBAL_AVG_POOL2D: Definition = Definition {
    onnx: &["GlobalAveragePool"],
    ..window(
        "global_avg_pool2d",
        global_pool,
        Some(BuiltInKernel::GlobalAveragePool),
    )
};
pub(super) const RESIZE2D: Definition = Definition {
    form: OperandForm::Packed,
    ..Definition::new("resize2d", OperatorClass::Injective, resize)
};

fn pool(call: &Call<'_>) -> Answer<Inferred> {
    let data = call.dims_of(0, Some(4))?;
    let kernel = call.pair("kernel", 2)?;
    let (strides, pads) = (call.pair("strides", 1)?, call.padding()?);
    positive("strides", &strides)?;
    let up = call.int("ceil_mode", 0)? != 0;
    let side = |axis: usize| {
        let room = data[axis + 2].clone() + (pads[axis] + pads[axis + 2] - kernel[axis]);
        let windows = if up {
            room.ceil_div(strides[axis])
        } else {
            room.floor_div(strides[axis])
        };
        windows + 1
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
