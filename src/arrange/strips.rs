//! Runs of passes in strips: the images that shrink to the size of a strip, and the halo that each pass computes around it.
//!
//! ```text
//! blur reads lit within 3, lit reads normal within 32         halo, in pixels of the whole: blur 0, lit 3, normal 35
//!
//!            ┌───────────── halo 35 ─────────────┐
//!            │  ┌────────── halo 3 ───────────┐  │
//!            │  │  ┌─────── strip ─────────┐  │  │
//! ```
//! All positions are multiples of the *unit*, the smallest size in pixels of the whole at which a texel of every image of the run begins.

use ash::vk;

use super::borders::RunExtents;
use super::error::CannotGroup;
use super::types::{StripGrid, texels_of};
use super::uses::{DividedImage, Uses, extent_of, is_attached, scale_in};
use crate::frame::tables::{Access, AccessFraction, CommandSource, PassKind, ResourceKind};
use crate::frame::{Frame, PassId, ReadReach, ResourceId};

/// A run of passes, and how it can be divided.
#[derive(Clone, Debug)]
pub(super) struct Division {
    /// Extent in texels of the largest image that the run writes, called the whole: all others have this size divided by a whole number.
    pub(super) whole_extent: vk::Extent2D,
    /// Origins of strips and halos are multiples of this number of pixels.
    unit: u32,
    /// The passes of the run.
    pub(super) passes: Vec<DividedPass>,
    /// Images that only the run uses, and those copied at the border of its strips: as large as a strip and its halo.
    pub(super) inside: Vec<DividedImage>,
}

/// A pass of the run.
#[derive(Clone, Copy, Debug)]
pub(super) struct DividedPass {
    /// Halo that the pass computes around a strip, in pixels of the whole image.
    pub(super) halo: u32,
    /// Pixels of the whole image per texel of the image that the pass writes.
    pub(super) scale: u32,
    /// True if the pass's attachments are inside images.
    pub(super) attachments_inside: bool,
}

impl Division {
    /// Images for which copies at the border of the strips of a run save traffic.
    pub(super) fn saving_borders(frame: &Frame, run: &[PassId]) -> Vec<ResourceId> {
        let uses = Uses { frame, run };
        let measured = || {
            uses.check_attachment_sizes()?;
            let whole = uses.whole()?;
            let scales = uses.scales(whole)?;
            let unit = scales.iter().copied().fold(1, lcm);
            let halos = uses.halos(whole, &scales, unit)?;
            Ok::<_, CannotGroup>((whole, scales, halos, unit))
        };
        match measured() {
            Ok((whole, scales, halos, unit)) => uses.saving_borders(&RunExtents {
                whole_extent: whole,
                halos: &halos,
                scales: &scales,
                unit,
            }),
            Err(_) => Vec::new(),
        }
    }

    /// Divides a run of passes, with the given images at the border of its strips.
    pub(super) fn of(frame: &Frame, run: &[PassId], borders: &[ResourceId]) -> Result<Division, CannotGroup> {
        for &pass in run {
            can_repeat(frame, pass)?;
        }
        let uses = Uses { frame, run };
        uses.check_attachment_sizes()?;
        let whole = uses.whole()?;
        let scales = uses.scales(whole)?;
        let unit = scales.iter().copied().fold(1, lcm);
        let halos = uses.halos(whole, &scales, unit)?;
        let at_border = |&resource: &ResourceId| {
            let extents = RunExtents {
                whole_extent: whole,
                halos: &halos,
                scales: &scales,
                unit,
            };
            let cannot = |why| {
                let described = frame.resources().get(resource.index());
                CannotGroup::Border {
                    resource: described.map_or_else(String::new, |one| one.name.clone()),
                    why,
                }
            };
            uses.border(resource, &extents).map_err(cannot)
        };
        let at_border: Vec<DividedImage> = borders.iter().map(at_border).collect::<Result<_, _>>()?;
        let inside = uses.inside(whole, borders);
        if let Some(&whole) = borders.iter().find(|image| !inside.contains(image)) {
            return Err(CannotGroup::Border {
                resource: frame.resource(whole).name.clone(),
                why: "a pass renders to it and to an image that is not divided",
            });
        }
        uses.check_kept_contents(&inside, &halos)?;
        if inside.is_empty() {
            return Err(CannotGroup::NoInsideImage);
        }
        let passes = run
            .iter()
            .zip(&halos)
            .zip(&scales)
            .map(|((&pass, &halo), &scale)| {
                let mut attached = frame.accesses_of(pass).iter();
                DividedPass {
                    halo,
                    scale,
                    attachments_inside: attached
                        .any(|access| is_attached(access) && inside.contains(&access.resource)),
                }
            });
        let passes: Vec<DividedPass> = passes.collect();
        let image = |resource: ResourceId| {
            if let Some(image) = at_border.iter().find(|image| image.resource == resource) {
                return *image;
            }
            let writers = run.iter().zip(&halos).filter(|(pass, _)| {
                let mut accesses = frame.accesses_of(**pass).iter();
                accesses.any(|access| access.resource == resource && access.writes)
            });
            DividedImage {
                resource,
                halo: writers.map(|(_, &halo)| halo).max().unwrap_or(0),
                scale: scale_in(frame, whole, resource).unwrap_or(1),
                border: None,
            }
        };
        Ok(Division {
            whole_extent: whole,
            unit,
            inside: inside.into_iter().map(image).collect(),
            passes,
        })
    }

