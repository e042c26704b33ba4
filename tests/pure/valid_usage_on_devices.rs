//! Every rule of devices refuses a frame at one device, and not at one whose limit is one step further.

use std::collections::BTreeSet;
use std::sync::Arc;

use ash::vk::{
    self, Format as F, ImageUsageFlags as Usage, PipelineStageFlags2 as S, SampleCountFlags as Samples,
};
use tileheap::Error;
use tileheap::frame::external::{ExternalDesc, ResourceState};
use tileheap::frame::valid_usage::device_rules;
use tileheap::frame::{AccessKind, BufferDesc, ClearValue, Frame, ImageDesc, LoadOp, Persistence};
use tileheap::plan::{PlanError, PlanOptions};
use tileheap::profile::{DeviceProfile, Features, Limits, OptionalFeatures as Feature};
use tileheap::units::Bytes;

use super::described::{
    self, CLEAR, CLEAR_DEPTH, Describe, Scene, as_format, as_type, of_format, of_size, plain, solid,
    with_layers,
};

/// A rule, a frame, a device that just runs it, and what is changed in that device so that it does not.
struct Case {
    rule: &'static str,
    describe: Describe,
    fits: fn(&mut DeviceProfile),
    lacks: fn(&mut DeviceProfile),
}

fn case(
    rule: &'static str,
    describe: Describe,
    fits: fn(&mut DeviceProfile),
    lacks: fn(&mut DeviceProfile),
) -> Case {
    Case {
        rule,
        describe,
        fits,
        lacks,
    }
}

/// A rule about a limit.
macro_rules! limit {
    ($rule:literal, $describe:expr, $limit:ident, $most:expr, $less:expr) => {
        case(
            $rule,
            $describe,
            |device| device.limits.$limit = $most,
            |device| device.limits.$limit = $less,
        )
    };
}

/// A rule about a feature.
macro_rules! feature {
    ($rule:expr, $describe:expr, $feature:ident) => {
        case(
            $rule,
            $describe,
            |device| device.optional_features = Some(Feature::$feature),
            |device| device.optional_features = Some(Feature::all() - Feature::$feature),
        )
    };
    // One of several features is enough.
    ($rule:expr, $describe:expr, $feature:ident, $($other:ident)|+) => {
        case(
            $rule,
            $describe,
            |device| device.optional_features = Some(Feature::$feature),
            |device| device.optional_features = Some(Feature::all() - Feature::$feature $(- Feature::$other)+),
        )
    };
}

fn drawn(scene: &mut Scene, desc: ImageDesc) {
    scene.cleared("image", desc);
}

fn samples(format: F) -> ImageDesc {
    ImageDesc {
        samples: Samples::TYPE_8,
        ..of_format(format)
    }
}

fn depth(scene: &mut Scene, format: F) {
    let image = scene.frame.image("image", samples(format));
    scene.render().depth(image, CLEAR_DEPTH);
}

/// An image of 8 samples that a shader reads.
fn sampled(scene: &mut Scene, format: F) {
    let image = scene.frame.image("image", samples(format));
    let color = tileheap::format::aspects(format) == vk::ImageAspectFlags::COLOR;
    match color {
        true => scene.render().color(image, CLEAR),
        false => scene.render().depth(image, CLEAR_DEPTH),
    };
    let out = scene.out;
    scene.render().sampled(image).color(out, CLEAR);
}

fn buffer(scene: &mut Scene, usage: vk::BufferUsageFlags) {
    let desc = BufferDesc {
        usage,
        ..BufferDesc::new(Bytes(4096))
    };
    let buffer = scene.frame.buffer("buffer", desc);
    scene.compute().storage_write(buffer);
}

/// Reads a buffer in a render pass, at these stages and others.
fn read_at(scene: &mut Scene, stages: S) {
    let buffer = scene.frame.buffer("buffer", BufferDesc::new(Bytes(256)));
    scene.transfer().transfer_destination(buffer);
    let out = scene.out;
    let pass = scene.render().read(buffer, AccessKind::StorageBuffer);
    pass.at(stages | S::FRAGMENT_SHADER).color(out, CLEAR);
}

/// Writes a buffer in a compute pass, at these stages and others.
fn written_at(scene: &mut Scene, stages: S) {
    let buffer = scene.frame.buffer("buffer", BufferDesc::new(Bytes(256)));
    scene
        .compute()
        .storage_write(buffer)
        .at(stages | S::COMPUTE_SHADER);
}

