//! The reasons why bytes of tile memory become undefined.

use tileheap_sync::program::{self, MemoryId};

macro_rules! reasons {
    ($($(#[$doc:meta])* $reason:ident = $text:literal, $remedy:literal;)+) => {
        /// Reason why bytes became undefined.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum DiscardReason {
            $($(#[$doc])* $reason,)+
        }

        impl DiscardReason {
            /// The command or event.
            pub(crate) const fn text(self) -> &'static str {
                match self {
                    $(DiscardReason::$reason => $text,)+
                }
            }

            /// The remedy that keeps the contents.
            pub(crate) const fn remedy(self) -> &'static str {
                match self {
                    $(DiscardReason::$reason => $remedy,)+
                }
            }
        }
    };
}

reasons! {
    /// At an action command: the bound tile memory did not include these bytes.
    LessBound = "an action command with less tile memory bound",
        "bind an object that covers it for every action command from the write to the read, also in each further command buffer";
    /// At the beginning of a render pass.
    Load = "a load operation DONT_CARE or an initial layout UNDEFINED",
        "load the attachment with LOAD, from the layout that it has, or use the contents before the render pass";
    /// At the end of a render pass.
    Store = "a store operation DONT_CARE", "store the attachment with STORE";
    /// A barrier.
    Transition = "a transition from UNDEFINED", "set the barrier's oldLayout to the current layout of the image";
    /// A barrier on a queue of the family that owned the resource.
    Release = "a release to another queue family", "acquire it from that family before it is read, or write it again";
    /// Inside a render pass.
    Inheritance = "a secondary command buffer without the primary's tile memory",
        "chain VkTileMemoryBindInfoQCOM with the primary's object to the secondary's VkCommandBufferInheritanceInfo";
    /// At a secondary command buffer outside render passes.
    Secondary = "a secondary command buffer with less tile memory bound",
        "bind the object in the secondary command buffer too: outside render passes it inherits none";
    /// Without `queueSubmitBoundary`.
    BatchEnd = "the end of the batch",
        "write and read it in the same batch, or keep it in ordinary memory: this device has no queueSubmitBoundary";
    /// With `queueSubmitBoundary`.
    SubmitEnd = "the end of the submit", "write and read it in the same submit call, or keep it in ordinary memory";
}

/// Bytes `[first, end)` that become undefined, and the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Discard {
    pub(crate) first: u64,
    pub(crate) end: u64,
    pub(crate) reason: DiscardReason,
}

impl Discard {
    /// Converts it for the model, which reports defined contents in these bytes if losing them is a mistake.
    pub(crate) fn to_model(self, memory: MemoryId, reports_contents: bool) -> program::Discard {
        program::Discard {
            memory,
            first: self.first,
            end: self.end,
            reports_contents,
        }
    }
}