    /// Returns the strips of a grid, row by row, in pixels of the whole image.
    pub(super) fn strips(&self, grid: StripGrid) -> Result<Vec<vk::Rect2D>, CannotGroup> {
        let vk::Extent2D { width, height } = self.whole_extent;
        let StripGrid { columns, rows } = grid;
        if columns == 0 || rows == 0 || columns > width || rows > height || grid.strips() == 1 {
            return Err(CannotGroup::Grid {
                columns,
                rows,
                width,
                height,
            });
        }
        let (x, y) = (self.cuts(width, columns), self.cuts(height, rows));
        let mut strips = Vec::with_capacity(x.len() * y.len());
        for &(top, bottom) in &y {
            strips.extend(x.iter().map(|&(left, right)| rect(left, top, right, bottom)));
        }
        Ok(strips)
    }

    /// The area of the whole image.
    pub(super) fn all(&self) -> vk::Rect2D {
        self.whole_extent.into()
    }

    /// Pixels of the whole image per texel of `image`; `None` if that is not a whole number.
    pub(super) fn scale_of(&self, frame: &Frame, image: ResourceId) -> Option<u32> {
        scale_in(frame, self.whole_extent, image)
    }

    /// Distance around a strip, in pixels of the whole image, within which an access of a pass with a halo touches a resource, and the pixels per texel of the
    /// resource; `None` for reads anywhere and buffers without lists.
    pub(super) fn touches(&self, frame: &Frame, access: &Access, halo: u32) -> Option<(u32, u32)> {
        let ReadReach::Texels(reach) = access.reach() else {
            return None;
        };
        let resource = frame.resource(access.resource);
        if !resource.is_image() && resource.lists().is_none() {
            return None;
        }
        let scale = self.scale_of(frame, access.resource).unwrap_or(1);
        let reach = if access.reads {
            reach.saturating_mul(scale)
        } else {
            0
        };
        Some((halo.saturating_add(reach), scale))
    }

    /// The part of a resource that an access of a pass with a halo touches in one strip; `None` as for [`touches`](Division::touches).
    pub(super) fn touched(
        &self,
        frame: &Frame,
        access: &Access,
        halo: u32,
        strip: vk::Rect2D,
    ) -> Option<AccessFraction> {
        let (around, scale) = self.touches(frame, access, halo)?;
        Some(AccessFraction {
            part: texels_of(self.region(strip, around, scale)),
            of: self.texels(scale),
        })
    }

    /// Number of texels that cover the whole image, if each covers `scale` by `scale` of its pixels.
    pub(super) fn texels(&self, scale: u32) -> u64 {
        texels_of(self.region(self.all(), 0, scale))
    }

    fn cuts(&self, length: u32, parts: u32) -> Vec<(u32, u32)> {
        let step = length.div_ceil(parts).next_multiple_of(self.unit);
        let starts = (0..length).step_by(step as usize);
        starts.map(|start| (start, (start + step).min(length))).collect()
    }

    /// A strip with a halo around it, clipped to the whole image, in texels that cover `scale` by `scale` of its pixels.
    pub(super) fn region(&self, strip: vk::Rect2D, halo: u32, scale: u32) -> vk::Rect2D {
        let side = |start: i32, length: u32, limit: u32| {
            let first = (start as u32).saturating_sub(halo);
            let end = (start as u32 + length).saturating_add(halo).min(limit);
            (first / scale, end.div_ceil(scale))
        };
        let (left, right) = side(strip.offset.x, strip.extent.width, self.whole_extent.width);
        let (top, bottom) = side(strip.offset.y, strip.extent.height, self.whole_extent.height);
        rect(left, top, right, bottom)
    }
}

