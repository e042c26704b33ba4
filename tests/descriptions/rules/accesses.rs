//! Stages and clear values of accesses.

use ash::vk::{self, PipelineStageFlags2 as S};
use tileheap::frame::valid_usage::NOT_SUPPORTED;
use tileheap::frame::{AccessKind, BufferDesc, ClearValue, LoadOp};
use tileheap::units::Bytes;

use super::super::{CLEAR, Scene, of_format, plain};
use super::{Case, case, described};

/// Samples an image at some stages of a render pass.
fn sampled_at(scene: &mut Scene, stages: S) {
    let image = scene.cleared("image", plain());
    let out = scene.out;
    scene.render().sampled(image).at(stages).color(out, CLEAR);
}

fn drawn_at(scene: &mut Scene, stages: S) {
    let out = scene.out;
    scene.render().color(out, CLEAR).at(stages);
}

fn depth_at(scene: &mut Scene, stages: S) {
    let image = scene.frame.image("image", of_format(vk::Format::D32_SFLOAT));
    scene.render().depth(image, CLEAR).at(stages);
}

fn depth_read_at(scene: &mut Scene, stages: S) {
    let image = scene.frame.image("image", of_format(vk::Format::D32_SFLOAT));
    scene.render().depth(image, CLEAR);
    scene.render().depth_read_only(image).at(stages);
}

fn color_read_at(scene: &mut Scene, stages: S) {
    let image = scene.cleared("image", plain());
    scene.render().read(image, AccessKind::ColorAttachment).at(stages);
}

fn input_at(scene: &mut Scene, stages: S) {
    let image = scene.cleared("image", plain());
    let out = scene.out;
    scene.render().input(image).at(stages).color(out, CLEAR);
}

/// Fills a buffer and reads it in a render pass.
fn read_at(scene: &mut Scene, kind: AccessKind, stages: S) {
    let buffer = scene.frame.buffer("buffer", BufferDesc::new(Bytes(256)));
    scene.transfer().transfer_destination(buffer);
    let out = scene.out;
    scene.render().read(buffer, kind).at(stages).color(out, CLEAR);
}

fn written_at(scene: &mut Scene, stages: S) {
    let buffer = scene.frame.buffer("buffer", BufferDesc::new(Bytes(256)));
    scene.compute().storage_write(buffer).at(stages);
}

fn copied_at(scene: &mut Scene, from: S, to: S) {
    let [source, target] =
        ["source", "target"].map(|name| scene.frame.buffer(name, BufferDesc::new(Bytes(256))));
    scene.transfer().transfer_destination(source);
    let pass = scene.transfer().transfer_source(source).at(from);
    pass.transfer_destination(target).at(to);
}

fn cleared_to(scene: &mut Scene, format: vk::Format, value: ClearValue) {
    let image = scene.frame.image("image", of_format(format));
    let clear = LoadOp::Clear(value);
    match value {
        ClearValue::DepthStencil(..) => scene.render().depth(image, clear),
        _ => scene.render().color(image, clear),
    };
}

