//! Render pass objects: for devices without dynamic rendering, and for passes with input attachments.
//!
//! ```text
//! attachments   0 color   1 color   2 depth   3 resolve   4 input      one subpass, no layout changes:
//! layouts       the rows', before, during and after                   the tables' barriers make those
//! ```

use ash::vk;
use ash::vk::Handle;

use super::device_state::DeviceState;
use super::error::{RuntimeError, VkResultExt};
use super::owned::OwnedObjects;
use super::pool_passes::{find_or_create, words_of};
use super::tiles::Tiles;
use crate::Result;
use crate::lower::Lowered;
use crate::lower::tables::commands::{AttachmentRow, RenderingRow};
use crate::lower::tables::objects::Binding;
use crate::units::Bytes;

/// A render pass object with its current framebuffer.
pub(super) struct PassObject {
    render_pass: vk::RenderPass,
    /// Null while an imported view is missing.
    pub(super) framebuffer: vk::Framebuffer,
    area: vk::Rect2D,
    clears: Vec<vk::ClearValue>,
    /// Per attachment of the framebuffer, its row of views.
    views: Vec<u32>,
}

impl PassObject {
    pub(super) fn new(tables: &Lowered, row: &RenderingRow, render_pass: vk::RenderPass) -> PassObject {
        let list = each_once(tables, row);
        PassObject {
            render_pass,
            framebuffer: vk::Framebuffer::null(),
            area: row.area,
            clears: list.iter().map(|attachment| attachment.clear.to_vk()).collect(),
            views: list.iter().map(|attachment| attachment.view).collect(),
        }
    }

    /// Looks up the framebuffer of the attachments' views, or creates it: in the pool, if none of the views is imported.
    pub(super) fn refresh(
        &mut self,
        state: &DeviceState,
        owned: &mut OwnedObjects,
        framebuffers: &mut Framebuffers,
        (tables, views): (&Lowered, &[vk::ImageView]),
        (layers, name): (u32, &str),
    ) -> Result<()> {
        let of_image = |index: &u32| &tables.images[tables.views[*index as usize].image as usize];
        let pooled = (self.views.iter()).all(|index| of_image(index).binding != Binding::Imported);
        if pooled && self.framebuffer != vk::Framebuffer::null() {
            return Ok(());
        }
        let of = |index: &u32| views[*index as usize];
        let known = framebuffers.0.iter().find(|known| {
            known.render_pass == self.render_pass && known.views.iter().copied().eq(self.views.iter().map(of))
        });
        if let Some(known) = known {
            self.framebuffer = known.handle;
            return Ok(());
        }
        let attachments: Vec<vk::ImageView> = self.views.iter().map(of).collect();
        if attachments.contains(&vk::ImageView::null()) {
            // An external image that is not imported yet.
            self.framebuffer = vk::Framebuffer::null();
            return Ok(());
        }
        let info = vk::FramebufferCreateInfo::default()
            .render_pass(self.render_pass)
            .attachments(&attachments)
            .width(self.area.offset.x as u32 + self.area.extent.width)
            .height(self.area.offset.y as u32 + self.area.extent.height)
            .layers(layers);
        let create = || {
            // SAFETY: the render pass and the views are alive, and match by construction.
            let framebuffer = unsafe { state.device.create_framebuffer(&info, None) }
                .with_call("vkCreateFramebuffer", || format!("pass `{name}`"))?;
            state.set_name(framebuffer, name);
            Ok(framebuffer)
        };
        if pooled {
            let size = [info.width, info.height, info.layers].map(u64::from);
            let views = attachments.iter().map(|view| view.as_raw());
            let key = [self.render_pass.as_raw()].into_iter().chain(size).chain(views);
            let known = &mut state.pool.lock().passes.framebuffers;
            self.framebuffer = find_or_create(known, key.collect(), create)?;
            return Ok(());
        }
        let framebuffer = create()?;
        owned.framebuffers.push(framebuffer);
        framebuffers.0.push(Framebuffer {
            render_pass: self.render_pass,
            views: attachments,
            handle: framebuffer,
        });
        self.framebuffer = framebuffer;
        Ok(())
    }

    /// # Safety
    /// As [`Rendering::begin`](super::rendering::Rendering::begin).
    pub(super) unsafe fn begin(
        &self,
        device: &ash::Device,
        commands: vk::CommandBuffer,
        area: vk::Rect2D,
        secondary: bool,
    ) {
        let info = vk::RenderPassBeginInfo::default()
            .render_pass(self.render_pass)
            .framebuffer(self.framebuffer)
            .render_area(area)
            .clear_values(&self.clears);
        let contents = if secondary {
            vk::SubpassContents::SECONDARY_COMMAND_BUFFERS
        } else {
            vk::SubpassContents::INLINE
        };
        // SAFETY: the caller's duty; the framebuffer was made for this frame's views.
        unsafe { device.cmd_begin_render_pass(commands, &info, contents) };
    }
}

