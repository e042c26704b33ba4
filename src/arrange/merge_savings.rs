//! Traffic saved by merging passes: the loads and stores between them, including those of resources that are used later.
//!
//! ```text
//! passes      opaque         sky               transparent       tonemap
//! hdr         clear, store   load, store       load, store       read       6 times
//! merged      clear ·················· in the tiles ······· store    read       2 times
//! ```
//! A merged pass loads an attachment before its first subpass and stores it after its last, over its whole area: at most once each, no load if it
//! begins with a clear, and no store if nothing uses it afterwards.

use ash::vk;

use super::mergeable::MergeablePasses;
use super::traffic::Model;
use crate::frame::tables::{Access, Resource};
use crate::frame::{Frame, PassId, Persistence, ResourceId, SubresourceRange};
use crate::units::Bytes;

/// The attachment accesses of consecutive passes, as if these were one render pass.
struct Attachments<'a> {
    frame: &'a Frame,
    passes: &'a [PassId],
}

impl<'a> Attachments<'a> {
    /// Every access to an attachment, with the index of its pass in the group.
    fn iter(&self) -> impl Iterator<Item = (usize, &'a Access)> + use<'a> {
        let frame = self.frame;
        let passes = self.passes.iter().enumerate();
        passes
            .flat_map(move |(at, &pass)| frame.accesses_of(pass).iter().map(move |access| (at, access)))
            .filter(|(_, access)| access.kind.is_attached())
    }

    /// The accesses to the same attachment that precede an access.
    fn before(&self, at: usize, access: &'a Access) -> impl Iterator<Item = &'a Access> + use<'a> {
        let place = (at, access.subpass);
        self.iter()
            .filter(move |(other_at, other)| {
                (*other_at, other.subpass) < place
                    && (other.resource, other.version) == (access.resource, access.version)
                    && other.range.intersects(access.range)
            })
            .map(|(_, other)| other)
    }

    /// Number of loads and stores of an attachment that one access of a pass adds to those of earlier accesses in the group.
    fn times(&self, at: usize, access: &'a Access, is_kept: bool) -> u64 {
        let loads = access.reads && self.before(at, access).next().is_none();
        let stores = access.writes && is_kept && !self.before(at, access).any(|other| other.writes);
        u64::from(loads) + u64::from(stores)
    }
}

impl Model<'_> {
    /// Per resource, the bytes that merging a group of passes keeps on chip; negative if the merged pass renders a larger area than its parts.
    /// `runs_later` returns true for passes that run after the group.
    pub(super) fn merge_savings(
        &self,
        passes: &[PassId],
        runs_later: impl Fn(PassId) -> bool,
    ) -> Vec<(ResourceId, i64)> {
        let frame = self.plan.input.frame();
        let attachments = Attachments { frame, passes };
        let area = passes
            .iter()
            .map(|&pass| frame.pass(pass).area)
            .reduce(crate::frame::union)
            .unwrap_or_default();
        let mut savings: Vec<(ResourceId, i64)> = Vec::new();
        for (at, access) in attachments.iter() {
            let id = access.resource;
            let size = self.counted_size(id);
            let is_kept = frame.resource(id).persistence != Persistence::Transient
                || frame
                    .accesses_to(id)
                    .any(|other| runs_later(other.pass) && other.range.intersects(access.range));
            let times = attachments.times(at, access, is_kept);
            let merged = match times {
                0 => 0,
                _ => times * frame.bytes_rendered(access, area, size).0,
            };
            let saved = frame.traffic_of(access, size).0 as i64 - merged as i64;
            match savings.iter_mut().find(|(other, _)| *other == id) {
                Some((_, sum)) => *sum += saved,
                None => savings.push((id, saved)),
            }
        }
        savings
    }

    /// Returns true if some arrangement merges passes so that an access moves nothing: with another access to the same attachment, or with
    /// any pass if nothing needs what the access writes.
    pub(super) fn may_be_merged(&self, access: &Access, merging: &MergeablePasses<'_>) -> bool {
        let frame = self.plan.input.frame();
        let (id, pass) = (access.resource, access.pass);
        let mut others = frame.accesses_to(id).filter(|other| other.pass != pass);
        let is_needed = |other: &Access| other.pass > pass && other.range.intersects(access.range);
        let is_kept = frame.resource(id).persistence != Persistence::Transient
            || !access.writes
            || frame.accesses_to(id).any(is_needed);
        access.kind.is_attached()
            && (others.any(|other| other.kind.is_attached() && merging.merges(pass, other.pass))
                || !is_kept && frame.pass_ids().any(|other| merging.merges(pass, other)))
    }

