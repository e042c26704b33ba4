//! Creates images, buffers and memory for scratch tensors.

use super::pool_policy::within;
use super::{Entry, ScratchPool};
use crate::error::{Error, Result};
use crate::graph::ElementType;
use crate::layout::{ImageExtent, Storage};
use crate::vulkan::hazards::Space;
use crate::vulkan::measure::{BUFFER_USAGE, IMAGE_USAGE, format};
use crate::vulkan::objects::{StorageObject, bind, create_buffer, create_image};
use ash::vk;
use tileheap::runtime::objects::{MemoryDesc, OwnedObjects};
use tileheap::units::Bytes;

impl ScratchPool {
    pub(super) fn make(
        &mut self,
        name: &str,
        kind: (Storage, ElementType),
        extent: ImageExtent,
    ) -> Result<Entry> {
        let mut owned = self.dispatcher.device.owned_objects();
        let made = self.make_into(name, kind, extent, &mut owned);
        let (resource, size) = made.inspect_err(|_| {
            // SAFETY: just created, and used by nothing.
            unsafe { owned.destroy() };
        })?;
        let is_image = matches!(resource, StorageObject::Image { .. });
        let layout = is_image.then_some(vk::ImageLayout::UNDEFINED);
        Ok(Entry {
            resource,
            object: self.tracker.add(Space::Own(0), 0..0, layout, false),
            kind,
            extent,
            size,
            owned,
            free: false,
        })
    }

    fn make_into(
        &self,
        name: &str,
        kind: (Storage, ElementType),
        extent: ImageExtent,
        owned: &mut OwnedObjects,
    ) -> Result<(StorageObject, Bytes)> {
        let device = &self.dispatcher.device;
        let (storage, element) = kind;
        let texel_format = format(name, element)?;
        let (bare, answer) = if storage.is_image() {
            create_image(device, owned, name, texel_format, extent, IMAGE_USAGE)?
        } else {
            let size = element
                .bytes_of(extent.texels().saturating_mul(4))
                .unwrap_or(u64::MAX);
            create_buffer(owned, name, size, BUFFER_USAGE)?
        };
        let (held, cap, wanted) = (self.held_bytes(), self.desc.max_bytes, answer.size);
        if !within(held, wanted, cap) {
            let problem = format!(
                "cannot allocate {wanted}: the pool holds {held} of at most {cap}, and nothing free is large enough"
            );
            return Err(Error::tensor(name, problem));
        }
        let types = answer.memory_type_bits & device.profile().ordinary_type_bits();
        let desc = MemoryDesc::new("scratch", types.trailing_zeros(), wanted, answer.alignment);
        let place = owned.allocate(&desc)?.location();
        // SAFETY: both just created; size, alignment and type are what it requires.
        let resource = unsafe { bind(device, owned, name, bare, place, kind) }?;
        Ok((resource, wanted))
    }
}
