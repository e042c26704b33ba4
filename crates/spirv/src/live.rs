//! Liveness of results: a load whose result is never used does not count as a read.
//!
//! Components of vectors are tracked separately, through vectors of the same length, since `w` of a position may be loaded but never be defined. A
//! value that cannot be tracked by component counts as used, but none of its components is certainly used.

use rspirv::spirv::{Op, StorageClass};

use crate::code::{Instruction, Node};
use crate::effect::is_atomic_update;
use crate::module::Module;
use crate::reach::ReachableCode;
use crate::types::Memory;

/// Maximum number of access chains between a pointer and its variable.
const MAX_STEPS: usize = 64;

/// Used components, as bits from 0; a scalar has component 0, and a pointer has the components of its target.
type Uses = u8;

/// Used in any way.
const USED: Uses = 1 << 7;
/// Every component.
const COMPONENTS: Uses = 0b1111;
const ALL: Uses = USED | COMPONENTS;

/// Definitions on which stores, atomics and branches depend.
pub(crate) struct LiveResults {
    uses: Vec<Uses>,
}

impl LiveResults {
    /// Finds the used results, starting from the reachable instructions that do more than return a result. O(words x log definitions).
    pub(crate) fn new(module: &Module, reach: &ReachableCode) -> LiveResults {
        let mut tracer = Tracer {
            module,
            reach,
            uses: vec![0; module.code.node_count()],
            returned: vec![0; module.functions.len()],
            stores: local_stores(module, reach),
            pending: Vec::new(),
        };
        for &number in &reach.instructions {
            let instruction = &module.code.instructions[number];
            let operands = module.code.operands(instruction);
            if is_root(module, instruction) {
                let private = instruction.op == Op::Store
                    && module.pointee_memory(operands[0]) == Some(Memory::Private);
                let output = || is_output(module, operands[0]);
                // Loads from a variable that is not tracked are unknown.
                let uses = if private && !output() { USED } else { ALL };
                operands.iter().for_each(|&id| tracer.push(id, uses));
            }
        }
        while let Some((node, uses)) = tracer.pending.pop() {
            tracer.trace(node, uses);
        }
        LiveResults { uses: tracer.uses }
    }

    /// Returns `true` if something depends on the result with this id.
    pub(crate) fn is_used(&self, module: &Module, id: u32) -> bool {
        module
            .code
            .node(id)
            .is_some_and(|node| self.uses[node.index()] != 0)
    }

    /// Returns `true` if something depends on every component of a number or vector.
    pub(crate) fn is_used_whole(&self, module: &Module, id: u32) -> bool {
        let uses = module.code.node(id).map_or(0, |node| self.uses[node.index()]);
        let all = components(length(module, id));
        all != 0 && uses & all == all
    }
}

/// A store to a local variable: the variable, the component if only one is stored, and the value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct LocalStore {
    variable: u32,
    part: StoredPart,
    value: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum StoredPart {
    Whole,
    Component(u32),
    Other,
}

struct Tracer<'a> {
    module: &'a Module,
    reach: &'a ReachableCode,
    uses: Vec<Uses>,
    /// For each function, uses of the values that it returns.
    returned: Vec<Uses>,
    /// Stores to local variables, sorted by variable.
    stores: Vec<LocalStore>,
    pending: Vec<(Node, Uses)>,
}

impl Tracer<'_> {
    fn push(&mut self, id: u32, uses: Uses) {
        if let Some(node) = self.module.code.node(id) {
            self.push_node(node, uses);
        }
    }

    fn push_node(&mut self, node: Node, uses: Uses) {
        let known = &mut self.uses[node.index()];
        let new = uses & !*known;
        *known |= new;
        if new != 0 {
            self.pending.push((node, new));
        }
    }

    /// Propagates new uses of a definition to its operands.
    fn trace(&mut self, node: Node, uses: Uses) {
        let (module, reach) = (self.module, self.reach);
        let number = module.code.number(node);
        let one = &module.code.instructions[number];
        let operands = module.code.operands(one);
        let id = module.code.id(node);
        match one.op {
            Op::Variable => self.trace_stores(id, uses),
            Op::Load => self.push(module.code.operand(one, 0), uses),
            Op::AccessChain | Op::InBoundsAccessChain => {
                let component = component_of_chain(module, one);
                self.push(
                    operands[0],
                    component.map_or(USED, |component| moved(uses, 0, component)),
                );
                operands[1..].iter().for_each(|&index| self.push(index, ALL));
            }
            Op::FunctionParameter => reach.arguments(module, number).for_each(|id| self.push(id, uses)),
            Op::FunctionCall => {
                if let Some(callee) = module.function(module.code.operand(one, 0)) {
                    let new = uses & !self.returned[callee];
                    self.returned[callee] |= new;
                    if new != 0 {
                        reach
                            .returned(callee)
                            .for_each(|value| self.push_node(value, new));
                    }
                }
            }
            Op::Phi => operands.iter().step_by(2).for_each(|&id| self.push(id, uses)),
            Op::CompositeExtract if operands.len() == 2 && length(module, operands[0]) > 1 => {
                self.push(operands[0], moved(uses, 0, operands[1]));
            }
            Op::VectorShuffle => self.trace_shuffle(operands, uses),
            Op::CompositeConstruct if length(module, id) > 1 => {
                let mut first = 0;
                for &id in operands.iter().take(COMPONENTS.count_ones() as usize) {
                    let length = length(module, id).max(1);
                    let used = (0..length).fold(0, |used, n| used | moved(uses, first + n, n));
                    self.push(id, used);
                    first += length;
                }
            }
            _ => {
                let result = length(module, id);
                let every = if uses & COMPONENTS != 0 && result > 0 {
                    ALL
                } else {
                    USED
                };
                for &operand in operands {
                    let same = result > 1 && length(module, operand) == result;
                    self.push(operand, if same { uses | USED } else { every });
                }
            }
        }
    }

    fn trace_shuffle(&mut self, operands: &[u32], uses: Uses) {
        let [first, second, chosen @ ..] = operands else {
            return;
        };
        let length = length(self.module, *first);
        for (component, &chosen) in (0..4).zip(chosen) {
            match chosen.checked_sub(length) {
                None => self.push(*first, moved(uses, component, chosen)),
                Some(of_second) => self.push(*second, moved(uses, component, of_second)),
            }
        }
    }

    /// Propagates new uses of a variable's contents to the values stored in it.
    fn trace_stores(&mut self, variable: u32, uses: Uses) {
        let first = self.stores.partition_point(|store| store.variable < variable);
        for position in first..self.stores.len() {
            let store = self.stores[position];
            if store.variable != variable {
                break;
            }
            match store.part {
                StoredPart::Whole => self.push(store.value, uses),
                StoredPart::Component(component) if moved(uses, component, 0) & COMPONENTS != 0 => {
                    self.push(store.value, ALL);
                }
                StoredPart::Component(_) => {}
                StoredPart::Other => self.push(store.value, USED),
            }
        }
    }
}

