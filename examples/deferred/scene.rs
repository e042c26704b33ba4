//! The scene: a round temple at the end of an avenue, by night, under floating lanterns. All of it follows from a seed.

use bytemuck::{Pod, Zeroable};
use glam::{Mat4, Quat, Vec3, Vec4};

use crate::mesh::Shape;

/// How a surface is varied over space; `PATTERN_*` in shaders/gbuffer.frag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pattern {
    Plain = 0,
    Paving = 1,
    Stone = 2,
    Windows = 3,
}

/// What light does at a surface; `KIND_*` in shaders/constants.glsl.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Plain = 0,
    Metal = 1,
    Glowing = 2,
}

/// What an object is made of.
#[derive(Clone, Copy, Debug)]
struct Material {
    colour: Vec3,
    roughness: f32,
    pattern: Pattern,
    kind: Kind,
}

impl Material {
    const MARBLE: Material = Material::stone(Vec3::new(0.58, 0.53, 0.46));
    const GRANITE: Material = Material::stone(Vec3::new(0.23, 0.22, 0.23));
    const PATINA: Material = Material::stone(Vec3::new(0.10, 0.30, 0.27));
    const GOLD: Material = Material::metal(Vec3::new(1.0, 0.72, 0.30), 0.24);
    const COPPER: Material = Material::metal(Vec3::new(0.93, 0.48, 0.33), 0.32);
    const STEEL: Material = Material::metal(Vec3::new(0.62, 0.66, 0.72), 0.16);

    const fn stone(colour: Vec3) -> Material {
        Material {
            colour,
            roughness: 0.62,
            pattern: Pattern::Stone,
            kind: Kind::Plain,
        }
    }

    const fn metal(colour: Vec3, roughness: f32) -> Material {
        Material {
            colour,
            roughness,
            pattern: Pattern::Plain,
            kind: Kind::Metal,
        }
    }

    const fn glaze(colour: Vec3) -> Material {
        Material {
            colour,
            roughness: 0.12,
            pattern: Pattern::Plain,
            kind: Kind::Plain,
        }
    }

    /// `colour` is that of a light; the surface shows its hue.
    fn glowing(colour: Vec3) -> Material {
        let hue = colour / colour.max_element();
        Material {
            colour: hue * 0.75,
            roughness: 1.0,
            pattern: Pattern::Plain,
            kind: Kind::Glowing,
        }
    }
}

/// How a thing moves from frame to frame.
#[derive(Clone, Copy, Debug)]
enum Motion {
    Still,
    /// Turns around an axis through its middle, by so many radians a frame.
    Spin(Vec3, f32),
    /// Bobs up and down, from this phase on.
    Float(f32),
}

impl Motion {
    fn at(self, frame: f32) -> (Vec3, Quat) {
        match self {
            Motion::Still => (Vec3::ZERO, Quat::IDENTITY),
            Motion::Spin(axis, speed) => (Vec3::ZERO, Quat::from_axis_angle(axis, speed * frame)),
            Motion::Float(phase) => (Vec3::Y * 0.12 * (phase + frame * 0.05).sin(), Quat::IDENTITY),
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Object {
    shape: Shape,
    at: Vec3,
    rotation: Quat,
    scale: Vec3,
    material: Material,
    motion: Motion,
}

impl Object {
    fn transform(&self, frame: f32) -> Mat4 {
        let (offset, turn) = self.motion.at(frame);
        Mat4::from_scale_rotation_translation(self.scale, turn * self.rotation, self.at + offset)
    }
}

#[derive(Clone, Copy, Debug)]
struct Lamp {
    at: Vec3,
    /// No light further away than this, in metres.
    radius: f32,
    colour: Vec3,
    motion: Motion,
}

/// A light as the shaders read it; `Light` in shaders/constants.glsl.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(crate) struct Light {
    position_radius: Vec4,
    colour: Vec4,
}

/// An object as the shaders read it; `Instance` in shaders/constants.glsl.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(crate) struct Instance {
    rows: [Vec4; 3],
    previous_rows: [Vec4; 3],
    colour_roughness: Vec4,
    material: [u32; 4],
}

/// Draw `instances` of `shape`: runs of the instance table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Draw {
    pub(crate) shape: Shape,
    pub(crate) instances: std::ops::Range<u32>,
}

