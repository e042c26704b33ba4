//! Every fault of a frame's description, from a builder and from JSON, with the names in its message.

use ash::vk;
use tileheap::frame::{
    AccessKind, Before, BufferDesc, ClearValue, CommandBufferId, Contents, ExternalDesc, Frame, FrameBuilder,
    ImageDesc, Lifetime, ResourceId,
};
use tileheap::units::Bytes;

const EXTENT: vk::Extent2D = vk::Extent2D {
    width: 64,
    height: 64,
};
const ALL: vk::PipelineStageFlags2 = vk::PipelineStageFlags2::ALL_COMMANDS;

/// What a builder declares is refused with this message.
#[track_caller]
fn refused(declare: impl FnOnce(&mut FrameBuilder, CommandBufferId), message: &str) {
    let mut frame = FrameBuilder::new("f", EXTENT);
    let queue = frame.queue("graphics", vk::QueueFlags::GRAPHICS);
    let submit = frame.submit(queue);
    let batch = frame.batch(submit);
    let commands = frame.command_buffer(batch, "commands");
    declare(&mut frame, commands);
    match frame.build() {
        Ok(_) => panic!("accepted; wanted: {message}"),
        Err(error) => assert_eq!(error.to_string(), message),
    }
}

fn color(frame: &mut FrameBuilder, name: &str) -> ResourceId {
    frame.image(name, ImageDesc::new(vk::Format::R8G8B8A8_UNORM, EXTENT))
}

fn depth(frame: &mut FrameBuilder, name: &str) -> ResourceId {
    frame.image(name, ImageDesc::new(vk::Format::D32_SFLOAT, EXTENT))
}

fn buffer(frame: &mut FrameBuilder, name: &str) -> ResourceId {
    frame.buffer(name, BufferDesc::new(Bytes(256)))
}

/// Another queue, with a submit, a batch and a command buffer on it.
fn elsewhere(frame: &mut FrameBuilder, capabilities: vk::QueueFlags) -> CommandBufferId {
    let queue = frame.queue("other", capabilities);
    let submit = frame.submit(queue);
    let batch = frame.batch(submit);
    frame.command_buffer(batch, "elsewhere")
}

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
            frame.resource("i", plain, Lifetime::External(nowhere));
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
            frame.render_pass(commands, "p").color(image, Before::Overwrite);
        },
        "pass `p` uses `i` as ColorAttachment: its format has no colour aspect",
    );
    refused(
        |frame, commands| {
            let buffer = buffer(frame, "b");
            frame.render_pass(commands, "p").color(buffer, Before::Overwrite);
        },
        "pass `p` uses `b` as ColorAttachment: only images can be used so",
    );
    refused(
        |frame, commands| {
            let image = color(frame, "i");
            frame.compute_pass(commands, "p").color(image, Before::Overwrite);
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
            pass.access(buffer, AccessKind::StorageBuffer, false, false, Before::Load);
        },
        "pass `p` uses `b` as StorageBuffer: it neither reads nor writes",
    );
    refused(
        |frame, commands| {
            let image = color(frame, "i");
            let pass = frame.compute_pass(commands, "p");
            let clear = Before::Clear(ClearValue::ZERO);
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
                .color(image, Before::Clear(value));
        },
        "pass `p` clears `i` to a value that is not a number",
    );
    refused(
        |frame, commands| {
            let (one, two) = (depth(frame, "one"), depth(frame, "two"));
            let pass = frame.render_pass(commands, "p");
            pass.depth(one, Before::Overwrite).depth(two, Before::Overwrite);
        },
        "pass `p` uses `two` as DepthStencilAttachment: a pass has at most one depth and stencil attachment",
    );
}

