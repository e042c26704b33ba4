//! Seeded generators of packing problems and of frame descriptions, with the same results on every machine.

#[cfg(feature = "runtime")]
pub mod descriptions;
#[cfg(feature = "pack")]
mod families;
#[cfg(feature = "pack")]
mod perfect;
#[cfg(feature = "pack")]
mod random;

#[cfg(feature = "pack")]
pub use families::{FAMILIES, Family, Sample};
#[cfg(feature = "pack")]
pub use perfect::{PerfectDesc, perfect};
#[cfg(feature = "pack")]
pub use random::{ProblemKind, every_kind, sixteen_items};
