//! Ids: positions in the tables of a frame.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::id_names;
use crate::units::Step;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        pub struct $name(pub(crate) u32);

        impl $name {
            /// Position in the frame's table for this kind of id.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

ids! {
    /// A queue that the frame submits to.
    QueueId;
    /// A semaphore that batches wait for or signal.
    SemaphoreId;
    /// One call of `vkQueueSubmit2`.
    SubmitId;
    /// One `VkSubmitInfo2` of a submit.
    BatchId;
    /// A primary command buffer of a batch.
    CommandBufferId;
    /// A pass; its index is its step on the timeline.
    PassId;
    /// An image or buffer.
    ResourceId;
}

macro_rules! named {
    ($($name:ident: $what:literal;)*) => {$(
        /// Writes the id by name in the JSON of a plan, by index elsewhere.
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                id_names::serialize($what, self.0, serializer)
            }
        }

        /// Reads the id by name in the JSON of a plan, by index elsewhere.
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<$name, D::Error> {
                id_names::deserialize($what, deserializer).map($name)
            }
        }
    )*};
}

named! {
    QueueId: "queue";
    PassId: "pass";
    ResourceId: "resource";
    SubmitId: "submit";
    BatchId: "batch";
    CommandBufferId: "command buffer";
}

impl PassId {
    /// The pass's position on the frame's timeline.
    pub const fn step(self) -> Step {
        Step(self.0)
    }
}
