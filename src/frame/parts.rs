//! Parts of images: the levels, layers and aspects that an access uses, and the parts into which a frame's accesses divide an image.
//!
//! ```text
//! accesses                         parts
//! level 0           ├──┤           ├──┤            an access is of all parts that it covers;
//! levels 0 to 4     ├────────┤        ├─────┤      layouts, hazards and contents are those of parts
//! levels 1 to 6        ├─────────┤          ├───┤
//! ```

use ash::vk;
use tileheap_units::CompactSort;

use super::subresources::SubresourceRange;
use super::tables::{Access, Resource, ResourceKind, Tables};
use super::{AccessKind, Frame, FrameError, FrameRule, Persistence, ResourceId};
use crate::profile::Features;
use crate::units::{Bytes, Run};

impl SubresourceRange {
    /// Describes the range for messages, such as `level 2, layer 0 of `; empty if the range is the whole resource.
    pub(crate) fn words_in(self, resource: &Resource) -> String {
        let whole = resource.whole();
        let mut words = Vec::new();
        let mut of_run = |one: &str, run: Run, all: Run| match run.len() {
            _ if run == all => {}
            1 => words.push(format!("{one} {}", run.first)),
            _ => words.push(format!("{one}s {} to {}", run.first, run.end - 1)),
        };
        of_run("level", self.levels, whole.levels);
        of_run(
            if resource.is_3d() { "slice" } else { "layer" },
            self.layers,
            whole.layers,
        );
        if self.aspects != whole.aspects {
            let depth = self.aspects.contains(vk::ImageAspectFlags::DEPTH);
            words.push(if depth { "the depth" } else { "the stencil" }.to_owned());
        }
        if words.is_empty() {
            return String::new();
        }
        words.join(", ") + " of "
    }
}

impl Resource {
    /// The range of the whole resource: every aspect, level and layer (or slice of a 3D image); empty for a buffer.
    pub fn whole(&self) -> SubresourceRange {
        match self.kind {
            ResourceKind::Image { desc, .. } => SubresourceRange {
                aspects: self.aspects(),
                levels: up_to(desc.mip_levels),
                layers: self.layers_of(0),
            },
            ResourceKind::Buffer { .. } => SubresourceRange::ALL,
        }
    }

    /// Returns true for a 3D image, whose layers are slices.
    pub fn is_3d(&self) -> bool {
        matches!(self.kind, ResourceKind::Image { desc, .. } if desc.image_type == vk::ImageType::TYPE_3D)
    }

    /// Fills in the empty fields of a range for an access of this kind: attachments default to level 0.
    pub(super) fn resolved(&self, range: SubresourceRange, kind: AccessKind) -> SubresourceRange {
        let whole = self.whole();
        let or = |run: Run, all: Run| if run.is_empty() { all } else { run };
        let attached = [AccessKind::InputAttachment, AccessKind::TileAttachment].contains(&kind);
        let all_levels = if kind.is_attachment() || attached {
            up_to(whole.levels.end.min(1))
        } else {
            whole.levels
        };
        let levels = or(range.levels, all_levels);
        SubresourceRange {
            aspects: if range.aspects.is_empty() {
                whole.aspects
            } else {
                range.aspects
            },
            levels,
            layers: or(range.layers, self.layers_of(levels.first)),
        }
    }

    /// All layers of a level; for 3D images, its slices.
    pub(crate) fn layers_of(&self, level: u32) -> Run {
        match self.kind {
            ResourceKind::Image { extent, .. } if self.is_3d() => {
                up_to((extent.depth >> level.min(31)).max(1))
            }
            ResourceKind::Image { desc, .. } => up_to(desc.array_layers),
            ResourceKind::Buffer { .. } => Run::default(),
        }
    }
}

impl Resource {
    /// The inverse of [`resolved`](Resource::resolved): empties the fields whose values are the defaults for an access of this kind.
    pub(super) fn declared(&self, range: SubresourceRange, kind: AccessKind) -> SubresourceRange {
        let open = |run: Run, meant: Run| if run == meant { Run::default() } else { run };
        let meant = self.resolved(
            SubresourceRange {
                levels: range.levels,
                ..SubresourceRange::ALL
            },
            kind,
        );
        let levels = self.resolved(SubresourceRange::ALL, kind).levels;
        SubresourceRange {
            aspects: if range.aspects == meant.aspects {
                vk::ImageAspectFlags::empty()
            } else {
                range.aspects
            },
            levels: open(range.levels, levels),
            layers: open(range.layers, meant.layers),
        }
    }

