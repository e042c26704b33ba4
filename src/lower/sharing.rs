//! Resources that several queue families share.

use bumpalo::collections::Vec;
use tileheap_units::CompactSort;

use super::chains::Chains;
use super::placed::Placed;
use super::tables::objects::SharingReason;
use crate::frame::{Persistence, ResourceId};

/// Per resource, the queue families that use it, and the sharing mode; empty if there is only one family.
///
/// A resource is exclusive, with transfers between queues of different families, unless several queues read it at the same time, or it carries
/// contents to a next frame in which another family may use it first.
pub(super) struct Shared<'a> {
    uses: Vec<'a, (Vec<'a, u32>, SharingReason)>,
}

impl<'a> Shared<'a> {
    pub(super) fn new(placed: &Placed<'a>, chains: &Chains) -> Shared<'a> {
        let mut families = placed.queues.iter().map(|queue| queue.family);
        let first = families.next();
        if families.all(|family| Some(family) == first) {
            return Shared {
                uses: Vec::new_in(placed.scratch),
            };
        }
        let frame = &placed.plan.frame;
        let none = |_| (Vec::new_in(placed.scratch), SharingReason::OneFamily);
        let mut uses = Vec::from_iter_in((0..frame.resources().len()).map(none), placed.scratch);
        for chain in &chains.chains {
            let kept = frame.resource(chain.resource).persistence == Persistence::History
                && placed.placements_of(chain.resource).len() == 2;
            for epoch in chain.epochs.of(&chains.epochs) {
                let (families, reason) = &mut uses[chain.resource.index()];
                if kept {
                    *reason = SharingReason::History;
                } else if epoch.uses.len() > 1 {
                    *reason = SharingReason::ConcurrentReads;
                }
                for one in chains.uses_of(epoch) {
                    families.push(placed.family_of(one.queue));
                }
            }
        }
        for (families, reason) in &mut uses {
            families.compact_sort();
            families.dedup();
            match (families.len(), *reason) {
                (0 | 1, _) => *reason = SharingReason::OneFamily,
                (_, SharingReason::OneFamily) => *reason = SharingReason::Transfers,
                _ => {}
            }
        }
        Shared { uses }
    }

    /// The families that share a resource (none, or at least two), and the reason.
    pub(super) fn families(&self, resource: ResourceId) -> (&[u32], SharingReason) {
        match self.uses.get(resource.index()) {
            Some((families, reason)) if reason.is_shared() => (families, *reason),
            Some((_, reason)) => (&[], *reason),
            None => (&[], SharingReason::OneFamily),
        }
    }

    /// Returns true if several families share a resource (`VK_SHARING_MODE_CONCURRENT`).
    pub(super) fn is_concurrent(&self, resource: ResourceId) -> bool {
        self.families(resource).1.is_shared()
    }
}
