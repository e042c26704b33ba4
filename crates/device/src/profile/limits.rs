//! Limits and optional features, under Vulkan's names.

use ash::vk;
use bitflags::bitflags;
use serde::{Deserialize, Serialize};

use crate::names;
use crate::units::{Alignment, Bytes};

/// Limits on frames and on the placement of their resources.
///
/// Limits that a document does not state are [`UNKNOWN`](Limits::UNKNOWN), and nothing is checked against them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Limits {
    /// `bufferImageGranularity`.
    pub buffer_image_granularity: Alignment,
    /// `maxMemoryAllocationSize`.
    #[serde(rename = "maxMemoryAllocationSize")]
    pub max_allocation: Bytes,
    /// `maxImageDimension2D`, in texels.
    #[serde(rename = "maxImageDimension2D")]
    pub max_image_dimension_2d: u32,
    /// `maxColorAttachments`.
    pub max_color_attachments: u32,
    /// `maxImageDimension1D`, in texels.
    #[serde(default = "unknown", skip_serializing_if = "is_unknown")]
    #[serde(rename = "maxImageDimension1D")]
    pub max_image_dimension_1d: u32,
    /// `maxImageDimension3D`, in texels.
    #[serde(default = "unknown", skip_serializing_if = "is_unknown")]
    #[serde(rename = "maxImageDimension3D")]
    pub max_image_dimension_3d: u32,
    /// `maxImageDimensionCube`, in texels.
    #[serde(default = "unknown", skip_serializing_if = "is_unknown")]
    pub max_image_dimension_cube: u32,
    /// `maxImageArrayLayers`.
    #[serde(default = "unknown", skip_serializing_if = "is_unknown")]
    pub max_image_array_layers: u32,
    /// `maxFramebufferWidth`, in texels.
    #[serde(default = "unknown", skip_serializing_if = "is_unknown")]
    pub max_framebuffer_width: u32,
    /// `maxFramebufferHeight`, in texels.
    #[serde(default = "unknown", skip_serializing_if = "is_unknown")]
    pub max_framebuffer_height: u32,
    /// `maxFramebufferLayers`.
    #[serde(default = "unknown", skip_serializing_if = "is_unknown")]
    pub max_framebuffer_layers: u32,
    /// `maxMultiviewViewCount`.
    #[serde(default = "unknown", skip_serializing_if = "is_unknown")]
    pub max_multiview_view_count: u32,
    /// `maxPerStageDescriptorInputAttachments`, which also limits the input attachments of a subpass.
    #[serde(default = "unknown", skip_serializing_if = "is_unknown")]
    pub max_per_stage_descriptor_input_attachments: u32,
    /// `maxBufferSize`.
    #[serde(default = "no_size", skip_serializing_if = "is_no_size")]
    pub max_buffer_size: Bytes,
    /// `framebufferColorSampleCounts`.
    #[serde(default = "every_count", skip_serializing_if = "is_every_count")]
    #[serde(with = "names::bits")]
    pub framebuffer_color_sample_counts: vk::SampleCountFlags,
    /// `framebufferDepthSampleCounts`.
    #[serde(default = "every_count", skip_serializing_if = "is_every_count")]
    #[serde(with = "names::bits")]
    pub framebuffer_depth_sample_counts: vk::SampleCountFlags,
    /// `framebufferStencilSampleCounts`.
    #[serde(default = "every_count", skip_serializing_if = "is_every_count")]
    #[serde(with = "names::bits")]
    pub framebuffer_stencil_sample_counts: vk::SampleCountFlags,
    /// `sampledImageColorSampleCounts`.
    #[serde(default = "every_count", skip_serializing_if = "is_every_count")]
    #[serde(with = "names::bits")]
    pub sampled_image_color_sample_counts: vk::SampleCountFlags,
    /// `sampledImageIntegerSampleCounts`.
    #[serde(default = "every_count", skip_serializing_if = "is_every_count")]
    #[serde(with = "names::bits")]
    pub sampled_image_integer_sample_counts: vk::SampleCountFlags,
    /// `sampledImageDepthSampleCounts`.
    #[serde(default = "every_count", skip_serializing_if = "is_every_count")]
    #[serde(with = "names::bits")]
    pub sampled_image_depth_sample_counts: vk::SampleCountFlags,
    /// `sampledImageStencilSampleCounts`.
    #[serde(default = "every_count", skip_serializing_if = "is_every_count")]
    #[serde(with = "names::bits")]
    pub sampled_image_stencil_sample_counts: vk::SampleCountFlags,
    /// `storageImageSampleCounts`.
    #[serde(default = "every_count", skip_serializing_if = "is_every_count")]
    #[serde(with = "names::bits")]
    pub storage_image_sample_counts: vk::SampleCountFlags,
    /// `blockTexelViewCompatibleMultipleLayers`; true if not known.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub block_texel_view_compatible_multiple_layers: bool,
    /// True if the limits on dimensions and samples are only those that the driver guarantees for every image: the driver is queried
    /// about each image, which may exceed them. If false, no image may exceed them.
    #[serde(default, skip_serializing_if = "is_false")]
    pub guaranteed: bool,
}

