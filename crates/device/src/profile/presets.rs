//! Devices by name: one real reading, two estimates scaled from it, and a desktop without tile memory.

use ash::vk;

use super::emulated::EMULATED;
use super::{
    DeviceProfile, Features, Limits, MemoryHeap, MemoryType, ProfileError, TILE_HEAP_FLAG, TileBlock,
    TileHeap,
};
use crate::units::{Alignment, Bytes};

/// The names that [`DeviceProfile::preset`] knows, the default first.
pub const PRESETS: [&str; 7] = [
    "adreno-830",
    "adreno-840",
    "x2-85",
    "no-tile-memory",
    EMULATED[0],
    EMULATED[1],
    EMULATED[2],
];

/// Blocks of tile heap for every 1,024 blocks of GMEM on the one device that was read: 680 of 1,024, or 66.4 %.
const HEAP_BLOCKS_PER_1024: u64 = 680;

/// The tile block of the one device that was read: its alignment, and rows that explain both sizes it reported.
const BLOCK: TileBlock = TileBlock {
    bytes: Alignment::new(12_288).unwrap(),
    rows: 32,
};

/// Features of a Vulkan 1.3 device.
const VULKAN_1_3: Features = Features::SYNCHRONIZATION_2
    .union(Features::DYNAMIC_RENDERING)
    .union(Features::TIMELINE_SEMAPHORE)
    .union(Features::MAINTENANCE_4)
    .union(Features::STORE_OP_NONE);

const ASSUMED: &str = "ordinary heaps, memory types, limits and Vulkan 1.3 features are assumptions";

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
    /// | `no-tile-memory` | none | nothing | a desktop with one memory type, like a software driver's |
    ///
    /// # Errors
    /// [`ProfileError::UnknownPreset`], which lists the names.
    ///
    /// ```
    /// use tileheap_device::profile::DeviceProfile;
    ///
    /// let adreno = DeviceProfile::preset("adreno-830")?;
    /// assert_eq!(adreno.tile.unwrap().size.0, 8_355_840);
    /// # Ok::<(), tileheap::Error>(())
    /// ```
    pub fn preset(name: &str) -> crate::Result<DeviceProfile> {
        Ok(match name {
            "adreno-830" => adreno(
                name,
                Bytes::mib(12),
                format!(
                    "public reading of Adreno 830, driver 512.842.6, Vulkan 1.4.295; tileBufferTransfers was not recorded and \
                     is assumed false; {ASSUMED}"
                ),
            ),
            "adreno-840" => adreno(name, Bytes::mib(18), estimated(18)),
            "x2-85" => adreno(name, Bytes::mib(21), estimated(21)),
            "no-tile-memory" => desktop(name),
            _ => {
                let base = adreno(name, Bytes::mib(12), String::new());
                DeviceProfile::emulated(name, base).ok_or_else(|| ProfileError::UnknownPreset {
                    name: name.to_owned(),
                })?
            }
        })
    }

    /// The same device with a tile heap of `size` bytes; where that is more than its GMEM, GMEM grows with it.
    ///
    /// # Errors
    /// [`ProfileError::NoTileHeap`] if there is no tile heap to resize, [`ProfileError::EmptyTileHeap`] for 0 bytes: a
    /// device without tile memory is a different profile (`no-tile-memory`), not a heap of nothing.
    pub fn with_tile_heap_size(mut self, size: Bytes) -> crate::Result<DeviceProfile> {
        let Some(tile) = &mut self.tile else {
            return Err(ProfileError::NoTileHeap { profile: self.name }.into());
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

fn estimated(gmem_mib: u32) -> String {
    format!(
        "estimate: {gmem_mib} MiB of GMEM, of which the tile heap takes the same 66.4 % as on Adreno 830, in whole blocks; \
         tileBufferTransfers and queueSubmitBoundary are assumed false; {ASSUMED}"
    )
}

/// An Adreno 8xx of so much GMEM.
///
/// The tile heap is heap 2, as read. The tile *type* is an assumption: its flags are DEVICE_LOCAL alone, and of types of
/// equal flags the one on the faster heap comes first, so it is type 0. Code that takes the first DEVICE_LOCAL type
/// it finds then shows itself.
///
/// Source: the reading in the presets' table; Vulkan specification, "Device Memory" (the order of memory types).
fn adreno(name: &str, gmem: Bytes, source: String) -> DeviceProfile {
    use vk::MemoryPropertyFlags as P;
    let blocks = gmem.0 / BLOCK.bytes.get() * HEAP_BLOCKS_PER_1024 / 1024;
    let tile_size = Bytes(blocks * BLOCK.bytes.get());
    let local = vk::MemoryHeapFlags::DEVICE_LOCAL;
    let mapped = P::DEVICE_LOCAL | P::HOST_VISIBLE;
    DeviceProfile {
        name: name.to_owned(),
        source,
        heaps: vec![
            MemoryHeap {
                size: Bytes::mib(8 * 1024),
                flags: local,
            },
            MemoryHeap {
                size: Bytes::mib(256),
                flags: local,
            },
            MemoryHeap {
                size: tile_size,
                flags: local | TILE_HEAP_FLAG,
            },
        ],
        memory_types: vec![
            MemoryType {
                flags: P::DEVICE_LOCAL,
                heap: 2,
            },
            MemoryType {
                flags: P::DEVICE_LOCAL,
                heap: 0,
            },
            MemoryType {
                flags: mapped | P::HOST_COHERENT,
                heap: 0,
            },
            MemoryType {
                flags: mapped | P::HOST_CACHED,
                heap: 0,
            },
            MemoryType {
                flags: mapped | P::HOST_COHERENT | P::HOST_CACHED,
                heap: 0,
            },
            MemoryType {
                flags: P::DEVICE_LOCAL | P::LAZILY_ALLOCATED,
                heap: 0,
            },
            MemoryType {
                flags: P::DEVICE_LOCAL | P::PROTECTED,
                heap: 1,
            },
        ],
        tile: Some(TileHeap {
            heap: 2,
            memory_type: 0,
            size: tile_size,
            queue_submit_boundary: false,
            buffer_transfers: false,
            block: BLOCK,
        }),
        gmem,
        limits: Limits {
            buffer_image_granularity: Alignment::ONE,
            max_allocation: Bytes::mib(2 * 1024),
            max_image_dimension_2d: 16_384,
            max_color_attachments: 8,
        },
        features: VULKAN_1_3,
    }
}

/// A desktop: one heap, one type that does everything, nothing on chip that the application can see.
fn desktop(name: &str) -> DeviceProfile {
    use vk::MemoryPropertyFlags as P;
    DeviceProfile {
        name: name.to_owned(),
        source: "assumption: a device with one memory type, as software drivers have".to_owned(),
        heaps: vec![MemoryHeap {
            size: Bytes::mib(16 * 1024),
            flags: vk::MemoryHeapFlags::DEVICE_LOCAL,
        }],
        memory_types: vec![MemoryType {
            flags: P::DEVICE_LOCAL | P::HOST_VISIBLE | P::HOST_COHERENT | P::HOST_CACHED,
            heap: 0,
        }],
        tile: None,
        gmem: Bytes::ZERO,
        limits: Limits {
            buffer_image_granularity: Alignment::new(64).unwrap(),
            max_allocation: Bytes::mib(2 * 1024),
            max_image_dimension_2d: 16_384,
            max_color_attachments: 8,
        },
        features: VULKAN_1_3,
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
