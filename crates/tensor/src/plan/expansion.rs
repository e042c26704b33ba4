//! The expanded graph: values with their lifetimes, bindings of tensors, values carried by loops, and results of loop exits.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::options::TensorPlanOptions;
use super::types::{CopyTime, TensorRequirements, TimelineStep};
use crate::graph::control_flow::Loop;
use crate::graph::{Graph, NodeId, TensorId};
use crate::layout::Layout;
use crate::units::Span;

pub(super) type ValueId = usize;

/// Returns the memory that a tensor is pinned to.
type MemoryOf<'a> = &'a dyn Fn(&Graph, TensorId) -> Option<String>;

/// A value: bytes that are written at most once per round.
#[derive(Clone, Debug)]
pub(super) struct Value {
    /// The tensor that it is a value of.
    pub(super) tensor: TensorId,
    pub(super) kind: ValueKind,
    /// Its lifetime: from its write to its last read, and additional spans.
    pub(super) spans: Vec<Span>,
    /// Number of reads and writes, also by copies, from which the savings of fast memory follow.
    pub(super) accesses: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueKind {
    /// The plan places the value.
    Planned,
    /// The caller supplies the value, or it is a constant.
    External,
    /// A carried parameter at the beginning of a round; `before` is its binding before the first round.
    Parameter {
        before: Binding,
        depth: usize,
        next: NextValue,
    },
}

/// The value of a carried parameter after the first rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NextValue {
    /// A value that the previous round, an iteration of the loop, writes into the parameter's own bytes.
    OwnBytes,
    /// The same value as before: unchanged in all unrolled copies, so it never moves.
    Unchanged,
    /// A value at its own location: one from outside the loop, or one with which the next execution of a nested loop begins.
    Elsewhere(Binding),
}

/// The value or the loop output that a tensor is bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Binding {
    /// A part of a value, from this byte offset on.
    Value(ValueId, u64),
    /// A part of a loop's output, from this byte offset on.
    LoopOutput(usize, u64),
}

impl Binding {
    /// The part of this binding that begins `more` bytes after its start.
    pub(super) fn part(self, more: u64) -> Binding {
        match self {
            Binding::Value(value, offset) => Binding::Value(value, offset + more),
            Binding::LoopOutput(left, offset) => Binding::LoopOutput(left, offset + more),
        }
    }
}

/// An output of a loop: the results of each exit.
#[derive(Clone, Debug)]
pub(super) struct LoopOutput {
    pub(super) tensor: TensorId,
    /// For each exit, the result in each unrolled copy; if the number of rounds is known, only that of the copy in which the loop is left.
    pub(super) exits: Vec<Vec<Binding>>,
    /// If the number of rounds is known: true if the loop is left in its first rounds.
    pub(super) is_left_first: Option<bool>,
    /// The number of loops around the loop.
    pub(super) depth: usize,
    pub(super) end: u32,
    /// Index in [`Expansion::rounds`].
    pub(super) run: usize,
}

/// The exit of a loop: index in [`Expansion::rounds`], exit, unrolled copy. If the result at this exit is the output of a loop in the body,
/// the exit of that loop follows.
pub(super) type LoopExit = Vec<(usize, usize, usize)>;

/// Returns true if at most one of two exits is taken: they are equal up to different exits of one loop.
pub(super) fn exclude_each_other(one: &LoopExit, other: &LoopExit) -> bool {
    let differ = one.iter().zip(other).find(|(a, b)| a != b);
    differ.is_some_and(|(a, b)| a.0 == b.0)
}

/// A carried value, which becomes the parameter at the end of the round.
#[derive(Clone, Copy, Debug)]
pub(super) struct BackEdge {
    pub(super) node: NodeId,
    pub(super) into: TensorId,
    pub(super) value: Binding,
    pub(super) head: ValueId,
    /// True if the last unrolled copy carries it; otherwise it is an inner loop's output that the next copy reads, and `head` is one of its values.
    pub(super) is_last: bool,
    /// True if the parameter moves to the location of the value: the value comes from outside the loop, or the next execution of a nested
    /// loop begins with it.
    pub(super) is_outside: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Merge {
    pub(super) node: NodeId,
    pub(super) result: Binding,
    pub(super) from: TensorId,
    pub(super) output: ValueId,
    /// The last step of the arm.
    pub(super) step: u32,
}

/// The steps of a branch. Only one of its arms runs: they follow each other on the timeline, and no value of one is live in another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BranchSteps {
    /// The step that reads the inputs.
    pub(super) enter: u32,
    /// The steps `[first, end)` of each arm.
    pub(super) arms: Vec<(u32, u32)>,
    /// The step after the arms, from which the outputs are live.
    pub(super) join: u32,
}

