//! Plans a graph several times, with different choices: writing outputs over operands, or leaving values where loops put them, saves bytes in one
//! place, but can cost more elsewhere, since values that share a placement fit into fewer gaps.

use super::classes::Coalesced;
use super::coalesce::{best_order, coalesce};
use super::continued::chains;
use super::expand::Expander;
use super::expansion::{InPlaceCandidate, Rules};
use super::item::SpaceItem;
use super::items::{items, lower_bounds, memories, pins};
use super::options::{CarryRule, TensorPlanOptions};
use super::place::{PlacedRegions, place_bounded};
use super::types::{CopyTime, MemoryPlan, TensorRequirements};
use crate::error::Result;
use crate::graph::Graph;
use crate::layout::Layout;
use crate::units::Bytes;

/// Number of nodes below which graphs with loops or branches are also planned without writing any outputs over operands.
const MAX_NODES: usize = 50;

/// A plan with the choices that led to it.
pub(super) struct Attempt<'a> {
    pub(super) rules: Rules<'a>,
    pub(super) coalesced: Coalesced,
    pub(super) items: Vec<SpaceItem>,
    pub(super) item_of: Vec<Option<usize>>,
    pub(super) space: PlacedRegions,
}

/// Returns the best of several attempts: the one with the fewest copies and, among those, the fewest bytes; a plan without more copies per round may
/// replace it if it saves a quarter of the bytes. With several memories, the attempts that only save bytes are omitted once one fits.
///
/// # Errors
/// That of the first attempt, if all fail.
pub(super) fn best<'a>(
    graph: &'a Graph,
    layouts: &'a [Layout],
    requirements: &'a [TensorRequirements],
    options: &'a TensorPlanOptions<'_>,
) -> Result<Attempt<'a>> {
    let best = from_the_beginning(graph, layouts, requirements, options);
    let mut rules = Rules::new(graph, layouts, requirements, options);
    rules.chains = chains(&rules);
    let is_best = best.as_ref().is_ok_and(|best| best.copies(None) == 0);
    if is_best || rules.chains.is_empty() || options.carry == CarryRule::Copy {
        return best;
    }
    let Ok(apart) = coalesce(&mut rules, options.carry, options.unroll_limit) else {
        return best;
    };
    let mut over_operands = apart.clone();
    let overwrites = over_operands.write_over_operands(&rules);
    let can_continue = |of: &Coalesced| of.is_complete() && of.can_continue(&rules);
    let attempts = [over_operands, apart]
        .into_iter()
        .take(1 + usize::from(overwrites));
    let attempts: Vec<Coalesced> = attempts.filter(can_continue).collect();
    let attempts = attempts.into_iter();
    let attempts = attempts.map(|coalesced| Attempt::new(rules.clone(), coalesced, options));
    attempts.fold(best, better)
}

/// The best plan in which every execution of a loop begins in its first unrolled copy.
fn from_the_beginning<'a>(
    graph: &'a Graph,
    layouts: &'a [Layout],
    requirements: &'a [TensorRequirements],
    options: &'a TensorPlanOptions<'_>,
) -> Result<Attempt<'a>> {
    let mut rules = Rules::new(graph, layouts, requirements, options);
    let apart = coalesce(&mut rules, options.carry, options.unroll_limit)?;
    let mut over_operands = apart.clone();
    let overwrites = over_operands.write_over_operands(&rules);
    let chosen = apart.has_scattered_results().then(|| rules.clone());
    let mut best = Attempt::new(rules.clone(), over_operands, options);
    if options.memories.len() > 1 {
        // A tensor that is written over, or is written over by, a pinned one has to be in the same memory.
        let pins = pins(&rules, &apart.expansion);
        let is_in_one_memory = |of: &InPlaceCandidate| pins.get(&of.output) == pins.get(&of.input);
        let candidates = &apart.expansion.in_place_candidates;
        if !candidates.iter().all(is_in_one_memory) {
            let mut within_memories = apart.clone();
            within_memories.write_over(&rules, is_in_one_memory);
            best = faster(best, Attempt::new(rules.clone(), within_memories, options));
        }
    }
    if overwrites && is_open(&best, options) {
        best = better(best, Attempt::new(rules, apart, options));
    }
    // Loops and branches also depend on what may be overwritten.
    let has_bodies = graph.blocks().len() > 1 && graph.nodes().len() < MAX_NODES;
    if options.in_place && has_bodies && is_open(&best, options) {
        let mut rules = Rules::new(graph, layouts, requirements, options);
        rules.in_place = false;
        if let Ok(apart) = coalesce(&mut rules, options.carry, options.unroll_limit) {
            best = better(best, Attempt::new(rules, apart, options));
        }
    }
    if let Some(mut rules) = chosen.filter(|_| is_open(&best, options)) {
        rules.copies_scattered_results = true;
        let mut gathered = best_order(&rules, &Expander::run(&rules));
        gathered.write_over_operands(&rules);
        if gathered.is_complete() {
            best = smaller(best, Attempt::new(rules, gathered, options));
        }
    }
    best
}

