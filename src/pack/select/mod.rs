//! Residency: which items get bytes of a block that is too small for all, and where.
//!
//! 1. [`prices`]: what a byte is worth at each step, from the linear relaxation by loads, and the bound that follows;
//! 2. [`choice`]: the best choice by loads alone, from the prices;
//! 3. placement of what was chosen, by the exact search; where that fails, other choices of the same worth, then of a little
//!    less capacity, and whatever fits in what is left.
//!
//! Loads alone know no offsets: their optimum is a bound. On networks a placement reaches it nearly always (`PLANNING.md`,
//! section 4), and then the answer is proved.

mod choice;
mod prices;

use serde::{Deserialize, Serialize};

use super::answer::{Steps, Verdict, Watch};
use super::exact::{Model, mix};
use super::gap::align_up;
use super::in_order::UNPLACED;
use super::minimise::Quest;
use super::{Packer, Problem, Shelf, Strategy};
use crate::units::Bytes;
use choice::{Choice, Chosen, Offer};
use prices::{Arc, Prices, SCALE};

/// The answer of [`select`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selection {
    /// The offset of each item that was chosen.
    pub offsets: Vec<Option<Bytes>>,
    /// The worth of what was chosen.
    pub worth: u64,
    /// What no choice is worth more than.
    pub bound: u64,
    /// The end of the highest item chosen.
    pub height: Bytes,
    /// Whether the bound is reached.
    pub verdict: Verdict,
    /// The steps that were used.
    pub steps: Steps,
}

/// Chooses items to place within the problem's capacity, so that their worth together is as great as it can be.
///
/// A group is chosen or not as one, and is worth what its items are worth together. `watch` sees worths, not heights.
///
/// # Panics
/// If there is not one worth for each item, or they sum past 2^63.
pub fn select(problem: &Problem, worths: &[u64], budget: Steps, watch: Watch<'_>) -> Selection {
    Packer::default().select(problem, worths, budget, watch)
}

/// The memory of selections.
#[derive(Debug, Default)]
pub(super) struct Selector {
    prices: Prices,
    choice: Choice,
}

impl Selector {
    /// The best choice by loads: with few states and then more, and with other prices, of which there may be several that are
    /// equally good but keep different states; what is worth little left to its price if nothing else ends.
    fn choose_first(&mut self, task: &mut Task<'_>, budget: u64, bound: &mut u64) -> Option<Chosen> {
        let width = Choice::width(&task.offers, task.columns, budget / 4);
        let mut best: Option<Chosen> = None;
        let mut keep = |task: &Task<'_>, found: Option<Chosen>| {
            let found = found?;
            let exact = found.exact;
            let beats = |best: &Chosen| task.worth(&found.taken) > task.worth(&best.taken);
            if exact || best.as_ref().is_none_or(beats) {
                best = Some(found);
            }
            exact.then(|| best.clone()).flatten()
        };
        for blocks in [1, 8] {
            *bound = (*bound).min(task.price(&mut self.prices, blocks));
            let found = task.choose(&mut self.choice, 0, 0, width);
            if let Some(exact) = keep(task, found) {
                return Some(exact);
            }
        }
        let most = task.offers.iter().map(|offer| offer.arc.worth).max().unwrap_or(0);
        for part in [256, 32, 4] {
            let all = task.bound + (1 << SCALE);
            let found = self
                .choice
                .pass(&task.offers, &task.prices, task.padded, all, width, most / part);
            keep(task, found);
        }
        best
    }
}

/// Choices of equal worth that are tried before a smaller one.
const TIES: u64 = 6;

