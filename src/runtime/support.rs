//! Detect: the capabilities that a physical device supports, and the reasons why it has no tile memory.

use std::collections::BTreeSet;
use std::ffi::{CStr, CString, FromBytesUntilNulError};
use std::sync::Arc;

use ash::vk;

use super::capabilities::{Capabilities, EXTENSIONS, FeatureStructs, V1_4};
use super::error::{RuntimeError, VkResultExt};
use super::tile_shading_parts::parts_of;
use crate::Result;
use crate::ffi::{self, tile_memory_heap};
use crate::profile::{
    DeviceProfile, Features, Limits, MemoryHeap, MemoryType, OptionalFeatures, TileBlock, TileHeap,
};
use crate::units::{Alignment, Bytes};

/// A reason why a device has no tile memory.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MissingRequirement {
    /// The driver does not list `VK_QCOM_tile_memory_heap`.
    #[error("the driver does not list VK_QCOM_tile_memory_heap")]
    Extension,
    /// The driver lists the extension but does not support its feature `tileMemoryHeap`.
    #[error("the driver lists VK_QCOM_tile_memory_heap but does not support its feature tileMemoryHeap")]
    Feature,
    /// No memory heap has `VK_MEMORY_HEAP_TILE_MEMORY_BIT_QCOM`.
    #[error("no memory heap has the flag VK_MEMORY_HEAP_TILE_MEMORY_BIT_QCOM (0x8)")]
    Heap,
    /// No memory type is on the tile heap.
    #[error("no memory type is on the tile heap")]
    MemoryType,
    /// The device has no `vkCmdBindTileMemoryQCOM`, although everything else is present.
    #[error("vkGetDeviceProcAddr returns null for vkCmdBindTileMemoryQCOM")]
    Function,
    /// The device was created without the extension or feature, or it is excluded by [`DeviceDesc::without`](super::DeviceDesc::without).
    #[error("VK_QCOM_tile_memory_heap or its feature tileMemoryHeap was not enabled on the device")]
    NotEnabled,
}

/// The capabilities that a physical device supports, as opposed to those enabled on a device created from it.
///
/// ```no_run
/// # use ash::vk;
/// # use tileheap::runtime::*;
/// # fn f(instance: &ash::Instance, physical_device: vk::PhysicalDevice) -> tileheap::Result<()> {
/// // SAFETY: the physical device is one of the instance, which was created with this version.
/// let support = unsafe { DeviceSupport::query(instance, physical_device, vk::API_VERSION_1_3) }?;
/// match support.profile().tile {
///     Some(heap) => println!("{} of tile memory, emulated by {:?}", heap.size, support.emulator()),
///     None => println!("no tile memory: {:?}", support.missing_requirements()),
/// }
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct DeviceSupport {
    profile: Arc<DeviceProfile>,
    missing: Vec<MissingRequirement>,
    offered_capabilities: Capabilities,
    tile_shading: OptionalFeatures,
    version: u32,
    extensions: BTreeSet<CString>,
    emulator: Option<String>,
}

impl DeviceSupport {
    /// Queries a physical device. `api_version` is the one in the `VkApplicationInfo` that `instance` was created with.
    ///
    /// # Errors
    /// When the driver fails, offers less than Vulkan 1.1, or contradicts itself.
    ///
    /// # Safety
    /// `physical_device` is one of `instance`, which was created with `api_version`.
    pub unsafe fn query(
        instance: &ash::Instance,
        physical_device: vk::PhysicalDevice,
        api_version: u32,
    ) -> Result<DeviceSupport> {
        let _span = tracing::info_span!("detect").entered();
        // SAFETY: the physical device is one of the instance (the caller's duty).
        let properties = unsafe { instance.get_physical_device_properties(physical_device) };
        let device = text_of(properties.device_name_as_c_str());
        let version = properties.api_version.min(api_version);
        if version < vk::API_VERSION_1_1 {
            let version = version_text(version);
            return Err(RuntimeError::OldVersion { device, version }.into());
        }
        // SAFETY: as above.
        let extensions = unsafe { instance.enumerate_device_extension_properties(physical_device) }
            .with_call("vkEnumerateDeviceExtensionProperties", || device.as_str())?;
        let names = extensions
            .iter()
            .filter_map(|one| one.extension_name_as_c_str().ok());
        // In a loop: collecting them instantiates a sort.
        let mut extensions = BTreeSet::new();
        extensions.extend(names.map(CStr::to_owned));
        let question = SupportQuery {
            instance,
            physical_device,
            version,
            extensions: &extensions,
        };
        let (mut offers, tile_feature, tile_shading) = question.features();
        let mut profile = question.profile(&properties, device);
        let missing = missing_links(&extensions, tile_feature, &mut profile, &question);
        let mut emulator = None;
        if profile.tile.is_some() {
            offers |= Capabilities::TILE_MEMORY;
            emulator = question.emulator()?;
        }
        if let Some(emulator) = &emulator {
            profile.source += &format!("; its tile memory is emulated by {emulator}");
        }
        profile.features = plan_features(offers);
        profile.validate()?;
        tracing::info!(device = profile.name, ?offers, ?missing, "detected");
        Ok(DeviceSupport {
            profile: Arc::new(profile),
            missing,
            offered_capabilities: offers,
            tile_shading,
            version,
            extensions,
            emulator,
        })
    }