/// Framebuffers for the views seen so far: swapchain images and histories alternate.
#[derive(Default)]
pub(super) struct Framebuffers(Vec<Framebuffer>);

struct Framebuffer {
    render_pass: vk::RenderPass,
    views: Vec<vk::ImageView>,
    handle: vk::Framebuffer,
}

impl Framebuffers {
    /// Forgets the framebuffers with `view`; gives them to be destroyed.
    pub(super) fn forget(&mut self, view: vk::ImageView) -> Vec<vk::Framebuffer> {
        let mut gone = Vec::new();
        self.0.retain(|known| {
            let is_gone = known.views.contains(&view);
            gone.extend(is_gone.then_some(known.handle));
            !is_gone
        });
        gone
    }
}

/// Every attachment, each view once: what is attached and input at the same time is one attachment.
fn each_once<'a>(tables: &'a Lowered, row: &RenderingRow) -> Vec<&'a AttachmentRow> {
    let mut list: Vec<&AttachmentRow> = Vec::new();
    let depth = row.depth.map(|index| &tables.attachments[index as usize]);
    let [colors, resolves, inputs] =
        [row.colors, row.resolves, row.inputs].map(|run| run.of(&tables.attachments));
    for attachment in colors.iter().chain(depth).chain(resolves).chain(inputs) {
        if list.iter().all(|other| other.view != attachment.view) {
            list.push(attachment);
        }
    }
    list
}

/// The one layout that is equivalent to an attachment's of depth and of stencil.
///
/// Source: Vulkan specification, "Image Layouts".
fn layout_of(attachment: &AttachmentRow) -> Option<vk::ImageLayout> {
    use vk::ImageLayout as L;
    match (attachment.layout, attachment.stencil_layout) {
        (one, other) if one == other => Some(one),
        (L::DEPTH_ATTACHMENT_OPTIMAL, L::STENCIL_ATTACHMENT_OPTIMAL) => {
            Some(L::DEPTH_STENCIL_ATTACHMENT_OPTIMAL)
        }
        (L::DEPTH_READ_ONLY_OPTIMAL, L::STENCIL_READ_ONLY_OPTIMAL) => {
            Some(L::DEPTH_STENCIL_READ_ONLY_OPTIMAL)
        }
        (L::DEPTH_READ_ONLY_OPTIMAL, L::STENCIL_ATTACHMENT_OPTIMAL) => {
            Some(L::DEPTH_READ_ONLY_STENCIL_ATTACHMENT_OPTIMAL)
        }
        (L::DEPTH_ATTACHMENT_OPTIMAL, L::STENCIL_READ_ONLY_OPTIMAL) => {
            Some(L::DEPTH_ATTACHMENT_STENCIL_READ_ONLY_OPTIMAL)
        }
        _ => None,
    }
}

