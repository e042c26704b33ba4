//! Parameters of the policy.

/// What can be tuned, with what measurements on the generated traces speak for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoherentDesc {
    /// Whether textures may be moved within the cache to make a hole out of several. Copies within memory are not traffic.
    pub relocates: bool,
    /// Whether a texture that comes at a finer level keeps the coarser ones that it has, which are copied within the cache, and has
    /// the finer ones alone uploaded. Otherwise it is uploaded whole, as in the paper.
    pub keeps_levels: bool,
    /// How many of the longest unused textures are compared for the one that is least likely to come back.
    pub oldest_candidates: u32,
    /// How many of the longest unused textures are looked at as the start of a window.
    pub window_seeds: u32,
    /// How many blocks are looked at for a window when those have none.
    pub search_blocks: u32,
    /// What a window may cost at most, in 1024ths of what the new texture is worth.
    pub accepted_cost: u64,
    /// How many requests of a frame it takes to doubt that it is like the last one.
    pub confidence: u64,
}

impl CoherentDesc {
    /// Nothing is moved: for who cannot copy within the cache.
    pub fn without_relocation() -> CoherentDesc {
        CoherentDesc {
            relocates: false,
            search_blocks: 256,
            ..CoherentDesc::default()
        }
    }

    /// Coarser levels are kept where finer ones come.
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
