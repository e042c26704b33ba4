//! The names of uses in loose descriptions.

use tileheap_json::did_you_mean;

use crate::frame::AccessKind;

/// Meaning of an entry in a pass's `reads` or `writes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    Access(AccessKind),
    /// An access that cannot write; not allowed in `writes`.
    ReadOnly(AccessKind),
    /// Presented: not an access of a pass, but an exit state.
    Present,
}

/// The meaning of a use name for an image or a buffer; `writes` is true for a name in a pass's `writes`, false in its `reads`, and `None` elsewhere.
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

/// The end of a message about an unknown use of an image or a buffer: the nearest name, and the usual name of each use.
pub(super) fn accepted_uses(word: &str, is_image: bool) -> String {
    let is_possible = |kind: AccessKind| match is_image {
        true => !kind.image_usage(false).is_empty() || !kind.image_usage(true).is_empty(),
        false => !kind.buffer_usage().is_empty(),
    };
    let kinds = AccessKind::words(is_image).filter(|&(kind, _)| is_possible(kind));
    let (mut usual, mut all) = (Vec::new(), Vec::new());
    for (_, words) in kinds {
        usual.extend(words.first());
        all.extend(words);
    }
    if is_image {
        usual.extend(["depth_read", "present"]);
        all.extend(["depth_read", "depth_test", "stencil_read", "present"]);
    }
    all.extend(["transfer", "copy", "blit"]);
    let near = did_you_mean(word, all);
    let start = if near.is_empty() { ": the" } else { " The" };
    let of = if is_image { "an image" } else { "a buffer" };
    format!("{near}{start} uses of {of} are `{}`", usual.join("`, `"))
}
