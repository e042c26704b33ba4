//! Bytes: memory objects on the right heaps; placements aligned, large enough and inside their object; no overlap of placements with overlapping
//! lifetimes.

use super::checker::Checker;
use super::error::PlanRule;
use super::sites::{Site, Space, sites, uses_of};
use crate::frame::PassId;
use crate::frame::tables::{Resource, ResourceKind};
use crate::measure::DedicatedRequirement;
use crate::plan::{MemoryKind, Placement, WindowRule};
use crate::units::Bytes;
use tileheap_device::format::{TexelBlock, texel_block};

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
            (MemoryKind::Tile, None) => Some("belongs to a device without a tile heap"),
            (MemoryKind::Tile, Some(_)) if !tile => {
                Some("is not on a tile heap (VUID-VkTileMemoryBindInfoQCOM-memory-10726)")
            }
            (MemoryKind::Tile, Some(usable)) if heap != usable.heap => {
                Some("is on a tile heap other than the profile's")
            }
            (MemoryKind::Tile, Some(_)) => None,
            (_, _) if tile => Some("is on a tile heap, which ordinary resources must not use"),
            (MemoryKind::Lazy, _) if !lazy => Some("is not lazily allocated"),
            (MemoryKind::Arena | MemoryKind::Dedicated, _) if lazy => Some("is lazily allocated"),
            _ => None,
        };
        if let Some(why) = why {
            let (memory, of) = (object.memory, object.memory_type);
            let message = format!("object {index} of memory {memory:?} has memory type {of}, which {why}");
            checker.report(PlanRule::ObjectType, message);
        }
        if object.size == Bytes::ZERO {
            let message =
                format!("object {index} has no bytes (VUID-VkMemoryAllocateInfo-allocationSize-07897)");
            checker.report(PlanRule::ObjectEmpty, message);
        }
        let heap_size = profile.heaps[heap as usize].size;
        let is_tile = object.memory == MemoryKind::Tile;
        let usable = profile.tile.filter(|_| is_tile).map(|tile| tile.size);
        let asked = plan.options.tile_limit.filter(|_| is_tile);
        let rule = " (VUID-vkAllocateMemory-pAllocateInfo-01713)";
        for (limit, most, rule) in [
            ("the size of its heap", Some(heap_size), rule),
            ("maxMemoryAllocationSize", Some(profile.limits.max_allocation), ""),
            ("the size of the tile heap", usable, rule),
            ("the part of the tile heap that the plan may bind", asked, ""),
        ] {
            if let Some(most) = most.filter(|&most| object.size > most) {
                let message = format!("object {index} of {} exceeds {limit}, {most}{rule}", object.size);
                checker.report(PlanRule::ObjectTooLarge, message);
            }
        }
    }
}

fn check_placement(checker: &mut Checker<'_>, index: usize) {
    let plan = checker.plan;
    let placement = plan.placements[index];
    // The caller's memory is not checked here; the residence checks verify that only external resources are in it.
    let Some(id) = placement.object else { return };
    let object = plan.objects[id.index()];
    let requirement = plan.requirements.resources[placement.resource.index()];
    let Placement {
        memory, offset, size, ..
    } = placement;
    let resource = checker.resident(index);
    if object.memory != memory {
        let (object, of) = (id.index(), object.memory);
        let message = format!(
            "resource `{resource}` is placed in {memory:?}, but refers to object {object} of memory {of:?}"
        );
        checker.report(PlanRule::WrongObject, message);
    }
    let is_image = plan.frame.resource(placement.resource).is_image();
    // Only the tile requirement determines what tile memory accepts; the residence checks verify that there is one.
    let (needs, alignment, bits) = match memory {
        MemoryKind::Tile => match requirement.tile {
            Some(tile) => (tile.size, tile.alignment, plan.profile.tile_type_bits()),
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
        ),
    };
    let [type_rule, alignment_rule, size_rule] = match (is_image, memory == MemoryKind::Tile) {
        (true, true) => [
            "vkBindImageMemory-memory-01047",
            "VkBindImageMemoryInfo-pNext-12329",
            "VkBindImageMemoryInfo-pNext-12330",
        ],
        (true, false) => [
            "vkBindImageMemory-memory-01047",
            "VkBindImageMemoryInfo-pNext-01616",
            "VkBindImageMemoryInfo-pNext-01617",
        ],
        (false, true) => [
            "vkBindBufferMemory-memory-01035",
            "VkBindBufferMemoryInfo-memory-10740",
            "VkBindBufferMemoryInfo-memory-10742",
        ],
        (false, false) => [
            "vkBindBufferMemory-memory-01035",
            "VkBindBufferMemoryInfo-None-10739",
            "VkBindBufferMemoryInfo-None-10741",
        ],
    };
    if bits & 1 << object.memory_type == 0 {
        let message = format!(
            "resource `{resource}` is in memory type {}, but only allows types {bits:#b} \
             (VUID-{type_rule})",
            object.memory_type
        );
        checker.report(PlanRule::TypeNotAllowed, message);
    }
    if !offset.is_aligned(alignment) {
        let message = format!(
            "resource `{resource}` is at offset {offset} in {memory:?}, which is not a multiple of its alignment {alignment} (VUID-{alignment_rule})"
        );
        checker.report(PlanRule::Misaligned, message);
    }
    let contents = bytes_of_contents(plan.frame.resource(placement.resource));
    // Other sizes are only for comparison, and the frame's document may state them.
    let is_executable = plan.options.windows != WindowRule::WholeFrame;
    if is_executable && u128::from(needs.0) < contents {
        let contents = Bytes(u64::try_from(contents).unwrap_or(u64::MAX));
        let message = format!(
            "according to the plan, resource `{resource}` needs {needs} in {memory:?}, but its contents have {contents}: the plan \
             is of another description of the resource"
        );
        checker.report(PlanRule::RequirementTooSmall, message);
    }
    if size < needs {
        let message = format!("resource `{resource}` has {size} in {memory:?}, but needs {needs} there");
        checker.report(PlanRule::TooSmall, message);
    }
    if offset.0.checked_add(size.0).is_none_or(|end| end > object.size.0) {
        let message = format!(
            "resource `{resource}` takes {size} at offset {offset} of object {}, which has only {} \
             (VUID-{size_rule})",
            id.index(),
            object.size
        );
        checker.report(PlanRule::PastObject, message);
    }
    // A lazily allocated object with one resource counts as dedicated; sharing is checked pair by pair.
    let dedicated = matches!(memory, MemoryKind::Dedicated | MemoryKind::Lazy) && offset == Bytes::ZERO;
    if requirement.dedicated == DedicatedRequirement::Required && !dedicated {
        let message = format!(
            "resource `{resource}` requires a dedicated allocation and is placed in {memory:?} at offset {offset} \
             (VUID-vkBindImageMemory-image-01445)"
        );
        checker.report(PlanRule::NotDedicated, message);
    }
}

