//! The range of budgets that a policy accepts.

use crate::Geometry;
use crate::error::{Error, Result};
use crate::units::Bytes;

/// The maximum number of blocks of the smallest size that a policy with 32-bit block numbers can address.
const MAX_BLOCKS: u64 = (u32::MAX / 2) as u64;

/// The smallest and largest budget that a policy with 32-bit block numbers accepts.
#[derive(Clone, Copy, Debug)]
pub struct BudgetLimits {
    /// Offsets and sizes of blocks are multiples of this many bytes.
    pub unit: u64,
    largest: Bytes,
}

impl BudgetLimits {
    /// The limits of policies for a geometry.
    pub fn of(geometry: &Geometry) -> BudgetLimits {
        BudgetLimits {
            unit: geometry.unit().get(),
            largest: geometry.largest(),
        }
    }

    /// The budget rounded down to whole units.
    ///
    /// # Errors
    /// If it does not hold the largest texture, or has more than 2^31 - 1 units.
    pub fn usable(&self, budget: Bytes) -> Result<Bytes> {
        let usable = Bytes(budget.0 / self.unit * self.unit);
        let most = Bytes(MAX_BLOCKS.saturating_mul(self.unit));
        if usable < self.largest {
            return Err(Error::BudgetTooSmall(budget, self.largest));
        }
        if usable > most {
            return Err(Error::BudgetTooLarge(budget, most, MAX_BLOCKS));
        }
        Ok(usable)
    }
}
