//! A texture cache: which textures are in a fixed budget of linear memory, and at which offsets.
//!
//! ```text
//! frame n       request a  b  c  d …            the textures that a renderer is about to draw
//!                 │
//!               Policy   ── hit, upload or bypass for each; evictions, placements and moves go to a Journal
//!                 │
//! memory   ├─ a ─┼ b ┼── free ──┼──── d ────┤   offsets in one allocation
//! ```
//! A [`Geometry`] holds the sizes of textures at each mip level: the table of a paper, or what a driver requires, in any unit.
//! [`Textures`] records which textures exist. A [`Policy`] decides which of them are resident. Ids are dense and index tables: a
//! request costs tens to hundreds of nanoseconds, and in the steady state nothing is allocated.
//!
//! [`POLICIES`] lists the built-in policies: [`Coherent`], which learns how frames follow each other, and the
//! [arenas] of Blow's paper. A policy of your own implements [`Policy`] and is described by a [`PolicyDesc`]; it can be
//! used wherever a built-in one can. [`heap`], [`list`] and [`blocks`] are parts to build one from.
//!
//! [`replay`] runs a policy over a [`trace`], checks every step and compares the traffic with a lower bound; [`scenario`]
//! generates traces. [`limiter`] puts a policy under an upload budget per frame. `vulkan::TextureCache` (feature
//! `vulkan`) does all of that with real images; `examples/terrain` is a renderer that uses it.
//!
//! The figure of merit is traffic: bytes that are uploaded, and bytes that are bypassed, which have to come from elsewhere at the
//! same cost. Copies within the cache are counted separately.
//!
//! Events take effect in the order of the [`Journal`]. An [`Event::Move`] or [`Event::Shrink`] may concern a texture whose offset
//! the same frame was already told, so offsets are final at the end of the frame; policies with
//! [`relocates`](PolicyDesc::relocates) unset emit neither. [`Coherent`] evicts no texture in the frame that uses it.
//!
//! Not done: prefetching, which does not lower traffic but moves it to earlier frames.
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
//! let outcome = cache.request(textures.request(grass, Level(7))?, &mut journal);
//! cache.end_frame(&mut journal);
//! assert!(matches!(outcome, Outcome::Upload { .. }));
//! assert!(matches!(journal.events(), [Event::Place { upload: Bytes(21_845), block: Bytes(21_848), .. }]));
//! # Ok::<(), tileheap_textures::Error>(())
//! ```
//!
//! Source: J. Blow, "A Texture Cache", CGDC 1998.

pub mod arenas;
mod bits;
pub mod blocks;
pub mod budget;
mod coherent;
mod error;
mod geometry;
pub mod heap;
mod ids;
mod journal;
pub mod limiter;
pub mod list;
mod policy;
pub mod replay;
mod request;
pub mod scenario;
mod textures;
pub mod trace;
#[cfg(feature = "vulkan")]
pub mod vulkan;

pub use coherent::{Coherent, CoherentDesc};
pub use error::{Error, Result};
pub use geometry::{Chain, Geometry};
pub use ids::{ChainId, Level, TextureId};
pub use journal::{Event, EvictionReason, Journal};
pub use policy::{CreatePolicy, Policy, PolicyDesc};
pub use request::{Outcome, Request};
pub use textures::Textures;
pub use tileheap_units as units;

/// The built-in policies: names, capabilities and constructors.
pub const POLICIES: [PolicyDesc<'static>; 5] = [
    arenas::Arenas::DESC,
    arenas::Arenas::FIRST_ATTEMPT,
    Coherent::DESC,
    Coherent::KEEPING_LEVELS,
    Coherent::WITHOUT_RELOCATION,
];
