//! The layout of the scene: the temple and the objects that float around it, the avenue, the town in the background.

use std::f32::consts::{FRAC_PI_2, TAU};

use glam::{Quat, Vec3};
use tileheap::units::SplitMix64;

use super::object::{Lamp, Material, Motion, Object, Pattern};
use crate::mesh::Shape;

/// Objects and lamps, unsorted.
#[derive(Default)]
pub(super) struct Site {
    pub(super) objects: Vec<Object>,
    pub(super) lamps: Vec<Lamp>,
}

impl Site {
    /// Generates the site from `seed`.
    pub(super) fn build(seed: u64) -> Site {
        let (mut site, mut chance) = (Site::default(), Chance(SplitMix64::new(seed)));
        site.add_temple();
        site.add_avenue(&mut chance);
        site.add_towers(&mut chance);
        site.add_lanterns(&mut chance);
        site.add_ground();
        site
    }

    fn add(&mut self, shape: Shape, at: Vec3, scale: impl Into<Vec3>, material: Material) -> &mut Object {
        self.objects.push(Object {
            shape,
            at,
            rotation: Quat::IDENTITY,
            scale: scale.into(),
            material,
            motion: Motion::Still,
        });
        self.objects.last_mut().expect("just pushed")
    }

    fn add_ground(&mut self) {
        let paving = Material {
            pattern: Pattern::Paving,
            ..Material::stone(Vec3::new(0.27, 0.25, 0.24))
        };
        self.add(Shape::Box, -Vec3::Y, [240.0, 1.0, 240.0], paving);
    }

    /// A column with its base and capital; returns the height of its top.
    fn add_column(&mut self, at: Vec3, radius: f32, height: f32, whole: bool, material: Material) -> f32 {
        let plinth = radius * 0.5;
        let foot = [radius * 2.9, plinth, radius * 2.9];
        self.add(Shape::Box, at, foot, material);
        let base = at + Vec3::Y * (plinth + radius * 0.18);
        self.add(Shape::Torus, base, Vec3::splat(radius * 1.06), material);
        let shaft = at + Vec3::Y * plinth;
        self.add(Shape::Column, shaft, [radius, height, radius], material);
        let top = shaft.y + height;
        if !whole {
            return top;
        }
        let neck = Vec3::new(at.x, top, at.z);
        let collar = [radius * 0.92, radius * 0.9, radius * 0.92];
        self.add(Shape::Torus, neck, collar, material);
        let slab = [radius * 2.7, radius * 0.45, radius * 2.7];
        self.add(Shape::Box, neck + Vec3::Y * radius * 0.15, slab, material);
        top + radius * 0.6
    }

