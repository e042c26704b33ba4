//! Packing strategies of other planners, and generators of packing problems.

mod executorch;
mod facts;
pub mod generators;
mod nnc;

pub use executorch::Executorch;
pub use nnc::Nnc;
use tileheap_pack::PackingStrategy;

/// Every packing strategy of other planners.
pub const STRATEGIES: [&dyn PackingStrategy; 3] = [&Executorch, &Nnc::Code, &Nnc::Article];
