//! Which values are at the same place: carried ones, merged ones, in place of operands.

use std::collections::{BTreeMap, BTreeSet};

use super::expand::Expander;
use super::expansion::{Bind, Chance, Expansion, Rules, Value, ValueId, ValueKind, WayOut};
use super::options::CarryRule;
use super::types::CopyTime;
use crate::error::TensorError;
use crate::graph::{BlockId, Graph, NodeId, NodeKind, TensorId};
use crate::units::Span;

/// Classes of values that share one place.
#[derive(Clone, Debug)]
pub(super) struct Classes {
    /// The class of each value.
    pub(super) of: Vec<usize>,
    /// Values of each class; empty where it was united with another.
    pub(super) members: Vec<Vec<ValueId>>,
    chances: BTreeMap<(ValueId, ValueId), u32>,
    ways_out: BTreeMap<(ValueId, u32), BTreeSet<WayOut>>,
    held: BTreeSet<(ValueId, u32)>,
}

impl Classes {
    fn new(expansion: &Expansion) -> Classes {
        let count = expansion.values.len();
        let chance = |chance: &Chance| ((chance.output, chance.input), chance.step);
        Classes {
            of: (0..count).collect(),
            members: (0..count).map(|value| vec![value]).collect(),
            chances: expansion.chances.iter().map(chance).collect(),
            ways_out: expansion.ways_out.clone(),
            held: expansion.held.clone(),
        }
    }

