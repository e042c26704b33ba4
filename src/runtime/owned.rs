//! Vulkan objects with one owner, and their destruction.

use std::sync::Arc;

use ash::vk;

use super::device_state::DeviceState;
use super::error::{RuntimeError, VkResultExt};
use super::memory::{DedicatedTo, MemoryBlock, MemoryDesc};
use super::pool::{Handle, Lease};
use crate::Result;
use crate::measure::MemoryRequirements;
use crate::profile::DeviceProfile;
use crate::units::Bytes;

/// Images, buffers, views and memory that are destroyed together: [`Device::owned_objects`](super::Device::owned_objects).
///
/// Nothing is destroyed on drop; what was not destroyed by [`OwnedObjects::destroy`] leaks.
///
/// ```no_run
/// # use ash::vk;
/// # use tileheap::runtime::Device;
/// # use tileheap::runtime::objects::MemoryDesc;
/// # fn f(device: &Device) -> tileheap::Result<()> {
/// let mut objects = device.owned_objects();
/// let info = vk::BufferCreateInfo::default().size(4096).usage(vk::BufferUsageFlags::STORAGE_BUFFER);
/// // SAFETY: the creation info is valid.
/// let (buffer, requirements) = unsafe { objects.create_buffer("particles", &info) }?;
/// let types = requirements.memory_type_bits & device.profile().ordinary_type_bits();
/// let memory_type = types.trailing_zeros();
/// let desc = MemoryDesc::new("particles", memory_type, requirements.size, requirements.alignment);
/// let (memory, offset) = objects.allocate(&desc)?.location();
/// // SAFETY: the buffer is not bound yet; the block has the size, alignment and type that it requires.
/// unsafe { device.raw().bind_buffer_memory(buffer, memory, offset) }.unwrap();
/// // SAFETY: nothing was submitted that uses it.
/// unsafe { objects.destroy() };
/// # Ok(()) }
/// ```
///
/// Order of destruction: fences, semaphores, pipelines, layouts, pools, framebuffers, views, buffers, images, memory.
pub struct OwnedObjects {
    state: Arc<DeviceState>,
    pub(super) images: Vec<vk::Image>,
    pub(super) buffers: Vec<vk::Buffer>,
    pub(super) blocks: Vec<MemoryBlock>,
    pub(super) views: Vec<vk::ImageView>,
    pub(super) framebuffers: Vec<vk::Framebuffer>,
    pub(super) set_layouts: Vec<vk::DescriptorSetLayout>,
    pub(super) descriptor_pools: Vec<vk::DescriptorPool>,
    pub(super) pipeline_layouts: Vec<vk::PipelineLayout>,
    pub(super) pipelines: Vec<vk::Pipeline>,
    pub(super) semaphores: Vec<vk::Semaphore>,
    pub(super) fences: Vec<vk::Fence>,
    /// Objects that a bound frame has borrowed from the pool.
    pub(super) lease: Lease,
}

impl OwnedObjects {
    pub(super) fn new(state: Arc<DeviceState>) -> OwnedObjects {
        OwnedObjects {
            state,
            images: Vec::new(),
            buffers: Vec::new(),
            blocks: Vec::new(),
            views: Vec::new(),
            framebuffers: Vec::new(),
            set_layouts: Vec::new(),
            descriptor_pools: Vec::new(),
            pipeline_layouts: Vec::new(),
            pipelines: Vec::new(),
            semaphores: Vec::new(),
            fences: Vec::new(),
            lease: Lease::default(),
        }
    }

    /// Creates an image without memory; returns its memory requirements.
    ///
    /// # Errors
    /// If `vkCreateImage` fails.
    ///
    /// # Safety
    /// `info` is valid, and within the device's limits for such images.
    pub unsafe fn create_image(
        &mut self,
        name: &str,
        info: &vk::ImageCreateInfo<'_>,
    ) -> Result<(vk::Image, MemoryRequirements)> {
        // SAFETY: the caller's duty.
        let image =
            unsafe { self.state.device.create_image(info, None) }.with_call("vkCreateImage", || name)?;
        self.images.push(image);
        self.state.set_name(image, name);
        Ok((image, self.state.requirements_of_image(image, info.usage)))
    }

