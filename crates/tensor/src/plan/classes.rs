//! Classes of values that share one placement.

use std::collections::{BTreeMap, BTreeSet};

use super::expansion::{
    Binding, Expansion, InPlaceCandidate, LoopExit, NextValue, Rules, Value, ValueId, ValueKind,
    exclude_each_other,
};
use crate::graph::{NodeId, TensorId};
use crate::units::Span;

/// Classes of values that share one placement.
#[derive(Clone, Debug)]
pub(super) struct Classes {
    /// The class of each value.
    pub(super) of: Vec<usize>,
    /// The values of each class; empty if the class was merged into another.
    pub(super) members: Vec<Vec<ValueId>>,
    pub(super) in_place_candidates: BTreeMap<(ValueId, ValueId), u32>,
    pub(super) loop_exits: BTreeMap<(ValueId, u32), BTreeSet<LoopExit>>,
    pub(super) held: BTreeSet<(ValueId, u32)>,
    /// Pairs of parameters of a loop into which the same value is carried: after the first round they are identical.
    pub(super) identical_parameters: BTreeSet<(ValueId, ValueId)>,
    /// Parameters that must be in their own bytes in the first round too, since other values are coalesced with them.
    pub(super) in_own_bytes: BTreeSet<ValueId>,
}

impl Classes {
    pub(super) fn new(expansion: &Expansion) -> Classes {
        let count = expansion.values.len();
        let candidate = |candidate: &InPlaceCandidate| ((candidate.output, candidate.input), candidate.step);
        Classes {
            of: (0..count).collect(),
            members: (0..count).map(|value| vec![value]).collect(),
            in_place_candidates: expansion.in_place_candidates.iter().map(candidate).collect(),
            loop_exits: expansion.loop_exits.clone(),
            held: expansion.held.clone(),
            identical_parameters: BTreeSet::new(),
            in_own_bytes: BTreeSet::new(),
        }
    }

    /// Merges a value's class with those of all values of a binding; on failure merges none and returns false.
    pub(super) fn join(
        &mut self,
        rules: &Rules<'_>,
        expansion: &Expansion,
        value: ValueId,
        bind: Binding,
    ) -> bool {
        let Some(others) = expansion.whole_values(bind) else {
            return false;
        };
        let saved = (others.len() > 1).then(|| self.clone());
        for other in others {
            let next = match expansion.values[other].kind {
                ValueKind::Parameter { next, .. } => Some(next),
                _ => None,
            };
            let is_apart = next.is_some() && rules.uncoalesced.contains(&expansion.values[other].tensor);
            let is_elsewhere = other != value && (is_apart || matches!(next, Some(NextValue::Elsewhere(_))));
            if is_elsewhere || !self.coalesce(rules, &expansion.values, value, other) {
                if let Some(saved) = saved {
                    *self = saved;
                }
                return false;
            }
            if next.is_some() && !(other == value && matches!(bind, Binding::Value(..))) {
                self.in_own_bytes.insert(other);
            }
        }
        true
    }

    /// Merges the class of a parameter with those of all values that may be its initial value. On failure, for example if one of them is elsewhere in
    /// the first rounds of its own loop, merges none and returns false.
    pub(super) fn join_all(
        &mut self,
        rules: &Rules<'_>,
        expansion: &Expansion,
        head: ValueId,
        before: Binding,
    ) -> bool {
        let Some(values) = expansion.whole_values(before) else {
            return false;
        };
        let is_elsewhere = |&value: &ValueId| match expansion.values[value].kind {
            ValueKind::Parameter { next, .. } => {
                rules.uncoalesced.contains(&expansion.values[value].tensor)
                    || matches!(next, NextValue::Elsewhere(_))
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
    pub(super) fn coalesce(&mut self, rules: &Rules<'_>, values: &[Value], a: ValueId, b: ValueId) -> bool {
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
    pub(super) fn live_as(&mut self, expansion: &mut Expansion, reader: ValueId, value: ValueId) {
        let spans = expansion.values[reader].spans.clone();
        for end in spans.iter().map(|span| span.end.0) {
            if self.held.contains(&(reader, end)) {
                self.held.insert((value, end));
            }
        }
        expansion.values[value].spans.extend(spans);
    }

    fn lifetimes_disjoint(&self, values: &[Value], a: ValueId, b: ValueId) -> bool {
        if self.identical_parameters.contains(&(a.min(b), a.max(b))) {
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
    let needs = |tensor: TensorId| {
        let (needs, layout) = (
            &rules.requirements[tensor.index()],
            &rules.layouts[tensor.index()],
        );
        let extent = needs.image.then_some(layout.extent);
        (needs.size, extent, layout.rule.storage, rules.pin(tensor))
    };
    a.kind != ValueKind::External && b.kind != ValueKind::External && needs(a.tensor) == needs(b.tensor)
}

/// The expansion with its classes of values.
#[derive(Clone, Debug)]
pub(super) struct Coalesced {
    pub(super) expansion: Expansion,
    pub(super) classes: Classes,
    /// Parameters whose next value cannot be in their own bytes.
    pub(super) failed: Vec<(NodeId, TensorId)>,
}
