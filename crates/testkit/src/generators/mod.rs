//! Seeded generators of packing problems: the same problems on every machine.

mod perfect;
mod random;

pub use perfect::{PerfectDesc, perfect};
pub use random::{Kind, every_kind, random, sixteen_items};
