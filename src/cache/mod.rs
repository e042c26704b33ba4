//! doc

mod arenas;
mod bits;
mod coherent;
mod fault;
mod geometry;
mod heap;
mod heap_cache;
mod list;
mod offline;
mod policy;
pub mod replay;
mod request;
mod ring;
pub mod scenario;
mod slab;
pub mod trace;

pub use arenas::{ArenaView, Arenas, ArenasDesc, Average, FirstAttempt, Idle, InitialWalls, Side, Temperature};
pub use coherent::{Coherent, CoherentDesc};
pub use fault::CacheFault;
pub use geometry::{BlockClass, BlockTable, Chain, ChainId, Geometry, Level};
pub use heap_cache::{HeapCache, Order};
pub use offline::{floor, next_uses};
pub use policy::{Gauges, Policy, PolicyKind};
pub use request::{Event, Journal, Outcome, Reason, Request, TextureId, Textures};
pub use ring::Ring;
pub use slab::Slab;
