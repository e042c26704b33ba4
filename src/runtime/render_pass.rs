//! Render pass objects: for devices without dynamic rendering, and for subpasses and input attachments that local read does not cover.
//!
//! ```text
//! attachments   0 color   1 color   2 depth   3 resolve   4 input      no layout changes, and no dependencies
//! layouts       the rows', before, during and after                   but between subpasses: the tables' barriers
//! subpass 0     color     color     depth                             make those
//! subpass 1     input     input     preserved           color
//! ```

use ash::vk;
use ash::vk::Handle;

use super::device_state::DeviceState;
use super::error::{RuntimeError, VkResultExt};
use super::legacy;
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
    pub(super) fn new(
        tables: &Lowered,
        instance: &[RenderingRow],
        render_pass: vk::RenderPass,
    ) -> PassObject {
        let (row, list) = (&instance[0], each_once(tables, instance));
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
        // SAFETY: the caller's duty; the framebuffer was made for this frame's views.
        unsafe { device.cmd_begin_render_pass(commands, &info, contents(secondary)) };
    }
}

/// What a subpass is begun for.
pub(super) fn contents(secondary: bool) -> vk::SubpassContents {
    match secondary {
        true => vk::SubpassContents::SECONDARY_COMMAND_BUFFERS,
        false => vk::SubpassContents::INLINE,
    }
}

fn each_once<'a>(tables: &'a Lowered, instance: &[RenderingRow]) -> Vec<&'a AttachmentRow> {
    let rows = tables.attachments_of(instance).into_iter();
    rows.map(|row| &tables.attachments[row as usize]).collect()
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

/// The references of a subpass.
struct Subpass {
    colors: Vec<vk::AttachmentReference>,
    resolves: Vec<vk::AttachmentReference>,
    depth: Option<vk::AttachmentReference>,
    inputs: Vec<vk::AttachmentReference>,
    preserved: Vec<u32>,
}

impl Subpass {
    fn new(tables: &Lowered, row: &RenderingRow, list: &[&AttachmentRow]) -> Subpass {
        let reference = |attachment: &AttachmentRow| {
            let index = list.iter().position(|other| other.view == attachment.view);
            let index = index.expect("every attachment is in the list");
            vk::AttachmentReference {
                attachment: index as u32,
                layout: layout_of(attachment).unwrap_or(attachment.layout),
            }
        };
        let unused = vk::AttachmentReference {
            attachment: vk::ATTACHMENT_UNUSED,
            layout: vk::ImageLayout::UNDEFINED,
        };
        let resolve = |attachment: &AttachmentRow| {
            attachment.resolve.map_or(unused, |resolve| {
                reference(&tables.attachments[resolve.attachment as usize])
            })
        };
        let [colors, inputs] = [row.colors, row.inputs].map(|run| run.of(&tables.attachments).iter());
        Subpass {
            resolves: match row.resolves.is_empty() {
                true => Vec::new(),
                false => colors.clone().map(resolve).collect(),
            },
            colors: colors.map(reference).collect(),
            depth: row
                .depth
                .map(|depth| reference(&tables.attachments[depth as usize])),
            inputs: inputs.map(reference).collect(),
            preserved: Vec::new(),
        }
    }

    fn uses(&self, attachment: u32) -> bool {
        let all = self
            .colors
            .iter()
            .chain(&self.resolves)
            .chain(&self.depth)
            .chain(&self.inputs);
        all.into_iter().any(|one| one.attachment == attachment)
    }

    fn description(&self) -> vk::SubpassDescription<'_> {
        let description = vk::SubpassDescription::default()
            .pipeline_bind_point(vk::PipelineBindPoint::GRAPHICS)
            .color_attachments(&self.colors)
            .input_attachments(&self.inputs)
            .preserve_attachments(&self.preserved);
        let description = match &self.depth {
            Some(depth) => description.depth_stencil_attachment(depth),
            None => description,
        };
        match &self.resolves[..] {
            [] => description,
            resolves => description.resolve_attachments(resolves),
        }
    }
}

