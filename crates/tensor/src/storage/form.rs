//! Forms: which tensors are packed, and the form that each node reads.

use super::kernel::function;
use crate::graph::operators::{OperandForm, definition};
use crate::graph::{Attribute, Dim, Graph, Node, NodeKind, TensorSource};
use crate::layout::Convention;

/// The form of a tensor's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Form {
    /// Row-major in a buffer.
    Plain,
    /// Four elements of an axis per vector: channels of activations (axis 1), outputs of weights (axis 0).
    Packed(usize),
    /// A compiler's form, with the four elements of a texel as the last axis of the shape.
    Blocked,
}

/// The form in which a node reads its operands; for [`OperandForm::ConcatChannels`] it depends on the axis.
pub(super) fn operand_form(node: &Node) -> OperandForm {
    let NodeKind::Operator(operator) = &node.kind else {
        return OperandForm::Plain;
    };
    match definition(&operator.name).map_or(OperandForm::Plain, |definition| definition.form) {
        OperandForm::ConcatChannels if operator.attributes.get("axis") != Some(&Attribute::Int(1)) => {
            OperandForm::Plain
        }
        form => form,
    }
}

/// The input that holds a convolution's weights.
fn weights(node: &Node) -> Option<usize> {
    match &node.kind {
        NodeKind::Operator(operator) => definition(&operator.name)?.weights,
        _ => None,
    }
}

/// Returns true if each operand of a concatenation has the fixed shape `[n, c, h, w]`, where `c` is a multiple of 4, so that the next operand begins
/// at a texel boundary.
fn fills_texels(graph: &Graph, node: &Node) -> bool {
    node.inputs.iter().all(|&input| {
        let shape = graph.tensor(input).shape.fixed();
        shape.is_some_and(|shape| shape.len() == 4 && shape[1] % 4 == 0)
    })
}

/// The form in which each tensor is produced.
pub(super) fn forms(graph: &Graph) -> Vec<Form> {
    let mut forms = vec![Form::Plain; graph.tensors().len()];
    for node in graph.nodes().iter().filter(|node| function(node).is_some()) {
        for id in node.inputs.iter().chain(&node.outputs) {
            let tensor = graph.tensor(*id);
            let has_texels =
                tensor.shape.rank() >= 3 && tensor.shape.0.last().and_then(Dim::fixed) == Some(4);
            let scope = tensor.scope.as_ref();
            let in_texture = scope.is_some_and(|scope| scope.parse::<Convention>().is_ok());
            if (has_texels || in_texture) && tensor.element.texel_format().is_some() {
                forms[id.index()] = Form::Blocked;
            }
        }
    }
    // Constants are packed beforehand, in the form that their reader needs.
    for node in graph.nodes() {
        if let Some(&weight) = weights(node).and_then(|place| node.inputs.get(place)) {
            if graph.tensor(weight).source == TensorSource::Constant && graph.tensor(weight).shape.rank() == 4
            {
                forms[weight.index()] = Form::Packed(0);
            }
        }
    }
    let blocks = graph.blocks().iter();
    for node in blocks.flat_map(|block| block.nodes.iter().map(|&node| graph.node(node))) {
        let form = operand_form(node);
        let packs = match form {
            OperandForm::Packed => true,
            OperandForm::Plain => false,
            OperandForm::SameForAll | OperandForm::ConcatChannels => {
                let mut inputs = node.inputs.iter();
                let first = inputs.find(|input| graph.tensor(**input).source != TensorSource::Constant);
                first.is_some_and(|input| forms[input.index()] == Form::Packed(1))
                    && (form == OperandForm::SameForAll || fills_texels(graph, node))
            }
        };
        for output in node.outputs.iter().filter(|_| packs) {
            let tensor = graph.tensor(*output);
            if tensor.shape.rank() == 4 && tensor.view.is_none() && tensor.element.texel_format().is_some() {
                forms[output.index()] = Form::Packed(1);
            }
        }
        if packs && form != OperandForm::Packed {
            for input in &node.inputs {
                let tensor = graph.tensor(*input);
                if tensor.source == TensorSource::Constant && tensor.shape.rank() == 4 {
                    forms[input.index()] = Form::Packed(1);
                }
            }
        }
    }
    forms
}

/// The form that a node requires of an operand; `None` if it accepts any.
pub(super) fn required_form(graph: &Graph, node: &Node, place: usize, forms: &[Form]) -> Option<Form> {
    let input = node.inputs[place];
    if function(node).is_some() {
        return None;
    }
    match operand_form(node) {
        OperandForm::Packed if place == 0 => Some(Form::Packed(1)),
        OperandForm::Packed if weights(node) == Some(place) => Some(Form::Packed(0)),
        OperandForm::Packed => None,
        OperandForm::SameForAll | OperandForm::ConcatChannels => {
            let output = node.outputs.first();
            let packed = output.is_some_and(|output| forms[output.index()] == Form::Packed(1));
            let form = if packed { Form::Packed(1) } else { Form::Plain };
            // An operand that is broadcast over a packed tensor may be plain: its elements are read one by one.
            (!packed || graph.tensor(input).shape.rank() == 4).then_some(form)
        }
        OperandForm::Plain => Some(Form::Plain),
    }
}
