//! Checks each barrier and each semaphore operation in isolation against Vulkan's rules.

use ash::vk::{self, ImageLayout as L, ImageUsageFlags as I, PipelineStageFlags2 as S};

use super::checker::{CheckedRow, Checker};
use super::creation::demand_inside;
use crate::frame::{PassId, Persistence};
use crate::lower::tables::commands::{DependencyRow, Families, ImageBarrierRow, Scopes};
use crate::lower::tables::objects::ImageRow;
use crate::lower::tables::submission::{SemaphoreRow, SemaphoreValue};
use crate::lower::tables::{DeviceQueueIndex, ImageOrBuffer};
use crate::profile::Features;
use crate::units::{Bytes, Run};
use tileheap_device::scopes::{unperformed, unsupported};
use tileheap_units::CompactSort;

/// The effect of a barrier in addition to ordering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BarrierKind {
    /// No effect other than ordering.
    Plain,
    /// Changes the layout.
    Transition,
    /// Releases the resource to another queue family.
    Release,
    /// Acquires the resource from another queue family: ordered after the release by semaphores, not by its first scope.
    Acquire,
}

/// The kind of a barrier with these families on a queue.
pub(super) fn kind_of(
    checker: &Checker<'_>,
    queue: DeviceQueueIndex,
    families: Families,
    changes_layout: bool,
) -> BarrierKind {
    let family = checker.family(queue);
    match families {
        Families { src, dst } if src == dst && changes_layout => BarrierKind::Transition,
        Families { src, dst } if src == dst => BarrierKind::Plain,
        Families { src, dst } if is_outside(src) || dst == family => BarrierKind::Acquire,
        Families { .. } => BarrierKind::Release,
    }
}

/// Returns true for `VK_QUEUE_FAMILY_EXTERNAL` and `VK_QUEUE_FAMILY_FOREIGN_EXT`, the families outside the device.
pub(super) fn is_outside(family: u32) -> bool {
    [vk::QUEUE_FAMILY_EXTERNAL, vk::QUEUE_FAMILY_FOREIGN_EXT].contains(&family)
}

/// Checks the barriers of one dependency, recorded at a pass.
pub(super) fn check(checker: &mut Checker<'_>, queue: DeviceQueueIndex, pass: PassId, row: DependencyRow) {
    let tables = checker.tables;
    let images = row.images.of(&tables.image_barriers);
    for (index, barrier) in images.iter().enumerate() {
        let changes = barrier.old_layout != barrier.new_layout;
        let kind = kind_of(checker, queue, barrier.families, changes);
        let object = ImageOrBuffer::Image(barrier.image);
        let mut at = barrier_of(checker, object, pass);
        check_scopes(&mut at, queue, barrier.scopes, kind);
        check_families(&mut at, queue, object, barrier.families);
        check_range(&mut at, barrier);
        if kind == BarrierKind::Plain {
            continue;
        }
        check_layouts(&mut at, barrier);
        let again = images[..index].iter().any(|other| {
            other.image == barrier.image
                && other.range.intersects(barrier.range)
                && (other.old_layout != other.new_layout || other.families.src != other.families.dst)
        });
        let needs =
            "changed by only one barrier of a dependency: the barriers of a dependency are not ordered";
        at.demand(!again, "image", barrier.image, needs);
    }
    for barrier in row.buffers.of(&tables.buffer_barriers) {
        let object = ImageOrBuffer::Buffer(barrier.buffer);
        let kind = kind_of(checker, queue, barrier.families, false);
        let mut at = barrier_of(checker, object, pass);
        check_scopes(&mut at, queue, barrier.scopes, kind);
        check_families(&mut at, queue, object, barrier.families);
        let size = tables.buffers[barrier.buffer as usize].size;
        let end = barrier.offset.0.checked_add(barrier.size.0);
        let fits = barrier.size != Bytes::ZERO && end.is_some_and(|end| end <= size.0);
        let needs = format!(
            "a non-empty range within the {size} of the buffer (VUID-VkBufferMemoryBarrier2-size-01189)"
        );
        at.demand(fits, "size", (barrier.offset, barrier.size), needs);
    }
    for barrier in row.memory.of(&tables.memory_barriers) {
        let mut at = checker.at(format!("a memory barrier at pass `{}`", checker.pass(pass)));
        check_scopes(&mut at, queue, barrier.scopes, BarrierKind::Plain);
    }
}