    /// Creates a buffer without memory; returns its memory requirements.
    ///
    /// # Errors
    /// If `vkCreateBuffer` fails.
    ///
    /// # Safety
    /// `info` is valid.
    pub unsafe fn create_buffer(
        &mut self,
        name: &str,
        info: &vk::BufferCreateInfo<'_>,
    ) -> Result<(vk::Buffer, MemoryRequirements)> {
        // SAFETY: the caller's duty.
        let buffer =
            unsafe { self.state.device.create_buffer(info, None) }.with_call("vkCreateBuffer", || name)?;
        self.buffers.push(buffer);
        self.state.set_name(buffer, name);
        Ok((buffer, self.state.requirements_of_buffer(buffer, info.usage)))
    }

    /// Creates an image view.
    ///
    /// # Errors
    /// If `vkCreateImageView` fails.
    ///
    /// # Safety
    /// `info` is valid; its image has memory, and outlives these objects unless it is one of them.
    pub unsafe fn create_image_view(
        &mut self,
        name: &str,
        info: &vk::ImageViewCreateInfo<'_>,
    ) -> Result<vk::ImageView> {
        // SAFETY: the caller's duty.
        let view = unsafe { self.state.device.create_image_view(info, None) }
            .with_call("vkCreateImageView", || name)?;
        self.views.push(view);
        self.state.set_name(view, name);
        Ok(view)
    }

    /// Allocates a block of memory.
    ///
    /// # Errors
    /// When memory runs out; if the block's size is 0 or exceeds its heap, its memory type is not one of the device's or is protected, its device address
    /// is used and that is not enabled, or it is dedicated to an object that is not one of these or requires another size.
    pub fn allocate(&mut self, desc: &MemoryDesc<'_>) -> Result<&mut MemoryBlock> {
        self.check(desc)?;
        let DeviceState {
            device,
            profile,
            memory,
            ..
        } = &*self.state;
        let block = memory.allocate(device, profile, desc, std::ptr::null())?;
        self.blocks.push(block);
        Ok(self.blocks.last_mut().expect("just pushed"))
    }

    fn check(&self, desc: &MemoryDesc<'_>) -> Result<()> {
        let DeviceState {
            profile, functions, ..
        } = &*self.state;
        let types = profile.memory_types.len();
        let known = match desc.dedicated_to {
            None => true,
            Some(DedicatedTo::Image(image)) => self.images.contains(&image),
            Some(DedicatedTo::Buffer(buffer)) => self.buffers.contains(&buffer),
        };
        let required = desc.dedicated_to.filter(|_| known).map(|only| self.size_of(only));
        let kinds = vk::MemoryPropertyFlags::PROTECTED | vk::MemoryPropertyFlags::DEVICE_COHERENT_AMD;
        let why = if desc.size == Bytes::ZERO {
            "its size must not be 0".to_owned()
        } else if desc.memory_type as usize >= types {
            format!(
                "memory type {} is out of range: the number of memory types of the device is {types}",
                desc.memory_type
            )
        } else if !known {
            "it is dedicated to an image or buffer that was not created with the same OwnedObjects".to_owned()
        } else if profile.memory_types[desc.memory_type as usize]
            .flags
            .intersects(kinds)
        {
            format!(
                "memory type {} is protected or device-coherent, which is not supported",
                desc.memory_type
            )
        } else if let Some(why) = too_large(profile, desc) {
            why
        } else if let Some(required) = required.filter(|required| *required != desc.size) {
            format!(
                "its size is {}, but a dedicated allocation must have the size that its image or buffer requires, {required} \
                 (VUID-VkMemoryDedicatedAllocateInfo-image-02964, VUID-VkMemoryDedicatedAllocateInfo-buffer-02965)",
                desc.size
            )
        } else if desc.device_address && functions.buffer_device_address.is_none() {
            "it needs a device address, but bufferDeviceAddress is not enabled \
             (VUID-VkMemoryAllocateInfo-flags-03331)"
                .to_owned()
        } else {
            return Ok(());
        };
        Err(RuntimeError::unsupported(desc.name, why))
    }

