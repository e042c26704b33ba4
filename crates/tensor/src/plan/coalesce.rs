//! Coalescing: values that share one placement, because a loop carries them, a branch merges them, or a node writes in place.

use std::collections::{BTreeMap, BTreeSet};

use super::expand::Expander;
use super::expansion::{
    BackEdge, Bind, Expansion, InPlaceCandidate, LoopExit, Merge, Next, Rules, Value, ValueId, ValueKind,
    exclude_each_other,
};
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
    /// Pairs of parameters of a loop into which the same value is carried: after the first round they are identical.
    twins: BTreeSet<(ValueId, ValueId)>,
    /// Parameters that must be in their own bytes in the first round too, since other values are coalesced with them.
    in_own_bytes: BTreeSet<ValueId>,
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
            twins: BTreeSet::new(),
            in_own_bytes: BTreeSet::new(),
        }
    }

    /// Merges a value's class with those of all values of a binding; on failure merges none and returns false.
    fn join(&mut self, rules: &Rules<'_>, expansion: &Expansion, value: ValueId, bind: Bind) -> bool {
        let Some(others) = expansion.whole_values(bind) else {
            return false;
        };
        let saved = (others.len() > 1).then(|| self.clone());
        for other in others {
            let next = match expansion.values[other].kind {
                ValueKind::Parameter { next, .. } => Some(next),
                _ => None,
            };
            let is_apart = next.is_some() && rules.apart.contains(&expansion.values[other].tensor);
            let is_elsewhere = other != value && (is_apart || matches!(next, Some(Next::Outside(_))));
            if is_elsewhere || !self.coalesce(rules, &expansion.values, value, other) {
                if let Some(saved) = saved {
                    *self = saved;
                }
                return false;
            }
            if next.is_some() && !(other == value && matches!(bind, Bind::Value(..))) {
                self.in_own_bytes.insert(other);
            }
        }
        true
    }

    /// Merges the class of a parameter with those of all values that may be its initial one, wherever they are in the first rounds of
    /// their own loops; on failure merges none and returns false.
    fn join_all(&mut self, rules: &Rules<'_>, expansion: &Expansion, head: ValueId, before: Bind) -> bool {
        let Some(values) = expansion.whole_values(before) else {
            return false;
        };
        let is_elsewhere = |&value: &ValueId| match expansion.values[value].kind {
            ValueKind::Parameter { next, .. } => {
                rules.apart.contains(&expansion.values[value].tensor) || matches!(next, Next::Outside(_))
            }
            _ => false,
        };
        if values.iter().any(is_elsewhere) {
            return false;
        }
        let saved = self.clone();
        let is_joined = values
            .into_iter()
            .all(|value| self.coalesce(rules, &expansion.values, head, value));
        if !is_joined {
            *self = saved;
        }
        is_joined
    }

    /// Merges the classes of two values, unless one is external, their requirements differ, or their lifetimes overlap;
    /// returns true if they are in one class.
    fn coalesce(&mut self, rules: &Rules<'_>, values: &[Value], a: ValueId, b: ValueId) -> bool {
        let (a, b) = (self.of[a], self.of[b]);
        if a == b {
            return true;
        }
        let apart = |&one: &ValueId, &other: &ValueId| {
            same_requirements(rules, &values[one], &values[other])
                && self.lifetimes_disjoint(values, one, other)
        };
        let (first, second) = (&self.members[a], &self.members[b]);
        let possible = first
            .iter()
            .all(|one| second.iter().all(|other| apart(one, other)));
        if possible {
            let moved = std::mem::take(&mut self.members[b]);
            for &value in &moved {
                self.of[value] = a;
            }
            self.members[a].extend(moved);
        }
        possible
    }

    /// Extends the lifetime of `value` by that of `reader`, which is read from the bytes of `value`.
    fn live_as(&mut self, expansion: &mut Expansion, reader: ValueId, value: ValueId) {
        let spans = expansion.values[reader].spans.clone();
        for end in spans.iter().map(|span| span.end.0) {
            if self.held.contains(&(reader, end)) {
                self.held.insert((value, end));
            }
        }
        expansion.values[value].spans.extend(spans);
    }

    fn lifetimes_disjoint(&self, values: &[Value], a: ValueId, b: ValueId) -> bool {
        if self.twins.contains(&(a.min(b), a.max(b))) {
            return true;
        }
        let may_overlap = |one: Span, other: Span| {
            !one.overlaps(other)
                || self.in_place(a, one, b, other)
                || self.in_place(b, other, a, one)
                || self.on_different_exits(a, one, b, other)
        };
        let (ones, others) = (&values[a].spans, &values[b].spans);
        ones.iter()
            .all(|&one| others.iter().all(|&other| may_overlap(one, other)))
    }

    /// Returns true if two lifetimes after a loop belong to results of different exits, only one of which is taken.
    fn on_different_exits(&self, a: ValueId, one: Span, b: ValueId, other: Span) -> bool {
        let ways = |value: ValueId, span: Span| self.loop_exits.get(&(value, span.first.0));
        let (Some(first), Some(second)) = (ways(a, one), ways(b, other)) else {
            return false;
        };
        let is_other = |x: &LoopExit| second.iter().all(|y| exclude_each_other(x, y));
        first.iter().all(is_other)
    }

    /// Returns true if two lifetimes overlap only in the step that writes the output over the input.
    fn in_place(&self, output: ValueId, written: Span, input: ValueId, read: Span) -> bool {
        let step = self.in_place_candidates.get(&(output, input));
        let needed = self.held.contains(&(input, read.end.0));
        step.is_some_and(|&step| written.first.0 == step && read.end.0 == step + 1 && !needed)
    }
}

