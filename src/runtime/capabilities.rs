//! The device capabilities that the runtime uses: one table of features and one of extensions, from which querying, enabling and reading a
//! caller's structs derive.

use std::ffi::CStr;

use ash::vk::{
    self, PhysicalDeviceBufferDeviceAddressFeatures, PhysicalDeviceDynamicRenderingFeatures,
    PhysicalDeviceDynamicRenderingLocalReadFeaturesKHR, PhysicalDeviceMaintenance4Features,
    PhysicalDeviceMultiviewFeatures, PhysicalDeviceSeparateDepthStencilLayoutsFeatures,
    PhysicalDeviceSubpassMergeFeedbackFeaturesEXT, PhysicalDeviceSynchronization2Features,
    PhysicalDeviceTilePropertiesFeaturesQCOM, PhysicalDeviceTimelineSemaphoreFeatures,
};
use bitflags::bitflags;

use crate::ffi::{
    PhysicalDeviceMaintenance9FeaturesKHR, PhysicalDeviceTileMemoryHeapFeaturesQCOM,
    PhysicalDeviceTileShadingFeaturesQCOM, maintenance9, tile_memory_heap, tile_properties, tile_shading,
};
use crate::profile::OptionalFeatures;

bitflags! {
    /// Capabilities that a device offers ([`DeviceSupport::offered_capabilities`](super::DeviceSupport::offered_capabilities)) or has enabled
    /// ([`DeviceDesc::enabled`](super::DeviceDesc::enabled)).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Capabilities: u32 {
        /// `vkCmdPipelineBarrier2` and `vkQueueSubmit2`.
        const SYNCHRONIZATION_2 = 1 << 0;
        /// `vkCmdBeginRendering`.
        const DYNAMIC_RENDERING = 1 << 1;
        /// Timeline semaphores.
        const TIMELINE_SEMAPHORE = 1 << 2;
        /// Memory requirements without creating the resource.
        const MAINTENANCE_4 = 1 << 3;
        /// `VK_ATTACHMENT_STORE_OP_NONE`.
        const STORE_OP_NONE = 1 << 4;
        /// Buffer device addresses.
        const BUFFER_DEVICE_ADDRESS = 1 << 5;
        /// Tile memory: the extension `VK_QCOM_tile_memory_heap` and its feature, with a tile heap and a memory type on it.
        const TILE_MEMORY = 1 << 6;
        /// `VK_EXT_debug_utils` on the instance: objects get names, passes get labels. It is not a device feature.
        ///
        /// Images, buffers, views, framebuffers and memory have the names of the bound frame that has borrowed them from the pool, as of the
        /// last bind or [select](super::DynamicFrame::select). Render passes, and framebuffers without attachments, are shared by all threads
        /// and never renamed: they are named after their attachments.
        const DEBUG_UTILS = 1 << 7;
        /// `VK_QCOM_tile_properties`: [`FrameRecorder::tile_properties`](super::FrameRecorder::tile_properties).
        const TILE_PROPERTIES = 1 << 8;
        /// `VK_QCOM_tile_shading`, for passes with [`tile_shading`](crate::frame::tables::Pass::tile_shading): the feature `tileShading`, and those
        /// of [`OptionalFeatures::TILE_SHADING_SUBFEATURES`] that the device offers ([`DeviceSupport::tile_shading`](super::DeviceSupport::tile_shading)).
        const TILE_SHADING = 1 << 9;
        /// Separate layouts for depth and stencil of one image.
        const SEPARATE_DEPTH_STENCIL_LAYOUTS = 1 << 10;
        /// Rendering to several views at once ([`PassBuilder::views`](crate::frame::PassBuilder::views)).
        const MULTIVIEW = 1 << 11;
        /// Input attachments and subpasses in dynamic rendering (`VK_KHR_dynamic_rendering_local_read`).
        const LOCAL_READ = 1 << 12;
        /// Separate layouts for slices of 3D images.
        const MAINTENANCE_9 = 1 << 13;
        /// `vkCreateRenderPass2` and `VkSubpassDescriptionDepthStencilResolve`: render pass objects resolve depth and stencil. It is not a
        /// device feature.
        const DEPTH_STENCIL_RESOLVE = 1 << 14;
        /// `VK_EXT_subpass_merge_feedback`: [`BoundFrame::subpass_merges`](super::BoundFrame::subpass_merges).
        const SUBPASS_MERGE_FEEDBACK = 1 << 15;
    }
}

