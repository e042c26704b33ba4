//! Damage to memory objects, offsets, sizes and spans.

use std::sync::Arc;

use tileheap::measure::{Dedicated, ResourceRequirements};
use tileheap::plan::check::{BytesError, CheckError};
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
            |fault, _| matches!(fault, CheckError::Bytes(BytesError::Misaligned { memory: of, .. }) if *of == memory),
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
                matches!(fault, CheckError::Bytes(BytesError::Overlap { first, second, .. })
                    if names.contains(first) && names.contains(second))
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
            |fault, _| matches!(fault, CheckError::Bytes(BytesError::Overlap { .. })),
        );
    }
}

#[test]
fn a_size_is_shrunk() {
    refused(
        |plan| placements_where(plan, |_| true),
        |plan, &index| plan.placements[index].size = Bytes(needs_there(plan, index).0.0 - 1),
        |fault, _| matches!(fault, CheckError::Bytes(BytesError::TooSmall { .. })),
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
        |fault, _| matches!(fault, CheckError::Bytes(BytesError::PastObject { .. })),
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
            |fault, site| matches!(fault, CheckError::Bytes(BytesError::ObjectType { object, .. }) if object == site),
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
        |fault, site| matches!(fault, CheckError::Bytes(BytesError::ObjectType { object, .. }) if object == site),
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
            |fault, site| matches!(fault, CheckError::Bytes(BytesError::ObjectTooLarge { object, .. }) if object == site),
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
        |fault, _| matches!(fault, CheckError::Bytes(BytesError::TypeNotAllowed { .. })),
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
        |fault, _| matches!(fault, CheckError::Bytes(BytesError::NotDedicated { .. })),
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
        |fault, _| matches!(fault, CheckError::Bytes(BytesError::Shared { .. })),
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
        |fault, _| {
            matches!(
                fault,
                CheckError::Bytes(BytesError::WrongObject {
                    memory: MemoryKind::Arena,
                    ..
                })
            )
        },
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
        |fault, _| matches!(fault, CheckError::Bytes(BytesError::Granularity { .. })),
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
        |fault, _| matches!(fault, CheckError::Bytes(BytesError::AliasedAgainstOptions { .. })),
    );
}

#[test]
fn the_versions_of_a_history_share_bytes() {
    refused(
        |plan| {
            let pairs = plan.resources.iter().map(|resource| resource.placements);
            let same = |first: usize| plan.placements[first].object == plan.placements[first + 1].object;
            pairs
                .filter(|run| run.len() == 2)
                .map(|run| run.first as usize)
                .filter(|&first| same(first))
                .collect()
        },
        |plan, &first| plan.placements[first + 1].offset = plan.placements[first].offset,
        |fault, _| matches!(fault, CheckError::Bytes(BytesError::Overlap { first, second, .. }) if first == second),
    );
}
