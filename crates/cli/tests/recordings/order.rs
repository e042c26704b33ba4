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
use crate::units::{covers, units, units_of};

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

/// Commands and transitions that happen after a given access.
#[derive(Clone, Debug, Default)]
struct Reached {
    /// Stages of commands, at some times.
    scopes: Vec<(S, Times)>,
    /// Automatic layout transitions of render passes.
    automatic: Vec<usize>,
}

impl Reached {
    fn includes(&self, stages: S, times: &Times) -> bool {
        let meet = |one: &Times| one.start() <= times.end() && times.start() <= one.end();
        let mut scopes = self.scopes.iter();
        scopes.any(|(known, range)| known.intersects(stages) && meet(range))
    }

    fn add(&mut self, edge: &Edge) {
        for one in follow(edge) {
            if !self.scopes.contains(&one) {
                self.scopes.push(one);
            }
        }
    }
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
        for _ in 0..self.timeline.edges.len() + self.timeline.automatic.len() {
            for index in 0..self.timeline.edges.len() {
                let (follows, is_available) = self.follows(index, &happened, &available);
                for (is_in, reached) in [(follows, &mut happened), (is_available, &mut available)] {
                    if is_in {
                        reached.add(&self.timeline.edges[index]);
                    }
                }
            }
            for number in 0..self.timeline.automatic.len() {
                let (follows, is_available) = self.before_automatic(number, &happened, &available);
                for (is_in, reached) in [(follows, &mut happened), (is_available, &mut available)] {
                    if is_in && !reached.automatic.contains(&number) {
                        reached.automatic.push(number);
                    }
                }
            }
        }
        let own = |index: &usize| self.timeline.edges[*index].at == Some(item);
        match (self.before.1.writes(), after) {
            (_, Act::Transition) => {
                let is_submission_order = self.before.1 == Act::Transition;
                let writes = self.before.1.writes();
                let mut edges = (0..self.timeline.edges.len()).filter(own);
                let mut automatic = self.automatic_at(item);
                let reached = if writes { &available } else { &happened };
                is_submission_order
                    || edges.any(|edge| {
                        let (follows, is_available) = self.follows(edge, &happened, &available);
                        if writes { is_available } else { follows }
                    })
                    || automatic.any(|number| reached.automatic.contains(&number))
            }
            (false, _) => happened.includes(after.stage(), &here),
            (true, _) if after.writes() => available.includes(after.stage(), &here),
            (true, Act::Access(stage, access)) => {
                let mut edges = (0..self.timeline.edges.len()).filter(|index| {
                    let second = &self.timeline.edges[*index].second;
                    second.contains(&time(item))
                });
                edges.any(|index| {
                    let edge = &self.timeline.edges[index];
                    let destination = scopes::ExpandedScope::destination(
                        edge.masks.destination.0,
                        edge.masks.destination.1,
                    );
                    let is_visible =
                        destination.access_stages.contains(stage) && destination.access.contains(access);
                    let is_own = self.before == (edge.at.unwrap_or(usize::MAX), Act::Transition);
                    is_visible
                        && self.covers(edge)
                        && (is_own || self.follows(index, &happened, &available).1)
                })
            }
        }
    }

    /// The automatic transitions of the unit that are performed at an item.
    fn automatic_at(&self, item: usize) -> impl Iterator<Item = usize> {
        let all = self.timeline.automatic.iter().enumerate();
        let is_its = |layer| units_of(self.recording, Target::Layer(layer)).contains(&self.unit);
        all.filter(move |(_, one)| one.item == item && is_its(one.layer))
            .map(|(number, _)| number)
    }

    /// Commands that are ordered after a transition: the second scopes of its own dependencies.
    fn start(&self) -> (Reached, Reached) {
        let (item, before) = self.before;
        let mut reached = Reached::default();
        if before == Act::Transition {
            let edges = self.timeline.edges.iter();
            edges
                .filter(|edge| edge.at == Some(item))
                .for_each(|edge| reached.add(edge));
            reached.automatic.extend(self.automatic_at(item));
        }
        (reached.clone(), reached)
    }

    /// Returns two flags: the first access, or something that happens after it, is before the second scope of a dependency; and its write is then
    /// available.
    fn follows(&self, index: usize, happened: &Reached, available: &Reached) -> (bool, bool) {
        let first = self.in_first(index, happened, available);
        let through = |reached: &Reached| {
            let mut automatic = reached.automatic.iter();
            automatic.any(|number| self.timeline.automatic[*number].before.contains(&index))
        };
        (first.0 || through(happened), first.1 || through(available))
    }

    /// The same for the first scope of a dependency.
    fn in_first(&self, index: usize, happened: &Reached, available: &Reached) -> (bool, bool) {
        let (item, before) = self.before;
        let edge = &self.timeline.edges[index];
        let source = scopes::ExpandedScope::source(edge.masks.source.0, edge.masks.source.1);
        let execution = without_transitions(source.execution_stages, edge.of_subpass[0]);
        let is_in = edge.first.contains(&time(item)) && execution.intersects(before.stage());
        let makes_available = match before {
            Act::Access(stage, access) => {
                source.access_stages.contains(stage)
                    && source.access.contains(access & scopes::WRITES)
                    && self.covers(edge)
            }
            Act::Transition => true,
        };
        // Everything that happens before a layout transition also happens before the second scopes of its dependency.
        let chains = |reached: &Reached| {
            let times = edge.at.map_or(0..=0, |at| time(at)..=time(at));
            let is_included = |number: &usize| {
                let at = time(self.timeline.automatic[*number].item);
                execution.contains(NO_STAGE) && edge.first.contains(&at)
            };
            reached.includes(execution, &edge.first)
                || edge.transitions && reached.includes(NO_STAGE, &times)
                || reached.automatic.iter().any(is_included)
        };
        (
            is_in || chains(happened),
            is_in && makes_available || chains(available),
        )
    }

    /// The same for an automatic transition: it comes after its dependencies, or is in the second scope of an earlier one.
    fn before_automatic(&self, number: usize, happened: &Reached, available: &Reached) -> (bool, bool) {
        let one = &self.timeline.automatic[number];
        let at = time(one.item)..=time(one.item);
        let earlier = [happened, available].map(|reached| reached.includes(NO_STAGE, &at));
        let after = one
            .after
            .iter()
            .map(|edge| self.in_first(*edge, happened, available));
        after.fold((earlier[0], earlier[1]), |all, one| {
            (all.0 || one.0, all.1 || one.1)
        })
    }

    /// Returns `true` if the access scopes of a dependency include the unit.
    fn covers(&self, edge: &Edge) -> bool {
        covers(self.recording, &edge.scope, self.unit)
    }
}

/// The stages of a scope; layout transitions are not part of a subpass.
fn without_transitions(stages: S, is_subpass: bool) -> S {
    if is_subpass { stages & !NO_STAGE } else { stages }
}

/// The scopes ordered after the first scope of a dependency: the second scope, and the layout transitions between the two.
fn follow(edge: &Edge) -> impl Iterator<Item = (S, Times)> + use<> {
    let second = scopes::ExpandedScope::destination(edge.masks.destination.0, A::NONE).execution_stages;
    let second = without_transitions(second, edge.of_subpass[1]);
    let transition = edge
        .at
        .filter(|_| edge.transitions)
        .map(|at| (NO_STAGE, time(at)..=time(at)));
    std::iter::once((second, edge.second.clone())).chain(transition)
}
