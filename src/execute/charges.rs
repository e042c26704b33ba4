//! What a rewritten frame costs beyond the bytes that its accesses move.

use tileheap_units::CompactSort;

use super::origins::Origins;
use crate::frame::PassId;
use crate::units::Bytes;

/// What running a frame another way costs, in bytes of memory traffic a frame, beyond what its accesses move.
///
/// ```text
/// share on chip = 1 - (bytes that move off chip + charges) / bytes that the described frame moves
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Charges {
    /// What passes cost, in the order of the passes.
    pub passes: Vec<Charge>,
    /// What a byte costs that strips move once more around themselves, in thousandths of a byte. 1000, no cache helps, unless measured.
    pub halo_thousandths: u32,
    /// What the frame moves as it was described first, if its description was [changed](crate::arrange::DescriptionChange): the share is of
    /// this. `None`: what the described frame moves.
    pub described_traffic: Option<Bytes>,
}

/// What one pass costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charge {
    /// The pass of the executed frame.
    pub pass: PassId,
    /// The reason.
    pub cause: ChargeCause,
    /// The bytes of memory traffic that cost as much.
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
    /// No charges; halos cost what they move.
    pub const NONE: Charges = Charges {
        passes: Vec::new(),
        halo_thousandths: 1000,
        described_traffic: None,
    };

    /// The bytes that passes are charged for one reason.
    pub fn of(&self, cause: ChargeCause) -> Bytes {
        let charges = self.passes.iter().filter(|charge| charge.cause == cause);
        charges.map(|charge| charge.bytes).sum()
    }

    /// These charges and those of a later rewrite: each of these moves to the first pass that runs the pass there.
    pub(crate) fn then(&self, later: &Charges, rewrite: &Origins) -> Charges {
        let before = self.passes.iter().map(|charge| Charge {
            // One that none runs stays, for the checker to find.
            pass: rewrite
                .executed_passes(charge.pass)
                .next()
                .unwrap_or(charge.pass),
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
        }
    }
}
