//! The cache of Blow's paper: an arena for each block size, with walls that move by temperature.
//!
//! ```text
//!            cold 0.30               warm 0.70            boiling 1.84
//! ├─┬─┬─┬─┬─┬─┬─┬─┬─┤·├───┬───┬───┬───┬───┬───┤··├───────┬───────┬───────┤
//!  █ █ █                █   █   █   █              █ new ◄─ random victim
//!                                            walls ◄── slide once a frame
//! ```
//! A texture is placed in the arena of the smallest block that holds it, in the free block nearest the cooler side. If none is free,
//! the least recently used texture is evicted; if all were used in this frame, the arena is boiling and a random one is. Once per
//! frame each arena's recent temperature becomes 0.7 of its former value plus 0.3 of its occupancy by active textures, with a bonus
//! for each wrongful eviction (in the frame of the use); then each arena that is substantially hotter than the average to its left
//! grows to the left, and likewise to the right.
//!
//! [`ArenasDesc`] has the parameters that the paper leaves open.
//!
//! Source: Blow 1998, section II.

mod arena;
mod cache;
mod desc;
mod engine;
mod temperature;
mod view;
mod walls;

pub use cache::Arenas;
pub use desc::{ArenasDesc, Average, IdleVictim, InitialWalls};
pub use temperature::Temperature;
pub use view::{ArenaView, Side, WallStats};
