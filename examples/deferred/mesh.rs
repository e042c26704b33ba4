//! The shapes of the scene: boxes, and profiles revolved around the vertical axis.

use std::f32::consts::{PI, TAU};
use std::ops::Range;

use bytemuck::{Pod, Zeroable};
use glam::{Vec2, Vec3};

/// A vertex as the pipelines read it: locations 0 and 1.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(crate) struct Vertex {
    pub(crate) position: [f32; 3],
    pub(crate) normal: [f32; 3],
}

/// A shape of unit size. Boxes, columns, drums and domes stand on y = 0; the others are centred there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Shape {
    /// A closed cylinder of radius and height 1.
    Drum,
    /// A fluted column of height 1 and radius about 1, with a slight swelling.
    Column,
    /// The upper half of a sphere of radius 1.
    Dome,
    /// A sphere of radius 1.
    Sphere,
    /// A sphere of radius 1, with few triangles.
    Bead,
    /// A torus with a radius of 1, measured to the center of its tube, which has radius 0.22.
    Torus,
    /// Like `Torus`, with a tube of radius 0.05.
    Ring,
    /// A cube with sides of length 1.
    Box,
}

impl Shape {
    pub(crate) const ALL: [Shape; 8] = [
        Shape::Drum,
        Shape::Column,
        Shape::Dome,
        Shape::Sphere,
        Shape::Bead,
        Shape::Torus,
        Shape::Ring,
        Shape::Box,
    ];
}

/// All shapes in one vertex and one index buffer.
#[derive(Debug, Default)]
pub(crate) struct Meshes {
    pub(crate) vertices: Vec<Vertex>,
    /// Triangles, counter-clockwise seen from outside, relative to the first of all vertices.
    pub(crate) indices: Vec<u32>,
    /// The indices of each shape, in the order of [`Shape::ALL`].
    pub(crate) ranges: Vec<Range<u32>>,
}

impl Meshes {
    pub(crate) fn build() -> Meshes {
        let mut meshes = Meshes::default();
        for shape in Shape::ALL {
            let first = meshes.indices.len() as u32;
            match shape {
                Shape::Box => meshes.add_box(),
                Shape::Drum => meshes.turn(&drum(), 64, |_| 1.0),
                Shape::Column => meshes.turn(&column(), 100, flute),
                Shape::Dome => meshes.turn(&arc(0.0..PI / 2.0, 20, 0.0, 1.0), 64, |_| 1.0),
                Shape::Sphere => meshes.turn(&arc(-PI / 2.0..PI / 2.0, 24, 0.0, 1.0), 48, |_| 1.0),
                Shape::Bead => meshes.turn(&arc(-PI / 2.0..PI / 2.0, 10, 0.0, 1.0), 16, |_| 1.0),
                Shape::Torus => meshes.turn(&arc(-PI..PI, 20, 1.0, 0.22), 56, |_| 1.0),
                Shape::Ring => meshes.turn(&arc(-PI..PI, 10, 1.0, 0.05), 96, |_| 1.0),
            }
            meshes.ranges.push(first..meshes.indices.len() as u32);
        }
        meshes
    }

    fn add_box(&mut self) {
        let sides = [
            (Vec3::X, Vec3::Y),
            (Vec3::NEG_X, Vec3::Z),
            (Vec3::Y, Vec3::Z),
            (Vec3::NEG_Y, Vec3::X),
            (Vec3::Z, Vec3::X),
            (Vec3::NEG_Z, Vec3::Y),
        ];
        for (normal, across) in sides {
            let first = self.vertices.len() as u32;
            let up = normal.cross(across);
            for (x, y) in [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)] {
                let position = normal * 0.5 + across * x + up * y + Vec3::Y * 0.5;
                self.vertices.push(Vertex {
                    position: position.into(),
                    normal: normal.into(),
                });
            }
            self.indices
                .extend([0, 1, 2, 0, 2, 3].map(|corner| first + corner));
        }
    }

    /// Revolves a profile, listed from bottom to top, around the vertical axis; `dent` scales its radius by angle.
    fn turn(&mut self, profile: &[Profile], segments: u32, dent: impl Fn(f32) -> f32) {
        let first = self.vertices.len() as u32;
        for segment in 0..=segments {
            let angle = segment as f32 / segments as f32 * TAU;
            let scale = dent(angle);
            let slope = (dent(angle + 1e-3) - dent(angle - 1e-3)) / 2e-3;
            let outwards = Vec3::new(angle.cos(), 0.0, angle.sin());
            let sideways = Vec3::new(-angle.sin(), 0.0, angle.cos());
            for point in profile {
                let position = outwards * point.at.x * scale + Vec3::Y * point.at.y;
                let normal = outwards * point.normal.x - sideways * point.normal.x * slope / scale
                    + Vec3::Y * point.normal.y;
                let normal = normal.normalize_or(Vec3::Y);
                self.vertices.push(Vertex {
                    position: position.into(),
                    normal: normal.into(),
                });
            }
        }
        let rows = profile.len() as u32;
        for segment in 0..segments {
            for row in 0..rows - 1 {
                // Two points at the same position are a sharp edge without a surface between them.
                if profile[row as usize].at == profile[row as usize + 1].at {
                    continue;
                }
                let low = first + segment * rows + row;
                let next = low + rows;
                self.indices.extend([low, low + 1, next, next, low + 1, next + 1]);
            }
        }
    }
}

/// A point of a profile: `x` outward, `y` up.
struct Profile {
    at: Vec2,
    normal: Vec2,
}

/// A circular arc; angles are measured upward from straight outward.
fn arc(angles: Range<f32>, steps: u32, middle: f32, radius: f32) -> Vec<Profile> {
    let point = |step| {
        let angle = angles.start + (angles.end - angles.start) * step as f32 / steps as f32;
        let normal = Vec2::new(angle.cos(), angle.sin());
        Profile {
            at: Vec2::new(middle, 0.0) + normal * radius,
            normal,
        }
    };
    (0..=steps).map(point).collect()
}

fn drum() -> Vec<Profile> {
    let corner = |x, y, normal| Profile {
        at: Vec2::new(x, y),
        normal,
    };
    vec![
        corner(0.0, 0.0, Vec2::NEG_Y),
        corner(1.0, 0.0, Vec2::NEG_Y),
        corner(1.0, 0.0, Vec2::X),
        corner(1.0, 1.0, Vec2::X),
        corner(1.0, 1.0, Vec2::Y),
        corner(0.0, 1.0, Vec2::Y),
    ]
}

/// The profile of a column: narrower at the top, with the swelling that makes it look straight.
fn column() -> Vec<Profile> {
    let radius = |y: f32| 1.0 - 0.16 * y + 0.09 * (y * (1.0 - y));
    let mut profile: Vec<Profile> = (0..=6)
        .map(|step| {
            let y = step as f32 / 6.0;
            // Heights are many radii once scaled: the normal is almost horizontal.
            Profile {
                at: Vec2::new(radius(y), y),
                normal: Vec2::X,
            }
        })
        .collect();
    profile.push(Profile {
        at: Vec2::new(radius(1.0), 1.0),
        normal: Vec2::Y,
    });
    profile.push(Profile {
        at: Vec2::new(0.0, 1.0),
        normal: Vec2::Y,
    });
    profile
}

/// Scales the radius of a column by angle: twenty flutes.
fn flute(angle: f32) -> f32 {
    let across = (angle * 10.0).sin().abs();
    1.0 - 0.085 * across.sqrt() * across
}
