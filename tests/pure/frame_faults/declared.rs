//! What cannot be declared: structure, sizes, misuse of the builder, attachments.

use ash::vk;
use tileheap::frame::external::ExternalDesc;
use tileheap::frame::{AccessKind, BufferDesc, ClearValue, FrameBuilder, ImageDesc, LoadOp, Persistence};
use tileheap::units::Bytes;

use super::{EXTENT, buffer, color, depth, elsewhere, refused};
use tileheap_testkit::frames::one_queue;

#[test]
fn structure() {
    refused(
        |frame, first| {
            elsewhere(frame, vk::QueueFlags::GRAPHICS);
            frame.compute_pass(first, "p");
        },
        "pass `p` is declared out of submission order: add it before anything that is submitted later",
    );
    refused(|_, _| {}, "frame `f` has no passes: declare at least one");
    refused(
        |frame, commands| {
            frame.compute_pass(commands, "p");
            frame.compute_pass(commands, "p");
        },
        "two passes are named `p`: give each its own name",
    );
    refused(
        |frame, commands| {
            frame.compute_pass(commands, "a\nb");
        },
        r"pass name `a\nb` cannot be used: give it 1 to 256 bytes that print on one line",
    );
    refused(
        |frame, commands| {
            let mut other = FrameBuilder::new("other", EXTENT);
            let foreign = color(&mut other, "foreign");
            frame.compute_pass(commands, "p").sampled(foreign);
        },
        "pass `p` refers to resource `#0`, which the frame does not declare",
    );
    refused(
        |frame, commands| {
            frame.compute_pass(commands, "p").secondary();
        },
        "pass `p` is no render pass, so its contents are inline: record secondary command buffers inside it as you like",
    );
    refused(
        |frame, _| {
            for index in 0..300 {
                frame.queue(format!("q{index}"), vk::QueueFlags::COMPUTE);
            }
        },
        "the frame has 301 queues, and 256 are the most that can be planned",
    );
}

#[test]
fn sizes() {
    let image = |desc: ImageDesc, message: &str| {
        refused(
            |frame, commands| {
                frame.image("i", desc);
                frame.compute_pass(commands, "p");
            },
            message,
        );
    };
    let plain = ImageDesc::new(vk::Format::R8_UNORM, EXTENT);
    let of = |width, height| ImageDesc::new(vk::Format::R8_UNORM, vk::Extent2D { width, height });
    image(
        of(0, 4),
        "image `i` has a zero extent (0 x 4 x 1): every side must be at least 1 texel",
    );
    let mip_levels = ImageDesc {
        mip_levels: 0,
        ..plain
    };
    image(
        mip_levels,
        "resource `i` has no mip levels: it must be at least 1",
    );
    let array_layers = ImageDesc {
        array_layers: 0,
        ..plain
    };
    image(
        array_layers,
        "resource `i` has no array layers: it must be at least 1",
    );
    let samples = vk::SampleCountFlags::empty();
    image(
        ImageDesc { samples, ..plain },
        "resource `i` has no single sample count: it must be at least 1",
    );
    image(
        of(1 << 20, 1 << 20),
        "resource `i` is larger than 1,099,511,627,776 B: make it smaller",
    );
    image(
        of(u32::MAX, u32::MAX),
        "resource `i` is larger than 1,099,511,627,776 B: make it smaller",
    );
    image(
        ImageDesc::new(vk::Format::UNDEFINED, EXTENT),
        "image `i` has format UNDEFINED, whose texel size is not defined: use a single-plane format",
    );
    image(
        ImageDesc::scaled(vk::Format::R8_UNORM, f32::NAN, 1.0),
        "image `i` is scaled by NaN x 1: a scale must be a finite number above 0",
    );
    refused(
        |frame, commands| {
            frame.buffer("b", BufferDesc::new(Bytes::ZERO));
            frame.compute_pass(commands, "p");
        },
        "resource `b` has no bytes: it must be at least 1",
    );
    refused(
        |frame, commands| {
            let nowhere = ExternalDesc::in_layout(vk::ImageLayout::UNDEFINED);
            frame.resource("i", plain, Persistence::External(nowhere));
            frame.compute_pass(commands, "p");
        },
        "external image `i` leaves the frame in layout UNDEFINED: name the layout in which it is wanted",
    );
}

