//! Rules of a device about resources, views and clear values: its limits and features.

use ash::vk::{
    self, BufferUsageFlags as B, ImageAspectFlags as Aspects, ImageUsageFlags as U, ImageViewType as V,
};

use super::accesses::Use;
use super::buffers::Buffer;
use super::images::Image;
use super::rule::{InvalidUsage, Problem, Rule, RuleRow, Rules, Subject, Table};
use super::views::View;
use crate::format::FormatInfo;
use crate::frame::ClearValue;
use crate::profile::{DeviceProfile, OptionalFeatures as Feature};

/// Calls `broken` for each rule of a table that a subject breaks on a device, until it returns an error.
pub(super) fn check<S: Subject>(
    (table, rules): Table<'_, fn(&S, &DeviceProfile) -> Problem>,
    subject: &S,
    device: &DeviceProfile,
    broken: &mut dyn FnMut(InvalidUsage) -> Result<(), InvalidUsage>,
) -> Result<(), InvalidUsage> {
    for (index, row) in rules.iter().enumerate() {
        if let Some(problem) = (row.broken)(subject, device) {
            broken(InvalidUsage::new(
                (RuleRow { table, index }, row.rule),
                subject,
                problem,
            ))?;
        }
    }
    Ok(())
}

/// Returns the problem if the device has not enabled a required feature.
pub(super) fn lacks(device: &DeviceProfile, feature: Feature, user: &str) -> Problem {
    (!device.may_have(feature)).then(|| {
        let (name, device) = (feature.name(), &device.name);
        let kind = match name.starts_with("VK_") {
            true => "extension",
            false => "feature",
        };
        format!("{user} needs the {kind} {name}, which `{device}` has not enabled")
    })
}

/// Returns the problem if a bit is defined by an extension whose feature the device has not enabled.
fn undefined(device: &DeviceProfile, feature: Feature, bit: &str) -> Problem {
    let extension = match feature {
        Feature::FRAGMENT_DENSITY_MAP => "VK_EXT_fragment_density_map",
        Feature::ATTACHMENT_FRAGMENT_SHADING_RATE => "VK_KHR_fragment_shading_rate",
        Feature::ACCELERATION_STRUCTURE => "VK_KHR_acceleration_structure",
        Feature::RAY_TRACING_PIPELINE => "VK_KHR_ray_tracing_pipeline",
        Feature::CONDITIONAL_RENDERING => "VK_EXT_conditional_rendering",
        Feature::TRANSFORM_FEEDBACK => "VK_EXT_transform_feedback",
        Feature::HOST_IMAGE_COPY => "VK_EXT_host_image_copy",
        Feature::ATTACHMENT_FEEDBACK_LOOP_LAYOUT => "VK_EXT_attachment_feedback_loop_layout",
        // The remaining features are named after their extensions.
        _ => return lacks(device, feature, bit),
    };
    lacks(device, feature, &format!("{bit} belongs to {extension} and"))
}

/// The feature that a format needs, if it is part of an extension or of a version above Vulkan 1.1.
///
/// Source: "Assigning Extension Token Values" of the Vulkan style guide: the number of the extension is in the value.
fn feature_of(format: vk::Format) -> Option<Feature> {
    match format.as_raw().wrapping_sub(1_000_000_000) / 1000 + 1 {
        55 => Some(Feature::PVRTC),
        67 => Some(Feature::ASTC_HDR),
        341 => Some(Feature::FORMATS_4444),
        465 => Some(Feature::OPTICAL_FLOW),
        471 => Some(Feature::MAINTENANCE_5),
        _ => None,
    }
}

/// Returns the problem if a format needs a feature that the device has not enabled.
fn format_lacks(format: vk::Format, device: &DeviceProfile) -> Problem {
    lacks(device, feature_of(format)?, &format!("format {format:?}"))
}

/// Returns the problem if a number exceeds a limit.
pub(super) fn exceeds(device: &DeviceProfile, what: &str, found: u32, limit: u32, name: &str) -> Problem {
    (found > limit).then(|| {
        format!(
            "{what} {found}, but `{}` allows at most {limit} ({name})",
            device.name
        )
    })
}

/// Returns the problem if a side of an image is longer than a device allows for its type. Not checked if a driver is queried about each image, nor for
/// external images, which exist already.
fn too_long(image: &Image<'_>, device: &DeviceProfile, what: &str, side: u32) -> Problem {
    let limits = &device.limits;
    if limits.guaranteed || image.is_external {
        return None;
    }
    let cube = image.desc.flags.contains(vk::ImageCreateFlags::CUBE_COMPATIBLE);
    let (limit, name) = match image.desc.image_type {
        vk::ImageType::TYPE_1D => (limits.max_image_dimension_1d, "maxImageDimension1D"),
        vk::ImageType::TYPE_3D => (limits.max_image_dimension_3d, "maxImageDimension3D"),
        _ if cube => (limits.max_image_dimension_cube, "maxImageDimensionCube"),
        _ => (limits.max_image_dimension_2d, "maxImageDimension2D"),
    };
    exceeds(device, what, side, limit, name)
}

