//! The words for uses.

use crate::frame::AccessKind;

/// What an entry of a pass's `reads` or `writes` means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    Access(AccessKind),
    /// An access that cannot write, whatever the list.
    ReadOnly(AccessKind),
    /// Presented: no access of a pass, but a state to leave in.
    Present,
}

/// The meaning of a word for an image, or for a buffer; `writes` says in which list of a pass it is, if in one.
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
