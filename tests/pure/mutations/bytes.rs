//! Damage to memory objects, offsets, sizes and spans.

use std::sync::Arc;

use tileheap::measure::DedicatedRequirement;
use tileheap::plan::check::PlanRule;
use tileheap::plan::{MemoryKind, WindowRule};
use tileheap::units::{Alignment, Bytes};

use super::{name, pairs_where, placements_where, refused};

#[test]
fn an_offset_is_shifted_onto_a_neighbour() {
    for memory in [MemoryKind::Tile, MemoryKind::Arena] {
        refused(
            |plan| {
                let of = |a: usize| plan.placements[a];
                let sites = pairs_where(plan, |a, b| {
                    of(a).memory == memory && of(a).span.overlaps(of(b).span)
                });
                let named =
                    |(a, b): (usize, usize)| (a, b, [name(plan, of(a).resource), name(plan, of(b).resource)]);
                sites.into_iter().map(named).collect()
            },
            |plan, &(a, b, _)| plan.placements[b].offset = plan.placements[a].offset,
            |fault, (.., names)| {
                let named = names
                    .iter()
                    .all(|name| fault.message.contains(&format!("`{name}`")));
                fault.rule == PlanRule::Overlap && named
            },
        );
    }
}

#[test]
fn a_life_is_lengthened_into_a_collision() {
    for memory in [MemoryKind::Tile, MemoryKind::Arena] {
        refused(
            |plan| {
                let of = |a: usize| plan.placements[a];
                let end = |a: usize| of(a).offset.0 + of(a).size.0;
                pairs_where(plan, |a, b| {
                    let shares = of(a).offset.0 < end(b) && of(b).offset.0 < end(a);
                    of(a).memory == memory && shares && of(a).span.end.0 <= of(b).span.first.0
                })
            },
            |plan, &(a, b)| plan.placements[a].span.end.0 = plan.placements[b].span.first.0 + 1,
            |fault, _| fault.rule == PlanRule::Overlap,
        );
    }
}

#[test]
fn a_memory_type_is_not_allowed() {
    refused(
        |plan| placements_where(plan, |index| plan.placements[index].memory == MemoryKind::Arena),
        |plan, &index| {
            let placement = plan.placements[index];
            let memory_type = plan.objects[placement.object.unwrap().index()].memory_type;
            let requirements = Arc::make_mut(&mut plan.requirements);
            requirements.resources[placement.resource.index()].memory_type_bits &= !(1 << memory_type);
        },
        |fault, _| fault.rule == PlanRule::TypeNotAllowed,
    );
}

/// As in a plan of the frame from before an image got a wider format or a larger extent, or a buffer more bytes: every table agrees with the others.
#[test]
fn a_requirement_is_smaller_than_the_contents() {
    use tileheap::frame::tables::ResourceKind;
    for memory in [MemoryKind::Tile, MemoryKind::Arena, MemoryKind::Dedicated] {
        refused(
            |plan| {
                let is_executable = plan.options.windows != WindowRule::WholeFrame;
                let is_site = |index: usize| is_executable && plan.placements[index].memory == memory;
                let sites = placements_where(plan, is_site);
                let named = |index: usize| (index, name(plan, plan.placements[index].resource));
                sites.into_iter().map(named).collect()
            },
            |plan, &(index, _)| {
                let id = plan.placements[index].resource;
                let contents = match plan.frame.resource(id).kind {
                    ResourceKind::Buffer { desc, .. } => desc.size.0,
                    ResourceKind::Image { desc, extent, .. } => {
                        let texel = tileheap::profile::texel_bytes(desc.format).unwrap();
                        u64::from(extent.width) * u64::from(extent.height) * texel
                    }
                };
                let less = Bytes(contents - 1);
                let requirement = &mut Arc::make_mut(&mut plan.requirements).resources[id.index()];
                requirement.size = less;
                if let Some(tile) = &mut requirement.tile {
                    tile.size = less;
                }
                for placement in plan.placements.iter_mut().filter(|one| one.resource == id) {
                    placement.size = less;
                }
            },
            |fault, (_, name)| {
                fault.rule == PlanRule::RequirementTooSmall && fault.message.contains(&format!("`{name}`"))
            },
        );
    }
}

#[test]
fn a_dedicated_allocation_is_shared() {
    refused(
        |plan| placements_where(plan, |index| plan.placements[index].memory == MemoryKind::Arena),
        |plan, &index| {
            let resource = plan.placements[index].resource;
            let requirements = Arc::make_mut(&mut plan.requirements);
            requirements.resources[resource.index()].dedicated = DedicatedRequirement::Required;
        },
        |fault, _| fault.rule == PlanRule::NotDedicated,
    );
}

#[test]
fn an_own_allocation_gets_a_second_resident() {
    refused(
        |plan| {
            let own = placements_where(plan, |index| {
                plan.placements[index].memory == MemoryKind::Dedicated
            });
            own.windows(2).map(|pair| (pair[0], pair[1])).collect()
        },
        |plan, &(first, second)| plan.placements[second].object = plan.placements[first].object,
        |fault, _| fault.rule == PlanRule::SharedDedicated,
    );
}

#[test]
fn a_buffer_and_an_image_share_a_page() {
    refused(
        |plan| {
            let of = |a: usize| plan.placements[a];
            let linear = |a: usize| !plan.frame.resource(of(a).resource).is_image();
            pairs_where(plan, |a, b| {
                of(a).memory == MemoryKind::Arena
                    && linear(a)
                    && !linear(b)
                    && of(a).span.overlaps(of(b).span)
            })
        },
        |plan, &(a, _)| {
            // A page that contains the whole arena.
            let arena = plan.objects[plan.placements[a].object.unwrap().index()];
            let page = Alignment::new(arena.size.0.next_power_of_two()).unwrap();
            Arc::make_mut(&mut plan.profile).limits.buffer_image_granularity = page;
        },
        |fault, _| fault.rule == PlanRule::Granularity,
    );
}

#[test]
fn the_versions_of_a_history_share_bytes() {
    refused(
        |plan| {
            let pairs = plan
                .resources
                .iter()
                .map(|resource| resource.placements)
                .filter(|run| run.len() == 2)
                .map(|run| run.first as usize);
            // The first of a split lifetime's two placements is in tile memory.
            let versions = pairs.filter(|&first| plan.placements[first].memory != MemoryKind::Tile);
            versions
                .map(|first| (first, name(plan, plan.placements[first].resource)))
                .collect()
        },
        |plan, &(first, _)| {
            let one = &plan.placements[first];
            let (object, offset) = (one.object, one.offset);
            let second = &mut plan.placements[first + 1];
            (second.object, second.offset) = (object, offset);
        },
        |fault, (_, name)| {
            fault.rule == PlanRule::Overlap && fault.message.matches(&format!("`{name}`")).count() == 2
        },
    );
}
