//! The memory accesses of one entry point, as plain data.

use std::collections::{BTreeMap, BTreeSet};

use ash::vk;
use rspirv::spirv::{BuiltIn, Op, StorageClass};

use crate::ShaderError;
use crate::certain::{CertainUse, MAX_REGIONS, certain};
use crate::effect::{Bits, CONTENTS, READ, UNKNOWN, WRITE};
use crate::extent::{AccessRange, CertainAccess, is_performed, largest};
use crate::flow::Flow;
use crate::guard::Dispatch;
use crate::module::{Declared, Module};
use crate::pixel;
use crate::reach::ReachableCode;
use tileheap_device::AccessKind;
use tileheap_device::names::shortened;
use tileheap_units::ReadReach;

/// An entry point's use of descriptors, addresses and attachments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryPoint {
    /// The entry point's name.
    pub name: String,
    /// The entry point's stage.
    pub stage: vk::ShaderStageFlags,
    /// Descriptors of images and buffers that the entry point references, by set and binding. Samplers and acceleration structures do not hold
    /// contents of a frame, and are omitted.
    pub bindings: Vec<Binding>,
    /// Memory that the entry point accesses by address, with an entry for each source of addresses.
    pub addresses: Vec<AddressUse>,
    /// For a fragment shader, the color attachments that are written, or read in place, by location.
    pub outputs: Vec<ColorOutput>,
    /// True if a fragment shader writes depth or the stencil reference.
    pub writes_depth: bool,
}

/// A descriptor that an entry point references.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// Descriptor set.
    pub set: u32,
    /// Binding in the set.
    pub binding: u32,
    /// Kind of the descriptor.
    pub kind: AccessKind,
    /// Name of the variable or its block, if the module has names.
    pub name: String,
    /// True if contents are read.
    pub reads: bool,
    /// True if contents are written. If neither `reads` nor `writes` is true, only the size is queried.
    pub writes: bool,
    /// Pipeline stages of these accesses.
    pub stages: vk::PipelineStageFlags2,
    /// Number of descriptors in the array; `None` for an array without a fixed length.
    pub count: Option<u32>,
    /// The index of an input attachment; `None` for other descriptors.
    pub input_attachment_index: Option<u32>,
    /// True if declared `readonly`.
    pub non_writable: bool,
    /// True if declared `writeonly`.
    pub non_readable: bool,
    /// True if declared `coherent`.
    pub coherent: bool,
    /// Maximum distance from its own pixel at which a fragment shader reads, in texels of an image as large as the attachments: zero for input attachments,
    /// the constants added to `gl_FragCoord` for fetches, unbounded otherwise.
    pub reach: ReadReach,
    /// True if every invocation that runs the entry point to its end executes a read, before anything may end it or turn it into a helper invocation.
    /// Reads whose result is not used do not count. Never true for arrays of descriptors.
    pub always_reads: bool,
    /// True if every invocation that runs the entry point to its end executes a write, under the conditions of [`always_reads`](Self::always_reads).
    pub always_writes: bool,
    /// True if every invocation that writes through this descriptor has read through it before. Meaningless if nothing is written, or if no read is
    /// certain.
    pub reads_first: bool,
    /// Accesses, other than atomics, to known parts of the descriptor by every invocation that runs the entry point to its end; in a compute shader,
    /// also all accesses by every such invocation that meets guards. Sorted. [`read_extent`](Self::read_extent),
    /// [`certainly_reads`](Self::certainly_reads) and their counterparts summarize them.
    pub certain: Vec<CertainAccess>,
}

impl Binding {
    /// Returns `true` if at least one invocation of the dispatch certainly executes a read: every invocation does, or some invocation meets the
    /// guards of a read.
    ///
    /// For graphics stages pass `[1; 3]`, for a draw with at least one invocation.
    pub fn certainly_reads<'a>(&self, dispatch: impl Into<Dispatch<'a>>) -> bool {
        self.always_reads || is_performed(&self.certain, |access| access.reads, &dispatch.into())
    }

    /// Returns `true` if at least one invocation certainly executes a write, as [`certainly_reads`](Self::certainly_reads) does for reads.
    pub fn certainly_writes<'a>(&self, dispatch: impl Into<Dispatch<'a>>) -> bool {
        self.always_writes || is_performed(&self.certain, |access| access.writes, &dispatch.into())
    }

    /// Returns the largest part that a dispatch, or a draw with at least one invocation, certainly reads completely: every byte or texel is read by
    /// some invocation. `None` if no part is known.
    ///
    /// For a dispatch without guards the number of workgroups is enough; for graphics stages pass `[1; 3]`. `range` is the size of the buffer
    /// descriptor in bytes, and elements beyond it are not accessed; images ignore it. O(accesses²).
    pub fn read_extent<'a>(&self, dispatch: impl Into<Dispatch<'a>>, range: u64) -> Option<AccessRange> {
        largest(&self.certain, |access| access.reads, &dispatch.into(), range)
    }

    /// Returns the largest part that a dispatch, or a draw with at least one invocation, certainly writes completely, like
    /// [`read_extent`](Binding::read_extent).
    pub fn written_extent<'a>(&self, dispatch: impl Into<Dispatch<'a>>, range: u64) -> Option<AccessRange> {
        largest(&self.certain, |access| access.writes, &dispatch.into(), range)
    }
}

