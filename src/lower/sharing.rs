//! Which resources several queue families share.

use super::chains::Chains;
use super::placed::Placed;
use crate::frame::{Persistence, ResourceId};

/// Per resource, the queue families that share it; one or none for exclusive ones.
///
/// A resource is exclusive, and transferred from one queue to another where that is of another family, unless several queues read it at
/// the same time, or it carries contents to a next frame in which another family may use it first.
pub(super) struct Shared {
    families: Vec<Vec<u32>>,
}

impl Shared {
    pub(super) fn new(placed: &Placed<'_>, chains: &Chains) -> Shared {
        let frame = &placed.plan.frame;
        let mut families = vec![Vec::new(); frame.resources().len()];
        if placed
            .queues
            .iter()
            .all(|queue| Some(queue.family) == placed.queues.iter().next().map(|one| one.family))
        {
            return Shared { families };
        }
        let mut at_once = vec![false; families.len()];
        for chain in &chains.chains {
            let kept = frame.resource(chain.resource).persistence == Persistence::History
                && placed.placements_of(chain.resource).len() == 2;
            for epoch in chain.epochs.of(&chains.epochs) {
                let uses = chains.uses_of(epoch);
                at_once[chain.resource.index()] |= kept || uses.len() > 1;
                for one in uses {
                    families[chain.resource.index()].push(placed.family_of(one.queue));
                }
            }
        }
        for (families, at_once) in families.iter_mut().zip(at_once) {
            families.sort_unstable();
            families.dedup();
            if !at_once {
                families.clear();
            }
        }
        Shared { families }
    }

    /// The families that share a resource: two or more, or none.
    pub(super) fn families(&self, resource: ResourceId) -> &[u32] {
        let families = &self.families[resource.index()];
        if families.len() > 1 { families } else { &[] }
    }

    /// Whether several families share a resource (`VK_SHARING_MODE_CONCURRENT`).
    pub(super) fn is_concurrent(&self, resource: ResourceId) -> bool {
        !self.families(resource).is_empty()
    }
}
