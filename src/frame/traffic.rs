//! Traffic: the bytes that an access moves between a resource in memory and the chip. All traffic is counted here.
//!
//! ```text
//!                                        moved each time                                            times
//! attachment, input attachment           its levels and layers, as far as the pass renders them     1 to load, 1 to store
//! copy, sampled, storage, buffer         its levels and layers; of a buffer, all                    1 to read, 1 to write
//! any with a share                       that share of its levels and layers                        the same
//!
//! clear   renders to all of an atlas of 32 MiB   32 MiB stored
//! shadow  renders to a quarter of it              8 MiB loaded + 8 MiB stored
//! light   samples it                             32 MiB read
//! ```
//! A pass renders its [area](super::tables::Pass::area), declared or derived, in the layers that all of its attachments have, or in one layer per
//! view. Within a render pass of several subpasses, an attachment is loaded by the first that uses it, stored once, and not stored if no later pass
//! uses it and the frame does not keep it.

use super::area::{intersection, viewed_extent};
use super::tables::{Access, CommandSource, Pass, PassKind, Resource, ResourceKind};
use super::{AccessKind, Frame, Persistence, ResourceId};
use crate::units::Bytes;
use tileheap_device::profile::content_bytes;

impl Frame {
    /// The bytes that an access moves from or to a resource in memory, which has `size` bytes in total: the bytes that it [touches](Frame::bytes_touched),
    /// times the number of times it [moves](Frame::times_moved) them.
    pub fn traffic_of(&self, access: &Access, size: Bytes) -> Bytes {
        let (pass, resource) = (self.pass(access.pass), self.resource(access.resource));
        self.moved(access, (pass, resource), size)
    }

    /// The bytes that all accesses to a resource move, except those of stores.
    pub(crate) fn traffic_of_uses(&self, id: ResourceId, size: Bytes) -> Bytes {
        let resource = self.resource(id);
        let uses = self
            .accesses_to(id)
            .map(|access| (access, self.pass(access.pass)));
        let described = uses.filter(|(_, pass)| pass.contents != CommandSource::Store);
        described
            .map(|(access, pass)| self.moved(access, (pass, resource), size))
            .sum()
    }

    /// Like [`Frame::traffic_of`], given the pass and the resource.
    #[inline]
    fn moved(&self, access: &Access, (pass, resource): (&Pass, &Resource), size: Bytes) -> Bytes {
        let times = u64::from(self.times_moved_in(access, pass));
        Bytes(times.saturating_mul(touched(access, (pass, resource), size).0))
    }

    /// Number of times that an access moves the bytes that it touches: once for reading, once for writing; never for accesses by shaders within their tile. In
    /// a pass with several subpasses, an attachment is loaded and stored at most once, and stored only if a later pass uses it or it outlives the frame.
    pub fn times_moved(&self, access: &Access) -> u32 {
        self.times_moved_in(access, self.pass(access.pass))
    }

    #[inline]
    fn times_moved_in(&self, access: &Access, pass: &Pass) -> u32 {
        if access.kind == AccessKind::TileAttachment {
            return 0;
        }
        if pass.subpasses == 1 || !access.kind.is_attached() {
            return u32::from(access.reads) + u32::from(access.writes);
        }
        let loads = access.reads && !access.continues_attachment;
        let stores = access.writes && !self.is_stored_earlier(access) && self.is_kept_after(access);
        u32::from(loads) + u32::from(stores)
    }

    /// The bytes that an access touches of a resource that has `size` bytes in total: the declared [share](Access::share) of its part; else, for an
    /// attachment, what its pass renders to; else its part.
    pub fn bytes_touched(&self, access: &Access, size: Bytes) -> Bytes {
        let (pass, resource) = (self.pass(access.pass), self.resource(access.resource));
        touched(access, (pass, resource), size)
    }