/// A buffer that leaves the frame for these stages.
fn handed_over_at(scene: &mut Scene, stages: S) {
    let state = |stages| ResourceState::new(vk::ImageLayout::UNDEFINED, stages, vk::AccessFlags2::NONE);
    let external = ExternalDesc {
        entry: state(S::NONE),
        exit: state(stages),
    };
    let (desc, persistence) = (BufferDesc::new(Bytes(256)), Persistence::External(external));
    let buffer = scene.frame.resource("buffer", desc, persistence);
    scene.compute().storage_write(buffer);
}

/// A semaphore that is signaled after these stages.
fn signaled_at(scene: &mut Scene, stages: S) {
    let out = scene.out;
    scene.render().color(out, CLEAR);
    let semaphore = scene.frame.semaphore("semaphore");
    scene.frame.signal(scene.batch, semaphore, stages);
    let submit = scene.frame.submit(scene.queue);
    let batch = scene.frame.batch(submit);
    scene.frame.wait(batch, semaphore, S::ALL_COMMANDS);
}

/// Draws with pipelines of 4 samples and a hook into an attachment that has others.
fn drawn_with(scene: &mut Scene, format: F, samples: Samples, hook: u32) {
    let desc = ImageDesc {
        samples,
        ..of_format(format)
    };
    let image = scene.frame.image("image", desc);
    let color = tileheap::format::aspects(format) == vk::ImageAspectFlags::COLOR;
    let pass = match color {
        true => scene.render().color(image, CLEAR),
        false => scene.render().depth(image, CLEAR_DEPTH),
    };
    pass.samples(Samples::TYPE_4).hook(hook);
}

fn drawn_to(scene: &mut Scene, width: u32, height: u32) {
    let image = scene.frame.image("image", of_size(width, height));
    scene.render().color(image, CLEAR);
}

/// Draws into the base extent.
fn drawn_without_attachments(scene: &mut Scene) {
    let buffer = scene.frame.buffer("buffer", BufferDesc::new(Bytes(256)));
    scene.render().storage_write(buffer).at(S::FRAGMENT_SHADER);
}

const FEW: Samples = Samples::TYPE_4;
const MANY: Samples = Samples::from_raw(Samples::TYPE_4.as_raw() | Samples::TYPE_8.as_raw());

