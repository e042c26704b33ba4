//! The constraints that the overlay sets for the planner.

use tileheap::frame::{Frame, ResourceId, TileConstraint};
use tileheap::plan::{OffChipReason, PlacementReason, Plan, PlanOptions};
use tileheap::units::Bytes;

/// The resources that are pinned to tile memory or excluded from it, and the limit on the heap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) pinned: Vec<ResourceId>,
    pub(crate) excluded: Vec<ResourceId>,
    /// `None` for the whole heap.
    pub(crate) limit: Option<Bytes>,
}

impl Request {
    pub(crate) fn frame(&self, frame: &Frame) -> Frame {
        frame.with_pinned(&self.pinned).with_excluded(&self.excluded)
    }

    pub(crate) fn options(&self, options: PlanOptions) -> PlanOptions {
        PlanOptions {
            tile_limit: self.limit,
            ..options
        }
    }

    /// The limit on tile memory, and the size of the heap.
    pub(super) fn limit_of(&self, plan: &Plan) -> (Bytes, Bytes) {
        let whole = plan.profile.tile.map_or(Bytes::ZERO, |tile| tile.size);
        (self.limit.unwrap_or(whole).min(whole), whole)
    }

    pub(crate) fn constraint(&self, resource: ResourceId) -> TileConstraint {
        if self.pinned.contains(&resource) {
            TileConstraint::Pinned
        } else if self.excluded.contains(&resource) {
            TileConstraint::Excluded
        } else {
            TileConstraint::None
        }
    }

    /// Pins or excludes the resource, whichever changes its memory in `plan`, or removes its constraint. Does nothing if it is not
    /// eligible.
    pub(crate) fn toggle(&mut self, plan: &Plan, resource: ResourceId) {
        if !has_choice(plan, resource) {
            return;
        }
        let constraint = self.constraint(resource);
        self.pinned.retain(|&other| other != resource);
        self.excluded.retain(|&other| other != resource);
        if constraint == TileConstraint::None {
            let list = match plan.resources[resource.index()].reason {
                PlacementReason::Tile { .. } => &mut self.excluded,
                _ => &mut self.pinned,
            };
            list.push(resource);
            // Sorted, so that equal requests compare equal whatever the order of clicks.
            list.sort_unstable();
        }
    }
}

/// Returns true if a resource is eligible for tile memory.
pub(crate) fn has_choice(plan: &Plan, resource: ResourceId) -> bool {
    match plan.resources[resource.index()].reason {
        PlacementReason::Tile { .. } => true,
        PlacementReason::Arena(why) | PlacementReason::Dedicated(why) => matches!(
            why,
            OffChipReason::NoRoom { .. } | OffChipReason::Excluded { .. } | OffChipReason::TooLarge { .. }
        ),
        PlacementReason::Unused | PlacementReason::External | PlacementReason::Lazy { .. } => false,
    }
}
