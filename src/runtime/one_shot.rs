//! Commands that are submitted once and waited for.

use ash::vk;

use super::device::Device;
use super::error::VkResultExt;
use crate::Result;

/// A command buffer in the recording state, for one submission; it is freed with its pool on drop.
///
/// ```no_run
/// # use ash::vk;
/// # use tileheap::runtime::Device;
/// # use tileheap::runtime::objects::OneShotCommands;
/// # fn f(device: &Device, from: vk::Buffer, to: vk::Buffer, copies: &[vk::BufferCopy]) -> tileheap::Result<()> {
/// let commands = OneShotCommands::begin(device, 0, "upload")?;
/// // SAFETY: recording; both buffers are as large as the copies, with the usages of a copy.
/// unsafe { device.raw().cmd_copy_buffer(commands.command_buffer(), from, to, copies) };
/// // SAFETY: the recorded commands are valid; the buffers live until it returns.
/// unsafe { commands.submit_and_wait() }?;
/// # Ok(()) }
/// ```
pub struct OneShotCommands<'a> {
    owner: &'a Device,
    queue: usize,
    name: &'static str,
    pool: vk::CommandPool,
    fence: vk::Fence,
    command_buffer: vk::CommandBuffer,
}

impl<'a> OneShotCommands<'a> {
    /// Begins recording commands for a queue, an index into [`Device::queues`]; `name` is for error messages.
    ///
    /// # Errors
    /// When memory runs out.
    ///
    /// # Panics
    /// If there is no such queue.
    pub fn begin(owner: &'a Device, queue: usize, name: &'static str) -> Result<OneShotCommands<'a>> {
        let what = || name;
        let device = owner.raw();
        let mut once = OneShotCommands {
            owner,
            queue,
            name,
            pool: vk::CommandPool::null(),
            fence: vk::Fence::null(),
            command_buffer: vk::CommandBuffer::null(),
        };
        let info = vk::CommandPoolCreateInfo::default()
            .flags(vk::CommandPoolCreateFlags::TRANSIENT)
            .queue_family_index(owner.queues()[queue].family);
        // SAFETY: the device has queues of the family.
        once.pool =
            unsafe { device.create_command_pool(&info, None) }.with_call("vkCreateCommandPool", what)?;
        // SAFETY: the creation info is the default one.
        once.fence = unsafe { device.create_fence(&vk::FenceCreateInfo::default(), None) }
            .with_call("vkCreateFence", what)?;
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(once.pool)
            .command_buffer_count(1);
        // SAFETY: the pool was just created.
        once.command_buffer =
            unsafe { device.allocate_command_buffers(&info) }.with_call("vkAllocateCommandBuffers", what)?[0];
        let info = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: just allocated.
        unsafe { device.begin_command_buffer(once.command_buffer, &info) }
            .with_call("vkBeginCommandBuffer", what)?;
        Ok(once)
    }

    /// The command buffer to record into.
    pub fn command_buffer(&self) -> vk::CommandBuffer {
        self.command_buffer
    }

    /// Ends the recording, submits it with [the queues locked](Device::lock_queues), and waits until it is complete.
    ///
    /// # Errors
    /// When memory runs out or the device is lost. In either case, nothing of it is in use on the device afterwards.
    ///
    /// # Safety
    /// The recorded commands are valid, and everything that they use is alive and used by no other queue meanwhile.
    pub unsafe fn submit_and_wait(self) -> Result<()> {
        let device = self.owner.raw();
        let queue = self.owner.queues()[self.queue].handle;
        let what = || self.name;
        // SAFETY: recording was begun by `begin`.
        unsafe { device.end_command_buffer(self.command_buffer) }.with_call("vkEndCommandBuffer", what)?;
        let commands = [self.command_buffer];
        let info = vk::SubmitInfo::default().command_buffers(&commands);
        let locked = self.owner.lock_queues();
        // SAFETY: the queues are locked; the recorded commands are valid (the caller's duty).
        let submitted = unsafe { device.queue_submit(queue, &[info], self.fence) };
        drop(locked);
        let lost = Err(vk::Result::ERROR_DEVICE_LOST);
        // By the specification, the objects of a submission that returned `VK_ERROR_DEVICE_LOST` are in use until a wait returns it, too.
        let mut in_use = submitted == lost;
        let mut result = submitted.with_call("vkQueueSubmit", what);
        if result.is_ok() {
            // SAFETY: the fence was just submitted.
            let waited = unsafe { device.wait_for_fences(&[self.fence], true, u64::MAX) };
            // The objects that the commands use are destroyed next, and a wait can fail because memory ran out: wait once more, with a call that
            // needs less. If that fails too, the device is lost or effectively lost.
            in_use = waited.is_err() && waited != lost;
            result = waited.with_call("vkWaitForFences", what);
        }
        if in_use {
            let _locked = self.owner.lock_queues();
            // SAFETY: the queues are locked.
            let waited = unsafe { device.queue_wait_idle(queue) };
            if waited == lost && submitted != lost {
                result = waited.with_call("vkQueueWaitIdle", what);
            }
        }
        self.owner.state().noting_loss(result.map_err(crate::Error::from))
    }
}

impl Drop for OneShotCommands<'_> {
    fn drop(&mut self) {
        let device = self.owner.raw();
        // SAFETY: never submitted, or waited for (a failed wait means a lost device, which runs nothing).
        unsafe { device.destroy_fence(self.fence, None) };
        // SAFETY: as above; frees its command buffer too.
        unsafe { device.destroy_command_pool(self.pool, None) };
    }
}