#[test]
fn contents() {
    refused(
        |frame, commands| {
            let image = color(frame, "i");
            frame.compute_pass(commands, "p").sampled(image);
            frame.compute_pass(commands, "q").storage_write(image);
        },
        "pass `p` reads `i` before anything in the frame has written it: write or clear it first, or declare it History or External",
    );
    refused(
        |frame, commands| {
            let swapchain = Lifetime::External(ExternalDesc::SWAPCHAIN);
            let image = frame.resource("i", ImageDesc::new(vk::Format::R8_UNORM, EXTENT), swapchain);
            frame.render_pass(commands, "p").color(image, Before::Load);
        },
        "pass `p` reads `i` before anything in the frame has written it: write or clear it first, or declare it History or External",
    );
    refused(
        |frame, commands| {
            let image = color(frame, "i");
            let pass = frame.render_pass(commands, "p");
            pass.color(image, Before::Overwrite).storage_write(image);
        },
        "pass `p` declares two writers of `i`: merge the accesses or split the pass",
    );
    refused(
        |frame, commands| {
            let image = color(frame, "i");
            frame.compute_pass(commands, "p").sampled_previous(image);
        },
        "pass `p` uses the previous version of `i`: only History resources have one",
    );
    let history = |frame: &mut FrameBuilder| {
        let desc = ImageDesc::new(vk::Format::R8_UNORM, EXTENT);
        frame.resource("i", desc, Lifetime::History)
    };
    refused(
        |frame, commands| {
            let image = history(frame);
            frame.compute_pass(commands, "p").storage_write(image).previous();
        },
        "pass `p` uses the previous version of `i`: it cannot be written",
    );
    refused(
        |frame, commands| {
            let image = history(frame);
            frame.compute_pass(commands, "p").sampled_previous(image);
        },
        "pass `p` uses the previous version of `i`: no pass writes its current version",
    );
}

#[test]
fn queues_and_semaphores() {
    refused(
        |frame, _| {
            let commands = elsewhere(frame, vk::QueueFlags::COMPUTE);
            frame.render_pass(commands, "p");
        },
        "pass `p` needs a graphics queue, and queue `other` is not declared as one",
    );
    let with_batches = |declare: &dyn Fn(&mut FrameBuilder, [tileheap::frame::BatchId; 2]), message: &str| {
        refused(
            |frame, commands| {
                frame.compute_pass(commands, "p");
                let queue = frame.queue("other", vk::QueueFlags::COMPUTE);
                let submit = frame.submit(queue);
                let batches = [frame.batch(submit), frame.batch(submit)];
                declare(frame, batches);
            },
            message,
        );
    };
    with_batches(
        &|frame, [first, second]| {
            let semaphore = frame.semaphore("s");
            frame.wait(first, semaphore, ALL);
            frame.signal(second, semaphore, ALL);
        },
        "batch 1 waits for semaphore `s`, which no earlier batch signals: the frame is cyclic, or its submits are in the wrong order",
    );
    with_batches(
        &|frame, [first, second]| {
            let semaphore = frame.semaphore("s");
            frame.signal(first, semaphore, ALL);
            frame.signal(second, semaphore, ALL);
        },
        "semaphore `s` is signalled more than once: use one semaphore for each pair of batches",
    );
    with_batches(
        &|frame, [first, second]| {
            let semaphore = frame.external_semaphore("s");
            frame.wait(first, semaphore, ALL);
            frame.wait(second, semaphore, ALL);
        },
        "semaphore `s` is waited for more than once: use one semaphore for each pair of batches",
    );
    with_batches(
        &|frame, [first, _]| {
            let semaphore = frame.semaphore("s");
            frame.signal(first, semaphore, ALL);
        },
        "semaphore `s` is signalled and no batch waits for it: remove the signal, or declare the semaphore external",
    );
    refused(
        |frame, commands| {
            let buffer = buffer(frame, "b");
            frame.compute_pass(commands, "p").storage_write(buffer);
            let commands = elsewhere(frame, vk::QueueFlags::COMPUTE);
            frame.compute_pass(commands, "q").storage_read(buffer);
        },
        "passes `p` and `q` use `b` on two queues with nothing between them: signal and wait for a semaphore",
    );
}

#[test]
fn an_order_through_a_third_queue_suffices() {
    let mut frame = FrameBuilder::new("f", EXTENT);
    let target = buffer(&mut frame, "b");
    let mut last = None;
    for name in ["one", "two", "three"] {
        let queue = frame.queue(name, vk::QueueFlags::COMPUTE);
        let submit = frame.submit(queue);
        let batch = frame.batch(submit);
        if let Some(last) = last.replace(batch) {
            let semaphore = frame.semaphore(format!("before {name}"));
            frame.signal(last, semaphore, ALL);
            frame.wait(batch, semaphore, ALL);
        }
        let commands = frame.command_buffer(batch, name);
        if name != "two" {
            frame.compute_pass(commands, name).storage_write(target);
        }
    }
    frame.build().unwrap();
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
            pass.color(one, Before::Overwrite).color(two, Before::Overwrite);
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
    let frame = |before: Before| {
        let mut frame = FrameBuilder::new("f", EXTENT);
        let queue = frame.queue("graphics", vk::QueueFlags::GRAPHICS);
        let submit = frame.submit(queue);
        let batch = frame.batch(submit);
        let commands = frame.command_buffer(batch, "commands");
        let image = color(&mut frame, "i");
        frame.render_pass(commands, "p").color(image, Before::Overwrite);
        let pass = frame.compute_pass(commands, "q");
        pass.access(image, AccessKind::SampledImage, true, false, before);
        frame.build().unwrap()
    };
    assert_eq!(frame(Before::Overwrite), frame(Before::Load));
}

