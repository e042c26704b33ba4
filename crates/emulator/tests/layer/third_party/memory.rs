//! Buffers, images and memory: objects that must not be created, and invalid bindings.

use ash::prelude::VkResult;
use ash::vk;
use tileheap_device::ffi;

use super::suite::{Ask, Suite, on_every_profile};
use crate::rig::{TILE, image_info};

const TILE_BUFFER: vk::BufferUsageFlags = ffi::BUFFER_USAGE_TILE_MEMORY_BIT_QCOM;
const FORMAT: vk::Format = vk::Format::R8G8B8A8_UNORM;
const TILE_MEMORY: Ask<'_> = Ask::tile_memory(vk::API_VERSION_1_1);

impl Suite {
    /// Creates a tile image in a separate object of its size, and a view of it.
    pub(crate) fn tile_view(&self, info: &vk::ImageCreateInfo<'_>) -> vk::ImageView {
        let image = self.create(info);
        self.bind_image(image, self.object_of(&self.image_needs(image), 0), 0);
        self.view(image, info.format)
    }

    fn bind_buffer2(&self, buffer: vk::Buffer, memory: vk::DeviceMemory, offset: u64) -> VkResult<()> {
        let info = vk::BindBufferMemoryInfo::default().buffer(buffer).memory(memory);
        // SAFETY: Handles of this device; the tests bind at wrong places on purpose, which is refused.
        unsafe { self.device.bind_buffer_memory2(&[info.memory_offset(offset)]) }
    }

    fn bind_image2(&self, image: vk::Image, memory: vk::DeviceMemory, offset: u64) -> VkResult<()> {
        let info = vk::BindImageMemoryInfo::default().image(image).memory(memory);
        // SAFETY: As above.
        unsafe { self.device.bind_image_memory2(&[info.memory_offset(offset)]) }
    }
}

#[test]
fn tile_resources_need_the_feature() {
    on_every_profile(&Ask::without_feature(vk::API_VERSION_1_1), |suite| {
        let info = vk::BufferCreateInfo::default().size(4096).usage(TILE_BUFFER);
        let _ = suite.try_wrong(&info, &["VUID-VkBufferCreateInfo-tileMemoryHeap-10762"]);
        let expected = ["VUID-VkImageCreateInfo-tileMemoryHeap-10766"];
        let _ = suite.try_wrong(&image_info(FORMAT, 256, TILE), &expected);
    });
}

/// If the driver has no protected memory, using it is a third mistake.
#[test]
fn a_tile_buffer_is_not_protected_and_holds_no_indices() {
    on_every_profile(&TILE_MEMORY, |suite| {
        let info = vk::BufferCreateInfo::default().size(4096).usage(TILE_BUFFER);
        let expected = [
            "VUID-VkBufferCreateInfo-flags-01887",
            "VUID-VkBufferCreateInfo-flags-09641",
            "VUID-VkBufferCreateInfo-usage-10763",
        ];
        let _ = suite.try_wrong(&info.flags(vk::BufferCreateFlags::PROTECTED), &expected);
        let info = info.usage(TILE_BUFFER | vk::BufferUsageFlags::INDEX_BUFFER);
        let _ = suite.try_wrong(&info, &["VUID-VkBufferCreateInfo-usage-10764"]);
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
            .memory_type_index(suite.tile_type_of(u32::MAX, 256));
        let _ = suite.try_wrong(&info, &["VUID-vkAllocateMemory-tileMemoryHeap-10976"]);
    });
}

/// An object that is too small, a misaligned offset, and both at once: `bind` with either command, and refused.
fn refuse_wrong_places(
    [aligned, fits]: [[&str; 2]; 2],
    bind: impl Fn(&Suite, i64, u64, [&[&str]; 2]) -> [VkResult<()>; 2],
) {
    on_every_profile(&TILE_MEMORY, |suite| {
        for (more, offset, said) in [(-1, 0, &[fits][..]), (1, 1, &[aligned]), (0, 1, &[aligned, fits])] {
            let said_of = |command: usize| said.iter().map(|rule| rule[command]).collect::<Vec<_>>();
            let bound = bind(suite, more, offset, [&said_of(0), &said_of(1)]);
            assert!(
                bound.iter().all(|bound| bound.is_err()),
                "profile {}",
                suite.profile
            );
        }
    });
}

