//! The land: heights of an island, its sunlight, and its color at any point and resolution.

use glam::{Vec2, Vec3};

use crate::noise::{eroded, noise, rough};

/// Side of the world in meters, including some sea, and the number of cells per side.
pub(crate) const WORLD: f32 = 4096.0;
pub(crate) const CELLS: usize = 1024;
const CELL: f32 = WORLD / CELLS as f32;
/// Number of heights per row.
pub(crate) const SIDE: usize = CELLS + 1;

/// Direction to the sun.
pub(crate) const SUN: Vec3 = Vec3::new(0.64, 0.46, 0.615);
/// The open sea, in linear light: the color that textures fade to, and the start color of the sky shader.
pub(crate) const SEA: Vec3 = Vec3::new(0.012, 0.055, 0.085);

/// Properties of a point of the grid.
#[derive(Clone, Copy, Debug, Default)]
struct Point {
    height: f32,
    slope: Vec2,
    /// The visible part of the sun: 0 in the shadow of a mountain, 1 in full sunlight.
    sun: f32,
}

pub(crate) struct Ground {
    points: Vec<Point>,
}

impl Ground {
    pub(crate) fn new() -> Ground {
        let mut points = vec![Point::default(); SIDE * SIDE];
        for (index, point) in points.iter_mut().enumerate() {
            let (x, z) = ((index % SIDE) as f32 * CELL, (index / SIDE) as f32 * CELL);
            point.height = height_of(Vec2::new(x, z));
        }
        let mut ground = Ground { points };
        for index in 0..SIDE * SIDE {
            let (x, z) = ((index % SIDE) as i64, (index / SIDE) as i64);
            let slope = Vec2::new(
                ground.height_at(x + 1, z) - ground.height_at(x - 1, z),
                ground.height_at(x, z + 1) - ground.height_at(x, z - 1),
            );
            ground.points[index].slope = slope / (2.0 * CELL);
        }
        for index in 0..SIDE * SIDE {
            let (x, z) = (index % SIDE, index / SIDE);
            ground.points[index].sun = ground.sun_at(x, z);
        }
        ground
    }

    /// Heights row by row, [`SIDE`] in each; the sea is flat, at 0.
    pub(crate) fn heights(&self) -> Vec<f32> {
        self.points.iter().map(|point| point.height.max(0.0)).collect()
    }

    /// The height of the visible surface: of the land, or of the sea.
    pub(crate) fn surface(&self, at: Vec2) -> f32 {
        self.point(at).height.max(0.0)
    }

    fn height_at(&self, x: i64, z: i64) -> f32 {
        let last = CELLS as i64;
        self.points[z.clamp(0, last) as usize * SIDE + x.clamp(0, last) as usize].height
    }

    /// The visible part of the sun above the mountains, by marching toward it.
    fn sun_at(&self, x: usize, z: usize) -> f32 {
        let along = Vec2::new(SUN.x, SUN.z);
        let (step, rise) = (along.normalize(), SUN.y / along.length() * CELL);
        let start = self.points[z * SIDE + x].height.max(0.0);
        let mut open: f32 = 1.0;
        let mut distance = 1.5;
        while distance < 130.0 {
            let at = Vec2::new(x as f32, z as f32) + step * distance;
            let above = self.height_at(at.x as i64, at.y as i64) - start - rise * distance;
            // The sun has a diameter: half shadows widen with distance.
            open = open.min(0.5 - above / (0.10 * CELL * distance + 1.0));
            if open <= 0.0 {
                return 0.0;
            }
            distance *= 1.06;
            distance += 0.4;
        }
        open
    }

    fn point(&self, at: Vec2) -> Point {
        let at = (at / CELL).clamp(Vec2::ZERO, Vec2::splat(CELLS as f32 - 0.001));
        let (x, z) = (at.x as usize, at.y as usize);
        let (u, v) = (at.x - x as f32, at.y - z as f32);
        let corner = |x: usize, z: usize, weight: f32| {
            let point = self.points[z * SIDE + x];
            (point.height * weight, point.slope * weight, point.sun * weight)
        };
        let corners = [
            corner(x, z, (1.0 - u) * (1.0 - v)),
            corner(x + 1, z, u * (1.0 - v)),
            corner(x, z + 1, (1.0 - u) * v),
            corner(x + 1, z + 1, u * v),
        ];
        let mut sum = Point::default();
        for (height, slope, sun) in corners {
            sum.height += height;
            sum.slope += slope;
            sum.sun += sun;
        }
        sum
    }