/// A frame in JSON: resources, semaphores, then passes of the first batch, and more submits.
fn json(resources: &str, semaphores: &str, batch: &str, passes: &str, submits: &str) -> String {
    format!(
        r#"{{"format": "tileheap-frame", "version": 1, "name": "f", "base_extent": [64, 64],
        "queues": [{{"name": "graphics", "capabilities": ["VK_QUEUE_GRAPHICS_BIT"]}},
                   {{"name": "copy", "capabilities": ["VK_QUEUE_TRANSFER_BIT"]}}],
        "semaphores": [{semaphores}], "resources": [{resources}],
        "submits": [{{"queue": "graphics", "batches": [{{{batch}
            "command_buffers": [{{"name": "c", "passes": [{passes}]}}]}}]}}{submits}]}}"#
    )
}

#[test]
fn the_same_faults_from_json() {
    let image = r#"{"name": "i", "image": {"format": "VK_FORMAT_R8_UNORM", "extent": [4, 4]}}"#;
    let history = r#"{"name": "i", "image": {"format": "VK_FORMAT_R8_UNORM", "extent": [4, 4]}, "lifetime": "history"}"#;
    let nowhere = r#"{"name": "i", "image": {"format": "VK_FORMAT_R8_UNORM", "extent": [4, 4]}, "lifetime": {"external": {"entry": {}, "exit": {}}}}"#;
    let planes =
        r#"{"name": "i", "image": {"format": "VK_FORMAT_G8_B8_R8_3PLANE_420_UNORM", "extent": [4, 4]}}"#;
    let buffer = r#"{"name": "b", "buffer": {"size": 4}}"#;
    let images = r#"{"name": "i", "image": {"format": "VK_FORMAT_R8_UNORM", "extent": [4, 4]}},
        {"name": "m", "image": {"format": "VK_FORMAT_R8_UNORM", "extent": [4, 4], "samples": "VK_SAMPLE_COUNT_4_BIT"}}"#;
    let pass = |kind: &str, accesses: &str| {
        format!(r#"{{"name": "p", "kind": "{kind}", "accesses": [{accesses}]}}"#)
    };
    let draw = r#"{"resource": "i", "kind": "color_attachment", "writes": true, "before": "overwrite"}"#;
    let draw_m = r#"{"resource": "m", "kind": "color_attachment", "writes": true, "before": "overwrite"}"#;
    let sample = r#"{"resource": "i", "kind": "sampled_image", "reads": true}"#;
    let previous = r#"{"resource": "i", "kind": "sampled_image", "reads": true, "version": "previous"}"#;
    let store = r#"{"resource": "b", "kind": "storage_buffer", "writes": true, "before": "overwrite"}"#;
    let resolve = r#"{"resource": "i", "kind": "resolve_attachment", "writes": true, "before": "overwrite", "resolves": "i"}"#;
    let plain = pass("compute", "");
    let copy = r#", {"queue": "copy", "batches": [{"command_buffers": [{"name": "d", "passes": [
        {"name": "q", "kind": "transfer", "accesses": [{"resource": "b", "kind": "transfer_source", "reads": true}]}]}]}]}"#;
    let wrong_queue = r#", {"queue": "copy", "batches": [{"command_buffers": [{"name": "d", "passes": [{"name": "q", "kind": "compute"}]}]}]}"#;
    let semaphore = r#"{"name": "s"}"#;
    let op = r#"[{"semaphore": "s", "stages": ["VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT"]}]"#;
    let (waits, signals) = (format!("\"waits\": {op},"), format!("\"signals\": {op},"));
    let again =
        format!(r#", {{"queue": "graphics", "batches": [{{"signals": {op}, "command_buffers": []}}]}}"#);
    let cases = [
        (json("", "", "", "", ""), "frame `f` has no passes"),
        (
            json("", "", "", &format!("{plain}, {plain}"), ""),
            "two passes are named `p`",
        ),
        (
            json("", "", "", &pass("compute", sample), ""),
            "pass `p` refers to resource `i`, which",
        ),
        (
            json(planes, "", "", &plain, ""),
            "image `i` has format G8_B8_R8_3PLANE_420_UNORM, whose texel size",
        ),
        (
            json(nowhere, "", "", &plain, ""),
            "external image `i` leaves the frame in layout UNDEFINED",
        ),
        (
            json(image, "", "", &pass("compute", draw), ""),
            "pass `p` uses `i` as ColorAttachment: only render passes",
        ),
        (
            json(image, "", "", &pass("compute", sample), ""),
            "pass `p` reads `i` before anything",
        ),
        (
            json(buffer, "", "", &pass("compute", &format!("{store}, {store}")), ""),
            "pass `p` declares two writers of `b`",
        ),
        (
            json(image, "", "", &pass("compute", previous), ""),
            "pass `p` uses the previous version of `i`: only History",
        ),
        (
            json(history, "", "", &pass("compute", previous), ""),
            "pass `p` uses the previous version of `i`: no pass writes",
        ),
        (
            json("", "", "", &plain, wrong_queue),
            "pass `q` needs a compute queue, and queue `copy` is not",
        ),
        (
            json("", semaphore, &waits, &plain, ""),
            "batch 0 waits for semaphore `s`, which no earlier batch signals",
        ),
        (
            json("", semaphore, &signals, &plain, ""),
            "semaphore `s` is signalled and no batch waits for it",
        ),
        (
            json("", semaphore, &signals, &plain, &again),
            "semaphore `s` is signalled more than once",
        ),
        (
            json("", "", &waits, &plain, ""),
            "batch 0 refers to semaphore `s`, which the frame does not declare",
        ),
        (
            json(buffer, "", "", &pass("compute", store), copy),
            "passes `p` and `q` use `b` on two queues",
        ),
        (
            json(images, "", "", &pass("render", &format!("{draw}, {draw_m}")), ""),
            "attachments of pass `p` differ in samples",
        ),
        (
            json(image, "", "", &pass("render", resolve), ""),
            "pass `p` resolves into `i`, but its source",
        ),
        (
            json(
                "",
                "",
                "",
                r#"{"name": "p", "kind": "compute", "contents": "secondary"}"#,
                "",
            ),
            "pass `p` is no render pass",
        ),
    ];
    for (text, expected) in cases {
        let message = match Frame::from_json(&text) {
            Ok(_) => panic!("accepted; wanted: {expected}"),
            Err(error) => error.to_string(),
        };
        assert!(message.starts_with(expected), "{message}\nwanted: {expected}");
        assert!(!message.contains('\n'));
    }
}

