//! Packings.

use serde::{Deserialize, Serialize};

use super::Problem;
use crate::lists::{refill, reset};
use crate::units::Bytes;

/// An offset for every item.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Packing {
    /// Offset of each item, in the problem's order.
    pub offsets: Vec<Bytes>,
    /// End of the highest item.
    pub height: Bytes,
}

impl Packing {
    /// Returns true if the packing stays within the problem's capacity and no item is above its highest offset.
    pub fn fits(&self, problem: &Problem) -> bool {
        let mut items = problem.items().iter().zip(&self.offsets);
        problem.capacity().is_none_or(|capacity| self.height <= capacity)
            && items.all(|(item, &offset)| item.highest.is_none_or(|highest| offset <= highest))
    }

    /// Sets the packing from the offsets of units.
    pub(super) fn set(&mut self, problem: &Problem, offsets: &[u64]) {
        self.height = Bytes(problem.height(offsets));
        reset(&mut self.offsets, problem.items().len(), Bytes::ZERO);
        for (unit, &offset) in problem.units.iter().zip(offsets) {
            for &item in problem.members_of(unit) {
                self.offsets[item as usize] = Bytes(offset);
            }
        }
    }

    /// Replaces the contents of `offsets` with the offsets of units.
    ///
    /// # Panics
    /// If the packing has fewer items than the problem.
    pub(super) fn write_units(&self, problem: &Problem, offsets: &mut Vec<u64>) {
        let first = |unit: &super::problem::Unit| problem.members_of(unit)[0];
        let units = problem.units.iter();
        refill(offsets, units.map(|unit| self.offsets[first(unit) as usize].0));
    }
}
