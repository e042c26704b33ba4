//! Residence: the kinds of memory in which resources may be placed, and the objects that must be bound for them.

use ash::vk;

use super::checker::Checker;
use super::error::PlanRule;
use super::sites::placement_of;
use super::structure::reads_previous;
use crate::frame::tables::{Access, ResourceKind};
use crate::frame::{AccessKind, BatchId, PassId, Persistence, ResourceId, SubmitId, TileConstraint};
use crate::measure::DedicatedRequirement;
use crate::plan::{MemoryKind, Placement, Plan, ResidencyStrategy, WindowRule};
use crate::units::{Bytes, Span};

pub(super) fn check(checker: &mut Checker<'_>) {
    for index in 0..checker.plan.placements.len() {
        match checker.plan.placements[index].memory {
            MemoryKind::Tile => check_tile(checker, index),
            MemoryKind::Lazy => check_lazy(checker, index),
            MemoryKind::Arena | MemoryKind::Dedicated => {}
        }
        check_lifetime(checker, index);
    }
    check_bindings(checker);
    check_live(checker);
}

/// The rule that keeps `resource` out of tile memory, if any, and a description of the violation; ignores whether there is room.
pub(super) fn tile_rule(checker: &Checker<'_>, resource: ResourceId) -> Option<(PlanRule, String)> {
    let broken = |rule, how: &str| Some((rule, how.to_owned()));
    let plan = checker.plan;
    let Some(tile) = plan.profile.tile else {
        return broken(PlanRule::NoTileHeap, "the device has no tile heap");
    };
    let requirement = plan.requirements.resources[resource.index()];
    if requirement.tile.is_none_or(|tile| tile.size.0 == 0) {
        return broken(
            PlanRule::TileRefused,
            "the driver reports no tile requirement for it",
        );
    }
    if requirement.dedicated == DedicatedRequirement::Required {
        let how = "it requires a dedicated allocation (VUID-vkBindImageMemory-image-01445)";
        return broken(PlanRule::TileDedicated, how);
    }
    if plan.frame.resource(resource).persistence != Persistence::Transient {
        let how = "only transient resources may lose their contents";
        return broken(PlanRule::TileNotTransient, how);
    }
    // There, only the requirements decide for transient resources.
    if plan.options.windows == WindowRule::WholeFrame {
        return None;
    }
    let uses: Vec<&Access> = uses_of(plan, resource).collect();
    if let Some(rule) = window_rule(checker, &uses) {
        return Some(rule);
    }
    if let Some(access) = uses.iter().find(|access| !can_bind(plan, access.pass)) {
        let how = format!(
            "pass `{}` is on a queue that does not support tile memory (no graphics or compute)",
            checker.pass(access.pass)
        );
        return Some((PlanRule::BoundOnTransferQueue, how));
    }
    let resolve = uses
        .iter()
        .find(|access| access.kind == AccessKind::ResolveAttachment);
    if let Some(access) = resolve {
        let how = format!(
            "pass `{}` resolves into it (VUID-VkRenderingAttachmentInfo-resolveImageView-10728, \
             -VkFramebufferCreateInfo-pAttachments-12327)",
            checker.pass(access.pass)
        );
        return Some((PlanRule::TileResolveTarget, how));
    }
    let copied = uses.iter().find(|access| access.kind.is_transfer());
    let transfer = match copied {
        Some(access) => format!("it is copied by pass `{}`", checker.pass(access.pass)),
        None => "its declared usage includes transfers".to_owned(),
    };
    let transfer = (PlanRule::TileTransfer, transfer);
    match plan.frame.resource(resource).kind {
        ResourceKind::Image { usage, .. } => {
            let copies = vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST;
            usage.intersects(copies).then_some(transfer)
        }
        ResourceKind::Buffer { usage, .. } => {
            let copies = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
            if usage.intersects(copies) && !tile.buffer_transfers {
                return Some(transfer);
            }
            let beyond = usage & !(TILE_BUFFER_USAGE | copies);
            let how =
                format!("a tile buffer cannot have usage {beyond:?} (VUID-VkBufferCreateInfo-usage-10764)");
            (!beyond.is_empty()).then_some((PlanRule::TileBufferUsage, how))
        }
    }
}

/// The permitted usage of tile buffers, except copies.
const TILE_BUFFER_USAGE: vk::BufferUsageFlags = vk::BufferUsageFlags::from_raw(
    vk::BufferUsageFlags::UNIFORM_TEXEL_BUFFER.as_raw()
        | vk::BufferUsageFlags::STORAGE_TEXEL_BUFFER.as_raw()
        | vk::BufferUsageFlags::UNIFORM_BUFFER.as_raw()
        | vk::BufferUsageFlags::STORAGE_BUFFER.as_raw()
        | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS.as_raw()
        // `VK_BUFFER_USAGE_TILE_MEMORY_BIT_QCOM` itself.
        | 0x0800_0000,
);

