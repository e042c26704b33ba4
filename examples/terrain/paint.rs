//! Textures: the land's colors as RGBA, or as 8-bit indices into one palette, each level dithered separately.

use glam::{Vec2, Vec3};
use tileheap::units::SplitMix64;

use crate::ground::{Ground, WORLD};

/// A palette of 256 colors of the land, with a table of the nearest one to any color.
pub(crate) struct Palette {
    /// The colors in sRGB, 0 to 255.
    colors: Vec<Vec3>,
    /// The index of the nearest palette color, by five bits of each channel.
    nearest: Vec<u8>,
}

/// Adds colors to a palette by median cut: splits a box of sampled colors along its longest side.
fn cut(samples: &mut [Vec3], colors: usize, palette: &mut Vec<Vec3>) {
    if colors == 1 || samples.len() == 1 {
        palette.push(samples.iter().sum::<Vec3>() / samples.len() as f32);
        return;
    }
    let (low, high) = samples
        .iter()
        .fold((Vec3::splat(255.0), Vec3::ZERO), |(low, high), &sample| {
            (low.min(sample), high.max(sample))
        });
    let axis = (high - low).to_array();
    let axis = (0..3)
        .max_by(|&a, &b| axis[a].total_cmp(&axis[b]))
        .expect("three");
    let middle = samples.len() / 2;
    samples.select_nth_unstable_by(middle, |a, b| a[axis].total_cmp(&b[axis]));
    let (left, right) = samples.split_at_mut(middle);
    cut(left, colors / 2, palette);
    cut(right, colors - colors / 2, palette);
}

impl Palette {
    /// Builds the palette by median cut of colors all over the land.
    pub(crate) fn of(ground: &Ground) -> Palette {
        let mut random = SplitMix64::new(11);
        let mut place = || random.below(1 << 20) as f32 / (1 << 20) as f32;
        // All over the land, and sparsely in the sea: rare colors get few entries.
        let mut samples = Vec::with_capacity(60_000);
        for index in 0..100_000 {
            let at = Vec2::new(place(), place()) * WORLD;
            if ground.surface(at) > 0.0 || index % 16 == 0 {
                samples.push(encode(ground.color(at, 0.25 * (1 << (index % 5)) as f32)));
            }
        }
        let mut colors = Vec::with_capacity(256);
        cut(&mut samples, 256, &mut colors);
        let nearest = (0..1 << 15).map(|bits: u32| {
            let channel = |shift: u32| ((bits >> shift & 31) * 8 + 4) as f32;
            let wanted = Vec3::new(channel(10), channel(5), channel(0));
            let distance = |index: &usize| colors[*index].distance_squared(wanted);
            let nearest = (0..256).min_by(|a, b| distance(a).total_cmp(&distance(b)));
            nearest.expect("256 colors") as u8
        });
        Palette {
            nearest: nearest.collect(),
            colors,
        }
    }

    /// The palette in linear light, for shaders.
    pub(crate) fn linear(&self) -> Vec<[f32; 4]> {
        let decode = |channel: f32| {
            let channel = channel / 255.0;
            if channel <= 0.040_45 {
                channel / 12.92
            } else {
                ((channel + 0.055) / 1.055).powf(2.4)
            }
        };
        let colors = self.colors.iter();
        colors
            .map(|color| [decode(color.x), decode(color.y), decode(color.z), 1.0])
            .collect()
    }

    fn nearest(&self, color: Vec3) -> u8 {
        let bits = color.clamp(Vec3::ZERO, Vec3::splat(255.0)) / 8.0;
        self.nearest[(bits.x as usize) << 10 | (bits.y as usize) << 5 | bits.z as usize]
    }

