//! Command buffers, and the declaration of their commands.

use std::sync::{Arc, Mutex, PoisonError};

use ash::vk;
use ash::vk::Handle;
use tileheap_layer::exclusive::Exclusive;
use tileheap_layer::shared_objects::SharedObjects;
use tileheap_layer::{array, call_down, given};

use super::device::{Device, device_entry_points};
use super::timestamps::Timestamps;
use crate::model::recording::Recording;
use crate::model::submits::Submitted;
use crate::model::timing::{Mark, SubmittedTimes};

/// The layer's state of a command buffer.
pub(crate) struct Recorder {
    pub(crate) device: Arc<Device>,
    pool: vk::CommandPool,
    recording: Exclusive<Recording>,
    /// The queries of the command buffer, if its passes are timed.
    timestamps: Option<Timestamps>,
    name: Mutex<String>,
}

static RECORDERS: SharedObjects<Recorder> = SharedObjects::new();

/// Records a command if its device is capturing. Returns the state of the command buffer, and the timestamp to write at the command, if any.
#[inline]
pub(crate) fn record<'a>(
    commands: vk::CommandBuffer,
    call: &'static str,
    add: impl FnOnce(&Device, &mut Recording),
) -> Option<(&'a Recorder, Option<Mark>)> {
    let recorder = RECORDERS.synchronized(commands.as_raw())?;
    let mut mark = None;
    if recorder.device.is_capturing() {
        let mut recording = recorder.recording.lock();
        recording.next(call);
        add(&recorder.device, &mut recording);
        mark = recording.mark();
    }
    Some((recorder, mark))
}

impl Recorder {
    /// Writes the timestamp at a command, if it has one.
    #[inline]
    pub(crate) fn stamp(&self, commands: vk::CommandBuffer, mark: Option<Mark>) {
        if let (Some(mark), Some(timestamps)) = (mark, &self.timestamps) {
            timestamps.write(commands, mark);
        }
    }
}

/// Declares entry points that record a command and call the next layer.
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
                if let Some((recorder, mark)) = tileheap_layer::guard::guard(stringify!($name), recorder) {
                    use $crate::model::timing::Mark;
                    recorder.stamp(commands, mark.filter(|mark| matches!(mark, Mark::Before(_))));
                    tileheap_layer::call_down!(recorder.device.next, $name(commands $(, $arg)*));
                    recorder.stamp(commands, mark.filter(|mark| matches!(mark, Mark::After(_))));
                }
            })
        }
    )+};
}
pub(crate) use commands;

/// Returns the command buffer in its current state, for a submission.
pub(crate) fn submitted(commands: vk::CommandBuffer) -> Submitted {
    let known = RECORDERS.get(commands.as_raw());
    let times = known.as_ref().and_then(|one| {
        let count = one.recording.lock().timestamps;
        let timestamps = one.timestamps.as_ref().filter(|_| count > 0)?;
        Some(timestamps.submit(commands, count))
    });
    Submitted {
        name: known.as_ref().map_or_else(String::new, |one| {
            one.name.lock().unwrap_or_else(PoisonError::into_inner).clone()
        }),
        ops: known.map_or_else(Arc::default, |one| one.recording.lock().finished.clone()),
        flat: None,
        times,
    }
}

/// Reads the timestamps of a submission that the device has completed, unless they were read before.
pub(crate) fn read_times(times: &SubmittedTimes) {
    let known = RECORDERS.get(times.command_buffer);
    if let Some(timestamps) = known.as_ref().and_then(|one| one.timestamps.as_ref()) {
        timestamps.read(false);
    }
}

/// Sets the name of a command buffer.
pub(crate) fn set_name(handle: u64, name: &str) {
    if let Some(one) = RECORDERS.get(handle) {
        name.clone_into(&mut one.name.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// Removes the command buffers of a device.
pub(crate) fn forget_device(device: vk::Device) {
    RECORDERS.remove_all(|one| one.device.handle == device);
}

device_entry_points! {
    vkCreateCommandPool(handle, info, allocator, out) |device| {
        let result = call_down!(device.next, vkCreateCommandPool(handle, info, allocator, out));
        if result == vk::Result::SUCCESS {
            let given = given!(info);
            let bits = device.known.timestamp_bits.get(given.queue_family_index as usize).copied().unwrap_or(0);
            let is_timed = device.settings.as_ref().is_some_and(|settings| settings.timestamps);
            if is_timed && bits > 0 && !given.flags.contains(vk::CommandPoolCreateFlags::PROTECTED) {
                device.timed_pools.insert(given!(out).as_raw(), bits);
            }
        }
        result
    }
    vkAllocateCommandBuffers(handle, info, out) |device| {
        let result = call_down!(device.next, vkAllocateCommandBuffers(handle, info, out));
        if result == vk::Result::SUCCESS {
            let given = given!(info);
            let is_primary = given.level == vk::CommandBufferLevel::PRIMARY;
            let bits = device.timed_pools.get(given.command_pool.as_raw()).filter(|_| is_primary);
            for commands in array!(out.cast_const(), given.command_buffer_count) {
                RECORDERS.insert(commands.as_raw(), Arc::new(Recorder {
                    device: device.clone(),
                    pool: given.command_pool,
                    recording: Exclusive::default(),
                    timestamps: bits.map(|bits| Timestamps::new(device.clone(), bits)),
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
        device.timed_pools.remove(pool.as_raw());
        call_down!(device.next, vkDestroyCommandPool(handle, pool, allocator));
    }
    vkBeginCommandBuffer(commands, info) |device| {
        let is_alone = !given!(info).flags.contains(vk::CommandBufferUsageFlags::SIMULTANEOUS_USE);
        let recorder = record(commands, "", |_, recording| *recording = Recording::default());
        if let Some((recorder, _)) = recorder.filter(|_| is_alone && device.is_capturing()) {
            if recorder.timestamps.as_ref().is_some_and(Timestamps::begin) {
                recorder.recording.lock().time();
            }
        }
        call_down!(device.next, vkBeginCommandBuffer(commands, info))
    }
    vkEndCommandBuffer(commands) |device| {
        if let Some((recorder, mark)) = record(commands, "", |_, recording| recording.end()) {
            recorder.stamp(commands, mark);
        }
        call_down!(device.next, vkEndCommandBuffer(commands))
    }
}