impl Capabilities {
    /// Everything except buffer device addresses.
    pub const RECOMMENDED: Capabilities = Capabilities::all().difference(Capabilities::BUFFER_DEVICE_ADDRESS);

    /// The capabilities that are also optional features of frames.
    pub(super) fn optional_features(self) -> OptionalFeatures {
        let pairs = [
            (
                Capabilities::BUFFER_DEVICE_ADDRESS,
                OptionalFeatures::BUFFER_DEVICE_ADDRESS,
            ),
            (Capabilities::TILE_SHADING, OptionalFeatures::TILE_SHADING),
        ];
        let held = pairs.into_iter().filter(|(from, _)| self.contains(*from));
        held.map(|(_, feature)| feature).collect()
    }
}

/// Vulkan 1.4.
pub(super) const V1_4: u32 = vk::make_api_version(0, 1, 4, 0);

/// A version that no device reaches, for extensions that are not part of any core version of Vulkan yet.
const NEVER: u32 = u32::MAX;

/// The extensions that each capability requires on devices below the given version of Vulkan. The first extension of a capability is the one that defines
/// it.
pub(super) const EXTENSIONS: [(Capabilities, u32, &CStr); 20] = {
    use Capabilities as C;
    use ash::{ext, khr};
    use vk::{API_VERSION_1_1 as V1_1, API_VERSION_1_2 as V1_2, API_VERSION_1_3 as V1_3};
    [
        (C::SYNCHRONIZATION_2, V1_3, khr::synchronization2::NAME),
        (C::DYNAMIC_RENDERING, V1_3, khr::dynamic_rendering::NAME),
        // The dependencies of VK_KHR_dynamic_rendering below 1.2.
        (C::DYNAMIC_RENDERING, V1_2, khr::depth_stencil_resolve::NAME),
        (C::DYNAMIC_RENDERING, V1_2, khr::create_renderpass2::NAME),
        (C::DEPTH_STENCIL_RESOLVE, V1_2, khr::depth_stencil_resolve::NAME),
        (C::DEPTH_STENCIL_RESOLVE, V1_2, khr::create_renderpass2::NAME),
        (C::TIMELINE_SEMAPHORE, V1_2, khr::timeline_semaphore::NAME),
        (C::MAINTENANCE_4, V1_3, khr::maintenance4::NAME),
        (C::STORE_OP_NONE, V1_3, ext::load_store_op_none::NAME),
        (C::BUFFER_DEVICE_ADDRESS, V1_2, khr::buffer_device_address::NAME),
        (
            C::SEPARATE_DEPTH_STENCIL_LAYOUTS,
            V1_2,
            khr::separate_depth_stencil_layouts::NAME,
        ),
        (
            C::SEPARATE_DEPTH_STENCIL_LAYOUTS,
            V1_2,
            khr::create_renderpass2::NAME,
        ),
        (C::MULTIVIEW, V1_1, khr::multiview::NAME),
        (C::LOCAL_READ, V1_4, khr::dynamic_rendering_local_read::NAME),
        (C::MAINTENANCE_9, NEVER, maintenance9::NAME),
        (
            C::SUBPASS_MERGE_FEEDBACK,
            NEVER,
            ext::subpass_merge_feedback::NAME,
        ),
        (C::SUBPASS_MERGE_FEEDBACK, V1_2, khr::create_renderpass2::NAME),
        (C::TILE_MEMORY, NEVER, tile_memory_heap::NAME),
        (C::TILE_PROPERTIES, NEVER, tile_properties::NAME),
        (C::TILE_SHADING, NEVER, tile_shading::NAME),
    ]
};

