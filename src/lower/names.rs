//! Names for debug labels and messages.

use serde::{Deserialize, Serialize};

use crate::frame::Frame;

/// The names of a planned frame's objects, indexed by the ids in the rows of tables: for debug names, labels and messages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FrameNames {
    /// Names of resources: for images, buffers, views and dedicated memory.
    pub resources: Vec<String>,
    /// Names of passes: for labels.
    pub passes: Vec<String>,
    /// Names of command buffers.
    pub command_buffers: Vec<String>,
    /// Names of declared semaphores.
    pub semaphores: Vec<String>,
    /// Names of declared queues.
    pub queues: Vec<String>,
}

impl FrameNames {
    /// Names of a planned frame ([`Plan::frame`](crate::plan::Plan::frame)).
    pub fn of(frame: &Frame) -> FrameNames {
        FrameNames {
            resources: frame.resources().iter().map(|one| one.name.clone()).collect(),
            passes: frame.passes().iter().map(|one| one.name.clone()).collect(),
            command_buffers: frame
                .command_buffers()
                .iter()
                .map(|one| one.name.clone())
                .collect(),
            semaphores: frame.semaphores().iter().map(|one| one.name.clone()).collect(),
            queues: frame.queues().iter().map(|one| one.name.clone()).collect(),
        }
    }
}
