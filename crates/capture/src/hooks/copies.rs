//! Entry points of copies, blits, resolves, fills, updates and clears.

use std::sync::Arc;

use ash::vk;
use ash::vk::PipelineStageFlags2 as S;
use tileheap::format::{self, PackedRun};
use tileheap::frame::AccessKind::{TransferDestination, TransferSource};
use tileheap_layer::blits::BlitReads;
use tileheap_layer::{array, given};

use super::device::Device;
use super::recorder::commands;
use crate::model::access::{Coverage, FollowedAccess};
use crate::model::objects::{BufferRange, Image};
use crate::model::recording::Recording;

/// Part of an image: layers, offset and extent.
type ImageRegion = (vk::ImageSubresourceLayers, vk::Offset3D, vk::Extent3D);

/// The layout of texels in a buffer: the offset, the row length and the image height in texels; 0 means the length or height of the copied region.
type Packing = (u64, u32, u32);

fn of_image(
    image: &Arc<Image>,
    kind: tileheap::frame::AccessKind,
    layout: vk::ImageLayout,
    (layers, offset, extent): ImageRegion,
) -> FollowedAccess {
    let range = image.copied(layers, offset.z, extent.depth);
    let mut access = FollowedAccess::of_image(image, kind, range, layout).whole();
    let size = [extent.width, extent.height];
    access.area = image.area(layers.mip_level, [offset.x, offset.y], size);
    access
}

fn from_image(
    image: Option<&Arc<Image>>,
    layout: vk::ImageLayout,
    place: ImageRegion,
) -> Option<FollowedAccess> {
    Some(of_image(image?, TransferSource, layout, place).reading())
}

fn to_image(
    image: Option<&Arc<Image>>,
    layout: vk::ImageLayout,
    place: ImageRegion,
) -> Option<FollowedAccess> {
    let (layers, offset, extent) = place;
    let image = image?;
    let whole = image.is_whole(layers.mip_level, offset, extent);
    let coverage = if whole { Coverage::Whole } else { Coverage::Part };
    Some(of_image(image, TransferDestination, layout, place).writing(coverage))
}

fn from_buffer(range: Option<&BufferRange>) -> Option<FollowedAccess> {
    Some(
        FollowedAccess::of_buffer(range?, TransferSource)
            .reading()
            .whole(),
    )
}

/// Returns a write of all bytes of a range.
fn to_buffer(range: Option<&BufferRange>) -> Option<FollowedAccess> {
    let range = range?;
    let is_all = (range.first, range.end) == (0, range.buffer.desc.size.0);
    let coverage = if is_all { Coverage::Whole } else { Coverage::Part };
    let access = FollowedAccess::of_buffer(range, TransferDestination);
    Some(access.writing(coverage).whole())
}

/// Returns the read of a blit's source region.
fn by_blit(access: FollowedAccess, reads: BlitReads) -> FollowedAccess {
    FollowedAccess {
        is_whole: reads == BlitReads::All,
        reads_around: reads == BlitReads::SomeAndAround,
        ..access
    }
}

fn images(
    device: &Device,
    recording: &mut Recording,
    (stage, filter): (S, Option<vk::Filter>),
    (from, from_layout): (vk::Image, vk::ImageLayout),
    (to, to_layout): (vk::Image, vk::ImageLayout),
    places: impl Iterator<Item = (ImageRegion, ImageRegion)>,
) {
    let (from, to) = (device.objects.image(from), device.objects.image(to));
    let both = |(source, mut target): (ImageRegion, ImageRegion)| {
        if let (S::COPY, Some(from), Some(to)) = (stage, &from, &to) {
            target.2 = target_extent(from, to, target.2);
        }
        let reads = filter.map_or(BlitReads::All, |filter| BlitReads::of(filter, source.2, target.2));
        let read = from_image(from.as_ref(), from_layout, source);
        [
            read.map(|access| by_blit(access, reads)),
            to_image(to.as_ref(), to_layout, target),
        ]
    };
    recording.transfer(stage, places.flat_map(both).collect());
}

/// Records copies, each given by source offset, target offset and size.
fn buffers(
    device: &Device,
    recording: &mut Recording,
    (from, to): (vk::Buffer, vk::Buffer),
    regions: impl Iterator<Item = (u64, u64, u64)>,
) {
    let both = |(source, target, size)| {
        let (source, target) = (
            device.objects.buffer_range(from, source, size),
            device.objects.buffer_range(to, target, size),
        );
        [from_buffer(source.as_ref()), to_buffer(target.as_ref())]
    };
    recording.transfer(S::COPY, regions.flat_map(both).collect());
}

