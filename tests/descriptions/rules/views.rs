//! Views.

use ash::vk::{Format as F, ImageCreateFlags as Flags, ImageViewType as V};
use tileheap::frame::tables::ViewDesc;
use tileheap::frame::valid_usage::NOT_SUPPORTED;
use tileheap::frame::{AccessKind, ImageDesc};

use super::super::{
    CLEAR, CLEAR_DEPTH, FORMAT, Scene, as_format, as_type, of_format, plain, solid, with_layers, with_samples,
};
use super::{Case, case, described};

/// Draws into an image and samples it through a view.
fn sampled(scene: &mut Scene, desc: ImageDesc, view: ViewDesc) {
    let image = scene.cleared("image", desc);
    scene.sample(image, view);
}

/// Copies into an image and samples `layers` of `levels` through a view.
fn copied(scene: &mut Scene, desc: ImageDesc, view: ViewDesc, [levels, layers]: [u32; 2]) {
    let image = scene.frame.image("image", desc);
    scene.transfer().transfer_destination(image);
    let out = scene.out;
    let pass = scene.render().sampled(image).levels(0..levels).layers(0..layers);
    pass.viewed(view).color(out, CLEAR);
}

/// Draws into an image and reads it in place.
fn read_in_place(scene: &mut Scene, desc: ImageDesc) {
    let image = scene.cleared("image", desc);
    let out = scene.out;
    scene.render().input(image).layers(0..1).color(out, CLEAR);
}

fn cubes(array_layers: u32) -> ImageDesc {
    ImageDesc {
        flags: Flags::CUBE_COMPATIBLE,
        ..with_layers(array_layers)
    }
}

/// A compressed image whose blocks can be viewed as texels.
fn blocks(mip_levels: u32, array_layers: u32) -> ImageDesc {
    ImageDesc {
        flags: Flags::BLOCK_TEXEL_VIEW_COMPATIBLE | Flags::MUTABLE_FORMAT | Flags::EXTENDED_USAGE,
        mip_levels,
        array_layers,
        ..of_format(F::BC1_RGB_UNORM_BLOCK)
    }
}

fn density_map(mip_levels: u32) -> ImageDesc {
    ImageDesc {
        mip_levels,
        ..of_format(F::R8G8_UNORM)
    }
}

fn with_density_map(scene: &mut Scene, levels: u32) {
    let map = scene.frame.image("map", density_map(levels));
    scene.transfer().transfer_destination(map);
    let out = scene.out;
    scene
        .render()
        .read(map, AccessKind::FragmentDensityMap)
        .color(out, CLEAR);
}

