//! What to add to the caller's `VkDeviceCreateInfo`.

use std::ffi::{CStr, c_char};

use ash::vk;

use super::support::{Capabilities, Support};
use crate::ffi::{
    PhysicalDeviceTileMemoryHeapFeaturesQCOM, PhysicalDeviceTileShadingFeaturesQCOM, tile_memory_heap,
    tile_properties, tile_shading,
};

/// Extension names and feature structs to add to a `VkDeviceCreateInfo`, without duplicating what it has.
///
/// A feature struct that the caller chains is not changed: a feature that it disables stays disabled.
///
/// ```no_run
/// # use ash::vk;
/// # use tileheap::runtime::*;
/// # fn f(instance: &ash::Instance, physical_device: vk::PhysicalDevice, support: &Support, info: vk::DeviceCreateInfo<'_>) {
/// // SAFETY: the names and the chain of `info` are alive.
/// let mut enable = unsafe { support.enable(&info, Capabilities::RECOMMENDED) };
/// let info = enable.info(&info);
/// // SAFETY: the physical device is one of the instance.
/// let device = unsafe { instance.create_device(physical_device, &info, None) };
/// let desc = DeviceDesc { enabled: enable.capabilities(), ..DeviceDesc::default() };
/// # }
/// ```
#[derive(Debug)]
pub struct Enable {
    capabilities: Capabilities,
    /// The caller's names, then what they lacked.
    names: Vec<*const c_char>,
    synchronization: Option<vk::PhysicalDeviceSynchronization2Features<'static>>,
    rendering: Option<vk::PhysicalDeviceDynamicRenderingFeatures<'static>>,
    timeline: Option<vk::PhysicalDeviceTimelineSemaphoreFeatures<'static>>,
    maintenance: Option<vk::PhysicalDeviceMaintenance4Features<'static>>,
    address: Option<vk::PhysicalDeviceBufferDeviceAddressFeatures<'static>>,
    tile: Option<PhysicalDeviceTileMemoryHeapFeaturesQCOM<'static>>,
    tiles: Option<vk::PhysicalDeviceTilePropertiesFeaturesQCOM<'static>>,
    shading: Option<PhysicalDeviceTileShadingFeaturesQCOM<'static>>,
}

/// The features in the caller's chain: absent, disabled or enabled.
#[derive(Default)]
struct Chained {
    synchronization: Option<bool>,
    rendering: Option<bool>,
    timeline: Option<bool>,
    maintenance: Option<bool>,
    address: Option<bool>,
    tile: Option<bool>,
    tiles: Option<bool>,
    shading: Option<bool>,
}

impl Support {
    /// What to add to the creation of a device to enable everything in `wanted` that is supported.
    ///
    /// # Safety
    /// The names and the `pNext` chain of `info` are valid.
    pub unsafe fn enable(&self, info: &vk::DeviceCreateInfo<'_>, wanted: Capabilities) -> Enable {
        // SAFETY: the caller's duty.
        unsafe { Enable::new(self, info, wanted) }
    }
}

