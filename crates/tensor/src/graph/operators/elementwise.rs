//! Elementwise operators, and normalizations that preserve their input's shape.

use super::call::{Answer, Call, Inferred};
use super::definition::{BuiltInKernel, OperandForm, OperatorClass, OperatorDefinition};
use crate::graph::element::ElementType;
use crate::graph::node::InPlace;

/// Defines an elementwise operator with one operand, which is read in plain form.
pub(super) const fn unary(name: &'static str, onnx: &'static [&'static str]) -> OperatorDefinition {
    OperatorDefinition {
        onnx,
        ..OperatorDefinition::new(name, OperatorClass::Elementwise, same_shape)
    }
}

/// Defines an elementwise operator with one operand and boolean results.
pub(super) const fn test(name: &'static str, onnx: &'static [&'static str]) -> OperatorDefinition {
    OperatorDefinition {
        onnx,
        ..OperatorDefinition::new(name, OperatorClass::Elementwise, same_shape_of_booleans)
    }
}

/// Defines an elementwise operator with one operand, in any storage form.
pub(super) const fn activation(name: &'static str, onnx: &'static [&'static str]) -> OperatorDefinition {
    OperatorDefinition {
        form: OperandForm::SameForAll,
        ..unary(name, onnx)
    }
}

/// Defines an operator with two operands, which are broadcast.
pub(super) const fn binary(name: &'static str, onnx: &'static [&'static str]) -> OperatorDefinition {
    OperatorDefinition {
        inputs: 2,
        onnx,
        ..OperatorDefinition::new(name, OperatorClass::Broadcast, arithmetic)
    }
}

/// Defines an operator with two operands, which are broadcast, in any storage form that both share.
pub(super) const fn sum(name: &'static str, onnx: &'static [&'static str]) -> OperatorDefinition {
    OperatorDefinition {
        form: OperandForm::SameForAll,
        ..binary(name, onnx)
    }
}

/// Defines an operator with two operands, which are broadcast, and boolean results.
pub(super) const fn comparison(name: &'static str, onnx: &'static [&'static str]) -> OperatorDefinition {
    OperatorDefinition {
        inputs: 2,
        onnx,
        ..OperatorDefinition::new(name, OperatorClass::Broadcast, compare)
    }
}

pub(super) const BATCH_NORM: OperatorDefinition = OperatorDefinition {
    inputs: 5,
    form: OperandForm::SameForAll,
    onnx: &["BatchNormalization"],
    ..OperatorDefinition::new("batch_norm", OperatorClass::Broadcast, same_shape)
};
pub(super) const GROUP_NORM: OperatorDefinition = OperatorDefinition {
    inputs: 3,
    onnx: &["GroupNormalization", "InstanceNormalization"],
    ..OperatorDefinition::new("group_norm", OperatorClass::Opaque, same_shape)
};
pub(super) const LAYER_NORM: OperatorDefinition = OperatorDefinition {
    inputs: 3,
    onnx: &["LayerNormalization"],
    kernel: Some(BuiltInKernel::LayerNorm),
    vector_inputs: &[1, 2],
    ..OperatorDefinition::new("layer_norm", OperatorClass::Opaque, same_shape)
};
pub(super) const SOFTMAX: OperatorDefinition = OperatorDefinition {
    kernel: Some(BuiltInKernel::Softmax),
    ..OperatorDefinition::new("softmax", OperatorClass::Opaque, same_shape)
};

fn same_shape(call: &Call<'_>) -> Answer<Inferred> {
    let dims = call.dims_of(0, None)?.to_vec();
    let element = call.inputs[0].element;
    let to = match call.text("to") {
        Some(to) => to.parse()?,
        None => element,
    };
    let mut inferred = Inferred::one(to, dims);
    if to.bits() == element.bits() {
        inferred.in_place.push(InPlace { output: 0, input: 0 });
    }
    Ok(inferred)
}

fn same_shape_of_booleans(call: &Call<'_>) -> Answer<Inferred> {
    let mut inferred = Inferred::one(ElementType::Bool, call.dims_of(0, None)?.to_vec());
    if call.inputs[0].element.bits() == ElementType::Bool.bits() {
        inferred.in_place.push(InPlace { output: 0, input: 0 });
    }
    Ok(inferred)
}

fn arithmetic(call: &Call<'_>) -> Answer<Inferred> {
    // `broadcast` reports missing inputs.
    let first = call.inputs.first();
    broadcast(call, first.map_or(ElementType::Float32, |input| input.element))
}

fn compare(call: &Call<'_>) -> Answer<Inferred> {
    broadcast(call, ElementType::Bool)
}

fn broadcast(call: &Call<'_>, element: ElementType) -> Answer<Inferred> {
    let dims = call.broadcast(call.dims_of(0, None)?, call.dims_of(1, None)?)?;
    let mut inferred = Inferred::one(element, dims);
    for (index, input) in call.inputs.iter().enumerate().take(2) {
        if input.shape == inferred.outputs[0].1 && input.element.bits() == element.bits() {
            let input = index as u32;
            inferred.in_place.push(InPlace { output: 0, input });
        }
    }
    Ok(inferred)
}
