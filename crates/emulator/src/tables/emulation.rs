//! The emulated physical device: its memory, features, properties and image formats.

use std::ffi::CStr;

use ash::vk;
use tileheap_device::ffi::{self, IMAGE_USAGE_TILE_MEMORY_BIT_QCOM};
use tileheap_device::profile::TILE_IMAGE_USES;
use tileheap_layer::chained;

use super::memory_types::{AddedMemory, MemoryTypes};
use super::settings::Profile;

/// The properties of a physical device, queried on first use.
pub(crate) struct PhysicalDeviceInfo {
    pub(crate) handle: vk::PhysicalDevice,
    /// The extensions that the next layers and the driver list.
    pub(crate) extensions: Vec<vk::ExtensionProperties>,
    /// The error of a failed query; the next query tries again.
    pub(crate) failure: Option<vk::Result>,
    /// The emulation; `None` if nothing is emulated, because the driver has the extension, or leaves no room for the
    /// heap.
    pub(crate) emulation: Option<Emulation>,
}

/// The emulation on a physical device.
pub(crate) struct Emulation {
    pub(crate) profile: Profile,
    pub(crate) memory_types: MemoryTypes,
    /// The driver's own types and heaps.
    pub(crate) driver: vk::PhysicalDeviceMemoryProperties,
    /// The driver's `maxBoundDescriptorSets`.
    bound_sets: u32,
}

/// The extensions that the layer adds.
pub(crate) const EXTENSIONS: [(&CStr, u32); 3] = [
    (ffi::tile_memory_heap::NAME, ffi::tile_memory_heap::SPEC_VERSION),
    (ffi::tile_properties::NAME, ffi::tile_properties::SPEC_VERSION),
    (ffi::tile_shading::NAME, ffi::tile_shading::SPEC_VERSION),
];

/// The largest apron of tile shading, in pixels: an assumption, since no device report is public.
const MAX_APRON: u32 = 32;

/// The largest shading rate of a tile dispatch, in pixels. The layer's choice: tile sizes are multiples of this rate times the
/// workgroup size.
pub(crate) const MAX_SHADING_RATE: [u32; 2] = [4, 4];

/// Returns true if the layer adds the extension, and so removes its name before calling the next layer.
pub(crate) fn is_own_extension(name: &CStr) -> bool {
    EXTENSIONS.iter().any(|(own, _)| *own == name)
}

impl PhysicalDeviceInfo {
    /// Returns true if the next layers or the driver list an extension.
    pub(crate) fn has_extension(&self, name: &CStr) -> bool {
        self.extensions
            .iter()
            .any(|known| known.extension_name_as_c_str() == Ok(name))
    }

    /// The extensions that the application sees.
    pub(crate) fn shown_extensions(&self) -> Vec<vk::ExtensionProperties> {
        let mut shown = self.extensions.clone();
        if self.emulation.is_some() {
            shown.retain(|known| !known.extension_name_as_c_str().is_ok_and(is_own_extension));
            shown.extend(own_extensions());
        }
        shown
    }
}

/// The layer's own extensions.
pub(crate) fn own_extensions() -> Vec<vk::ExtensionProperties> {
    let own = EXTENSIONS.iter().map(|(name, version)| {
        vk::ExtensionProperties::default()
            .spec_version(*version)
            .extension_name(name)
            .expect("extension names fit into VkExtensionProperties")
    });
    own.collect()
}

impl Emulation {
    /// Adds a profile's tile heap to the driver's memory types.
    ///
    /// # Errors
    /// Returns a message if the driver leaves no room for the heap.
    pub(crate) fn new(
        profile: Profile,
        lazy: bool,
        driver: vk::PhysicalDeviceMemoryProperties,
        bound_sets: u32,
    ) -> Result<Emulation, String> {
        let added = AddedMemory {
            heap_size: profile.tile.size.0,
            tile_types: profile.quirks.tile_types,
            position: profile.quirks.tile_type_position,
            fills_unused_entries: profile.quirks.fills_unused_entries,
            has_lazy_type: lazy,
        };
        let memory_types = MemoryTypes::new(&driver, added).ok_or_else(|| {
            format!(
                "the driver has {} memory types and {} heaps; the emulator needs room for its own, and one of the driver's \
                 types must be DEVICE_LOCAL",
                driver.memory_type_count, driver.memory_heap_count
            )
        })?;
        Ok(Emulation {
            profile,
            memory_types,
            driver,
            bound_sets,
        })
    }

