//! The preset profiles in `presets.json`: the published numbers of a real device, two estimates scaled from them, tilers and a desktop GPU without a
//! tile heap, and devices that exist only to test programs. Devices with tile shading are assumed to have all of its features.

use std::sync::LazyLock;

use ash::vk;

use super::device::{DeviceProfile, Features};
use super::limits::{Limits, OptionalFeatures};
use crate::error::{Error, Result};
use crate::units::Bytes;

/// The names that [`DeviceProfile::preset`] accepts, the default first.
pub const PRESETS: [&str; 11] = [
    "adreno-830",
    "adreno-840",
    "x2-85",
    "no-tile-memory",
    "adreno-740",
    "mali-g71",
    "mali-g72",
    "validation-icd",
    "hostile",
    "generous",
    "two-tile-types",
];

/// The profiles, in the order of [`PRESETS`].
static PROFILES: LazyLock<Vec<DeviceProfile>> = LazyLock::new(|| {
    tileheap_json::parse_list(include_str!("presets.json")).expect("the presets are valid profiles")
});

/// Deviations of an emulated device from the layout model: legal, and visible only to programs that run on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Quirks {
    /// The flags of each tile memory type.
    pub tile_types: &'static [vk::MemoryPropertyFlags],
    /// The position of the tile memory types among the others.
    pub tile_type_position: MemoryTypePosition,
    /// True if the arrays of memory types and heaps contain nonzero entries past their counts.
    pub fills_unused_entries: bool,
    /// True if the tile requirements of a resource that is larger than the heap are 0.
    pub zero_if_larger_than_heap: bool,
    /// The minimum size of a tile resource.
    pub min_size: Bytes,
    /// True if sizes are not multiples of the alignment.
    pub unaligned_sizes: bool,
    /// Formats whose tile requirements are 0.
    pub refused_formats: &'static [vk::Format],
    /// True if images outside the guaranteed set are accepted whenever the driver accepts them.
    pub allows_beyond_guaranteed: bool,
}

/// The position of tile memory types among the others, as far as Vulkan's ordering rule permits: a type whose flags are a strict
/// subset of another type's flags comes before that type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryTypePosition {
    /// As early as possible.
    First,
    /// Halfway between the first and the last possible position.
    Middle,
    /// As late as possible.
    Last,
}

/// The flags of the tile memory type in the Adreno profiles.
///
/// Source: ANGLE (`VK_QCOM_tile_memory_heap` since November 2025), whose debug builds assert on Adreno that the tile heap has one memory type, and
/// that it is LAZILY_ALLOCATED. The published report of Adreno 830 does not list memory types.
const LAZY: vk::MemoryPropertyFlags = vk::MemoryPropertyFlags::from_raw(
    vk::MemoryPropertyFlags::DEVICE_LOCAL.as_raw() | vk::MemoryPropertyFlags::LAZILY_ALLOCATED.as_raw(),
);

impl Quirks {
    const NONE: Quirks = Quirks {
        tile_types: &[vk::MemoryPropertyFlags::DEVICE_LOCAL],
        tile_type_position: MemoryTypePosition::Last,
        fills_unused_entries: false,
        zero_if_larger_than_heap: false,
        min_size: Bytes(1),
        unaligned_sizes: false,
        refused_formats: &[],
        allows_beyond_guaranteed: false,
    };

    const ADRENO: Quirks = Quirks {
        tile_types: &[LAZY],
        // Not known; programs that take the first device-local type should fail wherever Vulkan allows it.
        tile_type_position: MemoryTypePosition::First,
        ..Quirks::NONE
    };

