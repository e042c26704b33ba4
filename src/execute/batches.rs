//! Batches and submits: an executed frame may submit consecutive described batches as one.

use super::check::Checker;
use super::error::OriginRule;
use super::origins::PassOrigin;
use crate::frame::tables::Batch;
use crate::frame::{BatchId, PassId};
use crate::units::Run;

impl Checker<'_> {
    /// Checks that every batch replaces consecutive described batches, and that the submits match the described ones.
    pub(super) fn check_batches(&mut self) {
        if let Some(why) = self.differing_batches() {
            self.report(OriginRule::Batches, why);
        }
    }

    fn differing_batches(&self) -> Option<String> {
        let (frame, described) = (self.executed.frame(), self.executed.described());
        let queue = |batch: &Batch| described.submits()[batch.submit.index()].queue;
        let mut next = 0;
        let mut before: Option<Run> = None;
        for (index, batch) in frame.batches().iter().enumerate() {
            let mut run = self.described_batches(BatchId(index as u32), next);
            while run.is_none() && self.is_idle(next) {
                next += 1;
                run = self.described_batches(BatchId(index as u32), next);
            }
            let Some(run) = run else {
                return Some(format!(
                    "the waits and signals of batch {index} differ from those of the described batches from {next} on"
                ));
            };
            let all = run.of(described.batches());
            if all
                .iter()
                .any(|one| queue(one) != frame.submits()[batch.submit.index()].queue)
            {
                return Some(format!(
                    "batch {index} is submitted to a different queue than described"
                ));
            }
            // Fused batches belong to one submit, which continues if that of the last fused batch does.
            if let Some(before) = before {
                let last = &described.batches()[before.end as usize - 1];
                let one = frame.batches()[index - 1].submit == batch.submit;
                if one != (last.submit == all[0].submit) {
                    return Some(format!("batch {index} is in a different submit than described"));
                }
            }
            for pass in frame
                .pass_ids()
                .filter(|&pass| frame.batch_of(pass).index() == index)
            {
                let outside = |described_pass: PassId| {
                    let batch = described.batch_of(described_pass).0;
                    !(run.first..run.end).contains(&batch)
                };
                let is_outside = match &self.origins.passes[pass.index()] {
                    PassOrigin::Runs(runs) => runs.iter().any(|run| outside(run.pass)),
                    PassOrigin::Store { after: beside, .. } | PassOrigin::Border { beside, .. } => {
                        outside(*beside)
                    }
                };
                if is_outside {
                    let name = &frame.pass(pass).name;
                    return Some(format!("pass `{name}` runs in a different batch than described"));
                }
            }
            (next, before) = (run.end, Some(run));
        }
        let left = (next..described.batches().len() as u32).filter(|&batch| !self.is_idle(batch));
        let left = left.count();
        match left {
            0 => None,
            1 => Some("1 described batch is not submitted".to_owned()),
            left => Some(format!("{left} described batches are not submitted")),
        }
    }

    /// Returns true if a described batch runs nothing, waits for nothing and signals nothing.
    fn is_idle(&self, batch: u32) -> bool {
        let described = self.executed.described();
        let one = described.batches().get(batch as usize);
        let mut passes = described.pass_ids().map(|pass| described.batch_of(pass).0);
        one.is_some_and(|one| one.waits.is_empty() && one.signals.is_empty()) && !passes.any(|of| of == batch)
    }

    /// The described batches, beginning with `next`, that a batch replaces: at least up to the last one with a pass of the batch, and up to the one
    /// with the same signals.
    fn described_batches(&self, batch: BatchId, next: u32) -> Option<Run> {
        let (frame, described) = (self.executed.frame(), self.executed.described());
        let ours = &frame.batches()[batch.index()];
        let passes = frame.pass_ids().filter(|&pass| frame.batch_of(pass) == batch);
        let runs = passes.filter_map(|pass| match &self.origins.passes[pass.index()] {
            PassOrigin::Runs(runs) => Some(runs.iter().map(|run| described.batch_of(run.pass).0)),
            PassOrigin::Store { .. } | PassOrigin::Border { .. } => None,
        });
        let last = runs.flatten().max().unwrap_or(next);
        let from = described.batches().get(next as usize..)?;
        let silent = from
            .windows(2)
            .take_while(|pair| pair[0].signals.is_empty() && pair[1].waits.is_empty());
        // The number of batches that could be fused.
        let most = next + 1 + silent.count() as u32;
        if from.first()?.waits != ours.waits {
            return None;
        }
        let is_end = |end: &u32| described.batches()[*end as usize - 1].signals == ours.signals;
        let end = (last.max(next) + 1..=most).find(is_end)?;
        Some(Run::new(next, end))
    }
}
