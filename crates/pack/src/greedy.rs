//! The greedy orders: the largest unit first, over all units or step by step from the fullest step.

use std::cmp::Reverse;

use super::Problem;
use crate::lists::{refill, reset};
use crate::units::CompactSort;

/// Scratch memory of the greedy orders.
#[derive(Debug, Default)]
pub(super) struct Greedy {
    order: Vec<u32>,
    /// Sort keys.
    keys: Vec<u128>,
    /// Units by first step, without those with empty spans.
    births: Vec<u32>,
    /// The last step (upper 64 bits) and the size (lower 64 bits) of each unit in `births`, in ascending order.
    deaths: Vec<u128>,
    /// For each step at which a unit is first used: the complement of the live bytes (upper 96 bits), and the number of units first used at or before the
    /// step (lower 32 bits).
    steps: Vec<u128>,
    /// A binary tree over `births` with the last steps of the units that are not in the order yet.
    latest: Latest,
}

impl Greedy {
    /// Orders units by size, the largest first; ties by earliest birth.
    ///
    /// Source: Greedy by Size for Offset Calculation, Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net
    /// Inference", 2020.
    pub(super) fn by_size(&mut self, problem: &Problem) -> &[u32] {
        // The whole key is one number, so that the sort does not read the units.
        let units = problem.units.iter().enumerate();
        refill(
            &mut self.keys,
            units.map(|(index, unit)| {
                let first = u64::from(unit.hull.first.0);
                u128::from(!unit.size) << 64 | u128::from(first << 32 | index as u64)
            }),
        );
        self.keys.sort_unstable();
        refill(&mut self.order, self.keys.iter().map(|&key| key as u32));
        &self.order
    }

    /// Orders units by the step with the most live bytes; among the units live there, the largest first. A group counts from its first use to its
    /// last.
    ///
    /// Source: Greedy by Breadth, as above.
    pub(super) fn by_breadth(&mut self, problem: &Problem) -> &[u32] {
        let units = &problem.units;
        let living = units.iter().enumerate().filter(|(_, unit)| !unit.hull.is_empty());
        refill(
            &mut self.keys,
            living.map(|(index, unit)| u128::from(u64::from(unit.hull.first.0) << 32 | index as u64)),
        );
        self.keys.sort_unstable();
        refill(&mut self.births, self.keys.iter().map(|&key| key as u32));
        self.measure_steps(problem);
        self.steps.sort_unstable();
        self.latest
            .fill(self.births.iter().map(|&index| units[index as usize].hull.end.0));
        self.order.clear();
        for &step in &self.steps {
            let born = step as u32;
            let step = units[self.births[born as usize - 1] as usize].hull.first.0;
            let from = self.order.len();
            while let Some(position) = self.latest.take_first_after(step, born as usize) {
                self.order.push(self.births[position]);
            }
            self.order[from..].compact_sort_by_key(|&index| (Reverse(units[index as usize].size), index));
        }
        // Units with empty spans come last.
        self.order
            .extend((0..units.len() as u32).filter(|&index| units[index as usize].hull.is_empty()));
        &self.order
    }

    /// Computes the live bytes after the births of each step.
    fn measure_steps(&mut self, problem: &Problem) {
        let units = &problem.units;
        refill(
            &mut self.deaths,
            self.births.iter().map(|&index| {
                let unit = &units[index as usize];
                u128::from(unit.hull.end.0) << 64 | u128::from(unit.size)
            }),
        );
        self.deaths.sort_unstable();
        let mut deaths = self.deaths.iter().copied().peekable();
        self.steps.clear();
        // Groups also count in the gaps of their lifetimes, so this sum, unlike the live bytes, may exceed 64 bits.
        let mut live = 0u128;
        for (position, &index) in self.births.iter().enumerate() {
            let unit = &units[index as usize];
            let step = unit.hull.first.0;
            while let Some(death) = deaths.next_if(|&death| death >> 64 <= u128::from(step)) {
                live -= u128::from(death as u64);
            }
            live += u128::from(unit.size);
            let last_birth = self.births.get(position + 1);
            if last_birth.is_none_or(|&next| units[next as usize].hull.first.0 != step) {
                // Of 32 bits of units, each below 64 bits: 96 bits hold the live bytes.
                self.steps.push(!live << 32 | (position as u128 + 1));
            }
        }
    }
}

/// A binary tree of maxima over a list of numbers that shrinks.
#[derive(Debug, Default)]
struct Latest {
    /// The maximum of each subtree; 0 if nothing is left in it. The root is at 1, the children of `node` at `2 * node` and `2 * node + 1`.
    maxima: Vec<u32>,
    leaves: usize,
}

impl Latest {
    fn fill(&mut self, values: impl ExactSizeIterator<Item = u32>) {
        self.leaves = values.len().next_power_of_two();
        reset(&mut self.maxima, self.leaves, 0);
        self.maxima.extend(values);
        self.maxima.resize(2 * self.leaves, 0);
        for node in (1..self.leaves).rev() {
            self.maxima[node] = self.maxima[2 * node].max(self.maxima[2 * node + 1]);
        }
    }

    /// Removes the first number above `value` among the first `end` numbers, and returns its position.
    fn take_first_after(&mut self, value: u32, end: usize) -> Option<usize> {
        if self.maxima[1] <= value {
            return None;
        }
        let mut node = 1;
        while node < self.leaves {
            node *= 2;
            if self.maxima[node] <= value {
                node += 1;
            }
        }
        let position = node - self.leaves;
        if position >= end {
            return None;
        }
        self.maxima[node] = 0;
        while node > 1 {
            node /= 2;
            self.maxima[node] = self.maxima[2 * node].max(self.maxima[2 * node + 1]);
        }
        Some(position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Item;
    use crate::units::SplitMix64;
    use crate::units::{Alignment, Bytes, Span, Step};

    /// Orders units as the rule is defined, without its data structures: takes the steps in descending order of live bytes, and at each step the live units
    /// that are not in the order yet.
    fn breadth_as_defined(items: &[Item]) -> Vec<u32> {
        let is_live = |item: &Item, step| item.span.contains(Step(step)) && !item.span.is_empty();
        let live = |step| items.iter().filter(move |item| is_live(item, step));
        let mut steps: Vec<u32> = items.iter().map(|item| item.span.first.0).collect();
        steps.sort_unstable();
        steps.dedup();
        steps.sort_by_key(|&step| Reverse(live(step).map(|item| item.size).sum::<Bytes>()));
        let mut order = Vec::new();
        for step in steps {
            let mut here: Vec<u32> = (0..items.len() as u32).collect();
            here.retain(|&index| items[index as usize].span.contains(Step(step)) && !order.contains(&index));
            here.sort_by_key(|&index| Reverse(items[index as usize].size));
            order.extend(here);
        }
        order.extend((0..items.len() as u32).filter(|&index| items[index as usize].span.is_empty()));
        order
    }

    #[test]
    fn breadth_takes_the_fullest_step_first() {
        let mut random = SplitMix64::new(5);
        let mut greedy = Greedy::default();
        for _ in 0..200 {
            let count = random.below(40);
            let items = (0..count).map(|_| {
                let first = random.below(20) as u32;
                let span = Span::new(first, first + random.below(6) as u32);
                Item::new(span, Bytes(random.below(9)), Alignment::ONE)
            });
            let items: Vec<Item> = items.collect();
            let problem = Problem::new(items.clone()).unwrap();
            assert_eq!(greedy.by_breadth(&problem), breadth_as_defined(&items));
        }
    }
}
