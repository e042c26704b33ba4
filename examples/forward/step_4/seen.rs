//! The command buffer for the passes of the visible output.

use tileheap::frame::{BatchId, CommandBufferId, FrameBuilder, SubmitId};

/// Declares their command buffer, in the batch of the shadow maps.
pub(crate) fn begin(frame: &mut FrameBuilder, _: SubmitId, batch: BatchId) -> CommandBufferId {
    frame.command_buffer(batch, "seen")
}
