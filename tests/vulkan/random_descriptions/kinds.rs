//! Descriptions at the edges of valid usage: each runs without validation messages, or is refused with the expected reason.

use ash::vk::{
    self, Format as F, ImageAspectFlags as Aspects, ImageCreateFlags as Flags, ImageLayout as L,
    PipelineStageFlags2 as S, QueueFlags as Q,
};
use tileheap::frame::external::ExternalDesc;
use tileheap::frame::tables::{SkippedOutputs, ViewDesc};
use tileheap::frame::{AccessKind as K, BufferDesc, ClearValue, ImageDesc, LoadOp, Persistence, ResourceId};
use tileheap::runtime::Capabilities;
use tileheap::units::Bytes;
use tileheap_testkit::gpu::Gpu;

use super::Devices;
use super::run::{Outcome, attempt_frame};
use crate::described::{
    self, CLEAR, CLEAR_DEPTH, Describe, Scene, as_format, as_type, of_format, of_size, plain, solid,
    with_layers, with_samples,
};

/// The result that a description must have.
#[derive(Clone, Copy)]
enum Expected {
    Runs,
    /// The reason contains this text.
    Refused(&'static str),
    /// It runs if the device has what it needs, and is refused with this text otherwise.
    IfSupported(&'static str),
}
use Expected::{IfSupported, Refused, Runs};

/// Texts of refusals for lack of dynamic rendering and features of newer versions.
const OLD_DEVICES: [&str; 4] = [
    "requires dynamic rendering",
    "VK_KHR_depth_stencil_resolve",
    "multiview",
    "separateDepthStencilLayouts",
];

/// An image of the caller that enters and leaves in a layout, and that the frame copies.
fn copied_in(scene: &mut Scene, format: F, layout: L) {
    let external = Persistence::External(ExternalDesc::in_layout(layout));
    let image = scene.frame.resource("image", of_format(format), external);
    scene.transfer().transfer_source(image);
}

macro_rules! external {
    ($expected:expr, $format:ident, $layout:ident) => {
        (stringify!($layout), $expected, |scene| {
            copied_in(scene, F::$format, L::$layout)
        })
    };
}

/// The blocks of a compressed image with several layers and levels as texels.
fn blocks(scene: &mut Scene, layers: std::ops::Range<u32>, levels: std::ops::Range<u32>) {
    let desc = ImageDesc {
        flags: Flags::BLOCK_TEXEL_VIEW_COMPATIBLE | Flags::MUTABLE_FORMAT | Flags::EXTENDED_USAGE,
        array_layers: 3,
        mip_levels: 3,
        ..of_format(F::BC1_RGB_UNORM_BLOCK)
    };
    let (image, out) = (scene.frame.image("image", desc), scene.out);
    scene.transfer().transfer_destination(image);
    let pass = scene.render().sampled(image).layers(layers).levels(levels);
    pass.viewed(as_format(F::R32G32_UINT)).color(out, CLEAR);
}

/// Reads images as input attachments of subpasses, each a number of them.
fn read_in_place(scene: &mut Scene, numbers: &[u32]) {
    let most = numbers.iter().copied().max().unwrap_or(0);
    let inputs: Vec<ResourceId> = (0..most)
        .map(|n| scene.cleared(&format!("input {n}"), plain()))
        .collect();
    let out = scene.out;
    let mut pass = scene.render().color(out, CLEAR);
    for (subpass, number) in numbers.iter().enumerate() {
        if subpass > 0 {
            pass = pass.next_subpass().color(out, LoadOp::Load);
        }
        let inputs = &inputs[..*number as usize];
        pass = inputs.iter().fold(pass, |pass, input| pass.input(*input));
    }
}

/// A second batch of a queue that waits for the first.
fn second_batch(scene: &mut Scene, signaled: S, waiting: S) {
    let out = scene.out;
    scene.render().color(out, CLEAR);
    let semaphore = scene.frame.semaphore("semaphore");
    scene.frame.signal(scene.batch, semaphore, signaled);
    let submit = scene.frame.submit(scene.queue);
    let batch = scene.frame.batch(submit);
    scene.frame.wait(batch, semaphore, waiting);
    scene.commands = scene.frame.command_buffer(batch, "second");
    scene.render().color(out, LoadOp::Load);
}

fn history(scene: &mut Scene, desc: ImageDesc) -> ResourceId {
    scene.frame.resource("history", desc, Persistence::History)
}

fn with_levels() -> ImageDesc {
    ImageDesc {
        mip_levels: 3,
        ..plain()
    }
}

const DEPTH_AND_STENCIL: F = F::D32_SFLOAT_S8_UINT;

static KINDS: &[(&str, Expected, Describe)] = &[
    // External images, whose usage follows from their layouts.
    external!(Runs, R8G8B8A8_UNORM, GENERAL),
    external!(Runs, R8G8B8A8_UNORM, COLOR_ATTACHMENT_OPTIMAL),
    external!(Runs, R8G8B8A8_UNORM, SHADER_READ_ONLY_OPTIMAL),
    external!(Runs, R8G8B8A8_UNORM, TRANSFER_SRC_OPTIMAL),
    external!(Runs, R8G8B8A8_UNORM, TRANSFER_DST_OPTIMAL),
    external!(IfSupported("07793"), R8G8B8A8_UNORM, READ_ONLY_OPTIMAL),
    external!(IfSupported("07793"), R8G8B8A8_UNORM, ATTACHMENT_OPTIMAL),
    external!(IfSupported("09551"), R8G8B8A8_UNORM, RENDERING_LOCAL_READ_KHR),
    external!(Refused("01198"), R8G8B8A8_UNORM, UNDEFINED),
    external!(Refused("01209"), R8G8B8A8_UNORM, DEPTH_STENCIL_ATTACHMENT_OPTIMAL),
    external!(Refused("not supported"), R8G8B8A8_UNORM, SHARED_PRESENT_KHR),
    external!(
        IfSupported("attachmentFeedbackLoopLayout"),
        R8G8B8A8_UNORM,
        ATTACHMENT_FEEDBACK_LOOP_OPTIMAL_EXT
    ),
    external!(Runs, D32_SFLOAT, SHADER_READ_ONLY_OPTIMAL),
    external!(Runs, D32_SFLOAT, DEPTH_STENCIL_ATTACHMENT_OPTIMAL),
    external!(Runs, D32_SFLOAT, DEPTH_STENCIL_READ_ONLY_OPTIMAL),
    external!(Runs, D32_SFLOAT, DEPTH_READ_ONLY_STENCIL_ATTACHMENT_OPTIMAL),
    external!(Runs, D32_SFLOAT, DEPTH_ATTACHMENT_STENCIL_READ_ONLY_OPTIMAL),
    external!(
        IfSupported("separateDepthStencilLayouts"),
        D32_SFLOAT,
        DEPTH_ATTACHMENT_OPTIMAL
    ),
    external!(
        IfSupported("separateDepthStencilLayouts"),
        D32_SFLOAT,
        DEPTH_READ_ONLY_OPTIMAL
    ),
    external!(Refused("08702"), D32_SFLOAT, STENCIL_READ_ONLY_OPTIMAL),
    external!(IfSupported("07793"), D32_SFLOAT, READ_ONLY_OPTIMAL),
    external!(IfSupported("07793"), D32_SFLOAT, ATTACHMENT_OPTIMAL),
    external!(Refused("01208"), D32_SFLOAT, COLOR_ATTACHMENT_OPTIMAL),
    // Views.
    ("blocks of one layer", Runs, |scene| blocks(scene, 1..2, 1..2)),
    ("blocks of several layers", IfSupported("09487"), |scene| {
        blocks(scene, 0..2, 0..1)
    }),
    ("blocks of several levels", Refused("07072"), |scene| {
        blocks(scene, 0..1, 0..2)
    }),
    ("a view of an incompatible format", Refused("01761"), |scene| {
        let image = scene.cleared("image", plain());
        scene.sample(image, as_format(F::R16_SFLOAT));
    }),
    ("cubes of an array", IfSupported("01004"), |scene| {
        let desc = ImageDesc {
            flags: Flags::CUBE_COMPATIBLE,
            ..with_layers(12)
        };
        let image = scene.cleared("image", desc);
        scene.sample(image, as_type(vk::ImageViewType::CUBE_ARRAY));
    }),
    ("a layer in another format", Runs, |scene| {
        let (image, out) = (scene.frame.image("image", with_layers(3)), scene.out);
        let view = ViewDesc {
            format: Some(F::R32_UINT),
            view_type: Some(vk::ImageViewType::TYPE_2D),
        };
        let clear = LoadOp::Clear(ClearValue::Uint([7; 4]));
        scene.render().color(image, clear).viewed(view).layer(1);
        scene.render().sampled(image).layer(1).color(out, CLEAR);
    }),
    // Resolves.
    ("a resolve that clears, then an input", Runs, |scene| {
        let samples = scene.frame.image("samples", with_samples(described::FORMAT));
        let (image, out) = (scene.frame.image("image", plain()), scene.out);
        let pass = scene.render().color(samples, CLEAR);
        let pass = pass.access(image, K::ResolveAttachment, false, true, CLEAR);
        let pass = pass.resolving(samples).next_subpass().input(image);
        pass.color(out, CLEAR);
    }),
    ("a resolve, then an attachment", Runs, |scene| {
        let samples = scene.frame.image("samples", with_samples(described::FORMAT));
        let image = scene.frame.image("image", plain());
        let pass = scene.render().color(samples, CLEAR).resolve(samples, image);
        pass.next_subpass().color(image, LoadOp::Load);
        scene.sample(image, ViewDesc::default());
    }),
    ("a resolve in the second subpass", Runs, |scene| {
        let samples = scene.frame.image("samples", with_samples(described::FORMAT));
        let image = scene.frame.image("image", plain());
        let pass = scene.render().color(samples, CLEAR).next_subpass();
        pass.color(samples, LoadOp::Load).resolve(samples, image);
        scene.sample(image, ViewDesc::default());
    }),
    (
        "a resolve of what a later subpass clears",
        Refused("subpass"),
        |scene| {
            let samples = scene.frame.image("samples", with_samples(described::FORMAT));
            let image = scene.frame.image("image", plain());
            let pass = scene.render().color(samples, CLEAR).resolve(samples, image);
            pass.next_subpass().color(image, CLEAR);
        },
    ),
    ("a resolve of two layers", Runs, |scene| {
        let desc = ImageDesc {
            array_layers: 2,
            ..with_samples(described::FORMAT)
        };
        let samples = scene.frame.image("samples", desc);
        let image = scene.frame.image("image", with_layers(2));
        let pass = scene
            .render()
            .color(samples, CLEAR)
            .layer(0)
            .resolve(samples, image);
        let pass = pass.layer(0).color(samples, CLEAR).layer(1);
        pass.resolve(samples, image).layer(1);
        scene.sample(image, ViewDesc::default());
    }),
    (
        "a resolve of integers into another format",
        Refused("06865"),
        |scene| {
            let samples = scene.frame.image("samples", with_samples(F::R32_UINT));
            let image = scene.frame.image("image", of_format(F::R32_SINT));
            let clear = LoadOp::Clear(ClearValue::Uint([1; 4]));
            scene.render().color(samples, clear).resolve(samples, image);
        },
    ),
    ("a resolve of one sample", Refused("06861"), |scene| {
        let (image, out) = (scene.frame.image("image", plain()), scene.out);
        scene.render().color(image, CLEAR).resolve(image, out);
    }),
    ("depth resolved and sampled", Runs, |scene| {
        let samples = scene.frame.image("samples", with_samples(DEPTH_AND_STENCIL));
        let (image, out) = (
            scene.frame.image("image", of_format(DEPTH_AND_STENCIL)),
            scene.out,
        );
        scene.render().depth(samples, CLEAR_DEPTH).resolve(samples, image);
        scene
            .render()
            .sampled(image)
            .aspect(Aspects::STENCIL)
            .color(out, CLEAR);
    }),
    // Subpasses and inputs.
    ("inputs of three subpasses", Runs, |scene| {
        read_in_place(scene, &[3, 4, 2])
    }),
    ("an input before its clear", Refused("subpass"), |scene| {
        let image = scene.cleared("image", plain());
        let out = scene.out;
        let pass = scene.render().input(image).color(out, CLEAR);
        pass.next_subpass().color(image, CLEAR);
    }),
    (
        "an input without contents",
        Refused("before anything in the frame"),
        |scene| {
            let (image, out) = (scene.frame.image("image", plain()), scene.out);
            scene.render().input(image).color(out, CLEAR);
        },
    ),
    ("depth as input and attachment", Runs, |scene| {
        let (image, out) = (scene.frame.image("image", of_format(F::D32_SFLOAT)), scene.out);
        scene.render().depth(image, CLEAR_DEPTH);
        let pass = scene.render().read(image, K::DepthStencilAttachment);
        pass.input(image).color(out, CLEAR);
    }),
    ("depth and stencil as two inputs", Runs, |scene| {
        let (image, out) = (
            scene.frame.image("image", of_format(DEPTH_AND_STENCIL)),
            scene.out,
        );
        scene.render().depth(image, CLEAR_DEPTH);
        let pass = scene.render().input(image).aspect(Aspects::DEPTH);
        pass.input(image).aspect(Aspects::STENCIL).color(out, CLEAR);
    }),
    ("secondaries in subpasses", Runs, |scene| {
        let (image, out) = (scene.frame.image("image", plain()), scene.out);
        let pass = scene.render().secondary().color(image, CLEAR);
        pass.next_subpass().input(image).color(out, CLEAR);
    }),
    ("a feedback loop", Refused("feedback loop"), |scene| {
        let image = scene.cleared("image", plain());
        scene.render().sampled(image).color(image, LoadOp::Load);
    }),
    ("a color attachment twice", Refused("twice"), |scene| {
        let image = scene.cleared("image", plain());
        let pass = scene.render().read(image, K::ColorAttachment);
        pass.read(image, K::ColorAttachment);
    }),
    (
        "an attachment that is also stored into",
        Refused("06537"),
        |scene| {
            let image = scene.cleared("image", plain());
            let out = scene.out;
            let pass = scene.render().read(image, K::ColorAttachment);
            pass.storage_write(image).at(S::FRAGMENT_SHADER).color(out, CLEAR);
        },
    ),
    ("two views", IfSupported("multiview"), |scene| {
        let image = scene.frame.image("image", with_layers(2));
        scene.render().color(image, CLEAR).views(0b11);
    }),
    ("more views than layers", Refused("12403"), |scene| {
        let image = scene.frame.image("image", with_layers(2));
        scene.render().color(image, CLEAR).views(0b101);
    }),
    ("an area past an attachment", Refused("06079"), |scene| {
        let small = scene.frame.image("small", of_size(32, 64));
        let pass = scene.render().color(small, CLEAR);
        pass.area(vk::Extent2D { width: 33, height: 1 }.into());
    }),
    ("a corner of an attachment", Runs, |scene| {
        let image = scene.cleared("image", plain());
        let offset = vk::Offset2D { x: 63, y: 62 };
        let extent = vk::Extent2D { width: 1, height: 2 };
        let pass = scene.render().color(image, LoadOp::Load);
        pass.area(vk::Rect2D { offset, extent });
    }),
    // Batches and queues.
    ("a wait on the host", Refused("00078"), |scene| {
        second_batch(scene, S::ALL_COMMANDS, S::HOST)
    }),
    ("a wait on the host and others", Refused("00078"), |scene| {
        second_batch(scene, S::ALL_COMMANDS, S::HOST | S::ALL_GRAPHICS)
    }),
    ("a signal on the host", Refused("remove this stage"), |scene| {
        second_batch(scene, S::HOST, S::ALL_COMMANDS)
    }),
    ("a wait at no stage", Runs, |scene| {
        second_batch(scene, S::NONE, S::NONE)
    }),
    ("a wait for geometry", IfSupported("03929"), |scene| {
        second_batch(scene, S::GEOMETRY_SHADER, S::GEOMETRY_SHADER)
    }),
    ("a wait at an unknown stage", Refused("not supported"), |scene| {
        second_batch(scene, S::ALL_COMMANDS, S::from_raw(1 << 61))
    }),
    ("semaphores of the caller around a frame", Runs, |scene| {
        let [before, after] = ["before", "after"].map(|name| scene.frame.external_semaphore(name));
        let (batch, out) = (scene.batch, scene.out);
        scene.frame.wait(batch, before, S::COLOR_ATTACHMENT_OUTPUT);
        scene.frame.signal(batch, after, S::NONE);
        scene.render().color(out, CLEAR);
    }),
    ("a compute queue that waits to draw", Refused("03870"), |scene| {
        let buffer = scene.frame.buffer("buffer", BufferDesc::new(Bytes(256)));
        scene.compute().storage_write(buffer);
        let semaphore = scene.frame.semaphore("semaphore");
        scene.frame.signal(scene.batch, semaphore, S::ALL_COMMANDS);
        let queue = scene.frame.queue("compute", Q::COMPUTE);
        let submit = scene.frame.submit(queue);
        let batch = scene.frame.batch(submit);
        scene.frame.wait(batch, semaphore, S::FRAGMENT_SHADER);
        let commands = scene.frame.command_buffer(batch, "compute");
        scene.frame.compute_pass(commands, "read").storage_read(buffer);
    }),
    ("two queues without order", Refused("on two queues"), |scene| {
        let buffer = scene.frame.buffer("buffer", BufferDesc::new(Bytes(256)));
        scene.compute().storage_write(buffer);
        let queue = scene.frame.queue("compute", Q::COMPUTE);
        let submit = scene.frame.submit(queue);
        let batch = scene.frame.batch(submit);
        let commands = scene.frame.command_buffer(batch, "compute");
        scene.frame.compute_pass(commands, "read").storage_read(buffer);
    }),
    // Histories and other resources.
    ("a history of layers", Runs, |scene| {
        let (history, out) = (history(scene, with_layers(3)), scene.out);
        scene
            .render()
            .sampled_previous(history)
            .layer(2)
            .color(out, CLEAR);
        scene.render().color(history, CLEAR);
    }),
    ("a history of a level", Runs, |scene| {
        let (history, out) = (history(scene, with_levels()), scene.out);
        let pass = scene.render().sampled_previous(history).level(1);
        pass.color(out, CLEAR);
        scene.render().color(history, CLEAR).level(1);
    }),
    (
        "a history of an unwritten level",
        Refused("no pass writes its"),
        |scene| {
            let (history, out) = (history(scene, with_levels()), scene.out);
            scene.render().sampled_previous(history).color(out, CLEAR);
            scene.render().color(history, CLEAR).level(1);
        },
    ),
    ("a compressed history", Refused("compressed format"), |scene| {
        let (history, out) = (history(scene, of_format(F::BC1_RGB_UNORM_BLOCK)), scene.out);
        scene.render().sampled_previous(history).color(out, CLEAR);
        scene.transfer().transfer_destination(history);
    }),
    (
        "a history that nothing writes",
        Refused("no pass writes"),
        |scene| {
            let (history, out) = (history(scene, plain()), scene.out);
            scene.render().sampled_previous(history).color(out, CLEAR);
        },
    ),
    ("a history of slices", Runs, |scene| {
        let (history, out) = (history(scene, solid()), scene.out);
        scene.render().sampled_previous(history).color(out, CLEAR);
        scene.compute().storage_write(history);
    }),
    ("passes that may be skipped", Runs, |scene| {
        let image = scene.frame.image("image", plain());
        let pass = scene.render().optional(SkippedOutputs::Lost);
        pass.color(image, CLEAR);
        scene.sample(image, ViewDesc::default());
    }),
    (
        "stages of a ray tracer",
        IfSupported("rayTracingPipeline"),
        |scene| {
            let image = scene.cleared("image", plain());
            let buffer = scene.frame.buffer("buffer", BufferDesc::new(Bytes(256)));
            let pass = scene.compute().sampled(image).at(S::RAY_TRACING_SHADER_KHR);
            pass.storage_write(buffer);
        },
    ),
    ("64 samples", IfSupported("samples"), |scene| {
        let desc = ImageDesc {
            samples: vk::SampleCountFlags::TYPE_64,
            ..plain()
        };
        scene.cleared("image", desc);
    }),
    (
        "a stored image of shared exponents",
        IfSupported("E5B9G9R9"),
        |scene| {
            let image = scene.frame.image("image", of_format(F::E5B9G9R9_UFLOAT_PACK32));
            scene.compute().storage_write(image);
        },
    ),
    (
        "a transient attachment that is sampled",
        Refused("00963"),
        |scene| {
            let desc = ImageDesc {
                usage: vk::ImageUsageFlags::TRANSIENT_ATTACHMENT,
                ..plain()
            };
            let image = scene.cleared("image", desc);
            scene.sample(image, ViewDesc::default());
        },
    ),
];

/// Devices with the usual features, and without those of newer versions.
fn devices() -> impl Iterator<Item = (Gpu, bool)> {
    let all = Devices::all().zip([false, true, true, true]);
    all.map(|(devices, is_old)| (devices.create(), is_old))
}

#[test]
fn kinds_of_descriptions_run_or_are_refused_with_the_expected_reason() {
    let mut failed = Vec::new();
    for (mut gpu, is_old) in devices() {
        for &(name, expected, describe) in KINDS {
            let outcome = attempt_frame(&mut gpu, || described::frame(name, describe));
            let as_expected = match (&outcome, expected) {
                (Outcome::Ran, Runs | IfSupported(_)) => true,
                (Outcome::Refused(_, text), Refused(reason) | IfSupported(reason))
                    if text.contains(reason) =>
                {
                    true
                }
                (Outcome::Refused(_, text), _) => {
                    is_old && OLD_DEVICES.iter().any(|reason| text.contains(reason))
                }
                _ => false,
            };
            if !as_expected {
                failed.push(format!("{name}: {outcome:?}"));
            }
        }
        let last = gpu.into_unexpected_messages();
        failed.extend(last.iter().map(|message| format!("at the end: {message:?}")));
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// Local read and render pass objects have the same limit: that of the input attachments of one subpass.
#[test]
fn subpasses_have_no_more_input_attachments_than_the_device_allows() {
    for without in [Capabilities::empty(), Capabilities::DYNAMIC_RENDERING] {
        let mut gpu = Gpu::new(without);
        let limit = gpu
            .runtime()
            .profile()
            .limits
            .max_per_stage_descriptor_input_attachments;
        // More than every driver of the tests has, and few enough to create.
        let most = limit.min(64);
        for (numbers, fits) in [([most, 1], true), ([1, limit.saturating_add(1)], false)] {
            if !fits && limit > most {
                continue;
            }
            let describe = |scene: &mut Scene| read_in_place(scene, &numbers);
            match attempt_frame(&mut gpu, || described::frame("inputs", describe)) {
                Outcome::Ran if fits => {}
                Outcome::Refused(rule, text) if !fits => {
                    assert_eq!(rule, "VUID-VkSubpassDescription-inputAttachmentCount-12293");
                    assert!(text.contains("maxPerStageDescriptorInputAttachments"), "{text}");
                }
                outcome => panic!("{numbers:?} of {limit}: {outcome:?}"),
            }
        }
    }
}
