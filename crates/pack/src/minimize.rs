//! The smallest block: cheap rules, then an exact search of the large items, then ever tighter capacities, then hill climbing.

use std::ops::ControlFlow;

use super::answer::{Progress, Steps};
use super::exact::RunResult;
use super::gap::next_multiple;
use super::glue::search_glued;
use super::parts::Parts;
use super::rules::{CHEAP_RULES_FOR_FEW, MAX_FEW_UNITS, Order, QUICK_RULES, Rule};
use super::search_state::SearchState;
use super::small::is_padded;
use super::{Packer, Problem};
use crate::lists::refill;
use crate::units::Run;

/// The cheap rules that `auto` runs, from the fastest to the slowest.
const CHEAP_RULES: [Rule; 7] = [
    Rule::FIRST_FIT_BY_BIRTH,
    Rule::BEST_FIT_BY_BIRTH,
    Rule::GREEDY_BY_CONFLICTS,
    Rule::GREEDY_BY_SIZE,
    Rule::GREEDY_BY_BREADTH,
    Rule::GREEDY_BY_AREA,
    Rule::FIRST_FIT_BY_SIZE,
];

/// Number of rules to run before a short search, which then reaches the bound sooner than the other rules.
const RULES_BEFORE_SEARCH: usize = 2;
/// Steps of a short search.
const SHORT_SEARCH_STEPS: u64 = 64;

