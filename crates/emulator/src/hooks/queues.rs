//! Entry points of queues.

use ash::vk;
use tileheap_layer::{array, batches as layer, call_down, chained, given};

use super::device::device_entry_points;
use super::submit::{application_batch, submit};
use crate::model::objects::Object;
use crate::model::order::unseen::UnseenSource;
use crate::model::submissions::Batch;
use crate::tables::unseen_writes::UnseenWrites;

device_entry_points! {
    /// Records the queue's family.
    vkGetDeviceQueue(handle, family, index, out) |device| {
        call_down!(device.driver.commands, vkGetDeviceQueue(handle, family, index, out));
        if let Some(check) = &device.check {
            check.queues.remember(*given!(out), family);
        }
    }

    /// Same as `vkGetDeviceQueue`.
    vkGetDeviceQueue2(handle, info, out) |device| {
        call_down!(device.driver.commands, vkGetDeviceQueue2(handle, info, out));
        if let Some(check) = &device.check {
            let family = given!(info).queue_family_index;
            check.queues.remember(*given!(out), family);
        }
    }

    /// Tracks the batches, and submits them with poison and semaphores if any uses tile memory.
    vkQueueSubmit(queue, count, infos, fence) |device| {
        let as_given = || call_down!(device.driver.commands, vkQueueSubmit(queue, count, infos, fence));
        let Some(check) = &device.check else { return as_given() };
        let infos = array!(infos, count);
        let batches = infos.iter().map(|info| {
            let is_fixed = chained!(info.p_next => vk::DeviceGroupSubmitInfo<'_>).is_some();
            application_batch(layer::Batch::from_v1(info), is_fixed)
        });
        let batches: Vec<_> = batches.collect();
        submit(&device, check, queue, &batches, fence, as_given, |batches| {
            let mut timelines = vec![vk::TimelineSemaphoreSubmitInfo::default(); batches.len()];
            let below: Vec<_> = batches
                .iter()
                .zip(&mut timelines)
                .map(|(batch, timeline)| submit_info_v1(batch, infos, timeline))
                .collect();
            call_down!(device.driver.commands, vkQueueSubmit(queue, below.len() as u32, below.as_ptr(), fence))
        })
    }

    /// Tracks the semaphores of the operation, which order other submissions, and records that writes through sparse resources are not tracked.
    vkQueueBindSparse(queue, count, infos, fence) |device| {
        let as_given = || call_down!(device.driver.commands, vkQueueBindSparse(queue, count, infos, fence));
        let Some(check) = &device.check else { return as_given() };
        if check.follows_ordinary {
            // Accesses through sparse resources are not followed.
            let source = UnseenSource { command: "vkQueueBindSparse", object: Object::of(queue), at: None };
            let messages = check.tracker().allow_unseen_writes(UnseenWrites::ANYTHING, source);
            device.reporter.report_all(messages);
        }
        let batches = array!(infos, count).iter().map(|info| application_batch(layer::Batch::sparse(info), true));
        let batches: Vec<_> = batches.collect();
        submit(&device, check, queue, &batches, fence, as_given, |_| as_given())
    }

    /// Same as `vkQueueSubmit`.
    vkQueueSubmit2(queue, count, infos, fence) |device| {
        let as_given = || call_down!(device.driver.commands, vkQueueSubmit2(queue, count, infos, fence));
        let Some(check) = &device.check else { return as_given() };
        let infos = array!(infos, count);
        let batches: Vec<_> = infos.iter().map(|info| application_batch(layer::Batch::from_v2(info), false)).collect();
        submit(&device, check, queue, &batches, fence, as_given, |batches| {
            let parts: Vec<_> = batches.iter().map(|batch| Parts::new(batch, infos)).collect();
            let below: Vec<_> = batches.iter().zip(&parts).map(|(batch, parts)| submit_info_v2(batch, infos, parts)).collect();
            call_down!(device.driver.commands, vkQueueSubmit2(queue, below.len() as u32, below.as_ptr(), fence))
        })
    }
}

/// The wait stages of a semaphore that blocks all commands.
const ALL: vk::PipelineStageFlags = vk::PipelineStageFlags::ALL_COMMANDS;

fn submit_info_v1<'a>(
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
                let given: &[vk::CommandBufferSubmitInfo<'static>] =
                    array!(info.p_command_buffer_infos.cast(), info.command_buffer_info_count);
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

fn submit_info_v2<'a>(batch: &Batch, infos: &[vk::SubmitInfo2<'a>], parts: &'a Parts) -> vk::SubmitInfo2<'a> {
    let own = vk::SubmitInfo2::default();
    match batch {
        Batch::Application(index, None) => infos[*index],
        Batch::Application(index, Some(_)) => infos[*index].command_buffer_infos(&parts.commands),
        Batch::Poison(_) => own.command_buffer_infos(&parts.commands),
        Batch::Wait(..) => own.wait_semaphore_infos(&parts.semaphores),
        Batch::Signal(..) => own.signal_semaphore_infos(&parts.semaphores),
    }
}