    /// Minimum number of bytes that a resource moves, whatever passes are merged, if only some of its accesses are on chip: those for which
    /// `is_on_chip` returns true. These move nothing themselves, but their writes are stored before an off-chip access needs them.
    pub(super) fn least_off_chip(
        &self,
        id: ResourceId,
        merging: &MergeablePasses<'_>,
        is_on_chip: impl Fn(&Access) -> bool,
    ) -> Bytes {
        let frame = self.plan.input.frame();
        let size = self.counted_size(id);
        let mut least = Bytes::ZERO;
        let mut stored = StoredParts::default();
        for access in frame.accesses_to(id) {
            if is_on_chip(access) || self.may_be_merged(access, merging) {
                if access.writes && frame.times_moved(access) > 0 {
                    stored.add(access.range, frame.bytes_touched(access, size));
                }
                continue;
            }
            least += frame.traffic_of(access, size);
            if access.needs_contents() {
                least += stored.take(
                    frame.resource(id),
                    access.range,
                    (frame.bytes_touched(access, size), size),
                );
            } else if access.writes {
                // Nothing else may need what is overwritten.
                stored = StoredParts::default();
            }
        }
        match frame.resource(id).persistence {
            Persistence::Transient => least,
            _ => least + stored.all(),
        }
    }
}

/// Writes on chip that no store has been counted for: whatever is merged, the union of their areas is stored before another pass needs it.
#[derive(Default)]
struct StoredParts {
    /// Ranges that do not intersect, each with the bytes of the largest area written there.
    parts: Vec<(SubresourceRange, Bytes)>,
}

impl StoredParts {
    fn add(&mut self, range: SubresourceRange, bytes: Bytes) {
        let touched = self.parts.iter().filter(|(other, _)| other.intersects(range));
        let all: Bytes = touched.map(|(_, bytes)| *bytes).sum();
        // A write across several ranges replaces them only if it is larger.
        if all <= bytes {
            self.parts.retain(|(other, _)| !other.intersects(range));
            self.parts.push((range, bytes));
        }
    }

    /// The bytes stored before an access that touches `touched` of the resource's `size` bytes, in a range; they are not counted again.
    fn take(
        &mut self,
        resource: &Resource,
        range: SubresourceRange,
        (touched, size): (Bytes, Bytes),
    ) -> Bytes {
        let (needed, rest): (Vec<_>, Vec<_>) = std::mem::take(&mut self.parts)
            .into_iter()
            .partition(|(other, _)| other.intersects(range));
        self.parts = rest;
        let is_all =
            touched == resource.bytes_in(range, size) && needed.iter().all(|(part, _)| range.contains(*part));
        if is_all {
            return needed.iter().map(|(_, bytes)| *bytes).sum();
        }
        // The positions of both in the resource are unknown: they are assumed to be as far apart as possible. Parts of different aspects
        // are in the same texels, and each counts the bytes of all aspects.
        let mut written: Vec<(vk::ImageAspectFlags, Bytes)> = Vec::new();
        for (part, bytes) in needed {
            match written.iter_mut().find(|(aspects, _)| *aspects == part.aspects) {
                Some((_, sum)) => *sum += bytes,
                None => written.push((part.aspects, bytes)),
            }
        }
        let stored = written
            .into_iter()
            .map(|(_, written)| Bytes((touched + written).0.saturating_sub(size.0)));
        stored.sum()
    }

    fn all(&self) -> Bytes {
        self.parts.iter().map(|(_, bytes)| *bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::tables::ResourceKind;
    use crate::frame::{ImageDesc, TileConstraint};

    const DEPTH: vk::ImageAspectFlags = vk::ImageAspectFlags::DEPTH;
    const STENCIL: vk::ImageAspectFlags = vk::ImageAspectFlags::STENCIL;

    fn depth_stencil() -> Resource {
        let extent = vk::Extent3D {
            width: 64,
            height: 64,
            depth: 1,
        };
        Resource {
            name: "depth".to_owned(),
            kind: ResourceKind::Image {
                desc: ImageDesc::new(vk::Format::D24_UNORM_S8_UINT, extent),
                extent,
                usage: vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT,
            },
            persistence: Persistence::Transient,
            tile_constraint: TileConstraint::None,
            level_of: None,
        }
    }

    /// The bytes of a 1000-byte image that are stored before a read of both aspects of some of its texels, after writes of the given bytes.
    fn stored(writes: &[(vk::ImageAspectFlags, u64)], touched: u64) -> u64 {
        let resource = depth_stencil();
        let of = |aspects| SubresourceRange {
            aspects,
            ..resource.whole()
        };
        let mut parts = StoredParts::default();
        for &(aspects, bytes) in writes {
            parts.add(of(aspects), Bytes(bytes));
        }
        let stored = parts.take(&resource, resource.whole(), (Bytes(touched), Bytes(1000)));
        assert_eq!(parts.all(), Bytes::ZERO);
        stored.0
    }

    /// Depth and stencil may be written to the same texels: together they are no larger than the larger of the two.
    #[test]
    fn writes_of_one_aspect_may_be_apart_from_what_is_read() {
        assert_eq!(stored(&[(DEPTH, 500), (STENCIL, 500)], 500), 0);
        assert_eq!(stored(&[(DEPTH, 800), (STENCIL, 500)], 500), 300);
        assert_eq!(stored(&[(DEPTH, 800), (STENCIL, 700)], 500), 500);
        assert_eq!(stored(&[(DEPTH | STENCIL, 800)], 500), 300);
        assert_eq!(stored(&[(DEPTH, 500), (STENCIL, 500)], 1000), 1000);
    }
}
