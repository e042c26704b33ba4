//! Scratch tensors' images, buffers and memory.

use ash::vk;

use super::pool_policy::within;
use super::{Entry, ScratchPool};
use crate::error::{Error, Result};
use crate::graph::ElementType;
use crate::layout::{ImageExtent, Storage};
use crate::vulkan::hazards::Space;
use crate::vulkan::measure::{BUFFER_USAGE, IMAGE_USAGE, format, image_info};
use crate::vulkan::objects::{StorageObject, create_view};
use tileheap::runtime::Device;
use tileheap::runtime::objects::{MemoryDesc, OwnedObjects, VkResultExt};
use tileheap::units::Bytes;

impl ScratchPool {
    pub(super) fn make(
        &mut self,
        name: &str,
        kind: (Storage, ElementType),
        extent: ImageExtent,
    ) -> Result<Entry> {
        let device = self.dispatcher.device.clone();
        let mut owned = device.owned_objects();
        let made = self.make_into(&device, name, kind, extent, &mut owned);
        match made {
            Ok((resource, size)) => {
                let layout =
                    matches!(resource, StorageObject::Image { .. }).then_some(vk::ImageLayout::UNDEFINED);
                let object = self.tracker.add(Space::Own(0), 0..0, layout, false);
                Ok(Entry {
                    resource,
                    object,
                    kind,
                    extent,
                    size,
                    owned,
                    free: false,
                })
            }
            Err(error) => {
                // SAFETY: just created, and used by nothing.
                unsafe { owned.destroy() };
                Err(error)
            }
        }
    }

    fn make_into(
        &self,
        device: &Device,
        name: &str,
        (storage, element): (Storage, ElementType),
        extent: ImageExtent,
        owned: &mut OwnedObjects,
    ) -> Result<(StorageObject, Bytes)> {
        let texel_format = format(name, element)?;
        let (bare, answer) = if storage.is_image() {
            let info = image_info(texel_format, extent, IMAGE_USAGE);
            if !device.supports_image(name, &info)? {
                let (tensor, limit) = (
                    name.to_owned(),
                    crate::vulkan::measure::limits(device).max_image_dimension2_d,
                );
                let problem = format!("{extent} exceeds the device's limit of {limit} texels a side");
                return Err(Error::Layout { tensor, problem });
            }
            // SAFETY: within the device's limits.
            let (handle, answer) = unsafe { owned.create_image(name, &info) }?;
            let view = vk::ImageView::null();
            (StorageObject::Image { handle, view }, answer)
        } else {
            let size = extent.texels().saturating_mul(4 * element.bytes()).max(16);
            let info = vk::BufferCreateInfo::default().size(size).usage(BUFFER_USAGE);
            // SAFETY: the size is not 0.
            let (handle, answer) = unsafe { owned.create_buffer(name, &info) }?;
            let resource = StorageObject::Buffer {
                handle,
                offset: 0,
                size,
            };
            (resource, answer)
        };
        let (held, cap) = (self.held(), self.desc.cap);
        if !within(held, answer.size, cap) {
            let wanted = answer.size;
            return Err(Error::Scratch { wanted, held, cap });
        }
        let types = answer.memory_type_bits & device.profile().ordinary_type_bits();
        let desc = MemoryDesc::new("scratch", types.trailing_zeros(), answer.size, answer.alignment);
        let (memory, offset) = owned.allocate(&desc)?.location();
        let resource = match bare {
            StorageObject::Buffer { handle, .. } => {
                // SAFETY: both just created; size, alignment and type are what the buffer requires.
                unsafe { device.raw().bind_buffer_memory(handle, memory, offset) }
                    .with_call("vkBindBufferMemory", || name)?;
                bare
            }
            StorageObject::Image { handle, .. } => {
                // SAFETY: both just created; size, alignment and type are what the image requires.
                unsafe { device.raw().bind_image_memory(handle, memory, offset) }
                    .with_call("vkBindImageMemory", || name)?;
                let array = storage == Storage::ImageArray;
                // SAFETY: the image is alive and bound, with this format and as many layers.
                let view = unsafe { create_view(owned, name, handle, array, texel_format) }?;
                StorageObject::Image { handle, view }
            }
        };
        Ok((resource, answer.size))
    }
}