/// Returns the ranges of bytes that texels occupy in a buffer: offset, size, and true if a copy accesses all of the range. Returns a single range up
/// to the end of the buffer if the size of a texel is not known.
fn packed(
    image: Option<&Arc<Image>>,
    (layers, _, extent): ImageRegion,
    (offset, row_length, image_height): Packing,
) -> Vec<(u64, u64, bool)> {
    let is_color = layers.aspect_mask == vk::ImageAspectFlags::COLOR;
    let block = image.filter(|_| is_color);
    let Some(block) = block.and_then(|image| format::texel_block(image.desc.format)) else {
        return vec![(offset, vk::WHOLE_SIZE, false)];
    };
    let runs = block.packed(extent, layers.layer_count, (row_length, image_height));
    let range = |run: PackedRun| (offset.saturating_add(run.first), run.size, run.is_dense);
    runs.into_iter().map(range).collect()
}

fn upload(
    device: &Device,
    recording: &mut Recording,
    from: vk::Buffer,
    (to, layout): (vk::Image, vk::ImageLayout),
    places: impl Iterator<Item = (ImageRegion, Packing)>,
) {
    let to = device.objects.image(to);
    let read = |(offset, size, is_dense)| {
        let source = device.objects.buffer_range(from, offset, size);
        from_buffer(source.as_ref()).map(|access| FollowedAccess {
            is_whole: is_dense,
            ..access
        })
    };
    let both = |(place, packing)| {
        let ranges = packed(to.as_ref(), place, packing);
        let sources: Vec<Option<FollowedAccess>> = ranges.into_iter().map(read).collect();
        sources.into_iter().chain([to_image(to.as_ref(), layout, place)])
    };
    recording.transfer(S::COPY, places.flat_map(both).collect());
}

fn download(
    device: &Device,
    recording: &mut Recording,
    (from, layout): (vk::Image, vk::ImageLayout),
    to: vk::Buffer,
    places: impl Iterator<Item = (ImageRegion, Packing)>,
) {
    let from = device.objects.image(from);
    let written = |(offset, size, is_dense)| {
        let target = device.objects.buffer_range(to, offset, size);
        to_buffer(target.as_ref()).map(|access| FollowedAccess {
            is_whole: is_dense,
            coverage: if is_dense { access.coverage } else { Coverage::Part },
            ..access
        })
    };
    let both = |(place, packing)| {
        let ranges = packed(from.as_ref(), place, packing);
        let targets: Vec<Option<FollowedAccess>> = ranges.into_iter().map(written).collect();
        [from_image(from.as_ref(), layout, place)]
            .into_iter()
            .chain(targets)
    };
    recording.transfer(S::COPY, places.flat_map(both).collect());
}

/// Records a fill or an update of a buffer. Source of the stage: *Clear Commands*, which includes fills and updates of buffers.
fn fill(device: &Device, recording: &mut Recording, buffer: vk::Buffer, offset: u64, size: u64) {
    let range = device.objects.buffer_range(buffer, offset, size).map(|range| {
        // `VK_WHOLE_SIZE` is rounded down to a multiple of 4.
        let rest = if size == vk::WHOLE_SIZE {
            (range.end - range.first) % 4
        } else {
            0
        };
        BufferRange {
            end: range.end - rest,
            ..range
        }
    });
    recording.transfer(S::CLEAR, vec![to_buffer(range.as_ref())]);
}

/// Records a copy of query results; without `VK_QUERY_RESULT_WAIT_BIT`, unavailable results leave their bytes unchanged.
fn query_results(
    device: &Device,
    recording: &mut Recording,
    buffer: vk::Buffer,
    (offset, stride, count): (u64, u64, u32),
    flags: vk::QueryResultFlags,
) {
    // Without waiting, unavailable results are not written.
    let is_certain = flags.contains(vk::QueryResultFlags::WAIT);
    let results = result_ranges((offset, stride, count), flags).map(|(first, size, is_result)| {
        let range = device.objects.buffer_range(buffer, first, size);
        to_buffer(range.as_ref()).map(|access| FollowedAccess {
            is_whole: is_result && is_certain,
            is_conditional: !is_certain,
            coverage: Coverage::Part,
            ..access
        })
    });
    recording.transfer(S::COPY, results.collect());
}

/// Returns the ranges of bytes of query results: offset, size, and true for the first word of a result, which every query has. Further words depend
/// on the type of the queries: up to four, and the availability.
fn result_ranges(
    (offset, stride, count): (u64, u64, u32),
    flags: vk::QueryResultFlags,
) -> impl Iterator<Item = (u64, u64, bool)> {
    /// Maximum number of queries with separate ranges; more queries share one range.
    const MAX: u32 = 64;
    let word = match flags.contains(vk::QueryResultFlags::TYPE_64) {
        true => 8,
        false => 4,
    };
    // The stride separates several results; a single one may have further words.
    let further = if count > 1 { 0 } else { 4 * word };
    let words = stride.saturating_mul(count.into()).saturating_add(further);
    let is_short = count <= MAX;
    let each = (0..u64::from(count)).filter(move |_| is_short);
    let first = each.map(move |index| (offset.saturating_add(index.saturating_mul(stride)), word, true));
    let status = vk::QueryResultFlags::WITH_AVAILABILITY | vk::QueryResultFlags::WITH_STATUS_KHR;
    let is_dense = stride == word && !flags.intersects(status);
    let rest = (!is_short || !is_dense).then_some((offset, words, false));
    first.chain(rest)
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
        let access = FollowedAccess::of_image(image, TransferDestination, image.range(*range), layout);
        Some(access.writing(Coverage::Whole).whole())
    };
    recording.transfer(S::CLEAR, ranges.iter().map(one).collect());
}

