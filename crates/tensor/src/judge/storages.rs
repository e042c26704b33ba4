//! TVM's storages: each is shared as a whole, without a larger arena. They are laid out one after another, so that their size can be
//! compared with that of a plan with an arena.

use super::types::{Allocations, Arena};
use crate::units::Bytes;

/// The note added to every plan with storages.
pub(super) const NOTE: &str =
    "storages are placed one after another, because the file has no offsets within an arena";

/// The range of bytes of a storage in the arena of its scope.
#[derive(Clone, Copy, Debug)]
pub(super) struct StorageRange {
    pub(super) arena: u32,
    pub(super) first: u64,
    pub(super) size: u64,
}

/// Adds a storage after those of the same scope.
pub(super) fn add_storage(allocations: &mut Allocations, scope: &str, size: u64) -> StorageRange {
    let scope = if scope.is_empty() { "global" } else { scope };
    let known = allocations.arenas.iter().position(|arena| arena.name == scope);
    let index = known.unwrap_or(allocations.arenas.len());
    if known.is_none() {
        allocations.arenas.push(Arena {
            name: scope.to_owned(),
            size: Some(Bytes::ZERO),
        });
    }
    let arena = &mut allocations.arenas[index];
    let first = arena.size.unwrap_or(Bytes::ZERO).0;
    arena.size = Some(Bytes(first.saturating_add(size)));
    StorageRange {
        arena: index as u32,
        first,
        size,
    }
}
