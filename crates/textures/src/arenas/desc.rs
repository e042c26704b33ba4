//! Parameters that the paper leaves open.

use super::temperature::Temperature;

/// Initial positions of the walls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialWalls {
    /// The same number of bytes for each arena.
    EqualBytes,
    /// The same number of blocks for each arena, as far as possible.
    EqualBlocks,
    /// All memory to the arena of the largest blocks.
    Largest,
}

/// How temperatures of several arenas are averaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Average {
    /// Every arena that has blocks counts once.
    Arenas,
    /// Every arena counts by its bytes.
    Bytes,
}

/// The victim in a full arena that is not boiling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleVictim {
    /// The least recently used texture.
    Oldest,
    /// A random one, active or not: the literal reading of the paper.
    Any,
}

/// The parameters that the paper leaves open.
///
/// Source of the defaults: measured traffic over [`lower_bound`](crate::replay::lower_bound), geometric mean over nine scenarios of
/// 130 frames, seed 0, November 2026, at 0.8, 1.05, 1.5 and 3 times the working set.
///
/// | | 0.8 | 1.05 | 1.5 | 3 |
/// |---|---|---|---|---|
/// | a first guess: one active frame, equal bytes, bonus 0.05, stride 250 | 4.06 | 9.72 | 7.96 | 5.60 |
/// | … two active frames | 2.51 | 6.45 | 6.52 | 5.41 |
/// | … equal blocks | 4.05 | 4.59 | 2.57 | 1.93 |
/// | two active frames, equal blocks, bonus 0.01 | 2.25 | 3.38 | 2.31 | 1.93 |
/// | … stride 100: the default | 2.07 | 2.89 | 2.21 | 1.57 |
/// | … stride 600 | 2.16 | 5.48 | 3.53 | 2.03 |
/// | … margin 0.3, stride 250 | 2.25 | 5.18 | 2.46 | 1.91 |
/// | … averages by arenas, stride 250 | 2.23 | 5.48 | 3.51 | 1.62 |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArenasDesc {
    /// "Substantially lower": how much cooler the average of a side must be for an arena to grow into it.
    pub margin: Temperature,
    /// Added to the instantaneous temperature for each wrongful eviction and each request without a block.
    pub bonus: Temperature,
    /// Upper limit of the instantaneous temperature.
    pub ceiling: Temperature,
    /// Number of frames for which a texture is active, with that of its last use. With 1, no texture is active when a frame starts,
    /// and a full arena evicts its oldest: those that coherent frames need first.
    pub active_frames: u32,
    /// Growth per update and direction, in thousandths of the blocks of the arena per degree of difference; at least one block.
    pub stride: u32,
    /// Initial positions of the walls.
    pub walls: InitialWalls,
    /// How temperatures on a side are averaged.
    pub average: Average,
    /// The victim in a full arena that is not boiling.
    pub idle_victim: IdleVictim,
    /// For this many updates after a wall moved, moving it back needs twice the margin. 0 disables damping.
    pub damping: u32,
}

impl Default for ArenasDesc {
    fn default() -> ArenasDesc {
        ArenasDesc {
            margin: Temperature::thousandths(100),
            bonus: Temperature::thousandths(10),
            ceiling: Temperature::thousandths(2000),
            active_frames: 2,
            stride: 100,
            walls: InitialWalls::EqualBlocks,
            average: Average::Bytes,
            idle_victim: IdleVictim::Oldest,
            damping: 8,
        }
    }
}