/// Creates the render pass object of a pass.
pub(super) fn create(
    state: &DeviceState,
    name: &str,
    tables: &Lowered,
    row: &RenderingRow,
) -> Result<vk::RenderPass> {
    let depth = row.depth.map(|index| &tables.attachments[index as usize]);
    if depth.is_some_and(|depth| depth.resolve.is_some()) {
        let why = "resolving depth requires dynamic rendering, which input attachments rule out";
        return Err(RuntimeError::unsupported_pass(name, why));
    }
    if let Some(depth) = depth {
        let why = "depth and stencil with layouts of their own require dynamic rendering, which input attachments rule out";
        if row.depth_aspects != crate::format::aspects(depth.format) || layout_of(depth).is_none() {
            return Err(RuntimeError::unsupported_pass(name, why));
        }
    }
    let [all_colors, all_inputs] = [row.colors, row.inputs].map(|run| run.of(&tables.attachments));
    let list = each_once(tables, row);
    let reference = |attachment: &AttachmentRow| {
        let index = list.iter().position(|other| other.view == attachment.view);
        let index = index.expect("every attachment is in the list");
        vk::AttachmentReference {
            attachment: index as u32,
            layout: layout_of(attachment).unwrap_or(attachment.layout),
        }
    };
    let describe = |attachment: &&AttachmentRow| {
        vk::AttachmentDescription::default()
            .format(attachment.format)
            .samples(attachment.samples)
            .load_op(attachment.operations.load)
            .store_op(attachment.operations.store)
            .stencil_load_op(attachment.stencil.load)
            .stencil_store_op(attachment.stencil.store)
            .initial_layout(layout_of(attachment).unwrap_or(attachment.layout))
            .final_layout(layout_of(attachment).unwrap_or(attachment.layout))
    };
    let descriptions: Vec<_> = list.iter().map(describe).collect();
    let colors: Vec<_> = all_colors.iter().map(reference).collect();
    let inputs: Vec<_> = all_inputs.iter().map(reference).collect();
    let depth = depth.map(reference);
    let unused = vk::AttachmentReference {
        attachment: vk::ATTACHMENT_UNUSED,
        layout: vk::ImageLayout::UNDEFINED,
    };
    let resolve = |attachment: &AttachmentRow| {
        attachment.resolve.map_or(unused, |resolve| {
            reference(&tables.attachments[resolve.attachment as usize])
        })
    };
    let resolves: Vec<_> = all_colors.iter().map(resolve).collect();
    let mut subpass = vk::SubpassDescription::default()
        .pipeline_bind_point(vk::PipelineBindPoint::GRAPHICS)
        .color_attachments(&colors)
        .input_attachments(&inputs);
    if let Some(depth) = &depth {
        subpass = subpass.depth_stencil_attachment(depth);
    }
    if !row.resolves.is_empty() {
        subpass = subpass.resolve_attachments(&resolves);
    }
    let dependencies = dependencies(tables, row);
    let subpasses = [subpass];
    let mut info = vk::RenderPassCreateInfo::default()
        .attachments(&descriptions)
        .subpasses(&subpasses)
        .dependencies(&dependencies);
    let mut tiles = Tiles::new(state, row, row.tile_memory);
    if let Some(size) = &mut tiles.size {
        info = info.push_next(size);
    }
    if let Some(shading) = &mut tiles.shading {
        info = info.push_next(shading);
    }
    let view_masks = [row.view_mask];
    let mut views = vk::RenderPassMultiviewCreateInfo::default().view_masks(&view_masks);
    if row.view_mask != 0 {
        info = info.push_next(&mut views);
    }
    // SAFETY: the arrays are those above.
    let mut words = unsafe { words_of(&info) };
    let Bytes(bound) = row.tile_memory;
    words.extend([bound as u32, (bound >> 32) as u32]);
    words.extend([row.tile_shading.into(), row.view_mask]);
    find_or_create(&mut state.pool.lock().passes.render_passes, words, || {
        // SAFETY: every reference is to an attachment of the list.
        let render_pass = unsafe { state.device.create_render_pass(&info, None) }
            .with_call("vkCreateRenderPass", || format!("pass `{name}`"))?;
        state.set_name(render_pass, name);
        Ok(render_pass)
    })
}

/// None, as the tables' barriers stand before and after the pass, but for input attachments: the frame knows them as shader
/// reads, while loading and storing them are accesses of the attachment stages.
fn dependencies(tables: &Lowered, row: &RenderingRow) -> Vec<vk::SubpassDependency> {
    use vk::{AccessFlags as A, PipelineStageFlags as S};
    if row.inputs.is_empty() {
        return Vec::new();
    }
    let stages = S::COLOR_ATTACHMENT_OUTPUT | S::EARLY_FRAGMENT_TESTS | S::LATE_FRAGMENT_TESTS;
    let writes = A::COLOR_ATTACHMENT_WRITE | A::DEPTH_STENCIL_ATTACHMENT_WRITE;
    let reads = A::COLOR_ATTACHMENT_READ | A::DEPTH_STENCIL_ATTACHMENT_READ;
    let mut dependencies = vec![
        vk::SubpassDependency::default()
            .src_subpass(vk::SUBPASS_EXTERNAL)
            .dst_subpass(0)
            .src_stage_mask(S::ALL_COMMANDS)
            .src_access_mask(A::MEMORY_WRITE)
            .dst_stage_mask(stages | S::FRAGMENT_SHADER)
            .dst_access_mask(reads | writes | A::INPUT_ATTACHMENT_READ),
        vk::SubpassDependency::default()
            .src_subpass(0)
            .dst_subpass(vk::SUBPASS_EXTERNAL)
            .src_stage_mask(stages)
            .src_access_mask(writes)
            .dst_stage_mask(S::ALL_COMMANDS)
            .dst_access_mask(A::MEMORY_READ | A::MEMORY_WRITE),
    ];
    let depth = row.depth.map(|index| &tables.attachments[index as usize]);
    let written = row.colors.of(&tables.attachments).iter().chain(depth);
    let inputs = row.inputs.of(&tables.attachments);
    let fed_back = |view| inputs.iter().any(|input| input.view == view);
    if written.map(|attachment| attachment.view).any(fed_back) {
        // Lets the caller's vkCmdPipelineBarrier inside the pass make its own writes readable.
        dependencies.push(
            vk::SubpassDependency::default()
                .src_subpass(0)
                .dst_subpass(0)
                .src_stage_mask(stages)
                .src_access_mask(writes)
                .dst_stage_mask(S::FRAGMENT_SHADER)
                .dst_access_mask(A::INPUT_ATTACHMENT_READ)
                .dependency_flags(vk::DependencyFlags::BY_REGION),
        );
    }
    dependencies
}
