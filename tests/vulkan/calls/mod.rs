//! The runtime on the fake driver: the tile path as it is recorded, the chain of detection, and what every
//! failing call leaves behind (nothing).

mod binding;
mod detection;
mod failures;
mod order;
mod recording;
pub(crate) mod rig;
mod safe;
