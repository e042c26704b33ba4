//! Bind: from a plan to images, views, buffers and memory.

use std::sync::Arc;

use ash::vk;

use super::turn::{FrameNumber, Imports, Turn};
use super::{DeviceQueue, Target};
use crate::Result;
use crate::frame::{PassId, QueueId, ResourceId, Version};
use crate::plan::Plan;

/// Which copy of a history resource is the current one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Parity {
    /// Frames 0, 2, 4, ….
    Even,
    /// Frames 1, 3, 5, ….
    Odd,
}

impl Parity {
    /// Both, even first.
    pub const BOTH: [Parity; 2] = [Parity::Even, Parity::Odd];

    /// 0 or 1.
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// An image and its views. Owned by the [`Bound`] (or, of an external resource, by the caller).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Image {
    /// The image.
    pub handle: vk::Image,
    /// All levels and layers, to sample, load and store; of combined depth and stencil formats the depth.
    ///
    /// Null where the image's usage allows no view (transfers only).
    pub view: vk::ImageView,
    /// Level 0 with all aspects, as an attachment.
    pub attachment: vk::ImageView,
}

/// A buffer. Owned by the [`Bound`] (or, of an external resource, by the caller).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Buffer {
    /// The buffer.
    pub handle: vk::Buffer,
    /// First byte of the resource in it.
    pub offset: vk::DeviceSize,
    /// Size of the resource in bytes.
    pub size: vk::DeviceSize,
    /// Device address of the first byte; 0 unless the frame uses it as `DeviceAddress`.
    pub address: vk::DeviceAddress,
}

/// A plan with everything it asks for created and bound.
#[derive(Debug)]
pub struct Bound {}

impl Bound {
    /// The plan that holds (another than was handed in, if requirements had grown).
    pub fn plan(&self) -> &Arc<Plan> {
        unimplemented!()
    }

    /// The device queue that runs a queue of the frame.
    pub fn queue(&self, _queue: QueueId) -> DeviceQueue {
        unimplemented!()
    }

    /// What the pipelines of a render pass are built from.
    ///
    /// # Panics
    /// If the pass is no render pass.
    pub fn target(&self, _pass: PassId) -> &Target {
        unimplemented!()
    }

    /// The image of `resource` as current version in frames of `parity` (for descriptor sets written once).
    ///
    /// # Panics
    /// If the resource is a buffer, external, or used by no pass.
    pub fn image(&self, _resource: ResourceId, _parity: Parity) -> Image {
        unimplemented!()
    }

    /// The image that a pass's access of `resource` uses in frames of `parity`.
    ///
    /// Differs from [`Bound::image`] for the previous version, and for a tile resident with an alias per memory object.
    ///
    /// # Panics
    /// If the pass does not declare such an access, or the resource is external.
    pub fn image_in(
        &self,
        _pass: PassId,
        _resource: ResourceId,
        _version: Version,
        _parity: Parity,
    ) -> Image {
        unimplemented!()
    }

    /// The layout that the image of `resource` has during a pass that declares the access (for descriptor sets).
    ///
    /// # Panics
    /// If the pass does not declare such an access.
    pub fn layout_in(&self, _pass: PassId, _resource: ResourceId, _version: Version) -> vk::ImageLayout {
        unimplemented!()
    }

    /// The buffer of `resource` as current version in frames of `parity`.
    ///
    /// # Panics
    /// If the resource is an image, external, or used by no pass.
    pub fn buffer(&self, _resource: ResourceId, _parity: Parity) -> Buffer {
        unimplemented!()
    }

    /// The buffer that a pass's access of `resource` uses in frames of `parity`.
    ///
    /// # Panics
    /// If the pass does not declare such an access, or the resource is external.
    pub fn buffer_in(
        &self,
        _pass: PassId,
        _resource: ResourceId,
        _version: Version,
        _parity: Parity,
    ) -> Buffer {
        unimplemented!()
    }

    /// The parity of the next frame.
    pub fn parity(&self) -> Parity {
        unimplemented!()
    }

    /// Begins a frame. Frames before it may still run on the device; how many, the caller decides by [`Bound::wait`].
    ///
    /// # Errors
    /// When an external resource or semaphore that the frame uses is not handed in.
    ///
    /// # Safety
    /// The handles in `imports` are alive until the frame is complete, and in the declared entry states.
    pub unsafe fn begin(&mut self, _imports: &Imports<'_>) -> Result<Turn<'_>> {
        unimplemented!()
    }

    /// The newest frame that is complete on the device, and with it all before it; `None` before the first.
    ///
    /// # Errors
    /// When the device is lost.
    pub fn completed(&self) -> Result<Option<FrameNumber>> {
        unimplemented!()
    }

    /// Waits until `frame` is complete on the device, for at most `timeout` nanoseconds; false if time ran out.
    ///
    /// # Errors
    /// When the device is lost.
    pub fn wait(&self, _frame: FrameNumber, _timeout: u64) -> Result<bool> {
        unimplemented!()
    }

    /// Forgets what is cached for an external image view, before the caller destroys the view. (Render pass objects only.)
    ///
    /// # Safety
    /// No frame that uses the view is in flight.
    pub unsafe fn forget(&mut self, _view: vk::ImageView) {
        unimplemented!()
    }

    /// Leaves it to [`Device::collect`](super::Device::collect) to destroy everything when its last frame is complete.
    pub fn retire(self) {
        unimplemented!()
    }

    /// Destroys everything now.
    ///
    /// # Safety
    /// None of its frames is in flight.
    pub unsafe fn destroy(self) {
        unimplemented!()
    }
}
