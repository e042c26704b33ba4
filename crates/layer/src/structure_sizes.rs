//! The size of every structure that `ash` knows, of newer ones, and of the tile memory extensions, for copying chains.

use std::collections::HashMap;
use std::sync::LazyLock;

use ash::vk;
use ash::vk::TaggedStructure;
use tileheap_device::ffi;

/// Returns the size in bytes of a structure of this type; `None` for an unknown type.
pub fn size_of_structure(s_type: vk::StructureType) -> Option<usize> {
    SIZES.get(&s_type.as_raw()).copied()
}

static SIZES: LazyLock<HashMap<i32, usize>> = LazyLock::new(|| {
    let own = [
        entry::<ffi::PhysicalDeviceTileMemoryHeapFeaturesQCOM<'_>>(),
        entry::<ffi::PhysicalDeviceTileMemoryHeapPropertiesQCOM<'_>>(),
        entry::<ffi::TileMemoryRequirementsQCOM<'_>>(),
        entry::<ffi::TileMemoryBindInfoQCOM<'_>>(),
        entry::<ffi::TileMemorySizeInfoQCOM<'_>>(),
        entry::<ffi::tile_shading::PhysicalDeviceTileShadingFeaturesQCOM<'_>>(),
        entry::<ffi::tile_shading::PhysicalDeviceTileShadingPropertiesQCOM<'_>>(),
        entry::<ffi::tile_shading::RenderPassTileShadingCreateInfoQCOM<'_>>(),
    ];
    // The loader's links at the head of the chains of vkCreateInstance and vkCreateDevice: `vk_layer.h`.
    let links = [
        (vk::StructureType::LOADER_INSTANCE_CREATE_INFO.as_raw(), 40),
        (vk::StructureType::LOADER_DEVICE_CREATE_INFO.as_raw(), 32),
    ];
    KNOWN
        .iter()
        .copied()
        .chain(newer())
        .chain(own)
        .chain(links)
        .collect()
});

const fn entry<T: TaggedStructure>() -> (i32, usize) {
    (T::STRUCTURE_TYPE.as_raw(), size_of::<T>())
}

macro_rules! sizes {
    ($($name:ident),* $(,)?) => {
        &[$(entry::<vk::$name<'_>>(),)*]
    };
}

static KNOWN: &[(i32, usize)] = include!("structures.in");

/// Returns the structures that are newer than `ash` 0.38, as pairs of type and size in bytes, in ascending order of type.
fn newer() -> impl Iterator<Item = (i32, usize)> {
    let number = |text: &str| text.parse().expect("a number");
    let lines = include_str!("newer_structures.txt").lines();
    // The sizes were measured with 64-bit pointers; on other targets, copying ends before these structures.
    let rows = lines.filter(|line| cfg!(target_pointer_width = "64") && !line.starts_with('#'));
    let sizes = rows.flat_map(move |row| {
        let mut numbers = row.split(' ').take_while(|word| *word != "#").map(number);
        let first = numbers.next().expect("a type");
        (first..).zip(numbers.map(|size: i32| size as usize))
    });
    sizes.filter(|(_, size)| *size > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_the_c_structures() {
        let size = |raw| size_of_structure(vk::StructureType::from_raw(raw));
        assert_eq!(size(14), Some(88), "VkImageCreateInfo");
        assert_eq!(size(1_000_547_002), Some(32), "VkTileMemoryRequirementsQCOM");
        assert_eq!(size(0x7fff_0000), None);
        assert_eq!(size(55), Some(104), "VkPhysicalDeviceVulkan14Features");
        assert_eq!(
            SIZES.len(),
            KNOWN.len() + newer().count() + 10,
            "no two structures share a type"
        );
        let smallest = size_of::<vk::BaseInStructure<'_>>();
        assert!(
            SIZES.values().all(|size| *size >= smallest && size % 4 == 0),
            "each begins with type and next"
        );
    }
}