    /// The profile of the device, with a tile heap if tile memory is supported.
    pub fn profile(&self) -> &Arc<DeviceProfile> {
        &self.profile
    }

    /// The reasons why there is no tile memory; empty if there is.
    pub fn missing_requirements(&self) -> &[MissingRequirement] {
        &self.missing
    }

    /// The name and version of the emulator that provides the tile heap; `None` if the driver has its own tile heap, there is none, or the version is
    /// below Vulkan 1.3, where the emulator cannot be queried (`vkGetPhysicalDeviceToolProperties`).
    pub fn emulator(&self) -> Option<&str> {
        self.emulator.as_deref()
    }

    /// The parts of tile shading ([`OptionalFeatures::TILE_SHADING_SUBFEATURES`]) that [`DeviceSupport::enable`] enables with
    /// [`Capabilities::TILE_SHADING`]: all that the device offers.
    pub fn tile_shading(&self) -> OptionalFeatures {
        self.tile_shading
    }

    /// The capabilities that can be enabled.
    pub fn offered_capabilities(&self) -> Capabilities {
        self.offered_capabilities
    }

    /// The Vulkan version to use: the lower of the device's and the instance's.
    pub fn version(&self) -> u32 {
        self.version
    }

    /// Returns true if the driver lists a device extension.
    pub fn has_extension(&self, extension: &CStr) -> bool {
        self.extensions.contains(extension)
    }
}

/// The features of a profile that follow from the capabilities in use.
pub(super) fn plan_features(capabilities: Capabilities) -> Features {
    let pairs = [
        (Capabilities::SYNCHRONIZATION_2, Features::SYNCHRONIZATION_2),
        (Capabilities::DYNAMIC_RENDERING, Features::DYNAMIC_RENDERING),
        (Capabilities::TIMELINE_SEMAPHORE, Features::TIMELINE_SEMAPHORE),
        (Capabilities::MAINTENANCE_4, Features::MAINTENANCE_4),
        (Capabilities::STORE_OP_NONE, Features::STORE_OP_NONE),
        (
            Capabilities::SEPARATE_DEPTH_STENCIL_LAYOUTS,
            Features::SEPARATE_DEPTH_STENCIL_LAYOUTS,
        ),
        (Capabilities::MULTIVIEW, Features::MULTIVIEW),
        (Capabilities::MAINTENANCE_9, Features::MAINTENANCE_9),
        (
            Capabilities::DEPTH_STENCIL_RESOLVE,
            Features::DEPTH_STENCIL_RESOLVE,
        ),
        // Only for single-sampled color: every implementation supports that much.
        (Capabilities::LOCAL_READ, Features::LOCAL_READ),
    ];
    let held = pairs.into_iter().filter(|(from, _)| capabilities.contains(*from));
    held.fold(Features::empty(), |features, (_, feature)| features | feature)
}

/// Sets the profile's tile heap if nothing is missing; returns the missing requirements.
fn missing_links(
    extensions: &BTreeSet<CString>,
    tile_feature: bool,
    profile: &mut DeviceProfile,
    question: &SupportQuery<'_>,
) -> Vec<MissingRequirement> {
    let mut missing = Vec::new();
    if !extensions.contains(tile_memory_heap::NAME) {
        missing.push(MissingRequirement::Extension);
    } else if !tile_feature {
        missing.push(MissingRequirement::Feature);
    }
    let heaps = profile.heaps.iter().enumerate();
    let tile_heaps = heaps.filter(|(_, heap)| heap.flags.contains(ffi::MEMORY_HEAP_TILE_MEMORY_BIT_QCOM));
    // The largest heap; the first one on a tie.
    let heap = tile_heaps.rev().max_by_key(|(_, heap)| heap.size);
    let found = match heap {
        None => Err(MissingRequirement::Heap),
        Some((heap, described)) => {
            let on_heap = profile
                .memory_types
                .iter()
                .position(|kind| kind.heap as usize == heap);
            on_heap
                .map(|kind| (heap as u32, kind as u32, described.size))
                .ok_or(MissingRequirement::MemoryType)
        }
    };
    match found {
        Err(link) => missing.push(link),
        Ok((heap, memory_type, size)) if missing.is_empty() => {
            let (queue_submit_boundary, buffer_transfers) = question.tile_properties();
            profile.tile = Some(TileHeap {
                heap,
                memory_type,
                size,
                queue_submit_boundary,
                buffer_transfers,
                block: TILE_BLOCK,
            });
        }
        Ok(_) => {}
    }
    missing
}

