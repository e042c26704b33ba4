//! Images at the border of strips: on chip while a strip runs, in memory before and after.
//!
//! ```text
//! run          add (loads, blends hdr) │ fog (loads, blends hdr) │ down (reads hdr)        later: bloom reads hdr
//! whole        4 accesses on hdr in memory                         1                       1
//! border       each strip copies its rows of hdr in, uses them three times on chip, and copies them out: 2, and 1
//! ```

use ash::vk;

use super::uses::{Border, DividedImage, Uses, extent_of, is_attached, scale_of};
use crate::frame::tables::{Access, HistoryVersion, PassKind};
use crate::frame::{AccessKind, PassId, Persistence, ReadReach, ResourceId, TileConstraint};
use crate::units::Bytes;

/// Size and halos of the images that a run writes.
pub(super) struct RunExtents<'a> {
    pub(super) whole_extent: vk::Extent2D,
    /// Per pass, its halo.
    pub(super) halos: &'a [u32],
    /// Per pass, pixels of the whole image per texel of the image that it writes.
    pub(super) scales: &'a [u32],
    /// Halos are multiples of this.
    pub(super) unit: u32,
}

impl RunExtents<'_> {
    /// Distance around its own area, in pixels of the whole image, within which a pass reads an image if each of its texels reads within
    /// `texels` texels.
    fn reach(&self, pass: usize, texels: u32, scale: u32) -> u32 {
        let exact = self.whole_extent.width % scale == 0 && self.whole_extent.height % scale == 0;
        // If sizes were rounded up, the position of a texel is known only to one texel.
        let drift = u32::from(!exact && self.scales[pass] != scale);
        texels.saturating_add(drift).saturating_mul(scale)
    }
}

impl Uses<'_> {
    /// Describes an image at the border of the strips.
    ///
    /// # Errors
    /// Returns a human-readable reason if the image cannot be at the border.
    pub(super) fn border(
        &self,
        resource: ResourceId,
        extents: &RunExtents<'_>,
    ) -> Result<DividedImage, &'static str> {
        let described = self
            .frame
            .resources()
            .get(resource.index())
            .ok_or("the frame has no such resource")?;
        let Some(scale) = scale_of(extents.whole_extent, extent_of(self.frame, resource)) else {
            return Err(
                "the size of the largest image that the strips write is not a whole multiple of this image's size",
            );
        };
        if matches!(described.persistence, Persistence::External(_)) {
            return Err("the caller owns its memory");
        }
        if described.tile_constraint != TileConstraint::None {
            return Err("the frame pins it to tile memory or excludes it");
        }
        if described.level_of.is_some() {
            return Err("it is a separate level of an image");
        }
        let attachment = self.frame.border_attachment(resource, self.run[0])?;
        let used: Vec<(usize, &Access)> = self.of(resource).collect();
        let uses = match (used.first(), used.last()) {
            (Some(first), Some(last)) => (first.0, last.0),
            _ => return Err("no pass of the run uses it"),
        };
        let mut halo = 0;
        for &(at, access) in &used {
            if access.kind.is_transfer() || access.kind == AccessKind::ResolveAttachment {
                return Err("a pass of the run copies or resolves it");
            }
            let reach = match access.reach() {
                _ if !access.needs_contents() => 0,
                ReadReach::Texels(texels) => extents.reach(at, texels, scale),
                ReadReach::Anywhere => return Err("a pass of the run reads it at any distance"),
            };
            halo = halo.max(extents.halos[at].saturating_add(reach));
        }
        let halo = halo
            .checked_next_multiple_of(extents.unit)
            .unwrap_or(u32::MAX / 4);
        let enters = used
            .iter()
            .any(|(at, access)| *at == uses.0 && access.needs_contents());
        let written = used.iter().find(|(_, access)| access.writes);
        let leaves = written.is_some_and(|(_, write)| self.is_kept_after(resource, write.pass));
        if !enters && !leaves {
            return Err("nothing outside the run needs its contents");
        }
        if enters && leaves && halo > 0 {
            return Err("strips would read texels beyond their edge that earlier strips have changed");
        }
        Ok(DividedImage {
            resource,
            halo,
            scale,
            border: Some(Border {
                enters,
                leaves,
                uses,
                attachment,
            }),
        })
    }

    /// Returns true if contents that the run leaves in a resource are needed afterwards; `write` is the first pass of the run that writes it.
    fn is_kept_after(&self, resource: ResourceId, write: PassId) -> bool {
        let later = |access: &Access| {
            access.version == HistoryVersion::Previous
                || access.pass > write && !self.run.contains(&access.pass)
        };
        self.frame.resource(resource).persistence != Persistence::Transient
            || self.frame.accesses_to(resource).any(later)
    }

    /// Images whose copies at the border of strips move fewer bytes than the accesses that they replace.
    pub(super) fn saving_borders(&self, extents: &RunExtents<'_>) -> Vec<ResourceId> {
        let mut used: Vec<ResourceId> = Vec::new();
        for (_, access) in self.iter() {
            if !used.contains(&access.resource) {
                used.push(access.resource);
            }
        }
        let images = used.iter().filter_map(|&id| self.border(id, extents).ok());
        let images: Vec<DividedImage> = images.collect();
        let mut all: Vec<ResourceId> = images.iter().map(|image| image.resource).collect();
        let divided = self.inside(extents.whole_extent, &all);
        all.retain(|id| divided.contains(id));
        let groups = self.attached_together(&divided);
        let saves = |group: &Vec<ResourceId>| {
            let saved = group.iter().map(|&id| {
                let image = images.iter().find(|image| image.resource == id);
                self.saved(id, image.and_then(|image| image.border))
            });
            saved.sum::<i64>() > 0
        };
        let saving: Vec<&Vec<ResourceId>> = groups.iter().filter(|group| saves(group)).collect();
        all.retain(|id| saving.iter().any(|group| group.contains(id)));
        all
    }

    /// Bytes saved by keeping a resource on chip during the run, minus the bytes of its copies at the border.
    fn saved(&self, resource: ResourceId, border: Option<Border>) -> i64 {
        let size = self.frame.resource(resource).content_size();
        let moved: Bytes = self
            .of(resource)
            .map(|(_, access)| self.frame.traffic_of(access, size))
            .sum();
        let copies = border.map_or(0, |border| u64::from(border.enters) + u64::from(border.leaves));
        moved.0 as i64 - (size.0 * copies) as i64
    }

    /// Groups images by render pass: the attachments of one pass are divided together or not at all.
    fn attached_together(&self, images: &[ResourceId]) -> Vec<Vec<ResourceId>> {
        let mut groups: Vec<Vec<ResourceId>> = images.iter().map(|&id| vec![id]).collect();
        let render = |pass: &&PassId| self.frame.pass(**pass).kind == PassKind::Render;
        for &pass in self.run.iter().filter(render) {
            let attached = self.frame.accesses_of(pass).iter().filter(|it| is_attached(it));
            let attached: Vec<ResourceId> = attached.map(|access| access.resource).collect();
            let is_touched = |group: &Vec<ResourceId>| group.iter().any(|id| attached.contains(id));
            let (touched, mut others): (Vec<_>, Vec<_>) = groups.into_iter().partition(is_touched);
            if !touched.is_empty() {
                others.push(touched.concat());
            }
            groups = others;
        }
        groups
    }
}
