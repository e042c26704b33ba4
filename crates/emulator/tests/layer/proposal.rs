//! The three listings of the extension's proposal (4.1 to 4.3), call for call.

use crate::rig;
use crate::rig::Rig;
use ash::vk;
use tileheap_device::ffi;

#[test]
fn listing_4_1_a_tile_memory_image() {
    let rig = Rig::new(&[]);
    let mut image_create_info =
        Rig::image_info(vk::Format::R8G8B8A8_UNORM, 256, vk::ImageUsageFlags::SAMPLED);
    image_create_info.usage |= ffi::IMAGE_USAGE_TILE_MEMORY_BIT_QCOM;
    let image = rig.image(&image_create_info);
    let (_, (size, _)) = rig.image_needs(image);
    assert!(size > 0, "supported");
    let tile_memory = rig.allocate(size, rig.tile_type()).expect("tile memory");
    // SAFETY: New, and made for each other.
    unsafe { rig.device.bind_image_memory(image, tile_memory, 0) }.expect("bound");
    rig.finish();
}

#[test]
fn listing_4_2_a_tile_memory_buffer() {
    let rig = Rig::new(&[]);
    let usage = vk::BufferUsageFlags::STORAGE_BUFFER | ffi::BUFFER_USAGE_TILE_MEMORY_BIT_QCOM;
    let buffer = rig.buffer(65_536, usage);
    let (_, (size, _)) = rig.buffer_needs(buffer);
    assert!(size > 0, "supported");
    let tile_memory = rig.allocate(size, rig.tile_type()).expect("tile memory");
    // SAFETY: New, and made for each other.
    unsafe { rig.device.bind_buffer_memory(buffer, tile_memory, 0) }.expect("bound");
    rig.finish();
}

/// Two dispatches without tile memory; 4 MiB bound for a pass and a dispatch; a pass without. The dispatch reads what the pass
/// rendered, since it is bound for both.
#[test]
fn listing_4_3_recording_with_tile_memory() {
    const MIB_4: u64 = 4 << 20;
    let rig = Rig::new(&[]);
    let tile_memory_object_4_mib = rig.object(MIB_4);
    let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::STORAGE;
    let (image, view) = rig.tile_image(
        vk::Format::R32_UINT,
        rig::SIDE,
        usage,
        tile_memory_object_4_mib,
        0,
    );
    let info = vk::ImageCreateInfo {
        usage,
        ..Rig::image_info(vk::Format::R32_UINT, rig::SIDE, usage)
    };
    let ordinary = rig.image(&info);
    let needs = rig.image_needs(ordinary).0;
    let memory = rig
        .allocate(needs.size, needs.memory_type_bits.trailing_zeros())
        .expect("memory");
    // SAFETY: New, and made for each other.
    unsafe { rig.device.bind_image_memory(ordinary, memory, 0) }.expect("bound");
    let ordinary_view = rig.view(ordinary, vk::Format::R32_UINT);
    let counted = rig.host_buffer(64);
    let texels = rig.host_buffer((rig::SIDE * rig::SIDE) as usize);

    let command_buffer_a = rig.record(|commands| {
        rig.fill(commands, counted.buffer, 64, 1);
        rig.fill(commands, counted.buffer, 64, 2);

        rig.bind(commands, Some(tile_memory_object_4_mib));
        rig.transition(
            commands,
            image,
            vk::ImageLayout::UNDEFINED,
            vk::ImageLayout::GENERAL,
        );
        rig.render(commands, view, rig::CLEAR, rig::SIDE);
        rig.copy_texels(commands, view, texels.buffer);

        rig.bind(commands, None);
        rig.transition(
            commands,
            ordinary,
            vk::ImageLayout::UNDEFINED,
            vk::ImageLayout::GENERAL,
        );
        rig.render(commands, ordinary_view, rig::CLEAR, rig::SIDE);
    });
    rig.submit(&[&[command_buffer_a]]);
    assert_eq!(counted.read(), [2; 64]);
    assert!(texels.read().iter().all(|texel| *texel == rig::CLEARED));
    rig.finish();
}
