//! Several queues on a driver that has one: batches are held back, and run in an order drawn from a seed that only their semaphores limit.
//!
//! ```text
//! queue a   [1] [2]──s──┐  [3]          held   a: 1 2 3   b: 4      ready: 1, then 2, then 3 or 4
//! queue b               └─►[4]          run    1 2 3 4  or  1 2 4 3
//! ```
//! A wait that is missing lets a batch run too early, and shows in what the frame computes. Each batch has ended before the next begins:
//! stages and overlap are for the checker to judge.

use std::collections::BTreeMap;

use ash::vk;
use ash::vk::Handle;
use tileheap::runtime::{Device, DeviceDesc, DeviceQueue, FrameNumber, FrameRecorder, SubmitCall};
use tileheap::units::SplitMix64;

use crate::gpu::Gpu;

/// A device with queues that are not there.
pub struct QueueRig {
    /// Where frames are bound: its queues are of one family.
    pub device: Device,
    raw: ash::Device,
    queue: vk::Queue,
    random: SplitMix64,
    held: Vec<Held>,
    /// Per timeline semaphore, its value.
    reached: BTreeMap<vk::Semaphore, u64>,
    /// The wait that is ignored: a batch of the frame, and one of its waits.
    ignored: Option<(usize, usize)>,
}

/// A batch that was submitted.
struct Held {
    queue: vk::Queue,
    waits: Vec<(vk::Semaphore, u64)>,
    commands: Vec<vk::CommandBuffer>,
    signals: Vec<(vk::Semaphore, u64)>,
}

impl QueueRig {
    /// So many queues beside the first one of `gpu`, which runs everything.
    pub fn new(gpu: &Gpu, queues: u64, seed: u64, ignored: Option<(usize, usize)>) -> QueueRig {
        let (context, real) = (&gpu.context, gpu.context.queues()[0]);
        let queue = |index| DeviceQueue {
            handle: vk::Queue::from_raw(index + 1),
            ..real
        };
        let desc = DeviceDesc {
            queues: (0..queues).map(queue).collect(),
            enabled: context.tile().capabilities(),
            ..DeviceDesc::default()
        };
        let (instance, physical) = (context.instance(), context.physical_device());
        // SAFETY: the context's own handles, which outlive it; nothing is submitted to the queues but by this rig.
        let device = unsafe { Device::new(instance, physical, gpu.device(), context.support(), desc) };
        QueueRig {
            device: device.expect("a device"),
            raw: gpu.device().clone(),
            queue: real.handle,
            random: SplitMix64::new(seed),
            held: Vec::new(),
            reached: BTreeMap::new(),
            ignored,
        }
    }

    /// Submits a frame: holds its batches back.
    pub fn submit(&mut self, recorder: FrameRecorder<'_>) -> FrameNumber {
        let mut batches = 0;
        let hold = |call: &SubmitCall<'_>| {
            for batch in call.batches {
                let held = held(call.queue.handle, batch);
                self.held.push(held);
                let last = self.held.last_mut().expect("just pushed");
                if let Some((_, wait)) = self.ignored.filter(|(ignored, _)| *ignored == batches) {
                    if wait < last.waits.len() {
                        last.waits.remove(wait);
                    }
                }
                batches += 1;
            }
            Ok(())
        };
        // SAFETY: one thread; what is held runs once it may.
        unsafe { recorder.submit_with(hold) }.expect("a frame that can be submitted")
    }

    /// Runs everything that is held, in an order drawn from the seed.
    ///
    /// # Panics
    /// If batches wait for what nothing signals.
    pub fn run(&mut self) {
        while !self.held.is_empty() {
            let reached = |(semaphore, value): &(vk::Semaphore, u64)| {
                self.reached.get(semaphore).is_some_and(|now| now >= value)
            };
            let ready: Vec<usize> = (0..self.held.len())
                .filter(|&index| {
                    let first = self.held[..index]
                        .iter()
                        .all(|other| other.queue != self.held[index].queue);
                    first && self.held[index].waits.iter().all(reached)
                })
                .collect();
            assert!(!ready.is_empty(), "batches wait for what nothing signals");
            let next = self.random.pick(&ready);
            let batch = self.held.remove(next);
            let (signals, values): (Vec<_>, Vec<_>) = batch.signals.iter().copied().unzip();
            let mut timelines = vk::TimelineSemaphoreSubmitInfo::default().signal_semaphore_values(&values);
            let info = vk::SubmitInfo::default()
                .command_buffers(&batch.commands)
                .signal_semaphores(&signals)
                .push_next(&mut timelines);
            // SAFETY: recorded, and everything it uses is alive; one thread uses the queue.
            unsafe { self.raw.queue_submit(self.queue, &[info], vk::Fence::null()) }.expect("submitted");
            // SAFETY: as above.
            unsafe { self.raw.queue_wait_idle(self.queue) }.expect("idle");
            self.reached.extend(batch.signals);
        }
    }

    /// Destroys the device, on which nothing is bound any more.
    pub fn finish(mut self) {
        self.run();
        // SAFETY: everything has run.
        unsafe { self.device.destroy() };
    }
}

fn held(queue: vk::Queue, batch: &vk::SubmitInfo2<'_>) -> Held {
    // SAFETY: the lists of the call are alive.
    let waits = unsafe { list_of(batch.p_wait_semaphore_infos, batch.wait_semaphore_info_count) };
    // SAFETY: as above.
    let signals = unsafe { list_of(batch.p_signal_semaphore_infos, batch.signal_semaphore_info_count) };
    // SAFETY: as above.
    let commands = unsafe { list_of(batch.p_command_buffer_infos, batch.command_buffer_info_count) };
    let values =
        |infos: &[vk::SemaphoreSubmitInfo<'_>]| infos.iter().map(|one| (one.semaphore, one.value)).collect();
    Held {
        queue,
        waits: values(waits),
        commands: commands.iter().map(|info| info.command_buffer).collect(),
        signals: values(signals),
    }
}

/// # Safety
/// They are those of one slice, which is alive.
unsafe fn list_of<'a, T>(first: *const T, count: u32) -> &'a [T] {
    if count == 0 {
        return &[];
    }
    // SAFETY: the caller's duty.
    unsafe { std::slice::from_raw_parts(first, count as usize) }
}
