//! Record: one command buffer's passes, with bindings, barriers and render passes around the caller's commands.

use ash::vk;

use super::{Buffer, Image};
use crate::Result;
use crate::frame::{PassId, ResourceId};

/// The recording of one declared command buffer. Passes come in declared order.
#[derive(Debug)]
pub struct Commands<'a> {
    _turn: std::marker::PhantomData<&'a ()>,
}

impl Commands<'_> {
    /// Records a pass: tile memory bound, barriers, the render pass begun, then the caller's commands, then ended.
    ///
    /// # Errors
    /// When it is not this pass's turn, or its contents are declared secondary.
    pub fn pass<R>(&mut self, _pass: PassId, _record: impl FnOnce(&PassCommands<'_>) -> R) -> Result<R> {
        unimplemented!()
    }

    /// Records a render pass whose contents are in secondary command buffers (see [`Turn::begin_secondary`](super::Turn)).
    ///
    /// # Errors
    /// When it is not this pass's turn, or its contents are declared inline.
    ///
    /// # Safety
    /// The command buffers are executable, begun for this pass in this turn, and not pending elsewhere.
    pub unsafe fn pass_secondary(&mut self, _pass: PassId, _contents: &[vk::CommandBuffer]) -> Result<()> {
        unimplemented!()
    }

    /// The command buffer, for state and debugging commands between passes. Action commands belong in a declared pass.
    pub fn command_buffer(&self) -> vk::CommandBuffer {
        unimplemented!()
    }

    /// Ends the command buffer.
    ///
    /// # Errors
    /// When a declared pass was not recorded, or the driver fails.
    pub fn finish(self) -> Result<()> {
        unimplemented!()
    }
}

/// What a pass's closure records into and looks things up in.
#[derive(Debug)]
pub struct PassCommands<'a> {
    _turn: std::marker::PhantomData<&'a ()>,
}

impl PassCommands<'_> {
    /// The command buffer, inside the render pass if the pass is one.
    pub fn command_buffer(&self) -> vk::CommandBuffer {
        unimplemented!()
    }

    /// The caller's device.
    pub fn device(&self) -> &ash::Device {
        unimplemented!()
    }

    /// The render area of a render pass.
    pub fn area(&self) -> vk::Rect2D {
        unimplemented!()
    }

    /// The image that this pass uses for (the current version of) `resource`.
    ///
    /// # Panics
    /// If the pass declares no such access.
    pub fn image(&self, _resource: ResourceId) -> Image {
        unimplemented!()
    }

    /// The image that this pass uses for the previous version of `resource`.
    ///
    /// # Panics
    /// If the pass declares no such access.
    pub fn image_previous(&self, _resource: ResourceId) -> Image {
        unimplemented!()
    }

    /// The buffer that this pass uses for (the current version of) `resource`.
    ///
    /// # Panics
    /// If the pass declares no such access.
    pub fn buffer(&self, _resource: ResourceId) -> Buffer {
        unimplemented!()
    }

    /// The buffer that this pass uses for the previous version of `resource`.
    ///
    /// # Panics
    /// If the pass declares no such access.
    pub fn buffer_previous(&self, _resource: ResourceId) -> Buffer {
        unimplemented!()
    }

    /// Executes secondary command buffers of a compute or transfer pass, and binds the pass's tile memory again after them.
    ///
    /// # Safety
    /// They are executable secondary command buffers that may run outside a render pass.
    pub unsafe fn execute(&self, _secondaries: &[vk::CommandBuffer]) {
        unimplemented!()
    }
}
