//! The buffers and images that transfer commands read and write: the exact bytes and texels, if they are known.

use std::sync::Arc;

use ash::vk;
use ash::vk::Handle;
use tileheap_device::format::{PackedRun, TexelBlock, texel_block};
use tileheap_layer::array;
use tileheap_sync::program::{ResourcePart, Tiling};
use vk::PipelineStageFlags2 as S;

use super::resources::{Resource, Resources};
use super::transferred_texels::{ImageRegions, Regions, TexelBox};

/// A transfer command with the application's handles, before they are looked up.
#[derive(Clone, Copy)]
pub(crate) enum Transfer<'a> {
    /// A copy from one buffer to another.
    Copy(
        vk::Buffer,
        vk::Buffer,
        Regions<'a, vk::BufferCopy, vk::BufferCopy2<'a>>,
    ),
    /// A copy from a buffer to an image.
    Upload(vk::Buffer, vk::Image, TexelRegions<'a>),
    /// A copy from an image to a buffer.
    Download(vk::Image, vk::Buffer, TexelRegions<'a>),
    /// A fill or an update of a buffer: offset and size.
    Fill(vk::Buffer, u64, u64),
    /// A copy of query results to a buffer.
    Queries(vk::Buffer, QueryResults),
    /// A copy, blit or resolve from one image to another.
    Images(vk::Image, vk::Image, ImageRegions<'a>),
    /// The beginning of conditional rendering, which reads a predicate at an offset.
    Predicate(vk::Buffer, u64),
    /// A clear of an image outside render passes.
    Clear(vk::Image, &'a [vk::ImageSubresourceRange]),
}

/// The regions of a copy between a buffer and an image.
type TexelRegions<'a> = Regions<'a, vk::BufferImageCopy, vk::BufferImageCopy2<'a>>;

/// The buffer region that `vkCmdCopyQueryPoolResults` writes.
#[derive(Clone, Copy)]
pub(crate) struct QueryResults {
    pub(crate) offset: u64,
    pub(crate) stride: u64,
    pub(crate) count: u32,
    pub(crate) flags: vk::QueryResultFlags,
}

/// The use of a part of a tracked resource by a transfer.
#[derive(Debug)]
pub(crate) struct TransferUse {
    pub(crate) resource: Arc<Resource>,
    pub(crate) part: ResourcePart,
    pub(crate) writes: bool,
    pub(crate) stage: S,
    /// True if the transfer uses all of the part. It may use only some of it if the image's format is unknown, if its rows have gaps, or if its
    /// texels may be anywhere in the bytes of a linear image.
    pub(crate) is_exact: bool,
}

/// A part, with `true` if a transfer uses all of it.
type UsedPart = (ResourcePart, bool);

/// The uses of a transfer found so far.
struct Uses<'a> {
    resources: &'a Resources,
    found: Vec<TransferUse>,
}

impl Uses<'_> {
    fn add(
        &mut self,
        resource: Option<Arc<Resource>>,
        (writes, stage): (bool, S),
        parts: impl FnOnce(&Resource) -> Vec<UsedPart>,
    ) {
        let Some(resource) = resource.filter(|resource| resource.is_logged()) else {
            return;
        };
        let parts = parts(&resource).into_iter();
        self.found.extend(parts.map(|(part, is_exact)| TransferUse {
            resource: resource.clone(),
            part,
            writes,
            stage,
            is_exact,
        }));
    }

    /// Adds reads of bytes of a buffer.
    fn reads(&mut self, buffer: vk::Buffer, stage: S, parts: impl FnOnce(&Resource) -> Vec<UsedPart>) {
        let buffer = self.resources.buffers.get(buffer.as_raw());
        self.add(buffer, (false, stage), parts);
    }

    /// Adds writes of bytes of a buffer.
    fn writes(&mut self, buffer: vk::Buffer, stage: S, parts: impl FnOnce(&Resource) -> Vec<UsedPart>) {
        let buffer = self.resources.buffers.get(buffer.as_raw());
        self.add(buffer, (true, stage), parts);
    }

    /// Adds a transfer between two images.
    fn images(&mut self, from: vk::Image, to: vk::Image, regions: ImageRegions<'_>) {
        let [from, to] = [from, to].map(|image| self.resources.images.get(image.as_raw()));
        let is_followed = |image: &Option<Arc<Resource>>| image.as_ref().is_some_and(|one| one.is_logged());
        if !is_followed(&from) && !is_followed(&to) {
            return;
        }
        let stage = match regions {
            ImageRegions::Copies(_) => S::COPY,
            ImageRegions::Blits(..) => S::BLIT,
            ImageRegions::Resolves(_) => S::RESOLVE,
        };
        let boxes = regions.between(from.as_deref(), to.as_deref());
        self.add(from, (false, stage), |image| {
            transferred(image, boxes.iter().map(|both| both[0]))
        });
        self.add(to, (true, stage), |image| {
            transferred(image, boxes.iter().map(|both| both[1]))
        });
    }
}

fn transferred(image: &Resource, boxes: impl Iterator<Item = TexelBox>) -> Vec<UsedPart> {
    boxes.filter_map(|texels| image.transferred(&texels)).collect()
}

impl<'a> Transfer<'a> {
    /// `vkCmdCopyBuffer2`.
    pub(crate) fn copy(info: &'a vk::CopyBufferInfo2<'a>) -> Transfer<'a> {
        let regions = array!(info.p_regions, info.region_count);
        Transfer::Copy(info.src_buffer, info.dst_buffer, Regions::V2(regions))
    }

    /// `vkCmdCopyBufferToImage2`.
    pub(crate) fn upload(info: &'a vk::CopyBufferToImageInfo2<'a>) -> Transfer<'a> {
        let regions = array!(info.p_regions, info.region_count);
        Transfer::Upload(info.src_buffer, info.dst_image, Regions::V2(regions))
    }

    /// `vkCmdCopyImageToBuffer2`.
    pub(crate) fn download(info: &'a vk::CopyImageToBufferInfo2<'a>) -> Transfer<'a> {
        let regions = array!(info.p_regions, info.region_count);
        Transfer::Download(info.src_image, info.dst_buffer, Regions::V2(regions))
    }

    /// `vkCmdCopyImage2`.
    pub(crate) fn copy_image(info: &'a vk::CopyImageInfo2<'a>) -> Transfer<'a> {
        let regions = Regions::V2(array!(info.p_regions, info.region_count));
        Transfer::Images(info.src_image, info.dst_image, ImageRegions::Copies(regions))
    }

    /// `vkCmdBlitImage2`.
    pub(crate) fn blit(info: &'a vk::BlitImageInfo2<'a>) -> Transfer<'a> {
        let regions = Regions::V2(array!(info.p_regions, info.region_count));
        Transfer::Images(
            info.src_image,
            info.dst_image,
            ImageRegions::Blits(info.filter, regions),
        )
    }

    /// `vkCmdResolveImage2`.
    pub(crate) fn resolve(info: &'a vk::ResolveImageInfo2<'a>) -> Transfer<'a> {
        let regions = Regions::V2(array!(info.p_regions, info.region_count));
        Transfer::Images(info.src_image, info.dst_image, ImageRegions::Resolves(regions))
    }

    /// `vkCmdBeginConditionalRenderingEXT`.
    pub(crate) fn predicate(info: &vk::ConditionalRenderingBeginInfoEXT<'_>) -> Transfer<'a> {
        Transfer::Predicate(info.buffer, info.offset)
    }

    /// The transfer's uses of resources: one for each region and resource.
    pub(crate) fn uses(&self, resources: &Resources) -> Vec<TransferUse> {
        let mut uses = Uses {
            resources,
            found: Vec::new(),
        };
        let image = |image: vk::Image| resources.images.get(image.as_raw());
        // Source of the stages: the description of `VkPipelineStageFlagBits2`; *Clear Commands* has fills and updates.
        match *self {
            Transfer::Copy(from, to, regions) => {
                uses.reads(from, S::COPY, |buffer| copied(buffer, regions, false));
                uses.writes(to, S::COPY, |buffer| copied(buffer, regions, true));
            }
            Transfer::Upload(from, to, regions) => {
                let to = image(to);
                uses.reads(from, S::COPY, |buffer| packed(buffer, to.as_deref(), regions));
                uses.add(to, (true, S::COPY), |image| unpacked(image, regions));
            }
            Transfer::Download(from, to, regions) => {
                let from = image(from);
                uses.writes(to, S::COPY, |buffer| packed(buffer, from.as_deref(), regions));
                uses.add(from, (false, S::COPY), |image| unpacked(image, regions));
            }
            Transfer::Fill(to, offset, size) => {
                uses.writes(to, S::CLEAR, |buffer| vec![(filled(buffer, offset, size), true)]);
            }
            Transfer::Queries(to, results) => {
                uses.writes(to, S::COPY, |buffer| results.parts(buffer));
            }
            Transfer::Predicate(from, offset) => {
                uses.reads(from, S::CONDITIONAL_RENDERING_EXT, |buffer| {
                    vec![(buffer.bytes(offset, 4), true)]
                });
            }
            Transfer::Images(from, to, regions) => uses.images(from, to, regions),
            Transfer::Clear(to, ranges) => {
                uses.add(image(to), (true, S::CLEAR), |image| {
                    ranges.iter().map(|range| image.cleared(range)).collect()
                });
            }
        }
        uses.found.retain(|one| match one.part {
            ResourcePart::Bytes(first, end) => first < end,
            ResourcePart::Texels(_) => true,
        });
        uses.found
    }
}

