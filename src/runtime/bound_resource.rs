//! The Vulkan objects of a frame's resources.

use ash::vk;

use crate::frame::{AccessKind, SubresourceRange};

/// An image and its views. Owned by the [`BoundFrame`](super::BoundFrame) (or, of an external resource, by the caller).
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

/// What a pass sees of an image through one of its accesses.
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
    /// The layout that it has during the pass.
    pub layout: vk::ImageLayout,
}

/// A buffer. Owned by the [`BoundFrame`](super::BoundFrame) (or, of an external resource, by the caller).
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