    fn add_temple(&mut self) {
        let stone = Material::MARBLE;
        for (step, radius) in [9.8, 9.0, 8.2].into_iter().enumerate() {
            let low = Vec3::Y * (step as f32 * 0.32);
            self.add(Shape::Drum, low, [radius, 0.32, radius], stone);
        }
        let floor = 0.96;
        let mut top = floor;
        for index in 0..14 {
            let around = Quat::from_rotation_y((index as f32 + 0.5) / 14.0 * TAU);
            let at = around * Vec3::new(0.0, floor, 6.9);
            top = self.add_column(at, 0.46, 5.2, true, stone);
            let lamp = around * Vec3::new(0.0, floor + 0.35, 5.75);
            self.add_lamp(lamp, 5.5, Vec3::new(1.0, 0.46, 0.14) * 3.4, 0.10, Motion::Still);
        }
        let (gold, patina, granite) = (Material::GOLD, Material::PATINA, Material::GRANITE);
        for (shape, height, size, material) in [
            (Shape::Drum, top, [7.6, 0.45, 7.6], stone),
            (Shape::Drum, top + 0.45, [7.45, 0.7, 7.45], stone),
            (Shape::Ring, top + 1.2, [7.6, 6.0, 7.6], stone),
            (Shape::Drum, top + 1.2, [6.3, 0.9, TAU], stone),
            (Shape::Ring, top + 2.1, [6.3, 4.0, TAU], gold),
            (Shape::Dome, top + 2.1, [6.1, 4.6, 6.1], patina),
            (Shape::Ring, top + 2.1 + 1.5, [5.64, 2.4, 5.64], gold),
            (Shape::Ring, top + 2.1 + 3.0, [4.46, 2.4, 4.46], gold),
            (Shape::Drum, top + 6.55, [0.7, 0.5, 0.7], gold),
            (Shape::Sphere, top + 7.3, [0.55, 0.55, 0.55], gold),
            (Shape::Drum, floor, [1.5, 0.3, 1.5], granite),
            (Shape::Drum, floor + 0.3, [1.1, 0.35, 1.1], granite),
        ] {
            self.add(shape, Vec3::Y * height, size, material);
        }

        let heart = Vec3::new(0.0, floor + 2.5, 0.0);
        let axes = [
            Vec3::new(1.0, 0.25, 0.1),
            Vec3::new(0.2, 0.4, 1.0),
            Vec3::new(-0.7, 0.6, 0.5),
        ];
        for (axis, radius) in axes.into_iter().zip([1.75, 1.45, 1.15]) {
            let ring = self.add(Shape::Ring, heart, Vec3::splat(radius), Material::GOLD);
            ring.rotation = Quat::from_rotation_arc(Vec3::Y, axis.normalize());
            ring.motion = Motion::Spin(Vec3::new(0.3, 1.0, 0.2).normalize(), 0.012 / radius);
        }
        let glow = Vec3::new(1.0, 0.62, 0.28) * 46.0;
        self.add_lamp(heart, 15.0, glow, 0.55, Motion::Still);
    }

    fn add_avenue(&mut self, chance: &mut Chance) {
        for index in 0..9 {
            for side in [-1.0, 1.0] {
                let at = Vec3::new(side * 5.4, 0.0, 12.5 + index as f32 * 4.2);
                let whole = index < 2 || chance.unit() > 0.35;
                let height = if whole { 3.7 } else { 0.9 + 2.2 * chance.unit() };
                let top = self.add_column(at, 0.42, height, whole, Material::MARBLE);
                let above = Vec3::new(at.x, top, at.z);
                if whole {
                    let bowl = above + Vec3::Y * 0.12;
                    self.add(Shape::Torus, bowl, [0.34, 0.6, 0.34], Material::COPPER);
                    let flame = Vec3::new(1.0, 0.40, 0.10) * 9.0;
                    self.add_lamp(above + Vec3::Y * 0.30, 8.0, flame, 0.19, Motion::Still);
                } else {
                    // A fallen part lies next to it.
                    let lies = at + Vec3::new(side * (1.0 + chance.unit()), 0.38, chance.unit() - 0.5);
                    let shaft = self.add(Shape::Column, lies, [0.40, 1.6, 0.40], Material::MARBLE);
                    shaft.rotation =
                        Quat::from_rotation_y(chance.unit() * TAU) * Quat::from_rotation_z(FRAC_PI_2);
                }

                let stand = Vec3::new(side * 3.3, 0.0, at.z + 2.1);
                self.add(Shape::Box, stand, [0.85, 0.18, 0.85], Material::GRANITE);
                let pillar = stand + Vec3::Y * 0.18;
                self.add(Shape::Box, pillar, [0.62, 0.6, 0.62], Material::GRANITE);
                let glazes = [
                    Material::GOLD,
                    Material::STEEL,
                    Material::COPPER,
                    Material::glaze(Vec3::new(0.03, 0.22, 0.24)),
                    Material::glaze(Vec3::new(0.30, 0.03, 0.07)),
                    Material::glaze(Vec3::new(0.05, 0.06, 0.30)),
                ];
                let material = chance.one_of(&glazes);
                let middle = stand + Vec3::Y * 1.22;
                if chance.unit() > 0.35 {
                    self.add(Shape::Sphere, middle, Vec3::splat(0.46), material);
                } else {
                    let torus = self.add(Shape::Torus, middle, Vec3::splat(0.40), material);
                    torus.rotation = Quat::from_rotation_x(FRAC_PI_2);
                    torus.motion = Motion::Spin(Vec3::Y, 0.02);
                }
            }
        }
    }

