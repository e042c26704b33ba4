//! Attachments of render passes.

use ash::vk::{self, Format as F, ImageAspectFlags as Aspects, SampleCountFlags as Samples};
use tileheap::frame::valid_usage::NOT_SUPPORTED;
use tileheap::frame::{AccessKind, BufferDesc, ImageDesc, LoadOp, ResourceId};
use tileheap::units::Bytes;

use super::super::{
    CLEAR, CLEAR_DEPTH, FORMAT, Scene, as_format, of_format, of_size, plain, with_layers, with_samples,
};
use super::{Case, case, described};

fn area(x: i32, width: u32) -> vk::Rect2D {
    vk::Rect2D {
        offset: vk::Offset2D { x, y: 0 },
        extent: vk::Extent2D { width, height: 64 },
    }
}

fn tall_area(y: i32, height: u32) -> vk::Rect2D {
    vk::Rect2D {
        offset: vk::Offset2D { x: 0, y },
        extent: vk::Extent2D { width: 64, height },
    }
}

fn drawn_in(scene: &mut Scene, area: vk::Rect2D) {
    let out = scene.out;
    scene.render().color(out, CLEAR).area(area);
}

/// Reads an input attachment within an area of a larger image.
fn input_in(scene: &mut Scene, input: ImageDesc, area: vk::Rect2D) {
    let input = scene.cleared("input", input);
    let out = scene.out;
    scene.render().input(input).color(out, CLEAR).area(area);
}

/// Writes a buffer in a pass without attachments.
fn stored_in(scene: &mut Scene, area: vk::Rect2D) {
    let buffer = scene.frame.buffer("buffer", BufferDesc::new(Bytes(256)));
    let pass = scene.render().area(area);
    pass.storage_write(buffer)
        .at(vk::PipelineStageFlags2::FRAGMENT_SHADER);
}

/// Draws with pipelines of this sample count and a hook.
fn drawn_with(scene: &mut Scene, image: ResourceId, samples: Samples, hook: u32) {
    let pass = scene.render().color(image, CLEAR);
    pass.samples(samples).hook(hook);
}

/// Draws with a fragment density map, with or without tile shading.
fn with_density_map(scene: &mut Scene, tile_shading: bool) {
    let map = scene.frame.image("map", of_format(F::R8G8_UNORM));
    scene.transfer().transfer_destination(map);
    let out = scene.out;
    let pass = scene.render();
    let pass = if tile_shading { pass.tile_shading() } else { pass };
    pass.read(map, AccessKind::FragmentDensityMap).color(out, CLEAR);
}

/// Renders views 0 and 2 into depth or stencil of an image with some layers.
fn viewed(scene: &mut Scene, format: F, array_layers: u32) {
    let desc = ImageDesc {
        array_layers,
        ..of_format(format)
    };
    let image = scene.frame.image("image", desc);
    scene.render().depth(image, CLEAR_DEPTH).views(0b101);
}

/// Resolves one image into another one.
fn resolved(scene: &mut Scene, source: ResourceId, target: ResourceId) {
    scene.render().color(source, CLEAR).resolve(source, target);
}

/// Tests depth against an image, and samples an aspect of it.
fn tested(scene: &mut Scene, writes: bool, attached: Aspects, sampled: Aspects) {
    let image = scene.frame.image("image", of_format(F::D32_SFLOAT_S8_UINT));
    scene.render().depth(image, CLEAR_DEPTH);
    let out = scene.out;
    let kind = AccessKind::DepthStencilAttachment;
    let pass = scene.render().access(image, kind, true, writes, LoadOp::Load);
    let pass = pass.aspect(attached).sampled(image).aspect(sampled);
    pass.color(out, CLEAR);
}

