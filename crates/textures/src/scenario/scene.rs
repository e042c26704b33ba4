//! A trace under construction.

use crate::ids::{Level, MipChainId, TextureId};
use crate::trace::TraceRecord;
use crate::units::SplitMix64;

/// A trace under construction.
pub(super) struct Scene<'a> {
    pub(super) random: SplitMix64,
    pub(super) frames: u32,
    pub(super) textures: u32,
    pub(super) to: &'a mut dyn FnMut(TraceRecord),
}

impl Scene<'_> {
    pub(super) fn create(&mut self, chain: MipChainId) -> TextureId {
        let texture = TextureId(self.textures);
        self.textures += 1;
        (self.to)(TraceRecord::Create { texture, chain });
        texture
    }

    pub(super) fn create_many(&mut self, count: u32) -> Vec<TextureId> {
        (0..count).map(|_| self.create(MipChainId(0))).collect()
    }

    pub(super) fn use_at(&mut self, texture: TextureId, level: Level) {
        (self.to)(TraceRecord::Use { texture, level });
    }

    pub(super) fn end_frame(&mut self) {
        (self.to)(TraceRecord::EndFrame);
    }

    /// A random level: "most textures are 128 x 128; a few are 256 x 256 and a few are 64 x 64", and distant ones are seen at small levels.
    pub(super) fn level(&mut self) -> Level {
        Level(self.random.pick(&[8, 7, 7, 7, 7, 6, 6, 5, 5, 4, 4, 3, 2]))
    }

    /// A random number below `end`; the probability of n is about proportional to 1 / (n + 1).
    pub(super) fn popular(&mut self, end: u32) -> u32 {
        // 2^x for x uniform in [0, log2 end): with integers only, uniform within each power of two.
        let bits = end.ilog2() + 1;
        loop {
            let low = 1_u64 << self.random.below(u64::from(bits));
            let pick = low - 1 + self.random.below(low);
            if pick < u64::from(end) {
                return pick as u32;
            }
        }
    }
}
