//! The resources that the plan of the described frame places in tile memory.

use crate::frame::ResourceId;
use crate::plan::traffic::traffic_off_chip;
use crate::plan::{MemoryKind, Plan};
use crate::units::Bytes;

/// A resource that the plan of the described frame places in tile memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct DescribedResident {
    pub(super) resource: ResourceId,
    /// Bytes that it moves if only a stretch of its lifetime is in tile memory; 0 if all of it is.
    pub(super) moved: Bytes,
}

/// The described resources that a plan places in tile memory, for their whole lifetime or a stretch of it.
pub(super) fn residents(plan: &Plan) -> Vec<DescribedResident> {
    let whole = plan.input.frame().resource_ids();
    let whole = whole.filter(|&id| plan.memory_of(id) == Some(MemoryKind::Tile));
    let whole = whole.map(|resource| DescribedResident {
        resource,
        moved: Bytes::ZERO,
    });
    let stretches = plan.stores().map(|store| {
        let rest = match plan.memory_of(store.to) {
            Some(MemoryKind::Tile) => Bytes::ZERO,
            _ => traffic_off_chip(&plan.frame, &plan.requirements, store.to),
        };
        DescribedResident {
            resource: store.to,
            moved: rest + plan.stored_bytes(&store),
        }
    });
    stretches.chain(whole).collect()
}
