//! Searches the subsets of the items if there are few of them and the bound by loads is not reached: alignments, offset bounds and conflicts can rule out a
//! subset whose loads fit.

use std::cmp::Reverse;

use tileheap_units::CompactSort;

use super::placement::Placement;
use super::task::Task;
use crate::search_state::SearchState;
use crate::{Packer, Problem};

/// Maximum number of units for which all subsets are tried.
const MAX_UNITS: usize = 24;
/// Steps charged for each subset, in addition to those of its search.
const STEPS_PER_SUBSET: u64 = 8;

/// A search over the subsets of the units on offer.
struct Subsets<'a> {
    problem: &'a Problem,
    task: &'a Task<'a>,
    /// The units on offer, sorted by descending weight.
    units: Vec<u32>,
    /// For each unit, the total weight of that unit and all units after it.
    rest: Vec<u64>,
    chosen: Vec<u32>,
    /// Upper bound on the weight of the subsets that are left undecided.
    open: u64,
}

impl Packer {
    /// If there are at most `MAX_UNITS` units, tries their subsets, the heaviest units first; returns an upper bound on the weight of any selection, `u64::MAX` if
    /// there are more units.
    pub(super) fn search_few(
        &mut self,
        problem: &Problem,
        task: &Task<'_>,
        found: &mut Placement,
        search: &mut SearchState<'_>,
    ) -> u64 {
        let mut units = task.units.clone();
        if units.len() > MAX_UNITS {
            return u64::MAX;
        }
        let weight = |unit: u32| task.unit_weights[unit as usize];
        units.compact_sort_by_key(|&unit| (Reverse(weight(unit)), unit));
        let mut rest = vec![0];
        rest.extend(units.iter().rev().scan(0, |sum, &unit| {
            *sum += weight(unit);
            Some(*sum)
        }));
        rest.reverse();
        let mut subsets = Subsets {
            problem,
            task,
            units,
            rest,
            chosen: Vec::new(),
            open: 0,
        };
        subsets.descend(0, task.free_weight(), self, found, search);
        subsets.open.max(found.weight)
    }
}

impl Subsets<'_> {
    /// Branches on the units from `next` on; the units chosen so far have a total weight of `weight` and fit.
    fn descend(
        &mut self,
        next: usize,
        weight: u64,
        packer: &mut Packer,
        found: &mut Placement,
        search: &mut SearchState<'_>,
    ) {
        let most = weight + self.rest[next];
        if most <= found.weight {
            return;
        }
        if search.steps >= search.budget || search.interrupted {
            self.open = self.open.max(most);
            return;
        }
        let unit = self.units[next];
        self.chosen.push(unit);
        match self.place(packer, found, search) {
            Some(true) => {
                let with = weight + self.task.unit_weights[unit as usize];
                self.descend(next + 1, with, packer, found, search);
            }
            Some(false) => {}
            None => self.open = self.open.max(most),
        }
        self.chosen.pop();
        self.descend(next + 1, weight, packer, found, search);
    }

    /// Returns true if the chosen units were placed, and keeps the placement if it is the heaviest so far; false if they cannot be placed, and `None` if this
    /// is undecided.
    fn place(
        &mut self,
        packer: &mut Packer,
        found: &mut Placement,
        search: &mut SearchState<'_>,
    ) -> Option<bool> {
        let mut units = self.chosen.clone();
        units.compact_sort();
        let capacity = self.task.capacity;
        let part = self.problem.part(&units, Some(capacity));
        let left = search.budget.saturating_sub(search.steps);
        let (height, impossible) = packer.place_part(&part, capacity, left, search);
        search.steps += STEPS_PER_SUBSET;
        let fits = height.is_some_and(|height| height <= capacity);
        if fits {
            let placed = units.iter().copied().zip(packer.best.iter().copied());
            found.keep(self.task, placed.collect());
        }
        (fits || impossible).then_some(fits)
    }
}
