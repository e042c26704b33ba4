//! Accesses through descriptors that every invocation performs, and the parts of buffers and images they concern.
//!
//! Only what is proved is claimed. The variable of the descriptor must be known and be no array; parts need constant indices, or
//! components of `GlobalInvocationID` in a compute shader whose local size is known. Specialization constants are unknown.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use ash::vk;
use rspirv::spirv::{BuiltIn, Dim, ExecutionMode, ImageOperands, Op, StorageClass};

use crate::always::CertainInstructions;
use crate::code::Instruction;
use crate::effect::{READ, WRITE, effects, is_atomic_update};
use crate::extent::{AccessRegion, CertainAccess, ElementIndex, InvocationIndex, TexelIndex};
use crate::index::{Indices, Value};
use crate::live::LiveResults;
use crate::locals::{Locals, only_argument};
use crate::module::Module;
use crate::reach::PointerReach;
use crate::solid::PackedTypes;

/// The most instructions between a handle and its variable, and the most indices of a chain.
const MAX_STEPS: usize = 64;

/// The most instructions that are followed for all indices of an entry point together.
const MAX_INDEX_STEPS: u32 = 1 << 20;

/// The most parts that are remembered of one variable.
pub(crate) const MAX_REGIONS: usize = 64;

/// Accesses to a descriptor that every invocation performs.
#[derive(Clone, Debug, Default)]
pub(crate) struct CertainUse {
    pub(crate) reads: bool,
    pub(crate) writes: bool,
    /// Every invocation executes a read before it writes anything through the descriptor.
    pub(crate) reads_first: bool,
    pub(crate) accesses: BTreeSet<CertainAccess>,
}

/// Accesses to descriptors that every invocation performs, by variable. O(words x log definitions).
pub(crate) fn certain(
    module: &Module,
    reach: &PointerReach,
    stage: vk::ShaderStageFlags,
    entry: usize,
) -> BTreeMap<u32, CertainUse> {
    let mut certain: BTreeMap<u32, CertainUse> = BTreeMap::new();
    // Other shaders may terminate an invocation of a ray tracing stage.
    let followed = vk::ShaderStageFlags::ALL_GRAPHICS
        | vk::ShaderStageFlags::COMPUTE
        | vk::ShaderStageFlags::TASK_EXT
        | vk::ShaderStageFlags::MESH_EXT;
    if !followed.contains(stage) {
        return certain;
    }
    let always = CertainInstructions::new(module, entry);
    let live = LiveResults::new(module, reach);
    let compute = stage == vk::ShaderStageFlags::COMPUTE;
    let mut regions = Regions {
        indices: Indices {
            module,
            reach,
            always: &always,
            locals: Locals::new(module, reach),
            steps: Cell::new(MAX_INDEX_STEPS),
        },
        local_size: compute.then(|| local_size(module, entry)).flatten(),
        solid: PackedTypes::new(module),
    };
    let mut first_reads: BTreeMap<u32, u32> = BTreeMap::new();
    for (rank, &number) in (0..).zip(&always.sequence) {
        let instruction = &module.code.instructions[number];
        effects(module, instruction, |handle, bits| {
            let reads = bits & READ != 0 && is_read(module, &live, instruction);
            let writes = bits & WRITE != 0 && !is_compare_exchange(instruction.op);
            let variable = variable_of(module, reach, handle);
            let Some(variable) = variable.filter(|it| (reads || writes) && is_one_descriptor(module, *it))
            else {
                return;
            };
            let known = certain.entry(variable).or_default();
            known.reads |= reads;
            known.writes |= writes;
            if reads {
                first_reads.entry(variable).or_insert(rank);
            }
            let whole = writes || reads_whole(module, &live, instruction);
            if known.accesses.len() < MAX_REGIONS && whole {
                let region = regions.region(instruction, handle);
                known.accesses.extend(region.map(|region| CertainAccess {
                    reads,
                    writes,
                    region,
                }));
            }
        });
    }
    let writes = first_writes(module, reach, &always, entry);
    for (variable, known) in &mut certain {
        // An atomic that comes first reads before it writes.
        let read = first_reads.get(variable);
        known.reads_first = read.is_some_and(|read| *read <= writes.before(*variable));
    }
    certain
}

