//! Additions to the caller's `VkDeviceCreateInfo`.

use std::ffi::{CStr, c_char};

use ash::vk;

use super::capabilities::{Capabilities, ChainedFeatures, EXTENSIONS, FeatureStructs, V1_4};
use super::support::DeviceSupport;
use super::tile_shading_parts::{parts_of, with_parts};
use crate::ffi::{PhysicalDeviceTileShadingFeaturesQCOM, PhysicalDeviceVulkan14Features};
use crate::profile::OptionalFeatures;

/// Extension names and feature structs to add to a `VkDeviceCreateInfo`, without duplicating existing ones.
///
/// A feature struct that the caller chains is not changed: a feature that it disables stays disabled. The features of tile shading are therefore
/// those of the caller's struct, or all that the device supports if there is none.
///
/// ```no_run
/// # use ash::vk;
/// # use tileheap::runtime::*;
/// # fn f(instance: &ash::Instance, physical_device: vk::PhysicalDevice, support: &DeviceSupport, info: vk::DeviceCreateInfo<'_>) {
/// // SAFETY: the names and the chain of `info` are alive.
/// let mut enable = unsafe { support.enable(&info, Capabilities::RECOMMENDED) };
/// let info = enable.info(&info);
/// // SAFETY: the physical device is one of the instance.
/// let device = unsafe { instance.create_device(physical_device, &info, None) };
/// let desc = DeviceDesc {
///     enabled: enable.capabilities(),
///     optional_features: Some(enable.optional_features()),
///     ..DeviceDesc::default()
/// };
/// # }
/// ```
#[derive(Debug)]
pub struct DeviceAdditions {
    capabilities: Capabilities,
    /// The caller's names, then the missing ones.
    names: Vec<*const c_char>,
    features: FeatureStructs,
    optional_features: OptionalFeatures,
}

impl DeviceSupport {
    /// The additions to a device's creation info that enable everything in `wanted` that is supported.
    ///
    /// # Safety
    /// The names, the `pNext` chain and `pEnabledFeatures` of `info` are valid.
    pub unsafe fn enable(&self, info: &vk::DeviceCreateInfo<'_>, wanted: Capabilities) -> DeviceAdditions {
        // SAFETY: the caller's duty.
        unsafe { DeviceAdditions::new(self, info, wanted) }
    }
}

impl DeviceAdditions {
    /// The additions to `info` that enable everything in `wanted` that is supported.
    ///
    /// # Safety
    /// The names, the `pNext` chain and `pEnabledFeatures` of `info` are valid.
    pub(super) unsafe fn new(
        support: &DeviceSupport,
        info: &vk::DeviceCreateInfo<'_>,
        wanted: Capabilities,
    ) -> DeviceAdditions {
        use Capabilities as C;
        // SAFETY: the caller's duty.
        let chained = unsafe { read_chain(info.p_next.cast()) };
        let mut enable = DeviceAdditions {
            capabilities: wanted & C::DEBUG_UTILS,
            // SAFETY: the caller's duty.
            names: unsafe { names_of(info) }.to_vec(),
            features: FeatureStructs::default(),
            optional_features: OptionalFeatures::empty(),
        };
        let usable = support.offered_capabilities() & wanted;
        // Returns true if the crate's own struct has to be chained.
        let mut take = |capability: Capabilities| {
            let denied = chained.stated.contains(capability) && !chained.enabled.contains(capability);
            let there = usable.contains(capability);
            if there && denied {
                tracing::warn!(
                    ?capability,
                    reason = "the caller's feature struct disables it",
                    "not enabled"
                );
            }
            enable.capabilities.set(capability, there && !denied);
            there && !chained.stated.contains(capability)
        };
        take(C::STORE_OP_NONE);
        take(C::DEPTH_STENCIL_RESOLVE);
        let features = FeatureStructs::new(&mut take, true);
        enable.features = features;
        if !enable.capabilities.contains(C::TILE_PROPERTIES) {
            enable.capabilities -= C::TILE_SHADING;
            enable.features.shading = None;
        }
        if let Some(shading) = &mut enable.features.shading {
            *shading = with_parts(*shading, support.tile_shading());
            enable.optional_features = support.tile_shading();
        }
        if !enable.capabilities.contains(C::DYNAMIC_RENDERING) {
            enable.capabilities -= C::LOCAL_READ;
            enable.features.local = None;
        }
        // Memory must allow device addresses if the caller enables them (VUID-vkBindBufferMemory-bufferDeviceAddress-03339).
        enable.capabilities |= chained.enabled & support.offered_capabilities() & C::BUFFER_DEVICE_ADDRESS;
        // SAFETY: the caller's duty.
        let optional = unsafe { optional_features(info) };
        // SAFETY: the caller's duty.
        let extended = unsafe { features_of_extensions(&enable.names) };
        let core = features_of_version(support.version());
        enable.optional_features |= optional | extended | core | enable.capabilities.optional_features();
        // SAFETY: the caller's duty.
        unsafe { enable.add_names(support) };
        enable
    }

