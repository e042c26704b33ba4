//! The command buffer for the passes of the visible output.

use tileheap::frame::{BatchId, CommandBufferId, FrameBuilder, SubmitId};

/// Declares the command buffer of the visible output, in the batch of the shadow maps.
pub(crate) fn begin(frame: &mut FrameBuilder, _: SubmitId, batch: BatchId) -> CommandBufferId {
    frame.command_buffer(batch, "seen")
}