/// The source of a buffer device address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AddressSource {
    /// The address is in the push constants.
    PushConstant {
        /// The byte offset of the address; `None` if it depends on an index or a copy that could not be followed.
        offset: Option<u32>,
    },
    /// The address is in the buffer of a descriptor.
    Descriptor {
        /// Descriptor set.
        set: u32,
        /// Binding in the set.
        binding: u32,
        /// The byte offset of the address; `None` if it depends on an index or a copy that could not be followed.
        offset: Option<u32>,
    },
    /// The address is in memory that was itself accessed by address.
    Memory,
    /// The address is computed by arithmetic, or passed from another stage.
    Computed,
}

/// Memory accessed by address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressUse {
    /// The source of the address.
    pub source: AddressSource,
    /// True if contents are read.
    pub reads: bool,
    /// True if contents are written.
    pub writes: bool,
    /// Pipeline stages of these accesses.
    pub stages: vk::PipelineStageFlags2,
}

/// A color attachment that a fragment shader accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ColorOutput {
    /// The location, which is the index of the attachment.
    pub location: u32,
    /// True if the attachment is read in place (tile images).
    pub reads: bool,
    /// True if the attachment is written.
    pub writes: bool,
}

/// Maximum number of attachments that an array of outputs can cover.
const MAX_LOCATIONS: u32 = 32;

pub(crate) fn analyze(
    module: &Module,
    name: &str,
    stage: vk::ShaderStageFlags,
) -> Result<EntryPoint, ShaderError> {
    let declared = module
        .entry_points
        .iter()
        .find(|entry| entry.name == name && entry.stage == stage);
    let Some(declared) = declared else {
        return Err(ShaderError::EntryPoint {
            name: shortened(name),
            stage,
            available: listed(&module.entry_points),
        });
    };
    let Some(function) = module.function(declared.function) else {
        return Err(ShaderError::Malformed {
            word: 0,
            problem: format!("entry point `{}` has no function", shortened(name)),
        });
    };
    let reach = ReachableCode::new(module, function);
    let flow = Flow::new(module, &reach);
    let stages = pipeline_stages(stage);
    let fragment = stage == vk::ShaderStageFlags::FRAGMENT;
    Ok(EntryPoint {
        name: declared.name.clone(),
        stage,
        bindings: bindings(
            module,
            &reach,
            &flow,
            stages,
            &certain(module, &reach, stage, function),
        ),
        addresses: addresses(module, &flow, stages),
        outputs: if fragment {
            outputs(module, &flow)
        } else {
            Vec::new()
        },
        writes_depth: fragment && writes_depth(module, &flow),
    })
}

fn listed(entry_points: &[Declared]) -> String {
    const MAX_NAMES: usize = 8;
    let names = entry_points.iter().take(MAX_NAMES);
    let names: Vec<String> = names
        .map(|entry| format!("{:?} `{}`", entry.stage, shortened(&entry.name)))
        .collect();
    match entry_points.len() {
        0 => "none".to_owned(),
        count if count > MAX_NAMES => format!("{}, …", names.join(", ")),
        _ => names.join(", "),
    }
}

fn pipeline_stages(stage: vk::ShaderStageFlags) -> vk::PipelineStageFlags2 {
    use vk::PipelineStageFlags2 as P;
    use vk::ShaderStageFlags as S;
    match stage {
        S::VERTEX => P::VERTEX_SHADER,
        S::TESSELLATION_CONTROL => P::TESSELLATION_CONTROL_SHADER,
        S::TESSELLATION_EVALUATION => P::TESSELLATION_EVALUATION_SHADER,
        S::GEOMETRY => P::GEOMETRY_SHADER,
        S::FRAGMENT => P::FRAGMENT_SHADER,
        S::COMPUTE => P::COMPUTE_SHADER,
        S::TASK_EXT => P::TASK_SHADER_EXT,
        S::MESH_EXT => P::MESH_SHADER_EXT,
        _ => P::RAY_TRACING_SHADER_KHR,
    }
}

