//! The profiles by name, as one table: one real reading, two estimates scaled from it, a desktop without tile memory, and
//! devices that exist only to test programs.

use ash::vk;

use super::device::{
    DeviceProfile, Features, Limits, MemoryHeap, MemoryType, TILE_HEAP_FLAG, TileBlock, TileHeap,
};
use crate::error::{Error, Result};
use crate::units::{Alignment, Bytes};

/// A profile: what differs from the other devices of its kind.
struct Preset {
    name: &'static str,
    source: &'static str,
    gmem: Bytes,
    /// `None`: a desktop.
    tile: Option<PresetHeap>,
    quirks: Quirks,
}

struct PresetHeap {
    size: Bytes,
    block: TileBlock,
    /// The submit boundary, and transfers of buffers.
    grants: bool,
}

/// How an emulated device differs from the layout model: legal, and seen only by the programs that run on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Quirks {
    /// The flags of each tile memory type.
    pub tile_types: &'static [vk::MemoryPropertyFlags],
    /// Where the tile memory types are among the others.
    pub tile_type_position: TypePosition,
    /// Entries of the arrays of memory types and heaps behind their counts are not 0.
    pub nonsense_behind_counts: bool,
    /// The tile requirements of a resource that is larger than the heap are 0.
    pub nothing_beyond_heap: bool,
    /// The least size of a tile resource.
    pub least_size: Bytes,
    /// Sizes are not multiples of the alignment.
    pub odd_sizes: bool,
    /// Formats whose tile requirements are 0.
    pub refused_formats: &'static [vk::Format],
    /// Images outside the guaranteed set are accepted where the driver accepts them.
    pub beyond_guaranteed: bool,
}

/// Where tile memory types are among the others, as far as the rule of subsets allows: a type whose flags are a strict subset of
/// another's comes before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypePosition {
    /// As early as possible.
    First,
    /// Half way between.
    Middle,
    /// As late as possible.
    Last,
}

/// A tile memory type as the Adreno profiles have it.
///
/// Source: ANGLE (`VK_QCOM_tile_memory_heap` since November 2025), whose debug builds assert on Adreno that the tile heap has one memory
/// type, and that it is LAZILY_ALLOCATED. The reading of Adreno 830 does not list types.
const LAZY: vk::MemoryPropertyFlags = vk::MemoryPropertyFlags::from_raw(
    vk::MemoryPropertyFlags::DEVICE_LOCAL.as_raw() | vk::MemoryPropertyFlags::LAZILY_ALLOCATED.as_raw(),
);

impl Quirks {
    const NONE: Quirks = Quirks {
        tile_types: &[vk::MemoryPropertyFlags::DEVICE_LOCAL],
        tile_type_position: TypePosition::Last,
        nonsense_behind_counts: false,
        nothing_beyond_heap: false,
        least_size: Bytes(1),
        odd_sizes: false,
        refused_formats: &[],
        beyond_guaranteed: false,
    };

    const ADRENO: Quirks = Quirks {
        tile_types: &[LAZY],
        // Not known; so that programs that take the first device local type fail wherever they may.
        tile_type_position: TypePosition::First,
        ..Quirks::NONE
    };
}

macro_rules! assumed {
    () => {
        "ordinary heaps, memory types, limits and Vulkan 1.3 features are assumptions"
    };
}

macro_rules! estimated {
    ($gmem_mib:literal) => {
        concat!(
            "estimate: ",
            $gmem_mib,
            " MiB of GMEM, of which the tile heap takes the same 66.4 % as on Adreno 830, in whole blocks; \
             tileBufferTransfers and queueSubmitBoundary are assumed false; ",
            assumed!()
        )
    };
}