pub(crate) static CASES: &[Case] = &[
    case(
        "VUID-VkImageViewCreateInfo-viewType-parameter",
        |scene| sampled(scene, plain(), as_type(V::from_raw(7))),
        |scene| sampled(scene, plain(), as_type(V::TYPE_2D)),
    ),
    case(
        "VUID-VkImageViewCreateInfo-subResourceRange-01021",
        |scene| sampled(scene, plain(), as_type(V::TYPE_3D)),
        |scene| sampled(scene, plain(), as_type(V::TYPE_2D_ARRAY)),
    ),
    case(
        "VUID-VkFramebufferCreateInfo-flags-04113",
        |scene| {
            let image = scene.frame.image("image", solid());
            let pass = scene.render().color(image, CLEAR).layers(0..1);
            pass.viewed(as_type(V::TYPE_3D));
        },
        |scene| {
            let image = scene.frame.image("image", solid());
            let pass = scene.render().color(image, CLEAR).layers(0..1);
            pass.viewed(as_type(V::TYPE_2D));
        },
    ),
    case(
        "VUID-VkDescriptorImageInfo-imageView-06712",
        |scene| sampled(scene, solid(), as_type(V::TYPE_2D_ARRAY)),
        |scene| sampled(scene, solid(), ViewDesc::default()),
    ),
    case(
        "VUID-VkDescriptorImageInfo-imageView-07796",
        |scene| sampled(scene, solid(), as_type(V::TYPE_2D)),
        |scene| sampled(scene, solid(), as_type(V::TYPE_3D)),
    ),
    case(
        "VUID-VkDescriptorImageInfo-imageView-07795",
        |scene| read_in_place(scene, solid()),
        |scene| read_in_place(scene, plain()),
    ),
    case(
        "VUID-VkImageViewCreateInfo-imageViewType-04973",
        |scene| sampled(scene, with_layers(4), as_type(V::TYPE_2D)),
        |scene| sampled(scene, with_layers(1), as_type(V::TYPE_2D)),
    ),
    case(
        "VUID-VkImageViewCreateInfo-viewType-02960",
        |scene| copied(scene, cubes(12), as_type(V::CUBE), [1, 3]),
        |scene| copied(scene, cubes(12), as_type(V::CUBE), [1, 6]),
    ),
    described(
        "VUID-VkImageViewCreateInfo-viewType-02961",
        |scene| copied(scene, cubes(12), as_type(V::CUBE_ARRAY), [1, 8]),
        |scene| copied(scene, cubes(12), as_type(V::CUBE_ARRAY), [1, 12]),
    ),
    case(
        "VUID-VkImageViewCreateInfo-image-04972",
        |scene| {
            let desc = ImageDesc {
                array_layers: 6,
                ..with_samples(FORMAT)
            };
            sampled(scene, desc, as_type(V::CUBE));
        },
        |scene| {
            let desc = ImageDesc {
                array_layers: 6,
                ..with_samples(FORMAT)
            };
            sampled(scene, desc, as_type(V::TYPE_2D_ARRAY));
        },
    ),
    case(
        "VUID-VkImageViewCreateInfo-image-01003",
        |scene| sampled(scene, with_layers(6), as_type(V::CUBE)),
        |scene| sampled(scene, cubes(6), as_type(V::CUBE)),
    ),
    case(
        "VUID-VkImageViewCreateInfo-image-01761",
        |scene| sampled(scene, plain(), as_format(F::R16_SFLOAT)),
        |scene| sampled(scene, plain(), as_format(F::R32_SFLOAT)),
    ),
    case(
        "VUID-VkImageViewCreateInfo-image-01761",
        |scene| {
            let image = scene.frame.image("image", plain());
            scene
                .render()
                .color(image, CLEAR)
                .viewed(as_format(F::R32G32_SFLOAT));
        },
        |scene| {
            let image = scene.frame.image("image", plain());
            scene
                .render()
                .color(image, CLEAR)
                .viewed(as_format(F::R8G8B8A8_SRGB));
        },
    ),
    case(
        "VUID-VkImageViewCreateInfo-image-01761",
        |scene| copied(scene, of_format(F::D32_SFLOAT), as_format(F::R32_SFLOAT), [1, 1]),
        |scene| copied(scene, of_format(F::D32_SFLOAT), as_format(F::D32_SFLOAT), [1, 1]),
    ),
    case(
        "VUID-VkImageViewCreateInfo-image-01583",
        |scene| copied(scene, blocks(1, 1), as_format(F::R32_UINT), [1, 1]),
        |scene| copied(scene, blocks(1, 1), as_format(F::R32G32_UINT), [1, 1]),
    ),
    described(
        NOT_SUPPORTED,
        |scene| {
            copied(
                scene,
                blocks(1, 1),
                as_format(F::R10X6G10X6B10X6A10X6_UNORM_4PACK16),
                [1, 1],
            )
        },
        |scene| copied(scene, blocks(1, 1), as_format(F::R16G16B16A16_UNORM), [1, 1]),
    ),
    case(
        "VUID-VkFramebufferCreateInfo-pAttachments-00891",
        |scene| {
            let desc = ImageDesc {
                format: F::D32_SFLOAT,
                ..solid()
            };
            let image = scene.frame.image("image", desc);
            scene.render().depth(image, CLEAR_DEPTH).layers(0..1);
        },
        |scene| {
            let image = scene.frame.image("image", solid());
            scene.render().color(image, CLEAR).layers(0..1);
        },
    ),
    case(
        "VUID-VkImageViewCreateInfo-image-07072",
        |scene| copied(scene, blocks(2, 1), as_format(F::R32G32_UINT), [2, 1]),
        |scene| copied(scene, blocks(2, 1), as_format(F::R32G32_UINT), [1, 1]),
    ),
    described(
        "VUID-VkImageViewCreateInfo-image-02571",
        |scene| with_density_map(scene, 2),
        |scene| with_density_map(scene, 1),
    ),
];
