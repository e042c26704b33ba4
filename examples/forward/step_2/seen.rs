//! Where the passes of what is seen are recorded.

use tileheap::frame::{BatchId, CommandBufferId, FrameBuilder, SubmitId};

/// Begins their command buffer, behind the batch of the shadow maps.
pub(crate) fn begin(frame: &mut FrameBuilder, submit: SubmitId, _: BatchId) -> CommandBufferId {
    let batch = frame.batch(submit);
    frame.command_buffer(batch, "seen")
}
