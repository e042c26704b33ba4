//! The uses of images by each transfer command.

use std::sync::OnceLock;

use tileheap_sync::program::Texels;
use tileheap_units::Run;
use vk::ImageAspectFlags as Aspects;

use super::*;
use crate::model::objects::Object;
use crate::model::resources::{MemoryBinding, Resources, image_tiling};
use crate::model::transferred_texels::{ImageRegions, Regions};
use crate::tables::unseen_writes::UnseenWrites;

const FLAT: u64 = 1;
const ARRAY: u64 = 2;
const VOLUME: u64 = 3;
const BOTH: u64 = 4;
const BLOCKS: u64 = 5;
const PLANAR: u64 = 6;
const LINEAR: u64 = 7;
const BUFFER: u64 = 8;

fn resource(object: Object, info: &vk::ImageCreateInfo<'_>, tiling: Tiling) -> Arc<Resource> {
    Arc::new(Resource {
        object,
        number: object.1 as u32,
        needs: None,
        driver_size: 1 << 16,
        fits_driver_memory: false,
        size: 1 << 16,
        tiling,
        format: info.format,
        extent: info.extent,
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
            end: 1 << 16,
            contents: 0,
        }),
    })
}

/// Images of 64 x 32 texels with four mip levels, and a buffer.
fn resources() -> Resources {
    let resources = Resources::default();
    let color = vk::Format::R8G8B8A8_UNORM;
    for (handle, format, depth, layers) in [
        (FLAT, color, 1, 1),
        (ARRAY, color, 1, 6),
        (VOLUME, color, 16, 1),
        (BOTH, vk::Format::D32_SFLOAT_S8_UINT, 1, 1),
        (BLOCKS, vk::Format::BC1_RGB_UNORM_BLOCK, 1, 1),
        (PLANAR, vk::Format::G8_B8R8_2PLANE_420_UNORM, 1, 1),
        (LINEAR, color, 1, 1),
    ] {
        let info = vk::ImageCreateInfo::default()
            .format(format)
            .image_type(match depth {
                1 => vk::ImageType::TYPE_2D,
                _ => vk::ImageType::TYPE_3D,
            })
            .extent(extent(64, 32, depth))
            .mip_levels(4)
            .array_layers(layers)
            .tiling(match handle {
                LINEAR => vk::ImageTiling::LINEAR,
                _ => vk::ImageTiling::OPTIMAL,
            });
        let object = Object::of(vk::Image::from_raw(handle));
        let image = resource(object, &info, image_tiling(&info));
        resources.images.insert(handle, image);
    }
    let object = Object::of(vk::Buffer::from_raw(BUFFER));
    let buffer = resource(object, &vk::ImageCreateInfo::default(), Tiling::Linear);
    resources.buffers.insert(BUFFER, buffer);
    resources
}

fn extent(width: u32, height: u32, depth: u32) -> vk::Extent3D {
    vk::Extent3D { width, height, depth }
}

fn at(x: i32, y: i32, z: i32) -> vk::Offset3D {
    vk::Offset3D { x, y, z }
}

fn layers(aspect_mask: Aspects, mip_level: u32, [first, count]: [u32; 2]) -> vk::ImageSubresourceLayers {
    vk::ImageSubresourceLayers {
        aspect_mask,
        mip_level,
        base_array_layer: first,
        layer_count: count,
    }
}

const COLOR: Aspects = Aspects::COLOR;
const ONE: [u32; 2] = [0, 1];

/// A part of an image; `area` contains its columns and rows, unless it has all of them.
fn part(aspects: Aspects, levels: [u32; 2], layers: [u32; 2], area: Option<[[u32; 2]; 2]>) -> ResourcePart {
    ResourcePart::Texels(Texels {
        aspects,
        levels: levels.into(),
        layers: layers.into(),
        area: area.map(|[x, y]| [x.into(), y.into(), Run::new(0, u32::MAX)]),
    })
}

/// Resource, part, writes, stage, and whether all of the part is used.
type Use = (u64, ResourcePart, bool, S, bool);

fn uses(transfer: Transfer<'_>) -> Vec<Use> {
    let uses = transfer.uses(&resources()).into_iter();
    uses.map(|one| {
        (
            one.resource.object.1,
            one.part,
            one.writes,
            one.stage,
            one.is_exact,
        )
    })
    .collect()
}

