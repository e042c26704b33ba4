//! Finds the descriptor variables that pointers and images come from.

use rspirv::spirv::Op;

use crate::locals::only_argument;
use crate::module::Module;
use crate::reach::ReachableCode;

/// Maximum number of instructions between a handle and its variable.
pub(crate) const MAX_STEPS: usize = 64;

/// Returns the variable that a pointer or image comes from.
pub(crate) fn variable_of(module: &Module, reach: &ReachableCode, mut id: u32) -> Option<u32> {
    for _ in 0..MAX_STEPS {
        let number = module.code.number(module.code.node(id)?);
        let one = &module.code.instructions[number];
        id = match one.op {
            Op::Variable => return Some(id),
            Op::FunctionParameter => only_argument(module, reach, number)?,
            Op::Load if !module.is_opaque(module.code.result_type(one)) => return None,
            Op::Load
            | Op::Image
            | Op::SampledImage
            | Op::ImageTexelPointer
            | Op::CopyObject
            | Op::AccessChain
            | Op::InBoundsAccessChain => module.code.operand(one, 0),
            _ => return None,
        };
    }
    None
}

/// Returns `true` if a variable is a single buffer or image, not an array of them.
pub(crate) fn is_one_descriptor(module: &Module, id: u32) -> bool {
    let kind = module.code.definition(id);
    let kind = kind.and_then(|variable| module.code.definition(module.variable_type(variable)));
    let decorations = module.decorations(id);
    let single =
        kind.is_some_and(|kind| matches!(kind.op, Op::TypeStruct | Op::TypeImage | Op::TypeSampledImage));
    single && decorations.set.is_some() && decorations.binding.is_some()
}