    /// Appends the names of the extensions that are needed and not yet listed.
    ///
    /// # Safety
    /// The names so far are valid.
    unsafe fn add_names(&mut self, support: &DeviceSupport) {
        let needed = EXTENSIONS.iter().filter(|(capability, core, _)| {
            self.capabilities.contains(*capability) && support.version() < *core
        });
        let mut names: Vec<&'static CStr> = needed.map(|(_, _, name)| *name).collect();
        // Must be enabled if it is listed (VUID-VkDeviceCreateInfo-pProperties-04451).
        if support.has_extension(ash::khr::portability_subset::NAME) {
            names.push(ash::khr::portability_subset::NAME);
        }
        for name in names {
            let there = self.names.iter().any(|&other| {
                // SAFETY: the caller's duty, and ours are static.
                let other = unsafe { CStr::from_ptr(other) };
                other == name
            });
            if !there {
                self.names.push(name.as_ptr());
            }
        }
    }

    /// The capabilities that the device will have enabled.
    pub fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    /// The optional features that the device will have enabled, for [`DeviceDesc::optional_features`](super::DeviceDesc::optional_features).
    pub fn optional_features(&self) -> OptionalFeatures {
        self.optional_features
    }

    /// `info` with the additions; `info` itself is not changed.
    pub fn info<'a>(&'a mut self, info: &vk::DeviceCreateInfo<'a>) -> vk::DeviceCreateInfo<'a> {
        self.features.enable(info.enabled_extension_names(&self.names))
    }
}

/// The extension names that `info` lists.
///
/// # Safety
/// The extension names of `info` are valid.
unsafe fn names_of<'a>(info: &vk::DeviceCreateInfo<'a>) -> &'a [*const c_char] {
    if info.enabled_extension_count == 0 {
        return &[];
    }
    // SAFETY: the caller's duty; the count is not 0.
    unsafe {
        std::slice::from_raw_parts(
            info.pp_enabled_extension_names,
            info.enabled_extension_count as usize,
        )
    }
}

/// The optional features that names of extensions imply.
///
/// # Safety
/// The names are valid.
unsafe fn features_of_extensions(names: &[*const c_char]) -> OptionalFeatures {
    let mut features = OptionalFeatures::empty();
    for &name in names {
        // SAFETY: the caller's duty.
        let name = unsafe { CStr::from_ptr(name) };
        let found = EXTENSION_FEATURES.iter().filter(|(known, _)| *known == name);
        features = found.fold(features, |features, (_, feature)| features | *feature);
    }
    features
}

/// The optional features that are part of a version of Vulkan, without a feature bit.
pub(super) fn features_of_version(version: u32) -> OptionalFeatures {
    let core = [
        (vk::API_VERSION_1_3, OptionalFeatures::FORMATS_4444),
        (vk::API_VERSION_1_3, OptionalFeatures::ASTC_HDR),
        (V1_4, OptionalFeatures::MAINTENANCE_5),
        (V1_4, OptionalFeatures::MAINTENANCE_6),
    ];
    let there = core.into_iter().filter(|(since, _)| version >= *since);
    there.fold(OptionalFeatures::empty(), |all, (_, feature)| all | feature)
}