fn rect(left: u32, top: u32, right: u32, bottom: u32) -> vk::Rect2D {
    vk::Rect2D {
        offset: vk::Offset2D {
            x: left as i32,
            y: top as i32,
        },
        extent: vk::Extent2D {
            width: right - left,
            height: bottom - top,
        },
    }
}

/// Returns the reason why no run with all of these passes, in any order, can be divided; `None` if one may.
pub(super) fn never_divided(frame: &Frame, passes: &[PassId]) -> Option<CannotGroup> {
    let uses = Uses { frame, run: passes };
    let alone = passes.iter().try_for_each(|&pass| can_repeat(frame, pass));
    if let Err(why) = alone.and_then(|()| uses.check_attachment_sizes()) {
        return Some(why);
    }
    let anywhere = uses
        .iter()
        .filter(|(_, access)| access.needs_contents() && access.reach() == ReadReach::Anywhere);
    anywhere
        .flat_map(|(at, read)| uses.of(read.resource).map(move |other| ((at, read), other)))
        .find(|((at, _), (writer, other))| writer != at && other.writes)
        .map(|((at, read), (writer, _))| CannotGroup::ReadsAnywhere {
            pass: uses.name(at),
            resource: uses.resource_name(read),
            writer: uses.name(writer),
        })
}

/// Checks that a pass can run several times, each time for another area.
pub(super) fn can_repeat(frame: &Frame, id: PassId) -> Result<(), CannotGroup> {
    let pass = frame.pass(id);
    let what = match pass {
        _ if pass.repeat_bytes.is_none() => return Err(CannotGroup::NotDeclared(pass.name.clone())),
        _ if pass.contents != CommandSource::Inline => "is recorded in secondary command buffers",
        _ if pass.tile_shading => "uses tile shading",
        _ if pass.render_area.is_some() => "has a render area of its own",
        _ if pass.kind == PassKind::Render && (pass.layers > 1 || pass.view_mask != 0) => {
            "renders to several layers"
        }
        _ if writes_smaller_level(frame, id) => "writes to a mip level other than the first",
        _ => {
            let updates = |access: &&Access| {
                access.reads && access.writes && !frame.resource(access.resource).is_image()
            };
            return match frame.accesses_of(id).iter().find(updates) {
                Some(access) => Err(CannotGroup::SideEffect {
                    pass: pass.name.clone(),
                    resource: frame.resource(access.resource).name.clone(),
                }),
                None => Ok(()),
            };
        }
    };
    Err(CannotGroup::Pass {
        pass: pass.name.clone(),
        what,
    })
}

/// Returns true if a pass writes to a mip level other than the first: its texels do not match the image's extent.
fn writes_smaller_level(frame: &Frame, pass: PassId) -> bool {
    let is_smaller = |access: &Access| match frame.resource(access.resource).kind {
        ResourceKind::Image { desc, .. } => desc.mip_levels > 1 && access.range.levels.end > 1,
        ResourceKind::Buffer { .. } => false,
    };
    let mut written = frame.accesses_of(pass).iter().filter(|access| access.writes);
    written.any(is_smaller)
}

fn lcm(a: u32, b: u32) -> u32 {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    (a / x).saturating_mul(b)
}

impl<'a> Uses<'a> {
    /// The largest extent that the run writes.
    fn whole(&self) -> Result<vk::Extent2D, CannotGroup> {
        let written = self.iter().filter(|(_, access)| access.writes);
        let extents = written.map(|(_, access)| extent_of(self.frame, access.resource));
        let largest = extents.max_by_key(|extent| u64::from(extent.width) * u64::from(extent.height));
        let whole = largest.map(|extent| vk::Extent2D {
            width: extent.width,
            height: extent.height,
        });
        whole
            .filter(|whole| whole.width > 0)
            .ok_or(CannotGroup::NoInsideImage)
    }

