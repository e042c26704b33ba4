//! The layer's message ids: number, name, severity and kind of each.

use ash::vk;
use tileheap_layer::android::Severity;

/// The kind of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A message about the layer itself, not about the application.
    Layer,
    /// A rule that the validation layers also check.
    Validated,
    /// A rule that only this layer checks.
    OwnRule,
}

macro_rules! messages {
    ($($(#[$doc:meta])* $id:ident = $number:literal, $name:literal, $severity:ident, $kind:ident, $remedy:literal;)+) => {
        /// A message id. The number is `messageIdNumber`, the name `pMessageIdName`; both are stable.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(i32)]
        pub enum MessageId {
            $($(#[$doc])* $id = $number,)+
        }

        /// Every message id, by number.
        pub const MESSAGE_IDS: &[MessageId] = &[$(MessageId::$id),+];

        impl MessageId {
            /// `pMessageIdName`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(MessageId::$id => $name,)+
                }
            }

            pub(crate) const fn severity(self) -> vk::DebugUtilsMessageSeverityFlagsEXT {
                match self {
                    $(MessageId::$id => vk::DebugUtilsMessageSeverityFlagsEXT::$severity,)+
                }
            }

            /// The severity as a word, such as `warning`.
            pub(crate) const fn severity_name(self) -> &'static str {
                match self.severity() {
                    vk::DebugUtilsMessageSeverityFlagsEXT::ERROR => "error",
                    vk::DebugUtilsMessageSeverityFlagsEXT::WARNING => "warning",
                    _ => "info",
                }
            }

            /// The severity in the log.
            pub(crate) const fn log_severity(self) -> Severity {
                match self.severity() {
                    vk::DebugUtilsMessageSeverityFlagsEXT::ERROR => Severity::Error,
                    vk::DebugUtilsMessageSeverityFlagsEXT::WARNING => Severity::Warning,
                    _ => Severity::Info,
                }
            }

            /// The remedy; empty if each finding names its own.
            pub(crate) const fn remedy(self) -> &'static str {
                match self {
                    $(MessageId::$id => $remedy,)+
                }
            }

            pub(crate) const fn kind(self) -> Kind {
                match self {
                    $(MessageId::$id => Kind::$kind,)+
                }
            }
        }
    };
}

