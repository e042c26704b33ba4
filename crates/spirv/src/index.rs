//! Indices, coordinates and compared numbers: constants, components of invocation ids, and values that are the same in a whole dispatch.

use std::cell::Cell;

use rspirv::spirv::{BuiltIn, Dim, Op, StorageClass};

use crate::certain_instructions::CertainInstructions;
use crate::code::Instruction;
use crate::guard::{GuardValue, InvocationId, InvocationIndex};
use crate::locals::{Locals, only_argument};
use crate::module::Module;
use crate::reach::ReachableCode;
use crate::variable::{is_one_descriptor, variable_of};

/// Maximum number of instructions between an index and its constant or built-in variable.
const MAX_STEPS: usize = 64;

/// Maximum number of components of a vector.
const MAX_COMPONENTS: u32 = 4;

/// The value of a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// A constant below 2^31.
    Constant(u32),
    /// This component of an invocation id.
    Invocation(InvocationId, u32),
    /// `LocalInvocationIndex`.
    LocalIndex,
    /// A number that is the same in all invocations of a dispatch.
    Uniform(GuardValue),
}

/// The inputs for finding the values of indices.
pub(crate) struct IndexSource<'a> {
    pub(crate) module: &'a Module,
    pub(crate) reach: &'a ReachableCode,
    pub(crate) locals: &'a Locals,
    /// The local size of a compute shader; `None` if it may be specialized.
    pub(crate) local_size: Option<[u32; 3]>,
    /// Steps left for all indices in total: a hostile module may use every value many times.
    pub(crate) steps: Cell<u32>,
}

/// Finds the values of indices.
#[derive(Clone, Copy)]
pub(crate) struct Indices<'a> {
    pub(crate) module: &'a Module,
    pub(crate) reach: &'a ReachableCode,
    pub(crate) local_size: Option<[u32; 3]>,
    pub(crate) steps: &'a Cell<u32>,
    locals: &'a Locals,
    always: &'a CertainInstructions,
}

impl IndexSource<'_> {
    /// Returns an evaluator of indices that may rely on these certain instructions.
    pub(crate) fn after<'a>(&'a self, always: &'a CertainInstructions) -> Indices<'a> {
        Indices {
            module: self.module,
            reach: self.reach,
            local_size: self.local_size,
            steps: &self.steps,
            locals: self.locals,
            always,
        }
    }
}

