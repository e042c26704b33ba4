//! The accesses of a run of passes, and the images that strips divide.

use ash::vk;
use tileheap_units::CompactSort;

use crate::frame::tables::{Access, HistoryVersion, ResourceKind};
use crate::frame::{AccessKind, Frame, PassId, Persistence, ResourceId};

/// An image, or a buffer of lists, that strips divide: as large as a strip and its halo.
#[derive(Clone, Copy, Debug)]
pub(super) struct DividedImage {
    pub(super) resource: ResourceId,
    /// The halo, in pixels of the largest image that the run writes.
    pub(super) halo: u32,
    /// Pixels of the largest image that the run writes per texel of this one.
    pub(super) scale: u32,
    /// Its copies at the border, if it is used outside the run.
    pub(super) border: Option<Border>,
}

impl DividedImage {
    /// Returns true if each strip copies its part of the image in right before it runs a pass, given by index in the run.
    pub(super) fn is_copied_before(&self, pass: usize) -> bool {
        self.border
            .is_some_and(|border| border.enters && border.uses.0 == pass)
    }

    /// Returns true if each strip copies its part of the image out right after it has run a pass, given by index in the run.
    pub(super) fn is_copied_after(&self, pass: usize) -> bool {
        self.border
            .is_some_and(|border| border.leaves && border.uses.1 == pass)
    }
}

/// Copies of a strip's part of an image at the border.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Border {
    /// True if the part is copied in before the first pass of the strip that uses it, together with the texels that the strip's passes read around it.
    pub(super) enters: bool,
    /// True if the strip's own part is copied out after the last pass of the strip that uses it.
    pub(super) leaves: bool,
    /// Indices of the first and last pass of the run that use the image.
    pub(super) uses: (usize, usize),
    /// Access kind with which the copies write their destination.
    pub(super) attachment: AccessKind,
}

/// Returns true if an access is to an attachment of its render pass, or to an input attachment. In a pass that runs in strips, all of these must have
/// the same size.
pub(super) fn is_attached(access: &Access) -> bool {
    access.kind.is_attachment() || access.kind == AccessKind::InputAttachment
}

/// Extent of an image in texels, and of a buffer of lists in lists; any other buffer is assumed to have one element per pixel of the frame.
pub(super) fn extent_of(frame: &Frame, resource: ResourceId) -> vk::Extent3D {
    let base = frame.base_extent();
    match frame.resource(resource).kind {
        ResourceKind::Image { extent, .. } => extent,
        ResourceKind::Buffer { desc, .. } => desc.lists.map_or(base, |lists| lists.grid(base)).into(),
    }
}

/// Texels of `whole` per texel of `extent`, in width and in height; `None` if that is not a whole number.
pub(super) fn scale_of(whole: vk::Extent2D, extent: vk::Extent3D) -> Option<u32> {
    let nearest = whole.width.checked_div(extent.width)?;
    let fits = |scale: &u32| {
        whole.width.div_ceil(*scale) == extent.width && whole.height.div_ceil(*scale) == extent.height
    };
    // Repeated halving rounds up each time: the quotient may be too small by one.
    (nearest.max(1)..=nearest + 1)
        .find(fits)
        .filter(|_| extent.depth == 1)
}

/// Pixels of `whole` per texel of an image, or per list of a buffer of lists, in width and in height; `None` if that is not a whole number.
pub(super) fn scale_in(frame: &Frame, whole: vk::Extent2D, id: ResourceId) -> Option<u32> {
    let extent = extent_of(frame, id);
    let Some(lists) = frame.resource(id).lists() else {
        return scale_of(whole, extent);
    };
    if (extent.width, extent.height) == (whole.width, whole.height) {
        // The run writes nothing but lists.
        return Some(1);
    }
    // Several sizes of tiles have the same grid.
    let pixels = scale_of(frame.base_extent(), whole.into())?;
    let scale = lists.tile / pixels;
    let is_grid = scale > 0
        && lists.tile % pixels == 0
        && whole.width.div_ceil(scale) == extent.width
        && whole.height.div_ceil(scale) == extent.height;
    is_grid.then_some(scale)
}

