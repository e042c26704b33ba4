//! Which tile resources descriptor sets hold, and which sets are bound where.

use crate::hooks::actions::Reach;
use crate::messages::Finding;
use crate::recording::{Recorder, Recording};

/// The descriptor sets bound to a command buffer.
#[derive(Default)]
pub(crate) struct BoundSets {}

/// What a draw or dispatch reaches.
pub(crate) fn check(
    _recorder: &Recorder,
    _recording: &mut Recording,
    _reach: Reach,
    _command: &str,
    _findings: &mut Vec<Finding>,
) {
}