#[test]
fn buffers_are_bound_where_their_tile_requirements_say() {
    let rules = [
        [
            "VUID-vkBindBufferMemory-memory-10740",
            "VUID-VkBindBufferMemoryInfo-memory-10740",
        ],
        [
            "VUID-vkBindBufferMemory-memory-10742",
            "VUID-VkBindBufferMemoryInfo-memory-10742",
        ],
    ];
    refuse_wrong_places(rules, |suite, more, offset, said| {
        let buffer = suite.tile_buffer(4096, vk::BufferUsageFlags::STORAGE_BUFFER);
        let object = suite.object_of(&suite.buffer_needs(buffer), more);
        [
            suite.expect(said[0], |_| suite.try_bind_buffer(buffer, object, offset)),
            suite.expect(said[1], |_| suite.bind_buffer2(buffer, object, offset)),
        ]
    });
}

#[test]
fn images_are_bound_where_their_tile_requirements_say() {
    let rules = [
        [
            "VUID-vkBindImageMemory-memory-10736",
            "VUID-VkBindImageMemoryInfo-pNext-12329",
        ],
        [
            "VUID-vkBindImageMemory-memory-10738",
            "VUID-VkBindImageMemoryInfo-pNext-12330",
        ],
    ];
    refuse_wrong_places(rules, |suite, more, offset, said| {
        let image = suite.create(&image_info(
            FORMAT,
            32,
            vk::ImageUsageFlags::COLOR_ATTACHMENT | TILE,
        ));
        let object = suite.object_of(&suite.image_needs(image), more);
        [
            suite.expect(said[0], |_| suite.try_bind_image(image, object, offset)),
            suite.expect(said[1], |_| suite.bind_image2(image, object, offset)),
        ]
    });
}

/// Ordinary memory keeps its rules next to the tile heap. Only makes calls that validation stops: no driver refuses these.
#[test]
fn ordinary_memory_keeps_its_own_rules() {
    on_every_profile(&TILE_MEMORY, |suite| {
        let buffer = suite.buffer(4096, vk::BufferUsageFlags::UNIFORM_BUFFER);
        let image = suite.create(&image_info(FORMAT, 256, vk::ImageUsageFlags::SAMPLED));
        // SAFETY: A buffer of this device.
        let first = unsafe { suite.device.get_buffer_memory_requirements(buffer) };
        assert_eq!(
            first.memory_type_bits,
            suite.buffer_needs(buffer).0.memory_type_bits
        );
        let [for_buffer, for_image] =
            [suite.buffer_needs(buffer), suite.image_needs(image)].map(|(needs, tile)| {
                assert_eq!(tile, (0, 0));
                for (index, kind) in (0u32..).zip(suite.types.memory_types_as_slice()) {
                    assert!(needs.memory_type_bits >> index & 1 == 0 || !suite.is_tile(kind));
                }
                suite.memory_for(&needs)
            });
        if suite.stops() {
            let rules = [
                "VUID-vkBindBufferMemory-None-10739",
                "VUID-vkBindBufferMemory-None-10741",
            ];
            let _ = suite.expect(&rules, |_| suite.try_bind_buffer(buffer, for_buffer, 1));
            let rules = [
                "VUID-VkBindBufferMemoryInfo-None-10739",
                "VUID-VkBindBufferMemoryInfo-None-10741",
            ];
            let _ = suite.expect(&rules, |_| suite.bind_buffer2(buffer, for_buffer, 1));
            let rules = [
                "VUID-vkBindImageMemory-None-10735",
                "VUID-vkBindImageMemory-None-10737",
            ];
            let _ = suite.expect(&rules, |_| suite.try_bind_image(image, for_image, 1));
            let rules = [
                "VUID-VkBindImageMemoryInfo-pNext-01616",
                "VUID-VkBindImageMemoryInfo-pNext-01617",
            ];
            let _ = suite.expect(&rules, |_| suite.bind_image2(image, for_image, 1));
        }
        suite.bind_buffer2(buffer, for_buffer, 0).expect("bound memory");
        suite.bind_image2(image, for_image, 0).expect("bound memory");
    });
}
