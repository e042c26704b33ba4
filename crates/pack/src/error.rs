//! Errors of problems and packings.

use crate::units::{Alignment, Bytes, Span};

/// The result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An invalid packing problem, or an invalid packing.
///
/// Items are named by their index in the problem and come first. The other fields of a variant are in the order of its message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A conflict with an item that does not exist: the two items, and the number of items.
    #[error("conflict ({0}, {1}) is out of range: the problem has {2} items")]
    UnknownItem(u32, u32, usize),
    /// A conflict between an item and itself, or between members of one group, which share bytes by definition.
    #[error("items {0} and {1} cannot be in conflict: they must have the same offset")]
    ConflictInGroup(u32, u32),
    /// A group in which two members are fixed at different offsets: the two items and their offsets.
    #[error("items {0} and {1} must have the same offset, but are fixed at {2} and {3}")]
    GroupFixedTwice(u32, u32, Bytes, Bytes),
    /// A group without a common alignment below 2^64: an item, its alignment, and the common alignment of the members before it.
    #[error(
        "item {0} has the alignment {1} and its group has the alignment {2}: no common multiple is below 2^64"
    )]
    GroupAlignment(u32, Alignment, Alignment),
    /// An offset is not a multiple of the alignment (of a group: of the least common multiple).
    #[error("item {0} is at {1}, which is not a multiple of {2}")]
    Misaligned(u32, Bytes, Alignment),
    /// No multiple of the alignment lies within an item's bounds (of a group: within all of them), or the fixed offset is outside them.
    #[error(
        "item {item} has no possible offset: no multiple of {alignment} is between {lowest} and {highest}"
    )]
    EmptyBounds {
        /// The item; for a group, its fixed member if it has one, otherwise its first.
        item: u32,
        /// The lowest offset that the item may have.
        lowest: Bytes,
        /// The highest offset that the item may have.
        highest: Bytes,
        /// The alignment that the item needs.
        alignment: Alignment,
    },
    /// Two items that must not share bytes are fixed at overlapping bytes: the lower index, then the higher one.
    #[error("items {0} and {1} must not share bytes, but are fixed at overlapping bytes")]
    FixedCollision(u32, u32),
    /// An item that ends past the last address: its size and its offset.
    #[error("item {0} of {1} at offset {2} ends past 2^64 - 1 B")]
    EndOverflow(u32, Bytes, Bytes),
    /// The sum of all sizes and alignments exceeds 2^64 - 1 when this item is added.
    #[error("the sum of sizes and alignments exceeds 2^64 - 1 B at item {0} of {1} with the alignment {2}")]
    SumOverflow(u32, Bytes, Alignment),
    /// An item to select whose lifetime is empty or ends after the last step: the item, its lifetime, and the number of steps.
    #[error("item {0} has the lifetime {1}, but a lifetime must be a non-empty part of the steps [0, {2})")]
    OutsideSteps(u32, Span, usize),
    /// The sum of the weights exceeds 2^63 when this item is added.
    #[error("the sum of weights exceeds 2^63 at item {0}")]
    WeightOverflow(u32),
    /// An exclusive group that ends after the last item, or does not follow the group before it: its index, its first item, the item after its last, and the
    /// number of items.
    #[error(
        "exclusive group {0} has the items [{1}, {2}): groups must be in ascending order, must not overlap, \
         and must end at {3}, the number of items, at most"
    )]
    ExclusiveGroup(usize, u32, u32, u32),
    /// Two items of an exclusive group are both placed.
    #[error("items {0} and {1} exclude each other, but both are placed")]
    Exclusive(u32, u32),
    /// A packing with a number of offsets that differs from the number of items.
    #[error("the packing must have one offset per item, but has {0} offsets for {1} items")]
    OffsetCount(usize, usize),
    /// A fixed item that is placed at another offset.
    #[error("item {0} is fixed at {1} but placed at {2}")]
    MovedFixed(u32, Bytes, Bytes),
    /// An item below its lowest or above its highest offset.
    #[error("item {item} is at {offset}, outside its bounds from {lowest} to {highest}")]
    OutOfBounds {
        /// The item.
        item: u32,
        /// The item's offset.
        offset: Bytes,
        /// The lowest offset that the item may have.
        lowest: Bytes,
        /// The highest offset that the item may have; 2^64 - 1 if unbounded.
        highest: Bytes,
    },
    /// Members of one group at different offsets.
    #[error("items {0} and {1} must have the same offset, but are placed at {2} and {3}")]
    GroupSplit(u32, u32, Bytes, Bytes),
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
        /// First byte after the shared ones.
        end: Bytes,
    },
    /// A declared conflict whose items share bytes: the first shared byte, and the first byte after.
    #[error("items {0} and {1} are in conflict and share bytes from {2} to {3}")]
    ConflictOverlap(u32, u32, Bytes, Bytes),
    /// A height that differs from the end of the highest item.
    #[error("the packing has a height of {0}, but its highest item ends at {1}")]
    WrongHeight(Bytes, Bytes),
    /// An edge of an allocation graph with an item that the problem does not have: the item, and the number of items.
    #[error("allocation graph: an edge names item {0}, but there are {1} items")]
    EdgeItem(u32, usize),
    /// An allocation graph that does not conserve bytes.
    #[error("allocation graph: {} has {size}, but {inflow} flow in and {outflow} flow out", whose(*.item))]
    Flow {
        /// The item; `None` for the block itself, which is the graph's source and sink.
        item: Option<u32>,
        /// Bytes that flow into the item, or into the sink.
        inflow: Bytes,
        /// Bytes that flow out of the item, or out of the source.
        outflow: Bytes,
        /// Size of the item or block.
        size: Bytes,
    },
    /// An invalid certificate.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
    /// An invalid problem with pools, or an invalid packing of such a problem.
    #[cfg(feature = "pools")]
    #[error(transparent)]
    Pools(#[from] super::pools::PoolsError),
    /// No built-in strategy has this name; lists the valid ones.
    #[error("no packing strategy is called `{0}`: use one of {1}")]
    UnknownStrategy(String, String),
}