/// Lets each subpass keep what earlier ones left and later ones use or the render pass stores.
fn preserve(subpasses: &mut [Subpass], list: &[&AttachmentRow]) {
    for (attachment, row) in (0..).zip(list) {
        let uses: Vec<bool> = subpasses.iter().map(|one| one.uses(attachment)).collect();
        let stored = [row.operations.store, row.stencil.store] != [vk::AttachmentStoreOp::DONT_CARE; 2];
        for (number, subpass) in subpasses.iter_mut().enumerate() {
            let (before, after) = (&uses[..number], &uses[number + 1..]);
            if !uses[number] && before.contains(&true) && (stored || after.contains(&true)) {
                subpass.preserved.push(attachment);
            }
        }
    }
}

/// Creates the render pass object of a pass.
pub(super) fn create(
    state: &DeviceState,
    name: &str,
    tables: &Lowered,
    instance: &[RenderingRow],
) -> Result<vk::RenderPass> {
    for (row, depth) in instance.iter().filter_map(|row| Some((row, row.depth?))) {
        let depth = &tables.attachments[depth as usize];
        let why = if depth.resolve.is_some() {
            "resolving depth requires dynamic rendering, and its input attachments or subpasses local read"
        } else if row.depth_aspects != crate::format::aspects(depth.format) || layout_of(depth).is_none() {
            "depth and stencil with layouts of their own require dynamic rendering, and its input attachments or subpasses local read"
        } else {
            continue;
        };
        return Err(RuntimeError::unsupported_pass(name, why));
    }
    let list = each_once(tables, instance);
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
    let subpasses = instance.iter().map(|row| Subpass::new(tables, row, &list));
    let mut subpasses: Vec<Subpass> = subpasses.collect();
    preserve(&mut subpasses, &list);
    let subpasses: Vec<_> = subpasses.iter().map(Subpass::description).collect();
    let dependencies: Vec<_> = instance
        .iter()
        .flat_map(|row| dependencies(tables, row))
        .collect();
    let mut info = vk::RenderPassCreateInfo::default()
        .attachments(&descriptions)
        .subpasses(&subpasses)
        .dependencies(&dependencies);
    let row = &instance[0];
    info.p_next = state.chain(row.hook, |hooks, hook| hooks.render_pass(hook));
    let mut tiles = Tiles::new(state, row, row.tile_memory);
    if let Some(size) = &mut tiles.size {
        info = info.push_next(size);
    }
    if let Some(shading) = &mut tiles.shading {
        info = info.push_next(shading);
    }
    let view_masks = vec![row.view_mask; instance.len()];
    let mut views = vk::RenderPassMultiviewCreateInfo::default().view_masks(&view_masks);
    if row.view_mask != 0 {
        info = info.push_next(&mut views);
    }
    // SAFETY: the arrays are those above.
    let mut words = unsafe { words_of(&info) };
    let Bytes(bound) = row.tile_memory;
    words.extend([bound as u32, (bound >> 32) as u32]);
    words.extend([row.tile_shading.into(), row.view_mask, row.hook]);
    find_or_create(&mut state.pool.lock().passes.render_passes, words, || {
        // SAFETY: every reference is to an attachment of the list.
        let render_pass = unsafe { state.device.create_render_pass(&info, None) }
            .with_call("vkCreateRenderPass", || format!("pass `{name}`"))?;
        state.set_name(render_pass, name);
        Ok(render_pass)
    })
}

/// What a subpass waits for; before and after the render pass stand the tables' barriers.
fn dependencies(tables: &Lowered, row: &RenderingRow) -> impl Iterator<Item = vk::SubpassDependency> {
    let flags = match row.view_mask {
        0 => vk::DependencyFlags::BY_REGION,
        _ => vk::DependencyFlags::BY_REGION | vk::DependencyFlags::VIEW_LOCAL,
    };
    let rows = row.dependencies.of(&tables.subpass_dependencies).iter();
    rows.map(move |one| {
        vk::SubpassDependency::default()
            .src_subpass(one.after)
            .dst_subpass(row.subpass)
            .src_stage_mask(legacy::source_stages(one.scopes.src_stages))
            .src_access_mask(legacy::access(one.scopes.src_access))
            .dst_stage_mask(legacy::destination_stages(one.scopes.dst_stages))
            .dst_access_mask(legacy::access(one.scopes.dst_access))
            .dependency_flags(flags)
    })
}
