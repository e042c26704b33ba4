//! Submits batches with the poison and semaphores that the model adds.

use std::ptr::null;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};

use ash::vk;
use ash::vk::Handle;
use tileheap_layer::{batches as layer, call_down};

use super::device::FollowedOrder;
use super::device::{Device, Tile};
use super::driver::{Driver, created};
use super::recorder::recorder;
use crate::model::contents::Window;
use crate::model::finding::Finding;
use crate::model::order::submits::OrderedBatch;
use crate::model::position::Submit;
use crate::model::submissions::{Batch, Given, Submission};
use crate::model::trace::Trace;

/// A batch of the application, with what is known of its command buffers.
pub(crate) fn given(batch: layer::Batch, is_fixed: bool) -> Given {
    let uses_tile =
        |commands: &vk::CommandBuffer| recorder(*commands).is_some_and(|recorder| recorder.lock().uses_tile);
    Given {
        uses_tile: batch.commands.iter().any(uses_tile),
        batch,
        is_fixed,
    }
}

/// Follows the order of accesses in batches that are submitted next.
fn follow(
    tile: &Tile,
    followed: &Mutex<FollowedOrder>,
    queue: vk::Queue,
    number: u64,
    given: &[Given],
    fence: vk::Fence,
    survives_batches: bool,
) -> Vec<Finding> {
    let FollowedOrder { order, reported } = &mut *followed.lock().unwrap_or_else(PoisonError::into_inner);
    let family = tile.queues.family(queue);
    let logs = |batch: &Given| {
        let log = |commands: &vk::CommandBuffer| Some(recorder(*commands)?.lock().order.freeze());
        batch.batch.commands.iter().filter_map(log).collect()
    };
    let mut batches: Vec<_> = given
        .iter()
        .enumerate()
        .map(|(batch, given)| OrderedBatch {
            submit: Submit {
                number,
                batch,
                queue: queue.as_raw(),
            },
            family,
            window: if survives_batches {
                number << 16
            } else {
                number << 16 | batch as u64
            },
            waits: given.batch.waits.clone(),
            logs: logs(given),
            signals: given.batch.signals.clone(),
            fence: vk::Fence::null(),
        })
        .collect();
    if batches.is_empty() && fence != vk::Fence::null() {
        batches.push(OrderedBatch::empty(Submit {
            number,
            batch: 0,
            queue: queue.as_raw(),
        }));
    }
    if let Some(last) = batches.last_mut() {
        last.fence = fence;
    }
    let hazards: Vec<_> = batches
        .into_iter()
        .flat_map(|batch| order.submit(batch))
        .collect();
    reported.findings(&hazards)
}

/// Submits batches: unchanged if none uses tile memory, with poison and semaphores otherwise.
pub(crate) fn submit(
    device: &Device,
    tile: &Tile,
    queue: vk::Queue,
    given: &[Given],
    fence: vk::Fence,
    as_given: impl FnOnce() -> vk::Result,
    with_batches: impl FnOnce(&[Batch]) -> vk::Result,
) -> vk::Result {
    let number = tile.queues.count_submit();
    let emulation = device.physical.emulation.as_ref();
    let queue_submit_boundary =
        emulation.is_some_and(|emulation| emulation.profile.tile.queue_submit_boundary);
    let mut findings = match &tile.order {
        Some(order) => follow(tile, order, queue, number, given, fence, queue_submit_boundary),
        None => Vec::new(),
    };
    if !given.iter().any(|batch| batch.uses_tile) {
        device.reporter.report_all(findings);
        return as_given();
    }
    let (driver, queues) = (&device.driver, &tile.queues);
    // Held over the call, so that the queues submit in the order of the semaphore's values.
    let mut order = queues.order();
    if queues.has_timeline && order.semaphore == vk::Semaphore::null() {
        match create_semaphore(driver) {
            Ok(semaphore) => order.semaphore = semaphore,
            Err(error) => return error,
        }
    }
    let is_raw = queues.is_raw.swap(false, Ordering::Relaxed);
    let family = queues.family(queue);
    let poison = |first: u64| {
        if tile.poison {
            tile.heap.poisoner(driver, family, first)
        } else {
            Ok(None)
        }
    };
    let run = |window: &mut Window, commands: vk::CommandBuffer, submit: Submit| match recorder(commands) {
        Some(recorder) => window.run(&recorder.lock().contents, submit),
        None => (None, Vec::new()),
    };
    let submission = Submission {
        device: driver.handle,
        queue,
        number,
        given,
        heap: tile.heap.heap.size,
        queue_submit_boundary,
        has_timeline: queues.has_timeline,
        is_raw,
        trace: tile.trace.as_ref(),
    };
    let below = submission.batches(&mut order, poison, run, &mut findings);
    // Before the driver runs it, so that the trace and the log have what hangs or crashes there.
    tile.trace.iter().for_each(Trace::flush);
    let messages = device.reporter.log_all(findings);
    let result = match &below {
        Ok(below) => with_batches(&below.batches),
        Err(error) => *error,
    };
    if let (Ok(below), vk::Result::SUCCESS) = (&below, result) {
        order.last = Some(queue);
        order.value = below.value;
    } else if is_raw {
        queues.is_raw.store(true, Ordering::Relaxed);
    }
    drop(order);
    device.reporter.call_back(&messages);
    result
}

fn create_semaphore(driver: &Driver) -> Result<vk::Semaphore, vk::Result> {
    let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
    let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
    let next = &driver.commands;
    created(|out| call_down!(next, vkCreateSemaphore(driver.handle, &info, null(), out)))
}
