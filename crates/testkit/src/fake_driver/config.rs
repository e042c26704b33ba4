//! The configuration of the driver.

use std::ffi::CStr;

use ash::vk;
use tileheap::ffi::{PhysicalDeviceTileShadingFeaturesQCOM, tile_memory_heap};
use tileheap::runtime::Capabilities;

/// The capabilities of the driver.
#[derive(Clone, Debug)]
pub struct Config {
    /// The Vulkan version of the instance and the device.
    pub api_version: u32,
    /// Device extensions that the driver lists, in addition to those that [`Tile`] adds.
    pub extensions: Vec<&'static CStr>,
    /// Features that the driver reports, except tile memory; they do not affect which commands can be loaded.
    pub features: Capabilities,
    /// The requirements of tile memory that the driver meets.
    pub tile: Tile,
    /// True if there is a lazily allocated memory type.
    pub lazy: bool,
    pub buffer_image_granularity: u64,
    /// Size of the ordinary device-local heap.
    pub heap_size: u64,
    /// The largest allocation; as large as the heap by default.
    pub largest_allocation: Option<u64>,
    /// Alignment of images in ordinary memory; their sizes are multiples of it.
    pub image_alignment: u64,
    /// Bytes that a created image needs beyond the requirements reported before its creation.
    pub extra_bytes_when_created: u64,
    /// True if images require dedicated allocations.
    pub dedicated_images: bool,
    /// Formats that no image supports.
    pub refused_formats: Vec<vk::Format>,
    /// True if submissions complete only when something waits for them.
    pub asynchronous: bool,
    /// Turns on the parts of tile shading that the driver supports.
    pub tile_shading: fn(&mut PhysicalDeviceTileShadingFeaturesQCOM<'_>),
}

/// The requirements of tile memory that the driver meets, and the properties of the heap.
#[derive(Clone, Debug)]
pub struct Tile {
    /// True if the extension is listed.
    pub extension: bool,
    /// True if the feature bit is reported.
    pub feature: bool,
    /// True if the heap has the tile flag; otherwise it exists as an ordinary heap.
    pub heap_flag: bool,
    /// True if a memory type is on that heap.
    pub memory_type: bool,
    /// True if `vkCmdBindTileMemoryQCOM` can be loaded.
    pub command: bool,
    /// True if resources that are allowed in tile memory get requirements other than 0.
    pub requirements: bool,
    pub size: u64,
    /// Alignment of all resources in the tile heap; their sizes are multiples of it.
    pub alignment: u64,
    pub queue_submit_boundary: bool,
    pub buffer_transfers: bool,
    /// True if the heap's memory type comes first, to catch callers that take the first device-local type.
    pub type_first: bool,
    /// True if `vkGetPhysicalDeviceToolProperties` lists a tool with the name of the emulator layer.
    pub emulated: bool,
}

impl Tile {
    /// Meets all requirements; the heap has the properties reported for an Adreno 830.
    pub fn supported() -> Tile {
        Tile {
            extension: true,
            feature: true,
            heap_flag: true,
            memory_type: true,
            command: true,
            requirements: true,
            size: 8_355_840,
            alignment: 12_288,
            queue_submit_boundary: false,
            buffer_transfers: false,
            type_first: true,
            emulated: false,
        }
    }

    /// Meets no requirement, and has no heap.
    pub fn absent() -> Tile {
        Tile {
            extension: false,
            feature: false,
            heap_flag: false,
            memory_type: false,
            command: false,
            requirements: false,
            size: 0,
            ..Tile::supported()
        }
    }

    /// Only lists the extension's name, as some custom drivers do.
    pub fn name_only() -> Tile {
        Tile {
            extension: true,
            ..Tile::absent()
        }
    }
}

impl Config {
    /// Vulkan 1.3 with all capabilities, including tile memory.
    pub fn modern() -> Config {
        Config {
            api_version: vk::API_VERSION_1_3,
            extensions: Vec::new(),
            features: Capabilities::all() - Capabilities::TILE_MEMORY,
            tile: Tile::supported(),
            lazy: false,
            buffer_image_granularity: 1,
            heap_size: 4 << 30,
            largest_allocation: None,
            image_alignment: 4096,
            extra_bytes_when_created: 0,
            dedicated_images: false,
            refused_formats: Vec::new(),
            asynchronous: false,
            tile_shading: |_| (),
        }
    }

