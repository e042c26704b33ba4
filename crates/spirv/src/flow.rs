//! Data flow from the accesses of instructions back to the variables that their handles come from.
//!
//! ```text
//! %p = OpAccessChain %lights %i  ◄── write ── OpStore %p %v
//!  └───► write ───► %lights                                the variable is written
//!
//! %a = OpAccessChain %push %0    ◄── addresses written through ──┐
//! %b = OpLoad %a                 ◄── write ── OpStore %b %v      │ a pointer from memory
//!  └─────────────────────────────────────────────────────────────┘
//! ```
//! Bits are propagated from use to definition: through chains, copies, selections and phis, from parameters to the arguments of every reachable call,
//! from a loaded pointer to whatever was stored in the same private memory. Every id is visited at most once for each bit, so the work is
//! proportional to the length of the module, regardless of its graph. The result is conservative: every possible access is reported.

use std::collections::BTreeMap;

use rspirv::spirv::Op;

use crate::code::Node;
use crate::effect::{BY_ADDRESS, Bits, CONTENTS, Origin, effects, origin};
use crate::module::Module;
use crate::private::{Class, PrivateMemory, StoredValue};
use crate::reach::ReachableCode;
use crate::types::Memory;

/// The accesses of an entry point to the module's variables.
pub(crate) struct Flow {
    /// For each definition, the accesses through it.
    demand: Vec<Bits>,
    /// For each variable and known offset, the accesses at the address found there.
    pub(crate) placed: BTreeMap<(u32, u32), Bits>,
    /// For each variable, the accesses at addresses found at unknown offsets in it.
    pub(crate) unplaced: BTreeMap<u32, Bits>,
    /// The accesses at addresses found in memory that was itself accessed by address.
    pub(crate) chained: Bits,
    /// All accesses by address.
    pub(crate) by_address: Bits,
}

impl Flow {
    /// Collects the accesses of the reachable instructions.
    pub(crate) fn new(module: &Module, reach: &ReachableCode) -> Flow {
        let mut tracer = Tracer {
            module,
            reach,
            private: PrivateMemory::new(module, reach),
            flow: Flow {
                demand: vec![0; module.code.node_count()],
                placed: BTreeMap::new(),
                unplaced: BTreeMap::new(),
                chained: 0,
                by_address: 0,
            },
            returned: vec![0; module.functions.len()],
            pending: Vec::new(),
        };
        for &number in &reach.instructions {
            let instruction = &module.code.instructions[number];
            effects(module, instruction, |handle, bits| {
                if module.pointee_memory(handle) == Some(Memory::Addressed) {
                    tracer.flow.by_address |= bits;
                }
                tracer.push(handle, bits);
            });
            // Propagating at once avoids repeated work and keeps the queue short.
            tracer.settle();
        }
        tracer.flow
    }

    /// Returns the accesses to a variable's contents.
    pub(crate) fn demand(&self, module: &Module, variable: u32) -> Bits {
        module
            .code
            .node(variable)
            .map_or(0, |node| self.demand[node.index()])
    }
}

/// A queued item whose bits have not been propagated to its origins.
#[derive(Clone, Copy)]
enum PendingItem {
    /// The result of a definition.
    Definition(Node),
    /// Contents of private memory.
    Class(Class),
    /// Contents of the memory that the pointer with this id points to.
    Contents(u32),
}

struct Tracer<'a> {
    module: &'a Module,
    reach: &'a ReachableCode,
    private: PrivateMemory,
    flow: Flow,
    /// For each function, the accesses through the values that it returns.
    returned: Vec<Bits>,
    pending: Vec<(PendingItem, Bits)>,
}

impl Tracer<'_> {
    fn push(&mut self, id: u32, bits: Bits) {
        if let Some(node) = self.module.code.node(id) {
            self.push_node(node, bits);
        }
    }

    fn push_node(&mut self, node: Node, bits: Bits) {
        let demand = &mut self.flow.demand[node.index()];
        let new = bits & !*demand;
        if new != 0 {
            *demand |= new;
            self.pending.push((PendingItem::Definition(node), new));
        }
    }

    fn settle(&mut self) {
        while let Some((item, bits)) = self.pending.pop() {
            match item {
                PendingItem::Definition(node) => self.trace(node, bits),
                PendingItem::Class(class) => self.trace_stores(class, bits),
                PendingItem::Contents(pointer) => self.trace_contents(pointer, bits),
            }
        }
    }

    /// Propagates the bits of a definition to its origins.
    fn trace(&mut self, node: Node, bits: Bits) {
        let (module, reach) = (self.module, self.reach);
        let number = module.code.number(node);
        let instruction = &module.code.instructions[number];
        match origin(module, instruction) {
            Origin::Operands(ids) => ids.iter().for_each(|&id| self.push(id, bits)),
            Origin::PhiOperands(ids) => ids.iter().step_by(2).for_each(|&id| self.push(id, bits)),
            Origin::Parameter => reach.arguments(module, number).for_each(|id| self.push(id, bits)),
            Origin::Call(callee) => {
                if let Some(callee) = module.function(callee) {
                    // Once for each bit, instead of once for each call.
                    let new = bits & !self.returned[callee];
                    self.returned[callee] |= new;
                    if new != 0 {
                        reach
                            .returned(callee)
                            .for_each(|value| self.push_node(value, new));
                    }
                }
            }
            Origin::Loaded if module.is_opaque(module.code.result_type(instruction)) => {
                self.push(module.code.operand(instruction, 0), bits);
            }
            Origin::Loaded => self.trace_contents(module.code.operand(instruction, 0), bits),
            Origin::Unknown if is_variable(instruction.op) && bits >> BY_ADDRESS != 0 => {
                let addresses = self.flow.unplaced.entry(module.code.id(node)).or_default();
                *addresses |= bits >> BY_ADDRESS;
            }
            Origin::Unknown => {}
        }
    }

    /// Propagates the bits of a loaded value to the source of the memory's contents.
    fn trace_contents(&mut self, pointer: u32, bits: Bits) {
        let plain = bits & CONTENTS;
        match self.module.pointee_memory(pointer) {
            Some(Memory::Private) => {
                let Some(node) = self.module.code.node(pointer) else {
                    return;
                };
                let (class, new) = self.private.add_demand(node, bits);
                if new != 0 {
                    self.pending.push((PendingItem::Class(class), new));
                }
            }
            Some(Memory::Addressed) => self.flow.chained |= plain,
            Some(Memory::Interface) => match self.module.place(pointer) {
                Some(place) => *self.flow.placed.entry(place).or_default() |= plain,
                None => self.push(pointer, plain << BY_ADDRESS),
            },
            None => {}
        }
    }

    /// Propagates the bits of private memory to everything that is stored there.
    fn trace_stores(&mut self, class: Class, bits: Bits) {
        for index in self.private.stores_in(class) {
            match self.private.stores[index].1 {
                StoredValue::Value(id) => self.push(id, bits),
                StoredValue::CopyOf(source) => self.pending.push((PendingItem::Contents(source), bits)),
            }
        }
    }
}

fn is_variable(op: Op) -> bool {
    matches!(op, Op::Variable | Op::UntypedVariableKHR)
}
