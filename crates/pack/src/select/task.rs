//! The choice by loads as a problem: candidates and prices.

use std::cmp::Reverse;

use tileheap_units::CompactSort;

use super::choice::{CandidateItem, Chosen, LoadSearch, unused};
use super::prices::{Arc, Prices, SCALE_BITS};
use crate::exact::{Model, gcd, mix};
use crate::gap::align_up;
use crate::problem::Unit;
use crate::units::Bytes;
use crate::{PartialPacking, Problem};

/// The problem of choosing by loads.
pub(super) struct Task<'a> {
    pub(super) capacity: u64,
    /// The capacity, rounded up to a multiple of the common alignment, as the sizes are.
    pub(super) padded_capacity: u64,
    pub(super) model: Model,
    pub(super) columns: usize,
    /// The candidate units; `offers` has an offer for each.
    pub(super) units: Vec<u32>,
    pub(super) offers: Vec<CandidateItem>,
    pub(super) unit_weights: Vec<u64>,
    pub(super) prices: Vec<i128>,
    pub(super) bound: i128,
    /// The sum of the prices.
    pub(super) price_sum: i128,
    /// The greatest common divisor of the weights of candidates.
    pub(super) common_weight: u64,
    /// True if some group has a gap in its lifetime: the choice counts the gap as live, and proves nothing.
    pub(super) has_gaps: bool,
    pub(super) problem: &'a Problem,
}

