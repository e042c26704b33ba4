//! Eligibility: the placement rules, applied before residents are chosen.

use ash::vk;

use super::context::{Context, Ruling};
use super::{OffChipReason, WindowRule, model};
use crate::frame::tables::{Access, CommandSource, ResourceKind};
use crate::frame::{AccessKind, Frame, PassId, Persistence, QueueId, ResourceId, TileConstraint};
use crate::measure::DedicatedRequirement;
use crate::profile::TileHeap;

pub(super) fn rulings(context: &Context<'_>) -> Vec<Ruling> {
    let frame = context.frame;
    let stores = frame
        .passes()
        .iter()
        .any(|pass| pass.contents == CommandSource::Store);
    let judge = |id| match stores.then(|| stored_by(frame, id)).flatten() {
        Some(pass) => match resource_ruling(context, id) {
            Ruling::Tile(_) => Ruling::Ordinary(OffChipReason::Stored { pass }),
            other => other,
        },
        None => resource_ruling(context, id),
    };
    frame.resource_ids().map(judge).collect()
}

fn resource_ruling(context: &Context<'_>, id: ResourceId) -> Ruling {
    let Context { frame, options, .. } = *context;
    let uses = Uses {
        frame,
        indices: frame.uses_of(id),
    };
    if uses.iter().next().is_none() {
        return Ruling::Unused;
    }
    let needs = &context.requirements.resources[id.index()];
    let persistence = frame.resource(id).persistence;
    if matches!(persistence, Persistence::External(_)) {
        return Ruling::External;
    }
    let published = options.windows == WindowRule::WholeFrame;
    let one_pass = context.only_passes[id.index()];
    if let Some(pass) = one_pass.filter(|_| options.lazy && needs.lazy_type_bits != 0) {
        return Ruling::Lazy(pass);
    }
    let Some(heap) = context.heap else {
        return Ruling::Ordinary(OffChipReason::NoTileHeap);
    };
    if persistence == Persistence::History {
        return Ruling::Ordinary(OffChipReason::History);
    }
    if let Some(pass) = one_pass {
        return Ruling::Ordinary(OffChipReason::OnePass { pass });
    }
    if !published {
        if let Some(reason) = excluding_rule(context, &heap, uses.indices, id) {
            return Ruling::Ordinary(reason);
        }
    }
    match needs.tile {
        // A dedicated allocation cannot be at an offset in the heap.
        _ if needs.dedicated == DedicatedRequirement::Required => Ruling::Ordinary(OffChipReason::Refused),
        None => Ruling::Ordinary(OffChipReason::Refused),
        Some(tile) if tile.size > heap.size => Ruling::Ordinary(OffChipReason::TooLarge {
            size: tile.size,
            heap: heap.size,
        }),
        Some(tile) => {
            let savings = uses
                .iter()
                .map(|access| model::savings(frame, access, tile.size))
                .sum();
            match frame.resource(id).tile_constraint {
                TileConstraint::Excluded => Ruling::Ordinary(OffChipReason::Excluded { savings }),
                TileConstraint::None | TileConstraint::Pinned => Ruling::Tile(savings),
            }
        }
    }
}

/// The store pass that copies a resource out of tile memory into the resource `id`, if any.
pub(super) fn stored_by(frame: &Frame, id: ResourceId) -> Option<PassId> {
    let mut written = frame
        .accesses_to(id)
        .filter(|access| access.writes)
        .map(|access| access.pass);
    written.find(|pass| frame.pass(*pass).contents == CommandSource::Store)
}

/// The first rule of the specification that keeps a resource out of tile memory during some of its accesses; `indices` are those of the accesses.
pub(super) fn excluding_rule(
    context: &Context<'_>,
    heap: &TileHeap,
    indices: &[u32],
    id: ResourceId,
) -> Option<OffChipReason> {
    let Context { frame, timeline, .. } = context;
    let uses = Uses { frame, indices };
    let image = frame.resource(id).is_image();
    let mut last: Option<PassId> = None;
    for access in uses.iter() {
        let (pass, kind) = (access.pass, access.kind);
        if let Some(last) = last {
            if timeline.queue_of(last) != timeline.queue_of(pass) {
                return Some(OffChipReason::CrossesQueues { last, next: pass });
            }
        }
        if kind.is_transfer() && (image || !heap.buffer_transfers) {
            return Some(OffChipReason::Transfer { pass });
        }
        if !can_bind(frame, timeline.queue_of(pass)) {
            return Some(OffChipReason::TransferQueue { pass });
        }
        if kind == AccessKind::ResolveAttachment {
            return Some(OffChipReason::ResolveTarget { pass });
        }
        if !image && !kind.is_transfer() && !kind.buffer_usage().intersects(TILE_BUFFER_USAGE) {
            return Some(OffChipReason::BufferUse { pass, kind });
        }
        if let Some(last) = last {
            if timeline.window_of(last) != timeline.window_of(pass) {
                return Some(OffChipReason::CrossesWindows { last, next: pass });
            }
        }
        last = Some(pass);
    }
    let transfers = heap.buffer_transfers;
    let declared = match frame.resource(id).kind {
        ResourceKind::Image { usage, .. } => {
            usage.intersects(vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST)
        }
        ResourceKind::Buffer { usage, .. } => {
            let copies = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
            let permitted = if transfers {
                TILE_BUFFER_USAGE | copies
            } else {
                TILE_BUFFER_USAGE
            };
            !(usage & !permitted).is_empty()
        }
    };
    declared.then_some(OffChipReason::DeclaredUsage)
}

/// Returns true if commands on a queue may bind tile memory, by its capabilities.
fn can_bind(frame: &Frame, queue: QueueId) -> bool {
    let capabilities = frame.queues()[queue.index()].capabilities;
    capabilities.intersects(vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE)
}

/// The permitted usage of a tile buffer, except transfers with `tileBufferTransfers`.
///
/// Source: VUID-VkBufferCreateInfo-usage-10764.
const TILE_BUFFER_USAGE: vk::BufferUsageFlags = vk::BufferUsageFlags::from_raw(
    vk::BufferUsageFlags::UNIFORM_TEXEL_BUFFER.as_raw()
        | vk::BufferUsageFlags::STORAGE_TEXEL_BUFFER.as_raw()
        | vk::BufferUsageFlags::UNIFORM_BUFFER.as_raw()
        | vk::BufferUsageFlags::STORAGE_BUFFER.as_raw()
        | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS.as_raw(),
);

/// The accesses of one resource in timeline order.
struct Uses<'a> {
    frame: &'a Frame,
    indices: &'a [u32],
}

impl Uses<'_> {
    fn iter(&self) -> impl Iterator<Item = &Access> {
        let accesses = self.frame.accesses();
        self.indices.iter().map(move |&index| &accesses[index as usize])
    }
}

/// Returns true if a stretch of the resource may be in tile memory, and only lack of room can keep the whole resource out.
pub(super) fn could_be_whole(context: &Context<'_>, id: ResourceId) -> bool {
    let (frame, timeline, rulings) = (context.frame, &context.timeline, &context.rulings);
    let Ruling::Ordinary(OffChipReason::Stored { pass }) = rulings[id.index()] else {
        return false;
    };
    let from = frame.accesses_of(pass)[0].resource;
    let place = |pass: PassId| (timeline.window_of(pass), timeline.queue_of(pass));
    let last = frame.lifetime_of(id).end.0.saturating_sub(1);
    matches!(rulings[from.index()], Ruling::Tile(_)) && place(pass) == place(PassId(last))
}