impl Packer {
    /// As [`select`].
    pub fn select(
        &mut self,
        problem: &Problem,
        worths: &[u64],
        budget: Steps,
        watch: Watch<'_>,
    ) -> Selection {
        assert_eq!(
            worths.len(),
            problem.items().len(),
            "there is one worth for each item"
        );
        let total = worths.iter().try_fold(0u64, |sum, &worth| sum.checked_add(worth));
        assert!(
            total.is_some_and(|total| total <= 1 << 63),
            "worths sum to at most 2^63"
        );
        let capacity = problem
            .capacity()
            .map_or(u64::MAX >> 1, |capacity| capacity.0.min(u64::MAX >> 1));
        let mut task = Task::new(problem, worths, capacity);
        let mut found = Found::default();
        let mut quest = Quest::new(0, 0, budget, watch);
        let mut bound = task.bound_without_prices();
        // By loads, then the same with other ties, then with less and less of the capacity.
        let mut placed = Vec::new();
        task.add_beside(problem, &mut placed);
        found.keep(&task, placed);
        let mut tries = 0u64;
        let mut load_bound = None;
        while quest.steps < quest.budget && !quest.interrupted && found.worth < bound {
            let squeeze = match tries.checked_sub(TIES) {
                None => 0,
                Some(more) if more < 5 => 1 << more,
                Some(_) => break,
            };
            let chosen = if tries == 0 {
                self.selector.choose_first(&mut task, quest.budget, &mut bound)
            } else {
                let width = Choice::width(&task.offers, task.columns, quest.budget / 4);
                task.choose(&mut self.selector.choice, tries, squeeze, width)
            };
            quest.steps += std::mem::take(&mut self.selector.choice.steps);
            if let Some(chosen) = chosen {
                if squeeze == 0 && load_bound.is_none() {
                    if chosen.exact && !task.pauses {
                        bound = bound.min(task.worth(&chosen.taken));
                    }
                    load_bound = Some(bound);
                }
                self.place_chosen(problem, &task, &chosen.taken, &mut found, &mut quest);
            }
            quest.watch_worth(found.worth, bound);
            if found.worth >= bound {
                break;
            }
            tries += 1;
        }
        Selection {
            offsets: found.offsets(problem),
            worth: found.worth,
            bound,
            height: Bytes(found.height(problem)),
            verdict: if found.worth >= bound {
                Verdict::Proved
            } else if quest.interrupted {
                Verdict::Interrupted
            } else {
                Verdict::OutOfSteps
            },
            steps: Steps(quest.steps),
        }
    }

    /// Places what was chosen, or as much of it as fits, and then whatever fits beside.
    fn place_chosen(
        &mut self,
        problem: &Problem,
        task: &Task<'_>,
        taken: &[bool],
        found: &mut Found,
        quest: &mut Quest<'_>,
    ) {
        if task.worth(taken) <= found.worth || !found.is_new(taken) {
            return;
        }
        let chosen: Vec<u32> = (0..taken.len())
            .filter(|&offer| taken[offer])
            .map(|offer| task.units[offer])
            .collect();
        let part = problem.part(&chosen, Some(task.capacity));
        let share = (quest.budget / 8)
            .min(quest.budget.saturating_sub(quest.steps))
            .max(1);
        let mut ask = |progress: super::Progress| match quest.ask(progress.steps.0) {
            true => std::ops::ControlFlow::Continue(()),
            false => std::ops::ControlFlow::Break(()),
        };
        let mut attempt = Quest::new(0, task.capacity, Steps(share), &mut ask);
        self.seek(&part, Strategy::Auto, &mut attempt);
        let (height, steps) = (attempt.height, attempt.steps);
        quest.steps += steps;
        let mut placed: Vec<(u32, u64)> = Vec::new();
        if height != UNPLACED {
            let units = part.units.iter().zip(&self.best).zip(&chosen);
            let inside = units.filter(|((unit, offset), _)| **offset + unit.size <= task.capacity);
            placed.extend(inside.map(|((_, &offset), &unit)| (unit, offset)));
        }
        task.add_beside(problem, &mut placed);
        found.keep(task, placed);
    }
}

/// The problem as the choice sees it.
struct Task<'a> {
    capacity: u64,
    /// Capacity and sizes in multiples of the common alignment.
    padded: u64,
    model: Model,
    columns: usize,
    /// Units on offer, and what is offered.
    units: Vec<u32>,
    offers: Vec<Offer>,
    unit_worths: Vec<u64>,
    prices: Vec<i128>,
    bound: i128,
    /// The sum of the prices.
    rent: i128,
    /// What all worths on offer are multiples of.
    common_worth: u64,
    /// Some group lives, pauses and lives again: the choice counts the pause as life, and proves nothing.
    pauses: bool,
    problem: &'a Problem,
}