    /// The quirks of the preset with this name; [`PRESETS`] lists the names.
    ///
    /// # Errors
    /// [`Error::UnknownProfile`], which lists the names.
    pub fn of_preset(name: &str) -> Result<Quirks> {
        find(name)?;
        Ok(match name {
            "adreno-830" | "adreno-840" | "x2-85" => Quirks::ADRENO,
            "validation-icd" => Quirks {
                min_size: Bytes(4096),
                ..Quirks::NONE
            },
            "hostile" => Quirks {
                tile_type_position: MemoryTypePosition::First,
                fills_unused_entries: true,
                zero_if_larger_than_heap: true,
                unaligned_sizes: true,
                refused_formats: &[
                    vk::Format::R8_UNORM,
                    vk::Format::R32G32B32A32_SFLOAT,
                    vk::Format::D32_SFLOAT_S8_UINT,
                ],
                ..Quirks::NONE
            },
            "generous" => Quirks {
                tile_type_position: MemoryTypePosition::Middle,
                allows_beyond_guaranteed: true,
                ..Quirks::NONE
            },
            "two-tile-types" => Quirks {
                tile_types: &[vk::MemoryPropertyFlags::DEVICE_LOCAL, LAZY],
                tile_type_position: MemoryTypePosition::Middle,
                ..Quirks::NONE
            },
            _ => Quirks::NONE,
        })
    }
}

impl Quirks {
    /// The quirks of a profile: those of the preset with its name or, for other devices, none but the flags of the tile memory type.
    pub fn of_profile(profile: &DeviceProfile) -> Quirks {
        let tile_type = profile.tile.map(|tile| tile.memory_type as usize);
        let tile_type = tile_type.and_then(|index| profile.memory_types.get(index));
        let is_lazy = tile_type.is_some_and(|kind| kind.flags.contains(LAZY));
        Quirks::of_preset(&profile.name).unwrap_or(match is_lazy {
            true => Quirks::ADRENO,
            false => Quirks::NONE,
        })
    }
}

fn find(name: &str) -> Result<&'static DeviceProfile> {
    let mut profiles = PROFILES.iter();
    profiles
        .find(|profile| profile.name == name)
        .ok_or_else(|| Error::UnknownProfile {
            name: name.to_owned(),
            known: &PRESETS,
        })
}

