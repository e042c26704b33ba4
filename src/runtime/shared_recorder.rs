//! The functions of a recorder that several threads can call at once.

use std::sync::atomic::Ordering;

use ash::vk;

use super::bound_access::{AccessKey, BoundAccess};
use super::bound_frame::BoundFrame;
use super::encoded_frame::EncodedFrame;
use super::error::{RuntimeRule, VkResultExt};
use super::record::Commands;
use super::tiles::Tiles;
use crate::Result;
use crate::ffi::TileMemoryBindInfoQCOM;
use crate::frame::{CommandBufferId, PassId};
use crate::lower::tables::instances::InstanceRow;
use crate::lower::{Lowered, Parity};
use crate::units::Bytes;

/// A shared reference to a frame that is being recorded: the functions of a `FrameRecorder` that take `&self`.
///
/// A `FrameRecorder` has these functions itself; programs that keep a [`DetachedRecorder`](super::detached::DetachedRecorder) get this from it.
#[derive(Clone, Copy, Debug)]
pub struct SharedRecorder<'a> {
    pub(super) bound: &'a BoundFrame,
    pub(super) parity: Parity,
    /// Index of this frame's tables in the list of lowered frames.
    pub(super) encoded: usize,
}

impl<'a> SharedRecorder<'a> {
    /// The bound frame that is being recorded.
    pub fn bound(&self) -> &'a BoundFrame {
        self.bound
    }

    pub(super) fn encoded(&self) -> &'a EncodedFrame {
        &self.bound.lowering.encoded[self.encoded]
    }

    /// Like `FrameRecorder::area`.
    ///
    /// # Panics
    /// Like `FrameRecorder::area`.
    pub fn area(&self, pass: PassId) -> Option<vk::Rect2D> {
        let pass = self.bound.plan.pass_of_input(pass);
        self.bound.target_of(pass, 0);
        self.bound.recording.areas[pass.index()]
    }

    /// Like `FrameRecorder::is_skipped`.
    pub fn is_skipped(&self, pass: PassId) -> bool {
        self.bound.recording.skipped[self.bound.plan.pass_of_input(pass).index()].load(Ordering::Acquire)
    }

    /// Like `FrameRecorder::access`.
    ///
    /// # Panics
    /// Like `FrameRecorder::access`.
    #[track_caller]
    pub fn access(&self, pass: PassId, which: impl Into<AccessKey>) -> BoundAccess {
        let pass = self.bound.plan.pass_of_input(pass);
        self.bound.access_in(self.encoded(), pass, which.into())
    }

    /// Like `FrameRecorder::record`.
    ///
    /// # Errors
    /// Like `FrameRecorder::record`.
    ///
    /// # Safety
    /// As for `FrameRecorder::record`.
    pub unsafe fn record(
        &self,
        command_buffer: vk::CommandBuffer,
        id: CommandBufferId,
    ) -> Result<Commands<'a>> {
        let Some(slot) = self.bound.recording.slots.get(id.index()) else {
            let frame = self.bound.plan.frame.name();
            return Err(RuntimeRule::Recording.broken(format!(
                "command buffer {} is out of range: the number of command buffers of frame `{frame}` is {}",
                id.index(),
                self.bound.recording.slots.len()
            )));
        };
        self.bound.check_imported(&self.encoded().tables, id)?;
        let name = || self.bound.plan.frame.command_buffers()[id.index()].name.clone();
        if !slot.take(command_buffer) {
            return Err(RuntimeRule::Recording.broken(format!(
                "command buffer `{commands}` is already recorded in this frame",
                commands = name()
            )));
        }
        let info = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: the caller's duty.
        let begun = unsafe {
            self.bound
                .state
                .device
                .begin_command_buffer(command_buffer, &info)
        };
        if begun.is_err() {
            slot.free();
        }
        begun.with_call("vkBeginCommandBuffer", name)?;
        Ok(Commands::new(
            self.bound,
            self.encoded(),
            self.parity,
            command_buffer,
            id,
        ))
    }

    /// Like `FrameRecorder::begin_secondary`.
    ///
    /// # Errors
    /// When the driver fails.
    ///
    /// # Panics
    /// If the pass has no such subpass.
    ///
    /// # Safety
    /// As for `FrameRecorder::begin_secondary`.
    pub unsafe fn begin_secondary(
        &self,
        command_buffer: vk::CommandBuffer,
        pass: PassId,
        subpass: u32,
    ) -> Result<()> {
        let begun = self.inheritance(pass, subpass, |inheritance| {
            let usage = vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT
                | vk::CommandBufferUsageFlags::RENDER_PASS_CONTINUE;
            let info = vk::CommandBufferBeginInfo::default()
                .flags(usage)
                .inheritance_info(inheritance);
            // SAFETY: the caller's duty.
            unsafe {
                self.bound
                    .state
                    .device
                    .begin_command_buffer(command_buffer, &info)
            }
        });
        let what = || {
            format!(
                "a secondary command buffer of pass `{}`",
                self.bound.plan.input.frame().pass(pass).name
            )
        };
        Ok(begun.with_call("vkBeginCommandBuffer", what)?)
    }

    /// Like `FrameRecorder::inheritance`.
    ///
    /// # Panics
    /// If the pass is not a render pass, or has no such subpass.
    pub fn inheritance<R>(
        &self,
        pass: PassId,
        subpass: u32,
        with: impl FnOnce(&vk::CommandBufferInheritanceInfo<'_>) -> R,
    ) -> R {
        let pass = self.bound.plan.pass_of_input(pass);
        let target = self.bound.target_of(pass, subpass);
        let encoded = self.encoded();
        let index = encoded.row(pass).instance.get();
        let index = index.expect("a pass with a target is a render pass");
        let row = &encoded.tables.instances[index as usize];
        // Another image may be imported later (VUID-vkCmdExecuteCommands-pCommandBuffers-00099); null is allowed.
        let framebuffer = match has_imports(&encoded.tables, row) {
            true => vk::Framebuffer::null(),
            false => encoded.rendering(index).framebuffer(),
        };
        let mut formats = vk::CommandBufferInheritanceRenderingInfo::default()
            .color_attachment_formats(&target.color_formats)
            .depth_attachment_format(target.depth_format)
            .stencil_attachment_format(target.stencil_format)
            .view_mask(row.view_mask)
            .rasterization_samples(target.samples);
        let mut info = vk::CommandBufferInheritanceInfo::default()
            .render_pass(target.render_pass)
            .subpass(subpass)
            .framebuffer(framebuffer);
        if target.dynamic {
            info = info.push_next(&mut formats);
        }
        let mut local_read = target
            .local_read
            .as_ref()
            .map(|local| (local.locations(), local.indices()));
        if let Some((locations, inputs)) = &mut local_read {
            info = info.push_next(locations).push_next(inputs);
        }
        // The secondary has the tile shading flags of its render pass.
        let mut tiles = Tiles::new(&self.bound.state, row, Bytes::ZERO);
        if let Some(shading) = &mut tiles.shading {
            info = info.push_next(shading);
        }
        // Inside a render pass, the binding is inherited, or contents are lost (VUID-vkCmdExecuteCommands-memory-10724).
        let memory = encoded.row(pass).tile_memory.get();
        let memory = memory.map(|memory| self.bound.objects.handles.memory[memory as usize]);
        let mut tile = TileMemoryBindInfoQCOM::default().memory(memory.unwrap_or_default());
        if memory.is_some() {
            info = info.push_next(&mut tile);
        }
        with(&info)
    }

    /// Like `FrameRecorder::bind_secondary`.
    ///
    /// # Safety
    /// As for `FrameRecorder::bind_secondary`.
    pub unsafe fn bind_secondary(&self, command_buffer: vk::CommandBuffer, pass: PassId) {
        let pass = self.bound.plan.pass_of_input(pass);
        if let Some(memory) = self.encoded().row(pass).tile_memory.get() {
            // SAFETY: the caller's duty.
            unsafe { self.bound.bind_tile_memory(command_buffer, Some(memory)) };
        }
    }
}

/// Returns true if an attachment of a render pass is imported.
fn has_imports(tables: &Lowered, instance: &InstanceRow) -> bool {
    let mut attachments = instance.attachments.of(&tables.attachments).iter();
    attachments.any(|attachment| {
        let image = tables.views[attachment.view as usize].image;
        tables.images[image as usize].binding.is_imported()
    })
}
