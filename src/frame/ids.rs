//! Ids: positions in the tables of a frame.

use crate::units::Step;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub(crate) u32);

        impl $name {
            /// Position in the frame's table of such things.
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

impl PassId {
    /// The pass's place on the frame's timeline.
    pub const fn step(self) -> Step {
        Step(self.0)
    }
}
