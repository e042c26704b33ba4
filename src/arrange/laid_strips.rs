//! A run of strips in the layout of a frame: sizes, halos and copies, which do not depend on the rest of the arrangement, and are computed once.

use std::cell::RefCell;
use std::rc::Rc;

use ash::vk;

use super::layout::{LaidCopy, LaidPart, LaidRun};
use super::strips::Division;
use super::traffic::Model;
use super::types::{GroupMode, PassGroup, texels_of};
use super::uses::{Border, DividedImage};
use crate::frame::tables::{Access, HistoryVersion, ResourceKind};
use crate::frame::{PassId, ResourceId};
use crate::measure::{counted_size_of_part, tile_requirements_of_part};
use crate::profile::TileRequirements;
use crate::units::Bytes;

/// The strips of a run, with results that many of its accesses share.
struct Strips<'d> {
    division: &'d Division,
    areas: Vec<vk::Rect2D>,
    /// Per divided image, its part in each strip.
    parts: Vec<Vec<Part>>,
    /// Cache: the texels of all strips, by halo and scale.
    texels: RefCell<Vec<((u32, u32), u64)>>,
}

/// The part of an image in one strip.
#[derive(Clone, Copy)]
struct Part {
    extent: vk::Extent2D,
    texels: u64,
    /// The bytes that are counted for the part, including padding.
    size: Bytes,
}

impl Strips<'_> {
    /// Texels of all strips, each with a halo around it, in an image with `scale` pixels of the whole per texel.
    fn texels(&self, halo: u32, scale: u32) -> u64 {
        let mut known = self.texels.borrow_mut();
        if let Some((_, texels)) = known.iter().find(|(key, _)| *key == (halo, scale)) {
            return *texels;
        }
        let regions = self
            .areas
            .iter()
            .map(|&strip| self.division.region(strip, halo, scale));
        let texels = regions.map(texels_of).sum();
        known.push(((halo, scale), texels));
        texels
    }

    /// The part of a divided image in each strip; `None` if it is whole.
    fn parts_of(&self, resource: ResourceId) -> Option<&[Part]> {
        let inside = self.division.inside.iter();
        let number = inside
            .zip(&self.parts)
            .find(|(image, _)| image.resource == resource);
        number.map(|(_, parts)| &parts[..])
    }
}

