//! Rules that a policy can break.

/// A rule that a policy broke, and how.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct Violation {
    /// The rule.
    pub rule: Rule,
    /// Textures, offsets and sizes, in words.
    pub what: String,
}

/// A rule for policies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rule {
    /// No block extends past the budget.
    Budget,
    /// Blocks are aligned to the unit.
    Alignment,
    /// A block is as large as its contents.
    Size,
    /// Blocks do not overlap.
    Overlap,
    /// An event names a block that the texture has.
    Residence,
    /// A texture, or a part of one, is placed again only after an eviction.
    PlacedOnce,
    /// Outcomes agree with the events.
    Outcome,
    /// A texture that shrinks drops a level, and takes no more bytes.
    Shrink,
    /// What is uploaded is what was requested.
    Upload,
    /// The gaps at the walls stay below their bound.
    Gaps,
}

impl Rule {
    pub(super) fn broken(self, what: String) -> Violation {
        Violation { rule: self, what }
    }
}