/// Towards the moon, not normalized.
pub(crate) const MOON: Vec3 = Vec3::new(-0.50, 0.34, -0.86);
/// The most lights that a tile's mask has bits for; `MAX_LIGHTS` in shaders/constants.glsl.
pub(crate) const MAX_LIGHTS: usize = 256;

/// Everything there is to draw and to light it with.
#[derive(Debug)]
pub(crate) struct Scene {
    /// Sorted by shape; the ground comes last, where most of it is hidden already.
    objects: Vec<Object>,
    lamps: Vec<Lamp>,
}

impl Scene {
    /// The scene that follows from `seed`.
    pub(crate) fn build(seed: u64) -> Scene {
        let mut chance = Chance(seed);
        let mut scene = Scene {
            objects: Vec::new(),
            lamps: Vec::new(),
        };
        scene.add_temple();
        scene.add_avenue(&mut chance);
        scene.add_towers(&mut chance);
        scene.add_lanterns(&mut chance);
        scene.add_ground();
        scene.objects.sort_by_key(|object| object.shape);
        assert!(
            scene.lamps.len() <= MAX_LIGHTS,
            "{} lights fit in a mask of 256 bits",
            scene.lamps.len()
        );
        scene
    }

    pub(crate) fn object_count(&self) -> usize {
        self.objects.len()
    }

    pub(crate) fn light_count(&self) -> usize {
        self.lamps.len()
    }

    /// One draw per shape.
    pub(crate) fn draws(&self) -> Vec<Draw> {
        let mut first = 0;
        let runs = self.objects.chunk_by(|one, other| one.shape == other.shape);
        runs.map(|run| {
            let instances = first..first + run.len() as u32;
            first = instances.end;
            Draw {
                shape: run[0].shape,
                instances,
            }
        })
        .collect()
    }

    /// Where everything is in a frame, into one entry per object and per light.
    pub(crate) fn write(&self, frame: u32, instances: &mut [Instance], lights: &mut [Light]) {
        let (now, before) = (frame as f32, frame.saturating_sub(1) as f32);
        for (instance, object) in instances.iter_mut().zip(&self.objects) {
            *instance = Instance {
                rows: rows(object.transform(now)),
                previous_rows: rows(object.transform(before)),
                colour_roughness: object.material.colour.extend(object.material.roughness),
                material: [object.material.pattern as u32, object.material.kind as u32, 0, 0],
            };
        }
        for (light, lamp) in lights.iter_mut().zip(&self.lamps) {
            let at = lamp.at + lamp.motion.at(now).0;
            *light = Light {
                position_radius: at.extend(lamp.radius),
                colour: lamp.colour.extend(0.0),
            };
        }
    }

