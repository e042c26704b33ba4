//! Reads from SPIR-V which descriptors a shader accesses, and whether it can write them.
//!
//! An entry point accesses a descriptor if a function that it calls names the descriptor's variable; it is not known whether the instruction
//! is reached.

use std::collections::{HashMap, HashSet};

use ash::vk;

use super::spirv::{TILE_ATTACHMENT, decoration, instructions, op};

/// A descriptor that a shader accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DescriptorAccess {
    pub(crate) set: u32,
    pub(crate) binding: u32,
    /// It is declared `readonly`, or is of a kind that is only read.
    pub(crate) only_read: bool,
    /// Stages with shaders whose use of it is unknown: it is in an array, or is passed to something that is not followed.
    pub(crate) unknown: vk::PipelineStageFlags2,
    /// Its variable is a tile attachment (`SPV_QCOM_tile_shading`), whose accesses have access types of their own.
    pub(crate) is_tile_attachment: bool,
    /// Stages with an instruction that reads it.
    pub(crate) reads: vk::PipelineStageFlags2,
    /// Stages with an instruction that writes it.
    pub(crate) writes: vk::PipelineStageFlags2,
}

/// An entry point, with the descriptors that it accesses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EntryPoint {
    name: String,
    /// SPIR-V's execution model.
    model: u32,
    accesses: Vec<DescriptorAccess>,
}

const MAGIC: u32 = 0x0723_0203;

/// `OpFunctionCall`.
const FUNCTION_CALL: u32 = 57;

/// Ids with their decorations and types.
#[derive(Default)]
struct Module {
    sets: HashMap<u32, u32>,
    bindings: HashMap<u32, u32>,
    /// Ids that cannot be written.
    decorated: HashSet<u32>,
    /// The number of those members, by structure.
    members: HashMap<u32, u32>,
    /// Members of each structure.
    lengths: HashMap<u32, u32>,
    /// The element type of a pointer or an array.
    inner: HashMap<u32, u32>,
    /// Variables and their types.
    variables: Vec<(u32, u32)>,
    /// The variables that are tile attachments.
    tile_attachments: HashSet<u32>,
    /// Types of images.
    images: HashSet<u32>,
    arrays: HashSet<u32>,
    /// The variables that pointers and images in functions come from.
    origins: HashMap<u32, u32>,
    /// Name, execution model and function of each entry point.
    entry_points: Vec<(String, u32, u32)>,
    functions: Vec<Function>,
}

/// What a function does with variables, or several functions together.
#[derive(Default)]
struct Function {
    id: u32,
    /// The functions that it calls.
    calls: Vec<u32>,
    used: HashSet<u32>,
    read: HashSet<u32>,
    written: HashSet<u32>,
    /// Passed to something that is not followed.
    unknown: HashSet<u32>,
}

impl Function {
    fn add(&mut self, other: &Function) {
        self.used.extend(&other.used);
        self.read.extend(&other.read);
        self.written.extend(&other.written);
        self.unknown.extend(&other.unknown);
    }
}

/// Every stage: a module does not say which ones it is for.
const ANY_STAGE: vk::PipelineStageFlags2 = vk::PipelineStageFlags2::from_raw(u64::MAX);

/// The entry points of a module; none if the words are not SPIR-V.
pub(crate) fn entry_points(words: &[u32]) -> Vec<EntryPoint> {
    if words.first() != Some(&MAGIC) || words.len() < 5 {
        return Vec::new();
    }
    let mut module = Module::default();
    for (operation, operands) in instructions(words) {
        if let (op::FUNCTION, [_, id, ..]) = (operation, operands) {
            module.functions.push(Function {
                id: *id,
                ..Function::default()
            });
        }
        if module.functions.is_empty() {
            module.declare(operation, operands);
        } else {
            module.follow(operation, operands);
        }
    }
    let entry = |(name, model, function): &(String, u32, u32)| EntryPoint {
        name: name.clone(),
        model: *model,
        accesses: module.accesses(&module.reached(*function)),
    };
    module.entry_points.iter().map(entry).collect()
}