impl Enable {
    /// # Safety
    /// The names and the `pNext` chain of `info` are valid.
    pub(super) unsafe fn new(
        support: &Support,
        info: &vk::DeviceCreateInfo<'_>,
        wanted: Capabilities,
    ) -> Enable {
        use Capabilities as C;
        // SAFETY: the caller's duty.
        let chained = unsafe { read_chain(info.p_next.cast()) };
        let mut enable = Enable {
            capabilities: wanted & C::DEBUG_UTILS,
            // SAFETY: the caller's duty.
            names: unsafe { names_of(info) }.to_vec(),
            synchronization: None,
            rendering: None,
            timeline: None,
            maintenance: None,
            address: None,
            tile: None,
            tiles: None,
            shading: None,
        };
        let usable = support.offers() & wanted;
        // Whether to chain a struct of our own.
        let mut take = |capability: Capabilities, chained: Option<bool>| {
            let there = usable.contains(capability);
            if there && chained == Some(false) {
                tracing::warn!(
                    ?capability,
                    reason = "the caller's feature struct denies it",
                    "not enabled"
                );
            }
            enable
                .capabilities
                .set(capability, there && chained != Some(false));
            there && chained.is_none()
        };
        let synchronization = take(C::SYNCHRONIZATION_2, chained.synchronization);
        let rendering = take(C::DYNAMIC_RENDERING, chained.rendering);
        let timeline = take(C::TIMELINE_SEMAPHORE, chained.timeline);
        let maintenance = take(C::MAINTENANCE_4, chained.maintenance);
        let address = take(C::BUFFER_DEVICE_ADDRESS, chained.address);
        let tile = take(C::TILE_MEMORY, chained.tile);
        let tiles = take(C::TILE_PROPERTIES, chained.tiles);
        let shading = take(C::TILE_SHADING, chained.shading);
        take(C::STORE_OP_NONE, None);
        if !enable.capabilities.contains(C::TILE_PROPERTIES) {
            enable.capabilities -= C::TILE_SHADING;
        }
        let shading = shading && enable.capabilities.contains(C::TILE_SHADING);
        enable.synchronization = synchronization
            .then(|| vk::PhysicalDeviceSynchronization2Features::default().synchronization2(true));
        enable.rendering =
            rendering.then(|| vk::PhysicalDeviceDynamicRenderingFeatures::default().dynamic_rendering(true));
        enable.timeline =
            timeline.then(|| vk::PhysicalDeviceTimelineSemaphoreFeatures::default().timeline_semaphore(true));
        enable.maintenance =
            maintenance.then(|| vk::PhysicalDeviceMaintenance4Features::default().maintenance4(true));
        enable.address = address
            .then(|| vk::PhysicalDeviceBufferDeviceAddressFeatures::default().buffer_device_address(true));
        enable.tile =
            tile.then(|| PhysicalDeviceTileMemoryHeapFeaturesQCOM::default().tile_memory_heap(true));
        enable.tiles =
            tiles.then(|| vk::PhysicalDeviceTilePropertiesFeaturesQCOM::default().tile_properties(true));
        enable.shading = shading.then(|| PhysicalDeviceTileShadingFeaturesQCOM::default().tile_shading(true));
        // SAFETY: the caller's duty.
        unsafe { enable.add_names(support) };
        enable
    }

