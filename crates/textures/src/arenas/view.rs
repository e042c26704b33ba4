//! What can be observed of arenas.

use super::temperature::Temperature;
use crate::units::Bytes;

/// The side of an arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Toward lower addresses, smaller blocks.
    Left,
    /// Toward higher addresses, larger blocks.
    Right,
}

/// What can be seen of an arena: for figures 7 to 9 of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArenaView {
    /// Size of its blocks.
    pub block: Bytes,
    /// First byte.
    pub start: Bytes,
    /// First byte after.
    pub end: Bytes,
    /// How many blocks are taken.
    pub taken: u32,
    /// How many hold textures that count as active now.
    pub active: u32,
    /// The recent temperature of the last cache update.
    pub recent: Temperature,
    /// The side at which textures are placed.
    pub side: Side,
}

/// What a policy has to say of itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WallStats {
    /// Bytes lost between arenas.
    pub gaps: Bytes,
    /// The most that those can be.
    pub worst_gaps: Bytes,
    /// Wall moves so far, of any number of blocks each.
    pub wall_moves: u64,
    /// How often an arena took space back from one that had just taken it.
    pub reversals: u64,
}
