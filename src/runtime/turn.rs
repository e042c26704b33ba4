//! One frame's turn: the external handles it got, and its command buffers.

use ash::vk;

use super::{Buffer, Commands, Image, Parity};
use crate::Result;
use crate::frame::{CommandBufferId, PassId, ResourceId, SemaphoreId};

/// A frame of a [`Bound`](super::Bound): 0, 1, 2, ….
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FrameNumber(pub u64);

/// The caller's objects for the external resources and semaphores of one frame.
#[derive(Clone, Copy, Debug, Default)]
pub struct Imports<'a> {
    /// One for every external image that a pass uses.
    pub images: &'a [ImportedImage],
    /// One for every external buffer that a pass uses.
    pub buffers: &'a [ImportedBuffer],
    /// One for every external semaphore that a batch waits for or signals.
    pub semaphores: &'a [ImportedSemaphore],
}

/// An external image.
#[derive(Clone, Copy, Debug)]
pub struct ImportedImage {
    /// The external resource it stands for.
    pub resource: ResourceId,
    /// The image, of the declared format, extent and usage.
    pub image: vk::Image,
    /// A view of it: as attachment, if the frame uses it so.
    pub view: vk::ImageView,
}

/// An external buffer.
#[derive(Clone, Copy, Debug)]
pub struct ImportedBuffer {
    /// The external resource it stands for.
    pub resource: ResourceId,
    /// The buffer and the part of it that is meant.
    pub buffer: Buffer,
}

/// An external semaphore.
#[derive(Clone, Copy, Debug)]
pub struct ImportedSemaphore {
    /// The semaphore it stands for.
    pub semaphore: SemaphoreId,
    /// The semaphore.
    pub handle: vk::Semaphore,
    /// For a timeline semaphore, the value to wait for or signal; ignored for a binary one.
    pub value: u64,
}

/// One frame between [`Bound::begin`](super::Bound::begin) and its submission. Command buffers may be recorded on several threads.
#[derive(Debug)]
pub struct Turn<'a> {
    _bound: std::marker::PhantomData<&'a ()>,
}

impl<'a> Turn<'a> {
    /// The frame's number.
    pub fn number(&self) -> FrameNumber {
        unimplemented!()
    }

    /// Which copies of history resources are current in this frame.
    pub fn parity(&self) -> Parity {
        unimplemented!()
    }

    /// The current version of an image (external ones included).
    ///
    /// # Panics
    /// If the resource is a buffer or used by no pass.
    pub fn image(&self, _resource: ResourceId) -> Image {
        unimplemented!()
    }

    /// What the frame before left in a history image.
    ///
    /// # Panics
    /// If the resource has no previous version.
    pub fn image_previous(&self, _resource: ResourceId) -> Image {
        unimplemented!()
    }

    /// The current version of a buffer (external ones included).
    ///
    /// # Panics
    /// If the resource is an image or used by no pass.
    pub fn buffer(&self, _resource: ResourceId) -> Buffer {
        unimplemented!()
    }

    /// What the frame before left in a history buffer.
    ///
    /// # Panics
    /// If the resource has no previous version.
    pub fn buffer_previous(&self, _resource: ResourceId) -> Buffer {
        unimplemented!()
    }

    /// Begins to record a declared command buffer: calls `vkBeginCommandBuffer`; [`Commands::finish`] ends it.
    ///
    /// # Errors
    /// When it was recorded already in this turn, or the driver fails.
    ///
    /// # Safety
    /// `command_buffer` is a primary one of a pool of the right queue family, in the initial state (or its pool may reset it), and
    /// nothing else uses it until the frame is complete.
    pub unsafe fn record(
        &self,
        _command_buffer: vk::CommandBuffer,
        _id: CommandBufferId,
    ) -> Result<Commands<'_>> {
        unimplemented!()
    }

    /// Begins a secondary command buffer for the contents of a render pass, with the inheritance it needs (tile memory included).
    /// The caller records draws and ends it, then hands it to [`Commands::pass_secondary`].
    ///
    /// # Errors
    /// When the driver fails.
    ///
    /// # Safety
    /// As for [`Turn::record`], but the command buffer is a secondary one.
    pub unsafe fn begin_secondary(&self, _command_buffer: vk::CommandBuffer, _pass: PassId) -> Result<()> {
        unimplemented!()
    }

    /// Calls `with` with the inheritance that secondary command buffers of a render pass need.
    pub fn inheritance<R>(
        &self,
        _pass: PassId,
        _with: impl FnOnce(&vk::CommandBufferInheritanceInfo<'_>) -> R,
    ) -> R {
        unimplemented!()
    }

    /// Binds the tile memory of a compute or transfer pass in a secondary command buffer, which inherits none outside render passes:
    /// to call before its first action command. Records nothing where the pass runs unbound.
    ///
    /// # Safety
    /// `command_buffer` is a secondary one in the recording state.
    pub unsafe fn bind_secondary(&self, _command_buffer: vk::CommandBuffer, _pass: PassId) {
        unimplemented!()
    }

    /// Submits the frame: each declared submit as one call, with its semaphores, and what counts frames.
    ///
    /// # Errors
    /// When a declared command buffer was not recorded, or the driver fails.
    ///
    /// # Safety
    /// No other thread uses the queues meanwhile.
    pub unsafe fn submit(self) -> Result<FrameNumber> {
        unimplemented!()
    }
}