impl Packer {
    /// Writes the best offsets found within the default budget to `rules.offsets`, or those of a cheap rule if no packing was found that respects the upper
    /// bounds on offsets.
    pub(super) fn improve(&mut self, problem: &Problem, run: impl FnOnce(&mut Packer, &mut SearchState<'_>)) {
        let bound = self.lower_bound(problem).0;
        let mut watch = |_| ControlFlow::Continue(());
        let best = std::mem::take(&mut self.best);
        let mut search = SearchState::new(bound, 0, Steps::default(), &mut watch, best);
        run(self, &mut search);
        let found = search.found;
        self.best = search.best;
        if found {
            std::mem::swap(&mut self.best, &mut self.rules.offsets);
        } else {
            self.rules.run(problem, Rule::GREEDY_BY_SIZE);
        }
    }

    /// Runs hill climbing from the order of first fit by size.
    pub(super) fn climb_from_size(&mut self, problem: &Problem, search: &mut SearchState<'_>) {
        self.try_rule(problem, Rule::FIRST_FIT_BY_SIZE, search);
        if !search.is_over() {
            self.climb(problem, search);
        }
    }

    /// Runs the cheap rules, unless skipped, and then every search.
    pub(super) fn minimize_exactly(
        &mut self,
        problem: &Problem,
        rules_first: bool,
        search: &mut SearchState<'_>,
    ) {
        if rules_first {
            self.try_cheap(problem, search);
        }
        if !rules_first || !search.is_over() {
            self.search(problem, rules_first, search);
        }
    }

    /// Places units much larger than the rest first.
    pub(super) fn place_large_first(&mut self, problem: &Problem, search: &mut SearchState<'_>) {
        search.method = Some("large-first");
        self.large
            .place_first(problem, &mut self.exact, &mut self.rules, search);
    }

    /// Searches rectangles of items separately, and then the whole, if few bytes are to spare.
    pub(super) fn search_glued(&mut self, problem: &Problem, search: &mut SearchState<'_>) {
        search.method = Some("glue");
        let (share, offsets) = (search.budget / 4, &mut self.rules.offsets);
        self.exact.model.reduce(problem, None);
        if self.exact.model.is_tight(search.bound)
            && !problem.is_irregular()
            && problem.conflicts().is_empty()
        {
            search_glued(problem, &mut self.exact, share, offsets, search);
        }
    }

    pub(super) fn try_rule(&mut self, problem: &Problem, rule: Rule, search: &mut SearchState<'_>) {
        search.method = Some(rule.name());
        self.rules.run(problem, rule);
        search.keep(problem, &self.rules.offsets);
    }

    /// Runs the exact search for at most 64 units; returns true if the answer is proved.
    pub(super) fn search_small(
        &mut self,
        problem: &Problem,
        most: u64,
        search: &mut SearchState<'_>,
    ) -> bool {
        search.method = Some("exact");
        self.small.search(problem, most, search, &mut self.rules.offsets)
    }

    pub(super) fn try_cheap(&mut self, problem: &Problem, search: &mut SearchState<'_>) {
        if problem.units.len() <= MAX_FEW_UNITS {
            return self.try_cheap_for_few(problem, search);
        }
        let mut dear = 0;
        let mut rules = CHEAP_RULES;
        let skewed = is_skewed(problem);
        if skewed {
            rules[3..].rotate_right(1);
        }
        for (number, rule) in rules.into_iter().enumerate() {
            if number == 2 {
                dear = self.work_in_order(problem);
            }
            // A later round would find the same again.
            if search.rules >> number & 1 == 1 {
                continue;
            }
            // The first two rules look only at gaps.
            let cheap = problem.units.len() as u64 / 64;
            let work = if number < 2 { cheap } else { dear };
            // With at least the default budget, no answer is worse than that of `quick`.
            let owed = (QUICK_RULES.contains(&rule) || skewed && rule == Rule::FIRST_FIT_BY_SIZE)
                && search.budget >= Steps::default().0;
            if search.found && !owed && search.steps + work > search.budget / 4 * 3 {
                continue;
            }
            search.rules |= 1 << number;
            self.try_rule(problem, rule, search);
            search.spend(1 + work);
            if search.is_settled() || search.interrupted {
                return;
            }
        }
    }

    /// Like [`Self::try_cheap`], but for few units: the rules that reach the bound most often come first, and each counts as one step.
    fn try_cheap_for_few(&mut self, problem: &Problem, search: &mut SearchState<'_>) {
        let cheaper = if has_offset_constraints(problem) {
            1
        } else {
            RULES_BEFORE_SEARCH
        };
        for (number, rule) in CHEAP_RULES_FOR_FEW.into_iter().enumerate() {
            if number == cheaper && self.search_small(problem, SHORT_SEARCH_STEPS, search) {
                return;
            }
            self.try_rule(problem, rule, search);
            if !search.spend(1) {
                return;
            }
        }
    }

    /// Returns the number of steps charged for placing all units in order: each unit is compared with the units already placed that it must not share bytes
    /// with.
    fn work_in_order(&mut self, problem: &Problem) -> u64 {
        let counts = self.rules.conflicts.count(problem);
        let others = counts.iter().map(|&others| u64::from(others));
        others.sum::<u64>() / 512 + problem.units.len() as u64
    }

    /// Runs the exact search on the large items, then on all items within varying capacities, then hill climbing.
    fn search(&mut self, problem: &Problem, rules_first: bool, search: &mut SearchState<'_>) {
        // Without alignments, bounds or conflicts, the general search is better.
        if has_offset_constraints(problem) && self.search_small(problem, search.budget / 4, search) {
            return;
        }
        if search.found && self.search_parts(problem, search) {
            return;
        }
        if !self.exact.is_too_large(problem) {
            self.search_glued(problem, search);
            if search.is_over() {
                return;
            }
            self.place_large_first(problem, search);
            if search.is_over() {
                return;
            }
            self.exact.model.reduce(problem, None);
            // Hill climbing gets as many steps as each strategy that this one must not be worse than.
            let most = match search.found && rules_first {
                true => {
                    self.search_as_if_alone(problem, search.budget / 2, search);
                    search.budget / 2
                }
                false => search.budget / 4 * 3,
            };
            self.search_capacities(problem, most, search);
            if search.is_over() {
                return;
            }
        }
        if search.found {
            self.climb(problem, search);
        }
    }

    /// Runs the capacity search of [`Strategy::Exact`](super::Strategy::Exact) with `budget` steps, as if the rules had found nothing. With twice the budget,
    /// the answer is then not worse than that of `Exact`: a search that starts from a nearly lowest packing tries other capacities, and may miss those with
    /// which `Exact` succeeds.
    fn search_as_if_alone(&mut self, problem: &Problem, budget: u64, search: &mut SearchState<'_>) {
        let (height, found_by, whole, steps) = (search.height, search.found_by, search.budget, search.steps);
        refill(&mut self.kept, search.best.iter().copied());
        (search.found, search.height, search.budget, search.steps) = (false, u64::MAX, budget, 0);
        self.search_capacities(problem, budget / 4 * 3, search);
        (search.budget, search.steps) = (whole, steps + search.steps);
        if !search.found || search.height >= height {
            (search.found, search.height, search.found_by) = (true, height, found_by);
            std::mem::swap(&mut search.best, &mut self.kept);
        }
    }

    /// Tries ever tighter capacities with the prepared exact search, up to `most` steps.
    fn search_capacities(&mut self, problem: &Problem, most: u64, search: &mut SearchState<'_>) {
        let mut share = search.budget / 8;
        // The bound is often reached, which ends the search, so it gets twice the steps.
        while !search.is_over() && search.steps < most {
            let (known, steps) = ((search.bound, search.height), search.steps);
            for (eighths, share) in [(0, share * 2), (1, share), (2, share), (4, share), (8, share)] {
                let top = match search.found {
                    false => search.bound.saturating_mul(2),
                    true => search.height - 1,
                };
                let reach = top.saturating_sub(search.bound);
                let aim = search.bound + (u128::from(reach) * eighths / 8) as u64;
                self.try_capacity(problem, aim.max(search.target), share, search);
                if search.is_over() {
                    return;
                }
            }
            if known == (search.bound, search.height) {
                if steps == search.steps {
                    break;
                }
                share = share.saturating_mul(2).min(search.budget);
            }
        }
    }

    /// Improves independent parts that are too high; returns `false` if there is only one part.
    pub(super) fn search_parts(&mut self, problem: &Problem, search: &mut SearchState<'_>) -> bool {
        self.parts.find(problem);
        let Parts { units, runs, alone } = &mut self.parts;
        if runs.len() < 2 {
            return false;
        }
        let top = |best: &[u64], part: Run, units: &[u32]| {
            let end = |&index: &u32| best[index as usize] + problem.units[index as usize].size;
            part.of(units).iter().map(end).max().unwrap_or(0)
        };
        let low = search.bound.max(search.target);
        runs.retain(|&part| top(&search.best, part, units) > low);
        let packer = self.part_packer.get_or_insert_default();
        while let Some(part) = runs.pop() {
            problem.part_into(part.of(units), None, alone);
            let bound = packer.lower_bound(alone).0;
            let share = search.budget.saturating_sub(search.steps) / (runs.len() as u64 + 1);
            let (height, steps, whole_bound) = (search.height, search.steps, search.bound);
            let mut watch = |progress: Progress| {
                (search.watch)(Progress {
                    steps: Steps(steps + progress.steps.0),
                    best: Some(height),
                    bound: whole_bound,
                })
            };
            let best = std::mem::take(&mut packer.best);
            let mut sub = SearchState::new(bound, low, Steps(share), &mut watch, best);
            sub.limit = search.limit;
            packer.minimize_exactly(alone, true, &mut sub);
            search.found_by = sub.found_by.or(search.found_by);
            let (found, bound, steps, interrupted) = (sub.height, sub.bound, sub.steps, sub.interrupted);
            packer.best = sub.best;
            search.steps += steps;
            search.interrupted |= interrupted;
            search.bound = search.bound.max(bound);
            if found < top(&search.best, part, units) {
                for (&index, &offset) in part.of(units).iter().zip(&packer.best) {
                    search.best[index as usize] = offset;
                }
            }
            if search.interrupted {
                break;
            }
        }
        search.height = problem.height(&search.best);
        search.report(0);
        true
    }

    /// Looks for a packing within `capacity` with the prepared exact search, which covers the whole problem; raises the bound if none exists.
    pub(super) fn try_capacity(
        &mut self,
        problem: &Problem,
        capacity: u64,
        share: u64,
        search: &mut SearchState<'_>,
    ) -> RunResult {
        search.method = Some("exact");
        let budget = share.min(search.budget.saturating_sub(search.steps));
        let outcome = search.fit(&mut self.exact, capacity, budget);
        match outcome {
            RunResult::Packed => {
                self.exact.write(problem, &mut self.rules.offsets);
                search.keep(problem, &self.rules.offsets);
            }
            RunResult::Impossible => {
                search.bound = search.bound.max(next_multiple(capacity, self.exact.model.grain));
            }
            RunResult::OutOfSteps | RunResult::Interrupted => {}
        }
        search.report(0);
        outcome
    }

    /// Runs hill climbing from the order by size.
    pub(super) fn climb(&mut self, problem: &Problem, search: &mut SearchState<'_>) {
        search.method = Some("hill-climb");
        self.rules.sort(problem, Order::Size);
        let order = std::mem::take(&mut self.rules.order);
        let work = self.work_in_order(problem);
        // Fewer than a hundred tries rarely improve anything.
        if work <= search.budget / 128 {
            let search = std::cell::RefCell::new(search);
            self.climb.climb(
                problem,
                &order,
                &mut self.rules.in_order,
                || search.borrow_mut().spend(work),
                |offsets| search.borrow_mut().keep(problem, offsets),
            );
        }
        self.rules.order = order;
    }
}

/// Returns true if a few items, much larger than the mean, take a third of all bytes. Measured on 62,185 items with heavy-tailed sizes: first fit by
/// size reaches the bound, and the next best rule ends 2 % above it.
fn is_skewed(problem: &Problem) -> bool {
    let sizes = || problem.units.iter().map(|unit| u128::from(unit.size));
    let mean = sizes().sum::<u128>() / problem.units.len().max(1) as u128;
    let large = sizes().filter(|&size| size > 8 * mean);
    let (count, sum) = large.fold((0, 0), |(count, sum), size| (count + 1, sum + size));
    count * 64 <= problem.units.len() && sum * 3 > mean * problem.units.len() as u128
}

/// Returns true if alignments, bounds or declared conflicts may force items to higher offsets.
fn has_offset_constraints(problem: &Problem) -> bool {
    problem.is_irregular() || !problem.conflicts().is_empty() || is_padded(problem)
}
