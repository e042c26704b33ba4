//! Parameters of the arenas that the paper (Blow 1998) leaves open.

use super::temperature::Temperature;
use crate::policy::{Parameter, ParameterValues};

/// Initial positions of the walls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialWalls {
    /// The same number of bytes for each arena.
    EqualBytes,
    /// The same number of blocks for each arena, as far as possible.
    EqualBlocks,
    /// All memory for the arena of the largest blocks.
    Largest,
}

/// The weighting of an average of the temperatures of several arenas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TemperatureAverage {
    /// Weighted equally, over the arenas that have blocks.
    Arenas,
    /// Weighted by bytes.
    Bytes,
}

/// The choice of the texture to evict from a full arena that is not boiling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleVictim {
    /// The least recently used texture.
    Oldest,
    /// A random one, active or not: the literal reading of the paper.
    Any,
}

/// The parameters that the paper leaves open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArenasDesc {
    /// True if every level of a texture has a separate block: the paper's first attempt.
    pub single_levels: bool,
    /// How much cooler the arenas on one side must be on average before an arena grows toward that side: "substantially lower" in the
    /// paper.
    pub margin: Temperature,
    /// The temperature that each wrongful eviction (of an active texture) and each request without a block adds to the instantaneous temperature.
    pub bonus: Temperature,
    /// Upper limit of the instantaneous temperature.
    pub ceiling: Temperature,
    /// Number of frames for which a texture is active, including that of its last use. With 1, no texture is active when a frame starts,
    /// and a full arena evicts its oldest textures, which coherent frames need first.
    pub active_frames: u32,
    /// Growth per update and direction, in thousandths of the blocks of the arena per degree of difference; at least one block.
    pub stride: u32,
    /// Initial positions of the walls.
    pub walls: InitialWalls,
    /// The weighting of the average of the temperatures on a side.
    pub average: TemperatureAverage,
    /// The texture to evict from a full arena that is not boiling.
    pub idle_victim: IdleVictim,
    /// For this many updates after a wall moved, moving it back needs twice the margin. 0 disables damping.
    pub damping: u32,
}

impl ArenasDesc {
    /// The parameters by name, for [`PolicyDesc::parameters`](crate::PolicyDesc::parameters); temperatures in thousandths.
    pub const PARAMETERS: &[Parameter] = &[
        Parameter::number(
            "margin",
            100,
            1 << 20,
            "how far a side's average temperature must be below an arena's before the arena grows toward that side, in thousandths of a degree",
        ),
        Parameter::number(
            "bonus",
            10,
            1 << 20,
            "added to an arena's temperature for each eviction of an active texture and for each request while the arena has no blocks, in thousandths of a degree",
        ),
        Parameter::number(
            "ceiling",
            2000,
            1 << 20,
            "upper limit of the temperature, in thousandths of a degree",
        ),
        Parameter::number(
            "active-frames",
            2,
            1 << 16,
            "number of frames for which a texture stays active after a use, including the frame of that use",
        ),
        Parameter::number(
            "stride",
            100,
            1 << 20,
            "growth per update, in thousandths of the arena's blocks per degree of temperature difference; at least one block",
        ),
        Parameter::choice(
            "walls",
            1,
            &["equal-bytes", "equal-blocks", "largest"],
            "initial positions of the walls",
        ),
        Parameter::choice(
            "average",
            1,
            &["arenas", "bytes"],
            "weighting in the average temperature of a side: each arena equally, or by bytes",
        ),
        Parameter::choice(
            "idle-victim",
            0,
            &["oldest", "any"],
            "texture to evict from a full arena that has inactive textures: the least recently used (oldest), or a random one (any)",
        ),
        Parameter::number(
            "damping",
            8,
            1 << 20,
            "number of updates after a wall has moved during which moving it back needs twice the margin",
        ),
    ];

    /// Creates parameters from values of [`PARAMETERS`](ArenasDesc::PARAMETERS).
    pub fn of(values: &ParameterValues) -> ArenasDesc {
        let &[
            margin,
            bonus,
            ceiling,
            active_frames,
            stride,
            walls,
            average,
            idle_victim,
            damping,
            ..,
        ] = values;
        ArenasDesc {
            single_levels: false,
            margin: Temperature::thousandths(margin),
            bonus: Temperature::thousandths(bonus),
            ceiling: Temperature::thousandths(ceiling),
            active_frames: active_frames as u32,
            stride: stride as u32,
            walls: [
                InitialWalls::EqualBytes,
                InitialWalls::EqualBlocks,
                InitialWalls::Largest,
            ][walls as usize],
            average: [TemperatureAverage::Arenas, TemperatureAverage::Bytes][average as usize],
            idle_victim: [IdleVictim::Oldest, IdleVictim::Any][idle_victim as usize],
            damping: damping as u32,
        }
    }
}

impl Default for ArenasDesc {
    fn default() -> ArenasDesc {
        ArenasDesc::of(&Parameter::defaults(ArenasDesc::PARAMETERS))
    }
}
