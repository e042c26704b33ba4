//! Begins and ends render passes: dynamically, or through a render pass object.

use std::sync::Arc;

use ash::vk;

use super::functions::Functions;
use super::hooks::Hooks;
use super::render_pass::{self, PassObject};
use super::tiles::Tiles;
use crate::lower::tables::OptionalIndex;
use crate::lower::tables::instances::{
    AttachmentRow, InstanceRow, Operations, SubpassDependencyRow, SubpassRow,
};
use crate::lower::{LocalReadMapping, Lowered};

/// The structs that begin a render pass: those of dynamic rendering, or a render pass object.
#[expect(
    clippy::large_enum_variant,
    reason = "there is one per pass in a list, and boxing each would save nothing"
)]
pub(super) enum Rendering {
    /// `vkCmdBeginRendering`.
    Dynamic(DynamicRendering),
    /// `vkCmdBeginRenderPass`.
    Object(PassObject),
}

/// The structs of a dynamic render pass.
pub(super) struct DynamicRendering {
    row: InstanceRow,
    /// The subpasses; empty if the pass does not use dynamic rendering local read.
    local_subpasses: Vec<LocalSubpass>,
    colors: Vec<vk::RenderingAttachmentInfo<'static>>,
    depth: Option<vk::RenderingAttachmentInfo<'static>>,
    stencil: Option<vk::RenderingAttachmentInfo<'static>>,
    tiles: Tiles,
    /// The caller's hooks, if the pass is described with a hook.
    hooks: Option<Arc<dyn Hooks>>,
}

/// A subpass of a dynamic render pass with local read.
struct LocalSubpass {
    reads: LocalReadMapping,
    flags: vk::DependencyFlags,
    barriers: Vec<vk::MemoryBarrier2<'static>>,
}

impl LocalSubpass {
    fn new(tables: &Lowered, row: &SubpassRow) -> LocalSubpass {
        let rows = row.barriers.of(&tables.subpass_dependencies);
        let barrier = |one: &SubpassDependencyRow| {
            vk::MemoryBarrier2::default()
                .src_stage_mask(one.scopes.src_stages)
                .src_access_mask(one.scopes.src_access)
                .dst_stage_mask(one.scopes.dst_stages)
                .dst_access_mask(one.scopes.dst_access)
        };
        LocalSubpass {
            reads: LocalReadMapping {
                locations: row.locations.of(&tables.indices).to_vec(),
                inputs: row.input_indices.of(&tables.indices).to_vec(),
            },
            flags: rows.first().map_or(vk::DependencyFlags::empty(), |one| one.flags),
            barriers: rows.iter().map(barrier).collect(),
        }
    }
}

impl DynamicRendering {
    pub(super) fn new(
        tables: &Lowered,
        index: u32,
        (tiles, hooks): (Tiles, Option<&Arc<dyn Hooks>>),
        views: &[vk::ImageView],
    ) -> DynamicRendering {
        let row = &tables.instances[index as usize];
        let subpasses = tables.subpasses_of(index).iter();
        let local = subpasses.filter(|_| row.local_read);
        type Aspect = fn(&AttachmentRow) -> (Operations, vk::ImageLayout);
        let main: Aspect = |attachment| (attachment.operations, attachment.layout);
        let stencil: Aspect = |attachment| (attachment.stencil, attachment.stencil_layout);
        let info = |attachment: &AttachmentRow, of: Aspect| {
            let (operations, layout) = of(attachment);
            let mut info = vk::RenderingAttachmentInfo::default()
                .image_layout(layout)
                .load_op(operations.load)
                .store_op(operations.store)
                .clear_value(attachment.clear.get().to_vk());
            if let Some(resolve) = attachment.resolve.get() {
                info = info
                    .resolve_mode(attachment.resolve_mode)
                    .resolve_image_layout(of(&tables.attachments[resolve as usize]).1);
            }
            info
        };
        let aspect = |one: OptionalIndex, of| {
            let attachment = one.get().map(|row| &tables.attachments[row as usize]);
            attachment.map(|attachment| info(attachment, of))
        };
        let colors = row.colors.of(&tables.attachments).iter();
        let mut dynamic = DynamicRendering {
            row: *row,
            local_subpasses: local.map(|row| LocalSubpass::new(tables, row)).collect(),
            colors: colors.map(|color| info(color, main)).collect(),
            depth: aspect(row.depth, main),
            stencil: aspect(row.stencil, stencil),
            tiles,
            hooks: hooks.filter(|_| row.hook > 0).cloned(),
        };
        dynamic.refresh(tables, views);
        dynamic
    }

