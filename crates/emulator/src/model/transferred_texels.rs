//! The texels that transfer commands read and write in images.

use ash::vk;
use tileheap_device::format::{TexelBlock, texel_block};
use tileheap_layer::blits::BlitReads;
use tileheap_sync::program::{ResourcePart, Tiling};
use tileheap_units::Run;

use super::resources::Resource;

/// The regions of a transfer command, as structures of the original command or of the one whose name ends in 2.
#[derive(Clone, Copy)]
pub(crate) enum Regions<'a, T, U> {
    V1(&'a [T]),
    V2(&'a [U]),
}

/// A box of texels in layers of one mip level.
#[derive(Clone, Copy)]
pub(crate) struct TexelBox {
    pub(crate) layers: vk::ImageSubresourceLayers,
    pub(crate) offset: vk::Offset3D,
    pub(crate) extent: vk::Extent3D,
    /// True if the command uses all of these texels, and no others.
    pub(crate) is_exact: bool,
    /// True if the command uses no other texels; it may use only some of these.
    pub(crate) is_within: bool,
}

/// The regions of a command between two images.
#[derive(Clone, Copy)]
pub(crate) enum ImageRegions<'a> {
    Copies(Regions<'a, vk::ImageCopy, vk::ImageCopy2<'a>>),
    Blits(vk::Filter, Regions<'a, vk::ImageBlit, vk::ImageBlit2<'a>>),
    Resolves(Regions<'a, vk::ImageResolve, vk::ImageResolve2<'a>>),
}

/// Converts regions in either form to boxes of texels. A macro, since the structures of both forms have the same fields but
/// no common type.
macro_rules! boxes {
    ($regions:expr, |$one:ident| $boxes:expr) => {
        match $regions {
            Regions::V1(regions) => regions.iter().map(|$one| $boxes).collect(),
            Regions::V2(regions) => {
                // A structure in the chain may rotate the region (VK_QCOM_rotated_copy_commands).
                let is_exact = |chain: *const std::ffi::c_void| chain.is_null();
                let each = regions.iter().map(|$one| {
                    let both: [TexelBox; 2] = $boxes;
                    both.map(|texels| TexelBox {
                        is_exact: texels.is_exact && is_exact($one.p_next),
                        is_within: texels.is_within && is_exact($one.p_next),
                        ..texels
                    })
                });
                each.collect()
            }
        }
    };
}

impl ImageRegions<'_> {
    /// The texels that each region reads and writes. The extents of copies are in texels of the source.
    fn boxes(self) -> Vec<[TexelBox; 2]> {
        macro_rules! same_extent {
            ($one:ident) => {{
                let (source, target) = ($one.src_subresource, $one.dst_subresource);
                [
                    TexelBox::new(source, $one.src_offset, $one.extent),
                    TexelBox::new(target, $one.dst_offset, $one.extent),
                ]
            }};
        }
        match self {
            ImageRegions::Copies(regions) => boxes!(regions, |one| same_extent!(one)),
            ImageRegions::Resolves(regions) => boxes!(regions, |one| same_extent!(one)),
            ImageRegions::Blits(filter, regions) => boxes!(regions, |one| blitted(
                filter,
                (one.src_subresource, one.src_offsets),
                (one.dst_subresource, one.dst_offsets),
            )),
        }
    }

    /// Like `boxes`, with the extents of copies in texels of each image; an image is `None` if the layer does not know
    /// it.
    pub(crate) fn between(self, from: Option<&Resource>, to: Option<&Resource>) -> Vec<[TexelBox; 2]> {
        let mut boxes = self.boxes();
        if matches!(self, ImageRegions::Copies(_)) {
            boxes
                .iter_mut()
                .for_each(|[_, target]| target.convert_extent(from, to));
        }
        boxes
    }
}

/// The texels that a blit reads and writes.
fn blitted(
    filter: vk::Filter,
    source: (vk::ImageSubresourceLayers, [vk::Offset3D; 2]),
    target: (vk::ImageSubresourceLayers, [vk::Offset3D; 2]),
) -> [TexelBox; 2] {
    let [mut source, target] = [source, target].map(|(layers, [a, b])| {
        let offset = vk::Offset3D {
            x: a.x.min(b.x),
            y: a.y.min(b.y),
            z: a.z.min(b.z),
        };
        let extent = vk::Extent3D {
            width: a.x.abs_diff(b.x),
            height: a.y.abs_diff(b.y),
            depth: a.z.abs_diff(b.z),
        };
        TexelBox::new(layers, offset, extent)
    });
    let reads = BlitReads::of(filter, source.extent, target.extent);
    source.is_exact = reads == BlitReads::All;
    source.is_within = reads != BlitReads::SomeAndAround;
    [source, target]
}

