//! Rules that a policy can break.

/// A violation of a rule by a policy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("policy `{policy}`: {description}")]
pub struct Violation {
    /// Name of the policy.
    pub policy: String,
    /// The rule.
    pub rule: PolicyRule,
    /// A description of the violation, with textures, offsets and sizes.
    pub description: String,
}

/// A rule that every policy has to follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PolicyRule {
    /// No block extends past the budget.
    Budget,
    /// Blocks are aligned to the unit.
    Alignment,
    /// A block is at least as large as its contents.
    Size,
    /// Blocks do not overlap.
    Overlap,
    /// An event names a block that belongs to the texture; a released texture has none.
    Residence,
    /// A texture, or a part of one, is placed again only after an eviction.
    PlacedOnce,
    /// Only the requested texture and level are placed.
    Requested,
    /// A texture that this frame requested is evicted only by policies that [declare
    /// this](crate::PolicyDesc::evicts_in_use).
    InUse,
    /// The outcome of a request agrees with the events.
    Outcome,
    /// A texture that shrinks drops a level, and takes no more bytes than before.
    Shrink,
    /// The uploaded bytes are those of the requested levels, except levels that were kept.
    Upload,
    /// The gaps at the walls do not exceed their bound.
    Gaps,
}

impl PolicyRule {
    /// A violation without the policy's name, which the caller adds.
    pub(super) fn broken(self, description: String) -> Violation {
        let (policy, rule) = (String::new(), self);
        Violation {
            policy,
            rule,
            description,
        }
    }
}
