//! Packing strategies of other planners.

mod banked;
mod executorch;
mod facts;
mod nnc;
mod ping_pong;

pub use banked::BankedGreedy;
pub use executorch::Executorch;
pub use nnc::Nnc;
pub use ping_pong::PingPong;
use tileheap_pack::PackingStrategy;

/// Every packing strategy of other planners.
pub const STRATEGIES: [&dyn PackingStrategy; 4] = [&Executorch, &BankedGreedy, &PingPong, &Nnc];
