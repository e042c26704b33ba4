//! Instructions executed by every invocation that runs the entry point to its end, or by every such invocation that meets guards.
//!
//! ```text
//!        entry            always                    if (x < n)     region 0
//!       /     \                                     /        \
//!   discard    b          b may be skipped:     region 1      │   of the invocations that meet the guard
//!              │          the invocation may        \        /
//!              c ◄─┐      end before it               region 0
//!              │ \─┘
//!            return       a loop that can end is assumed to end
//! ```
//! An instruction is certain if it lies on every path from the start of a function to an exit, and the function is called by a certain instruction.
//! Exits are returns, everything that may end the invocation or turn it into a helper invocation, calls of functions that may do so, and endless
//! loops. The blocks on all paths dominate each other in order, so certain instructions also have an order of execution. The analysis takes time
//! proportional to the number of instructions.
//!
//! Guards compare numbers that do not change while an invocation runs. If such a comparison decides a certain branch, the instructions on all paths
//! from one of its sides to the next certain block are a region: invocations that meet the guards execute all of it. Regions have branches and
//! regions of their own.

use std::collections::BTreeMap;

use rspirv::spirv::Op;

use crate::control_flow::{ControlFlow, callee, may_end};
use crate::guard::Guard;
use crate::module::Module;

/// Marks the absence of a region or position.
const NONE: u32 = u32::MAX;

/// Maximum number of regions: each requires a pass over the blocks of a function.
pub(crate) const MAX_REGIONS: usize = 64;

/// Instructions that invocations execute in this order if they meet guards.
#[derive(Default)]
pub(crate) struct Region {
    pub(crate) guards: Vec<Guard>,
    /// The enclosing region, and the position of the branch that leads to this region.
    parent: Option<(usize, u32)>,
    /// Numbers of the instructions, in the order of their first execution.
    pub(crate) sequence: Vec<usize>,
    /// Conditional branches in `sequence`.
    pub(crate) branches: Vec<Branch>,
}

/// A conditional branch that is certainly executed in a region.
#[derive(Clone, Copy)]
pub(crate) struct Branch {
    /// Number of the branch instruction.
    pub(crate) number: usize,
    pub(crate) function: usize,
    /// The next node that is on all paths from the branch.
    to: u32,
}

/// The instructions that are certainly executed, by region.
pub(crate) struct CertainInstructions {
    /// The first region has no guards; the others follow the region that contains them.
    pub(crate) regions: Vec<Region>,
    /// For each instruction, its region and its position in the region.
    places: Vec<(u32, u32)>,
}

impl CertainInstructions {
    /// Finds the instructions that every invocation executes.
    pub(crate) fn new(functions: &mut Functions<'_>, entry: usize) -> CertainInstructions {
        let instructions = functions.module.code.instructions.len();
        let mut always = CertainInstructions {
            regions: Vec::new(),
            places: vec![(NONE, NONE); instructions],
        };
        functions.seen[entry] = true;
        let steps = functions.certain(entry, None);
        always.add(functions, Region::default(), steps);
        always
    }

    /// Adds the region on one side of a branch, for invocations that meet `guards`, which include those of the enclosing region.
    pub(crate) fn add_region(
        &mut self,
        functions: &mut Functions<'_>,
        (around, branch): (usize, Branch),
        label: u32,
        guards: Vec<Guard>,
    ) {
        let start = functions.graph(branch.function);
        let start = start.and_then(|graph| graph.node_of_label(label));
        let Some(from) = start.filter(|from| *from != branch.to) else {
            return;
        };
        let region = Region {
            guards,
            parent: Some((around, self.places[branch.number].1)),
            ..Region::default()
        };
        let steps = functions.certain(branch.function, Some((from, branch.to)));
        self.add(functions, region, steps);
    }

    fn add(&mut self, functions: &mut Functions<'_>, mut region: Region, steps: Vec<Step>) {
        let module = functions.module;
        let index = self.regions.len() as u32;
        let mut open = vec![steps.into_iter()];
        while let Some(function) = open.last_mut() {
            let Some(step) = function.next() else {
                open.pop();
                continue;
            };
            // An instruction that is already in another region stays there.
            if self.places[step.number].0 != NONE {
                continue;
            }
            self.places[step.number] = (index, region.sequence.len() as u32);
            region.sequence.push(step.number);
            region.branches.extend(step.branch);
            let callee = callee(module, &module.code.instructions[step.number]);
            if let Some(callee) = callee.filter(|callee| !functions.seen[*callee]) {
                functions.seen[callee] = true;
                open.push(functions.certain(callee, None).into_iter());
            }
        }
        if !region.sequence.is_empty() || index == 0 {
            self.regions.push(region);
        }
    }

    /// Returns the position of an instruction's first execution among those that every invocation executes; `None` if it may be skipped.
    pub(crate) fn rank(&self, number: usize) -> Option<u32> {
        let place = self.places.get(number);
        place.filter(|(region, _)| *region == 0).map(|(_, rank)| *rank)
    }

    /// Returns `true` if invocations that meet the guards of the second instruction execute it, and execute the first one earlier.
    pub(crate) fn precedes(&self, first: usize, second: usize) -> bool {
        let Some((&(region, position), &place)) = self.places.get(first).zip(self.places.get(second)) else {
            return false;
        };
        let (mut at, mut before) = (place.0, place.1);
        if at == NONE {
            return false;
        }
        while at != region {
            let Some((parent, branch)) = self.regions.get(at as usize).and_then(|region| region.parent)
            else {
                return false;
            };
            // The instructions before the branch, and the branch itself.
            (at, before) = (parent as u32, branch + 1);
        }
        position < before
    }
}

/// An instruction on all paths through a function, or on all paths between two of its nodes.
struct Step {
    number: usize,
    branch: Option<Branch>,
}

/// The control flow of the functions of a module, computed once for each.
pub(crate) struct Functions<'a> {
    module: &'a Module,
    may_end: Vec<bool>,
    graphs: BTreeMap<usize, Option<ControlFlow>>,
    /// For each function, true if its certain instructions have been added.
    seen: Vec<bool>,
}

impl<'a> Functions<'a> {
    pub(crate) fn new(module: &'a Module) -> Functions<'a> {
        Functions {
            module,
            may_end: may_end(module),
            graphs: BTreeMap::new(),
            seen: vec![false; module.functions.len()],
        }
    }

    /// Returns the control flow of a function; `None` if its blocks are malformed.
    pub(crate) fn graph(&mut self, function: usize) -> Option<&ControlFlow> {
        let (module, may_end) = (self.module, &self.may_end);
        let body = || &module.functions[function].body;
        let graph = self.graphs.entry(function);
        graph
            .or_insert_with(|| ControlFlow::new(module, may_end, body()))
            .as_ref()
    }

    /// Returns the instructions that every call of a function executes before it reaches an exit, or those on all paths between two nodes; none if
    /// the blocks are malformed.
    fn certain(&mut self, function: usize, between: Option<(u32, u32)>) -> Vec<Step> {
        let module = self.module;
        let Some(graph) = self.graph(function) else {
            return Vec::new();
        };
        let (from, to) = between.unwrap_or((0, graph.exit()));
        let nodes = graph.nodes_on_all_paths(from, to);
        let next = nodes.iter().copied().skip(1).chain([to]);
        let mut steps = Vec::new();
        for (&node, to) in nodes.iter().zip(next) {
            for number in graph.nodes[node as usize].clone() {
                let is_branch = module.code.instructions[number].op == Op::BranchConditional;
                let branch = is_branch.then_some(Branch { number, function, to });
                steps.push(Step { number, branch });
            }
        }
        steps
    }
}
