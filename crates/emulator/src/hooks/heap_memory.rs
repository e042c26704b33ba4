//! The tile heap's real memory: one allocation of the driver, a buffer over all of it, and the commands that poison it.
//!
//! ```text
//! tile memory objects   [0, N1)   [0, N2)   ...        handles with a size, nothing else
//! the heap              [0, size)                      one allocation; a resource at offset o of any object is bound at o
//! ```

use std::ptr::null;
use std::sync::{Mutex, OnceLock, PoisonError};

use ash::vk;
use ash::vk::Handle;
use tileheap_layer::call_down;
use tileheap_units::IdMap;

use super::driver::{Driver, create_object};
use crate::model::heap::Heap;

/// The value of undefined contents: magenta as RGBA8, NaN as a float.
pub const POISON: u32 = 0xFFFF_00FF;

/// The real memory of a device's tile heap.
pub(crate) struct HeapMemory {
    pub(crate) heap: Heap,
    /// The driver's memory type for the heap, once probed; `None` if no type is suitable.
    probed: OnceLock<Option<u32>>,
    /// The memory and the buffer, once created; if their creation fails, the next allocation tries again.
    created_memory: OnceLock<CreatedMemory>,
    creation: Mutex<()>,
    poisoners: Mutex<Poisoners>,
}

#[derive(Clone, Copy, Debug)]
struct CreatedMemory {
    memory: vk::DeviceMemory,
    buffer: vk::Buffer,
    bytes: u64,
}

#[derive(Default)]
struct Poisoners {
    pools: IdMap<u32, vk::CommandPool>,
    /// Command buffers by queue family, and by first byte and end of the range that they poison.
    commands: IdMap<(u32, u64, u64), vk::CommandBuffer>,
}

impl HeapMemory {
    /// Creates a heap; its real memory is created later.
    pub(crate) fn new(size: u64) -> HeapMemory {
        HeapMemory {
            heap: Heap::new(size),
            probed: OnceLock::new(),
            created_memory: OnceLock::new(),
            creation: Mutex::default(),
            poisoners: Mutex::default(),
        }
    }

    /// The driver's memory type for the heap: a device local type that ordinary images and buffers can use.
    pub(crate) fn memory_type(&self) -> Option<u32> {
        self.probed.get().copied().flatten()
    }

    /// Finds the driver's memory type for the heap; called once, when the device is created.
    ///
    /// # Errors
    /// Returns the driver's error if a probe could not be created.
    pub(crate) fn probe(
        &self,
        driver: &Driver,
        types: &vk::PhysicalDeviceMemoryProperties,
    ) -> Result<(), vk::Result> {
        let found = probe(driver, types.memory_types_as_slice())?;
        self.probed.get_or_init(|| found);
        Ok(())
    }

    /// Returns the real memory, created at the first call.
    ///
    /// # Errors
    /// Returns the driver's error if it could not be created this time.
    pub(crate) fn memory(&self, driver: &Driver) -> Result<vk::DeviceMemory, vk::Result> {
        if let Some(created_memory) = self.created_memory.get() {
            return Ok(created_memory.memory);
        }
        let _creation = self.creation.lock().unwrap_or_else(PoisonError::into_inner);
        let created_memory = match self.created_memory.get() {
            Some(created_memory) => *created_memory,
            None => self.create(driver)?,
        };
        Ok(self.created_memory.get_or_init(|| created_memory).memory)
    }

    /// Bytes of the real memory; 0 until it is created.
    pub(crate) fn bytes(&self) -> u64 {
        self.created_memory
            .get()
            .map_or(0, |created_memory| created_memory.bytes)
    }

    /// Returns true if the real memory has been created.
    pub(crate) fn is_created(&self) -> bool {
        self.created_memory.get().is_some()
    }

    fn create(&self, driver: &Driver) -> Result<CreatedMemory, vk::Result> {
        let memory_type = self.memory_type().ok_or(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY)?;
        let (buffer, needs) = create_buffer(driver, self.heap.guard() + 4)?;
        // Room for the padding of drivers at the end of an image.
        let bytes = needs.size.next_multiple_of(0x1_0000);
        let mut flags = vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
        let mut info = vk::MemoryAllocateInfo::default()
            .allocation_size(bytes)
            .memory_type_index(memory_type);
        if driver.buffer_device_address {
            info = info.push_next(&mut flags);
        }
        let next = &driver.commands;
        let mut memory = vk::DeviceMemory::null();
        let allocated = call_down!(next, vkAllocateMemory(driver.handle, &info, null(), &mut memory));
        let bound = allocated
            .result()
            .and_then(|()| call_down!(next, vkBindBufferMemory(driver.handle, buffer, memory, 0)).result());
        if let Err(error) = bound {
            call_down!(next, vkDestroyBuffer(driver.handle, buffer, null()));
            if memory != vk::DeviceMemory::null() {
                call_down!(next, vkFreeMemory(driver.handle, memory, null()));
            }
            return Err(error);
        }
        Ok(CreatedMemory {
            memory,
            buffer,
            bytes,
        })
    }