/// All sample counts that images can have.
const EVERY_COUNT: vk::SampleCountFlags = vk::SampleCountFlags::from_raw(0x7f);

impl Limits {
    /// The limits of a device about which nothing is known.
    pub const UNKNOWN: Limits = Limits {
        buffer_image_granularity: Alignment::ONE,
        max_allocation: Bytes(u64::MAX),
        max_image_dimension_2d: u32::MAX,
        max_color_attachments: u32::MAX,
        max_image_dimension_1d: u32::MAX,
        max_image_dimension_3d: u32::MAX,
        max_image_dimension_cube: u32::MAX,
        max_image_array_layers: u32::MAX,
        max_framebuffer_width: u32::MAX,
        max_framebuffer_height: u32::MAX,
        max_framebuffer_layers: u32::MAX,
        max_multiview_view_count: u32::MAX,
        max_per_stage_descriptor_input_attachments: u32::MAX,
        max_buffer_size: Bytes(u64::MAX),
        framebuffer_color_sample_counts: EVERY_COUNT,
        framebuffer_depth_sample_counts: EVERY_COUNT,
        framebuffer_stencil_sample_counts: EVERY_COUNT,
        sampled_image_color_sample_counts: EVERY_COUNT,
        sampled_image_integer_sample_counts: EVERY_COUNT,
        sampled_image_depth_sample_counts: EVERY_COUNT,
        sampled_image_stencil_sample_counts: EVERY_COUNT,
        storage_image_sample_counts: EVERY_COUNT,
        block_texel_view_compatible_multiple_layers: true,
        guaranteed: false,
    };
}

fn unknown() -> u32 {
    u32::MAX
}

fn is_unknown(limit: &u32) -> bool {
    *limit == u32::MAX
}

fn yes() -> bool {
    true
}

fn is_true(value: &bool) -> bool {
    *value
}

fn is_false(value: &bool) -> bool {
    !value
}

fn no_size() -> Bytes {
    Bytes(u64::MAX)
}

fn is_no_size(limit: &Bytes) -> bool {
    *limit == no_size()
}

fn every_count() -> vk::SampleCountFlags {
    EVERY_COUNT
}

fn is_every_count(counts: &vk::SampleCountFlags) -> bool {
    *counts == EVERY_COUNT
}

