//! Hill climbing: swaps a unit at the peak with one below it in the order of placement, and places all units again.
//!
//! Source: the rule of TVM's USMP `hill_climb` and Arm Vela's allocator, with a fixed sequence of random numbers.

use super::Problem;
use super::exact::mix;
use super::gap::FitPolicy;
use super::in_order::InOrder;
use crate::lists::refill;

/// Scratch memory of hill climbing.
#[derive(Debug, Default)]
pub(super) struct Climb {
    order: Vec<u32>,
    position: Vec<u32>,
    offsets: Vec<u64>,
    peak: Vec<u32>,
    under: Vec<u32>,
}

impl Climb {
    /// Starts from `order`; calls `found` with offsets whenever they are the lowest so far. `go_on` is called before each try, and ends the climb by
    /// returning false.
    ///
    /// Complexity: each try places all units.
    pub(super) fn climb(
        &mut self,
        problem: &Problem,
        order: &[u32],
        in_order: &mut InOrder,
        mut go_on: impl FnMut() -> bool,
        mut found: impl FnMut(&[u64]),
    ) {
        refill(&mut self.order, order.iter().copied());
        let mut least = u64::MAX;
        let mut last = (0, 0);
        let mut round = 0u64;
        while go_on() {
            in_order.place(problem, &self.order, FitPolicy::First, &mut self.offsets);
            let height = problem.height(&self.offsets);
            if height < least {
                found(&self.offsets);
            }
            if height > least {
                self.order.swap(last.0, last.1);
                in_order.place(problem, &self.order, FitPolicy::First, &mut self.offsets);
            } else {
                least = height;
            }
            let Some(next) = self.next_swap(problem, least, round) else {
                return;
            };
            self.order.swap(next.0, next.1);
            last = next;
            round += 1;
        }
    }

    /// Returns the positions of two units to swap: a unit at the peak, or one that it must not share bytes with and that is below it; and such a unit
    /// below the first. `None` if there are none.
    fn next_swap(&mut self, problem: &Problem, height: u64, round: u64) -> Option<(usize, usize)> {
        let units = &problem.units;
        let end = |index: u32| self.offsets[index as usize] + units[index as usize].size;
        self.position.resize(units.len(), 0);
        for (position, &index) in self.order.iter().enumerate() {
            self.position[index as usize] = position as u32;
        }
        refill(
            &mut self.peak,
            (0..units.len() as u32).filter(|&index| end(index) == height),
        );
        let draw =
            |count: usize, salt: u64| (mix(round.wrapping_mul(4) + salt) % count.max(1) as u64) as usize;
        let mut first = *self.peak.get(draw(self.peak.len(), 0))?;
        let mut second = first;
        for level in 0..2 {
            let below = |&other: &u32| {
                other != second
                    && self.offsets[other as usize] <= self.offsets[second as usize]
                    && problem.interfere(other, second)
            };
            refill(&mut self.under, (0..units.len() as u32).filter(below));
            let Some(&other) = self.under.get(draw(self.under.len(), 1 + level)) else {
                break;
            };
            if level == 1 && draw(2, 3) == 0 {
                break;
            }
            first = second;
            second = other;
        }
        (first != second).then_some((
            self.position[first as usize] as usize,
            self.position[second as usize] as usize,
        ))
    }
}
