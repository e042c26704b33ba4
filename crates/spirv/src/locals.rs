//! Variables that are stored exactly once, on every path, and the value that they hold afterwards.

use std::collections::BTreeMap;
use std::ops::Range;

use rspirv::spirv::{Op, StorageClass};

use crate::certain_instructions::CertainInstructions;
use crate::code::Instruction;
use crate::control_flow::is_terminator;
use crate::module::Module;
use crate::reach::ReachableCode;
use crate::types::Memory;

/// Maximum number of access chains, copies and parameters between a pointer and its variable.
const MAX_STEPS: usize = 64;

/// The variable that a pointer leads to.
enum Root {
    /// A variable, and whether the pointer points to all of it.
    Variable(u32, bool),
    /// Several variables or none. The contents of these variables are already marked as unknown where such a pointer is created.
    Unknown,
    /// The step limit was reached.
    TooFar,
}

/// Knowledge about a variable's contents.
#[derive(Clone, Copy)]
enum Contents {
    /// This value, stored by the instruction with this number; `None` for an initializer.
    Stored(u32, Option<usize>),
    /// Stored more than once, in part, or through a pointer that is not followed.
    Unknown,
}

/// The values stored in variables of functions and of the invocation.
pub(crate) struct Locals {
    contents: BTreeMap<u32, Contents>,
    /// For each function, the range of its instructions, and the last instruction of its first block.
    functions: Vec<(Range<usize>, usize)>,
}

impl Locals {
    /// Follows every pointer to private memory. O(words x log definitions).
    pub(crate) fn new(module: &Module, reach: &ReachableCode) -> Locals {
        let functions = module.functions.iter().map(|function| {
            let mut body = function.body.clone();
            let last = body.find(|number| is_terminator(module.code.instructions[*number].op));
            (function.body.clone(), last.unwrap_or(0))
        });
        let mut locals = Locals {
            contents: BTreeMap::new(),
            functions: functions.collect(),
        };
        let globals = module.globals.iter().filter_map(|&id| module.code.node(id));
        let globals = globals.map(|node| module.code.number(node));
        for number in globals.chain(reach.instructions.iter().copied()) {
            if locals.note(module, reach, number).is_none() {
                // A pointer that could not be followed may point anywhere.
                locals.contents.clear();
                break;
            }
        }
        locals
    }

    /// Returns the value that a variable certainly holds when an instruction loads the whole variable through a pointer.
    pub(crate) fn value(
        &self,
        module: &Module,
        reach: &ReachableCode,
        always: &CertainInstructions,
        load: usize,
        pointer: u32,
    ) -> Option<u32> {
        let Root::Variable(id, true) = root(module, reach, pointer) else {
            return None;
        };
        let variable = module.code.definition(id)?;
        // Other invocations also write shared memory.
        let class = module.variable_class(variable)?;
        if !matches!(class, StorageClass::Function | StorageClass::Private) {
            return None;
        }
        let Some(&Contents::Stored(value, store)) = self.contents.get(&id) else {
            return None;
        };
        if let Some(store) = store {
            if !always.precedes(store, load) && !self.begins_with(store, load) {
                return None;
            }
        }
        let kind = module.code.result_type(module.code.definition(value)?);
        (kind == module.variable_type(variable)).then_some(value)
    }

    /// Returns `true` if a store is in the first block of a function, and a load follows in the same function.
    fn begins_with(&self, store: usize, load: usize) -> bool {
        let after = self.functions.partition_point(|(body, _)| body.start <= store);
        let Some((body, last)) = after.checked_sub(1).map(|at| &self.functions[at]) else {
            return false;
        };
        store < load && store < *last && body.contains(&load)
    }

    /// Records the effect of an instruction on variables; `None` if it is unknown.
    fn note(&mut self, module: &Module, reach: &ReachableCode, number: usize) -> Option<()> {
        let instruction = &module.code.instructions[number];
        let operands = module.code.operands(instruction);
        let operand = |n| module.code.operand(instruction, n);
        match instruction.op {
            Op::Variable => {
                if operand(1) != 0 {
                    let id = module.code.result(instruction);
                    self.store(id, Contents::Stored(operand(1), None));
                }
                Some(())
            }
            Op::Store => {
                if is_private(module, operand(0)) {
                    match root(module, reach, operand(0)) {
                        Root::Variable(id, true) => {
                            self.store(id, Contents::Stored(operand(1), Some(number)))
                        }
                        Root::Variable(id, false) => self.store(id, Contents::Unknown),
                        Root::Unknown => {}
                        Root::TooFar => return None,
                    }
                }
                self.mark_unknown(module, reach, &operands[1..])
            }
            // These only read through the pointer, or pass it on in a way that `root` follows.
            Op::Load
            | Op::AccessChain
            | Op::InBoundsAccessChain
            | Op::CopyObject
            | Op::LifetimeStart
            | Op::LifetimeStop => Some(()),
            Op::ExtInst if module.inert_sets.contains(&operand(0)) => Some(()),
            Op::FunctionCall if is_only_call(module, reach, instruction) => Some(()),
            _ => self.mark_unknown(module, reach, operands),
        }
    }

    /// Adds a store to a variable.
    fn store(&mut self, variable: u32, contents: Contents) {
        let known = self.contents.entry(variable);
        known.and_modify(|it| *it = Contents::Unknown).or_insert(contents);
    }

    /// Marks the contents of all variables among these ids as unknown.
    fn mark_unknown(&mut self, module: &Module, reach: &ReachableCode, ids: &[u32]) -> Option<()> {
        for &id in ids.iter().filter(|id| is_private(module, **id)) {
            match root(module, reach, id) {
                Root::Variable(id, _) => drop(self.contents.insert(id, Contents::Unknown)),
                Root::Unknown => {}
                Root::TooFar => return None,
            }
        }
        Some(())
    }
}

/// Returns the argument passed for a parameter, which is given by the number of its instruction, if its function is called only once.
pub(crate) fn only_argument(module: &Module, reach: &ReachableCode, parameter: usize) -> Option<u32> {
    let mut arguments = reach.arguments(module, parameter);
    let argument = arguments.next()?;
    arguments.next().is_none().then_some(argument)
}

/// Returns `true` if a call is the only one of its callee.
fn is_only_call(module: &Module, reach: &ReachableCode, call: &Instruction) -> bool {
    let callee = module.function(module.code.operand(call, 0));
    callee.is_some_and(|callee| reach.call_count(callee) == 1)
}

fn is_private(module: &Module, id: u32) -> bool {
    module.pointee_memory(id) == Some(Memory::Private)
}

fn root(module: &Module, reach: &ReachableCode, mut pointer: u32) -> Root {
    let mut whole = true;
    for _ in 0..MAX_STEPS {
        let Some(node) = module.code.node(pointer) else {
            return Root::Unknown;
        };
        let number = module.code.number(node);
        let definition = &module.code.instructions[number];
        match definition.op {
            Op::Variable => return Root::Variable(pointer, whole),
            Op::AccessChain | Op::InBoundsAccessChain => {
                whole = false;
                pointer = module.code.operand(definition, 0);
            }
            Op::CopyObject => pointer = module.code.operand(definition, 0),
            Op::FunctionParameter => match only_argument(module, reach, number) {
                Some(argument) => pointer = argument,
                None => return Root::Unknown,
            },
            _ => return Root::Unknown,
        }
    }
    Root::TooFar
}