fn same_requirements(rules: &Rules<'_>, a: &Value, b: &Value) -> bool {
    let (first, second) = (a.tensor.index(), b.tensor.index());
    let needs = |tensor: usize| {
        let (needs, layout) = (&rules.requirements[tensor], &rules.layouts[tensor]);
        let extent = needs.image.then_some(layout.extent);
        (
            needs.size,
            extent,
            layout.rule.storage,
            &rules.graph.tensors()[tensor].memory,
        )
    };
    a.kind != ValueKind::External && b.kind != ValueKind::External && needs(first) == needs(second)
}

/// The expansion with its classes of values.
#[derive(Clone, Debug)]
pub(super) struct Coalesced {
    pub(super) expansion: Expansion,
    pub(super) classes: Classes,
    /// Parameters whose next value cannot be in their own bytes.
    failed: Vec<(NodeId, TensorId)>,
}

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
                "the next value of `{tensor}` needs a copy in every round; unrolling up to {limit} times does not avoid it"
            );
            return Err(Error::control(&rules.graph.node(node).name, problem));
        }
        // Of the parameters that were not placed, copy the one whose copy leaves the fewest copies.
        let mut found: Option<(Coalesced, TensorId)> = None;
        for (_, tensor) in failed.into_iter().take(4) {
            let (copied, apart) = (rules.copied.clone(), rules.apart.clone());
            if rules.copied.insert(tensor, ()).is_some() {
                rules.apart.insert(tensor);
            }
            let tried = best_order(rules, &Expander::run(rules));
            let fewest = found.as_ref().map_or(usize::MAX, |(found, _)| found.copies());
            if tried.copies() < fewest {
                found = Some((tried, tensor));
            }
            (rules.copied, rules.apart) = (copied, apart);
        }
        let Some((next, tensor)) = found else { break };
        if rules.copied.insert(tensor, ()).is_some() {
            let is_new = rules.apart.insert(tensor);
            assert!(is_new, "a parameter apart from all others can be where it began");
        }
        best = next;
    }
    Ok(best)
}

/// Larger expansions are not unrolled further, and keep the counts chosen for each loop separately.
const MAX_VALUES: usize = 500;

