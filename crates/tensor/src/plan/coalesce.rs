//! Coalescing: values that share one placement, since a loop carries them, arms of a branch merge them, or a node writes in place.

use std::collections::{BTreeMap, BTreeSet};

use super::expand::Expander;
use super::expansion::{Bind, Expansion, InPlaceCandidate, LoopExit, Rules, Value, ValueId, ValueKind};
use super::options::CarryRule;
use super::types::CopyTime;
use crate::error::{Error, Result};
use crate::graph::{BlockId, Graph, NodeId, NodeKind, TensorId};
use crate::units::Span;

/// Classes of values that share one placement.
#[derive(Clone, Debug)]
pub(super) struct Classes {
    /// The class of each value.
    pub(super) of: Vec<usize>,
    /// Values of each class; empty once it is merged into another.
    pub(super) members: Vec<Vec<ValueId>>,
    in_place_candidates: BTreeMap<(ValueId, ValueId), u32>,
    loop_exits: BTreeMap<(ValueId, u32), BTreeSet<LoopExit>>,
    held: BTreeSet<(ValueId, u32)>,
}

impl Classes {
    fn new(expansion: &Expansion) -> Classes {
        let count = expansion.values.len();
        let candidate = |candidate: &InPlaceCandidate| ((candidate.output, candidate.input), candidate.step);
        Classes {
            of: (0..count).collect(),
            members: (0..count).map(|value| vec![value]).collect(),
            in_place_candidates: expansion.in_place_candidates.iter().map(candidate).collect(),
            loop_exits: expansion.loop_exits.clone(),
            held: expansion.held.clone(),
        }
    }

    /// Merges the classes of two values, unless one is external, their requirements differ, or their lifetimes overlap.
    fn coalesce(&mut self, rules: &Rules<'_>, values: &[Value], a: ValueId, b: ValueId) -> bool {
        let (a, b) = (self.of[a], self.of[b]);
        if a == b {
            return true;
        }
        let apart = |&one: &ValueId, &other: &ValueId| {
            same_requirements(rules, &values[one], &values[other])
                && self.lifetimes_disjoint(values, one, other)
        };
        let possible = self.members[a]
            .iter()
            .all(|one| self.members[b].iter().all(|other| apart(one, other)));
        if possible {
            let moved = std::mem::take(&mut self.members[b]);
            for &value in &moved {
                self.of[value] = a;
            }
            self.members[a].extend(moved);
        }
        possible
    }

    fn lifetimes_disjoint(&self, values: &[Value], a: ValueId, b: ValueId) -> bool {
        let mut meetings = values[a].spans.iter().flat_map(|one| {
            let met = values[b].spans.iter().filter(|other| one.overlaps(**other));
            met.map(|other| (*one, *other))
        });
        meetings.all(|(one, other)| {
            self.in_place(a, one, b, other)
                || self.in_place(b, other, a, one)
                || self.on_different_exits(a, one, b, other)
        })
    }

    /// Whether two lifetimes after a loop are those of results of different exits, of which only one is taken.
    fn on_different_exits(&self, a: ValueId, one: Span, b: ValueId, other: Span) -> bool {
        let ways = |value: ValueId, span: Span| self.loop_exits.get(&(value, span.first.0));
        let (Some(first), Some(second)) = (ways(a, one), ways(b, other)) else {
            return false;
        };
        let differ = |x: &LoopExit, y: &LoopExit| x.0 == y.0 && x != y;
        first.iter().all(|x| second.iter().all(|y| differ(x, y)))
    }

    /// Whether two lifetimes overlap only in the step that writes the output over the input.
    fn in_place(&self, output: ValueId, written: Span, input: ValueId, read: Span) -> bool {
        let step = self.in_place_candidates.get(&(output, input));
        let needed = self.held.contains(&(input, read.end.0));
        step.is_some_and(|&step| written.first.0 == step && read.end.0 == step + 1 && !needed)
    }
}

fn same_requirements(rules: &Rules<'_>, a: &Value, b: &Value) -> bool {
    let (first, second) = (a.tensor.index(), b.tensor.index());
    let memory = |tensor: usize| &rules.graph.tensors()[tensor].memory;
    a.kind != ValueKind::External
        && b.kind != ValueKind::External
        && rules.requirements[first].size == rules.requirements[second].size
        && rules.requirements[first].image == rules.requirements[second].image
        && rules.layouts[first].rule.storage == rules.layouts[second].rule.storage
        && (!rules.requirements[first].image || rules.layouts[first].extent == rules.layouts[second].extent)
        && memory(first) == memory(second)
}