    fn add(&mut self, shape: Shape, at: Vec3, scale: Vec3, material: Material) -> &mut Object {
        self.objects.push(Object {
            shape,
            at,
            rotation: Quat::IDENTITY,
            scale,
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
        self.add(
            Shape::Box,
            Vec3::new(0.0, -1.0, 0.0),
            Vec3::new(240.0, 1.0, 240.0),
            paving,
        );
    }

    /// A column with its base and capital; returns the height of its top.
    fn add_column(&mut self, at: Vec3, radius: f32, height: f32, whole: bool, material: Material) -> f32 {
        let plinth = radius * 0.5;
        self.add(
            Shape::Box,
            at,
            Vec3::new(radius * 2.9, plinth, radius * 2.9),
            material,
        );
        let base = at + Vec3::Y * (plinth + radius * 0.18);
        self.add(Shape::Torus, base, Vec3::splat(radius * 1.06), material);
        let shaft = at + Vec3::Y * plinth;
        self.add(Shape::Column, shaft, Vec3::new(radius, height, radius), material);
        let top = shaft.y + height;
        if !whole {
            return top;
        }
        let neck = Vec3::new(at.x, top, at.z);
        self.add(
            Shape::Torus,
            neck,
            Vec3::new(radius * 0.92, radius * 0.9, radius * 0.92),
            material,
        );
        let slab = Vec3::new(radius * 2.7, radius * 0.45, radius * 2.7);
        self.add(Shape::Box, neck + Vec3::Y * radius * 0.15, slab, material);
        top + radius * 0.6
    }

    fn add_temple(&mut self) {
        let stone = Material::MARBLE;
        for (step, radius) in [9.8, 9.0, 8.2].into_iter().enumerate() {
            let low = Vec3::Y * (step as f32 * 0.32);
            self.add(Shape::Drum, low, Vec3::new(radius, 0.32, radius), stone);
        }
        let floor = 0.96;
        let mut top = floor;
        for index in 0..14 {
            let around = Quat::from_rotation_y((index as f32 + 0.5) / 14.0 * std::f32::consts::TAU);
            let at = around * Vec3::new(0.0, floor, 6.9);
            top = self.add_column(at, 0.46, 5.2, true, stone);
            let lamp = around * Vec3::new(0.0, floor + 0.35, 5.75);
            self.add_lamp(lamp, 5.5, Vec3::new(1.0, 0.46, 0.14) * 3.4, 0.10, Motion::Still);
        }
        self.add(Shape::Drum, Vec3::Y * top, Vec3::new(7.6, 0.45, 7.6), stone);
        self.add(
            Shape::Drum,
            Vec3::Y * (top + 0.45),
            Vec3::new(7.45, 0.7, 7.45),
            stone,
        );
        self.add(
            Shape::Ring,
            Vec3::Y * (top + 1.2),
            Vec3::new(7.6, 6.0, 7.6),
            stone,
        );
        self.add(
            Shape::Drum,
            Vec3::Y * (top + 1.2),
            Vec3::new(6.3, 0.9, 6.3),
            stone,
        );
        self.add(
            Shape::Ring,
            Vec3::Y * (top + 2.1),
            Vec3::new(6.3, 4.0, 6.3),
            Material::GOLD,
        );
        self.add(
            Shape::Dome,
            Vec3::Y * (top + 2.1),
            Vec3::new(6.1, 4.6, 6.1),
            Material::PATINA,
        );
        for (height, radius) in [(1.5, 5.85), (3.0, 4.72)] {
            let band = Vec3::Y * (top + 2.1 + height);
            self.add(Shape::Ring, band, Vec3::new(radius, 2.4, radius), Material::GOLD);
        }
        self.add(
            Shape::Drum,
            Vec3::Y * (top + 6.55),
            Vec3::new(0.7, 0.5, 0.7),
            Material::GOLD,
        );
        self.add(
            Shape::Sphere,
            Vec3::Y * (top + 7.3),
            Vec3::splat(0.55),
            Material::GOLD,
        );

        let heart = Vec3::new(0.0, floor + 2.5, 0.0);
        self.add(
            Shape::Drum,
            Vec3::Y * floor,
            Vec3::new(1.5, 0.3, 1.5),
            Material::GRANITE,
        );
        self.add(
            Shape::Drum,
            Vec3::Y * (floor + 0.3),
            Vec3::new(1.1, 0.35, 1.1),
            Material::GRANITE,
        );
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
        self.add_lamp(
            heart,
            15.0,
            Vec3::new(1.0, 0.62, 0.28) * 46.0,
            0.55,
            Motion::Still,
        );
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
                    self.add(
                        Shape::Torus,
                        above + Vec3::Y * 0.12,
                        Vec3::new(0.34, 0.6, 0.34),
                        Material::COPPER,
                    );
                    let flame = Vec3::new(1.0, 0.40, 0.10) * 9.0;
                    self.add_lamp(above + Vec3::Y * 0.30, 8.0, flame, 0.19, Motion::Still);
                } else {
                    // What has fallen off lies beside it.
                    let lies = at + Vec3::new(side * (1.0 + chance.unit()), 0.38, chance.unit() - 0.5);
                    let shaft = self.add(Shape::Column, lies, Vec3::new(0.40, 1.6, 0.40), Material::MARBLE);
                    shaft.rotation =
                        Quat::from_rotation_y(chance.unit() * 6.3) * Quat::from_rotation_z(1.5708);
                }

                let stand = Vec3::new(side * 3.3, 0.0, at.z + 2.1);
                self.add(Shape::Box, stand, Vec3::new(0.85, 0.18, 0.85), Material::GRANITE);
                self.add(
                    Shape::Box,
                    stand + Vec3::Y * 0.18,
                    Vec3::new(0.62, 0.6, 0.62),
                    Material::GRANITE,
                );
                let glazes = [
                    Material::GOLD,
                    Material::STEEL,
                    Material::COPPER,
                    Material::glaze(Vec3::new(0.03, 0.22, 0.24)),
                    Material::glaze(Vec3::new(0.30, 0.03, 0.07)),
                    Material::glaze(Vec3::new(0.05, 0.06, 0.30)),
                ];
                let material = glazes[chance.below(glazes.len())];
                let middle = stand + Vec3::Y * 1.22;
                if chance.unit() > 0.35 {
                    self.add(Shape::Sphere, middle, Vec3::splat(0.46), material);
                } else {
                    let torus = self.add(Shape::Torus, middle, Vec3::splat(0.40), material);
                    torus.rotation = Quat::from_rotation_x(1.5708);
                    torus.motion = Motion::Spin(Vec3::Y, 0.02);
                }
            }
        }
    }

    /// The town behind: dark boxes with lit windows, denser further out.
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

    /// Lanterns rise around the temple and drift over the avenue.
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
            // Not in front of the lens, and not inside a column.
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
        let colour = palette[chance.below(palette.len())] * (3.4 + 2.6 * chance.unit());
        let size = 0.085 + 0.05 * chance.unit();
        self.add_lamp(at, 5.0, colour, size, Motion::Float(chance.unit() * 6.3));
    }

    /// A light, and the sphere that it seems to come from.
    fn add_lamp(&mut self, at: Vec3, radius: f32, colour: Vec3, size: f32, motion: Motion) {
        let shape = if size < 0.3 { Shape::Bead } else { Shape::Sphere };
        self.add(shape, at, Vec3::splat(size), Material::glowing(colour))
            .motion = motion;
        self.lamps.push(Lamp {
            at,
            radius,
            colour,
            motion,
        });
    }
}