    /// Returns true if a range covers all texels of the image, whichever aspects it names; true for buffers.
    #[inline]
    pub(super) fn is_all(&self, range: SubresourceRange) -> bool {
        let ResourceKind::Image { desc, extent, .. } = &self.kind else {
            return true;
        };
        let layers = match desc.image_type {
            vk::ImageType::TYPE_3D => extent.depth,
            _ => desc.array_layers,
        };
        (range.levels, range.layers) == (up_to(desc.mip_levels), up_to(layers))
    }

    /// The bytes of a part of an image with `size` bytes in total, in proportion to its texels; for a buffer, `size`.
    pub fn bytes_in(&self, range: SubresourceRange, size: Bytes) -> Bytes {
        let ResourceKind::Image { desc, extent, .. } = &self.kind else {
            return size;
        };
        if self.is_all(range) {
            return size;
        }
        let (levels, layers) = (up_to(desc.mip_levels), self.layers_of(0));
        let whole = SubresourceRange {
            levels,
            layers,
            ..range
        };
        let texels = |of: SubresourceRange| -> u128 {
            let of_level = |level: usize| {
                let side = |texels: u32| u128::from((texels >> level.min(31)).max(1));
                let layers = of.layers.len() as u128;
                let layers = if self.is_3d() {
                    layers.min(side(extent.depth))
                } else {
                    layers
                };
                side(extent.width) * side(extent.height) * layers
            };
            of.levels.indices().map(of_level).sum()
        };
        Bytes((u128::from(size.0) * texels(range) / texels(whole).max(1)) as u64)
    }
}

impl Frame {
    /// Returns true if the slices of a 3D image may be in different layouts on a device with these features. This requires `VK_KHR_maintenance9`; the image
    /// must be `2D_ARRAY_COMPATIBLE` and not a history, and every access by shaders must use all slices of a level.
    ///
    /// Source: VUID-vkCmdDraw-None-09600; VUID-VkImageMemoryBarrier2-maintenance9-10798, -10799.
    pub(crate) fn has_slice_layouts(&self, id: ResourceId, features: Features) -> bool {
        let resource = self.resource(id);
        let compatible = matches!(resource.kind, ResourceKind::Image { desc, .. }
            if desc.flags.contains(vk::ImageCreateFlags::TYPE_2D_ARRAY_COMPATIBLE));
        let whole = |access: &Access| access.range.layers == resource.layers_of(access.range.levels.first);
        let mut seen = self.accesses_to(id).filter(|access| access.kind.is_shader());
        features.contains(Features::MAINTENANCE_9)
            && compatible
            && resource.persistence != Persistence::History
            && seen.all(whole)
    }

    /// Returns true if a write replaces all of a part: it does not need earlier contents, its range contains the part, and, for an attachment, its pass
    /// renders to all texels of the range.
    #[inline]
    pub(crate) fn replaces(&self, access: &Access, part: SubresourceRange) -> bool {
        if !access.writes || access.needs_contents() || !access.range.contains(part) {
            return false;
        }
        let ResourceKind::Image { extent, .. } = self.resource(access.resource).kind else {
            return true;
        };
        let pass = self.pass(access.pass);
        let side = |texels: u32| (texels >> access.range.levels.first.min(31)).max(1);
        let whole = vk::Extent2D {
            width: side(extent.width),
            height: side(extent.height),
        };
        let rendered = match pass.view_mask {
            0 => pass.layers as usize,
            views => views.count_ones() as usize,
        };
        let all_layers = rendered >= access.range.layers.len();
        !access.kind.is_attachment() || pass.area == whole.into() && all_layers
    }
}

fn up_to(end: u32) -> Run {
    Run::new(0, end)
}

/// Maximum total number of parts of a frame's images.
const MAX_PARTS: usize = 1 << 20;

