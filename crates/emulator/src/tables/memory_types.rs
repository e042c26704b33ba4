//! Translates memory types and heaps between the application and the driver: the tile heap and its memory types are added to the
//! driver's.
//!
//! ```text
//! driver       0: D            1: D|V           heaps 0 1
//! application  0: D   1: TILE   2: D|V           heaps 0 1 2: the tile heap
//! ```
//! The heap comes last, so that the driver's heaps keep their indices. A type is inserted where the specification allows it: a type whose flags are a
//! strict subset of another's comes before that type (VkPhysicalDeviceMemoryProperties).

use ash::vk;
use tileheap_device::ffi::MEMORY_HEAP_TILE_MEMORY_BIT_QCOM;
use tileheap_device::profile::MemoryTypePosition;

/// The driver's counterpart of a memory type of the application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TypeOrigin {
    /// The driver's memory type with this index.
    Driver(u32),
    /// An emulated memory type of the tile heap.
    Tile,
    /// The emulated lazily allocated memory type, which maps to the driver's type with this index.
    Lazy(u32),
}

/// The memory types and heaps of one physical device.
#[derive(Clone, Debug)]
pub(crate) struct MemoryTypes {
    origins: Vec<TypeOrigin>,
    shown: vk::PhysicalDeviceMemoryProperties,
    tile_heap: u32,
}

/// Memory types and heaps to add to the driver's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AddedMemory {
    /// Bytes of the tile heap.
    pub(crate) heap_size: u64,
    /// The flags of each tile type.
    pub(crate) tile_types: &'static [vk::MemoryPropertyFlags],
    pub(crate) position: MemoryTypePosition,
    /// True to fill the array elements past the counts with types and heaps that look usable.
    pub(crate) fills_unused_entries: bool,
    /// True to add a lazily allocated type.
    pub(crate) has_lazy_type: bool,
}

impl MemoryTypes {
    /// Adds types and heaps to the driver's; `None` if Vulkan's limits leave no room, or the driver does not have a device-local type.
    pub(crate) fn new(
        driver: &vk::PhysicalDeviceMemoryProperties,
        added: AddedMemory,
    ) -> Option<MemoryTypes> {
        let types = driver.memory_types_as_slice();
        let heaps = driver.memory_heap_count as usize;
        let new_types = added.tile_types.len() + usize::from(added.has_lazy_type);
        if types.len() + new_types > vk::MAX_MEMORY_TYPES || heaps + 1 > vk::MAX_MEMORY_HEAPS {
            return None;
        }
        let local = vk::MemoryPropertyFlags::DEVICE_LOCAL;
        let ordinary = types
            .iter()
            .position(|kind| kind.property_flags.contains(local))?;
        let mut entries: Vec<_> = (0..types.len() as u32)
            .map(|index| (TypeOrigin::Driver(index), types[index as usize]))
            .collect();
        for flags in added.tile_types {
            let kind = vk::MemoryType {
                property_flags: *flags,
                heap_index: heaps as u32,
            };
            entries.insert(
                type_index(&entries, *flags, added.position),
                (TypeOrigin::Tile, kind),
            );
        }
        if added.has_lazy_type {
            let kind = vk::MemoryType {
                property_flags: local | vk::MemoryPropertyFlags::LAZILY_ALLOCATED,
                heap_index: types[ordinary].heap_index,
            };
            let at = type_index(&entries, kind.property_flags, MemoryTypePosition::Last);
            entries.insert(at, (TypeOrigin::Lazy(ordinary as u32), kind));
        }
        let mut shown = *driver;
        if added.fills_unused_entries {
            fill(&mut shown, heaps + 1);
        }
        shown.memory_heaps[heaps] = vk::MemoryHeap {
            size: added.heap_size,
            flags: vk::MemoryHeapFlags::DEVICE_LOCAL | MEMORY_HEAP_TILE_MEMORY_BIT_QCOM,
        };
        shown.memory_heap_count += 1;
        shown.memory_type_count = entries.len() as u32;
        for (shown, (_, kind)) in shown.memory_types.iter_mut().zip(&entries) {
            *shown = *kind;
        }
        Some(MemoryTypes {
            origins: entries.into_iter().map(|(origin, _)| origin).collect(),
            shown,
            tile_heap: heaps as u32,
        })
    }

    /// The properties that the application sees.
    pub(crate) fn shown(&self) -> &vk::PhysicalDeviceMemoryProperties {
        &self.shown
    }

