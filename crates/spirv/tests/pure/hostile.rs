//! Words that no compiler emits: the reader never panics, never loops forever, and takes time proportional to the input.

use super::*;
use std::sync::LazyLock;

const SOURCES: [(Stage, &str); 5] = [
    (Stage::Compute, include_str!("shaders/hostile_pointers.glsl")),
    (Stage::Fragment, include_str!("shaders/hostile_fragment.glsl")),
    (Stage::Compute, include_str!("shaders/hostile_structs.glsl")),
    (
        Stage::Vertex,
        "layout(location = 0) in vec4 p; layout(location = 0) out vec4 v; void main() { v = p; gl_Position = p; }",
    ),
    (Stage::Compute, "layout(local_size_x = 1) in; void main() {}"),
];

/// Valid modules of several versions, to be damaged.
static CORPUS: LazyLock<Vec<Vec<u32>>> = LazyLock::new(|| {
    let versions = [0, 3, 6].into_iter();
    let compile = |minor| SOURCES.map(|(stage, source)| glsl::compile(stage, source, minor));
    versions.flat_map(compile).collect()
});

/// Reads the words and every entry point in them; returns true if they could be read.
fn survive(words: &[u32]) -> bool {
    let Ok(module) = ShaderModule::parse(words) else {
        return false;
    };
    let declared: Vec<_> = module
        .entry_points()
        .map(|(name, stage)| (name.to_owned(), stage))
        .collect();
    for (name, stage) in declared {
        // A missing function is also a valid answer.
        let _ = module.entry_point(&name, stage);
    }
    true
}

#[test]
fn twenty_thousand_damaged_modules_are_survived() {
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    let mut readable = 0;
    for round in 0..20_000 {
        let mut words = CORPUS[round % CORPUS.len()].clone();
        for _ in 0..=next(3) {
            let at = next(words.len());
            let other = words[next(words.len())];
            match next(8) {
                0 => words[at] ^= 1 << next(32),
                1 => words[at] = other,
                2 => words[at] = next(64) as u32,
                3 => words.truncate(at.max(1)),
                4 => words.insert(at, other),
                5 => drop(words.remove(at)),
                6 => words[at] = u32::MAX,
                // A different length or opcode for a word that may start an instruction.
                _ => words[at] = (next(8) as u32) << 16 | words[at] & 0xFFFF,
            }
            if words.is_empty() {
                break;
            }
        }
        readable += usize::from(survive(&words));
    }
    // The damage is fatal in some cases, but not in all.
    assert!((2_000..18_000).contains(&readable), "{readable}");
}

#[test]
fn every_truncation_is_survived() {
    for words in CORPUS.iter() {
        for end in 0..words.len() {
            survive(&words[..end]);
        }
    }
}

/// Begins the entry point's function.
fn begin(assembler: &mut Assembler, types: &Types) {
    assembler.push(Op::Function, &[types.void, Assembler::MAIN, 0, types.function]);
    assembler.declare(Op::Label, &[]);
}

fn end(assembler: &mut Assembler) {
    assembler.push(Op::Return, &[]);
    assembler.push(Op::FunctionEnd, &[]);
}

/// Returns whether binding 0, a storage buffer, is written, after `build` has emitted the module's functions.
fn writes(build: impl FnOnce(&mut Assembler, &Types, u32)) -> bool {
    let mut assembler = Assembler::new();
    let types = Types::new(&mut assembler);
    let buffer = assembler.storage_buffer(types.pointer_to_block, 0);
    build(&mut assembler, &types, buffer);
    let module = ShaderModule::parse(&assembler.finish()).unwrap();
    let entry = module.entry_point("main", vk::ShaderStageFlags::COMPUTE).unwrap();
    entry.bindings.iter().any(|binding| binding.writes)
}

/// Large enough that quadratic work would take hours.
const MANY: u32 = 100_000;