/// Extensions whose presence in the list of enabled extensions enables optional features of frames: their feature bits are not read.
const EXTENSION_FEATURES: [(&CStr, OptionalFeatures); 23] = [
    // Its acceleration structures are built at the same stage as those of the later extension.
    (
        ash::nv::ray_tracing::NAME,
        OptionalFeatures::RAY_TRACING_PIPELINE.union(OptionalFeatures::ACCELERATION_STRUCTURE),
    ),
    (
        ash::ext::depth_range_unrestricted::NAME,
        OptionalFeatures::DEPTH_RANGE_UNRESTRICTED,
    ),
    (
        ash::amd::mixed_attachment_samples::NAME,
        OptionalFeatures::AMD_MIXED_ATTACHMENT_SAMPLES,
    ),
    (
        ash::nv::framebuffer_mixed_samples::NAME,
        OptionalFeatures::NV_FRAMEBUFFER_MIXED_SAMPLES,
    ),
    (
        ash::ext::queue_family_foreign::NAME,
        OptionalFeatures::QUEUE_FAMILY_FOREIGN,
    ),
    (
        ash::ext::descriptor_buffer::NAME,
        OptionalFeatures::DESCRIPTOR_BUFFER,
    ),
    (
        ash::ext::opacity_micromap::NAME,
        OptionalFeatures::OPACITY_MICROMAP,
    ),
    // Newer than ash.
    (
        c"VK_EXT_device_generated_commands",
        OptionalFeatures::DEVICE_GENERATED_COMMANDS,
    ),
    (
        ash::nv::device_generated_commands::NAME,
        OptionalFeatures::DEVICE_GENERATED_COMMANDS,
    ),
    (
        ash::ext::blend_operation_advanced::NAME,
        OptionalFeatures::BLEND_OPERATION_ADVANCED,
    ),
    (
        ash::huawei::subpass_shading::NAME,
        OptionalFeatures::SUBPASS_SHADING,
    ),
    (
        ash::huawei::invocation_mask::NAME,
        OptionalFeatures::INVOCATION_MASK,
    ),
    (
        ash::huawei::cluster_culling_shader::NAME,
        OptionalFeatures::CLUSTER_CULLING_SHADER,
    ),
    (ash::nv::optical_flow::NAME, OptionalFeatures::OPTICAL_FLOW),
    (
        ash::khr::video_decode_queue::NAME,
        OptionalFeatures::VIDEO_DECODE_QUEUE,
    ),
    (
        ash::khr::video_encode_queue::NAME,
        OptionalFeatures::VIDEO_ENCODE_QUEUE,
    ),
    (ash::khr::swapchain::NAME, OptionalFeatures::SWAPCHAIN),
    (
        ash::qcom::image_processing::NAME,
        OptionalFeatures::IMAGE_PROCESSING,
    ),
    (ash::khr::maintenance5::NAME, OptionalFeatures::MAINTENANCE_5),
    (ash::khr::maintenance6::NAME, OptionalFeatures::MAINTENANCE_6),
    (ash::ext::_4444_formats::NAME, OptionalFeatures::FORMATS_4444),
    (
        ash::ext::texture_compression_astc_hdr::NAME,
        OptionalFeatures::ASTC_HDR,
    ),
    (ash::img::format_pvrtc::NAME, OptionalFeatures::PVRTC),
];

/// The optional features that the caller enables.
///
/// # Safety
/// `pEnabledFeatures` and the `pNext` chain of `info` are valid.
unsafe fn optional_features(info: &vk::DeviceCreateInfo<'_>) -> OptionalFeatures {
    // SAFETY: null or valid (the caller's duty).
    let core = unsafe { info.p_enabled_features.as_ref() };
    let mut found = core.map_or(OptionalFeatures::empty(), core_features);
    let mut next: *const vk::BaseInStructure<'_> = info.p_next.cast();
    while !next.is_null() {
        // SAFETY: the chain is valid (the caller's duty).
        let base = unsafe { &*next };
        // SAFETY: the chain is valid, and `sType` names the struct's type.
        found |= unsafe { features_in(next, base.s_type) };
        next = base.p_next;
    }
    found
}

