//! The traffic of a planned frame, one metric for described and executed frames:
//!
//! ```text
//! share on chip = 1 - (bytes that still move off chip + charges) / bytes that the described frame moves
//! ```
//! Every access counts by [`Frame::traffic_of`]; an attachment that one render pass makes and drops moves nothing, since binning keeps it
//! on chip; what is in tile memory moves nothing; stores of split lifetimes move what they write. Charges are what arrangements pay for:
//! repeated passes, halos, merged passes.

use super::{PlacementReason, Plan, WindowRule};
use crate::frame::tables::{Contents, PassKind};
use crate::frame::{AccessKind, Frame, PassId, Persistence, ResourceId};
use crate::measure::Requirements;
use crate::units::Bytes;

/// The bytes that count as a resource's: in tile memory where it may be placed there, else in ordinary memory; of external resources,
/// which require no memory, those of their contents.
pub(crate) fn counted_size(frame: &Frame, requirements: &Requirements, id: ResourceId) -> Bytes {
    let (resource, needs) = (frame.resource(id), &requirements.resources[id.index()]);
    match resource.persistence {
        Persistence::External(_) => resource.content_size(),
        _ => needs.tile.map_or(needs.size, |tile| tile.size),
    }
}

/// The bytes that a frame moves of a resource that is off chip. Stores do not count: they are not the frame's.
pub(crate) fn traffic_off_chip(frame: &Frame, requirements: &Requirements, id: ResourceId) -> Bytes {
    let size = counted_size(frame, requirements, id);
    let uses = frame.accesses_to(id);
    let described = uses.filter(|access| frame.pass(access.pass).contents != Contents::Store);
    described.map(|access| frame.traffic_of(access, size)).sum()
}

/// The render pass that makes and drops a resource, which is an attachment of that pass and used by no other; published tables
/// make no such difference.
pub(crate) fn only_render_pass(frame: &Frame, id: ResourceId, windows: WindowRule) -> Option<PassId> {
    let first = frame.accesses_to(id).next()?.pass;
    let attached = |kind| {
        matches!(
            kind,
            AccessKind::ColorAttachment | AccessKind::DepthStencilAttachment | AccessKind::InputAttachment
        )
    };
    let is_only = windows == WindowRule::Device
        && frame.resource(id).persistence == Persistence::Transient
        && frame.pass(first).kind == PassKind::Render
        && frame
            .accesses_to(id)
            .all(|access| access.pass == first && attached(access.kind));
    is_only.then_some(first)
}

impl Plan {
    /// The bytes that cross the memory bus in a frame: those of all resources that are not in tile memory, and what stores write.
    pub fn dram_traffic(&self) -> Bytes {
        let (frame, windows) = (&self.frame, self.options.windows);
        let off_chip = frame.resource_ids().filter(|&id| {
            let is_tile = matches!(self.resources[id.index()].reason, PlacementReason::Tile { .. });
            !is_tile && only_render_pass(frame, id, windows).is_none()
        });
        let moved: Bytes = off_chip
            .map(|id| traffic_off_chip(frame, &self.requirements, id))
            .sum();
        moved + self.totals.stored_bytes
    }
}