    /// Puts two values at one place, unless one is not placed at all, they are not laid out alike, or their lives meet.
    fn unite(&mut self, rules: &Rules<'_>, values: &[Value], a: ValueId, b: ValueId) -> bool {
        let (a, b) = (self.of[a], self.of[b]);
        if a == b {
            return true;
        }
        let apart = |&one: &ValueId, &other: &ValueId| {
            alike(rules, &values[one], &values[other]) && self.lives_apart(values, one, other)
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

    fn lives_apart(&self, values: &[Value], a: ValueId, b: ValueId) -> bool {
        let mut meetings = values[a].spans.iter().flat_map(|one| {
            let met = values[b].spans.iter().filter(|other| one.overlaps(**other));
            met.map(|other| (*one, *other))
        });
        meetings.all(|(one, other)| {
            self.in_place(a, one, b, other)
                || self.in_place(b, other, a, one)
                || self.exclude(a, one, b, other)
        })
    }

    /// Whether two lives after one loop are what different ways out of it left.
    fn exclude(&self, a: ValueId, one: Span, b: ValueId, other: Span) -> bool {
        let ways = |value: ValueId, span: Span| self.ways_out.get(&(value, span.first.0));
        let (Some(first), Some(second)) = (ways(a, one), ways(b, other)) else {
            return false;
        };
        let differ = |x: &WayOut, y: &WayOut| x.0 == y.0 && x != y;
        first.iter().all(|x| second.iter().all(|y| differ(x, y)))
    }

    /// Whether the only step that two lives share is the one at which the output is written over the input.
    fn in_place(&self, output: ValueId, written: Span, input: ValueId, read: Span) -> bool {
        let step = self.chances.get(&(output, input));
        let needed = self.held.contains(&(input, read.end.0));
        step.is_some_and(|&step| written.first.0 == step && read.end.0 == step + 1 && !needed)
    }
}

fn alike(rules: &Rules<'_>, a: &Value, b: &Value) -> bool {
    let (first, second) = (a.tensor.index(), b.tensor.index());
    let memory = |tensor: usize| &rules.graph.tensors()[tensor].memory;
    a.kind != ValueKind::Outside
        && b.kind != ValueKind::Outside
        && rules.requirements[first].size == rules.requirements[second].size
        && rules.requirements[first].image == rules.requirements[second].image
        && rules.layouts[first].rule.storage == rules.layouts[second].rule.storage
        && (!rules.requirements[first].image || rules.layouts[first].extent == rules.layouts[second].extent)
        && memory(first) == memory(second)
}

/// The expansion with what is at the same place, and how often each loop is unrolled.
pub(super) struct United {
    pub(super) expansion: Expansion,
    pub(super) classes: Classes,
}

/// Expands the graph with every loop unrolled until its carried values can be where they have to be.
pub(super) fn unite(rules: &mut Rules<'_>, carry: CarryRule, limit: u32) -> Result<United, TensorError> {
    unroll_block(rules, BlockId::ROOT, carry, limit)?;
    let mut expansion = Expander::run(rules);
    let mut classes = Classes::new(&expansion);
    let failed = join_back_edges(rules, &expansion, &mut classes);
    debug_assert!(
        failed.is_empty(),
        "loops are unrolled until their carried values fit"
    );
    for edge in &expansion.back_edges {
        if edge.value == Bind::Value(edge.head, 0) {
            if let ValueKind::Head { stays, .. } = &mut expansion.values[edge.head].kind {
                *stays = true;
            }
        }
    }
    merge_arms(rules, &mut expansion, &mut classes);
    start_in_place(rules, &mut expansion, &mut classes);
    for index in 0..expansion.chances.len() {
        let Chance { output, input, .. } = expansion.chances[index];
        classes.unite(rules, &expansion.values, output, input);
    }
    Ok(United { expansion, classes })
}

/// Decides for each loop of a block, inner ones first.
fn unroll_block(
    rules: &mut Rules<'_>,
    block: BlockId,
    carry: CarryRule,
    limit: u32,
) -> Result<(), TensorError> {
    let graph: &Graph = rules.graph;
    for &id in &graph.block(block).nodes {
        let node = graph.node(id);
        match &node.kind {
            NodeKind::Operator(_) => {}
            NodeKind::Branch(of) => {
                for &arm in &of.arms {
                    unroll_block(rules, arm, carry, limit)?;
                }
            }
            NodeKind::Loop(of) => {
                unroll_block(rules, of.body, carry, limit)?;
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

/// The least number of copies of a body with which carried values fit; copies past the limit, or an error.
fn unroll(rules: &mut Rules<'_>, id: NodeId, carry: CarryRule, limit: u32) -> Result<(), TensorError> {
    for copies in 1..=limit.max(1) {
        rules.unroll.insert(id, copies);
        if failures(rules, id).is_empty() {
            return Ok(());
        }
    }
    rules.unroll.insert(id, 1);
    loop {
        let failed = failures(rules, id);
        let Some(&(_, tensor)) = failed.first() else {
            return Ok(());
        };
        if carry == CarryRule::Forbid {
            return Err(TensorError::LoopCopies {
                node: rules.graph.node(id).name.clone(),
                tensor: rules.graph.tensor(tensor).name.clone(),
                limit: limit.max(1),
            });
        }
        rules.copied.insert(tensor, ());
    }
}

/// Parameters of a loop, as it is unrolled now, whose next value cannot be where they are.
fn failures(rules: &Rules<'_>, id: NodeId) -> Vec<(NodeId, TensorId)> {
    let expansion = Expander::run_loop(rules, id);
    let mut classes = Classes::new(&expansion);
    join_back_edges(rules, &expansion, &mut classes)
}

fn join_back_edges(
    rules: &Rules<'_>,
    expansion: &Expansion,
    classes: &mut Classes,
) -> Vec<(NodeId, TensorId)> {
    let mut failed = Vec::new();
    for edge in &expansion.back_edges {
        let joined = match edge.value {
            Bind::Value(value, 0) if value == edge.head => true,
            // Before the first round another parameter is elsewhere, and so would this one be after it.
            Bind::Value(value, 0) if matches!(expansion.values[value].kind, ValueKind::Head { .. }) => false,
            Bind::Value(value, 0) => classes.unite(rules, &expansion.values, edge.head, value),
            _ => false,
        };
        if !joined {
            failed.push((edge.node, edge.into));
        }
    }
    failed
}

/// Results of arms at the place of the branch's outputs; copied where that cannot be.
fn merge_arms(rules: &Rules<'_>, expansion: &mut Expansion, classes: &mut Classes) {
    for index in 0..expansion.merges.len() {
        let merge = expansion.merges[index];
        let joined = match merge.result {
            // A loop's parameter may be elsewhere in the first rounds.
            Bind::Value(value, 0) if matches!(expansion.values[value].kind, ValueKind::Head { .. }) => false,
            Bind::Value(value, 0) => classes.unite(rules, &expansion.values, merge.output, value),
            _ => false,
        };
        if !joined {
            let output = expansion.values[merge.output].tensor;
            expansion
                .copies
                .push((merge.node, merge.from, output, CopyTime::Leave));
            // Written while the arm's result is still there.
            let spans = &mut expansion.values[merge.output].spans;
            spans.push(Span::new(merge.step, merge.step + 1));
            expansion.writes.push((merge.step, merge.output));
        }
    }
}

/// What a carried parameter is before the first round: at the parameter's own place, else where it was (type II), which is kept
/// as long as the parameter is read.
fn start_in_place(rules: &Rules<'_>, expansion: &mut Expansion, classes: &mut Classes) {
    // Inner loops come later and are looked at first: what they keep may be an outer loop's parameter.
    for head in (0..expansion.values.len()).rev() {
        let ValueKind::Head { before, depth, stays } = expansion.values[head].kind else {
            continue;
        };
        let joined = match before {
            Bind::Value(value, 0) => classes.unite(rules, &expansion.values, head, value),
            _ => false,
        };
        let spans = expansion.values[head].spans.clone();
        if joined {
            // Of an outer loop's parameter, which in that loop's first rounds may be elsewhere.
            if let Bind::Value(value, _) = before {
                if matches!(expansion.values[value].kind, ValueKind::Head { .. }) {
                    expansion.values[value].spans.extend(&spans);
                }
            }
            continue;
        }
        if may_keep(expansion, classes, before, &spans) {
            let ends: Vec<u32> = spans.iter().map(|span| span.end.0).collect();
            for value in expansion.values_of(before) {
                expansion.values[value].spans.extend(&spans);
                let held = ends.iter().filter(|&&end| classes.held.contains(&(head, end)));
                let held: Vec<(ValueId, u32)> = held.map(|&end| (value, end)).collect();
                classes.held.extend(held);
            }
            continue;
        }
        // What took the bytes over may not wait: the parameter gets a copy before the first round.
        let from = spans[0].first.0;
        let node = expansion.timeline[from as usize - 1].node;
        let into = expansion.values[head].tensor;
        let at = rules
            .graph
            .block(body_of(rules.graph, node))
            .inputs
            .iter()
            .position(|&input| input == into);
        let source = rules.graph.node(node).inputs[at.expect("a head is a parameter")];
        expansion.copies.push((node, source, into, CopyTime::Enter));
        expansion.values[head].spans.push(Span::new(from - 1, from));
        expansion.writes.push((from - 1, head));
        let before = Bind::Value(head, 0);
        expansion.values[head].kind = ValueKind::Head { before, depth, stays };
    }
}

fn body_of(graph: &Graph, node: NodeId) -> BlockId {
    match &graph.node(node).kind {
        NodeKind::Loop(of) => of.body,
        _ => unreachable!("heads are parameters of loops"),
    }
}

/// Whether nothing else at the same place lives at these steps.
fn may_keep(expansion: &Expansion, classes: &Classes, bind: Bind, spans: &[Span]) -> bool {
    expansion.values_of(bind).into_iter().all(|value| {
        let others = classes.members[classes.of[value]]
            .iter()
            .filter(|&&other| other != value);
        let mut taken = others.flat_map(|&other| &expansion.values[other].spans);
        taken.all(|taken| !spans.iter().any(|span| span.overlaps(*taken)))
    })
}