/// The descriptors that the entry point of a stage accesses; those of all entry points if there is none of that name and stage.
pub(crate) fn of_stage(all: &[EntryPoint], stage: vk::ShaderStageFlags, name: &str) -> Vec<DescriptorAccess> {
    let is_it = |entry: &&EntryPoint| entry.name == name && stage_of(entry.model) == stage;
    match all.iter().find(is_it) {
        Some(entry) => entry.accesses.clone(),
        None => all
            .iter()
            .flat_map(|entry| entry.accesses.iter().copied())
            .collect(),
    }
}

/// The stage of an execution model.
///
/// Source: SPIR-V 1.6, section 3.3.
fn stage_of(model: u32) -> vk::ShaderStageFlags {
    use vk::ShaderStageFlags as S;
    match model {
        0 => S::VERTEX,
        1 => S::TESSELLATION_CONTROL,
        2 => S::TESSELLATION_EVALUATION,
        3 => S::GEOMETRY,
        4 => S::FRAGMENT,
        5 => S::COMPUTE,
        5267 | 5364 => S::TASK_EXT,
        5268 | 5365 => S::MESH_EXT,
        5313 => S::RAYGEN_KHR,
        5314 => S::INTERSECTION_KHR,
        5315 => S::ANY_HIT_KHR,
        5316 => S::CLOSEST_HIT_KHR,
        5317 => S::MISS_KHR,
        5318 => S::CALLABLE_KHR,
        _ => S::empty(),
    }
}

