//! Areas of images, in texels.

use ash::vk;

use super::tables::{Access, Resource, ResourceKind};
use super::{AccessKind, ImageDesc};
use crate::format;

/// Width and height in texels of a level as seen through a view: in blocks if the view shows compressed blocks as texels ("Image Views",
/// `VK_IMAGE_CREATE_BLOCK_TEXEL_VIEW_COMPATIBLE_BIT`).
pub(crate) fn viewed_extent(desc: &ImageDesc, extent: vk::Extent3D, access: &Access) -> vk::Extent2D {
    let blocks = |view| {
        let (own, view) = (format::info(desc.format)?, format::info(view)?);
        (own.is_compressed() && !view.is_compressed()).then_some([own.block.width, own.block.height])
    };
    let block = access.view.format.and_then(blocks).unwrap_or([1, 1]);
    let side = |texels: u32, block: u32| {
        (texels >> access.range.levels.first.min(31))
            .max(1)
            .div_ceil(block)
    };
    vk::Extent2D {
        width: side(extent.width, block[0]),
        height: side(extent.height, block[1]),
    }
}

/// Extent and number of layers that all attachments of a render pass cover, input attachments included; `None` without attachments.
pub(super) fn attachment_extent(accesses: &[Access], resources: &[Resource]) -> Option<(vk::Extent2D, u32)> {
    let attached =
        |access: &&Access| access.kind.is_attachment() || access.kind == AccessKind::InputAttachment;
    let of_one = |access: &Access| match resources[access.resource.index()].kind {
        ResourceKind::Image { desc, extent, .. } => Some((
            viewed_extent(&desc, extent, access),
            access.range.layers.len() as u32,
        )),
        ResourceKind::Buffer { .. } => None,
    };
    let all = accesses.iter().filter(attached).filter_map(of_one);
    all.reduce(|(a, layers), (b, others)| {
        let (width, height) = (a.width.min(b.width), a.height.min(b.height));
        (vk::Extent2D { width, height }, layers.min(others))
    })
}

/// Intersection of two areas; `None` if they do not overlap.
pub(crate) fn intersection(one: vk::Rect2D, other: vk::Rect2D) -> Option<vk::Rect2D> {
    let side = |one: (i32, u32), other: (i32, u32)| {
        let first = one.0.max(other.0);
        let ends = [one, other].map(|(first, length)| i64::from(first) + i64::from(length));
        let length = u32::try_from(ends[0].min(ends[1]) - i64::from(first)).ok()?;
        (length > 0).then_some((first, length))
    };
    let (a, b) = (one.extent, other.extent);
    let (x, width) = side((one.offset.x, a.width), (other.offset.x, b.width))?;
    let (y, height) = side((one.offset.y, a.height), (other.offset.y, b.height))?;
    let (offset, extent) = (vk::Offset2D { x, y }, vk::Extent2D { width, height });
    Some(vk::Rect2D { offset, extent })
}

/// The smallest area that covers two areas.
pub(crate) fn union(one: vk::Rect2D, other: vk::Rect2D) -> vk::Rect2D {
    let side = |one: (i32, u32), other: (i32, u32)| {
        let first = one.0.min(other.0);
        let ends = [one, other].map(|(first, length)| i64::from(first) + i64::from(length));
        let length = ends[0].max(ends[1]) - i64::from(first);
        (first, u32::try_from(length).unwrap_or(u32::MAX))
    };
    let (a, b) = (one.extent, other.extent);
    let (x, width) = side((one.offset.x, a.width), (other.offset.x, b.width));
    let (y, height) = side((one.offset.y, a.height), (other.offset.y, b.height));
    let (offset, extent) = (vk::Offset2D { x, y }, vk::Extent2D { width, height });
    vk::Rect2D { offset, extent }
}

/// The viewport that covers an area, with depths from 0 to 1.
pub(crate) fn viewport(vk::Rect2D { offset, extent }: vk::Rect2D) -> vk::Viewport {
    vk::Viewport {
        x: offset.x as f32,
        y: offset.y as f32,
        width: extent.width as f32,
        height: extent.height as f32,
        min_depth: 0.0,
        max_depth: 1.0,
    }
}
