//! Which budgets a policy accepts.

use crate::Geometry;
use crate::error::{Error, Result};
use crate::units::Bytes;

/// The smallest and largest budget that a policy with 32-bit block numbers accepts.
#[derive(Clone, Copy, Debug)]
pub struct BudgetLimits {
    unit: u64,
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
    /// If it does not hold the largest texture, or has more than 2^31 units.
    pub fn usable(&self, budget: Bytes) -> Result<Bytes> {
        let usable = Bytes(budget.0 / self.unit * self.unit);
        if usable < self.largest {
            let largest = self.largest;
            return Err(Error::BudgetTooSmall { budget, largest });
        }
        let blocks = u64::from(u32::MAX / 2);
        let most = Bytes(blocks.saturating_mul(self.unit));
        if usable > most {
            return Err(Error::BudgetTooLarge {
                budget,
                largest: most,
                blocks,
            });
        }
        Ok(usable)
    }
}
