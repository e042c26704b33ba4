//! A texture cache: which textures are in a fixed budget of linear memory, and where.
//!
//! ```text
//! frame n       request a  b  c  d …            what a renderer is about to draw
//!                 │
//!               Policy   ── hit, upload or bypass for each; evictions, placements, moves, walls to a Journal
//!                 │
//! memory   ├─ a ─┼ b ┼── free ──┼──── d ────┤   offsets in one allocation
//! ```
//! A [`Geometry`] says how large textures are: the paper's table, or what a driver requires, in any unit. [`Textures`] keeps the
//! books on which exist; a [`Policy`] decides. Ids are dense, tables are indexed by them, lists run through tables: a request
//! costs tens to hundreds of nanoseconds, and once ids and blocks have been seen nothing is allocated.
//!
//! | policy | what it is |
//! |---|---|
//! | [`Coherent`] | ours: keeps for the next frame what that will ask for, by what it has learnt of how frames follow each other |
//! | [`Arenas`], [`FirstAttempt`], [`Ring`] | the paper's cache, what it tried before, and what it replaced |
//! | [`HeapCache`] | a best-fit heap with victims by recency, CLOCK, chance, or the future |
//! | [`Slab`] | pages of size classes, fixed or rebalancing |
//!
//! [`replay`] runs any of them over a [`trace`] and checks every step; [`scenario`] makes traces; [`floor`] says what no
//! policy can go below.
//!
//! What counts is traffic: what is uploaded, and what is bypassed, which has to come from elsewhere at the same cost. Copies
//! within the cache are none; they are counted apart.
//!
//! For a backend: events come in the order in which they have to take effect. An [`Event::Move`] or [`Event::Shrink`] may concern
//! a texture that the same frame was already told an offset of, so offsets are final when the frame has ended; policies
//! without the two ([`CoherentDesc::still`], the paper's) never move. [`Coherent`] evicts nothing in the frame that used it.
//!
//! Source: J. Blow, "A Texture Cache", CGDC 1998.
//!
//! [`Levelled`] puts a policy under an upload budget: what does not fit in a frame waits, and something coarser stands in.
//! Budgets of memory may change between frames ([`Policy::set_budget`]). `runtime::TextureCache` is all of that on Vulkan, and
//! `examples/terrain` a renderer with it, whose `--trace` captures what it asks for.
//!
//! Not done: prefetching. It could not lower traffic, only move it to earlier frames; an upload budget spreads it over later ones.
//!
//! ```
//! use tileheap_textures::*;
//! use tileheap_textures::units::Bytes;
//!
//! let mut textures = Textures::new(Geometry::wulfram());
//! let mut cache = Coherent::new(textures.geometry(), Bytes::mib(2), CoherentDesc::default())?;
//! let mut journal = Journal::new();
//! let grass = textures.next_id();
//! textures.create(grass, ChainId(0))?;
//!
//! // Every frame:
//! journal.clear();
//! cache.begin_frame(&mut journal);
//! let outcome = cache.request(textures.request(grass, Level(7))?, &mut journal);
//! cache.end_frame(&mut journal);
//! assert!(matches!(outcome, Outcome::Upload { .. }));
//! assert!(matches!(journal.events(), [Event::Place { upload: Bytes(21_845), block: Bytes(21_848), .. }]));
//! # Ok::<(), tileheap::Error>(())
//! ```

mod arenas;
mod bits;
mod coherent;
mod error;
mod fault;
mod geometry;
mod heap;
mod heap_cache;
mod levelled;
mod list;
mod offline;
mod policy;
pub mod replay;
mod request;
mod ring;
pub mod scenario;
mod slab;
pub mod trace;
#[cfg(feature = "vulkan")]
pub mod vulkan;

pub use arenas::{
    ArenaView, Arenas, ArenasDesc, Average, FirstAttempt, Idle, InitialWalls, Side, Temperature,
};
pub use coherent::{Coherent, CoherentDesc};
pub use error::{Error, Result};
pub use fault::CacheError;
pub use geometry::{BlockClass, BlockTable, Chain, ChainId, Geometry, Level};
pub use heap_cache::{HeapCache, Order};
pub use levelled::{FrameUploads, Levelled, PATIENCE, Served};
pub use offline::{floor, next_uses};
pub use policy::{Gauges, Policy, PolicyKind};
pub use request::{Event, Journal, Outcome, Reason, Request, TextureId, Textures};
pub use ring::Ring;
pub use slab::Slab;
pub use tileheap_units as units;