    /// The driver's counterpart of a type; `None` for an invalid index.
    pub(crate) fn origin(&self, index: u32) -> Option<TypeOrigin> {
        self.origins.get(index as usize).copied()
    }

    /// Translates the driver's type bits to the application's, without the emulated types.
    pub(crate) fn bits(&self, driver: u32) -> u32 {
        self.mask(|origin| matches!(origin, TypeOrigin::Driver(index) if driver >> index & 1 == 1))
    }

    /// The type bit of the emulated lazily allocated type, if the driver's type bits of a resource include the type that it maps to; otherwise 0.
    pub(crate) fn lazy_bits(&self, driver: u32) -> u32 {
        self.mask(|origin| matches!(origin, TypeOrigin::Lazy(index) if driver >> index & 1 == 1))
    }

    fn mask(&self, wanted: impl Fn(TypeOrigin) -> bool) -> u32 {
        let types = self.origins.iter().enumerate();
        types
            .filter(|(_, origin)| wanted(**origin))
            .fold(0, |bits, (index, _)| bits | 1 << index)
    }

    /// The bits of the tile types.
    pub(crate) fn tile_bits(&self) -> u32 {
        self.mask(|origin| origin == TypeOrigin::Tile)
    }

    /// The index of the tile heap.
    pub(crate) fn tile_heap(&self) -> u32 {
        self.tile_heap
    }
}

/// Returns the index at which to insert a type with these flags: after every type whose flags are a strict subset of them, and before every type
/// whose flags are a strict superset; `position` selects one of several such indices. If the driver's own order breaks this rule, there is no such
/// index; the type then goes before the supersets.
fn type_index(
    entries: &[(TypeOrigin, vk::MemoryType)],
    flags: vk::MemoryPropertyFlags,
    position: MemoryTypePosition,
) -> usize {
    let is_strict = |small: vk::MemoryPropertyFlags, large| small != large && large & small == small;
    let flags_of = |entry: &(TypeOrigin, vk::MemoryType)| entry.1.property_flags;
    let last = entries
        .iter()
        .position(|entry| is_strict(flags, flags_of(entry)))
        .unwrap_or(entries.len());
    let first = entries[..last]
        .iter()
        .rposition(|entry| is_strict(flags_of(entry), flags))
        .map_or(0, |at| at + 1);
    match position {
        MemoryTypePosition::First => first,
        MemoryTypePosition::Middle => (first + last).div_ceil(2),
        MemoryTypePosition::Last => last,
    }
}

/// Fills the elements past the counts, which applications must not read, with types and heaps that look usable: the heaps are tile heaps of the
/// largest size.
fn fill(shown: &mut vk::PhysicalDeviceMemoryProperties, heaps: usize) {
    let behind = vk::MemoryType {
        property_flags: vk::MemoryPropertyFlags::from_raw(0xF),
        heap_index: u32::MAX,
    };
    let types = shown.memory_type_count as usize;
    shown.memory_types[types..].fill(behind);
    shown.memory_heaps[heaps..].fill(vk::MemoryHeap {
        size: u64::MAX,
        flags: vk::MemoryHeapFlags::DEVICE_LOCAL | MEMORY_HEAP_TILE_MEMORY_BIT_QCOM,
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use vk::MemoryPropertyFlags as P;

    fn driver(types: &[P]) -> vk::PhysicalDeviceMemoryProperties {
        let mut properties = vk::PhysicalDeviceMemoryProperties {
            memory_type_count: types.len() as u32,
            memory_heap_count: 1,
            ..Default::default()
        };
        for (slot, flags) in properties.memory_types.iter_mut().zip(types) {
            slot.property_flags = *flags;
        }
        properties.memory_heaps[0].size = 1 << 30;
        properties
    }

    const ADDED: AddedMemory = AddedMemory {
        heap_size: 5,
        tile_types: &[P::DEVICE_LOCAL],
        position: MemoryTypePosition::Last,
        fills_unused_entries: false,
        has_lazy_type: false,
    };
    const EVERYTHING: P = P::from_raw(0xF);
    const MAPPED: P = P::from_raw(P::HOST_VISIBLE.as_raw() | P::HOST_COHERENT.as_raw());

    #[test]
    fn there_may_be_no_room() {
        assert!(MemoryTypes::new(&driver(&[EVERYTHING; 32]), ADDED).is_none());
        assert!(MemoryTypes::new(&driver(&[MAPPED]), ADDED).is_none());
        assert!(MemoryTypes::new(&driver(&[EVERYTHING; 31]), ADDED).is_some());
    }
}
