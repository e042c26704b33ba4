//! Features of a device, each with a frame that needs it.

use super::*;

/// A buffer that leaves the frame for these accesses of any stage.
fn handed_over_for(scene: &mut Scene, access: vk::AccessFlags2) {
    let state = |access| ResourceState::new(vk::ImageLayout::UNDEFINED, S::ALL_COMMANDS, access);
    let external = ExternalDesc {
        entry: state(vk::AccessFlags2::NONE),
        exit: state(access),
    };
    let (desc, persistence) = (BufferDesc::new(Bytes(256)), Persistence::External(external));
    let buffer = scene.frame.resource("buffer", desc, persistence);
    scene.compute().storage_write(buffer);
}

/// An image that these families own before and after the frame.
fn owned_by(scene: &mut Scene, [before, after]: [Option<ExternalFamily>; 2]) {
    let mut external = ExternalDesc::in_layout(L::GENERAL);
    (external.entry.family, external.exit.family) = (before, after);
    let persistence = Persistence::External(external);
    let image = scene.frame.resource("image", plain(), persistence);
    scene.render().color(image, CLEAR);
}

/// An image of a format that needs a feature.
macro_rules! format_of {
    ($format:ident, $feature:ident) => {
        feature!(
            "VUID-VkImageCreateInfo-format-parameter",
            |scene| {
                let image = scene.frame.image("image", of_format(F::$format));
                scene.transfer().transfer_destination(image);
            },
            $feature
        )
    };
}

