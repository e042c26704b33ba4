//! Names of uses.

use crate::frame::AccessKind;

/// Meaning of an entry in a pass's `reads` or `writes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    Access(AccessKind),
    /// An access that cannot write, whichever list it is in.
    ReadOnly(AccessKind),
    /// Presented: not an access of a pass, but an exit state.
    Present,
}

/// The meaning of a use name for an image or a buffer; `writes` tells which list of a pass contains it, if any.
pub(super) fn parse_use(word: &str, is_image: bool, writes: Option<bool>) -> Option<Use> {
    let word = word.to_ascii_lowercase().replace([' ', '-'], "_");
    let word = word.strip_suffix("_attachment").unwrap_or(&word);
    match word {
        "depth_read" | "depth_read_only" | "depth_test" | "stencil_read" => {
            Some(Use::ReadOnly(AccessKind::DepthStencilAttachment))
        }
        "present" => Some(Use::Present),
        "transfer" | "copy" | "blit" => writes.map(|writes| match writes {
            true => Use::Access(AccessKind::TransferDestination),
            false => Use::Access(AccessKind::TransferSource),
        }),
        _ => AccessKind::of_word(word, is_image).map(Use::Access),
    }
}
