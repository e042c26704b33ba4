//! Disagreements between the two layers.

use std::collections::{BTreeSet, HashMap};

use crate::order::{Act, is_ordered};
use crate::recording::Recording;
use crate::verdicts::{Conflict, Missing, Named, Pair, Pairs, Verdicts};

/// A pair of steps that only one layer reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Disagreement {
    pub(crate) pair: Pair,
    pub(crate) kind: Kind,
}

/// The kind of a disagreement: the layer that reports the pair, and the one that the specification supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// Validation reports a write after another write that happens before it and was made available.
    AvailableWrite,
    /// Validation reports an access after a read that happens before it, or a read of a write that is visible to it.
    Ordered,
    /// Only the aliasing layer reports a write that is not made visible to a read.
    InvisibleWrite,
    /// Only the aliasing layer reports a write that is not made available to a later access.
    UnavailableWrite,
    /// Only the aliasing layer reports accesses without an execution dependency.
    Unordered,
    /// Only validation reports accesses that are not ordered.
    Missed,
    /// The aliasing layer reports accesses that are ordered.
    FalseAlarm,
    /// The accesses are unknown.
    Unknown,
}

impl Kind {
    /// Returns `true` if the aliasing layer is right.
    pub(crate) fn is_justified(self) -> bool {
        !matches!(self, Kind::Missed | Kind::FalseAlarm | Kind::Unknown)
    }
}

/// The pairs that only one layer reports. `rows` are the first steps of rows, by step.
pub(crate) fn disagreements(
    recording: &Recording,
    rows: &HashMap<u32, u32>,
    verdicts: &Verdicts,
) -> Vec<Disagreement> {
    let after = |pairs: &Pairs| pairs.keys().map(|pair| pair.1).collect::<BTreeSet<u32>>();
    let validation = after(&verdicts.validation);
    let reported: BTreeSet<u32> = after(&verdicts.certain)
        .union(&after(&verdicts.possible))
        .copied()
        .collect();
    let judge = Judge { recording, rows };
    let mut all = Vec::new();
    for (pair, conflicts) in &verdicts.validation {
        // The layer reports one use per pass and one of several equal draws, validation each of them.
        let is_follow_up = reports_another(recording, &verdicts.certain, *pair)
            || reports_another(recording, &verdicts.possible, *pair);
        if !reported.contains(&pair.1) && !is_follow_up {
            all.extend(
                conflicts
                    .iter()
                    .map(|conflict| judge.of_validation(*pair, *conflict)),
            );
        }
    }
    for (pair, conflicts) in &verdicts.certain {
        // Validation only remembers the last write and the reads after it: once it has reported a step, nothing is compared with earlier steps.
        let earlier = |(other_before, other): &Pair| {
            *other_before == pair.0 && *other != pair.1 && validation.contains(other)
        };
        let is_follow_up = verdicts.certain.keys().any(earlier);
        if !validation.contains(&pair.1) && !is_follow_up {
            all.extend(conflicts.iter().map(|conflict| judge.of_layer(*pair, *conflict)));
        }
    }
    all
}

/// Returns `true` if validation reports accesses that the specification leaves without order.
pub(crate) fn lacks_order(recording: &Recording, rows: &HashMap<u32, u32>, verdicts: &Verdicts) -> bool {
    let judge = Judge { recording, rows };
    let mut reported = verdicts.validation.iter();
    reported.any(|(pair, conflicts)| {
        let kinds = conflicts
            .iter()
            .map(|conflict| judge.of_validation(*pair, *conflict).kind);
        kinds.into_iter().any(|kind| kind == Kind::Missed)
    })
}

/// Returns `true` if another step is reported for the same earlier one, or for an equal draw.
fn reports_another(recording: &Recording, pairs: &Pairs, (before, after): Pair) -> bool {
    let equal = |step: Option<u32>| step.map(|step| recording.subpass_of(step));
    pairs
        .keys()
        .any(|(other_before, other)| equal(*other_before) == equal(before) && *other != after)
}

/// Checks pairs by the specification.
struct Judge<'a> {
    recording: &'a Recording,
    rows: &'a HashMap<u32, u32>,
}

impl Judge<'_> {
    fn of_validation(&self, pair: Pair, conflict: Option<Conflict>) -> Disagreement {
        let kind = match (conflict, self.orders(pair, conflict)) {
            (Some(conflict), orders) if orders.contains(&true) => match conflict.acts.map(Act::writes) {
                [true, true] => Kind::AvailableWrite,
                _ => Kind::Ordered,
            },
            (_, orders) if orders.is_empty() => Kind::Unknown,
            _ => Kind::Missed,
        };
        Disagreement { pair, kind }
    }

    fn of_layer(&self, pair: Pair, conflict: Option<Conflict>) -> Disagreement {
        let orders = self.orders(pair, conflict);
        let kind = match orders.contains(&false) {
            true => match conflict.map(|one| one.missing) {
                Some(Missing::Visibility) => Kind::InvisibleWrite,
                Some(Missing::Availability) => Kind::UnavailableWrite,
                _ => Kind::Unordered,
            },
            false if orders.is_empty() => Kind::Unknown,
            false => Kind::FalseAlarm,
        };
        Disagreement { pair, kind }
    }

    /// For each step of a row that the pair may mean, `true` if the accesses are ordered.
    fn orders(&self, (before, after): Pair, conflict: Option<Conflict>) -> Vec<bool> {
        let (
            Some(before),
            Some(Conflict {
                acts: [first, second],
                memory,
                ..
            }),
        ) = (before, conflict)
        else {
            return Vec::new();
        };
        let place = memory.map(|memory| match memory {
            Named::Place(place) => place,
            Named::Resource(resource) => self.recording.resources[resource].place,
        });
        let mut orders = Vec::new();
        for earlier in self.row(before, first) {
            for later in self.row(after, second) {
                orders.push(is_ordered(
                    self.recording,
                    place,
                    (earlier, first),
                    (later, second),
                ));
            }
        }
        orders
    }

    /// The steps of a row that a pair may refer to.
    fn row(&self, step: u32, act: Act) -> Vec<u32> {
        let mut row: Vec<u32> = self
            .rows
            .iter()
            .filter(|(_, first)| **first == step)
            .map(|(member, _)| *member)
            .collect();
        row.sort_unstable();
        if act == Act::Transition && row.len() > 1 {
            row.retain(|member| self.recording.changes_layout(*member));
        }
        row
    }
}
