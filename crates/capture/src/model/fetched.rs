//! The bytes that draws have fetched.

use std::collections::BTreeMap;

use tileheap::frame::AccessKind;
use tileheap::units::IdMap;

/// Fetched bytes: for each resource and kind of access, disjoint ranges as a map from the first byte to the end.
#[derive(Default)]
pub(crate) struct Fetched(IdMap<(AccessKind, usize), BTreeMap<u64, u64>>);

impl Fetched {
    /// Adds a range of bytes of the resource with this key; returns true if any of them were not fetched before.
    pub(crate) fn add(&mut self, kind: AccessKind, resource: usize, [first, end]: [u64; 2]) -> bool {
        let known = self.0.entry((kind, resource)).or_default();
        let before = known.range(..=first).next_back();
        if first >= end || before.is_some_and(|(_, known_end)| end <= *known_end) {
            return false;
        }
        let (mut first, mut end) = (first, end);
        while let Some((&from, &to)) = known.range(..=end).next_back().filter(|(_, to)| **to >= first) {
            known.remove(&from);
            (first, end) = (first.min(from), end.max(to));
        }
        known.insert(first, end);
        true
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}
