//! Submits batches with the poison and semaphores that the model adds.

use std::ptr::null;

use ash::vk;
use tileheap_layer::{batches as layer, call_down};

use super::device::{Check, Device};
use super::driver::{Driver, create_object};
use super::recorder::recorder;
use crate::model::finding::Finding;
use crate::model::order::tracker::TrackedBatch;
use crate::model::submissions::{ApplicationBatch, Batch, Submission};
use crate::model::trace::Trace;

/// Determines whether a batch of the application uses tile memory.
pub(crate) fn application_batch(batch: layer::Batch, is_fixed: bool) -> ApplicationBatch {
    let uses_tile =
        |commands: &vk::CommandBuffer| recorder(*commands).is_some_and(|recorder| recorder.lock().uses_tile);
    ApplicationBatch {
        uses_tile: batch.commands.iter().any(uses_tile),
        batch,
        is_fixed,
    }
}

/// Tracks the order and the contents of batches that are about to be submitted, and returns the findings.
fn follow(check: &Check, submission: &Submission<'_>, fence: vk::Fence) -> Vec<Finding> {
    let family = check.queues.family(submission.queue);
    let logs = |batch: &ApplicationBatch| {
        let log = |commands: &vk::CommandBuffer| Some(recorder(*commands)?.lock().order.freeze());
        batch.batch.commands.iter().filter_map(log).collect()
    };
    let nothing = layer::Batch::default();
    let all = submission.application_batches.iter().enumerate();
    let mut batches: Vec<_> = all
        .map(|(index, given)| TrackedBatch {
            submit: submission.submit(index),
            family,
            batch: &given.batch,
            logs: logs(given),
            fence: vk::Fence::null(),
            end_discard: submission.end_discard(index),
        })
        .collect();
    if batches.is_empty() && fence != vk::Fence::null() {
        batches.push(TrackedBatch {
            submit: submission.submit(0),
            family,
            batch: &nothing,
            logs: Vec::new(),
            fence,
            end_discard: None,
        });
    }
    if let Some(last) = batches.last_mut() {
        last.fence = fence;
    }
    let mut tracker = check.tracker();
    batches
        .into_iter()
        .flat_map(|batch| tracker.submit(batch))
        .collect()
}

/// Submits batches: unchanged if none uses tile memory, otherwise with poison and semaphores.
pub(crate) fn submit(
    device: &Device,
    check: &Check,
    queue: vk::Queue,
    given: &[ApplicationBatch],
    fence: vk::Fence,
    as_given: impl FnOnce() -> vk::Result,
    with_batches: impl FnOnce(&[Batch]) -> vk::Result,
) -> vk::Result {
    let number = check.queues.count_submit();
    let emulation = device.physical.emulation.as_ref();
    let queue_submit_boundary =
        emulation.is_some_and(|emulation| emulation.profile.tile.queue_submit_boundary);
    let submission = Submission {
        device: device.driver.handle,
        queue,
        number,
        application_batches: given,
        queue_submit_boundary,
        has_timeline: check.queues.has_timeline,
        trace: device.tile.as_ref().and_then(|tile| tile.trace.as_ref()),
    };
    let mut findings = follow(check, &submission, fence);
    let Some(tile) = device
        .tile
        .as_ref()
        .filter(|_| given.iter().any(|batch| batch.uses_tile))
    else {
        device.reporter.report_all(findings);
        return as_given();
    };
    let (driver, queues) = (&device.driver, &check.queues);
    // Held during the call, so that queues submit in the order of the semaphore's values.
    let mut order = queues.order();
    if queues.has_timeline && order.semaphore == vk::Semaphore::null() {
        match create_semaphore(driver) {
            Ok(semaphore) => order.semaphore = semaphore,
            Err(error) => return error,
        }
    }
    let raw = tile.heap.heap.take_unpoisoned();
    let family = queues.family(queue);
    let poison = |first: u64| {
        if tile.poison {
            tile.heap.poisoner(driver, family, first)
        } else {
            Ok(None)
        }
    };
    let contents = |commands: vk::CommandBuffer| recorder(commands).map(|recorder| recorder.lock().contents);
    let below = submission.batches(&mut order, raw, poison, contents, &mut findings);
    // Flushed before the driver runs the batch, so that the trace and the log are complete if it hangs or crashes there.
    tile.trace.iter().for_each(Trace::flush);
    let messages = device.reporter.log_all(findings);
    let result = match &below {
        Ok(below) => with_batches(&below.batches),
        Err(error) => *error,
    };
    if let (Ok(below), vk::Result::SUCCESS) = (&below, result) {
        order.last = Some(queue);
        order.value = below.value;
    } else if let Some(first) = raw {
        tile.heap.heap.restore_unpoisoned(first);
    }
    drop(order);
    device.reporter.call_back(&messages);
    result
}

fn create_semaphore(driver: &Driver) -> Result<vk::Semaphore, vk::Result> {
    let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
    let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
    let next = &driver.commands;
    create_object(|out| call_down!(next, vkCreateSemaphore(driver.handle, &info, null(), out)))
}
