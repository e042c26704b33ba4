//! Assembles SPIR-V by hand, for modules that no compiler generates.

use rspirv::spirv::{Decoration, ExecutionModel, MAGIC_NUMBER, Op, StorageClass};

/// Instructions of a module, with ids assigned in order.
#[derive(Clone, Debug)]
pub struct Assembler {
    words: Vec<u32>,
    next_id: u32,
}

impl Default for Assembler {
    fn default() -> Assembler {
        Assembler::new()
    }
}

impl Assembler {
    /// A module that declares the compute entry point `main`; the first id is its function's.
    pub fn new() -> Assembler {
        let mut assembler = Assembler {
            words: vec![MAGIC_NUMBER, 0x0001_0600, 0, 0, 0],
            next_id: 1,
        };
        let main = assembler.id();
        let name = u32::from_le_bytes(*b"main");
        assembler.push(Op::EntryPoint, &[ExecutionModel::GLCompute as u32, main, name, 0]);
        assembler
    }

    /// The id of the entry point's function.
    pub const MAIN: u32 = 1;

    /// A new id.
    pub fn id(&mut self) -> u32 {
        self.next_id += 1;
        self.next_id - 1
    }

    /// Appends an instruction with all its operands.
    pub fn push(&mut self, op: Op, operands: &[u32]) {
        self.words.push((operands.len() as u32 + 1) << 16 | op as u32);
        self.words.extend_from_slice(operands);
    }

    /// Appends an instruction that has a result but no result type; returns the result's id.
    pub fn declare(&mut self, op: Op, operands: &[u32]) -> u32 {
        let id = self.id();
        self.push(op, &[&[id], operands].concat());
        id
    }

    /// Appends an instruction with a typed result; returns the result's id.
    pub fn value(&mut self, op: Op, kind: u32, operands: &[u32]) -> u32 {
        let id = self.id();
        self.push(op, &[&[kind, id], operands].concat());
        id
    }

    /// Declares a storage buffer in descriptor set 0 at `binding`: a block of one `uint`. `pointer_to_block` is the pointer type of such a block.
    /// Returns the variable's id.
    pub fn storage_buffer(&mut self, pointer_to_block: u32, binding: u32) -> u32 {
        let id = self.id();
        self.push(Op::Decorate, &[id, Decoration::DescriptorSet as u32, 0]);
        self.push(Op::Decorate, &[id, Decoration::Binding as u32, binding]);
        self.push(
            Op::Variable,
            &[pointer_to_block, id, StorageClass::StorageBuffer as u32],
        );
        id
    }

    /// The module's words.
    pub fn finish(mut self) -> Vec<u32> {
        self.words[3] = self.next_id;
        self.words
    }
}

/// Ids of type declarations that most modules need.
pub struct Types {
    /// `void`.
    pub void: u32,
    /// `void ()`.
    pub function: u32,
    /// `uint`.
    pub uint: u32,
    /// The constant 0.
    pub zero: u32,
    /// A pointer to a block of one `uint` in a storage buffer.
    pub pointer_to_block: u32,
    /// A pointer to a `uint` in a storage buffer.
    pub pointer: u32,
    /// A pointer, with storage class Function, to a pointer to a `uint` in a storage buffer.
    pub pointer_to_pointer: u32,
}

impl Types {
    pub fn new(assembler: &mut Assembler) -> Types {
        let void = assembler.declare(Op::TypeVoid, &[]);
        let function = assembler.declare(Op::TypeFunction, &[void]);
        let uint = assembler.declare(Op::TypeInt, &[32, 0]);
        let zero = assembler.value(Op::Constant, uint, &[0]);
        let block = assembler.declare(Op::TypeStruct, &[uint]);
        assembler.push(Op::Decorate, &[block, Decoration::Block as u32]);
        assembler.push(Op::MemberDecorate, &[block, 0, Decoration::Offset as u32, 0]);
        let storage = StorageClass::StorageBuffer as u32;
        let pointer_to_block = assembler.declare(Op::TypePointer, &[storage, block]);
        let pointer = assembler.declare(Op::TypePointer, &[storage, uint]);
        let pointer_to_pointer =
            assembler.declare(Op::TypePointer, &[StorageClass::Function as u32, pointer]);
        Types {
            void,
            function,
            uint,
            zero,
            pointer_to_block,
            pointer,
            pointer_to_pointer,
        }
    }
}
