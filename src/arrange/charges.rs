//! Charges for the passes of an arranged frame.

use super::traffic::ArrangementCosts;
use crate::execute::{CarriedCharges, Charge, ChargeCause, Charges, ExecutedFrame, PassRun};
use crate::frame::tables::Pass;
use crate::units::Bytes;

impl ArrangementCosts {
    /// Cost of one more execution of a pass: zero if the pass declares zero, otherwise the measured cost if there is one, otherwise the declared cost.
    pub(super) fn repeat_of(&self, pass: &Pass) -> Bytes {
        let declared = pass.repeat_bytes.unwrap_or_default();
        match self.repeat {
            Some(bytes) if declared > Bytes::ZERO => bytes,
            _ => declared,
        }
    }

    /// Costs of a rewritten frame beyond the bytes that its accesses move.
    pub(super) fn charges(&self, rewrite: &ExecutedFrame) -> Charges {
        let mut passes = Vec::new();
        for pass in rewrite.frame().pass_ids() {
            let runs: Vec<PassRun> = rewrite.described_passes(pass).collect();
            let again = runs
                .iter()
                .filter(|run| run.strip.is_some_and(|strip| strip.number > 0));
            let repeats: Bytes = again
                .map(|run| self.repeat_of(rewrite.described().pass(run.pass)))
                .sum();
            let merges = Bytes(
                self.merged
                    .0
                    .saturating_mul((runs.len() as u64).saturating_sub(1)),
            );
            for (cause, bytes) in [(ChargeCause::Repeat, repeats), (ChargeCause::Merge, merges)] {
                if bytes > Bytes::ZERO {
                    passes.push(Charge { pass, cause, bytes });
                }
            }
        }
        Charges {
            passes,
            halo_thousandths: (self.halo * 1000.0).round() as u32,
            described_traffic: None,
            carried: CarriedCharges::NONE,
        }
    }
}
