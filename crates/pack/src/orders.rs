//! More orders of placement: by area and by conflicts.

use std::cmp::Reverse;

use super::Problem;
use crate::lists::refill;
use crate::units::CompactSort;

/// Orders units by the product of size and lifetime, the largest first; ties by first use. A group counts from its first use to its last.
pub(super) fn by_area(problem: &Problem, order: &mut Vec<u32>) {
    refill(order, 0..problem.units.len() as u32);
    order.compact_sort_by_key(|&index| {
        let unit = &problem.units[index as usize];
        let area = u128::from(unit.size) * u128::from(unit.hull.len());
        (Reverse(area), unit.hull.first, index)
    });
}

/// The number of units with which each unit must not share bytes, with scratch memory.
#[derive(Debug, Default)]
pub(super) struct Conflicts {
    pub(super) counts: Vec<u32>,
    births: Vec<u32>,
    deaths: Vec<u32>,
}

impl Conflicts {
    /// Orders units by number of conflicts, the highest first; ties by first use, then by order of declaration.
    ///
    /// Counts overlapping lifetimes (of a group from its first use to its last) and declared conflicts. O(n log n). Source: TVM's USMP
    /// `greedy_by_conflicts`, which breaks ties by size: on IOPDDL S_1 both reach the same height.
    pub(super) fn order(&mut self, problem: &Problem, order: &mut Vec<u32>) {
        self.count(problem);
        refill(order, 0..problem.units.len() as u32);
        order.compact_sort_by_key(|&index| {
            let first = problem.units[index as usize].hull.first;
            (Reverse(self.counts[index as usize]), first, index)
        });
    }

    /// Counts the conflicts of each unit.
    pub(super) fn count(&mut self, problem: &Problem) -> &[u32] {
        let (counts, births, deaths) = (&mut self.counts, &mut self.births, &mut self.deaths);
        let living = || problem.units.iter().filter(|unit| unit.takes_bytes());
        refill(births, living().map(|unit| unit.hull.first.0));
        births.sort_unstable();
        refill(deaths, living().map(|unit| unit.hull.end.0));
        deaths.sort_unstable();
        refill(
            counts,
            problem.units.iter().map(|unit| {
                let declared = unit.conflicts.len() as u32;
                if !unit.takes_bytes() {
                    return declared;
                }
                let born = births.partition_point(|&first| first < unit.hull.end.0);
                let gone = deaths.partition_point(|&end| end <= unit.hull.first.0);
                (born - gone) as u32 - 1 + declared
            }),
        );
        counts
    }
}
