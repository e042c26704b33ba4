//! The capabilities of the driver.

use std::ffi::CStr;

use ash::vk;
use tileheap::ffi::{PhysicalDeviceTileShadingFeaturesQCOM, tile_memory_heap};
use tileheap::runtime::Capabilities;

/// What the driver offers.
#[derive(Clone, Debug)]
pub struct Config {
    /// Version of the instance and the device.
    pub api_version: u32,
    /// Device extensions it lists, beside those that [`Tile`] adds.
    pub extensions: Vec<&'static CStr>,
    /// The feature bits, tile memory's apart; the commands come with the version.
    pub features: Capabilities,
    /// Links of the chain to tile memory.
    pub tile: Tile,
    /// Whether there is a lazily allocated memory type.
    pub lazy: bool,
    pub buffer_image_granularity: u64,
    /// Size of the ordinary device-local heap.
    pub heap_size: u64,
    /// Alignment of images in ordinary memory; their sizes are multiples of it.
    pub image_alignment: u64,
    /// Bytes that a created image needs beyond what was said before its creation.
    pub grows_when_created: u64,
    /// Images need an allocation of their own.
    pub dedicated_images: bool,
    /// Formats of which no image exists.
    pub refused_formats: Vec<vk::Format>,
    /// Submissions wait for a wait.
    pub asynchronous: bool,
    /// Turns on the parts of tile shading that it offers.
    pub tile_shading: fn(&mut PhysicalDeviceTileShadingFeaturesQCOM<'_>),
}

/// The links of the chain to tile memory, and the heap's numbers: by default what is known of an Adreno 830.
#[derive(Clone, Debug)]
pub struct Tile {
    /// The extension is listed.
    pub extension: bool,
    /// The feature bit is reported.
    pub feature: bool,
    /// There is a heap with the tile flag; without it there is the heap, as an ordinary one.
    pub heap_flag: bool,
    /// A memory type is on that heap.
    pub memory_type: bool,
    /// `vkCmdBindTileMemoryQCOM` can be loaded.
    pub command: bool,
    /// Resources that may live there get requirements that are not 0.
    pub requirements: bool,
    pub size: u64,
    /// Alignment of everything in it, and what sizes are a multiple of.
    pub alignment: u64,
    pub queue_submit_boundary: bool,
    pub buffer_transfers: bool,
    /// The memory type comes before every other: what a picker of the first device-local type falls for.
    pub type_first: bool,
    /// A tool of the physical device says that it emulates the heap.
    pub emulated: bool,
}

impl Tile {
    /// Every link, with the numbers of an Adreno 830.
    pub fn whole() -> Tile {
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

    /// No link, and no heap.
    pub fn absent() -> Tile {
        Tile {
            extension: false,
            feature: false,
            heap_flag: false,
            memory_type: false,
            command: false,
            requirements: false,
            size: 0,
            ..Tile::whole()
        }
    }

    /// The extension's name and nothing else, as in some custom drivers.
    pub fn name_only() -> Tile {
        Tile {
            extension: true,
            ..Tile::absent()
        }
    }
}

impl Config {
    /// Vulkan 1.3 with everything, tile memory included.
    pub fn modern() -> Config {
        Config {
            api_version: vk::API_VERSION_1_3,
            extensions: Vec::new(),
            features: Capabilities::all() - Capabilities::TILE_MEMORY,
            tile: Tile::whole(),
            lazy: false,
            buffer_image_granularity: 1,
            heap_size: 4 << 30,
            image_alignment: 4096,
            grows_when_created: 0,
            dedicated_images: false,
            refused_formats: Vec::new(),
            asynchronous: false,
            tile_shading: |_| (),
        }
    }

    /// Vulkan 1.1 without a single extension but tile memory.
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

    /// The same of a device that completes nothing until it is waited for.
    pub fn asynchronous(self) -> Config {
        let asynchronous = true;
        Config { asynchronous, ..self }
    }

    /// The features that it reports.
    pub(super) fn offered(&self) -> Capabilities {
        let mut offered = self.features;
        offered.set(Capabilities::TILE_MEMORY, self.tile.feature);
        offered
    }

    /// Every device extension it lists.
    pub(super) fn listed(&self) -> Vec<&'static CStr> {
        let tile = self.tile.extension.then_some(tile_memory_heap::NAME);
        self.extensions.iter().copied().chain(tile).collect()
    }

    /// Heaps and types.
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

    /// Whether a memory type is on a heap with the tile flag.
    pub(super) fn is_tile(&self, memory_type: u32) -> bool {
        let memory = self.memory();
        let kind = &memory.memory_types_as_slice()[memory_type as usize];
        let heap = &memory.memory_heaps_as_slice()[kind.heap_index as usize];
        heap.flags
            .contains(tileheap::ffi::MEMORY_HEAP_TILE_MEMORY_BIT_QCOM)
    }

    /// Queue families: one that does everything, and one that computes.
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
