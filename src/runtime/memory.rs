//! Device memory: the only module that allocates it.
//!
//! Ordinary memory is allocated in blocks from a [`BlockAllocator`]. Each request allows a single memory type, the planned one, and never a tile
//! type: [`DeviceProfile::ordinary_type_bits`] masks those out, for the planner and here. Tile and lazy objects are allocated from the driver
//! directly, since a tile object must be exactly as large as planned and start at 0 of the heap.

use std::any::Any;
use std::ffi::c_void;
use std::ptr::{NonNull, null};
use std::sync::{Arc, Mutex, PoisonError};

use ash::vk;
use gpu_allocator::vulkan::{AllocationCreateDesc, AllocationScheme, Allocator, AllocatorCreateDesc};
use gpu_allocator::{AllocationError, AllocationSizes, AllocatorDebugSettings, MemoryLocation};

use super::error::{RuntimeError, VkResultExt};
use crate::Result;
use crate::profile::DeviceProfile;
use crate::units::{Alignment, Bytes};

/// Allocates blocks of ordinary device memory: gpu-allocator ([`Mutex`] of its `Allocator`), or an engine's own allocator.
///
/// It must not use memory types outside [`DeviceProfile::ordinary_type_bits`]: a request's `memory_type_bits` leaves them out.
///
/// # Safety
/// Memory that [`allocate`](BlockAllocator::allocate) returns belongs to the device, is of one of the requested types, is at least as large
/// and aligned as requested, is mapped if it says so, and is not handed to anyone else until it is freed.
pub unsafe trait BlockAllocator: Send + Sync {
    /// Allocates a block.
    ///
    /// # Errors
    /// [`BlockError::OutOfMemory`], after which unused memory is freed and the request repeated; or any other.
    fn allocate(&self, request: &BlockRequest<'_>) -> std::result::Result<AllocatedBlock, BlockError>;

    /// Frees a block that this allocator allocated.
    ///
    /// # Safety
    /// Nothing is bound to the block any more, and nothing on the device uses it.
    unsafe fn free(&self, block: AllocatedBlock);
}

/// A request for a block from a [`BlockAllocator`].
#[derive(Clone, Copy, Debug)]
pub struct BlockRequest<'a> {
    /// The block's name in the allocator's reports.
    pub name: &'a str,
    /// Size, alignment and memory type: exactly one bit of `memoryTypeBits` is set.
    pub requirements: vk::MemoryRequirements,
    /// The only resource that the block is for, if the driver wants a dedicated allocation.
    pub dedicated_to: Option<DedicatedTo>,
}

/// A block of a [`BlockAllocator`].
#[derive(Debug)]
pub struct AllocatedBlock {
    /// The memory object.
    pub memory: vk::DeviceMemory,
    /// Offset of the block's first byte in the memory object.
    pub offset: vk::DeviceSize,
    /// The block's mapped bytes, if the memory type is host-visible and the allocator maps it.
    pub mapped: Option<NonNull<[u8]>>,
    /// The allocator's own handle to the block.
    pub token: Box<dyn Any + Send + Sync>,
}

// SAFETY: the block owns what is mapped, and hands it out only by reference to itself.
unsafe impl Send for AllocatedBlock {}
// SAFETY: as above.
unsafe impl Sync for AllocatedBlock {}

/// Error of a [`BlockAllocator`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BlockError {
    /// Memory has run out.
    #[error("out of memory")]
    OutOfMemory,
    /// Any other error.
    #[error(transparent)]
    Other(#[from] Box<dyn std::error::Error + Send + Sync>),
}

/// gpu-allocator allocates through `&mut self`, so this mutex is held while it allocates from the driver and frees: threads that allocate from it
/// wait for each other. An allocator without this limit implements [`BlockAllocator`] itself.
// SAFETY: gpu-allocator's allocations are as requested, and are freed only by the holder of the token.
unsafe impl BlockAllocator for Mutex<Allocator> {
    fn allocate(&self, request: &BlockRequest<'_>) -> std::result::Result<AllocatedBlock, BlockError> {
        let desc = AllocationCreateDesc {
            name: request.name,
            requirements: request.requirements,
            // The plan determines the type.
            location: MemoryLocation::Unknown,
            linear: matches!(request.dedicated_to, Some(DedicatedTo::Buffer(_))),
            allocation_scheme: match request.dedicated_to {
                None => AllocationScheme::GpuAllocatorManaged,
                Some(DedicatedTo::Image(image)) => AllocationScheme::DedicatedImage(image),
                Some(DedicatedTo::Buffer(buffer)) => AllocationScheme::DedicatedBuffer(buffer),
            },
        };
        let allocated = self
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .allocate(&desc);
        let allocation = allocated.map_err(|error| match error {
            AllocationError::OutOfMemory => BlockError::OutOfMemory,
            other => BlockError::Other(Box::new(other)),
        })?;
        let size = allocation.size() as usize;
        let mapped = allocation.mapped_ptr();
        Ok(AllocatedBlock {
            // SAFETY: the allocation is alive, and its memory is neither mapped nor freed through this handle.
            memory: unsafe { allocation.memory() },
            offset: allocation.offset(),
            mapped: mapped.map(|first| NonNull::slice_from_raw_parts(first.cast(), size)),
            token: Box::new(allocation),
        })
    }