/// Every profile, the default first.
const TABLE: [Preset; 8] = [
    adreno_preset(
        "adreno-830",
        concat!(
            "public reading of Adreno 830, driver 512.842.6, Vulkan 1.4.295; tileBufferTransfers was not recorded and is assumed \
             false; ",
            assumed!()
        ),
        12,
    ),
    adreno_preset("adreno-840", estimated!(18), 18),
    adreno_preset("x2-85", estimated!(21), 21),
    Preset {
        name: "no-tile-memory",
        source: "assumption: a device with one memory type, as software drivers have",
        gmem: Bytes::ZERO,
        tile: None,
        quirks: Quirks::NONE,
    },
    Preset {
        quirks: Quirks {
            least_size: Bytes(4096),
            ..Quirks::NONE
        },
        ..invented(
            "validation-icd",
            "the null driver of the validation layers' own tests: heap and alignment as there; submit boundary and \
             transfers are granted, so that more of those tests run",
            1_000_000_000,
            block(32, 1),
            true,
        )
    },
    Preset {
        quirks: Quirks {
            tile_type_position: TypePosition::First,
            nonsense_behind_counts: true,
            nothing_beyond_heap: true,
            odd_sizes: true,
            refused_formats: &[
                vk::Format::R8_UNORM,
                vk::Format::R32G32B32A32_SFLOAT,
                vk::Format::D32_SFLOAT_S8_UINT,
            ],
            ..Quirks::NONE
        },
        ..invented(
            "hostile",
            "invented: legal numbers that break programs which assume more than the specification guarantees",
            // Not a multiple of the alignment, nor of anything else.
            6_291_449,
            BLOCK,
            false,
        )
    },
    Preset {
        quirks: Quirks {
            tile_type_position: TypePosition::Middle,
            beyond_guaranteed: true,
            ..Quirks::NONE
        },
        ..invented(
            "generous",
            "invented: everything that an implementation may grant is granted",
            16 << 20,
            block(4096, 32),
            true,
        )
    },
    Preset {
        quirks: Quirks {
            tile_types: &[vk::MemoryPropertyFlags::DEVICE_LOCAL, LAZY],
            tile_type_position: TypePosition::Middle,
            ..Quirks::NONE
        },
        ..adreno_preset(
            "two-tile-types",
            "invented: a tile heap with two memory types, one of them lazily allocated, as the specification allows",
            12,
        )
    },
];

/// An Adreno 8xx with so many MiB of GMEM.
const fn adreno_preset(name: &'static str, source: &'static str, mib: u64) -> Preset {
    let gmem = Bytes::mib(mib);
    let blocks = gmem.0 / BLOCK.bytes.get() * HEAP_BLOCKS_PER_1024 / 1024;
    Preset {
        gmem,
        quirks: Quirks::ADRENO,
        ..invented(name, source, blocks * BLOCK.bytes.get(), BLOCK, false)
    }
}

/// A device with a heap of so many bytes, which grants everything or nothing. The heap takes three parts of four of its GMEM, as nearly
/// two of three on real hardware.
const fn invented(
    name: &'static str,
    source: &'static str,
    heap: u64,
    block: TileBlock,
    grants: bool,
) -> Preset {
    Preset {
        name,
        source,
        gmem: Bytes(heap.div_ceil(3) * 4),
        tile: Some(PresetHeap {
            size: Bytes(heap),
            block,
            grants,
        }),
        quirks: Quirks::NONE,
    }
}

/// The names that [`DeviceProfile::preset`] knows, the default first.
pub const PRESETS: [&str; TABLE.len()] = {
    let mut names = [""; TABLE.len()];
    let mut index = 0;
    while index < names.len() {
        names[index] = TABLE[index].name;
        index += 1;
    }
    names
};

/// The tile block of the one device that was read: its alignment, and rows that explain both sizes it reported.
const BLOCK: TileBlock = block(12_288, 32);

const fn block(bytes: u64, rows: u32) -> TileBlock {
    TileBlock {
        bytes: Alignment::new(bytes).unwrap(),
        rows,
    }
}

/// Blocks of tile heap for every 1,024 blocks of GMEM on the one device that was read: 680 of 1,024, or 66.4 %.
const HEAP_BLOCKS_PER_1024: u64 = 680;

/// Features of a Vulkan 1.3 device.
const VULKAN_1_3: Features = Features::SYNCHRONIZATION_2
    .union(Features::DYNAMIC_RENDERING)
    .union(Features::TIMELINE_SEMAPHORE)
    .union(Features::MAINTENANCE_4)
    .union(Features::STORE_OP_NONE)
    .union(Features::SEPARATE_DEPTH_STENCIL_LAYOUTS)
    .union(Features::MULTIVIEW);

fn find(name: &str) -> Result<&'static Preset> {
    TABLE
        .iter()
        .find(|preset| preset.name == name)
        .ok_or_else(|| Error::UnknownProfile {
            name: name.to_owned(),
            known: &PRESETS,
        })
}

impl Quirks {
    /// The quirks of a device by name; [`PRESETS`] lists them.
    ///
    /// # Errors
    /// [`Error::UnknownProfile`], which lists the names.
    pub fn of_preset(name: &str) -> Result<Quirks> {
        find(name).map(|preset| preset.quirks)
    }
}

