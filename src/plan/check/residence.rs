//! Residence: what may be placed in which kind of memory, and what must be bound for it.

use ash::vk;

use super::checker::Checker;
use super::structure::reads_previous;
use super::table_errors::{ResidenceError, TileRule};
use crate::frame::tables::{Access, ResourceKind};
use crate::frame::{AccessKind, BatchId, PassId, Persistence, ResourceId, SubmitId, TileConstraint};
use crate::measure::Dedicated;
use crate::plan::{MemoryKind, Placement, Plan, Strategy, WindowRule};
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

/// The rule that keeps `resource` out of tile memory, if any: the rules alone, not whether there is room.
pub(super) fn tile_rule(checker: &Checker<'_>, resource: ResourceId) -> Option<TileRule> {
    let plan = checker.plan;
    let Some(tile) = plan.profile.tile else {
        return Some(TileRule::NoTileHeap);
    };
    let requirement = plan.requirements.resources[resource.index()];
    if requirement.tile.is_none_or(|tile| tile.size.0 == 0) {
        return Some(TileRule::Refused);
    }
    if requirement.dedicated == Dedicated::Required {
        return Some(TileRule::Dedicated);
    }
    if plan.frame.resource(resource).persistence != Persistence::Transient {
        return Some(TileRule::NotTransient);
    }
    // There, of transient resources the requirements alone decide.
    if plan.options.windows == WindowRule::WholeFrame {
        return None;
    }
    let uses: Vec<&Access> = uses_of(plan, resource).collect();
    if let Some(rule) = window_rule(checker, &uses) {
        return Some(rule);
    }
    let resolve = uses
        .iter()
        .find(|access| access.kind == AccessKind::ResolveAttachment);
    if let Some(access) = resolve {
        let pass = checker.pass(access.pass);
        return Some(TileRule::ResolveTarget { pass });
    }
    let copied = uses.iter().find(|access| access.kind.is_transfer());
    let pass = copied.map(|access| checker.pass(access.pass));
    match plan.frame.resource(resource).kind {
        ResourceKind::Image { usage, .. } => {
            let copies = vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST;
            usage.intersects(copies).then_some(TileRule::Transfer { pass })
        }
        ResourceKind::Buffer { usage, .. } => {
            let copies = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
            if usage.intersects(copies) && !tile.buffer_transfers {
                return Some(TileRule::Transfer { pass });
            }
            let beyond = usage & !(TILE_BUFFER_USAGE | copies);
            (!beyond.is_empty()).then_some(TileRule::BufferUsage { usage: beyond })
        }
    }
}

/// The usage that tile buffers may have, copies aside.
const TILE_BUFFER_USAGE: vk::BufferUsageFlags = vk::BufferUsageFlags::from_raw(
    vk::BufferUsageFlags::UNIFORM_TEXEL_BUFFER.as_raw()
        | vk::BufferUsageFlags::STORAGE_TEXEL_BUFFER.as_raw()
        | vk::BufferUsageFlags::UNIFORM_BUFFER.as_raw()
        | vk::BufferUsageFlags::STORAGE_BUFFER.as_raw()
        | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS.as_raw()
        // `VK_BUFFER_USAGE_TILE_MEMORY_BIT_QCOM` itself.
        | 0x0800_0000,
);

/// The stretch over which tile memory keeps what passes write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Window {
    /// `queueSubmitBoundary`.
    Submit(SubmitId),
    /// Without it.
    Batch(BatchId),
    /// For comparison with published tables.
    Frame,
}

/// The discard window of a batch.
pub(super) fn window_of(plan: &Plan, batch: BatchId) -> Window {
    let boundary = plan.profile.tile.is_some_and(|tile| tile.queue_submit_boundary);
    match plan.options.windows {
        WindowRule::WholeFrame => Window::Frame,
        WindowRule::Device if boundary => Window::Submit(plan.frame.batches()[batch.index()].submit),
        WindowRule::Device => Window::Batch(batch),
    }
}

/// All of `uses` are on one queue and in one window.
fn window_rule(checker: &Checker<'_>, uses: &[&Access]) -> Option<TileRule> {
    let frame = &checker.plan.frame;
    let first = uses.first()?;
    for access in uses {
        let (first, second) = (first.pass, access.pass);
        if frame.queue_of(first) != frame.queue_of(second) {
            let (first, second) = (checker.pass(first), checker.pass(second));
            return Some(TileRule::TwoQueues { first, second });
        }
        let window = |pass| window_of(checker.plan, frame.batch_of(pass));
        if window(first) != window(second) {
            let (first, second) = (checker.pass(first), checker.pass(second));
            return Some(TileRule::TwoWindows { first, second });
        }
    }
    None
}