    /// The bytes of an attachment that a pass touches if it renders to `area`.
    #[cfg(feature = "arrange")]
    pub(crate) fn bytes_rendered(&self, access: &Access, area: ash::vk::Rect2D, size: Bytes) -> Bytes {
        let (pass, resource) = (self.pass(access.pass), self.resource(access.resource));
        let (part, of) = rendered_texels(access, area, (pass, resource)).unwrap_or((1, 1));
        let bytes = resource.bytes_in(access.range, size);
        Bytes((u128::from(bytes.0) * part / of.max(1)) as u64)
    }

    /// Returns true if an earlier subpass of the pass writes the same attachment: the store is then counted for that subpass.
    fn is_stored_earlier(&self, access: &Access) -> bool {
        let earlier = |other: &Access| {
            other.kind.is_attached()
                && other.writes
                && other.subpass < access.subpass
                && (other.resource, other.version) == (access.resource, access.version)
                && other.range.intersects(access.range)
        };
        self.accesses_of(access.pass).iter().any(earlier)
    }

    /// Returns true if a later pass uses the same part, or if the resource outlives the frame.
    fn is_kept_after(&self, access: &Access) -> bool {
        let uses = self.uses_of(access.resource).iter().rev();
        let later = uses.map(|&index| &self.accesses()[index as usize]);
        self.resource(access.resource).persistence != Persistence::Transient
            || later
                .take_while(|other| other.pass > access.pass)
                .any(|other| other.range.intersects(access.range))
    }
}

/// Like [`Frame::bytes_touched`], given the pass and the resource.
#[inline]
fn touched(access: &Access, (pass, resource): (&Pass, &Resource), size: Bytes) -> Bytes {
    let bytes = match resource.is_all(access.range) {
        true => size,
        false => resource.bytes_in(access.range, size),
    };
    let fraction = match access.share {
        Some(share) => Some((u128::from(share.part.min(share.of)), u128::from(share.of))),
        None if access.kind.is_attached() => rendered_texels(access, pass.area, (pass, resource)),
        None => None,
    };
    match fraction {
        Some((part, of)) if part != of => Bytes((u128::from(bytes.0) * part / of.max(1)) as u64),
        _ => bytes,
    }
}

/// The number of texels of an attachment's level and layers that a pass renders to if its area is `area`, and the number of all their texels; `None` if
/// it renders to all of them.
#[inline]
fn rendered_texels(
    access: &Access,
    area: ash::vk::Rect2D,
    (pass, resource): (&Pass, &Resource),
) -> Option<(u128, u128)> {
    let ResourceKind::Image { desc, extent, .. } = &resource.kind else {
        return None;
    };
    if pass.kind != PassKind::Render {
        return None;
    }
    let level = viewed_extent(desc, *extent, access);
    let layers = access.range.layers.len() as u32;
    let rendered = match pass.view_mask {
        0 => pass.layers,
        views => views.count_ones(),
    };
    let starts = area.offset == ash::vk::Offset2D::default();
    if starts && area.extent == level && rendered >= layers {
        return None;
    }
    let texels = |extent: ash::vk::Extent2D| u128::from(extent.width) * u128::from(extent.height);
    let area = intersection(area, level.into()).map_or(0, |area| texels(area.extent));
    Some((
        area * u128::from(rendered.min(layers)),
        texels(level) * u128::from(layers),
    ))
}

impl Resource {
    /// The bytes of the contents without padding: for an image, of all levels, layers and samples.
    pub fn content_size(&self) -> Bytes {
        let (desc, extent) = match self.kind {
            ResourceKind::Image { desc, extent, .. } => (desc, extent),
            ResourceKind::Buffer { desc, .. } => return desc.size,
        };
        let of_level = |level: u32| {
            let side = |texels: u32| (texels >> level.min(31)).max(1);
            let extent = ash::vk::Extent3D {
                width: side(extent.width),
                height: side(extent.height),
                depth: side(extent.depth),
            };
            content_bytes(desc.format, None, extent, desc.array_layers).unwrap_or_default()
        };
        let texels: Bytes = (0..desc.mip_levels).map(of_level).sum();
        Bytes(texels.0.saturating_mul(desc.samples.as_raw().into()))
    }
}
