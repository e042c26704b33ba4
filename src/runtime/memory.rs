//! Device memory: the one place that allocates it.
//!
//! Ordinary memory comes from gpu-allocator, which is only ever shown one memory type at a time, the planned one, and that
//! is never a tile type: [`DeviceProfile::ordinary_type_bits`] masks those out, for the planner and here. Tile and lazy
//! objects are the driver's own, since a tile object must be exactly as large as planned and start at 0 of the heap.

use std::sync::{Arc, Mutex, PoisonError};

use ash::vk;
use gpu_allocator::vulkan::{
    Allocation, AllocationCreateDesc, AllocationScheme, Allocator, AllocatorCreateDesc,
};
use gpu_allocator::{AllocationError, AllocationSizes, AllocatorDebugSettings, MemoryLocation};

use super::error::{RuntimeError, VkResultExt};
use crate::Result;
use crate::profile::DeviceProfile;
use crate::units::{Alignment, Bytes};

/// A block of device memory.
pub struct MemoryBlock(Source);

enum Source {
    /// From gpu-allocator.
    Allocated(Allocation),
    /// From `vkAllocateMemory`.
    Raw(vk::DeviceMemory),
}

impl MemoryBlock {
    /// The memory object, and the offset of the block's first byte in it.
    pub fn location(&self) -> (vk::DeviceMemory, vk::DeviceSize) {
        match &self.0 {
            Source::Allocated(allocation) => {
                // SAFETY: the allocation is alive, and its memory is neither mapped nor freed through this handle.
                let memory = unsafe { allocation.memory() };
                (memory, allocation.offset())
            }
            Source::Raw(memory) => (*memory, 0),
        }
    }

    /// Its bytes; `None` if its memory type is not host-visible. The device must not write them meanwhile.
    pub fn mapped(&self) -> Option<&[u8]> {
        match &self.0 {
            Source::Allocated(allocation) => allocation.mapped_slice(),
            Source::Raw(_) => None,
        }
    }

    /// Its bytes, to write; `None` if its memory type is not host-visible. The device must not use them meanwhile.
    pub fn mapped_mut(&mut self) -> Option<&mut [u8]> {
        match &mut self.0 {
            Source::Allocated(allocation) => allocation.mapped_slice_mut(),
            Source::Raw(_) => None,
        }
    }

    /// The memory object, if it is this block's alone.
    pub(super) fn own_object(&self) -> Option<vk::DeviceMemory> {
        match self.0 {
            Source::Allocated(_) => None,
            Source::Raw(memory) => Some(memory),
        }
    }
}

/// The resource that a dedicated allocation is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DedicatedTo {
    /// An image.
    Image(vk::Image),
    /// A buffer.
    Buffer(vk::Buffer),
}

/// A block of memory to allocate.
#[derive(Clone, Copy, Debug)]
pub struct MemoryDesc<'a> {
    /// Its name in error messages and the allocator's reports.
    pub name: &'a str,
    /// A memory type of the device, by index.
    pub memory_type: u32,
    /// Its size.
    pub size: Bytes,
    /// A multiple of the alignment of everything that is bound to it.
    pub alignment: Alignment,
    /// Whether it is a memory object of its own, of exactly this size: so it has to be in tile memory.
    pub own_object: bool,
    /// The one resource that it is for, if the driver wants a dedicated allocation.
    pub dedicated_to: Option<DedicatedTo>,
    /// Whether the device address of a buffer in it is used; only a memory object of its own needs to be told.
    pub device_address: bool,
}

impl<'a> MemoryDesc<'a> {
    /// A block of ordinary memory, from the allocator.
    pub fn new(name: &'a str, memory_type: u32, size: Bytes, alignment: Alignment) -> MemoryDesc<'a> {
        MemoryDesc {
            name,
            memory_type,
            size,
            alignment,
            own_object: false,
            dedicated_to: None,
            device_address: false,
        }
    }
}

/// The allocator of a device.
pub(super) struct MemoryAllocator {
    /// Taken when the runtime's own is destroyed.
    allocator: Mutex<Option<Arc<Mutex<Allocator>>>>,
    /// Whether the caller brought it.
    shared: bool,
}

impl MemoryAllocator {
    pub(super) fn new(
        instance: &ash::Instance,
        physical_device: vk::PhysicalDevice,
        device: &ash::Device,
        shared: Option<Arc<Mutex<Allocator>>>,
        device_address: bool,
    ) -> Result<MemoryAllocator> {
        if let Some(allocator) = shared {
            return Ok(MemoryAllocator {
                allocator: Mutex::new(Some(allocator)),
                shared: true,
            });
        }
        const MIB: u64 = 1024 * 1024;
        let desc = AllocatorCreateDesc {
            instance: instance.clone(),
            device: device.clone(),
            physical_device,
            debug_settings: AllocatorDebugSettings::default(),
            buffer_device_address: device_address,
            // Arenas are large and few: small first blocks, so that an arena gets one of exactly its size.
            allocation_sizes: AllocationSizes::new(4 * MIB, 4 * MIB).with_max_device_memblock_size(64 * MIB),
        };
        let allocator = Allocator::new(&desc).map_err(|source| RuntimeError::Allocator {
            what: "the allocator".to_owned(),
            source,
        })?;
        Ok(MemoryAllocator {
            allocator: Mutex::new(Some(Arc::new(Mutex::new(allocator)))),
            shared: false,
        })
    }

