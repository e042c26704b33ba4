//! The Vulkan objects of a frame's resources.

use ash::vk;

use crate::frame::{AccessKind, SubresourceRange};

/// An image and its views. Owned by the [`BoundFrame`](super::BoundFrame), or by the caller if the resource is external.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Image {
    /// The image.
    pub handle: vk::Image,
    /// A view of all levels and layers, to sample, load and store; of combined depth and stencil formats, only the depth aspect.
    ///
    /// Null if the image's usage does not allow views (transfers only).
    pub view: vk::ImageView,
    /// A view of level 0 with all aspects, as an attachment.
    pub attachment: vk::ImageView,
}

/// The part of an image that a pass accesses, and its view, for one of the pass's accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartView {
    /// The subpass that uses it.
    pub subpass: u32,
    /// How the pass uses it.
    pub kind: AccessKind,
    /// The image; null for an external one outside of [`PassCommands::views`](super::PassCommands::views).
    pub image: vk::Image,
    /// The part of that image.
    pub range: SubresourceRange,
    /// A view of it for descriptors; null for attachments and copies.
    pub view: vk::ImageView,
    /// The layout of that part during the pass.
    pub layout: vk::ImageLayout,
}

/// A buffer. Owned by the [`BoundFrame`](super::BoundFrame), or by the caller if the resource is external.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Buffer {
    /// The buffer.
    pub handle: vk::Buffer,
    /// Offset of the resource's first byte in the buffer.
    pub offset: vk::DeviceSize,
    /// Size of the resource in bytes.
    pub size: vk::DeviceSize,
    /// Device address of the first byte; 0 unless the frame uses it as `DeviceAddress`.
    pub address: vk::DeviceAddress,
}
