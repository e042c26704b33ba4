//! The control flow of a function, and the blocks that lie on all paths between two of its blocks.

use std::ops::Range;

use rspirv::spirv::Op;

use crate::code::{Code, Instruction};
use crate::module::Module;

/// Marks the absence of a node or position.
const NONE: u32 = u32::MAX;

/// The blocks of a function, split after instructions that may end the invocation, plus an exit node.
pub(crate) struct ControlFlow {
    /// Instructions of each node except the exit.
    pub(crate) nodes: Vec<Range<usize>>,
    /// Label ids with the first nodes of their blocks, sorted.
    labels: Vec<(u32, u32)>,
    /// For each node, the position of its first edge; then the number of edges.
    starts: Vec<usize>,
    /// The successors of all nodes: those of a node begin at its entry of `starts`.
    edges: Vec<u32>,
}

impl ControlFlow {
    /// Builds the graph of a function; `None` if blocks do not begin and end as required, or if a branch has no valid target.
    pub(crate) fn new(module: &Module, may_end: &[bool], body: &Range<usize>) -> Option<ControlFlow> {
        let code = &module.code;
        let (mut nodes, mut labels) = (Vec::new(), Vec::new());
        let mut open: Option<usize> = None;
        for number in body.clone() {
            let instruction = &code.instructions[number];
            if instruction.op == Op::Label {
                if open.replace(number).is_some() {
                    return None;
                }
                labels.push((code.result(instruction), nodes.len() as u32));
            } else if let Some(first) = open {
                let ends = is_terminator(instruction.op);
                if ends || may_end_within(module, may_end, instruction) {
                    nodes.push(first..number + 1);
                    open = (!ends).then_some(number + 1);
                }
            }
        }
        if open.is_some() || nodes.is_empty() {
            return None;
        }
        labels.sort_unstable();
        let mut graph = ControlFlow {
            nodes,
            labels,
            starts: vec![0],
            edges: Vec::new(),
        };
        for node in 0..graph.nodes.len() {
            graph.add_successors(module, node)?;
            graph.starts.push(graph.edges.len());
        }
        graph.close_endless_loops();
        Some(graph)
    }

    /// Returns the node that represents the end of the function or invocation.
    pub(crate) fn exit(&self) -> u32 {
        self.nodes.len() as u32
    }

    fn successors(&self, node: u32) -> &[u32] {
        match node == self.exit() {
            true => &[],
            false => &self.edges[self.starts[node as usize]..self.starts[node as usize + 1]],
        }
    }

    /// Adds the edges from a node, given by its last instruction.
    fn add_successors(&mut self, module: &Module, node: usize) -> Option<()> {
        let code = &module.code;
        let last = &code.instructions[self.nodes[node].end - 1];
        let (labels, edges) = (&self.labels, &mut self.edges);
        let mut branch_to = |label: u32| {
            edges.push(node_of_label(labels, label)?);
            Some(())
        };
        match last.op {
            Op::Branch | Op::BranchConditional | Op::Switch => branch_targets(code, last)?
                .into_iter()
                .try_for_each(&mut branch_to),
            op => {
                self.edges.push(self.nodes.len() as u32);
                if !is_terminator(op) {
                    self.edges.push(node as u32 + 1);
                }
                Some(())
            }
        }
    }

    /// Connects every node that cannot reach the exit, for example in an endless loop, to the exit.
    fn close_endless_loops(&mut self) {
        let exit = self.exit();
        let mut predecessors: Vec<(u32, u32)> = Vec::with_capacity(self.edges.len());
        for node in 0..exit {
            predecessors.extend(self.successors(node).iter().map(|&next| (next, node)));
        }
        predecessors.sort_unstable();
        let mut ends = vec![false; self.nodes.len() + 1];
        let mut open = vec![exit];
        while let Some(node) = open.pop() {
            let first = predecessors.partition_point(|(next, _)| *next < node);
            for &(_, before) in predecessors[first..].iter().take_while(|(next, _)| *next == node) {
                if !std::mem::replace(&mut ends[before as usize], true) {
                    open.push(before);
                }
            }
        }
        let (mut starts, mut edges) = (vec![0], Vec::with_capacity(self.edges.len()));
        for node in 0..exit {
            edges.extend_from_slice(self.successors(node));
            edges.extend((!ends[node as usize]).then_some(exit));
            starts.push(edges.len());
        }
        (self.starts, self.edges) = (starts, edges);
    }

    /// Returns the first node of a label's block.
    pub(crate) fn node_of_label(&self, label: u32) -> Option<u32> {
        node_of_label(&self.labels, label)
    }

    /// Returns the nodes that lie on every path from `from` to `to`, without `to`, in their order on these paths. Every finite path from `from` must
    /// lead to `to`.
    ///
    /// Walks one path. A node of it can be bypassed if an earlier node of the path has a detour, over nodes that are not on the path, to a later one.
    pub(crate) fn nodes_on_all_paths(&self, from: u32, to: u32) -> Vec<u32> {
        let path = self.path(from, to);
        let mut positions = vec![NONE; self.nodes.len() + 1];
        for (position, &node) in (0..).zip(&path) {
            positions[node as usize] = position;
        }
        let (mut farthest, mut seen) = (0, vec![false; self.nodes.len() + 1]);
        let (mut certain, mut open) = (Vec::new(), Vec::new());
        for (position, &node) in (0..).zip(&path) {
            if node == to {
                break;
            }
            if farthest <= position {
                certain.push(node);
            }
            open.push(node);
            while let Some(node) = open.pop() {
                for &next in self.successors(node) {
                    match positions[next as usize] {
                        NONE if std::mem::replace(&mut seen[next as usize], true) => {}
                        NONE => open.push(next),
                        reached => farthest = farthest.max(reached),
                    }
                }
            }
        }
        certain
    }