    /// Allocates a block.
    pub(super) fn allocate(
        &self,
        device: &ash::Device,
        profile: &DeviceProfile,
        desc: &MemoryDesc<'_>,
    ) -> Result<MemoryBlock> {
        if desc.own_object {
            return raw(device, desc);
        }
        self.ordinary(profile, desc)
    }

    fn ordinary(&self, profile: &DeviceProfile, desc: &MemoryDesc<'_>) -> Result<MemoryBlock> {
        let type_bits = profile.ordinary_type_bits() & 1 << desc.memory_type;
        // Whole pages, so that no neighbour of another kind shares one with the block's last resident.
        let granularity = profile.limits.buffer_image_granularity;
        let alignment = desc.alignment.get().max(granularity.get().next_power_of_two());
        let allocation = AllocationCreateDesc {
            name: desc.name,
            requirements: vk::MemoryRequirements {
                size: desc.size.align_up(granularity).0,
                alignment,
                memory_type_bits: type_bits,
            },
            // The plan has decided the type.
            location: MemoryLocation::Unknown,
            linear: matches!(desc.dedicated_to, Some(DedicatedTo::Buffer(_))),
            allocation_scheme: match desc.dedicated_to {
                None => AllocationScheme::GpuAllocatorManaged,
                Some(DedicatedTo::Image(image)) => AllocationScheme::DedicatedImage(image),
                Some(DedicatedTo::Buffer(buffer)) => AllocationScheme::DedicatedBuffer(buffer),
            },
        };
        let allocator = self.allocator.lock().unwrap_or_else(PoisonError::into_inner);
        let allocator = allocator.as_ref().expect("the device is destroyed last");
        let mut allocator = allocator.lock().unwrap_or_else(PoisonError::into_inner);
        let what = || format!("{} of {}", desc.size, desc.name);
        match allocator.allocate(&allocation) {
            Ok(allocation) => Ok(MemoryBlock(Source::Allocated(allocation))),
            Err(AllocationError::OutOfMemory) => {
                Err(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY).with_call("vkAllocateMemory", what)?
            }
            Err(source) => Err(RuntimeError::Allocator { what: what(), source }.into()),
        }
    }

    /// Frees a block.
    ///
    /// # Safety
    /// Nothing is bound to the block any more, and nothing on the device uses it.
    pub(super) unsafe fn free(&self, device: &ash::Device, block: MemoryBlock) {
        match block.0 {
            Source::Raw(memory) => {
                // SAFETY: the caller's duty; the block was its only owner.
                unsafe { device.free_memory(memory, None) };
            }
            Source::Allocated(allocation) => {
                let allocator = self.allocator.lock().unwrap_or_else(PoisonError::into_inner);
                let Some(allocator) = allocator.as_ref() else {
                    tracing::warn!("memory freed after its device was destroyed");
                    return;
                };
                let mut allocator = allocator.lock().unwrap_or_else(PoisonError::into_inner);
                if let Err(error) = allocator.free(allocation) {
                    tracing::error!(%error, "gpu-allocator refused to free");
                }
            }
        }
    }

    /// Destroys the runtime's own allocator, or lets go of the caller's.
    ///
    /// # Safety
    /// Every block was freed, or will not be used again.
    pub(super) unsafe fn destroy(&self) {
        self.allocator
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
    }

    /// Leaks the runtime's own allocator: its `Drop` would call into a device that may be destroyed.
    pub(super) fn leak(&self) {
        let allocator = self
            .allocator
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(allocator) = allocator.filter(|_| !self.shared) {
            tracing::warn!("runtime::Device dropped without Device::destroy: its memory blocks leak");
            std::mem::forget(allocator);
        }
    }
}

fn raw(device: &ash::Device, desc: &MemoryDesc<'_>) -> Result<MemoryBlock> {
    let flags = if desc.device_address {
        vk::MemoryAllocateFlags::DEVICE_ADDRESS
    } else {
        vk::MemoryAllocateFlags::empty()
    };
    let memory = allocate_with(device, desc.size, desc.memory_type, flags, desc.name)?;
    Ok(MemoryBlock(Source::Raw(memory)))
}

/// Allocates a memory object for the caller to free (`vkFreeMemory`); `name` is for error messages.
///
/// # Errors
/// When memory runs out.
///
/// # Safety
/// `memory_type` is one of the device's, and `size` not 0 nor above its heap's.
pub unsafe fn allocate_memory(
    device: &ash::Device,
    size: Bytes,
    memory_type: u32,
    name: &str,
) -> Result<vk::DeviceMemory> {
    allocate_with(device, size, memory_type, vk::MemoryAllocateFlags::empty(), name)
}

fn allocate_with(
    device: &ash::Device,
    size: Bytes,
    memory_type: u32,
    flags: vk::MemoryAllocateFlags,
    name: &str,
) -> Result<vk::DeviceMemory> {
    let mut flagged = vk::MemoryAllocateFlagsInfo::default().flags(flags);
    let mut info = vk::MemoryAllocateInfo::default()
        .allocation_size(size.0)
        .memory_type_index(memory_type);
    if !flags.is_empty() {
        info = info.push_next(&mut flagged);
    }
    // SAFETY: the type exists (it is the profile's), and the device address flag is set only on devices that have the feature.
    let memory = unsafe { device.allocate_memory(&info, None) };
    Ok(memory.with_call("vkAllocateMemory", || format!("{size} of {name}"))?)
}
