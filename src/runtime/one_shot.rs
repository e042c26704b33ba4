//! A command buffer that is submitted once and waited for.

use ash::vk;

use super::DeviceQueue;
use super::fault::Called;
use crate::Result;

/// Recording from its creation on; destroyed with all that it holds when dropped.
pub struct OneShotCommands<'a> {
    device: &'a ash::Device,
    queue: DeviceQueue,
    what: &'static str,
    pool: vk::CommandPool,
    fence: vk::Fence,
    pub commands: vk::CommandBuffer,
}

impl<'a> OneShotCommands<'a> {
    /// Begins to record.
    pub fn new(
        device: &'a ash::Device,
        queue: DeviceQueue,
        what: &'static str,
    ) -> Result<OneShotCommands<'a>> {
        let called = || what;
        let mut commands_once = OneShotCommands {
            device,
            queue,
            what,
            pool: vk::CommandPool::null(),
            fence: vk::Fence::null(),
            commands: vk::CommandBuffer::null(),
        };
        let info = vk::CommandPoolCreateInfo::default()
            .flags(vk::CommandPoolCreateFlags::TRANSIENT)
            .queue_family_index(queue.family);
        // SAFETY: the family is one that the device has queues of (the caller's `DeviceDesc`).
        commands_once.pool =
            unsafe { device.create_command_pool(&info, None) }.called("vkCreateCommandPool", called)?;
        // SAFETY: nothing is asked for but a fence.
        commands_once.fence = unsafe { device.create_fence(&vk::FenceCreateInfo::default(), None) }
            .called("vkCreateFence", called)?;
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(commands_once.pool)
            .command_buffer_count(1);
        // SAFETY: the pool was just created.
        commands_once.commands =
            unsafe { device.allocate_command_buffers(&info) }.called("vkAllocateCommandBuffers", called)?[0];
        let info = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: just allocated.
        unsafe { device.begin_command_buffer(commands_once.commands, &info) }
            .called("vkBeginCommandBuffer", called)?;
        Ok(commands_once)
    }

    /// Submits and waits.
    pub fn run(&mut self) -> Result<()> {
        let device = self.device;
        let called = || self.what;
        // SAFETY: recording was begun by `new`.
        unsafe { device.end_command_buffer(self.commands) }.called("vkEndCommandBuffer", called)?;
        let commands = [self.commands];
        let info = vk::SubmitInfo::default().command_buffers(&commands);
        // SAFETY: nobody else uses the queue (`Device::bind` says so).
        unsafe { device.queue_submit(self.queue.handle, &[info], self.fence) }
            .called("vkQueueSubmit", called)?;
        // SAFETY: the fence was just submitted.
        let waited = unsafe { device.wait_for_fences(&[self.fence], true, u64::MAX) };
        if waited.is_err() {
            // What the commands use is destroyed next, and a wait can fail for want of memory: one more, which needs less. If
            // that fails too, the device is lost or as good as lost.
            // SAFETY: nobody else uses the queue.
            let _ = unsafe { device.queue_wait_idle(self.queue.handle) };
        }
        waited.called("vkWaitForFences", called)?;
        Ok(())
    }
}

impl Drop for OneShotCommands<'_> {
    fn drop(&mut self) {
        let device = self.device;
        // SAFETY: never submitted, or waited for (a failed wait means a lost device, which runs nothing).
        unsafe { device.destroy_fence(self.fence, None) };
        // SAFETY: as above; frees its command buffer too.
        unsafe { device.destroy_command_pool(self.pool, None) };
    }
}
