//! Parts of a problem that share no step.

use tileheap_units::CompactSort;

use super::Problem;
use crate::units::{Run, Step};

/// Sets of units that share no step, with the memory for packing one separately.
#[derive(Debug, Default)]
pub(super) struct Parts {
    /// Units by part, ascending within each part.
    pub(super) units: Vec<u32>,
    /// The parts in order of time.
    pub(super) runs: Vec<Run>,
    pub(super) alone: Problem,
}

impl Parts {
    /// Finds sets of units that share no step, in order of time; none if conflicts are declared.
    pub(super) fn find(&mut self, problem: &Problem) {
        let Parts {
            units, runs: parts, ..
        } = self;
        units.clear();
        parts.clear();
        if !problem.conflicts().is_empty() {
            return;
        }
        let hull = |index: u32| problem.units[index as usize].hull;
        let all = 0..problem.units.len() as u32;
        units.extend(all.filter(|&index| problem.units[index as usize].takes_bytes()));
        units.compact_sort_by_key(|&index| (hull(index).first, index));
        let mut end = Step(0);
        for (place, &index) in units.iter().enumerate() {
            if parts.is_empty() || hull(index).first >= end {
                parts.push(Run::from([place as u32, place as u32]));
            }
            end = end.max(hull(index).end);
            parts.last_mut().expect("the first unit opens a part").end += 1;
        }
        for part in parts {
            units[part.indices()].compact_sort();
        }
    }
}
