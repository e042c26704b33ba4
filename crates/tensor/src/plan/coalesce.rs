//! Coalescing: values that share one placement, because a loop carries them, a branch merges them, or a node writes in place.

use std::collections::BTreeSet;

use super::classes::{Classes, Coalesced};
use super::expand::Expander;
use super::expansion::{
    BackEdge, Binding, Expansion, InPlaceCandidate, Merge, NextValue, Rules, ValueId, ValueKind,
};
use super::initial::with_initial_values;
use super::options::CarryRule;
use super::types::CopyTime;
use crate::error::{Error, Result};
use crate::graph::{BlockId, Graph, NodeId, NodeKind, TensorId};
use crate::units::Span;

/// Two values to be coalesced: a carried value and its parameter, or an arm's result and the branch's output; by index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Join {
    Carry(usize),
    Merge(usize),
}

/// Expands the graph and coalesces its values; loops are unrolled until their carried values need as few copies as possible.
pub(super) fn coalesce(rules: &mut Rules<'_>, carry: CarryRule, limit: u32) -> Result<Coalesced> {
    choose_unroll_counts(rules, BlockId::ROOT, carry, limit);
    let mut best = best_order(rules, &Expander::run(rules));
    if carry != CarryRule::Copy && best.copies() > 0 {
        best = improve(rules, best, limit);
    }
    loop {
        let failed: BTreeSet<_> = best.failed.iter().copied().collect();
        if let (CarryRule::Forbid, Some(&(node, tensor))) = (carry, failed.first()) {
            let (tensor, limit) = (&rules.graph.tensor(tensor).name, limit.max(1));
            let problem = format!(
                "the next value of `{tensor}` needs a copy in every round; unrolling by a factor of up to {limit} does not avoid the copy"
            );
            return Err(Error::control(&rules.graph.node(node).name, problem));
        }
        // Of the parameters that were not placed, copy the one that leaves the fewest copies in total.
        let mut found: Option<(Coalesced, TensorId)> = None;
        for (_, tensor) in failed.into_iter().take(4) {
            let (copied, uncoalesced) = (rules.copied.clone(), rules.uncoalesced.clone());
            if rules.copied.insert(tensor, ()).is_some() {
                rules.uncoalesced.insert(tensor);
            }
            let tried = best_order(rules, &Expander::run(rules));
            let fewest = found.as_ref().map_or(usize::MAX, |(found, _)| found.copies());
            if tried.copies() < fewest {
                found = Some((tried, tensor));
            }
            (rules.copied, rules.uncoalesced) = (copied, uncoalesced);
        }
        let Some((next, tensor)) = found else { break };
        if rules.copied.insert(tensor, ()).is_some() {
            let is_new = rules.uncoalesced.insert(tensor);
            assert!(
                is_new,
                "a copied parameter that is kept apart from all other values cannot fail"
            );
        }
        best = next;
    }
    Ok(best)
}

/// Maximum number of values of expansions that are unrolled further; larger ones keep the counts chosen for each loop separately.
const MAX_VALUES: usize = 500;

/// Tries other unroll counts, one loop at a time, and keeps those that leave fewer copies.
fn improve(rules: &mut Rules<'_>, mut best: Coalesced, limit: u32) -> Coalesced {
    let loops: Vec<NodeId> = rules.unroll.keys().copied().collect();
    for &id in loops.iter().chain(&loops) {
        if rules.contains_continued(id) {
            continue;
        }
        for count in 1..=limit.clamp(1, 4) {
            if best.copies() == 0 || best.expansion.values.len() > MAX_VALUES {
                return best;
            }
            let before = rules.unroll.insert(id, count);
            let tried = best_order(rules, &Expander::run(rules));
            if tried.copies() < best.copies() {
                best = tried;
            } else {
                rules.unroll.insert(id, before.unwrap_or(1));
            }
        }
    }
    best
}

/// Chooses the unroll count of each loop of a block, inner loops first: the smallest count with the fewest copies.
fn choose_unroll_counts(rules: &mut Rules<'_>, block: BlockId, carry: CarryRule, limit: u32) {
    let graph: &Graph = rules.graph;
    for &id in &graph.block(block).nodes {
        match &graph.node(id).kind {
            NodeKind::Operator(_) => {}
            NodeKind::Branch(of) => {
                for &arm in &of.arms {
                    choose_unroll_counts(rules, arm, carry, limit);
                }
            }
            NodeKind::Loop(of) => {
                choose_unroll_counts(rules, of.body, carry, limit);
                if carry == CarryRule::Copy {
                    let carried = of.carried.iter().map(|carry| (carry.into, ()));
                    rules.copied.extend(carried);
                    continue;
                }
                let limit = if rules.contains_continued(id) { 1 } else { limit };
                let mut best = (usize::MAX, 1);
                for count in 1..=limit.max(1) {
                    rules.unroll.insert(id, count);
                    let expansion = Expander::run_loop(rules, id);
                    // The numbers of unrolled copies of nested loops multiply.
                    if count > 2 && expansion.values.len() > MAX_VALUES {
                        break;
                    }
                    best = best.min((best_order(rules, &expansion).copies(), count));
                    if best.0 == 0 {
                        break;
                    }
                }
                rules.unroll.insert(id, best.1);
            }
        }
    }
}

