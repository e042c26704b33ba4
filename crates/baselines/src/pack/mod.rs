//! Packing strategies of other planners.

mod banked;
mod executorch;
mod facts;
mod nnc;

pub use banked::BankedGreedy;
pub use executorch::Executorch;
pub use nnc::Nnc;
use tileheap_pack::PackingStrategy;

/// Every packing strategy of other planners.
pub const STRATEGIES: [&dyn PackingStrategy; 3] = [&Executorch, &BankedGreedy, &Nnc];
