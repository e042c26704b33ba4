//! Commands that are recorded, submitted and waited for.

use std::time::{Duration, Instant};

use ash::vk;
use tileheap::runtime::Context;

/// How long what `record` records takes, from submission to completion.
pub(crate) fn timed(context: &Context, record: impl FnOnce(vk::CommandBuffer)) -> Duration {
    let (device, queue) = (context.device(), context.queues()[0]);
    let info = vk::CommandPoolCreateInfo::default().queue_family_index(queue.family);
    // SAFETY: the device has the family.
    let pool = unsafe { device.create_command_pool(&info, None) }.expect("a command pool");
    let info = vk::CommandBufferAllocateInfo::default()
        .command_pool(pool)
        .command_buffer_count(1);
    // SAFETY: the pool was just created.
    let commands = unsafe { device.allocate_command_buffers(&info) }.expect("a command buffer");
    // SAFETY: new.
    unsafe { device.begin_command_buffer(commands[0], &Default::default()) }.expect("recording");
    record(commands[0]);
    // SAFETY: recording.
    unsafe { device.end_command_buffer(commands[0]) }.expect("recorded");
    let submit = vk::SubmitInfo::default().command_buffers(&commands);
    let start = Instant::now();
    // SAFETY: nobody else uses the queue.
    unsafe { device.queue_submit(queue.handle, &[submit], vk::Fence::null()) }.expect("submitted");
    // SAFETY: nobody else uses the queue.
    unsafe { device.queue_wait_idle(queue.handle) }.expect("done");
    let took = start.elapsed();
    // SAFETY: idle.
    unsafe { device.destroy_command_pool(pool, None) };
    took
}
