//! The plan being checked and the errors found so far.

use super::error::{PlanCheckError, PlanRule};
use crate::frame::{PassId, ResourceId};
use crate::plan::Plan;

/// The plan being checked and the errors found so far.
pub(super) struct Checker<'a> {
    pub(super) plan: &'a Plan,
    pub(super) faults: Vec<PlanCheckError>,
}

impl Checker<'_> {
    /// Adds a fault, unless the same one was already reported.
    pub(super) fn report(&mut self, rule: PlanRule, message: String) {
        let fault = PlanCheckError { rule, message };
        if !self.faults.contains(&fault) {
            self.faults.push(fault);
        }
    }

    pub(super) fn resource(&self, id: ResourceId) -> String {
        self.plan.frame.resource(id).name.clone()
    }

    pub(super) fn pass(&self, id: PassId) -> String {
        self.plan.frame.pass(id).name.clone()
    }

    pub(super) fn resident(&self, placement: usize) -> String {
        self.resource(self.plan.placements[placement].resource)
    }
}
