//! Render pass objects: for devices without dynamic rendering, and for subpasses and input attachments that local read does not cover.
//!
//! ```text
//! attachments   0 color   1 color   2 input   3 depth   4 resolve      no layout changes, and no dependencies
//! layouts       the rows', before, during and after                   but between subpasses: the tables' barriers
//! subpass 0     color     color     depth                             make those
//! subpass 1     input     input     preserved           color
//! ```

use ash::vk;

use super::device_state::DeviceState;
use super::error::VkResultExt;
use super::legacy;
use super::owned::OwnedObjects;
use super::pool_passes::{FramebufferKey, words_of};
use super::render_pass_2;
use super::subpasses::Subpass;
use super::tiles::Tiles;
use crate::Result;
use crate::lower::Lowered;
use crate::lower::tables::instances::{AttachmentRow, InstanceRow, SubpassDependencyRow};
use crate::units::Bytes;

/// A render pass object with its current framebuffer.
pub(super) struct PassObject {
    render_pass: vk::RenderPass,
    /// The framebuffer; null while an imported view is missing.
    pub(super) framebuffer: vk::Framebuffer,
    /// Width, height and layers of the framebuffer.
    size: [u32; 3],
    clears: Vec<vk::ClearValue>,
    /// Per attachment of the framebuffer, its row of `Lowered::views`.
    views: Vec<u32>,
}

impl PassObject {
    pub(super) fn new(tables: &Lowered, row: &InstanceRow, render_pass: vk::RenderPass) -> PassObject {
        let list = row.attachments.of(&tables.attachments).iter();
        PassObject {
            render_pass,
            framebuffer: vk::Framebuffer::null(),
            size: [row.framebuffer.width, row.framebuffer.height, row.layers],
            clears: list
                .clone()
                .map(|attachment| attachment.clear.get().to_vk())
                .collect(),
            views: list.map(|attachment| attachment.view).collect(),
        }
    }

    /// Looks up or creates the framebuffer of the attachments' views: in the pool, if none of the views is imported. Sets it to null while an imported view
    /// is missing.
    pub(super) fn refresh(
        &mut self,
        state: &DeviceState,
        owned: &mut OwnedObjects,
        framebuffers: &mut Framebuffers,
        (tables, views): (&Lowered, &[vk::ImageView]),
        name: &str,
    ) -> Result<()> {
        let of_image = |index: &u32| &tables.images[tables.views[*index as usize].image as usize];
        let pooled = (self.views.iter()).all(|index| !of_image(index).binding.is_imported());
        if pooled && self.framebuffer != vk::Framebuffer::null() {
            return Ok(());
        }
        let of = |index: &u32| views[*index as usize];
        if self
            .views
            .iter()
            .map(of)
            .any(|view| view == vk::ImageView::null())
        {
            // An external image that is not imported yet.
            self.framebuffer = vk::Framebuffer::null();
            return Ok(());
        }
        // Framebuffers without imported views are looked up in the pool.
        let mut others = framebuffers.0.iter().filter(|_| !pooled);
        let known = others.find(|known| {
            (known.render_pass, known.size) == (self.render_pass, self.size)
                && known.views.iter().copied().eq(self.views.iter().map(of))
        });
        if let Some(known) = known {
            self.framebuffer = known.handle;
            return Ok(());
        }
        let attachments: Vec<vk::ImageView> = self.views.iter().map(of).collect();
        let info = vk::FramebufferCreateInfo::default()
            .render_pass(self.render_pass)
            .attachments(&attachments)
            .width(self.size[0])
            .height(self.size[1])
            .layers(self.size[2]);
        // Any thread may use a framebuffer without attachments, so its name never changes.
        let shared = attachments.is_empty();
        let pass = name;
        let name = if shared { "without attachments" } else { pass };
        let create = || {
            // SAFETY: the render pass and the views are alive, and match by construction.
            let framebuffer = unsafe { state.device.create_framebuffer(&info, None) }
                .with_call("vkCreateFramebuffer", || format!("pass `{pass}`"))?;
            state.set_name(framebuffer, name);
            Ok(framebuffer)
        };
        if pooled {
            let key = FramebufferKey::new(self.render_pass, self.size, &attachments);
            let recorded = match shared {
                true => String::new(),
                false => state.recorded_name(name),
            };
            self.framebuffer = state.pool.framebuffer(state, key, recorded, create)?;
            return Ok(());
        }
        let framebuffer = create()?;
        owned.framebuffers.push(framebuffer);
        framebuffers.0.push(Framebuffer {
            render_pass: self.render_pass,
            size: self.size,
            views: attachments,
            handle: framebuffer,
        });
        self.framebuffer = framebuffer;
        Ok(())
    }