fn limits() -> Vec<Case> {
    const SAMPLES: &str = "VUID-VkImageCreateInfo-samples-02258";
    let counts = |describe, fits, lacks| case(SAMPLES, describe, fits, lacks);
    vec![
        limit!(
            "VUID-VkImageCreateInfo-extent-02252",
            |scene| {
                let image_type = vk::ImageType::TYPE_1D;
                drawn(
                    scene,
                    ImageDesc {
                        image_type,
                        ..of_size(64, 1)
                    },
                );
            },
            max_image_dimension_1d,
            64,
            63
        ),
        limit!(
            "VUID-VkImageCreateInfo-extent-02253",
            |scene| drawn(scene, of_size(32, 70)),
            max_image_dimension_2d,
            70,
            69
        ),
        limit!(
            "VUID-VkImageCreateInfo-extent-02252",
            |scene| drawn(scene, of_size(70, 32)),
            max_image_dimension_2d,
            70,
            69
        ),
        limit!(
            "VUID-VkImageCreateInfo-extent-02254",
            |scene| {
                let desc = ImageDesc {
                    extent: vk::Extent3D {
                        width: 8,
                        height: 8,
                        depth: 16,
                    }
                    .into(),
                    ..solid()
                };
                drawn(scene, desc);
            },
            max_image_dimension_3d,
            16,
            15
        ),
        limit!(
            "VUID-VkImageCreateInfo-extent-02252",
            |scene| {
                let flags = vk::ImageCreateFlags::CUBE_COMPATIBLE;
                drawn(
                    scene,
                    ImageDesc {
                        flags,
                        ..with_layers(6)
                    },
                );
            },
            max_image_dimension_cube,
            64,
            63
        ),
        limit!(
            "VUID-VkImageCreateInfo-arrayLayers-02256",
            |scene| drawn(scene, with_layers(5)),
            max_image_array_layers,
            5,
            4
        ),
        counts(
            |scene| drawn(scene, samples(F::R8G8B8A8_UNORM)),
            |device| device.limits.framebuffer_color_sample_counts = MANY,
            |device| device.limits.framebuffer_color_sample_counts = FEW,
        ),
        counts(
            |scene| depth(scene, F::D32_SFLOAT),
            |device| device.limits.framebuffer_depth_sample_counts = MANY,
            |device| device.limits.framebuffer_depth_sample_counts = FEW,
        ),
        counts(
            |scene| depth(scene, F::S8_UINT),
            |device| device.limits.framebuffer_stencil_sample_counts = MANY,
            |device| device.limits.framebuffer_stencil_sample_counts = FEW,
        ),
        counts(
            |scene| sampled(scene, F::R8G8B8A8_UNORM),
            |device| device.limits.sampled_image_color_sample_counts = MANY,
            |device| device.limits.sampled_image_color_sample_counts = FEW,
        ),
        counts(
            |scene| sampled(scene, F::R32_UINT),
            |device| device.limits.sampled_image_integer_sample_counts = MANY,
            |device| device.limits.sampled_image_integer_sample_counts = FEW,
        ),
        counts(
            |scene| sampled(scene, F::D32_SFLOAT),
            |device| device.limits.sampled_image_depth_sample_counts = MANY,
            |device| device.limits.sampled_image_depth_sample_counts = FEW,
        ),
        counts(
            |scene| sampled(scene, F::S8_UINT),
            |device| device.limits.sampled_image_stencil_sample_counts = MANY,
            |device| device.limits.sampled_image_stencil_sample_counts = FEW,
        ),
        counts(
            |scene| {
                let usage = Usage::STORAGE;
                drawn(
                    scene,
                    ImageDesc {
                        usage,
                        ..samples(F::R8G8B8A8_UNORM)
                    },
                );
            },
            |device| device.limits.storage_image_sample_counts = MANY,
            |device| device.limits.storage_image_sample_counts = FEW,
        ),
        limit!(
            "VUID-VkImageViewCreateInfo-image-09487",
            |scene| {
                use vk::ImageCreateFlags as Flags;
                let flags =
                    Flags::BLOCK_TEXEL_VIEW_COMPATIBLE | Flags::MUTABLE_FORMAT | Flags::EXTENDED_USAGE;
                let desc = ImageDesc {
                    flags,
                    array_layers: 2,
                    ..of_format(F::BC1_RGB_UNORM_BLOCK)
                };
                let image = scene.frame.image("image", desc);
                scene.transfer().transfer_destination(image);
                scene.sample(image, as_format(F::R32G32_UINT));
            },
            block_texel_view_compatible_multiple_layers,
            true,
            false
        ),
        limit!(
            "VUID-VkBufferCreateInfo-size-06409",
            |scene| buffer(scene, vk::BufferUsageFlags::empty()),
            max_buffer_size,
            Bytes(4096),
            Bytes(4095)
        ),
        limit!(
            "VUID-VkRenderingInfo-colorAttachmentCount-06106",
            |scene| {
                let images: Vec<_> = (0..9)
                    .map(|n| scene.frame.image(format!("image {n}"), plain()))
                    .collect();
                let pass = scene.render();
                images
                    .into_iter()
                    .fold(pass, |pass, image| pass.color(image, CLEAR));
            },
            max_color_attachments,
            9,
            8
        ),
        limit!(
            "section \"Limits\": maxPerStageDescriptorInputAttachments",
            |scene| {
                let images: Vec<_> = (0..3)
                    .map(|n| scene.cleared(&format!("image {n}"), plain()))
                    .collect();
                let out = scene.out;
                let pass = scene.render().color(out, CLEAR);
                images.into_iter().fold(pass, |pass, image| pass.input(image));
            },
            max_per_stage_descriptor_input_attachments,
            3,
            2
        ),
        limit!(
            "VUID-VkImageCreateInfo-usage-00964",
            |scene| drawn_to(scene, 70, 1),
            max_framebuffer_width,
            70,
            69
        ),
        limit!(
            "VUID-VkImageCreateInfo-usage-00965",
            |scene| drawn_to(scene, 1, 70),
            max_framebuffer_height,
            70,
            69
        ),
        limit!(
            "VUID-VkRenderingInfo-pNext-07815",
            drawn_without_attachments,
            max_framebuffer_width,
            64,
            63
        ),
        limit!(
            "VUID-VkRenderingInfo-pNext-07816",
            drawn_without_attachments,
            max_framebuffer_height,
            64,
            63
        ),
        limit!(
            "VUID-VkRenderingInfo-layerCount-07817",
            |scene| drawn(scene, with_layers(5)),
            max_framebuffer_layers,
            5,
            4
        ),
        limit!(
            "VUID-VkRenderingInfo-viewMask-06128",
            |scene| {
                let image = scene.frame.image("image", with_layers(5));
                scene.render().color(image, CLEAR).views(0b10001);
            },
            max_multiview_view_count,
            5,
            4
        ),
    ]
}