pub(crate) static CASES: &[Case] = &[
    case(
        "VUID-VkRenderingInfo-None-08994",
        |scene| drawn_in(scene, area(0, 0)),
        |scene| drawn_in(scene, area(0, 1)),
    ),
    case(
        "VUID-VkRenderingInfo-None-08995",
        |scene| drawn_in(scene, tall_area(0, 0)),
        |scene| drawn_in(scene, tall_area(0, 1)),
    ),
    case(
        "VUID-VkRenderingInfo-pNext-06077",
        |scene| drawn_in(scene, area(-1, 64)),
        |scene| drawn_in(scene, area(0, 64)),
    ),
    case(
        "VUID-VkRenderingInfo-pNext-06078",
        |scene| drawn_in(scene, tall_area(-1, 64)),
        |scene| drawn_in(scene, tall_area(0, 64)),
    ),
    case(
        "VUID-VkRenderingInfo-pNext-06079",
        |scene| drawn_in(scene, area(1, 64)),
        |scene| drawn_in(scene, area(1, 63)),
    ),
    case(
        "VUID-VkRenderingInfo-pNext-06080",
        |scene| drawn_in(scene, tall_area(1, 64)),
        |scene| drawn_in(scene, tall_area(1, 63)),
    ),
    case(
        "VUID-VkFramebufferCreateInfo-flags-04533",
        |scene| input_in(scene, of_size(16, 64), area(0, 17)),
        |scene| input_in(scene, of_size(16, 64), area(0, 16)),
    ),
    case(
        "VUID-VkFramebufferCreateInfo-flags-04534",
        |scene| input_in(scene, of_size(64, 16), tall_area(0, 17)),
        |scene| input_in(scene, of_size(64, 16), tall_area(0, 16)),
    ),
    described(
        NOT_SUPPORTED,
        |scene| stored_in(scene, area(1, 64)),
        |scene| stored_in(scene, area(1, 63)),
    ),
    case(
        "VUID-VkRenderingInfo-viewMask-12403",
        |scene| {
            let image = scene.frame.image("image", with_layers(2));
            scene.render().color(image, CLEAR).views(0b101);
        },
        |scene| {
            let image = scene.frame.image("image", with_layers(3));
            scene.render().color(image, CLEAR).views(0b101);
        },
    ),
    case(
        "VUID-VkRenderingInfo-viewMask-12404",
        |scene| viewed(scene, F::D32_SFLOAT, 2),
        |scene| viewed(scene, F::D32_SFLOAT, 3),
    ),
    described(
        "VUID-VkRenderingInfo-viewMask-12405",
        |scene| viewed(scene, F::S8_UINT, 2),
        |scene| viewed(scene, F::S8_UINT, 3),
    ),
    case(
        "VUID-VkRenderingInfo-imageView-09429",
        |scene| {
            let image = scene.frame.image("image", with_samples(FORMAT));
            let out = scene.out;
            scene.render().color(image, CLEAR).color(out, CLEAR);
        },
        |scene| {
            let [a, b] = ["a", "b"].map(|name| scene.frame.image(name, with_samples(FORMAT)));
            scene.render().color(a, CLEAR).color(b, CLEAR);
        },
    ),
    described(
        "VUID-VkRenderingInfo-multisampledRenderToSingleSampled-06857",
        |scene| {
            let depth = scene.frame.image("depth", with_samples(F::D32_SFLOAT));
            let out = scene.out;
            scene.render().depth(depth, CLEAR_DEPTH).color(out, CLEAR);
        },
        |scene| {
            let depth = scene.frame.image("depth", with_samples(F::D32_SFLOAT));
            let out = scene.out;
            let pass = scene.render().depth(depth, CLEAR_DEPTH).color(out, CLEAR);
            pass.samples(Samples::TYPE_4);
        },
    ),
    case(
        "VUID-VkRenderingAttachmentInfo-imageView-06861",
        |scene| {
            let source = scene.frame.image("source", plain());
            resolved(scene, source, scene.out);
        },
        |scene| {
            let source = scene.frame.image("source", with_samples(FORMAT));
            resolved(scene, source, scene.out);
        },
    ),
    case(
        "VUID-VkRenderingAttachmentInfo-imageView-06864",
        |scene| {
            let [source, target] =
                ["source", "target"].map(|name| scene.frame.image(name, with_samples(FORMAT)));
            resolved(scene, source, target);
        },
        |scene| {
            let source = scene.frame.image("source", with_samples(FORMAT));
            resolved(scene, source, scene.out);
        },
    ),
    case(
        "VUID-VkRenderingAttachmentInfo-imageView-06865",
        |scene| {
            let source = scene.frame.image("source", with_samples(F::R16G16B16A16_SFLOAT));
            resolved(scene, source, scene.out);
        },
        |scene| {
            let source = scene.frame.image("source", with_samples(F::R16G16B16A16_SFLOAT));
            let target = scene.frame.image("target", of_format(F::R16G16B16A16_SFLOAT));
            resolved(scene, source, target);
        },
    ),
    case(
        "VUID-VkRenderingAttachmentInfo-imageView-06865",
        |scene| {
            let source = scene.frame.image("source", with_samples(FORMAT));
            let out = scene.out;
            let pass = scene
                .render()
                .color(source, CLEAR)
                .viewed(as_format(F::R8G8B8A8_SRGB));
            pass.resolve(source, out);
        },
        |scene| {
            let source = scene.frame.image("source", with_samples(FORMAT));
            let (out, srgb) = (scene.out, as_format(F::R8G8B8A8_SRGB));
            let pass = scene.render().color(source, CLEAR).viewed(srgb);
            pass.resolve(source, out).viewed(srgb);
        },
    ),
    case(
        "VUID-VkPipelineMultisampleStateCreateInfo-rasterizationSamples-parameter",
        |scene| {
            let out = scene.out;
            drawn_with(scene, out, Samples::from_raw(3), 0);
        },
        |scene| {
            let out = scene.out;
            drawn_with(scene, out, Samples::TYPE_1, 0);
        },
    ),
    case(
        "section \"Render Pass Commands\"",
        |scene| {
            let image = scene.cleared("image", plain());
            let pass = scene.render().read(image, AccessKind::ColorAttachment);
            pass.read(image, AccessKind::ColorAttachment);
        },
        |scene| {
            let image = scene.frame.image("image", with_layers(2));
            scene.render().color(image, CLEAR).layer(0);
            scene.render().color(image, CLEAR).layer(1);
            let pass = scene.render().read(image, AccessKind::ColorAttachment).layer(0);
            pass.read(image, AccessKind::ColorAttachment).layer(1);
        },
    ),
    case(
        "VUID-vkCmdDraw-None-06537",
        |scene| {
            let image = scene.frame.image("image", plain());
            scene.render().color(image, CLEAR);
            let pass = scene.render().read(image, AccessKind::ColorAttachment);
            pass.storage_write(image);
        },
        |scene| {
            let image = scene.frame.image("image", plain());
            scene.render().color(image, CLEAR);
            let out = scene.out;
            scene.render().color(out, CLEAR).storage_write(image);
        },
    ),
    case(
        NOT_SUPPORTED,
        |scene| {
            let image = scene.cleared("image", plain());
            scene.render().sampled(image).color(image, LoadOp::Load);
        },
        |scene| {
            let image = scene.cleared("image", plain());
            scene.render().input(image).color(image, LoadOp::Load);
        },
    ),
    case(
        NOT_SUPPORTED,
        |scene| {
            let image = scene.frame.image("image", plain());
            scene.render().sampled(image).color(image, LoadOp::DontCare);
        },
        |scene| {
            let image = scene.frame.image("image", with_layers(2));
            scene.render().color(image, CLEAR).layer(0);
            let pass = scene.render().sampled(image).layer(0);
            pass.color(image, LoadOp::DontCare).layer(1);
        },
    ),
    case(
        NOT_SUPPORTED,
        |scene| tested(scene, true, Aspects::DEPTH, Aspects::DEPTH),
        |scene| tested(scene, false, Aspects::DEPTH, Aspects::DEPTH),
    ),
    case(
        NOT_SUPPORTED,
        |scene| tested(scene, true, Aspects::STENCIL, Aspects::STENCIL),
        |scene| tested(scene, false, Aspects::STENCIL, Aspects::STENCIL),
    ),
    described(
        "VUID-VkRenderingInfo-imageView-10643",
        |scene| with_density_map(scene, true),
        |scene| with_density_map(scene, false),
    ),
];
