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
pub enum Idle {
    /// The longest unused.
    Oldest,
    /// Any block, used or not: the paper's words taken narrowly.
    Anyone,
}

/// The parameters that the paper leaves open, with what measurements on the generated traces speak for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArenasDesc {
    /// "Substantially lower": how much cooler a side's average has to be before an arena grows into it.
    pub margin: Temperature,
    /// What each wrongful ejection, and each request that found no block at all, adds to the instantaneous temperature.
    pub bonus: Temperature,
    /// The hottest that an arena is counted as.
    pub ceiling: Temperature,
    /// How many frames a texture counts as active after its last use: 1 is the frame of the use alone.
    pub active_frames: u32,
    /// How far an arena grows in one update and direction, in thousandths of its blocks per degree of difference; it always
    /// grows by at least one block.
    pub stride: u32,
    /// Where the walls are at the start.
    pub walls: InitialWalls,
    /// Which average a side is judged by.
    pub average: Average,
    /// Who goes from a full arena that is not boiling.
    pub idle: Idle,
    /// For so many updates after a wall was moved, moving it back needs twice the margin. 0: fights are not damped.
    pub damping: u32,
}

impl Default for ArenasDesc {
    fn default() -> ArenasDesc {
        ArenasDesc {
            margin: Temperature::thousandths(100),
            bonus: Temperature::thousandths(50),
            ceiling: Temperature::thousandths(4000),
            active_frames: 1,
            stride: 250,
            walls: InitialWalls::EqualBytes,
            average: Average::Bytes,
            idle: Idle::Oldest,
            damping: 8,
        }
    }
}