/// The expansion with its classes of values.
pub(super) struct Coalesced {
    pub(super) expansion: Expansion,
    pub(super) classes: Classes,
}

/// Expands the graph and coalesces its values; loops are unrolled until their carried values need no copies.
pub(super) fn coalesce(rules: &mut Rules<'_>, carry: CarryRule, limit: u32) -> Result<Coalesced> {
    choose_unroll_counts(rules, BlockId::ROOT, carry, limit)?;
    let mut expansion = Expander::run(rules);
    let mut classes = Classes::new(&expansion);
    let failed = coalesce_back_edges(rules, &expansion, &mut classes);
    debug_assert!(
        failed.is_empty(),
        "loops are unrolled until their carried values coalesce"
    );
    for edge in &expansion.back_edges {
        if edge.value == Bind::Value(edge.head, 0) {
            if let ValueKind::Parameter { is_invariant, .. } = &mut expansion.values[edge.head].kind {
                *is_invariant = true;
            }
        }
    }
    merge_arms(rules, &mut expansion, &mut classes);
    place_initial_values(rules, &mut expansion, &mut classes);
    for index in 0..expansion.in_place_candidates.len() {
        let InPlaceCandidate { output, input, .. } = expansion.in_place_candidates[index];
        classes.coalesce(rules, &expansion.values, output, input);
    }
    Ok(Coalesced { expansion, classes })
}

/// Chooses the unroll count of each loop of a block, inner loops first.
fn choose_unroll_counts(rules: &mut Rules<'_>, block: BlockId, carry: CarryRule, limit: u32) -> Result<()> {
    let graph: &Graph = rules.graph;
    for &id in &graph.block(block).nodes {
        let node = graph.node(id);
        match &node.kind {
            NodeKind::Operator(_) => {}
            NodeKind::Branch(of) => {
                for &arm in &of.arms {
                    choose_unroll_counts(rules, arm, carry, limit)?;
                }
            }
            NodeKind::Loop(of) => {
                choose_unroll_counts(rules, of.body, carry, limit)?;
                if carry == CarryRule::Copy {
                    rules
                        .copied
                        .extend(of.carried.iter().map(|carry| (carry.into, ())));
                } else {
                    unroll(rules, id, carry, limit)?;
                }
            }
        }
    }
    Ok(())
}

/// Unrolls a loop as little as its carried values allow; past the limit they are copied, or refused.
fn unroll(rules: &mut Rules<'_>, id: NodeId, carry: CarryRule, limit: u32) -> Result<()> {
    for copies in 1..=limit.max(1) {
        rules.unroll.insert(id, copies);
        if uncoalesced_parameters(rules, id).is_empty() {
            return Ok(());
        }
    }
    rules.unroll.insert(id, 1);
    loop {
        let failed = uncoalesced_parameters(rules, id);
        let Some(&(_, tensor)) = failed.first() else {
            return Ok(());
        };
        if carry == CarryRule::Forbid {
            return Err(Error::LoopCopies {
                node: rules.graph.node(id).name.clone(),
                tensor: rules.graph.tensor(tensor).name.clone(),
                limit: limit.max(1),
            });
        }
        rules.copied.insert(tensor, ());
    }
}

/// Parameters of a loop, at its current unroll count, that do not coalesce with their next value.
fn uncoalesced_parameters(rules: &Rules<'_>, id: NodeId) -> Vec<(NodeId, TensorId)> {
    let expansion = Expander::run_loop(rules, id);
    let mut classes = Classes::new(&expansion);
    coalesce_back_edges(rules, &expansion, &mut classes)
}

fn coalesce_back_edges(
    rules: &Rules<'_>,
    expansion: &Expansion,
    classes: &mut Classes,
) -> Vec<(NodeId, TensorId)> {
    let mut failed = Vec::new();
    for edge in &expansion.back_edges {
        let joined = match edge.value {
            Bind::Value(value, 0) if value == edge.head => true,
            // Another parameter may have another placement in the first round.
            Bind::Value(value, 0) if matches!(expansion.values[value].kind, ValueKind::Parameter { .. }) => {
                false
            }
            Bind::Value(value, 0) => classes.coalesce(rules, &expansion.values, edge.head, value),
            _ => false,
        };
        if !joined {
            failed.push((edge.node, edge.into));
        }
    }
    failed
}

