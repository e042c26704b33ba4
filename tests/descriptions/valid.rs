//! Unusual descriptions that break no rule.

use ash::vk;
use tileheap::frame::{AccessKind, BufferDesc, ClearValue, ImageDesc, LoadOp, Persistence};
use tileheap::units::Bytes;

use super::{
    CLEAR, CLEAR_DEPTH, Describe, FORMAT, as_format, as_type, of_format, plain, solid, with_layers,
    with_samples,
};
use vk::Format as F;
use vk::ImageAspectFlags as Aspects;
use vk::ImageCreateFlags as Flags;

pub(crate) static VALID: &[(&str, Describe)] = &[
    ("depth cleared to its ends", |scene| {
        let image = scene.frame.image("image", of_format(F::D32_SFLOAT));
        for depth in [0.0, 1.0] {
            let clear = LoadOp::Clear(ClearValue::DepthStencil(depth, 0));
            scene.render().depth(image, clear);
        }
    }),
    ("depth that is copied to and sampled", |scene| {
        for format in [F::D32_SFLOAT, F::D32_SFLOAT_S8_UINT] {
            let image = scene.frame.image(format!("{format:?}"), of_format(format));
            scene.transfer().transfer_destination(image);
            let out = scene.out;
            scene
                .render()
                .sampled(image)
                .aspect(Aspects::DEPTH)
                .color(out, CLEAR);
        }
    }),
    ("compressed blocks attached as texels", |scene| {
        let desc = ImageDesc {
            flags: Flags::BLOCK_TEXEL_VIEW_COMPATIBLE | Flags::MUTABLE_FORMAT | Flags::EXTENDED_USAGE,
            ..of_format(F::BC1_RGB_UNORM_BLOCK)
        };
        let image = scene.frame.image("image", desc);
        let clear = LoadOp::Clear(ClearValue::Uint([0; 4]));
        scene
            .render()
            .color(image, clear)
            .viewed(as_format(F::R32G32_UINT));
        let out = scene.out;
        scene.render().sampled(image).color(out, CLEAR);
    }),
    ("several cubes", |scene| {
        let desc = ImageDesc {
            flags: Flags::CUBE_COMPATIBLE,
            ..with_layers(12)
        };
        let image = scene.cleared("image", desc);
        let out = scene.out;
        scene.render().sampled(image).color(out, CLEAR);
    }),
    ("storage in one slice of a 3D image", |scene| {
        let image = scene.frame.image("image", solid());
        scene.compute().storage_write(image).layer(3);
        let out = scene.out;
        scene.render().sampled(image).layer(3).color(out, CLEAR);
    }),
    ("slices attached and sampled", |scene| {
        let image = scene.frame.image("image", solid());
        scene.render().color(image, CLEAR).layers(2..5);
        let out = scene.out;
        scene.render().sampled(image).layers(2..5).color(out, CLEAR);
    }),
    ("slices of levels", |scene| {
        let desc = ImageDesc {
            mip_levels: 3,
            ..solid()
        };
        let image = scene.frame.image("image", desc);
        scene.render().color(image, CLEAR).level(2).layers(0..4);
        scene.render().color(image, CLEAR).level(1).layer(7);
        let out = scene.out;
        scene.render().sampled(image).level(2).color(out, CLEAR);
    }),
    ("an integer resolve", |scene| {
        let source = scene.frame.image("source", with_samples(F::R32_UINT));
        let target = scene.frame.image("target", of_format(F::R32_UINT));
        let clear = LoadOp::Clear(ClearValue::Uint([0; 4]));
        scene.render().color(source, clear).resolve(source, target);
    }),
    ("indirect commands from storage", |scene| {
        let buffer = scene.frame.buffer("buffer", BufferDesc::new(Bytes(4096)));
        scene.compute().write(buffer, AccessKind::StorageBuffer);
        scene.compute().read(buffer, AccessKind::IndirectBuffer);
    }),
    ("a multisampled depth history", |scene| {
        let desc = with_samples(F::D32_SFLOAT_S8_UINT);
        let history = scene.frame.resource("history", desc, Persistence::History);
        let out = scene.out;
        let pass = scene.render().sampled_previous(history);
        pass.aspect(Aspects::STENCIL).color(out, CLEAR);
        scene.render().depth(history, CLEAR_DEPTH);
    }),
    ("a history of stencil", |scene| {
        let desc = of_format(F::D32_SFLOAT_S8_UINT);
        let history = scene.frame.resource("history", desc, Persistence::History);
        let out = scene.out;
        let pass = scene.render().sampled_previous(history);
        pass.aspect(Aspects::STENCIL).color(out, CLEAR);
        scene
            .render()
            .depth(history, CLEAR_DEPTH)
            .aspect(Aspects::STENCIL);
    }),
    ("depth sampled where stencil is written", |scene| {
        let image = scene.frame.image("image", of_format(F::D32_SFLOAT_S8_UINT));
        scene.render().depth(image, CLEAR_DEPTH);
        let (out, depth) = (scene.out, AccessKind::DepthStencilAttachment);
        let pass = scene.render().sampled(image).aspect(Aspects::DEPTH);
        let pass = pass.read(image, depth).aspect(Aspects::DEPTH);
        let pass = pass.access(image, depth, true, true, LoadOp::Load);
        pass.aspect(Aspects::STENCIL).color(out, CLEAR);
    }),
    ("one level sampled, the other attached", |scene| {
        let desc = ImageDesc {
            mip_levels: 2,
            ..plain()
        };
        let image = scene.frame.image("image", desc);
        scene.render().color(image, CLEAR).level(0);
        let pass = scene.render().sampled(image).level(0);
        pass.color(image, CLEAR).level(1);
    }),
    ("depth as input of the next subpass", |scene| {
        let image = scene.frame.image("image", of_format(F::D32_SFLOAT));
        let out = scene.out;
        let pass = scene.render().depth(image, CLEAR_DEPTH);
        pass.next_subpass().input(image).color(out, CLEAR);
    }),
    ("an input of an earlier pass", |scene| {
        let image = scene.cleared("image", plain());
        let out = scene.out;
        scene.render().input(image).color(out, CLEAR);
    }),
    ("two cubes as input", |scene| {
        let desc = ImageDesc {
            flags: vk::ImageCreateFlags::CUBE_COMPATIBLE,
            ..with_layers(12)
        };
        let image = scene.cleared("image", desc);
        let out = scene.out;
        scene.render().input(image).color(out, CLEAR);
    }),
    ("an input at all graphics stages", |scene| {
        let image = scene.frame.image("image", of_format(F::D32_SFLOAT));
        let pass = scene.render().depth(image, CLEAR_DEPTH);
        let pass = pass.at(vk::PipelineStageFlags2::ALL_GRAPHICS);
        pass.input(image).at(vk::PipelineStageFlags2::ALL_GRAPHICS);
    }),
    ("a pass without attachments", |scene| {
        scene.render();
    }),
    ("depth tested early and then overwritten", |scene| {
        let image = scene.frame.image("image", of_format(F::D16_UNORM));
        let pass = scene.render().depth(image, CLEAR_DEPTH);
        pass.at(vk::PipelineStageFlags2::EARLY_FRAGMENT_TESTS);
        scene.transfer().transfer_destination(image);
    }),
    ("copies inside of an image", |scene| {
        let image = scene.frame.image("image", plain());
        scene.transfer().transfer_destination(image);
        let pass = scene.transfer().transfer_destination(image);
        pass.transfer_source(image);
    }),
    ("copies inside of an attachment", |scene| {
        let image = scene.cleared("image", plain());
        let pass = scene.transfer().transfer_destination(image);
        pass.transfer_source(image);
    }),
    ("a multisampled input", |scene| {
        let image = scene.cleared("image", with_samples(FORMAT));
        let out = scene.out;
        scene.render().input(image).color(out, CLEAR);
    }),
    ("a color attachment as input", |scene| {
        let out = scene.out;
        scene.render().input(out).color(out, CLEAR);
    }),
    ("a color attachment as input of two views", |scene| {
        let image = scene.frame.image("image", with_layers(2));
        scene.render().input(image).color(image, CLEAR).views(3);
    }),
    ("subpasses of different samples", |scene| {
        let image = scene.frame.image("image", with_samples(FORMAT));
        let out = scene.out;
        let pass = scene.render().color(image, CLEAR);
        pass.next_subpass().input(image).color(out, CLEAR);
    }),
    ("a resolved input", |scene| {
        let source = scene.frame.image("source", with_samples(FORMAT));
        let target = scene.frame.image("target", plain());
        let out = scene.out;
        let pass = scene.render().color(source, CLEAR).resolve(source, target);
        pass.next_subpass().input(target).color(out, CLEAR);
    }),
    ("depth and stencil resolved, and read in place", |scene| {
        let source = scene.frame.image("source", with_samples(F::D32_SFLOAT_S8_UINT));
        let target = scene.frame.image("target", of_format(F::D32_SFLOAT_S8_UINT));
        let out = scene.out;
        let pass = scene.render().depth(source, CLEAR_DEPTH).resolve(source, target);
        pass.next_subpass().input(target).color(out, CLEAR);
        scene.render().depth(source, CLEAR_DEPTH).resolve(source, target);
    }),
    ("two layers as two attachments", |scene| {
        let image = scene.frame.image("image", with_layers(2));
        let pass = scene.render().color(image, CLEAR).layer(0);
        pass.color(image, CLEAR).layer(1);
    }),
    ("a 1D attachment", |scene| {
        let desc = ImageDesc {
            image_type: vk::ImageType::TYPE_1D,
            ..super::of_size(64, 1)
        };
        let image = scene.frame.image("image", desc);
        scene.render().color(image, CLEAR);
        let out = scene.out;
        scene.render().sampled(image).color(out, CLEAR);
    }),
    ("a multisampled history", |scene| {
        let history = scene
            .frame
            .resource("history", with_samples(FORMAT), Persistence::History);
        let out = scene.out;
        scene.render().sampled_previous(history).color(out, CLEAR);
        scene.render().color(history, CLEAR);
    }),
    ("a history that is a cube", |scene| {
        let desc = ImageDesc {
            flags: vk::ImageCreateFlags::CUBE_COMPATIBLE,
            ..with_layers(6)
        };
        let history = scene.frame.resource("history", desc, Persistence::History);
        let out = scene.out;
        let pass = scene.render().sampled_previous(history);
        pass.viewed(as_type(vk::ImageViewType::CUBE)).color(out, CLEAR);
        for layer in 0..6 {
            scene.render().color(history, CLEAR).layer(layer);
        }
    }),
    ("an sRGB view of linear texels", |scene| {
        let image = scene.cleared("image", plain());
        scene.sample(image, as_format(F::R8G8B8A8_SRGB));
    }),
    ("sRGB stored through a linear view", |scene| {
        let image = scene.frame.image("image", of_format(F::R8G8B8A8_SRGB));
        let pass = scene.compute().storage_write(image);
        pass.viewed(as_format(F::R8G8B8A8_UNORM));
        let out = scene.out;
        scene.render().sampled(image).color(out, CLEAR);
    }),
    ("sRGB of extended usage", |scene| {
        let desc = ImageDesc {
            flags: vk::ImageCreateFlags::MUTABLE_FORMAT | vk::ImageCreateFlags::EXTENDED_USAGE,
            ..of_format(F::R8G8B8A8_SRGB)
        };
        let image = scene.frame.image("image", desc);
        let pass = scene.compute().storage_write(image);
        pass.viewed(as_format(F::R8G8B8A8_UNORM));
        let out = scene.out;
        scene.render().sampled(image).color(out, CLEAR);
    }),
    ("attachments of different sizes and layers", |scene| {
        let image = scene.frame.image("image", with_layers(4));
        let small = scene.frame.image("small", super::of_size(32, 32));
        let out = scene.out;
        let pass = scene.render().color(image, CLEAR).layers(1..3);
        pass.color(out, CLEAR).color(small, CLEAR);
    }),
    ("an input that is smaller and has more layers", |scene| {
        let desc = ImageDesc {
            array_layers: 4,
            ..super::of_size(16, 16)
        };
        let image = scene.cleared("image", desc);
        let out = scene.out;
        scene.render().input(image).color(out, CLEAR);
    }),
    ("a resolve into a smaller image", |scene| {
        let source = scene.frame.image("source", with_samples(FORMAT));
        let target = scene.frame.image("target", super::of_size(32, 32));
        scene.render().color(source, CLEAR).resolve(source, target);
    }),
];
