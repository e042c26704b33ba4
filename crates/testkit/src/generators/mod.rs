//! Seeded generators of packing problems: the same problems on every machine.

mod families;
mod perfect;
mod random;

pub use families::{FAMILIES, Family, Sample};
pub use perfect::{PerfectDesc, perfect};
pub use random::{Kind, every_kind, sixteen_items};
