//! Properties of types that concern memory: descriptors, addresses, offsets.

use rspirv::spirv::{Dim, Op, StorageClass};

use crate::code::Instruction;
use crate::module::{Decorations, Module};
use tileheap_device::AccessKind;

/// Maximum nesting depth of arrays: malformed modules may have cyclic types.
const MAX_DEPTH: usize = 16;

/// Maximum number of indices followed to an offset.
const MAX_INDICES: usize = 64;

/// The descriptor type of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DescriptorType {
    pub(crate) kind: AccessKind,
    /// Elements of a descriptor array; `None` if the array has no fixed length.
    pub(crate) count: Option<u32>,
    /// The id of the block's structure; 0 for images.
    pub(crate) structure: u32,
}

/// The kind of memory that a pointer points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Memory {
    /// All other memory, such as variables of functions, workgroups and stage interfaces: its contents come from elsewhere in the module.
    Private,
    /// Descriptors, push constants, attachments: their contents come from outside.
    Interface,
    /// Memory accessed by address.
    Addressed,
}

pub(crate) fn memory_of(class: StorageClass) -> Memory {
    use StorageClass as S;
    match class {
        S::PhysicalStorageBuffer => Memory::Addressed,
        S::UniformConstant
        | S::Uniform
        | S::StorageBuffer
        | S::PushConstant
        | S::AtomicCounter
        | S::Image
        | S::TileImageEXT
        | S::TileAttachmentQCOM
        | S::ShaderRecordBufferKHR => Memory::Interface,
        _ => Memory::Private,
    }
}

impl Module {
    /// Returns the kind of memory that an id points to, if it is a pointer.
    pub(crate) fn pointee_memory(&self, id: u32) -> Option<Memory> {
        let pointer = self.code.definition(id)?;
        Some(memory_of(self.storage_class(self.code.result_type(pointer))?))
    }

    /// Returns `true` if an id is a pointer, image or sampled image, through which contents are accessed.
    pub(crate) fn is_handle(&self, id: u32) -> bool {
        let handles = [
            Op::TypePointer,
            Op::TypeUntypedPointerKHR,
            Op::TypeImage,
            Op::TypeSampledImage,
        ];
        self.code
            .type_of(id)
            .is_some_and(|kind| handles.contains(&kind.op))
    }

    /// Returns `true` if values of the type are descriptor handles; loading these does not read contents.
    pub(crate) fn is_opaque(&self, id: u32) -> bool {
        let Some((element, _)) = self.element(id) else {
            return false;
        };
        matches!(
            element.op,
            Op::TypeImage
                | Op::TypeSampler
                | Op::TypeSampledImage
                | Op::TypeAccelerationStructureKHR
                | Op::TypeRayQueryKHR
        )
    }

    /// Returns the innermost element type of arrays, and the total number of elements; `None` if that is not fixed.
    fn element(&self, id: u32) -> Option<(&Instruction, Option<u32>)> {
        let mut kind = self.code.definition(id)?;
        let mut count = Some(1u32);
        for _ in 0..MAX_DEPTH {
            match kind.op {
                Op::TypeArray => {
                    let length = self.constant(self.code.operand(kind, 1));
                    count = count
                        .zip(length)
                        .and_then(|(count, length)| count.checked_mul(length));
                }
                Op::TypeRuntimeArray => count = None,
                _ => return Some((kind, count)),
            }
            kind = self.code.definition(self.code.operand(kind, 0))?;
        }
        None
    }

    /// Returns the type of a global variable's contents.
    pub(crate) fn variable_type(&self, variable: &Instruction) -> u32 {
        match variable.op {
            // An untyped variable names the type of its data itself.
            Op::UntypedVariableKHR => self.code.operand(variable, 1),
            _ => match self.code.definition(self.code.result_type(variable)) {
                Some(pointer) => self.code.operand(pointer, 1),
                None => 0,
            },
        }
    }

    pub(crate) fn variable_class(&self, variable: &Instruction) -> Option<StorageClass> {
        StorageClass::from_u32(self.code.operand(variable, 0))
    }

    /// Returns the descriptor type of a global variable; `None` for samplers, acceleration structures and variables without a descriptor.
    pub(crate) fn descriptor(&self, variable: &Instruction) -> Option<DescriptorType> {
        use StorageClass as S;
        let class = self.variable_class(variable)?;
        let (element, count) = self.element(self.variable_type(variable))?;
        let id = self.code.result(element);
        let (kind, structure) = match (class, element.op) {
            (S::TileAttachmentQCOM, Op::TypeImage | Op::TypeSampledImage) => (AccessKind::TileAttachment, 0),
            (S::UniformConstant, Op::TypeSampledImage) => {
                let image = self.code.definition(self.code.operand(element, 0))?;
                // Always sampled, regardless of the image type.
                (self.image_kind(image, false)?, 0)
            }
            (S::UniformConstant, Op::TypeImage) => {
                (self.image_kind(element, self.code.operand(element, 5) == 2)?, 0)
            }
            (S::StorageBuffer, Op::TypeStruct) => (AccessKind::StorageBuffer, id),
            (S::Uniform, Op::TypeStruct) if self.decorations(id).buffer_block => {
                (AccessKind::StorageBuffer, id)
            }
            (S::Uniform, Op::TypeStruct) => (AccessKind::UniformBuffer, id),
            _ => return None,
        };
        Some(DescriptorType {
            kind,
            count,
            structure,
        })
    }