    /// Vulkan 1.1 with no extension except tile memory.
    pub fn vulkan_1_1() -> Config {
        Config {
            api_version: vk::API_VERSION_1_1,
            features: Capabilities::empty(),
            ..Config::modern()
        }
    }

    pub fn without_tile_memory(self) -> Config {
        Config {
            tile: Tile::absent(),
            ..self
        }
    }

    /// Returns the same device, on which submissions complete only when something waits for them.
    pub fn asynchronous(self) -> Config {
        let asynchronous = true;
        Config { asynchronous, ..self }
    }

    /// The features that the driver reports.
    pub(super) fn offered_features(&self) -> Capabilities {
        let mut offered = self.features;
        offered.set(Capabilities::TILE_MEMORY, self.tile.feature);
        offered
    }

    /// Every device extension that the driver lists.
    pub(super) fn listed_extensions(&self) -> Vec<&'static CStr> {
        let tile = self.tile.extension.then_some(tile_memory_heap::NAME);
        self.extensions.iter().copied().chain(tile).collect()
    }

    /// Memory heaps and types.
    pub(super) fn memory(&self) -> vk::PhysicalDeviceMemoryProperties {
        use vk::MemoryPropertyFlags as P;
        let mut heaps = vec![
            vk::MemoryHeap {
                size: self.heap_size,
                flags: vk::MemoryHeapFlags::DEVICE_LOCAL,
            },
            vk::MemoryHeap {
                size: 4 << 30,
                flags: vk::MemoryHeapFlags::empty(),
            },
        ];
        let mut types = vec![(P::DEVICE_LOCAL, 0), (P::HOST_VISIBLE | P::HOST_COHERENT, 1)];
        if self.lazy {
            types.push((P::DEVICE_LOCAL | P::LAZILY_ALLOCATED, 0));
        }
        if self.tile.size > 0 {
            let tile = if self.tile.heap_flag {
                tileheap::ffi::MEMORY_HEAP_TILE_MEMORY_BIT_QCOM
            } else {
                vk::MemoryHeapFlags::empty()
            };
            heaps.push(vk::MemoryHeap {
                size: self.tile.size,
                flags: vk::MemoryHeapFlags::DEVICE_LOCAL | tile,
            });
        }
        if self.tile.memory_type {
            let at = if self.tile.type_first { 0 } else { types.len() };
            types.insert(at, (P::DEVICE_LOCAL, 2));
        }
        let mut memory = vk::PhysicalDeviceMemoryProperties {
            memory_heap_count: heaps.len() as u32,
            memory_type_count: types.len() as u32,
            ..Default::default()
        };
        memory.memory_heaps[..heaps.len()].copy_from_slice(&heaps);
        for (slot, (property_flags, heap_index)) in memory.memory_types.iter_mut().zip(types) {
            *slot = vk::MemoryType {
                property_flags,
                heap_index,
            };
        }
        memory
    }

    /// Returns true if a memory type is on a heap with the tile flag.
    pub(super) fn is_tile(&self, memory_type: u32) -> bool {
        let memory = self.memory();
        let kind = &memory.memory_types_as_slice()[memory_type as usize];
        let heap = &memory.memory_heaps_as_slice()[kind.heap_index as usize];
        heap.flags
            .contains(tileheap::ffi::MEMORY_HEAP_TILE_MEMORY_BIT_QCOM)
    }

    /// Queue families: one that supports everything, and one that only supports compute.
    pub(super) fn queue_families() -> [vk::QueueFamilyProperties; 2] {
        use vk::QueueFlags as Q;
        let family = |queue_flags, queue_count| vk::QueueFamilyProperties {
            queue_flags,
            queue_count,
            timestamp_valid_bits: 64,
            min_image_transfer_granularity: vk::Extent3D {
                width: 1,
                height: 1,
                depth: 1,
            },
        };
        [
            family(Q::GRAPHICS | Q::COMPUTE | Q::TRANSFER, 2),
            family(Q::COMPUTE | Q::TRANSFER, 1),
        ]
    }
}