fn features() -> Vec<Case> {
    use vk::BufferUsageFlags as B;
    const SAMPLES: &str = "VUID-vkCmdDraw-multisampledRenderToSingleSampled-07285";
    vec![
        case(
            "VUID-VkRenderingInfo-multiview-06127",
            |scene| {
                let image = scene.frame.image("image", with_layers(2));
                scene.render().color(image, CLEAR).views(0b11);
            },
            |device| device.features |= Features::MULTIVIEW,
            |device| device.features -= Features::MULTIVIEW,
        ),
        feature!(
            "VUID-VkImageCreateInfo-usage-00968",
            |scene| {
                let usage = Usage::STORAGE;
                drawn(
                    scene,
                    ImageDesc {
                        usage,
                        ..samples(F::R8G8B8A8_UNORM)
                    },
                );
            },
            SHADER_STORAGE_IMAGE_MULTISAMPLE
        ),
        feature!(
            "VUID-VkImageCreateInfo-multisampledRenderToSingleSampled-06882",
            |scene| {
                let flags = vk::ImageCreateFlags::MULTISAMPLED_RENDER_TO_SINGLE_SAMPLED_EXT;
                drawn(scene, ImageDesc { flags, ..plain() });
            },
            MULTISAMPLED_RENDER_TO_SINGLE_SAMPLED
        ),
        feature!(
            "VUID-VkImageCreateInfo-flags-parameter",
            |scene| {
                let flags = vk::ImageCreateFlags::SUBSAMPLED_EXT;
                drawn(scene, ImageDesc { flags, ..plain() });
            },
            FRAGMENT_DENSITY_MAP
        ),
        feature!(
            "VUID-VkImageCreateInfo-usage-parameter",
            |scene| {
                let usage = Usage::FRAGMENT_DENSITY_MAP_EXT;
                drawn(scene, ImageDesc { usage, ..plain() });
            },
            FRAGMENT_DENSITY_MAP
        ),
        feature!(
            "VUID-VkImageCreateInfo-usage-parameter",
            |scene| {
                let usage = Usage::FRAGMENT_SHADING_RATE_ATTACHMENT_KHR;
                drawn(scene, ImageDesc { usage, ..plain() });
            },
            ATTACHMENT_FRAGMENT_SHADING_RATE
        ),
        feature!(
            "VUID-VkBufferCreateInfo-None-09499",
            |scene| buffer(scene, B::SHADER_DEVICE_ADDRESS),
            BUFFER_DEVICE_ADDRESS
        ),
        feature!(
            "VUID-VkBufferCreateInfo-None-09499",
            |scene| buffer(scene, B::ACCELERATION_STRUCTURE_STORAGE_KHR),
            ACCELERATION_STRUCTURE
        ),
        feature!(
            "VUID-VkBufferCreateInfo-None-09499",
            |scene| buffer(scene, B::SHADER_BINDING_TABLE_KHR),
            RAY_TRACING_PIPELINE
        ),
        feature!(
            "VUID-VkBufferCreateInfo-None-09499",
            |scene| buffer(scene, B::CONDITIONAL_RENDERING_EXT),
            CONDITIONAL_RENDERING
        ),
        feature!(
            "VUID-VkBufferCreateInfo-None-09499",
            |scene| buffer(scene, B::TRANSFORM_FEEDBACK_BUFFER_EXT),
            TRANSFORM_FEEDBACK
        ),
        feature!(
            "VUID-VkImageViewCreateInfo-viewType-01004",
            |scene| {
                let flags = vk::ImageCreateFlags::CUBE_COMPATIBLE;
                let image = scene.cleared(
                    "image",
                    ImageDesc {
                        flags,
                        ..with_layers(12)
                    },
                );
                scene.sample(image, as_type(vk::ImageViewType::CUBE_ARRAY));
            },
            IMAGE_CUBE_ARRAY
        ),
        feature!(
            "VUID-VkImageViewCreateInfo-viewType-01004",
            |scene| {
                let flags = vk::ImageCreateFlags::CUBE_COMPATIBLE;
                let image = scene.cleared(
                    "image",
                    ImageDesc {
                        flags,
                        ..with_layers(12)
                    },
                );
                scene.sample(image, Default::default());
            },
            IMAGE_CUBE_ARRAY
        ),
        feature!(
            SAMPLES,
            |scene| drawn_with(scene, F::R8G8B8A8_UNORM, Samples::TYPE_1, 1),
            MULTISAMPLED_RENDER_TO_SINGLE_SAMPLED,
            AMD_MIXED_ATTACHMENT_SAMPLES | NV_FRAMEBUFFER_MIXED_SAMPLES
        ),
        feature!(
            SAMPLES,
            |scene| drawn_with(scene, F::R8G8B8A8_UNORM, Samples::TYPE_1, 0),
            AMD_MIXED_ATTACHMENT_SAMPLES,
            NV_FRAMEBUFFER_MIXED_SAMPLES
        ),
        feature!(
            SAMPLES,
            |scene| drawn_with(scene, F::D32_SFLOAT, Samples::TYPE_8, 0),
            NV_FRAMEBUFFER_MIXED_SAMPLES,
            AMD_MIXED_ATTACHMENT_SAMPLES
        ),
        case(
            "VUID-VkRenderingInfo-imageView-06858",
            |scene| drawn_with(scene, F::R8G8B8A8_UNORM, Samples::TYPE_8, 1),
            |device| device.optional_features = Some(Feature::AMD_MIXED_ATTACHMENT_SAMPLES),
            |device| device.optional_features = Some(Feature::MULTISAMPLED_RENDER_TO_SINGLE_SAMPLED),
        ),
        feature!(
            "VUID-VkClearDepthStencilValue-depth-00022",
            |scene| {
                let image = scene.frame.image("image", of_format(F::D32_SFLOAT));
                let clear = LoadOp::Clear(ClearValue::DepthStencil(2.0, 0));
                scene.render().depth(image, clear);
            },
            DEPTH_RANGE_UNRESTRICTED
        ),
        feature!(
            "VUID-VkRenderPassTileShadingCreateInfoQCOM-tileShading-10658",
            |scene| {
                let out = scene.out;
                scene.render().tile_shading().color(out, CLEAR);
            },
            TILE_SHADING
        ),
    ]
}