/// A flaw in a certificate. Branches are counted from 0, and items are named by index.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CertificateError {
    /// An item that is not in the problem.
    #[error("the problem has no item {0}")]
    UnknownItem(u32),
    /// An item that is listed twice.
    #[error("item {0} is listed twice")]
    DuplicateItem(u32),
    /// A branch on an item that is not listed.
    #[error("branch {0} is on item {1}, which the certificate does not list")]
    UnlistedItem(usize, u32),
    /// A branch on two items that may share bytes.
    #[error("branch {0} is on items {1} and {2}, which may share bytes")]
    MayShare(usize, u32, u32),
    /// A tree with branches on more items than are supported.
    #[error("the branches order {0} items, but at most 128 are supported")]
    TooManyItems(usize),
    /// A leaf of the tree that does not rule out a packing of at most this height.
    #[error("branch {0} is a leaf, but does not rule out a packing of height {1} or less")]
    OpenLeaf(usize, Bytes),
    /// A tree with missing branches.
    #[error("the tree is incomplete after {0} branches")]
    MissingBranches(usize),
    /// Branches after the end of the tree.
    #[error("the tree is complete before branch {0}")]
    ExtraBranches(usize),
}

impl Error {
    /// Returns the item that the error is about, or the first of two.
    pub fn item(&self) -> Option<u32> {
        match *self {
            Error::Flow { item, .. } => item,
            Error::GroupAlignment(item, ..)
            | Error::Misaligned(item, ..)
            | Error::EmptyBounds { item, .. }
            | Error::EndOverflow(item, ..)
            | Error::SumOverflow(item, ..)
            | Error::OutsideSteps(item, ..)
            | Error::WeightOverflow(item)
            | Error::Exclusive(item, _)
            | Error::MovedFixed(item, ..)
            | Error::OutOfBounds { item, .. }
            | Error::ConflictInGroup(item, _)
            | Error::GroupFixedTwice(item, ..)
            | Error::FixedCollision(item, _)
            | Error::GroupSplit(item, ..)
            | Error::Overlap { a: item, .. }
            | Error::ConflictOverlap(item, ..) => Some(item),
            _ => None,
        }
    }
}

impl Error {
    /// Returns the message with the names of items in place of their indices; `name` returns the name of an item.
    pub fn with_names(&self, name: impl Fn(u32) -> String) -> String {
        let message = self.to_string();
        match self.items() {
            [Some(a), Some(b)] => {
                let Some((start, rest)) = message.split_once(&format!("items {a}")) else {
                    return message;
                };
                let rest = rest.replacen(&format!("and {b}"), &format!("and `{}`", name(b)), 1);
                format!("{start}items `{}`{rest}", name(a))
            }
            [Some(item), None] => {
                message.replacen(&format!("item {item}"), &format!("item `{}`", name(item)), 1)
            }
            _ => message,
        }
    }

    /// Returns the items that the message names, in the order in which it names them.
    fn items(&self) -> [Option<u32>; 2] {
        match *self {
            Error::ConflictInGroup(a, b)
            | Error::GroupFixedTwice(a, b, ..)
            | Error::Exclusive(a, b)
            | Error::FixedCollision(a, b)
            | Error::GroupSplit(a, b, ..)
            | Error::Overlap { a, b, .. }
            | Error::ConflictOverlap(a, b, ..)
            | Error::Certificate(CertificateError::MayShare(_, a, b)) => [Some(a), Some(b)],
            Error::Certificate(
                CertificateError::DuplicateItem(item) | CertificateError::UnlistedItem(_, item),
            ) => [Some(item), None],
            _ => [self.item(), None],
        }
    }
}

fn whose(item: Option<u32>) -> String {
    item.map_or("the block".to_owned(), |item| format!("item {item}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_items() {
        let (bytes, span) = (Bytes(1), Span::new(0, 7));
        let overlap = Error::Overlap {
            a: 0,
            b: 7,
            a_span: span,
            b_span: span,
            offset: bytes,
            end: Bytes(2),
        };
        let flow = Error::Flow {
            item: Some(0),
            inflow: bytes,
            outflow: bytes,
            size: bytes,
        };
        for (error, start) in [
            (Error::FixedCollision(0, 7), "items `x` and `y` must not"),
            (
                Error::ConflictInGroup(0, 7),
                "items `x` and `y` cannot be in conflict",
            ),
            (overlap, "items `x` [0, 7) and `y` [0, 7) overlap"),
            (Error::MovedFixed(7, bytes, bytes), "item `y` is fixed"),
            (
                Error::SumOverflow(7, bytes, Alignment::ONE),
                "the sum of sizes and alignments exceeds 2^64 - 1 B at item `y` of",
            ),
            (flow, "allocation graph: item `x` has"),
            (
                CertificateError::MayShare(0, 0, 7).into(),
                "branch 0 is on items `x` and `y`, which",
            ),
            (CertificateError::DuplicateItem(7).into(), "item `y` is listed"),
            (Error::OffsetCount(0, 7), "the packing must have one offset"),
        ] {
            let said = error.with_names(|item| if item == 0 { "x" } else { "y" }.to_owned());
            assert!(said.starts_with(start), "{said}");
        }
    }
}