impl TexelBox {
    pub(crate) fn new(
        layers: vk::ImageSubresourceLayers,
        offset: vk::Offset3D,
        extent: vk::Extent3D,
    ) -> TexelBox {
        TexelBox {
            layers,
            offset,
            extent,
            is_exact: true,
            is_within: true,
        }
    }

    /// Converts the extent of a copy, which is in texels of the source, to texels of the target: their blocks may differ in size.
    fn convert_extent(&mut self, from: Option<&Resource>, to: Option<&Resource>) {
        // Multi-planar images have no blocks, and neither have the images that a plane can be copied to or from.
        let single = TexelBlock {
            width: 1,
            height: 1,
            bytes: 1,
        };
        let block = |image: Option<&Resource>| image.map(|image| texel_block(image.format).unwrap_or(single));
        let (Some(from), Some(to)) = (block(from), block(to)) else {
            (self.is_exact, self.is_within) = (false, false);
            return;
        };
        let side = |texels: u32, from: u32, to: u32| match from == to {
            true => texels,
            false => texels.div_ceil(from).saturating_mul(to),
        };
        self.extent.width = side(self.extent.width, from.width, to.width);
        self.extent.height = side(self.extent.height, from.height, to.height);
    }
}

impl Resource {
    /// The part of an image that a transfer uses, with `true` if it uses all of the part; `None` if the part is empty.
    pub(crate) fn transferred(&self, texels: &TexelBox) -> Option<(ResourcePart, bool)> {
        let TexelBox {
            layers,
            offset,
            extent,
            is_exact,
            is_within,
        } = *texels;
        let is_3d = self.extent.depth > 1;
        let slices = (u32::try_from(offset.z).unwrap_or(0), extent.depth);
        let (base_array_layer, layer_count) = match is_3d {
            true => slices,
            false => (layers.base_array_layer, layers.layer_count),
        };
        let part = self.subresources(&vk::ImageSubresourceRange {
            aspect_mask: layers.aspect_mask,
            base_mip_level: layers.mip_level,
            level_count: 1,
            base_array_layer,
            layer_count,
        });
        let (ResourcePart::Texels(mut part), Tiling::Optimal(all)) = (part, &self.tiling) else {
            // The positions of texels in a linear image are unknown.
            return Some((part, false));
        };
        // Offsets and extents of planes are in their own texels.
        let is_planar = all.aspects.contains(vk::ImageAspectFlags::PLANE_0);
        if is_planar || !is_within {
            return Some((ResourcePart::Texels(part), false));
        }
        part.area = area(self.extent, layers.mip_level, offset, extent)?;
        Some((ResourcePart::Texels(part), is_exact))
    }

    /// The part of an image that a clear of a range writes, with `true` if it writes all of the part; of a 3D image, it
    /// writes all slices.
    pub(crate) fn cleared(&self, range: &vk::ImageSubresourceRange) -> (ResourcePart, bool) {
        let mut range = *range;
        if self.extent.depth > 1 {
            (range.base_array_layer, range.layer_count) = (0, vk::REMAINING_ARRAY_LAYERS);
        }
        let part = self.subresources(&range);
        (part, matches!(part, ResourcePart::Texels(_)))
    }
}

/// The columns and rows that a box covers in a level: `Some(None)` if it covers all of them, `None` if it covers none.
fn area(
    image: vk::Extent3D,
    level: u32,
    offset: vk::Offset3D,
    extent: vk::Extent3D,
) -> Option<Option<[Run; 3]>> {
    let run = |first: i32, size: u32, side: u32| {
        let side = (side >> level.min(31)).max(1);
        let end = (i64::from(first) + i64::from(size)).clamp(0, side.into());
        let first = i64::from(first).clamp(0, end);
        let run = Run::new(first as u32, end as u32);
        (first < end).then_some((run, run == Run::new(0, side)))
    };
    let (columns, all_columns) = run(offset.x, extent.width, image.width)?;
    let (rows, all_rows) = run(offset.y, extent.height, image.height)?;
    // Slices count as layers.
    let slices = Run::new(0, u32::MAX);
    Some((!all_columns || !all_rows).then_some([columns, rows, slices]))
}