    /// The size that a created image or buffer requires.
    fn size_of(&self, object: DedicatedTo) -> Bytes {
        let state = &self.state;
        let needs = match object {
            DedicatedTo::Image(image) => state.requirements_of_image(image, vk::ImageUsageFlags::empty()),
            DedicatedTo::Buffer(buffer) => {
                state.requirements_of_buffer(buffer, vk::BufferUsageFlags::empty())
            }
        };
        needs.size
    }

    /// The blocks of memory, in the order of their allocation.
    pub fn blocks(&self) -> &[MemoryBlock] {
        &self.blocks
    }

    /// Destroys everything; more can be created afterwards.
    ///
    /// # Safety
    /// None of the objects is in use on the device, and their handles are not used afterwards.
    pub unsafe fn destroy(&mut self) {
        let DeviceState { device, memory, .. } = &*self.state;
        /// Drains a list, calling the device's destructor on each handle.
        macro_rules! drain {
            ($($list:ident: $destroy:ident),*) => {$(
                for handle in self.$list.drain(..) {
                    // SAFETY: the caller's duty; this list was the handle's only owner.
                    unsafe { device.$destroy(handle, None) };
                }
            )*};
        }
        drain!(
            fences: destroy_fence,
            semaphores: destroy_semaphore,
            pipelines: destroy_pipeline,
            pipeline_layouts: destroy_pipeline_layout,
            descriptor_pools: destroy_descriptor_pool,
            set_layouts: destroy_descriptor_set_layout,
            framebuffers: destroy_framebuffer,
            views: destroy_image_view,
            buffers: destroy_buffer,
            images: destroy_image
        );
        for block in self.blocks.drain(..) {
            // SAFETY: everything that was bound to it is destroyed.
            unsafe { memory.free(device, block) };
        }
        self.recycle();
    }

    /// Releases ownership of the most recently created image or buffer to the pool.
    pub(super) fn release(&mut self, last: Handle) {
        let Handle { image, buffer } = last;
        let owned = match buffer == vk::Buffer::null() {
            true => self.images.pop() == Some(image),
            false => self.buffers.pop() == Some(buffer),
        };
        assert!(owned, "the handle is the most recently created one");
    }

    /// Returns the borrowed objects to the pool.
    pub(super) fn recycle(&mut self) {
        self.state.pool.lock().recycle(&mut self.lease);
    }
}

/// Objects that are being created: destroyed on drop, unless [kept](Guard::keep).
pub(super) struct Guard {
    pub(super) owned: OwnedObjects,
}

impl Guard {
    pub(super) fn new(state: Arc<DeviceState>) -> Guard {
        Guard {
            owned: OwnedObjects::new(state),
        }
    }

    /// Ends the guard after successful creation.
    pub(super) fn keep(mut self) -> OwnedObjects {
        let empty = OwnedObjects::new(self.owned.state.clone());
        std::mem::replace(&mut self.owned, empty)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // SAFETY: nothing was submitted with it.
        unsafe { self.owned.destroy() };
    }
}

/// Returns a message if a block is larger than its heap. `desc.memory_type` must be a memory type of the device.
fn too_large(profile: &DeviceProfile, desc: &MemoryDesc<'_>) -> Option<String> {
    let heap = profile.memory_types[desc.memory_type as usize].heap;
    let (size, limit) = (desc.size, profile.heaps[heap as usize].size);
    (size > limit).then(|| {
        format!(
            "its size is {size}, but its heap has only {limit} (VUID-vkAllocateMemory-pAllocateInfo-01713)"
        )
    })
}