/// A stage of accesses, external resources and semaphores.
macro_rules! stage {
    ($cases:ident, $number:literal, $stage:ident, $access:ident, $feature:ident) => {
        $cases.push(feature!(
            concat!("VUID-VkMemoryBarrier2-dstStageMask-", $number),
            |scene| $access(scene, S::$stage),
            $feature
        ));
        $cases.push(feature!(
            concat!("VUID-VkMemoryBarrier2-srcStageMask-", $number),
            |scene| handed_over_at(scene, S::$stage),
            $feature
        ));
        $cases.push(feature!(
            concat!("VUID-VkSemaphoreSubmitInfo-stageMask-", $number),
            |scene| signaled_at(scene, S::$stage),
            $feature
        ));
    };
}

fn stages() -> Vec<Case> {
    let mut cases = Vec::new();
    stage!(cases, "03929", GEOMETRY_SHADER, read_at, GEOMETRY_SHADER);
    stage!(
        cases,
        "03930",
        TESSELLATION_CONTROL_SHADER,
        read_at,
        TESSELLATION_SHADER
    );
    stage!(
        cases,
        "03930",
        TESSELLATION_EVALUATION_SHADER,
        read_at,
        TESSELLATION_SHADER
    );
    stage!(
        cases,
        "03931",
        CONDITIONAL_RENDERING_EXT,
        read_at,
        CONDITIONAL_RENDERING
    );
    stage!(
        cases,
        "03932",
        FRAGMENT_DENSITY_PROCESS_EXT,
        read_at,
        FRAGMENT_DENSITY_MAP
    );
    stage!(
        cases,
        "03933",
        TRANSFORM_FEEDBACK_EXT,
        read_at,
        TRANSFORM_FEEDBACK
    );
    stage!(cases, "03934", MESH_SHADER_EXT, read_at, MESH_SHADER);
    stage!(cases, "03935", TASK_SHADER_EXT, read_at, TASK_SHADER);
    stage!(
        cases,
        "07316",
        FRAGMENT_SHADING_RATE_ATTACHMENT_KHR,
        read_at,
        ATTACHMENT_FRAGMENT_SHADING_RATE
    );
    stage!(
        cases,
        "07946",
        RAY_TRACING_SHADER_KHR,
        written_at,
        RAY_TRACING_PIPELINE
    );
    stage!(
        cases,
        "10751",
        ACCELERATION_STRUCTURE_BUILD_KHR,
        written_at,
        ACCELERATION_STRUCTURE
    );
    stage!(
        cases,
        "10752",
        ACCELERATION_STRUCTURE_COPY_KHR,
        written_at,
        RAY_TRACING_MAINTENANCE_1
    );
    cases
}