fn image(handle: u64) -> vk::Image {
    vk::Image::from_raw(handle)
}

fn copy(
    (from, source, from_offset): (u64, vk::ImageSubresourceLayers, vk::Offset3D),
    (to, target, to_offset): (u64, vk::ImageSubresourceLayers, vk::Offset3D),
    extent: vk::Extent3D,
) -> Vec<Use> {
    let first = [vk::ImageCopy {
        src_subresource: source,
        src_offset: from_offset,
        dst_subresource: target,
        dst_offset: to_offset,
        extent,
    }];
    let second = [vk::ImageCopy2::default()
        .src_subresource(source)
        .src_offset(from_offset)
        .dst_subresource(target)
        .dst_offset(to_offset)
        .extent(extent)];
    let info = vk::CopyImageInfo2::default()
        .src_image(image(from))
        .dst_image(image(to))
        .regions(&second);
    let regions = ImageRegions::Copies(Regions::V1(&first));
    let found = uses(Transfer::Images(image(from), image(to), regions));
    assert_eq!(uses(Transfer::copy_image(&info)), found);
    found
}

fn blit(filter: vk::Filter, source: [vk::Offset3D; 2], target: [vk::Offset3D; 2]) -> Vec<Use> {
    let (from, to) = (layers(COLOR, 0, ONE), layers(COLOR, 1, ONE));
    let first = [vk::ImageBlit {
        src_subresource: from,
        src_offsets: source,
        dst_subresource: to,
        dst_offsets: target,
    }];
    let second = [vk::ImageBlit2::default()
        .src_subresource(from)
        .src_offsets(source)
        .dst_subresource(to)
        .dst_offsets(target)];
    let info = vk::BlitImageInfo2::default()
        .src_image(image(FLAT))
        .dst_image(image(ARRAY))
        .filter(filter)
        .regions(&second);
    let regions = ImageRegions::Blits(filter, Regions::V1(&first));
    let found = uses(Transfer::Images(image(FLAT), image(ARRAY), regions));
    assert_eq!(uses(Transfer::blit(&info)), found);
    found
}

#[test]
fn copies_use_an_area_of_both_images() {
    let level = layers(COLOR, 1, ONE);
    assert_eq!(
        copy(
            (FLAT, layers(COLOR, 0, ONE), at(8, 4, 0)),
            (ARRAY, level, at(0, 0, 0)),
            extent(32, 16, 1)
        ),
        [
            (
                FLAT,
                part(COLOR, [0, 1], [0, 1], Some([[8, 40], [4, 20]])),
                false,
                S::COPY,
                true
            ),
            // A whole level has no area, like in barriers.
            (ARRAY, part(COLOR, [1, 2], [0, 1], None), true, S::COPY, true),
        ]
    );
    let rest = layers(COLOR, 0, [2, vk::REMAINING_ARRAY_LAYERS]);
    let all = extent(64, 32, 1);
    assert_eq!(
        copy((ARRAY, rest, at(0, 0, 0)), (99, rest, at(0, 0, 0)), all),
        [(ARRAY, part(COLOR, [0, 1], [2, 6], None), false, S::COPY, true)]
    );
    // Nothing is known about the other image, not even the size of its texel blocks.
    assert_eq!(
        copy((99, rest, at(0, 0, 0)), (ARRAY, rest, at(0, 0, 0)), all),
        [(ARRAY, part(COLOR, [0, 1], [2, 6], None), true, S::COPY, false)]
    );
}

#[test]
fn slices_of_3d_images_are_layers() {
    let (volume, array) = (layers(COLOR, 1, ONE), layers(COLOR, 1, [1, 3]));
    assert_eq!(
        copy(
            (VOLUME, volume, at(0, 0, 4)),
            (ARRAY, array, at(0, 0, 0)),
            extent(32, 16, 3)
        ),
        [
            (VOLUME, part(COLOR, [1, 2], [4, 7], None), false, S::COPY, true),
            (ARRAY, part(COLOR, [1, 2], [1, 4], None), true, S::COPY, true),
        ]
    );
}

