//! Declarations of a module: names, decorations, global variables, functions, entry points.

use std::collections::{BTreeMap, BTreeSet};

use ash::vk;
use rspirv::spirv::{Decoration, Op, StorageClass};

use crate::ShaderError;
use crate::code::{Code, Instruction};

/// Decorations of an id, or of one of its members, that concern memory.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Decorations {
    pub(crate) set: Option<u32>,
    pub(crate) binding: Option<u32>,
    pub(crate) location: Option<u32>,
    pub(crate) input_attachment_index: Option<u32>,
    pub(crate) built_in: Option<u32>,
    pub(crate) offset: Option<u32>,
    pub(crate) array_stride: Option<u32>,
    pub(crate) block: bool,
    pub(crate) buffer_block: bool,
    pub(crate) non_writable: bool,
    pub(crate) non_readable: bool,
    pub(crate) coherent: bool,
}

impl Decorations {
    /// Merges the decorations of `other`.
    fn add(&mut self, other: &Decorations) {
        self.set = other.set.or(self.set);
        self.binding = other.binding.or(self.binding);
        self.location = other.location.or(self.location);
        self.input_attachment_index = other.input_attachment_index.or(self.input_attachment_index);
        self.built_in = other.built_in.or(self.built_in);
        self.offset = other.offset.or(self.offset);
        self.array_stride = other.array_stride.or(self.array_stride);
        self.block |= other.block;
        self.buffer_block |= other.buffer_block;
        self.non_writable |= other.non_writable;
        self.non_readable |= other.non_readable;
        self.coherent |= other.coherent;
    }
}

/// The location of a function among the instructions.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    /// Instructions between `OpFunction` and `OpFunctionEnd`.
    pub(crate) body: std::ops::Range<usize>,
    /// True if the function has blocks; a forward declaration has none.
    pub(crate) defined: bool,
}

/// An entry point as the module declares it.
#[derive(Clone, Debug)]
pub(crate) struct Declared {
    pub(crate) name: String,
    pub(crate) stage: vk::ShaderStageFlags,
    pub(crate) function: u32,
}

/// A module and an index of its declarations.
#[derive(Clone, Debug)]
pub(crate) struct Module {
    pub(crate) code: Code,
    pub(crate) names: BTreeMap<u32, String>,
    pub(crate) decorations: BTreeMap<u32, Decorations>,
    pub(crate) member_decorations: BTreeMap<(u32, u32), Decorations>,
    /// Ids of the variables outside functions.
    pub(crate) globals: Vec<u32>,
    pub(crate) functions: Vec<Function>,
    /// Positions in [`Module::functions`], by function id.
    functions_by_id: BTreeMap<u32, usize>,
    /// Ids of imported instruction sets that do not access memory: debug information, `printf`.
    pub(crate) inert_sets: BTreeSet<u32>,
    pub(crate) entry_points: Vec<Declared>,
    /// Execution modes of entry points.
    pub(crate) execution_modes: Vec<Instruction>,
}

impl Module {
    pub(crate) fn read(code: Code) -> Result<Module, ShaderError> {
        let mut module = Module {
            code,
            names: BTreeMap::new(),
            decorations: BTreeMap::new(),
            member_decorations: BTreeMap::new(),
            globals: Vec::new(),
            functions: Vec::new(),
            functions_by_id: BTreeMap::new(),
            inert_sets: BTreeSet::new(),
            entry_points: Vec::new(),
            execution_modes: Vec::new(),
        };
        let mut open: Option<usize> = None;
        for number in 0..module.code.instructions.len() {
            let instruction = module.code.instructions[number];
            let at = |problem: &str| ShaderError::Malformed {
                word: instruction.word(),
                problem: problem.to_owned(),
            };
            match instruction.op {
                Op::Function if open.is_some() => {
                    return Err(at("a function begins inside another function"));
                }
                Op::Function => {
                    open = Some(module.functions.len());
                    let id = module.code.result(&instruction);
                    module.functions_by_id.insert(id, module.functions.len());
                    module.functions.push(Function {
                        body: number + 1..number + 1,
                        defined: false,
                    });
                }
                Op::FunctionEnd => match open.take() {
                    Some(function) => module.functions[function].body.end = number,
                    None => return Err(at("a function ends outside a function")),
                },
                Op::Label => match open {
                    Some(function) => module.functions[function].defined = true,
                    None => return Err(at("a block begins outside a function")),
                },
                _ if open.is_none() => module.declare(&instruction),
                _ => {}
            }
        }
        if open.is_some() {
            return Err(ShaderError::Malformed {
                word: module.code.words.len(),
                problem: "the last function does not end".to_owned(),
            });
        }
        Ok(module)
    }

    /// Returns the position of a function in [`Module::functions`].
    pub(crate) fn function(&self, id: u32) -> Option<usize> {
        self.functions_by_id.get(&id).copied()
    }

    pub(crate) fn decorations(&self, id: u32) -> Decorations {
        self.decorations.get(&id).copied().unwrap_or_default()
    }

    pub(crate) fn member(&self, structure: u32, member: u32) -> Decorations {
        let found = self.member_decorations.get(&(structure, member));
        found.copied().unwrap_or_default()
    }

