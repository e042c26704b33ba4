//! Submits batches with the poison and semaphores that the model adds.

use std::ptr::null;
use std::sync::atomic::Ordering;

use ash::vk;
use tileheap_layer::arrays::elements;
use tileheap_layer::call_down;

use super::device::{Device, Tile};
use super::driver::{Driver, created};
use super::recorder::recorder;
use crate::model::contents::Window;
use crate::model::position::Submit;
use crate::model::submissions::{Batch, Given, Submission};
use crate::model::trace::Trace;

/// A batch of the application.
///
/// # Safety
/// `commands` are `count` handles.
pub(crate) unsafe fn given<T>(
    commands: *const T,
    count: u32,
    handle: impl Fn(&T) -> vk::CommandBuffer,
    is_fixed: bool,
) -> Given {
    // SAFETY: The caller's promise.
    let commands: Vec<_> = unsafe { elements(commands, count) }.iter().map(handle).collect();
    let uses_tile =
        |commands: &vk::CommandBuffer| recorder(*commands).is_some_and(|recorder| recorder.lock().uses_tile);
    Given {
        uses_tile: commands.iter().any(uses_tile),
        commands,
        is_fixed,
    }
}

/// Submits batches: unchanged if none uses tile memory, with poison and semaphores otherwise.
pub(crate) fn submit(
    device: &Device,
    tile: &Tile,
    queue: vk::Queue,
    given: &[Given],
    as_given: impl FnOnce() -> vk::Result,
    with_batches: impl FnOnce(&[Batch]) -> vk::Result,
) -> vk::Result {
    let number = tile.queues.count_submit();
    if !given.iter().any(|batch| batch.uses_tile) {
        return as_given();
    }
    let (driver, queues) = (&device.driver, &tile.queues);
    let mut findings = Vec::new();
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
    let emulation = device.physical.emulation.as_ref();
    let submission = Submission {
        device: driver.handle,
        queue,
        number,
        given,
        heap: tile.heap.heap.size,
        queue_submit_boundary: emulation
            .is_some_and(|emulation| emulation.profile.tile.queue_submit_boundary),
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