pub(crate) static CASES: &[Case] = &[
    case(
        NOT_SUPPORTED,
        |scene| sampled_at(scene, S::from_raw(1 << 60)),
        |scene| sampled_at(scene, S::FRAGMENT_SHADER),
    ),
    case(
        "VUID-VkMemoryBarrier2-dstAccessMask-03900",
        |scene| read_at(scene, AccessKind::IndirectBuffer, S::VERTEX_SHADER),
        |scene| read_at(scene, AccessKind::IndirectBuffer, S::DRAW_INDIRECT),
    ),
    case(
        "VUID-VkMemoryBarrier2-dstAccessMask-03901",
        |scene| read_at(scene, AccessKind::IndexBuffer, S::VERTEX_ATTRIBUTE_INPUT),
        |scene| read_at(scene, AccessKind::IndexBuffer, S::INDEX_INPUT),
    ),
    case(
        "VUID-VkMemoryBarrier2-dstAccessMask-03902",
        |scene| read_at(scene, AccessKind::VertexBuffer, S::VERTEX_SHADER),
        |scene| read_at(scene, AccessKind::VertexBuffer, S::VERTEX_INPUT),
    ),
    case(
        "VUID-VkMemoryBarrier2-dstAccessMask-03903",
        |scene| input_at(scene, S::VERTEX_SHADER),
        |scene| input_at(scene, S::FRAGMENT_SHADER),
    ),
    case(
        "VUID-VkMemoryBarrier2-dstAccessMask-03904",
        |scene| read_at(scene, AccessKind::UniformBuffer, S::VERTEX_INPUT),
        |scene| read_at(scene, AccessKind::UniformBuffer, S::VERTEX_SHADER),
    ),
    case(
        "VUID-VkMemoryBarrier2-dstAccessMask-03905",
        |scene| sampled_at(scene, S::COLOR_ATTACHMENT_OUTPUT),
        |scene| sampled_at(scene, S::ALL_GRAPHICS),
    ),
    case(
        "VUID-VkMemoryBarrier2-dstAccessMask-03905",
        |scene| sampled_at(scene, S::NONE),
        |scene| sampled_at(scene, S::ALL_COMMANDS),
    ),
    case(
        "VUID-VkMemoryBarrier2-dstAccessMask-03906",
        |scene| read_at(scene, AccessKind::StorageBuffer, S::EARLY_FRAGMENT_TESTS),
        |scene| read_at(scene, AccessKind::StorageBuffer, S::FRAGMENT_SHADER),
    ),
    case(
        "VUID-VkMemoryBarrier2-dstAccessMask-03907",
        |scene| written_at(scene, S::DRAW_INDIRECT),
        |scene| written_at(scene, S::COMPUTE_SHADER),
    ),
    case(
        "VUID-VkMemoryBarrier2-dstAccessMask-03910",
        |scene| color_read_at(scene, S::FRAGMENT_SHADER),
        |scene| color_read_at(scene, S::COLOR_ATTACHMENT_OUTPUT),
    ),
    case(
        "VUID-VkMemoryBarrier2-dstAccessMask-03911",
        |scene| drawn_at(scene, S::VERTEX_SHADER),
        |scene| drawn_at(scene, S::COLOR_ATTACHMENT_OUTPUT),
    ),
    case(
        "VUID-VkMemoryBarrier2-dstAccessMask-03912",
        |scene| depth_read_at(scene, S::FRAGMENT_SHADER),
        |scene| depth_read_at(scene, S::EARLY_FRAGMENT_TESTS),
    ),
    case(
        "VUID-VkMemoryBarrier2-dstAccessMask-03913",
        |scene| depth_at(scene, S::COLOR_ATTACHMENT_OUTPUT),
        |scene| depth_at(scene, S::EARLY_FRAGMENT_TESTS | S::LATE_FRAGMENT_TESTS),
    ),
    case(
        "VUID-VkMemoryBarrier2-dstAccessMask-03914",
        |scene| copied_at(scene, S::NONE, S::COPY),
        |scene| copied_at(scene, S::COPY, S::COPY),
    ),
    case(
        "VUID-VkMemoryBarrier2-dstAccessMask-03915",
        |scene| copied_at(scene, S::COPY, S::NONE),
        |scene| copied_at(scene, S::COPY, S::ALL_TRANSFER),
    ),
    case(
        "VUID-VkRenderPassCreateInfo2-pDependencies-03054",
        |scene| sampled_at(scene, S::COMPUTE_SHADER),
        |scene| sampled_at(scene, S::VERTEX_SHADER | S::FRAGMENT_SHADER),
    ),
    described(
        "VUID-VkRenderPassCreateInfo2-pDependencies-03054",
        |scene| sampled_at(scene, S::FRAGMENT_SHADER | S::COMMAND_PREPROCESS_NV),
        |scene| {
            let stages = S::SUBPASS_SHADER_HUAWEI | S::CLUSTER_CULLING_SHADER_HUAWEI;
            sampled_at(scene, stages | S::INVOCATION_MASK_HUAWEI);
        },
    ),
    described(
        "VUID-VkMemoryBarrier2-dstAccessMask-03903",
        |scene| input_at(scene, S::CLUSTER_CULLING_SHADER_HUAWEI),
        |scene| input_at(scene, S::SUBPASS_SHADER_HUAWEI),
    ),
    case(
        "section \"Pipeline Stages\"",
        |scene| written_at(scene, S::FRAGMENT_SHADER),
        |scene| written_at(scene, S::ALL_COMMANDS),
    ),
    case(
        "section \"Pipeline Stages\"",
        |scene| copied_at(scene, S::COMPUTE_SHADER, S::COPY),
        |scene| copied_at(scene, S::ALL_TRANSFER, S::COPY),
    ),
    case(
        "section \"Clear Values\"",
        |scene| cleared_to(scene, vk::Format::R32_UINT, ClearValue::Float([1.0; 4])),
        |scene| cleared_to(scene, vk::Format::R32_UINT, ClearValue::Uint([1; 4])),
    ),
    // Numbers that are both signed and unsigned integers.
    case(
        "section \"Clear Values\"",
        |scene| cleared_to(scene, vk::Format::R32_UINT, ClearValue::Int([0, 0, 0, -1])),
        |scene| cleared_to(scene, vk::Format::R32_UINT, ClearValue::Int([1, 0, 0, i32::MAX])),
    ),
    case(
        "section \"Clear Values\"",
        |scene| cleared_to(scene, vk::Format::R32_SINT, ClearValue::Uint([1 << 31, 0, 0, 0])),
        |scene| {
            cleared_to(
                scene,
                vk::Format::R32_SINT,
                ClearValue::Uint([(1 << 31) - 1, 0, 0, 0]),
            )
        },
    ),
    case(
        "section \"Clear Values\"",
        |scene| {
            let image = scene.frame.image("image", of_format(vk::Format::D32_SFLOAT));
            let clear = LoadOp::Clear(ClearValue::Float([1.0; 4]));
            scene.render().depth(image, clear);
        },
        |scene| {
            let image = scene.frame.image("image", of_format(vk::Format::D32_SFLOAT));
            scene.render().depth(image, CLEAR);
        },
    ),
    described(
        "VUID-vkCmdDispatch-aspectMask-10673",
        |scene| {
            let image = scene.frame.image("image", of_format(vk::Format::D32_SFLOAT));
            let pass = scene.render().tile_shading();
            pass.depth(image, CLEAR).tile_write(image);
        },
        |scene| {
            let image = scene.frame.image("image", of_format(vk::Format::D32_SFLOAT));
            let pass = scene.render().tile_shading();
            pass.depth(image, CLEAR).tile_read(image);
        },
    ),
    described(
        "section \"Tile Attachment Interface\"",
        |scene| {
            let image = scene.frame.image("image", plain());
            let pass = scene.render().tile_shading().color(image, CLEAR);
            pass.tile_write(image).at(S::FRAGMENT_SHADER);
        },
        |scene| {
            let image = scene.frame.image("image", plain());
            let pass = scene.render().tile_shading().color(image, CLEAR);
            pass.tile_write(image).at(S::COMPUTE_SHADER);
        },
    ),
];
