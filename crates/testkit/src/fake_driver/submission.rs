//! Queues, fences, semaphores.

use ash::vk;
use ash::vk::Handle;

use super::journal::{Call, SubmittedBatch};
use super::pointers::{attempt, borrow, chained, slice, store};
use super::records::{Detail, Pending, Stage};
use super::state::{Entered, enter};

pub(super) unsafe extern "system" fn vkGetDeviceQueue(
    device: vk::Device,
    family: u32,
    index: u32,
    out: *mut vk::Queue,
) {
    let mut call = enter(device, "vkGetDeviceQueue");
    let found = call.objects.iter().find(|(_, record)| {
        record.parent == device.as_raw()
            && matches!(record.detail, Detail::Queue { family: f, index: i } if (f, i) == (family, index))
    });
    let queue = found.map_or(0, |(handle, _)| *handle);
    if queue == 0 {
        // VUID-vkGetDeviceQueue-queueFamilyIndex-00384, -queueIndex-00385.
        call.violation(format_args!("no queue {index} of family {family} was created"));
    }
    store!(out, vk::Queue::from_raw(queue));
}

/// Executes, or keeps, what is submitted.
fn submit(
    call: &mut Entered,
    queue: vk::Queue,
    batches: Vec<SubmittedBatch>,
    fence: vk::Fence,
) -> vk::Result {
    attempt!(call, unless_lost);
    call.expect_optional(fence);
    if let Some(Detail::Fence { signalled: true }) = call.detail(fence) {
        // VUID-vkQueueSubmit2-fence-04894.
        call.violation(format_args!("{fence:?} is signalled already"));
    }
    for batch in &batches {
        for (semaphore, _) in batch.waits.iter().chain(&batch.signals) {
            call.expect(*semaphore);
        }
        for command_buffer in &batch.command_buffers {
            judge(call, *command_buffer);
        }
    }
    let last = batches.len().saturating_sub(1);
    for (index, batch) in batches.iter().enumerate() {
        let pending = Pending {
            queue: queue.as_raw(),
            command_buffers: batch.command_buffers.iter().map(|one| one.as_raw()).collect(),
            signals: batch
                .signals
                .iter()
                .map(|(semaphore, value)| (semaphore.as_raw(), *value))
                .collect(),
            fence: (index == last && !fence.is_null()).then(|| fence.as_raw()),
        };
        call.pending.push(pending);
    }
    if batches.is_empty() && !fence.is_null() {
        let fence = Some(fence.as_raw());
        let (command_buffers, signals) = (Vec::new(), Vec::new());
        call.pending.push(Pending {
            queue: queue.as_raw(),
            command_buffers,
            signals,
            fence,
        });
    }
    call.journal.push(Call::Submit {
        queue,
        batches,
        fence,
    });
    if !call.driver.config.asynchronous {
        call.complete_all();
    }
    vk::Result::SUCCESS
}

/// Judges a command buffer that is submitted, and makes it pending.
fn judge(call: &mut Entered, command_buffer: vk::CommandBuffer) {
    call.expect(command_buffer);
    let dead: Vec<u64> = (call.needs(command_buffer.as_raw()).into_iter())
        .filter(|needed| call.objects.get(needed).is_some_and(|record| !record.alive))
        .collect();
    for needed in dead {
        let kind = call.objects[&needed].kind;
        call.violation(format_args!(
            "{command_buffer:?} names {kind:?} {needed:#x}, which was destroyed"
        ));
    }
    let Some(recording) = call.recording(command_buffer) else {
        return;
    };
    let (stage, secondary) = (recording.stage, recording.secondary);
    recording.stage = Stage::Pending;
    if secondary || stage != Stage::Executable {
        // VUID-vkQueueSubmit2-commandBuffer-03874, VUID-VkCommandBufferSubmitInfo-commandBuffer-03890.
        call.violation(format_args!(
            "{command_buffer:?} is no executable primary command buffer ({stage:?})"
        ));
    }
}

