//! The heaviest placement found so far, and the choices that have been tried.

use super::task::{Task, is_free};
use crate::Problem;
use crate::exact::mix;
use crate::gap::align_up;
use crate::units::Bytes;

/// The best placement so far.
#[derive(Default)]
pub(super) struct Placement {
    pub(super) weight: u64,
    pub(super) placed: Vec<(u32, u64)>,
    pub(super) tried: Vec<u64>,
    pub(super) capacity: u64,
}

impl Placement {
    pub(super) fn keep(&mut self, task: &Task<'_>, placed: Vec<(u32, u64)>) {
        let weights = placed.iter().map(|&(unit, _)| task.unit_weights[unit as usize]);
        let weight = weights.sum::<u64>() + task.free_weight();
        self.capacity = task.capacity;
        if weight > self.weight || self.placed.is_empty() {
            (self.weight, self.placed) = (weight, placed);
        }
    }

    /// Returns true if this choice has not been tried before, and remembers it.
    pub(super) fn is_new(&mut self, taken: &[bool]) -> bool {
        let print = taken.iter().fold(
            0u64,
            |print, &taken| mix(print.wrapping_mul(2) + u64::from(taken)),
        );
        let new = !self.tried.contains(&print);
        self.tried.push(print);
        new
    }

    pub(super) fn all(&self, problem: &Problem) -> Vec<(u32, u64)> {
        let mut all = self.placed.clone();
        for (index, unit) in problem.units.iter().enumerate() {
            if is_free(unit, self.capacity) {
                let offset = align_up(unit.bounds().0, unit.alignment);
                all.push((index as u32, offset.unwrap_or(0)));
            }
        }
        all
    }

    pub(super) fn offsets(&self, problem: &Problem) -> Vec<Option<Bytes>> {
        let mut offsets = vec![None; problem.items().len()];
        for (unit, offset) in self.all(problem) {
            for &item in problem.members_of(&problem.units[unit as usize]) {
                offsets[item as usize] = Some(Bytes(offset));
            }
        }
        offsets
    }

    pub(super) fn height(&self, problem: &Problem) -> u64 {
        let all = self.all(problem).into_iter();
        let ends = all.map(|(unit, offset)| offset + problem.units[unit as usize].size);
        ends.max().unwrap_or(0)
    }
}
