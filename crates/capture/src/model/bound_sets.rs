//! Bound descriptor sets.

use std::sync::Arc;

use super::objects::Set;

/// A bound descriptor set with its dynamic offsets.
#[derive(Clone, Debug)]
pub(crate) struct BoundSet {
    pub(crate) set: Arc<Set>,
    pub(crate) offsets: Vec<u32>,
}

/// The bound descriptor sets, by their index. There are few, and each draw after a change copies them: a list takes less time than a tree.
#[derive(Clone, Debug, Default)]
pub(crate) struct BoundSets(Vec<(u32, BoundSet)>);

impl BoundSets {
    fn position(&self, index: u32) -> Result<usize, usize> {
        self.0.binary_search_by_key(&index, |one| one.0)
    }

    pub(crate) fn get(&self, index: u32) -> Option<&BoundSet> {
        Some(&self.0[self.position(index).ok()?].1)
    }

    pub(crate) fn insert(&mut self, index: u32, bound: BoundSet) {
        match self.position(index) {
            Ok(at) => self.0[at].1 = bound,
            Err(at) => self.0.insert(at, (index, bound)),
        }
    }

    pub(crate) fn remove(&mut self, index: u32) {
        if let Ok(at) = self.position(index) {
            self.0.remove(at);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Returns true if the same sets are bound, with the same offsets.
    pub(crate) fn are_same(&self, other: &BoundSets) -> bool {
        let mut pairs = self.0.iter().zip(&other.0);
        self.0.len() == other.0.len()
            && pairs.all(|((index, one), (other_index, other))| {
                index == other_index && Arc::ptr_eq(&one.set, &other.set) && one.offsets == other.offsets
            })
    }

    /// Iterates over the bound sets in the order of their indices.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &BoundSet)> {
        self.0.iter().map(|(index, bound)| (*index, bound))
    }
}

#[test]
fn sets_are_listed_once_each_in_the_order_of_their_indices() {
    let mut sets = BoundSets::default();
    let bound = |offset| BoundSet {
        set: Arc::default(),
        offsets: vec![offset],
    };
    for (index, offset) in [(3, 1), (0, 2), (7, 3), (3, 4)] {
        sets.insert(index, bound(offset));
    }
    let listed = |sets: &BoundSets| -> Vec<_> {
        let all = sets.iter().map(|(index, one)| (index, one.offsets[0]));
        all.collect()
    };
    assert_eq!(listed(&sets), [(0, 2), (3, 4), (7, 3)]);
    sets.remove(1);
    sets.remove(0);
    assert_eq!(listed(&sets), [(3, 4), (7, 3)]);
    assert!(sets.get(0).is_none());
    assert_eq!(sets.get(7).map(|one| one.offsets[0]), Some(3));
    sets.clear();
    assert_eq!(listed(&sets), []);
}
