//! Scenarios in which the camera moves.

use super::scene::Scene;
use crate::ids::{Level, TextureId};

/// A landscape as a row of positions: the texture at each, and the level at which it is seen.
struct Row {
    places: Vec<(TextureId, Level)>,
}

impl Row {
    fn new(scene: &mut Scene<'_>, places: u32) -> Row {
        let textures = scene.create_many(places);
        let places = textures.into_iter().map(|texture| (texture, scene.level()));
        Row {
            places: places.collect(),
        }
    }

    /// Requests `count` textures from `start` on, wrapping around at the end.
    fn see(&self, scene: &mut Scene<'_>, start: i64, count: usize) {
        let length = self.places.len() as i64;
        for step in 0..count as i64 {
            let (texture, level) = self.places[(start + step).rem_euclid(length) as usize];
            scene.use_at(texture, level);
        }
    }
}

impl Scene<'_> {
    pub(super) fn still(&mut self, every: u64) {
        let row = Row::new(self, 200);
        let others = Row::new(self, 64);
        let mut inserted = (0, 0);
        for _ in 0..self.frames {
            if every > 0 && inserted.1 == 0 && self.random.one_in(every) {
                inserted = (i64::from(self.popular(64)), 3 + self.random.below(6));
            }
            if inserted.1 > 0 {
                inserted.1 -= 1;
                others.see(self, inserted.0, 1);
            }
            row.see(self, 0, 200);
            self.end_frame();
        }
    }

    pub(super) fn cyclic(&mut self) {
        let textures = self.create_many(26);
        for _ in 0..self.frames {
            for &texture in &textures {
                self.use_at(texture, Level(7));
            }
            self.end_frame();
        }
    }

    pub(super) fn strafe(&mut self) {
        let landscape = Row::new(self, 1200);
        let billboards = Row::new(self, 200);
        let (mut at, mut speed, mut leg) = (0_i64, 1_i64, 0);
        let mut shown: Vec<i64> = Vec::new();
        for _ in 0..self.frames {
            if leg == 0 {
                leg = 40 + self.random.below(80);
                speed = self.random.pick(&[-3, -2, -1, 1, 2, 3]);
            }
            leg -= 1;
            at += speed;
            landscape.see(self, at, 180);
            // Explosions and smoke last for a while.
            shown.retain(|_| !self.random.one_in(20));
            while shown.len() < 20 {
                let billboard = i64::from(self.popular(200));
                if !shown.contains(&billboard) {
                    shown.push(billboard);
                }
            }
            for &billboard in &shown {
                billboards.see(self, billboard, 1);
            }
            self.end_frame();
        }
    }

    pub(super) fn turn_around(&mut self) {
        let around = Row::new(self, 1000);
        let (mut at, mut goal) = (0_i64, 0_i64);
        let mut rest = 30 + self.random.below(30);
        for _ in 0..self.frames {
            if at != goal {
                at += (goal - at).clamp(-12, 12);
            } else if rest > 0 {
                rest -= 1;
            } else {
                rest = 30 + self.random.below(60);
                goal = 500 - goal;
            }
            around.see(self, at, 200);
            self.end_frame();
        }
    }

    pub(super) fn zoom(&mut self) {
        let row = Row::new(self, 200);
        let period = 120 + self.random.below(80);
        // The position of each texture in the view decides when its level changes.
        let phases: Vec<u64> = (0..200).map(|_| self.random.below(period / 4)).collect();
        for frame in 0..u64::from(self.frames) {
            for (&(texture, finest), phase) in row.places.iter().zip(&phases) {
                let time = (frame + phase) % period;
                let closeness = time.min(period - time) * 5 / period.div_ceil(2).max(1);
                let level = u64::from(finest.0).saturating_sub(4) + closeness.min(4);
                self.use_at(texture, Level(level.min(u64::from(finest.0)) as u8));
            }
            self.end_frame();
        }
    }
}