fn cases() -> impl Iterator<Item = Case> {
    limits().into_iter().chain(features()).chain(stages())
}

/// A device of which no limit and no feature is known.
fn unknown() -> DeviceProfile {
    let device = DeviceProfile::preset("no-tile-memory").unwrap();
    let max_allocation = device.limits.max_allocation;
    DeviceProfile {
        limits: Limits {
            max_allocation,
            ..Limits::UNKNOWN
        },
        ..device
    }
}

fn planned(frame: &Frame, device: &DeviceProfile) -> Option<String> {
    let device = Arc::new(device.clone());
    let requirements = tileheap::measure::estimate(frame, &unknown()).unwrap();
    match tileheap::plan::plan(frame, &requirements.into(), &device, &PlanOptions::default()) {
        Ok(_) => None,
        Err(Error::Plan(PlanError::InvalidUsage(found))) => {
            assert!(found.to_string().contains(&device.name) && found.to_string().contains(found.rule));
            Some(found.rule.to_owned())
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_device_refuses_what_it_cannot_run_and_nothing_else() {
    for case in cases() {
        let frame =
            described::frame("f", case.describe).unwrap_or_else(|error| panic!("{}: {error}", case.rule));
        let mut device = unknown();
        assert_eq!(planned(&frame, &device), None, "{}, nothing known", case.rule);
        (case.fits)(&mut device);
        assert_eq!(planned(&frame, &device), None, "{}, enough", case.rule);
        (case.lacks)(&mut device);
        assert_eq!(planned(&frame, &device).as_deref(), Some(case.rule));
    }
}

#[test]
fn sides_and_samples_are_the_drivers_where_it_is_asked() {
    let (frame, external) = (
        described::frame("f", |scene| drawn(scene, of_size(70, 32))).unwrap(),
        described::frame("f", |scene| {
            let persistence = Persistence::External(ExternalDesc::in_layout(vk::ImageLayout::GENERAL));
            let image = scene.frame.resource("image", with_layers(70), persistence);
            scene.render().color(image, CLEAR);
        })
        .unwrap(),
    );
    let mut device = unknown();
    device.limits.max_image_dimension_2d = 65;
    assert!(planned(&frame, &device).is_some());
    device.limits.guaranteed = true;
    assert_eq!(planned(&frame, &device), None);
    device.limits.max_image_array_layers = 69;
    assert_eq!(planned(&external, &device), None);
}

#[test]
fn every_rule_of_devices_has_a_case() {
    let tested: BTreeSet<&str> = cases().map(|case| case.rule).collect();
    let named: BTreeSet<&str> = device_rules().into_iter().collect();
    assert_eq!(tested, named);
}

#[test]
fn plans_from_elsewhere_are_checked_against_their_device() {
    let frame = described::frame("f", |scene| drawn(scene, plain())).unwrap();
    let device = unknown();
    let requirements = tileheap::measure::estimate(&frame, &device).unwrap();
    let options = PlanOptions::default();
    let mut plan =
        tileheap::plan::plan(&frame, &requirements.into(), &device.clone().into(), &options).unwrap();
    let mut smaller = device;
    smaller.limits.max_framebuffer_height = 63;
    plan.profile = Arc::new(smaller);
    let found = plan.check().unwrap_err();
    assert!(found.to_string().contains("maxFramebufferHeight"), "{found}");
}
