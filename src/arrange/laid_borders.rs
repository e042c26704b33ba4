//! Bytes that images at the border of strips move, and keep on chip.

use ash::vk;

use super::strips::Division;
use super::traffic::{LaidBorder, Layout, Model};
use super::types::{PassGroup, texels_of};
use super::uses::DividedImage;
use crate::frame::tables::{HistoryVersion, ResourceKind};
use crate::frame::{PassId, ResourceId};
use crate::measure::tile_requirements_of_part;
use crate::profile::TileRequirements;
use crate::units::Span;

impl Model<'_> {
    /// Adds the images at the border of a run to the layout.
    pub(super) fn lay_borders(
        &self,
        laid: &mut Layout,
        group: &PassGroup,
        (division, strips): (&Division, &[vk::Rect2D]),
    ) {
        for image in &division.inside {
            let Some(border) = image.border else { continue };
            let regions = strips
                .iter()
                .map(|&strip| division.region(strip, image.halo, image.scale));
            let largest = regions
                .clone()
                .map(|area| area.extent)
                .max_by_key(|it| u64::from(it.width) * u64::from(it.height));
            let all = texels_of(division.region(division.all(), 0, image.scale));
            let size = self.counted_size(image.resource).0;
            let loaded: u64 = regions.map(texels_of).sum();
            let loaded = (u128::from(size) * u128::from(loaded) / u128::from(all.max(1))) as u64;
            let copied = if border.enters { loaded } else { 0 } + if border.leaves { size } else { 0 };
            let (used, halos) = self.in_run(group, (division, strips), image);
            let position = |number: usize| laid.position(group.passes[number]);
            let span = Span::new(position(border.uses.0), position(border.uses.1) + 1);
            laid.resources[image.resource.index()].merged += used as i64 - copied as i64;
            laid.borders.push(LaidBorder {
                resource: image.resource,
                span,
                tile: largest.and_then(|part| self.tile_of_part(image.resource, part)),
                savings: used + halos + copied,
                is_resident: false,
            });
        }
    }

    /// Bytes of an image that the passes of a run move, and those of its halos.
    fn in_run(
        &self,
        group: &PassGroup,
        (division, strips): (&Division, &[vk::Rect2D]),
        image: &DividedImage,
    ) -> (u64, u64) {
        let frame = self.plan.input.frame();
        let size = self.counted_size(image.resource);
        let (mut used, mut halos) = (0, 0);
        for (&pass, divided) in group.passes.iter().zip(&division.passes) {
            let accesses = frame.accesses_of(pass).iter();
            for access in
                accesses.filter(|it| it.resource == image.resource && it.version == HistoryVersion::Current)
            {
                used += frame.traffic_of(access, size).0;
                halos += self.halo_bytes(access, division, divided.halo, strips);
            }
        }
        (used, halos)
    }

    /// Tile memory requirements of one part of an image at the border of strips; `None` if tile memory cannot hold it.
    fn tile_of_part(&self, image: ResourceId, part: vk::Extent2D) -> Option<TileRequirements> {
        let resource = self.plan.input.frame().resource(image);
        let ResourceKind::Image { desc, .. } = resource.kind else {
            return None;
        };
        let copied = vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST;
        match desc.usage.intersects(copied) {
            true => None,
            false => tile_requirements_of_part(resource, part, &self.plan.profile),
        }
    }
}

impl Layout {
    fn position(&self, pass: PassId) -> u32 {
        self.positions[pass.index()]
    }

    /// Bytes of a resource moved because its images at the border of strips are not in tile memory.
    pub(super) fn moved_in_strips(&self, resource: ResourceId) -> u64 {
        let borders = self.borders.iter();
        let moved = borders.filter(|border| border.resource == resource && !border.is_resident);
        moved.map(|border| border.savings).sum()
    }
}