    /// Begins the render pass through its object.
    ///
    /// # Safety
    /// Same as [`Rendering::begin`](super::rendering::Rendering::begin).
    pub(super) unsafe fn begin(
        &self,
        device: &ash::Device,
        commands: vk::CommandBuffer,
        area: vk::Rect2D,
        flags: vk::RenderingFlags,
    ) {
        let info = vk::RenderPassBeginInfo::default()
            .render_pass(self.render_pass)
            .framebuffer(self.framebuffer)
            .render_area(area)
            .clear_values(&self.clears);
        // SAFETY: the caller's duty; the framebuffer was made for this frame's views.
        unsafe { device.cmd_begin_render_pass(commands, &info, contents(flags)) };
    }
}

/// Converts rendering flags to the subpass contents for `vkCmdBeginRenderPass`.
pub(super) fn contents(flags: vk::RenderingFlags) -> vk::SubpassContents {
    if flags.contains(vk::RenderingFlags::CONTENTS_SECONDARY_COMMAND_BUFFERS) {
        vk::SubpassContents::SECONDARY_COMMAND_BUFFERS
    } else {
        vk::SubpassContents::INLINE
    }
}

/// Framebuffers for all combinations of views used so far: the views of swapchain images and histories alternate.
#[derive(Default)]
pub(super) struct Framebuffers(Vec<Framebuffer>);

struct Framebuffer {
    render_pass: vk::RenderPass,
    size: [u32; 3],
    views: Vec<vk::ImageView>,
    handle: vk::Framebuffer,
}

impl Framebuffers {
    /// Removes the framebuffers with `view`, and returns them to be destroyed.
    pub(super) fn forget_view(&mut self, view: vk::ImageView) -> Vec<vk::Framebuffer> {
        let mut gone = Vec::new();
        self.0.retain(|known| {
            let is_gone = known.views.contains(&view);
            gone.extend(is_gone.then_some(known.handle));
            !is_gone
        });
        gone
    }
}

