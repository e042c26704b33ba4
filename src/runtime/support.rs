//! Detect: what a physical device offers, and what of tile memory is missing.

use std::fmt;
use std::sync::Arc;

use ash::vk;
use bitflags::bitflags;

use crate::Result;
use crate::profile::DeviceProfile;

bitflags! {
    /// What a device offers ([`Support::offers`]) or has enabled ([`DeviceDesc::enabled`](super::DeviceDesc::enabled)).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Capabilities: u32 {
        /// `vkCmdPipelineBarrier2` and `vkQueueSubmit2`.
        const SYNCHRONIZATION_2 = 1 << 0;
        /// `vkCmdBeginRendering`.
        const DYNAMIC_RENDERING = 1 << 1;
        /// Timeline semaphores.
        const TIMELINE_SEMAPHORE = 1 << 2;
        /// Requirements without creating the resource.
        const MAINTENANCE_4 = 1 << 3;
        /// `VK_ATTACHMENT_STORE_OP_NONE`.
        const STORE_OP_NONE = 1 << 4;
        /// Buffer device addresses; enabled only if the caller asks ([`Enable::device_addresses`](super::Enable)).
        const BUFFER_DEVICE_ADDRESS = 1 << 5;
        /// The whole chain of `VK_QCOM_tile_memory_heap`.
        const TILE_MEMORY = 1 << 6;
        /// `VK_EXT_debug_utils` on the instance: objects get names, passes get labels.
        const DEBUG_UTILS = 1 << 7;
    }
}

/// A link of the chain to tile memory that a device lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Missing {
    /// The driver does not list `VK_QCOM_tile_memory_heap`.
    Extension,
    /// The driver lists the extension and denies the feature `tileMemoryHeap`.
    Feature,
    /// No memory heap has `VK_MEMORY_HEAP_TILE_MEMORY_BIT_QCOM`.
    Heap,
    /// No memory type is on the tile heap.
    MemoryType,
    /// The device has no `vkCmdBindTileMemoryQCOM`, though everything else is there.
    Function,
    /// The device was created without the extension or feature.
    NotEnabled,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Missing::Extension => "the driver does not list VK_QCOM_tile_memory_heap",
            Missing::Feature => {
                "the driver lists VK_QCOM_tile_memory_heap but not its feature tileMemoryHeap"
            }
            Missing::Heap => "no memory heap has the flag VK_MEMORY_HEAP_TILE_MEMORY_BIT_QCOM (0x8)",
            Missing::MemoryType => "no memory type is on the tile heap",
            Missing::Function => "the device has no function vkCmdBindTileMemoryQCOM",
            Missing::NotEnabled => {
                "the device was created without VK_QCOM_tile_memory_heap or tileMemoryHeap"
            }
        })
    }
}

/// What a physical device offers. It says nothing about what a device created on it has enabled.
#[derive(Clone, Debug)]
pub struct Support {
    profile: Arc<DeviceProfile>,
    missing: Vec<Missing>,
    offers: Capabilities,
}

impl Support {
    /// Asks a physical device. `api_version` is the one in the `VkApplicationInfo` that `instance` was created with.
    ///
    /// # Errors
    /// When the driver fails, or offers less than Vulkan 1.1.
    ///
    /// # Safety
    /// `physical_device` is one of `instance`.
    pub unsafe fn query(
        _instance: &ash::Instance,
        _physical_device: vk::PhysicalDevice,
        _api_version: u32,
    ) -> Result<Support> {
        unimplemented!()
    }

    /// The device in numbers, with a tile heap if the whole chain is offered.
    pub fn profile(&self) -> &Arc<DeviceProfile> {
        &self.profile
    }

    /// Every link of the chain to tile memory that is missing; empty where tile memory is offered.
    pub fn missing(&self) -> &[Missing] {
        &self.missing
    }

    /// What could be enabled.
    pub fn offers(&self) -> Capabilities {
        self.offers
    }

    /// What to add to the creation of a device for everything that is offered; see [`Enable`](super::Enable).
    ///
    /// # Safety
    /// The names and the `pNext` chain of `info` are valid.
    pub unsafe fn enable(&self, _info: &vk::DeviceCreateInfo<'_>) -> super::Enable {
        unimplemented!()
    }
}
