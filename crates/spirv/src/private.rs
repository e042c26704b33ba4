//! Memory that only the module itself can write: variables of functions, of the invocation, of the workgroup.

use rspirv::spirv::Op;

use crate::code::Node;
use crate::effect::{Bits, Origin, origin};
use crate::module::Module;
use crate::reach::ReachableCode;
use crate::types::Memory;

/// A class of private memory that some pointer may reach, given by its representative definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Class(u32);

/// A value stored in private memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum StoredValue {
    /// The value with this id.
    Value(u32),
    /// The contents of the memory that this pointer points to.
    CopyOf(u32),
}

/// Private pointers that may point to the same memory, and the values stored there.
///
/// Pointers that may come from each other form one class (a union-find forest): less precise than a set of variables for each pointer, but linear. A
/// variable whose pointers are not mixed with others has its own class.
pub(crate) struct PrivateMemory {
    parents: Vec<u32>,
    demands: Vec<Bits>,
    /// Classes and the values stored there, sorted.
    pub(crate) stores: Vec<(Class, StoredValue)>,
}

impl PrivateMemory {
    pub(crate) fn new(module: &Module, reach: &ReachableCode) -> PrivateMemory {
        let count = module.code.node_count();
        let mut memory = PrivateMemory {
            parents: (0..count as u32).collect(),
            demands: vec![0; count],
            stores: Vec::new(),
        };
        for &number in &reach.instructions {
            memory.unite_origins(module, reach, number);
        }
        for pair in reach.returns.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
            if is_private(module, pair[0].1) && is_private(module, pair[1].1) {
                memory.unite(pair[0].1, pair[1].1);
            }
        }
        let globals = module.globals.iter().filter_map(|&id| module.code.node(id));
        let globals = globals.map(|node| module.code.number(node));
        for number in globals.chain(reach.instructions.iter().copied()) {
            memory.note_store(module, number);
        }
        memory.stores.sort_unstable();
        memory
    }

    /// Adds accesses to the contents that a pointer points to; returns the class and the bits that are new to it.
    pub(crate) fn add_demand(&mut self, pointer: Node, bits: Bits) -> (Class, Bits) {
        let class = self.class(pointer);
        let demand = &mut self.demands[class.0 as usize];
        let new = bits & !*demand;
        *demand |= new;
        (class, new)
    }

    /// Returns the positions in [`PrivateMemory::stores`] of the values stored in a class.
    pub(crate) fn stores_in(&self, class: Class) -> std::ops::Range<usize> {
        let first = self.stores.partition_point(|(other, _)| *other < class);
        let end = self.stores.partition_point(|(other, _)| *other <= class);
        first..end
    }

    fn class(&mut self, pointer: Node) -> Class {
        let mut node = pointer.0;
        while self.parents[node as usize] != node {
            // Path halving keeps it short.
            let grandparent = self.parents[self.parents[node as usize] as usize];
            self.parents[node as usize] = grandparent;
            node = grandparent;
        }
        Class(node)
    }

    fn unite(&mut self, a: Node, b: Node) {
        let (Class(a), Class(b)) = (self.class(a), self.class(b));
        self.parents[a.max(b) as usize] = a.min(b);
    }

    /// Puts a private pointer into the same class as the pointers it comes from.
    fn unite_origins(&mut self, module: &Module, reach: &ReachableCode, number: usize) {
        let instruction = &module.code.instructions[number];
        let id = module.code.result(instruction);
        if module.pointee_memory(id) != Some(Memory::Private) {
            return;
        }
        let Some(pointer) = module.code.node(id) else {
            return;
        };
        let mut unite = |other: Node| {
            if is_private(module, other) {
                self.unite(pointer, other);
            }
        };
        let node = |id: &u32| module.code.node(*id);
        match origin(module, instruction) {
            Origin::Operands(ids) => ids.iter().filter_map(node).for_each(&mut unite),
            Origin::PhiOperands(ids) => ids.iter().step_by(2).filter_map(node).for_each(&mut unite),
            Origin::Parameter => {
                let arguments = reach.arguments(module, number);
                arguments
                    .filter_map(|id| module.code.node(id))
                    .for_each(&mut unite);
            }
            Origin::Call(callee) => {
                // One represents all: the values that a function returns are united with each other.
                let returned = module
                    .function(callee)
                    .and_then(|callee| reach.returned(callee).next());
                returned.into_iter().for_each(&mut unite);
            }
            // Private pointers are not stored anywhere (that would need the physical addressing of kernels).
            Origin::Loaded | Origin::Unknown => {}
        }
    }

    fn note_store(&mut self, module: &Module, number: usize) {
        let instruction = &module.code.instructions[number];
        let operand = |n| module.code.operand(instruction, n);
        let (pointer, stored) = match instruction.op {
            Op::Store => (operand(0), StoredValue::Value(operand(1))),
            Op::CopyMemory | Op::CopyMemorySized => (operand(0), StoredValue::CopyOf(operand(1))),
            Op::Variable if operand(1) != 0 => {
                (module.code.result(instruction), StoredValue::Value(operand(1)))
            }
            _ => return,
        };
        if module.pointee_memory(pointer) == Some(Memory::Private) {
            if let Some(node) = module.code.node(pointer) {
                let class = self.class(node);
                self.stores.push((class, stored));
            }
        }
    }
}

fn is_private(module: &Module, pointer: Node) -> bool {
    module.pointee_memory(module.code.id(pointer)) == Some(Memory::Private)
}