/// Fills in the empty fields of the ranges of accesses, and checks that every range is inside its image.
pub(super) fn resolve_ranges(tables: &mut Tables) -> Result<(), FrameError> {
    for access in &mut tables.accesses {
        let resource = &tables.resources[access.resource.index()];
        let range = resource.resolved(access.range, access.kind);
        if access.range == SubresourceRange::ALL {
            access.range = range;
            continue;
        }
        let whole = resource.whole();
        let layers = resource.layers_of(range.levels.first).end;
        let outside = [
            ("levels", range.levels, whole.levels.end),
            ("layers", range.layers, layers),
        ];
        for (what, run, count) in outside {
            if run.first > run.end || run.end > count {
                return Err(FrameRule::Range.broken(format!(
                    "pass `{pass}` uses {what} [{first}, {end}) of `{resource}`, which is not a range within [0, {count})",
                    pass = tables.passes[access.pass.index()].name,
                    resource = resource.name,
                    what = if resource.is_3d() && what == "layers" {
                        "slices"
                    } else {
                        what
                    },
                    first = run.first,
                    end = run.end
                )));
            }
        }
        if !whole.aspects.contains(range.aspects) {
            return Err(FrameRule::Misuse.broken(format!(
                "pass `{pass}` uses `{resource}` as {kind}: its format does not have all of the aspects \
                 {aspects:?}",
                aspects = range.aspects,
                pass = tables.passes[access.pass.index()].name,
                resource = resource.name,
                kind = access.kind.noun()
            )));
        }
        access.range = range;
    }
    Ok(())
}

/// Divides every image into the parts that its accesses distinguish.
pub(super) fn derive_parts(tables: &mut Tables) -> Result<(), FrameError> {
    let mut parts = Vec::with_capacity(tables.resources.len());
    let mut parts_of = Vec::with_capacity(tables.resources.len());
    for (resource, uses) in tables.resources.iter().zip(&tables.uses_of) {
        let whole = resource.whole();
        let ranges = || {
            let uses = uses.of(&tables.uses).iter();
            uses.map(|&index| tables.accesses[index as usize].range)
        };
        let first = parts.len() as u32;
        // A range of all slices of a smaller level stands for all slices.
        let of_layers = |range: SubresourceRange| match range.layers == resource.layers_of(range.levels.first)
        {
            true => whole.layers,
            false => range.layers,
        };
        let plain = |range: SubresourceRange| {
            (range.aspects, range.levels, of_layers(range)) == (whole.aspects, whole.levels, whole.layers)
        };
        if ranges().all(plain) {
            parts.push(whole);
        } else {
            let layers = cuts(whole.layers, ranges().map(of_layers));
            // Each level has its own slices.
            let levels = match resource.is_3d() && layers.len() > 1 {
                true => cuts(
                    whole.levels,
                    (0..whole.levels.end).map(|level| Run::new(level, level)),
                ),
                false => cuts(whole.levels, ranges().map(|range| range.levels)),
            };
            let apart = ranges().any(|range| range.aspects != whole.aspects);
            let aspects: Vec<vk::ImageAspectFlags> = if apart {
                let bits = 0..u32::BITS;
                let bits = bits.map(|bit| vk::ImageAspectFlags::from_raw(1 << bit));
                bits.filter(|bit| whole.aspects.contains(*bit)).collect()
            } else {
                vec![whole.aspects]
            };
            let count = levels.len() * layers.len() * aspects.len() + parts.len();
            if count > MAX_PARTS {
                return Err(FrameRule::TooMany.broken(format!(
                    "the accesses of the frame divide its images into {count} parts: at most {limit} can be planned",
                    limit = MAX_PARTS
                )));
            }
            for &levels in &levels {
                let end = resource.layers_of(levels.first).end;
                let there = |of: &Run| Run::new(of.first.min(end), of.end.min(end));
                for layers in layers.iter().map(there).filter(|layers| !layers.is_empty()) {
                    parts.extend(aspects.iter().map(|&aspects| SubresourceRange {
                        aspects,
                        levels,
                        layers,
                    }));
                }
            }
        }
        parts_of.push(Run::new(first, parts.len() as u32));
    }
    (tables.parts, tables.parts_of) = (parts, parts_of);
    Ok(())
}

/// Divides `whole` at both ends of every run.
fn cuts(whole: Run, runs: impl Iterator<Item = Run>) -> Vec<Run> {
    let mut at: Vec<u32> = runs.flat_map(|run| [run.first, run.end]).collect();
    at.extend([whole.first, whole.end]);
    at.compact_sort();
    at.dedup();
    at.windows(2).map(|pair| Run::new(pair[0], pair[1])).collect()
}