messages! {
    /// A setting could not be read.
    Setting = 0x7169_0001, "TILEHEAP-setting", WARNING, Layer,
        "correct the value; the layer's manifest lists the values of each setting";
    /// The driver has the extension itself, so the layer emulates nothing.
    StepsAside = 0x7169_0002, "TILEHEAP-steps-aside", INFO, Layer,
        "";
    /// Validation is below the layer, where it checks the layer's commands instead of the application's.
    AboveValidation = 0x7169_0003, "TILEHEAP-above-validation", WARNING, Layer,
        "list validation before the emulator in VK_INSTANCE_LAYERS";
    /// Something cannot be emulated on this driver.
    CannotEmulate = 0x7169_0004, "TILEHEAP-cannot-emulate", WARNING, Layer,
        "";
    /// A resource that cannot be placed in tile memory was bound to it.
    UnsupportedResource = 0x7169_0010, "TILEHEAP-unsupported-resource", ERROR, OwnRule,
        "create the resource with the tile memory usage bit; if VkTileMemoryRequirementsQCOM::size is 0, use ordinary memory";
    /// A resource was bound to tile memory at an offset or with a size that its tile requirements forbid.
    BadPlace = 0x7169_0011, "TILEHEAP-bad-place", ERROR, Validated,
        "align the offset to VkTileMemoryRequirementsQCOM::alignment, and allocate at least the offset plus the size";
    /// The application tried to map tile memory.
    Mapped = 0x7169_0012, "TILEHEAP-mapped", ERROR, Validated,
        "copy the contents to or from HOST_VISIBLE memory";
    /// An allocation of tile memory is larger than the heap.
    TooLarge = 0x7169_0013, "TILEHEAP-too-large", WARNING, Validated,
        "allocate at most the heap's size; all objects share the heap's bytes, so several can have that size";
    /// Tile memory was allocated on a device that has not enabled its feature.
    NotEnabled = 0x7169_0014, "TILEHEAP-not-enabled", ERROR, Validated,
        "enable the feature, or choose a memory type from the resource's memoryTypeBits, which exclude tile memory types \
         while the feature is disabled";
    /// A command accesses a tile resource in a memory object other than the one that is bound.
    WrongObject = 0x7169_0020, "TILEHEAP-wrong-object", ERROR, Validated,
        "bind the memory object of the resource before the command, outside render passes";
    /// A transfer accesses a tile resource whose memory object is not bound.
    TransferUnbound = 0x7169_0021, "TILEHEAP-transfer-unbound", ERROR, OwnRule,
        "bind the memory object of the buffer before the transfer";
    /// A secondary command buffer inside a render pass discards contents of memory that the primary has bound.
    InheritanceMissing = 0x7169_0022, "TILEHEAP-inheritance-missing", ERROR, OwnRule,
        "chain VkTileMemoryBindInfoQCOM with the primary's object to the secondary's VkCommandBufferInheritanceInfo";
    /// A read of contents that were never written, or were discarded.
    ReadsDiscarded = 0x7169_0023, "TILEHEAP-reads-discarded", ERROR, OwnRule,
        "write or clear the contents before they are read";
    /// A resolve attachment is in tile memory.
    ResolveAttachment = 0x7169_0024, "TILEHEAP-resolve-attachment", ERROR, Validated,
        "resolve to an image in ordinary memory";
    /// Memory that is not tile memory was bound to a command buffer.
    NotTileMemory = 0x7169_0025, "TILEHEAP-not-tile-memory", ERROR, Validated,
        "bind memory of a type whose heap has VK_MEMORY_HEAP_TILE_MEMORY_BIT_QCOM";
    /// Tile memory is bound inside a render pass.
    BoundInside = 0x7169_0026, "TILEHEAP-bound-inside", ERROR, OwnRule,
        "bind tile memory before the render pass begins";
    /// A render pass without draws has an attachment whose memory object is not bound.
    AttachmentUnbound = 0x7169_0027, "TILEHEAP-attachment-unbound", WARNING, OwnRule,
        "bind the memory object of the attachment before the render pass";
    /// Accesses to the same bytes without the required dependency.
    MissingOrder = 0x7169_0028, "TILEHEAP-missing-order", ERROR, OwnRule,
        "order the accesses with a memory dependency";
    /// Accesses to the same bytes that may lack a dependency.
    PossibleOrder = 0x7169_0029, "TILEHEAP-possible-order", INFO, OwnRule,
        "order the accesses with a memory dependency";
    /// A read of contents that may be undefined.
    PossibleContents = 0x7169_002A, "TILEHEAP-possible-contents", INFO, OwnRule,
        "write or clear the contents before they are read";
    /// Accesses without a dependency that the specification requires but no known implementation needs.
    PedanticOrder = 0x7169_002B, "TILEHEAP-pedantic-order", INFO, OwnRule,
        "order the accesses with a memory dependency";
    /// A command may write to memory in ways that the layer cannot track.
    UnseenWrites = 0x7169_002C, "TILEHEAP-unseen-writes", INFO, Layer,
        "enable the setting `possible` to report possible findings";
    /// A tile shading command cannot be emulated in the current state.
    TileShading = 0x7169_0030, "TILEHEAP-tile-shading", ERROR, OwnRule,
        "use ordinary draws and dispatches if per-tile execution is not supported";
}

impl MessageId {
    /// The id's index in [`MESSAGE_IDS`].
    pub(crate) fn index(self) -> usize {
        MESSAGE_IDS.iter().position(|id| *id == self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_id_has_a_name_and_a_number_of_its_own() {
        for (index, id) in MESSAGE_IDS.iter().enumerate() {
            assert_eq!(id.index(), index);
            for other in &MESSAGE_IDS[..index] {
                assert_ne!(id.name(), other.name());
                assert!(*id as i32 > *other as i32);
            }
        }
    }
}
