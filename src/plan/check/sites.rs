//! Sites: the placement that an access uses, and the bytes of memory that it occupies.

use crate::frame::tables::{Access, HistoryVersion};
use crate::frame::{QueueId, ResourceId};
use crate::plan::{MemoryKind, Placement, Plan, WindowRule};
use crate::units::{Alignment, Bytes};

/// An address space, in which equal offsets mean the same byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Space {
    /// The tile heap of one queue: every tile object starts at its address 0, and each queue has separate contents (`None` if the whole frame is one
    /// window).
    Tile(Option<QueueId>),
    /// An ordinary memory object.
    Object(usize),
    /// The caller's memory of an external resource.
    Caller(ResourceId),
}

/// The bytes of a placement: `[first, end)` of a space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Site {
    pub(super) space: Space,
    pub(super) first: u64,
    pub(super) end: u64,
    /// True for a buffer: buffers are linear, images optimally tiled.
    pub(super) linear: bool,
}

impl Site {
    /// Returns true if two sites overlap in memory.
    ///
    /// A buffer and an image in one page of `granularity` bytes alias each other even if no byte is shared (Vulkan
    /// specification, "Buffer-Image Granularity"); tile memory has no such pages.
    pub(super) fn aliases(self, other: Site, granularity: Alignment) -> bool {
        let mine = self.seen_by(other, granularity);
        self.space == other.space && mine.0 < other.end && other.first < mine.1
    }

    /// The bytes of this site that count for an overlap with `other`: whole pages if one is linear and the other is not.
    pub(super) fn seen_by(self, other: Site, granularity: Alignment) -> (u64, u64) {
        if self.linear == other.linear || !matches!(self.space, Space::Object(_)) {
            return (self.first, self.end);
        }
        let page = granularity.get();
        let end = Bytes(self.end)
            .checked_align_up(granularity)
            .unwrap_or(Bytes(u64::MAX));
        (self.first - self.first % page, end.0)
    }
}

/// The placement that an access uses: the second for the previous version of a history, which has one per version. If a resource has images in
/// several objects, the pass uses the one in the bound object (VUID-vkCmdDraw-commandBuffer-10746), or the first if none is there.
pub(super) fn placement_of(plan: &Plan, access: &Access) -> usize {
    let mut run = plan.resources[access.resource.index()].placements.indices();
    if access.version == HistoryVersion::Previous {
        return run.start + 1;
    }
    let bound = plan.passes[access.pass.index()].bound_object;
    let (first, is_bound) = (run.start, |&index: &usize| plan.placements[index].object == bound);
    run.find(|index| bound.is_some() && is_bound(index))
        .unwrap_or(first)
}

/// The accesses that use a placement, in the order of the passes.
pub(super) fn uses_of(plan: &Plan, placement: usize) -> impl Iterator<Item = &Access> {
    let uses = plan.frame.accesses_to(plan.placements[placement].resource);
    uses.filter(move |access| placement_of(plan, access) == placement)
}

/// The site of every placement. For a tile placement on several queues (a fault), the first queue counts.
pub(super) fn sites(plan: &Plan) -> Vec<Site> {
    let site = |(index, placement): (usize, &Placement)| Site {
        space: space(plan, index, placement),
        first: placement.offset.0,
        end: placement.offset.0.saturating_add(placement.size.0),
        linear: !plan.frame.resource(placement.resource).is_image(),
    };
    plan.placements.iter().enumerate().map(site).collect()
}

fn space(plan: &Plan, index: usize, placement: &Placement) -> Space {
    match placement.object {
        None => Space::Caller(placement.resource),
        Some(object) if placement.memory != MemoryKind::Tile => Space::Object(object.index()),
        Some(_) if plan.options.windows == WindowRule::WholeFrame => Space::Tile(None),
        Some(_) => {
            let first = uses_of(plan, index).next();
            Space::Tile(first.map(|access| plan.frame.queue_of(access.pass)))
        }
    }
}