impl<'a> Task<'a> {
    fn new(problem: &'a Problem, worths: &[u64], capacity: u64) -> Task<'a> {
        let units = &problem.units;
        let unit_worths: Vec<u64> = units
            .iter()
            .map(|unit| {
                unit.members
                    .of(&problem.members)
                    .iter()
                    .map(|&item| worths[item as usize])
                    .sum()
            })
            .collect();
        let fits = |index: u32| {
            let unit = &units[index as usize];
            let (low, high) = unit.bounds();
            let offset = align_up(low, unit.alignment);
            let end = offset.and_then(|offset| offset.checked_add(unit.size));
            unit.takes_bytes()
                && offset.is_some_and(|offset| offset <= high)
                && end.is_some_and(|end| end <= capacity)
        };
        let offered: Vec<u32> = (0..units.len() as u32).filter(|&index| fits(index)).collect();
        let model = Model::new(problem, Some(&offered));
        let grain = offered.iter().fold(0, |grain, &index| {
            let unit = &units[index as usize];
            super::exact::gcd(
                grain,
                if unit.fixed.is_some() {
                    1
                } else {
                    unit.alignment.get()
                },
            )
        });
        let pad = |size: u64| size.div_ceil(grain.max(1)) * grain.max(1);
        // Only steps, not declared conflicts: those are for the placement.
        let columns = model.row_width();
        let mut pauses = false;
        let offers = model.pieces.iter().map(|piece| {
            let stands = piece.columns.of(&model.columns);
            let stands = &stands[..stands.partition_point(|&column| (column as usize) < columns)];
            pauses |= (stands[stands.len() - 1] - stands[0]) as usize + 1 != stands.len();
            Offer {
                arc: Arc {
                    first: stands[0],
                    end: stands[stands.len() - 1] + 1,
                    size: pad(piece.size),
                    worth: i128::from(unit_worths[piece.unit as usize]) << SCALE,
                },
                surplus: 0,
            }
        });
        let offers: Vec<Offer> = offers.collect();
        let worths = model.pieces.iter().map(|piece| unit_worths[piece.unit as usize]);
        Task {
            capacity,
            padded: pad(capacity),
            columns,
            common_worth: worths.fold(0, super::exact::gcd),
            rent: 0,
            units: model.pieces.iter().map(|piece| piece.unit).collect(),
            model,
            offers,
            unit_worths,
            prices: Vec::new(),
            bound: 0,
            pauses,
            problem,
        }
    }

    /// Sets the prices; gives the bound that follows from them.
    fn price(&mut self, prices: &mut Prices, blocks: usize) -> u64 {
        let arcs: Vec<Arc> = self.offers.iter().map(|offer| offer.arc).collect();
        self.prices = prices.find(self.columns, self.padded, &arcs, blocks);
        self.reprice();
        (self.bound >> SCALE) as u64 + self.free_worth()
    }

    /// Everything there is.
    fn bound_without_prices(&self) -> u64 {
        let offers = self.units.iter().map(|&unit| self.unit_worths[unit as usize]);
        offers.sum::<u64>() + self.free_worth()
    }

    fn reprice(&mut self) {
        self.rent = self.prices.iter().sum();
        self.bound = self.rent * i128::from(self.padded);
        for (offer, piece) in self.offers.iter_mut().zip(&self.model.pieces) {
            let columns = piece.columns.of(&self.model.columns).iter();
            let prices = columns.map_while(|&column| self.prices.get(column as usize));
            let price: i128 = prices.sum();
            offer.surplus = offer.arc.worth - price * i128::from(offer.arc.size);
            self.bound += offer.surplus.max(0);
        }
    }

    /// Worth of units that take no bytes: they are always chosen.
    fn free_worth(&self) -> u64 {
        let units = self.problem.units.iter().zip(&self.unit_worths);
        units
            .filter(|(unit, _)| is_free(unit, self.capacity))
            .map(|(_, &worth)| worth)
            .sum()
    }

    fn worth(&self, taken: &[bool]) -> u64 {
        let taken = self.units.iter().zip(taken).filter(|&(_, &taken)| taken);
        taken
            .map(|(&unit, _)| self.unit_worths[unit as usize])
            .sum::<u64>()
            + self.free_worth()
    }

    /// The best choice by loads, with ties broken by chance `number`, in a capacity smaller by so many 64ths.
    fn choose(&mut self, choice: &mut Choice, number: u64, squeeze: u64, width: usize) -> Option<Chosen> {
        let capacity = self.padded - (u128::from(self.padded) * u128::from(squeeze) / 64) as u64;
        // Chances sum to less than one whole unit of worth: the best choice stays one of the best.
        let room = (1i128 << SCALE) / (self.offers.len() as i128 + 1);
        let mut offers = self.offers.clone();
        if number > 0 {
            for (index, offer) in offers.iter_mut().enumerate() {
                let chance = i128::from(mix(number ^ mix(index as u64)) >> 1) % room.max(1);
                offer.surplus += chance;
                offer.arc.worth += chance;
            }
        }
        // What is allowed to be lost grows until something is found; with good prices that is soon, and few states are kept.
        // Worths are multiples of their common divisor, so that less than what the bound has above one is never lost: often
        // that is all.
        let least = match number {
            0 if self.common_worth > 0 => (self.bound - self.rent * i128::from(self.padded - capacity))
                .rem_euclid(i128::from(self.common_worth) << SCALE),
            _ => 0,
        };
        let mut allowed = least;
        let mut best: Option<Chosen> = None;
        for width in [width.div_ceil(8), width] {
            loop {
                if let Some(mut found) = choice.pass(&offers, &self.prices, capacity, allowed, width, 0) {
                    // Nothing may lose more from here on.
                    allowed = found.loss;
                    found.exact |= found.loss <= least;
                    let done = found.exact;
                    if done || best.as_ref().is_none_or(|best| found.loss < best.loss) {
                        best = Some(found);
                    }
                    if done {
                        return best;
                    }
                    break;
                }
                if best.is_some() || allowed > self.bound + (1 << SCALE) {
                    break;
                }
                allowed = allowed.saturating_mul(8).max(self.bound >> 14).max(1);
            }
        }
        best
    }

    /// Places whatever fits beside what is placed, the greatest worth per byte and step first.
    fn add_beside(&self, problem: &Problem, placed: &mut Vec<(u32, u64)>) {
        if !problem.conflicts().is_empty() || problem.is_irregular() {
            return;
        }
        let mut shelf = Shelf::with_capacity(Some(Bytes(self.capacity)));
        let mut is_placed = vec![false; problem.units.len()];
        for &(unit, offset) in placed.iter() {
            is_placed[unit as usize] = true;
            let of = &problem.units[unit as usize];
            shelf.place(unit, of.hull, Bytes(offset), Bytes(of.size));
        }
        let mut rest: Vec<u32> = self
            .units
            .iter()
            .copied()
            .filter(|&unit| !is_placed[unit as usize])
            .collect();
        let density = |unit: u32| {
            let of = &problem.units[unit as usize];
            let area = u128::from(of.size.max(1)) * u128::from(of.hull.len().max(1));
            (u128::from(self.unit_worths[unit as usize]) << 48) / area
        };
        rest.sort_by_key(|&unit| (std::cmp::Reverse(density(unit)), unit));
        for unit in rest {
            let of = &problem.units[unit as usize];
            if let Some(offset) = shelf.best_fit(of.hull, Bytes(of.size), of.alignment) {
                shelf.place(unit, of.hull, offset, Bytes(of.size));
                placed.push((unit, offset.0));
            }
        }
    }
}

/// Whether a unit takes no bytes at any step, and is within the capacity.
fn is_free(unit: &super::problem::Unit, capacity: u64) -> bool {
    let end = align_up(unit.bounds().0, unit.alignment).and_then(|offset| offset.checked_add(unit.size));
    !unit.takes_bytes() && unit.rivals.is_empty() && end.is_some_and(|end| end <= capacity)
}

/// The best placement so far.
#[derive(Default)]
struct Found {
    worth: u64,
    placed: Vec<(u32, u64)>,
    tried: Vec<u64>,
    capacity: u64,
}

impl Found {
    fn keep(&mut self, task: &Task<'_>, placed: Vec<(u32, u64)>) {
        let worth: u64 = placed
            .iter()
            .map(|&(unit, _)| task.unit_worths[unit as usize])
            .sum();
        let worth = worth + task.free_worth();
        self.capacity = task.capacity;
        if worth > self.worth || self.placed.is_empty() {
            (self.worth, self.placed) = (worth, placed);
        }
    }