    /// Records a fill of a word that nothing reads, so that the following barrier is not the first command.
    ///
    /// lavapipe skips a barrier that is the first command of a command buffer, since it tracks memory by resource and not by address: later work can
    /// then overtake draws of the previous command buffer in memory that both alias. Source: lavapipe 22.3.6, where 5 of 10 runs of examples/deferred
    /// read poison that was written too early.
    fn record_guard(&self, driver: &Driver, commands: vk::CommandBuffer) {
        if let Some(created_memory) = self.created_memory.get() {
            // After the guard of the previous command buffer.
            barrier(driver, commands, FILLS, FILL);
            call_down!(
                driver.actions,
                vkCmdFillBuffer(commands, created_memory.buffer, self.heap.guard(), 4, POISON)
            );
        }
    }

    /// Records the guard before the first action command, and a barrier that replaces the application's earlier barriers, which
    /// lavapipe skips.
    pub(crate) fn record_first_guard(&self, driver: &Driver, commands: vk::CommandBuffer) {
        self.record_guard(driver, commands);
        if self.is_created() {
            barrier(driver, commands, FILL, FILLS);
        }
    }

    /// Records commands that overwrite the bytes in use of `[first, end)` with poison: their contents are undefined from here on.
    pub(crate) fn record_poison(&self, driver: &Driver, commands: vk::CommandBuffer, first: u64, end: u64) {
        let Some(created_memory) = self.created_memory.get() else {
            return;
        };
        let Some((first, end)) = self.heap.words(first, end) else {
            return;
        };
        self.record_guard(driver, commands);
        barrier(driver, commands, WRITES, FILL);
        call_down!(
            driver.actions,
            vkCmdFillBuffer(commands, created_memory.buffer, first, end - first, POISON)
        );
        barrier(driver, commands, FILL, EVERYTHING);
    }

    /// Returns a command buffer, for queues of `family`, that poisons the bytes in use from `first` on; several submissions of it may be pending at
    /// once. `None` if there is nothing to poison.
    ///
    /// # Errors
    /// Returns the driver's error if it could not be created this time.
    pub(crate) fn poisoner(
        &self,
        driver: &Driver,
        family: u32,
        first: u64,
    ) -> Result<Option<vk::CommandBuffer>, vk::Result> {
        let end = self.heap.end();
        if !self.is_created() || first >= end {
            return Ok(None);
        }
        let mut poisoners = self.poisoners.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(commands) = poisoners.commands.get(&(family, first, end)) {
            return Ok(Some(*commands));
        }
        let pool = match poisoners.pools.get(&family) {
            Some(pool) => *pool,
            None => {
                let pool = create_pool(driver, family)?;
                poisoners.pools.insert(family, pool);
                pool
            }
        };
        let commands = allocate_commands(driver, pool)?;
        if let Err(error) = self.record_poisoner(driver, commands, first, end) {
            free_commands(driver, pool, commands);
            return Err(error);
        }
        poisoners.commands.insert((family, first, end), commands);
        Ok(Some(commands))
    }

    fn record_poisoner(
        &self,
        driver: &Driver,
        commands: vk::CommandBuffer,
        first: u64,
        end: u64,
    ) -> Result<(), vk::Result> {
        let info = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::SIMULTANEOUS_USE);
        call_down!(driver.commands, vkBeginCommandBuffer(commands, &info)).result()?;
        self.record_poison(driver, commands, first, end);
        call_down!(driver.commands, vkEndCommandBuffer(commands)).result()
    }

    /// Destroys the created objects; the device must be idle.
    pub(crate) fn destroy(&self, driver: &Driver) {
        let mut poisoners = self.poisoners.lock().unwrap_or_else(PoisonError::into_inner);
        poisoners.commands.clear();
        let next = &driver.commands;
        for (_, pool) in poisoners.pools.drain() {
            call_down!(next, vkDestroyCommandPool(driver.handle, pool, null()));
        }
        if let Some(created_memory) = self.created_memory.get() {
            call_down!(
                next,
                vkDestroyBuffer(driver.handle, created_memory.buffer, null())
            );
            call_down!(next, vkFreeMemory(driver.handle, created_memory.memory, null()));
        }
    }
}

/// Stages and accesses of one side of a barrier.
type Scope = (vk::PipelineStageFlags, vk::AccessFlags);

