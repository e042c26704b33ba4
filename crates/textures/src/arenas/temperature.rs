//! Temperatures of arenas, in billionths, so that the examples in Blow's paper (1998) are exact.

use std::fmt;

/// Temperature of an arena: 1 if it is full of active textures, more if it is boiling. In billionths, so that it is identical on every machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Temperature(pub u64);

impl Temperature {
    /// Temperature of an arena in which no block is active.
    pub const ZERO: Temperature = Temperature(0);
    /// Temperature of an arena in which every block is active.
    pub const ONE: Temperature = Temperature(1_000_000_000);

    /// A temperature of `n` thousandths.
    pub const fn thousandths(n: u64) -> Temperature {
        Temperature(n * 1_000_000)
    }

    /// Active blocks divided by all blocks; 0 if there are none.
    pub const fn share(active: u64, blocks: u64) -> Temperature {
        match blocks {
            0 => Temperature::ZERO,
            _ => Temperature((active as u128 * Temperature::ONE.0 as u128 / blocks as u128) as u64),
        }
    }

    /// The recent temperature after another update: 0.7 times this one plus 0.3 times the instantaneous temperature.
    ///
    /// Source: Blow 1998, section "Growth Heuristics".
    pub const fn recent(self, instantaneous: Temperature) -> Temperature {
        Temperature((7 * self.0 + 3 * instantaneous.0) / 10)
    }
}

impl std::ops::Add for Temperature {
    type Output = Temperature;
    fn add(self, other: Temperature) -> Temperature {
        Temperature(self.0.saturating_add(other.0))
    }
}

/// Prints three decimals: `0.657`.
impl fmt::Display for Temperature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03}", self.0 / 1_000_000_000, self.0 / 1_000_000 % 1000)
    }
}