/// The period for which tile memory keeps its contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Window {
    /// A submit, with `queueSubmitBoundary`.
    Submit(SubmitId),
    /// A batch, without `queueSubmitBoundary`.
    Batch(BatchId),
    /// The whole frame, for comparison with published tables.
    Frame,
}

pub(super) fn window_of(plan: &Plan, batch: BatchId) -> Window {
    let boundary = plan.profile.tile.is_some_and(|tile| tile.queue_submit_boundary);
    match plan.options.windows {
        WindowRule::WholeFrame => Window::Frame,
        WindowRule::Device if boundary => Window::Submit(plan.frame.batches()[batch.index()].submit),
        WindowRule::Device => Window::Batch(batch),
    }
}

/// Checks that all `uses` are on one queue and in one window; returns the violation, if any.
fn window_rule(checker: &Checker<'_>, uses: &[&Access]) -> Option<(PlanRule, String)> {
    let frame = &checker.plan.frame;
    let first = uses.first()?;
    for access in uses {
        let (first, second) = (first.pass, access.pass);
        if frame.queue_of(first) != frame.queue_of(second) {
            let (first, second) = (checker.pass(first), checker.pass(second));
            let how = format!("passes `{first}` and `{second}` use it on different queues");
            return Some((PlanRule::TileTwoQueues, how));
        }
        let window = |pass| window_of(checker.plan, frame.batch_of(pass));
        if window(first) != window(second) {
            let (first, second) = (checker.pass(first), checker.pass(second));
            let how = format!("passes `{first}` and `{second}` are in different discard windows");
            return Some((PlanRule::TileTwoWindows, how));
        }
    }
    None
}

fn check_tile(checker: &mut Checker<'_>, index: usize) {
    let plan = checker.plan;
    let id = plan.placements[index].resource;
    if plan.options.strategy == ResidencyStrategy::Off {
        against_options(checker, index, "the strategy is `off`");
    }
    if plan.frame.resource(id).tile_constraint == TileConstraint::Excluded {
        against_options(checker, index, "the resource is excluded from tile memory");
    }
    if let Some((rule, how)) = tile_rule(checker, id) {
        let resource = checker.resident(index);
        checker.report(
            rule,
            format!("resource `{resource}` must not be placed in tile memory: {how}"),
        );
    }
}

fn against_options(checker: &mut Checker<'_>, index: usize, option: &str) {
    let (resource, memory) = (checker.resident(index), checker.plan.placements[index].memory);
    let message = format!("resource `{resource}` must not be placed in {memory:?}: {option}");
    checker.report(PlanRule::AgainstOptions, message);
}

/// Checks that the options allow lazily allocated memory, and that only one render pass uses the resource, only as an attachment, with contents that are not
/// needed outside the frame.
fn check_lazy(checker: &mut Checker<'_>, index: usize) {
    let plan = checker.plan;
    let id = plan.placements[index].resource;
    let resource = checker.resident(index);
    if !plan.options.lazy {
        against_options(checker, index, "the options disable lazily allocated memory");
    }
    let transient = vk::ImageUsageFlags::COLOR_ATTACHMENT
        | vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT
        | vk::ImageUsageFlags::INPUT_ATTACHMENT
        | vk::ImageUsageFlags::TRANSIENT_ATTACHMENT;
    let uses: Vec<&Access> = uses_of(plan, id).collect();
    let usage_fits = match plan.frame.resource(id).kind {
        ResourceKind::Image { usage, .. } => transient.contains(usage),
        ResourceKind::Buffer { .. } => false,
    };
    let why = if plan.frame.resource(id).persistence != Persistence::Transient {
        "its contents are needed outside the frame"
    } else if !usage_fits || !uses.iter().all(|access| stays_on_chip(access.kind)) {
        "it is more than an attachment (VUID-VkImageCreateInfo-usage-00963)"
    } else if uses.iter().any(|access| access.pass != uses[0].pass) {
        "several passes use it"
    } else {
        return;
    };
    checker.report(
        PlanRule::Lazy,
        format!("resource `{resource}` must not be lazily allocated: {why}"),
    );
}

