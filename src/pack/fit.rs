//! Within a capacity: a packing, the proof that there is none, or neither within the budget.

use super::answer::{Answer, Conflict, Steps, Verdict, Watch};
use super::exact::{Model, Outcome, Switches};
use super::gap::align_up;
use super::in_order::UNPLACED;
use super::minimise::{LARGEST_MODEL, model_size};
use super::quest::Quest;
use super::{Packer, Packing, Problem, Strategy};
use crate::units::{Alignment, Bytes};

/// Looks for a packing within the problem's capacity (within 64 bits without one) and all bounds of offsets.
///
/// Proved with a packing, or proved without one and then with the items that make it impossible: a set alive at one step
/// that passes the capacity if that is the reason, otherwise what is left when whatever can be left out has been.
pub fn fit(problem: &Problem, strategy: Strategy, budget: Steps, watch: Watch<'_>) -> Answer {
    Packer::default().fit(problem, strategy, budget, watch)
}

impl Packer {
    /// As [`fit()`].
    pub fn fit(&mut self, problem: &Problem, strategy: Strategy, budget: Steps, watch: Watch<'_>) -> Answer {
        let capacity = problem.capacity().map_or(u64::MAX, |capacity| capacity.0);
        let bound = self.lower_bound(problem).0;
        let mut quest = Quest::new(bound, capacity, budget, watch);
        let impossible = self.seek(problem, strategy, &mut quest);
        let packed = quest.height <= capacity && quest.height != UNPLACED;
        let packing = packed.then(|| {
            let mut packing = Packing::default();
            problem.write(&self.best, &mut packing);
            packing
        });
        let verdict = if impossible || packed {
            Verdict::Proved
        } else if quest.interrupted {
            Verdict::Interrupted
        } else {
            Verdict::OutOfSteps
        };
        let conflict = impossible.then(|| self.conflict(problem, capacity, &mut quest));
        Answer {
            packing,
            bound: Bytes(quest.bound),
            verdict,
            steps: Steps(quest.steps),
            conflict,
        }
    }

    /// Leaves the best offsets in `best`; says whether it is proved that nothing is as low as the quest's target.
    pub(super) fn seek(&mut self, problem: &Problem, strategy: Strategy, quest: &mut Quest<'_>) -> bool {
        let capacity = quest.target;
        quest.bound = quest.bound.max(self.lower_bound(problem).0);
        if quest.bound > capacity {
            return true;
        }
        if !matches!(strategy, Strategy::Exact | Strategy::Auto) {
            self.pursue(problem, strategy, quest);
            return false;
        }
        if strategy == Strategy::Auto {
            self.pursue_cheaply(problem, quest);
        }
        if quest.is_over() || model_size(problem) > LARGEST_MODEL {
            return false;
        }
        let model = Model::new(problem, None);
        let left = quest.budget - quest.steps;
        self.try_capacity(problem, &model, capacity, left, quest) == Outcome::Impossible
    }

    /// The items that cannot be packed together within a capacity that is known to be too small.
    fn conflict(&mut self, problem: &Problem, capacity: u64, quest: &mut Quest<'_>) -> Conflict {
        let model = Model::new(problem, None);
        let mut left = match overfull(problem, &model, capacity) {
            Some(units) => {
                let plain = |&unit: &u32| {
                    let unit = &problem.units[unit as usize];
                    unit.alignment == Alignment::ONE && unit.bounds() == (0, u64::MAX)
                };
                // Without the smallest they stand on each other within the capacity, if nothing else is asked of them.
                if units.len() == 1 || units.iter().all(plain) {
                    return Conflict {
                        items: items_of(problem, &units),
                        minimal: true,
                    };
                }
                units
            }
            None => model.pieces.iter().map(|piece| piece.unit).collect::<Vec<u32>>(),
        };
        // Leaves out ever smaller stretches of what is left, as long as that stays impossible.
        let mut length = left.len().div_ceil(2);
        let mut minimal = true;
        loop {
            let mut shrunk = false;
            let mut from = 0;
            while from < left.len() && !quest.interrupted {
                let until = (from + length).min(left.len());
                let rest: Vec<u32> = left[..from].iter().chain(&left[until..]).copied().collect();
                let part = Model::new(problem, Some(&rest));
                let (outcome, steps) =
                    self.exact
                        .fit(&part, capacity, Switches::DEFAULT, STEPS_PER_TEST, &mut |steps| {
                            quest.ask(steps)
                        });
                quest.steps += steps;
                match outcome {
                    Outcome::Impossible => {
                        left = rest;
                        shrunk = true;
                        continue;
                    }
                    Outcome::Packed => {}
                    Outcome::OutOfSteps | Outcome::Interrupted => minimal &= length > 1,
                }
                from = until;
            }
            minimal &= !quest.interrupted;
            if length == 1 && (!shrunk || quest.interrupted) {
                break;
            }
            if quest.interrupted {
                break;
            }
            if length == 1 {
                // Once more, since what could not be left out before may be now.
                minimal = true;
                continue;
            }
            length = length.div_ceil(2);
        }
        Conflict {
            items: items_of(problem, &left),
            minimal,
        }
    }
}

/// Steps for each question whether something can be left out.
const STEPS_PER_TEST: u64 = 20_000;

/// The fewest units alive at one step that pass the capacity together, or one that cannot be below it by itself.
fn overfull(problem: &Problem, model: &Model, capacity: u64) -> Option<Vec<u32>> {
    let passes = |unit: &super::problem::Unit| {
        align_up(unit.bounds().0, unit.alignment)
            .and_then(|offset| offset.checked_add(unit.size))
            .is_none_or(|end| end > capacity)
    };
    if let Some(unit) = problem.units.iter().position(passes) {
        return Some(vec![unit as u32]);
    }
    let mut least: Option<Vec<u32>> = None;
    for run in &model.column_runs {
        let mut holders: Vec<u32> = run.of(&model.holders).to_vec();
        holders.sort_by_key(|&piece| (std::cmp::Reverse(model.pieces[piece as usize].size), piece));
        let mut sum = 0u64;
        let passing = holders.iter().position(|&piece| {
            sum = sum.saturating_add(model.pieces[piece as usize].size);
            sum > capacity
        });
        if let Some(last) = passing
            && least.as_ref().is_none_or(|least| last + 1 < least.len())
        {
            let units = holders[..=last]
                .iter()
                .map(|&piece| model.pieces[piece as usize].unit);
            least = Some(units.collect());
        }
    }
    least
}

/// The items of units, ascending.
fn items_of(problem: &Problem, units: &[u32]) -> Vec<u32> {
    let members = units.iter().flat_map(|&unit| {
        let unit = &problem.units[unit as usize];
        unit.members.of(&problem.members).iter().copied()
    });
    let mut items: Vec<u32> = members.collect();
    items.sort_unstable();
    items
}