impl Indices<'_> {
    /// Returns the value of a component of an integer (component 0) or of a vector of integers; `None` if it is not one of the known kinds.
    pub(crate) fn value(&self, id: u32, component: u32) -> Option<Value> {
        let (id, component) = self.source(id, component)?;
        let code = &self.module.code;
        let one = code.definition(id)?;
        match one.op {
            Op::IAdd => self.global_index(one, component),
            _ => self.source_value(id, component),
        }
    }

    /// Returns the invocation index of a value; `None` for constants and other values, and if the local size is not known.
    pub(crate) fn invocation(&self, value: Value) -> Option<InvocationIndex> {
        let size = self.local_size?;
        let (id, axis) = match value {
            Value::Invocation(id, axis) => (id, axis),
            Value::LocalIndex if size[1] == 1 && size[2] == 1 => (InvocationId::Local, 0),
            _ => return None,
        };
        Some(InvocationIndex {
            id,
            axis: axis as u8,
            local_size: *size.get(axis as usize)?,
        })
    }

    /// Returns the instruction that a component of a value comes from unchanged, and the component there. Follows copies, vectors, calls and
    /// variables that hold one value.
    pub(crate) fn source(&self, mut id: u32, mut component: u32) -> Option<(u32, u32)> {
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
                Op::FunctionCall => {
                    let callee = self.module.function(operand(0))?;
                    let mut returned = self.reach.returned(callee);
                    id = code.id(returned.next().filter(|_| returned.next().is_none())?);
                }
                Op::FunctionParameter => id = only_argument(self.module, self.reach, number)?,
                Op::Load => match self.loaded(number, component) {
                    Some(LoadedValue::Stored(value, of)) => (id, component) = (value, of),
                    _ => return Some((id, component)),
                },
                _ => return Some((id, component)),
            }
        }
        None
    }

    /// Returns the value of a component if the instruction itself determines it.
    fn source_value(&self, id: u32, component: u32) -> Option<Value> {
        let code = &self.module.code;
        let number = code.number(code.node(id)?);
        let one = &code.instructions[number];
        match one.op {
            Op::ConstantNull => self.is_integer(id, component).then_some(Value::Constant(0)),
            Op::Constant => self.constant(id).map(Value::Constant).or_else(|| {
                let word = code.operand(one, 0);
                self.is_word(id)
                    .then_some(Value::Uniform(GuardValue::Constant(word)))
            }),
            Op::Load => match self.loaded(number, component)? {
                LoadedValue::Value(value) => Some(value),
                LoadedValue::Stored(..) => None,
            },
            Op::ImageQuerySize => self.image_size(id, one, component),
            Op::ImageQuerySizeLod => {
                let level = self.constant(code.operand(one, 1));
                level.filter(|level| *level == 0)?;
                self.image_size(id, one, component)
            }
            Op::ArrayLength => self.array_length(id, one),
            _ => None,
        }
    }

    /// Returns the component of `GlobalInvocationId` that a shader computes as `WorkgroupId * WorkgroupSize + LocalInvocationId`.
    fn global_index(&self, sum: &Instruction, component: u32) -> Option<Value> {
        let code = &self.module.code;
        let factor = |product: &Instruction, n, component| {
            let (id, component) = self.source(code.operand(product, n), component)?;
            self.source_value(id, component)
        };
        let [one, other] = [0, 1].map(|n| self.source(code.operand(sum, n), component));
        let (one, other) = (one?, other?);
        [(one, other), (other, one)]
            .into_iter()
            .find_map(|(local, product)| {
                let Some(Value::Invocation(InvocationId::Local, axis)) = self.source_value(local.0, local.1)
                else {
                    return None;
                };
                let definition = code.definition(product.0).filter(|one| one.op == Op::IMul)?;
                let factors = [0, 1].map(|n| factor(definition, n, product.1));
                let size = Value::Constant(*self.local_size?.get(axis as usize)?);
                let group = Value::Invocation(InvocationId::Workgroup, axis);
                let is_first = factors == [Some(group), Some(size)] || factors == [Some(size), Some(group)];
                is_first.then_some(Value::Invocation(InvocationId::Global, axis))
            })
    }

    /// Returns a queried dimension of level 0 of an image.
    fn image_size(&self, id: u32, query: &Instruction, component: u32) -> Option<Value> {
        let module = self.module;
        let code = &module.code;
        let variable = variable_of(module, self.reach, code.operand(query, 0))?;
        let mut kind = code.definition(module.variable_type(code.definition(variable)?))?;
        if kind.op == Op::TypeSampledImage {
            kind = code.definition(code.operand(kind, 0))?;
        }
        // The number of layers follows the dimensions.
        let sides = match Dim::from_u32(code.operand(kind, 1)).filter(|_| kind.op == Op::TypeImage)? {
            Dim::Dim1D => 1,
            Dim::Dim2D | Dim::DimCube => 2,
            Dim::Dim3D => 3,
            _ => return None,
        };
        let is_known = component < sides && self.is_word(id) && is_one_descriptor(module, variable);
        let own = module.decorations(variable);
        let size = GuardValue::ImageSize {
            set: own.set?,
            binding: own.binding?,
            axis: component as u8,
        };
        is_known.then_some(Value::Uniform(size))
    }

    /// Returns the queried length of the runtime array of a buffer.
    fn array_length(&self, id: u32, query: &Instruction) -> Option<Value> {
        let module = self.module;
        let code = &module.code;
        let variable = variable_of(module, self.reach, code.operand(query, 0))?;
        let block = module.variable_type(code.definition(variable)?);
        let member = code.operand(query, 1);
        let array = *code.operands(code.definition(block)?).get(member as usize)?;
        let is_runtime = code.definition(array)?.op == Op::TypeRuntimeArray;
        let is_known = is_runtime && self.is_word(id) && is_one_descriptor(module, variable);
        let own = module.decorations(variable);
        let length = GuardValue::ArrayLength {
            set: own.set?,
            binding: own.binding?,
            offset: module.member(block, member).offset?,
            stride: module.decorations(array).array_stride?,
        };
        is_known.then_some(Value::Uniform(length))
    }

    /// Returns the value of a 32-bit constant below 2^31.
    pub(crate) fn constant(&self, id: u32) -> Option<u32> {
        let code = &self.module.code;
        let kind = code.type_of(id)?;
        let word = kind.op == Op::TypeInt && code.operand(kind, 0) == 32;
        self.module
            .constant(id)
            .filter(|value| word && *value <= i32::MAX as u32)
    }

    /// Returns the value of a load: a component of a built-in variable, a push constant, or a component of the value stored in a local variable.
    fn loaded(&self, load: usize, component: u32) -> Option<LoadedValue> {
        let (module, code) = (self.module, &self.module.code);
        let one = &code.instructions[load];
        let pointer = code.operand(one, 0);
        if let Some((variable, offset)) = module.vector_place(pointer) {
            if module.variable_class(code.definition(variable)?) == Some(StorageClass::PushConstant) {
                let (bits, length) = self.shape(code.result(one))?;
                let is_word = bits == 32 && component < length;
                let offset = offset.checked_add(4 * component).filter(|_| is_word)?;
                return Some(LoadedValue::Value(Value::Uniform(GuardValue::PushConstant {
                    offset,
                })));
            }
        }
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
            let id = match BuiltIn::from_u32(module.decorations(base).built_in?)? {
                BuiltIn::GlobalInvocationId => InvocationId::Global,
                BuiltIn::WorkgroupId => InvocationId::Workgroup,
                BuiltIn::LocalInvocationId => InvocationId::Local,
                BuiltIn::LocalInvocationIndex => return Some(LoadedValue::Value(Value::LocalIndex)),
                _ => return None,
            };
            return (component < 3).then_some(LoadedValue::Value(Value::Invocation(id, component)));
        }
        let value = self.locals.value(module, self.reach, self.always, load, base)?;
        Some(LoadedValue::Stored(value, component))
    }

    /// Returns the constituent of a vector that contains a component, and the component's position in it.
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

    /// Returns the number of components of a vector.
    fn vector_length(&self, id: u32) -> Option<u32> {
        let code = &self.module.code;
        let vector = code.type_of(id).filter(|kind| kind.op == Op::TypeVector)?;
        Some(code.operand(vector, 1)).filter(|length| *length <= MAX_COMPONENTS)
    }

    /// Returns `true` if an id is an integer, or a vector of integers, that has this component.
    fn is_integer(&self, id: u32, component: u32) -> bool {
        self.shape(id).is_some_and(|(_, length)| component < length)
    }

    /// Returns the bit width and number of components of an integer or vector of integers.
    fn shape(&self, id: u32) -> Option<(u32, u32)> {
        let code = &self.module.code;
        let (kind, length) = match self.vector_length(id) {
            Some(length) => (code.definition(code.operand(code.type_of(id)?, 0))?, length),
            None => (code.type_of(id)?, 1),
        };
        (kind.op == Op::TypeInt).then(|| (code.operand(kind, 0), length))
    }

    /// Returns `true` if an id is a 32-bit integer or a vector of them.
    pub(crate) fn is_word(&self, id: u32) -> bool {
        self.shape(id).is_some_and(|(bits, _)| bits == 32)
    }

    /// Returns `true` if a bitcast only changes whether integers are signed.
    fn keeps_words(&self, to: u32, from: u32) -> bool {
        self.shape(to).is_some_and(|to| self.shape(from) == Some(to))
    }

    /// Returns `true` if a conversion of unsigned integers preserves their values.
    fn widens(&self, to: u32, from: u32) -> bool {
        let shapes = self.shape(to).zip(self.shape(from));
        shapes.is_some_and(|(to, from)| to.0 >= from.0)
    }
}

/// The origin of a loaded value.
enum LoadedValue {
    /// A known value.
    Value(Value),
    /// A component of a stored value: the id of the value, and the index of the component.
    Stored(u32, u32),
}
