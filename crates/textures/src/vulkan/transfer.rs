//! Uploads on a separate queue.

use ash::vk;

use crate::Result;
use tileheap::runtime::objects::VkResultExt;
use tileheap::runtime::{Capabilities, Device};
use tileheap::runtime::{DeviceQueue, RuntimeError};

/// Records uploads and submits them to a separate queue.
pub(super) struct Transfer {
    pub(super) queue: DeviceQueue,
    /// The graphics queue family.
    pub(super) family: u32,
    pool: vk::CommandPool,
    /// Command buffers, each with the last frame that used it.
    commands: Vec<(vk::CommandBuffer, u64)>,
    /// A timeline semaphore, whose value is the last frame whose uploads are complete.
    uploaded: vk::Semaphore,
}

impl Transfer {
    /// An uploader without objects; [`make`](Transfer::make) creates them.
    pub(super) fn new(queue: DeviceQueue, family: u32) -> Transfer {
        Transfer {
            queue,
            family,
            pool: vk::CommandPool::null(),
            commands: Vec::with_capacity(16),
            uploaded: vk::Semaphore::null(),
        }
    }

    pub(super) fn make(&mut self, device: &Device) -> Result<()> {
        let (raw, what) = (device.raw(), || "uploads");
        if !device.capabilities().contains(Capabilities::TIMELINE_SEMAPHORE) {
            return Err(RuntimeError::MissingFeature {
                missing_from: device.profile().name.clone(),
                what: "timeline semaphores, which a transfer queue requires".to_owned(),
            }
            .into());
        }
        let info = vk::CommandPoolCreateInfo::default()
            .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER)
            .queue_family_index(self.queue.family);
        // SAFETY: the caller's device has the queue, and so the family.
        self.pool = unsafe { raw.create_command_pool(&info, None) }.with_call("vkCreateCommandPool", what)?;
        let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
        let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
        // SAFETY: timelines are enabled.
        self.uploaded = unsafe { raw.create_semaphore(&info, None) }.with_call("vkCreateSemaphore", what)?;
        Ok(())
    }

    /// Begins a command buffer for `frame`.
    pub(super) fn begin(
        &mut self,
        device: &ash::Device,
        frame: u64,
        complete: u64,
    ) -> Result<vk::CommandBuffer> {
        let what = || "uploads";
        let free = self.commands.iter().position(|&(_, last)| last <= complete);
        let index = match free {
            Some(index) => index,
            None => {
                let info = vk::CommandBufferAllocateInfo::default()
                    .command_pool(self.pool)
                    .command_buffer_count(1);
                // SAFETY: the pool is alive.
                let made = unsafe { device.allocate_command_buffers(&info) };
                self.commands
                    .push((made.with_call("vkAllocateCommandBuffers", what)?[0], 0));
                self.commands.len() - 1
            }
        };
        let (commands, last) = &mut self.commands[index];
        let info = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: its last frame is complete, and the pool lets beginning reset it.
        unsafe { device.begin_command_buffer(*commands, &info) }.with_call("vkBeginCommandBuffer", what)?;
        *last = frame;
        Ok(*commands)
    }

    /// Submits the uploads of `frame`, which wait for nothing; returns the semaphore and value that the frame must wait for.
    pub(super) fn submit(
        &self,
        owner: &Device,
        commands: vk::CommandBuffer,
        frame: u64,
    ) -> Result<(vk::Semaphore, u64)> {
        let device = owner.raw();
        let what = || format!("the uploads of frame {frame}");
        // SAFETY: recording.
        unsafe { device.end_command_buffer(commands) }.with_call("vkEndCommandBuffer", what)?;
        let (signals, signaled, buffers) = ([self.uploaded], [frame], [commands]);
        let mut timeline = vk::TimelineSemaphoreSubmitInfo::default().signal_semaphore_values(&signaled);
        let info = vk::SubmitInfo::default()
            .command_buffers(&buffers)
            .signal_semaphores(&signals)
            .push_next(&mut timeline);
        let _locked = owner.lock_queues();
        // SAFETY: all handles are alive; the queues are locked, and the program's own submissions are the caller's duty.
        unsafe { device.queue_submit(self.queue.handle, &[info], vk::Fence::null()) }
            .with_call("vkQueueSubmit", what)?;
        Ok((self.uploaded, frame))
    }

    /// # Safety
    /// None of its objects is in use.
    pub(super) unsafe fn destroy(&mut self, device: &ash::Device) {
        // SAFETY: the caller's duty; null is ignored.
        unsafe { device.destroy_command_pool(self.pool, None) };
        // SAFETY: as above.
        unsafe { device.destroy_semaphore(self.uploaded, None) };
        self.commands.clear();
        (self.pool, self.uploaded) = (vk::CommandPool::null(), vk::Semaphore::null());
    }
}
