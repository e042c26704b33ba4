//! Simulates several queues on a driver that has only one: batches are held back, and run in a random order that respects only their
//! semaphores and the order within each queue.
//!
//! ```text
//! queue a   [1] [2]──s──┐  [3]          held   a: 1 2 3   b: 4      ready: 1, then 2, then 3 or 4
//! queue b               └─►[4]          run    1 2 3 4  or  1 2 4 3
//! ```
//! If a wait is missing, a batch may run too early, which changes the frame's results. Each batch completes before the next one begins:
//! the checker covers stages and overlap.

use std::collections::BTreeMap;

use ash::vk;
use ash::vk::Handle;
use tileheap::runtime::{Device, DeviceDesc, DeviceQueue, FrameNumber, FrameRecorder, SubmitCall};
use tileheap::units::SplitMix64;
use tileheap_layer::batches::{Batch, SemaphoreUse};

use crate::gpu::Gpu;

/// A device with simulated queues.
pub struct QueueRig {
    /// The device on which frames are bound; its queues are of one family.
    pub device: Device,
    raw: ash::Device,
    queue: vk::Queue,
    random: SplitMix64,
    held: Vec<Held>,
    /// The value of each timeline semaphore.
    reached: BTreeMap<vk::Semaphore, u64>,
    /// The wait that is ignored: the index of a batch in its frame, and the index of one of the batch's waits.
    ignored: Option<(usize, usize)>,
}

/// A submitted batch, and its queue.
type Held = (vk::Queue, Batch);

impl QueueRig {
    /// Simulates `queues` queues on the first queue of `gpu`, which executes everything.
    pub fn new(gpu: &Gpu, queues: u64, seed: u64, ignored: Option<(usize, usize)>) -> QueueRig {
        let (context, real) = (&gpu.context, gpu.context.queues()[0]);
        let queue = |index| DeviceQueue {
            handle: vk::Queue::from_raw(index + 1),
            ..real
        };
        let desc = DeviceDesc {
            queues: (0..queues).map(queue).collect(),
            enabled: context.runtime().capabilities(),
            ..DeviceDesc::default()
        };
        let (instance, physical) = (context.instance(), context.physical_device());
        // SAFETY: the context's own handles, which outlive it; only this rig submits to the queues.
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

    /// Submits a frame, and holds its batches back.
    pub fn submit(&mut self, recorder: FrameRecorder<'_>) -> FrameNumber {
        let mut batches = 0;
        let hold = |call: &SubmitCall<'_>| {
            for batch in call.batches {
                let mut held = Batch::from_v2(batch);
                if let Some((_, wait)) = self.ignored.filter(|(ignored, _)| *ignored == batches) {
                    if wait < held.waits.len() {
                        held.waits.remove(wait);
                    }
                }
                self.held.push((call.queue.handle, held));
                batches += 1;
            }
            Ok(())
        };
        // SAFETY: one thread; held batches run when their waits allow it.
        unsafe { recorder.submit_with(hold) }.expect("a frame that can be submitted")
    }

    /// Runs all held batches, in an order drawn from the seed.
    ///
    /// # Panics
    /// If batches wait for semaphores that are never signaled.
    pub fn run(&mut self) {
        while !self.held.is_empty() {
            let reached = |(semaphore, value, _): &SemaphoreUse| {
                self.reached.get(semaphore).is_some_and(|now| now >= value)
            };
            let ready: Vec<usize> = (0..self.held.len())
                .filter(|&index| {
                    let first = self.held[..index]
                        .iter()
                        .all(|other| other.0 != self.held[index].0);
                    first && self.held[index].1.waits.iter().all(reached)
                })
                .collect();
            assert!(!ready.is_empty(), "batches wait for a signal that never comes");
            let next = self.random.pick(&ready);
            let (_, batch) = self.held.remove(next);
            let signals = batch
                .signals
                .iter()
                .map(|(semaphore, value, _)| (*semaphore, *value));
            let (signals, values): (Vec<_>, Vec<_>) = signals.unzip();
            let mut timelines = vk::TimelineSemaphoreSubmitInfo::default().signal_semaphore_values(&values);
            let info = vk::SubmitInfo::default()
                .command_buffers(&batch.commands)
                .signal_semaphores(&signals)
                .push_next(&mut timelines);
            // SAFETY: recorded, and everything it uses is alive; one thread uses the queue.
            unsafe { self.raw.queue_submit(self.queue, &[info], vk::Fence::null()) }.expect("submitted");
            // SAFETY: as above.
            unsafe { self.raw.queue_wait_idle(self.queue) }.expect("idle");
            self.reached.extend(signals.into_iter().zip(values));
        }
    }

    /// Runs all held batches, then destroys the device. No frame may be bound to it any more.
    pub fn finish(mut self) {
        self.run();
        // SAFETY: everything has run.
        unsafe { self.device.destroy() };
    }
}
