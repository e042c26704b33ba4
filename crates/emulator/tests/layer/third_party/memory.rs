//! Buffers, images and memory: what may not be made, and where nothing may be bound.

use ash::vk;
use tileheap_device::ffi;

use super::suite::{Ask, Suite, on_every_profile};

const TILE_BUFFER: vk::BufferUsageFlags = ffi::BUFFER_USAGE_TILE_MEMORY_BIT_QCOM;
const TILE_IMAGE: vk::ImageUsageFlags = ffi::IMAGE_USAGE_TILE_MEMORY_BIT_QCOM;

impl Suite {
    /// A buffer of 4096 bytes.
    pub(crate) fn buffer(&self, usage: vk::BufferUsageFlags) -> vk::Buffer {
        let info = vk::BufferCreateInfo::default().size(4096).usage(usage);
        // SAFETY: Not empty.
        let buffer = unsafe { self.device.create_buffer(&info, None) }.expect("a buffer");
        // SAFETY: Idle by then.
        self.made(buffer, |device, buffer| unsafe {
            device.destroy_buffer(buffer, None)
        })
    }

    /// A square image of one level, layer and sample, as the tests make theirs.
    pub(crate) fn image_info(usage: vk::ImageUsageFlags, side: u32) -> vk::ImageCreateInfo<'static> {
        vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(vk::Format::R8G8B8A8_UNORM)
            .extent(vk::Extent3D {
                width: side,
                height: side,
                depth: 1,
            })
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(usage)
    }

    pub(crate) fn image(&self, info: &vk::ImageCreateInfo<'_>) -> vk::Image {
        // SAFETY: The tests' create infos are valid.
        let image = unsafe { self.device.create_image(info, None) }.expect("an image");
        // SAFETY: Idle by then.
        self.made(image, |device, image| unsafe {
            device.destroy_image(image, None)
        })
    }

    /// What a buffer needs of ordinary memory and of tile memory.
    pub(crate) fn buffer_needs(&self, buffer: vk::Buffer) -> (vk::MemoryRequirements, (u64, u64)) {
        let mut tile = ffi::TileMemoryRequirementsQCOM::default();
        let mut needs = vk::MemoryRequirements2::default().push_next(&mut tile);
        let info = vk::BufferMemoryRequirementsInfo2::default().buffer(buffer);
        // SAFETY: A buffer of this device.
        unsafe { self.device.get_buffer_memory_requirements2(&info, &mut needs) };
        (needs.memory_requirements, (tile.size, tile.alignment))
    }

    /// The same of an image.
    pub(crate) fn image_needs(&self, image: vk::Image) -> (vk::MemoryRequirements, (u64, u64)) {
        let mut tile = ffi::TileMemoryRequirementsQCOM::default();
        let mut needs = vk::MemoryRequirements2::default().push_next(&mut tile);
        let info = vk::ImageMemoryRequirementsInfo2::default().image(image);
        // SAFETY: An image of this device.
        unsafe { self.device.get_image_memory_requirements2(&info, &mut needs) };
        (needs.memory_requirements, (tile.size, tile.alignment))
    }

    /// A tile memory object of what was needed and `more` bytes.
    ///
    /// # Panics
    /// Where a suite would skip the test: the resource cannot live in tile memory.
    fn object_of(&self, needs: &(vk::MemoryRequirements, (u64, u64)), more: i64) -> vk::DeviceMemory {
        let (ordinary, (size, alignment)) = needs;
        assert!(*size > 0 && *alignment > 0, "profile {}", self.profile);
        let size = size.checked_add_signed(more).expect("a size");
        self.allocate(size, self.tile_type(ordinary.memory_type_bits, size))
    }

    /// A tile memory object for an image, and the image bound to all of it.
    pub(crate) fn bind_tile_image(&self, image: vk::Image) -> vk::DeviceMemory {
        let object = self.object_of(&self.image_needs(image), 0);
        // SAFETY: New, and made for each other.
        unsafe { self.device.bind_image_memory(image, object, 0) }.expect("bound tile memory");
        object
    }

    fn bind_buffer2(
        &self,
        buffer: vk::Buffer,
        memory: vk::DeviceMemory,
        offset: u64,
    ) -> Result<(), vk::Result> {
        let info = vk::BindBufferMemoryInfo::default()
            .buffer(buffer)
            .memory(memory)
            .memory_offset(offset);
        // SAFETY: Handles of this device; the tests bind wrong places on purpose, which is refused.
        unsafe { self.device.bind_buffer_memory2(&[info]) }
    }

    fn bind_image2(&self, image: vk::Image, memory: vk::DeviceMemory, offset: u64) -> Result<(), vk::Result> {
        let info = vk::BindImageMemoryInfo::default()
            .image(image)
            .memory(memory)
            .memory_offset(offset);
        // SAFETY: As above.
        unsafe { self.device.bind_image_memory2(&[info]) }
    }

    /// Tries to make a buffer of which validation says these.
    fn try_buffer(&self, info: &vk::BufferCreateInfo<'_>, expected: &[&str]) {
        // SAFETY: Wrong on purpose; a driver makes it or refuses.
        let made = self.expect(expected, |device| unsafe { device.create_buffer(info, None) });
        if let Ok(buffer) = made {
            // SAFETY: New and unused.
            self.made(buffer, |device, buffer| unsafe {
                device.destroy_buffer(buffer, None)
            });
        }
    }
}

