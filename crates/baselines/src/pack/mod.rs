//! Packing strategies of other planners.

mod executorch;
mod facts;
mod nnc;

pub use executorch::Executorch;
pub use nnc::Nnc;
use tileheap_pack::PackingStrategy;

/// Every packing strategy of other planners.
pub const STRATEGIES: [&dyn PackingStrategy; 2] = [&Executorch, &Nnc];