impl QueryResults {
    /// The parts of the results: in each result, one word and the availability are certainly written if the command waits for them; queries of
    /// several words may also write the bytes up to the next result.
    fn parts(&self, buffer: &Resource) -> Vec<UsedPart> {
        let word = match self.flags.contains(vk::QueryResultFlags::TYPE_64) {
            true => 8,
            false => 4,
        };
        let status = vk::QueryResultFlags::WITH_AVAILABILITY | vk::QueryResultFlags::WITH_STATUS_KHR;
        let size = word * (1 + u64::from(self.flags.intersects(status)));
        let offset = |index: u32| {
            self.stride
                .saturating_mul(index.into())
                .saturating_add(self.offset)
        };
        let is_certain = self.flags.contains(vk::QueryResultFlags::WAIT);
        let each = (0..self.count).flat_map(|index| {
            let rest = offset(index).saturating_add(size);
            let end = match index + 1 < self.count {
                true => offset(index + 1),
                false => buffer.size,
            };
            let more = (end > rest).then(|| (buffer.bytes(rest, end - rest), false));
            std::iter::once((buffer.bytes(offset(index), size), is_certain)).chain(more)
        });
        each.collect()
    }
}

/// The parts of a buffer that a copy between buffers reads, or those that it writes.
fn copied(
    buffer: &Resource,
    regions: Regions<'_, vk::BufferCopy, vk::BufferCopy2<'_>>,
    writes: bool,
) -> Vec<UsedPart> {
    macro_rules! parts {
        ($regions:expr) => {{
            let parts = $regions.iter().map(|one| {
                let offset = if writes { one.dst_offset } else { one.src_offset };
                (buffer.bytes(offset, one.size), true)
            });
            parts.collect()
        }};
    }
    match regions {
        Regions::V1(regions) => parts!(regions),
        Regions::V2(regions) => parts!(regions),
    }
}

