//! The scene: a round temple on a plain, a low sun, and a lamp that swings in the middle.

use std::f32::consts::TAU;

use ash::vk;
use bytemuck::{Pod, Zeroable};
use glam::{Mat4, Quat, Vec3, Vec4};

use crate::mesh::{Meshes, Shape};

/// A corner of a triangle, in world space; locations 0 to 2.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(crate) struct Vertex {
    pub(crate) position: [f32; 3],
    pub(crate) normal: [f32; 3],
    pub(crate) color: [f32; 3],
}

/// Constants of all shaders; `Constants` in shaders/forward.glsl.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(crate) struct Constants {
    views: [Mat4; 3],
    eye: Vec4,
    to_sun: Vec4,
    sun_light: Vec4,
    lamp: Vec4,
    lamp_aim: Vec4,
    lamp_light: Vec4,
    sky: Vec4,
}

/// Light of the sky, which is also the clear color.
pub(crate) const SKY: Vec3 = Vec3::new(0.17, 0.22, 0.36);
const STONE: Vec3 = Vec3::new(0.62, 0.56, 0.47);
const BRONZE: Vec3 = Vec3::new(0.55, 0.30, 0.12);
const SAND: Vec3 = Vec3::new(0.40, 0.33, 0.24);

impl Constants {
    pub(crate) fn of(frame: u32, extent: vk::Extent2D) -> Constants {
        // Clip space has y pointing down.
        let down = Mat4::from_scale(Vec3::new(1.0, -1.0, 1.0));
        let eye = Vec3::new(-9.5, 3.4, 12.5);
        let aspect = extent.width as f32 / extent.height as f32;
        let camera = Mat4::perspective_rh(0.72, aspect, 0.5, 120.0)
            * Mat4::look_at_rh(eye, Vec3::new(0.3, 2.3, 0.0), Vec3::Y);
        let to_sun = Vec3::new(-0.86, 0.30, 0.20).normalize();
        let sun = Mat4::orthographic_rh(-13.0, 13.0, -13.0, 13.0, 1.0, 70.0)
            * Mat4::look_at_rh(to_sun * 40.0, Vec3::ZERO, Vec3::Y);
        let swing = (frame as f32 * 0.05).sin() * 0.4;
        let lamp = Vec3::new(swing, 5.6, 0.0);
        let aim = Vec3::new(0.5 - swing, -1.0, 0.55).normalize();
        let lamp_view = Mat4::perspective_rh(1.7, 1.0, 0.3, 20.0) * Mat4::look_to_rh(lamp, aim, Vec3::X);
        Constants {
            views: [down * camera, down * sun, down * lamp_view],
            eye: eye.extend(0.0),
            to_sun: to_sun.extend(0.0),
            sun_light: Vec4::new(1.9, 1.15, 0.6, 0.0),
            lamp: lamp.extend(1.0),
            lamp_aim: aim.extend(0.0),
            lamp_light: Vec4::new(24.0, 44.0, 84.0, 0.0),
            sky: SKY.extend(0.0),
        }
    }
}

/// All triangles of the scene, three vertices each.
pub(crate) fn vertices() -> Vec<Vertex> {
    let meshes = Meshes::build();
    let mut vertices = Vec::new();
    let mut add = |shape: Shape, at: Vec3, size: Vec3, turn: f32, color: Vec3| {
        let (turn, range) = (Quat::from_rotation_y(turn), meshes.ranges[shape as usize].clone());
        for &index in &meshes.indices[range.start as usize..range.end as usize] {
            let vertex = meshes.vertices[index as usize];
            let normal = turn * (Vec3::from(vertex.normal) / size);
            vertices.push(Vertex {
                position: (at + turn * (Vec3::from(vertex.position) * size)).into(),
                normal: normal.normalize_or(Vec3::Y).into(),
                color: color.into(),
            });
        }
    };
    add(Shape::Box, Vec3::NEG_Y, Vec3::new(160.0, 1.0, 160.0), 0.0, SAND);
    for (step, radius) in [6.2, 5.7, 5.2].into_iter().enumerate() {
        let at = Vec3::Y * (step as f32 * 0.25);
        add(Shape::Drum, at, Vec3::new(radius, 0.25, radius), 0.0, STONE);
    }
    for index in 0..12 {
        let angle = index as f32 / 12.0 * TAU;
        let at = |radius: f32, y: f32| Vec3::new(angle.cos() * radius, y, angle.sin() * radius);
        // Two columns have fallen.
        if [2, 3].contains(&index) {
            let size = Vec3::new(0.45, 0.4 + 0.5 * (index - 2) as f32, 0.45);
            add(Shape::Drum, at(4.5, 0.75), size, angle, STONE);
            continue;
        }
        let column = Vec3::new(0.40, 4.2, 0.40);
        add(Shape::Column, at(4.5, 0.75), column, angle, STONE);
        add(
            Shape::Box,
            at(4.5, 4.95),
            Vec3::new(1.0, 0.25, 1.0),
            -angle,
            STONE,
        );
    }
    // The entablature, except over the missing columns.
    for index in 4..13 {
        let angle = (index as f32 + 0.5) / 12.0 * TAU;
        let at = Vec3::new(angle.cos() * 4.35, 5.2, angle.sin() * 4.35);
        add(Shape::Box, at, Vec3::new(0.8, 0.55, 2.45), -angle, STONE);
    }
    add(Shape::Drum, Vec3::Y * 0.75, Vec3::splat(0.9), 0.0, STONE);
    add(Shape::Torus, Vec3::Y * 2.3, Vec3::splat(0.75), 0.4, BRONZE);
    add(Shape::Sphere, Vec3::Y * 2.3, Vec3::splat(0.6), 0.0, BRONZE);
    for (x, z, size) in [
        (-4.0, 7.5, 0.5),
        (-6.4, 6.2, 0.3),
        (7.0, 5.5, 0.6),
        (-8.5, -2.0, 0.4),
    ] {
        let at = Vec3::new(x, size * 0.6, z);
        add(Shape::Sphere, at, Vec3::splat(size), 0.0, STONE);
    }
    vertices
}
