//! Device state shared by everything that is bound on it: handles, functions, profile, memory.

use std::ffi::CString;
use std::sync::{Arc, Mutex, OnceLock};

use ash::vk;

use super::capabilities::Capabilities;
use super::error::RuntimeError;
use super::functions::Functions;
use super::hooks::Hooks;
use super::memory::MemoryAllocator;
use super::pool::Pool;
use super::pool_key::Measured;
use crate::Result;
use crate::profile::DeviceProfile;
use crate::units::Bytes;

/// The state of a device that everything bound on it shares. Invariant: the handles belong together and outlive this.
pub(super) struct DeviceState {
    pub(super) instance: ash::Instance,
    pub(super) physical_device: vk::PhysicalDevice,
    pub(super) device: ash::Device,
    pub(super) functions: Functions,
    pub(super) profile: Arc<DeviceProfile>,
    pub(super) capabilities: Capabilities,
    pub(super) hooks: Option<Arc<dyn Hooks>>,
    pub(super) memory: MemoryAllocator,
    pub(super) pool: Pool,
    /// The requirements that the driver has reported so far.
    pub(super) measured: Mutex<Measured>,
    /// True if the driver reports how much memory is left (`VK_EXT_memory_budget`).
    pub(super) reports_budget: bool,
    /// The first call that returned `VK_ERROR_DEVICE_LOST`, if any.
    pub(super) lost: OnceLock<&'static str>,
}

impl DeviceState {
    /// Size of the tile heap; 0 if there is none.
    pub(super) fn tile_bytes(&self) -> Bytes {
        self.profile.tile.as_ref().map_or(Bytes::ZERO, |tile| tile.size)
    }

    /// Usage and budget of a memory type's heap for this process (`heapUsage`, `heapBudget`); `None` if the driver does not report them.
    pub(super) fn budget_of(&self, memory_type: u32) -> Option<(Bytes, Bytes)> {
        if !self.reports_budget {
            return None;
        }
        let heap = self.profile.memory_types[memory_type as usize].heap as usize;
        let mut budget = vk::PhysicalDeviceMemoryBudgetPropertiesEXT::default();
        let mut properties = vk::PhysicalDeviceMemoryProperties2::default().push_next(&mut budget);
        // SAFETY: the physical device is one of the instance, and lists the extension of the chained struct.
        unsafe {
            self.instance
                .get_physical_device_memory_properties2(self.physical_device, &mut properties);
        }
        let (used, budget) = (Bytes(budget.heap_usage[heap]), Bytes(budget.heap_budget[heap]));
        (budget > Bytes::ZERO).then_some((used, budget))
    }

    /// Remembers the first call that returned `VK_ERROR_DEVICE_LOST`; ignores all other errors.
    pub(super) fn note_loss(&self, error: &RuntimeError) {
        match error {
            RuntimeError::Vulkan { call, .. } if error.is_device_lost() => {
                let first = self.lost.set(call).is_ok();
                if first {
                    tracing::error!(call, "the device is lost");
                }
            }
            _ => {}
        }
    }

    /// Passes a result on, and [remembers](Self::note_loss) the loss of the device.
    pub(super) fn noting_loss<T>(&self, result: Result<T>) -> Result<T> {
        if let Err(crate::Error::Runtime(error)) = &result {
            self.note_loss(error);
        }
        result
    }

    /// Returns an error if the device is known to be lost. Calls that wait for the device or query its progress are not made in that case:
    /// `vkWaitSemaphores` may return success for work that was never done.
    pub(super) fn check_not_lost(&self) -> Result<()> {
        let Some(&call) = self.lost.get() else {
            return Ok(());
        };
        let (result, what) = (vk::Result::ERROR_DEVICE_LOST, "the device in an earlier call");
        Err(RuntimeError::Vulkan {
            call,
            result,
            what: what.to_owned(),
        }
        .into())
    }

    /// Names an object with `VK_EXT_debug_utils`, if the extension is enabled. Failures are ignored.
    pub(super) fn set_name(&self, handle: impl vk::Handle, name: &str) {
        let Some(debug) = &self.functions.debug_utils else {
            return;
        };
        let name = c_name(name);
        let info = vk::DebugUtilsObjectNameInfoEXT::default()
            .object_handle(handle)
            .object_name(&name);
        // SAFETY: the handle is this device's, and no other thread uses it: it was just created, or is lent to the bound frame that this
        // thread binds, selects or begins.
        let _ = unsafe { debug.set_debug_utils_object_name(&info) };
    }

    /// A name to remember, so that an object is renamed only if its name changes; empty without debug names.
    pub(super) fn recorded_name(&self, name: &str) -> String {
        match self.functions.debug_utils {
            Some(_) => name.to_owned(),
            None => String::new(),
        }
    }
}

impl Drop for DeviceState {
    fn drop(&mut self) {
        self.memory.leak();
    }
}

/// Converts text to a C string, without its zero bytes.
pub(super) fn c_name(name: &str) -> CString {
    CString::new(name).unwrap_or_else(|_| {
        let bytes: Vec<u8> = name.bytes().filter(|&byte| byte != 0).collect();
        CString::new(bytes).expect("the zero bytes were filtered out")
    })
}
