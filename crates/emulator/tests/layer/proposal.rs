//! The listing of the extension's proposal that has all of it (4.3), call for call.

use crate::rig;
use crate::rig::Rig;
use ash::vk;

/// Two dispatches without tile memory; 4 MiB bound for a pass and a dispatch; a pass without. The dispatch reads what the pass
/// rendered, since it is bound for both.
#[test]
fn listing_4_3_recording_with_tile_memory() {
    const MIB_4: u64 = 4 << 20;
    let rig = Rig::new(&[]);
    let tile_memory_object_4_mib = rig.object(MIB_4);
    let (format, usage) = (
        vk::Format::R32_UINT,
        vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::STORAGE,
    );
    let (image, view) = rig.tile_image(format, rig::SIDE, usage, tile_memory_object_4_mib, 0);
    let (ordinary, ordinary_view) = rig.ordinary_image(&rig::image_info(format, rig::SIDE, usage));
    let counted = rig.host_buffer(64);
    let texels = rig.host_buffer((rig::SIDE * rig::SIDE) as usize);

    let command_buffer_a = rig.record(|commands| {
        rig.fill(commands, counted.buffer, 64, 1);
        rig.fill(commands, counted.buffer, 64, 2);

        rig.bind(commands, Some(tile_memory_object_4_mib));
        rig.to_general(commands, image);
        rig.render(commands, view, rig::CLEAR, rig::SIDE);
        rig.copy_texels(commands, view, texels.buffer);

        rig.bind(commands, None);
        rig.to_general(commands, ordinary);
        rig.render(commands, ordinary_view, rig::CLEAR, rig::SIDE);
    });
    rig.submit(&[&[command_buffer_a]]);
    assert_eq!(counted.read(), [2; 64]);
    assert!(texels.read().iter().all(|texel| *texel == rig::CLEARED));
}