/// The first three rows of a matrix.
fn rows(matrix: Mat4) -> [Vec4; 3] {
    [matrix.row(0), matrix.row(1), matrix.row(2)]
}

/// Numbers that look random and follow from a seed (SplitMix64).
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// At least 0, below 1.
    fn unit(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1u32 << 24) as f32
    }

    fn below(&mut self, count: usize) -> usize {
        (self.next() % count as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instances(scene: &Scene, frame: u32) -> (Vec<Instance>, Vec<Light>) {
        let mut instances = vec![Instance::zeroed(); scene.object_count()];
        let mut lights = vec![Light::zeroed(); scene.light_count()];
        scene.write(frame, &mut instances, &mut lights);
        (instances, lights)
    }

    #[test]
    fn the_same_seed_gives_the_same_scene_and_another_another() {
        let (one, again, other) = (Scene::build(1), Scene::build(1), Scene::build(2));
        assert_eq!(instances(&one, 3), instances(&again, 3));
        assert_ne!(instances(&one, 3).1, instances(&other, 3).1);
    }

    #[test]
    fn it_is_large_enough_to_be_worth_culling() {
        for seed in 0..8 {
            let scene = Scene::build(seed);
            assert!(scene.object_count() >= 400, "{} objects", scene.object_count());
            assert!(
                (128..=MAX_LIGHTS).contains(&scene.light_count()),
                "{} lights",
                scene.light_count()
            );
        }
    }

    #[test]
    fn draws_cover_every_object_once() {
        let scene = Scene::build(7);
        let mut next = 0;
        for draw in scene.draws() {
            assert_eq!(draw.instances.start, next);
            next = draw.instances.end;
            let inside = draw.instances.start as usize..draw.instances.end as usize;
            assert!(
                scene.objects[inside]
                    .iter()
                    .all(|object| object.shape == draw.shape)
            );
        }
        assert_eq!(next as usize, scene.object_count());
    }

    #[test]
    fn things_were_a_frame_ago_where_the_frame_before_put_them() {
        let scene = Scene::build(7);
        let ((before, _), (now, _)) = (instances(&scene, 4), instances(&scene, 5));
        assert!(
            now.iter()
                .zip(&before)
                .all(|(now, before)| now.previous_rows == before.rows)
        );
        assert!(
            now.iter().any(|instance| instance.previous_rows != instance.rows),
            "something moves"
        );
    }
}