    /// Records an instruction outside functions.
    fn declare(&mut self, instruction: &Instruction) {
        let operands = self.code.operands(instruction);
        match instruction.op {
            Op::Name => {
                if let (Some(&id), Some(name)) = (operands.first(), operands.get(1..).and_then(string)) {
                    self.names.insert(id, name);
                }
            }
            Op::Decorate => {
                if let &[id, decoration, ref parameters @ ..] = operands {
                    decorate(self.decorations.entry(id).or_default(), decoration, parameters);
                }
            }
            Op::MemberDecorate => {
                if let &[id, member, decoration, ref parameters @ ..] = operands {
                    let decorations = self.member_decorations.entry((id, member)).or_default();
                    decorate(decorations, decoration, parameters);
                }
            }
            Op::GroupDecorate => {
                if let [group, targets @ ..] = operands {
                    let group = self.decorations(*group);
                    for target in targets {
                        self.decorations.entry(*target).or_default().add(&group);
                    }
                }
            }
            Op::GroupMemberDecorate => {
                if let [group, targets @ ..] = operands {
                    let group = self.decorations(*group);
                    for target in targets.chunks_exact(2) {
                        let key = (target[0], target[1]);
                        self.member_decorations.entry(key).or_default().add(&group);
                    }
                }
            }
            Op::ExtInstImport => {
                let name = string(operands).unwrap_or_default();
                if name.starts_with("NonSemantic.") || name.contains("DebugInfo") {
                    self.inert_sets.insert(self.code.result(instruction));
                }
            }
            Op::EntryPoint => {
                if let &[model, function, ref rest @ ..] = operands {
                    if let (Some(stage), Some(name)) = (stage(model), string(rest)) {
                        self.entry_points.push(Declared {
                            name,
                            stage,
                            function,
                        });
                    }
                }
            }
            Op::ExecutionMode | Op::ExecutionModeId => self.execution_modes.push(*instruction),
            Op::Variable | Op::UntypedVariableKHR => self.globals.push(self.code.result(instruction)),
            _ => {}
        }
    }

    pub(crate) fn storage_class(&self, pointer_type: u32) -> Option<StorageClass> {
        let pointer = self.code.definition(pointer_type)?;
        match pointer.op {
            Op::TypePointer | Op::TypeUntypedPointerKHR => {
                StorageClass::from_u32(self.code.operand(pointer, 0))
            }
            _ => None,
        }
    }
}

/// Returns the string at the start of `words`; invalid UTF-8 is replaced, and an unterminated string is `None`.
fn string(words: &[u32]) -> Option<String> {
    let end = words.iter().position(|word| word.to_le_bytes().contains(&0))?;
    let bytes: Vec<u8> = words[..=end].iter().flat_map(|word| word.to_le_bytes()).collect();
    let length = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    Some(String::from_utf8_lossy(&bytes[..length]).into_owned())
}

fn decorate(decorations: &mut Decorations, decoration: u32, parameters: &[u32]) {
    let parameter = parameters.first().copied();
    match Decoration::from_u32(decoration) {
        Some(Decoration::DescriptorSet) => decorations.set = parameter,
        Some(Decoration::Binding) => decorations.binding = parameter,
        Some(Decoration::Location) => decorations.location = parameter,
        Some(Decoration::InputAttachmentIndex) => decorations.input_attachment_index = parameter,
        Some(Decoration::BuiltIn) => decorations.built_in = parameter,
        Some(Decoration::Offset) => decorations.offset = parameter,
        Some(Decoration::ArrayStride) => decorations.array_stride = parameter,
        Some(Decoration::Block) => decorations.block = true,
        Some(Decoration::BufferBlock) => decorations.buffer_block = true,
        Some(Decoration::NonWritable) => decorations.non_writable = true,
        Some(Decoration::NonReadable) => decorations.non_readable = true,
        Some(Decoration::Coherent) => decorations.coherent = true,
        _ => {}
    }
}

/// Returns the Vulkan stage of an execution model; `None` for kernels.
fn stage(model: u32) -> Option<vk::ShaderStageFlags> {
    use rspirv::spirv::ExecutionModel as M;
    use vk::ShaderStageFlags as S;
    Some(match M::from_u32(model)? {
        M::Vertex => S::VERTEX,
        M::TessellationControl => S::TESSELLATION_CONTROL,
        M::TessellationEvaluation => S::TESSELLATION_EVALUATION,
        M::Geometry => S::GEOMETRY,
        M::Fragment => S::FRAGMENT,
        M::GLCompute => S::COMPUTE,
        M::TaskNV | M::TaskEXT => S::TASK_EXT,
        M::MeshNV | M::MeshEXT => S::MESH_EXT,
        M::RayGenerationKHR => S::RAYGEN_KHR,
        M::IntersectionKHR => S::INTERSECTION_KHR,
        M::AnyHitKHR => S::ANY_HIT_KHR,
        M::ClosestHitKHR => S::CLOSEST_HIT_KHR,
        M::MissKHR => S::MISS_KHR,
        M::CallableKHR => S::CALLABLE_KHR,
        _ => return None,
    })
}
