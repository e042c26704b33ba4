//! Errors of problems and packings.

use crate::units::{Alignment, Bytes, Span};

/// What the functions of this crate return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An invalid packing problem, or an invalid packing.
///
/// Items are named by their index in the problem.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A conflict names an item that does not exist.
    #[error("conflict ({a}, {b}): the problem has {items} items")]
    UnknownItem {
        /// First of the pair.
        a: u32,
        /// Second of the pair.
        b: u32,
        /// Number of items.
        items: usize,
    },
    /// A conflict between an item and itself, or between members of one group, which share bytes by definition.
    #[error("items {a} and {b} share one offset and cannot be in conflict")]
    ConflictInGroup {
        /// First of the pair.
        a: u32,
        /// Second of the pair.
        b: u32,
    },
    /// A group in which two members are fixed, at different offsets.
    #[error("items {a} and {b} share one offset but are fixed at {a_offset} and {b_offset}")]
    GroupFixedTwice {
        /// A member.
        a: u32,
        /// Another member.
        b: u32,
        /// Where `a` is fixed.
        a_offset: Bytes,
        /// Where `b` is fixed.
        b_offset: Bytes,
    },
    /// No alignment below 2^64 suits all members of a group.
    #[error(
        "item {item} is aligned to {alignment}; with its group's {group} that has no common multiple below 2^64"
    )]
    GroupAlignment {
        /// The member at which it became too large.
        item: u32,
        /// Its alignment.
        alignment: Alignment,
        /// The least common multiple of the members before.
        group: Alignment,
    },
    /// An offset is not a multiple of the alignment (of a group: of the least common multiple).
    #[error("item {item} is at {offset}, which is not a multiple of {alignment}")]
    Misaligned {
        /// The item.
        item: u32,
        /// Its offset.
        offset: Bytes,
        /// The alignment it needs.
        alignment: Alignment,
    },
    /// No offset lies within an item's bounds (of a group: within all of them), or not the one it is fixed at.
    #[error("item {item} has no offset: a multiple of {alignment} from {lowest} to {highest}")]
    EmptyBounds {
        /// The item; of a group, its first or its fixed one.
        item: u32,
        /// The lowest offset it may have.
        lowest: Bytes,
        /// The highest offset it may have.
        highest: Bytes,
        /// The alignment it needs.
        alignment: Alignment,
    },
    /// Two items are fixed at the same bytes and must not share them.
    #[error("items {a} and {b} conflict and are fixed at overlapping bytes")]
    FixedCollision {
        /// The lower index.
        a: u32,
        /// The higher index.
        b: u32,
    },
    /// An item that ends past the last address.
    #[error("item {item} of {size} at {offset} ends past 2^64 - 1 B")]
    EndOverflow {
        /// The item.
        item: u32,
        /// Its size.
        size: Bytes,
        /// Its offset.
        offset: Bytes,
    },
    /// All sizes and alignments together pass the last address.
    #[error("sizes and alignments sum past 2^64 - 1 B at item {item} of {size} aligned to {alignment}")]
    SumOverflow {
        /// The item at which the sum became too large.
        item: u32,
        /// Its size.
        size: Bytes,
        /// Its alignment.
        alignment: Alignment,
    },
    /// A packing for another number of items.
    #[error("a packing of {found} offsets for {expected} items")]
    OffsetCount {
        /// Items of the problem.
        expected: usize,
        /// Offsets of the packing.
        found: usize,
    },
    /// A fixed item elsewhere.
    #[error("item {item} is fixed at {expected} but placed at {found}")]
    MovedFixed {
        /// The item.
        item: u32,
        /// Where it is fixed.
        expected: Bytes,
        /// Where it was placed.
        found: Bytes,
    },
    /// An item below its lowest or above its highest offset.
    #[error("item {item} is at {offset}, outside its bounds from {lowest} to {highest}")]
    OutOfBounds {
        /// The item.
        item: u32,
        /// Its offset.
        offset: Bytes,
        /// The lowest offset it may have.
        lowest: Bytes,
        /// The highest offset it may have; the last address without one.
        highest: Bytes,
    },
    /// Members of one group at different offsets.
    #[error("items {a} and {b} share one offset but are placed at {a_offset} and {b_offset}")]
    GroupSplit {
        /// The first member.
        a: u32,
        /// A later member.
        b: u32,
        /// Where `a` was placed.
        a_offset: Bytes,
        /// Where `b` was placed.
        b_offset: Bytes,
    },
    /// Two items with overlapping lifetimes share bytes.
    #[error("items {a} {a_span} and {b} {b_span} overlap in time and share bytes from {offset} to {end}")]
    Overlap {
        /// The lower index.
        a: u32,
        /// The higher index.
        b: u32,
        /// Lifetime of `a`.
        a_span: Span,
        /// Lifetime of `b`.
        b_span: Span,
        /// First byte that both take.
        offset: Bytes,
        /// First byte after.
        end: Bytes,
    },
    /// A declared conflict shares bytes.
    #[error("items {a} and {b} are in conflict and share bytes from {offset} to {end}")]
    ConflictOverlap {
        /// First of the pair.
        a: u32,
        /// Second of the pair.
        b: u32,
        /// First byte that both take.
        offset: Bytes,
        /// First byte after.
        end: Bytes,
    },
    /// A height that is not the end of the highest item.
    #[error("the packing has a height of {claimed}, but its highest item ends at {end}")]
    WrongHeight {
        /// The packing's own height.
        claimed: Bytes,
        /// Where its highest item ends.
        end: Bytes,
    },
    /// An allocation graph that does not conserve bytes.
    #[error("allocation graph: {} has {size}, but {into} flow in and {out} flow out", whose(*.item))]
    Flow {
        /// The item; `None` for the buffer itself, its source and its sink.
        item: Option<u32>,
        /// Bytes that flow in (into the sink).
        into: Bytes,
        /// Bytes that flow out (of the source).
        out: Bytes,
        /// Bytes that it has.
        size: Bytes,
    },
    /// An invalid problem with pools, or an invalid packing of one.
    #[error(transparent)]
    Pools(#[from] super::pools::PoolsError),
    /// No built-in strategy has this name.
    #[error("no packing strategy is called `{name}`: one of {known}")]
    UnknownStrategy {
        /// The name.
        name: String,
        /// The names that there are.
        known: String,
    },
}

impl Error {
    /// The item that the error is about, or the first of two.
    pub fn item(&self) -> Option<u32> {
        match *self {
            Error::UnknownItem { .. }
            | Error::OffsetCount { .. }
            | Error::WrongHeight { .. }
            | Error::Pools(_)
            | Error::UnknownStrategy { .. } => None,
            Error::Flow { item, .. } => item,
            Error::ConflictInGroup { a, .. }
            | Error::GroupFixedTwice { a, .. }
            | Error::FixedCollision { a, .. }
            | Error::GroupSplit { a, .. }
            | Error::Overlap { a, .. }
            | Error::ConflictOverlap { a, .. } => Some(a),
            Error::GroupAlignment { item, .. }
            | Error::Misaligned { item, .. }
            | Error::EmptyBounds { item, .. }
            | Error::EndOverflow { item, .. }
            | Error::SumOverflow { item, .. }
            | Error::MovedFixed { item, .. }
            | Error::OutOfBounds { item, .. } => Some(item),
        }
    }
}

fn whose(item: Option<u32>) -> String {
    item.map_or("the buffer".to_owned(), |item| format!("item {item}"))
}