impl DeviceProfile {
    /// A device by name; [`PRESETS`] lists them.
    ///
    /// | preset | tile heap | measured | assumed or estimated |
    /// |---|---|---|---|
    /// | `adreno-830` | 8,355,840 B of 12 MiB | heap 2, its size and flags (0x9), alignment 12,288, `queueSubmitBoundary` false | no buffer transfers; ordinary heaps and types, a lazily allocated type among them; limits; features |
    /// | `adreno-840` | 12,533,760 B of 18 MiB | GMEM | everything else: the heap scaled from `adreno-830` |
    /// | `x2-85` | 14,622,720 B of 21 MiB | GMEM | everything else: the heap scaled from `adreno-830` |
    /// | `validation-icd` | 1,000,000,000 B | as the null driver of the validation layers' tests has it | everything |
    /// | `hostile` | 6,291,449 B | nothing | invented: legal, and awkward |
    /// | `generous` | 16 MiB | nothing | invented: all is granted |
    /// | `two-tile-types` | 8,355,840 B | nothing | invented: the tile heap has two memory types |
    /// | `no-tile-memory` | none | nothing | a desktop with one memory type, like a software driver's |
    ///
    /// # Errors
    /// [`Error::UnknownProfile`], which lists the names.
    ///
    /// ```
    /// use tileheap_device::profile::DeviceProfile;
    ///
    /// let adreno = DeviceProfile::preset("adreno-830")?;
    /// assert_eq!(adreno.tile.unwrap().size.0, 8_355_840);
    /// # Ok::<(), tileheap_device::Error>(())
    /// ```
    pub fn preset(name: &str) -> Result<DeviceProfile> {
        let preset = find(name)?;
        Ok(match &preset.tile {
            Some(tile) => adreno(preset, tile),
            None => desktop(preset),
        })
    }

    /// The same device with a tile heap of `size` bytes; where that is more than its GMEM, GMEM grows with it.
    ///
    /// # Errors
    /// [`Error::NoTileHeap`] if there is no tile heap to resize, [`Error::EmptyTileHeap`] for 0 bytes: for a device without tile
    /// memory choose the profile `no-tile-memory`.
    pub fn with_tile_heap_size(mut self, size: Bytes) -> Result<DeviceProfile> {
        let Some(tile) = &mut self.tile else {
            return Err(Error::NoTileHeap { profile: self.name });
        };
        tile.size = size;
        if let Some(heap) = self.heaps.get_mut(tile.heap as usize) {
            heap.size = size;
        }
        self.gmem = self.gmem.max(size);
        self.source += &format!("; tile heap set to {size}");
        self.validate()?;
        Ok(self)
    }
}

/// A device with the heaps and memory types of an Adreno 8xx.
///
/// The tile heap is heap 2, as read. The tile *type* is an assumption: its flags are DEVICE_LOCAL alone, and of types of
/// equal flags the one on the faster heap comes first, so it is type 0. Code that takes the first DEVICE_LOCAL type
/// it finds then fails.
///
/// Source: the reading in the presets' table; Vulkan specification, "Device Memory" (the order of memory types).
fn adreno(preset: &Preset, tile: &PresetHeap) -> DeviceProfile {
    use vk::MemoryPropertyFlags as P;
    let mapped = P::DEVICE_LOCAL | P::HOST_VISIBLE;
    let heap = |size, flags| MemoryHeap {
        size,
        flags: vk::MemoryHeapFlags::DEVICE_LOCAL | flags,
    };
    let none = vk::MemoryHeapFlags::empty();
    let kind = |flags, heap| MemoryType { flags, heap };
    DeviceProfile {
        heaps: vec![
            heap(Bytes::mib(8 * 1024), none),
            heap(Bytes::mib(256), none),
            heap(tile.size, TILE_HEAP_FLAG),
        ],
        memory_types: vec![
            kind(P::DEVICE_LOCAL, 2),
            kind(P::DEVICE_LOCAL, 0),
            kind(mapped | P::HOST_COHERENT, 0),
            kind(mapped | P::HOST_CACHED, 0),
            kind(mapped | P::HOST_COHERENT | P::HOST_CACHED, 0),
            kind(P::DEVICE_LOCAL | P::LAZILY_ALLOCATED, 0),
            kind(P::DEVICE_LOCAL | P::PROTECTED, 1),
        ],
        tile: Some(TileHeap {
            heap: 2,
            memory_type: 0,
            size: tile.size,
            queue_submit_boundary: tile.grants,
            buffer_transfers: tile.grants,
            block: tile.block,
        }),
        limits: limits(Alignment::ONE),
        ..desktop(preset)
    }
}

