//! The loader loads and unloads the layer: a thousand instances take no more memory than two hundred.

use crate::rig;
use crate::rig::Rig;
use ash::vk;

/// Bytes of memory that this process has in use.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").expect("Linux");
    let pages = text.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok());
    pages.expect("pages") * 4096
}

/// Creates an instance, a device, tile memory with a buffer and an image, and submits work that uses them; destroys everything.
fn live() {
    let rig = Rig::new(&[("profile", "generous"), ("heap_size", "65536")]);
    let object = rig.object(rig.heap_size());
    let buffer = rig.tile_buffer(4096, vk::BufferUsageFlags::TRANSFER_DST);
    rig.bind_buffer(buffer, object, 0);
    let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT;
    let (image, view) = rig.tile_image(vk::Format::R32_UINT, rig::SIDE, usage, object, 4096);
    let commands = rig.record(|commands| {
        rig.bind(commands, Some(object));
        rig.fill_buffer(commands, buffer, 1);
        rig.to_general(commands, image);
        rig.render(commands, view, rig::CLEAR, rig::SIDE);
    });
    rig.submit(&[&[commands], &[commands]]);
}

/// Memory grew by 50 MiB while each unloading lost the layer's tables, which `build.rs` prevents.
#[test]
fn a_thousand_cycles_take_no_more_memory_than_two_hundred() {
    let name = "cycles::a_thousand_cycles_take_no_more_memory_than_two_hundred";
    crate::alone(name, || {
        (0..200).for_each(|_| live());
        let before = resident();
        (200..1000).for_each(|_| live());
        let grown = resident().saturating_sub(before);
        println!("{grown} B more after 800 lives");
        assert!(grown < 2 << 20, "{grown} B more after 800 lives");
    });
}