/// Finds every descriptor that a reachable instruction refers to.
fn bindings(
    module: &Module,
    reach: &ReachableCode,
    flow: &Flow,
    stages: vk::PipelineStageFlags2,
    certain: &BTreeMap<u32, CertainUse>,
) -> Vec<Binding> {
    let globals: BTreeSet<u32> = module.globals.iter().copied().collect();
    let mut named = BTreeSet::new();
    for &number in &reach.instructions {
        let operands = module.code.operands(&module.code.instructions[number]);
        named.extend(operands.iter().filter(|id| globals.contains(id)));
    }
    // Several variables may share a descriptor, with the same kind or different kinds.
    let mut bindings: BTreeMap<(u32, u32, AccessKind), Binding> = BTreeMap::new();
    let mut blocks = BTreeMap::new();
    let looks = match stages {
        vk::PipelineStageFlags2::FRAGMENT_SHADER => pixel::reaches(module, reach),
        _ => BTreeMap::new(),
    };
    for id in named {
        let Some(mut binding) = binding(module, flow, &mut blocks, id, stages) else {
            continue;
        };
        if binding.kind != AccessKind::InputAttachment {
            binding.reach = looks.get(&id).copied().unwrap_or(ReadReach::Anywhere);
        }
        if let Some(certain) = certain.get(&id) {
            binding.always_reads = certain.reads;
            binding.always_writes = certain.writes;
            binding.reads_first = certain.reads_first;
            binding.certain = certain.accesses.iter().cloned().collect();
        }
        let key = (binding.set, binding.binding, binding.kind);
        match bindings.get_mut(&key) {
            Some(other) => other.merge(binding),
            None => drop(bindings.insert(key, binding)),
        }
    }
    let mut bindings: Vec<Binding> = bindings.into_values().collect();
    for binding in &mut bindings {
        binding.certain.sort_unstable();
        binding.certain.dedup();
        binding.certain.truncate(MAX_REGIONS);
    }
    bindings
}

impl Binding {
    /// Adds the accesses through another variable of the same descriptor.
    fn merge(&mut self, other: Binding) {
        self.reads |= other.reads;
        self.writes |= other.writes;
        self.non_writable &= other.non_writable;
        self.non_readable &= other.non_readable;
        self.coherent |= other.coherent;
        self.reach = self.reach.max(other.reach);
        self.always_reads |= other.always_reads;
        self.always_writes |= other.always_writes;
        // Both variables refer to the same memory.
        self.reads_first &= other.reads_first;
        self.certain.extend(other.certain);
    }
}

/// Accesses permitted by the decorations of a variable, or of all members of its block.
#[derive(Clone, Copy)]
struct Permissions {
    non_writable: bool,
    non_readable: bool,
    coherent: bool,
}

impl Permissions {
    fn of_block(module: &Module, structure: u32) -> Permissions {
        Permissions {
            non_writable: module.all_members(structure, |it| it.non_writable),
            non_readable: module.all_members(structure, |it| it.non_readable),
            coherent: module.all_members(structure, |it| it.coherent),
        }
    }
}

fn binding(
    module: &Module,
    flow: &Flow,
    blocks: &mut BTreeMap<u32, Permissions>,
    id: u32,
    stages: vk::PipelineStageFlags2,
) -> Option<Binding> {
    let variable = module.code.definition(id)?;
    let descriptor = module.descriptor(variable)?;
    let own = module.decorations(id);
    // Cached, since many variables may share a block with many members.
    let block = blocks
        .entry(descriptor.structure)
        .or_insert_with(|| Permissions::of_block(module, descriptor.structure));
    let non_writable = own.non_writable || block.non_writable;
    let non_readable = own.non_readable || block.non_readable;
    let coherent = own.coherent || block.coherent;
    let demand = flow.demand(module, id);
    let can_write = !descriptor.kind.access_flags(false, true).is_empty();
    let reads = READ | if non_readable { 0 } else { UNKNOWN };
    let writes = WRITE | if non_writable { 0 } else { UNKNOWN };
    let name = module.names.get(&id).filter(|name| !name.is_empty());
    let name = name.or_else(|| module.names.get(&descriptor.structure));
    Some(Binding {
        set: own.set.unwrap_or(0),
        binding: own.binding.unwrap_or(0),
        kind: descriptor.kind,
        name: name.map(|name| shortened(name)).unwrap_or_default(),
        reads: demand & reads != 0,
        writes: demand & writes != 0 && can_write,
        stages,
        count: descriptor.count,
        input_attachment_index: own.input_attachment_index,
        non_writable,
        non_readable,
        coherent,
        reach: ReadReach::PIXEL,
        always_reads: false,
        always_writes: false,
        reads_first: false,
        certain: Vec::new(),
    })
}

