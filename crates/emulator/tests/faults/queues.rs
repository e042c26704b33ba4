//! Two queues on a driver that has one: the second is a handle of its own for the layer, and the same queue below.

use std::sync::Mutex;

use ash::vk;
use ash::vk::Handle;

use crate::driver::{fails, lock, machines};

/// The machine's queue, and the handle that stands for the second one: it begins with the loader's table, as every handle does.
static SECOND: Mutex<(u64, [usize; 2])> = Mutex::new((0, [0; 2]));

/// A batch that reached the driver.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    /// Command buffers.
    pub(crate) commands: usize,
    /// Values of timeline semaphores.
    pub(crate) waits: Vec<u64>,
    pub(crate) signals: Vec<u64>,
}

/// A call that reached the driver: by which queue, 0 or 1, and its batches.
pub(crate) type Call = (usize, Vec<Seen>);

/// What reached the driver; `None` while nobody asks.
pub(crate) static SUBMITTED: Mutex<Option<Vec<Call>>> = Mutex::new(None);

pub(crate) unsafe extern "system" fn get_device_queue(
    device: vk::Device,
    family: u32,
    index: u32,
    out: *mut vk::Queue,
) {
    // SAFETY: The command's type.
    let below: vk::PFN_vkGetDeviceQueue = unsafe { machines("vkGetDeviceQueue") };
    // SAFETY: The layer's arguments.
    unsafe { below(device, family, 0, out) };
    if index == 1 {
        let mut second = lock(&SECOND);
        // SAFETY: Written by the driver.
        second.0 = unsafe { *out }.as_raw();
        // SAFETY: A live handle, which points to the loader's table.
        second.1[0] = unsafe { *(second.0 as usize as *const usize) };
        let handle = vk::Queue::from_raw((&raw const second.1) as usize as u64);
        // SAFETY: Room for one.
        unsafe { out.write(handle) };
    }
}

/// Which queue a handle is, and the machine's queue.
fn numbered(queue: vk::Queue) -> (usize, vk::Queue) {
    let second = lock(&SECOND);
    if queue.as_raw() == (&raw const second.1) as usize as u64 {
        (1, vk::Queue::from_raw(second.0))
    } else {
        (0, queue)
    }
}

/// # Safety
/// Null, or so many elements.
unsafe fn slice<'a, T>(first: *const T, count: u32) -> &'a [T] {
    if first.is_null() {
        return &[];
    }
    // SAFETY: The caller's promise.
    unsafe { std::slice::from_raw_parts(first, count as usize) }
}

fn note(queue: usize, batches: impl FnOnce() -> Vec<Seen>) {
    if let Some(submitted) = &mut *lock(&SUBMITTED) {
        submitted.push((queue, batches()));
    }
}

pub(crate) unsafe extern "system" fn queue_submit(
    queue: vk::Queue,
    count: u32,
    infos: *const vk::SubmitInfo<'_>,
    fence: vk::Fence,
) -> vk::Result {
    if let Some(error) = fails("vkQueueSubmit") {
        return error;
    }
    let (number, queue) = numbered(queue);
    note(number, || {
        // SAFETY: The layer's arguments.
        let batches = unsafe { slice(infos, count) }.iter();
        batches
            .map(|info| {
                let mut seen = Seen {
                    commands: info.command_buffer_count as usize,
                    ..Seen::default()
                };
                // SAFETY: Null, or a valid structure.
                let base = unsafe { info.p_next.cast::<vk::BaseInStructure<'_>>().as_ref() };
                let is_timeline = |base: &&vk::BaseInStructure<'_>| {
                    base.s_type == vk::StructureType::TIMELINE_SEMAPHORE_SUBMIT_INFO
                };
                if base.filter(is_timeline).is_some() {
                    // SAFETY: Of this type.
                    let timeline = unsafe { &*info.p_next.cast::<vk::TimelineSemaphoreSubmitInfo<'_>>() };
                    let (waits, signals) = (
                        (
                            timeline.p_wait_semaphore_values,
                            timeline.wait_semaphore_value_count,
                        ),
                        (
                            timeline.p_signal_semaphore_values,
                            timeline.signal_semaphore_value_count,
                        ),
                    );
                    // SAFETY: The layer's arguments.
                    seen.waits.extend(unsafe { slice(waits.0, waits.1) });
                    // SAFETY: As above.
                    seen.signals.extend(unsafe { slice(signals.0, signals.1) });
                }
                seen
            })
            .collect()
    });
    // SAFETY: The command's type.
    let below: vk::PFN_vkQueueSubmit = unsafe { machines("vkQueueSubmit") };
    // SAFETY: The layer's arguments.
    unsafe { below(queue, count, infos, fence) }
}

/// # Safety
/// Null, or so many elements.
unsafe fn values(first: *const vk::SemaphoreSubmitInfo<'_>, count: u32) -> Vec<u64> {
    // SAFETY: The caller's promise.
    unsafe { slice(first, count) }
        .iter()
        .map(|info| info.value)
        .collect()
}

pub(crate) unsafe extern "system" fn queue_submit2(
    queue: vk::Queue,
    count: u32,
    infos: *const vk::SubmitInfo2<'_>,
    fence: vk::Fence,
) -> vk::Result {
    if let Some(error) = fails("vkQueueSubmit2") {
        return error;
    }
    let (number, queue) = numbered(queue);
    note(number, || {
        // SAFETY: The layer's arguments.
        let batches = unsafe { slice(infos, count) }.iter();
        let seen = |info: &vk::SubmitInfo2<'_>| Seen {
            commands: info.command_buffer_info_count as usize,
            // SAFETY: As above.
            waits: unsafe { values(info.p_wait_semaphore_infos, info.wait_semaphore_info_count) },
            // SAFETY: As above.
            signals: unsafe { values(info.p_signal_semaphore_infos, info.signal_semaphore_info_count) },
        };
        batches.map(seen).collect()
    });
    // SAFETY: The command's type.
    let below: vk::PFN_vkQueueSubmit2 = unsafe { machines("vkQueueSubmit2") };
    // SAFETY: The layer's arguments.
    unsafe { below(queue, count, infos, fence) }
}

pub(crate) unsafe extern "system" fn queue_wait_idle(queue: vk::Queue) -> vk::Result {
    // SAFETY: The command's type.
    let below: vk::PFN_vkQueueWaitIdle = unsafe { machines("vkQueueWaitIdle") };
    // SAFETY: One of the two queues.
    unsafe { below(numbered(queue).1) }
}