fn barrier_of<'c, 'a>(
    checker: &'c mut Checker<'a>,
    object: ImageOrBuffer,
    pass: PassId,
) -> CheckedRow<'c, 'a> {
    let (name, pass) = (checker.name_of(object), checker.pass(pass));
    checker.at(format!("a barrier for `{name}` at pass `{pass}`"))
}

/// Checks the scopes that have an effect: Vulkan ignores the second scope of a release and the first scope of an acquire.
fn check_scopes(at: &mut CheckedRow<'_, '_>, queue: DeviceQueueIndex, scopes: Scopes, kind: BarrierKind) {
    let source = (
        scopes.src_stages,
        scopes.src_access,
        "srcStageMask",
        "srcAccessMask",
    );
    let destination = (
        scopes.dst_stages,
        scopes.dst_access,
        "dstStageMask",
        "dstAccessMask",
    );
    let source = (kind != BarrierKind::Acquire).then_some(source);
    let destination = (kind != BarrierKind::Release).then_some(destination);
    for (stages, access, stage_mask, access_mask) in source.into_iter().chain(destination) {
        let rule = match stage_mask {
            "srcStageMask" => "VUID-vkCmdPipelineBarrier2-srcStageMask-09675",
            _ => "VUID-vkCmdPipelineBarrier2-dstStageMask-09676",
        };
        stages_of_queue(at, (stage_mask, rule), queue, stages);
        if let Some(flag) = unperformed(stages, access) {
            let needs = format!(
                "without {flag:?}, which no stage of {stages:?} performs (VUID-VkMemoryBarrier2-{access_mask}-03900 and similar)"
            );
            at.wrong(access_mask, &access, &needs);
        }
    }
}