    fn image_kind(&self, image: &Instruction, storage: bool) -> Option<AccessKind> {
        Some(match (Dim::from_u32(self.code.operand(image, 1))?, storage) {
            (Dim::DimSubpassData, _) => AccessKind::InputAttachment,
            (Dim::DimBuffer, false) => AccessKind::UniformTexelBuffer,
            (Dim::DimBuffer, true) => AccessKind::StorageTexelBuffer,
            (_, false) => AccessKind::SampledImage,
            (_, true) => AccessKind::StorageImage,
        })
    }

    /// Returns `true` if a structure has members, and the decorations of all of them satisfy `has`.
    pub(crate) fn all_members(&self, structure: u32, has: impl Fn(&Decorations) -> bool) -> bool {
        let Some(definition) = self.code.definition(structure) else {
            return false;
        };
        let members = self.code.operands(definition).len() as u32;
        members > 0 && (0..members).all(|member| has(&self.member(structure, member)))
    }

    /// Returns the value of an integer constant; a specialization constant has only a default, so it is `None`.
    pub(crate) fn constant(&self, id: u32) -> Option<u32> {
        let constant = self.code.definition(id)?;
        (constant.op == Op::Constant).then(|| self.code.operand(constant, 0))
    }

    /// Returns the global variable and byte offset that a chain of constant indices selects; `None` for any other pointer.
    pub(crate) fn place(&self, pointer: u32) -> Option<(u32, u32)> {
        self.place_within(pointer, false)
    }

    /// Like [`place`](Self::place), but also accepts a component of a vector of 32-bit integers.
    pub(crate) fn vector_place(&self, pointer: u32) -> Option<(u32, u32)> {
        self.place_within(pointer, true)
    }

    fn place_within(&self, pointer: u32, enters_vectors: bool) -> Option<(u32, u32)> {
        let mut chains = Vec::new();
        let mut id = pointer;
        let variable = loop {
            let definition = self.code.definition(id)?;
            match definition.op {
                Op::Variable => break definition,
                Op::AccessChain | Op::InBoundsAccessChain if chains.len() < MAX_DEPTH => {
                    chains.push(definition);
                    id = self.code.operand(definition, 0);
                }
                _ => return None,
            }
        };
        if chains
            .iter()
            .map(|chain| self.code.operands(chain).len())
            .sum::<usize>()
            > MAX_INDICES
        {
            return None;
        }
        let mut kind = self.variable_type(variable);
        let mut offset = 0u32;
        for index in chains
            .iter()
            .rev()
            .flat_map(|chain| &self.code.operands(chain)[1..])
        {
            let (inner, step) = match self.code.definition(kind)?.op {
                Op::TypeVector if enters_vectors => self.component(kind, *index)?,
                _ => self.step(kind, *index)?,
            };
            kind = inner;
            offset = offset.checked_add(step)?;
        }
        Some((id, offset))
    }

    /// Returns the type and byte offset of a component of a vector of 32-bit integers.
    fn component(&self, id: u32, index: u32) -> Option<(u32, u32)> {
        let vector = self.code.definition(id)?;
        let inner = self.code.operand(vector, 0);
        let kind = self.code.definition(inner)?;
        let is_word = kind.op == Op::TypeInt && self.code.operand(kind, 0) == 32;
        let component = self.constant(index)?;
        (is_word && component < self.code.operand(vector, 1)).then_some((inner, 4 * component))
    }

    /// Returns the type and byte offset of an element or member.
    fn step(&self, id: u32, index: u32) -> Option<(u32, u32)> {
        let composite = self.code.definition(id)?;
        match composite.op {
            Op::TypeStruct => {
                let member = self.constant(index)?;
                let inner = *self.code.operands(composite).get(member as usize)?;
                // A block's members have offsets; elements of descriptor arrays do not.
                Some((inner, self.member(id, member).offset?))
            }
            Op::TypeArray | Op::TypeRuntimeArray => {
                let stride = self.decorations(id).array_stride?;
                Some((
                    self.code.operand(composite, 0),
                    self.constant(index)?.checked_mul(stride)?,
                ))
            }
            _ => None,
        }
    }
}
