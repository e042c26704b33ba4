//! Entry points of copies, blits, resolves, fills, updates and clears.

use std::sync::Arc;

use ash::vk;
use ash::vk::PipelineStageFlags2 as S;
use tileheap::frame::AccessKind::{TransferDestination, TransferSource};
use tileheap_layer::{array, given};

use super::device::Device;
use super::recorder::commands;
use crate::model::objects::{Buffer, Image};
use crate::model::recording::{Access, Coverage, Recording, region};

/// Part of an image: layers, and the texels inside.
type Place = (vk::ImageSubresourceLayers, vk::Offset3D, vk::Extent3D);

fn from_image(image: Option<&Arc<Image>>, layout: vk::ImageLayout, place: Place) -> Option<Access> {
    let image = image?;
    let mut access = Access::of_image(image, TransferSource, image.layers(place.0), layout).reading();
    access.regions = vec![region(place.1, place.2)];
    Some(access)
}

fn to_image(image: Option<&Arc<Image>>, layout: vk::ImageLayout, place: Place) -> Option<Access> {
    let (layers, offset, extent) = place;
    let image = image?;
    let whole = image.is_whole(layers.mip_level, offset, extent);
    let coverage = if whole { Coverage::Whole } else { Coverage::Part };
    let access = Access::of_image(image, TransferDestination, image.layers(layers), layout);
    let mut access = access.writing(coverage);
    access.regions = vec![region(place.1, place.2)];
    Some(access)
}

fn from_buffer(buffer: Option<&Arc<Buffer>>) -> Option<Access> {
    Some(Access::of_buffer(buffer?, TransferSource).reading())
}

/// A write of so many bytes in all.
fn to_buffer(buffer: Option<&Arc<Buffer>>, bytes: u64) -> Option<Access> {
    let buffer = buffer?;
    let coverage = if bytes >= buffer.desc.size.0 {
        Coverage::Whole
    } else {
        Coverage::Part
    };
    Some(Access::of_buffer(buffer, TransferDestination).writing(coverage))
}

fn images(
    device: &Device,
    recording: &mut Recording,
    stage: S,
    (from, from_layout): (vk::Image, vk::ImageLayout),
    (to, to_layout): (vk::Image, vk::ImageLayout),
    places: impl Iterator<Item = (Place, Place)>,
) {
    let (from, to) = (device.objects.image(from), device.objects.image(to));
    let both = |(source, target)| {
        [
            from_image(from.as_ref(), from_layout, source),
            to_image(to.as_ref(), to_layout, target),
        ]
    };
    recording.transfer(stage, places.flat_map(both).flatten().collect());
}

fn buffers(
    device: &Device,
    recording: &mut Recording,
    (from, to): (vk::Buffer, vk::Buffer),
    sizes: impl Iterator<Item = u64>,
) {
    let (from, to) = (device.objects.buffer(from), device.objects.buffer(to));
    let bytes = sizes.fold(0u64, u64::saturating_add);
    let both = [from_buffer(from.as_ref()), to_buffer(to.as_ref(), bytes)];
    recording.transfer(S::COPY, both.into_iter().flatten().collect());
}

fn upload(
    device: &Device,
    recording: &mut Recording,
    from: vk::Buffer,
    (to, layout): (vk::Image, vk::ImageLayout),
    places: impl Iterator<Item = Place>,
) {
    let to = device.objects.image(to);
    let written = places.filter_map(|place| to_image(to.as_ref(), layout, place));
    let from = device.objects.buffer(from);
    recording.transfer(
        S::COPY,
        from_buffer(from.as_ref()).into_iter().chain(written).collect(),
    );
}

/// The texels of a copy to a buffer fill it where they have as many bytes.
fn download(
    device: &Device,
    recording: &mut Recording,
    (from, layout): (vk::Image, vk::ImageLayout),
    to: vk::Buffer,
    places: impl Iterator<Item = Place>,
) {
    let from = device.objects.image(from);
    let block = from
        .as_ref()
        .and_then(|image| tileheap::format::texel_block(image.desc.format));
    let mut bytes = 0u64;
    let mut all: Vec<Access> = Vec::new();
    for place in places {
        let (layers, _, extent) = place;
        if let Some(block) = block {
            let blocks = u64::from(extent.width.div_ceil(block.width))
                * u64::from(extent.height.div_ceil(block.height));
            bytes +=
                blocks * u64::from(extent.depth) * u64::from(layers.layer_count) * u64::from(block.bytes);
        }
        all.extend(from_image(from.as_ref(), layout, place));
    }
    all.extend(to_buffer(device.objects.buffer(to).as_ref(), bytes));
    recording.transfer(S::COPY, all);
}

