//! Memory state left by earlier work: an input of lowering, and its result for the next frame.
//!
//! ```text
//!              queue 0   … batch ─► batch │ frame          a use in batch 0 of queue 0, to be waited for by the next user
//! value relative to the frame   -1     0  │  1             of its bytes
//! ```

use ash::vk;
use serde::{Deserialize, Serialize};

use super::ids::{DeviceQueueIndex, ObjectRef, OptionalIndex};
use crate::frame::SubresourceRange;
use crate::names;
use crate::units::Bytes;

/// The state that earlier work left in the bytes of a frame's memory objects, and in the resources that outlive a frame.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryState {
    /// The last uses of bytes, sorted by space and first byte. Bytes that are not listed were never used.
    pub bytes: Vec<ByteUse>,
    /// The states of images and buffers whose contents were kept.
    pub contents: Vec<ContentState>,
}

/// The kind of an address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u32)]
pub enum AddressSpaceKind {
    /// The tile heap, as one device queue sees it: every tile memory object begins at its address 0.
    Tile,
    /// A row of [`Lowered::memory`](super::Lowered::memory).
    Memory,
}

/// An address space, in which equal offsets mean the same byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[repr(C)]
pub struct AddressSpace {
    /// The tile heap, or a memory object.
    pub kind: AddressSpaceKind,
    /// The device queue, or the row of memory.
    pub index: u32,
}

impl AddressSpace {
    /// The address space of the tile heap, as a device queue sees it.
    pub const fn tile(queue: DeviceQueueIndex) -> AddressSpace {
        let (kind, index) = (AddressSpaceKind::Tile, queue.0);
        AddressSpace { kind, index }
    }

    /// The address space of a memory object, by its row.
    pub const fn memory(row: u32) -> AddressSpace {
        let (kind, index) = (AddressSpaceKind::Memory, row);
        AddressSpace { kind, index }
    }

    /// Returns true for the tile heap.
    pub fn is_tile(self) -> bool {
        self.kind == AddressSpaceKind::Tile
    }
}

/// The last use of some bytes by one queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[repr(C)]
pub struct ByteUse {
    /// The address space of the bytes.
    pub space: AddressSpace,
    /// First byte.
    pub first: Bytes,
    /// One past the last byte.
    pub end: Bytes,
    /// The use.
    pub last: LastUse,
}

/// The last use of bytes or of a resource by one queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[repr(C)]
pub struct LastUse {
    /// The queue.
    pub queue: DeviceQueueIndex,
    /// The value of the queue's timeline semaphore once the use has completed, relative to the start of the frame: 0 or less.
    pub value: i64,
    /// Stages of the use.
    #[serde(with = "names::bits")]
    pub stages: vk::PipelineStageFlags2,
    /// Writes of the use that have not been made available.
    #[serde(with = "names::bits")]
    pub writes: vk::AccessFlags2,
}

/// The lowest value of a [`LastUse`]: older uses count as this old, since waiting for a later batch is correct too.
pub(super) const OLDEST: i64 = -64;

impl LastUse {
    /// Ages the use by `batches` more batches on its queue.
    pub(crate) fn age(&mut self, batches: i64) {
        self.value = self.value.saturating_sub(batches).max(OLDEST);
    }
}

/// Contents that outlive a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[repr(C)]
pub struct ContentState {
    /// The image or buffer.
    pub object: ObjectRef,
    /// The part of an image.
    pub range: SubresourceRange,
    /// True if the contents were ever written.
    pub defined: bool,
    /// The layout in which the image was left; `VK_IMAGE_LAYOUT_UNDEFINED` for buffers.
    #[serde(with = "names::value")]
    pub layout: vk::ImageLayout,
    /// The queue family that owns the contents; none if families share them, or none has used them.
    pub family: OptionalIndex,
}
