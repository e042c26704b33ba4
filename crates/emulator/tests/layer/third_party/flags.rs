//! 64-bit usages: the tile bit has the same effect in them as in 32 bits, and the driver never sees it.

use std::ffi::c_void;

use ash::vk;
use tileheap_device::ffi;

use super::suite::{Ask, on_every_profile};
use crate::rig::{TILE, image_info};

const COLOR: vk::ImageUsageFlags = vk::ImageUsageFlags::COLOR_ATTACHMENT;

/// `VkImageUsageFlags2CreateInfoKHR` of `VK_KHR_extended_flags`, and its siblings, which ash 0.38 lacks.
#[repr(C)]
struct Wide {
    s_type: vk::StructureType,
    p_next: *const c_void,
    flags: u64,
}

impl Wide {
    fn usage(usage: vk::ImageUsageFlags) -> Wide {
        Wide {
            s_type: vk::StructureType::from_raw(1_000_668_002),
            p_next: std::ptr::null(),
            flags: u64::from(usage.as_raw()),
        }
    }
}

/// Validation also reads the structure: it would reject one of an unknown number, and the image's placement.
#[test]
fn an_images_usage_may_have_64_bits() {
    on_every_profile(&Ask::tile_memory(vk::API_VERSION_1_3), |suite| {
        // The plain usage is ignored if there is the other one: with the bit only in the plain usage, it is not a tile image.
        for (plain, full, lives_there) in [(COLOR, COLOR | TILE, true), (COLOR | TILE, COLOR, false)] {
            let wide = Wide::usage(full);
            let mut info = image_info(vk::Format::R8G8B8A8_UNORM, 32, plain);
            info.p_next = (&raw const wide).cast();
            // Valid except for the extension, which no driver here has; also below.
            let image = suite.expect(&[], |_| suite.create(&info));
            let needs = suite.image_needs(image);
            let (ordinary, (size, alignment)) = needs;
            assert_eq!((size > 0, alignment > 0), (lives_there, lives_there));
            // The same for an image that does not exist yet.
            let mut tile = ffi::TileMemoryRequirementsQCOM::default();
            let mut out = vk::MemoryRequirements2::default().push_next(&mut tile);
            let asked = vk::DeviceImageMemoryRequirements::default().create_info(&info);
            // SAFETY: As above.
            suite.expect(&[], |device| unsafe {
                device.get_device_image_memory_requirements(&asked, &mut out);
            });
            assert_eq!(
                out.memory_requirements.memory_type_bits,
                ordinary.memory_type_bits
            );
            assert_eq!((tile.size, tile.alignment), (size, alignment));
            if lives_there {
                suite.expect(&[], |_| suite.bind_image(image, suite.object_of(&needs, 0), 0));
            }
        }
    });
}

#[test]
fn a_format_query_may_have_64_bits_of_usage() {
    on_every_profile(&Ask::tile_memory(vk::API_VERSION_1_3), |suite| {
        let ask = |plain, full: Option<vk::ImageUsageFlags>| {
            let wide = full.map(Wide::usage);
            let mut info = vk::PhysicalDeviceImageFormatInfo2::default()
                .format(vk::Format::R8G8B8A8_UNORM)
                .ty(vk::ImageType::TYPE_2D)
                .tiling(vk::ImageTiling::OPTIMAL)
                .usage(plain);
            if let Some(wide) = &wide {
                info.p_next = std::ptr::from_ref(wide).cast();
            }
            let mut out = vk::ImageFormatProperties2::default();
            // SAFETY: Valid except for the extension.
            let asked = suite.expect(&[], |_| unsafe {
                let (instance, physical) = (&suite.instance, suite.physical);
                instance.get_physical_device_image_format_properties2(physical, &info, &mut out)
            });
            asked.map(|()| out.image_format_properties.max_resource_size)
        };
        let (plain, tile) = (ask(COLOR, None), ask(COLOR | TILE, None));
        let heap = suite.heap_size();
        assert!(plain.is_ok_and(|size| size > heap) && tile.is_ok_and(|size| size <= heap));
        assert_eq!(ask(COLOR, Some(COLOR | TILE)), tile);
        assert_eq!(ask(COLOR | TILE, Some(COLOR)), plain);
    });
}

/// For buffers, the structure is Vulkan 1.4's, or `VK_KHR_maintenance5`'s.
#[test]
fn a_buffers_usage_may_have_64_bits() {
    on_every_profile(&Ask::tile_memory(vk::API_VERSION_1_3), |suite| {
        let storage = vk::BufferUsageFlags2KHR::STORAGE_BUFFER;
        let tile = ffi::BUFFER_USAGE_2_TILE_MEMORY_BIT_QCOM;
        for (full, lives_there) in [(storage | tile, true), (storage, false)] {
            let mut wide = vk::BufferUsageFlags2CreateInfoKHR::default().usage(full);
            let info = vk::BufferCreateInfo::default()
                .size(4096)
                .usage(vk::BufferUsageFlags::STORAGE_BUFFER)
                .push_next(&mut wide);
            let buffer = suite.expect(&[], |_| suite.create(&info));
            let needs = suite.buffer_needs(buffer);
            assert_eq!(needs.1.0 > 0, lives_there);
            if lives_there {
                suite.expect(&[], |_| suite.bind_buffer(buffer, suite.object_of(&needs, 0), 0));
            }
        }
    });
}