/// Bytes of a buffer, or of the texels of an image in all mip levels, layers and samples: no driver needs less. 0 for formats without a known texel block,
/// such as multi-planar ones, and for images with a hook, which may enable fixed-rate compression.
fn bytes_of_contents(resource: &Resource) -> u128 {
    let (desc, extent) = match &resource.kind {
        ResourceKind::Buffer { desc, .. } => return desc.size.0.into(),
        ResourceKind::Image { desc, .. } if desc.hook != 0 => return 0,
        ResourceKind::Image { desc, extent, .. } => (desc, extent),
    };
    let Some(TexelBlock { width, height, bytes }) = texel_block(desc.format) else {
        return 0;
    };
    let side = |texels: u32, level: u32| (texels >> level).max(1);
    // From level 32 on, a shift would overflow; no image has more levels.
    let levels = (0..desc.mip_levels.min(32)).map(|level| {
        let across = side(extent.width, level).div_ceil(width.max(1));
        let down = side(extent.height, level).div_ceil(height.max(1));
        u128::from(across) * u128::from(down) * u128::from(side(extent.depth, level))
    });
    let copies = u128::from(desc.array_layers) * u128::from(desc.samples.as_raw());
    // Less than 2^96 blocks, so only damaged descriptions saturate.
    levels
        .sum::<u128>()
        .saturating_mul(copies)
        .saturating_mul(bytes.into())
}

/// Checks that placements that need an object of their own do not share it.
fn check_sharing(checker: &mut Checker<'_>, first: usize, second: usize) {
    let plan = checker.plan;
    let (a, b) = (plan.placements[first], plan.placements[second]);
    let Some(object) = a.object.filter(|_| a.object == b.object) else {
        return;
    };
    for (index, placement, other) in [(first, a, second), (second, b, first)] {
        let requirement = plan.requirements.resources[placement.resource.index()];
        let why = if requirement.dedicated == DedicatedRequirement::Required {
            "it requires a dedicated allocation (VUID-vkBindImageMemory-image-01445)"
        } else if placement.memory == MemoryKind::Dedicated {
            "a dedicated allocation holds only one placement"
        } else {
            continue;
        };
        let (resource, other) = (checker.resident(index), checker.resident(other));
        let object = object.index();
        let message = format!("resource `{resource}` shares object {object} with `{other}`: {why}");
        checker.report(PlanRule::SharedDedicated, message);
    }
}

/// Checks that two placements that share bytes have disjoint lifetimes, and that the earlier uses are ordered before the later ones.
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
            let message = format!(
                "`{one}` {} and `{other}` {} are alive at once and share {} from offset {start}",
                a.span,
                b.span,
                Bytes(end) - start
            );
            checker.report(PlanRule::Overlap, message);
        } else {
            let message = format!(
                "`{one}` and `{other}`, one a buffer and one an image, are alive at once in one page of {granularity} \
                 (bufferImageGranularity)"
            );
            checker.report(PlanRule::Granularity, message);
        }
        return;
    }
    if !plan.options.aliasing {
        let message = format!("`{one}` and `{other}` share bytes, but the options forbid aliasing");
        checker.report(PlanRule::AgainstOptions, message);
    }
    if sites[first].space == Space::Tile(None) {
        // A single window for all queues is for comparison, not for execution: steps are the only order there.
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
        let (first, second) = (checker.resident(earlier), checker.resident(later));
        let (before, after) = (checker.pass(before), checker.pass(after));
        let message = format!(
            "`{first}` and `{second}` share bytes, and their uses in passes `{before}` and `{after}` are on two queues and not ordered"
        );
        checker.report(PlanRule::UnorderedQueues, message);
    }
}

fn uses<'a>(checker: &Checker<'a>, placement: usize) -> impl Iterator<Item = PassId> + use<'a> {
    uses_of(checker.plan, placement).map(|access| access.pass)
}
