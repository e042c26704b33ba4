//! Splits tile shading render passes into tiles, and resumes them after interruptions.

use std::ffi::c_void;

use ash::vk;
use tileheap_device::ffi::{RenderPassTileShadingCreateInfoQCOM, TileShadingRenderPassFlagsQCOM};
use tileheap_layer::{array, chained};

/// A tile shading render pass while it is recorded.
pub(crate) struct TilePass {
    /// True between the commands that begin and end per-tile execution.
    pub(crate) per_tile: bool,
    pub(crate) area: vk::Rect2D,
    /// The size of a tile; the first tile begins at texel (0, 0).
    pub(crate) tile: vk::Extent2D,
    /// The state that resumes the pass, or the reason why the pass cannot be interrupted.
    pub(crate) resume_state: Result<ResumeState, &'static str>,
}

/// The state that resumes a pass. A resumed pass loads the contents that it stored when it was interrupted.
pub(crate) enum ResumeState {
    Rendering(Rendering),
    Pass {
        pass: vk::RenderPass,
        framebuffer: vk::Framebuffer,
        /// Views of an imageless framebuffer.
        views: Vec<vk::ImageView>,
    },
}

/// The parameters from which dynamic rendering is resumed; all attachments are then loaded.
pub(crate) struct Rendering {
    layer_count: u32,
    view_mask: u32,
    colors: Vec<Target>,
    depth: Option<Target>,
    stencil: Option<Target>,
}

#[derive(Clone, Copy)]
struct Target {
    view: vk::ImageView,
    layout: vk::ImageLayout,
    resolve_mode: vk::ResolveModeFlags,
    resolve_view: vk::ImageView,
    resolve_layout: vk::ImageLayout,
    store: vk::AttachmentStoreOp,
}

/// Returns true if a structure in the chain enables tile shading.
pub(crate) fn is_tile_shading(p_next: *const c_void) -> bool {
    let info = chained!(p_next => RenderPassTileShadingCreateInfoQCOM<'_>);
    info.is_some_and(|info| info.flags.contains(TileShadingRenderPassFlagsQCOM::ENABLE))
}

/// The store operation to use in a pass that may be interrupted: nothing is discarded.
pub(crate) fn kept(store: vk::AttachmentStoreOp) -> vk::AttachmentStoreOp {
    match store {
        vk::AttachmentStoreOp::DONT_CARE => vk::AttachmentStoreOp::STORE,
        other => other,
    }
}

impl TilePass {
    /// Iterates over the first texel of each tile that the render area covers, completely or partly.
    pub(crate) fn tiles(&self) -> impl Iterator<Item = (u32, u32)> + use<> {
        let span = |offset: i32, extent: u32, side: u32| {
            let (first, end) = (offset.max(0) as u32, extent.saturating_add_signed(offset));
            let side = side.max(1);
            let tiles = if first < end {
                first / side..end.div_ceil(side)
            } else {
                0..0
            };
            tiles.map(move |index| index * side)
        };
        let columns = span(self.area.offset.x, self.area.extent.width, self.tile.width);
        let (y, height, side) = (self.area.offset.y, self.area.extent.height, self.tile.height);
        columns.flat_map(move |x| span(y, height, side).map(move |y| (x, y)))
    }
}

impl Rendering {
    /// Copies the parameters of dynamic rendering, in order to resume it.
    ///
    /// # Errors
    /// Returns the reason why it cannot be interrupted.
    pub(crate) fn new(info: &vk::RenderingInfo<'_>) -> Result<Rendering, &'static str> {
        let flags = vk::RenderingFlags::SUSPENDING | vk::RenderingFlags::RESUMING;
        if info.flags.intersects(flags) {
            return Err("the render pass suspends or resumes rendering");
        }
        if info
            .flags
            .contains(vk::RenderingFlags::CONTENTS_SECONDARY_COMMAND_BUFFERS)
        {
            return Err("the contents of the render pass are secondary command buffers");
        }
        let colors = array!(info.p_color_attachments, info.color_attachment_count);
        let depth = array!(info.p_depth_attachment, 1).first();
        let stencil = array!(info.p_stencil_attachment, 1).first();
        let mut chains = colors.iter().chain(depth).chain(stencil).map(|it| it.p_next);
        if !info.p_next.is_null() || chains.any(|p_next| !p_next.is_null()) {
            return Err(
                "VkRenderingInfo or one of its attachments has a pNext chain, which the emulator cannot repeat for each tile",
            );
        }
        Ok(Rendering {
            layer_count: info.layer_count,
            view_mask: info.view_mask,
            colors: colors.iter().map(target).collect(),
            depth: depth.map(target),
            stencil: stencil.map(target),
        })
    }

    /// Passes to `record` the rendering info that resumes the pass.
    pub(crate) fn with_info(&self, area: vk::Rect2D, record: impl FnOnce(&vk::RenderingInfo<'_>)) {
        let colors: Vec<_> = self.colors.iter().map(Target::loaded).collect();
        let depth = self.depth.as_ref().map(Target::loaded);
        let stencil = self.stencil.as_ref().map(Target::loaded);
        let mut info = vk::RenderingInfo::default()
            .render_area(area)
            .layer_count(self.layer_count)
            .view_mask(self.view_mask)
            .color_attachments(&colors);
        info.p_depth_attachment = depth.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        info.p_stencil_attachment = stencil.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        record(&info);
    }
}

fn target(info: &vk::RenderingAttachmentInfo<'_>) -> Target {
    Target {
        view: info.image_view,
        layout: info.image_layout,
        resolve_mode: info.resolve_mode,
        resolve_view: info.resolve_image_view,
        resolve_layout: info.resolve_image_layout,
        store: kept(info.store_op),
    }
}

impl Target {
    fn loaded(&self) -> vk::RenderingAttachmentInfo<'static> {
        vk::RenderingAttachmentInfo::default()
            .image_view(self.view)
            .image_layout(self.layout)
            .resolve_mode(self.resolve_mode)
            .resolve_image_view(self.resolve_view)
            .resolve_image_layout(self.resolve_layout)
            .load_op(vk::AttachmentLoadOp::LOAD)
            .store_op(self.store)
    }
}

/// Passes to `record` a rendering info that stores attachments instead of discarding them at the end, since the render pass may be
/// interrupted.
pub(crate) fn with_kept_stores(info: &vk::RenderingInfo<'_>, record: impl FnOnce(&vk::RenderingInfo<'_>)) {
    fn keep<'a>(target: &vk::RenderingAttachmentInfo<'a>) -> vk::RenderingAttachmentInfo<'a> {
        target.store_op(kept(target.store_op))
    }
    let colors = array!(info.p_color_attachments, info.color_attachment_count);
    let colors: Vec<_> = colors.iter().map(keep).collect();
    let depth = array!(info.p_depth_attachment, 1).first().map(keep);
    let stencil = array!(info.p_stencil_attachment, 1).first().map(keep);
    let mut copy = *info;
    copy.p_color_attachments = colors.as_ptr();
    copy.p_depth_attachment = depth.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    copy.p_stencil_attachment = stencil.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    record(&copy);
}