    unsafe fn free(&self, block: AllocatedBlock) {
        let allocation = block
            .token
            .downcast()
            .expect("the token is the allocation that gpu-allocator returned");
        let mut allocator = self.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = allocator.free(*allocation) {
            tracing::error!(%error, "gpu-allocator failed to free an allocation");
        }
    }
}

/// A block of device memory.
pub struct MemoryBlock(Source);

enum Source {
    /// A block from the allocator.
    Allocated(AllocatedBlock),
    /// A memory object from `vkAllocateMemory`.
    Raw(vk::DeviceMemory),
}

impl MemoryBlock {
    /// The memory object, and the offset of the block's first byte in it.
    pub fn location(&self) -> (vk::DeviceMemory, vk::DeviceSize) {
        match &self.0 {
            Source::Allocated(block) => (block.memory, block.offset),
            Source::Raw(memory) => (*memory, 0),
        }
    }

    /// The block's mapped bytes; `None` if the allocator has not mapped the block, or the block is a memory object of its own. Valid for as long as the block
    /// exists.
    pub fn mapped_ptr(&self) -> Option<NonNull<[u8]>> {
        match &self.0 {
            Source::Allocated(block) => block.mapped,
            Source::Raw(_) => None,
        }
    }

    /// The memory object, if the runtime allocated it for this block; `None` for a block of the allocator.
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
    /// The block's name in error messages and the allocator's reports.
    pub name: &'a str,
    /// A memory type of the device, by index.
    pub memory_type: u32,
    /// The block's size.
    pub size: Bytes,
    /// A multiple of the alignment of everything that is bound to the block.
    pub alignment: Alignment,
    /// True for a separate memory object of exactly this size, as tile memory requires.
    pub own_object: bool,
    /// The only resource that the block is for, if the driver wants a dedicated allocation.
    pub dedicated_to: Option<DedicatedTo>,
    /// True if the device address of a buffer in the block is used; matters only for a separate memory object.
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
    /// The allocator; `None` after it was destroyed, released or leaked. The lock is not held during allocations and frees.
    allocator: Mutex<Option<Arc<dyn BlockAllocator>>>,
    /// True if the caller supplied the allocator.
    shared: bool,
    /// True if blocks of the allocator allow device addresses.
    device_address: bool,
}

impl MemoryAllocator {
    /// The caller's allocator.
    pub(super) fn shared(allocator: Arc<dyn BlockAllocator>, device_address: bool) -> MemoryAllocator {
        MemoryAllocator {
            allocator: Mutex::new(Some(allocator)),
            shared: true,
            device_address,
        }
    }