#[test]
fn many_parameters_and_many_calls_are_not_multiplied() {
    let found = writes(|assembler, types, buffer| {
        let callee = assembler.id();
        begin(assembler, types);
        for _ in 0..MANY {
            // Too few arguments.
            assembler.value(Op::FunctionCall, types.void, &[callee]);
        }
        assembler.value(Op::FunctionCall, types.void, &[callee, buffer]);
        end(assembler);
        assembler.push(Op::Function, &[types.void, callee, 0, types.function]);
        let parameters: Vec<u32> = (0..MANY)
            .map(|_| assembler.value(Op::FunctionParameter, types.pointer, &[]))
            .collect();
        assembler.declare(Op::Label, &[]);
        for parameter in parameters {
            assembler.push(Op::Store, &[parameter, types.zero]);
        }
        end(assembler);
    });
    assert!(found);
}

#[test]
fn many_private_calls_and_returns_are_not_multiplied() {
    let found = writes(|assembler, types, buffer| {
        let callee = assembler.id();
        begin(assembler, types);
        for _ in 0..MANY {
            let private = assembler.value(Op::FunctionCall, types.pointer_to_pointer, &[callee]);
            let pointer = assembler.value(Op::Load, types.pointer, &[private]);
            assembler.push(Op::Store, &[pointer, types.zero]);
        }
        end(assembler);
        assembler.push(
            Op::Function,
            &[types.pointer_to_pointer, callee, 0, types.function],
        );
        assembler.declare(Op::Label, &[]);
        for _ in 0..MANY {
            let function = StorageClass::Function as u32;
            let private = assembler.value(Op::Variable, types.pointer_to_pointer, &[function]);
            assembler.push(Op::Store, &[private, buffer]);
            assembler.push(Op::ReturnValue, &[private]);
        }
        end(assembler);
    });
    assert!(found);
}

#[test]
fn a_long_chain_is_followed_without_recursion() {
    let found = writes(|assembler, types, buffer| {
        begin(assembler, types);
        let mut pointer = buffer;
        for _ in 0..MANY {
            pointer = assembler.value(Op::CopyObject, types.pointer, &[pointer]);
        }
        // Also through memory.
        let function = StorageClass::Function as u32;
        let mut private = assembler.value(Op::Variable, types.pointer_to_pointer, &[function]);
        assembler.push(Op::Store, &[private, pointer]);
        for _ in 0..MANY {
            let copy = assembler.value(Op::Variable, types.pointer_to_pointer, &[function]);
            assembler.push(Op::CopyMemory, &[copy, private]);
            private = copy;
        }
        let pointer = assembler.value(Op::Load, types.pointer, &[private]);
        assembler.push(Op::Store, &[pointer, types.zero]);
        end(assembler);
    });
    assert!(found);
}

#[test]
fn deep_calls_and_recursion_end() {
    let found = writes(|assembler, types, buffer| {
        let functions: Vec<u32> = (0..MANY).map(|_| assembler.id()).collect();
        begin(assembler, types);
        assembler.value(Op::FunctionCall, types.void, &[functions[0], buffer]);
        end(assembler);
        for (index, &id) in functions.iter().enumerate() {
            assembler.push(Op::Function, &[types.void, id, 0, types.function]);
            let parameter = assembler.value(Op::FunctionParameter, types.pointer, &[]);
            assembler.declare(Op::Label, &[]);
            // The last one calls the first one again.
            let callee = functions[(index + 1) % functions.len()];
            assembler.value(Op::FunctionCall, types.void, &[callee, parameter]);
            if index + 1 == functions.len() {
                assembler.push(Op::Store, &[parameter, types.zero]);
            }
            end(assembler);
        }
    });
    assert!(found);
}