pub(super) unsafe extern "system" fn vkQueueSubmit(
    queue: vk::Queue,
    count: u32,
    infos: *const vk::SubmitInfo<'_>,
    fence: vk::Fence,
) -> vk::Result {
    let mut call = enter(queue, "vkQueueSubmit");
    let mut batches = Vec::new();
    for info in slice!(infos, count) {
        let timeline = chained!(info.p_next => vk::TimelineSemaphoreSubmitInfo<'_>);
        let (wait_values, signal_values) = match timeline {
            Some(values) => (
                slice!(values.p_wait_semaphore_values, values.wait_semaphore_value_count),
                slice!(
                    values.p_signal_semaphore_values,
                    values.signal_semaphore_value_count
                ),
            ),
            None => (&[][..], &[][..]),
        };
        let with_values = |semaphores: &[vk::Semaphore], values: &[u64]| {
            let values = values.iter().copied().chain(std::iter::repeat(0));
            semaphores.iter().copied().zip(values).collect()
        };
        batches.push(SubmittedBatch {
            waits: with_values(
                slice!(info.p_wait_semaphores, info.wait_semaphore_count),
                wait_values,
            ),
            command_buffers: slice!(info.p_command_buffers, info.command_buffer_count).to_vec(),
            signals: with_values(
                slice!(info.p_signal_semaphores, info.signal_semaphore_count),
                signal_values,
            ),
        });
    }
    submit(&mut call, queue, batches, fence)
}

pub(super) unsafe extern "system" fn vkQueueSubmit2(
    queue: vk::Queue,
    count: u32,
    infos: *const vk::SubmitInfo2<'_>,
    fence: vk::Fence,
) -> vk::Result {
    let mut call = enter(queue, "vkQueueSubmit2");
    if !call.enabled().synchronization_2 {
        // VUID-vkQueueSubmit2-synchronization2-03866.
        call.violation("the feature synchronization2 is off");
    }
    let semaphores = |pointer, count| {
        let infos: &[vk::SemaphoreSubmitInfo<'_>] = slice!(pointer, count);
        infos.iter().map(|info| (info.semaphore, info.value)).collect()
    };
    let batches = slice!(infos, count).iter().map(|info| SubmittedBatch {
        waits: semaphores(info.p_wait_semaphore_infos, info.wait_semaphore_info_count),
        command_buffers: slice!(info.p_command_buffer_infos, info.command_buffer_info_count)
            .iter()
            .map(|info| info.command_buffer)
            .collect(),
        signals: semaphores(info.p_signal_semaphore_infos, info.signal_semaphore_info_count),
    });
    submit(&mut call, queue, batches.collect(), fence)
}

/// Writes down a wait, or gives the error with which it fails.
fn wait(call: &mut Entered) -> Option<vk::Result> {
    let failed = call.fails_or_lost();
    if failed.is_none() {
        let function = call.function;
        call.journal.push(Call::Wait { function });
    }
    failed
}

pub(super) unsafe extern "system" fn vkQueueWaitIdle(queue: vk::Queue) -> vk::Result {
    let mut call = enter(queue, "vkQueueWaitIdle");
    if let Some(error) = wait(&mut call) {
        return error;
    }
    let (ours, others): (Vec<_>, Vec<_>) = std::mem::take(&mut call.pending)
        .into_iter()
        .partition(|batch| batch.queue == queue.as_raw());
    call.pending = others;
    for batch in ours {
        call.complete(batch);
    }
    vk::Result::SUCCESS
}

pub(super) unsafe extern "system" fn vkDeviceWaitIdle(device: vk::Device) -> vk::Result {
    let mut call = enter(device, "vkDeviceWaitIdle");
    if let Some(error) = wait(&mut call) {
        return error;
    }
    call.complete_all();
    vk::Result::SUCCESS
}

fn signalled(call: &Entered, fence: vk::Fence) -> bool {
    let detail = call.detail(fence);
    matches!(detail, Some(Detail::Fence { signalled: true }))
}

pub(super) unsafe extern "system" fn vkGetFenceStatus(device: vk::Device, fence: vk::Fence) -> vk::Result {
    let mut call = enter(device, "vkGetFenceStatus");
    call.expect(fence);
    attempt!(call, unless_lost);
    if signalled(&call, fence) {
        vk::Result::SUCCESS
    } else {
        vk::Result::NOT_READY
    }
}

pub(super) unsafe extern "system" fn vkResetFences(
    device: vk::Device,
    count: u32,
    fences: *const vk::Fence,
) -> vk::Result {
    let mut call = enter(device, "vkResetFences");
    attempt!(call);
    for fence in slice!(fences, count) {
        call.expect(*fence);
        call.note(*fence);
        if call
            .pending
            .iter()
            .any(|batch| batch.fence == Some(fence.as_raw()))
        {
            // VUID-vkResetFences-pFences-01123.
            call.violation(format_args!("{fence:?} is in use by a pending submission"));
        }
        if let Some(Detail::Fence { signalled }) = call.detail_mut(*fence) {
            *signalled = false;
        }
    }
    vk::Result::SUCCESS
}

pub(super) unsafe extern "system" fn vkWaitForFences(
    device: vk::Device,
    count: u32,
    fences: *const vk::Fence,
    all: vk::Bool32,
    timeout: u64,
) -> vk::Result {
    let mut call = enter(device, "vkWaitForFences");
    let fences = slice!(fences, count);
    for fence in fences {
        call.expect(*fence);
    }
    if let Some(error) = wait(&mut call) {
        return error;
    }
    let mut met = 0;
    for fence in fences {
        if timeout > 0 && !signalled(&call, *fence) {
            call.complete_until(|batch| batch.fence == Some(fence.as_raw()));
        }
        met += usize::from(signalled(&call, *fence));
    }
    let enough = if all != 0 { met == fences.len() } else { met > 0 };
    if enough {
        vk::Result::SUCCESS
    } else {
        vk::Result::TIMEOUT
    }
}

fn value_of(call: &Entered, semaphore: vk::Semaphore) -> Option<u64> {
    match call.detail(semaphore) {
        Some(Detail::Semaphore { value }) => *value,
        _ => None,
    }
}

pub(super) unsafe extern "system" fn vkGetSemaphoreCounterValue(
    device: vk::Device,
    semaphore: vk::Semaphore,
    out: *mut u64,
) -> vk::Result {
    let mut call = enter(device, "vkGetSemaphoreCounterValue");
    call.expect(semaphore);
    attempt!(call, unless_lost);
    let Some(value) = value_of(&call, semaphore) else {
        // VUID-vkGetSemaphoreCounterValue-semaphore-03255.
        call.violation(format_args!("{semaphore:?} is no timeline semaphore"));
        return vk::Result::ERROR_UNKNOWN;
    };
    store!(out, value);
    vk::Result::SUCCESS
}

pub(super) unsafe extern "system" fn vkWaitSemaphores(
    device: vk::Device,
    info: *const vk::SemaphoreWaitInfo<'_>,
    timeout: u64,
) -> vk::Result {
    let mut call = enter(device, "vkWaitSemaphores");
    let info = borrow!(info);
    let semaphores = slice!(info.p_semaphores, info.semaphore_count);
    let values = slice!(info.p_values, info.semaphore_count);
    for semaphore in semaphores {
        call.expect(*semaphore);
    }
    if let Some(error) = wait(&mut call) {
        return error;
    }
    let mut met = 0;
    for (semaphore, value) in semaphores.iter().zip(values) {
        let raw = semaphore.as_raw();
        while timeout > 0 && value_of(&call, *semaphore).is_some_and(|now| now < *value) {
            // The earliest batch that gets there, as on a device that runs in order.
            let first = call.pending.iter().position(|batch| {
                batch
                    .signals
                    .iter()
                    .any(|(signalled, to)| *signalled == raw && to >= value)
            });
            let Some(first) = first else { break };
            for batch in call.pending.drain(..=first).collect::<Vec<_>>() {
                call.complete(batch);
            }
        }
        met += usize::from(value_of(&call, *semaphore).is_some_and(|now| now >= *value));
    }
    let any = info.flags.contains(vk::SemaphoreWaitFlags::ANY);
    let enough = if any { met > 0 } else { met == semaphores.len() };
    if enough {
        vk::Result::SUCCESS
    } else {
        vk::Result::TIMEOUT
    }
}