    /// Returns a path between two nodes, both included; empty if there is none.
    fn path(&self, from: u32, to: u32) -> Vec<u32> {
        let mut before = vec![NONE; self.nodes.len() + 1];
        let mut open = vec![from];
        before[from as usize] = from;
        while let Some(node) = open.pop().filter(|_| before[to as usize] == NONE) {
            for &next in self.successors(node) {
                if before[next as usize] == NONE {
                    before[next as usize] = node;
                    open.push(next);
                }
            }
        }
        if before[to as usize] == NONE {
            return Vec::new();
        }
        let mut path = vec![to];
        while let Some(&node) = path.last().filter(|node| **node != from) {
            path.push(before[node as usize]);
        }
        path.reverse();
        path
    }

    /// Returns `true` if every path to any of the instructions `others` executes `first` before it, or `first` is that instruction.
    pub(crate) fn dominates(&self, first: usize, others: &[usize]) -> bool {
        let node_of = |number: usize| {
            let node = self.nodes.partition_point(|node| node.end <= number);
            self.nodes.get(node)?.contains(&number).then_some(node)
        };
        let Some(own) = node_of(first) else {
            return false;
        };
        let mut seen = vec![false; self.nodes.len() + 1];
        let mut open = vec![0];
        while let Some(node) = open.pop().filter(|node| *node != own as u32) {
            if !std::mem::replace(&mut seen[node as usize], true) {
                open.extend(self.successors(node).iter().filter(|next| **next != own as u32));
            }
        }
        others.iter().all(|&other| match node_of(other) {
            Some(node) if node == own => first <= other,
            node => node.is_some_and(|node| !seen[node]),
        })
    }
}

/// Returns the labels that a branch may go to; `None` if they are unknown.
pub(crate) fn branch_targets(code: &Code, branch: &Instruction) -> Option<Vec<u32>> {
    let operands = code.operands(branch);
    match branch.op {
        Op::Branch => Some(operands.get(..1)?.to_vec()),
        // Branch weights may follow.
        Op::BranchConditional => Some(operands.get(1..3)?.to_vec()),
        Op::Switch => {
            let selector = code.type_of(*operands.first()?)?;
            // Literals of wide selectors take two words.
            let literal = code.operand(selector, 0).div_ceil(32).clamp(1, 2) as usize;
            let cases = operands.get(2..)?.chunks(literal + 1);
            let labels = cases.map(|case| case.get(literal).copied());
            std::iter::once(operands.get(1).copied()).chain(labels).collect()
        }
        _ => Some(Vec::new()),
    }
}

/// Returns the first node of a label's block.
fn node_of_label(labels: &[(u32, u32)], label: u32) -> Option<u32> {
    let found = labels.binary_search_by_key(&label, |&(id, _)| id).ok()?;
    Some(labels[found].1)
}

/// Returns the position of the function that an instruction calls, if the module defines it.
pub(crate) fn callee(module: &Module, instruction: &Instruction) -> Option<usize> {
    if instruction.op != Op::FunctionCall {
        return None;
    }
    let callee = module.function(module.code.operand(instruction, 0))?;
    module.functions[callee].defined.then_some(callee)
}

/// Returns `true` if an instruction ends the invocation or turns it into a helper invocation, whose writes are discarded.
fn ends_invocation(op: Op) -> bool {
    let within_blocks = [
        Op::DemoteToHelperInvocation,
        Op::IgnoreIntersectionNV,
        Op::TerminateRayNV,
    ];
    within_blocks.contains(&op) || is_terminator(op) && !continues(op)
}

/// Returns `true` if an instruction is the last of a block.
pub(crate) fn is_terminator(op: Op) -> bool {
    continues(op)
        || matches!(
            op,
            Op::Kill
                | Op::TerminateInvocation
                | Op::Unreachable
                | Op::IgnoreIntersectionKHR
                | Op::TerminateRayKHR
                | Op::EmitMeshTasksEXT
        )
}

/// Returns `true` if the invocation continues after the last instruction of a block, here or in the caller.
fn continues(op: Op) -> bool {
    matches!(
        op,
        Op::Branch | Op::BranchConditional | Op::Switch | Op::Return | Op::ReturnValue
    )
}

/// Computes, for each function, whether an invocation may end in it or in a function that it calls.
pub(crate) fn may_end(module: &Module) -> Vec<bool> {
    let mut may_end = vec![false; module.functions.len()];
    let mut callers = Vec::new();
    let mut open = Vec::new();
    for (caller, function) in module.functions.iter().enumerate() {
        let mut ends = !function.defined;
        for instruction in &module.code.instructions[function.body.clone()] {
            ends |= ends_invocation(instruction.op);
            if instruction.op == Op::FunctionCall {
                match callee(module, instruction) {
                    Some(callee) => callers.push((callee, caller)),
                    None => ends = true,
                }
            }
        }
        if ends {
            may_end[caller] = true;
            open.push(caller);
        }
    }
    callers.sort_unstable();
    while let Some(callee) = open.pop() {
        let first = callers.partition_point(|(other, _)| *other < callee);
        for &(_, caller) in callers[first..].iter().take_while(|(other, _)| *other == callee) {
            if !std::mem::replace(&mut may_end[caller], true) {
                open.push(caller);
            }
        }
    }
    may_end
}

/// Returns `true` if the invocation may end at an instruction in the middle of a block.
fn may_end_within(module: &Module, may_end: &[bool], instruction: &Instruction) -> bool {
    match instruction.op {
        Op::FunctionCall => callee(module, instruction).is_none_or(|callee| may_end[callee]),
        op => ends_invocation(op),
    }
}