pub(super) fn features() -> Vec<Case> {
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
            "VUID-VkImageCreateInfo-usage-parameter",
            |scene| {
                let usage = Usage::HOST_TRANSFER_EXT;
                drawn(scene, ImageDesc { usage, ..plain() });
            },
            HOST_IMAGE_COPY
        ),
        feature!(
            "VUID-VkImageCreateInfo-usage-parameter",
            |scene| {
                let usage = Usage::SAMPLE_BLOCK_MATCH_QCOM;
                drawn(scene, ImageDesc { usage, ..plain() });
            },
            IMAGE_PROCESSING
        ),
        format_of!(A8_UNORM_KHR, MAINTENANCE_5),
        format_of!(A4B4G4R4_UNORM_PACK16, FORMATS_4444),
        format_of!(ASTC_12X12_SFLOAT_BLOCK, ASTC_HDR),
        format_of!(PVRTC2_4BPP_SRGB_BLOCK_IMG, PVRTC),
        format_of!(R16G16_S10_5_NV, OPTICAL_FLOW),
        feature!(
            "VUID-VkImageViewCreateInfo-format-parameter",
            |scene| {
                let image = scene.cleared("image", of_format(F::R16_UNORM));
                scene.sample(image, as_format(F::A4R4G4B4_UNORM_PACK16));
            },
            FORMATS_4444
        ),
        feature!(
            "VUID-VkMemoryAllocateInfo-flags-03331",
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
            "VUID-VkBufferCreateInfo-None-09499",
            |scene| buffer(scene, B::SAMPLER_DESCRIPTOR_BUFFER_EXT),
            DESCRIPTOR_BUFFER
        ),
        feature!(
            "VUID-VkBufferCreateInfo-None-09499",
            |scene| buffer(scene, B::MICROMAP_STORAGE_EXT),
            OPACITY_MICROMAP
        ),
        feature!(
            "VUID-VkMemoryBarrier2-srcAccessMask-parameter",
            |scene| handed_over_for(scene, vk::AccessFlags2::DESCRIPTOR_BUFFER_READ_EXT),
            DESCRIPTOR_BUFFER
        ),
        feature!(
            "VUID-VkMemoryBarrier2-srcAccessMask-parameter",
            |scene| handed_over_for(scene, vk::AccessFlags2::TRANSFORM_FEEDBACK_COUNTER_READ_EXT),
            TRANSFORM_FEEDBACK
        ),
        feature!(
            "VUID-VkMemoryBarrier2-srcAccessMask-parameter",
            |scene| handed_over_for(scene, vk::AccessFlags2::COLOR_ATTACHMENT_READ_NONCOHERENT_EXT),
            BLEND_OPERATION_ADVANCED
        ),
        feature!(
            "VUID-VkImageMemoryBarrier2-oldLayout-parameter",
            |scene| handed_over_in(scene, plain(), [L::FRAGMENT_DENSITY_MAP_OPTIMAL_EXT, L::GENERAL]),
            FRAGMENT_DENSITY_MAP
        ),
        feature!(
            "VUID-VkImageMemoryBarrier2-newLayout-parameter",
            |scene| handed_over_in(scene, plain(), [L::UNDEFINED, L::VIDEO_ENCODE_SRC_KHR]),
            VIDEO_ENCODE_QUEUE
        ),
        feature!(
            "VUID-VkImageMemoryBarrier2-newLayout-parameter",
            |scene| handed_over_in(scene, plain(), [L::UNDEFINED, L::PRESENT_SRC_KHR]),
            SWAPCHAIN
        ),
        feature!(
            "VUID-VkImageMemoryBarrier2-newLayout-parameter",
            |scene| handed_over_in(
                scene,
                plain(),
                [L::UNDEFINED, L::ATTACHMENT_FEEDBACK_LOOP_OPTIMAL_EXT]
            ),
            ATTACHMENT_FEEDBACK_LOOP_LAYOUT
        ),
        feature!(
            "VUID-VkImageMemoryBarrier2-srcQueueFamilyIndex-09099",
            |scene| owned_by(
                scene,
                [Some(ExternalFamily::Foreign), Some(ExternalFamily::External)]
            ),
            QUEUE_FAMILY_FOREIGN
        ),
        feature!(
            "VUID-VkImageMemoryBarrier2-dstQueueFamilyIndex-09100",
            |scene| owned_by(scene, [None, Some(ExternalFamily::Foreign)]),
            QUEUE_FAMILY_FOREIGN
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
            "VUID-vkCmdDraw-multisampledRenderToSingleSampled-07286",
            |scene| drawn_with(scene, F::D32_SFLOAT, Samples::TYPE_8, 0),
            NV_FRAMEBUFFER_MIXED_SAMPLES,
            AMD_MIXED_ATTACHMENT_SAMPLES
        ),
        feature!(
            "VUID-vkCmdDraw-multisampledRenderToSingleSampled-07287",
            |scene| drawn_with(scene, F::S8_UINT, Samples::TYPE_8, 0),
            NV_FRAMEBUFFER_MIXED_SAMPLES,
            AMD_MIXED_ATTACHMENT_SAMPLES
        ),
        // The extensions allow depth to differ from color, but not colors from each other.
        case(
            "VUID-VkRenderingInfo-imageView-09429",
            |scene| {
                let [one, four] = [Samples::TYPE_1, Samples::TYPE_4].map(|samples| {
                    let desc = ImageDesc { samples, ..plain() };
                    scene.frame.image(format!("{samples:?}"), desc)
                });
                let pass = scene.render().color(one, CLEAR).color(four, CLEAR);
                pass.samples(Samples::TYPE_4).hook(1);
            },
            |device| device.optional_features = Some(Feature::MULTISAMPLED_RENDER_TO_SINGLE_SAMPLED),
            |device| {
                let mixed = Feature::AMD_MIXED_ATTACHMENT_SAMPLES | Feature::NV_FRAMEBUFFER_MIXED_SAMPLES;
                device.optional_features = Some(mixed);
            },
        ),
        case(
            "VUID-VkRenderingInfo-imageView-06858",
            |scene| drawn_with(scene, F::R8G8B8A8_UNORM, Samples::TYPE_8, 1),
            |device| device.optional_features = Some(Feature::AMD_MIXED_ATTACHMENT_SAMPLES),
            |device| device.optional_features = Some(Feature::MULTISAMPLED_RENDER_TO_SINGLE_SAMPLED),
        ),
        case(
            "VUID-VkImageMemoryBarrier2-synchronization2-07793",
            |scene| handed_over_in(scene, plain(), [L::READ_ONLY_OPTIMAL, L::GENERAL]),
            |device| device.features |= Features::SYNCHRONIZATION_2,
            |device| device.features -= Features::SYNCHRONIZATION_2,
        ),
        case(
            "VUID-VkImageMemoryBarrier2-synchronization2-07794",
            |scene| handed_over_in(scene, plain(), [L::UNDEFINED, L::ATTACHMENT_OPTIMAL]),
            |device| device.features |= Features::SYNCHRONIZATION_2,
            |device| device.features -= Features::SYNCHRONIZATION_2,
        ),
        case(
            "VUID-VkImageMemoryBarrier2-dynamicRenderingLocalRead-09551",
            |scene| handed_over_in(scene, plain(), [L::RENDERING_LOCAL_READ_KHR, L::GENERAL]),
            |device| device.features |= Features::LOCAL_READ,
            |device| device.features -= Features::LOCAL_READ,
        ),
        case(
            "VUID-VkImageMemoryBarrier2-dynamicRenderingLocalRead-09552",
            |scene| handed_over_in(scene, plain(), [L::UNDEFINED, L::RENDERING_LOCAL_READ_KHR]),
            |device| device.features |= Features::LOCAL_READ,
            |device| device.features -= Features::LOCAL_READ,
        ),
        case(
            "VUID-VkImageMemoryBarrier2-aspectMask-08703",
            |scene| one_aspect(scene, Aspects::DEPTH, L::DEPTH_ATTACHMENT_OPTIMAL),
            |device| device.features |= Features::SEPARATE_DEPTH_STENCIL_LAYOUTS,
            |device| device.features -= Features::SEPARATE_DEPTH_STENCIL_LAYOUTS,
        ),
        case(
            "VUID-VkImageMemoryBarrier2-aspectMask-08702",
            |scene| one_aspect(scene, Aspects::STENCIL, L::STENCIL_READ_ONLY_OPTIMAL),
            |device| device.features |= Features::SEPARATE_DEPTH_STENCIL_LAYOUTS,
            |device| device.features -= Features::SEPARATE_DEPTH_STENCIL_LAYOUTS,
        ),
        feature!(
            "VUID-VkImageViewCreateInfo-image-09487",
            blocks_of_layers,
            MAINTENANCE_6
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