/// The ranks from which on variables may be written.
#[derive(Default)]
struct FirstWrites {
    of_variables: BTreeMap<u32, u32>,
    of_any: Option<u32>,
}

impl FirstWrites {
    fn before(&self, variable: u32) -> u32 {
        let own = self.of_variables.get(&variable).copied().unwrap_or(u32::MAX);
        own.min(self.of_any.unwrap_or(u32::MAX))
    }
}

/// The first write through each variable. One that may be skipped, or that a called function executes, counts as the first of all.
fn first_writes(
    module: &Module,
    reach: &PointerReach,
    always: &CertainInstructions,
    entry: usize,
) -> FirstWrites {
    let body = &module.functions[entry].body;
    let mut first = FirstWrites::default();
    for &number in &reach.instructions {
        effects(module, &module.code.instructions[number], |handle, bits| {
            if bits & WRITE == 0 {
                return;
            }
            let rank = always.rank(number).filter(|_| body.contains(&number));
            let rank = rank.unwrap_or(0);
            let known = match variable_of(module, reach, handle) {
                Some(variable) => first.of_variables.entry(variable).or_insert(rank),
                None => first.of_any.get_or_insert(rank),
            };
            *known = rank.min(*known);
        });
    }
    first
}

/// Whether what an instruction reads matters.
fn is_read(module: &Module, live: &LiveResults, instruction: &Instruction) -> bool {
    let result = module.code.result(instruction);
    match instruction.op {
        // Asks which texels a sample would read.
        Op::ImageSampleFootprintNV => false,
        op => result == 0 || is_atomic(op) || live.is_used(module, result),
    }
}

/// Whether all of what an instruction reads matters: structures are loaded whole for the sake of a member.
fn reads_whole(module: &Module, live: &LiveResults, instruction: &Instruction) -> bool {
    match instruction.op {
        Op::Load => live.is_used_whole(module, module.code.result(instruction)),
        Op::CopyMemory => false,
        _ => true,
    }
}

fn is_atomic(op: Op) -> bool {
    is_atomic_update(op) || matches!(op, Op::AtomicLoad | Op::AtomicStore | Op::AtomicFlagClear)
}

/// Whether an atomic writes only if it finds an expected value.
fn is_compare_exchange(op: Op) -> bool {
    matches!(op, Op::AtomicCompareExchange | Op::AtomicCompareExchangeWeak)
}

/// The variable that a pointer or image comes from.
fn variable_of(module: &Module, reach: &PointerReach, mut id: u32) -> Option<u32> {
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

/// Whether a variable stands for one buffer or image, and not for an array of them.
fn is_one_descriptor(module: &Module, id: u32) -> bool {
    let kind = module.code.definition(id);
    let kind = kind.and_then(|variable| module.code.definition(module.variable_type(variable)));
    let decorations = module.decorations(id);
    let single =
        kind.is_some_and(|kind| matches!(kind.op, Op::TypeStruct | Op::TypeImage | Op::TypeSampledImage));
    single && decorations.set.is_some() && decorations.binding.is_some()
}

/// The local size of a compute shader; `None` if it may be specialized.
fn local_size(module: &Module, entry: usize) -> Option<[u32; 3]> {
    let code = &module.code;
    let constants = |ids: &[u32]| -> Option<[u32; 3]> {
        let size: Vec<u32> = ids.iter().map(|id| module.constant(*id)).collect::<Option<_>>()?;
        size.try_into().ok()
    };
    // The built-in constant takes precedence over execution modes.
    let mut built_in = module.decorations.iter();
    let built_in = built_in.find(|(_, it)| it.built_in == Some(BuiltIn::WorkgroupSize as u32));
    if let Some((&id, _)) = built_in {
        let constant = code.definition(id)?;
        let is_constant = matches!(constant.op, Op::ConstantComposite | Op::SpecConstantComposite);
        return is_constant.then(|| constants(code.operands(constant)))?;
    }
    let mut modes = module.execution_modes.iter().filter(|mode| {
        let sizes = [ExecutionMode::LocalSize as u32, ExecutionMode::LocalSizeId as u32];
        module.function(code.operand(mode, 0)) == Some(entry) && sizes.contains(&code.operand(mode, 1))
    });
    let mode = modes.next().filter(|_| modes.next().is_none())?;
    let size = code.operands(mode).get(2..)?;
    match mode.op {
        Op::ExecutionModeId => constants(size),
        _ => size.try_into().ok(),
    }
}

/// Finds the parts that instructions access.
struct Regions<'a> {
    indices: Indices<'a>,
    local_size: Option<[u32; 3]>,
    solid: PackedTypes<'a>,
}

