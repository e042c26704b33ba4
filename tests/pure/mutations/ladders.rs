//! Damage to residents with an image in several tile memory objects.

use ash::vk::ImageLayout as L;
use tileheap::frame::{PassId, ResourceId};
use tileheap::plan::check::{CheckError, HazardError, LayoutError, MissingDependency, ResidenceError};
use tileheap::plan::passes::BarrierCause;
use tileheap::plan::{MemoryKind, PlacementId, Plan};

use super::{BarrierSite, barriers_where, name, needs, refused, uses};

/// The tile residents with several placements.
fn ladders(plan: &Plan) -> Vec<ResourceId> {
    let ids = plan.frame.resource_ids();
    ids.filter(|&id| {
        let placements = plan.placements_of(id);
        placements.len() > 1 && placements[0].memory == MemoryKind::Tile
    })
    .collect()
}

/// Accesses of ladders: index, resource, pass.
fn accesses(plan: &Plan) -> Vec<(usize, ResourceId, PassId)> {
    let ladders = ladders(plan);
    let all = plan.frame.accesses().iter().enumerate();
    all.filter(|(_, access)| ladders.contains(&access.resource))
        .map(|(index, access)| (index, access.resource, access.pass))
        .collect()
}

/// Barriers at which another image takes over what was written through one; `alone` where no other memory barrier between
/// makes the writes available.
fn take_overs(plan: &Plan, alone: bool) -> Vec<BarrierSite> {
    if plan.frame.queues().len() > 1 {
        return Vec::new();
    }
    let ladders = ladders(plan);
    barriers_where(plan, |site, barrier| {
        let all: Vec<_> = plan.placements_of(barrier.resource).to_vec();
        let run = plan.resources[barrier.resource.index()].placements;
        let last_write = run
            .indices()
            .flat_map(|placement| uses(plan, placement))
            .filter(|(_, access, _)| access.pass < site.pass && access.writes)
            .max_by_key(|(_, access, _)| access.pass);
        let read = uses(plan, barrier.placement.index())
            .iter()
            .any(|(_, access, _)| access.pass == site.pass && needs(plan, access));
        let Some((_, writer, planned)) = last_write else {
            return false;
        };
        let others = barriers_where(plan, |other, also| {
            let global = matches!(also.cause, BarrierCause::Ladder | BarrierCause::Aliasing)
                && also.src_access.intersects(barrier.src_access);
            alone
                && global
                && other.index != site.index
                && writer.pass < other.pass
                && other.pass <= site.pass
        });
        let another = planned.placement != barrier.placement && all.len() > 1;
        let alias = barrier.cause == BarrierCause::Ladder
            && !barrier.src_access.is_empty()
            && ladders.contains(&barrier.resource);
        alias && another && read && others.is_empty()
    })
}

#[test]
fn an_alias_is_in_a_layout_of_its_own() {
    refused(
        |plan| {
            let mut sites = accesses(plan);
            sites.retain(|(_, id, _)| plan.frame.resource(*id).is_image());
            sites
        },
        |plan, (index, ..)| plan.accesses[*index].layout = L::SHADER_READ_ONLY_OPTIMAL,
        |fault, _| matches!(fault, CheckError::Layout(LayoutError::Alias { .. })),
    );
}

#[test]
fn a_pass_uses_the_alias_in_another_object() {
    refused(
        accesses,
        |plan, (index, id, _)| {
            let run = plan.resources[id.index()].placements;
            let next = plan.accesses[*index].placement.index() as u32 + 1;
            let next = if next == run.end { run.first } else { next };
            plan.accesses[*index].placement = PlacementId::new(next);
        },
        |fault, _| {
            matches!(
                fault,
                CheckError::Residence(ResidenceError::WrongObjectBound { .. })
            )
        },
    );
}

#[test]
fn what_another_alias_wrote_is_not_made_visible() {
    refused(
        |plan| take_overs(plan, true),
        |plan, site| plan.barriers[site.index].cause = BarrierCause::Hazard,
        |fault, site| {
            matches!(fault, CheckError::Hazard(HazardError { missing: MissingDependency::Memory, second, .. })
                if second.resource() == site.resource_name && second.pass() == Some(&site.pass_name))
        },
    );
}

#[test]
fn an_alias_comes_into_its_layout_while_another_holds_contents() {
    refused(
        |plan| {
            let mut sites = take_overs(plan, false);
            sites.retain(|site| plan.frame.resource(plan.barriers[site.index].resource).is_image());
            sites
        },
        |plan, site| plan.barriers[site.index].old_layout = L::UNDEFINED,
        |fault, site| {
            matches!(fault, CheckError::Contents(tileheap::plan::check::ContentsError::Lost { resource, .. })
                if *resource == site.resource_name)
        },
    );
}

/// The drawing in the planner's module is of a plan that exists.
#[test]
fn there_are_ladders_of_buffers_and_of_images() {
    let plans: Vec<Plan> = (0..200).map(super::planned).collect();
    let of = |image: bool| {
        let found = plans
            .iter()
            .flat_map(|plan| ladders(plan).into_iter().map(move |id| (plan, id)));
        let mut found = found.filter(|(plan, id)| plan.frame.resource(*id).is_image() == image);
        found.next().map(|(plan, id)| name(plan, id))
    };
    assert!(of(true).is_some() && of(false).is_some());
}