bitflags! {
    /// Device features that a frame may need.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub struct OptionalFeatures: u64 {
        /// `geometryShader`.
        const GEOMETRY_SHADER = 1 << 0;
        /// `tessellationShader`.
        const TESSELLATION_SHADER = 1 << 1;
        /// `imageCubeArray`.
        const IMAGE_CUBE_ARRAY = 1 << 2;
        /// `shaderStorageImageMultisample`.
        const SHADER_STORAGE_IMAGE_MULTISAMPLE = 1 << 3;
        /// `meshShader`.
        const MESH_SHADER = 1 << 4;
        /// `taskShader`.
        const TASK_SHADER = 1 << 5;
        /// `rayTracingPipeline`.
        const RAY_TRACING_PIPELINE = 1 << 6;
        /// `accelerationStructure`.
        const ACCELERATION_STRUCTURE = 1 << 7;
        /// `conditionalRendering`.
        const CONDITIONAL_RENDERING = 1 << 8;
        /// `transformFeedback`.
        const TRANSFORM_FEEDBACK = 1 << 9;
        /// `fragmentDensityMap`.
        const FRAGMENT_DENSITY_MAP = 1 << 10;
        /// `attachmentFragmentShadingRate`.
        const ATTACHMENT_FRAGMENT_SHADING_RATE = 1 << 11;
        /// `multisampledRenderToSingleSampled`.
        const MULTISAMPLED_RENDER_TO_SINGLE_SAMPLED = 1 << 12;
        /// `bufferDeviceAddress`.
        const BUFFER_DEVICE_ADDRESS = 1 << 13;
        /// `tileShading`.
        const TILE_SHADING = 1 << 14;
        /// The extension `VK_EXT_depth_range_unrestricted`.
        const DEPTH_RANGE_UNRESTRICTED = 1 << 15;
        /// The extension `VK_AMD_mixed_attachment_samples`.
        const AMD_MIXED_ATTACHMENT_SAMPLES = 1 << 16;
        /// The extension `VK_NV_framebuffer_mixed_samples`.
        const NV_FRAMEBUFFER_MIXED_SAMPLES = 1 << 17;
        /// `rayTracingMaintenance1`.
        const RAY_TRACING_MAINTENANCE_1 = 1 << 18;
        /// The extension `VK_EXT_queue_family_foreign`.
        const QUEUE_FAMILY_FOREIGN = 1 << 19;
        /// The extension `VK_EXT_descriptor_buffer`.
        const DESCRIPTOR_BUFFER = 1 << 20;
        /// The extension `VK_EXT_opacity_micromap`.
        const OPACITY_MICROMAP = 1 << 21;
        /// The extension `VK_EXT_device_generated_commands`, or the earlier `VK_NV_device_generated_commands`.
        const DEVICE_GENERATED_COMMANDS = 1 << 22;
        /// The extension `VK_EXT_blend_operation_advanced`.
        const BLEND_OPERATION_ADVANCED = 1 << 23;
        /// The extension `VK_HUAWEI_subpass_shading`.
        const SUBPASS_SHADING = 1 << 24;
        /// The extension `VK_HUAWEI_invocation_mask`.
        const INVOCATION_MASK = 1 << 25;
        /// The extension `VK_HUAWEI_cluster_culling_shader`.
        const CLUSTER_CULLING_SHADER = 1 << 26;
        /// The extension `VK_NV_optical_flow`.
        const OPTICAL_FLOW = 1 << 27;
        /// The extension `VK_KHR_video_decode_queue`.
        const VIDEO_DECODE_QUEUE = 1 << 28;
        /// The extension `VK_KHR_video_encode_queue`.
        const VIDEO_ENCODE_QUEUE = 1 << 29;
        /// `tileShadingFragmentStage`.
        const TILE_SHADING_FRAGMENT_STAGE = 1 << 30;
        /// `tileShadingColorAttachments`.
        const TILE_SHADING_COLOR_ATTACHMENTS = 1 << 31;
        /// `tileShadingDepthAttachments`.
        const TILE_SHADING_DEPTH_ATTACHMENTS = 1 << 32;
        /// `tileShadingStencilAttachments`.
        const TILE_SHADING_STENCIL_ATTACHMENTS = 1 << 33;
        /// `tileShadingInputAttachments`.
        const TILE_SHADING_INPUT_ATTACHMENTS = 1 << 34;
        /// `tileShadingSampledAttachments`.
        const TILE_SHADING_SAMPLED_ATTACHMENTS = 1 << 35;
        /// `tileShadingPerTileDraw`.
        const TILE_SHADING_PER_TILE_DRAW = 1 << 36;
        /// `tileShadingPerTileDispatch`.
        const TILE_SHADING_PER_TILE_DISPATCH = 1 << 37;
        /// `tileShadingDispatchTile`.
        const TILE_SHADING_DISPATCH_TILE = 1 << 38;
        /// `tileShadingAtomicOps`.
        const TILE_SHADING_ATOMIC_OPS = 1 << 39;
        /// The extension `VK_KHR_swapchain`.
        const SWAPCHAIN = 1 << 40;
        /// `attachmentFeedbackLoopLayout`.
        const ATTACHMENT_FEEDBACK_LOOP_LAYOUT = 1 << 41;
        /// `hostImageCopy`.
        const HOST_IMAGE_COPY = 1 << 42;
        /// The extension `VK_QCOM_image_processing`.
        const IMAGE_PROCESSING = 1 << 43;
        /// The extension `VK_KHR_maintenance5`, part of Vulkan 1.4.
        const MAINTENANCE_5 = 1 << 44;
        /// The extension `VK_EXT_4444_formats`, part of Vulkan 1.3.
        const FORMATS_4444 = 1 << 45;
        /// The extension `VK_EXT_texture_compression_astc_hdr`, part of Vulkan 1.3.
        const ASTC_HDR = 1 << 46;
        /// The extension `VK_IMG_format_pvrtc`.
        const PVRTC = 1 << 47;
        /// The extension `VK_KHR_maintenance6`, part of Vulkan 1.4.
        const MAINTENANCE_6 = 1 << 48;
    }
}