/// Coalesces results of arms with the branch's outputs, or adds copies.
fn merge_arms(rules: &Rules<'_>, expansion: &mut Expansion, classes: &mut Classes) {
    for index in 0..expansion.merges.len() {
        let merge = expansion.merges[index];
        let joined = match merge.result {
            // A loop's parameter may have another placement in the first rounds.
            Bind::Value(value, 0) if matches!(expansion.values[value].kind, ValueKind::Parameter { .. }) => {
                false
            }
            Bind::Value(value, 0) => classes.coalesce(rules, &expansion.values, merge.output, value),
            _ => false,
        };
        if !joined {
            let output = expansion.values[merge.output].tensor;
            expansion
                .copies
                .push((merge.node, merge.from, output, CopyTime::Leave));
            // Written while the arm's result is live.
            let spans = &mut expansion.values[merge.output].spans;
            spans.push(Span::new(merge.step, merge.step + 1));
            expansion.writes.push((merge.step, merge.output));
        }
    }
}

/// Places the value that a carried parameter has before the first round: coalesced with the parameter, else where it was (type II),
/// live as long as the parameter is read, else copied.
fn place_initial_values(rules: &Rules<'_>, expansion: &mut Expansion, classes: &mut Classes) {
    // Inner loops first, since they may extend the lifetimes of an outer loop's parameters.
    for head in (0..expansion.values.len()).rev() {
        let ValueKind::Parameter {
            before,
            depth,
            is_invariant,
        } = expansion.values[head].kind
        else {
            continue;
        };
        let joined = match before {
            Bind::Value(value, 0) => classes.coalesce(rules, &expansion.values, head, value),
            _ => false,
        };
        let spans = expansion.values[head].spans.clone();
        if joined {
            // An outer loop's parameter may have another placement in that loop's first rounds.
            if let Bind::Value(value, _) = before {
                if matches!(expansion.values[value].kind, ValueKind::Parameter { .. }) {
                    expansion.values[value].spans.extend(&spans);
                }
            }
            continue;
        }
        if can_extend(expansion, classes, before, &spans) {
            let ends: Vec<u32> = spans.iter().map(|span| span.end.0).collect();
            for value in expansion.values_of(before) {
                expansion.values[value].spans.extend(&spans);
                let held = ends.iter().filter(|&&end| classes.held.contains(&(head, end)));
                let held: Vec<(ValueId, u32)> = held.map(|&end| (value, end)).collect();
                classes.held.extend(held);
            }
            continue;
        }
        // Other values reuse those bytes: copy before the first round.
        let from = spans[0].first.0;
        let node = expansion.timeline[from as usize - 1].node;
        let into = expansion.values[head].tensor;
        let at = rules
            .graph
            .block(body_of(rules.graph, node))
            .inputs
            .iter()
            .position(|&input| input == into);
        let source = rules.graph.node(node).inputs[at.expect("it is a parameter of the body")];
        expansion.copies.push((node, source, into, CopyTime::Enter));
        expansion.values[head].spans.push(Span::new(from - 1, from));
        expansion.writes.push((from - 1, head));
        let before = Bind::Value(head, 0);
        expansion.values[head].kind = ValueKind::Parameter {
            before,
            depth,
            is_invariant,
        };
    }
}

fn body_of(graph: &Graph, node: NodeId) -> BlockId {
    match &graph.node(node).kind {
        NodeKind::Loop(of) => of.body,
        _ => unreachable!("only loops have carried parameters"),
    }
}

/// Whether no other value of the same class is live in these spans.
fn can_extend(expansion: &Expansion, classes: &Classes, bind: Bind, spans: &[Span]) -> bool {
    expansion.values_of(bind).into_iter().all(|value| {
        let others = classes.members[classes.of[value]]
            .iter()
            .filter(|&&other| other != value);
        let mut taken = others.flat_map(|&other| &expansion.values[other].spans);
        taken.all(|taken| !spans.iter().any(|span| span.overlaps(*taken)))
    })
}