/// The parts of a buffer that copies from or to an image use, each with `true` if the copy uses all of it. This is not the case if many rows have
/// gaps. If the size of a texel is unknown, or a structure is chained to the region, the part is everything from the offset on.
fn packed(buffer: &Resource, image: Option<&Resource>, regions: TexelRegions<'_>) -> Vec<UsedPart> {
    macro_rules! parts {
        ($regions:expr, |$one:ident| $is_plain:expr) => {{
            let parts = $regions.iter().flat_map(|$one| {
                let layers = $one.image_subresource;
                let block = image.and_then(|image| block_of(image.format, layers.aspect_mask));
                let packed = block.filter(|_| $is_plain).map(|block| {
                    let packing = ($one.buffer_row_length, $one.buffer_image_height);
                    block.packed($one.image_extent, layer_count(image, layers), packing)
                });
                let runs = packed.unwrap_or_else(|| {
                    vec![PackedRun {
                        first: 0,
                        size: vk::WHOLE_SIZE,
                        is_dense: false,
                    }]
                });
                let part = move |run: PackedRun| {
                    let offset = $one.buffer_offset.saturating_add(run.first);
                    (buffer.bytes(offset, run.size), run.is_dense)
                };
                runs.into_iter().map(part)
            });
            parts.collect()
        }};
    }
    match regions {
        Regions::V1(regions) => parts!(regions, |one| true),
        // A structure in the chain may rotate the region.
        Regions::V2(regions) => parts!(regions, |one| one.p_next.is_null()),
    }
}

/// The number of layers that a copy applies to.
fn layer_count(image: Option<&Resource>, layers: vk::ImageSubresourceLayers) -> u32 {
    match (layers.layer_count, image.map(|image| image.tiling)) {
        (vk::REMAINING_ARRAY_LAYERS, Some(Tiling::Optimal(all)))
            if image.is_some_and(|one| one.extent.depth <= 1) =>
        {
            all.layers.end.saturating_sub(layers.base_array_layer)
        }
        (vk::REMAINING_ARRAY_LAYERS, _) => 1,
        (count, _) => count,
    }
}