/// Checks that the queue's family supports the stages of a parameter, which is given with its rule.
fn stages_of_queue(
    at: &mut CheckedRow<'_, '_>,
    (parameter, rule): (&'static str, &str),
    queue: DeviceQueueIndex,
    stages: S,
) {
    if let Some(stage) = unsupported(stages, at.checker.flags(queue)) {
        let family = at.checker.family(queue);
        let needs = format!("without {stage:?}, which queue family {family} does not support ({rule})");
        at.wrong(parameter, &stages, &needs);
    }
}

/// Checks that a queue family ownership transfer is between two families, one of them the queue's, and that families do not share the resource. In a transfer
/// of a shared resource from or to a family outside the device, the other family must be `VK_QUEUE_FAMILY_IGNORED`.
fn check_families(
    at: &mut CheckedRow<'_, '_>,
    queue: DeviceQueueIndex,
    object: ImageOrBuffer,
    families: Families,
) {
    let ignored = vk::QUEUE_FAMILY_IGNORED;
    let Families { src, dst } = families;
    if src == dst {
        return;
    }
    let (parameter, family) = ("queueFamilyIndex", at.checker.family(queue));
    let known = at.checker.device.families.len() as u32;
    if is_outside(src) != is_outside(dst) {
        let own = if is_outside(src) { dst } else { src };
        let shared = at.checker.is_concurrent(object);
        let wanted = if shared { ignored } else { family };
        let needs = format!(
            "{wanted}, because the other family is outside the device (VUID-VkImageMemoryBarrier2-image-09118)"
        );
        at.demand(own == wanted, parameter, own, needs);
    } else if src == ignored || dst == ignored || src >= known || dst >= known {
        let needs = format!(
            "two queue family indices below {known}, the number of queue families of the device, or \
             QUEUE_FAMILY_IGNORED for both"
        );
        at.wrong(parameter, &(src, dst), &needs);
    } else if at.checker.is_concurrent(object) {
        let needs = "QUEUE_FAMILY_IGNORED for both, because the sharing mode is concurrent (VUID-VkImageMemoryBarrier2-None-09097)";
        at.wrong(parameter, &(src, dst), &needs);
    } else if ![src, dst].contains(&family) {
        let needs = format!(
            "family {family}, to which the queue belongs, and another family \
             (VUID-vkCmdPipelineBarrier2-srcQueueFamilyIndex-10387)"
        );
        at.wrong(parameter, &(src, dst), &needs);
    }
}

fn check_range(at: &mut CheckedRow<'_, '_>, barrier: &ImageBarrierRow) {
    let image = at.checker.tables.images[barrier.image as usize];
    let aspects = crate::format::aspects(image.format);
    let apart = Features::SEPARATE_DEPTH_STENCIL_LAYOUTS;
    let separate = at.checker.device.profile.features.contains(apart);
    let some = separate && !barrier.range.aspects.is_empty() && aspects.contains(barrier.range.aspects);
    let needs = match separate {
        true => format!("a non-empty subset of {aspects:?}"),
        false => format!("{aspects:?} (VUID-VkImageMemoryBarrier2-image-03320)"),
    };
    let fits = barrier.range.aspects == aspects || some;
    at.demand(fits, "aspectMask", barrier.range.aspects, needs);
    demand_inside(at, "levels", barrier.range.levels, image.mip_levels);
    if image.image_type != vk::ImageType::TYPE_3D {
        return demand_inside(at, "layers", barrier.range.layers, image.array_layers);
    }
    let (levels, slices) = (barrier.range.levels, barrier.range.layers);
    if slices == Run::new(0, vk::REMAINING_ARRAY_LAYERS) {
        return;
    }
    let named = at.checker.parts.are_slices_named(barrier.image) && levels.len() == 1;
    let needs = "all slices (VUID-VkImageMemoryBarrier2-subresourceRange-01488, -maintenance9-10799)";
    at.demand(named, "layers", slices, needs);
    demand_inside(
        at,
        "layers",
        slices,
        (image.extent.depth >> levels.first.min(31)).max(1),
    );
}

/// Checks that the image's usage allows the layouts, and that the new layout is neither `UNDEFINED` nor `PREINITIALIZED`. An imported image may have more
/// usage than the frame knows, and so may a history that a frame with another description left in a layout.
///
/// Source: VUID-VkImageMemoryBarrier2-oldLayout-01208 to -01213, -newLayout-01198.
fn check_layouts(at: &mut CheckedRow<'_, '_>, barrier: &ImageBarrierRow) {
    let ImageRow {
        usage,
        binding,
        resource,
        ..
    } = at.checker.tables.images[barrier.image as usize];
    let imported = binding.is_imported();
    let is_history = at.checker.frame.resource(resource).persistence == Persistence::History;
    let (old, new) = (barrier.old_layout, barrier.new_layout);
    for (parameter, layout) in [("oldLayout", old), ("newLayout", new)] {
        let needs = match layout {
            L::COLOR_ATTACHMENT_OPTIMAL => I::COLOR_ATTACHMENT,
            L::DEPTH_STENCIL_ATTACHMENT_OPTIMAL
            | L::DEPTH_ATTACHMENT_OPTIMAL
            | L::STENCIL_ATTACHMENT_OPTIMAL => I::DEPTH_STENCIL_ATTACHMENT,
            L::DEPTH_STENCIL_READ_ONLY_OPTIMAL
            | L::DEPTH_READ_ONLY_OPTIMAL
            | L::STENCIL_READ_ONLY_OPTIMAL => I::DEPTH_STENCIL_ATTACHMENT | I::SAMPLED | I::INPUT_ATTACHMENT,
            L::SHADER_READ_ONLY_OPTIMAL => I::SAMPLED | I::INPUT_ATTACHMENT,
            L::TRANSFER_SRC_OPTIMAL => I::TRANSFER_SRC,
            L::TRANSFER_DST_OPTIMAL => I::TRANSFER_DST,
            _ => continue,
        };
        let allowed = format!("one that usage {usage:?} allows");
        let is_left = is_history && parameter == "oldLayout";
        let fits = imported || is_left || usage.intersects(needs);
        at.demand(fits, parameter, layout, allowed);
    }
    let fits = ![L::UNDEFINED, L::PREINITIALIZED].contains(&new);
    at.demand(
        fits,
        "newLayout",
        new,
        "neither UNDEFINED nor PREINITIALIZED (VUID-VkImageMemoryBarrier2-newLayout-01198)",
    );
}

/// Checks the waits and signals of a batch: they must include the declared ones with at least the declared stages; other waits must be for values that
/// earlier batches signal, and the only other signal must be that of the queue's timeline.
pub(super) fn check_semaphores(
    checker: &mut Checker<'_>,
    batch: usize,
    queue: DeviceQueueIndex,
    signaled: &[i64],
) {
    let (row, described) = (checker.tables.batches[batch], &checker.frame.batches()[batch]);
    let waits = row.waits.of(&checker.tables.waits);
    let signals = row.signals.of(&checker.tables.signals);
    for (rows, ops, of, rule) in [
        (
            waits,
            &described.waits,
            "wait",
            "VUID-vkQueueSubmit2-stageMask-03870",
        ),
        (
            signals,
            &described.signals,
            "signal",
            "VUID-vkQueueSubmit2-stageMask-03869",
        ),
    ] {
        let declared = |row: &SemaphoreRow| match row.semaphore.queue() {
            None => Some(row.semaphore.index),
            Some(_) => None,
        };
        let mut found: Vec<u32> = rows.iter().filter_map(declared).collect();
        let mut needs: Vec<u32> = ops.iter().map(|op| op.semaphore.index() as u32).collect();
        found.compact_sort();
        needs.compact_sort();
        let mut all = checker.at(format!("the {of}s of batch {batch}"));
        all.equal("declared semaphores", found, needs);
        for row in rows {
            let mut at = checker.at(format!("a {of} of batch {batch}"));
            stages_of_queue(&mut at, ("stageMask", rule), queue, row.stages);
            let mut ops = ops.iter();
            let Some(op) = ops.find(|op| declared(row) == Some(op.semaphore.index() as u32)) else {
                continue;
            };
            let name = &at.checker.frame.semaphores()[op.semaphore.index()].name;
            at.what = format!("a {of} of batch {batch}, semaphore `{name}`");
            let fits = row.stages.contains(op.stages) || row.stages.contains(S::ALL_COMMANDS);
            let needs = format!("at least {:?}, as declared", op.stages);
            at.demand(fits, "stageMask", row.stages, needs);
        }
    }
    for row in waits {
        if let Some(other) = row.semaphore.queue() {
            let value = row.semaphore.value;
            let known = signaled[other.0 as usize];
            let mut at = checker.at(format!("a wait of batch {batch} for queue {}", other.0));
            let needs = format!("at most {known}, the highest value that earlier batches signal");
            at.demand(value <= known, "value", value, needs);
        }
    }
    let value = signaled[queue.0 as usize] + 1;
    let needs = SemaphoreRow {
        semaphore: SemaphoreValue::of_queue(queue, value),
        stages: S::ALL_COMMANDS,
    };
    let of_queues = |row: &&SemaphoreRow| row.semaphore.queue().is_some();
    let found: Vec<SemaphoreRow> = signals.iter().filter(of_queues).copied().collect();
    let mut all = checker.at(format!("the signals of batch {batch}"));
    all.equal("timeline semaphores", found, vec![needs]);
    let mut at = checker.at(format!("batch {batch}"));
    at.equal("is_first", row.is_first, value == 1);
}