    /// Converts colors to indices, with Floyd-Steinberg error diffusion.
    pub(crate) fn dither(&self, colors: &mut [Vec3], side: usize, indices: &mut [u8]) {
        for y in 0..side {
            for x in 0..side {
                let at = y * side + x;
                let index = self.nearest(colors[at]);
                indices[at] = index;
                let error = colors[at] - self.colors[usize::from(index)];
                let mut pass_on = |there: bool, at: usize, share: f32| {
                    if there {
                        colors[at] += error * share / 16.0;
                    }
                };
                let (right, below) = (x + 1 < side, y + 1 < side);
                pass_on(right, at + 1, 7.0);
                pass_on(below && x > 0, at + side - 1, 3.0);
                pass_on(below, at + side, 5.0);
                pass_on(below && right, at + side + 1, 1.0);
            }
        }
    }
}

/// Converts linear light to sRGB, 0 to 255, with the brightest parts rolled off.
pub(crate) fn encode(color: Vec3) -> Vec3 {
    let encode = |channel: f32| {
        let channel = (channel * (1.0 + channel * 0.12) / (1.0 + channel * 0.55)).clamp(0.0, 1.0);
        let encoded = if channel <= 0.003_130_8 {
            channel * 12.92
        } else {
            1.055 * channel.powf(1.0 / 2.4) - 0.055
        };
        encoded * 255.0
    };
    Vec3::new(encode(color.x), encode(color.y), encode(color.z))
}

/// Paints one level of a square of land: `side` texels per side, from `origin`.
pub(crate) struct Painter {
    pub(crate) ground: Ground,
    pub(crate) palette: Palette,
    colors: Vec<Vec3>,
}

impl Painter {
    pub(crate) fn new() -> Painter {
        let ground = Ground::new();
        Painter {
            palette: Palette::of(&ground),
            ground,
            colors: Vec::new(),
        }
    }

    fn sample(&mut self, origin: Vec2, size: f32, side: usize) {
        let texel = size / side as f32;
        self.colors.clear();
        // A texel of a coarse level covers much land: four samples.
        let samples = if side <= 64 { 2 } else { 1 };
        for y in 0..side {
            for x in 0..side {
                let corner = origin + Vec2::new(x as f32, y as f32) * texel;
                let mut sum = Vec3::ZERO;
                for sample in 0..samples * samples {
                    let within = Vec2::new((sample % samples) as f32, (sample / samples) as f32) + 0.5;
                    let at = corner + within * (texel / samples as f32);
                    sum += self.ground.color(at, texel);
                }
                self.colors.push(encode(sum / (samples * samples) as f32));
            }
        }
    }

    /// Paints indices into the palette, one byte each.
    pub(crate) fn indices(&mut self, origin: Vec2, size: f32, side: usize, texels: &mut [u8]) {
        self.sample(origin, size, side);
        self.palette.dither(&mut self.colors, side, texels);
    }

    /// Paints four bytes per texel, in sRGB.
    pub(crate) fn rgba(&mut self, origin: Vec2, size: f32, side: usize, texels: &mut [u8]) {
        self.sample(origin, size, side);
        for (texel, color) in texels.chunks_exact_mut(4).zip(&self.colors) {
            let color = color.round();
            texel.copy_from_slice(&[color.x as u8, color.y as u8, color.z as u8, 255]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dithered_levels_have_the_colors_of_the_land_on_average() {
        let mut painter = Painter::new();
        for side in [1, 8, 64, 256] {
            let mut indices = vec![0; side * side];
            let origin = Vec2::new(1800.0, 2100.0);
            painter.indices(origin, 64.0, side, &mut indices);
            let mut rgba = vec![0; side * side * 4];
            painter.rgba(origin, 64.0, side, &mut rgba);
            let count = (side * side) as f32;
            let color = |&index: &u8| painter.palette.colors[usize::from(index)];
            let shown = indices.iter().map(color).sum::<Vec3>() / count;
            let color = |texel: &[u8]| Vec3::new(texel[0].into(), texel[1].into(), texel[2].into());
            let meant = rgba.chunks_exact(4).map(color).sum::<Vec3>() / count;
            assert!(
                shown.distance(meant) < if side == 1 { 24.0 } else { 5.0 },
                "{side}: {shown} {meant}"
            );
        }
    }
}