fn core_features(core: &vk::PhysicalDeviceFeatures) -> OptionalFeatures {
    use OptionalFeatures as F;
    let features = [
        (F::GEOMETRY_SHADER, core.geometry_shader),
        (F::TESSELLATION_SHADER, core.tessellation_shader),
        (F::IMAGE_CUBE_ARRAY, core.image_cube_array),
        (
            F::SHADER_STORAGE_IMAGE_MULTISAMPLE,
            core.shader_storage_image_multisample,
        ),
    ];
    enabled(&features)
}

fn enabled(features: &[(OptionalFeatures, vk::Bool32)]) -> OptionalFeatures {
    let on = features.iter().filter(|(_, on)| *on != 0);
    on.fold(OptionalFeatures::empty(), |all, (feature, _)| all | *feature)
}

/// The optional features that one struct of a chain enables.
///
/// # Safety
/// `base` is the head of a struct of the type that `kind` names.
unsafe fn features_in(base: *const vk::BaseInStructure<'_>, kind: vk::StructureType) -> OptionalFeatures {
    use OptionalFeatures as F;
    use vk::StructureType as S;
    /// Returns the enabled features of a struct. Each row names a feature and the member that enables it.
    macro_rules! features {
        ($type:ident: $($feature:ident = $member:ident),*) => {{
            // SAFETY: the caller's duty.
            let one = unsafe { &*base.cast::<vk::$type<'_>>() };
            enabled(&[$((F::$feature, one.$member)),*])
        }};
    }
    match kind {
        S::PHYSICAL_DEVICE_FEATURES_2 => {
            // SAFETY: the caller's duty.
            let all = unsafe { &*base.cast::<vk::PhysicalDeviceFeatures2<'_>>() };
            core_features(&all.features)
        }
        S::PHYSICAL_DEVICE_MESH_SHADER_FEATURES_NV => {
            features!(PhysicalDeviceMeshShaderFeaturesNV: MESH_SHADER = mesh_shader, TASK_SHADER = task_shader)
        }
        S::PHYSICAL_DEVICE_SHADING_RATE_IMAGE_FEATURES_NV => {
            features!(PhysicalDeviceShadingRateImageFeaturesNV:
                ATTACHMENT_FRAGMENT_SHADING_RATE = shading_rate_image)
        }
        S::PHYSICAL_DEVICE_MESH_SHADER_FEATURES_EXT => {
            features!(PhysicalDeviceMeshShaderFeaturesEXT: MESH_SHADER = mesh_shader, TASK_SHADER = task_shader)
        }
        S::PHYSICAL_DEVICE_RAY_TRACING_PIPELINE_FEATURES_KHR => {
            features!(PhysicalDeviceRayTracingPipelineFeaturesKHR: RAY_TRACING_PIPELINE = ray_tracing_pipeline)
        }
        S::PHYSICAL_DEVICE_RAY_TRACING_MAINTENANCE_1_FEATURES_KHR => {
            features!(PhysicalDeviceRayTracingMaintenance1FeaturesKHR:
                RAY_TRACING_MAINTENANCE_1 = ray_tracing_maintenance1)
        }
        S::PHYSICAL_DEVICE_ACCELERATION_STRUCTURE_FEATURES_KHR => {
            features!(PhysicalDeviceAccelerationStructureFeaturesKHR: ACCELERATION_STRUCTURE = acceleration_structure)
        }
        S::PHYSICAL_DEVICE_CONDITIONAL_RENDERING_FEATURES_EXT => {
            features!(PhysicalDeviceConditionalRenderingFeaturesEXT: CONDITIONAL_RENDERING = conditional_rendering)
        }
        S::PHYSICAL_DEVICE_TRANSFORM_FEEDBACK_FEATURES_EXT => {
            features!(PhysicalDeviceTransformFeedbackFeaturesEXT: TRANSFORM_FEEDBACK = transform_feedback)
        }
        S::PHYSICAL_DEVICE_FRAGMENT_DENSITY_MAP_FEATURES_EXT => {
            features!(PhysicalDeviceFragmentDensityMapFeaturesEXT: FRAGMENT_DENSITY_MAP = fragment_density_map)
        }
        S::PHYSICAL_DEVICE_FRAGMENT_SHADING_RATE_FEATURES_KHR => {
            features!(PhysicalDeviceFragmentShadingRateFeaturesKHR:
                ATTACHMENT_FRAGMENT_SHADING_RATE = attachment_fragment_shading_rate)
        }
        <PhysicalDeviceTileShadingFeaturesQCOM<'_> as vk::TaggedStructure>::STRUCTURE_TYPE => {
            // SAFETY: the caller's duty.
            parts_of(unsafe { &*base.cast::<PhysicalDeviceTileShadingFeaturesQCOM<'_>>() })
        }
        S::PHYSICAL_DEVICE_ATTACHMENT_FEEDBACK_LOOP_LAYOUT_FEATURES_EXT => {
            features!(PhysicalDeviceAttachmentFeedbackLoopLayoutFeaturesEXT:
                ATTACHMENT_FEEDBACK_LOOP_LAYOUT = attachment_feedback_loop_layout)
        }
        S::PHYSICAL_DEVICE_HOST_IMAGE_COPY_FEATURES_EXT => {
            features!(PhysicalDeviceHostImageCopyFeaturesEXT: HOST_IMAGE_COPY = host_image_copy)
        }
        <PhysicalDeviceVulkan14Features<'_> as vk::TaggedStructure>::STRUCTURE_TYPE => {
            // SAFETY: the caller's duty.
            let core = unsafe { &*base.cast::<PhysicalDeviceVulkan14Features<'_>>() };
            enabled(&[(F::HOST_IMAGE_COPY, core.host_image_copy)])
        }
        S::PHYSICAL_DEVICE_MULTISAMPLED_RENDER_TO_SINGLE_SAMPLED_FEATURES_EXT => {
            features!(PhysicalDeviceMultisampledRenderToSingleSampledFeaturesEXT:
                MULTISAMPLED_RENDER_TO_SINGLE_SAMPLED = multisampled_render_to_single_sampled)
        }
        _ => F::empty(),
    }
}

/// Reads the features that a chain of structs enables or disables.
///
/// # Safety
/// `next` starts a valid chain, or is null.
unsafe fn read_chain(mut next: *const vk::BaseInStructure<'_>) -> ChainedFeatures {
    use Capabilities as C;
    use vk::StructureType as S;
    /// Reads the struct as the type that its `sType` names.
    macro_rules! read {
        ($type:ty) => {{
            // SAFETY: the chain is valid, and `sType` says that the struct is of this type.
            unsafe { &*next.cast::<$type>() }
        }};
    }
    let mut chained = ChainedFeatures::default();
    while !next.is_null() {
        // SAFETY: the chain is valid (the caller's duty).
        let base = unsafe { &*next };
        match base.s_type {
            S::PHYSICAL_DEVICE_VULKAN_1_3_FEATURES => {
                let all = read!(vk::PhysicalDeviceVulkan13Features<'_>);
                chained.state(C::SYNCHRONIZATION_2, all.synchronization2);
                chained.state(C::DYNAMIC_RENDERING, all.dynamic_rendering);
                chained.state(C::MAINTENANCE_4, all.maintenance4);
            }
            S::PHYSICAL_DEVICE_VULKAN_1_2_FEATURES => {
                let all = read!(vk::PhysicalDeviceVulkan12Features<'_>);
                chained.state(C::TIMELINE_SEMAPHORE, all.timeline_semaphore);
                chained.state(C::BUFFER_DEVICE_ADDRESS, all.buffer_device_address);
                chained.state(
                    C::SEPARATE_DEPTH_STENCIL_LAYOUTS,
                    all.separate_depth_stencil_layouts,
                );
            }
            S::PHYSICAL_DEVICE_VULKAN_1_1_FEATURES => {
                let all = read!(vk::PhysicalDeviceVulkan11Features<'_>);
                chained.state(C::MULTIVIEW, all.multiview);
            }
            <PhysicalDeviceVulkan14Features<'_> as vk::TaggedStructure>::STRUCTURE_TYPE => {
                let all = read!(PhysicalDeviceVulkan14Features<'_>);
                chained.state(C::LOCAL_READ, all.dynamic_rendering_local_read);
            }
            // SAFETY: as above.
            kind => unsafe { chained.read(next, kind) },
        }
        next = base.p_next;
    }
    chained
}

#[cfg(test)]
mod tests {
    use super::*;
    use OptionalFeatures as F;

    #[test]
    fn features_of_earlier_extensions_are_read() {
        let mut mesh = vk::PhysicalDeviceMeshShaderFeaturesNV::default().task_shader(true);
        let mut rate = vk::PhysicalDeviceShadingRateImageFeaturesNV::default().shading_rate_image(true);
        let info = vk::DeviceCreateInfo::default()
            .push_next(&mut mesh)
            .push_next(&mut rate);
        // SAFETY: the chain is alive.
        let found = unsafe { optional_features(&info) };
        let expected = F::TASK_SHADER | F::ATTACHMENT_FRAGMENT_SHADING_RATE;
        assert_eq!(found, expected);
    }

    #[test]
    fn parts_of_tile_shading_are_read() {
        let mut shading = PhysicalDeviceTileShadingFeaturesQCOM::default()
            .tile_shading(true)
            .tile_shading_per_tile_dispatch(true)
            .tile_shading_apron(true);
        let info = vk::DeviceCreateInfo::default().push_next(&mut shading);
        // SAFETY: the chain is alive.
        let found = unsafe { optional_features(&info) };
        // `tileShading` itself is a capability.
        assert_eq!(found, F::TILE_SHADING_PER_TILE_DISPATCH);
    }

    #[test]
    fn features_of_versions_are_read() {
        let mut core12 = vk::PhysicalDeviceVulkan12Features::default().buffer_device_address(true);
        let mut core14 = PhysicalDeviceVulkan14Features::default().dynamic_rendering_local_read(true);
        let info = vk::DeviceCreateInfo::default()
            .push_next(&mut core12)
            .push_next(&mut core14);
        // SAFETY: the chain is alive.
        let chained = unsafe { read_chain(info.p_next.cast()) };
        let expected = Capabilities::BUFFER_DEVICE_ADDRESS | Capabilities::LOCAL_READ;
        assert_eq!(chained.enabled, expected);
        assert!(chained.stated.contains(Capabilities::TIMELINE_SEMAPHORE));
    }

    #[test]
    fn extensions_without_features_are_read() {
        let names = [
            ash::nv::ray_tracing::NAME.as_ptr(),
            ash::khr::swapchain::NAME.as_ptr(),
            ash::ext::depth_range_unrestricted::NAME.as_ptr(),
            ash::ext::_4444_formats::NAME.as_ptr(),
        ];
        // SAFETY: the names are static.
        let found = unsafe { features_of_extensions(&names) };
        let traced = F::RAY_TRACING_PIPELINE | F::ACCELERATION_STRUCTURE;
        let formats = F::DEPTH_RANGE_UNRESTRICTED | F::FORMATS_4444;
        assert_eq!(found, traced | F::SWAPCHAIN | formats);
        let core = [vk::API_VERSION_1_2, vk::API_VERSION_1_3, V1_4].map(features_of_version);
        let of_1_3 = F::FORMATS_4444 | F::ASTC_HDR;
        assert_eq!(
            core,
            [F::empty(), of_1_3, of_1_3 | F::MAINTENANCE_5 | F::MAINTENANCE_6]
        );
    }
}
