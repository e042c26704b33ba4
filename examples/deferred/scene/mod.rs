//! The scene: a round temple at the end of an avenue, at night, under floating lanterns. It is generated from a seed.

mod object;
mod site;

use bytemuck::{Pod, Zeroable};
use glam::{Mat4, Vec3, Vec4};

use self::object::{Lamp, Object};
use self::site::Site;
use crate::mesh::Shape;

/// A light as the shaders read it; `Light` in shaders/constants.glsl.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(crate) struct Light {
    position_radius: Vec4,
    color: Vec4,
}

/// An object as the shaders read it; `Instance` in shaders/constants.glsl.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(crate) struct Instance {
    rows: [Vec4; 3],
    previous_rows: [Vec4; 3],
    color_roughness: Vec4,
    material: [u32; 4],
}

/// A draw of `instances` of `shape`: a range of the instance table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Draw {
    pub(crate) shape: Shape,
    pub(crate) instances: std::ops::Range<u32>,
}

/// Direction to the moon, not normalized.
pub(crate) const MOON: Vec3 = Vec3::new(-0.50, 0.34, -0.86);
/// The number of bits of a tile's light mask; `MAX_LIGHTS` in shaders/constants.glsl.
pub(crate) const MAX_LIGHTS: usize = 256;

/// All objects and lights.
#[derive(Debug)]
pub(crate) struct Scene {
    /// All objects, sorted by shape; the ground comes last, when most of it is hidden.
    objects: Vec<Object>,
    lamps: Vec<Lamp>,
}

impl Scene {
    /// Generates the scene from `seed`.
    pub(crate) fn build(seed: u64) -> Scene {
        let Site { mut objects, lamps } = Site::build(seed);
        objects.sort_by_key(|object| object.shape);
        assert!(
            lamps.len() <= MAX_LIGHTS,
            "{} lights fit in a mask of 256 bits",
            lamps.len()
        );
        Scene { objects, lamps }
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

    /// Writes the positions of all objects and lights in a frame.
    pub(crate) fn write(&self, frame: u32, instances: &mut [Instance], lights: &mut [Light]) {
        let (now, before) = (frame as f32, frame.saturating_sub(1) as f32);
        for (instance, object) in instances.iter_mut().zip(&self.objects) {
            *instance = Instance {
                rows: rows(object.transform(now)),
                previous_rows: rows(object.transform(before)),
                color_roughness: object.material.color.extend(object.material.roughness),
                material: [object.material.pattern as u32, object.material.kind as u32, 0, 0],
            };
        }
        for (light, lamp) in lights.iter_mut().zip(&self.lamps) {
            let at = lamp.at + lamp.motion.at(now).0;
            *light = Light {
                position_radius: at.extend(lamp.radius),
                color: lamp.color.extend(0.0),
            };
        }
    }
}

/// The first three rows of a matrix.
fn rows(matrix: Mat4) -> [Vec4; 3] {
    [matrix.row(0), matrix.row(1), matrix.row(2)]
}
