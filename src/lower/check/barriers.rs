//! Barriers and semaphores: what Vulkan demands of each by itself.

use ash::vk::{self, ImageLayout as L, ImageUsageFlags as I, PipelineStageFlags2 as S};

use super::checker::Checker;
use crate::frame::PassId;
use crate::lower::tables::commands::{DependencyRow, Families, ImageBarrierRow, Scopes};
use crate::lower::tables::objects::{Binding, ImageRow};
use crate::lower::tables::submission::{Semaphore, SemaphoreRow};
use crate::lower::tables::{DeviceQueueIndex, Object};
use crate::profile::Features;
use crate::scopes::{unmade, unsupported};
use crate::units::Bytes;

/// What a barrier does besides ordering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BarrierKind {
    /// Nothing.
    Plain,
    /// Changes the layout.
    Transition,
    /// Gives the resource to another queue family.
    Release,
    /// Takes it from another queue family: ordered after the release by semaphores, not by its first scope.
    Acquire,
}

/// What a barrier of these families does on a queue.
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
        Families { dst, .. } if dst == family => BarrierKind::Acquire,
        Families { .. } => BarrierKind::Release,
    }
}

/// Judges the barriers of one dependency, recorded at a pass.
pub(super) fn check(checker: &mut Checker<'_>, queue: DeviceQueueIndex, pass: PassId, row: DependencyRow) {
    let tables = checker.tables;
    let images = row.images.of(&tables.image_barriers);
    for (index, barrier) in images.iter().enumerate() {
        let what = what(checker, Object::Image(barrier.image), pass);
        let kind = kind_of(
            checker,
            queue,
            barrier.families,
            barrier.old_layout != barrier.new_layout,
        );
        check_scopes(checker, &what, queue, barrier.scopes, kind);
        check_families(
            checker,
            &what,
            queue,
            Object::Image(barrier.image),
            barrier.families,
        );
        check_range(checker, &what, barrier);
        if kind != BarrierKind::Plain {
            check_layouts(checker, &what, barrier);
        }
        let again = |other: &&ImageBarrierRow| {
            other.image == barrier.image
                && other.range.intersects(barrier.range)
                && (other.old_layout != other.new_layout || other.families.src != other.families.dst)
        };
        if kind != BarrierKind::Plain && images[..index].iter().any(|other| again(&other)) {
            checker.wrong(
                &what,
                "image",
                barrier.image,
                "changed once in a dependency: its barriers are in no order",
            );
        }
    }
    for barrier in row.buffers.of(&tables.buffer_barriers) {
        let what = what(checker, Object::Buffer(barrier.buffer), pass);
        let kind = kind_of(checker, queue, barrier.families, false);
        check_scopes(checker, &what, queue, barrier.scopes, kind);
        check_families(
            checker,
            &what,
            queue,
            Object::Buffer(barrier.buffer),
            barrier.families,
        );
        let size = tables.buffers[barrier.buffer as usize].size;
        let end = barrier.offset.0.checked_add(barrier.size.0);
        if barrier.size == Bytes::ZERO || end.is_none_or(|end| end > size.0) {
            let needs = format!("some of its {size} (VUID-VkBufferMemoryBarrier2-size-01189)");
            checker.wrong(&what, "size", (barrier.offset, barrier.size), needs);
        }
    }
    for barrier in row.memory.of(&tables.memory_barriers) {
        let what = format!("a memory barrier at pass `{}`", checker.pass(pass));
        check_scopes(checker, &what, queue, barrier.scopes, BarrierKind::Plain);
    }
}

fn what(checker: &Checker<'_>, object: Object, pass: PassId) -> String {
    format!(
        "a barrier of `{}` at pass `{}`",
        checker.name_of(object),
        checker.pass(pass)
    )
}

/// The scopes that count: the second of a release and the first of an acquire are ignored by Vulkan.
fn check_scopes(
    checker: &mut Checker<'_>,
    what: &str,
    queue: DeviceQueueIndex,
    scopes: Scopes,
    kind: BarrierKind,
) {
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
        stages_of_queue(checker, what, stage_mask, queue, stages);
        if let Some(flag) = unmade(stages, access) {
            let needs = format!(
                "without {flag:?}, which no stage of {stages:?} makes (VUID-VkMemoryBarrier2-srcAccessMask-03900)"
            );
            checker.wrong(what, access_mask, access, needs);
        }
    }
}

fn stages_of_queue(
    checker: &mut Checker<'_>,
    what: &str,
    parameter: &'static str,
    queue: DeviceQueueIndex,
    stages: S,
) {
    if let Some(stage) = unsupported(stages, checker.flags(queue)) {
        let family = checker.family(queue);
        let needs = format!(
            "without {stage:?}, which family {family} does not have (VUID-vkCmdPipelineBarrier2-srcStageMask-09675)"
        );
        checker.wrong(what, parameter, stages, needs);
    }
}

