//! Queue submission, fences and semaphores.

use ash::vk;
use ash::vk::Handle;
use tileheap::runtime::Capabilities;
use tileheap_layer::batches::{Batch, SemaphoreUse};
use tileheap_layer::{array, given, store};

use super::entry::{V1_0, V1_2, V1_3, attempt, entry_points};
use super::journal::{Call, SubmittedBatch};
use super::records::{Detail, Pending, Stage};
use super::state::Entered;

entry_points! {
    look_up:
    V1_0 => vk::PFN_vkGetDeviceQueue(device, family, index, out) |call| {
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

    V1_0 => vk::PFN_vkQueueSubmit(queue, count, infos, fence) |call| {
        let batches = array!(infos, count).iter().map(Batch::from_v1);
        submit(&mut call, queue, batches.map(submitted).collect(), fence)
    }

    V1_3 => vk::PFN_vkQueueSubmit2(queue, count, infos, fence) |call| {
        if !call.enables(Capabilities::SYNCHRONIZATION_2) {
            // VUID-vkQueueSubmit2-synchronization2-03866.
            call.violation("the feature synchronization2 is off");
        }
        let batches = array!(infos, count).iter().map(Batch::from_v2);
        submit(&mut call, queue, batches.map(submitted).collect(), fence)
    }

    V1_0 => vk::PFN_vkQueueWaitIdle(queue) |call| {
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

    V1_0 => vk::PFN_vkDeviceWaitIdle(device) |call| {
        if let Some(error) = wait(&mut call) {
            return error;
        }
        call.complete_all();
        vk::Result::SUCCESS
    }

    V1_0 => vk::PFN_vkGetFenceStatus(device, fence) |call| {
        call.expect(fence);
        attempt!(call, unless_lost);
        if signaled(&call, fence) {
            vk::Result::SUCCESS
        } else {
            vk::Result::NOT_READY
        }
    }

    V1_0 => vk::PFN_vkResetFences(device, count, fences) |call may fail| {
        for fence in array!(fences, count) {
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
            if let Some(Detail::Fence { signaled }) = call.detail_mut(*fence) {
                *signaled = false;
            }
        }
        vk::Result::SUCCESS
    }

    V1_0 => vk::PFN_vkWaitForFences(device, count, fences, all, timeout) |call| {
        let fences = array!(fences, count);
        for fence in fences {
            call.expect(*fence);
        }
        if let Some(error) = wait(&mut call) {
            return error;
        }
        let mut met = 0;
        for fence in fences {
            if timeout > 0 && !signaled(&call, *fence) {
                call.complete_until(|batch| batch.fence == Some(fence.as_raw()));
            }
            met += usize::from(signaled(&call, *fence));
        }
        let enough = if all != 0 { met == fences.len() } else { met > 0 };
        if enough {
            vk::Result::SUCCESS
        } else {
            vk::Result::TIMEOUT
        }
    }

    V1_2 => vk::PFN_vkGetSemaphoreCounterValue(device, semaphore, out) |call| {
        call.expect(semaphore);
        attempt!(call, unless_lost);
        let Some(value) = value_of(&call, semaphore) else {
            // VUID-vkGetSemaphoreCounterValue-semaphore-03255.
            call.violation(format_args!("{semaphore:?} is not a timeline semaphore"));
            return vk::Result::ERROR_UNKNOWN;
        };
        store!(out, value);
        vk::Result::SUCCESS
    }

    V1_2 => vk::PFN_vkWaitSemaphores(device, info, timeout) |call| {
        let info = given!(info);
        let semaphores = array!(info.p_semaphores, info.semaphore_count);
        let values = array!(info.p_values, info.semaphore_count);
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
                // The earliest batch that reaches the value, as on a device that executes in order.
                let first = call.pending.iter().position(|batch| {
                    batch
                        .signals
                        .iter()
                        .any(|(signaled, to)| *signaled == raw && to >= value)
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
}

fn submitted(batch: Batch) -> SubmittedBatch {
    let values = |all: Vec<SemaphoreUse>| all.into_iter().map(|(one, value, _)| (one, value)).collect();
    SubmittedBatch {
        waits: values(batch.waits),
        command_buffers: batch.commands,
        signals: values(batch.signals),
    }
}

/// Submits batches. They complete at once, unless the driver is configured as asynchronous.
fn submit(
    call: &mut Entered,
    queue: vk::Queue,
    batches: Vec<SubmittedBatch>,
    fence: vk::Fence,
) -> vk::Result {
    attempt!(call, unless_lost);
    call.expect_optional(fence);
    if let Some(Detail::Fence { signaled: true }) = call.detail(fence) {
        // VUID-vkQueueSubmit2-fence-04894.
        call.violation(format_args!("{fence:?} is signaled already"));
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

/// Checks a submitted command buffer and makes it pending.
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
            "{command_buffer:?} is not an executable primary command buffer ({stage:?})"
        ));
    }
}

/// Records a wait, or returns the error with which it fails.
fn wait(call: &mut Entered) -> Option<vk::Result> {
    let failed = call.fails_or_lost();
    if failed.is_none() {
        let function = call.function;
        call.journal.push(Call::Wait { function });
    }
    failed
}

fn signaled(call: &Entered, fence: vk::Fence) -> bool {
    let detail = call.detail(fence);
    matches!(detail, Some(Detail::Fence { signaled: true }))
}

fn value_of(call: &Entered, semaphore: vk::Semaphore) -> Option<u64> {
    match call.detail(semaphore) {
        Some(Detail::Semaphore { value }) => *value,
        _ => None,
    }
}