/// Coalesces in the order that leaves the fewest copies: tries carried values first and results of arms first, and each of these orders
/// again with the joins that failed moved to the front.
pub(super) fn best_order(rules: &Rules<'_>, expansion: &Expansion) -> Coalesced {
    let carries = (0..expansion.back_edges.len()).map(Join::Carry);
    let merges = (0..expansion.merges.len()).map(Join::Merge);
    let orders = [
        carries.clone().chain(merges.clone()).collect(),
        merges.chain(carries).collect(),
    ];
    let mut best: Option<Coalesced> = None;
    for mut order in orders as [Vec<Join>; 2] {
        for _ in 0..4 {
            let (found, first) = in_order(rules, expansion, &order);
            if best.as_ref().is_none_or(|best| found.copies() < best.copies()) {
                best = Some(found);
            }
            if first.is_empty() || best.as_ref().is_some_and(|best| best.copies() == 0) {
                break;
            }
            order.sort_by_key(|join| !first.contains(join));
        }
    }
    best.expect("at least one order was tried")
}

/// The fewest copies of any order, at the rules' unroll counts; `None` for more than `most` joins.
#[cfg(test)]
pub(super) fn fewest_in_any_order(rules: &Rules<'_>, most: usize) -> Option<usize> {
    fn go(rules: &Rules<'_>, expansion: &Expansion, order: &mut Vec<Join>, from: usize) -> usize {
        if from == order.len() {
            return in_order(rules, expansion, order).0.copies();
        }
        let count = order.len();
        let each = |at| {
            order.swap(from, at);
            let fewest = go(rules, expansion, order, from + 1);
            order.swap(from, at);
            fewest
        };
        (from..count).map(each).min().unwrap_or(usize::MAX)
    }
    let expansion = Expander::run(rules);
    let mut joins: Vec<Join> = (0..expansion.back_edges.len()).map(Join::Carry).collect();
    joins.extend((0..expansion.merges.len()).map(Join::Merge));
    (joins.len() <= most).then(|| go(rules, &expansion, &mut joins, 0))
}

/// Coalesces in this order; also returns the joins that failed.
fn in_order(rules: &Rules<'_>, expansion: &Expansion, order: &[Join]) -> (Coalesced, Vec<Join>) {
    let mut copied: Vec<usize> = Vec::new();
    loop {
        let mut this = Coalesced::new(expansion, rules, &copied);
        let mut failed = Vec::new();
        let before = copied.len();
        for &join in order {
            let (value, bind, is_done, is_overwritten) = match join {
                Join::Carry(index) => {
                    let BackEdge {
                        head, value, is_last, ..
                    } = expansion.back_edges[index];
                    let is_moved = |next| next != NextValue::OwnBytes && is_last;
                    let kind = this.expansion.values[head].kind;
                    let is_done = matches!(kind, ValueKind::Parameter { next, .. } if is_moved(next));
                    // A copy overwrites its parameter at the end of the round, so no other parameter can be placed there.
                    let is_overwritten =
                        value != Binding::Value(head, 0) && rules.overwrites(expansion, value);
                    (head, value, is_done, is_overwritten)
                }
                Join::Merge(index) => {
                    let Merge { output, result, .. } = expansion.merges[index];
                    (output, result, copied.contains(&index), false)
                }
            };
            if !is_done && (is_overwritten || !this.classes.join(rules, &this.expansion, value, bind)) {
                failed.push(join);
                match join {
                    Join::Carry(index) => {
                        let BackEdge { node, into, .. } = expansion.back_edges[index];
                        this.failed.push((node, into));
                    }
                    Join::Merge(index) => copied.push(index),
                }
            }
        }
        // A copied result is written while other values are live, so the joins must be repeated with the copies known
        // from the start.
        if copied.len() == before {
            failed.extend(copied.into_iter().map(Join::Merge));
            return (with_initial_values(rules, this), failed);
        }
    }
}