#[test]
fn extents_of_copies_are_in_texels_of_the_source() {
    let level = layers(COLOR, 0, ONE);
    let blocks = copy(
        (BLOCKS, level, at(8, 0, 0)),
        (FLAT, level, at(1, 1, 0)),
        extent(16, 8, 1),
    );
    assert_eq!(blocks[0].1, part(COLOR, [0, 1], [0, 1], Some([[8, 24], [0, 8]])));
    assert_eq!(blocks[1].1, part(COLOR, [0, 1], [0, 1], Some([[1, 5], [1, 3]])));
    let texels = copy(
        (FLAT, level, at(0, 0, 0)),
        (BLOCKS, level, at(4, 4, 0)),
        extent(2, 1, 1),
    );
    assert_eq!(texels[1].1, part(COLOR, [0, 1], [0, 1], Some([[4, 12], [4, 8]])));
}

#[test]
fn aspects_are_copied_one_by_one() {
    let of = |aspects| layers(aspects, 0, ONE);
    let stencil = of(Aspects::STENCIL);
    let found = copy(
        (BOTH, stencil, at(0, 0, 0)),
        (BOTH, stencil, at(0, 0, 0)),
        extent(64, 32, 1),
    );
    let expected = part(Aspects::STENCIL, [0, 1], [0, 1], None);
    assert_eq!([found[0].1, found[1].1], [expected; 2]);
    // The texels of a plane are not those of the image.
    let plane = of(Aspects::PLANE_1);
    let found = copy(
        (PLANAR, plane, at(0, 0, 0)),
        (FLAT, of(COLOR), at(0, 0, 0)),
        extent(32, 16, 1),
    );
    let area = Some([[0, 32], [0, 16]]);
    assert_eq!(
        found,
        [
            (
                PLANAR,
                part(Aspects::PLANE_1, [0, 1], [0, 1], None),
                false,
                S::COPY,
                false
            ),
            (FLAT, part(COLOR, [0, 1], [0, 1], area), true, S::COPY, true),
        ]
    );
}

#[test]
fn blits_read_all_texels_unless_they_leave_some_out() {
    let all = [at(0, 0, 0), at(64, 32, 1)];
    // Flipped, and at half the size.
    let half = [at(32, 16, 1), at(0, 0, 0)];
    let (nearest, linear) = (vk::Filter::NEAREST, vk::Filter::LINEAR);
    let whole = part(COLOR, [0, 1], [0, 1], None);
    let target = (ARRAY, part(COLOR, [1, 2], [0, 1], None), true, S::BLIT, true);
    assert_eq!(
        blit(linear, all, half),
        [(FLAT, whole, false, S::BLIT, true), target]
    );
    assert_eq!(
        blit(nearest, all, half),
        [(FLAT, whole, false, S::BLIT, false), target]
    );
    let odd = [at(0, 0, 0), at(31, 16, 1)];
    assert!(!blit(linear, all, odd)[0].4);
    let small = [at(40, 8, 0), at(24, 0, 1)];
    let found = blit(nearest, small, [at(0, 0, 0), at(16, 8, 1)]);
    let area = |x, y| part(COLOR, [0, 1], [0, 1], Some([x, y]));
    assert_eq!(found[0], (FLAT, area([24, 40], [0, 8]), false, S::BLIT, true));
    // Some texels of the region, and no others; a linear filter may read the texels around it.
    let shrunk = |filter| blit(filter, small, [at(0, 0, 0), at(4, 2, 1)])[0];
    assert_eq!(
        shrunk(nearest),
        (FLAT, area([24, 40], [0, 8]), false, S::BLIT, false)
    );
    assert_eq!(shrunk(linear), (FLAT, whole, false, S::BLIT, false));
    let to = part(COLOR, [1, 2], [0, 1], Some([[0, 16], [0, 8]]));
    assert_eq!(found[1], (ARRAY, to, true, S::BLIT, true));
}

#[test]
fn resolves_have_a_stage_of_their_own() {
    let level = layers(COLOR, 0, ONE);
    let first = [vk::ImageResolve {
        src_subresource: level,
        dst_subresource: level,
        extent: extent(64, 16, 1),
        ..Default::default()
    }];
    let second = [vk::ImageResolve2::default()
        .src_subresource(level)
        .dst_subresource(level)
        .extent(extent(64, 16, 1))];
    let (from, to) = (image(FLAT), image(ARRAY));
    let area = part(COLOR, [0, 1], [0, 1], Some([[0, 64], [0, 16]]));
    let expected = [
        (FLAT, area, false, S::RESOLVE, true),
        (ARRAY, area, true, S::RESOLVE, true),
    ];
    let regions = ImageRegions::Resolves(Regions::V1(&first));
    assert_eq!(uses(Transfer::Images(from, to, regions)), expected);
    let info = vk::ResolveImageInfo2::default().src_image(from).dst_image(to);
    assert_eq!(uses(Transfer::resolve(&info.regions(&second))), expected);
}