/// An output that may be written over an input.
#[derive(Clone, Copy, Debug)]
pub(super) struct InPlaceCandidate {
    pub(super) output: ValueId,
    pub(super) input: ValueId,
    pub(super) step: u32,
}

/// The carried parameters of a loop that begin with the loop's own results from the previous round of the loop around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Chain {
    /// The loop that encloses the chain's loop.
    pub(super) outer: NodeId,
    /// The inputs of the chain's loop that continue, by index, each with the parameter of the outer loop that supplies it.
    pub(super) links: Vec<(usize, TensorId)>,
    /// For each exit, the number of rounds to add to the complete ones: see `ContinuedLoop::more`.
    pub(super) more: Vec<u64>,
}

/// An expanded loop that continues.
#[derive(Clone, Debug)]
pub(super) struct Continued {
    /// The first steps of its unrolled copies.
    pub(super) copies: Vec<u32>,
    /// Index in [`Expansion::rounds`].
    pub(super) run: usize,
    /// Its carried parameters: for each, the parameter of the outer loop that supplies its initial value, if it is a link, and its binding
    /// at the beginning of each copy.
    pub(super) heads: Vec<(Option<ValueId>, Vec<Binding>)>,
}

/// The graph expanded over time: values, steps and bindings.
#[derive(Clone, Debug, Default)]
pub(super) struct Expansion {
    pub(super) values: Vec<Value>,
    pub(super) loop_outputs: Vec<LoopOutput>,
    pub(super) timeline: Vec<TimelineStep>,
    /// For each step, the number of times that it runs: see [`executions`].
    pub(super) step_runs: Vec<u64>,
    /// The steps `[first, end)` of each expanded loop.
    pub(super) rounds: Vec<(u32, u32)>,
    /// The expanded loops that continue where they were left.
    pub(super) continued: Vec<Continued>,
    /// The steps of each expanded branch, ordered by the first step.
    pub(super) branches: Vec<BranchSteps>,
    /// For each span of a value after a loop, by its first step: the exits of which it is a result. After other exits, its bytes may hold
    /// their results.
    pub(super) loop_exits: BTreeMap<(ValueId, u32), BTreeSet<LoopExit>>,
    /// Values still needed at the end of a step, which therefore must not overwrite them in place.
    pub(super) held: BTreeSet<(ValueId, u32)>,
    /// Values by the step at which they are written, ascending.
    pub(super) writes: Vec<(u32, ValueId)>,
    pub(super) back_edges: Vec<BackEdge>,
    pub(super) merges: Vec<Merge>,
    pub(super) in_place_candidates: Vec<InPlaceCandidate>,
    pub(super) copies: Vec<(NodeId, TensorId, TensorId, CopyTime)>,
    /// By tensor: the unrolled copies of the loops around it, and its binding there.
    pub(super) instances: Vec<Vec<(Vec<u32>, Binding)>>,
}

/// The number of times that a node of a loop's body runs in one unrolled copy: if the number of rounds is not known, 1.
pub(super) fn executions(of: &Loop, node: usize, [copy, unroll]: [u32; 2]) -> u64 {
    let Some(rounds) = of.rounds else { return 1 };
    let (copy, unroll) = (u64::from(copy), u64::from(unroll));
    // The last round ends at the exit.
    let reaches_exit = of.exits.iter().any(|exit| node < exit.after as usize);
    let last_copy = rounds % unroll;
    rounds / unroll + u64::from(copy < last_copy) + u64::from(copy == last_copy && reaches_exit)
}

impl Expansion {
    pub(super) fn count_accesses(&mut self, value: ValueId, runs: u64) {
        let accesses = &mut self.values[value].accesses;
        *accesses = accesses.saturating_add(runs);
    }