    /// # Safety
    /// The names so far are valid.
    unsafe fn add_names(&mut self, support: &Support) {
        use Capabilities as C;
        const NEEDED: [(Capabilities, u32, &CStr); 8] = [
            (
                C::SYNCHRONIZATION_2,
                vk::API_VERSION_1_3,
                ash::khr::synchronization2::NAME,
            ),
            (
                C::DYNAMIC_RENDERING,
                vk::API_VERSION_1_3,
                ash::khr::dynamic_rendering::NAME,
            ),
            // What VK_KHR_dynamic_rendering depends on below 1.2.
            (
                C::DYNAMIC_RENDERING,
                vk::API_VERSION_1_2,
                ash::khr::depth_stencil_resolve::NAME,
            ),
            (
                C::DYNAMIC_RENDERING,
                vk::API_VERSION_1_2,
                ash::khr::create_renderpass2::NAME,
            ),
            (
                C::TIMELINE_SEMAPHORE,
                vk::API_VERSION_1_2,
                ash::khr::timeline_semaphore::NAME,
            ),
            (
                C::MAINTENANCE_4,
                vk::API_VERSION_1_3,
                ash::khr::maintenance4::NAME,
            ),
            (
                C::STORE_OP_NONE,
                vk::API_VERSION_1_3,
                ash::ext::load_store_op_none::NAME,
            ),
            (
                C::BUFFER_DEVICE_ADDRESS,
                vk::API_VERSION_1_2,
                ash::khr::buffer_device_address::NAME,
            ),
        ];
        let core = NEEDED.iter().filter(|(capability, core, _)| {
            self.capabilities.contains(*capability) && support.version() < *core
        });
        let mut names: Vec<&'static CStr> = core.map(|(_, _, name)| *name).collect();
        if self.capabilities.contains(C::TILE_MEMORY) {
            names.push(tile_memory_heap::NAME);
        }
        if self.capabilities.contains(C::TILE_PROPERTIES) {
            names.push(tile_properties::NAME);
        }
        if self.capabilities.contains(C::TILE_SHADING) {
            names.push(tile_shading::NAME);
        }
        // Must be enabled where it is listed (VUID-VkDeviceCreateInfo-pProperties-04451).
        if support.lists(ash::khr::portability_subset::NAME) {
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

    /// `info` with the additions; `info` itself is not changed.
    pub fn info<'a>(&'a mut self, info: &vk::DeviceCreateInfo<'a>) -> vk::DeviceCreateInfo<'a> {
        /// Chains `feature`, cut off from a chain that an earlier call made.
        macro_rules! chain {
            ($info:ident, $($field:ident),*) => {$(
                if let Some(feature) = &mut self.$field {
                    feature.p_next = std::ptr::null_mut();
                    $info = $info.push_next(feature);
                }
            )*};
        }
        let mut info = info.enabled_extension_names(&self.names);
        chain!(
            info,
            synchronization,
            rendering,
            timeline,
            maintenance,
            address,
            tile,
            tiles,
            shading
        );
        info
    }
}

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

/// # Safety
/// `next` starts a valid chain, or is null.
unsafe fn read_chain(mut next: *const vk::BaseInStructure<'_>) -> Chained {
    use vk::StructureType as S;
    /// The struct as the type that its `sType` names.
    macro_rules! read {
        ($type:ty) => {{
            // SAFETY: the chain is valid, and `sType` says that the struct is of this type.
            unsafe { &*next.cast::<$type>() }
        }};
    }
    let mut chained = Chained::default();
    while !next.is_null() {
        // SAFETY: the chain is valid (the caller's duty).
        let base = unsafe { &*next };
        match base.s_type {
            S::PHYSICAL_DEVICE_VULKAN_1_3_FEATURES => {
                let all = read!(vk::PhysicalDeviceVulkan13Features<'_>);
                chained.synchronization = Some(all.synchronization2 != 0);
                chained.rendering = Some(all.dynamic_rendering != 0);
                chained.maintenance = Some(all.maintenance4 != 0);
            }
            S::PHYSICAL_DEVICE_VULKAN_1_2_FEATURES => {
                let all = read!(vk::PhysicalDeviceVulkan12Features<'_>);
                chained.timeline = Some(all.timeline_semaphore != 0);
                chained.address = Some(all.buffer_device_address != 0);
            }
            S::PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES => {
                let one = read!(vk::PhysicalDeviceSynchronization2Features<'_>);
                chained.synchronization = Some(one.synchronization2 != 0);
            }
            S::PHYSICAL_DEVICE_DYNAMIC_RENDERING_FEATURES => {
                let one = read!(vk::PhysicalDeviceDynamicRenderingFeatures<'_>);
                chained.rendering = Some(one.dynamic_rendering != 0);
            }
            S::PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES => {
                let one = read!(vk::PhysicalDeviceTimelineSemaphoreFeatures<'_>);
                chained.timeline = Some(one.timeline_semaphore != 0);
            }
            S::PHYSICAL_DEVICE_MAINTENANCE_4_FEATURES => {
                let one = read!(vk::PhysicalDeviceMaintenance4Features<'_>);
                chained.maintenance = Some(one.maintenance4 != 0);
            }
            S::PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES => {
                let one = read!(vk::PhysicalDeviceBufferDeviceAddressFeatures<'_>);
                chained.address = Some(one.buffer_device_address != 0);
            }
            kind if kind
                == <PhysicalDeviceTileMemoryHeapFeaturesQCOM<'_> as vk::TaggedStructure>::STRUCTURE_TYPE =>
            {
                let one = read!(PhysicalDeviceTileMemoryHeapFeaturesQCOM<'_>);
                chained.tile = Some(one.tile_memory_heap != 0);
            }
            S::PHYSICAL_DEVICE_TILE_PROPERTIES_FEATURES_QCOM => {
                let one = read!(vk::PhysicalDeviceTilePropertiesFeaturesQCOM<'_>);
                chained.tiles = Some(one.tile_properties != 0);
            }
            kind if kind
                == <PhysicalDeviceTileShadingFeaturesQCOM<'_> as vk::TaggedStructure>::STRUCTURE_TYPE =>
            {
                let one = read!(PhysicalDeviceTileShadingFeaturesQCOM<'_>);
                chained.shading = Some(one.tile_shading != 0);
            }
            _ => {}
        }
        next = base.p_next;
    }
    chained
}
