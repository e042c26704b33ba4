//! The memory of a bound frame's resources.

use ash::vk;

use super::bound_frame::BoundFrame;
use crate::frame::ResourceId;
use crate::frame::tables::HistoryVersion;
use crate::lower::Parity;
use crate::lower::tables::ImageOrBuffer;

/// The memory that a resource is bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoundMemory {
    /// The memory object. It belongs to the device's pool, or to the allocator.
    pub memory: vk::DeviceMemory,
    /// Offset of the resource's first byte in the memory object.
    pub offset: vk::DeviceSize,
    /// The resource's size in bytes.
    pub size: vk::DeviceSize,
    /// The memory type.
    pub memory_type: u32,
    /// Size in bytes of the block that contains the resource: `allocationSize` of the memory object if it is for this resource only
    /// ([`Hooks::dedicated_memory`](super::Hooks::dedicated_memory)).
    pub allocation_size: vk::DeviceSize,
}

impl BoundFrame {
    /// The memory that holds the current version of `resource` in frames of `parity`, for example to export it
    /// ([`Hooks::dedicated_memory`](super::Hooks::dedicated_memory)).
    ///
    /// The resource keeps this memory for the lifetime of the bound frame. Afterwards the pool may lend both to another bound frame that
    /// describes an identical resource with the same hook.
    ///
    /// # Panics
    /// If the resource is external, no pass uses its current version, or it was described and its [values](crate::execute::ExecutedFrame::separate_values)
    /// are separate resources, each with its own memory.
    pub fn memory(&self, resource: ResourceId, parity: Parity) -> BoundMemory {
        let (frame, tables) = (&self.plan.frame, self.tables());
        if let (Some(value), Some(divided)) = (
            self.plan.origins.resource(resource).value,
            self.plan.described().resources().get(resource.index()),
        ) {
            let (name, count) = (&divided.name, value.count);
            panic!("resource `{name}` has {count} values, each with memory of its own");
        }
        let mut uses = frame.uses_of(resource).iter().map(|&index| index as usize);
        let used = uses.find(|&index| frame.accesses()[index].version == HistoryVersion::Current);
        let name = &frame.resource(resource).name;
        let used = used.unwrap_or_else(|| panic!("no pass uses the current version of resource `{name}`"));
        let (object, _) = self.object_of(used, parity);
        let binding = match object {
            ImageOrBuffer::Image(row) => tables.images[row as usize].binding,
            ImageOrBuffer::Buffer(row) => tables.buffers[row as usize].binding,
        };
        let memory = binding
            .memory
            .get()
            .expect("external resources have the caller's memory");
        let block = self.objects.handles.blocks[memory as usize];
        let pool = self.state.pool.lock();
        let block = pool.block(block);
        let (handle, start) = block.memory.location();
        BoundMemory {
            memory: handle,
            offset: start + binding.offset.0,
            // If more was planned than the driver requires, a dedicated allocation is smaller.
            size: binding.size.0.min(block.bytes.0.saturating_sub(binding.offset.0)),
            memory_type: tables.memory[memory as usize].memory_type,
            allocation_size: block.bytes.0,
        }
    }
}
