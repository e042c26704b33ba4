//! Command buffers, and the declaration of their commands.

use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use ash::vk;
use ash::vk::Handle;
use tileheap_layer::exclusive::Exclusive;
use tileheap_layer::sharded::Sharded;
use tileheap_layer::{array, call_down, given};

use super::device::{Device, device_entry_points};
use crate::model::recording::Recording;
use crate::model::submits::Submitted;

/// A command buffer.
pub(crate) struct Recorder {
    pub(crate) device: Arc<Device>,
    pool: vk::CommandPool,
    recording: Exclusive<Recording>,
    name: Mutex<String>,
}

static RECORDERS: LazyLock<Sharded<Arc<Recorder>>> = LazyLock::new(Sharded::default);

/// Records a command if its device is capturing, and returns the command buffer.
#[inline]
pub(crate) fn record(
    commands: vk::CommandBuffer,
    call: &'static str,
    add: impl FnOnce(&Device, &mut Recording),
) -> Option<Arc<Recorder>> {
    let recorder = RECORDERS.get(commands.as_raw())?;
    if recorder.device.is_capturing() {
        let mut recording = recorder.recording.lock();
        recording.next(call);
        add(&recorder.device, &mut recording);
    }
    Some(recorder)
}

/// Declares entry points of commands, which are recorded and called in the next layer.
macro_rules! commands {
    ($($name:ident($($arg:tt),*) |$device:ident, $recording:ident| $add:expr;)+) => {$(
        #[allow(non_snake_case, reason = "Vulkan's names")]
        pub(crate) fn $name() -> tileheap_layer::dispatch::EntryPoint {
            tileheap_layer::entry_point!(|table: &$crate::tables::DeviceTable| table.$name, |commands $(, $arg)*| {
                let add = |$device: &$crate::hooks::device::Device, $recording: &mut $crate::model::recording::Recording| {
                    let _ = $device;
                    $add;
                };
                let recorder = || $crate::hooks::recorder::record(commands, stringify!($name), add);
                if let Some(recorder) = tileheap_layer::guard::guard(stringify!($name), recorder) {
                    tileheap_layer::call_down!(recorder.device.next, $name(commands $(, $arg)*));
                }
            })
        }
    )+};
}
pub(crate) use commands;

/// Returns the command buffer in its current state, for a submission.
pub(crate) fn submitted(commands: vk::CommandBuffer) -> Submitted {
    let known = RECORDERS.get(commands.as_raw());
    Submitted {
        name: known.as_ref().map_or_else(String::new, |one| {
            one.name.lock().unwrap_or_else(PoisonError::into_inner).clone()
        }),
        ops: known.map_or_else(Arc::default, |one| one.recording.lock().ended.clone()),
        flat: None,
    }
}

/// Sets the name of a command buffer.
pub(crate) fn set_name(handle: u64, name: &str) {
    RECORDERS.with(handle, |one| {
        name.clone_into(&mut one.name.lock().unwrap_or_else(PoisonError::into_inner))
    });
}

/// Removes the command buffers of a device.
pub(crate) fn forget_device(device: vk::Device) {
    RECORDERS.remove_all(|one| one.device.handle == device);
}

device_entry_points! {
    vkAllocateCommandBuffers(handle, info, out) |device| {
        let result = call_down!(device.next, vkAllocateCommandBuffers(handle, info, out));
        if result == vk::Result::SUCCESS {
            let given = given!(info);
            for commands in array!(out.cast_const(), given.command_buffer_count) {
                RECORDERS.insert(commands.as_raw(), Arc::new(Recorder {
                    device: device.clone(),
                    pool: given.command_pool,
                    recording: Exclusive::default(),
                    name: Mutex::default(),
                }));
            }
        }
        result
    }
    vkFreeCommandBuffers(handle, pool, count, all) |device| {
        for commands in array!(all, count) {
            RECORDERS.remove(commands.as_raw());
        }
        call_down!(device.next, vkFreeCommandBuffers(handle, pool, count, all));
    }
    vkDestroyCommandPool(handle, pool, allocator) |device| {
        RECORDERS.remove_all(|one| one.device.handle == handle && one.pool == pool);
        call_down!(device.next, vkDestroyCommandPool(handle, pool, allocator));
    }
    vkBeginCommandBuffer(commands, info) |device| {
        record(commands, "", |_, recording| *recording = Recording::default());
        call_down!(device.next, vkBeginCommandBuffer(commands, info))
    }
    vkEndCommandBuffer(commands) |device| {
        record(commands, "", |_, recording| recording.end());
        call_down!(device.next, vkEndCommandBuffer(commands))
    }
}