/// Creates the render pass object of a row of instances: with `vkCreateRenderPass`, which every device has, unless it resolves depth or
/// the driver gives feedback about its subpasses.
pub(super) fn create(
    state: &DeviceState,
    name: &str,
    tables: &Lowered,
    index: u32,
) -> Result<vk::RenderPass> {
    let (row, rows) = (&tables.instances[index as usize], tables.subpasses_of(index));
    let list = row.attachments.of(&tables.attachments);
    let describe = |attachment: &AttachmentRow| {
        vk::AttachmentDescription::default()
            .format(attachment.format)
            .samples(attachment.samples)
            .load_op(attachment.operations.load)
            .store_op(attachment.operations.store)
            .stencil_load_op(attachment.stencil.load)
            .stencil_store_op(attachment.stencil.store)
            .initial_layout(attachment.combined_layout)
            .final_layout(attachment.combined_layout)
    };
    let descriptions: Vec<_> = list.iter().map(describe).collect();
    let lists: Vec<Subpass<'_>> = rows.iter().map(|row| Subpass::new(tables, list, row)).collect();
    let subpasses: Vec<_> = lists.iter().map(Subpass::description).collect();
    let dependencies: Vec<_> = rows
        .iter()
        .flat_map(|row| row.dependencies.of(&tables.subpass_dependencies))
        .map(dependency)
        .collect();
    let mut info = vk::RenderPassCreateInfo::default()
        .attachments(&descriptions)
        .subpasses(&subpasses)
        .dependencies(&dependencies);
    info.p_next = state.chain(row.hook, |hooks, hook| hooks.render_pass(hook));
    let is_hooked = !info.p_next.is_null();
    let mut tiles = Tiles::new(state, row, row.tile_memory);
    if let Some(size) = &mut tiles.size {
        info = info.push_next(size);
    }
    if let Some(shading) = &mut tiles.shading {
        info = info.push_next(shading);
    }
    let chain = info.p_next;
    let view_masks = vec![row.view_mask; rows.len()];
    let mut views = vk::RenderPassMultiviewCreateInfo::default().view_masks(&view_masks);
    if row.view_mask != 0 {
        info = info.push_next(&mut views);
    }
    // SAFETY: the arrays are those above.
    let mut words = unsafe { words_of(&info) };
    let Bytes(bound) = row.tile_memory;
    words.extend([bound as u32, (bound >> 32) as u32]);
    words.extend([row.tile_shading.into(), row.view_mask, row.hook]);
    words.extend(lists.iter().flat_map(Subpass::words));
    let resolves_depth = lists.iter().any(|one| one.depth_resolve.is_some());
    // Structures of the caller may extend only `VkRenderPassCreateInfo`.
    let asks = !is_hooked && render_pass_2::has_feedback(state, rows.len());
    let create = || match resolves_depth || asks {
        true => {
            let parameters = render_pass_2::Parameters {
                attachments: &descriptions,
                subpasses: &lists,
                dependencies: &dependencies,
                view_mask: row.view_mask,
                chain,
            };
            // SAFETY: every reference is to an attachment of the list, and the chain may extend both structures.
            unsafe { render_pass_2::create(state, &parameters) }
                .with_call("vkCreateRenderPass2", || format!("pass `{name}`"))
        }
        // SAFETY: every reference is to an attachment of the list.
        false => unsafe { state.device.create_render_pass(&info, None) }
            .with_call("vkCreateRenderPass", || format!("pass `{name}`"))
            .map(|render_pass| (render_pass, Vec::new())),
    };
    state.pool.render_pass(state, words, || {
        let (render_pass, merges) = create()?;
        if state.functions.debug_utils.is_some() {
            state.set_name(render_pass, &render_pass_name(&descriptions));
        }
        if !merges.is_empty() {
            let merged = vk::SubpassMergeStatusEXT::MERGED;
            let count = merges.iter().filter(|one| one.status == merged).count();
            tracing::debug!(pass = name, subpasses = merges.len(), merged = count, "feedback");
        }
        Ok((render_pass, merges))
    })
}

/// The debug name of a render pass: passes of any frame share it on any thread, so it describes the attachments.
fn render_pass_name(attachments: &[vk::AttachmentDescription]) -> String {
    let of = |one: &vk::AttachmentDescription| {
        let (operations, stencil) = (
            (one.load_op, one.store_op),
            (one.stencil_load_op, one.stencil_store_op),
        );
        let has_main = crate::format::aspects(one.format) != vk::ImageAspectFlags::STENCIL;
        let (load, store) = if has_main { operations } else { stencil };
        format!("{:?} {load:?} {store:?}", one.format)
    };
    match attachments {
        [] => "without attachments".to_owned(),
        all => all.iter().map(of).collect::<Vec<_>>().join(", "),
    }
}

/// Converts a row to a subpass dependency; the tables' barriers cover everything before and after the render pass.
fn dependency(one: &SubpassDependencyRow) -> vk::SubpassDependency {
    vk::SubpassDependency::default()
        .src_subpass(one.src_subpass)
        .dst_subpass(one.dst_subpass)
        .src_stage_mask(legacy::source_stages(one.scopes.src_stages))
        .src_access_mask(legacy::access(one.scopes.src_access))
        .dst_stage_mask(legacy::destination_stages(one.scopes.dst_stages))
        .dst_access_mask(legacy::access(one.scopes.dst_access))
        .dependency_flags(one.flags)
}