fn check_tile(checker: &mut Checker<'_>, index: usize) {
    let plan = checker.plan;
    let id = plan.placements[index].resource;
    if plan.options.strategy == Strategy::Off {
        let resource = checker.resident(index);
        checker.report(ResidenceError::AgainstOptions {
            resource,
            memory: MemoryKind::Tile,
            option: "strategy `off`",
        });
    }
    if plan.frame.resource(id).tile_constraint == TileConstraint::Excluded {
        let resource = checker.resident(index);
        checker.report(ResidenceError::AgainstOptions {
            resource,
            memory: MemoryKind::Tile,
            option: "the resource is excluded from tile memory",
        });
    }
    if let Some(rule) = tile_rule(checker, id) {
        let resource = checker.resident(index);
        checker.report(ResidenceError::Tile { resource, rule });
    }
}

/// Lazily allocated memory is used only inside one render pass, as an attachment.
fn check_lazy(checker: &mut Checker<'_>, index: usize) {
    let plan = checker.plan;
    let id = plan.placements[index].resource;
    let resource = checker.resident(index);
    if !plan.options.lazy {
        checker.report(ResidenceError::AgainstOptions {
            resource: resource.clone(),
            memory: MemoryKind::Lazy,
            option: "no lazily allocated memory",
        });
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
        "two passes use it"
    } else {
        return;
    };
    checker.report(ResidenceError::Lazy { resource, why });
}

/// Histories keep their bytes, external resources bring theirs.
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
                let resource = resource.clone();
                checker.report(ResidenceError::History {
                    resource,
                    memory,
                    span,
                });
            }
        }
        Persistence::External(_) => {
            if object.is_some() || memory != MemoryKind::Dedicated {
                checker.report(ResidenceError::External {
                    resource,
                    memory,
                    object: if object.is_some() { "with" } else { "without" },
                    why: "its memory is the caller's: memory Own and no object",
                });
            }
            return;
        }
    }
    if object.is_none() {
        checker.report(ResidenceError::External {
            resource,
            memory,
            object: "without",
            why: "only an external resource needs no object",
        });
    }
}

/// Every pass has the right object bound for what it uses.
fn check_bindings(checker: &mut Checker<'_>) {
    let plan = checker.plan;
    for (id, pass) in plan.frame.pass_ids().zip(&plan.passes) {
        let Some(bound) = pass.bound_object else { continue };
        let memory = plan.objects[bound.index()].memory;
        if memory != MemoryKind::Tile {
            let (pass, object) = (checker.pass(id), bound.index());
            checker.report(ResidenceError::BoundNotTile { pass, object, memory });
        }
        let queue = &plan.frame.queues()[plan.frame.queue_of(id).index()];
        if !queue
            .capabilities
            .intersects(vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE)
        {
            let (pass, queue) = (checker.pass(id), queue.name.clone());
            checker.report(ResidenceError::BoundOnTransferQueue { pass, queue });
        }
    }
    for access in plan.frame.accesses() {
        let placement = plan.placements[plan.placement_of(access).index()];
        let bound = plan.passes[access.pass.index()].bound_object;
        let Some(object) = placement.object.filter(|_| placement.memory == MemoryKind::Tile) else {
            continue;
        };
        if bound != Some(object) {
            let (pass, resource) = (checker.pass(access.pass), checker.resource(access.resource));
            checker.report(ResidenceError::WrongObjectBound {
                pass,
                resource,
                object: object.index(),
                bound: match bound {
                    Some(other) => format!("object {}", other.index()),
                    None => "nothing".to_owned(),
                },
            });
        }
    }
}

/// While a tile placement is live, every pass of its queue binds as much: an action command with less bound loses what is above.
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
                checker.report(ResidenceError::BoundTooSmall {
                    pass,
                    resource,
                    bound,
                    end,
                });
            }
        }
    }
}

/// Whether such an access of an attachment needs no memory behind it while its render pass runs.
pub(super) fn stays_on_chip(kind: AccessKind) -> bool {
    kind.is_attachment() || kind == AccessKind::InputAttachment
}

fn uses_of(plan: &Plan, resource: ResourceId) -> impl Iterator<Item = &Access> {
    plan.frame
        .accesses()
        .iter()
        .filter(move |access| access.resource == resource)
}
