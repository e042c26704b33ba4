//! Parameters of the policy.

/// Parameters of [`Coherent`](super::Coherent); the defaults come from measurements on generated traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoherentDesc {
    /// Whether textures may be moved within the cache to merge free blocks. Such copies are not traffic.
    pub relocates: bool,
    /// Whether a texture that is requested at a finer level keeps its resident levels, which are copied within the cache, so that
    /// only the missing ones are uploaded. Otherwise it is uploaded whole, as in the paper.
    pub keeps_levels: bool,
    /// How many of the least recently used textures are compared for the one least likely to be requested again.
    pub oldest_candidates: u32,
    /// How many of the least recently used textures are tried as the start of a window of neighbouring blocks.
    pub window_seeds: u32,
    /// How many blocks a search by address visits.
    pub search_blocks: u32,
    /// The highest accepted cost of evictions, in 1024ths of the value of the new texture.
    pub accepted_cost: u64,
    /// Weight of the learnt coherence between frames against the current frame, in requests.
    pub confidence: u64,
}

impl CoherentDesc {
    /// Moves no textures, for callers that cannot copy within the cache.
    pub fn without_relocation() -> CoherentDesc {
        CoherentDesc {
            relocates: false,
            search_blocks: 256,
            ..CoherentDesc::default()
        }
    }

    /// Keeps resident levels of textures that are requested at finer ones.
    pub fn keeping_levels() -> CoherentDesc {
        CoherentDesc {
            keeps_levels: true,
            ..CoherentDesc::default()
        }
    }
}

impl Default for CoherentDesc {
    fn default() -> CoherentDesc {
        CoherentDesc {
            relocates: true,
            keeps_levels: false,
            oldest_candidates: 64,
            window_seeds: 32,
            search_blocks: 48,
            accepted_cost: 768,
            confidence: 16,
        }
    }
}
