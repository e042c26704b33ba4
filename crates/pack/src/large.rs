//! What is much larger than the rest is packed first, and the rest around it.
//!
//! Measured on the training step of an LSTM (315 large tensors, 2,142 small ones, a few percent of the bytes): the bound in 2 ms,
//! where hill climbing with everything at once ended at 1.046 of it in 17 s.

use std::cmp::Reverse;

use super::exact::{Outcome, Switches};
use super::gap::Fit;
use super::in_order::UNPLACED;
use super::quest::Quest;
use super::{Packer, Problem, Strategy};

/// Scratch memory of placing the large first.
#[derive(Debug, Default)]
pub(super) struct Large {
    by_size: Vec<u32>,
    first: Vec<u32>,
    offsets: Vec<u64>,
}

/// How the rest is placed around what is large.
const AROUND: [(Strategy, Fit); 4] = [
    (Strategy::FirstFitByBirth, Fit::First),
    (Strategy::GreedyByBreadth, Fit::Best),
    (Strategy::GreedyBySize, Fit::Best),
    (Strategy::GreedyByConflicts, Fit::Best),
];

/// By how much sizes have to differ for the larger ones to be placed first.
const LARGER: u64 = 4;
/// What is fewer is searched as fast with everything else.
const FEWEST: usize = 8;

impl Packer {
    /// Packs what is much larger than the rest exactly within the bound, and the rest around it.
    pub(super) fn place_large_first(&mut self, problem: &Problem, quest: &mut Quest<'_>) {
        let size = |index: u32| problem.units[index as usize].size;
        self.large.by_size.clear();
        self.large.by_size.extend(0..problem.units.len() as u32);
        self.large
            .by_size
            .sort_unstable_by_key(|&index| (Reverse(size(index)), index));
        for cut in FEWEST..self.large.by_size.len() {
            let Large {
                by_size,
                first,
                offsets: large,
            } = &mut self.large;
            if size(by_size[cut]).saturating_mul(LARGER) > size(by_size[cut - 1]) {
                continue;
            }
            // What is fixed is in the way however small it is.
            let is_fixed = |&&index: &&u32| problem.units[index as usize].fixed.is_some();
            first.clear();
            first.extend_from_slice(&by_size[..cut]);
            first.extend(by_size[cut..].iter().filter(is_fixed));
            self.exact.reduce(problem, Some(first));
            let share = (quest.budget / 8).min(quest.budget.saturating_sub(quest.steps));
            let bound = quest.bound;
            let mut poll = |steps| quest.ask(steps);
            let (outcome, steps) = self.exact.fit(bound, Switches::DEFAULT, share, &mut poll);
            quest.steps += steps;
            if outcome != Outcome::Packed {
                continue;
            }
            self.exact.write(problem, large);
            for &index in &by_size[cut..] {
                large[index as usize] = problem.units[index as usize].fixed.unwrap_or(UNPLACED);
            }
            for (strategy, fit) in AROUND {
                self.order_of(problem, strategy);
                self.offsets.clone_from(&self.large.offsets);
                self.in_order
                    .place_around(problem, &self.order, fit, &mut self.offsets);
                self.keep(problem, quest);
                if !quest.spend(1 + problem.units.len() as u64 / 64) {
                    return;
                }
            }
        }
    }
}