impl Regions<'_> {
    /// The part that an instruction accesses through a handle; `None` if it is not known.
    fn region(&mut self, instruction: &Instruction, handle: u32) -> Option<AccessRegion> {
        let module = self.indices.module;
        match instruction.op {
            Op::ImageRead | Op::ImageWrite | Op::ImageFetch => {
                let skipped = if instruction.op == Op::ImageWrite { 3 } else { 2 };
                let options = module.code.operands(instruction).get(skipped..)?;
                self.has_plain_operands(options).then_some(())?;
                self.texel(handle, module.code.operand(instruction, 1))
            }
            Op::Load | Op::Store | Op::CopyMemory => self.bytes(handle),
            // Atomics of several dispatches on the same bytes do not race.
            _ => None,
        }
    }

    /// Whether image operands leave the texel as the coordinate says, in level 0.
    fn has_plain_operands(&self, operands: &[u32]) -> bool {
        let Some((&bits, ids)) = operands.split_first() else {
            return true;
        };
        let harmless = ImageOperands::MAKE_TEXEL_AVAILABLE
            | ImageOperands::MAKE_TEXEL_VISIBLE
            | ImageOperands::NON_PRIVATE_TEXEL
            | ImageOperands::VOLATILE_TEXEL
            | ImageOperands::SIGN_EXTEND
            | ImageOperands::ZERO_EXTEND
            | ImageOperands::NONTEMPORAL;
        let others = bits & !harmless.bits();
        let first_level = || {
            ids.first()
                .is_some_and(|id| self.indices.constant(*id) == Some(0))
        };
        others == 0 || others == ImageOperands::LOD.bits() && first_level()
    }

    /// The texel at a coordinate of an image without layers and samples.
    fn texel(&self, image: u32, coordinate: u32) -> Option<AccessRegion> {
        let module = self.indices.module;
        let variable = module
            .code
            .definition(variable_of(module, self.indices.reach, image)?)?;
        // Tile attachments are accessed tile by tile.
        if module.variable_class(variable)? != StorageClass::UniformConstant {
            return None;
        }
        let mut kind = module.code.definition(module.variable_type(variable))?;
        if kind.op == Op::TypeSampledImage {
            kind = module.code.definition(module.code.operand(kind, 0))?;
        }
        let [dim, arrayed, multisampled] = [1, 3, 4].map(|n| module.code.operand(kind, n));
        if kind.op != Op::TypeImage || arrayed != 0 || multisampled != 0 {
            return None;
        }
        let axes = match Dim::from_u32(dim)? {
            Dim::Dim1D | Dim::DimBuffer => 1,
            Dim::Dim2D => 2,
            Dim::Dim3D => 3,
            _ => return None,
        };
        let mut texel = [TexelIndex::Constant(0); 3];
        let mut used = [false; 3];
        for (axis, index) in (0..axes).zip(&mut texel) {
            *index = match self.indices.value(coordinate, axis)? {
                Value::Constant(texel) => TexelIndex::Constant(texel),
                Value::Invocation(of) => {
                    // On a diagonal, the texels are not a box.
                    if std::mem::replace(&mut used[of as usize], true) {
                        return None;
                    }
                    TexelIndex::Invocation(self.invocation(of)?)
                }
            };
        }
        Some(AccessRegion::Texel(texel))
    }

    fn invocation(&self, axis: u32) -> Option<InvocationIndex> {
        let local_size = *self.local_size?.get(axis as usize)?;
        let axis = axis as u8;
        Some(InvocationIndex { axis, local_size })
    }

    /// The bytes that a pointer into a buffer's block points to.
    fn bytes(&mut self, pointer: u32) -> Option<AccessRegion> {
        let module = self.indices.module;
        let (variable, indices) = self.chain(pointer)?;
        let variable = module.code.definition(variable)?;
        let class = module.variable_class(variable)?;
        if !matches!(class, StorageClass::StorageBuffer | StorageClass::Uniform) {
            return None;
        }
        let mut kind = module.variable_type(variable);
        let (mut offset, mut element) = (0u32, None);
        for index in indices {
            let step = self.step(kind, index)?;
            kind = step.kind;
            offset = offset.checked_add(step.offset)?;
            if step.element.is_some() {
                // Two indices do not cover a range in general.
                if element.is_some() {
                    return None;
                }
                element = step.element;
            }
        }
        let size = self.solid.size(kind)?;
        offset.checked_add(size)?;
        Some(AccessRegion::Bytes {
            offset,
            size,
            element,
        })
    }

    /// The variable that a pointer is into, and the indices that lead there.
    fn chain(&self, mut pointer: u32) -> Option<(u32, Vec<u32>)> {
        let (module, reach) = (self.indices.module, self.indices.reach);
        let mut indices = Vec::new();
        for _ in 0..MAX_STEPS {
            let number = module.code.number(module.code.node(pointer)?);
            let one = &module.code.instructions[number];
            pointer = match one.op {
                Op::Variable => {
                    indices.reverse();
                    return Some((pointer, indices));
                }
                Op::AccessChain | Op::InBoundsAccessChain => {
                    let operands = module.code.operands(one);
                    if indices.len() + operands.len() > MAX_STEPS {
                        return None;
                    }
                    indices.extend(operands[1..].iter().rev());
                    operands[0]
                }
                Op::CopyObject => module.code.operand(one, 0),
                Op::FunctionParameter => only_argument(module, reach, number)?,
                _ => return None,
            };
        }
        None
    }

    /// The type and offset that an index of an access chain selects.
    fn step(&self, kind: u32, index: u32) -> Option<Step> {
        let module = self.indices.module;
        let composite = module.code.definition(kind)?;
        let operands = module.code.operands(composite);
        let value = self.indices.value(index, 0)?;
        let at = |kind: u32, offset: Option<u32>| {
            Some(Step {
                kind,
                offset: offset?,
                element: None,
            })
        };
        match (composite.op, value) {
            (Op::TypeStruct, Value::Constant(member)) => {
                let inner = *operands.get(member as usize)?;
                at(inner, module.member(kind, member).offset)
            }
            (Op::TypeArray | Op::TypeRuntimeArray, _) => {
                let stride = module.decorations(kind).array_stride?;
                let length = match composite.op {
                    Op::TypeArray => Some(module.constant(operands[1])?),
                    _ => None,
                };
                match value {
                    Value::Constant(index) if length.is_some_and(|length| index >= length) => None,
                    Value::Constant(index) => at(operands[0], index.checked_mul(stride)),
                    Value::Invocation(axis) => Some(Step {
                        kind: operands[0],
                        offset: 0,
                        element: Some(ElementIndex {
                            index: self.invocation(axis)?,
                            stride,
                            length,
                        }),
                    }),
                }
            }
            (Op::TypeVector, Value::Constant(component)) if component < operands[1] => at(
                operands[0],
                component.checked_mul(self.solid.scalar(operands[0])?),
            ),
            _ => None,
        }
    }
}

/// A step of a chain.
struct Step {
    /// The type of the element or member.
    kind: u32,
    /// Its distance in bytes.
    offset: u32,
    /// The array, where invocations index it.
    element: Option<ElementIndex>,
}
