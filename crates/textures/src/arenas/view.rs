//! The observable state of arenas.

use super::temperature::Temperature;
use crate::units::Bytes;

/// The side of an arena.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ArenaSide {
    /// Toward lower addresses, smaller blocks.
    #[default]
    Left,
    /// Toward higher addresses, larger blocks.
    Right,
}

/// The observable state of an arena, as in figures 7 to 9 of Blow's paper (1998).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArenaView {
    /// Size of the arena's blocks.
    pub block: Bytes,
    /// The arena's first byte.
    pub start: Bytes,
    /// The first byte after the arena.
    pub end: Bytes,
    /// Number of blocks in use.
    pub taken: u32,
    /// Number of blocks with active textures.
    pub active: u32,
    /// The recent temperature at the last cache update.
    pub recent: Temperature,
    /// The side on which new textures are placed.
    pub side: ArenaSide,
}

/// Statistics of the walls between arenas.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WallStats {
    /// Bytes lost between arenas.
    pub gaps: Bytes,
    /// An upper bound on `gaps`.
    pub worst_gaps: Bytes,
    /// Number of wall moves so far; a move by several blocks counts once.
    pub wall_moves: u64,
    /// Number of wall moves that reversed a recent one.
    pub reversals: u64,
}