impl OptionalFeatures {
    /// Vulkan's names of the optional features.
    pub const NAMES: [(&str, OptionalFeatures); 49] = [
        ("geometryShader", OptionalFeatures::GEOMETRY_SHADER),
        ("tessellationShader", OptionalFeatures::TESSELLATION_SHADER),
        ("imageCubeArray", OptionalFeatures::IMAGE_CUBE_ARRAY),
        (
            "shaderStorageImageMultisample",
            OptionalFeatures::SHADER_STORAGE_IMAGE_MULTISAMPLE,
        ),
        ("meshShader", OptionalFeatures::MESH_SHADER),
        ("taskShader", OptionalFeatures::TASK_SHADER),
        ("rayTracingPipeline", OptionalFeatures::RAY_TRACING_PIPELINE),
        ("accelerationStructure", OptionalFeatures::ACCELERATION_STRUCTURE),
        ("conditionalRendering", OptionalFeatures::CONDITIONAL_RENDERING),
        ("transformFeedback", OptionalFeatures::TRANSFORM_FEEDBACK),
        ("fragmentDensityMap", OptionalFeatures::FRAGMENT_DENSITY_MAP),
        (
            "attachmentFragmentShadingRate",
            OptionalFeatures::ATTACHMENT_FRAGMENT_SHADING_RATE,
        ),
        (
            "multisampledRenderToSingleSampled",
            OptionalFeatures::MULTISAMPLED_RENDER_TO_SINGLE_SAMPLED,
        ),
        ("bufferDeviceAddress", OptionalFeatures::BUFFER_DEVICE_ADDRESS),
        ("tileShading", OptionalFeatures::TILE_SHADING),
        (
            "VK_EXT_depth_range_unrestricted",
            OptionalFeatures::DEPTH_RANGE_UNRESTRICTED,
        ),
        (
            "VK_AMD_mixed_attachment_samples",
            OptionalFeatures::AMD_MIXED_ATTACHMENT_SAMPLES,
        ),
        (
            "VK_NV_framebuffer_mixed_samples",
            OptionalFeatures::NV_FRAMEBUFFER_MIXED_SAMPLES,
        ),
        (
            "rayTracingMaintenance1",
            OptionalFeatures::RAY_TRACING_MAINTENANCE_1,
        ),
        (
            "VK_EXT_queue_family_foreign",
            OptionalFeatures::QUEUE_FAMILY_FOREIGN,
        ),
        ("VK_EXT_descriptor_buffer", OptionalFeatures::DESCRIPTOR_BUFFER),
        ("VK_EXT_opacity_micromap", OptionalFeatures::OPACITY_MICROMAP),
        (
            "VK_EXT_device_generated_commands",
            OptionalFeatures::DEVICE_GENERATED_COMMANDS,
        ),
        (
            "VK_EXT_blend_operation_advanced",
            OptionalFeatures::BLEND_OPERATION_ADVANCED,
        ),
        ("VK_HUAWEI_subpass_shading", OptionalFeatures::SUBPASS_SHADING),
        ("VK_HUAWEI_invocation_mask", OptionalFeatures::INVOCATION_MASK),
        (
            "VK_HUAWEI_cluster_culling_shader",
            OptionalFeatures::CLUSTER_CULLING_SHADER,
        ),
        ("VK_NV_optical_flow", OptionalFeatures::OPTICAL_FLOW),
        ("VK_KHR_video_decode_queue", OptionalFeatures::VIDEO_DECODE_QUEUE),
        ("VK_KHR_video_encode_queue", OptionalFeatures::VIDEO_ENCODE_QUEUE),
        (
            "tileShadingFragmentStage",
            OptionalFeatures::TILE_SHADING_FRAGMENT_STAGE,
        ),
        (
            "tileShadingColorAttachments",
            OptionalFeatures::TILE_SHADING_COLOR_ATTACHMENTS,
        ),
        (
            "tileShadingDepthAttachments",
            OptionalFeatures::TILE_SHADING_DEPTH_ATTACHMENTS,
        ),
        (
            "tileShadingStencilAttachments",
            OptionalFeatures::TILE_SHADING_STENCIL_ATTACHMENTS,
        ),
        (
            "tileShadingInputAttachments",
            OptionalFeatures::TILE_SHADING_INPUT_ATTACHMENTS,
        ),
        (
            "tileShadingSampledAttachments",
            OptionalFeatures::TILE_SHADING_SAMPLED_ATTACHMENTS,
        ),
        (
            "tileShadingPerTileDraw",
            OptionalFeatures::TILE_SHADING_PER_TILE_DRAW,
        ),
        (
            "tileShadingPerTileDispatch",
            OptionalFeatures::TILE_SHADING_PER_TILE_DISPATCH,
        ),
        (
            "tileShadingDispatchTile",
            OptionalFeatures::TILE_SHADING_DISPATCH_TILE,
        ),
        ("tileShadingAtomicOps", OptionalFeatures::TILE_SHADING_ATOMIC_OPS),
        ("VK_KHR_swapchain", OptionalFeatures::SWAPCHAIN),
        (
            "attachmentFeedbackLoopLayout",
            OptionalFeatures::ATTACHMENT_FEEDBACK_LOOP_LAYOUT,
        ),
        ("hostImageCopy", OptionalFeatures::HOST_IMAGE_COPY),
        ("VK_QCOM_image_processing", OptionalFeatures::IMAGE_PROCESSING),
        ("VK_KHR_maintenance5", OptionalFeatures::MAINTENANCE_5),
        ("VK_EXT_4444_formats", OptionalFeatures::FORMATS_4444),
        ("VK_EXT_texture_compression_astc_hdr", OptionalFeatures::ASTC_HDR),
        ("VK_IMG_format_pvrtc", OptionalFeatures::PVRTC),
        ("VK_KHR_maintenance6", OptionalFeatures::MAINTENANCE_6),
    ];