/// A transfer is between two families, one of which is the queue's, and of what is not shared.
fn check_families(
    checker: &mut Checker<'_>,
    what: &str,
    queue: DeviceQueueIndex,
    object: Object,
    families: Families,
) {
    let ignored = vk::QUEUE_FAMILY_IGNORED;
    let Families { src, dst } = families;
    if src == dst {
        return;
    }
    let parameter = "queueFamilyIndex";
    let known = checker.device.families.len() as u32;
    if src == ignored || dst == ignored || src >= known || dst >= known {
        let needs = format!("two of {known} families, or QUEUE_FAMILY_IGNORED twice");
        checker.wrong(what, parameter, (src, dst), needs);
    } else if checker.is_concurrent(object) {
        checker.wrong(
            what,
            parameter,
            (src, dst),
            "ignored: families share it (VUID-VkImageMemoryBarrier2-None-09097)",
        );
    } else if ![src, dst].contains(&checker.family(queue)) {
        let needs = format!(
            "family {}, which the queue is of, and another one (VUID-vkCmdPipelineBarrier2-srcQueueFamilyIndex-10387)",
            checker.family(queue)
        );
        checker.wrong(what, parameter, (src, dst), needs);
    }
}

fn check_range(checker: &mut Checker<'_>, what: &str, barrier: &ImageBarrierRow) {
    let image = checker.tables.images[barrier.image as usize];
    let aspects = crate::format::aspects(image.format);
    let apart = Features::SEPARATE_DEPTH_STENCIL_LAYOUTS;
    let some = checker.device.profile.features.contains(apart)
        && !barrier.range.aspects.is_empty()
        && aspects.contains(barrier.range.aspects);
    if barrier.range.aspects != aspects && !some {
        let needs = format!("{aspects:?} (VUID-VkImageMemoryBarrier2-image-03320)");
        checker.wrong(what, "aspectMask", barrier.range.aspects, needs);
    }
    for (parameter, run, count) in [
        ("levels", barrier.range.levels, image.mip_levels),
        ("layers", barrier.range.layers, image.array_layers),
    ] {
        if run.is_empty() || run.end > count {
            checker.wrong(what, parameter, run, format!("not empty, inside [0, {count})"));
        }
    }
}

/// Layouts that the image's usage allows; an imported one may have more usage than the frame knows.
///
/// Source: VUID-VkImageMemoryBarrier2-oldLayout-01208 to -01213, -newLayout-01198.
fn check_layouts(checker: &mut Checker<'_>, what: &str, barrier: &ImageBarrierRow) {
    let ImageRow { usage, binding, .. } = checker.tables.images[barrier.image as usize];
    let imported = binding == Binding::Imported;
    for (parameter, layout) in [
        ("oldLayout", barrier.old_layout),
        ("newLayout", barrier.new_layout),
    ] {
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
        if !imported && !usage.intersects(needs) {
            checker.wrong(
                what,
                parameter,
                layout,
                format!("one that usage {usage:?} allows"),
            );
        }
    }
    if [L::UNDEFINED, L::PREINITIALIZED].contains(&barrier.new_layout) {
        checker.wrong(
            what,
            "newLayout",
            barrier.new_layout,
            "a layout (VUID-VkImageMemoryBarrier2-newLayout-01198)",
        );
    }
}

/// Waits and signals of a batch: those that the frame declares, at its stages at least, and points on queues that exist.
pub(super) fn check_semaphores(
    checker: &mut Checker<'_>,
    batch: usize,
    queue: DeviceQueueIndex,
    signalled: &[i64],
) {
    let (row, described) = (checker.tables.batches[batch], &checker.frame.batches()[batch]);
    let (waits, signals) = (
        row.waits.of(&checker.tables.waits),
        row.signals.of(&checker.tables.signals),
    );
    for (rows, ops, of) in [
        (waits, &described.waits, "wait"),
        (signals, &described.signals, "signal"),
    ] {
        let declared = |row: &SemaphoreRow| match row.semaphore {
            Semaphore::Declared(index) => Some(index),
            Semaphore::Queue { .. } => None,
        };
        let mut found: Vec<u32> = rows.iter().filter_map(declared).collect();
        let mut needs: Vec<u32> = ops.iter().map(|op| op.semaphore.index() as u32).collect();
        found.sort_unstable();
        needs.sort_unstable();
        checker.equal(
            &format!("the {of}s of batch {batch}"),
            "declared semaphores",
            found,
            needs,
        );
        for row in rows {
            let what = format!("a {of} of batch {batch}");
            stages_of_queue(checker, &what, "stageMask", queue, row.stages);
            let op = ops
                .iter()
                .find(|op| declared(row) == Some(op.semaphore.index() as u32));
            let least = op.map_or(S::NONE, |op| op.stages);
            if !row.stages.contains(least) && !row.stages.contains(S::ALL_COMMANDS) {
                let name = &checker.frame.semaphores()[declared(row).unwrap_or(0) as usize].name;
                let what = format!("{what}, semaphore `{name}`");
                checker.wrong(
                    &what,
                    "stageMask",
                    row.stages,
                    format!("{least:?} at least, as declared"),
                );
            }
        }
    }
    for row in waits {
        if let Semaphore::Queue { queue: other, value } = row.semaphore {
            let known = signalled[other.0 as usize];
            if value > known {
                let what = format!("a wait of batch {batch} for queue {}", other.0);
                let needs = format!("at most {known}: nothing submitted before signals more");
                checker.wrong(&what, "value", value, needs);
            }
        }
    }
    let needs = SemaphoreRow {
        semaphore: Semaphore::Queue {
            queue,
            value: signalled[queue.0 as usize] + 1,
        },
        stages: S::ALL_COMMANDS,
    };
    let of_queues = |row: &&SemaphoreRow| matches!(row.semaphore, Semaphore::Queue { .. });
    let found: Vec<SemaphoreRow> = signals.iter().filter(of_queues).copied().collect();
    checker.equal(
        &format!("the signals of batch {batch}"),
        "timeline semaphores",
        found,
        vec![needs],
    );
}
