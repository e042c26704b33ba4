//! Result of the search: an arrangement, the bytes that it moves, and the reasons why it does not move fewer.

use super::change::replanned;
use super::crowded::CrowdedPass;
use super::error::ArrangeError;
use super::limits::{ResourceCap, Shortfall};
use super::residents::{DescribedResident, residents};
use super::traffic::{ArrangementCosts, Model};
use super::types::Arrangement;
use crate::execute::ExecutedFrame;
use crate::plan::{Plan, Traffic};
use crate::units::Bytes;

/// The result of a search for a good arrangement.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchResult {
    /// The best arrangement.
    pub arrangement: Arrangement,
    /// Traffic of the frame as described.
    pub described: Traffic,
    /// Traffic of the frame in this arrangement.
    pub traffic: Traffic,
    /// The resources that do not fit as a whole and that strips cannot hold either, or only at a cost, each with the reason.
    pub caps: Vec<ResourceCap>,
    /// Lower bound on the bytes moved by resources that tile memory cannot hold: external, history and copied ones, or all of them without a tile
    /// heap.
    pub fixed: Bytes,
    /// The passes that use or keep resources that the tile heap could hold individually, but not all at once; in descending order of bytes.
    pub crowded: Vec<CrowdedPass>,
    /// The difference between the share and the cap, by cause, in descending order of bytes.
    pub shortfalls: Vec<Shortfall>,
    /// Number of frames evaluated.
    pub steps: u64,
    /// Costs of repeats, halos and merges.
    pub costs: ArrangementCosts,
}

impl SearchResult {
    /// Evaluates a given arrangement and its cap, without a search.
    ///
    /// # Errors
    /// Same as [`Arrangement::check`].
    pub fn of(
        plan: &Plan,
        arrangement: Arrangement,
        costs: ArrangementCosts,
    ) -> Result<SearchResult, ArrangeError> {
        arrangement.check(plan.input.frame())?;
        let described = Traffic::of(plan);
        let changed = arrangement
            .changes
            .iter()
            .try_fold(None, |changed: Option<Plan>, &change| {
                replanned(changed.as_ref().unwrap_or(plan), change).map(Some)
            });
        let changed = changed.flatten();
        let model = Model::new(changed.as_ref().unwrap_or(plan), plan, costs);
        let mut found = model.build_result(arrangement, described, described, &residents(plan));
        found.take_plan_if_described(plan);
        Ok(found)
    }

    /// Upper bound on the share of traffic that any arrangement keeps on chip. It accounts for resources that tile memory cannot hold, reads at any distance,
    /// which keep images out of strips, resources that a pass needs at the same time, and passes that strips repeat.
    pub fn cap(&self) -> f64 {
        let capped: Bytes = self.caps.iter().map(|cap| cap.bytes).sum();
        let crowded: Bytes = self.crowded.iter().map(|pass| pass.bytes).sum();
        1.0 - (self.fixed + capped + crowded).0 as f64 / self.described.described.0.max(1) as f64
    }

    /// Builds the frame that runs in this arrangement, with [charges](crate::execute::Charges) at the costs of the search; `plan` is the plan of the
    /// described frame.
    ///
    /// # Errors
    /// Same as [`Arrangement::apply`].
    pub fn apply(&self, plan: &Plan) -> crate::Result<ExecutedFrame> {
        let described = plan.totals.traffic_bytes;
        self.arrangement
            .apply_at(&plan.input, &self.costs, Some(described))
    }

    /// Replaces the expected traffic with that of the arranged frame's plan.
    pub fn planned(&mut self, executed: &Plan) {
        self.traffic = Traffic {
            shaded: self.traffic.shaded,
            ..Traffic::of(executed)
        };
    }

    /// Sets the traffic to that of the described frame if the arrangement changes nothing.
    pub(super) fn take_plan_if_described(&mut self, plan: &Plan) {
        if self.arrangement == Arrangement::described(plan.input.frame()) {
            self.traffic = self.described;
        }
    }
}

/// The frame as described: the result of a search that changes nothing.
pub(super) fn as_described(plan: &Plan, costs: ArrangementCosts) -> SearchResult {
    let described = Traffic::of(plan);
    let start = Arrangement::described(plan.input.frame());
    let found = Model::new(plan, plan, costs).build_result(start, described, described, &residents(plan));
    SearchResult {
        traffic: described,
        ..found
    }
}

/// Maximum number of steps of the search for residents of the final arrangement.
pub(super) const MAX_RESIDENT_STEPS: u64 = 2_000;

impl Model<'_> {
    /// Builds the result, with residents chosen by a thorough search.
    pub(super) fn build_result(
        mut self,
        arrangement: Arrangement,
        described: Traffic,
        otherwise: Traffic,
        as_described: &[DescribedResident],
    ) -> SearchResult {
        let chosen = self.traffic(&arrangement, MAX_RESIDENT_STEPS);
        let bounds = self.bounds(as_described);
        SearchResult {
            traffic: chosen.unwrap_or(otherwise),
            described,
            shortfalls: self.shortfalls(&arrangement, &bounds),
            caps: bounds.caps,
            fixed: bounds.fixed,
            crowded: bounds.crowded.into_iter().map(|crowd| crowd.pass).collect(),
            steps: self.steps,
            costs: self.costs,
            arrangement,
        }
    }
}
