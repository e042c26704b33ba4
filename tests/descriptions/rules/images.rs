//! Images, buffers and histories.

use ash::vk::{self, ImageCreateFlags as Flags, ImageUsageFlags as Usage};
use tileheap::ffi::{BUFFER_USAGE_TILE_MEMORY_BIT_QCOM, IMAGE_USAGE_TILE_MEMORY_BIT_QCOM};
use tileheap::frame::external::ExternalDesc;
use tileheap::frame::valid_usage::NOT_SUPPORTED;
use tileheap::frame::{AccessKind, BufferDesc, ImageDesc, Persistence};
use tileheap::units::Bytes;

use super::super::{CLEAR, FORMAT, Scene, of_format, of_size, plain, solid, with_layers, with_samples};
use super::{Case, case, described};

/// Copies into an image, so that its format need not support rendering.
fn copied(scene: &mut Scene, desc: ImageDesc) {
    let image = scene.frame.image("image", desc);
    scene.transfer().transfer_destination(image);
}

fn drawn(scene: &mut Scene, desc: ImageDesc) {
    scene.cleared("image", desc);
}

fn sampled(scene: &mut Scene, desc: ImageDesc) {
    let image = scene.cleared("image", desc);
    let out = scene.out;
    scene.render().sampled(image).color(out, CLEAR);
}

fn flagged(flags: Flags) -> ImageDesc {
    ImageDesc { flags, ..plain() }
}

fn used(usage: Usage) -> ImageDesc {
    ImageDesc { usage, ..plain() }
}

fn of_type(image_type: vk::ImageType, [width, height, depth]: [u32; 3]) -> ImageDesc {
    ImageDesc {
        image_type,
        ..ImageDesc::new(FORMAT, vk::Extent3D { width, height, depth })
    }
}

fn levels(mip_levels: u32) -> ImageDesc {
    ImageDesc {
        mip_levels,
        ..plain()
    }
}

/// Reads a history before the frame writes it.
fn history(scene: &mut Scene, desc: ImageDesc) {
    let history = scene.frame.resource("history", desc, Persistence::History);
    let out = scene.out;
    scene.render().sampled_previous(history).color(out, CLEAR);
    scene.transfer().transfer_destination(history);
}

fn buffer(scene: &mut Scene, usage: vk::BufferUsageFlags) {
    let desc = BufferDesc {
        usage,
        ..BufferDesc::new(Bytes(4096))
    };
    let buffer = scene.frame.buffer("buffer", desc);
    scene.compute().storage_write(buffer);
}

fn buffer_history(scene: &mut Scene, bytes: u64) {
    let desc = BufferDesc::new(Bytes(bytes));
    let history = scene.frame.resource("history", desc, Persistence::History);
    scene
        .compute()
        .read(history, AccessKind::StorageBuffer)
        .previous();
    scene.compute().storage_write(history);
}

const CUBE: Flags = Flags::CUBE_COMPATIBLE;
const BLOCKS: Flags = Flags::BLOCK_TEXEL_VIEW_COMPATIBLE;
const SINGLE: Flags = Flags::MULTISAMPLED_RENDER_TO_SINGLE_SAMPLED_EXT;
const MAP: Usage = Usage::FRAGMENT_DENSITY_MAP_EXT;
const BC1: vk::Format = vk::Format::BC1_RGB_UNORM_BLOCK;