#[test]
fn cycles_of_types_and_pointers_end() {
    let mut assembler = Assembler::new();
    let types = Types::new(&mut assembler);
    let (array, pointer) = (assembler.id(), assembler.id());
    assembler.push(Op::TypeArray, &[array, array, types.zero]);
    assembler.push(
        Op::TypePointer,
        &[pointer, StorageClass::UniformConstant as u32, array],
    );
    let variable = assembler.value(Op::Variable, pointer, &[StorageClass::UniformConstant as u32]);
    begin(&mut assembler, &types);
    let (one, two) = (assembler.id(), assembler.id());
    assembler.push(Op::AccessChain, &[pointer, one, two, types.zero]);
    assembler.push(Op::AccessChain, &[pointer, two, one, types.zero]);
    assembler.push(Op::Store, &[one, types.zero]);
    let loaded = assembler.value(Op::Load, array, &[variable]);
    assembler.push(Op::ImageWrite, &[loaded, types.zero, types.zero]);
    let of_address = assembler.value(Op::Load, types.uint, &[one]);
    assembler.push(Op::Store, &[of_address, types.zero]);
    end(&mut assembler);
    assert!(survive(&assembler.finish()));
}

#[test]
fn many_variables_of_a_large_block_are_not_multiplied() {
    let mut assembler = Assembler::new();
    let types = Types::new(&mut assembler);
    let block = assembler.declare(Op::TypeStruct, &vec![types.uint; 60_000]);
    for member in 0..60_000 {
        assembler.push(Op::MemberDecorate, &[block, member, 24]);
    }
    let pointer = assembler.declare(Op::TypePointer, &[StorageClass::StorageBuffer as u32, block]);
    let variables: Vec<u32> = (0..MANY)
        .map(|binding| assembler.storage_buffer(pointer, binding))
        .collect();
    begin(&mut assembler, &types);
    for variable in &variables {
        assembler.push(Op::Store, &[*variable, types.zero]);
    }
    end(&mut assembler);
    let module = ShaderModule::parse(&assembler.finish()).unwrap();
    let entry = module.entry_point("main", vk::ShaderStageFlags::COMPUTE).unwrap();
    assert_eq!(entry.bindings.len(), variables.len());
    assert!(
        entry
            .bindings
            .iter()
            .all(|binding| binding.non_writable && binding.writes)
    );
}

#[test]
fn many_blocks_and_branches_are_not_multiplied() {
    let found = writes(|assembler, types, buffer| {
        let labels: Vec<u32> = (0..MANY).map(|_| assembler.id()).collect();
        begin(assembler, types);
        // Many nested branches forwards and backwards, and a switch to many blocks.
        for (&label, number) in labels.iter().zip(0..) {
            let to = |distance: u32| labels[((number + distance) % MANY) as usize];
            assembler.push(Op::BranchConditional, &[types.zero, label, to(MANY / 3)]);
            assembler.push(Op::Label, &[label]);
            if number == MANY / 2 {
                let cases = labels.iter().take(30_000).flat_map(|&label| [label, label]);
                let operands: Vec<u32> = [types.zero, label].into_iter().chain(cases).collect();
                assembler.push(Op::Switch, &operands);
                assembler.declare(Op::Label, &[]);
            }
        }
        assembler.push(Op::Store, &[buffer, types.zero]);
        end(assembler);
    });
    assert!(found);
}

#[test]
fn many_uses_of_one_long_index_are_not_multiplied() {
    let found = writes(|assembler, types, buffer| {
        begin(assembler, types);
        let mut index = types.zero;
        for _ in 0..60 {
            index = assembler.value(Op::CopyObject, types.uint, &[index]);
        }
        let mut operands = vec![index; 60];
        operands[0] = buffer;
        let chain = assembler.value(Op::AccessChain, types.pointer, &operands);
        operands.resize(60_000, index);
        let wide = assembler.value(Op::AccessChain, types.pointer, &operands);
        for _ in 0..MANY {
            assembler.push(Op::Store, &[chain, types.zero]);
            assembler.push(Op::Store, &[wide, types.zero]);
        }
        end(assembler);
    });
    assert!(found);
}