/// Finds every source of an address.
fn addresses(module: &Module, flow: &Flow, stages: vk::PipelineStageFlags2) -> Vec<AddressUse> {
    let placed = flow.placed.iter();
    let placed = placed.map(|(&(variable, offset), &bits)| (variable, Some(offset), bits));
    let unplaced = flow
        .unplaced
        .iter()
        .map(|(&variable, &bits)| (variable, None, bits));
    let mut uses: BTreeMap<AddressSource, Bits> = BTreeMap::new();
    for (variable, offset, bits) in placed.chain(unplaced) {
        let source = address_source(module, variable, offset);
        *uses.entry(source).or_default() |= bits;
    }
    if flow.chained != 0 {
        uses.insert(AddressSource::Memory, flow.chained);
    }
    // Accesses that no known source accounts for use a computed address.
    let found = uses.values().fold(0, |found, bits| found | bits);
    let made = flow.by_address & CONTENTS & !found;
    if made != 0 {
        *uses.entry(AddressSource::Computed).or_default() |= made;
    }
    let uses = uses.into_iter().filter(|(_, bits)| *bits != 0);
    uses.map(|(source, bits)| AddressUse {
        source,
        reads: bits & (READ | UNKNOWN) != 0,
        writes: bits & (WRITE | UNKNOWN) != 0,
        stages,
    })
    .collect()
}

fn address_source(module: &Module, variable: u32, offset: Option<u32>) -> AddressSource {
    let definition = module.code.definition(variable);
    match definition.and_then(|it| module.variable_class(it)) {
        Some(StorageClass::PushConstant) => AddressSource::PushConstant { offset },
        Some(StorageClass::Uniform | StorageClass::StorageBuffer | StorageClass::UniformConstant) => {
            let own = module.decorations(variable);
            AddressSource::Descriptor {
                set: own.set.unwrap_or(0),
                binding: own.binding.unwrap_or(0),
                offset,
            }
        }
        _ => AddressSource::Computed,
    }
}

/// Finds the color attachments that are written, or read in place.
fn outputs(module: &Module, flow: &Flow) -> Vec<ColorOutput> {
    let mut outputs: BTreeMap<u32, Bits> = BTreeMap::new();
    for &id in &module.globals {
        let Some(variable) = module.code.definition(id) else {
            continue;
        };
        let bits = match module.variable_class(variable) {
            Some(StorageClass::Output) if flow.demand(module, id) & (WRITE | UNKNOWN) != 0 => WRITE,
            Some(StorageClass::TileImageEXT) if flow.demand(module, id) & (READ | UNKNOWN) != 0 => READ,
            _ => continue,
        };
        for location in locations(module, id) {
            *outputs.entry(location).or_default() |= bits;
        }
    }
    let outputs = outputs.into_iter();
    outputs
        .map(|(location, bits)| ColorOutput {
            location,
            reads: bits & READ != 0,
            writes: bits & WRITE != 0,
        })
        .collect()
}

/// Returns the locations that a variable takes: its own and the following ones for an array, or those of its members.
fn locations(module: &Module, id: u32) -> Vec<u32> {
    let Some(variable) = module.code.definition(id) else {
        return Vec::new();
    };
    let kind = module.variable_type(variable);
    if let Some(first) = module.decorations(id).location {
        let count = match module.code.definition(kind) {
            Some(array) if array.op == Op::TypeArray => {
                module.constant(module.code.operand(array, 1)).unwrap_or(1)
            }
            _ => 1,
        };
        return (first..first.saturating_add(count.min(MAX_LOCATIONS))).collect();
    }
    let members = module.member_decorations.range((kind, 0)..=(kind, u32::MAX));
    let members = members.take(MAX_LOCATIONS as usize);
    members
        .filter_map(|(_, decorations)| decorations.location)
        .collect()
}

fn writes_depth(module: &Module, flow: &Flow) -> bool {
    let depth = [BuiltIn::FragDepth, BuiltIn::FragStencilRefEXT].map(|built_in| Some(built_in as u32));
    module.globals.iter().any(|&id| {
        let built_in = depth.contains(&module.decorations(id).built_in);
        built_in && flow.demand(module, id) & WRITE != 0
    })
}
