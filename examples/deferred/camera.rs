//! The camera, and the constants that all shaders share.

use ash::vk;
use bytemuck::{Pod, Zeroable};
use glam::{Mat4, Vec2, Vec3, Vec4};

use crate::scene::MOON;

/// Constants of all passes; `Constants` in shaders/constants.glsl.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub(crate) struct Constants {
    view: Mat4,
    inverse_view: Mat4,
    jittered_view_projection: Mat4,
    view_projection: Mat4,
    previous_view_projection: Mat4,
    moon_view_projection: Mat4,
    unproject: Vec4,
    jitter: Vec4,
    moon_direction: Vec4,
    moon_color: Vec4,
    light_count: u32,
    frame_index: u32,
    padding: [u32; 2],
}

/// Distance of the near plane, in meters.
const NEAR: f32 = 0.1;
/// Half the height of the view at distance 1: 51 degrees from top to bottom.
const HALF_HEIGHT: f32 = 0.477;
/// Texels per side of the shadow map.
pub(crate) const SHADOW_SIZE: u32 = 1536;

impl Constants {
    /// The constants of a frame of this extent, for the main view or the second one.
    pub(crate) fn of(frame: u32, extent: vk::Extent2D, light_count: usize, second: bool) -> Constants {
        let (view, before) = (view(frame, second), view(frame.saturating_sub(1), second));
        let size = Vec2::new(extent.width as f32, extent.height as f32);
        let half = Vec2::new(HALF_HEIGHT * size.x / size.y, HALF_HEIGHT);
        let mut projection =
            Mat4::perspective_infinite_reverse_rh(2.0 * half.y.atan(), size.x / size.y, NEAR);
        projection.y_axis.y = -projection.y_axis.y;
        let jitter = (jitter(frame) * 2.0 - 1.0) / size;
        let jittered = Mat4::from_translation(jitter.extend(0.0)) * projection;
        Constants {
            view,
            inverse_view: view.inverse(),
            jittered_view_projection: jittered * view,
            view_projection: projection * view,
            previous_view_projection: projection * before,
            moon_view_projection: moon_view_projection(),
            unproject: Vec4::new(half.x, half.y, NEAR, 0.0),
            jitter: jitter.extend(0.0).extend(0.0),
            moon_direction: MOON.normalize().extend(0.0),
            moon_color: Vec4::new(0.62, 0.74, 1.0, 0.0) * 1.1,
            light_count: light_count as u32,
            frame_index: frame,
            padding: [0; 2],
        }
    }
}

/// The matrix from world to view space. The eye moves sideways, slowly enough that the frames of one picture match; the eye of the second
/// view is above it.
fn view(frame: u32, second: bool) -> Mat4 {
    let along = frame as f32 * 0.004;
    let above = if second { 16.0 } else { 0.0 };
    let eye = Vec3::new(1.9 - along, 1.9 + above, 23.6);
    let target = Vec3::new(-1.1, 5.2, 0.0);
    Mat4::look_at_rh(eye, target, Vec3::Y)
}

/// The matrix from world space to the shadow map's clip space: parallel rays from the moon, with depth 1 at its end.
fn moon_view_projection() -> Mat4 {
    let middle = Vec3::new(0.0, 2.0, 8.0);
    let reach = 24.0;
    let view = Mat4::look_at_rh(middle + MOON.normalize() * 60.0, middle, Vec3::Y);
    // Near and far are swapped for reversed depth.
    let projection = Mat4::orthographic_rh(-reach, reach, -reach, reach, 120.0, 1.0);
    Mat4::from_scale(Vec3::new(1.0, -1.0, 1.0)) * projection * view
}

/// The sample position of a frame in the pixel, 0 to 1: eight points of the Halton sequence.
fn jitter(frame: u32) -> Vec2 {
    let radical_inverse = |base: u32| {
        let (mut rest, mut share, mut sum) = (frame % 8 + 1, 1.0, 0.0);
        while rest > 0 {
            share /= base as f32;
            sum += share * (rest % base) as f32;
            rest /= base;
        }
        sum
    };
    Vec2::new(radical_inverse(2), radical_inverse(3))
}