/// What is written by `bytes` from somewhere else.
fn fill(device: &Device, recording: &mut Recording, stage: S, buffer: vk::Buffer, offset: u64, bytes: u64) {
    let buffer = device.objects.buffer(buffer);
    let bytes = if bytes == vk::WHOLE_SIZE {
        buffer
            .as_ref()
            .map_or(0, |buffer| buffer.desc.size.0 - offset.min(buffer.desc.size.0))
    } else {
        bytes
    };
    recording.transfer(stage, to_buffer(buffer.as_ref(), bytes).into_iter().collect());
}

fn clear(
    device: &Device,
    recording: &mut Recording,
    image: vk::Image,
    layout: vk::ImageLayout,
    ranges: &[vk::ImageSubresourceRange],
) {
    let image = device.objects.image(image);
    let one = |range: &vk::ImageSubresourceRange| {
        let image = image.as_ref()?;
        let access = Access::of_image(image, TransferDestination, image.range(*range), layout);
        Some(access.writing(Coverage::Whole))
    };
    recording.transfer(S::CLEAR, ranges.iter().filter_map(one).collect());
}

/// The places of a region that is as large in both images.
macro_rules! copied {
    ($regions:expr) => {
        $regions.iter().map(|one| {
            (
                (one.src_subresource, one.src_offset, one.extent),
                (one.dst_subresource, one.dst_offset, one.extent),
            )
        })
    };
}

macro_rules! blitted {
    ($regions:expr) => {
        $regions.iter().map(|one| {
            let (from, to) = (corners(one.src_offsets), corners(one.dst_offsets));
            (
                (one.src_subresource, from.0, from.1),
                (one.dst_subresource, to.0, to.1),
            )
        })
    };
}

macro_rules! texels {
    ($regions:expr) => {
        $regions
            .iter()
            .map(|one| (one.image_subresource, one.image_offset, one.image_extent))
    };
}

fn corners([a, b]: [vk::Offset3D; 2]) -> (vk::Offset3D, vk::Extent3D) {
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
    (offset, extent)
}

/// Copies between images, by arguments and by a structure.
macro_rules! image_commands {
    ($($name:ident($($filter:ident)?), $name2:ident, $places:ident, $stage:ident;)+) => {
        commands! {$(
            $name(from, from_layout, to, to_layout, count, regions $(, $filter)?) |device, recording| {
                images(device, recording, S::$stage, (from, from_layout), (to, to_layout), $places!(array!(regions, count)));
            };

            $name2(info) |device, recording| {
                let given = given!(info);
                let (from, to) = ((given.src_image, given.src_image_layout), (given.dst_image, given.dst_image_layout));
                images(device, recording, S::$stage, from, to, $places!(array!(given.p_regions, given.region_count)));
            };
        )+}
    };
}

image_commands! {
    vkCmdCopyImage(), vkCmdCopyImage2, copied, COPY;
    vkCmdBlitImage(filter), vkCmdBlitImage2, blitted, BLIT;
    vkCmdResolveImage(), vkCmdResolveImage2, copied, RESOLVE;
}

commands! {
    vkCmdCopyBuffer(from, to, count, regions) |device, recording| {
        buffers(device, recording, (from, to), array!(regions, count).iter().map(|one| one.size));
    };
    vkCmdCopyBuffer2(info) |device, recording| {
        let given = given!(info);
        let sizes = array!(given.p_regions, given.region_count).iter().map(|one| one.size);
        buffers(device, recording, (given.src_buffer, given.dst_buffer), sizes);
    };
    vkCmdCopyBufferToImage(from, to, layout, count, regions) |device, recording| upload(device, recording, from, (to, layout), texels!(array!(regions,
        count)));
    vkCmdCopyBufferToImage2(info) |device, recording| {
        let given = given!(info);
        let to = (given.dst_image, given.dst_image_layout);
        upload(device, recording, given.src_buffer, to, texels!(array!(given.p_regions, given.region_count)));
    };
    vkCmdCopyImageToBuffer(from, layout, to, count, regions) |device, recording| download(device, recording, (from, layout), to, texels!(array!(regions,
        count)));
    vkCmdCopyImageToBuffer2(info) |device, recording| {
        let given = given!(info);
        let from = (given.src_image, given.src_image_layout);
        download(device, recording, from, given.dst_buffer, texels!(array!(given.p_regions, given.region_count)));
    };
    vkCmdUpdateBuffer(buffer, offset, size, data) |device, recording| fill(device, recording, S::CLEAR, buffer, offset, size);
    vkCmdFillBuffer(buffer, offset, size, data) |device, recording| fill(device, recording, S::CLEAR, buffer, offset, size);
    vkCmdClearColorImage(image, layout, value, count, ranges) |device, recording| clear(device, recording, image, layout, array!(ranges, count));
    vkCmdClearDepthStencilImage(image, layout, value, count, ranges) |device, recording| clear(device, recording, image, layout,
        array!(ranges, count));
    vkCmdCopyQueryPoolResults(pool, first, count, buffer, offset, stride, flags) |device, recording| fill(device, recording, S::COPY, buffer, offset,
        stride * u64::from(count));
}
