//! Damage to reasons, and to the assignment of placements to resources.

use tileheap::frame::Persistence;
use tileheap::plan::PlacementReason;
use tileheap::plan::check::PlanRule;

use super::refused;

#[test]
fn a_reason_names_another_home() {
    refused(
        |plan| {
            let ids = plan.frame.resource_ids();
            ids.filter(|&id| {
                let transient = !matches!(plan.frame.resource(id).persistence, Persistence::External(_));
                transient && !plan.frame.uses_of(id).is_empty()
            })
            .collect()
        },
        |plan, id| plan.resources[id.index()].reason = PlacementReason::External,
        |fault, _| fault.rule == PlanRule::PlacementReason && fault.message.ends_with("`external`"),
    );
}
