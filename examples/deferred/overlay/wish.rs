//! What the person at the overlay asks of the planner.

use tileheap::frame::{Demand, Frame, ResourceId};
use tileheap::plan::{NotTile, Plan, PlanOptions, Reason};
use tileheap::units::Bytes;

/// Who must live in tile memory, who must not, and how much of the heap there is to be used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wish {
    pub(crate) pinned: Vec<ResourceId>,
    pub(crate) kept_off: Vec<ResourceId>,
    /// `None` for the whole heap.
    pub(crate) limit: Option<Bytes>,
}

impl Wish {
    pub(crate) fn frame(&self, frame: &Frame) -> Frame {
        frame.with_pinned(&self.pinned).with_kept_off(&self.kept_off)
    }

    pub(crate) fn options(&self, options: PlanOptions) -> PlanOptions {
        PlanOptions {
            tile_limit: self.limit,
            ..options
        }
    }

    pub(crate) fn demand(&self, resource: ResourceId) -> Demand {
        if self.pinned.contains(&resource) {
            Demand::Pinned
        } else if self.kept_off.contains(&resource) {
            Demand::KeptOff
        } else {
            Demand::Nothing
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
        self.kept_off.retain(|&other| other != resource);
        if demand == Demand::Nothing {
            let list = match plan.resources[resource.index()].reason {
                Reason::Tile { .. } => &mut self.kept_off,
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
        Reason::Tile { .. } => true,
        Reason::Arena(why) | Reason::Dedicated(why) => matches!(
            why,
            NotTile::NoRoom { .. } | NotTile::KeptOff { .. } | NotTile::TooLarge { .. }
        ),
        Reason::Unused | Reason::External | Reason::Lazy { .. } => false,
    }
}
