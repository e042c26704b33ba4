//! A run of strips in the layout of a frame: sizes, halos and copies, which do not depend on the rest of the arrangement, and are computed once.

use std::rc::Rc;

use ash::vk;

use super::layout::{LaidCopy, LaidPart, LaidRun};
use super::strips::Division;
use super::traffic::Model;
use super::types::{GroupMode, PassGroup, texels_of};
use super::uses::{Border, DividedImage};
use crate::frame::tables::{Access, AccessFraction, HistoryVersion, ResourceKind};
use crate::frame::{PassId, ResourceId};
use crate::measure::tile_requirements_of_part;
use crate::profile::TileRequirements;
use crate::units::Bytes;

impl Model<'_> {
    /// The layout of a group in strips; `None` if it cannot be divided.
    pub(super) fn laid_run(&mut self, group: &PassGroup) -> Option<Rc<LaidRun>> {
        if let Some(known) = self.runs.get(group) {
            return known.clone();
        }
        let run = self.lay_run(group).map(Rc::new);
        self.runs.insert(group.clone(), run.clone());
        run
    }

    fn lay_run(&mut self, group: &PassGroup) -> Option<LaidRun> {
        let GroupMode::Strips(grid) = group.mode else {
            return None;
        };
        let division = self.division(&group.passes, &group.borders);
        let division = division.as_ref().as_ref().ok()?;
        let strips = division.strips(grid).ok()?;
        let frame = self.plan.input.frame();
        let mut run = LaidRun::default();
        for image in &division.inside {
            match image.border {
                Some(border) => run
                    .borders
                    .push(self.laid_copy(group, (division, &strips), (image, border))),
                None => run.parts.push(self.laid_part(group, (division, &strips), image)),
            }
        }
        let whole = texels_of(division.all());
        for (&pass, divided) in group.passes.iter().zip(&division.passes) {
            let regions = strips
                .iter()
                .map(|strip| division.region(*strip, divided.halo, 1));
            let area: u64 = regions.map(texels_of).sum();
            let texels = u128::from(self.texels[pass.index()]);
            run.computed += (texels * u128::from(area) / u128::from(whole)) as u64;
            let times = strips.len() as u32 - 1;
            let cost = self.costs.repeat_of(frame.pass(pass)).0;
            let bytes = Bytes(cost.saturating_mul(u64::from(times)));
            run.repeats.push((pass, times, bytes));
            for access in frame.accesses_of(pass) {
                let is_current = access.version == HistoryVersion::Current;
                if is_current && group.borders.contains(&access.resource) {
                    continue;
                }
                let halo = self.halo_bytes(access, division, divided.halo, &strips);
                if halo > 0 {
                    run.halos.push((is_current.then_some(access.resource), halo));
                }
            }
        }
        Some(run)
    }

    fn laid_part(
        &self,
        group: &PassGroup,
        (division, strips): (&Division, &[vk::Rect2D]),
        image: &DividedImage,
    ) -> LaidPart {
        let frame = self.plan.input.frame();
        let largest = largest_region(division, strips, image);
        let tile = largest.and_then(|part| {
            tile_requirements_of_part(frame.resource(image.resource), part, &self.plan.profile)
        });
        let is_use = |pass: &PassId| {
            let mut accesses = frame.accesses_of(*pass).iter();
            accesses.any(|access| access.resource == image.resource)
        };
        let first = group.passes.iter().position(is_use);
        let last = group.passes.iter().rposition(is_use);
        LaidPart {
            resource: image.resource,
            size: tile.map(|tile| tile.size.0),
            uses: (first.unwrap_or(0), last.unwrap_or(0)),
        }
    }

    fn laid_copy(
        &self,
        group: &PassGroup,
        (division, strips): (&Division, &[vk::Rect2D]),
        (image, border): (&DividedImage, Border),
    ) -> LaidCopy {
        let regions = strips
            .iter()
            .map(|&strip| division.region(strip, image.halo, image.scale));
        let all = texels_of(division.region(division.all(), 0, image.scale));
        let size = self.counted_size(image.resource).0;
        let loaded: u64 = regions.map(texels_of).sum();
        let loaded = (u128::from(size) * u128::from(loaded) / u128::from(all.max(1))) as u64;
        let copied = if border.enters { loaded } else { 0 } + if border.leaves { size } else { 0 };
        let (used, halos) = self.in_run(group, (division, strips), image);
        let largest = largest_region(division, strips, image);
        LaidCopy {
            resource: image.resource,
            uses: border.uses,
            tile: largest.and_then(|part| self.tile_of_part(image.resource, part)),
            moved: [used, halos, copied],
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

    /// Additional bytes that an access of a pass with a halo moves in strips.
    fn halo_bytes(&self, access: &Access, division: &Division, halo: u32, strips: &[vk::Rect2D]) -> u64 {
        let frame = self.plan.input.frame();
        let touched = |&strip| division.touched(frame, access, halo, strip);
        let shares: Option<Vec<AccessFraction>> = strips.iter().map(touched).collect();
        let Some(shares) = shares else { return 0 };
        let whole = shares[0].of;
        let more = shares.iter().map(|share| share.part).sum::<u64>() - whole;
        let bytes = frame.traffic_of(access, self.counted_size(access.resource)).0;
        (bytes as f64 * self.costs.halo * more as f64 / whole as f64) as u64
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

fn largest_region(division: &Division, strips: &[vk::Rect2D], image: &DividedImage) -> Option<vk::Extent2D> {
    let regions = strips
        .iter()
        .map(|&strip| division.region(strip, image.halo, image.scale));
    regions
        .map(|area| area.extent)
        .max_by_key(|it| u64::from(it.width) * u64::from(it.height))
}