impl DeviceProfile {
    /// A preset by name; [`PRESETS`] lists the names.
    ///
    /// | preset | tile heap | measured | assumed or estimated |
    /// |---|---|---|---|
    /// | `adreno-830` | 8,355,840 B of 12 MiB | heap 2, its size and flags (0x9), alignment 12,288, `queueSubmitBoundary` false | no buffer transfers; ordinary heaps and types, a lazily allocated type among them; limits; features |
    /// | `adreno-840` | 12,533,760 B of 18 MiB | GMEM | everything else: the heap scaled from `adreno-830` |
    /// | `x2-85` | 14,622,720 B of 21 MiB | GMEM | everything else: the heap scaled from `adreno-830` |
    /// | `validation-icd` | 1,000,000,000 B | as the null driver of the validation layers' tests has it | everything |
    /// | `hostile` | 6,291,449 B | nothing | invented: legal, and awkward |
    /// | `generous` | 16 MiB | nothing | invented: everything is supported |
    /// | `two-tile-types` | 8,355,840 B | nothing | invented: the tile heap has two memory types |
    /// | `no-tile-memory` | none | nothing | a desktop with one memory type, like a software driver's |
    /// | `adreno-740` | none, 3 MiB of GMEM | GMEM | everything else |
    /// | `mali-g71`, `mali-g72` | none | what the driver merges: 8 attachments, 128 or 256 color bits a pixel | everything else |
    ///
    /// In the Adreno profiles, the tile heap's memory type is LAZILY_ALLOCATED, as on the emulator, because ANGLE asserts that on Adreno. That it
    /// comes as early as Vulkan's order allows is an assumption: code that takes the first LAZILY_ALLOCATED type then fails. In the other profiles,
    /// it is type 0 and DEVICE_LOCAL is its only flag: code that takes the first type then fails.
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
        find(name).cloned()
    }

    /// Returns true if the device has a feature, or if its profile does not state its optional features.
    pub fn may_have(&self, feature: OptionalFeatures) -> bool {
        self.optional_features
            .is_none_or(|features| features.contains(feature))
    }

    /// Returns the same device without the limits and features that only cause frames to be rejected, for comparing plans of a frame that the device
    /// cannot run.
    pub fn without_frame_limits(mut self) -> DeviceProfile {
        self.limits = Limits {
            buffer_image_granularity: self.limits.buffer_image_granularity,
            max_allocation: self.limits.max_allocation,
            ..Limits::UNKNOWN
        };
        self.features |= Features::MULTIVIEW;
        self.optional_features = None;
        self
    }

    /// Returns the same device with a tile heap of `size` bytes; if that exceeds its GMEM, GMEM grows to that size.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tile_lazy_and_protected_types_are_not_ordinary() {
        let profile = DeviceProfile::preset("adreno-830").unwrap();
        assert_eq!(profile.tile_type_bits(), 0b000_0010);
        assert_eq!(profile.ordinary_type_bits(), 0b001_1101);
        // The tile type is lazily allocated too, and is not one of them.
        assert_eq!(profile.lazy_type_bits(), 0b010_0000);
    }

    /// The tile memory type of each preset has the flags that the emulator reports, and the memory types are in an
    /// order that Vulkan permits.
    #[test]
    fn tile_types_are_those_of_the_emulator() {
        for name in PRESETS {
            let profile = DeviceProfile::preset(name).unwrap();
            let types = &profile.memory_types;
            // Profiles describe the first memory type of a tile heap.
            if let Some(tile) = profile.tile {
                let quirks = Quirks::of_preset(name).unwrap();
                let flags = types[tile.memory_type as usize].flags;
                assert_eq!(flags, quirks.tile_types[0], "{name}");
            }
            for (index, kind) in types.iter().enumerate() {
                for earlier in &types[..index] {
                    let is_subset = earlier.flags.contains(kind.flags);
                    assert!(!is_subset || earlier.flags == kind.flags, "{name}: {types:?}");
                }
            }
        }
    }

    /// Checks the numbers of Adreno 830, which were published, the estimates scaled from them in whole blocks, and the hostile device.
    #[test]
    fn presets_have_the_figures_of_their_sources() {
        for (name, blocks, gmem, source) in [
            ("adreno-830", 680, 12, "public reading"),
            ("adreno-840", 1020, 18, "estimate"),
            ("x2-85", 1190, 21, "estimate"),
        ] {
            let profile = DeviceProfile::preset(name).unwrap();
            profile.validate().unwrap();
            let tile = profile.tile.unwrap();
            assert_eq!(tile.size, Bytes(blocks * 12_288), "{name}");
            assert_eq!(tile.block.bytes.get(), 12_288, "{name}");
            assert_eq!(profile.heaps[tile.heap as usize].flags.as_raw(), 0x9, "{name}");
            assert!(!tile.queue_submit_boundary && !tile.buffer_transfers, "{name}");
            assert_eq!(profile.gmem, Bytes::mib(gmem), "{name}");
            assert!(profile.source.starts_with(source), "{name}: {}", profile.source);
        }
        let adreno = DeviceProfile::preset("adreno-830").unwrap();
        assert!(adreno.source.contains("assumed false"), "{}", adreno.source);
        let hostile = DeviceProfile::preset("hostile").unwrap().tile.unwrap();
        assert_eq!(hostile.size.0 % 2, 1);
        assert_ne!(hostile.size.0 % hostile.block.bytes.get(), 0);
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
    #[test]
    fn storage_images_have_several_samples_only_by_their_feature() {
        for name in PRESETS {
            let profile = DeviceProfile::preset(name).unwrap();
            let feature = crate::profile::OptionalFeatures::SHADER_STORAGE_IMAGE_MULTISAMPLE;
            let enabled = profile.optional_features.is_none_or(|all| all.contains(feature));
            let counts = profile.limits.storage_image_sample_counts;
            assert!(enabled || counts == vk::SampleCountFlags::TYPE_1, "{name}");
        }
    }
}
