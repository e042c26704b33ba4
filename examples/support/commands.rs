//! Command buffers, and their initial dynamic state.

use ash::vk;
use tileheap::execute::Strip;

use super::error::{Called, Result};

/// A command pool that is reset as a whole.
pub fn command_pool(device: &ash::Device, family: u32) -> Result<vk::CommandPool> {
    let info = vk::CommandPoolCreateInfo::default().queue_family_index(family);
    // SAFETY: the family is one that the device was created with.
    unsafe { device.create_command_pool(&info, None) }.called("vkCreateCommandPool")
}

/// Creates a pool and allocates primary command buffers from it.
pub fn command_buffers<const COUNT: usize>(
    device: &ash::Device,
    family: u32,
) -> Result<(vk::CommandPool, [vk::CommandBuffer; COUNT])> {
    let pool = command_pool(device, family)?;
    let info = vk::CommandBufferAllocateInfo::default()
        .command_pool(pool)
        .command_buffer_count(COUNT as u32);
    // SAFETY: the pool was just created.
    let buffers = unsafe { device.allocate_command_buffers(&info) }.called("vkAllocateCommandBuffers")?;
    Ok((pool, std::array::from_fn(|index| buffers[index])))
}

/// The viewport and scissor of draws to a whole target, with depths from 0 to 1.
pub fn whole(extent: vk::Extent2D) -> (vk::Viewport, vk::Rect2D) {
    let strip = Strip::whole(extent.into());
    (strip.viewport(extent), strip.scissor())
}

/// Sets the viewport and the scissor of subsequent draws.
pub fn set_viewport(
    device: &ash::Device,
    commands: vk::CommandBuffer,
    (viewport, scissor): (vk::Viewport, vk::Rect2D),
) {
    // SAFETY: the command buffer is recording.
    unsafe {
        device.cmd_set_viewport(commands, 0, &[viewport]);
        device.cmd_set_scissor(commands, 0, &[scissor]);
    }
}