pub(crate) static CASES: &[Case] = &[
    case(
        "VUID-VkImageCreateInfo-imageType-parameter",
        |scene| drawn(scene, of_type(vk::ImageType::from_raw(3), [64, 64, 1])),
        |scene| drawn(scene, of_type(vk::ImageType::TYPE_2D, [64, 64, 1])),
    ),
    case(
        "VUID-VkImageCreateInfo-pNext-01975",
        |scene| copied(scene, of_format(vk::Format::UNDEFINED)),
        |scene| copied(scene, of_format(vk::Format::R8_UNORM)),
    ),
    case(
        NOT_SUPPORTED,
        |scene| copied(scene, of_format(vk::Format::from_raw(185))),
        |scene| copied(scene, of_format(vk::Format::R8_UINT)),
    ),
    case(
        NOT_SUPPORTED,
        |scene| copied(scene, of_format(vk::Format::G8B8G8R8_422_UNORM)),
        |scene| copied(scene, of_format(vk::Format::R8G8B8A8_UNORM)),
    ),
    case(
        NOT_SUPPORTED,
        |scene| copied(scene, of_format(vk::Format::R10X6G10X6B10X6A10X6_UNORM_4PACK16)),
        |scene| copied(scene, of_format(vk::Format::R16G16B16A16_SFLOAT)),
    ),
    case(
        "VUID-VkImageCreateInfo-samples-parameter",
        |scene| {
            let samples = vk::SampleCountFlags::from_raw(0b101);
            drawn(scene, ImageDesc { samples, ..plain() });
        },
        |scene| drawn(scene, with_samples(FORMAT)),
    ),
    case(
        NOT_SUPPORTED,
        |scene| drawn(scene, flagged(Flags::SPARSE_BINDING)),
        |scene| drawn(scene, flagged(Flags::MUTABLE_FORMAT)),
    ),
    case(
        "VUID-VkImageCreateInfo-imageType-00956",
        |scene| drawn(scene, of_type(vk::ImageType::TYPE_1D, [64, 2, 1])),
        |scene| drawn(scene, of_type(vk::ImageType::TYPE_1D, [64, 1, 1])),
    ),
    case(
        "VUID-VkImageCreateInfo-imageType-00957",
        |scene| drawn(scene, of_type(vk::ImageType::TYPE_2D, [64, 64, 2])),
        |scene| drawn(scene, of_type(vk::ImageType::TYPE_3D, [64, 64, 2])),
    ),
    case(
        "VUID-VkImageCreateInfo-imageType-00961",
        |scene| {
            let desc = ImageDesc {
                array_layers: 2,
                ..solid()
            };
            copied(scene, desc);
        },
        |scene| copied(scene, solid()),
    ),
    case(
        "VUID-VkImageCreateInfo-mipLevels-00958",
        |scene| copied(scene, levels(8)),
        |scene| copied(scene, levels(7)),
    ),
    case(
        "VUID-VkImageCreateInfo-samples-02257",
        |scene| {
            let desc = ImageDesc {
                mip_levels: 2,
                ..with_samples(FORMAT)
            };
            let image = scene.frame.image("image", desc);
            scene.render().color(image, CLEAR).level(0);
        },
        |scene| drawn(scene, with_samples(FORMAT)),
    ),
    case(
        "VUID-VkImageCreateInfo-flags-00949",
        |scene| {
            let desc = ImageDesc {
                flags: CUBE,
                ..of_type(vk::ImageType::TYPE_3D, [64, 64, 64])
            };
            copied(scene, desc);
        },
        |scene| {
            let flags = CUBE;
            copied(
                scene,
                ImageDesc {
                    flags,
                    ..with_layers(6)
                },
            );
        },
    ),
    case(
        "VUID-VkImageCreateInfo-flags-08865",
        |scene| {
            let desc = ImageDesc {
                flags: CUBE,
                array_layers: 6,
                ..of_size(64, 32)
            };
            copied(scene, desc);
        },
        |scene| {
            let desc = ImageDesc {
                flags: CUBE,
                array_layers: 6,
                ..of_size(32, 32)
            };
            copied(scene, desc);
        },
    ),
    case(
        "VUID-VkImageCreateInfo-flags-08866",
        |scene| {
            let flags = CUBE;
            copied(
                scene,
                ImageDesc {
                    flags,
                    ..with_layers(5)
                },
            );
        },
        |scene| {
            let flags = CUBE;
            copied(
                scene,
                ImageDesc {
                    flags,
                    ..with_layers(7)
                },
            );
        },
    ),
    case(
        "VUID-VkImageCreateInfo-flags-00950",
        |scene| drawn(scene, flagged(Flags::TYPE_2D_ARRAY_COMPATIBLE)),
        |scene| {
            let flags = Flags::TYPE_2D_ARRAY_COMPATIBLE;
            drawn(scene, ImageDesc { flags, ..solid() });
        },
    ),
    case(
        "VUID-VkImageCreateInfo-flags-01572",
        |scene| drawn(scene, flagged(BLOCKS | Flags::MUTABLE_FORMAT)),
        |scene| {
            let flags = BLOCKS | Flags::MUTABLE_FORMAT;
            copied(
                scene,
                ImageDesc {
                    flags,
                    ..of_format(BC1)
                },
            );
        },
    ),
    case(
        "VUID-VkImageCreateInfo-flags-01573",
        |scene| {
            let flags = BLOCKS;
            copied(
                scene,
                ImageDesc {
                    flags,
                    ..of_format(BC1)
                },
            );
        },
        |scene| {
            let flags = BLOCKS | Flags::MUTABLE_FORMAT;
            copied(
                scene,
                ImageDesc {
                    flags,
                    ..of_format(BC1)
                },
            );
        },
    ),
    described(
        "VUID-VkImageCreateInfo-flags-06883",
        |scene| {
            let flags = SINGLE;
            drawn(
                scene,
                ImageDesc {
                    flags,
                    ..with_samples(FORMAT)
                },
            );
        },
        |scene| drawn(scene, flagged(SINGLE)),
    ),
    described(
        "VUID-VkImageCreateInfo-flags-02566",
        |scene| {
            let flags = Flags::SUBSAMPLED_EXT;
            drawn(scene, ImageDesc { flags, ..solid() });
        },
        |scene| drawn(scene, flagged(Flags::SUBSAMPLED_EXT)),
    ),
    described(
        "VUID-VkImageCreateInfo-flags-02567",
        |scene| {
            let flags = Flags::SUBSAMPLED_EXT | CUBE;
            copied(
                scene,
                ImageDesc {
                    flags,
                    ..with_layers(6)
                },
            );
        },
        |scene| {
            let flags = Flags::SUBSAMPLED_EXT;
            copied(
                scene,
                ImageDesc {
                    flags,
                    ..with_layers(6)
                },
            );
        },
    ),
    described(
        "VUID-VkImageCreateInfo-flags-02568",
        |scene| {
            let flags = Flags::SUBSAMPLED_EXT;
            copied(scene, ImageDesc { flags, ..levels(2) });
        },
        |scene| drawn(scene, flagged(Flags::SUBSAMPLED_EXT)),
    ),
    case(
        NOT_SUPPORTED,
        |scene| drawn(scene, used(Usage::from_raw(1 << 29))),
        |scene| drawn(scene, used(Usage::STORAGE)),
    ),
    case(
        NOT_SUPPORTED,
        |scene| drawn(scene, used(Usage::VIDEO_DECODE_DST_KHR)),
        |scene| drawn(scene, used(Usage::INPUT_ATTACHMENT)),
    ),
    described(
        NOT_SUPPORTED,
        |scene| drawn(scene, used(Usage::ATTACHMENT_FEEDBACK_LOOP_EXT)),
        |scene| drawn(scene, used(Usage::HOST_TRANSFER_EXT)),
    ),
    case(
        NOT_SUPPORTED,
        |scene| drawn(scene, used(Usage::INVOCATION_MASK_HUAWEI)),
        |scene| drawn(scene, used(Usage::SAMPLED)),
    ),
    described(
        NOT_SUPPORTED,
        |scene| drawn(scene, used(Usage::VIDEO_DECODE_DST_KHR | Usage::SAMPLED)),
        |scene| {
            let external = Persistence::External(ExternalDesc::in_layout(vk::ImageLayout::GENERAL));
            let desc = used(Usage::VIDEO_DECODE_DST_KHR);
            let image = scene.frame.resource("image", desc, external);
            scene.render().color(image, CLEAR);
        },
    ),
    case(
        NOT_SUPPORTED,
        |scene| drawn(scene, used(Usage::from_raw(1 << 30))),
        |scene| drawn(scene, used(Usage::TRANSFER_SRC)),
    ),
    case(
        NOT_SUPPORTED,
        |scene| sampled(scene, used(IMAGE_USAGE_TILE_MEMORY_BIT_QCOM)),
        |scene| sampled(scene, used(Usage::SAMPLED)),
    ),
    case(
        "VUID-VkImageCreateInfo-usage-00963",
        |scene| sampled(scene, used(Usage::TRANSIENT_ATTACHMENT)),
        |scene| drawn(scene, used(Usage::TRANSIENT_ATTACHMENT)),
    ),
    case(
        "VUID-VkImageCreateInfo-usage-00966",
        |scene| {
            scene.frame.image("image", used(Usage::TRANSIENT_ATTACHMENT));
            let out = scene.out;
            scene.render().color(out, CLEAR);
        },
        |scene| drawn(scene, used(Usage::TRANSIENT_ATTACHMENT)),
    ),
    described(
        "VUID-VkImageCreateInfo-samples-02558",
        |scene| {
            let usage = MAP;
            drawn(
                scene,
                ImageDesc {
                    usage,
                    ..with_samples(FORMAT)
                },
            );
        },
        |scene| drawn(scene, used(MAP)),
    ),
    described(
        "VUID-VkImageCreateInfo-flags-02557",
        |scene| {
            let usage = MAP;
            drawn(scene, ImageDesc { usage, ..solid() });
        },
        |scene| drawn(scene, used(MAP)),
    ),
    described(
        "VUID-VkImageCreateInfo-imageCreateMaxMipLevels-02251",
        |scene| drawn(scene, of_format(BC1)),
        |scene| copied(scene, of_format(BC1)),
    ),
    described(
        "VUID-VkImageCreateInfo-imageCreateMaxMipLevels-02251",
        |scene| {
            let image = scene
                .frame
                .image("image", of_format(vk::Format::ASTC_4X4_UNORM_BLOCK));
            scene.compute().storage_write(image);
        },
        |scene| {
            let image = scene.frame.image("image", of_format(vk::Format::R32G32_UINT));
            scene.compute().storage_write(image);
        },
    ),
    case(
        NOT_SUPPORTED,
        |scene| buffer(scene, vk::BufferUsageFlags::from_raw(1 << 30)),
        |scene| buffer(scene, vk::BufferUsageFlags::INDEX_BUFFER),
    ),
    described(
        NOT_SUPPORTED,
        |scene| buffer(scene, vk::BufferUsageFlags::VIDEO_DECODE_SRC_KHR),
        |scene| buffer(scene, vk::BufferUsageFlags::RESOURCE_DESCRIPTOR_BUFFER_EXT),
    ),
    case(
        NOT_SUPPORTED,
        |scene| buffer(scene, vk::BufferUsageFlags::from_raw(1 << 31)),
        |scene| buffer(scene, vk::BufferUsageFlags::UNIFORM_TEXEL_BUFFER),
    ),
    case(
        NOT_SUPPORTED,
        |scene| buffer(scene, BUFFER_USAGE_TILE_MEMORY_BIT_QCOM),
        |scene| buffer(scene, vk::BufferUsageFlags::empty()),
    ),
    case(
        NOT_SUPPORTED,
        |scene| history(scene, of_format(BC1)),
        |scene| history(scene, of_format(vk::Format::R16G16B16A16_SFLOAT)),
    ),
    described(
        NOT_SUPPORTED,
        |scene| history(scene, of_format(vk::Format::R64G64B64A64_SFLOAT)),
        |scene| history(scene, of_format(vk::Format::R64G64_SFLOAT)),
    ),
    case(
        "VUID-VkImageCreateInfo-usage-00963",
        |scene| {
            let desc = used(Usage::TRANSIENT_ATTACHMENT);
            let history = scene.frame.resource("history", desc, Persistence::History);
            let out = scene.out;
            scene.render().input(history).previous().color(out, CLEAR);
            scene.render().color(history, CLEAR);
        },
        |scene| {
            let history = scene.frame.resource("history", plain(), Persistence::History);
            let out = scene.out;
            scene.render().input(history).previous().color(out, CLEAR);
            scene.render().color(history, CLEAR);
        },
    ),
    case(
        "VUID-VkImageCreateInfo-usage-00963",
        |scene| {
            let desc = used(Usage::TRANSIENT_ATTACHMENT);
            let history = scene.frame.resource("history", desc, Persistence::History);
            scene.render().color(history, CLEAR);
        },
        |scene| {
            let history = scene.frame.resource("history", plain(), Persistence::History);
            scene.render().color(history, CLEAR);
        },
    ),
    case(
        NOT_SUPPORTED,
        |scene| buffer_history(scene, 3),
        |scene| buffer_history(scene, 8),
    ),
];
