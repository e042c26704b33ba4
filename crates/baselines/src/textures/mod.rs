//! Replacement policies of texture caches, created from their descriptions in [`ALL`].
//!
//! | policy | description |
//! |---|---|
//! | [`Ring`] | the ring buffer that Blow's cache replaced |
//! | [`HeapCache`] | a best-fit heap with victims by recency, CLOCK, at random, or by the next use (offline) |
//! | [`Slab`] | pages of size classes, fixed or rebalancing |

mod heap_cache;
mod next_uses;
mod ring;
mod slab;

pub use heap_cache::{HeapCache, Order};
pub use next_uses::next_uses;
pub use ring::Ring;
pub use slab::Slab;

use tileheap_textures::arenas::Arenas;
use tileheap_textures::{Coherent, PolicyDesc};

/// All online policies, of the library and of this crate.
pub const ALL: [PolicyDesc<'static>; 13] = [
    Arenas::DESC,
    Arenas::FIRST_ATTEMPT,
    Ring::DESC,
    HeapCache::LRU,
    HeapCache::LRU_COMPACTING,
    HeapCache::CLOCK,
    HeapCache::RANDOM,
    HeapCache::FRAME_MRU,
    Slab::DESC,
    Slab::REBALANCING,
    Coherent::DESC,
    Coherent::KEEPING_LEVELS,
    Coherent::WITHOUT_RELOCATION,
];
