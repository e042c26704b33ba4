//! The reasons why bytes of tile memory become undefined.

use tileheap_sync::program::{self, MemoryId};

macro_rules! reasons {
    ($($(#[$doc:meta])* $reason:ident = $text:literal, $remedy:literal;)+) => {
        /// The reason why bytes became undefined.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum DiscardReason {
            $($(#[$doc])* $reason,)+
        }

        impl DiscardReason {
            /// Describes the command or event that made the bytes undefined.
            pub(crate) const fn text(self) -> &'static str {
                match self {
                    $(DiscardReason::$reason => $text,)+
                }
            }

            /// The change to the application that would preserve the contents.
            pub(crate) const fn remedy(self) -> &'static str {
                match self {
                    $(DiscardReason::$reason => $remedy,)+
                }
            }
        }
    };
}

reasons! {
    /// An action command at which the bound tile memory did not include these bytes.
    LessBound = "an action command with less tile memory bound",
        "bind an object that covers the contents for every action command from the write to the read, in every command buffer";
    /// A load operation or an initial layout that discards contents, at the beginning of a render pass.
    Load = "a load operation DONT_CARE or an initial layout UNDEFINED",
        "load the attachment with LOAD and its current layout, or read the contents before the render pass";
    /// A store operation that discards contents, at the end of a render pass.
    Store = "a store operation DONT_CARE", "store the attachment with STORE";
    /// A barrier with a transition from `UNDEFINED`.
    Transition = "a transition from UNDEFINED", "set the barrier's oldLayout to the current layout of the image";
    /// A release to another queue family, on a queue of the family that owned the resource.
    Release = "a release to another queue family", "acquire the resource from that family before the read, or write it again";
    /// A secondary command buffer that does not inherit the primary's tile memory, inside a render pass.
    Inheritance = "a secondary command buffer without the primary's tile memory",
        "chain VkTileMemoryBindInfoQCOM with the primary's object to the secondary's VkCommandBufferInheritanceInfo";
    /// A secondary command buffer, outside render passes, at whose first action command the bound tile memory did not include these bytes.
    Secondary = "a secondary command buffer that binds less tile memory before its first action command",
        "bind the object in the secondary command buffer too: outside render passes, secondary command buffers inherit no tile memory";
    /// The end of the batch, on devices without `queueSubmitBoundary`.
    BatchEnd = "the end of the batch",
        "write and read the contents in the same batch, or use ordinary memory: queueSubmitBoundary is false on this device";
    /// The end of the submit, on devices with `queueSubmitBoundary`.
    SubmitEnd = "the end of the submit", "write and read the contents in the same submit call, or use ordinary memory";
}

/// Bytes `[first, end)` that become undefined, and the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Discard {
    pub(crate) first: u64,
    pub(crate) end: u64,
    pub(crate) reason: DiscardReason,
}

impl Discard {
    /// Converts the discard to the model's form. If `reports_contents` is true, the model reports defined contents of these bytes.
    pub(crate) fn to_model(self, memory: MemoryId, reports_contents: bool) -> program::Discard {
        program::Discard {
            memory,
            first: self.first,
            end: self.end,
            reports_contents,
        }
    }
}
