//! Setup shared by tests of frames and plans.

use ash::vk;
use tileheap::frame::{CommandBufferId, FrameBuilder};
use tileheap::plan::{PlanOptions, ResidencyStrategy};

/// Declares one queue with one command buffer, `scene`.
pub fn one_queue(frame: &mut FrameBuilder, capabilities: vk::QueueFlags) -> CommandBufferId {
    let queue = frame.queue("main", capabilities);
    let submit = frame.submit(queue);
    let batch = frame.batch(submit);
    frame.command_buffer(batch, "scene")
}

/// An extent in texels.
pub const fn extent(width: u32, height: u32) -> vk::Extent2D {
    vk::Extent2D { width, height }
}

/// A rectangle in texels, at `(x, y)`.
pub const fn rect(x: i32, y: i32, width: u32, height: u32) -> vk::Rect2D {
    let (offset, extent) = (vk::Offset2D { x, y }, extent(width, height));
    vk::Rect2D { offset, extent }
}

pub fn by(strategy: ResidencyStrategy) -> PlanOptions {
    PlanOptions {
        strategy,
        ..PlanOptions::default()
    }
}
