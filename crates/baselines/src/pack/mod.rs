//! Packing strategies of other planners.

mod banked;
mod edges;
mod executorch;
mod facts;
mod nnc;
mod nnc_article;
mod ping_pong;
mod smallest_gap;

pub use banked::BankedGreedy;
pub use executorch::Executorch;
pub use nnc::Nnc;
pub use nnc_article::NncArticle;
pub use ping_pong::PingPong;
pub use smallest_gap::{Iree, LitertArena};
use tileheap_pack::PackingStrategy;

/// The packing strategies of other planners that this crate implements.
pub const STRATEGIES: [&dyn PackingStrategy; 7] = [
    &Executorch,
    &BankedGreedy,
    &PingPong,
    &Nnc,
    &NncArticle,
    &Iree,
    &LitertArena,
];
