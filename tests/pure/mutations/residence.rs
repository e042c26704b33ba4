//! Damage to kinds of memory and bindings.

use std::sync::Arc;

use tileheap::execute::ExecutedFrame;
use tileheap::frame::{PassId, Persistence};
use tileheap::plan::check::PlanRule;
use tileheap::plan::{MemoryKind, MemoryObject, ObjectId, OffChipReason, PlacementReason, Plan, WindowRule};
use tileheap::profile::TileRequirements;
use tileheap::units::{Alignment, Bytes, Span};

use super::{Passing, name, pass_name, passings, placements_where, refused};

/// Moves a resource into tile memory.
fn to_tile(plan: &mut Plan, resource: usize) {
    let tile = plan.profile.tile.unwrap();
    plan.objects.push(MemoryObject {
        memory: MemoryKind::Tile,
        memory_type: tile.memory_type,
        size: tile.size,
    });
    let object = ObjectId::new(plan.objects.len() as u32 - 1);
    for index in plan.resources[resource].placements.indices() {
        let placement = &mut plan.placements[index];
        (placement.memory, placement.object, placement.offset) =
            (MemoryKind::Tile, Some(object), Bytes::ZERO);
    }
}

#[test]
fn an_ineligible_resource_is_put_into_tile_memory() {
    type Kind = (&'static [PlanRule], fn(OffChipReason) -> bool);
    // If several rules apply, the plan may name another one first.
    let kinds: [Kind; 7] = [
        (&[PlanRule::TileNotTransient], |why| why == OffChipReason::History),
        (&[PlanRule::TileTwoQueues], |why| {
            matches!(why, OffChipReason::CrossesQueues { .. })
        }),
        (&[PlanRule::TileTwoWindows], |why| {
            matches!(why, OffChipReason::CrossesWindows { .. })
        }),
        (
            &[
                PlanRule::TileTransfer,
                PlanRule::TileTwoQueues,
                PlanRule::TileTwoWindows,
            ],
            |why| matches!(why, OffChipReason::Transfer { .. }),
        ),
        (
            &[
                PlanRule::TileResolveTarget,
                PlanRule::TileTwoQueues,
                PlanRule::TileTwoWindows,
            ],
            |why| matches!(why, OffChipReason::ResolveTarget { .. }),
        ),
        (
            &[
                PlanRule::TileBufferUsage,
                PlanRule::TileTwoQueues,
                PlanRule::TileTwoWindows,
            ],
            |why| matches!(why, OffChipReason::BufferUse { .. }),
        ),
        (&[PlanRule::TileRefused], |why| why == OffChipReason::Refused),
    ];
    for (rules, kind) in kinds {
        refused(
            |plan| {
                let resources = plan.frame.resource_ids().zip(&plan.resources);
                let kept_out = resources.filter_map(|(id, resource)| match resource.reason {
                    PlacementReason::Arena(why) if kind(why) => Some((id.index(), why, name(plan, id))),
                    _ => None,
                });
                kept_out.collect()
            },
            |plan, &(resource, why, _)| {
                let requirement = &mut Arc::make_mut(&mut plan.requirements).resources[resource];
                if requirement.tile.is_none() && why != OffChipReason::Refused {
                    // A driver that would accept it, so that only the rule keeps it out.
                    requirement.tile = Some(TileRequirements {
                        size: Bytes(1),
                        alignment: Alignment::ONE,
                    });
                }
                to_tile(plan, resource);
            },
            |fault, (.., name)| {
                rules.contains(&fault.rule) && fault.message.contains(&format!("resource `{name}` must not"))
            },
        );
    }
}

#[test]
fn a_device_loses_its_tile_heap() {
    refused(
        |plan| placements_where(plan, |index| plan.placements[index].memory == MemoryKind::Tile),
        |plan, _| Arc::make_mut(&mut plan.profile).tile = None,
        |fault, _| fault.rule == PlanRule::NoTileHeap,
    );
}

#[test]
fn what_is_kept_off_is_put_into_tile_memory() {
    refused(
        |plan| {
            let as_described = plan.origins.is_identity();
            placements_where(plan, |index| {
                as_described && plan.placements[index].memory == MemoryKind::Tile
            })
        },
        |plan, &index| {
            plan.frame = plan.frame.with_excluded(&[plan.placements[index].resource]);
            plan.input = ExecutedFrame::as_described(&plan.frame);
        },
        |fault, _| fault.rule == PlanRule::AgainstOptions && fault.message.contains("excluded"),
    );
}

#[test]
fn what_two_passes_use_is_lazily_allocated() {
    refused(
        |plan| {
            let lazy = plan.profile.lazy_type_bits();
            let wanted = |index: usize| {
                let placement = plan.placements[index];
                lazy != 0 && placement.memory == MemoryKind::Arena && placement.span.len() > 1
            };
            placements_where(plan, wanted)
        },
        |plan, &index| {
            let memory_type = plan.profile.lazy_type_bits().trailing_zeros();
            let placement = &mut plan.placements[index];
            plan.objects.push(MemoryObject {
                memory: MemoryKind::Lazy,
                memory_type,
                size: placement.size,
            });
            placement.memory = MemoryKind::Lazy;
            placement.object = Some(ObjectId::new(plan.objects.len() as u32 - 1));
            placement.offset = Bytes::ZERO;
        },
        |fault, _| fault.rule == PlanRule::Lazy,
    );
}

#[test]
fn a_history_gives_its_bytes_away() {
    refused(
        |plan| {
            let history = |index: usize| {
                let placement = plan.placements[index];
                let persistence = plan.frame.resource(placement.resource).persistence;
                let device = plan.options.windows == WindowRule::Device;
                persistence == Persistence::History && placement.span.len() > 1 && device
            };
            placements_where(plan, history)
        },
        |plan, &index| {
            let lifetime = plan.frame.lifetime_of(plan.placements[index].resource);
            let end = plan.passes.len() as u32;
            // One step less, before or after the uses.
            plan.placements[index].span = if lifetime.first.0 > 0 {
                Span::new(1, end)
            } else {
                Span::new(0, end - 1)
            };
        },
        |fault, _| fault.rule == PlanRule::History,
    );
}

/// Passes that use tile memory.
fn tile_passes(plan: &Plan) -> Vec<(PassId, String)> {
    let accesses = plan.frame.accesses().iter();
    let of_tile = accesses
        .filter(|access| plan.placements[plan.placement_of(access).index()].memory == MemoryKind::Tile);
    of_tile
        .map(|access| (access.pass, pass_name(plan, access.pass)))
        .collect()
}

#[test]
fn another_object_of_the_same_size_is_bound() {
    refused(
        tile_passes,
        |plan, (pass, _)| {
            let bound = plan.passes[pass.index()].bound_object.unwrap();
            plan.objects.push(plan.objects[bound.index()]);
            plan.passes[pass.index()].bound_object = Some(ObjectId::new(plan.objects.len() as u32 - 1));
        },
        |fault, (_, pass)| {
            fault.rule == PlanRule::WrongObjectBound && fault.message.starts_with(&format!("pass `{pass}` "))
        },
    );
}

#[test]
fn less_is_bound_while_contents_are_needed() {
    refused(
        |plan| passings(plan, false),
        |plan, passing| {
            let tile = plan.profile.tile.unwrap();
            plan.objects.push(MemoryObject {
                memory: MemoryKind::Tile,
                memory_type: tile.memory_type,
                size: Bytes(passing.end - 1),
            });
            plan.passes[passing.pass.index()].bound_object =
                Some(ObjectId::new(plan.objects.len() as u32 - 1));
        },
        |fault, passing| {
            let live = format!("`{}` is live", passing.resource);
            fault.rule == PlanRule::BoundTooSmall && fault.message.contains(&live)
        },
    );
}

#[test]
fn a_device_forgets_earlier() {
    // Contents that were kept until the end of the submit are now lost with the batch.
    refused(
        |plan| {
            let boundary = plan.profile.tile.is_some_and(|tile| tile.queue_submit_boundary);
            let batches = |passing: &Passing| {
                let of = |pass| plan.frame.batch_of(pass);
                let resource = plan.frame.resource_named(&passing.resource).unwrap();
                let lifetime = plan.frame.lifetime_of(resource);
                let passes = plan
                    .frame
                    .pass_ids()
                    .filter(|pass| lifetime.contains(pass.step()));
                let own = plan
                    .frame
                    .uses_of(resource)
                    .iter()
                    .map(|&index| plan.frame.accesses()[index as usize].pass);
                let (first, last) = (own.clone().min().unwrap(), own.max().unwrap());
                passes.count() > 1 && of(first) != of(last)
            };
            let device = plan.options.windows == WindowRule::Device;
            passings(plan, true)
                .into_iter()
                .filter(|passing| boundary && device && batches(passing))
                .collect()
        },
        |plan, _| {
            let profile = Arc::make_mut(&mut plan.profile);
            profile.tile.as_mut().unwrap().queue_submit_boundary = false;
        },
        |fault, _| fault.rule == PlanRule::TileTwoWindows,
    );
}