    /// Refuses render passes with attachments of different sizes: their strips would have different sizes, too.
    fn check_attachment_sizes(&self) -> Result<(), CannotGroup> {
        for &pass in self.run {
            let attached = self
                .frame
                .accesses_of(pass)
                .iter()
                .filter(|access| is_attached(access));
            let mut extents = attached.map(|access| extent_of(self.frame, access.resource));
            let Some(first) = extents.next() else { continue };
            let size = |extent: vk::Extent3D| (extent.width, extent.height);
            if extents.any(|extent| size(extent) != size(first)) {
                return Err(CannotGroup::Pass {
                    pass: self.frame.pass(pass).name.clone(),
                    what: "has attachments of different sizes",
                });
            }
        }
        Ok(())
    }

    /// Per pass, pixels of the whole image per texel of the image that it writes: the least common multiple for several images, 1 if it writes
    /// nothing.
    fn scales(&self, whole: vk::Extent2D) -> Result<Vec<u32>, CannotGroup> {
        let mut scales = vec![1; self.run.len()];
        let is_image = |access: &Access| {
            let resource = self.frame.resource(access.resource);
            resource.is_image() || resource.lists().is_some()
        };
        for (at, access) in self.iter().filter(|(_, access)| access.writes) {
            let mut written = self.frame.accesses_of(self.run[at]).iter().filter(|it| it.writes);
            // Buffers without lists count only if a pass writes nothing else.
            if !is_image(access) && written.any(is_image) {
                continue;
            }
            let scale = scale_in(self.frame, whole, access.resource);
            let scale = scale.ok_or_else(|| CannotGroup::Scale(self.resource_name(access)))?;
            scales[at] = lcm(scales[at], scale);
        }
        Ok(scales)
    }

    /// Per pass, the halo that it must compute around a strip, from the last pass to the first.
    fn halos(&self, whole: vk::Extent2D, scales: &[u32], unit: u32) -> Result<Vec<u32>, CannotGroup> {
        let mut halos = vec![0u32; self.run.len()];
        for at in (0..self.run.len()).rev() {
            for written in self.frame.accesses_of(self.run[at]).iter().filter(|it| it.writes) {
                let scale = scale_in(self.frame, whole, written.resource).unwrap_or(1);
                // A tile's list is found by its index, which does not drift.
                let is_list = self.frame.resource(written.resource).lists().is_some();
                let exact = is_list || whole.width % scale == 0 && whole.height % scale == 0;
                for (reader, access) in self.of(written.resource) {
                    if reader == at || !access.needs_contents() {
                        continue;
                    }
                    let texels = match access.reach() {
                        ReadReach::Texels(texels) => texels,
                        ReadReach::Anywhere => {
                            return Err(CannotGroup::ReadsAnywhere {
                                pass: self.name(reader),
                                resource: self.resource_name(access),
                                writer: self.name(at),
                            });
                        }
                    };
                    // Contents read before they are overwritten are not computed by this pass.
                    if reader < at {
                        continue;
                    }
                    // If sizes were rounded up, the position of a texel is known only to one texel.
                    let drift = u32::from(!exact && scales[reader] != scale);
                    let reach = texels.saturating_add(drift).saturating_mul(scale);
                    halos[at] = halos[at].max(halos[reader].saturating_add(reach));
                }
            }
            halos[at] = halos[at].checked_next_multiple_of(unit).unwrap_or(u32::MAX / 4);
        }
        Ok(halos)
    }

    /// Checks that resources used after the run end up with the same contents, though passes repeat texels around every strip.
    fn check_kept_contents(&self, inside: &[ResourceId], halos: &[u32]) -> Result<(), CannotGroup> {
        for (at, written) in self.iter().filter(|(_, access)| access.writes) {
            if inside.contains(&written.resource) {
                continue;
            }
            let others = || self.of(written.resource).filter(|(other, _)| *other != at);
            let again = others().any(|(_, access)| access.writes);
            let repeated = halos[at] > 0 && (written.needs_contents() || again);
            if repeated {
                return Err(CannotGroup::Repeats {
                    pass: self.name(at),
                    resource: self.resource_name(written),
                });
            }
            let around = |(reader, access): &(usize, &Access)| {
                let overwritten = *reader < at && access.needs_contents();
                overwritten && (halos[*reader] > 0 || access.reach() != ReadReach::PIXEL)
            };
            if let Some((reader, access)) = others().find(around) {
                return Err(CannotGroup::Overwritten {
                    pass: self.name(reader),
                    resource: self.resource_name(access),
                });
            }
        }
        Ok(())
    }
}