    /// The lit color of a point, in linear light. `texel` is the size of a texel in meters: finer detail is left out.
    pub(crate) fn color(&self, at: Vec2, texel: f32) -> Vec3 {
        let point = self.point(at);
        let mut slope = point.slope;
        let mut rough = 0.0;
        // Octaves that the grid of heights is too coarse for.
        let (mut length, mut tall) = (19.0, 0.060);
        for octave in 0..7 {
            // Waves shorter than two texels are left out; slightly longer ones fade.
            let weight = ((length / texel - 2.0) / 2.0).clamp(0.0, 1.0);
            if weight > 0.0 {
                let [value, along, across] = noise(at.x / length + octave as f32 * 17.0, at.y / length);
                slope += Vec2::new(along, across) * (tall * weight * 3.0);
                rough += value * weight * 0.4;
            }
            length *= 0.45;
            tall *= 0.86;
        }
        if point.height < 0.0 {
            return water(point, rough);
        }
        let normal = Vec3::new(-slope.x, 1.0, -slope.y).normalize();
        let albedo = albedo(at, &point, rough);
        let sun = SUN.normalize();
        let diffuse = normal.dot(sun).max(0.0) * point.sun;
        let bounce = (0.5 - 0.5 * normal.dot(sun)) * 0.16;
        let light = Vec3::new(2.7, 2.3, 1.75) * diffuse
            + Vec3::new(0.22, 0.31, 0.47) * (0.55 + 0.45 * normal.y)
            + Vec3::new(0.5, 0.4, 0.3) * bounce;
        albedo * light
    }
}

/// The height of the island: mountains far from the shore.
fn height_of(at: Vec2) -> f32 {
    let center = (at - WORLD / 2.0) / (WORLD / 2.0);
    let coast = 0.30 * rough(at.x / 900.0 + 7.0, at.y / 900.0, 5);
    let inland = (0.93 - center.length() * 1.06 + coast * 0.8).clamp(-0.4, 0.7) / 0.7;
    let mountains = eroded(at.x / 640.0 + 31.0, at.y / 640.0 + 11.0, 9);
    let hills = rough(at.x / 260.0, at.y / 260.0 + 5.0, 4);
    if inland < 0.0 {
        return inland * 60.0 + hills * 4.0;
    }
    // Beaches are flat.
    let shore = (inland * 5.0).min(1.0);
    let tall = inland.powf(0.8);
    shore * (7.0 + hills * 9.0 + tall * (60.0 + 285.0 * (mountains + 0.22).max(-0.12) + 22.0 * hills)) - 1.5
}

fn smooth(from: f32, to: f32, value: f32) -> f32 {
    let t = ((value - from) / (to - from)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// The ground cover at a point, in linear light.
fn albedo(at: Vec2, point: &Point, rough: f32) -> Vec3 {
    let broad = noise(at.x / 170.0 + 3.0, at.y / 170.0)[0];
    let patches = noise(at.x / 58.0, at.y / 58.0 + 9.0)[0];
    let steep = point.slope.length() + rough * 0.10;
    let height = point.height + rough * 16.0 + broad * 14.0;

    let rock = Vec3::new(0.165, 0.145, 0.128) * (1.0 + 0.5 * rough)
        + Vec3::new(0.05, 0.03, 0.01) * (point.height * 0.09 + broad * 4.0).sin();
    let grass = Vec3::new(0.085, 0.135, 0.030).lerp(Vec3::new(0.17, 0.16, 0.055), 0.5 + 0.5 * broad);
    let grass = grass * (1.0 + 0.55 * rough);
    let wood = Vec3::new(0.022, 0.052, 0.018) * (1.0 + 1.3 * rough);
    let sand = Vec3::new(0.42, 0.34, 0.21) * (1.0 + 0.25 * rough);
    let snow = Vec3::new(0.66, 0.69, 0.75) * (1.0 + 0.08 * rough);

    let mut color = grass;
    let wooded = smooth(0.02, 0.28, patches + 0.5 * broad + rough * 0.55);
    let wooded = wooded * smooth(10.0, 22.0, height) * (1.0 - smooth(150.0, 195.0, height));
    color = color.lerp(wood, wooded * (1.0 - smooth(0.45, 0.75, steep)));
    color = color.lerp(
        Vec3::new(0.20, 0.175, 0.115) * (1.0 + 0.4 * rough),
        smooth(150.0, 215.0, height),
    );
    color = color.lerp(rock, smooth(0.50, 0.78, steep));
    color = color.lerp(
        snow,
        smooth(222.0, 262.0, height) * (1.0 - smooth(0.75, 1.15, steep)),
    );
    color.lerp(sand, 1.0 - smooth(2.0, 6.5, point.height + rough * 2.0))
}

fn water(point: Point, rough: f32) -> Vec3 {
    let deep = smooth(0.0, 26.0, -point.height);
    let shallow = Vec3::new(0.05, 0.27, 0.26);
    let foam = smooth(-1.1, -0.1, point.height + rough * 0.5) * 0.55;
    let water = shallow.lerp(SEA, deep.sqrt()) * (1.0 + 0.10 * rough * (1.0 - deep));
    water.lerp(Vec3::splat(0.75), foam)
}