    /// The features of `VK_QCOM_tile_shading` other than `tileShading`, except aprons and image processing: render passes of the
    /// runtime have no apron, and image processing needs other extensions.
    pub const TILE_SHADING_SUBFEATURES: OptionalFeatures = OptionalFeatures::TILE_SHADING_FRAGMENT_STAGE
        .union(OptionalFeatures::TILE_SHADING_COLOR_ATTACHMENTS)
        .union(OptionalFeatures::TILE_SHADING_DEPTH_ATTACHMENTS)
        .union(OptionalFeatures::TILE_SHADING_STENCIL_ATTACHMENTS)
        .union(OptionalFeatures::TILE_SHADING_INPUT_ATTACHMENTS)
        .union(OptionalFeatures::TILE_SHADING_SAMPLED_ATTACHMENTS)
        .union(OptionalFeatures::TILE_SHADING_PER_TILE_DRAW)
        .union(OptionalFeatures::TILE_SHADING_PER_TILE_DISPATCH)
        .union(OptionalFeatures::TILE_SHADING_DISPATCH_TILE)
        .union(OptionalFeatures::TILE_SHADING_ATOMIC_OPS);

    /// Vulkan's name of a single feature; empty for any other set of features.
    pub fn name(self) -> &'static str {
        let found = Self::NAMES.iter().find(|(_, feature)| *feature == self);
        found.map_or("", |(name, _)| name)
    }
}