/// Extent of the largest part.
fn largest(parts: &[Part]) -> Option<vk::Extent2D> {
    parts
        .iter()
        .max_by_key(|part| part.texels)
        .map(|part| part.extent)
}

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
        let areas = division.strips(grid).ok()?;
        let parts = division
            .inside
            .iter()
            .map(|image| self.parts(division, &areas, image));
        let strips = Strips {
            division,
            parts: parts.collect(),
            areas,
            texels: RefCell::default(),
        };
        let frame = self.plan.input.frame();
        let mut run = LaidRun::default();
        for (image, parts) in division.inside.iter().zip(&strips.parts) {
            match image.border {
                Some(border) => {
                    run.borders
                        .push(self.laid_copy(group, &strips, (image, border, largest(parts))))
                }
                None => run.parts.push(self.laid_part(group, image, largest(parts))),
            }
        }
        let whole = division.texels(1);
        for (&pass, divided) in group.passes.iter().zip(&division.passes) {
            let area = strips.texels(divided.halo, 1);
            let texels = u128::from(self.texels[pass.index()]);
            run.computed_texels += (texels * u128::from(area) / u128::from(whole)) as u64;
            let times = strips.areas.len() as u32 - 1;
            let cost = self.costs.repeat_of(frame.pass(pass)).0;
            let bytes = Bytes(cost.saturating_mul(u64::from(times)));
            run.repeats.push((pass, times, bytes));
            for access in frame.accesses_of(pass) {
                let is_current = access.version == HistoryVersion::Current;
                if is_current && group.borders.contains(&access.resource) {
                    continue;
                }
                let halo = self.halo_bytes(access, divided.halo, &strips);
                if halo > 0 {
                    run.halos.push((is_current.then_some(access.resource), halo));
                }
                let is_whole = is_current && strips.parts_of(access.resource).is_none();
                if is_whole && self.moved_whole(access.resource) == Bytes::ZERO {
                    let moved = frame.traffic_of(access, self.counted_size(access.resource)).0;
                    run.rendered.push((access.resource, moved));
                }
            }
        }
        Some(run)
    }

    /// The parts of a divided image, each measured once per extent.
    fn parts(&self, division: &Division, areas: &[vk::Rect2D], image: &DividedImage) -> Vec<Part> {
        let resource = self.plan.input.frame().resource(image.resource);
        let mut parts: Vec<Part> = Vec::with_capacity(areas.len());
        for &strip in areas {
            let area = division.region(strip, image.halo, image.scale);
            let known = parts
                .iter()
                .rev()
                .find(|part| part.extent == area.extent)
                .copied();
            parts.push(known.unwrap_or_else(|| Part {
                extent: area.extent,
                texels: texels_of(area),
                size: counted_size_of_part(resource, area.extent, &self.plan.profile),
            }));
        }
        parts
    }

    fn laid_part(&self, group: &PassGroup, image: &DividedImage, largest: Option<vk::Extent2D>) -> LaidPart {
        let frame = self.plan.input.frame();
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
        strips: &Strips<'_>,
        (image, border, largest): (&DividedImage, Border, Option<vk::Extent2D>),
    ) -> LaidCopy {
        let all = strips.division.texels(image.scale);
        let size = self.counted_size(image.resource).0;
        let loaded = strips.texels(image.halo, image.scale);
        let loaded = (u128::from(size) * u128::from(loaded) / u128::from(all.max(1))) as u64;
        let copied = if border.enters { loaded } else { 0 } + if border.leaves { size } else { 0 };
        let (used, halos) = self.bytes_in_run(group, strips, image);
        LaidCopy {
            resource: image.resource,
            uses: border.uses,
            tile: largest.and_then(|part| self.tile_of_part(image.resource, part)),
            moved: [used, halos, copied],
        }
    }

    /// Bytes of an image that the passes of a run move, and the cost of those that the strips move in addition.
    fn bytes_in_run(&self, group: &PassGroup, strips: &Strips<'_>, image: &DividedImage) -> (u64, u64) {
        let frame = self.plan.input.frame();
        let size = self.counted_size(image.resource);
        let (mut used, mut halos) = (0, 0);
        for (&pass, divided) in group.passes.iter().zip(&strips.division.passes) {
            let accesses = frame.accesses_of(pass).iter();
            for access in
                accesses.filter(|it| it.resource == image.resource && it.version == HistoryVersion::Current)
            {
                used += frame.traffic_of(access, size).0;
                halos += self.halo_bytes(access, divided.halo, strips);
            }
        }
        (used, halos)
    }

    /// Cost of the additional bytes that an access of a pass with a halo moves off chip in strips: those of its halos, and the padding of each part.
    fn halo_bytes(&self, access: &Access, halo: u32, strips: &Strips<'_>) -> u64 {
        let frame = self.plan.input.frame();
        let division = strips.division;
        let touches = division.touches(frame, access, halo);
        let whole = frame.traffic_of(access, self.counted_size(access.resource)).0;
        let parts = strips.parts_of(access.resource);
        if let Some(parts) = parts.filter(|_| access.version == HistoryVersion::Current) {
            let resource = frame.resource(access.resource);
            let times = u64::from(frame.times_moved(access));
            let moved = parts.iter().zip(&strips.areas).map(|(part, &strip)| {
                let touched = touches.map_or(part.texels, |(around, scale)| {
                    texels_of(division.region(strip, around, scale)).min(part.texels)
                });
                let bytes = u128::from(resource.bytes_in(access.range, part.size).0);
                times * (bytes * u128::from(touched) / u128::from(part.texels.max(1))) as u64
            });
            let more = moved.sum::<u64>().saturating_sub(whole);
            return (more as f64 * self.costs.halo) as u64;
        }
        let Some((around, scale)) = touches else {
            return 0;
        };
        let all = division.texels(scale);
        let more = strips.texels(around, scale) - all;
        (whole as f64 * self.costs.halo * more as f64 / all as f64) as u64
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