/// Checks that histories keep their bytes, and that external resources, and no others, use the caller's memory.
fn check_lifetime(checker: &mut Checker<'_>, index: usize) {
    let plan = checker.plan;
    let Placement {
        resource: id,
        memory,
        object,
        span,
        ..
    } = plan.placements[index];
    let whole = Span::new(0, plan.passes.len() as u32);
    let resource = checker.resident(index);
    match plan.frame.resource(id).persistence {
        Persistence::Transient => {}
        Persistence::History => {
            let keeps = matches!(memory, MemoryKind::Arena | MemoryKind::Dedicated) && span == whole;
            let needed = plan.options.windows == WindowRule::Device || reads_previous(checker, id);
            if !keeps && needed {
                let message = format!(
                    "history resource `{resource}` is placed in {memory:?} and spans {span}: it must keep its bytes for \
                     the whole frame"
                );
                checker.report(PlanRule::History, message);
            }
        }
        Persistence::External(_) => {
            if object.is_some() || memory != MemoryKind::Dedicated {
                let with = if object.is_some() { "with" } else { "without" };
                let message = format!(
                    "external resource `{resource}` is placed in {memory:?} {with} an object: its memory is the caller's, \
                     so it must be Dedicated, without an object"
                );
                checker.report(PlanRule::External, message);
            }
            return;
        }
    }
    if object.is_none() {
        let message = format!(
            "resource `{resource}` is placed in {memory:?} without an object: only external resources need none"
        );
        checker.report(PlanRule::External, message);
    }
}

/// Returns true if the queue of a pass draws or computes, and so can bind tile memory.
fn can_bind(plan: &Plan, pass: PassId) -> bool {
    let queue = &plan.frame.queues()[plan.frame.queue_of(pass).index()];
    queue
        .capabilities
        .intersects(vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE)
}

/// Checks that passes bind only tile memory objects, only on queues that can bind them, and that every pass binds the object that contains the tile
/// placements it accesses.
fn check_bindings(checker: &mut Checker<'_>) {
    let plan = checker.plan;
    for (id, pass) in plan.frame.pass_ids().zip(&plan.passes) {
        let Some(bound) = pass.bound_object else { continue };
        let memory = plan.objects[bound.index()].memory;
        if memory != MemoryKind::Tile {
            let (pass, object) = (checker.pass(id), bound.index());
            let message = format!(
                "pass `{pass}` binds object {object}, which is {memory:?} memory, as tile memory \
                 (VUID-VkTileMemoryBindInfoQCOM-memory-10726)"
            );
            checker.report(PlanRule::BoundNotTile, message);
        }
        if plan.options.windows != WindowRule::WholeFrame && !can_bind(plan, id) {
            let queue = &plan.frame.queues()[plan.frame.queue_of(id).index()].name;
            let pass = checker.pass(id);
            let message = format!(
                "pass `{pass}` binds tile memory on queue `{queue}`, which supports neither graphics nor compute \
                 (VUID-vkCmdBindTileMemoryQCOM-commandBuffer-cmdpool)"
            );
            checker.report(PlanRule::BoundOnTransferQueue, message);
        }
    }
    for access in plan.frame.accesses() {
        let placement = plan.placements[placement_of(plan, access)];
        let bound = plan.passes[access.pass.index()].bound_object;
        let Some(object) = placement.object.filter(|_| placement.memory == MemoryKind::Tile) else {
            continue;
        };
        if bound != Some(object) {
            let (pass, resource) = (checker.pass(access.pass), checker.resource(access.resource));
            let bound = bound.map_or("nothing".to_owned(), |other| format!("object {}", other.index()));
            let message = format!(
                "pass `{pass}` uses `{resource}` of tile object {}, but binds {bound} \
                 (VUID-vkCmdDraw-commandBuffer-10746)",
                object.index()
            );
            checker.report(PlanRule::WrongObjectBound, message);
        }
    }
}

/// Checks that while a tile placement is live, every pass on its queue binds enough tile memory to contain it: an action command loses the contents beyond
/// the bound size.
fn check_live(checker: &mut Checker<'_>) {
    let plan = checker.plan;
    for placement in plan
        .placements
        .iter()
        .filter(|one| one.memory == MemoryKind::Tile)
    {
        let end = Bytes(placement.offset.0.saturating_add(placement.size.0));
        let Some(queue) = uses_of(plan, placement.resource)
            .map(|access| plan.frame.queue_of(access.pass))
            .next()
        else {
            continue;
        };
        let live = |id: &PassId| placement.span.contains(id.step()) && plan.frame.queue_of(*id) == queue;
        for id in plan.frame.pass_ids().filter(live) {
            let bound = plan.passes[id.index()].bound_object;
            let bound = bound.map_or(Bytes::ZERO, |object| plan.objects[object.index()].size);
            if bound < end {
                let (pass, resource) = (checker.pass(id), checker.resource(placement.resource));
                let message = format!(
                    "pass `{pass}` binds {bound} of tile memory, but `{resource}` is live and ends at {end}: contents beyond the bound \
                     size are lost"
                );
                checker.report(PlanRule::BoundTooSmall, message);
            }
        }
    }
}

/// Returns true if accesses of this kind need no memory while their render pass runs: those to attachments.
pub(super) fn stays_on_chip(kind: AccessKind) -> bool {
    kind.is_attachment() || kind == AccessKind::InputAttachment
}

fn uses_of(plan: &Plan, resource: ResourceId) -> impl Iterator<Item = &Access> {
    plan.frame
        .accesses()
        .iter()
        .filter(move |access| access.resource == resource)
}