    /// Whether this is seen for the first time.
    fn is_new(&mut self, taken: &[bool]) -> bool {
        let print = taken.iter().fold(
            0u64,
            |print, &taken| mix(print.wrapping_mul(2) + u64::from(taken)),
        );
        let new = !self.tried.contains(&print);
        self.tried.push(print);
        new
    }

    fn all(&self, problem: &Problem) -> Vec<(u32, u64)> {
        let mut all = self.placed.clone();
        for (index, unit) in problem.units.iter().enumerate() {
            if is_free(unit, self.capacity) {
                all.push((
                    index as u32,
                    align_up(unit.bounds().0, unit.alignment).unwrap_or(0),
                ));
            }
        }
        all
    }

    fn offsets(&self, problem: &Problem) -> Vec<Option<Bytes>> {
        let mut offsets = vec![None; problem.items().len()];
        for (unit, offset) in self.all(problem) {
            for &item in problem.units[unit as usize].members.of(&problem.members) {
                offsets[item as usize] = Some(Bytes(offset));
            }
        }
        offsets
    }

    fn height(&self, problem: &Problem) -> u64 {
        let ends = self
            .all(problem)
            .into_iter()
            .map(|(unit, offset)| offset + problem.units[unit as usize].size);
        ends.max().unwrap_or(0)
    }
}