    /// Adds the town in the background: dark boxes with lit windows, denser further out.
    fn add_towers(&mut self, chance: &mut Chance) {
        for _ in 0..110 {
            let angle = (chance.unit() - 0.5) * 4.6;
            let far = 24.0 + 44.0 * chance.unit();
            let at = Quat::from_rotation_y(angle) * Vec3::new(0.0, 0.0, -far);
            if at.x.abs() < 9.0 && at.z > -20.0 {
                continue;
            }
            let height = (0.10 + 0.22 * chance.unit() * chance.unit()) * far + 1.5;
            let size = Vec3::new(2.2 + 3.0 * chance.unit(), height, 2.2 + 3.0 * chance.unit());
            let shade = 0.05 + 0.06 * chance.unit();
            let wall = Material {
                pattern: Pattern::Windows,
                ..Material::stone(Vec3::new(shade, shade, shade * 1.15))
            };
            self.add(Shape::Box, at, size, wall);
            if chance.unit() > 0.5 {
                let upper = size * Vec3::new(0.6, 0.35, 0.6);
                self.add(Shape::Box, at + Vec3::Y * height, upper, wall);
            }
        }
    }

    /// Adds lanterns that rise around the temple and drift over the avenue.
    fn add_lanterns(&mut self, chance: &mut Chance) {
        for index in 0..64 {
            let share = index as f32 / 63.0;
            let around = Quat::from_rotation_y(share * 21.0 + chance.unit() * 0.35);
            let radius = 11.2 - 3.8 * share * share + 1.2 * chance.unit();
            let at = around * Vec3::new(0.0, 1.2 + 15.5 * share + chance.unit(), radius);
            self.add_lantern(at, chance);
        }
        for index in 0..48 {
            let at = Vec3::new(
                (chance.unit() - 0.5) * 17.0,
                0.5 + 4.8 * chance.unit() * chance.unit(),
                6.0 + 15.0 * (index as f32 / 48.0) + 3.0 * chance.unit(),
            );
            // Not in front of the camera, and not inside a column.
            if (at - Vec3::new(2.4, 2.2, 23.0)).length() > 5.0 && (at.x.abs() - 5.4).abs() > 0.7 {
                self.add_lantern(at, chance);
            }
        }
        for _ in 0..28 {
            let angle = (chance.unit() - 0.5) * 3.4;
            let at = Quat::from_rotation_y(angle) * Vec3::new(0.0, 0.0, -(14.0 + 14.0 * chance.unit()));
            self.add_lantern(at + Vec3::Y * (0.8 + 7.0 * chance.unit()), chance);
        }
    }

    fn add_lantern(&mut self, at: Vec3, chance: &mut Chance) {
        let palette = [
            Vec3::new(1.0, 0.50, 0.14),
            Vec3::new(1.0, 0.36, 0.10),
            Vec3::new(1.0, 0.62, 0.26),
            Vec3::new(1.0, 0.20, 0.26),
            Vec3::new(0.86, 0.22, 0.80),
            Vec3::new(0.36, 0.34, 1.0),
            Vec3::new(0.12, 0.62, 1.0),
            Vec3::new(0.12, 0.95, 0.72),
        ];
        let color = chance.one_of(&palette) * (3.4 + 2.6 * chance.unit());
        let size = 0.085 + 0.05 * chance.unit();
        self.add_lamp(at, 5.0, color, size, Motion::Float(chance.unit() * TAU));
    }

    /// Adds a light, and the sphere that represents it.
    fn add_lamp(&mut self, at: Vec3, radius: f32, color: Vec3, size: f32, motion: Motion) {
        let shape = if size < 0.3 { Shape::Bead } else { Shape::Sphere };
        self.add(shape, at, Vec3::splat(size), Material::glowing(color))
            .motion = motion;
        self.lamps.push(Lamp {
            at,
            radius,
            color,
            motion,
        });
    }
}

/// Random numbers from a seed.
struct Chance(SplitMix64);

impl Chance {
    /// A number from 0 to below 1.
    fn unit(&mut self) -> f32 {
        (self.0.next_u64() >> 40) as f32 / (1u32 << 24) as f32
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[(self.0.next_u64() % all.len() as u64) as usize]
    }
}