/// Tries other unroll counts, one loop at a time, and keeps those that leave fewer copies.
fn improve(rules: &mut Rules<'_>, mut best: Coalesced, limit: u32) -> Coalesced {
    let loops: Vec<NodeId> = rules.unroll.keys().copied().collect();
    for &id in loops.iter().chain(&loops) {
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
                let mut best = (usize::MAX, 1);
                for count in 1..=limit.max(1) {
                    rules.unroll.insert(id, count);
                    let expansion = Expander::run_loop(rules, id);
                    // Of nested loops, the numbers of copies multiply.
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

/// Coalesces in the order that leaves the fewest copies: carried values or results of arms first, then whatever failed before the rest.
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
    best.expect("there are two orders")
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
                    let is_moved = |next| next != Next::Own && is_last;
                    let kind = this.expansion.values[head].kind;
                    let is_done = matches!(kind, ValueKind::Parameter { next, .. } if is_moved(next));
                    // A copy overwrites its parameter at the end of the round, so no other parameter can be placed there.
                    let is_overwritten = value != Bind::Value(head, 0) && rules.overwrites(expansion, value);
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
                _ if edge.value == Bind::Value(edge.head, 0) => Next::Itself,
                true => Next::Outside(edge.value),
                false => Next::Own,
            };
            if let ValueKind::Parameter { next, .. } = &mut expansion.values[edge.head].kind {
                *next = new;
            }
            if matches!(new, Next::Outside(_)) {
                // Every reader of the parameter, within the loop or after it, reads these.
                for other in others {
                    classes.live_as(&mut expansion, edge.head, other);
                }
            }
            let before = expansion.back_edges[..index].iter();
            let same = before.filter(|other| other.is_last && other.value == edge.value);
            let pairs = same.map(|other| (other.head.min(edge.head), other.head.max(edge.head)));
            classes.twins.extend(pairs);
        }
        for &index in copied {
            let merge = expansion.merges[index];
            let output = &mut expansion.values[merge.output];
            // Written while the arm's result is live.
            output.spans.insert(0, Span::new(merge.step, merge.step + 1));
            let copy = (merge.node, merge.from, output.tensor, CopyTime::Leave);
            expansion.copies.push(copy);
            expansion.writes.push((merge.step, merge.output));
        }
        Coalesced {
            expansion,
            classes,
            failed: Vec::new(),
        }
    }

    /// Writes outputs over operands where that is possible; returns true if it is anywhere.
    pub(super) fn write_over_operands(&mut self, rules: &Rules<'_>) -> bool {
        let mut is_any = false;
        for candidate in &self.expansion.in_place_candidates {
            let InPlaceCandidate { output, input, .. } = *candidate;
            let is_new = self.classes.of[output] != self.classes.of[input];
            is_any |= self
                .classes
                .coalesce(rules, &self.expansion.values, output, input)
                && is_new;
        }
        is_any
    }

    /// Returns true if a loop begins with the result of another one that is in one of several places.
    pub(super) fn has_scattered_results(&self) -> bool {
        let is_scattered = |bind: Bind| {
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

    /// Returns true if every parameter's next value is in its bytes or copied there.
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

/// Places the initial values of carried parameters. The results of a loop that begin another one are coalesced with its parameters, so that
/// loops in sequence use the same bytes, unless that needs more copies.
fn with_initial_values(rules: &Rules<'_>, of: Coalesced) -> Coalesced {
    let is_result = |value: &Value| {
        let Value { kind, .. } = value;
        matches!(
            kind,
            ValueKind::Parameter {
                before: Bind::LoopOutput(..),
                ..
            }
        )
    };
    let has_results = of.expansion.values.iter().any(is_result);
    let (mut joined, mut apart) = (of.clone(), of);
    place_initial_values(rules, &mut joined, true);
    if !has_results || joined.copies() == 0 {
        return joined;
    }
    place_initial_values(rules, &mut apart, false);
    if apart.copies() < joined.copies() {
        apart
    } else {
        joined
    }
}

/// Places the initial value of each carried parameter: coalesced with the parameter, otherwise left in place (type II) and live as
/// long as the parameter is read, otherwise copied. The results of other loops are coalesced only if `join_results`.
fn place_initial_values(rules: &Rules<'_>, of: &mut Coalesced, join_results: bool) {
    let (expansion, classes, failed) = (&mut of.expansion, &mut of.classes, &mut of.failed);
    let initial = |value: &Value| match value.kind {
        ValueKind::Parameter { before, .. } => Some(before),
        _ => None,
    };
    let mut shared: Vec<Bind> = expansion.values.iter().filter_map(initial).collect();
    // Parameters whose bytes others begin with: their initial values, if elsewhere, are live in these spans too.
    let mut longer: BTreeMap<ValueId, Vec<Span>> = BTreeMap::new();
    // Inner loops first, since they may begin with an outer loop's parameters, and later ones, with the results of earlier ones.
    for head in (0..expansion.values.len()).rev() {
        let ValueKind::Parameter { before, depth, next } = expansion.values[head].kind else {
            continue;
        };
        let in_own_bytes = classes.in_own_bytes.contains(&head);
        // A common initial value of several parameters stays in place for all of them.
        let is_shared = shared.iter().filter(|&&other| other == before).count() > 1;
        let joined = match before {
            _ if in_own_bytes => classes.join(rules, expansion, head, before),
            Bind::Value(value, 0) if !is_shared => classes.coalesce(rules, &expansion.values, head, value),
            Bind::LoopOutput(..) if join_results && !is_shared => {
                classes.join_all(rules, expansion, head, before)
            }
            _ => false,
        };
        let mut spans = expansion.values[head].spans.clone();
        spans.extend(longer.remove(&head).unwrap_or_default());
        if joined {
            // A parameter may have another placement in the first rounds of its loop, which may be an outer or an earlier one.
            for value in expansion.values_of(before) {
                if matches!(expansion.values[value].kind, ValueKind::Parameter { .. }) {
                    longer.entry(value).or_default().extend(&spans);
                }
            }
            continue;
        }
        // The results of a loop that turns are in several places, and those of the next one would be in more.
        let is_gathered = rules.gathers && matches!(before, Bind::LoopOutput(..));
        if !in_own_bytes && !is_gathered && can_extend(expansion, classes, before, &spans) {
            for value in expansion.values_of(before) {
                classes.live_as(expansion, head, value);
                expansion.values[value].spans.extend(&spans);
            }
            if next != Next::Own {
                // The parameter is never in its own bytes.
                expansion.values[head].spans.clear();
            }
            continue;
        }
        // Other values reuse those bytes: copy before the first round.
        let from = spans[0].first.0;
        let node = expansion.timeline[from as usize - 1].node;
        let into = expansion.values[head].tensor;
        let enter = Span::new(from - 1, from);
        if !can_extend(expansion, classes, Bind::Value(head, 0), &[enter]) {
            failed.push((node, into));
            continue;
        }
        let parameters = match &rules.graph.node(node).kind {
            NodeKind::Loop(of) => &rules.graph.block(of.body).inputs,
            _ => unreachable!("only loops have carried parameters"),
        };
        let at = parameters.iter().position(|&input| input == into);
        let source = rules.graph.node(node).inputs[at.expect("it is a parameter of the body")];
        expansion.copies.push((node, source, into, CopyTime::Enter));
        expansion.values[head].spans.push(enter);
        expansion.writes.push((from - 1, head));
        let own = Bind::Value(head, 0);
        shared.push(own);
        let before = own;
        expansion.values[head].kind = ValueKind::Parameter { before, depth, next };
    }
}

/// Returns true if no other value of the same class is live in these spans.
fn can_extend(expansion: &Expansion, classes: &Classes, bind: Bind, spans: &[Span]) -> bool {
    expansion.values_of(bind).into_iter().all(|value| {
        let others = classes.members[classes.of[value]]
            .iter()
            .filter(|&&other| other != value);
        let mut taken = others.flat_map(|&other| &expansion.values[other].spans);
        taken.all(|taken| !spans.iter().any(|span| span.overlaps(*taken)))
    })
}
