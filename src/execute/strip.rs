//! Strips: passes that compute one part of their image at a time.

use ash::vk;

use crate::frame::{intersection, viewport};

/// The part of its image that a pass computes, and the values needed to record it.
///
/// ```no_run
/// # use ash::vk;
/// # use tileheap::execute::ExecutedFrame;
/// # use tileheap::frame::{PassId, ResourceId};
/// # fn f(raw: &ash::Device, cmd: vk::CommandBuffer, layout: vk::PipelineLayout, executed: &ExecutedFrame, pass: PassId, depth: ResourceId,
/// #     whole: vk::Extent2D) {
/// // Recording a pass of `executed.frame()`; the described pass renders to images of extent `whole`, and samples `depth`.
/// if let Some(strip) = executed.strip(pass) {
///     // Shaders add the first to gl_FragCoord, and subtract the second from the texel of `depth` that they fetch.
///     let depth = executed.resource_in(pass, depth);
///     let origins = [strip.origin, executed.first_texel(depth)].map(|origin| [origin.x, origin.y]);
///     let origins: Vec<u8> = origins.into_iter().flatten().flat_map(i32::to_ne_bytes).collect();
///     // SAFETY: recording, inside the pass.
///     unsafe {
///         raw.cmd_set_viewport(cmd, 0, &[strip.viewport(whole)]);
///         raw.cmd_set_scissor(cmd, 0, &[strip.scissor()]);
///         raw.cmd_push_constants(cmd, layout, vk::ShaderStageFlags::FRAGMENT, 0, &origins);
///         raw.cmd_draw(cmd, 3, 1, 0, 0);
///     }
///     // A compute pass: shaders add the first to gl_WorkGroupID, and write nothing outside of `strip.area`.
///     let (_first, [x, y]) = strip.groups([8, 8]);
///     // SAFETY: recording, outside of render passes.
///     unsafe { raw.cmd_dispatch(cmd, x, y, 1) };
/// }
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Strip {
    /// Index from 0, in execution order.
    pub number: u32,
    /// Number of strips.
    pub count: u32,
    /// The computed area including the halo, in texels of the described image that the pass writes, in [lists](crate::frame::TileLists) of its buffer of
    /// lists, or in pixels of the frame if it writes only other buffers.
    pub area: vk::Rect2D,
    /// The texel of the described image that is texel (0, 0) of the written image: `area.offset` if that image is as small as the strip, zero if it
    /// is the described image itself.
    pub origin: vk::Offset2D,
    /// Distance by which the area exceeds the strip's own part, in the same texels.
    pub halo: u32,
}

impl Strip {
    /// The whole area of a pass, as one strip.
    pub fn whole(area: vk::Rect2D) -> Strip {
        Strip {
            number: 0,
            count: 1,
            area,
            origin: vk::Offset2D::default(),
            halo: 0,
        }
    }

    /// The viewport that maps a draw of the whole image of `extent` texels to this strip.
    pub fn viewport(&self, extent: vk::Extent2D) -> vk::Viewport {
        let vk::Offset2D { x, y } = self.origin;
        let offset = vk::Offset2D { x: -x, y: -y };
        viewport(vk::Rect2D { offset, extent })
    }

    /// The scissor, in texels of the written image.
    pub fn scissor(&self) -> vk::Rect2D {
        vk::Rect2D {
            offset: vk::Offset2D {
                x: self.area.offset.x - self.origin.x,
                y: self.area.offset.y - self.origin.y,
            },
            extent: self.area.extent,
        }
    }

    /// The part of the strip inside an area of the described image, for frames that render to [less](crate::runtime::FrameRecorder::set_area) than
    /// the described area; `None` if it is empty.
    pub fn within(&self, area: vk::Rect2D) -> Option<Strip> {
        let area = intersection(self.area, area)?;
        Some(Strip { area, ..*self })
    }

    /// The first work group and the number of work groups, of `size` texels each, that compute this strip.
    ///
    /// Groups begin at multiples of their size in the described image, so that each texel is computed by the same invocation as in the described
    /// frame; nothing outside [`area`](Strip::area) may be written.
    pub fn groups(&self, size: [u32; 2]) -> ([u32; 2], [u32; 2]) {
        let side = |start: i32, length: u32, size: u32| {
            let first = start as u32 / size;
            (first, (start as u32 + length).div_ceil(size) - first)
        };
        let (x, columns) = side(self.area.offset.x, self.area.extent.width, size[0]);
        let (y, rows) = side(self.area.offset.y, self.area.extent.height, size[1]);
        ([x, y], [columns, rows])
    }

    /// Returns `later`, a strip of the area that this strip computes, positioned in the described image.
    pub(super) fn then(&self, later: &Strip) -> Strip {
        let moved = |offset: vk::Offset2D| vk::Offset2D {
            x: offset.x + self.origin.x,
            y: offset.y + self.origin.y,
        };
        Strip {
            number: self.number * later.count + later.number,
            count: self.count * later.count,
            area: vk::Rect2D {
                offset: moved(later.area.offset),
                extent: later.area.extent,
            },
            origin: moved(later.origin),
            halo: self.halo.max(later.halo),
        }
    }
}