const FILL: Scope = (vk::PipelineStageFlags::TRANSFER, vk::AccessFlags::TRANSFER_WRITE);
/// A scope that contains the fills of all commands before or after a barrier.
const FILLS: Scope = (
    vk::PipelineStageFlags::ALL_COMMANDS,
    vk::AccessFlags::TRANSFER_WRITE,
);
const WRITES: Scope = (
    vk::PipelineStageFlags::ALL_COMMANDS,
    vk::AccessFlags::MEMORY_WRITE,
);
const EVERYTHING: Scope = (
    vk::PipelineStageFlags::ALL_COMMANDS,
    vk::AccessFlags::from_raw(vk::AccessFlags::MEMORY_READ.as_raw() | vk::AccessFlags::MEMORY_WRITE.as_raw()),
);

fn barrier(driver: &Driver, commands: vk::CommandBuffer, (from, written): Scope, (to, awaited): Scope) {
    let barrier = vk::MemoryBarrier::default()
        .src_access_mask(written)
        .dst_access_mask(awaited);
    let (next, none) = (&driver.commands, vk::DependencyFlags::empty());
    call_down!(
        next,
        vkCmdPipelineBarrier(commands, from, to, none, 1, &barrier, 0, null(), 0, null())
    );
}

/// Creates a buffer for the layer's own use, and returns it with its memory requirements.
fn create_buffer(driver: &Driver, size: u64) -> Result<(vk::Buffer, vk::MemoryRequirements), vk::Result> {
    let info = vk::BufferCreateInfo::default()
        .size(size)
        .usage(vk::BufferUsageFlags::TRANSFER_DST | vk::BufferUsageFlags::STORAGE_BUFFER);
    let next = &driver.commands;
    let buffer = create_object(|out| call_down!(next, vkCreateBuffer(driver.handle, &info, null(), out)))?;
    let mut needs = vk::MemoryRequirements::default();
    call_down!(
        next,
        vkGetBufferMemoryRequirements(driver.handle, buffer, &mut needs)
    );
    Ok((buffer, needs))
}

fn create_pool(driver: &Driver, family: u32) -> Result<vk::CommandPool, vk::Result> {
    let info = vk::CommandPoolCreateInfo::default().queue_family_index(family);
    let next = &driver.commands;
    create_object(|out| call_down!(next, vkCreateCommandPool(driver.handle, &info, null(), out)))
}

fn allocate_commands(driver: &Driver, pool: vk::CommandPool) -> Result<vk::CommandBuffer, vk::Result> {
    let info = vk::CommandBufferAllocateInfo::default()
        .command_pool(pool)
        .level(vk::CommandBufferLevel::PRIMARY)
        .command_buffer_count(1);
    let next = &driver.commands;
    let commands: vk::CommandBuffer =
        create_object(|out| call_down!(next, vkAllocateCommandBuffers(driver.handle, &info, out)))?;
    if let Some(set) = driver.set_loader_data {
        // SAFETY: The loader's callback, for a handle that the layer has just created.
        let set = unsafe { set(driver.handle, commands.as_raw() as *mut std::ffi::c_void) };
        if set != vk::Result::SUCCESS {
            free_commands(driver, pool, commands);
            return Err(set);
        }
    }
    Ok(commands)
}

fn free_commands(driver: &Driver, pool: vk::CommandPool, commands: vk::CommandBuffer) {
    let next = &driver.commands;
    call_down!(next, vkFreeCommandBuffers(driver.handle, pool, 1, &commands));
}

/// Finds a device local memory type that a buffer, a color image and a depth image accept.
fn probe(driver: &Driver, types: &[vk::MemoryType]) -> Result<Option<u32>, vk::Result> {
    let next = &driver.commands;
    let (buffer, mut needs) = create_buffer(driver, 4096)?;
    call_down!(next, vkDestroyBuffer(driver.handle, buffer, null()));
    let mut bits = needs.memory_type_bits;
    let side = vk::Extent2D::default().width(64).height(64);
    let extent = vk::Extent3D::from(side);
    let (color, depth) = (
        vk::ImageUsageFlags::COLOR_ATTACHMENT,
        vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT,
    );
    for (format, attachment) in [
        (vk::Format::R8G8B8A8_UNORM, color),
        (vk::Format::D16_UNORM, depth),
    ] {
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(format)
            .extent(extent)
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(attachment | vk::ImageUsageFlags::SAMPLED);
        let image = create_object(|out| call_down!(next, vkCreateImage(driver.handle, &info, null(), out)))?;
        call_down!(
            next,
            vkGetImageMemoryRequirements(driver.handle, image, &mut needs)
        );
        call_down!(next, vkDestroyImage(driver.handle, image, null()));
        bits &= needs.memory_type_bits;
    }
    let usable = |index: &usize| {
        let flags = types[*index].property_flags;
        let odd = vk::MemoryPropertyFlags::LAZILY_ALLOCATED | vk::MemoryPropertyFlags::PROTECTED;
        bits >> index & 1 == 1
            && flags.contains(vk::MemoryPropertyFlags::DEVICE_LOCAL)
            && !flags.intersects(odd)
    };
    let found = (0..types.len()).find(usable);
    Ok(found.map(|index| index as u32))
}
