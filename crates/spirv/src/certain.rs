//! Certain accesses through descriptors, which every invocation performs, or every invocation that meets guards, and the accessed parts of buffers and
//! images.
//!
//! Only proven facts are reported. The variable of the descriptor must be known and must not be an array; parts need constant indices, or components
//! of invocation ids in a compute shader with known local size. Specialization constants are treated as unknown.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use ash::vk;
use rspirv::spirv::{BuiltIn, Dim, ExecutionMode, ImageOperands, Op, StorageClass};

use crate::certain_instructions::{CertainInstructions, Functions};
use crate::code::Instruction;
use crate::effect::{READ, WRITE, effects, is_atomic_update};
use crate::extent::{AccessRegion, CertainAccess, ElementIndex, TexelIndex};
use crate::guarded::add_guarded;
use crate::index::{IndexSource, Indices, Value};
use crate::live::LiveResults;
use crate::locals::{Locals, only_argument};
use crate::module::Module;
use crate::packed_types::PackedTypes;
use crate::reach::ReachableCode;
use crate::variable::{MAX_STEPS, is_one_descriptor, variable_of};

/// Maximum number of instructions followed for all indices of an entry point in total.
const MAX_INDEX_STEPS: u32 = 1 << 20;

/// Maximum number of variables for which the order of reads and writes is searched.
const MAX_SEARCHES: usize = 64;

/// Maximum number of parts recorded per variable.
pub(crate) const MAX_REGIONS: usize = 64;

/// The certain accesses to a descriptor.
#[derive(Clone, Debug, Default)]
pub(crate) struct CertainUse {
    /// True if every invocation that runs the entry point to its end reads through the descriptor; `writes`: true if every such invocation writes through it.
    pub(crate) reads: bool,
    pub(crate) writes: bool,
    /// True if every invocation that writes through the descriptor reads through it first.
    pub(crate) reads_first: bool,
    pub(crate) accesses: BTreeSet<CertainAccess>,
}

/// Returns the descriptor accesses that every invocation performs, or every invocation that meets a region's guards, by variable. O(words x log definitions),
/// and O(words) for each of a bounded number of guarded regions.
pub(crate) fn certain(
    module: &Module,
    reach: &ReachableCode,
    stage: vk::ShaderStageFlags,
    entry: usize,
) -> BTreeMap<u32, CertainUse> {
    let mut certain: BTreeMap<u32, CertainUse> = BTreeMap::new();
    // Invocations of ray tracing stages may be terminated by other shaders.
    let followed = vk::ShaderStageFlags::ALL_GRAPHICS
        | vk::ShaderStageFlags::COMPUTE
        | vk::ShaderStageFlags::TASK_EXT
        | vk::ShaderStageFlags::MESH_EXT;
    if !followed.contains(stage) {
        return certain;
    }
    let compute = stage == vk::ShaderStageFlags::COMPUTE;
    let locals = Locals::new(module, reach);
    let source = IndexSource {
        module,
        reach,
        locals: &locals,
        local_size: compute.then(|| local_size(module, entry)).flatten(),
        steps: Cell::new(MAX_INDEX_STEPS),
    };
    let mut functions = Functions::new(module);
    let mut always = CertainInstructions::new(&mut functions, entry);
    if compute {
        add_guarded(&mut always, &mut functions, &source);
    }
    let live = LiveResults::new(module, reach);
    let mut regions = Regions {
        indices: source.after(&always),
        packed_types: PackedTypes::new(module),
    };
    // The first read through each variable, unguarded ones before guarded ones.
    let mut first_reads: BTreeMap<u32, usize> = BTreeMap::new();
    let all = always.regions.iter().enumerate();
    let all = all.flat_map(|(at, region)| region.sequence.iter().map(move |number| (at, region, *number)));
    for (at, region, number) in all {
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
            if reads {
                first_reads.entry(variable).or_insert(number);
            }
            let is_guarded = at != 0;
            known.reads |= reads && !is_guarded;
            known.writes |= writes && !is_guarded;
            if known.accesses.len() >= MAX_REGIONS {
                return;
            }
            let is_whole = writes || reads_whole(module, &live, instruction);
            let part = is_whole.then(|| regions.region(instruction, handle)).flatten();
            // An unguarded access is already recorded without its part.
            known
                .accesses
                .extend((is_guarded || part.is_some()).then(|| CertainAccess {
                    reads,
                    writes,
                    region: part,
                    guards: region.guards.clone(),
                }));
        });
    }
    let writes = FirstWrites::new(module, reach, &always, entry);
    let mut searches = MAX_SEARCHES;
    for (variable, known) in &mut certain {
        let Some(&read) = first_reads.get(variable) else {
            continue;
        };
        // If the first access is an atomic, it reads before it writes.
        let rank = always.rank(read);
        known.reads_first = rank.is_some_and(|rank| rank <= writes.before(*variable));
        if !known.reads_first && compute && searches > 0 && module.functions[entry].body.contains(&read) {
            searches -= 1;
            let graph = functions.graph(entry);
            let all: Vec<usize> = writes.of(*variable).collect();
            known.reads_first = graph.is_some_and(|graph| graph.dominates(read, &all));
        }
    }
    certain
}