    /// Writes the views (one for each row of views) into the structs.
    pub(super) fn refresh(&mut self, tables: &Lowered, views: &[vk::ImageView]) {
        let write = |attachment: &AttachmentRow, info: &mut vk::RenderingAttachmentInfo<'static>| {
            info.image_view = views[attachment.view as usize];
            if let Some(resolve) = attachment.resolve.get() {
                info.resolve_image_view = views[tables.attachments[resolve as usize].view as usize];
            }
        };
        let InstanceRow {
            colors,
            depth,
            stencil,
            ..
        } = self.row;
        for (row, info) in colors.of(&tables.attachments).iter().zip(&mut self.colors) {
            write(row, info);
        }
        for (row, info) in [(depth, &mut self.depth), (stencil, &mut self.stencil)] {
            if let Some((row, info)) = row.get().zip(info.as_mut()) {
                write(&tables.attachments[row as usize], info);
            }
        }
    }

    /// Calls `with` with the structure that begins the rendering, including the chained structures that describe its tiles.
    pub(super) fn with_info<R>(
        &self,
        area: vk::Rect2D,
        flags: vk::RenderingFlags,
        with: impl FnOnce(&vk::RenderingInfo<'_>) -> R,
    ) -> R {
        let mut info = vk::RenderingInfo::default()
            .flags(flags)
            .render_area(area)
            .layer_count(self.row.layers)
            .view_mask(self.row.view_mask)
            .color_attachments(&self.colors);
        if let Some(depth) = &self.depth {
            info = info.depth_attachment(depth);
        }
        if let Some(stencil) = &self.stencil {
            info = info.stencil_attachment(stencil);
        }
        if let Some(hooks) = &self.hooks {
            info.p_next = hooks.rendering(self.row.hook);
        }
        let (mut size, mut shading) = (self.tiles.size, self.tiles.shading);
        if let Some(size) = &mut size {
            info = info.push_next(size);
        }
        if let Some(shading) = &mut shading {
            info = info.push_next(shading);
        }
        with(&info)
    }
}

impl LocalSubpass {
    /// Sets the attachment locations and input attachment indices of the subpass.
    ///
    /// # Safety
    /// `commands` is recording inside the render pass.
    unsafe fn set(&self, functions: &Functions, commands: vk::CommandBuffer) {
        let functions = functions
            .local_read
            .as_ref()
            .expect("local read is only used if its functions are loaded");
        // SAFETY: the caller's duty; there are as many as the render pass has color attachments.
        unsafe { (functions.cmd_set_rendering_attachment_locations_khr)(commands, &self.reads.locations()) };
        // SAFETY: as above.
        unsafe {
            (functions.cmd_set_rendering_input_attachment_indices_khr)(commands, &self.reads.indices())
        };
    }
}

impl Rendering {
    /// Begins the render pass with `area`, which must be inside the render area in the lowered tables. Render pass objects cannot be suspended or resumed.
    ///
    /// # Safety
    /// `commands` is recording outside a render pass, and every attachment is in its layout.
    pub(super) unsafe fn begin(
        &self,
        device: &ash::Device,
        functions: &Functions,
        commands: vk::CommandBuffer,
        area: vk::Rect2D,
        flags: vk::RenderingFlags,
    ) {
        match self {
            Rendering::Dynamic(dynamic) => {
                dynamic.with_info(area, flags, |info| {
                    let functions = functions
                        .dynamic_rendering
                        .as_ref()
                        .expect("passes are only dynamic if the functions are loaded");
                    // SAFETY: the caller's duty; views and layouts are the tables'.
                    unsafe { (functions.cmd_begin_rendering_khr)(commands, info) };
                });
                // Secondary command buffers inherit it (VUID-vkCmdExecuteCommands-pCommandBuffers-09504).
                if let Some(first) = dynamic.local_subpasses.first() {
                    // SAFETY: begun right now.
                    unsafe { first.set(functions, commands) };
                }
            }
            // SAFETY: the caller's duty.
            Rendering::Object(object) => unsafe { object.begin(device, commands, area, flags) },
        }
    }

    /// Begins the next subpass, whose index is `number`.
    ///
    /// # Safety
    /// `commands` is recording inside the previous subpass of this render pass.
    pub(super) unsafe fn next(
        &self,
        device: &ash::Device,
        functions: &Functions,
        commands: vk::CommandBuffer,
        number: u32,
        flags: vk::RenderingFlags,
    ) {
        match self {
            Rendering::Dynamic(dynamic) => {
                let subpass = &dynamic.local_subpasses[number as usize];
                let info = vk::DependencyInfo::default()
                    .dependency_flags(subpass.flags)
                    .memory_barriers(&subpass.barriers);
                let barriers = functions
                    .synchronization_2
                    .as_ref()
                    .filter(|_| !subpass.barriers.is_empty());
                if let Some(functions) = barriers {
                    // SAFETY: the caller's duty; by-region barriers may be recorded inside a render pass.
                    unsafe { (functions.cmd_pipeline_barrier2_khr)(commands, &info) };
                }
                // SAFETY: the caller's duty.
                unsafe { subpass.set(functions, commands) };
            }
            // SAFETY: the caller's duty.
            Rendering::Object(_) => unsafe {
                device.cmd_next_subpass(commands, render_pass::contents(flags));
            },
        }
    }

    /// Ends the render pass.
    ///
    /// # Safety
    /// `commands` is recording inside this render pass.
    pub(super) unsafe fn end(
        &self,
        device: &ash::Device,
        functions: &Functions,
        commands: vk::CommandBuffer,
    ) {
        match self {
            Rendering::Dynamic(_) => {
                let functions = functions
                    .dynamic_rendering
                    .as_ref()
                    .expect("the pass began as dynamic rendering");
                // SAFETY: the caller's duty.
                unsafe { (functions.cmd_end_rendering_khr)(commands) };
            }
            // SAFETY: the caller's duty.
            Rendering::Object(_) => unsafe { device.cmd_end_render_pass(commands) },
        }
    }

    /// The framebuffer, or null.
    pub(super) fn framebuffer(&self) -> vk::Framebuffer {
        match self {
            Rendering::Dynamic(_) => vk::Framebuffer::null(),
            Rendering::Object(object) => object.framebuffer,
        }
    }
}
