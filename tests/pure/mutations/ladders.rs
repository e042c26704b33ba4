//! Damage to residents with an image in several tile memory objects.

use tileheap::frame::ResourceId;
use tileheap::plan::check::PlanRule;
use tileheap::plan::{MemoryKind, Plan};

use super::refused;

/// Tile residents with several placements.
fn ladders(plan: &Plan) -> Vec<ResourceId> {
    let ids = plan.frame.resource_ids();
    ids.filter(|&id| {
        let placements = plan.placements_of(id);
        placements.len() > 1 && placements[0].memory == MemoryKind::Tile
    })
    .collect()
}

#[test]
fn the_alias_in_the_object_that_is_bound_is_taken_away() {
    refused(
        ladders,
        |plan, id| {
            let run = plan.resources[id.index()].placements;
            let other = plan.placements[run.first as usize].object;
            plan.placements[run.end as usize - 1].object = other;
        },
        |fault, _| fault.rule == PlanRule::WrongObjectBound,
    );
}
