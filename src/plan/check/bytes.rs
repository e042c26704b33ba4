//! Bytes: memory objects on the right heaps, placements aligned, large enough and inside, and no two alive in the same
//! bytes.

use super::checker::Checker;
use super::sites::{Site, Space, sites};
use super::table_errors::BytesError;
use crate::frame::PassId;
use crate::measure::Dedicated;
use crate::plan::{MemoryKind, Placement};
use crate::units::Bytes;

pub(super) fn check(checker: &mut Checker<'_>) {
    check_objects(checker);
    for index in 0..checker.plan.placements.len() {
        check_placement(checker, index);
    }
    let sites = sites(checker.plan);
    for second in 0..sites.len() {
        for first in 0..second {
            check_sharing(checker, first, second);
            check_pair(checker, &sites, first, second);
        }
    }
}

fn check_objects(checker: &mut Checker<'_>) {
    let plan = checker.plan;
    let profile = &plan.profile;
    for (index, object) in plan.objects.iter().enumerate() {
        let bit = 1 << object.memory_type;
        let heap = profile.memory_types[object.memory_type as usize].heap;
        let tile = profile.tile_type_bits() & bit != 0;
        let lazy = profile.lazy_type_bits() & bit != 0;
        let why = match (object.memory, profile.tile) {
            (MemoryKind::Tile, None) => Some("is of a device without a tile heap"),
            (MemoryKind::Tile, Some(_)) if !tile => {
                Some("is not on a tile heap (VUID-VkTileMemoryBindInfoQCOM-memory-10726)")
            }
            (MemoryKind::Tile, Some(usable)) if heap != usable.heap => {
                Some("is on another tile heap than the profile's")
            }
            (MemoryKind::Tile, Some(_)) => None,
            (_, _) if tile => Some("is on a tile heap: ordinary resources must keep out"),
            (MemoryKind::Lazy, _) if !lazy => Some("is not lazily allocated"),
            (MemoryKind::Arena | MemoryKind::Dedicated, _) if lazy => Some("is lazily allocated"),
            _ => None,
        };
        if let Some(why) = why {
            checker.report(BytesError::ObjectType {
                object: index,
                memory: object.memory,
                memory_type: object.memory_type,
                why,
            });
        }
        if object.size == Bytes::ZERO {
            checker.report(BytesError::ObjectEmpty { object: index });
        }
        let heap_size = profile.heaps[heap as usize].size;
        let limits = [
            (
                "the size of its heap (VUID-vkAllocateMemory-pAllocateInfo-01713)",
                heap_size,
            ),
            ("maxMemoryAllocationSize", profile.limits.max_allocation),
        ];
        let usable = profile.tile.filter(|_| object.memory == MemoryKind::Tile);
        let tile_limit = usable.map(|tile| {
            (
                "the size of the tile heap (VUID-vkAllocateMemory-pAllocateInfo-01713)",
                tile.size,
            )
        });
        let asked = plan
            .options
            .tile_limit
            .filter(|_| object.memory == MemoryKind::Tile);
        let asked = asked.map(|most| ("what the plan may bind of the tile heap", most));
        for (limit, most) in limits.into_iter().chain(tile_limit).chain(asked) {
            if object.size > most {
                checker.report(BytesError::ObjectTooLarge {
                    object: index,
                    size: object.size,
                    limit,
                    most,
                });
            }
        }
    }
}

