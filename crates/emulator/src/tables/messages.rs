//! The layer's message ids: number, name, severity and kind of each.

use ash::vk;

/// What a message checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The layer itself, not the application.
    Layer,
    /// A rule that the validation layers check too.
    Validated,
    /// A rule that only this layer checks.
    OwnRule,
}

macro_rules! messages {
    ($($(#[$doc:meta])* $id:ident = $number:literal, $name:literal, $severity:ident, $kind:ident;)+) => {
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
    Setting = 0x7169_0001, "TILEHEAP-setting", WARNING, Layer;
    /// The driver has the extension itself.
    StepsAside = 0x7169_0002, "TILEHEAP-steps-aside", INFO, Layer;
    /// Validation sits below the layer, where it sees what the layer does instead of what the application does.
    AboveValidation = 0x7169_0003, "TILEHEAP-above-validation", WARNING, Layer;
    /// Something cannot be emulated on this driver.
    CannotEmulate = 0x7169_0004, "TILEHEAP-cannot-emulate", WARNING, Layer;
    /// A resource whose tile requirements are 0 was bound to tile memory.
    UnsupportedResource = 0x7169_0010, "TILEHEAP-unsupported-resource", ERROR, OwnRule;
    /// A resource was bound to tile memory at an offset or with a size that its tile requirements forbid.
    BadPlace = 0x7169_0011, "TILEHEAP-bad-place", ERROR, Validated;
    /// Tile memory was mapped.
    Mapped = 0x7169_0012, "TILEHEAP-mapped", ERROR, Validated;
    /// A tile memory object larger than the heap was allocated.
    TooLarge = 0x7169_0013, "TILEHEAP-too-large", WARNING, Validated;
    /// Tile memory was allocated while its feature is off.
    NotEnabled = 0x7169_0014, "TILEHEAP-not-enabled", ERROR, Validated;
    /// A command accesses a tile resource of another memory object than the one bound.
    WrongObject = 0x7169_0020, "TILEHEAP-wrong-object", ERROR, Validated;
    /// A transfer accesses a tile resource whose object is not bound.
    TransferUnbound = 0x7169_0021, "TILEHEAP-transfer-unbound", ERROR, OwnRule;
    /// A secondary command buffer inside a render pass discards what the primary has bound.
    InheritanceMissing = 0x7169_0022, "TILEHEAP-inheritance-missing", ERROR, OwnRule;
    /// A read of contents that were never written, or were discarded.
    ReadsDiscarded = 0x7169_0023, "TILEHEAP-reads-discarded", WARNING, OwnRule;
    /// A resolve attachment is in tile memory.
    ResolveAttachment = 0x7169_0024, "TILEHEAP-resolve-attachment", ERROR, Validated;
    /// Memory that is not tile memory was bound to a command buffer.
    NotTileMemory = 0x7169_0025, "TILEHEAP-not-tile-memory", ERROR, Validated;
    /// Tile memory is bound inside a render pass.
    BoundInside = 0x7169_0026, "TILEHEAP-bound-inside", ERROR, OwnRule;
    /// A render pass with an attachment whose object is not bound, and no draw.
    AttachmentUnbound = 0x7169_0027, "TILEHEAP-attachment-unbound", WARNING, OwnRule;
    /// A tile shading command or shader that cannot run here.
    TileShading = 0x7169_0030, "TILEHEAP-tile-shading", ERROR, OwnRule;
}

impl MessageId {
    /// Its index in [`MESSAGE_IDS`].
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
