//! Sites: the bytes that an image or a buffer occupies.

use super::checker::Checker;
use crate::frame::ResourceId;
use crate::lower::state::{AddressSpace, AddressSpaceKind};
use crate::lower::tables::objects::MemoryBinding;
use crate::lower::tables::{DeviceQueueIndex, ImageOrBuffer};
use crate::plan::MemoryKind;
use crate::units::{Alignment, Bytes};

/// An address space, in which equal offsets mean the same byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SiteSpace {
    /// The tile heap as seen by one device queue: every tile object begins at its address 0, and each queue has its own contents.
    Tile(DeviceQueueIndex),
    /// An ordinary memory object.
    Memory(u32),
    /// The caller's memory of an external resource.
    Caller(ResourceId),
}

impl From<AddressSpace> for SiteSpace {
    fn from(space: AddressSpace) -> SiteSpace {
        match space.kind {
            AddressSpaceKind::Tile => SiteSpace::Tile(DeviceQueueIndex(space.index)),
            AddressSpaceKind::Memory => SiteSpace::Memory(space.index),
        }
    }
}

/// Bytes `[first, end)` of an address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Site {
    pub(super) place: SiteSpace,
    pub(super) first: u64,
    pub(super) end: u64,
    /// True if the bytes hold a buffer: buffers are linear, images optimally tiled. `None` if only earlier work used them.
    pub(super) linear: Option<bool>,
}

impl Site {
    /// The bytes of an image or a buffer, as used on a queue.
    pub(super) fn of(checker: &Checker<'_>, object: ImageOrBuffer, queue: DeviceQueueIndex) -> Site {
        let linear = Some(matches!(object, ImageOrBuffer::Buffer(_)));
        let MemoryBinding { memory, offset, size } = checker.binding_of(object);
        let Some(memory) = memory.get() else {
            return Site {
                place: SiteSpace::Caller(checker.resource_of(object)),
                first: 0,
                end: 1,
                linear,
            };
        };
        Site {
            place: match checker.tables.memory[memory as usize].kind {
                MemoryKind::Tile => SiteSpace::Tile(queue),
                _ => SiteSpace::Memory(memory),
            },
            first: offset.0,
            end: offset.0.saturating_add(size.0),
            linear,
        }
    }

    /// Returns true if two sites overlap in memory.
    ///
    /// A buffer and an image in one page of `granularity` bytes alias each other even if no byte is shared (Vulkan
    /// specification, "Buffer-Image Granularity"); tile memory has no such pages.
    pub(super) fn aliases(self, other: Site, granularity: Alignment) -> bool {
        let mine = self.seen_by(other, granularity);
        self.place == other.place && mine.0 < other.end && other.first < mine.1
    }

    /// The bytes of this site that count for an overlap with `other`: whole pages if one is linear and the other is not.
    pub(super) fn seen_by(self, other: Site, granularity: Alignment) -> (u64, u64) {
        let alike = self.linear == other.linear || self.linear.is_none() || other.linear.is_none();
        if alike || !matches!(self.place, SiteSpace::Memory(_)) {
            return (self.first, self.end);
        }
        let page = granularity.get();
        let end = Bytes(self.end)
            .checked_align_up(granularity)
            .unwrap_or(Bytes(u64::MAX));
        (self.first - self.first % page, end.0)
    }
}