    /// The runtime's own allocator: gpu-allocator.
    pub(super) fn own(
        instance: &ash::Instance,
        physical_device: vk::PhysicalDevice,
        device: &ash::Device,
        device_address: bool,
    ) -> Result<MemoryAllocator> {
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
            source: Box::new(source),
        })?;
        Ok(MemoryAllocator {
            allocator: Mutex::new(Some(Arc::new(Mutex::new(allocator)))),
            shared: false,
            device_address,
        })
    }

    /// Allocates a block. A block with a `pNext` chain is a separate memory object, since a [`BlockAllocator`] cannot chain structures.
    pub(super) fn allocate(
        &self,
        device: &ash::Device,
        profile: &DeviceProfile,
        desc: &MemoryDesc<'_>,
        chain: *const c_void,
    ) -> Result<MemoryBlock> {
        if desc.own_object {
            return raw(device, desc, chain);
        }
        if !chain.is_null() {
            // As for the allocator's blocks: the next user of the block may need device addresses.
            let desc = MemoryDesc {
                device_address: self.device_address,
                ..*desc
            };
            return raw(device, &desc, chain);
        }
        self.ordinary(profile, desc)
    }

    fn ordinary(&self, profile: &DeviceProfile, desc: &MemoryDesc<'_>) -> Result<MemoryBlock> {
        let type_bits = profile.ordinary_type_bits() & 1 << desc.memory_type;
        // Whole pages, so that no neighbor of another kind shares one with the block's last resident.
        let granularity = profile.limits.buffer_image_granularity;
        let alignment = desc.alignment.get().max(granularity.get().next_power_of_two());
        // A dedicated allocation has exactly the size that its resource requires.
        let size = match desc.dedicated_to {
            None => desc.size.align_up(granularity),
            Some(_) => desc.size,
        };
        let request = BlockRequest {
            name: desc.name,
            requirements: vk::MemoryRequirements {
                size: size.0,
                alignment,
                memory_type_bits: type_bits,
            },
            dedicated_to: desc.dedicated_to,
        };
        let allocator = self.allocator().expect("the device is not destroyed yet");
        let what = || format!("{} of {}", desc.size, desc.name);
        match allocator.allocate(&request) {
            Ok(block) => Ok(MemoryBlock(Source::Allocated(block))),
            Err(BlockError::OutOfMemory) => {
                Err(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY).with_call("vkAllocateMemory", what)?
            }
            Err(BlockError::Other(source)) => Err(RuntimeError::Allocator { what: what(), source }.into()),
        }
    }

    /// The allocator, cloned so that it can be called without holding the lock.
    fn allocator(&self) -> Option<Arc<dyn BlockAllocator>> {
        let allocator = self.allocator.lock().unwrap_or_else(PoisonError::into_inner);
        allocator.clone()
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
            Source::Allocated(block) => {
                match self.allocator() {
                    // SAFETY: the caller's duty; the allocator is the one that allocated it.
                    Some(allocator) => unsafe { allocator.free(block) },
                    None => tracing::warn!("memory freed after its device was destroyed"),
                }
            }
        }
    }

    /// Destroys the runtime's own allocator, or releases the caller's.
    ///
    /// # Safety
    /// Every block was freed, or will not be used again.
    pub(super) unsafe fn destroy(&self) {
        self.allocator
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
    }

    /// Leaks the runtime's own allocator, whose `Drop` would call into a device that may be destroyed; releases the caller's.
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

fn raw(device: &ash::Device, desc: &MemoryDesc<'_>, chain: *const c_void) -> Result<MemoryBlock> {
    let flags = if desc.device_address {
        vk::MemoryAllocateFlags::DEVICE_ADDRESS
    } else {
        vk::MemoryAllocateFlags::empty()
    };
    let MemoryDesc {
        size,
        memory_type,
        dedicated_to,
        name,
        ..
    } = *desc;
    let memory = allocate_with(device, (size, memory_type), flags, dedicated_to, (name, chain))?;
    Ok(MemoryBlock(Source::Raw(memory)))
}

/// Allocates a memory object for the caller to free (`vkFreeMemory`); `name` is for error messages.
///
/// # Errors
/// When memory runs out.
///
/// # Safety
/// `memory_type` is one of the device's, and `size` is neither 0 nor larger than its heap.
pub unsafe fn allocate_memory(
    device: &ash::Device,
    size: Bytes,
    memory_type: u32,
    name: &str,
) -> Result<vk::DeviceMemory> {
    let flags = vk::MemoryAllocateFlags::empty();
    allocate_with(device, (size, memory_type), flags, None, (name, null()))
}

fn allocate_with(
    device: &ash::Device,
    (size, memory_type): (Bytes, u32),
    flags: vk::MemoryAllocateFlags,
    dedicated_to: Option<DedicatedTo>,
    (name, chain): (&str, *const c_void),
) -> Result<vk::DeviceMemory> {
    let mut flagged = vk::MemoryAllocateFlagsInfo::default().flags(flags);
    let mut dedicated = vk::MemoryDedicatedAllocateInfo::default();
    let info = vk::MemoryAllocateInfo {
        p_next: chain,
        ..Default::default()
    };
    let mut info = info.allocation_size(size.0).memory_type_index(memory_type);
    if !flags.is_empty() {
        info = info.push_next(&mut flagged);
    }
    if let Some(only) = dedicated_to {
        match only {
            DedicatedTo::Image(image) => dedicated.image = image,
            DedicatedTo::Buffer(buffer) => dedicated.buffer = buffer,
        }
        info = info.push_next(&mut dedicated);
    }
    // SAFETY: the type exists (it is the profile's), the device address flag is set only on devices that have the feature, what the
    // allocation is dedicated to is alive and requires this size, and the caller's chain is valid here (the duty of `Hooks`).
    let memory = unsafe { device.allocate_memory(&info, None) };
    Ok(memory.with_call("vkAllocateMemory", || format!("{size} of {name}"))?)
}
