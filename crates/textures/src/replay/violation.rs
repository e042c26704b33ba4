//! Rules that a policy can break.

/// A rule that a policy broke, and how.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("policy `{policy}`: {what}")]
pub struct Violation {
    /// Name of the policy.
    pub policy: String,
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
    /// An event names a block that the texture has; a released texture has none.
    Residence,
    /// A texture, or a part of one, is placed again only after an eviction.
    PlacedOnce,
    /// No other texture and no other level is placed than the requested one.
    Requested,
    /// A texture that this frame requested is evicted only by policies that [say so](crate::PolicyDesc::evicts_in_use).
    InUse,
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
    /// By a policy that is to be named.
    pub(super) fn broken(self, what: String) -> Violation {
        let (policy, rule) = (String::new(), self);
        Violation { policy, rule, what }
    }
}