/// The writes through variables, and the earliest ranks at which they may happen.
#[derive(Default)]
struct FirstWrites {
    of_variables: BTreeMap<u32, u32>,
    of_any: Option<u32>,
    /// Pairs of a variable, `None` if it is not known, and the number of an instruction that writes through it.
    all: BTreeSet<(Option<u32>, usize)>,
}

impl FirstWrites {
    /// Finds the writes. A write that may be skipped, or is executed by a called function, gets the lowest rank.
    fn new(
        module: &Module,
        reach: &ReachableCode,
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
                let variable = variable_of(module, reach, handle);
                first.all.insert((variable, number));
                let known = match variable {
                    Some(variable) => first.of_variables.entry(variable).or_insert(rank),
                    None => first.of_any.get_or_insert(rank),
                };
                *known = rank.min(*known);
            });
        }
        first
    }

    fn before(&self, variable: u32) -> u32 {
        let own = self.of_variables.get(&variable).copied().unwrap_or(u32::MAX);
        own.min(self.of_any.unwrap_or(u32::MAX))
    }

    /// Iterates over the instructions that may write through a variable.
    fn of(&self, variable: u32) -> impl Iterator<Item = usize> + '_ {
        let of = |variable| self.all.range((variable, 0)..=(variable, usize::MAX));
        of(Some(variable)).chain(of(None)).map(|(_, number)| *number)
    }
}

/// Returns `true` if the value that an instruction reads is used; atomics always count as used.
fn is_read(module: &Module, live: &LiveResults, instruction: &Instruction) -> bool {
    let result = module.code.result(instruction);
    match instruction.op {
        // Queries which texels a sample would read.
        Op::ImageSampleFootprintNV => false,
        op => result == 0 || is_atomic(op) || live.is_used(module, result),
    }
}

/// Returns `true` if the whole value that an instruction reads is used: compilers load whole structures to access one member.
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

/// Returns `true` if an atomic writes only when it finds an expected value.
fn is_compare_exchange(op: Op) -> bool {
    matches!(op, Op::AtomicCompareExchange | Op::AtomicCompareExchangeWeak)
}

/// Returns the local size of a compute shader; `None` if it is not declared exactly once or may be specialized.
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
    packed_types: PackedTypes<'a>,
}

impl Regions<'_> {
    /// Returns the part that an instruction accesses through a handle; `None` if it is not known.
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

    /// Returns `true` if, despite the image operands, the accessed texel is the one at the coordinate in level 0.
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

    /// Returns the texel at a coordinate of an image that is neither arrayed nor multisampled.
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
                value => {
                    let of = self.indices.invocation(value)?;
                    // On a diagonal, the texels do not form a box.
                    if std::mem::replace(&mut used[usize::from(of.axis)], true) {
                        return None;
                    }
                    TexelIndex::Invocation(of)
                }
            };
        }
        Some(AccessRegion::Texel(texel))
    }

    /// Returns the bytes that a pointer into a buffer's block points to.
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
                // Two indices do not cover a contiguous range in general.
                if element.is_some() {
                    return None;
                }
                element = step.element;
            }
        }
        let size = self.packed_types.size(kind)?;
        offset.checked_add(size)?;
        Some(AccessRegion::Bytes {
            offset,
            size,
            element,
        })
    }

    /// Returns the variable that a pointer points into, and the indices from the variable to the target.
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

    /// Returns the type and offset that an index of an access chain selects.
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
                    value => Some(Step {
                        kind: operands[0],
                        offset: 0,
                        element: Some(ElementIndex {
                            index: self.indices.invocation(value)?,
                            stride,
                            length,
                        }),
                    }),
                }
            }
            (Op::TypeVector, Value::Constant(component)) if component < operands[1] => at(
                operands[0],
                component.checked_mul(self.packed_types.scalar(operands[0])?),
            ),
            _ => None,
        }
    }
}

/// One index of an access chain.
struct Step {
    /// The type of the element or member.
    kind: u32,
    /// The offset of the element or member in bytes.
    offset: u32,
    /// The array whose element an invocation index selects, if any.
    element: Option<ElementIndex>,
}
