//! Damage to reasons, and to which placements are whose.

use tileheap::frame::Persistence;
use tileheap::plan::PlacementReason;
use tileheap::plan::check::Rule;

use super::{placements_where, refused};

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
        |fault, _| fault.rule == Rule::PlacementReason && fault.message.ends_with("external"),
    );
}

#[test]
fn an_unused_resource_gets_memory() {
    refused(
        |plan| placements_where(plan, |_| true),
        |plan, &index| {
            // Its copy at the end of the table belongs to nobody.
            let copy = plan.placements[index];
            plan.placements.push(copy);
        },
        |fault, _| fault.rule == Rule::Covered,
    );
}
