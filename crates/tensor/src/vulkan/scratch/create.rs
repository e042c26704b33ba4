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
use tileheap::plan::{Home, Object};
use tileheap::runtime::Device;
use tileheap::runtime::objects::Called;
use tileheap::runtime::objects::OwnedObjects;
use tileheap::runtime::objects::whole;
use tileheap::runtime::objects::{BlockDesc, Dedication};
use tileheap::units::Bytes;

impl ScratchPool {
    pub(super) fn make(&mut self, name: &str, kind: (Storage, ElementType), sides: Sides) -> Result<Entry> {
        let inner = self.inner.clone();
        let mut owned = OwnedObjects::default();
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
                unsafe { owned.destroy(inner.raw(), inner.memory()) };
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
            if !inner.image_fits(name, &info)? {
                let (tensor, limit) = (
                    name.to_owned(),
                    crate::vulkan::measure::limits(inner).max_image_dimension2_d,
                );
                let problem = format!("{extent:?} is over the device's limits (sides of {limit})");
                return Err(NetworkError::Layout { tensor, problem }.into());
            }
            // SAFETY: within the device's limits.
            let handle = unsafe { inner.raw().create_image(&info, None) }.called("vkCreateImage", || name)?;
            owned.images.push(handle);
            let view = vk::ImageView::null();
            (Thing::Image { handle, view }, inner.image_needs(handle, false))
        } else {
            let size = extent.texels().saturating_mul(4 * element.bytes()).max(16);
            let info = vk::BufferCreateInfo::default().size(size).usage(BUFFER_USAGE);
            // SAFETY: the size is not 0.
            let handle =
                unsafe { inner.raw().create_buffer(&info, None) }.called("vkCreateBuffer", || name)?;
            owned.buffers.push(handle);
            let thing = Thing::Buffer {
                handle,
                offset: 0,
                size,
            };
            (thing, inner.buffer_needs(handle, false))
        };
        let (held, cap) = (self.held(), self.desc.cap);
        if !within(held, answer.size, cap) {
            let wanted = answer.size;
            return Err(NetworkError::Scratch { wanted, held, cap }.into());
        }
        let types = answer.memory_type_bits & inner.profile().ordinary_type_bits();
        let desc = BlockDesc {
            name: "scratch",
            object: Object {
                home: Home::Arena,
                memory_type: types.trailing_zeros(),
                size: answer.size,
            },
            alignment: answer.alignment.get(),
            dedication: Dedication::None,
            device_address: false,
        };
        let block = inner.memory().allocate(inner.raw(), inner.profile(), &desc)?;
        let (memory, offset) = block.place();
        owned.blocks.push(block);
        let thing = match bare {
            Thing::Buffer { handle, .. } => {
                // SAFETY: both just created; size, alignment and type are what the buffer asked for.
                unsafe { inner.raw().bind_buffer_memory(handle, memory, offset) }
                    .called("vkBindBufferMemory", || name)?;
                bare
            }
            Thing::Image { handle, .. } => {
                // SAFETY: both just created; size, alignment and type are what the image asked for.
                unsafe { inner.raw().bind_image_memory(handle, memory, offset) }
                    .called("vkBindImageMemory", || name)?;
                let info = vk::ImageViewCreateInfo::default()
                    .image(handle)
                    .view_type(if storage == Storage::ImageArray {
                        vk::ImageViewType::TYPE_2D_ARRAY
                    } else {
                        vk::ImageViewType::TYPE_2D
                    })
                    .format(texel_format)
                    .subresource_range(whole(vk::ImageAspectFlags::COLOR));
                // SAFETY: the image is alive and bound.
                let view = unsafe { inner.raw().create_image_view(&info, None) }
                    .called("vkCreateImageView", || name)?;
                owned.views.push(view);
                Thing::Image { handle, view }
            }
        };
        Ok((thing, answer.size))
    }
}
