//! Where the passes of what is seen are recorded.

use tileheap::frame::{BatchId, CommandBufferId, FrameBuilder, SubmitId};

/// Begins their command buffer, in the batch of the shadow maps.
pub(crate) fn begin(frame: &mut FrameBuilder, _: SubmitId, batch: BatchId) -> CommandBufferId {
    frame.command_buffer(batch, "seen")
}