/// The accesses of a run.
pub(super) struct Uses<'a> {
    pub(super) frame: &'a Frame,
    pub(super) run: &'a [PassId],
}

impl<'a> Uses<'a> {
    /// Every access to the current version, with the index of its pass in the run.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, &'a Access)> + use<'a> {
        let frame = self.frame;
        let passes = self.run.iter().enumerate();
        passes
            .flat_map(|(at, &pass)| frame.accesses_of(pass).iter().map(move |access| (at, access)))
            .filter(|(_, access)| access.version == HistoryVersion::Current)
    }

    pub(super) fn of(&self, resource: ResourceId) -> impl Iterator<Item = (usize, &'a Access)> + use<'a> {
        self.iter().filter(move |(_, access)| access.resource == resource)
    }

    pub(super) fn name(&self, at: usize) -> String {
        self.frame.pass(self.run[at]).name.clone()
    }

    pub(super) fn resource_name(&self, access: &Access) -> String {
        self.frame.resource(access.resource).name.clone()
    }

    /// Images and tile-list buffers that can be reduced to the size of a strip: those that only the run writes and uses, and those copied at the
    /// border of strips.
    pub(super) fn inside(&self, whole: vk::Extent2D, borders: &[ResourceId]) -> Vec<ResourceId> {
        let alone = |resource: ResourceId| {
            let described = self.frame.resource(resource);
            let uses = self.of(resource);
            let all = uses.count() == self.frame.uses_of(resource).len();
            let made = self
                .of(resource)
                .next()
                .is_some_and(|(_, first)| !first.needs_contents());
            let transient = described.persistence == Persistence::Transient;
            is_divisible(self.frame, resource)
                && transient
                && all
                && made
                && scale_in(self.frame, whole, resource).is_some()
        };
        let mut inside: Vec<ResourceId> = self
            .iter()
            .map(|(_, access)| access.resource)
            .filter(|id| borders.contains(id) || alone(*id))
            .collect();
        inside.compact_sort();
        inside.dedup();
        // The attachments of one render pass all have the same size.
        loop {
            let before = inside.len();
            for &pass in self.run {
                let attached = || {
                    self.frame
                        .accesses_of(pass)
                        .iter()
                        .filter(|access| is_attached(access))
                };
                if !attached().all(|access| inside.contains(&access.resource)) {
                    for access in attached() {
                        inside.retain(|resource| *resource != access.resource);
                    }
                }
            }
            if inside.len() == before {
                return inside;
            }
        }
    }
}

/// Returns true if a resource can be as large as a strip: an image that is 2D with one level and one layer, or a buffer of lists that only shaders use.
pub(super) fn is_divisible(frame: &Frame, resource: ResourceId) -> bool {
    match frame.resource(resource).kind {
        ResourceKind::Image { desc, .. } => {
            desc.image_type == vk::ImageType::TYPE_2D && desc.mip_levels * desc.array_layers == 1
        }
        ResourceKind::Buffer { desc, .. } => {
            desc.lists.is_some() && frame.accesses_to(resource).all(|access| access.kind.is_shader())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{BufferDesc, FrameBuilder, TileLists};
    use crate::units::Bytes;

    /// Tiles of 15 pixels have the same grid as tiles of 16 here.
    #[test]
    fn tiles_of_lists_are_as_large_as_declared() {
        for (width, height, tile) in [(60, 28, 16), (1000, 600, 64), (1366, 768, 64)] {
            let extent = vk::Extent2D { width, height };
            let lists = TileLists {
                tile,
                bytes: Bytes(8),
            };
            let mut frame = FrameBuilder::new("lists", extent);
            let desc = BufferDesc {
                lists: Some(lists),
                ..BufferDesc::new(lists.size(extent))
            };
            let buffer = frame.buffer("lists", desc);
            let queue = frame.queue("compute", vk::QueueFlags::COMPUTE);
            let submit = frame.submit(queue);
            let batch = frame.batch(submit);
            let commands = frame.command_buffer(batch, "commands");
            frame.compute_pass(commands, "fill").storage_write(buffer);
            let frame = frame.build().unwrap();
            assert_eq!(scale_in(&frame, extent, buffer), Some(tile));
        }
    }
}