    /// Counts reads of a binding. The result of a loop is one of several values: the first of them stands for all.
    pub(super) fn count_reads(&mut self, bind: Binding, runs: u64) {
        if let Some(&value) = self.values_of(bind).first() {
            self.count_accesses(value, runs);
        }
    }

    /// The values of a binding: those of all exits for a loop's output.
    pub(super) fn values_of(&self, bind: Binding) -> Vec<ValueId> {
        match bind {
            Binding::Value(value, _) => vec![value],
            Binding::LoopOutput(left, _) => {
                let results = self.loop_outputs[left].exits.iter().flatten();
                results.flat_map(|&bind| self.values_of(bind)).collect()
            }
        }
    }

    /// Like [`Expansion::values_of`]; `None` unless each is a whole value.
    pub(super) fn whole_values(&self, bind: Binding) -> Option<Vec<ValueId>> {
        match bind {
            Binding::Value(value, 0) => Some(vec![value]),
            Binding::LoopOutput(left, 0) => {
                let results = self.loop_outputs[left].exits.iter().flatten();
                let values: Option<Vec<Vec<ValueId>>> =
                    results.map(|&bind| self.whole_values(bind)).collect();
                Some(values?.concat())
            }
            _ => None,
        }
    }
}

/// The inputs of the expansion.
#[derive(Clone)]
pub(super) struct Rules<'a> {
    pub(super) graph: &'a Graph,
    pub(super) layouts: &'a [Layout],
    pub(super) requirements: &'a [TensorRequirements],
    pub(super) plan_inputs: bool,
    pub(super) plan_outputs: bool,
    pub(super) in_place: bool,
    memory_of: Option<MemoryOf<'a>>,
    /// Additional tensors whose memory the caller supplies.
    pub(super) external: &'a [TensorId],
    /// Unroll counts of loops; 1 for those without an entry.
    pub(super) unroll: BTreeMap<NodeId, u32>,
    /// Carried parameters whose next value is copied.
    pub(super) copied: BTreeMap<TensorId, ()>,
    /// The copied parameters with which no other value may be coalesced.
    pub(super) uncoalesced: BTreeSet<TensorId>,
    /// True if results of a loop in several places are copied before they enter another loop.
    pub(super) copies_scattered_results: bool,
    /// Loops that may continue where they were left.
    pub(super) chains: BTreeMap<NodeId, Chain>,
}

impl<'a> Rules<'a> {
    pub(super) fn new(
        graph: &'a Graph,
        layouts: &'a [Layout],
        requirements: &'a [TensorRequirements],
        options: &'a TensorPlanOptions<'_>,
    ) -> Rules<'a> {
        Rules {
            graph,
            layouts,
            requirements,
            plan_inputs: options.plan_inputs,
            plan_outputs: options.plan_outputs,
            in_place: options.in_place,
            memory_of: options.memory_of,
            external: &options.external,
            unroll: BTreeMap::new(),
            copied: BTreeMap::new(),
            uncoalesced: BTreeSet::new(),
            copies_scattered_results: false,
            chains: BTreeMap::new(),
        }
    }

    /// Returns the name of the memory that a tensor is pinned to.
    pub(super) fn pin(&self, tensor: TensorId) -> Option<Cow<'a, str>> {
        let chosen = self.memory_of.and_then(|memory_of| memory_of(self.graph, tensor));
        let declared = || self.graph.tensor(tensor).memory.as_deref().map(Cow::Borrowed);
        chosen.map(Cow::Owned).or_else(declared)
    }

    /// Returns true if a view shares its base's bytes: both are row-major buffers.
    pub(super) fn shares_bytes(&self, tensor: TensorId, base: TensorId) -> bool {
        [tensor, base].into_iter().all(|id| {
            let rule = &self.layouts[id.index()].rule;
            !rule.storage.is_image() && rule.packs.is_empty() && rule.order.is_empty()
        })
    }

    /// Returns true if a binding is a parameter that is overwritten by a copy of its next value.
    pub(super) fn overwrites(&self, expansion: &Expansion, bind: Binding) -> bool {
        let Binding::Value(value, _) = bind else {
            return false;
        };
        let of = &expansion.values[value];
        matches!(of.kind, ValueKind::Parameter { .. }) && self.copied.contains_key(&of.tensor)
    }
}
