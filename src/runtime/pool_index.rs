//! An index of the blocks of a pool, so that a lookup does not scan all of them.

use std::collections::{BTreeSet, HashMap};

use super::pool_key::{BlockKey, Label, ResourceKey};
use crate::quick_hash::QuickHash;
use crate::units::Bytes;

/// The indices of blocks, by the properties used for lookups.
#[derive(Default)]
pub(super) struct BlockIndex {
    /// Blocks that several resources may share: by key, then in order of size.
    shared: HashMap<BlockKey, BTreeSet<(Bytes, u32)>, QuickHash>,
    /// Blocks for one resource, in order of the lease that took them last: those that the newest lease has not taken come first.
    own: HashMap<OwnKey, BTreeSet<(u64, u32)>, QuickHash>,
}

/// The properties by which a block is found.
pub(super) struct IndexedBlock<'a> {
    pub(super) key: &'a BlockKey,
    pub(super) bytes: Bytes,
    pub(super) borrower: Option<u64>,
    /// The number of the lease that took the block last.
    pub(super) lease: u64,
}

/// The properties by which blocks for one resource are found.
#[derive(PartialEq, Eq, Hash)]
struct OwnKey {
    borrower: Option<u64>,
    label: Label,
    /// The resource; `None` for a history, whose parameters may include more usages than those requested.
    resource: Option<ResourceKey>,
}

impl OwnKey {
    fn new(borrower: Option<u64>, label: &Label, resource: &ResourceKey) -> OwnKey {
        OwnKey {
            borrower,
            label: label.clone(),
            resource: label.history.is_none().then(|| resource.clone()),
        }
    }
}

impl BlockIndex {
    pub(super) fn add(&mut self, index: u32, block: &IndexedBlock<'_>) {
        match block.key {
            BlockKey::Shared(..) => {
                let known = self.shared.entry(block.key.clone()).or_default();
                known.insert((block.bytes, index));
            }
            BlockKey::Own(label, resource) => {
                let key = OwnKey::new(block.borrower, label, resource);
                self.own.entry(key).or_default().insert((block.lease, index));
            }
        }
    }

    /// Removes a block that was added with the same properties.
    pub(super) fn remove(&mut self, index: u32, block: &IndexedBlock<'_>) {
        // Also removes empty sets: the same size, borrower or history name may never be used again.
        match block.key {
            BlockKey::Shared(..) => {
                let known = self.shared.get_mut(block.key).expect("the block is indexed");
                known.remove(&(block.bytes, index));
                if known.is_empty() {
                    self.shared.remove(block.key);
                }
            }
            BlockKey::Own(label, resource) => {
                let key = OwnKey::new(block.borrower, label, resource);
                let known = self.own.get_mut(&key).expect("the block is indexed");
                known.remove(&(block.lease, index));
                if known.is_empty() {
                    self.own.remove(&key);
                }
            }
        }
    }

    /// The blocks of a type with at least this size, in order of size.
    pub(super) fn shared(&self, key: &BlockKey, bytes: Bytes) -> impl Iterator<Item = u32> {
        let known = self.shared.get(key).into_iter();
        let large = known.flat_map(move |known| known.range((bytes, 0)..));
        large.map(|&(_, index)| index)
    }

    /// The blocks of a type with fewer bytes.
    pub(super) fn smaller(&self, key: &BlockKey, bytes: Bytes) -> impl Iterator<Item = u32> {
        let known = self.shared.get(key).into_iter();
        let small = known.flat_map(move |known| known.range(..(bytes, 0)));
        small.map(|&(_, index)| index)
    }

    /// The blocks of a borrower, or without one, for a resource with exactly these parameters that is not a history; those that the newest lease has not
    /// taken come first.
    pub(super) fn own(
        &self,
        borrower: Option<u64>,
        label: &Label,
        resource: &ResourceKey,
    ) -> impl Iterator<Item = u32> {
        self.labeled(&OwnKey::new(borrower, label, resource))
    }

    /// The blocks of a borrower for a history with this label, whatever its parameters.
    pub(super) fn history(&self, borrower: u64, label: &Label) -> impl Iterator<Item = u32> {
        self.labeled(&OwnKey {
            borrower: Some(borrower),
            label: label.clone(),
            resource: None,
        })
    }

    fn labeled(&self, key: &OwnKey) -> impl Iterator<Item = u32> + use<'_> {
        let known = self.own.get(key).into_iter().flatten();
        known.map(|&(_, index)| index)
    }
}