/// A device's limits on sample counts: for each, whether it applies to the image, the supported counts, and its name.
fn sample_counts(
    image: &Image<'_>,
    device: &DeviceProfile,
) -> [(bool, vk::SampleCountFlags, &'static str); 8] {
    let limits = &device.limits;
    let aspects = image.info.map_or(Aspects::COLOR, |info| info.aspects);
    let integer = image.info.is_some_and(FormatInfo::is_integer);
    let has = |usage: U, aspect: Aspects| image.usage.intersects(usage) && aspects.contains(aspect);
    let color = has(U::SAMPLED, Aspects::COLOR);
    [
        // Integer attachments have a separate limit, of which only one sample is certain.
        (
            has(U::COLOR_ATTACHMENT, Aspects::COLOR) && !integer,
            limits.framebuffer_color_sample_counts,
            "framebufferColorSampleCounts",
        ),
        (
            has(U::DEPTH_STENCIL_ATTACHMENT, Aspects::DEPTH),
            limits.framebuffer_depth_sample_counts,
            "framebufferDepthSampleCounts",
        ),
        (
            has(U::DEPTH_STENCIL_ATTACHMENT, Aspects::STENCIL),
            limits.framebuffer_stencil_sample_counts,
            "framebufferStencilSampleCounts",
        ),
        (
            color && !integer,
            limits.sampled_image_color_sample_counts,
            "sampledImageColorSampleCounts",
        ),
        (
            color && integer,
            limits.sampled_image_integer_sample_counts,
            "sampledImageIntegerSampleCounts",
        ),
        (
            has(U::SAMPLED, Aspects::DEPTH),
            limits.sampled_image_depth_sample_counts,
            "sampledImageDepthSampleCounts",
        ),
        (
            has(U::SAMPLED, Aspects::STENCIL),
            limits.sampled_image_stencil_sample_counts,
            "sampledImageStencilSampleCounts",
        ),
        (
            image.usage.contains(U::STORAGE),
            limits.storage_image_sample_counts,
            "storageImageSampleCounts",
        ),
    ]
}

/// Image usages that extensions define, with the extension's feature. Only external images, which the program creates, can have the last two.
const EXTENSION_IMAGE_USAGES: [(U, Feature, &str); 7] = [
    (
        U::FRAGMENT_DENSITY_MAP_EXT,
        Feature::FRAGMENT_DENSITY_MAP,
        "the usage FRAGMENT_DENSITY_MAP",
    ),
    (
        U::FRAGMENT_SHADING_RATE_ATTACHMENT_KHR,
        Feature::ATTACHMENT_FRAGMENT_SHADING_RATE,
        "the usage FRAGMENT_SHADING_RATE_ATTACHMENT",
    ),
    (
        U::HOST_TRANSFER_EXT,
        Feature::HOST_IMAGE_COPY,
        "the usage HOST_TRANSFER",
    ),
    (
        U::SAMPLE_WEIGHT_QCOM,
        Feature::IMAGE_PROCESSING,
        "the usage SAMPLE_WEIGHT",
    ),
    (
        U::SAMPLE_BLOCK_MATCH_QCOM,
        Feature::IMAGE_PROCESSING,
        "the usage SAMPLE_BLOCK_MATCH",
    ),
    (
        U::ATTACHMENT_FEEDBACK_LOOP_EXT,
        Feature::ATTACHMENT_FEEDBACK_LOOP_LAYOUT,
        "the usage ATTACHMENT_FEEDBACK_LOOP",
    ),
    (
        U::INVOCATION_MASK_HUAWEI,
        Feature::INVOCATION_MASK,
        "the usage INVOCATION_MASK",
    ),
];

pub(super) static IMAGES: &Rules<fn(&Image<'_>, &DeviceProfile) -> Problem> = &[
    Rule {
        rule: "VUID-VkImageCreateInfo-format-parameter",
        broken: |image, device| {
            let problem = || format_lacks(image.desc.format, device);
            (!image.is_external).then(problem).flatten()
        },
    },
    Rule {
        rule: "VUID-VkImageCreateInfo-extent-02252",
        broken: |image, device| too_long(image, device, "its width in texels is", image.extent.width),
    },
    Rule {
        rule: "VUID-VkImageCreateInfo-extent-02253",
        broken: |image, device| too_long(image, device, "its height in texels is", image.extent.height),
    },
    Rule {
        rule: "VUID-VkImageCreateInfo-extent-02254",
        broken: |image, device| too_long(image, device, "its depth in texels is", image.extent.depth),
    },
    Rule {
        rule: "VUID-VkImageCreateInfo-arrayLayers-02256",
        broken: |image, device| {
            let (limit, layers) = (device.limits.max_image_array_layers, image.desc.array_layers);
            let (what, name) = ("its number of layers is", "maxImageArrayLayers");
            let problem = || exceeds(device, what, layers, limit, name);
            (!image.is_external).then(problem).flatten()
        },
    },
    Rule {
        rule: "VUID-VkImageCreateInfo-samples-02258",
        broken: |image, device| {
            if device.limits.guaranteed || image.is_external {
                return None;
            }
            let samples = image.desc.samples;
            let mut limits = sample_counts(image, device).into_iter();
            let (_, counts, name) = limits.find(|(used, counts, _)| *used && !counts.contains(samples))?;
            Some(format!(
                "its sample count is {samples:?}, but `{}` allows {counts:?} ({name})",
                device.name
            ))
        },
    },
    Rule {
        rule: "VUID-VkImageCreateInfo-usage-00964",
        broken: |image, device| {
            let (limit, width) = (device.limits.max_framebuffer_width, image.extent.width);
            let (what, name) = ("its width in texels is", "maxFramebufferWidth");
            let problem = || exceeds(device, what, width, limit, name);
            image.is_attached().then(problem).flatten()
        },
    },
    Rule {
        rule: "VUID-VkImageCreateInfo-usage-00965",
        broken: |image, device| {
            let (limit, height) = (device.limits.max_framebuffer_height, image.extent.height);
            let (what, name) = ("its height in texels is", "maxFramebufferHeight");
            let problem = || exceeds(device, what, height, limit, name);
            image.is_attached().then(problem).flatten()
        },
    },
    Rule {
        rule: "VUID-VkImageCreateInfo-usage-00968",
        broken: |image, device| {
            let single = image.desc.samples == vk::SampleCountFlags::TYPE_1;
            let user = "a multisampled storage image";
            let problem = || lacks(device, Feature::SHADER_STORAGE_IMAGE_MULTISAMPLE, user);
            (image.usage.contains(U::STORAGE) && !single)
                .then(problem)
                .flatten()
        },
    },
    Rule {
        rule: "VUID-VkImageCreateInfo-multisampledRenderToSingleSampled-06882",
        broken: |image, device| {
            let flag = vk::ImageCreateFlags::MULTISAMPLED_RENDER_TO_SINGLE_SAMPLED_EXT;
            let user = "the flag MULTISAMPLED_RENDER_TO_SINGLE_SAMPLED";
            let problem = || lacks(device, Feature::MULTISAMPLED_RENDER_TO_SINGLE_SAMPLED, user);
            let created = image.desc.flags.contains(flag) && !image.is_external;
            created.then(problem).flatten()
        },
    },
    Rule {
        rule: "VUID-VkImageCreateInfo-flags-parameter",
        broken: |image, device| {
            let flag = vk::ImageCreateFlags::SUBSAMPLED_EXT;
            let problem = || undefined(device, Feature::FRAGMENT_DENSITY_MAP, "the flag SUBSAMPLED");
            let created = image.desc.flags.contains(flag) && !image.is_external;
            created.then(problem).flatten()
        },
    },
    Rule {
        rule: "VUID-VkImageCreateInfo-usage-parameter",
        broken: |image, device| {
            if image.is_external {
                return None;
            }
            let mut used = EXTENSION_IMAGE_USAGES
                .iter()
                .filter(|(usage, ..)| image.usage.contains(*usage));
            used.find_map(|&(_, feature, user)| undefined(device, feature, user))
        },
    },
];

/// Buffer usages that extensions define, with the extension's feature.
const EXTENSION_BUFFER_USAGES: [(B, Feature, &str); 6] = [
    (
        B::from_raw(
            B::SAMPLER_DESCRIPTOR_BUFFER_EXT.as_raw()
                | B::RESOURCE_DESCRIPTOR_BUFFER_EXT.as_raw()
                | B::PUSH_DESCRIPTORS_DESCRIPTOR_BUFFER_EXT.as_raw(),
        ),
        Feature::DESCRIPTOR_BUFFER,
        "a usage for descriptor buffers",
    ),
    (
        B::from_raw(B::MICROMAP_BUILD_INPUT_READ_ONLY_EXT.as_raw() | B::MICROMAP_STORAGE_EXT.as_raw()),
        Feature::OPACITY_MICROMAP,
        "a usage for micromaps",
    ),
    (
        B::from_raw(
            B::ACCELERATION_STRUCTURE_STORAGE_KHR.as_raw()
                | B::ACCELERATION_STRUCTURE_BUILD_INPUT_READ_ONLY_KHR.as_raw(),
        ),
        Feature::ACCELERATION_STRUCTURE,
        "a usage for acceleration structures",
    ),
    (
        B::SHADER_BINDING_TABLE_KHR,
        Feature::RAY_TRACING_PIPELINE,
        "the usage SHADER_BINDING_TABLE",
    ),
    (
        B::CONDITIONAL_RENDERING_EXT,
        Feature::CONDITIONAL_RENDERING,
        "the usage CONDITIONAL_RENDERING",
    ),
    (
        B::from_raw(
            B::TRANSFORM_FEEDBACK_BUFFER_EXT.as_raw() | B::TRANSFORM_FEEDBACK_COUNTER_BUFFER_EXT.as_raw(),
        ),
        Feature::TRANSFORM_FEEDBACK,
        "a usage for transform feedback",
    ),
];

pub(super) static BUFFERS: &Rules<fn(&Buffer<'_>, &DeviceProfile) -> Problem> = &[
    Rule {
        rule: "VUID-VkBufferCreateInfo-size-06409",
        broken: |buffer, device| {
            let limit = device.limits.max_buffer_size;
            (buffer.size > limit).then(|| {
                format!(
                    "its size is {}, but `{}` allows at most {limit} (maxBufferSize)",
                    buffer.size, device.name
                )
            })
        },
    },
    Rule {
        rule: "VUID-VkBufferCreateInfo-None-09499",
        broken: |buffer, device| {
            if buffer.is_external {
                return None;
            }
            let mut used = EXTENSION_BUFFER_USAGES
                .iter()
                .filter(|(usage, ..)| buffer.usage.intersects(*usage));
            used.find_map(|&(_, feature, user)| undefined(device, feature, user))
        },
    },
    Rule {
        // About the memory that is allocated for the buffer.
        rule: "VUID-VkMemoryAllocateInfo-flags-03331",
        broken: |buffer, device| {
            let usage = B::SHADER_DEVICE_ADDRESS;
            let user = "memory with the flag DEVICE_ADDRESS, required by the usage SHADER_DEVICE_ADDRESS,";
            let allocated = buffer.usage.contains(usage) && !buffer.is_external;
            let problem = || lacks(device, Feature::BUFFER_DEVICE_ADDRESS, user);
            allocated.then(problem).flatten()
        },
    },
];

/// Rules of a device about the values that accesses clear to.
pub(super) static CLEARS: &Rules<fn(&Use<'_>, &DeviceProfile) -> Problem> = &[Rule {
    rule: "VUID-VkClearDepthStencilValue-depth-00022",
    broken: |used, device| match used.clears_to()? {
        ClearValue::DepthStencil(depth, _) if !(0.0..=1.0).contains(&depth) => {
            let user = format!("clearing depth to {depth}, which is outside [0, 1],");
            lacks(device, Feature::DEPTH_RANGE_UNRESTRICTED, &user)
        }
        _ => None,
    },
}];