impl<'a> Task<'a> {
    pub(super) fn new(problem: &'a Problem, weights: &[u64], capacity: u64) -> Task<'a> {
        let units = &problem.units;
        let of_items = |unit: &Unit| {
            let items = problem.members_of(unit).iter();
            items.map(|&item| weights[item as usize]).sum()
        };
        let unit_weights: Vec<u64> = units.iter().map(of_items).collect();
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
            gcd(grain, unit.fixed.map_or(unit.alignment.get(), |_| 1))
        });
        let pad = |size: u64| size.div_ceil(grain.max(1)) * grain.max(1);
        // Only step columns; declared conflicts are left to the placement.
        let columns = model.row_width();
        let mut has_gaps = false;
        let offers = model.pieces.iter().map(|piece| {
            let stands = piece.columns.of(&model.columns);
            let stands = &stands[..stands.partition_point(|&column| (column as usize) < columns)];
            has_gaps |= (stands[stands.len() - 1] - stands[0]) as usize + 1 != stands.len();
            CandidateItem {
                arc: Arc {
                    first: stands[0],
                    end: stands[stands.len() - 1] + 1,
                    size: pad(piece.size),
                    weight: i128::from(unit_weights[piece.unit as usize]) << SCALE_BITS,
                },
                surplus: 0,
            }
        });
        let offers: Vec<CandidateItem> = offers.collect();
        let weights = model.pieces.iter().map(|piece| unit_weights[piece.unit as usize]);
        Task {
            capacity,
            padded_capacity: pad(capacity),
            columns,
            common_weight: weights.fold(0, gcd),
            price_sum: 0,
            units: model.pieces.iter().map(|piece| piece.unit).collect(),
            model,
            offers,
            unit_weights,
            prices: Vec::new(),
            bound: 0,
            has_gaps,
            problem,
        }
    }

    /// Sets the prices; returns the resulting bound.
    pub(super) fn price(&mut self, prices: &mut Prices, blocks: usize) -> u64 {
        let arcs: Vec<Arc> = self.offers.iter().map(|offer| offer.arc).collect();
        self.set_prices(prices.find(self.columns, self.padded_capacity, &arcs, blocks));
        (self.bound >> SCALE_BITS) as u64 + self.free_weight()
    }

    /// Returns the bound without prices: the weight of all units that could be chosen.
    pub(super) fn bound_without_prices(&self) -> u64 {
        let offers = self.units.iter().map(|&unit| self.unit_weights[unit as usize]);
        offers.sum::<u64>() + self.free_weight()
    }

    pub(super) fn set_prices(&mut self, prices: Vec<i128>) {
        self.prices = prices;
        self.price_sum = self.prices.iter().sum();
        self.bound = self.price_sum * i128::from(self.padded_capacity);
        for (offer, piece) in self.offers.iter_mut().zip(&self.model.pieces) {
            let columns = piece.columns.of(&self.model.columns).iter();
            let prices = columns.map_while(|&column| self.prices.get(column as usize));
            let price: i128 = prices.sum();
            offer.surplus = offer.arc.weight - price * i128::from(offer.arc.size);
            self.bound += offer.surplus.max(0);
        }
    }

    /// Returns the weight of units that take no bytes: they are always chosen.
    pub(super) fn free_weight(&self) -> u64 {
        let units = self.problem.units.iter().zip(&self.unit_weights);
        let free = units.filter(|(unit, _)| is_free(unit, self.capacity));
        free.map(|(_, &weight)| weight).sum()
    }

    pub(super) fn weight(&self, taken: &[bool]) -> u64 {
        let taken = self.units.iter().zip(taken).filter(|&(_, &taken)| taken);
        let weights = taken.map(|(&unit, _)| self.unit_weights[unit as usize]);
        weights.sum::<u64>() + self.free_weight()
    }

    /// Returns the best choice by loads that a search with about `width` states per column finds. The capacity is reduced by `squeeze` 64ths; ties are broken
    /// at random by the seed `number`, unless that is 0.
    pub(super) fn choose(
        &mut self,
        choice: &mut LoadSearch,
        number: u64,
        squeeze: u64,
        width: usize,
    ) -> Option<Chosen> {
        let capacity =
            self.padded_capacity - (u128::from(self.padded_capacity) * u128::from(squeeze) / 64) as u64;
        // The random offsets sum to less than one unit of weight: the best choice remains one of the best.
        let room = (1i128 << SCALE_BITS) / (self.offers.len() as i128 + 1);
        let mut offers = self.offers.clone();
        if number > 0 {
            for (index, offer) in offers.iter_mut().enumerate() {
                let chance = i128::from(mix(number ^ mix(index as u64)) >> 1) % room.max(1);
                offer.surplus += chance;
                offer.arc.weight += chance;
            }
        }
        // The allowed loss grows until a choice is found; with good prices that is soon, and few states are kept. Weights are multiples of their
        // common divisor, so the loss is at least the bound's remainder by it: often nothing more is lost.
        let least = match number {
            0 if self.common_weight > 0 => (self.bound
                - self.price_sum * i128::from(self.padded_capacity - capacity))
            .rem_euclid(i128::from(self.common_weight) << SCALE_BITS),
            _ => 0,
        };
        let mut allowed = least;
        let mut best: Option<Chosen> = None;
        for width in [width.div_ceil(8), width] {
            loop {
                let loss = unused(&self.prices, capacity);
                if let Some(mut found) = choice.pass(&offers, (self.columns, capacity), loss, allowed, width)
                {
                    // From here on only smaller losses are of interest.
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
                if best.is_some() || allowed > self.bound + (1 << SCALE_BITS) {
                    break;
                }
                allowed = allowed.saturating_mul(8).max(self.bound >> 14).max(1);
            }
        }
        best
    }

    /// Rounds the relaxation: takes the items that its flow selects completely, then others that fit, in descending order of surplus per price.
    ///
    /// On the training step of an LSTM, whose 2,444 items are too many for the states, at half of its peak: 0.990 of the bound, 0.936 without rounding.
    pub(super) fn round(&self, prices: &Prices) -> Chosen {
        let whole: Vec<bool> = prices.whole_items().collect();
        let key = |index: usize| {
            let CandidateItem { arc, surplus } = self.offers[index];
            let price = (arc.weight - surplus).max(1);
            let density = surplus.saturating_mul(1 << SCALE_BITS) / price;
            let rest = if whole[index] { 0 } else { density };
            (!whole[index], Reverse(rest), index)
        };
        let mut order: Vec<_> = (0..whole.len()).map(key).collect();
        order.compact_sort();
        let (mut taken, mut free) = (vec![false; whole.len()], vec![self.padded_capacity; self.columns]);
        for (_, _, index) in order {
            let arc = &self.offers[index].arc;
            let free = &mut free[arc.first as usize..arc.end as usize];
            if free.iter().all(|&free| free >= arc.size) {
                free.iter_mut().for_each(|free| *free -= arc.size);
                taken[index] = true;
            }
        }
        Chosen {
            loss: self.bound - (i128::from(self.weight(&taken) - self.free_weight()) << SCALE_BITS),
            exact: false,
            taken,
        }
    }

    /// Places further items that fit, in descending order of weight per byte and step, unless the problem has conflicts, fixed or bounded items, or groups
    /// of several items.
    pub(super) fn add_others(&self, problem: &Problem, placed: &mut Vec<(u32, u64)>) {
        if !problem.conflicts().is_empty() || problem.is_irregular() {
            return;
        }
        let mut shelf = PartialPacking::with_capacity(Some(Bytes(self.capacity)));
        let mut is_placed = vec![false; problem.units.len()];
        for &(unit, offset) in placed.iter() {
            is_placed[unit as usize] = true;
            let of = &problem.units[unit as usize];
            shelf.place(unit, of.hull, Bytes(offset), Bytes(of.size));
        }
        let mut rest = self.units.clone();
        rest.retain(|&unit| !is_placed[unit as usize]);
        let density = |unit: u32| {
            let of = &problem.units[unit as usize];
            let area = u128::from(of.size.max(1)) * u128::from(of.hull.len().max(1));
            (u128::from(self.unit_weights[unit as usize]) << 48) / area
        };
        rest.compact_sort_by_key(|&unit| (Reverse(density(unit)), unit));
        for unit in rest {
            let of = &problem.units[unit as usize];
            if let Some(offset) = shelf.best_fit(of.hull, Bytes(of.size), of.alignment) {
                shelf.place(unit, of.hull, offset, Bytes(of.size));
                placed.push((unit, offset.0));
            }
        }
    }
}

/// Returns true if a unit takes no bytes at any step, has no declared conflicts, and lies within the capacity at its lowest offset.
pub(super) fn is_free(unit: &Unit, capacity: u64) -> bool {
    let end = align_up(unit.bounds().0, unit.alignment).and_then(|offset| offset.checked_add(unit.size));
    !unit.takes_bytes() && unit.conflicts.is_empty() && end.is_some_and(|end| end <= capacity)
}