    /// Completes the result of `vkGetPhysicalDeviceMemoryProperties2`, given that `allocated` bytes of the tile heap
    /// are in use.
    pub(crate) fn complete_memory_properties(
        &self,
        properties: &mut vk::PhysicalDeviceMemoryProperties2<'_>,
        allocated: u64,
    ) {
        properties.memory_properties = *self.memory_types.shown();
        let budget = chained!(mut properties.p_next => vk::PhysicalDeviceMemoryBudgetPropertiesEXT<'_>);
        if let Some(budget) = budget {
            let heap = self.memory_types.tile_heap() as usize;
            budget.heap_budget[heap] = self.profile.tile.size.0;
            budget.heap_usage[heap] = allocated;
        }
    }

    /// Completes the result of `vkGetPhysicalDeviceFeatures2`.
    pub(crate) fn complete_features(&self, p_next: *mut std::ffi::c_void) {
        if let Some(heap) = chained!(mut p_next => ffi::PhysicalDeviceTileMemoryHeapFeaturesQCOM<'_>) {
            heap.tile_memory_heap = vk::TRUE;
        }
        if let Some(tiles) = chained!(mut p_next => vk::PhysicalDeviceTilePropertiesFeaturesQCOM<'_>) {
            tiles.tile_properties = vk::TRUE;
        }
        if let Some(shading) = chained!(mut p_next => ffi::PhysicalDeviceTileShadingFeaturesQCOM<'_>) {
            let next = shading.p_next;
            *shading = self.tile_shading();
            shading.p_next = next;
        }
    }

    /// The index of the layer's own descriptor set: the driver's last one; `None` if the driver has no more sets than every
    /// driver must support.
    pub(crate) fn tile_record_set(&self) -> Option<u32> {
        const GUARANTEED: u32 = 4;
        let last = self.bound_sets.checked_sub(1)?;
        (last >= GUARANTEED).then_some(last)
    }

    /// The tile shading features that the layer offers: `tileShading`, and those that it emulates if the driver has a
    /// descriptor set for it.
    pub(crate) fn tile_shading(&self) -> ffi::PhysicalDeviceTileShadingFeaturesQCOM<'static> {
        let is_run = self.tile_record_set().is_some();
        ffi::PhysicalDeviceTileShadingFeaturesQCOM::default()
            .tile_shading(true)
            .tile_shading_color_attachments(is_run)
            .tile_shading_per_tile_draw(is_run)
            .tile_shading_per_tile_dispatch(is_run)
            .tile_shading_dispatch_tile(is_run)
            .tile_shading_atomic_ops(is_run)
    }

    /// Completes the result of `vkGetPhysicalDeviceProperties2`.
    pub(crate) fn complete_properties(&self, p_next: *mut std::ffi::c_void) {
        let tile = &self.profile.tile;
        if let Some(heap) = chained!(mut p_next => ffi::PhysicalDeviceTileMemoryHeapPropertiesQCOM<'_>) {
            heap.queue_submit_boundary = tile.queue_submit_boundary.into();
            heap.tile_buffer_transfers = tile.buffer_transfers.into();
        }
        if let Some(shading) = chained!(mut p_next => ffi::PhysicalDeviceTileShadingPropertiesQCOM<'_>) {
            let (width, height) = tileheap_device::profile::binning::GRANULARITY;
            // Aprons cannot be used, since their feature is off, but programs use the limit in computations.
            shading.max_apron_size = MAX_APRON;
            shading.prefer_non_coherent = vk::FALSE;
            shading.tile_granularity = vk::Extent2D { width, height };
            let [width, height] = MAX_SHADING_RATE;
            shading.max_tile_shading_rate = vk::Extent2D { width, height };
        }
    }

