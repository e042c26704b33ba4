//! What the person at the overlay asks of the planner.

use tileheap::frame::{Frame, ResourceId, TileConstraint};
use tileheap::plan::{NotTile, PlacementReason, Plan, PlanOptions};
use tileheap::units::Bytes;

/// Which resources are pinned to tile memory or excluded from it, and how much of the heap may be used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wish {
    pub(crate) pinned: Vec<ResourceId>,
    pub(crate) excluded: Vec<ResourceId>,
    /// `None` for the whole heap.
    pub(crate) limit: Option<Bytes>,
}

impl Wish {
    pub(crate) fn frame(&self, frame: &Frame) -> Frame {
        frame.with_pinned(&self.pinned).with_excluded(&self.excluded)
    }

    pub(crate) fn options(&self, options: PlanOptions) -> PlanOptions {
        PlanOptions {
            tile_limit: self.limit,
            ..options
        }
    }

    pub(crate) fn demand(&self, resource: ResourceId) -> TileConstraint {
        if self.pinned.contains(&resource) {
            TileConstraint::Pinned
        } else if self.excluded.contains(&resource) {
            TileConstraint::Excluded
        } else {
            TileConstraint::None
        }
    }

    /// Asks for the other memory than the resource has in `plan`, or no longer for anything; nothing where the rules leave no
    /// choice.
    pub(crate) fn toggle(&mut self, plan: &Plan, resource: ResourceId) {
        if !has_choice(plan, resource) {
            return;
        }
        let demand = self.demand(resource);
        self.pinned.retain(|&other| other != resource);
        self.excluded.retain(|&other| other != resource);
        if demand == TileConstraint::None {
            let list = match plan.resources[resource.index()].reason {
                PlacementReason::Tile { .. } => &mut self.excluded,
                _ => &mut self.pinned,
            };
            list.push(resource);
            // The order of clicks is no part of the wish: a frame that was planned before is known again.
            list.sort_unstable();
        }
    }
}

/// Whether a resource may live in tile memory by the rules, so that there is something to choose.
pub(crate) fn has_choice(plan: &Plan, resource: ResourceId) -> bool {
    match plan.resources[resource.index()].reason {
        PlacementReason::Tile { .. } => true,
        PlacementReason::Arena(why) | PlacementReason::Dedicated(why) => matches!(
            why,
            NotTile::NoRoom { .. } | NotTile::Excluded { .. } | NotTile::TooLarge { .. }
        ),
        PlacementReason::Unused | PlacementReason::External | PlacementReason::Lazy { .. } => false,
    }
}
