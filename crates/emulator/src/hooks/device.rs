//! Devices: the extensions that they have enabled, and the state of their tile memory.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ash::vk;
use tileheap_device::profile::TileRequirements;
use tileheap_layer::registry::Registry;

use super::driver::Driver;
use super::heap_memory::HeapMemory;
use super::tile_records::TileShading;
use crate::model::descriptors::Descriptors;
use crate::model::order::tracker::Tracker;
use crate::model::reporter::Reporter;
use crate::model::resources::Resources;
use crate::model::submissions::Queues;
use crate::model::trace::Trace;
use crate::tables::emulation::PhysicalDeviceInfo;

/// The layer's state of a device.
pub(crate) struct Device {
    pub(crate) driver: Driver,
    pub(crate) physical: Arc<PhysicalDeviceInfo>,
    pub(crate) reporter: Reporter,
    pub(crate) enabled: EnabledExtensions,
    /// True if the feature `maintenance9` is enabled.
    pub(crate) has_maintenance9: bool,
    pub(crate) resources: Resources,
    pub(crate) descriptors: Descriptors,
    /// State of the checks; `None` if nothing is checked, because tile memory is off and ordinary memory is not
    /// checked.
    pub(crate) check: Option<Check>,
    /// State of tile memory; `None` if no feature that needs it is enabled: then only memory types are emulated.
    pub(crate) tile: Option<Tile>,
    /// State of tile shading; `None` if dispatches cannot run per tile.
    pub(crate) tile_shading: Option<TileShading>,
}

/// The extensions of the layer that a device has enabled. Commands can be looked up if their extension is enabled; tile memory also needs its
/// feature.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EnabledExtensions {
    pub(crate) tile_memory_heap: bool,
    pub(crate) tile_properties: bool,
    pub(crate) tile_shading: bool,
    /// True if the feature `tileMemoryHeap` is enabled.
    pub(crate) heap_feature: bool,
    /// True if a tile shading feature other than `tileShading` is enabled.
    pub(crate) per_tile: bool,
}

impl EnabledExtensions {
    /// Returns true if any of the layer's extensions is enabled.
    pub(crate) fn any_of_own(&self) -> bool {
        self.tile_memory_heap || self.tile_properties || self.tile_shading
    }
}

/// The state of tile memory on a device.
pub(crate) struct Tile {
    pub(crate) heap: HeapMemory,
    pub(crate) trace: Option<Trace>,
    pub(crate) poison: bool,
}

/// The state of the checks of order and contents on a device.
pub(crate) struct Check {
    pub(crate) queues: Queues,
    /// True if the order of accesses is tracked as well as contents.
    pub(crate) follows_order: bool,
    /// True if ordinary memory that resources share is tracked.
    pub(crate) follows_ordinary: bool,
    /// True once two resources have shared bytes of ordinary memory.
    pub(crate) has_shared_memory: AtomicBool,
    pub(crate) tracker: Mutex<Tracker>,
}

impl Check {
    /// Locks and returns the tracked order and contents of everything that was submitted.
    pub(crate) fn tracker(&self) -> MutexGuard<'_, Tracker> {
        self.tracker.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// All devices, by dispatch key.
pub(crate) static DEVICES: Registry<Device> = Registry::new();

/// Declares entry points as `entry_points!` does. With `|device|` after the arguments, the body runs for the device of the first argument; if there
/// is no such device, the fallback is returned.
macro_rules! device_entry_points {
    ($($(#[$doc:meta])* $name:ident($handle:ident $(, $arg:ident)* $(,)?) $(|$device:ident|)? $body:block)+) => {
        tileheap_layer::entry_points! { of $crate::tables::device_commands::DeviceTable: $(
            $(#[$doc])*
            $name($handle $(, $arg)*) {
                $(let Some($device) = $crate::hooks::device::DEVICES.of($handle) else {
                    return tileheap_layer::guard::Fallback::fallback();
                };)?
                $body
            }
        )+}
    };
}
pub(crate) use device_entry_points;

/// Bytes of the tile heap that this process has allocated on a physical device. Memory objects share the bytes of the heap, so this is the size of
/// the largest object.
pub(crate) fn allocated_of_heap(physical: vk::PhysicalDevice) -> u64 {
    let of_physical = |device: &Arc<Device>| device.physical.handle == physical;
    let devices = DEVICES.all().into_iter().filter(of_physical);
    devices.fold(0, |largest, device| {
        let objects = &device.resources.objects;
        objects.fold(largest, |largest: u64, size| largest.max(*size))
    })
}

impl Device {
    /// Returns `true` if ordinary memory is checked.
    pub(crate) fn follows_ordinary(&self) -> bool {
        self.check.as_ref().is_some_and(|check| check.follows_ordinary)
    }

    /// The driver's memory type for the tile heap, if there is tile memory.
    pub(crate) fn heap_type(&self) -> Option<u32> {
        self.tile.as_ref().and_then(|tile| tile.heap.memory_type())
    }

    /// The memory type bits of the emulated lazily allocated type, for a resource to which the driver gives the bits
    /// `driver`.
    pub(crate) fn lazy_bits(&self, driver: u32) -> u32 {
        let emulation = self.physical.emulation.as_ref();
        emulation.map_or(0, |emulation| emulation.memory_types.lazy_bits(driver))
    }

    /// Converts the driver's memory type bits to those that the application sees.
    pub(crate) fn shown_bits(&self, driver: u32) -> u32 {
        let emulation = self.physical.emulation.as_ref();
        emulation.map_or(driver, |emulation| emulation.memory_types.bits(driver))
    }

    /// The memory type bits of the tile types; 0 if the resource cannot be placed in tile memory.
    pub(crate) fn tile_bits(&self, needs: Option<TileRequirements>) -> u32 {
        let emulation = self.physical.emulation.as_ref().filter(|_| needs.is_some());
        emulation.map_or(0, |emulation| emulation.memory_types.tile_bits())
    }
}
