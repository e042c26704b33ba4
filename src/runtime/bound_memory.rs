//! The memory of a bound frame's resources.

use ash::vk;

use super::bound_frame::BoundFrame;
use crate::frame::ResourceId;
use crate::frame::tables::Version;
use crate::lower::Parity;
use crate::lower::tables::Object;

/// The memory that a resource is bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoundMemory {
    /// The memory object. It belongs to the device's pool, or to the allocator.
    pub memory: vk::DeviceMemory,
    /// Offset of the resource's first byte in it.
    pub offset: vk::DeviceSize,
    /// The resource's size in bytes.
    pub size: vk::DeviceSize,
}

impl BoundFrame {
    /// The memory that holds the current version of `resource` in frames of `parity`: to export it, for example
    /// ([`Hooks::own_memory`](super::Hooks::own_memory)).
    ///
    /// The resource keeps this memory for the lifetime of the bound frame. Afterwards the pool may lend both to another bound frame that
    /// describes an identical resource with the same hook.
    ///
    /// # Panics
    /// If the resource is external, or used by no pass.
    pub fn memory(&self, resource: ResourceId, parity: Parity) -> BoundMemory {
        let (frame, tables) = (&self.plan.frame, self.tables(parity));
        let mut uses = frame.uses_of(resource).iter().map(|&index| index as usize);
        let used = uses.find(|&index| frame.accesses()[index].version == Version::Current);
        let used =
            used.unwrap_or_else(|| panic!("resource `{}` is used by no pass", frame.resource(resource).name));
        let object = tables.accesses[used].object.get();
        let binding = match object {
            Object::Image(row) => tables.images[row as usize].binding,
            Object::Buffer(row) => tables.buffers[row as usize].binding,
        };
        let memory = binding
            .memory
            .get()
            .expect("external resources have the caller's memory");
        let block = self.handles.blocks[memory as usize];
        let (memory, start) = self.state.pool.lock().block(block).memory.location();
        BoundMemory {
            memory,
            offset: start + binding.offset.0,
            size: binding.size.0,
        }
    }
}
