//! The paper's cache: an arena for each size, walls that slide, temperatures that say who grows.
//!
//! ```text
//!            cold 0.30               warm 0.70            boiling 1.84
//! ├─┬─┬─┬─┬─┬─┬─┬─┬─┤·├───┬───┬───┬───┬───┬───┤··├───────┬───────┬───────┤
//!  █ █ █                █   █   █   █              █ new ◄─ a random one goes
//!                                            walls ◄── slide once a frame
//! ```
//! A texture goes to the arena of the smallest block that holds it, to the free block nearest the cooler side. Where none
//! is free, the longest unused goes; where all were used in this frame the arena boils and a random one goes. Once per frame
//! each arena's recent temperature becomes 0.7 of what it was and 0.3 of its occupation by active textures, with a bonus
//! for each one that went wrongfully; then every arena that is substantially hotter than the average to its left grows to
//! the left, and likewise to the right.
//!
//! What the paper leaves open is in [`ArenasDesc`].
//!
//! Source: Blow 1998, section II.

mod arena;
mod cache;
mod desc;
mod engine;
mod first_attempt;
mod temperature;
mod view;
mod walls;

pub use cache::Arenas;
pub use desc::{ArenasDesc, Average, IdleVictim, InitialWalls};
pub use first_attempt::FirstAttempt;
pub use temperature::Temperature;
pub use view::{ArenaView, Side, WallStats};
