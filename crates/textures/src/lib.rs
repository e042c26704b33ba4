#![doc = include_str!("../README.md")]

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
pub use geometry::{Geometry, MipChain};
pub use ids::{Level, MipChainId, TextureId};
pub use journal::{CacheEvent, EvictionReason, Journal};
pub use policy::{CreatePolicy, Parameter, ParameterValues, Policy, PolicyDesc, UploadMode};
pub use request::{Request, RequestOutcome};
pub use textures::TextureTable;
pub use tileheap_units as units;

/// The built-in policies: names, capabilities and constructors.
pub const POLICIES: [PolicyDesc<'static>; 5] = [
    arenas::Arenas::DESC,
    arenas::Arenas::FIRST_ATTEMPT,
    Coherent::DESC,
    Coherent::KEEPING_LEVELS,
    Coherent::WITHOUT_RELOCATION,
];
