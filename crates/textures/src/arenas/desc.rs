//! What the paper leaves open.

use super::temperature::Temperature;

/// Where the walls are at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialWalls {
    /// Every arena as many bytes.
    EqualBytes,
    /// Every arena as many blocks, as far as that goes.
    EqualBlocks,
    /// All memory to the arena of the largest blocks.
    Largest,
}

/// Which average of temperatures an arena compares itself to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Average {
    /// Every arena that has blocks counts once.
    Arenas,
    /// Every arena counts by its bytes.
    Bytes,
}

/// Who goes from a full arena that is not boiling: where some blocks were not used of late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleVictim {
    /// The longest unused.
    Oldest,
    /// Any block, used or not: the paper's words taken narrowly.
    Any,
}

/// The parameters that the paper leaves open.
///
/// The defaults come from measurement: traffic over [`floor`](crate::floor), geometric mean over nine scenarios of
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
    /// "Substantially lower": how much cooler a side's average has to be before an arena grows into it.
    pub margin: Temperature,
    /// What each wrongful ejection, and each request that found no block at all, adds to the instantaneous temperature.
    pub bonus: Temperature,
    /// The hottest that an arena is counted as.
    pub ceiling: Temperature,
    /// How many frames a texture counts as active after its last use: 1 is the frame of the use alone. With 1, a frame
    /// starts with nobody active, and a full arena throws out its oldest: the very ones that coherent frames need first.
    pub active_frames: u32,
    /// How far an arena grows in one update and direction, in thousandths of its blocks per degree of difference; it always
    /// grows by at least one block.
    pub stride: u32,
    /// Where the walls are at the start.
    pub walls: InitialWalls,
    /// Which average a side is judged by.
    pub average: Average,
    /// Who goes from a full arena that is not boiling.
    pub idle_victim: IdleVictim,
    /// For so many updates after a wall was moved, moving it back needs twice the margin. 0: reversals are not damped.
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