pub(super) static VIEWS: &Rules<fn(&View<'_>, &DeviceProfile) -> Problem> = &[
    Rule {
        rule: "VUID-VkImageViewCreateInfo-format-parameter",
        broken: |view, device| {
            let problem = || format_lacks(view.format, device);
            let is_other = view.format != view.image.desc.format;
            (is_other && !view.image.is_external).then(problem).flatten()
        },
    },
    Rule {
        rule: "VUID-VkImageViewCreateInfo-viewType-01004",
        broken: |view, device| {
            let problem = || lacks(device, Feature::IMAGE_CUBE_ARRAY, "a view of type CUBE_ARRAY");
            (view.declared == Some(V::CUBE_ARRAY)).then(problem).flatten()
        },
    },
    Rule {
        rule: "VUID-VkImageViewCreateInfo-image-09487",
        broken: |view, device| {
            if !view.shows_blocks() || view.layers() == 1 {
                return None;
            }
            let several = device.limits.block_texel_view_compatible_multiple_layers;
            let limited = (!several).then(|| {
                format!(
                    "uncompressed views of compressed images must have one layer on `{}`, but this one has {} \
                     (blockTexelViewCompatibleMultipleLayers)",
                    device.name,
                    view.layers()
                )
            });
            let user = "an uncompressed view of several layers of a compressed image";
            limited.or_else(|| lacks(device, Feature::MAINTENANCE_6, user))
        },
    },
];