/// Returns the use of component `to` of an operand, given uses of component `from` of a result.
fn moved(uses: Uses, from: u32, to: u32) -> Uses {
    let used = from < 4 && to < 4 && uses & 1 << from != 0;
    USED | if used { 1 << to } else { 0 }
}

/// Returns all components of a number or vector of this length.
fn components(length: u32) -> Uses {
    COMPONENTS >> (4 - length.min(4))
}

/// Returns the number of components of a number (1) or vector of numbers; 0 for anything else.
fn length(module: &Module, id: u32) -> u32 {
    let Some(kind) = module.code.type_of(id) else {
        return 0;
    };
    match kind.op {
        Op::TypeVector if module.code.operand(kind, 1) <= 4 => module.code.operand(kind, 1),
        Op::TypeInt | Op::TypeFloat | Op::TypeBool => 1,
        _ => 0,
    }
}

/// Returns the component of a vector that a chain of one constant index selects.
fn component_of_chain(module: &Module, chain: &Instruction) -> Option<u32> {
    let code = &module.code;
    let &[base, index] = code.operands(chain) else {
        return None;
    };
    let pointee = code.operand(code.type_of(base)?, 1);
    let vector = code.definition(pointee)?.op == Op::TypeVector;
    module.constant(index).filter(|_| vector)
}

/// Returns `true` if an instruction uses its operands even if its result is unused.
fn is_root(module: &Module, instruction: &Instruction) -> bool {
    let code = &module.code;
    match instruction.op {
        Op::ReturnValue => false,
        Op::Store => local_part(module, code.operand(instruction, 0)).is_none(),
        Op::FunctionCall => module
            .function(code.operand(instruction, 0))
            .is_none_or(|callee| !module.functions[callee].defined),
        Op::AtomicLoad => true,
        op => code.result(instruction) == 0 || is_atomic_update(op),
    }
}

/// Returns `true` if a pointer points to an output of the stage.
fn is_output(module: &Module, pointer: u32) -> bool {
    let class = module.code.definition(pointer);
    let class = class.and_then(|definition| module.storage_class(module.code.result_type(definition)));
    class == Some(StorageClass::Output)
}

/// Finds every store to a variable of a function.
fn local_stores(module: &Module, reach: &ReachableCode) -> Vec<LocalStore> {
    let mut stores = Vec::new();
    for &number in &reach.instructions {
        let instruction = &module.code.instructions[number];
        if instruction.op == Op::Store {
            let value = module.code.operand(instruction, 1);
            let local = local_part(module, module.code.operand(instruction, 0));
            stores.extend(local.map(|(variable, part)| LocalStore {
                variable,
                part,
                value,
            }));
        }
    }
    stores.sort_unstable();
    stores
}

/// Returns the variable of a function that a pointer points into, and the part of it that the pointer points to; `None` for other pointers.
fn local_part(module: &Module, mut pointer: u32) -> Option<(u32, StoredPart)> {
    let mut part = StoredPart::Whole;
    for _ in 0..MAX_STEPS {
        let definition = module.code.definition(pointer)?;
        match definition.op {
            Op::Variable => {
                let local = module.variable_class(definition) == Some(StorageClass::Function);
                return local.then_some((pointer, part));
            }
            Op::AccessChain | Op::InBoundsAccessChain => {
                part = match (part, component_of_chain(module, definition)) {
                    (StoredPart::Whole, Some(component)) => StoredPart::Component(component),
                    _ => StoredPart::Other,
                };
            }
            Op::CopyObject => {}
            _ => return None,
        }
        pointer = module.code.operand(definition, 0);
    }
    None
}