/// A desktop: one heap, one type that does everything, nothing on chip that the application can see.
fn desktop(preset: &Preset) -> DeviceProfile {
    use vk::MemoryPropertyFlags as P;
    DeviceProfile {
        name: preset.name.to_owned(),
        source: preset.source.to_owned(),
        heaps: vec![MemoryHeap {
            size: Bytes::mib(16 * 1024),
            flags: vk::MemoryHeapFlags::DEVICE_LOCAL,
        }],
        memory_types: vec![MemoryType {
            flags: P::DEVICE_LOCAL | P::HOST_VISIBLE | P::HOST_COHERENT | P::HOST_CACHED,
            heap: 0,
        }],
        tile: None,
        gmem: preset.gmem,
        limits: limits(Alignment::new(64).unwrap()),
        features: VULKAN_1_3,
    }
}

fn limits(buffer_image_granularity: Alignment) -> Limits {
    Limits {
        buffer_image_granularity,
        max_allocation: Bytes::mib(2 * 1024),
        max_image_dimension_2d: 16_384,
        max_color_attachments: 8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_is_sound_and_bears_its_name() {
        for name in PRESETS {
            let profile = DeviceProfile::preset(name).unwrap();
            assert_eq!(profile.name, name);
            profile.validate().unwrap();
        }
    }

    #[test]
    fn adreno_830_is_the_public_reading() {
        let profile = DeviceProfile::preset("adreno-830").unwrap();
        let tile = profile.tile.unwrap();
        assert_eq!((tile.heap, tile.size), (2, Bytes(8_355_840)));
        assert_eq!(profile.heaps[2].flags.as_raw(), 0x9);
        assert_eq!(tile.block.bytes.get(), 12_288);
        assert!(!tile.queue_submit_boundary && !tile.buffer_transfers);
        assert_eq!(profile.gmem, Bytes::mib(12));
        assert!(profile.source.contains("assumed false"));
    }

    #[test]
    fn estimates_scale_in_whole_blocks_and_say_so() {
        for (name, blocks, gmem) in [("adreno-840", 1020, 18), ("x2-85", 1190, 21)] {
            let profile = DeviceProfile::preset(name).unwrap();
            assert_eq!(profile.tile.unwrap().size, Bytes(blocks * 12_288), "{name}");
            assert_eq!(profile.gmem, Bytes::mib(gmem), "{name}");
            assert!(profile.source.starts_with("estimate"), "{name}");
        }
    }

    #[test]
    fn tile_lazy_and_protected_types_are_not_ordinary() {
        let profile = DeviceProfile::preset("adreno-830").unwrap();
        assert_eq!(profile.tile_type_bits(), 0b000_0001);
        assert_eq!(profile.ordinary_type_bits(), 0b001_1110);
        assert_eq!(profile.lazy_type_bits(), 0b010_0000);
        let mut lazy_tile = profile;
        lazy_tile.memory_types[0].flags |= vk::MemoryPropertyFlags::LAZILY_ALLOCATED;
        assert_eq!(
            lazy_tile.lazy_type_bits(),
            0b010_0000,
            "tile memory is none of them"
        );
    }

    #[test]
    fn an_unknown_preset_lists_the_known_ones() {
        let message = DeviceProfile::preset("adreno-9000").unwrap_err().to_string();
        for name in PRESETS {
            assert!(message.contains(name), "{message}");
        }
    }

    #[test]
    fn a_tile_heap_resizes_but_never_to_nothing() {
        let preset = || DeviceProfile::preset("adreno-830").unwrap();
        let large = preset().with_tile_heap_size(Bytes::mib(18)).unwrap();
        assert_eq!(large.tile.unwrap().size, Bytes::mib(18));
        assert_eq!(large.heaps[2].size, Bytes::mib(18));
        assert_eq!(large.gmem, Bytes::mib(18));
        assert_eq!(
            preset().with_tile_heap_size(Bytes::mib(4)).unwrap().gmem,
            Bytes::mib(12)
        );
        let nothing = preset().with_tile_heap_size(Bytes::ZERO).unwrap_err().to_string();
        assert!(
            nothing.contains("0 B") && nothing.contains("no-tile-memory"),
            "{nothing}"
        );
        let none = DeviceProfile::preset("no-tile-memory").unwrap();
        let none = none.with_tile_heap_size(Bytes::mib(4)).unwrap_err().to_string();
        assert!(none.contains("no tile heap"), "{none}");
    }
}