fn check_placement(checker: &mut Checker<'_>, index: usize) {
    let plan = checker.plan;
    let placement = plan.placements[index];
    // The caller's memory is the caller's: residence checks that only external resources are there.
    let Some(id) = placement.object else { return };
    let object = plan.objects[id.index()];
    let requirement = plan.requirements.resources[placement.resource.index()];
    let Placement {
        memory, offset, size, ..
    } = placement;
    let resource = checker.resident(index);
    if object.memory != memory {
        checker.report(BytesError::WrongObject {
            resource: resource.clone(),
            memory,
            object: format!("object {} of memory {:?}", id.index(), object.memory),
        });
    }
    // What tile memory accepts is said by the tile requirement alone; residence checks that there is one.
    let (needs, alignment, bits, rule) = match memory {
        MemoryKind::Tile => match requirement.tile {
            Some(tile) => (
                tile.size,
                tile.alignment,
                plan.profile.tile_type_bits(),
                "VUID-VkBindImageMemoryInfo-pNext-12329, -VkBindBufferMemoryInfo-memory-10740",
            ),
            None => return,
        },
        MemoryKind::Lazy | MemoryKind::Arena | MemoryKind::Dedicated => (
            requirement.size,
            requirement.alignment,
            if memory == MemoryKind::Lazy {
                requirement.lazy_type_bits
            } else {
                requirement.memory_type_bits
            },
            "VUID-VkBindImageMemoryInfo-pNext-01616, -VkBindBufferMemoryInfo-None-10739",
        ),
    };
    if bits & 1 << object.memory_type == 0 {
        checker.report(BytesError::TypeNotAllowed {
            resource: resource.clone(),
            memory_type: object.memory_type,
            bits,
        });
    }
    if !offset.is_aligned(alignment) {
        checker.report(BytesError::Misaligned {
            resource: resource.clone(),
            memory,
            offset,
            alignment,
            rule,
        });
    }
    if size < needs {
        checker.report(BytesError::TooSmall {
            resource: resource.clone(),
            memory,
            size,
            needs,
        });
    }
    if offset.0.checked_add(size.0).is_none_or(|end| end > object.size.0) {
        checker.report(BytesError::PastObject {
            resource: resource.clone(),
            offset,
            size,
            object: id.index(),
            object_size: object.size,
        });
    }
    // A lazily allocated object of one resource is as dedicated as any; who shares it is judged by pairs.
    let dedicated = matches!(memory, MemoryKind::Dedicated | MemoryKind::Lazy) && offset == Bytes::ZERO;
    if requirement.dedicated == Dedicated::Required && !dedicated {
        checker.report(BytesError::NotDedicated {
            resource,
            memory,
            offset,
        });
    }
}

/// Who must be alone in its object is.
fn check_sharing(checker: &mut Checker<'_>, first: usize, second: usize) {
    let plan = checker.plan;
    let (a, b) = (plan.placements[first], plan.placements[second]);
    let Some(object) = a.object.filter(|_| a.object == b.object) else {
        return;
    };
    for (index, placement, other) in [(first, a, second), (second, b, first)] {
        let requirement = plan.requirements.resources[placement.resource.index()];
        let why = if requirement.dedicated == Dedicated::Required {
            "it requires a dedicated allocation (VUID-vkBindImageMemory-image-01445)"
        } else if placement.memory == MemoryKind::Dedicated {
            "an allocation of its own is for one placement"
        } else {
            continue;
        };
        let (resource, other) = (checker.resident(index), checker.resident(other));
        checker.report(BytesError::Shared {
            resource,
            object: object.index(),
            other,
            why,
        });
    }
}

/// Two placements that are the same memory take turns.
fn check_pair(checker: &mut Checker<'_>, sites: &[Site], first: usize, second: usize) {
    let plan = checker.plan;
    let granularity = plan.profile.limits.buffer_image_granularity;
    let (a, b) = (plan.placements[first], plan.placements[second]);
    if !sites[first].aliases(sites[second], granularity) {
        return;
    }
    // Aliases of one transient resource in several tile objects share its bytes and contents.
    if a.resource == b.resource && sites[first] == sites[second] && a.object != b.object {
        return;
    }
    let (one, other) = (checker.resident(first), checker.resident(second));
    let start = a.offset.max(b.offset);
    let end = sites[first].end.min(sites[second].end);
    if a.span.overlaps(b.span) {
        if start.0 < end {
            checker.report(BytesError::Overlap {
                first: one,
                first_span: a.span,
                second: other,
                second_span: b.span,
                offset: start,
                bytes: Bytes(end) - start,
            });
        } else {
            checker.report(BytesError::Granularity {
                first: one,
                second: other,
                granularity,
            });
        }
        return;
    }
    if !plan.options.aliasing {
        checker.report(BytesError::AliasedAgainstOptions {
            first: one.clone(),
            second: other.clone(),
        });
    }
    if sites[first].space == Space::Tile(None) {
        // One window for all queues is for comparison, not for execution: steps are the only order there.
        return;
    }
    let (earlier, later) = if a.span.first < b.span.first {
        (first, second)
    } else {
        (second, first)
    };
    let unordered = uses(checker, earlier)
        .flat_map(|before| uses(checker, later).map(move |after| (before, after)))
        .find(|&(before, after)| !plan.frame.happens_before(before, after));
    if let Some((before, after)) = unordered {
        checker.report(BytesError::Concurrent {
            first: checker.resident(earlier),
            second: checker.resident(later),
            first_pass: checker.pass(before),
            second_pass: checker.pass(after),
        });
    }
}

/// The passes that use a placement.
fn uses<'a>(checker: &Checker<'a>, placement: usize) -> impl Iterator<Item = PassId> + use<'a> {
    let plan = checker.plan;
    let accesses = plan.frame.accesses().iter();
    accesses
        .filter(move |access| plan.placement_of(access).index() == placement)
        .map(|access| access.pass)
}
