//! What tests of frames and plans begin with.

use ash::vk;
use tileheap::frame::{CommandBufferId, FrameBuilder};
use tileheap::plan::{PlanOptions, Strategy};

/// Declares one queue with one command buffer, `scene`.
pub fn one_queue(frame: &mut FrameBuilder, capabilities: vk::QueueFlags) -> CommandBufferId {
    let queue = frame.queue("main", capabilities);
    let submit = frame.submit(queue);
    let batch = frame.batch(submit);
    frame.command_buffer(batch, "scene")
}

/// The usual options with this strategy.
pub fn by(strategy: Strategy) -> PlanOptions {
    PlanOptions {
        strategy,
        ..PlanOptions::default()
    }
}
