//! Guards of regions: comparisons that decide a branch.
//!
//! ```text
//! %a = OpULessThan %x %n
//! OpBranchConditional %a %second %merge
//! %second = …  %b = OpULessThan %y %m
//! %merge  = …  %c = OpPhi %a %first %b %second        c is true if each value that it can
//! OpBranchConditional %c %then %end                   take, from a block that can be reached, is true
//! ```
//! The compared values are constant during an invocation, so it does not matter when a comparison is executed.

use std::collections::BTreeMap;

use rspirv::spirv::Op;

use crate::certain_instructions::{Branch, CertainInstructions, Functions, MAX_REGIONS};
use crate::control_flow::branch_targets;
use crate::guard::{Comparison, Guard, GuardValue, InvocationId, InvocationIndex};
use crate::index::{IndexSource, Indices, Value};
use crate::module::Module;
use crate::reach::ReachableCode;

/// Maximum number of guards of a region.
const MAX_GUARDS: usize = 12;

/// Maximum number of regions that are tried; some turn out to be empty.
const MAX_ATTEMPTS: usize = 2 * MAX_REGIONS;

/// Maximum nesting depth of conditions.
const MAX_DEPTH: u32 = 16;

/// Adds the regions executed by invocations that meet guards.
pub(crate) fn add_guarded(
    always: &mut CertainInstructions,
    functions: &mut Functions<'_>,
    source: &IndexSource<'_>,
) {
    let module = source.module;
    let blocks = Blocks::new(module, source.reach);
    let (mut around, mut attempts) = (0, 0);
    while let Some(region) = always.regions.get(around) {
        for branch in region.branches.clone() {
            for side in Conditions::sides(module, &branch) {
                if always.regions.len() == MAX_REGIONS || attempts == MAX_ATTEMPTS {
                    return;
                }
                let conditions = Conditions {
                    indices: source.after(always),
                    blocks: &blocks,
                };
                let Some(own) = conditions.sufficient((side.condition, 0), side.wanted, MAX_DEPTH) else {
                    continue;
                };
                let mut guards = always.regions[around].guards.clone();
                guards.extend(own);
                guards.sort_unstable();
                guards.dedup();
                if guards.len() <= MAX_GUARDS {
                    attempts += 1;
                    always.add_region(functions, (around, branch), side.label, guards);
                }
            }
        }
        around += 1;
    }
}

/// A side of a conditional branch, and the value of the condition on that side.
struct Side {
    condition: u32,
    wanted: bool,
    label: u32,
}

/// The blocks of all reachable functions.
struct Blocks {
    /// For each block, by its label, the number of its last instruction.
    ends: BTreeMap<u32, usize>,
    /// Labels of blocks, each with the label of a block that may branch to it. Sorted.
    predecessors: Vec<(u32, u32)>,
}

impl Blocks {
    fn new(module: &Module, reach: &ReachableCode) -> Blocks {
        let code = &module.code;
        let mut blocks = Blocks {
            ends: BTreeMap::new(),
            predecessors: Vec::new(),
        };
        let mut open = 0;
        for &number in &reach.instructions {
            let instruction = &code.instructions[number];
            if instruction.op == Op::Label {
                open = code.result(instruction);
                continue;
            }
            if !matches!(instruction.op, Op::Branch | Op::BranchConditional | Op::Switch) {
                continue;
            }
            let Some(targets) = branch_targets(code, instruction) else {
                // A block without known predecessors is never proved to be skipped.
                blocks.predecessors.clear();
                return blocks;
            };
            blocks.ends.insert(open, number);
            blocks
                .predecessors
                .extend(targets.into_iter().map(|target| (target, open)));
        }
        blocks.predecessors.sort_unstable();
        blocks.predecessors.dedup();
        blocks
    }

    fn predecessors(&self, label: u32) -> impl Iterator<Item = u32> + '_ {
        let first = self.predecessors.partition_point(|(target, _)| *target < label);
        let own = self.predecessors[first..].iter();
        own.take_while(move |(target, _)| *target == label)
            .map(|(_, source)| *source)
    }
}

/// Finds guards that decide conditions.
struct Conditions<'a> {
    indices: Indices<'a>,
    blocks: &'a Blocks,
}

/// Guards that an invocation must all meet.
type Guards = Vec<Guard>;

