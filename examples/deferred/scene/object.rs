//! Objects and lamps: their materials and motion.

use glam::{Mat4, Quat, Vec3};

use crate::mesh::Shape;

/// The variation of a surface over space; `PATTERN_*` in shaders/gbuffer.frag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pattern {
    Plain = 0,
    Paving = 1,
    Stone = 2,
    Windows = 3,
}

/// The lighting model of a surface; `KIND_*` in shaders/constants.glsl.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Plain = 0,
    Metal = 1,
    Glowing = 2,
}

/// The material of an object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Material {
    pub(super) color: Vec3,
    pub(super) roughness: f32,
    pub(super) pattern: Pattern,
    pub(super) kind: Kind,
}

impl Material {
    pub(super) const MARBLE: Material = Material::stone(Vec3::new(0.58, 0.53, 0.46));
    pub(super) const GRANITE: Material = Material::stone(Vec3::new(0.23, 0.22, 0.23));
    pub(super) const PATINA: Material = Material::stone(Vec3::new(0.10, 0.30, 0.27));
    pub(super) const GOLD: Material = Material::metal(Vec3::new(1.0, 0.72, 0.30), 0.24);
    pub(super) const COPPER: Material = Material::metal(Vec3::new(0.93, 0.48, 0.33), 0.32);
    pub(super) const STEEL: Material = Material::metal(Vec3::new(0.62, 0.66, 0.72), 0.16);

    const fn new(color: Vec3, roughness: f32, pattern: Pattern, kind: Kind) -> Material {
        Material {
            color,
            roughness,
            pattern,
            kind,
        }
    }

    pub(super) const fn stone(color: Vec3) -> Material {
        Material::new(color, 0.62, Pattern::Stone, Kind::Plain)
    }

    pub(super) const fn metal(color: Vec3, roughness: f32) -> Material {
        Material::new(color, roughness, Pattern::Plain, Kind::Metal)
    }

    pub(super) const fn glaze(color: Vec3) -> Material {
        Material::new(color, 0.12, Pattern::Plain, Kind::Plain)
    }

    /// The material of a light of this color: a glowing surface of the same hue.
    pub(super) fn glowing(color: Vec3) -> Material {
        let hue = color / color.max_element();
        Material::new(hue * 0.75, 1.0, Pattern::Plain, Kind::Glowing)
    }
}

/// The motion of an object from frame to frame.
#[derive(Clone, Copy, Debug)]
pub(super) enum Motion {
    Still,
    /// Rotates around an axis through its center, by this angle in radians per frame.
    Spin(Vec3, f32),
    /// Bobs up and down, starting at this phase.
    Float(f32),
}

impl Motion {
    pub(super) fn at(self, frame: f32) -> (Vec3, Quat) {
        match self {
            Motion::Still => (Vec3::ZERO, Quat::IDENTITY),
            Motion::Spin(axis, speed) => (Vec3::ZERO, Quat::from_axis_angle(axis, speed * frame)),
            Motion::Float(phase) => (Vec3::Y * 0.12 * (phase + frame * 0.05).sin(), Quat::IDENTITY),
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Object {
    pub(super) shape: Shape,
    pub(super) at: Vec3,
    pub(super) rotation: Quat,
    pub(super) scale: Vec3,
    pub(super) material: Material,
    pub(super) motion: Motion,
}

impl Object {
    pub(super) fn transform(&self, frame: f32) -> Mat4 {
        let (offset, turn) = self.motion.at(frame);
        Mat4::from_scale_rotation_translation(self.scale, turn * self.rotation, self.at + offset)
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Lamp {
    pub(super) at: Vec3,
    /// Range of the light, in meters.
    pub(super) radius: f32,
    pub(super) color: Vec3,
    pub(super) motion: Motion,
}