#[test]
fn misuse() {
    let of_image = |kind: AccessKind, why: &str| {
        refused(
            |frame, commands| {
                let image = color(frame, "i");
                frame.render_pass(commands, "p").write(image, kind);
            },
            &format!("pass `p` uses `i` as {kind:?}: {why}"),
        );
    };
    of_image(AccessKind::VertexBuffer, "only buffers can be used so");
    of_image(AccessKind::SampledImage, "such accesses cannot write");
    of_image(
        AccessKind::DepthStencilAttachment,
        "its format has no depth or stencil aspect",
    );
    of_image(
        AccessKind::TransferDestination,
        "transfers are not allowed inside a render pass",
    );
    refused(
        |frame, commands| {
            let image = depth(frame, "i");
            frame.render_pass(commands, "p").color(image, LoadOp::DontCare);
        },
        "pass `p` uses `i` as ColorAttachment: its format has no colour aspect",
    );
    refused(
        |frame, commands| {
            let buffer = buffer(frame, "b");
            frame.render_pass(commands, "p").color(buffer, LoadOp::DontCare);
        },
        "pass `p` uses `b` as ColorAttachment: only images can be used so",
    );
    refused(
        |frame, commands| {
            let image = color(frame, "i");
            frame.compute_pass(commands, "p").color(image, LoadOp::DontCare);
        },
        "pass `p` uses `i` as ColorAttachment: only render passes have attachments",
    );
    refused(
        |frame, commands| {
            let buffer = buffer(frame, "b");
            frame.transfer_pass(commands, "p").storage_write(buffer);
        },
        "pass `p` uses `b` as StorageBuffer: a transfer pass can only copy, fill and clear",
    );
    refused(
        |frame, commands| {
            let buffer = buffer(frame, "b");
            let pass = frame.transfer_pass(commands, "p");
            pass.read(buffer, AccessKind::TransferDestination);
        },
        "pass `p` uses `b` as TransferDestination: such accesses cannot read",
    );
    refused(
        |frame, commands| {
            let buffer = buffer(frame, "b");
            let pass = frame.compute_pass(commands, "p");
            pass.access(buffer, AccessKind::StorageBuffer, false, false, LoadOp::Load);
        },
        "pass `p` uses `b` as StorageBuffer: it neither reads nor writes",
    );
    refused(
        |frame, commands| {
            let image = color(frame, "i");
            let pass = frame.compute_pass(commands, "p");
            let clear = LoadOp::Clear(ClearValue::ZERO);
            pass.access(image, AccessKind::StorageImage, false, true, clear);
        },
        "pass `p` uses `i` as StorageImage: only attachments can be cleared by the pass: clear in a transfer pass, or overwrite",
    );
    refused(
        |frame, commands| {
            let image = color(frame, "i");
            let value = ClearValue::Float([0.0, f32::NAN, 0.0, 0.0]);
            frame
                .render_pass(commands, "p")
                .color(image, LoadOp::Clear(value));
        },
        "pass `p` clears `i` to a value that is not a number",
    );
    refused(
        |frame, commands| {
            let (one, two) = (depth(frame, "one"), depth(frame, "two"));
            let pass = frame.render_pass(commands, "p");
            pass.depth(one, LoadOp::DontCare).depth(two, LoadOp::DontCare);
        },
        "pass `p` uses `two` as DepthStencilAttachment: a pass has at most one depth and stencil attachment",
    );
}

#[test]
fn attachments() {
    refused(
        |frame, commands| {
            let multisampled = ImageDesc {
                samples: vk::SampleCountFlags::TYPE_4,
                ..ImageDesc::new(vk::Format::R8_UNORM, EXTENT)
            };
            let (one, two) = (color(frame, "one"), frame.image("two", multisampled));
            let pass = frame.render_pass(commands, "p");
            pass.color(one, LoadOp::DontCare).color(two, LoadOp::DontCare);
        },
        "attachments of pass `p` differ in samples",
    );
    refused(
        |frame, commands| {
            let (one, two) = (color(frame, "one"), color(frame, "two"));
            frame.render_pass(commands, "p").resolve(one, two);
        },
        "pass `p` resolves into `two`, but its source is not an attachment of the pass",
    );
}

#[test]
fn settings_that_say_nothing_do_not_tell_frames_apart() {
    let frame = |load_op: LoadOp| {
        let mut frame = FrameBuilder::new("f", EXTENT);
        let commands = one_queue(&mut frame, vk::QueueFlags::GRAPHICS);
        let image = color(&mut frame, "i");
        frame.render_pass(commands, "p").color(image, LoadOp::DontCare);
        let pass = frame.compute_pass(commands, "q");
        pass.access(image, AccessKind::SampledImage, true, false, load_op);
        frame.build().unwrap()
    };
    assert_eq!(frame(LoadOp::DontCare), frame(LoadOp::Load));
}
