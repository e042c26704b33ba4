//! Scratch tensors' images, buffers and memory.

use ash::vk;

use super::super::fault::NetworkError;
use super::books::{Sides, within};
use super::{Entry, ScratchPool};
use crate::Result;
use crate::vulkan::hazards::Space;
use crate::vulkan::measure::{BUFFER_USAGE, IMAGE_USAGE, format, image_info};
use crate::vulkan::objects::Thing;
use crate::{ElementType, ImageExtent, Storage};
use tileheap::runtime::Device;
use tileheap::runtime::objects::{MemoryDesc, OwnedObjects, VkResultExt, full_subresource_range};
use tileheap::units::Bytes;

impl ScratchPool {
    pub(super) fn make(&mut self, name: &str, kind: (Storage, ElementType), sides: Sides) -> Result<Entry> {
        let inner = self.inner.clone();
        let mut owned = inner.owned_objects();
        let made = self.make_into(&inner, name, kind, sides, &mut owned);
        match made {
            Ok((thing, size)) => {
                let layout = matches!(thing, Thing::Image { .. }).then_some(vk::ImageLayout::UNDEFINED);
                let object = self.tracker.add(Space::Own(0), 0..0, layout, false);
                Ok(Entry {
                    thing,
                    object,
                    kind,
                    sides,
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
        inner: &Device,
        name: &str,
        (storage, element): (Storage, ElementType),
        sides: Sides,
        owned: &mut OwnedObjects,
    ) -> Result<(Thing, Bytes)> {
        let texel_format = format(name, element)?;
        let extent = ImageExtent {
            width: sides.width,
            height: sides.height,
            layers: sides.layers,
        };
        let (bare, answer) = if storage.is_image() {
            let info = image_info(texel_format, extent, IMAGE_USAGE);
            if !inner.supports_image(name, &info)? {
                let (tensor, limit) = (
                    name.to_owned(),
                    crate::vulkan::measure::limits(inner).max_image_dimension2_d,
                );
                let problem = format!("{extent:?} is over the device's limits (sides of {limit})");
                return Err(NetworkError::Layout { tensor, problem }.into());
            }
            // SAFETY: within the device's limits.
            let (handle, answer) = unsafe { owned.create_image(name, &info) }?;
            let view = vk::ImageView::null();
            (Thing::Image { handle, view }, answer)
        } else {
            let size = extent.texels().saturating_mul(4 * element.bytes()).max(16);
            let info = vk::BufferCreateInfo::default().size(size).usage(BUFFER_USAGE);
            // SAFETY: the size is not 0.
            let (handle, answer) = unsafe { owned.create_buffer(name, &info) }?;
            let thing = Thing::Buffer {
                handle,
                offset: 0,
                size,
            };
            (thing, answer)
        };
        let (held, cap) = (self.held(), self.desc.cap);
        if !within(held, answer.size, cap) {
            let wanted = answer.size;
            return Err(NetworkError::Scratch { wanted, held, cap }.into());
        }
        let types = answer.memory_type_bits & inner.profile().ordinary_type_bits();
        let desc = MemoryDesc::new("scratch", types.trailing_zeros(), answer.size, answer.alignment);
        let (memory, offset) = owned.allocate(&desc)?.location();
        let thing = match bare {
            Thing::Buffer { handle, .. } => {
                // SAFETY: both just created; size, alignment and type are what the buffer asked for.
                unsafe { inner.raw().bind_buffer_memory(handle, memory, offset) }
                    .with_call("vkBindBufferMemory", || name)?;
                bare
            }
            Thing::Image { handle, .. } => {
                // SAFETY: both just created; size, alignment and type are what the image asked for.
                unsafe { inner.raw().bind_image_memory(handle, memory, offset) }
                    .with_call("vkBindImageMemory", || name)?;
                let info = vk::ImageViewCreateInfo::default()
                    .image(handle)
                    .view_type(if storage == Storage::ImageArray {
                        vk::ImageViewType::TYPE_2D_ARRAY
                    } else {
                        vk::ImageViewType::TYPE_2D
                    })
                    .format(texel_format)
                    .subresource_range(full_subresource_range(vk::ImageAspectFlags::COLOR));
                // SAFETY: the image is alive and bound.
                let view = unsafe { owned.create_image_view(name, &info) }?;
                Thing::Image { handle, view }
            }
        };
        Ok((thing, answer.size))
    }
}
