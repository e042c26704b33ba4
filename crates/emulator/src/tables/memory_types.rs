//! Memory types and heaps as the application sees them, and back: the tile heap and its type among the driver's.
//!
//! ```text
//! driver       0: D            1: D|V           heaps 0 1
//! application  0: D   1: TILE   2: D|V           heaps 0 1 2: the tile heap
//! ```
//! The heap comes last, so no heap of the driver changes its index. The type comes where the specification wants it: a type
//! whose flags are a strict subset of another's comes first (VkPhysicalDeviceMemoryProperties), and the tile type has
//! DEVICE_LOCAL alone.

use ash::vk;
use tileheap_device::ffi::MEMORY_HEAP_TILE_MEMORY_BIT_QCOM;

/// What a memory type of the application is below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TypeOrigin {
    /// A type of the driver.
    Driver(u32),
    /// The emulated tile type.
    Tile,
    /// The emulated lazily allocated type, which is a type of the driver.
    Lazy(u32),
}

/// The memory types and heaps of one physical device.
#[derive(Clone, Debug)]
pub(crate) struct MemoryTypes {
    origins: Vec<TypeOrigin>,
    shown: vk::PhysicalDeviceMemoryProperties,
    tile_type: u32,
    tile_heap: u32,
}

/// What a device is given besides what its driver has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AddedMemory {
    /// Bytes of the tile heap.
    pub(crate) heap_size: u64,
    /// The tile type comes before ordinary types of the same flags.
    pub(crate) type_first: bool,
    /// Adds a lazily allocated type.
    pub(crate) lazy: bool,
}

impl MemoryTypes {
    /// The driver's types and heaps with the added; `None` where Vulkan's limits leave no room, or the driver has no
    /// device local type.
    pub(crate) fn new(
        driver: &vk::PhysicalDeviceMemoryProperties,
        added: AddedMemory,
    ) -> Option<MemoryTypes> {
        let types = driver.memory_types_as_slice();
        let heaps = driver.memory_heap_count as usize;
        let new_types = 1 + usize::from(added.lazy);
        if types.len() + new_types > vk::MAX_MEMORY_TYPES || heaps + 1 > vk::MAX_MEMORY_HEAPS {
            return None;
        }
        let local = vk::MemoryPropertyFlags::DEVICE_LOCAL;
        let ordinary = types
            .iter()
            .position(|kind| kind.property_flags.contains(local))?;
        let mut origins: Vec<_> = (0..types.len() as u32).map(TypeOrigin::Driver).collect();
        origins.insert(tile_type_index(types, added.type_first), TypeOrigin::Tile);
        if added.lazy {
            // Its flags are a subset of no driver's but those of other lazy types, which then are there already.
            origins.push(TypeOrigin::Lazy(ordinary as u32));
        }
        let mut shown = *driver;
        shown.memory_heaps[heaps] = vk::MemoryHeap {
            size: added.heap_size,
            flags: vk::MemoryHeapFlags::DEVICE_LOCAL | MEMORY_HEAP_TILE_MEMORY_BIT_QCOM,
        };
        shown.memory_heap_count += 1;
        shown.memory_type_count = origins.len() as u32;
        for (shown, origin) in shown.memory_types.iter_mut().zip(&origins) {
            *shown = match *origin {
                TypeOrigin::Driver(index) => types[index as usize],
                TypeOrigin::Tile => vk::MemoryType {
                    property_flags: local,
                    heap_index: heaps as u32,
                },
                TypeOrigin::Lazy(index) => vk::MemoryType {
                    property_flags: local | vk::MemoryPropertyFlags::LAZILY_ALLOCATED,
                    heap_index: types[index as usize].heap_index,
                },
            };
        }
        let tile_type = origins.iter().position(|origin| *origin == TypeOrigin::Tile)? as u32;
        Some(MemoryTypes {
            origins,
            shown,
            tile_type,
            tile_heap: heaps as u32,
        })
    }

    /// What the application is shown.
    pub(crate) fn shown(&self) -> &vk::PhysicalDeviceMemoryProperties {
        &self.shown
    }

    /// What a type of the application is below; `None` for an index that was never shown.
    pub(crate) fn origin(&self, index: u32) -> Option<TypeOrigin> {
        self.origins.get(index as usize).copied()
    }

    /// The driver's type bits as the application's, without the emulated types.
    pub(crate) fn bits(&self, driver: u32) -> u32 {
        self.mask(|origin| matches!(origin, TypeOrigin::Driver(index) if driver >> index & 1 == 1))
    }