/// The parts of an image that copies from or to a buffer use.
fn unpacked(image: &Resource, regions: TexelRegions<'_>) -> Vec<UsedPart> {
    macro_rules! boxes {
        ($regions:expr, |$one:ident| $is_exact:expr) => {
            transferred(
                image,
                $regions.iter().map(|$one| TexelBox {
                    is_exact: $is_exact,
                    is_within: $is_exact,
                    ..TexelBox::new($one.image_subresource, $one.image_offset, $one.image_extent)
                }),
            )
        };
    }
    match regions {
        Regions::V1(regions) => boxes!(regions, |one| true),
        // A structure in the chain may rotate the region.
        Regions::V2(regions) => boxes!(regions, |one| one.p_next.is_null()),
    }
}

/// The texel blocks of an aspect as copies store them in buffers; `None` if they are unknown, or not used in full.
///
/// Source: "Copying Data Between Buffers and Images"; copies of 24-bit depth use three of four bytes.
fn block_of(format: vk::Format, aspect: vk::ImageAspectFlags) -> Option<TexelBlock> {
    use vk::{Format as F, ImageAspectFlags as Aspects};
    let bytes = match (aspect, format) {
        (Aspects::COLOR, _) => return texel_block(format),
        (Aspects::STENCIL, F::S8_UINT | F::D16_UNORM_S8_UINT) => 1,
        (Aspects::STENCIL, F::D24_UNORM_S8_UINT | F::D32_SFLOAT_S8_UINT) => 1,
        (Aspects::DEPTH, F::D16_UNORM | F::D16_UNORM_S8_UINT) => 2,
        (Aspects::DEPTH, F::D32_SFLOAT | F::D32_SFLOAT_S8_UINT) => 4,
        _ => return None,
    };
    Some(TexelBlock {
        width: 1,
        height: 1,
        bytes,
    })
}

/// The part that a fill or an update writes: the size that `VK_WHOLE_SIZE` stands for is rounded down to whole words.
fn filled(buffer: &Resource, offset: u64, size: u64) -> ResourcePart {
    match buffer.bytes(offset, size) {
        ResourcePart::Bytes(first, end) if size == vk::WHOLE_SIZE => {
            ResourcePart::Bytes(first, end - (end - first) % 4)
        }
        part => part,
    }
}

#[cfg(test)]
mod image_tests;

#[cfg(test)]
mod tests {
    use std::sync::OnceLock;

    use super::*;
    use crate::model::objects::Object;
    use crate::model::resources::{MemoryBinding, image_tiling};
    use crate::tables::unseen_writes::UnseenWrites;

    fn resource(object: Object, tiling: Tiling, format: vk::Format) -> Arc<Resource> {
        Arc::new(Resource {
            object,
            number: 1,
            needs: None,
            driver_size: 4096,
            fits_driver_memory: false,
            size: 1030,
            tiling,
            format,
            extent: vk::Extent3D::default(),
            contents: 0,
            unseen_writes: UnseenWrites::NONE,
            unseen_through_others: Default::default(),
            is_fetched: false,
            is_input: false,
            sharing: Default::default(),
            is_followed: false.into(),
            place: OnceLock::from(MemoryBinding {
                memory: 1,
                is_tile: true,
                first: 0,
                end: 4096,
                contents: 0,
            }),
        })
    }

    const A: u64 = 1;
    const B: u64 = 2;
    const IMAGE: u64 = 3;

    /// Two tile buffers and a tile image with four bytes per texel.
    fn resources() -> Resources {
        let resources = Resources::default();
        for handle in [A, B] {
            let object = Object::of(vk::Buffer::from_raw(handle));
            let buffer = resource(object, Tiling::Linear, vk::Format::UNDEFINED);
            resources.buffers.insert(handle, buffer);
        }
        let format = vk::Format::R8G8B8A8_UNORM;
        let info = vk::ImageCreateInfo::default().format(format);
        let object = Object::of(vk::Image::from_raw(IMAGE));
        let image = resource(object, image_tiling(&info), format);
        resources.images.insert(IMAGE, image);
        resources
    }

    type Use = (u64, (u64, u64), bool, S);

    /// The uses of buffers by a transfer.
    fn uses(transfer: Transfer<'_>) -> Vec<Use> {
        let uses = transfer.uses(&resources());
        let one = |one: &TransferUse| match one.part {
            ResourcePart::Bytes(first, end) => {
                Some((one.resource.object.1, (first, end), one.writes, one.stage))
            }
            ResourcePart::Texels(_) => None,
        };
        uses.iter().filter_map(one).collect()
    }

    fn buffer(handle: u64) -> vk::Buffer {
        vk::Buffer::from_raw(handle)
    }

