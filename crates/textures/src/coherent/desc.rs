//! Parameters of the policy.

use crate::policy::{Parameter, ParameterValues};

/// Parameters of [`Coherent`](super::Coherent); the defaults come from measurements on generated traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoherentDesc {
    /// True if textures may be moved within the cache to merge free blocks. Such copies do not count as traffic.
    pub relocates: bool,
    /// True if a texture that is requested at a finer level keeps its resident levels, which are copied within the cache, so that
    /// only the missing ones are uploaded. Otherwise it is uploaded whole, as in the paper.
    pub keeps_levels: bool,
    /// Number of least recently used stale textures, at most 64, that are compared by value.
    pub candidates: u64,
    /// Maximum number of blocks or textures that a search visits.
    pub search_blocks: u64,
    /// The highest accepted cost of evictions, in 1024ths of the value of the new texture.
    pub accepted_cost: u64,
    /// Weight of the learned coherence between frames relative to the current frame, in requests.
    pub confidence: u64,
}

impl CoherentDesc {
    /// The numeric parameters, for [`PolicyDesc::parameters`](crate::PolicyDesc::parameters).
    pub const PARAMETERS: &[Parameter] = &[
        Parameter::number(
            "candidates",
            32,
            64,
            "maximum number of textures from earlier frames compared to find the least valuable",
        ),
        Parameter::number(
            "search-blocks",
            48,
            1 << 16,
            "maximum number of textures that a search for victims visits, and of blocks that a search for memory to compact visits after its first match",
        ),
        Parameter::number(
            "accepted-cost",
            768,
            1 << 16,
            "highest cost of evictions, in 1024ths of the value of the new texture",
        ),
        Parameter::number(
            "confidence",
            16,
            1 << 16,
            "weight of earlier frames in the estimate of how many textures are requested again, as a number of requests",
        ),
    ];

    /// Creates parameters from values of [`PARAMETERS`](CoherentDesc::PARAMETERS).
    pub fn of(&[candidates, search_blocks, accepted_cost, confidence, ..]: &ParameterValues) -> CoherentDesc {
        CoherentDesc {
            relocates: true,
            keeps_levels: false,
            candidates,
            search_blocks,
            accepted_cost,
            confidence,
        }
    }
}

impl Default for CoherentDesc {
    fn default() -> CoherentDesc {
        CoherentDesc::of(&Parameter::defaults(CoherentDesc::PARAMETERS))
    }
}
