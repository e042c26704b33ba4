//! Costs of a rewritten frame beyond the bytes that its accesses move.

use serde::{Deserialize, Serialize};
use tileheap_json::is_default;
use tileheap_units::CompactSort;

use super::origins::Origins;
use crate::frame::PassId;
use crate::units::Bytes;

/// Costs of running a frame in another way, in addition to the traffic of its accesses, in bytes of memory traffic per frame.
///
/// ```text
/// share on chip = 1 - (bytes that move off chip + charges) / bytes that the described frame moves
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Charges {
    /// Costs of passes, in pass order.
    pub passes: Vec<Charge>,
    /// Cost of moving a byte of a strip's halo again, in thousandths of a byte. 1000 (no cache helps) unless measured.
    pub halo_thousandths: u32,
    /// Traffic of the originally described frame, if the description was [changed](crate::arrange::DescriptionChange): the base of the share. `None`:
    /// the base is the traffic of the described frame.
    #[serde(
        rename = "described_traffic_bytes",
        default,
        skip_serializing_if = "is_default"
    )]
    pub described_traffic: Option<Bytes>,
    /// Costs of rewrites before the description was changed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub carried: CarriedCharges,
}

/// Total costs of rewrites that came before a change of the description, in bytes of memory traffic per frame.
///
/// From then on, the frame that results from these rewrites and the changes is the described frame, so the map does not lead back to the
/// passes that incur these costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CarriedCharges {
    /// Cost of repeated passes.
    pub repeats: Bytes,
    /// Cost of merged passes.
    pub merges: Bytes,
}

impl CarriedCharges {
    /// No costs.
    pub const NONE: CarriedCharges = CarriedCharges {
        repeats: Bytes::ZERO,
        merges: Bytes::ZERO,
    };

    fn of(self, cause: ChargeCause) -> Bytes {
        match cause {
            ChargeCause::Repeat => self.repeats,
            ChargeCause::Merge => self.merges,
        }
    }

    fn plus(self, other: CarriedCharges) -> CarriedCharges {
        let sum = |cause| [self.of(cause), other.of(cause)].into_iter().sum();
        CarriedCharges {
            repeats: sum(ChargeCause::Repeat),
            merges: sum(ChargeCause::Merge),
        }
    }
}

/// The cost of one pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Charge {
    /// The pass of the executed frame.
    pub pass: PassId,
    /// The reason for the charge.
    pub cause: ChargeCause,
    /// The cost, in equivalent bytes of memory traffic per frame.
    pub bytes: Bytes,
}

/// The reason for a charge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChargeCause {
    /// The pass is a strip after the first: the described pass runs once more.
    Repeat,
    /// Several render passes run as one.
    Merge,
}

impl ChargeCause {
    /// The name that JSON uses.
    pub const fn name(self) -> &'static str {
        match self {
            ChargeCause::Repeat => "repeat",
            ChargeCause::Merge => "merge",
        }
    }
}

impl Charges {
    /// No charges; halos cost the bytes that they move.
    pub const NONE: Charges = Charges {
        passes: Vec::new(),
        halo_thousandths: 1000,
        described_traffic: None,
        carried: CarriedCharges::NONE,
    };

    /// Total bytes charged for one reason: to passes, and those [carried](Charges::carried).
    pub fn of(&self, cause: ChargeCause) -> Bytes {
        let charges = self.passes.iter().filter(|charge| charge.cause == cause);
        let passes = charges.map(|charge| charge.bytes);
        passes.chain([self.carried.of(cause)]).sum()
    }

    /// Combines these charges with those of a later rewrite, before which the description of the frame was changed: these charges become
    /// [carried](Charges::carried) ones.
    #[cfg(feature = "arrange")]
    pub(crate) fn before_change(&self, later: Charges) -> Charges {
        let carried = CarriedCharges {
            repeats: self.of(ChargeCause::Repeat),
            merges: self.of(ChargeCause::Merge),
        };
        Charges {
            described_traffic: self.described_traffic.or(later.described_traffic),
            carried: carried.plus(later.carried),
            ..later
        }
    }

    /// Combines these charges with those of a later rewrite: each of these charges moves to the first pass that runs the charged pass.
    pub(crate) fn then(&self, later: &Charges, rewrite: &Origins) -> Charges {
        let before = self.passes.iter().map(|charge| Charge {
            // A charge whose pass is not run stays, for the checker to find.
            pass: rewrite.executed_passes(charge.pass).next().unwrap_or(charge.pass),
            ..*charge
        });
        let mut passes: Vec<Charge> = Vec::new();
        for charge in before.chain(later.passes.iter().copied()) {
            let same = |known: &&mut Charge| (known.pass, known.cause) == (charge.pass, charge.cause);
            match passes.iter_mut().find(same) {
                Some(known) => known.bytes += charge.bytes,
                None => passes.push(charge),
            }
        }
        passes.compact_sort_by_key(|charge| charge.pass);
        Charges {
            passes,
            halo_thousandths: match later.halo_thousandths {
                1000 => self.halo_thousandths,
                measured => measured,
            },
            described_traffic: self.described_traffic.or(later.described_traffic),
            carried: self.carried.plus(later.carried),
        }
    }
}