#[test]
fn a_tile_buffer_needs_the_feature() {
    on_every_profile(&Ask::without_feature(vk::API_VERSION_1_1), |suite| {
        let info = vk::BufferCreateInfo::default().size(4096).usage(TILE_BUFFER);
        suite.try_buffer(&info, &["VUID-VkBufferCreateInfo-tileMemoryHeap-10762"]);
    });
}

#[test]
fn a_tile_image_needs_the_feature() {
    on_every_profile(&Ask::without_feature(vk::API_VERSION_1_1), |suite| {
        let info = Suite::image_info(TILE_IMAGE, 256);
        let expected = ["VUID-VkImageCreateInfo-tileMemoryHeap-10766"];
        // SAFETY: Wrong on purpose; a driver makes it or refuses.
        let made = suite.expect(&expected, |device| unsafe { device.create_image(&info, None) });
        if let Ok(image) = made {
            // SAFETY: New and unused.
            suite.made(image, |device, image| unsafe {
                device.destroy_image(image, None)
            });
        }
    });
}

/// Where the driver has no protected memory, that is the third thing wrong with it.
#[test]
fn a_tile_buffer_is_not_protected() {
    on_every_profile(&Ask::tile_memory(vk::API_VERSION_1_1), |suite| {
        let info = vk::BufferCreateInfo::default()
            .flags(vk::BufferCreateFlags::PROTECTED)
            .size(4096)
            .usage(TILE_BUFFER);
        let expected = [
            "VUID-VkBufferCreateInfo-flags-01887",
            "VUID-VkBufferCreateInfo-flags-09641",
            "VUID-VkBufferCreateInfo-usage-10763",
        ];
        suite.try_buffer(&info, &expected);
    });
}

#[test]
fn a_tile_buffer_holds_no_indices() {
    on_every_profile(&Ask::tile_memory(vk::API_VERSION_1_1), |suite| {
        let info = vk::BufferCreateInfo::default()
            .size(4096)
            .usage(TILE_BUFFER | vk::BufferUsageFlags::INDEX_BUFFER);
        suite.try_buffer(&info, &["VUID-VkBufferCreateInfo-usage-10764"]);
    });
}

/// On Vulkan 1.0, with the extensions that the extension then depends on.
#[test]
fn tile_memory_is_not_allocated_without_the_feature() {
    let ask = Ask {
        instance_extensions: &[ash::khr::get_physical_device_properties2::NAME],
        extensions: &[ash::khr::get_memory_requirements2::NAME],
        ..Ask::without_feature(vk::API_VERSION_1_0)
    };
    on_every_profile(&ask, |suite| {
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(256)
            .memory_type_index(suite.tile_type(u32::MAX, 256));
        let expected = ["VUID-vkAllocateMemory-tileMemoryHeap-10976"];
        // SAFETY: Wrong on purpose; a driver allocates or refuses.
        let made = suite.expect(&expected, |device| unsafe { device.allocate_memory(&info, None) });
        if let Ok(memory) = made {
            // SAFETY: New and unused.
            suite.made(memory, |device, memory| unsafe {
                device.free_memory(memory, None)
            });
        }
    });
}

/// Too small an object, an offset that is no multiple, and both at once: with either command, and refused.
#[test]
fn buffers_are_bound_where_their_tile_requirements_say() {
    let (aligned, fits) = (
        [
            "VUID-vkBindBufferMemory-memory-10740",
            "VUID-VkBindBufferMemoryInfo-memory-10740",
        ],
        [
            "VUID-vkBindBufferMemory-memory-10742",
            "VUID-VkBindBufferMemoryInfo-memory-10742",
        ],
    );
    on_every_profile(&Ask::tile_memory(vk::API_VERSION_1_1), |suite| {
        for (more, offset, said) in [(-1, 0, &[fits][..]), (1, 1, &[aligned]), (0, 1, &[aligned, fits])] {
            let buffer = suite.buffer(TILE_BUFFER | vk::BufferUsageFlags::STORAGE_BUFFER);
            let object = suite.object_of(&suite.buffer_needs(buffer), more);
            let said_of = |command: usize| said.iter().map(|rule| rule[command]).collect::<Vec<_>>();
            // SAFETY: Wrong on purpose, and refused.
            let bound = suite.expect(&said_of(0), |device| unsafe {
                device.bind_buffer_memory(buffer, object, offset)
            });
            assert!(bound.is_err(), "profile {}", suite.profile);
            let bound = suite.expect(&said_of(1), |_| suite.bind_buffer2(buffer, object, offset));
            assert!(bound.is_err(), "profile {}", suite.profile);
        }
    });
}

