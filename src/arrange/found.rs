//! What the search found: an arrangement, what it moves, and what keeps it from moving less.

use super::change::replanned;
use super::error::ArrangeError;
use super::limits::{Cap, Shortfall};
use super::traffic::{Costs, Model};
use super::types::Arrangement;
use crate::execute::Executed;
use crate::frame::ResourceId;
use crate::plan::{MemoryKind, Plan, Traffic};
use crate::units::Bytes;

/// What the search found.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The best arrangement.
    pub arrangement: Arrangement,
    /// What the frame moves as described.
    pub described: Traffic,
    /// What it moves so.
    pub traffic: Traffic,
    /// The resources that no run of strips can hold, each with the read that forbids it.
    pub caps: Vec<Cap>,
    /// What resources move at least that tile memory cannot hold: external, history, copied, or all without a tile heap.
    pub fixed: Bytes,
    /// What stands between the share and the cap, the most bytes first.
    pub shortfalls: Vec<Shortfall>,
    /// Frames that were looked at.
    pub steps: u64,
    /// What running passes otherwise costs.
    pub costs: Costs,
}

impl Found {
    /// What an arrangement that is there already moves, and what caps it; nothing is searched.
    ///
    /// # Errors
    /// As [`Arrangement::check`].
    pub fn of(plan: &Plan, arrangement: Arrangement, costs: Costs) -> Result<Found, ArrangeError> {
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
        let mut found = model.found(arrangement, described, described, &residents(plan));
        found.take_plan_if_described(plan);
        Ok(found)
    }

    /// The share that is left by what tile memory cannot hold, and by reads that look anywhere and so keep images out of strips. Neither
    /// the described frame nor the arranged one is above it.
    pub fn cap(&self) -> f64 {
        let capped: Bytes = self.caps.iter().map(|cap| cap.bytes).sum();
        1.0 - (self.fixed + capped).0 as f64 / self.described.described.0.max(1) as f64
    }

    /// The frame that runs as it was found, with the [charges](crate::execute::Charges) at the costs of the search; `plan` is that of the described
    /// frame.
    ///
    /// # Errors
    /// As [`Arrangement::apply`].
    pub fn apply(&self, plan: &Plan) -> crate::Result<Executed> {
        let described = plan.totals.traffic_bytes;
        self.arrangement.apply_at(&plan.input, &self.costs, Some(described))
    }

    /// Takes what the plan of the arranged frame moves, in place of what the search expected.
    pub fn planned(&mut self, executed: &Plan) {
        self.traffic = Traffic {
            shaded: self.traffic.shaded,
            ..Traffic::of(executed)
        };
    }

    /// Takes the traffic of the plan itself where the arrangement is the frame as described.
    pub(super) fn take_plan_if_described(&mut self, plan: &Plan) {
        if self.arrangement == Arrangement::described(plan.input.frame()) {
            self.traffic = self.described;
        }
    }
}

/// The frame as described, found by a search that changes nothing.
pub(super) fn as_described(plan: &Plan, costs: Costs) -> Found {
    let described = Traffic::of(plan);
    let start = Arrangement::described(plan.input.frame());
    let found = Model::new(plan, plan, costs).found(start, described, described, &residents(plan));
    Found {
        traffic: described,
        ..found
    }
}

/// The described resources that a plan places in tile memory, for their lifetimes or a stretch of them.
pub(super) fn residents(plan: &Plan) -> Vec<ResourceId> {
    let described = plan.input.frame().resource_ids();
    let is_resident = |id: &ResourceId| {
        let stretch = plan.stores().any(|store| store.to == *id);
        stretch || plan.memory_of(*id) == Some(MemoryKind::Tile)
    };
    described.filter(is_resident).collect()
}

/// Steps of the engine that chooses residents of what is found.
pub(super) const CHOICE: u64 = 2_000;

impl Model<'_> {
    /// What was found, with residents chosen with care.
    pub(super) fn found(
        mut self,
        arrangement: Arrangement,
        described: Traffic,
        otherwise: Traffic,
        as_described: &[ResourceId],
    ) -> Found {
        let chosen = self.traffic(&arrangement, CHOICE);
        let bounds = self.bounds(&arrangement, as_described);
        Found {
            traffic: chosen.unwrap_or(otherwise),
            described,
            shortfalls: self.shortfalls(&arrangement, &bounds),
            caps: bounds.caps,
            fixed: bounds.fixed,
            steps: self.steps,
            costs: self.costs,
            arrangement,
        }
    }
}
