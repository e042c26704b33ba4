//! The discard windows of a frame's passes.

use super::WindowRule;
use crate::frame::{Frame, PassId, QueueId};
use crate::profile::DeviceProfile;

/// The discard windows of a frame: within a window, tile memory keeps its contents as long as enough of it stays bound.
///
/// ```text
/// passes    0  1  2 │ 3  4 │ 5  6        batches
/// windows   0  0  0 │ 1  1 │ 2  2        without queueSubmitBoundary
/// ```
pub(super) struct Timeline {
    /// Per pass, its window.
    pub(super) window: Vec<u32>,
    /// Per pass, its queue.
    pub(super) queue: Vec<QueueId>,
    /// True if queues have separate tile contents: always, except if the whole frame is one window.
    pub(super) has_separate_queues: bool,
}

impl Timeline {
    pub(super) fn new(frame: &Frame, profile: &DeviceProfile, rule: WindowRule) -> Timeline {
        let submit_boundary = profile.tile.is_some_and(|tile| tile.queue_submit_boundary);
        let mut window = Vec::with_capacity(frame.passes().len());
        let mut queue = Vec::with_capacity(frame.passes().len());
        for commands in frame.command_buffers() {
            let submit = frame.batches()[commands.batch.index()].submit;
            let number = match rule {
                WindowRule::WholeFrame => 0,
                WindowRule::Device if submit_boundary => submit.index() as u32,
                WindowRule::Device => commands.batch.index() as u32,
            };
            window.extend(commands.passes.indices().map(|_| number));
            queue.extend(
                commands
                    .passes
                    .indices()
                    .map(|_| frame.submits()[submit.index()].queue),
            );
        }
        Timeline {
            window,
            queue,
            has_separate_queues: rule == WindowRule::Device,
        }
    }

    pub(super) fn window_of(&self, pass: PassId) -> u32 {
        self.window[pass.index()]
    }

    pub(super) fn queue_of(&self, pass: PassId) -> QueueId {
        self.queue[pass.index()]
    }
}
