//! Exchanges: improves a choice by loads by swapping items whose weights are close to the prices of their bytes.

use super::choice::Chosen;
use super::prices::SCALE_BITS;
use super::task::Task;
use crate::units::{CompactSort, SplitMix64};

/// Number of candidate items in each phase of the search; candidates are the items whose weights are closest to the prices of their bytes.
const CANDIDATES: [usize; 3] = [64, 128, 256];
/// Number of columns scanned per step.
const COLUMNS_PER_STEP: u64 = 3000;

/// Maximum number of steps; further steps find little more.
const MAX_STEPS: u64 = 100_000;

/// A selection of items that fits by the load of each column, and the items added or removed in the current round.
struct Exchange<'a, 'b> {
    task: &'a Task<'b>,
    taken: Vec<bool>,
    /// Free bytes of each column.
    free: Vec<u64>,
    changed: Vec<usize>,
    scanned_columns: u64,
}

/// Swaps items for about `budget` steps, but at most [`MAX_STEPS`], and keeps swaps that do not reduce the weight of the choice; returns the steps used.
pub(super) fn exchange(task: &Task<'_>, chosen: &mut Chosen, budget: u64) -> u64 {
    let before = task.weight(&chosen.taken);
    let offer = |index: usize| &task.offers[index];
    let density = |index: usize| (offer(index).surplus.abs() << 32) / offer(index).arc.weight.max(1);
    let mut densities: Vec<(i128, usize)> = (0..task.offers.len())
        .map(|index| (density(index), index))
        .collect();
    densities.compact_sort();
    let order: Vec<usize> = densities.into_iter().map(|(_, index)| index).collect();
    let mut exchange = Exchange {
        task,
        free: vec![task.padded_capacity; task.columns],
        taken: vec![false; order.len()],
        changed: Vec::new(),
        scanned_columns: 0,
    };
    for index in (0..chosen.taken.len()).filter(|&index| chosen.taken[index]) {
        exchange.flip(index);
    }
    let mut random = SplitMix64::new(1);
    let mut limit = 0;
    for most in CANDIDATES {
        let order = &order[..most.min(order.len())];
        limit += budget.min(MAX_STEPS) * COLUMNS_PER_STEP / CANDIDATES.len() as u64;
        while exchange.scanned_columns < limit && !order.is_empty() {
            exchange.round(order, &mut random);
        }
    }
    chosen.taken = exchange.taken;
    chosen.loss -= i128::from(task.weight(&chosen.taken) - before) << SCALE_BITS;
    exchange.scanned_columns / COLUMNS_PER_STEP
}

impl Exchange<'_, '_> {
    /// Removes a random candidate, or adds it, removing others to make room; then adds whatever fits. Undoes everything if the candidate does not fit, or if
    /// the choice becomes lighter.
    fn round(&mut self, order: &[usize], random: &mut SplitMix64) {
        let task = self.task;
        let weight = |index: &usize| task.unit_weights[task.units[*index] as usize];
        let count = order.len() as u64;
        self.changed.clear();
        let item = order[random.below(count) as usize];
        let mut fits = self.taken[item] || self.fits(item);
        let (before, after) = order.split_at(random.below(count) as usize);
        for &other in after.iter().chain(before) {
            if !fits && self.taken[other] && self.relieves(other, item) {
                self.flip(other);
                fits = self.fits(item);
            }
        }
        if fits {
            self.flip(item);
            let (before, after) = order.split_at(random.below(count) as usize);
            for &other in after.iter().chain(before) {
                if !self.taken[other] && !self.changed.contains(&other) && self.fits(other) {
                    self.flip(other);
                }
            }
        }
        self.scanned_columns += count;
        let (came, went): (Vec<usize>, Vec<usize>) =
            self.changed.iter().partition(|&&index| self.taken[index]);
        let is_lighter = came.iter().map(weight).sum::<u64>() < went.iter().map(weight).sum();
        if !fits || is_lighter {
            // In reverse, since the chosen items must fit at every point in between.
            for index in std::mem::take(&mut self.changed).into_iter().rev() {
                self.flip(index);
            }
        }
    }

    fn columns(&self, item: usize) -> std::ops::Range<usize> {
        let arc = &self.task.offers[item].arc;
        arc.first as usize..arc.end as usize
    }

    fn fits(&mut self, item: usize) -> bool {
        let size = self.task.offers[item].arc.size;
        let columns = self.columns(item);
        self.scanned_columns += columns.len() as u64;
        self.free[columns].iter().all(|&free| free >= size)
    }

    /// Returns true if `other` is in a column of `item` that is too full for `item`.
    fn relieves(&mut self, other: usize, item: usize) -> bool {
        let size = self.task.offers[item].arc.size;
        let (a, b) = (self.columns(other), self.columns(item));
        let both = a.start.max(b.start)..a.end.min(b.end);
        self.scanned_columns += both.len() as u64;
        self.free
            .get(both)
            .is_some_and(|free| free.iter().any(|&free| free < size))
    }

    fn flip(&mut self, item: usize) {
        let size = self.task.offers[item].arc.size;
        let columns = self.columns(item);
        self.scanned_columns += columns.len() as u64;
        let taken = !self.taken[item];
        for free in &mut self.free[columns] {
            *free = if taken { *free - size } else { *free + size };
        }
        self.taken[item] = taken;
        self.changed.push(item);
    }
}
