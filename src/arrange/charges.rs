//! What the passes of an arranged frame are charged.

use super::traffic::Costs;
use crate::execute::{Charge, ChargeCause, Charges, Executed, PassRun};
use crate::frame::tables::Pass;
use crate::units::Bytes;

impl Costs {
    /// What one more execution of a pass costs: nothing where the pass declares that, else what was measured, else what it declares.
    pub(super) fn repeat_of(&self, pass: &Pass) -> Bytes {
        let declared = pass.repeat_bytes.unwrap_or_default();
        match self.repeat {
            Some(bytes) if declared > Bytes::ZERO => bytes,
            _ => declared,
        }
    }

    /// What the passes of a rewritten frame cost beyond what their accesses move.
    pub(super) fn charges(&self, rewrite: &Executed) -> Charges {
        let mut passes = Vec::new();
        for pass in rewrite.frame().pass_ids() {
            let runs: Vec<PassRun> = rewrite.described_passes(pass).collect();
            let again = runs.iter().filter(|run| run.strip.is_some_and(|strip| strip.number > 0));
            let repeats: Bytes = again
                .map(|run| self.repeat_of(rewrite.described().pass(run.pass)))
                .sum();
            let merges = Bytes(self.merged.0 * (runs.len() as u64).saturating_sub(1));
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
        }
    }
}
