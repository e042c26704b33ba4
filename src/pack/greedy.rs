//! The greedy orders: the largest first, over all or step by step from the fullest.

use std::cmp::Reverse;

use super::Problem;

/// Scratch memory of the greedy orders.
#[derive(Debug, Default)]
pub(super) struct Greedy {
    order: Vec<u32>,
    /// Units by first step; those that live at no step left out.
    births: Vec<u32>,
    /// Live bytes of each step at which something is born, and how many units are born up to it.
    steps: Vec<(Reverse<u128>, u32)>,
    /// Over `births`, a binary tree of the last steps of those that are not yet in the order.
    latest: Latest,
}

impl Greedy {
    /// Largest first; of equals the earliest born.
    ///
    /// Source: Greedy by Size for Offset Calculation, Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net
    /// Inference", 2020.
    pub(super) fn by_size(&mut self, problem: &Problem) -> &[u32] {
        self.order.clear();
        self.order.extend(0..problem.units.len() as u32);
        self.order.sort_unstable_by_key(|&index| {
            let unit = &problem.units[index as usize];
            (Reverse(unit.size), unit.hull.first, index)
        });
        &self.order
    }

    /// The step with the most live bytes first; of those alive there, the largest first. A group counts from its first
    /// birth to its last death.
    ///
    /// Source: Greedy by Breadth, as above.
    pub(super) fn by_breadth(&mut self, problem: &Problem) -> &[u32] {
        let units = &problem.units;
        self.births.clear();
        self.births
            .extend((0..units.len() as u32).filter(|&index| !units[index as usize].hull.is_empty()));
        self.births
            .sort_unstable_by_key(|&index| (units[index as usize].hull.first, index));
        self.measure_steps(problem);
        self.steps.sort_unstable();
        self.latest
            .fill(self.births.iter().map(|&index| units[index as usize].hull.end.0));
        self.order.clear();
        for &(_, born) in &self.steps {
            let step = units[self.births[born as usize - 1] as usize].hull.first.0;
            let from = self.order.len();
            while let Some(position) = self.latest.take_first_after(step, born as usize) {
                self.order.push(self.births[position]);
            }
            self.order[from..].sort_unstable_by_key(|&index| (Reverse(units[index as usize].size), index));
        }
        // Those that never live come last.
        self.order
            .extend((0..units.len() as u32).filter(|&index| units[index as usize].hull.is_empty()));
        &self.order
    }

    /// Live bytes after the births of each step.
    fn measure_steps(&mut self, problem: &Problem) {
        let units = &problem.units;
        let mut deaths: Vec<(u32, u64)> = Vec::with_capacity(self.births.len());
        deaths.extend(self.births.iter().map(|&index| {
            let unit = &units[index as usize];
            (unit.hull.end.0, unit.size)
        }));
        deaths.sort_unstable();
        let mut deaths = deaths.into_iter().peekable();
        self.steps.clear();
        // Groups count while they sleep too, so that this sum, unlike the real one, may pass 64 bits.
        let mut live = 0u128;
        for (position, &index) in self.births.iter().enumerate() {
            let unit = &units[index as usize];
            let step = unit.hull.first.0;
            while let Some((_, size)) = deaths.next_if(|&(end, _)| end <= step) {
                live -= u128::from(size);
            }
            live += u128::from(unit.size);
            let last_birth = self.births.get(position + 1);
            if last_birth.is_none_or(|&next| units[next as usize].hull.first.0 != step) {
                self.steps.push((Reverse(live), position as u32 + 1));
            }
        }
    }
}

/// A binary tree of maxima over a list of numbers, from which numbers are taken away.
#[derive(Debug, Default)]
struct Latest {
    /// The root at 1, the children of `node` at `2 * node` and `2 * node + 1`; 0 where nothing is left.
    maxima: Vec<u32>,
    leaves: usize,
}

impl Latest {
    fn fill(&mut self, values: impl ExactSizeIterator<Item = u32>) {
        self.leaves = values.len().next_power_of_two();
        self.maxima.clear();
        self.maxima.resize(self.leaves, 0);
        self.maxima.extend(values);
        self.maxima.resize(2 * self.leaves, 0);
        for node in (1..self.leaves).rev() {
            self.maxima[node] = self.maxima[2 * node].max(self.maxima[2 * node + 1]);
        }
    }

    /// Takes away the first number above `value` of the first `end` ones; gives its position.
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
