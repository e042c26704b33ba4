//! Entry points of queues.

use ash::vk;

use tileheap_layer::arrays::elements;
use tileheap_layer::call_down;
use tileheap_layer::chain::find;

use super::device::device_entry_points;
use super::submit::{given, submit};
use crate::model::order::submits::SemaphoreUse;
use crate::model::submissions::{Batch, Given};

device_entry_points! {
    /// Records the queue's family.
    fn vkGetDeviceQueue(handle: vk::Device, family: u32, index: u32, out: *mut vk::Queue) |device| {
        call_down!(device.driver.commands, vkGetDeviceQueue(handle, family, index, out));
        if let Some(tile) = &device.tile {
            // SAFETY: The driver has written it.
            tile.queues.remember(unsafe { *out }, family);
        }
    }

    /// As `vkGetDeviceQueue`.
    fn vkGetDeviceQueue2(handle: vk::Device, info: *const vk::DeviceQueueInfo2<'_>, out: *mut vk::Queue) |device| {
        call_down!(device.driver.commands, vkGetDeviceQueue2(handle, info, out));
        if let Some(tile) = &device.tile {
            // SAFETY: Valid usage: a valid structure.
            let family = unsafe { (*info).queue_family_index };
            // SAFETY: The driver has written it.
            tile.queues.remember(unsafe { *out }, family);
        }
    }

    /// Adds poison between command buffers and after batches that use tile memory.
    fn vkQueueSubmit(
        queue: vk::Queue,
        count: u32,
        infos: *const vk::SubmitInfo<'_>,
        fence: vk::Fence,
    ) -> vk::Result |device| {
        let as_given = || call_down!(device.driver.commands, vkQueueSubmit(queue, count, infos, fence));
        let Some(tile) = &device.tile else { return as_given() };
        // SAFETY: Valid usage.
        let infos = unsafe { elements(infos, count) };
        let batches: Vec<_> = infos
            .iter()
            .map(|info| {
                // SAFETY: The chain is valid.
                let is_fixed = unsafe { find::<vk::DeviceGroupSubmitInfo<'_>>(info.p_next) }.is_some();
                // SAFETY: Valid usage.
                let semaphores = unsafe { semaphores(info) };
                // SAFETY: As above.
                unsafe { given(info.p_command_buffers, info.command_buffer_count, |commands| *commands, is_fixed, semaphores) }
            })
            .collect();
        submit(&device, tile, queue, &batches, fence, as_given, |batches| {
            let mut timelines = vec![vk::TimelineSemaphoreSubmitInfo::default(); batches.len()];
            let below: Vec<_> = batches
                .iter()
                .zip(&mut timelines)
                .map(|(batch, timeline)| first_kind(batch, infos, timeline))
                .collect();
            call_down!(device.driver.commands, vkQueueSubmit(queue, below.len() as u32, below.as_ptr(), fence))
        })
    }

    /// Its semaphores order what is submitted.
    fn vkQueueBindSparse(
        queue: vk::Queue,
        count: u32,
        infos: *const vk::BindSparseInfo<'_>,
        fence: vk::Fence,
    ) -> vk::Result |device| {
        let as_given = || call_down!(device.driver.commands, vkQueueBindSparse(queue, count, infos, fence));
        let Some(tile) = &device.tile else { return as_given() };
        // SAFETY: Valid usage.
        let batches = unsafe { elements(infos, count) }.iter().map(|info| {
            let stages = vec![ALL; info.wait_semaphore_count as usize];
            let same = vk::SubmitInfo {
                p_next: info.p_next,
                wait_semaphore_count: info.wait_semaphore_count,
                p_wait_semaphores: info.p_wait_semaphores,
                p_wait_dst_stage_mask: stages.as_ptr(),
                signal_semaphore_count: info.signal_semaphore_count,
                p_signal_semaphores: info.p_signal_semaphores,
                ..Default::default()
            };
            // SAFETY: The arrays are as long as their counts.
            let semaphores = unsafe { semaphores(&same) };
            Given { commands: Vec::new(), is_fixed: true, uses_tile: false, semaphores }
        });
        let batches: Vec<_> = batches.collect();
        submit(&device, tile, queue, &batches, fence, as_given, |_| as_given())
    }

    /// As `vkQueueSubmit`.
    fn vkQueueSubmit2(
        queue: vk::Queue,
        count: u32,
        infos: *const vk::SubmitInfo2<'_>,
        fence: vk::Fence,
    ) -> vk::Result |device| {
        let as_given = || call_down!(device.driver.commands, vkQueueSubmit2(queue, count, infos, fence));
        let Some(tile) = &device.tile else { return as_given() };
        // SAFETY: Valid usage.
        let infos = unsafe { elements(infos, count) };
        let batches: Vec<_> = infos
            .iter()
            .map(|info| {
                let handle = |info: &vk::CommandBufferSubmitInfo<'_>| info.command_buffer;
                // SAFETY: Valid usage.
                let semaphores = unsafe { semaphores2(info) };
                // SAFETY: As above.
                unsafe { given(info.p_command_buffer_infos, info.command_buffer_info_count, handle, false, semaphores) }
            })
            .collect();
        submit(&device, tile, queue, &batches, fence, as_given, |batches| {
            let parts: Vec<_> = batches.iter().map(|batch| Parts::new(batch, infos)).collect();
            let below: Vec<_> = batches.iter().zip(&parts).map(|(batch, parts)| second_kind(batch, infos, parts)).collect();
            call_down!(device.driver.commands, vkQueueSubmit2(queue, below.len() as u32, below.as_ptr(), fence))
        })
    }
}

/// The semaphores that a batch waits for, and those that it signals.
///
/// # Safety
/// `info` is valid.
unsafe fn semaphores(info: &vk::SubmitInfo<'_>) -> [Vec<SemaphoreUse>; 2] {
    // SAFETY: The caller's promise.
    let values = unsafe { find::<vk::TimelineSemaphoreSubmitInfo<'_>>(info.p_next) };
    let values = values.map(|values| {
        // SAFETY: The caller's promise.
        let waited = unsafe { elements(values.p_wait_semaphore_values, values.wait_semaphore_value_count) };
        // SAFETY: The caller's promise.
        let signaled = unsafe {
            elements(
                values.p_signal_semaphore_values,
                values.signal_semaphore_value_count,
            )
        };
        (waited, signaled)
    });
    let (waited, signaled) = values.unwrap_or_default();
    // SAFETY: The caller's promise.
    let waits = unsafe { elements(info.p_wait_semaphores, info.wait_semaphore_count) };
    // SAFETY: The caller's promise.
    let stages = unsafe { elements(info.p_wait_dst_stage_mask, info.wait_semaphore_count) };
    // SAFETY: The caller's promise.
    let signals = unsafe { elements(info.p_signal_semaphores, info.signal_semaphore_count) };
    let value = |values: &[u64], index: usize| values.get(index).copied().unwrap_or_default();
    let wide = |stages: vk::PipelineStageFlags| vk::PipelineStageFlags2::from_raw(stages.as_raw().into());
    let waits = waits.iter().zip(stages).enumerate();
    let waits = waits.map(|(index, (semaphore, stages))| (*semaphore, value(waited, index), wide(*stages)));
    let signals = signals.iter().enumerate();
    let signals = signals.map(|(index, semaphore)| (*semaphore, value(signaled, index), wide(ALL)));
    [waits.collect(), signals.collect()]
}

/// As [`semaphores`].
///
/// # Safety
/// `info` is valid.
unsafe fn semaphores2(info: &vk::SubmitInfo2<'_>) -> [Vec<SemaphoreUse>; 2] {
    // SAFETY: The caller's promise.
    let waits = unsafe { elements(info.p_wait_semaphore_infos, info.wait_semaphore_info_count) };
    // SAFETY: The caller's promise.
    let signals = unsafe { elements(info.p_signal_semaphore_infos, info.signal_semaphore_info_count) };
    let uses = |infos: &[vk::SemaphoreSubmitInfo<'_>]| {
        let one = |info: &vk::SemaphoreSubmitInfo<'_>| (info.semaphore, info.value, info.stage_mask);
        infos.iter().map(one).collect()
    };
    [uses(waits), uses(signals)]
}

/// All commands wait.
const ALL: vk::PipelineStageFlags = vk::PipelineStageFlags::ALL_COMMANDS;

fn first_kind<'a>(
    batch: &'a Batch,
    infos: &[vk::SubmitInfo<'a>],
    timeline: &'a mut vk::TimelineSemaphoreSubmitInfo<'a>,
) -> vk::SubmitInfo<'a> {
    let own = vk::SubmitInfo::default();
    match batch {
        Batch::Application(index, None) => infos[*index],
        Batch::Application(index, Some(commands)) => infos[*index].command_buffers(commands),
        Batch::Poison(commands) => own.command_buffers(std::slice::from_ref(commands)),
        Batch::Wait(semaphore, value) => {
            *timeline = timeline.wait_semaphore_values(std::slice::from_ref(value));
            own.wait_semaphores(std::slice::from_ref(semaphore))
                .wait_dst_stage_mask(&[ALL])
                .push_next(timeline)
        }
        Batch::Signal(semaphore, value) => {
            *timeline = timeline.signal_semaphore_values(std::slice::from_ref(value));
            own.signal_semaphores(std::slice::from_ref(semaphore))
                .push_next(timeline)
        }
    }
}

/// The arrays that a `VkSubmitInfo2` points to.
struct Parts {
    commands: Vec<vk::CommandBufferSubmitInfo<'static>>,
    semaphores: Vec<vk::SemaphoreSubmitInfo<'static>>,
}

impl Parts {
    fn new(batch: &Batch, infos: &[vk::SubmitInfo2<'_>]) -> Parts {
        let plain =
            |commands: vk::CommandBuffer| vk::CommandBufferSubmitInfo::default().command_buffer(commands);
        let point = |semaphore: vk::Semaphore, value: u64| {
            let everything = vk::PipelineStageFlags2::ALL_COMMANDS;
            vk::SemaphoreSubmitInfo::default()
                .semaphore(semaphore)
                .value(value)
                .stage_mask(everything)
        };
        let (mut commands, mut semaphores) = (Vec::new(), Vec::new());
        match batch {
            Batch::Application(index, Some(all)) => {
                let info = &infos[*index];
                // SAFETY: Valid usage; the lifetime is one of pointers, which outlive the submission.
                let given: &[vk::CommandBufferSubmitInfo<'static>] =
                    unsafe { elements(info.p_command_buffer_infos.cast(), info.command_buffer_info_count) };
                let mut given = given.iter().peekable();
                for handle in all {
                    let own = given.next_if(|given| given.command_buffer == *handle);
                    commands.push(own.copied().unwrap_or_else(|| plain(*handle)));
                }
            }
            Batch::Application(_, None) => {}
            Batch::Poison(handle) => commands.push(plain(*handle)),
            Batch::Wait(semaphore, value) | Batch::Signal(semaphore, value) => {
                semaphores.push(point(*semaphore, *value))
            }
        }
        Parts { commands, semaphores }
    }
}

fn second_kind<'a>(batch: &Batch, infos: &[vk::SubmitInfo2<'a>], parts: &'a Parts) -> vk::SubmitInfo2<'a> {
    let own = vk::SubmitInfo2::default();
    match batch {
        Batch::Application(index, None) => infos[*index],
        Batch::Application(index, Some(_)) => infos[*index].command_buffer_infos(&parts.commands),
        Batch::Poison(_) => own.command_buffer_infos(&parts.commands),
        Batch::Wait(..) => own.wait_semaphore_infos(&parts.semaphores),
        Batch::Signal(..) => own.signal_semaphore_infos(&parts.semaphores),
    }
}