    /// Returns true if an image with the tile usage bit can have these parameters; the driver may still refuse them.
    pub(crate) fn allows_tile_image(&self, request: &ImageRequest) -> bool {
        if self.profile.quirks.refused_formats.contains(&request.format) {
            return false;
        }
        if self.profile.quirks.allows_beyond_guaranteed {
            return request.tiling == vk::ImageTiling::OPTIMAL
                && !request.flags.intersects(
                    vk::ImageCreateFlags::SPARSE_BINDING
                        | vk::ImageCreateFlags::PROTECTED
                        | vk::ImageCreateFlags::DISJOINT,
                );
        }
        request.kind == vk::ImageType::TYPE_2D
            && request.tiling == vk::ImageTiling::OPTIMAL
            && vk::ImageCreateFlags::ALIAS.contains(request.flags)
            && TILE_IMAGE_USES.contains(request.usage)
            && TILE_IMAGE_USES.contains(request.stencil_usage)
    }

    /// Restricts a driver's result to the guaranteed set, unless the profile goes beyond it, and to the size of the tile heap.
    pub(crate) fn limit(&self, properties: &mut vk::ImageFormatProperties) {
        if !self.profile.quirks.allows_beyond_guaranteed {
            properties.max_mip_levels = 1;
            properties.max_array_layers = 1;
            properties.sample_counts = vk::SampleCountFlags::TYPE_1;
        }
        properties.max_resource_size = properties.max_resource_size.min(self.profile.tile.size.0);
    }
}

/// The features of a structure, in the order of its members.
fn all(features: &ffi::PhysicalDeviceTileShadingFeaturesQCOM<'_>) -> [vk::Bool32; 14] {
    [
        features.tile_shading,
        features.tile_shading_fragment_stage,
        features.tile_shading_color_attachments,
        features.tile_shading_depth_attachments,
        features.tile_shading_stencil_attachments,
        features.tile_shading_input_attachments,
        features.tile_shading_sampled_attachments,
        features.tile_shading_per_tile_draw,
        features.tile_shading_per_tile_dispatch,
        features.tile_shading_dispatch_tile,
        features.tile_shading_apron,
        features.tile_shading_anisotropic_apron,
        features.tile_shading_atomic_ops,
        features.tile_shading_image_processing,
    ]
}

/// Returns true if a device create info enables only tile shading features that are offered.
pub(crate) fn offers_all(
    offered: &ffi::PhysicalDeviceTileShadingFeaturesQCOM<'_>,
    p_next: *const std::ffi::c_void,
) -> bool {
    let wanted = chained!(p_next => ffi::PhysicalDeviceTileShadingFeaturesQCOM<'_>);
    wanted.is_none_or(|wanted| {
        all(wanted)
            .iter()
            .zip(all(offered))
            .all(|(wanted, offered)| *wanted <= offered)
    })
}

/// Returns true if a device create info enables any tile shading feature other than `tileShading`.
pub(crate) fn wants_per_tile(p_next: *const std::ffi::c_void) -> bool {
    let wanted = chained!(p_next => ffi::PhysicalDeviceTileShadingFeaturesQCOM<'_>);
    wanted.is_some_and(|wanted| all(wanted)[1..].contains(&vk::TRUE))
}

/// The image parameters of a format query.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ImageRequest {
    pub(crate) format: vk::Format,
    pub(crate) kind: vk::ImageType,
    pub(crate) tiling: vk::ImageTiling,
    pub(crate) usage: vk::ImageUsageFlags,
    /// The usage of the stencil aspect; 0 if it equals `usage`.
    pub(crate) stencil_usage: vk::ImageUsageFlags,
    pub(crate) flags: vk::ImageCreateFlags,
}

impl ImageRequest {
    /// Returns true if the image has the tile usage bit.
    pub(crate) fn is_tile(&self) -> bool {
        (self.usage | self.stencil_usage).contains(IMAGE_USAGE_TILE_MEMORY_BIT_QCOM)
    }
}
