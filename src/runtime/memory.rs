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

use super::RuntimeError;
use super::fault::Called;
use crate::Result;
use crate::plan::{Home, Object};
use crate::profile::DeviceProfile;
use crate::units::Bytes;

/// A piece of device memory.
pub enum Block {
    /// From gpu-allocator.
    Allocated(Allocation),
    /// From `vkAllocateMemory`.
    Raw(vk::DeviceMemory),
}

impl Block {
    /// The memory object, and the block's first byte in it.
    pub fn place(&self) -> (vk::DeviceMemory, vk::DeviceSize) {
        match self {
            Block::Allocated(allocation) => {
                // SAFETY: the allocation is alive, and its memory is neither mapped nor freed through this handle.
                let memory = unsafe { allocation.memory() };
                (memory, allocation.offset())
            }
            Block::Raw(memory) => (*memory, 0),
        }
    }
}

/// The resource that a dedicated allocation is for.
#[derive(Clone, Copy)]
pub enum Dedication {
    None,
    Image(vk::Image),
    Buffer(vk::Buffer),
}

/// What a block has to offer.
pub struct BlockDesc<'a> {
    pub name: &'a str,
    pub object: Object,
    /// A multiple of what every resident asks for.
    pub alignment: vk::DeviceSize,
    pub dedication: Dedication,
    /// Whether a resident's device address will be asked for.
    pub device_address: bool,
}

/// The allocator of a device.
pub struct Memory {
    /// Taken when the runtime's own is destroyed.
    allocator: Mutex<Option<Arc<Mutex<Allocator>>>>,
    /// Whether the caller brought it.
    shared: bool,
}

impl Memory {
    pub fn new(
        instance: &ash::Instance,
        physical_device: vk::PhysicalDevice,
        device: &ash::Device,
        shared: Option<Arc<Mutex<Allocator>>>,
        device_address: bool,
    ) -> Result<Memory> {
        if let Some(allocator) = shared {
            return Ok(Memory {
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
        Ok(Memory {
            allocator: Mutex::new(Some(Arc::new(Mutex::new(allocator)))),
            shared: false,
        })
    }

    /// Allocates what a planned object stands for.
    pub fn allocate(
        &self,
        device: &ash::Device,
        profile: &DeviceProfile,
        desc: &BlockDesc<'_>,
    ) -> Result<Block> {
        match desc.object.home {
            Home::Tile | Home::Lazy => raw(device, desc),
            Home::Arena | Home::Own => self.ordinary(profile, desc),
        }
    }

    fn ordinary(&self, profile: &DeviceProfile, desc: &BlockDesc<'_>) -> Result<Block> {
        let type_bits = profile.ordinary_type_bits() & 1 << desc.object.memory_type;
        // Whole pages, so that no neighbour of another kind shares one with the block's last resident.
        let granularity = profile.limits.buffer_image_granularity;
        let alignment = desc.alignment.max(granularity.get().next_power_of_two());
        let allocation = AllocationCreateDesc {
            name: desc.name,
            requirements: vk::MemoryRequirements {
                size: desc.object.size.align_up(granularity).0,
                alignment,
                memory_type_bits: type_bits,
            },
            // The plan has decided the type.
            location: MemoryLocation::Unknown,
            linear: matches!(desc.dedication, Dedication::Buffer(_)),
            allocation_scheme: match desc.dedication {
                Dedication::None => AllocationScheme::GpuAllocatorManaged,
                Dedication::Image(image) => AllocationScheme::DedicatedImage(image),
                Dedication::Buffer(buffer) => AllocationScheme::DedicatedBuffer(buffer),
            },
        };
        let allocator = self.allocator.lock().unwrap_or_else(PoisonError::into_inner);
        let allocator = allocator.as_ref().expect("the device is destroyed last");
        let mut allocator = allocator.lock().unwrap_or_else(PoisonError::into_inner);
        let what = || format!("{} of {}", desc.object.size, desc.name);
        match allocator.allocate(&allocation) {
            Ok(allocation) => Ok(Block::Allocated(allocation)),
            Err(AllocationError::OutOfMemory) => {
                Err(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY).called("vkAllocateMemory", what)?
            }
            Err(source) => Err(RuntimeError::Allocator { what: what(), source }.into()),
        }
    }

    /// # Safety
    /// Nothing is bound to the block any more, and nothing on the device uses it.
    pub unsafe fn free(&self, device: &ash::Device, block: Block) {
        match block {
            Block::Raw(memory) => {
                // SAFETY: the caller's duty; the block was its only owner.
                unsafe { device.free_memory(memory, None) };
            }
            Block::Allocated(allocation) => {
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
    pub unsafe fn destroy(&self) {
        self.allocator
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
    }

    /// Leaks the runtime's own allocator: its `Drop` would call into a device that may be gone.
    pub fn leak(&self) {
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

fn raw(device: &ash::Device, desc: &BlockDesc<'_>) -> Result<Block> {
    let Object {
        size, memory_type, ..
    } = desc.object;
    let flags = if desc.device_address {
        vk::MemoryAllocateFlags::DEVICE_ADDRESS
    } else {
        vk::MemoryAllocateFlags::empty()
    };
    let memory = allocate_with(device, size, memory_type, flags, || {
        format!("{size} of {}", desc.name)
    })?;
    Ok(Block::Raw(memory))
}

/// One object of a memory type of the device, not above its heap.
pub fn allocate(
    device: &ash::Device,
    size: Bytes,
    memory_type: u32,
    what: impl FnOnce() -> String,
) -> Result<vk::DeviceMemory> {
    allocate_with(device, size, memory_type, vk::MemoryAllocateFlags::empty(), what)
}

fn allocate_with(
    device: &ash::Device,
    size: Bytes,
    memory_type: u32,
    flags: vk::MemoryAllocateFlags,
    what: impl FnOnce() -> String,
) -> Result<vk::DeviceMemory> {
    let mut flagged = vk::MemoryAllocateFlagsInfo::default().flags(flags);
    let mut info = vk::MemoryAllocateInfo::default()
        .allocation_size(size.0)
        .memory_type_index(memory_type);
    if !flags.is_empty() {
        info = info.push_next(&mut flagged);
    }
    // SAFETY: the type exists (it is the profile's), and device addresses are asked for on devices that have them alone.
    let memory = unsafe { device.allocate_memory(&info, None) };
    Ok(memory.called("vkAllocateMemory", what)?)
}
