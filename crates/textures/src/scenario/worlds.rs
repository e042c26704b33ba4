//! Scenarios in which the world changes.

use super::scene::Scene;
use crate::ids::{Level, MipChainId, TextureId};
use crate::trace::TraceRecord;
use crate::units::{Alignment, Bytes, SplitMix64};
use crate::{Geometry, MipChain};

/// 64 chains of one level, from 1 KiB to more than 300 KiB, in units of 256 bytes.
pub(super) fn mixed_geometry() -> Geometry {
    let mut random = SplitMix64::new(64);
    let sizes = (0..64_u64).map(|index| {
        let base = 1024 * (1 + index * index * 300 / (63 * 63));
        Bytes(base + random.below(base / 4))
    });
    let chains = sizes.map(|size| MipChain::new(vec![size])).collect();
    Geometry::new(chains, Alignment::new(256).expect("not 0")).expect("sizes above 0")
}

impl Scene<'_> {
    pub(super) fn switch(&mut self) {
        let few = self.create_many(180);
        let many = self.create_many(5400);
        let mut pick = |levels: &[u8]| Level(self.random.pick(levels));
        let large: Vec<Level> = few.iter().map(|_| pick(&[8, 7, 7, 7, 6])).collect();
        let small: Vec<Level> = many.iter().map(|_| pick(&[6, 5, 5, 4, 4, 3, 2])).collect();
        let (mut until, mut is_many) = (40 + self.random.below(20), false);
        for frame in 0..u64::from(self.frames) {
            if frame == until {
                is_many = !is_many;
                until += 40 + self.random.below(20);
            }
            let (textures, levels) = if is_many { (&many, &small) } else { (&few, &large) };
            for (&texture, &level) in textures.iter().zip(levels) {
                self.use_at(texture, level);
            }
            self.end_frame();
        }
    }

    pub(super) fn double_load(&mut self) {
        // An arena of 32 x 32 textures holds 170 if 2 MiB are divided into nine equal shares.
        let count = 320 + self.random.below(40) as u32;
        let textures = self.create_many(count);
        for _ in 0..self.frames {
            for &texture in &textures {
                self.use_at(texture, Level(5));
            }
            self.end_frame();
        }
    }

    pub(super) fn mixed(&mut self) {
        let mut shown: Vec<TextureId> = Vec::new();
        let mut drift = 0;
        for frame in 0..self.frames {
            if frame % 10 == 0 {
                // A tenth of them is replaced, anywhere; sizes drift from small to large and back.
                drift = (drift + self.random.below(9)) % 128;
                let middle = drift.min(128 - drift) * 63 / 64;
                let left = shown.len() * 9 / 10;
                while shown.len() > left {
                    let index = self.random.below(shown.len() as u64) as usize;
                    let texture = shown.swap_remove(index);
                    // Some are released, the others stay resident.
                    if self.random.one_in(2) {
                        (self.to)(TraceRecord::Release { texture });
                    }
                }
                while shown.len() < 150 {
                    let chain = (middle + self.random.below(16)).saturating_sub(8).min(63);
                    let texture = self.create(MipChainId(chain as u16));
                    shown.push(texture);
                }
            }
            for &texture in &shown {
                self.use_at(texture, Level(0));
            }
            self.end_frame();
        }
    }

    pub(super) fn few_large(&mut self) {
        let (small, large) = (self.create_many(60), self.create_many(3));
        let levels: Vec<Level> = small
            .iter()
            .map(|_| Level(self.random.pick(&[6, 5, 5, 4])))
            .collect();
        let is_first = self.random.one_in(2);
        for _ in 0..self.frames {
            for turn in [is_first, !is_first] {
                if turn {
                    for (&texture, &level) in small.iter().zip(&levels) {
                        self.use_at(texture, level);
                    }
                } else {
                    for &texture in &large {
                        self.use_at(texture, Level(8));
                    }
                }
            }
            self.end_frame();
        }
    }

    fn levelled(&mut self, count: u32) -> Vec<(TextureId, Level)> {
        let textures = self.create_many(count);
        textures
            .into_iter()
            .map(|texture| (texture, self.level()))
            .collect()
    }

    pub(super) fn zipf(&mut self) {
        let textures = self.levelled(1200);
        for frame in 0..self.frames {
            let shown = (0..200).map(|_| (self.popular(1200) + frame / 8 * 7) % 1200);
            for index in shown.collect::<std::collections::BTreeSet<u32>>() {
                let (texture, level) = textures[index as usize];
                self.use_at(texture, level);
            }
            self.end_frame();
        }
    }

    /// In every frame, requests `hot` textures and the next `step` of `others` further textures, in a cycle.
    pub(super) fn scan(&mut self, hot: u32, step: u32, others: u32) {
        let textures = self.levelled(hot + others);
        for frame in 0..self.frames {
            let scanned = (frame * step..(frame + 1) * step).map(|at| hot + at % others);
            for index in (0..hot).chain(scanned) {
                let (texture, level) = textures[index as usize];
                self.use_at(texture, level);
            }
            self.end_frame();
        }
    }

    pub(super) fn flight(&mut self) {
        /// Textures per row. 8 rows ahead are in view, nearer ones at finer levels; up to 4 rows are kept after they have been passed.
        const ACROSS: u32 = 40;
        const LEVELS: [u8; 8] = [8, 7, 6, 6, 5, 5, 4, 3];
        let mut rows: std::collections::VecDeque<Vec<TextureId>> =
            (0..8).map(|_| self.create_many(ACROSS)).collect();
        let (mut behind, mut free) = (0_usize, Vec::<TextureId>::new());
        for frame in 0..self.frames {
            if frame % 6 == 5 {
                let row = (0..ACROSS).map(|_| {
                    let Some(texture) = free.pop() else {
                        return self.create(MipChainId(0));
                    };
                    let chain = MipChainId(0);
                    (self.to)(TraceRecord::Create { texture, chain });
                    texture
                });
                let row = row.collect();
                rows.push_back(row);
                behind += 1;
                if behind > 4 {
                    behind -= 1;
                    for texture in rows.pop_front().expect("more than four rows have been passed") {
                        (self.to)(TraceRecord::Release { texture });
                        free.push(texture);
                    }
                }
            }
            // Craters: some places of the landscape change.
            if self.random.one_in(4) {
                let row = behind + self.random.below(8) as usize;
                let texture = self.random.pick(&rows[row]);
                (self.to)(TraceRecord::Replace {
                    texture,
                    chain: MipChainId(0),
                });
            }
            for (index, level) in LEVELS.into_iter().enumerate() {
                for texture in rows[behind + index].clone() {
                    // The middle of the near rows is close, the sides are not.
                    let aside = (texture.0 % ACROSS).abs_diff(ACROSS / 2) / 5;
                    let level = u32::from(level).saturating_sub(aside.min(3));
                    self.use_at(texture, Level(level as u8));
                }
            }
            self.end_frame();
        }
    }
}
