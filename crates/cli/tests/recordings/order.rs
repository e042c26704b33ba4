//! The order of two accesses, by a literal reading of the specification. Decides disagreements between the two layers.
//!
//! Source: appendix "Memory Model", section "Location-Ordered", its last bullets: a write comes before another one if it is made available before it,
//! and before a read if it is then made visible to that read; a read comes before a write if it happens before it. Execution dependencies chain
//! ("Execution and Memory Dependencies"). "Image Layout Transitions": writes of a transition are available, and available writes are visible to it;
//! transitions are in submission order.

use ash::vk::{AccessFlags2 as A, PipelineStageFlags2 as S};
use tileheap_device::scopes::{self, NO_STAGE};

use crate::recording::*;
use crate::timeline::{Edge, Timeline, Times, time};
use crate::tracker::Unit;
use crate::units::{covers, units};

/// An access or layout transition of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    Access(S, A),
    /// A layout transition.
    Transition,
}

impl Act {
    fn stage(self) -> S {
        match self {
            Act::Access(stage, _) => stage,
            Act::Transition => NO_STAGE,
        }
    }

    pub(crate) fn writes(self) -> bool {
        match self {
            Act::Access(_, access) => access.intersects(scopes::WRITES),
            Act::Transition => true,
        }
    }
}

/// Stages of commands, at some times, that happen after a given access.
type Reached = Vec<(S, Times)>;

fn reaches(reached: &Reached, stages: S, times: &Times) -> bool {
    let meet = |one: &Times| one.start() <= times.end() && times.start() <= one.end();
    reached
        .iter()
        .any(|(known, range)| known.intersects(stages) && meet(range))
}

/// Returns `true` if every execution of step `after` is ordered after the latest execution of step `before` that precedes it, for all memory
/// that both access, of one place or of all places.
pub(crate) fn is_ordered(
    recording: &Recording,
    place: Option<usize>,
    before: (u32, Act),
    after: (u32, Act),
) -> bool {
    let timeline = Timeline::new(recording);
    let all = timeline.items.iter().enumerate();
    let executions = all
        .filter(|(_, item)| item.step.id == after.0)
        .map(|(index, _)| index);
    let mut pairs = executions.filter_map(|second| {
        // A pass stores an attachment and changes its layout at the end.
        let is_same = before.0 == after.0 && before.1 != Act::Transition && after.1 == Act::Transition;
        let earlier = &timeline.items[..second + usize::from(is_same)];
        let first = earlier.iter().rposition(|item| item.step.id == before.0)?;
        Some((first, second))
    });
    pairs.all(|(first, second)| {
        let touched = |item: usize, act: Act| {
            let [read, written] = units(recording, &timeline.items[item]);
            if act.writes() { written } else { read }
        };
        let again = touched(second, after.1);
        let is_meant = |unit: &Unit| place.is_none_or(|place| unit.place() == place) && again.contains(unit);
        let common = touched(first, before.1).into_iter().filter(is_meant);
        common.into_iter().all(|unit| {
            let (before, after) = ((first, before.1), (second, after.1));
            let pair = Pair {
                recording,
                timeline: &timeline,
                unit,
                before,
                after,
            };
            pair.is_ordered()
        })
    })
}

/// Two accesses to a unit, by item.
struct Pair<'a> {
    recording: &'a Recording,
    timeline: &'a Timeline<'a>,
    unit: Unit,
    before: (usize, Act),
    after: (usize, Act),
}

impl Pair<'_> {
    fn is_ordered(&self) -> bool {
        let (item, after) = self.after;
        let here = time(item)..=time(item);
        let (mut happened, mut available) = self.start();
        // Dependencies chain in any order of their recording: each round follows one more link.
        for _ in 0..self.timeline.edges.len() {
            for edge in &self.timeline.edges {
                let (follows, is_available) = self.follows(edge, &happened, &available);
                for (is_in, reached) in [(follows, &mut happened), (is_available, &mut available)] {
                    let new = follow(edge).filter(|one| is_in && !reached.contains(one));
                    let new: Vec<_> = new.collect();
                    reached.extend(new);
                }
            }
        }
        let own = |edge: &&Edge| edge.at == Some(item);
        match (self.before.1.writes(), after) {
            (_, Act::Transition) => {
                let is_submission_order = self.before.1 == Act::Transition;
                let mut edges = self.timeline.edges.iter().filter(own);
                is_submission_order
                    || edges.any(|edge| {
                        let (follows, is_available) = self.follows(edge, &happened, &available);
                        if self.before.1.writes() {
                            is_available
                        } else {
                            follows
                        }
                    })
            }
            (false, _) => reaches(&happened, after.stage(), &here),
            (true, _) if after.writes() => reaches(&available, after.stage(), &here),
            (true, Act::Access(stage, access)) => {
                let mut edges = self
                    .timeline
                    .edges
                    .iter()
                    .filter(|edge| edge.second.contains(&time(item)));
                edges.any(|edge| {
                    let destination = scopes::ExpandedScope::destination(
                        edge.masks.destination.0,
                        edge.masks.destination.1,
                    );
                    let is_visible = destination.named.contains(stage) && destination.access.contains(access);
                    let is_own = self.before == (edge.at.unwrap_or(usize::MAX), Act::Transition);
                    is_visible && self.covers(edge) && (is_own || self.follows(edge, &happened, &available).1)
                })
            }
        }
    }

    /// The scopes ordered after a transition: the second scopes of its own dependencies.
    fn start(&self) -> (Reached, Reached) {
        let (item, before) = self.before;
        let is_own = |edge: &&Edge| before == Act::Transition && edge.at == Some(item);
        let own = self.timeline.edges.iter().filter(is_own);
        let reached: Reached = own.flat_map(follow).collect();
        (reached.clone(), reached)
    }

    /// Returns two flags: the first access, or something that happens after it, is in the first scope of a dependency; and its write is then
    /// available.
    fn follows(&self, edge: &Edge, happened: &Reached, available: &Reached) -> (bool, bool) {
        let (item, before) = self.before;
        let source = scopes::ExpandedScope::source(edge.masks.source.0, edge.masks.source.1);
        let is_in = edge.first.contains(&time(item)) && source.execution.intersects(before.stage());
        let makes_available = match before {
            Act::Access(stage, access) => {
                source.named.contains(stage)
                    && source.access.contains(access & scopes::WRITES)
                    && self.covers(edge)
            }
            Act::Transition => true,
        };
        // Everything that happens before a layout transition also happens before the second scopes of its dependency.
        let chains = |reached: &Reached| {
            reaches(reached, source.execution, &edge.first)
                || edge.transitions
                    && reaches(
                        reached,
                        NO_STAGE,
                        &edge.at.map_or(0..=0, |at| time(at)..=time(at)),
                    )
        };
        (
            is_in || chains(happened),
            is_in && makes_available || chains(available),
        )
    }

    /// Returns `true` if the access scopes of a dependency include the unit.
    fn covers(&self, edge: &Edge) -> bool {
        covers(self.recording, &edge.scope, self.unit)
    }
}

/// The scopes ordered after the first scope of a dependency: the second scope, and the layout transitions between the two.
fn follow(edge: &Edge) -> impl Iterator<Item = (S, Times)> + use<> {
    let second = scopes::ExpandedScope::destination(edge.masks.destination.0, A::NONE).execution;
    let transition = edge
        .at
        .filter(|_| edge.transitions)
        .map(|at| (NO_STAGE, time(at)..=time(at)));
    std::iter::once((second, edge.second.clone())).chain(transition)
}
