//! Pointers that no compiler emits, in modules assembled by hand.

use super::*;

/// Assembles a module with five storage buffers and the given entry point body; returns the accesses to the buffers.
fn by_hand(body: impl FnOnce(&mut Assembler, &Types, [u32; 5])) -> Vec<Row> {
    let mut assembler = Assembler::new();
    let types = Types::new(&mut assembler);
    let buffers = [0, 1, 2, 3, 4].map(|binding| assembler.storage_buffer(types.pointer_to_block, binding));
    assembler.push(Op::Function, &[types.void, Assembler::MAIN, 0, types.function]);
    assembler.declare(Op::Label, &[]);
    let pointers =
        buffers.map(|buffer| assembler.value(Op::AccessChain, types.pointer, &[buffer, types.zero]));
    body(&mut assembler, &types, pointers);
    assembler.push(Op::Return, &[]);
    assembler.push(Op::FunctionEnd, &[]);
    let module = ShaderModule::parse(&assembler.finish()).unwrap();
    rows(&module.entry_point("main", vk::ShaderStageFlags::COMPUTE).unwrap())
}

/// Returns rows of the storage buffers 0, 1, … with the given reads and writes.
fn buffers(done: [(bool, bool); 5]) -> Vec<Row> {
    let rows = (0u32..).zip(done);
    rows.map(|(binding, (reads, writes))| (binding, K::StorageBuffer, reads, writes))
        .collect()
}

const NOT: (bool, bool) = (false, false);
const READ: (bool, bool) = (true, false);
const WRITE: (bool, bool) = (false, true);
const BOTH: (bool, bool) = (true, true);

#[test]
fn selected_and_merged_pointers_may_be_either() {
    let found = by_hand(|assembler, types, [a, b, c, d, _]| {
        let condition = assembler.value(Op::Undef, types.uint, &[]);
        let selected = assembler.value(Op::Select, types.pointer, &[condition, a, b]);
        assembler.push(Op::Store, &[selected, types.zero]);
        let label = assembler.declare(Op::Label, &[]);
        let merged = assembler.value(Op::Phi, types.pointer, &[c, label, d, label]);
        assembler.value(Op::Load, types.uint, &[merged]);
    });
    assert_eq!(found, buffers([WRITE, WRITE, READ, READ, NOT]));
}

#[test]
fn a_loop_of_pointers_ends() {
    let found = by_hand(|assembler, types, [a, b, ..]| {
        let label = assembler.declare(Op::Label, &[]);
        let (merged, next) = (assembler.id(), assembler.id());
        assembler.push(Op::Phi, &[types.pointer, merged, a, label, next, label]);
        assembler.push(Op::PtrAccessChain, &[types.pointer, next, merged, types.zero]);
        assembler.push(Op::Store, &[next, types.zero]);
        assembler.value(Op::Load, types.uint, &[b]);
    });
    assert_eq!(found, buffers([WRITE, READ, NOT, NOT, NOT]));
}

#[test]
fn stored_pointers_come_from_what_was_stored_there() {
    let found = by_hand(|assembler, types, [a, b, c, d, e]| {
        let function = StorageClass::Function as u32;
        let one = assembler.value(Op::Variable, types.pointer_to_pointer, &[function]);
        let two = assembler.value(Op::Variable, types.pointer_to_pointer, &[function]);
        assembler.push(Op::Store, &[one, a]);
        assembler.push(Op::Store, &[one, b]);
        assembler.push(Op::Store, &[two, c]);
        let loaded = assembler.value(Op::Load, types.pointer, &[one]);
        assembler.push(Op::Store, &[loaded, types.zero]);
        let loaded = assembler.value(Op::Load, types.pointer, &[two]);
        assembler.value(
            Op::AtomicIIncrement,
            types.uint,
            &[loaded, types.zero, types.zero],
        );
        let three = assembler.value(Op::Variable, types.pointer_to_pointer, &[function]);
        let four = assembler.value(Op::Variable, types.pointer_to_pointer, &[function]);
        assembler.push(Op::Store, &[three, d]);
        assembler.push(Op::CopyMemory, &[four, three]);
        let loaded = assembler.value(Op::Load, types.pointer, &[four]);
        assembler.push(Op::CopyMemory, &[e, loaded]);
    });
    assert_eq!(found, buffers([WRITE, WRITE, BOTH, READ, WRITE]));
}

#[test]
fn an_unknown_use_of_a_pointer_may_be_anything() {
    let found = by_hand(|assembler, types, [a, b, ..]| {
        // No shader has this instruction; its memory accesses are not known here.
        assembler.value(Op::GenericPtrMemSemantics, types.uint, &[a]);
        assembler.push(Op::LifetimeStart, &[b, 0]);
    });
    assert_eq!(found, buffers([BOTH, NOT, NOT, NOT, NOT]));
}

#[test]
fn returned_pointers_come_from_the_callee() {
    let mut assembler = Assembler::new();
    let types = Types::new(&mut assembler);
    let [a, b] = [0, 1].map(|binding| assembler.storage_buffer(types.pointer_to_block, binding));
    let returns_pointer = assembler.declare(Op::TypeFunction, &[types.pointer]);
    let callee = assembler.id();
    assembler.push(Op::Function, &[types.void, Assembler::MAIN, 0, types.function]);
    assembler.declare(Op::Label, &[]);
    let pointer = assembler.value(Op::FunctionCall, types.pointer, &[callee]);
    assembler.push(Op::Store, &[pointer, types.zero]);
    assembler.push(Op::Return, &[]);
    assembler.push(Op::FunctionEnd, &[]);
    assembler.push(Op::Function, &[types.pointer, callee, 0, returns_pointer]);
    assembler.declare(Op::Label, &[]);
    for buffer in [a, b] {
        let pointer = assembler.value(Op::AccessChain, types.pointer, &[buffer, types.zero]);
        assembler.push(Op::ReturnValue, &[pointer]);
    }
    assembler.push(Op::FunctionEnd, &[]);
    let module = ShaderModule::parse(&assembler.finish()).unwrap();
    let entry = module.entry_point("main", vk::ShaderStageFlags::COMPUTE).unwrap();
    assert_eq!(
        rows(&entry),
        [
            (0, K::StorageBuffer, false, true),
            (1, K::StorageBuffer, false, true)
        ]
    );
}