    #[test]
    fn copies_have_a_read_and_a_write_for_each_region_of_tile_buffers() {
        let region = |src_offset, dst_offset, size| vk::BufferCopy {
            src_offset,
            dst_offset,
            size,
        };
        let regions = [region(0, 16, 8), region(100, 200, 4)];
        let second = regions.map(|one| {
            let region = vk::BufferCopy2::default().size(one.size);
            region.src_offset(one.src_offset).dst_offset(one.dst_offset)
        });
        let info = vk::CopyBufferInfo2::default()
            .src_buffer(buffer(A))
            .dst_buffer(buffer(B))
            .regions(&second);
        let expected = [
            (A, (0, 8), false, S::COPY),
            (A, (100, 104), false, S::COPY),
            (B, (16, 24), true, S::COPY),
            (B, (200, 204), true, S::COPY),
        ];
        let first = Transfer::Copy(buffer(A), buffer(B), Regions::V1(&regions));
        assert_eq!(uses(first), expected);
        assert_eq!(uses(Transfer::copy(&info)), expected);
        let ordinary = Transfer::Copy(buffer(7), buffer(B), Regions::V1(&regions));
        assert_eq!(uses(ordinary), expected[2..]);
    }

    #[test]
    fn fills_and_updates_clear_whole_words() {
        let fill = |offset, size| uses(Transfer::Fill(buffer(A), offset, size));
        assert_eq!(fill(8, 16), [(A, (8, 24), true, S::CLEAR)]);
        assert_eq!(fill(8, vk::WHOLE_SIZE), [(A, (8, 1028), true, S::CLEAR)]);
    }

    #[test]
    fn predicates_are_one_word() {
        let predicate = uses(Transfer::Predicate(buffer(A), 12));
        assert_eq!(predicate, [(A, (12, 16), false, S::CONDITIONAL_RENDERING_EXT)]);
    }

    #[test]
    fn results_of_queries_may_have_several_words() {
        let results = |stride, count, flags| {
            let results = QueryResults {
                offset: 64,
                stride,
                count,
                flags,
            };
            uses(Transfer::Queries(buffer(B), results))
        };
        let none = vk::QueryResultFlags::empty();
        let available = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WITH_AVAILABILITY;
        let written = |first, end| (B, (first, end), true, S::COPY);
        assert_eq!(results(0, 1, none), [written(64, 68), written(68, 1030)]);
        assert_eq!(results(0, 1, available), [written(64, 80), written(80, 1030)]);
        let each = [(64, 68), (68, 96), (96, 100), (100, 128), (128, 132), (132, 1030)];
        assert_eq!(results(32, 3, none), each.map(|(first, end)| written(first, end)));
    }

    #[test]
    fn texels_lie_in_rows_and_images() {
        let region = |aspect_mask, buffer_row_length| vk::BufferImageCopy {
            buffer_offset: 4,
            buffer_row_length,
            image_subresource: vk::ImageSubresourceLayers {
                aspect_mask,
                layer_count: 2,
                ..Default::default()
            },
            image_extent: vk::Extent3D {
                width: 4,
                height: 3,
                depth: 1,
            },
            ..Default::default()
        };
        let upload = |image, region: &vk::BufferImageCopy| {
            let regions = Regions::V1(std::slice::from_ref(region));
            uses(Transfer::Upload(buffer(A), vk::Image::from_raw(image), regions))
        };
        let (color, depth) = (vk::ImageAspectFlags::COLOR, vk::ImageAspectFlags::DEPTH);
        let tight = 4 + 2 * 3 * 4 * 4;
        assert_eq!(
            upload(IMAGE, &region(color, 0)),
            [(A, (4, tight), false, S::COPY)]
        );
        // Six rows of four texels, at a distance of eight.
        let rows = [0, 1, 2, 3, 4, 5].map(|row| 4 + row * 8 * 4);
        assert_eq!(
            upload(IMAGE, &region(color, 8)),
            rows.map(|first| (A, (first, first + 16), false, S::COPY))
        );
        for (image, aspect) in [(9, color), (IMAGE, depth)] {
            assert_eq!(
                upload(image, &region(aspect, 0)),
                [(A, (4, 1030), false, S::COPY)]
            );
        }
        let second = region(color, 0);
        let second = [vk::BufferImageCopy2::default()
            .buffer_offset(second.buffer_offset)
            .image_subresource(second.image_subresource)
            .image_extent(second.image_extent)];
        let info = vk::CopyImageToBufferInfo2::default()
            .src_image(vk::Image::from_raw(IMAGE))
            .dst_buffer(buffer(B))
            .regions(&second);
        assert_eq!(uses(Transfer::download(&info)), [(B, (4, tight), true, S::COPY)]);
    }
}
