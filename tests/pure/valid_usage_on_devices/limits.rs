//! Limits of a device, each with a frame that just meets it.

use super::*;

const FEW: Samples = Samples::TYPE_4;
const MANY: Samples = Samples::from_raw(Samples::TYPE_4.as_raw() | Samples::TYPE_8.as_raw());

pub(super) fn limits() -> Vec<Case> {
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
            blocks_of_layers,
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
            "VUID-VkSubpassDescription-inputAttachmentCount-12293",
            |scene| read_in_place(scene, [2, 5]),
            max_per_stage_descriptor_input_attachments,
            5,
            4
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
