//! Lower bound on the bytes that a resource moves if strips hold it between copies at their border.

use super::check::can_merge;
use super::strips::can_repeat;
use super::traffic::Model;
use super::uses::{is_attached, is_divisible};
use crate::frame::tables::{Access, HistoryVersion};
use crate::frame::{AccessKind, Frame, PassId, Persistence, ReadReach, ResourceId, TileConstraint};
use crate::units::Bytes;

/// Returns true if no strip can make an access, regardless of what is divided.
fn is_of_whole(frame: &Frame, access: &Access) -> bool {
    access.version == HistoryVersion::Previous
        || access.kind.is_transfer()
        || access.kind == AccessKind::ResolveAttachment
        || access.needs_contents() && access.reach() == ReadReach::Anywhere
        || can_repeat(frame, access.pass).is_err()
}

/// Returns true if strips may copy a resource in and out.
fn may_be_at_border(frame: &Frame, id: ResourceId) -> bool {
    let resource = frame.resource(id);
    let mut uses = frame.accesses_to(id);
    let storable = uses
        .next()
        .is_some_and(|first| frame.border_attachment(id, first.pass).is_ok());
    storable
        && !matches!(resource.persistence, Persistence::External(_))
        && resource.tile_constraint == TileConstraint::None
        && resource.level_of.is_none()
}

/// Returns true if strips may hold a resource: between copies, or for its whole lifetime.
fn may_be_divided(frame: &Frame, id: ResourceId) -> bool {
    let resource = frame.resource(id);
    let inside = is_divisible(frame, id)
        && resource.persistence == Persistence::Transient
        && !frame.accesses_to(id).any(|access| is_of_whole(frame, access));
    inside || may_be_at_border(frame, id)
}

impl Model<'_> {
    /// Bytes that a resource moves at least if strips hold it wherever possible; `None` if no strip can hold it, or without a tile heap.
    pub(super) fn least_at_borders(&self, id: ResourceId) -> Option<Bytes> {
        let frame = self.plan.input.frame();
        if self.heap() == 0 || !may_be_divided(frame, id) {
            return None;
        }
        // The attachments of one render pass are divided together or not at all.
        let is_undivided = |pass: PassId| {
            let mut attached = frame
                .accesses_of(pass)
                .iter()
                .filter(|access| is_attached(access));
            attached.any(|access| !may_be_divided(frame, access.resource))
        };
        let is_whole =
            |access: &Access| is_of_whole(frame, access) || is_attached(access) && is_undivided(access.pass);
        let merges = |access: &Access| {
            access.kind.is_attached()
                && frame.accesses_to(id).any(|other| {
                    let (first, second) = (access.pass.min(other.pass), access.pass.max(other.pass));
                    other.kind.is_attached() && first != second && can_merge(frame, &[first, second]).is_ok()
                })
        };
        let size = self.counted_size(id);
        let (whole, divided): (Vec<&Access>, Vec<&Access>) =
            frame.accesses_to(id).partition(|access| is_whole(access));
        let persists = frame.resource(id).persistence != Persistence::Transient;
        let moved: Bytes = whole
            .iter()
            .filter(|access| !merges(access))
            .map(|access| frame.traffic_of(access, size))
            .sum();
        let is_stored = divided.iter().any(|access| access.writes)
            && !whole.iter().any(|access| access.writes)
            && (persists || whole.iter().any(|access| access.needs_contents()));
        let is_loaded = !divided.is_empty()
            && whole.iter().any(|access| access.writes)
            && !divided.iter().any(|access| access.writes);
        let copies = u64::from(is_stored) + u64::from(is_loaded);
        Some(Bytes(moved.0 + copies * size.0))
    }
}
