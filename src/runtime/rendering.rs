//! How a render pass is begun and ended: dynamically, or through a render pass object.

use ash::vk;

use super::attachment::{Attachment, Attachments};
use super::bound_resource::BoundResource;
use super::functions::Functions;
use super::render_pass::PassObject;
use super::tiles::Tiles;

/// The recording of one render pass in frames of one parity.
#[expect(
    clippy::large_enum_variant,
    reason = "a list has one per pass; a box for each would save nothing"
)]
pub(super) enum Rendering {
    /// `vkCmdBeginRendering`.
    Dynamic(Dynamic),
    /// `vkCmdBeginRenderPass`.
    Object(PassObject),
}

/// The structs of a dynamic render pass.
pub(super) struct Dynamic {
    attachments: Attachments,
    area: vk::Extent2D,
    layers: u32,
    colors: Vec<vk::RenderingAttachmentInfo<'static>>,
    depth: Option<vk::RenderingAttachmentInfo<'static>>,
    stencil: Option<vk::RenderingAttachmentInfo<'static>>,
    tiles: Tiles,
}

impl Dynamic {
    pub(super) fn new(
        attachments: Attachments,
        tiles: Tiles,
        area: vk::Extent2D,
        layers: u32,
        places: &[BoundResource],
    ) -> Dynamic {
        let info = |attachment: &Attachment| {
            let mut info = vk::RenderingAttachmentInfo::default()
                .image_layout(attachment.layout)
                .load_op(attachment.load)
                .store_op(attachment.store)
                .clear_value(attachment.clear.to_vk());
            if let Some(resolve) = attachment.resolve {
                info = info
                    .resolve_mode(attachment.resolve_mode())
                    .resolve_image_layout(attachments.resolves[resolve].layout);
            }
            info
        };
        let aspect = |aspect: vk::ImageAspectFlags| {
            attachments
                .depth
                .as_ref()
                .filter(|depth| depth.aspects.contains(aspect))
                .map(info)
        };
        let mut dynamic = Dynamic {
            area,
            layers,
            colors: attachments.colors.iter().map(info).collect(),
            depth: aspect(vk::ImageAspectFlags::DEPTH),
            stencil: aspect(vk::ImageAspectFlags::STENCIL),
            tiles,
            attachments,
        };
        dynamic.refresh(places);
        dynamic
    }

    /// Writes the views into the structs.
    pub(super) fn refresh(&mut self, places: &[BoundResource]) {
        let view = |attachment: &Attachment| places[attachment.placement.index()].attachment();
        let Attachments {
            colors,
            depth,
            resolves,
            ..
        } = &self.attachments;
        let sources = colors
            .iter()
            .chain(depth.as_ref().filter(|_| self.depth.is_some()));
        let sources = sources.chain(depth.as_ref().filter(|_| self.stencil.is_some()));
        let infos = self
            .colors
            .iter_mut()
            .chain(&mut self.depth)
            .chain(&mut self.stencil);
        for (attachment, info) in sources.zip(infos) {
            info.image_view = view(attachment);
            if let Some(resolve) = attachment.resolve {
                info.resolve_image_view = view(&resolves[resolve]);
            }
        }
    }

    /// Calls `with` with the structure that begins the rendering, all that concerns its tiles chained.
    pub(super) fn with_info<R>(&self, secondary: bool, with: impl FnOnce(&vk::RenderingInfo<'_>) -> R) -> R {
        let flags = if secondary {
            vk::RenderingFlags::CONTENTS_SECONDARY_COMMAND_BUFFERS
        } else {
            vk::RenderingFlags::empty()
        };
        let mut info = vk::RenderingInfo::default()
            .flags(flags)
            .render_area(vk::Rect2D {
                offset: vk::Offset2D::default(),
                extent: self.area,
            })
            .layer_count(self.layers)
            .color_attachments(&self.colors);
        if let Some(depth) = &self.depth {
            info = info.depth_attachment(depth);
        }
        if let Some(stencil) = &self.stencil {
            info = info.stencil_attachment(stencil);
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

    /// # Safety
    /// As [`Rendering::begin`].
    unsafe fn begin(&self, functions: &Functions, commands: vk::CommandBuffer, secondary: bool) {
        let functions = functions
            .dynamic_rendering
            .as_ref()
            .expect("made dynamic where it is enabled");
        self.with_info(secondary, |info| {
            // SAFETY: the caller's duty; views and layouts are the plan's.
            unsafe { (functions.cmd_begin_rendering_khr)(commands, info) };
        });
    }
}

impl Rendering {
    /// Begins the render pass.
    ///
    /// # Safety
    /// `commands` is recording outside a render pass, and every attachment is in its planned layout.
    pub(super) unsafe fn begin(
        &self,
        device: &ash::Device,
        functions: &Functions,
        commands: vk::CommandBuffer,
        secondary: bool,
    ) {
        match self {
            // SAFETY: the caller's duty.
            Rendering::Dynamic(dynamic) => unsafe { dynamic.begin(functions, commands, secondary) },
            // SAFETY: the caller's duty.
            Rendering::Object(object) => unsafe { object.begin(device, commands, secondary) },
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
                let functions = functions.dynamic_rendering.as_ref().expect("it was begun so");
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