/// The tile block of the only driver whose source code was examined; used to estimate requirements for a queried profile.
const TILE_BLOCK: TileBlock = TileBlock {
    bytes: Alignment::new(12_288).unwrap(),
    rows: 32,
};

/// A physical device to be queried.
struct SupportQuery<'a> {
    instance: &'a ash::Instance,
    physical_device: vk::PhysicalDevice,
    version: u32,
    extensions: &'a BTreeSet<CString>,
}

impl SupportQuery<'_> {
    fn has(&self, core: u32, extension: &CStr) -> bool {
        self.version >= core || self.extensions.contains(extension)
    }

    /// The capabilities that the device could enable, the feature `tileMemoryHeap`, and the parts of tile shading.
    fn features(&self) -> (Capabilities, bool, OptionalFeatures) {
        use Capabilities as C;
        let listed = |capability: Capabilities| {
            let mut needed = EXTENSIONS.iter().filter(|needed| needed.0 == capability);
            needed.next().is_some_and(|&(_, core, name)| self.has(core, name))
        };
        // Tile shading depends on tile properties.
        let known = |one: Capabilities| listed(one) && (one != C::TILE_SHADING || listed(C::TILE_PROPERTIES));
        let mut structs = FeatureStructs::new(known, false);
        let mut features = structs.query();
        // SAFETY: the physical device is one of the instance; every chained struct is known to the driver, by its version or
        // an extension it lists.
        unsafe {
            self.instance
                .get_physical_device_features2(self.physical_device, &mut features)
        };
        let mut offered = structs.enabled();
        for without_feature in [C::STORE_OP_NONE, C::DEPTH_STENCIL_RESOLVE] {
            offered.set(without_feature, listed(without_feature));
        }
        if !offered.contains(C::TILE_PROPERTIES) {
            offered -= C::TILE_SHADING;
        }
        if !offered.contains(C::DYNAMIC_RENDERING) {
            offered -= C::LOCAL_READ;
        }
        let shading = structs.shading.filter(|_| offered.contains(C::TILE_SHADING));
        let parts = shading.map_or(OptionalFeatures::empty(), |shading| parts_of(&shading));
        let tile_feature = offered.contains(C::TILE_MEMORY);
        (offered - C::TILE_MEMORY, tile_feature, parts)
    }

    /// Queries `queueSubmitBoundary` and `tileBufferTransfers`.
    fn tile_properties(&self) -> (bool, bool) {
        let mut tile = ffi::PhysicalDeviceTileMemoryHeapPropertiesQCOM::default();
        let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut tile);
        // SAFETY: the physical device is one of the instance and lists the extension of the chained struct.
        unsafe {
            self.instance
                .get_physical_device_properties2(self.physical_device, &mut properties)
        };
        (tile.queue_submit_boundary != 0, tile.tile_buffer_transfers != 0)
    }

    /// The name and version of the tool that emulates the tile heap, if any.
    fn emulator(&self) -> Result<Option<String>> {
        if self.version < vk::API_VERSION_1_3 {
            return Ok(None);
        }
        let tools = "vkGetPhysicalDeviceToolProperties";
        // SAFETY: the physical device is one of the instance, and both are used with Vulkan 1.3.
        let count = unsafe {
            self.instance
                .get_physical_device_tool_properties_len(self.physical_device)
        };
        let mut found =
            vec![vk::PhysicalDeviceToolProperties::default(); count.with_call(tools, String::new)?];
        // SAFETY: as above; there is room for all of them.
        unsafe {
            self.instance
                .get_physical_device_tool_properties(self.physical_device, &mut found)
        }
        .with_call(tools, String::new)?;
        let emulator = found
            .iter()
            .find(|tool| tool.layer_as_c_str() == Ok(ffi::EMULATOR_LAYER_NAME));
        let text = |tool: &vk::PhysicalDeviceToolProperties<'_>| {
            [tool.name_as_c_str(), tool.version_as_c_str()]
                .map(text_of)
                .join(" ")
        };
        Ok(emulator.map(text))
    }

    /// The profile of the device, without the tile heap and features.
    fn profile(&self, properties: &vk::PhysicalDeviceProperties, name: String) -> DeviceProfile {
        // SAFETY: the physical device is one of the instance.
        let memory = unsafe {
            self.instance
                .get_physical_device_memory_properties(self.physical_device)
        };
        let mut sizes = vk::PhysicalDeviceMaintenance3Properties::default();
        let mut driver = vk::PhysicalDeviceDriverProperties::default();
        let mut views = vk::PhysicalDeviceMultiviewProperties::default();
        let mut buffers = vk::PhysicalDeviceMaintenance4Properties::default();
        let mut blocks = vk::PhysicalDeviceMaintenance6PropertiesKHR::default();
        let mut more = vk::PhysicalDeviceProperties2::default()
            .push_next(&mut sizes)
            .push_next(&mut views);
        if self.has(vk::API_VERSION_1_3, ash::khr::maintenance4::NAME) {
            more = more.push_next(&mut buffers);
        }
        if self.has(V1_4, ash::khr::maintenance6::NAME) {
            more = more.push_next(&mut blocks);
        }
        if self.has(vk::API_VERSION_1_2, ash::khr::driver_properties::NAME) {
            more = more.push_next(&mut driver);
        }
        // SAFETY: the physical device is one of the instance; the chained structs are known to the driver.
        unsafe {
            self.instance
                .get_physical_device_properties2(self.physical_device, &mut more)
        };
        let heaps = memory.memory_heaps_as_slice().iter();
        let types = memory.memory_types_as_slice().iter();
        let [driver, info] = [driver.driver_name_as_c_str(), driver.driver_info_as_c_str()].map(text_of);
        let limits = &properties.limits;
        DeviceProfile {
            name,
            source: format!(
                "driver {driver} {info}, Vulkan {}",
                version_text(properties.api_version)
            ),
            heaps: heaps
                .map(|heap| MemoryHeap {
                    size: Bytes(heap.size),
                    flags: heap.flags,
                })
                .collect(),
            memory_types: types
                .map(|kind| MemoryType {
                    flags: kind.property_flags,
                    heap: kind.heap_index,
                })
                .collect(),
            tile: None,
            gmem: Bytes::ZERO,
            merge: None,
            costs: None,
            limits: Limits {
                buffer_image_granularity: Alignment::new(limits.buffer_image_granularity)
                    .unwrap_or(Alignment::ONE),
                max_allocation: Bytes(sizes.max_memory_allocation_size),
                max_image_dimension_2d: limits.max_image_dimension2_d,
                max_color_attachments: limits.max_color_attachments,
                max_image_dimension_1d: limits.max_image_dimension1_d,
                max_image_dimension_3d: limits.max_image_dimension3_d,
                max_image_dimension_cube: limits.max_image_dimension_cube,
                max_image_array_layers: limits.max_image_array_layers,
                max_framebuffer_width: limits.max_framebuffer_width,
                max_framebuffer_height: limits.max_framebuffer_height,
                max_framebuffer_layers: limits.max_framebuffer_layers,
                max_multiview_view_count: views.max_multiview_view_count,
                max_per_stage_descriptor_input_attachments: limits.max_per_stage_descriptor_input_attachments,
                // Only with maintenance4.
                max_buffer_size: match buffers.max_buffer_size {
                    0 => Limits::UNKNOWN.max_buffer_size,
                    size => Bytes(size),
                },
                framebuffer_color_sample_counts: limits.framebuffer_color_sample_counts,
                framebuffer_depth_sample_counts: limits.framebuffer_depth_sample_counts,
                framebuffer_stencil_sample_counts: limits.framebuffer_stencil_sample_counts,
                sampled_image_color_sample_counts: limits.sampled_image_color_sample_counts,
                sampled_image_integer_sample_counts: limits.sampled_image_integer_sample_counts,
                sampled_image_depth_sample_counts: limits.sampled_image_depth_sample_counts,
                sampled_image_stencil_sample_counts: limits.sampled_image_stencil_sample_counts,
                storage_image_sample_counts: limits.storage_image_sample_counts,
                block_texel_view_compatible_multiple_layers: blocks
                    .block_texel_view_compatible_multiple_layers
                    != 0,
                guaranteed: true,
            },
            features: Features::empty(),
            optional_features: None,
        }
    }
}

/// Formats a version: `1.3.230`.
pub(super) fn version_text(version: u32) -> String {
    format!(
        "{}.{}.{}",
        vk::api_version_major(version),
        vk::api_version_minor(version),
        vk::api_version_patch(version)
    )
}

/// The text of a name in a Vulkan structure.
pub(super) fn text_of(name: Result<&CStr, FromBytesUntilNulError>) -> String {
    name.unwrap_or_default().to_string_lossy().into_owned()
}