impl Coalesced {
    /// The state before any merge, with some results of arms copied.
    fn new(expansion: &Expansion, rules: &Rules<'_>, copied: &[usize]) -> Coalesced {
        let mut expansion = expansion.clone();
        let mut classes = Classes::new(&expansion);
        for (index, edge) in expansion.back_edges.clone().into_iter().enumerate() {
            if !edge.is_last {
                continue;
            }
            let layout = |value: ValueId| {
                let tensor = expansion.values[value].tensor.index();
                (&rules.layouts[tensor].rule, rules.requirements[tensor].size)
            };
            let others = expansion.values_of(edge.value);
            let alike = others.iter().all(|&value| layout(value) == layout(edge.head));
            let new = match edge.is_outside && alike {
                _ if edge.value == Binding::Value(edge.head, 0) => NextValue::Unchanged,
                true => NextValue::Elsewhere(edge.value),
                false => NextValue::OwnBytes,
            };
            if let ValueKind::Parameter { next, .. } = &mut expansion.values[edge.head].kind {
                *next = new;
            }
            let before = expansion.back_edges[..index].iter();
            let same = before.filter(|other| other.is_last && other.value == edge.value);
            let pairs = same.map(|other| (other.head.min(edge.head), other.head.max(edge.head)));
            classes.identical_parameters.extend(pairs);
        }
        // Every reader of a parameter that is elsewhere, within its loop or after it, reads the values there. Outer loops first, since
        // those values may be parameters of inner loops that are elsewhere.
        for edge in expansion.back_edges.clone().into_iter().rev() {
            let kind = expansion.values[edge.head].kind;
            if let (
                true,
                ValueKind::Parameter {
                    next: NextValue::Elsewhere(bind),
                    ..
                },
            ) = (edge.is_last, kind)
            {
                let mut others = expansion.values_of(bind);
                others.extend(expansion.linked_heads(edge.head));
                for other in others {
                    classes.live_as(&mut expansion, edge.head, other);
                }
            }
        }
        for &index in copied {
            let merge = expansion.merges[index];
            let output = &mut expansion.values[merge.output];
            // Written while the arm's result is live.
            output.spans.insert(0, Span::new(merge.step, merge.step + 1));
            let copy = (merge.node, merge.from, output.tensor, CopyTime::Leave);
            expansion.copies.push(copy);
            expansion.writes.push((merge.step, merge.output));
            let runs = expansion.step_runs[merge.step as usize];
            expansion.count_reads(merge.result, runs);
            expansion.count_accesses(merge.output, runs);
        }
        Coalesced {
            expansion,
            classes,
            failed: Vec::new(),
        }
    }

    /// Writes outputs over operands where that is possible; returns true if any output is newly written over its operand.
    pub(super) fn write_over_operands(&mut self, rules: &Rules<'_>) -> bool {
        self.write_over(rules, |_| true)
    }

    /// Like [`Coalesced::write_over_operands`], for those in-place writes that `is_allowed` permits.
    pub(super) fn write_over(
        &mut self,
        rules: &Rules<'_>,
        is_allowed: impl Fn(&InPlaceCandidate) -> bool,
    ) -> bool {
        let mut is_any = false;
        let candidates = self.expansion.in_place_candidates.iter();
        for candidate in candidates.filter(|candidate| is_allowed(candidate)) {
            let InPlaceCandidate { output, input, .. } = *candidate;
            let is_new = self.classes.of[output] != self.classes.of[input];
            is_any |= self
                .classes
                .coalesce(rules, &self.expansion.values, output, input)
                && is_new;
        }
        is_any
    }

    /// Returns true if the initial value of a loop parameter is the result of another loop and may be in one of several places.
    pub(super) fn has_scattered_results(&self) -> bool {
        let is_scattered = |bind: Binding| {
            let values = self.expansion.values_of(bind);
            values
                .iter()
                .any(|&value| self.classes.of[value] != self.classes.of[values[0]])
        };
        self.expansion.values.iter().any(|value| match value.kind {
            ValueKind::Parameter { before, .. } => is_scattered(before),
            _ => false,
        })
    }

    /// Returns true if the next value of every parameter is in the parameter's own bytes, or is copied there.
    pub(super) fn is_complete(&self) -> bool {
        self.failed.is_empty()
    }

    /// The number of copies; a copy that occurs in several unrolled copies of a body is counted once.
    pub(super) fn copies(&self) -> usize {
        let key =
            |&(node, from, to, time): &(NodeId, TensorId, TensorId, CopyTime)| (node, from, to, time as u8);
        let copies: BTreeSet<_> = self.expansion.copies.iter().map(key).collect();
        let failed: BTreeSet<_> = self.failed.iter().collect();
        copies.len() + failed.len()
    }
}
