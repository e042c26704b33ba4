//! The command buffer for the passes of the visible output.

use tileheap::frame::{BatchId, CommandBufferId, FrameBuilder, SubmitId};

/// Declares the command buffer of the visible output, in a batch after that of the shadow maps.
pub(crate) fn begin(frame: &mut FrameBuilder, submit: SubmitId, _: BatchId) -> CommandBufferId {
    let batch = frame.batch(submit);
    frame.command_buffer(batch, "seen")
}
