//! Damage to memory objects, offsets, sizes and spans.

use std::sync::Arc;

use tileheap::measure::{Dedicated, ResourceRequirements};
use tileheap::plan::check::{CheckError, Rule};
use tileheap::plan::{MemoryKind, ObjectId, Plan};
use tileheap::units::{Alignment, Bytes};

use super::{name, pairs_where, placements_where, refused};

fn requirement(plan: &Plan, placement: usize) -> &ResourceRequirements {
    &plan.requirements.resources[plan.placements[placement].resource.index()]
}

/// Size and alignment of a placement's home.
fn needs_there(plan: &Plan, placement: usize) -> (Bytes, Alignment) {
    let requirement = requirement(plan, placement);
    match (plan.placements[placement].memory, requirement.tile) {
        (MemoryKind::Tile, Some(tile)) => (tile.size, tile.alignment),
        _ => (requirement.size, requirement.alignment),
    }
}

fn is_of_object(fault: &CheckError, rule: Rule, object: usize) -> bool {
    fault.rule == rule && fault.message.starts_with(&format!("object {object} "))
}

fn objects_of(plan: &Plan, memory: MemoryKind) -> Vec<usize> {
    let objects = plan.objects.iter().enumerate();
    objects
        .filter(|(_, object)| object.memory == memory)
        .map(|(index, _)| index)
        .collect()
}

#[test]
fn an_offset_is_misaligned() {
    for memory in [MemoryKind::Tile, MemoryKind::Arena] {
        refused(
            |plan| {
                let wanted = |index: usize| {
                    plan.placements[index].memory == memory && needs_there(plan, index).1.get() > 1
                };
                placements_where(plan, wanted)
            },
            |plan, &index| plan.placements[index].offset += Bytes(1),
            |fault, _| fault.rule == Rule::Misaligned && fault.message.contains(&format!("in {memory:?},")),
        );
    }
}

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
                fault.rule == Rule::Overlap && named
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
            |fault, _| fault.rule == Rule::Overlap,
        );
    }
}

#[test]
fn a_size_is_shrunk() {
    refused(
        |plan| placements_where(plan, |_| true),
        |plan, &index| plan.placements[index].size = Bytes(needs_there(plan, index).0.0 - 1),
        |fault, _| fault.rule == Rule::TooSmall,
    );
}

#[test]
fn an_object_is_shrunk() {
    refused(
        |plan| placements_where(plan, |_| true),
        |plan, &index| {
            let placement = plan.placements[index];
            let object = placement.object.unwrap().index();
            plan.objects[object].size = Bytes(placement.offset.0 + placement.size.0 - 1);
        },
        |fault, _| fault.rule == Rule::PastObject,
    );
}

#[test]
fn an_ordinary_object_is_of_tile_type() {
    for memory in [MemoryKind::Arena, MemoryKind::Dedicated, MemoryKind::Lazy] {
        refused(
            |plan| {
                if plan.profile.tile.is_some() {
                    objects_of(plan, memory)
                } else {
                    Vec::new()
                }
            },
            |plan, &object| plan.objects[object].memory_type = plan.profile.tile.unwrap().memory_type,
            |fault, site| is_of_object(fault, Rule::ObjectType, *site),
        );
    }
}

#[test]
fn a_tile_object_is_of_ordinary_type() {
    refused(
        |plan| objects_of(plan, MemoryKind::Tile),
        |plan, &object| {
            plan.objects[object].memory_type = (!plan.profile.tile_type_bits()).trailing_zeros();
        },
        |fault, site| is_of_object(fault, Rule::ObjectType, *site),
    );
}

#[test]
fn an_object_is_larger_than_its_heap() {
    for memory in [MemoryKind::Tile, MemoryKind::Arena] {
        refused(
            |plan| objects_of(plan, memory),
            |plan, &object| {
                let kind = plan.profile.memory_types[plan.objects[object].memory_type as usize];
                let heap = plan.profile.heaps[kind.heap as usize];
                plan.objects[object].size = heap.size + Bytes(1);
            },
            |fault, site| is_of_object(fault, Rule::ObjectTooLarge, *site),
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
        |fault, _| fault.rule == Rule::TypeNotAllowed,
    );
}

#[test]
fn a_dedicated_allocation_is_shared() {
    refused(
        |plan| placements_where(plan, |index| plan.placements[index].memory == MemoryKind::Arena),
        |plan, &index| {
            let resource = plan.placements[index].resource;
            let requirements = Arc::make_mut(&mut plan.requirements);
            requirements.resources[resource.index()].dedicated = Dedicated::Required;
        },
        |fault, _| fault.rule == Rule::NotDedicated,
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
        |fault, _| fault.rule == Rule::Shared,
    );
}

#[test]
fn a_placement_moves_to_an_object_of_another_home() {
    refused(
        |plan| {
            let tile = objects_of(plan, MemoryKind::Tile).first().copied();
            let arena = placements_where(plan, |index| plan.placements[index].memory == MemoryKind::Arena);
            arena
                .into_iter()
                .filter_map(|index| Some((index, tile?)))
                .collect()
        },
        |plan, &(index, object)| plan.placements[index].object = Some(ObjectId::new(object as u32)),
        |fault, _| fault.rule == Rule::WrongObject && fault.message.contains("placed in Arena"),
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
            // A page that holds the whole arena.
            let arena = plan.objects[plan.placements[a].object.unwrap().index()];
            let page = Alignment::new(arena.size.0.next_power_of_two()).unwrap();
            Arc::make_mut(&mut plan.profile).limits.buffer_image_granularity = page;
        },
        |fault, _| fault.rule == Rule::Granularity,
    );
}

#[test]
fn bytes_are_aliased_against_the_options() {
    refused(
        |plan| {
            let of = |a: usize| plan.placements[a];
            let end = |a: usize| of(a).offset.0 + of(a).size.0;
            pairs_where(plan, |a, b| of(a).offset.0 < end(b) && of(b).offset.0 < end(a))
        },
        |plan, _| plan.options.aliasing = false,
        |fault, _| fault.rule == Rule::AgainstOptions,
    );
}

#[test]
fn the_versions_of_a_history_share_bytes() {
    refused(
        |plan| {
            let pairs = plan.resources.iter().map(|resource| resource.placements);
            let same = |first: usize| plan.placements[first].object == plan.placements[first + 1].object;
            let pairs = pairs.filter(|run| run.len() == 2).map(|run| run.first as usize);
            let shared = pairs.filter(|&first| same(first));
            shared
                .map(|first| (first, name(plan, plan.placements[first].resource)))
                .collect()
        },
        |plan, &(first, _)| plan.placements[first + 1].offset = plan.placements[first].offset,
        |fault, (_, name)| {
            fault.rule == Rule::Overlap && fault.message.matches(&format!("`{name}`")).count() == 2
        },
    );
}
