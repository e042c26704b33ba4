//! The flight: a fixed path around the island and over its mountains.

use ash::vk;
use bytemuck::{Pod, Zeroable};
use glam::{Mat4, Vec2, Vec3, Vec4, Vec4Swizzles};

use crate::ground::{Ground, SEA, SUN, WORLD};

/// Tangent of half the vertical field of view.
const TAN: f32 = 0.50;
/// Number of frames of one circuit of the island.
const ROUND: f32 = 2400.0;

/// The eye, its orientation, and the view frustum.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Camera {
    pub(crate) eye: Vec3,
    clip: Mat4,
    forward: Vec3,
    up: Vec3,
    extent: vk::Extent2D,
}

/// Constants of the shaders.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(crate) struct Constants {
    clip: Mat4,
    eye: Vec4,
    /// Vectors at a depth of 1: from the center of the screen to its right edge, to its upper edge, and forward.
    right: Vec4,
    up: Vec4,
    forward: Vec4,
    sun: Vec4,
    sea: Vec4,
    /// Width and height in pixels.
    screen: Vec4,
}

/// The position of the flight over the ground.
fn path(frame: f32) -> Vec2 {
    let turn = (frame + 1130.0) / ROUND * std::f32::consts::TAU;
    let radius = 0.205 + 0.075 * (turn * 3.0 + 0.6).sin();
    WORLD * (0.5 + radius * Vec2::new((turn + 0.4).cos(), (turn + 0.4).sin() * 0.94))
}

impl Camera {
    pub(crate) fn at(frame: u32, extent: vk::Extent2D, ground: &Ground) -> Camera {
        let frame = frame as f32;
        // Above all ground below and ahead, without jumps: an average along the path.
        let clearance = |frame: f32| {
            let ahead = (-4..=10).map(|step| ground.surface(path(frame + step as f32 * 9.0)));
            let (sum, top) = ahead.fold((0.0, 0.0_f32), |(sum, top), height| {
                (sum + height, top.max(height))
            });
            0.5 * sum / 15.0 + 0.5 * top
        };
        let height = (-10..=10)
            .map(|step| clearance(frame + step as f32 * 5.0))
            .sum::<f32>()
            / 21.0
            + 42.0;
        let (here, ahead) = (path(frame), path(frame + 60.0));
        let eye = Vec3::new(here.x, height.max(ground.surface(here) + 25.0), here.y);
        let along = (ahead - here).normalize();
        let forward = Vec3::new(along.x, -0.20, along.y).normalize();
        // Banks into the curve.
        let turn = path(frame + 90.0) - path(frame + 60.0);
        let bank = along.perp_dot(turn.normalize()) * 0.3;
        let right = forward.cross(Vec3::Y).normalize();
        let up = (right.cross(forward) + right * bank).normalize();
        Camera::new(eye, forward, up, extent)
    }

    fn new(eye: Vec3, forward: Vec3, up: Vec3, extent: vk::Extent2D) -> Camera {
        let aspect = extent.width as f32 / extent.height as f32;
        let view = Mat4::look_to_rh(eye, forward, up);
        let mut projection = Mat4::perspective_infinite_reverse_rh(2.0 * TAN.atan(), aspect, 0.5);
        projection.y_axis.y = -projection.y_axis.y;
        Camera {
            eye,
            clip: projection * view,
            forward,
            up,
            extent,
        }
    }

    pub(crate) fn constants(&self) -> Constants {
        let aspect = self.extent.width as f32 / self.extent.height as f32;
        let right = self.forward.cross(self.up).normalize();
        let up = right.cross(self.forward);
        Constants {
            clip: self.clip,
            eye: self.eye.extend(1.0),
            right: (right * TAN * aspect).extend(0.0),
            up: (up * TAN).extend(0.0),
            forward: self.forward.extend(0.0),
            sun: SUN.normalize().extend(0.0),
            sea: SEA.extend(0.0),
            screen: Vec4::new(self.extent.width as f32, self.extent.height as f32, 0.0, 0.0),
        }
    }

    /// Pixels per meter at a distance of one meter, in the center of the picture.
    pub(crate) fn pixels_per_radian(&self) -> f32 {
        0.5 * self.extent.height as f32 / TAN
    }

    /// Returns true if any part of a box may be in view.
    pub(crate) fn sees(&self, from: Vec3, to: Vec3) -> bool {
        let rows = self.clip.transpose();
        let planes = [
            rows.w_axis + rows.x_axis,
            rows.w_axis - rows.x_axis,
            rows.w_axis + rows.y_axis,
            rows.w_axis - rows.y_axis,
            rows.w_axis,
        ];
        planes.iter().all(|plane| {
            let inward = plane.xyz().cmpge(Vec3::ZERO);
            plane.xyz().dot(Vec3::select(inward, to, from)) + plane.w >= 0.0
        })
    }
}