impl<'a> Attempt<'a> {
    fn new(rules: Rules<'a>, coalesced: Coalesced, options: &TensorPlanOptions<'_>) -> Result<Attempt<'a>> {
        let (items, item_of) = items(&rules, &coalesced, options);
        let memories = memories(&items, &options.memories);
        // Values that share a placement, or are live in some arms only, could be placed apart.
        let is_apart = coalesced.expansion.branches.is_empty()
            && coalesced.classes.members.iter().all(|members| members.len() < 2);
        let mut space = place_bounded(&items, &memories, options.strategy, is_apart)?;
        lower_bounds(&rules, &item_of, &coalesced, &mut space);
        Ok(Attempt {
            rules,
            coalesced,
            items,
            item_of,
            space,
        })
    }

    fn size(&self) -> Bytes {
        self.space.memories.iter().map(|memory| memory.size).sum()
    }

    /// The traffic of each memory, in order of preference.
    fn traffic(&self) -> Vec<Bytes> {
        self.space.memories.iter().map(|memory| memory.traffic).collect()
    }

    fn copies(&self, time: Option<CopyTime>) -> usize {
        let copies = self.coalesced.expansion.copies.iter();
        copies
            .filter(|copy| time.is_none_or(|time| copy.3 == time))
            .count()
    }
}

/// Returns true if another attempt is worthwhile: `best` failed, or it exceeds the lower bound and at most one memory was given.
fn is_open(best: &Result<Attempt<'_>>, options: &TensorPlanOptions<'_>) -> bool {
    let is_above = |memory: &MemoryPlan| memory.size > memory.lower_bound;
    match best {
        Ok(best) => options.memories.len() < 2 && best.space.memories.iter().any(is_above),
        Err(_) => true,
    }
}

fn better<'a>(best: Result<Attempt<'a>>, next: Result<Attempt<'a>>) -> Result<Attempt<'a>> {
    let key = |of: &Attempt<'_>| (of.copies(None), of.size());
    match (&best, &next) {
        (Ok(of), Ok(next_of)) if key(next_of) < key(of) => next,
        (Err(_), Ok(_)) => next,
        _ => best,
    }
}

/// Returns `next` if more of its traffic is in preferred memories, or if `best` failed; otherwise returns `best`.
fn faster<'a>(best: Result<Attempt<'a>>, next: Result<Attempt<'a>>) -> Result<Attempt<'a>> {
    match (&best, &next) {
        (Ok(of), Ok(next_of)) if next_of.traffic() > of.traffic() => next,
        (Err(_), Ok(_)) => next,
        _ => best,
    }
}

/// Returns `next` if it saves a quarter of the bytes without more copies per round, or if `best` failed; otherwise returns `best`.
fn smaller<'a>(best: Result<Attempt<'a>>, next: Result<Attempt<'a>>) -> Result<Attempt<'a>> {
    let rounds = |of: &Attempt<'_>| of.copies(Some(CopyTime::Round));
    let is_worthwhile = |of: &Attempt<'_>, next: &Attempt<'_>| {
        next.size().0 <= of.size().0 / 4 * 3 && rounds(next) <= rounds(of)
    };
    match (&best, &next) {
        (Ok(of), Ok(next_of)) if is_worthwhile(of, next_of) => next,
        (Err(_), Ok(_)) => next,
        _ => best,
    }
}