impl Conditions<'_> {
    fn sides(module: &Module, branch: &Branch) -> Vec<Side> {
        let code = &module.code;
        let operands = code.operands(&code.instructions[branch.number]);
        let &[condition, then, otherwise, ..] = operands else {
            return Vec::new();
        };
        let side = |wanted, label| Side {
            condition,
            wanted,
            label,
        };
        match then == otherwise {
            true => Vec::new(),
            false => vec![side(true, then), side(false, otherwise)],
        }
    }

    /// Returns guards that together make a component of a condition true, or false; `None` if none are known.
    fn sufficient(&self, (id, component): (u32, u32), wanted: bool, depth: u32) -> Option<Guards> {
        let depth = depth.checked_sub(1)?;
        let (id, component) = self.indices.source(id, component)?;
        let code = &self.indices.module.code;
        let one = code.definition(id)?;
        let operands = code.operands(one);
        let of = |n: usize, wanted| self.sufficient((*operands.get(n)?, component), wanted, depth);
        match one.op {
            Op::ConstantTrue => wanted.then(Vec::new),
            Op::ConstantFalse | Op::ConstantNull => (!wanted).then(Vec::new),
            Op::LogicalNot => of(0, !wanted),
            Op::LogicalAnd | Op::LogicalOr => {
                // Both operands, or one of them.
                if (one.op == Op::LogicalAnd) == wanted {
                    conjunction(of(0, wanted), of(1, wanted))
                } else {
                    of(0, wanted).or_else(|| of(1, wanted))
                }
            }
            Op::All | Op::Any => {
                let vector = *operands.first()?;
                let length = code.operand(code.type_of(vector)?, 1);
                if !(2..=4).contains(&length) {
                    return None;
                }
                let mut components = (0..length).map(|n| self.sufficient((vector, n), wanted, depth));
                if (one.op == Op::All) == wanted {
                    components.try_fold(Vec::new(), |all, one| conjunction(Some(all), one))
                } else {
                    components.flatten().next()
                }
            }
            Op::Phi => {
                let block = self.block_of(id)?;
                let mut values = operands.chunks_exact(2);
                let all = values.try_fold(Vec::new(), |all, incoming| {
                    let &[value, from] = incoming else { return None };
                    let is_so = self.branches_by(from, block, value) == Some(wanted);
                    let one = is_so.then(Vec::new);
                    let one = one.or_else(|| self.sufficient((value, component), wanted, depth));
                    let one = one.or_else(|| self.avoided(from, block, depth));
                    conjunction(Some(all), one)
                });
                all.filter(|_| !operands.is_empty())
            }
            Op::Select => {
                let chosen = |n, side: bool| {
                    let condition =
                        || self.sufficient((operands[0], self.part_of(operands[0], component)), !side, depth);
                    of(n, wanted).or_else(condition)
                };
                (operands.len() == 3).then(|| conjunction(chosen(1, true), chosen(2, false)))?
            }
            op => self.compared(op, [*operands.first()?, *operands.get(1)?], component, wanted),
        }
    }

    /// Returns the component of a `select`'s condition that decides the given component of the result: a scalar condition selects whole vectors.
    fn part_of(&self, condition: u32, component: u32) -> u32 {
        let kind = self.indices.module.code.type_of(condition);
        match kind.is_some_and(|kind| kind.op == Op::TypeVector) {
            true => component,
            false => 0,
        }
    }

    /// Returns the label of the block that contains a phi.
    fn block_of(&self, phi: u32) -> Option<u32> {
        let code = &self.indices.module.code;
        let mut number = code.number(code.node(phi)?);
        // Only other phis and line numbers precede it.
        loop {
            number = number.checked_sub(1)?;
            let one = &code.instructions[number];
            match one.op {
                Op::Label => return Some(code.result(one)),
                Op::Phi | Op::Line | Op::NoLine => {}
                _ => return None,
            }
            self.indices.steps.set(self.indices.steps.get().checked_sub(1)?);
        }
    }

    /// Returns the value that a condition has if the block that tests it branches to `to`: in `a || b`, `a` is true if `b` is skipped.
    fn branches_by(&self, from: u32, to: u32, condition: u32) -> Option<bool> {
        let code = &self.indices.module.code;
        let last = &code.instructions[*self.blocks.ends.get(&from)?];
        let &[mut tested, then, otherwise, ..] = code.operands(last) else {
            return None;
        };
        let mut value = then == to;
        if last.op != Op::BranchConditional || (then == to) == (otherwise == to) {
            return None;
        }
        for _ in 0..MAX_DEPTH {
            if tested == condition {
                return Some(value);
            }
            let definition = code.definition(tested)?;
            if definition.op != Op::LogicalNot {
                return None;
            }
            (tested, value) = (code.operand(definition, 0), !value);
        }
        None
    }

    /// Returns guards under which a block never branches to another one.
    fn avoided(&self, from: u32, to: u32, depth: u32) -> Option<Guards> {
        let depth = depth.checked_sub(1)?;
        let code = &self.indices.module.code;
        self.indices.steps.set(self.indices.steps.get().checked_sub(1)?);
        let last = &code.instructions[*self.blocks.ends.get(&from)?];
        let other_side = match (last.op, code.operands(last)) {
            (Op::BranchConditional, &[condition, then, otherwise, ..]) if then != otherwise => {
                self.sufficient((condition, 0), then != to, depth)
            }
            _ => None,
        };
        other_side.or_else(|| {
            // Or the block is never executed; the first block of a function has no predecessors.
            let mut before = self.blocks.predecessors(from).peekable();
            before.peek()?;
            before.try_fold(Vec::new(), |all, one| {
                conjunction(Some(all), self.avoided(one, from, depth))
            })
        })
    }

    /// Returns the guards under which a comparison is true, or false if `wanted` is false; `None` if they are not known.
    fn compared(&self, op: Op, operands: [u32; 2], component: u32, wanted: bool) -> Option<Guards> {
        use Comparison as C;
        let (comparison, signed, is_swapped) = match op {
            Op::ULessThan => (C::Less, false, false),
            Op::ULessThanEqual => (C::LessOrEqual, false, false),
            Op::UGreaterThan => (C::Less, false, true),
            Op::UGreaterThanEqual => (C::LessOrEqual, false, true),
            Op::SLessThan => (C::Less, true, false),
            Op::SLessThanEqual => (C::LessOrEqual, true, false),
            Op::SGreaterThan => (C::Less, true, true),
            Op::SGreaterThanEqual => (C::LessOrEqual, true, true),
            Op::IEqual => (C::Equal, false, false),
            Op::INotEqual => (C::NotEqual, false, false),
            _ => return None,
        };
        if !operands.iter().all(|id| self.indices.is_word(*id)) {
            return None;
        }
        let [left, right] = operands.map(|id| self.indices.value(id, component));
        let (left, right) = (left?, right?);
        if comparison >= C::Equal && (comparison == C::Equal) == wanted {
            if let (Value::LocalIndex, Value::Constant(0)) | (Value::Constant(0), Value::LocalIndex) =
                (left, right)
            {
                return self.first_of_workgroup();
            }
        }
        let (left, right) = (self.number(left)?, self.number(right)?);
        let (left, right) = if is_swapped { (right, left) } else { (left, right) };
        let is_index = |value| matches!(value, GuardValue::Invocation(_));
        let guard = Guard {
            left,
            comparison,
            signed,
            right,
        };
        let is_known = !(is_index(left) && is_index(right));
        is_known.then(|| vec![if wanted { guard } else { guard.negated() }])
    }

    fn number(&self, value: Value) -> Option<GuardValue> {
        Some(match value {
            Value::Constant(value) => GuardValue::Constant(value),
            Value::Uniform(value) => value,
            index => GuardValue::Invocation(self.indices.invocation(index)?),
        })
    }

    /// Returns the guards that select the invocation with `LocalInvocationIndex` 0.
    fn first_of_workgroup(&self) -> Option<Guards> {
        let size = self.indices.local_size?;
        let guards = (0..).zip(size).map(|(axis, local_size)| Guard {
            left: GuardValue::Invocation(InvocationIndex {
                id: InvocationId::Local,
                axis,
                local_size,
            }),
            comparison: Comparison::Equal,
            signed: false,
            right: GuardValue::Constant(0),
        });
        Some(guards.collect())
    }
}

/// Returns the guards of both conditions; `None` if either is not known, or if there are more than [`MAX_GUARDS`].
fn conjunction(one: Option<Guards>, other: Option<Guards>) -> Option<Guards> {
    let (mut all, other) = (one?, other?);
    all.extend(other);
    all.sort_unstable();
    all.dedup();
    (all.len() <= MAX_GUARDS).then_some(all)
}