#[test]
fn images_are_bound_where_their_tile_requirements_say() {
    let (aligned, fits) = (
        [
            "VUID-vkBindImageMemory-memory-10736",
            "VUID-VkBindImageMemoryInfo-pNext-12329",
        ],
        [
            "VUID-vkBindImageMemory-memory-10738",
            "VUID-VkBindImageMemoryInfo-pNext-12330",
        ],
    );
    on_every_profile(&Ask::tile_memory(vk::API_VERSION_1_1), |suite| {
        for (more, offset, said) in [(-1, 0, &[fits][..]), (1, 1, &[aligned]), (0, 1, &[aligned, fits])] {
            let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | TILE_IMAGE;
            let image = suite.image(&Suite::image_info(usage, 32));
            let object = suite.object_of(&suite.image_needs(image), more);
            let said_of = |command: usize| said.iter().map(|rule| rule[command]).collect::<Vec<_>>();
            // SAFETY: Wrong on purpose, and refused.
            let bound = suite.expect(&said_of(0), |device| unsafe {
                device.bind_image_memory(image, object, offset)
            });
            assert!(bound.is_err(), "profile {}", suite.profile);
            let bound = suite.expect(&said_of(1), |_| suite.bind_image2(image, object, offset));
            assert!(bound.is_err(), "profile {}", suite.profile);
        }
    });
}

/// Ordinary memory keeps its rules beside the tile heap. Only stopped calls are made: no driver refuses these.
#[test]
fn ordinary_memory_keeps_its_own_rules() {
    on_every_profile(&Ask::tile_memory(vk::API_VERSION_1_1), |suite| {
        let buffer = suite.buffer(vk::BufferUsageFlags::UNIFORM_BUFFER);
        let image = suite.image(&Suite::image_info(vk::ImageUsageFlags::SAMPLED, 256));
        let (of_buffer, tile) = suite.buffer_needs(buffer);
        assert_eq!(tile, (0, 0));
        let (of_image, tile) = suite.image_needs(image);
        assert_eq!(tile, (0, 0));
        for needs in [&of_buffer, &of_image] {
            for (index, kind) in (0u32..).zip(suite.types.memory_types_as_slice()) {
                let heap = suite.types.memory_heaps[kind.heap_index as usize];
                let is_tile = heap.flags.contains(ffi::MEMORY_HEAP_TILE_MEMORY_BIT_QCOM);
                assert!(needs.memory_type_bits >> index & 1 == 0 || !is_tile);
            }
        }
        let memory_of = |needs: &vk::MemoryRequirements| {
            suite.allocate(needs.size, needs.memory_type_bits.trailing_zeros())
        };
        let (for_buffer, for_image) = (memory_of(&of_buffer), memory_of(&of_image));
        if suite.stops() {
            // SAFETY: Wrong on purpose, and stopped; so below.
            let _ = suite.expect(
                &[
                    "VUID-vkBindBufferMemory-None-10739",
                    "VUID-vkBindBufferMemory-None-10741",
                ],
                |device| unsafe { device.bind_buffer_memory(buffer, for_buffer, 1) },
            );
            let _ = suite.expect(
                &[
                    "VUID-VkBindBufferMemoryInfo-None-10739",
                    "VUID-VkBindBufferMemoryInfo-None-10741",
                ],
                |_| suite.bind_buffer2(buffer, for_buffer, 1),
            );
            // SAFETY: As above.
            let _ = suite.expect(
                &[
                    "VUID-vkBindImageMemory-None-10735",
                    "VUID-vkBindImageMemory-None-10737",
                ],
                |device| unsafe { device.bind_image_memory(image, for_image, 1) },
            );
            let _ = suite.expect(
                &[
                    "VUID-VkBindImageMemoryInfo-pNext-01616",
                    "VUID-VkBindImageMemoryInfo-pNext-01617",
                ],
                |_| suite.bind_image2(image, for_image, 1),
            );
        }
        suite.bind_buffer2(buffer, for_buffer, 0).expect("bound memory");
        suite.bind_image2(image, for_image, 0).expect("bound memory");
    });
}
