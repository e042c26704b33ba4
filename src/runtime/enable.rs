//! Additions to the caller's `VkDeviceCreateInfo`.

use std::ffi::{CStr, c_char};

use ash::vk;

use super::capabilities::{Capabilities, ChainedFeatures, EXTENSIONS, FeatureStructs};
use super::support::Support;

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
    /// The caller's names, then the missing ones.
    names: Vec<*const c_char>,
    features: FeatureStructs,
}

impl Support {
    /// The additions to a device's creation info that enable everything in `wanted` that is supported.
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
            features: FeatureStructs::default(),
        };
        let usable = support.offers() & wanted;
        // Whether to chain a struct of our own.
        let mut take = |capability: Capabilities| {
            let denied = chained.stated.contains(capability) && !chained.enabled.contains(capability);
            let there = usable.contains(capability);
            if there && denied {
                tracing::warn!(
                    ?capability,
                    reason = "the caller's feature struct denies it",
                    "not enabled"
                );
            }
            enable.capabilities.set(capability, there && !denied);
            there && !chained.stated.contains(capability)
        };
        take(C::STORE_OP_NONE);
        let features = FeatureStructs::new(&mut take, true);
        enable.features = features;
        if !enable.capabilities.contains(C::TILE_PROPERTIES) {
            enable.capabilities -= C::TILE_SHADING;
            enable.features.shading = None;
        }
        if !enable.capabilities.contains(C::DYNAMIC_RENDERING) {
            enable.capabilities -= C::LOCAL_READ;
            enable.features.local = None;
        }
        // SAFETY: the caller's duty.
        unsafe { enable.add_names(support) };
        enable
    }

    /// # Safety
    /// The names so far are valid.
    unsafe fn add_names(&mut self, support: &Support) {
        let needed = EXTENSIONS.iter().filter(|(capability, core, _)| {
            self.capabilities.contains(*capability) && support.version() < *core
        });
        let mut names: Vec<&'static CStr> = needed.map(|(_, _, name)| *name).collect();
        // Must be enabled if it is listed (VUID-VkDeviceCreateInfo-pProperties-04451).
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
        self.features.enable(info.enabled_extension_names(&self.names))
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
unsafe fn read_chain(mut next: *const vk::BaseInStructure<'_>) -> ChainedFeatures {
    use Capabilities as C;
    use vk::StructureType as S;
    /// The struct as the type that its `sType` names.
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
            // SAFETY: as above.
            kind => unsafe { chained.read(next, kind) },
        }
        next = base.p_next;
    }
    chained
}