    /// The bits of the lazily allocated type for a resource with these driver bits.
    pub(crate) fn lazy_bits(&self, driver: u32) -> u32 {
        self.mask(|origin| matches!(origin, TypeOrigin::Lazy(index) if driver >> index & 1 == 1))
    }

    fn mask(&self, wanted: impl Fn(TypeOrigin) -> bool) -> u32 {
        let types = self.origins.iter().enumerate();
        types
            .filter(|(_, origin)| wanted(**origin))
            .fold(0, |bits, (index, _)| bits | 1 << index)
    }

    /// The bit of the tile type.
    pub(crate) fn tile_bit(&self) -> u32 {
        1 << self.tile_type
    }

    /// The index of the tile heap.
    pub(crate) fn tile_heap(&self) -> u32 {
        self.tile_heap
    }
}

/// Where the tile type goes among the driver's.
fn tile_type_index(types: &[vk::MemoryType], first: bool) -> usize {
    let local = vk::MemoryPropertyFlags::DEVICE_LOCAL;
    let larger = |kind: &vk::MemoryType| kind.property_flags.contains(local) && kind.property_flags != local;
    // A driver that lists a type of fewer flags behind one of more breaks the rule itself; the subset rule then wins.
    let end = types.iter().position(larger).unwrap_or(types.len());
    let equal = types[..end].iter().position(|kind| kind.property_flags == local);
    match equal {
        Some(equal) if first => equal,
        _ => end,
    }
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

    fn remap(types: &[P], type_first: bool, lazy: bool) -> MemoryTypes {
        let added = AddedMemory {
            heap_size: 5,
            type_first,
            lazy,
        };
        MemoryTypes::new(&driver(types), added).unwrap()
    }

    const EVERYTHING: P = P::from_raw(0xF);
    const MAPPED: P = P::from_raw(P::HOST_VISIBLE.as_raw() | P::HOST_COHERENT.as_raw());

    #[test]
    fn beside_a_single_type_the_tile_type_is_index_0() {
        let remap = remap(&[EVERYTHING], false, false);
        assert_eq!(remap.tile_bit(), 1);
        assert_eq!(remap.bits(1), 0b10);
        assert_eq!(remap.origin(1), Some(TypeOrigin::Driver(0)));
        assert_eq!(remap.origin(2), None);
        let shown = remap.shown();
        assert_eq!((shown.memory_type_count, shown.memory_heap_count), (2, 2));
        assert_eq!(shown.memory_heaps[1].flags.as_raw(), 0x9);
        assert_eq!(shown.memory_types[0].heap_index, remap.tile_heap());
    }

    #[test]
    fn the_order_of_subsets_holds_wherever_the_tile_type_goes() {
        let shapes: &[&[P]] = &[
            &[EVERYTHING],
            &[P::empty(), P::DEVICE_LOCAL, MAPPED, EVERYTHING],
            &[P::DEVICE_LOCAL, P::DEVICE_LOCAL, MAPPED, EVERYTHING],
            &[MAPPED, P::DEVICE_LOCAL],
            &[P::empty(), P::empty(), MAPPED, P::DEVICE_LOCAL | MAPPED],
        ];
        for types in shapes {
            for first in [false, true] {
                let remap = remap(types, first, true);
                let shown = remap.shown().memory_types_as_slice();
                for (at, x) in shown.iter().enumerate() {
                    for y in &shown[..at] {
                        let subset = y.property_flags.contains(x.property_flags);
                        assert!(
                            !subset || x.property_flags == y.property_flags,
                            "{types:?} {first} {shown:?}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn the_tile_type_goes_before_or_behind_its_equals() {
        let types = [P::empty(), P::DEVICE_LOCAL, EVERYTHING];
        assert_eq!(remap(&types, true, false).tile_bit(), 0b010);
        let behind = remap(&types, false, false);
        assert_eq!(behind.tile_bit(), 0b100);
        assert_eq!(behind.bits(0b111), 0b1011);
    }

    #[test]
    fn a_lazy_type_is_a_driver_type_below() {
        let remap = remap(&[P::empty(), EVERYTHING], false, true);
        assert_eq!(remap.origin(3), Some(TypeOrigin::Lazy(1)));
        assert_eq!(remap.lazy_bits(0b10), 0b1000);
        assert_eq!(remap.lazy_bits(0b01), 0);
    }

    #[test]
    fn there_may_be_no_room() {
        let added = AddedMemory {
            heap_size: 5,
            type_first: false,
            lazy: false,
        };
        assert!(MemoryTypes::new(&driver(&[EVERYTHING; 32]), added).is_none());
        assert!(MemoryTypes::new(&driver(&[MAPPED]), added).is_none());
    }
}
