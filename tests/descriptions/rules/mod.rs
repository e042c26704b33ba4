//! Every rule of valid usage, with a description that breaks it and a similar one that does not.

mod accesses;
mod externals;
mod images;
mod passes;
mod queues;
mod views;

use super::Describe;

/// A rule, a description that breaks it and no earlier one, and one that breaks no rule.
pub(crate) struct Case {
    pub(crate) rule: &'static str,
    #[allow(dead_code)] // Only tests without a driver break rules.
    pub(crate) broken: Describe,
    pub(crate) valid: Describe,
    /// True if every driver can run the valid description: it needs no feature, and imports nothing.
    pub(crate) runs: bool,
}

const fn case(rule: &'static str, broken: Describe, valid: Describe) -> Case {
    Case {
        rule,
        broken,
        valid,
        runs: true,
    }
}

/// A case whose valid description needs a feature or an imported object.
const fn described(rule: &'static str, broken: Describe, valid: Describe) -> Case {
    Case {
        runs: false,
        ..case(rule, broken, valid)
    }
}

pub(crate) fn all() -> impl Iterator<Item = &'static Case> {
    let tables = [
        images::CASES,
        views::CASES,
        accesses::CASES,
        externals::CASES,
        passes::CASES,
        queues::CASES,
    ];
    tables.into_iter().flatten()
}