/// A literal string: bytes up to a zero, four in each word.
fn string(words: &[u32]) -> String {
    let bytes = words.iter().flat_map(|word| word.to_le_bytes());
    let bytes: Vec<u8> = bytes.take_while(|byte| *byte != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

impl Module {
    fn declare(&mut self, operation: u32, operands: &[u32]) {
        match (operation, operands) {
            (op::ENTRY_POINT, [model, function, name @ ..]) => {
                self.entry_points.push((string(name), *model, *function));
            }
            (op::DECORATE, [target, decoration::DESCRIPTOR_SET, set, ..]) => {
                self.sets.insert(*target, *set);
            }
            (op::DECORATE, [target, decoration::BINDING, binding, ..]) => {
                self.bindings.insert(*target, *binding);
            }
            (op::DECORATE, [target, decoration::NON_WRITABLE, ..]) => {
                self.decorated.insert(*target);
            }
            (op::MEMBER_DECORATE, [target, _, decoration::NON_WRITABLE, ..]) => {
                *self.members.entry(*target).or_default() += 1;
            }
            (op::TYPE_STRUCT, [result, members @ ..]) => {
                self.lengths.insert(*result, members.len() as u32);
            }
            (op::TYPE_IMAGE | op::TYPE_SAMPLED_IMAGE, [result, ..]) => {
                self.images.insert(*result);
            }
            (op::TYPE_POINTER, [result, _, inner, ..])
            | (op::TYPE_ARRAY | op::TYPE_RUNTIME_ARRAY, [result, inner, ..]) => {
                if operation != op::TYPE_POINTER {
                    self.arrays.insert(*result);
                }
                self.inner.insert(*result, *inner);
            }
            (op::VARIABLE, [kind, result, class, ..]) => {
                self.variables.push((*result, *kind));
                if *class == TILE_ATTACHMENT {
                    self.tile_attachments.insert(*result);
                }
            }
            _ => {}
        }
    }

    /// Follows what instructions of the last function do with variables.
    fn follow(&mut self, operation: u32, operands: &[u32]) {
        let Some(function) = self.functions.last_mut() else {
            return;
        };
        function.used.extend(operands);
        if let (FUNCTION_CALL, [_, _, callee, ..]) = (operation, operands) {
            function.calls.push(*callee);
        }
        let origin = |id: &u32| *self.origins.get(id).unwrap_or(id);
        let (mut read, mut written) = (None, None);
        match (operation, operands) {
            // Loads; of a pointer to memory, a read.
            (61, [kind, result, pointer, ..]) => {
                let from = origin(pointer);
                if self.images.contains(kind) {
                    self.origins.insert(*result, from);
                } else {
                    read = Some(from);
                }
            }
            // Stores, copies.
            (62, [pointer, ..]) => written = Some(origin(pointer)),
            (63 | 64, [to, from, ..]) => (written, read) = (Some(origin(to)), Some(origin(from))),
            // Pointers to texels and elements, copies of objects, sampled images and their images.
            (60 | 65 | 66 | 67 | 70 | 83 | 86 | 100, [_, result, base, ..]) => {
                let from = origin(base);
                self.origins.insert(*result, from);
            }
            // Samples, fetches, gathers and reads, also sparse ones.
            (87..=98 | 305..=315 | 320, [_, _, image, ..]) => read = Some(origin(image)),
            (99, [image, ..]) => written = Some(origin(image)),
            // Atomic loads, stores, and all others.
            (227, [_, _, pointer, ..]) => read = Some(origin(pointer)),
            (228, [pointer, ..]) => written = Some(origin(pointer)),
            (229..=242 | 5614 | 5615 | 6035, [_, _, pointer, ..]) => {
                (read, written) = (Some(origin(pointer)), Some(origin(pointer)));
            }
            // Calls, selections, returned values, reinterpretations, and whatever extensions have.
            (57 | 124 | 169 | 245 | 254 | 400 | 4416.., _) => {
                let passed: Vec<u32> = operands.iter().map(origin).collect();
                function.unknown.extend(passed);
            }
            _ => {}
        }
        function.read.extend(read);
        function.written.extend(written);
    }

    /// A function and all that it calls.
    fn reached(&self, entry: u32) -> Function {
        let (mut reached, mut seen, mut open) = (Function::default(), HashSet::new(), vec![entry]);
        while let Some(id) = open.pop() {
            if seen.insert(id) {
                for function in self.functions.iter().filter(|function| function.id == id) {
                    reached.add(function);
                    open.extend(&function.calls);
                }
            }
        }
        reached
    }

    /// The descriptors that functions access.
    fn accesses(&self, reached: &Function) -> Vec<DescriptorAccess> {
        let one = |(variable, kind): &(u32, u32)| {
            if !reached.used.contains(variable) {
                return None;
            }
            Some(DescriptorAccess {
                set: *self.sets.get(variable)?,
                binding: *self.bindings.get(variable)?,
                only_read: self.is_read_only(*variable, *kind),
                unknown: match self.is_array(*kind) || reached.unknown.contains(variable) {
                    true => ANY_STAGE,
                    false => vk::PipelineStageFlags2::NONE,
                },
                is_tile_attachment: self.tile_attachments.contains(variable),
                reads: self.stages(&reached.read, *variable, *kind),
                writes: self.stages(&reached.written, *variable, *kind),
            })
        };
        self.variables.iter().filter_map(one).collect()
    }

    /// Returns `true` for an array, of which a shader may use any element.
    fn is_array(&self, kind: u32) -> bool {
        let inner = self.inner.get(&kind);
        inner.is_some_and(|inner| self.arrays.contains(inner))
    }

    /// Any stage where the variable is among `done`; no stage of an array.
    fn stages(&self, done: &HashSet<u32>, variable: u32, kind: u32) -> vk::PipelineStageFlags2 {
        if done.contains(&variable) && !self.is_array(kind) {
            ANY_STAGE
        } else {
            vk::PipelineStageFlags2::NONE
        }
    }

    /// Whether a variable, or every member of the block it is, cannot be written.
    fn is_read_only(&self, variable: u32, kind: u32) -> bool {
        if self.decorated.contains(&variable) {
            return true;
        }
        let mut kind = kind;
        // A chain of types has an end, unless the words are damaged.
        for _ in 0..16 {
            match self.inner.get(&kind) {
                Some(inner) => kind = *inner,
                None => break,
            }
        }
        let members = self.lengths.get(&kind).copied().unwrap_or(0);
        members > 0 && self.members.get(&kind) == Some(&members)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn op(operation: u32, operands: &[u32]) -> Vec<u32> {
        let mut words = vec![(operands.len() as u32 + 1) << 16 | operation];
        words.extend(operands);
        words
    }

    const COMPUTE: u32 = 5;
    const MAIN: u32 = u32::from_le_bytes(*b"main");
    const SIDE: u32 = u32::from_le_bytes(*b"side");

    /// A module with a buffer of one member, binding 2 of set 1, and an image, binding 3 of set 0, by hand; with an entry point.
    fn module(functions: &[Vec<u32>]) -> Vec<u32> {
        let declarations = [
            op(op::ENTRY_POINT, &[COMPUTE, 2, MAIN, 0]),
            op(op::DECORATE, &[10, decoration::DESCRIPTOR_SET, 1]),
            op(op::DECORATE, &[10, decoration::BINDING, 2]),
            op(op::MEMBER_DECORATE, &[20, 0, decoration::NON_WRITABLE]),
            op(op::DECORATE, &[11, decoration::DESCRIPTOR_SET, 0]),
            op(op::DECORATE, &[11, decoration::BINDING, 3]),
            op(op::TYPE_STRUCT, &[20, 5]),
            op(op::TYPE_POINTER, &[21, 12, 20]),
            op(op::VARIABLE, &[21, 10, 12]),
            op(op::VARIABLE, &[22, 11, 0]),
        ];
        [
            vec![MAGIC, 0, 0, 100, 0],
            declarations.concat(),
            functions.concat(),
        ]
        .concat()
    }

    /// A function that loads from a variable.
    fn loads(id: u32, variable: u32) -> Vec<u32> {
        [
            op(op::FUNCTION, &[1, id, 0, 3]),
            op(op::LOAD, &[5, 30 + id, variable]),
        ]
        .concat()
    }

    #[test]
    fn entry_points_access_what_their_functions_name() {
        let call = |callee| op(FUNCTION_CALL, &[1, 40, callee]);
        let all = |functions: &[Vec<u32>]| {
            let mut words = module(functions);
            // Another entry point, before the declarations of the first.
            words.splice(5..5, op(op::ENTRY_POINT, &[COMPUTE, 3, SIDE, 0]));
            entry_points(&words)
        };
        let bindings = |all: &[EntryPoint], name| -> Vec<u32> {
            let accesses = of_stage(all, vk::ShaderStageFlags::COMPUTE, name);
            accesses.iter().map(|one| one.binding).collect()
        };
        let apart = all(&[loads(2, 10), loads(3, 11)]);
        assert_eq!([bindings(&apart, "main"), bindings(&apart, "side")], [[2], [3]]);
        let called = all(&[[loads(2, 10), call(4)].concat(), loads(3, 10), loads(4, 11)]);
        assert_eq!(bindings(&called, "main"), [2, 3]);
        assert_eq!(bindings(&called, "side"), [2], "it does not call the third");
        let endless = all(&[[loads(2, 10), call(3)].concat(), [loads(3, 11), call(2)].concat()]);
        assert_eq!(bindings(&endless, "side"), [2, 3]);
        assert_eq!(bindings(&apart, "other"), [3, 2], "all, in doubt");
        let stage = vk::ShaderStageFlags::VERTEX;
        assert_eq!(of_stage(&apart, stage, "main").len(), 2, "of another stage");
    }

    #[test]
    fn tile_attachments_are_told_apart() {
        let bytes = include_bytes!("../../tests/layer/tile_shaders/rate.spv").chunks_exact(4);
        let shader: Vec<u32> = bytes
            .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
            .collect();
        let of_tile = |words: &[u32]| -> Vec<bool> {
            let accesses = of_stage(&entry_points(words), vk::ShaderStageFlags::COMPUTE, "main");
            accesses.iter().map(|one| one.is_tile_attachment).collect()
        };
        let plain = module(&[loads(2, 10)]);
        assert_eq!(of_tile(&plain), [false]);
        let variables = instructions(&shader).filter(|(operation, operands)| {
            *operation == op::VARIABLE && operands.get(2) == Some(&TILE_ATTACHMENT)
        });
        let count = variables.count();
        let found = of_tile(&shader);
        assert!(count > 0);
        assert_eq!(found.iter().filter(|is_tile| **is_tile).count(), count);
        // The same shader with ordinary images.
        let rewritten = crate::model::tile_shaders::rewrite(&shader, 7).expect("it has the capability");
        assert!(of_tile(&rewritten.words).iter().all(|is_tile| !is_tile));
    }

    #[test]
    fn damaged_words_reach_nothing_and_harm_nothing() {
        assert_eq!(entry_points(&[]), []);
        assert_eq!(entry_points(&[MAGIC, 0, 0, 9, 0, 0]), []);
        let good = module(&[loads(2, 10)]);
        for end in 0..good.len() {
            entry_points(&good[..end]);
        }
        for index in 5..good.len() {
            let mut bad = good.clone();
            bad[index] = u32::MAX;
            entry_points(&bad);
        }
    }
}
