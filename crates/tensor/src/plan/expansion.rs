//! What the timeline is made of: values with their lifetimes, what tensors are bound to, what loops carry and leave.

use std::collections::{BTreeMap, BTreeSet};

use super::types::{CopyTime, TensorRequirements, TimelineStep};
use crate::graph::{Graph, NodeId, TensorId};
use crate::layout::Layout;
use crate::units::Span;

pub(super) type ValueId = usize;

/// Bytes that are written once a round.
#[derive(Clone, Debug)]
pub(super) struct Value {
    /// Whose they are.
    pub(super) tensor: TensorId,
    pub(super) kind: ValueKind,
    /// When they are taken: from birth to the last read, and stretches beside that.
    pub(super) spans: Vec<Span>,
    /// Reads and writes, for what it is worth to keep it in fast memory.
    pub(super) accesses: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueKind {
    /// Has to be placed.
    Planned,
    /// The caller's, or a constant.
    Outside,
    /// What a carried parameter is where a round begins; before the first round it is bound to something else. One that `stays` is, after
    /// all unrolled copies, what it was: it never leaves that place.
    Head { before: Bind, depth: usize, stays: bool },
}

/// What a tensor is bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bind {
    /// Bytes of a value, from an offset.
    Value(ValueId, u64),
    /// What a loop left: its output, and an offset in it.
    Left(usize, u64),
}

impl Bind {
    /// The bytes `more` further on.
    pub(super) fn part(self, more: u64) -> Bind {
        match self {
            Bind::Value(value, offset) => Bind::Value(value, offset + more),
            Bind::Left(left, offset) => Bind::Left(left, offset + more),
        }
    }
}

/// The outputs of a loop: where the results of each exit are.
#[derive(Clone, Debug)]
pub(super) struct Left {
    pub(super) tensor: TensorId,
    /// For each exit the bind in each unrolled copy.
    pub(super) exits: Vec<Vec<Bind>>,
    /// How many loops there are around the body.
    pub(super) depth: usize,
    pub(super) end: u32,
    /// Which run of a loop.
    pub(super) run: usize,
}

/// A way out of a loop: which run, which exit, which unrolled copy.
pub(super) type WayOut = (usize, usize, usize);

/// A carried value: what has to be where the parameter is when the round ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct BackEdge {
    pub(super) node: NodeId,
    pub(super) into: TensorId,
    pub(super) value: Bind,
    pub(super) head: ValueId,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Merge {
    pub(super) node: NodeId,
    pub(super) result: Bind,
    pub(super) from: TensorId,
    pub(super) output: ValueId,
    /// The step at which the arm ends.
    pub(super) step: u32,
}

/// An output that could be written over an input.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chance {
    pub(super) output: ValueId,
    pub(super) input: ValueId,
    pub(super) step: u32,
}

/// Everything in time.
#[derive(Clone, Debug, Default)]
pub(super) struct Expansion {
    pub(super) values: Vec<Value>,
    pub(super) lefts: Vec<Left>,
    pub(super) timeline: Vec<TimelineStep>,
    /// Steps of each run of a loop's unrolled copies: from, until.
    pub(super) rounds: Vec<(u32, u32)>,
    /// For a stretch of a value's lifetime after a loop, by its first step: the ways out on which it is what was left. On others its bytes
    /// may hold what those left.
    pub(super) ways_out: BTreeMap<(ValueId, u32), BTreeSet<WayOut>>,
    /// Values that are still needed at the end of a step, when it is over: nothing may have been written over them in it.
    pub(super) held: BTreeSet<(ValueId, u32)>,
    /// Values by the step at which they are written, ascending.
    pub(super) writes: Vec<(u32, ValueId)>,
    pub(super) back_edges: Vec<BackEdge>,
    pub(super) merges: Vec<Merge>,
    pub(super) chances: Vec<Chance>,
    pub(super) copies: Vec<(NodeId, TensorId, TensorId, CopyTime)>,
    /// By tensor: the copies of the loops around it, and what it is bound to there.
    pub(super) instances: Vec<Vec<(Vec<u32>, Bind)>>,
}

impl Expansion {
    /// Every value that a tensor may be bound to: of a loop's output the results of all exits.
    pub(super) fn values_of(&self, bind: Bind) -> Vec<ValueId> {
        match bind {
            Bind::Value(value, _) => vec![value],
            Bind::Left(left, _) => {
                let results = self.lefts[left].exits.iter().flatten();
                results.flat_map(|&bind| self.values_of(bind)).collect()
            }
        }
    }
}

/// What expansion goes by.
pub(super) struct Rules<'a> {
    pub(super) graph: &'a Graph,
    pub(super) layouts: &'a [Layout],
    pub(super) requirements: &'a [TensorRequirements],
    pub(super) plan_inputs: bool,
    pub(super) plan_outputs: bool,
    pub(super) in_place: bool,
    /// What the caller gives memory for besides.
    pub(super) external: &'a [TensorId],
    /// How often loops are unrolled; those that are missing once.
    pub(super) unroll: BTreeMap<NodeId, u32>,
    /// Carried parameters whose next value is copied.
    pub(super) copied: BTreeMap<TensorId, ()>,
}
