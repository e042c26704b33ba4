//! A lower bound for every plan of a graph, regardless of which values share bytes, are copied or unrolled.
//!
//! The bound of the placed items holds only for these items: it counts copies and values kept apart as if they were required. Here each
//! loop is expanded once, nothing is copied, every output that may overwrite an operand does, and values that may be identical are counted
//! once. Any plan then needs the bytes that are live at a step: they include no value of a later round of a loop, or of an arm or exit that
//! is not taken.

use std::collections::{BTreeMap, BTreeSet};

use super::expand::Expander;
use super::expansion::{Expansion, LoopExit, Rules, ValueId, ValueKind};
use crate::graph::{NodeKind, TensorId};

/// A value live after a loop, and the exits of which it is a result.
type AtExits<'a> = (ValueId, &'a BTreeSet<LoopExit>);

/// The most bytes needed at one step by the tensors that `counts` accepts.
pub(super) fn graph_bound(rules: &Rules<'_>, counts: impl Fn(TensorId) -> bool) -> u64 {
    let rules = rules.without_choices();
    let expansion = Expander::run(&rules);
    let same = same_values(&rules, &expansion);
    let size = |value: ValueId| rules.requirements[expansion.values[value].tensor.index()].size.0;
    let steps = expansion.timeline.len() + 1;
    let mut changes = vec![0i128; steps + 1];
    // Of the results of several exits, only those of one exit are live.
    let mut at_exits: BTreeMap<(usize, u32), Vec<AtExits<'_>>> = BTreeMap::new();
    for (value, of) in expansion.values.iter().enumerate() {
        if of.kind == ValueKind::External || same.contains(&value) || !counts(of.tensor) {
            continue;
        }
        for span in of.spans.iter().filter(|span| !span.is_empty()) {
            match expansion.loop_exits.get(&(value, span.first.0)) {
                Some(exits) => {
                    let Some(&(run, ..)) = exits.first() else { continue };
                    for step in span.first.0..span.end.0 {
                        at_exits.entry((run, step)).or_default().push((value, exits));
                    }
                }
                None => {
                    changes[(span.first.0 as usize).min(steps)] += i128::from(size(value));
                    changes[(span.end.0 as usize).min(steps)] -= i128::from(size(value));
                }
            }
        }
    }
    let mut spared = vec![0i128; steps + 1];
    let mut written: BTreeSet<ValueId> = BTreeSet::new();
    for candidate in &expansion.in_place_candidates {
        let alike = size(candidate.output) == size(candidate.input);
        let counted = |value: ValueId| !same.contains(&value) && counts(expansion.values[value].tensor);
        if alike && counted(candidate.output) && counted(candidate.input) && written.insert(candidate.output)
        {
            spared[candidate.step as usize] += i128::from(size(candidate.output));
        }
    }
    let mut after_loops = vec![0i128; steps + 1];
    for ((_, step), values) in at_exits {
        let ways: BTreeSet<&LoopExit> = values.iter().flat_map(|(_, exits)| exits.iter()).collect();
        let taken = |way: &LoopExit| {
            let there = values.iter().filter(|(_, exits)| exits.contains(way));
            there.map(|&(value, _)| i128::from(size(value))).sum::<i128>()
        };
        after_loops[step as usize] += ways.into_iter().map(taken).max().unwrap_or(0);
    }
    let mut live = 0;
    let needed = (0..steps).map(|step| {
        live += changes[step];
        live + after_loops[step] - spared[step]
    });
    u64::try_from(needed.max().unwrap_or(0)).unwrap_or(0)
}

/// Values that may be identical to others that are counted: parameters that a loop takes from outside in every round, values carried twice,
/// parameters of loops that end before a second round, and common initial values of several parameters.
fn same_values(rules: &Rules<'_>, expansion: &Expansion) -> BTreeSet<ValueId> {
    let mut same = BTreeSet::new();
    for (index, edge) in expansion.back_edges.iter().enumerate() {
        let again = expansion.back_edges[..index]
            .iter()
            .any(|other| other.value == edge.value);
        let itself = expansion.values_of(edge.value).contains(&edge.head);
        let is_short = match &rules.graph.node(edge.node).kind {
            NodeKind::Loop(of) => of
                .rounds
                .is_some_and(|rounds| rounds <= of.carried.len() as u64 + 1),
            _ => false,
        };
        // With values carried from parameter to parameter, the value of an earlier round may be an initial one.
        if edge.is_outside || again || itself || is_short {
            same.insert(edge.head);
        }
    }
    same
}
