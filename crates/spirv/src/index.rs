//! Indices and coordinates that are constants or components of `GlobalInvocationID`.

use std::cell::Cell;

use rspirv::spirv::{BuiltIn, Op, StorageClass};

use crate::always::CertainInstructions;
use crate::locals::{Locals, only_argument};
use crate::module::Module;
use crate::reach::PointerReach;

/// The most instructions between an index and the constant or built-in variable that it is.
const MAX_STEPS: usize = 64;

/// The most components of a vector.
const MAX_COMPONENTS: u32 = 4;

/// The value of a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// A constant below 2^31.
    Constant(u32),
    /// This component of `GlobalInvocationID`.
    Invocation(u32),
}

/// Finds the values of indices.
pub(crate) struct Indices<'a> {
    pub(crate) module: &'a Module,
    pub(crate) reach: &'a PointerReach,
    pub(crate) always: &'a CertainInstructions,
    pub(crate) locals: Locals,
    /// Left for all indices together: a hostile module may use every value many times.
    pub(crate) steps: Cell<u32>,
}

impl Indices<'_> {
    /// A component of an integer or vector of integers; of an integer, component 0. `None` if it is computed.
    pub(crate) fn value(&self, mut id: u32, mut component: u32) -> Option<Value> {
        let code = &self.module.code;
        for _ in 0..MAX_STEPS {
            self.steps.set(self.steps.get().checked_sub(1)?);
            let number = code.number(code.node(id)?);
            let one = &code.instructions[number];
            let operand = |n| code.operand(one, n);
            match one.op {
                Op::CopyObject => id = operand(0),
                Op::Bitcast if self.keeps_words(id, operand(0)) => id = operand(0),
                Op::UConvert if self.widens(id, operand(0)) => id = operand(0),
                Op::CompositeExtract if code.operands(one).len() == 2 => {
                    self.vector_length(operand(0))?;
                    (id, component) = (operand(0), operand(1));
                }
                Op::VectorShuffle => {
                    let length = self.vector_length(operand(0))?;
                    let chosen = *code.operands(one).get(2 + component as usize)?;
                    (id, component) = match chosen.checked_sub(length) {
                        None => (operand(0), chosen),
                        Some(of_second) => (operand(1), of_second),
                    };
                }
                Op::CompositeConstruct | Op::ConstantComposite => {
                    (id, component) = self.constituent(id, component)?
                }
                Op::ConstantNull => return self.is_integer(id, component).then_some(Value::Constant(0)),
                Op::Constant => return self.constant(id).map(Value::Constant),
                Op::FunctionCall => {
                    let callee = self.module.function(operand(0))?;
                    let mut returned = self.reach.returned(callee);
                    id = code.id(returned.next().filter(|_| returned.next().is_none())?);
                }
                Op::FunctionParameter => id = only_argument(self.module, self.reach, number)?,
                Op::Load => match self.loaded(number, component)? {
                    Loaded::Value(value) => return Some(value),
                    Loaded::Stored(value, of) => (id, component) = (value, of),
                },
                _ => return None,
            }
        }
        None
    }

    /// The value of a 32-bit constant below 2^31.
    pub(crate) fn constant(&self, id: u32) -> Option<u32> {
        let code = &self.module.code;
        let kind = code.type_of(id)?;
        let word = kind.op == Op::TypeInt && code.operand(kind, 0) == 32;
        self.module
            .constant(id)
            .filter(|value| word && *value <= i32::MAX as u32)
    }

    /// What a load gives: a component of the built-in variable, or of what was stored in a local variable.
    fn loaded(&self, load: usize, component: u32) -> Option<Loaded> {
        let (module, code) = (self.module, &self.module.code);
        let pointer = code.operand(&code.instructions[load], 0);
        let chain = code.definition(pointer)?;
        let (base, component) = match chain.op {
            Op::AccessChain | Op::InBoundsAccessChain if code.operands(chain).len() == 2 => {
                (code.operand(chain, 0), self.constant(code.operand(chain, 1))?)
            }
            _ => (pointer, component),
        };
        let definition = code.definition(base)?;
        let pointee = code.operand(code.definition(code.result_type(definition))?, 1);
        if base != pointer && code.definition(pointee)?.op != Op::TypeVector {
            return None;
        }
        let input = module.variable_class(definition) == Some(StorageClass::Input);
        if definition.op == Op::Variable && input {
            let built_in = module.decorations(base).built_in == Some(BuiltIn::GlobalInvocationId as u32);
            return (built_in && component < 3).then_some(Loaded::Value(Value::Invocation(component)));
        }
        let value = self.locals.value(module, self.reach, self.always, load, base)?;
        Some(Loaded::Stored(value, component))
    }

    /// The constituent of a vector that holds a component, and the component's place in it.
    fn constituent(&self, id: u32, component: u32) -> Option<(u32, u32)> {
        let code = &self.module.code;
        let length = self.vector_length(id)?;
        let constituents = code.operands(code.definition(id)?);
        if constituents.len() > length as usize {
            return None;
        }
        let mut left = component;
        for &id in constituents {
            let length = self.vector_length(id).unwrap_or(1);
            match left.checked_sub(length) {
                None => return Some((id, left)),
                Some(less) => left = less,
            }
        }
        None
    }

    /// The number of components of a vector.
    fn vector_length(&self, id: u32) -> Option<u32> {
        let code = &self.module.code;
        let vector = code.type_of(id).filter(|kind| kind.op == Op::TypeVector)?;
        Some(code.operand(vector, 1)).filter(|length| *length <= MAX_COMPONENTS)
    }

    /// Whether an id is an integer, or a vector of integers with such a component.
    fn is_integer(&self, id: u32, component: u32) -> bool {
        self.shape(id).is_some_and(|(_, length)| component < length)
    }

    /// Bits and components of an integer or vector of integers.
    fn shape(&self, id: u32) -> Option<(u32, u32)> {
        let code = &self.module.code;
        let (kind, length) = match self.vector_length(id) {
            Some(length) => (code.definition(code.operand(code.type_of(id)?, 0))?, length),
            None => (code.type_of(id)?, 1),
        };
        (kind.op == Op::TypeInt).then(|| (code.operand(kind, 0), length))
    }

    /// Whether a bit cast only changes whether integers are signed.
    fn keeps_words(&self, to: u32, from: u32) -> bool {
        self.shape(to).is_some_and(|to| self.shape(from) == Some(to))
    }

    /// Whether a conversion of unsigned integers keeps their values.
    fn widens(&self, to: u32, from: u32) -> bool {
        let shapes = self.shape(to).zip(self.shape(from));
        shapes.is_some_and(|(to, from)| to.0 >= from.0)
    }
}

/// Where the value of a load comes from.
enum Loaded {
    /// The value itself.
    Value(Value),
    /// A component of a stored value.
    Stored(u32, u32),
}
