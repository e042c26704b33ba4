//! The object that an access of a pass uses, with its view and layout.

use ash::vk;

use crate::frame::tables::HistoryVersion;
use crate::frame::{AccessKind, ResourceId, SubresourceRange};

/// The object that an access of a pass uses, with its view and layout: everything that a descriptor, a copy or a clear needs.
///
/// [`BoundFrame::access`](super::BoundFrame::access) and [`FrameRecorder::access`](super::FrameRecorder::access) return it for any pass,
/// [`PassCommands::access`](super::PassCommands::access) for the pass that is being recorded.
///
/// ```no_run
/// # use ash::vk;
/// # use tileheap::frame::{PassId, ResourceId};
/// # use tileheap::runtime::{BoundFrame, Parity};
/// # fn f(device: &ash::Device, bound: &BoundFrame, lighting: PassId, albedo: ResourceId, sampler: vk::Sampler, set: vk::DescriptorSet) {
/// // A descriptor set that is written once, for the image that `lighting` samples.
/// let image = [bound.access(lighting, albedo, Parity::Even).image_info(sampler)];
/// let write = vk::WriteDescriptorSet::default()
///     .dst_set(set)
///     .descriptor_type(vk::DescriptorType::COMBINED_IMAGE_SAMPLER)
///     .image_info(&image);
/// // SAFETY: the set is not in use.
/// unsafe { device.update_descriptor_sets(&[write], &[]) };
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoundAccess {
    /// The resource as it was declared, even if the access uses an image made for one of its levels or for a stretch of its lifetime.
    pub resource: ResourceId,
    /// The current or the previous version of a history.
    pub version: HistoryVersion,
    /// The kind of use by the pass.
    pub kind: AccessKind,
    /// The subpass that makes the access.
    pub subpass: u32,
    /// The image or buffer. Null for an external resource that is not imported (yet).
    pub object: BoundObject,
    /// The accessed levels, layers and aspects of the image; for a 3D image, the layers are depth slices.
    pub range: SubresourceRange,
    /// A view of `range` for descriptors; null for attachments, copies and buffers. If `range` has depth and stencil, the view is of depth.
    pub view: vk::ImageView,
    /// The layout of `range` during the pass; `VK_IMAGE_LAYOUT_UNDEFINED` for buffers. For depth and stencil used together in separate layouts, the depth
    /// layout.
    pub layout: vk::ImageLayout,
    /// The layout of the stencil aspect during the pass, equal to `layout` unless depth and stencil have separate layouts; `VK_IMAGE_LAYOUT_UNDEFINED` if
    /// `range` has no stencil.
    pub stencil_layout: vk::ImageLayout,
}

/// An image or a buffer of a bound frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoundObject {
    /// An image.
    Image(vk::Image),
    /// A buffer, or a range of an imported one.
    Buffer(BoundBuffer),
}

/// A buffer. Owned by the [`BoundFrame`](super::BoundFrame), or by the caller if the resource is external.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BoundBuffer {
    /// The buffer.
    pub handle: vk::Buffer,
    /// Offset of the resource's first byte in the buffer.
    pub offset: vk::DeviceSize,
    /// Size of the resource in bytes.
    pub size: vk::DeviceSize,
    /// Device address of the first byte; 0 unless a pass uses the buffer as `DeviceAddress`.
    pub address: vk::DeviceAddress,
}

/// Identifier of an access of a pass: its position among the accesses that the pass declares, or a resource.
///
/// `usize`, [`ResourceId`] and `(ResourceId, HistoryVersion)` convert.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessKey {
    /// The access at this position, from 0, in declaration order: as in [`Frame::accesses_of`](crate::frame::Frame::accesses_of).
    Nth(usize),
    /// The pass's first access to this version of the resource.
    Resource(ResourceId, HistoryVersion),
}

impl From<usize> for AccessKey {
    fn from(n: usize) -> AccessKey {
        AccessKey::Nth(n)
    }
}

impl From<ResourceId> for AccessKey {
    fn from(resource: ResourceId) -> AccessKey {
        AccessKey::Resource(resource, HistoryVersion::Current)
    }
}

impl From<(ResourceId, HistoryVersion)> for AccessKey {
    fn from((resource, version): (ResourceId, HistoryVersion)) -> AccessKey {
        AccessKey::Resource(resource, version)
    }
}

impl BoundAccess {
    /// The image.
    ///
    /// # Panics
    /// If the access is of a buffer.
    #[track_caller]
    pub fn image(&self) -> vk::Image {
        match self.object {
            BoundObject::Image(image) => image,
            BoundObject::Buffer(_) => panic!("{:?} is a buffer, not an image", self.resource),
        }
    }

    /// The buffer.
    ///
    /// # Panics
    /// If the access is of an image.
    #[track_caller]
    pub fn buffer(&self) -> BoundBuffer {
        match self.object {
            BoundObject::Buffer(buffer) => buffer,
            BoundObject::Image(_) => panic!("{:?} is an image, not a buffer", self.resource),
        }
    }

    /// View, layout and `sampler` (null for descriptors without one) in the form of a descriptor write.
    ///
    /// # Panics
    /// If the access has no view: of a buffer, an attachment or a copy, or of an image that is not imported.
    #[track_caller]
    pub fn image_info(&self, sampler: vk::Sampler) -> vk::DescriptorImageInfo {
        assert!(
            self.view != vk::ImageView::null(),
            "access {:?} of {:?} has no view",
            self.kind,
            self.resource
        );
        vk::DescriptorImageInfo {
            sampler,
            image_view: self.view,
            image_layout: self.layout,
        }
    }

    /// The bytes of the buffer in the form of a descriptor write.
    ///
    /// # Panics
    /// If the access is of an image.
    #[track_caller]
    pub fn buffer_info(&self) -> vk::DescriptorBufferInfo {
        let buffer = self.buffer();
        vk::DescriptorBufferInfo {
            buffer: buffer.handle,
            offset: buffer.offset,
            range: buffer.size,
        }
    }
}