/// Expands to the parts of a region that has the same size in both images; [`images`] adapts it to the texel blocks of the target.
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

/// Returns the extent of a copy in the target, whose texel blocks may have a different size.
fn target_extent(from: &Image, to: &Image, extent: vk::Extent3D) -> vk::Extent3D {
    let blocks = [from, to].map(|image| format::texel_block(image.desc.format));
    let [Some(from), Some(to)] = blocks else {
        return extent;
    };
    let side = |texels: u32, from: u32, to: u32| {
        if from == to {
            texels
        } else {
            texels.div_ceil(from).saturating_mul(to)
        }
    };
    vk::Extent3D {
        width: side(extent.width, from.width, to.width),
        height: side(extent.height, from.height, to.height),
        ..extent
    }
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

/// Expands to the regions as source offset, target offset and size.
macro_rules! regions {
    ($regions:expr) => {
        $regions
            .iter()
            .map(|one| (one.src_offset, one.dst_offset, one.size))
    };
}

macro_rules! texels {
    ($regions:expr) => {
        $regions.iter().map(|one| {
            (
                (one.image_subresource, one.image_offset, one.image_extent),
                (one.buffer_offset, one.buffer_row_length, one.buffer_image_height),
            )
        })
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

/// Declares copies between images, in both forms: with separate arguments and with a structure.
macro_rules! image_commands {
    ($($name:ident($($filter:ident)?), $name2:ident, $places:ident, $stage:ident;)+) => {
        commands! {$(
            $name(from, from_layout, to, to_layout, count, regions $(, $filter)?) |device, recording| {
                let (kind, places) = ((S::$stage, None$(.or(Some($filter)))?), $places!(array!(regions, count)));
                images(device, recording, kind, (from, from_layout), (to, to_layout), places);
            };

            $name2(info) |device, recording| {
                let given = given!(info);
                let (from, to) = ((given.src_image, given.src_image_layout), (given.dst_image, given.dst_image_layout));
                let (kind, places) = ((S::$stage, None$(.or(Some(given.$filter)))?), $places!(array!(given.p_regions, given.region_count)));
                images(device, recording, kind, from, to, places);
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
        buffers(device, recording, (from, to), regions!(array!(regions, count)));
    };
    vkCmdCopyBuffer2(info) |device, recording| {
        let given = given!(info);
        let regions = regions!(array!(given.p_regions, given.region_count));
        buffers(device, recording, (given.src_buffer, given.dst_buffer), regions);
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
    vkCmdUpdateBuffer(buffer, offset, size, data) |device, recording| fill(device, recording, buffer, offset, size);
    vkCmdFillBuffer(buffer, offset, size, data) |device, recording| fill(device, recording, buffer, offset, size);
    vkCmdClearColorImage(image, layout, value, count, ranges) |device, recording| clear(device, recording, image, layout, array!(ranges, count));
    vkCmdClearDepthStencilImage(image, layout, value, count, ranges) |device, recording| clear(device, recording, image, layout,
        array!(ranges, count));
    vkCmdCopyQueryPoolResults(pool, first, count, buffer, offset, stride, flags) |device, recording| query_results(device, recording, buffer,
        (offset, stride, count), flags);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::recording::ResourcePart;

    fn image(format: vk::Format) -> Arc<Image> {
        let info = vk::ImageCreateInfo::default()
            .format(format)
            .image_type(vk::ImageType::TYPE_3D)
            .extent(vk::Extent3D {
                width: 64,
                height: 32,
                depth: 8,
            })
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1);
        Arc::new(Image::new(1, &info))
    }

    fn place(aspect_mask: vk::ImageAspectFlags, [width, height, depth]: [u32; 3]) -> ImageRegion {
        let layers = vk::ImageSubresourceLayers {
            aspect_mask,
            layer_count: 1,
            ..Default::default()
        };
        let extent = vk::Extent3D { width, height, depth };
        (layers, vk::Offset3D { x: 4, y: 8, z: 2 }, extent)
    }

    #[test]
    fn texels_in_buffers_end_with_the_last_one_and_are_dense_without_gaps() {
        let color = vk::ImageAspectFlags::COLOR;
        let bytes = |format, size, packing| packed(Some(&image(format)), place(color, size), packing);
        let rgba = vk::Format::R8G8B8A8_UNORM;
        assert_eq!(bytes(rgba, [8, 4, 2], (16, 0, 0)), [(16, 8 * 4 * 2 * 4, true)]);
        assert_eq!(bytes(rgba, [8, 4, 2], (0, 8, 4)), [(0, 8 * 4 * 2 * 4, true)]);
        // Rows of 16 texels, slices of 5 rows.
        let rows = [0, 1, 2, 3, 5, 6, 7, 8].map(|row| (row * 16 * 4, 8 * 4, true));
        assert_eq!(bytes(rgba, [8, 4, 2], (0, 16, 5)), rows);
        let slices = [0, 5].map(|row| (row * 8 * 4, 4 * 8 * 4, true));
        assert_eq!(bytes(rgba, [8, 4, 2], (0, 8, 5)), slices);
        // Too many rows to list.
        let many = ((7 * 32 + 31) * 65 + 64) * 4;
        assert_eq!(bytes(rgba, [64, 32, 8], (0, 65, 0)), [(0, many, false)]);
        assert_eq!(
            bytes(rgba, [8, 1, 1], (0, 64, 64)),
            [(0, 32, true)],
            "a single row"
        );
        let compressed = vk::Format::BC1_RGB_UNORM_BLOCK;
        assert_eq!(bytes(compressed, [8, 6, 1], (0, 0, 0)), [(0, 2 * 2 * 8, true)]);
        let depth = place(vk::ImageAspectFlags::DEPTH, [8, 8, 1]);
        let unknown = packed(Some(&image(vk::Format::D24_UNORM_S8_UINT)), depth, (4, 0, 0));
        assert_eq!(unknown, [(4, vk::WHOLE_SIZE, false)]);
    }

    #[test]
    fn depths_of_3d_images_are_layers_and_whole_levels_have_no_area() {
        let image = image(vk::Format::R8_UNORM);
        let (color, general) = (vk::ImageAspectFlags::COLOR, vk::ImageLayout::GENERAL);
        let access = of_image(&image, TransferSource, general, place(color, [8, 4, 3]));
        assert_eq!((access.range.layers.first, access.range.layers.end), (2, 5));
        assert_eq!(access.area, Some([[4, 12], [8, 12]]));
        let (layers, _, _) = place(color, [0; 3]);
        let all = (layers, vk::Offset3D::default(), image.extent);
        let access = of_image(&image, TransferSource, general, all);
        assert_eq!((access.range.layers.end, access.area), (8, None));
    }

    /// Texels around the region count for order, but not for traffic.
    #[test]
    fn a_shrinking_blit_moves_the_bytes_of_its_region() {
        let image = image(vk::Format::R8_UNORM);
        let (color, general) = (vk::ImageAspectFlags::COLOR, vk::ImageLayout::GENERAL);
        for (reads, area) in [
            (BlitReads::All, Some([[4, 20], [8, 24]])),
            (BlitReads::Some, Some([[4, 20], [8, 24]])),
            (BlitReads::SomeAndAround, None),
        ] {
            let source = from_image(Some(&image), general, place(color, [16, 16, 1])).expect("an image");
            let access = by_blit(source, reads);
            assert_eq!(access.touched_bytes(), 16 * 16, "{reads:?}");
            let parts: Vec<_> = access.recorded(0).iter().map(|one| one.part).collect();
            let range = access.range;
            assert_eq!(parts, [ResourcePart::Texels { range, area }]);
        }
    }

    #[test]
    fn a_copy_has_as_many_blocks_in_the_target_as_in_the_source() {
        let [bc, words] = [vk::Format::BC1_RGB_UNORM_BLOCK, vk::Format::R32G32_UINT].map(image);
        let extent = vk::Extent3D {
            width: 30,
            height: 32,
            depth: 1,
        };
        let size = |from, to| {
            let target = target_extent(from, to, extent);
            [target.width, target.height]
        };
        assert_eq!(size(&bc, &words), [8, 8]);
        assert_eq!(size(&words, &bc), [120, 128]);
        assert_eq!(size(&bc, &bc), [30, 32]);
    }

    #[test]
    fn results_of_queries_are_words_with_a_stride() {
        use vk::QueryResultFlags as F;
        let ranges = |stride, count, flags| result_ranges((16, stride, count), flags).collect::<Vec<_>>();
        assert_eq!(ranges(8, 2, F::TYPE_64), [(16, 8, true), (24, 8, true)]);
        let sparse = [(16, 4, true), (32, 4, true), (16, 32, false)];
        assert_eq!(ranges(16, 2, F::empty()), sparse);
        assert_eq!(ranges(4, 1000, F::empty()), [(16, 4000, false)]);
    }
}