/// Defines the feature structs, from one row for each feature: its field, its capability, its struct and the member that enables it.
macro_rules! features {
    ($($field:ident: $capability:ident, $struct:ident.$member:ident;)*) => {
        /// The feature structs of capabilities, to be chained.
        #[derive(Debug, Default)]
        pub(super) struct FeatureStructs {
            $(pub(super) $field: Option<$struct<'static>>,)*
        }

        impl FeatureStructs {
            /// The structs of the capabilities that `choose` selects, with their features set to `on`.
            pub(super) fn new(mut choose: impl FnMut(Capabilities) -> bool, on: bool) -> FeatureStructs {
                FeatureStructs {
                    $($field: choose(Capabilities::$capability).then(|| $struct::default().$member(on)),)*
                }
            }

            /// The capabilities whose feature is enabled.
            pub(super) fn enabled(&self) -> Capabilities {
                let mut enabled = Capabilities::empty();
                $(enabled.set(Capabilities::$capability, self.$field.is_some_and(|one| one.$member != 0));)*
                enabled
            }

            /// A feature query with the structs chained.
            pub(super) fn query(&mut self) -> vk::PhysicalDeviceFeatures2<'_> {
                let mut query = vk::PhysicalDeviceFeatures2::default();
                $(if let Some(feature) = &mut self.$field {
                    query = query.push_next(feature);
                })*
                query
            }

            /// `info` with the structs chained; drops the chain that an earlier call may have made of them.
            pub(super) fn enable<'a>(&'a mut self, mut info: vk::DeviceCreateInfo<'a>) -> vk::DeviceCreateInfo<'a> {
                $(if let Some(feature) = &mut self.$field {
                    feature.p_next = std::ptr::null_mut();
                    info = info.push_next(feature);
                })*
                info
            }
        }

        impl ChainedFeatures {
            /// Reads the feature of a struct whose `sType` is `kind`, if it is one of the structs with a single feature.
            ///
            /// # Safety
            /// `base` is the head of a struct of the type that `kind` names.
            pub(super) unsafe fn read(&mut self, base: *const vk::BaseInStructure<'_>, kind: vk::StructureType) {
                $(if kind == <$struct<'_> as vk::TaggedStructure>::STRUCTURE_TYPE {
                    // SAFETY: the caller's duty.
                    let one = unsafe { &*base.cast::<$struct<'_>>() };
                    self.state(Capabilities::$capability, one.$member);
                })*
            }
        }
    };
}

features! {
    synchronization: SYNCHRONIZATION_2, PhysicalDeviceSynchronization2Features.synchronization2;
    rendering: DYNAMIC_RENDERING, PhysicalDeviceDynamicRenderingFeatures.dynamic_rendering;
    timeline: TIMELINE_SEMAPHORE, PhysicalDeviceTimelineSemaphoreFeatures.timeline_semaphore;
    maintenance: MAINTENANCE_4, PhysicalDeviceMaintenance4Features.maintenance4;
    address: BUFFER_DEVICE_ADDRESS, PhysicalDeviceBufferDeviceAddressFeatures.buffer_device_address;
    apart: SEPARATE_DEPTH_STENCIL_LAYOUTS, PhysicalDeviceSeparateDepthStencilLayoutsFeatures.separate_depth_stencil_layouts;
    views: MULTIVIEW, PhysicalDeviceMultiviewFeatures.multiview;
    local: LOCAL_READ, PhysicalDeviceDynamicRenderingLocalReadFeaturesKHR.dynamic_rendering_local_read;
    slices: MAINTENANCE_9, PhysicalDeviceMaintenance9FeaturesKHR.maintenance9;
    merges: SUBPASS_MERGE_FEEDBACK, PhysicalDeviceSubpassMergeFeedbackFeaturesEXT.subpass_merge_feedback;
    tile: TILE_MEMORY, PhysicalDeviceTileMemoryHeapFeaturesQCOM.tile_memory_heap;
    tiles: TILE_PROPERTIES, PhysicalDeviceTilePropertiesFeaturesQCOM.tile_properties;
    shading: TILE_SHADING, PhysicalDeviceTileShadingFeaturesQCOM.tile_shading;
}

/// The features in a caller's chain.
#[derive(Default)]
pub(super) struct ChainedFeatures {
    /// Capabilities that some struct enables or disables.
    pub(super) stated: Capabilities,
    /// Capabilities that are enabled.
    pub(super) enabled: Capabilities,
}

impl ChainedFeatures {
    pub(super) fn state(&mut self, capability: Capabilities, on: vk::Bool32) {
        self.stated |= capability;
        self.enabled.set(capability, on != 0);
    }
}
