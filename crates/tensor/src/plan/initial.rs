//! Initial values of carried parameters: in the parameter's bytes, left at their own location for the first rounds, or copied.

use std::collections::BTreeMap;

use super::classes::{Classes, Coalesced};
use super::expansion::{Binding, Expansion, NextValue, Rules, Value, ValueId, ValueKind};
use super::types::CopyTime;
use crate::graph::NodeKind;
use crate::units::Span;

/// Places the initial values of carried parameters. Results of one loop that are initial values of another are coalesced with the
/// parameters of that loop, so that loops in sequence use the same bytes, unless that needs more copies.
pub(super) fn with_initial_values(rules: &Rules<'_>, of: Coalesced) -> Coalesced {
    let is_result = |value: &Value| {
        let Value { kind, .. } = value;
        matches!(
            kind,
            ValueKind::Parameter {
                before: Binding::LoopOutput(..),
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
/// long as the parameter is read, otherwise copied. The results of other loops are coalesced only if `join_results` is true.
fn place_initial_values(rules: &Rules<'_>, of: &mut Coalesced, join_results: bool) {
    let (expansion, classes, failed) = (&mut of.expansion, &mut of.classes, &mut of.failed);
    // A parameter that begins where a loop in its body left it has no initial value of its own: the parameter of that loop has.
    let is_left = |of: &Value| rules.begins_where_left(of.tensor);
    let initial = |value: &Value| match value.kind {
        ValueKind::Parameter { before, .. } if !is_left(value) => Some(before),
        _ => None,
    };
    let mut shared: Vec<Binding> = expansion.values.iter().filter_map(initial).collect();
    // Parameters whose bytes others begin with: their initial values, if elsewhere, are live in these spans too.
    let mut longer: BTreeMap<ValueId, Vec<Span>> = BTreeMap::new();
    // Inner loops first, since they may begin with an outer loop's parameters, and later ones, with the results of earlier ones.
    for head in (0..expansion.values.len()).rev() {
        let ValueKind::Parameter { before, depth, next } = expansion.values[head].kind else {
            continue;
        };
        if is_left(&expansion.values[head]) {
            expansion.values[head].spans.clear();
            continue;
        }
        let in_own_bytes = classes.in_own_bytes.contains(&head);
        // A common initial value of several parameters stays in place for all of them.
        let is_shared = shared.iter().filter(|&&other| other == before).count() > 1;
        let joined = match before {
            _ if in_own_bytes => classes.join(rules, expansion, head, before),
            Binding::Value(value, 0) if !is_shared => classes.coalesce(rules, &expansion.values, head, value),
            Binding::LoopOutput(..) if join_results && !is_shared => {
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
        // A loop that rotates values leaves its results in several places, and the next loop would leave them in more.
        let is_gathered = rules.copies_scattered_results && matches!(before, Binding::LoopOutput(..));
        if !in_own_bytes && !is_gathered && can_extend(expansion, classes, before, &spans) {
            for value in expansion.values_of(before) {
                classes.live_as(expansion, head, value);
                expansion.values[value].spans.extend(&spans);
            }
            if next != NextValue::OwnBytes {
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
        if !can_extend(expansion, classes, Binding::Value(head, 0), &[enter]) {
            failed.push((node, into));
            continue;
        }
        let parameters = match &rules.graph.node(node).kind {
            NodeKind::Loop(of) => &rules.graph.block(of.body).inputs,
            _ => unreachable!("only loops have carried parameters"),
        };
        let at = parameters.iter().position(|&input| input == into);
        let source =
            rules.graph.node(node).inputs[at.expect("every carried value goes into a parameter of the body")];
        expansion.copies.push((node, source, into, CopyTime::Enter));
        expansion.values[head].spans.push(enter);
        expansion.writes.push((from - 1, head));
        let runs = expansion.step_runs[from as usize - 1];
        expansion.count_reads(before, runs);
        expansion.count_accesses(head, runs);
        let own = Binding::Value(head, 0);
        shared.push(own);
        let before = own;
        expansion.values[head].kind = ValueKind::Parameter { before, depth, next };
    }
}

/// Returns true if no other value of the same class is live in these spans.
fn can_extend(expansion: &Expansion, classes: &Classes, bind: Binding, spans: &[Span]) -> bool {
    expansion.values_of(bind).into_iter().all(|value| {
        let others = classes.members[classes.of[value]]
            .iter()
            .filter(|&&other| other != value);
        let mut taken = others.flat_map(|&other| &expansion.values[other].spans);
        taken.all(|taken| !spans.iter().any(|span| span.overlaps(*taken)))
    })
}