/// What the runtime is to record is a store, and nothing else.
#[test]
fn stores() {
    type Reads = fn(&mut FrameBuilder) -> (ResourceId, ResourceId);
    let refused_store = |resources: Reads, both: bool, why: &str| {
        refused(
            |frame, commands| {
                let (from, to) = resources(frame);
                frame.render_pass(commands, "draw").color(from, Before::Overwrite);
                let pass = frame.render_pass(commands, "s").contents(Contents::Store);
                let pass = pass.sampled(from);
                if both {
                    pass.color(to, Before::Overwrite);
                }
            },
            &format!("pass `s` cannot be recorded by the runtime: {why}"),
        );
    };
    refused_store(
        |frame| (color(frame, "a"), color(frame, "b")),
        false,
        "a store reads one resource and overwrites another one, and does nothing else",
    );
    refused_store(
        |frame| {
            let srgb = ImageDesc::new(vk::Format::R8G8B8A8_SRGB, EXTENT);
            (frame.image("a", srgb), frame.image("b", srgb))
        },
        true,
        "sRGB is rounded on its way to linear and back",
    );
    refused_store(
        |frame| {
            let half = ImageDesc::scaled(vk::Format::R8G8B8A8_UNORM, 0.5, 0.5);
            (color(frame, "a"), frame.image("b", half))
        },
        true,
        "the resources of a store differ in format or size",
    );
}

#[test]
fn many_uses_are_judged_in_time() {
    // Quadratic checks would take minutes here.
    let mut frame = FrameBuilder::new("f", EXTENT);
    let target = buffer(&mut frame, "b");
    let mut last = None;
    let queues = ["one", "two"].map(|name| frame.queue(name, vk::QueueFlags::COMPUTE));
    for index in 0..2000 {
        let submit = frame.submit(queues[index % 2]);
        let batch = frame.batch(submit);
        if let Some(last) = last.replace(batch) {
            let semaphore = frame.semaphore(format!("s{index}"));
            frame.signal(last, semaphore, ALL);
            frame.wait(batch, semaphore, ALL);
        }
        let commands = frame.command_buffer(batch, format!("c{index}"));
        let mut pass = frame.compute_pass(commands, format!("p{index}"));
        if index == 0 {
            pass = pass.storage_write(target);
        }
        for _ in 0..100 * index.min(1) {
            pass = pass.uniform(target);
        }
    }
    frame.build().unwrap();
}