#[test]
fn clears_are_of_the_rest_of_levels_and_layers_and_of_all_slices() {
    let range = |aspect_mask, levels: [u32; 2], layers: [u32; 2]| vk::ImageSubresourceRange {
        aspect_mask,
        base_mip_level: levels[0],
        level_count: levels[1],
        base_array_layer: layers[0],
        layer_count: layers[1],
    };
    const REST: u32 = u32::MAX;
    let clear = |handle, range| uses(Transfer::Clear(image(handle), &[range]));
    let expected = |handle, part| [(handle, part, true, S::CLEAR, true)];
    assert_eq!(
        clear(ARRAY, range(COLOR, [1, REST], [2, REST])),
        expected(ARRAY, part(COLOR, [1, 4], [2, 6], None))
    );
    assert_eq!(
        clear(VOLUME, range(COLOR, [0, 1], [0, 1])),
        expected(VOLUME, part(COLOR, [0, 1], [0, 16], None))
    );
    assert_eq!(
        clear(BOTH, range(Aspects::DEPTH, [0, REST], ONE)),
        expected(BOTH, part(Aspects::DEPTH, [0, 4], [0, 1], None))
    );
    // Its texels may be anywhere in its bytes.
    let all = (LINEAR, ResourcePart::Bytes(0, 1 << 16), true, S::CLEAR, false);
    assert_eq!(clear(LINEAR, range(COLOR, ONE, ONE)), [all]);
}

#[test]
fn copies_with_buffers_use_the_same_texels_on_both_sides() {
    let copy = |handle, aspect, level| {
        let region = vk::BufferImageCopy {
            buffer_offset: 16,
            image_subresource: layers(aspect, level, ONE),
            image_offset: at(8, 0, 0),
            image_extent: extent(8, 4, 1),
            ..Default::default()
        };
        let regions = Regions::V1(std::slice::from_ref(&region));
        uses(Transfer::Upload(
            vk::Buffer::from_raw(BUFFER),
            image(handle),
            regions,
        ))
    };
    let area = |aspects| part(aspects, [1, 2], [0, 1], Some([[8, 16], [0, 4]]));
    for (handle, aspect, bytes) in [
        (FLAT, COLOR, 8 * 4 * 4),
        (BLOCKS, COLOR, 2 * 8),
        (BOTH, Aspects::DEPTH, 8 * 4 * 4),
        (BOTH, Aspects::STENCIL, 8 * 4),
    ] {
        assert_eq!(
            copy(handle, aspect, 1),
            [
                (BUFFER, ResourcePart::Bytes(16, 16 + bytes), false, S::COPY, true),
                (handle, area(aspect), true, S::COPY, true),
            ]
        );
    }
}

#[test]
fn rotated_regions_are_not_followed_exactly() {
    let rotation = vk::CopyCommandTransformInfoQCOM::default();
    let region = vk::BufferImageCopy2 {
        p_next: std::ptr::from_ref(&rotation).cast(),
        image_subresource: layers(COLOR, 0, ONE),
        image_extent: extent(8, 4, 1),
        ..Default::default()
    };
    let info = vk::CopyImageToBufferInfo2::default()
        .src_image(image(FLAT))
        .dst_buffer(vk::Buffer::from_raw(BUFFER))
        .regions(std::slice::from_ref(&region));
    assert_eq!(
        uses(Transfer::download(&info)),
        [
            (BUFFER, ResourcePart::Bytes(0, 1 << 16), true, S::COPY, false),
            (FLAT, part(COLOR, [0, 1], [0, 1], None), false, S::COPY, false),
        ]
    );
}

#[test]
fn resources_that_are_not_bound_are_left_out() {
    let resources = resources();
    let range = vk::ImageSubresourceRange::default();
    let info = vk::ImageCreateInfo::default().extent(extent(4, 4, 1));
    let object = Object::of(image(FLAT));
    let mut unbound = Arc::into_inner(resource(object, &info, image_tiling(&info))).unwrap();
    unbound.place = OnceLock::new();
    resources.images.insert(FLAT, Arc::new(unbound));
    assert!(Transfer::Clear(image(FLAT), &[range]).uses(&resources).is_empty());
}
