//! The loader loads and unloads the layer: a thousand instances take no more memory than two hundred.

use crate::rig;
use crate::rig::Rig;
use ash::vk;

/// Bytes of memory that this process has in use.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").expect("Linux");
    let pages: u64 = text
        .split(' ')
        .nth(1)
        .and_then(|pages| pages.parse().ok())
        .expect("pages");
    pages * 4096
}

/// An instance, a device, tile memory with a buffer and an image, a submission that uses them; then nothing.
fn live() {
    let rig = Rig::new(&[("profile", "generous"), ("heap_size", "65536")]);
    let object = rig.object(rig.heap_size());
    let usage = vk::BufferUsageFlags::TRANSFER_DST;
    let buffer = rig.tile_buffer(4096, usage);
    // SAFETY: New, and within the object.
    unsafe { rig.device.bind_buffer_memory(buffer, object, 0) }.expect("bound tile memory");
    let format = vk::Format::R32_UINT;
    let (image, view) = rig.tile_image(
        format,
        rig::SIDE,
        vk::ImageUsageFlags::COLOR_ATTACHMENT,
        object,
        4096,
    );
    let commands = rig.record(|commands| {
        rig.bind(commands, Some(object));
        // SAFETY: Recording, and the buffer is bound.
        unsafe { rig.device.cmd_fill_buffer(commands, buffer, 0, vk::WHOLE_SIZE, 1) };
        rig.transition(
            commands,
            image,
            vk::ImageLayout::UNDEFINED,
            vk::ImageLayout::GENERAL,
        );
        rig.render(commands, view, rig::CLEAR, rig::SIDE);
    });
    rig.submit(&[&[commands], &[commands]]);
    rig.finish();
}

/// It was 50 MiB while each unloading lost the layer's tables, which `build.rs` ends.
#[test]
fn a_thousand_cycles_take_no_more_memory_than_two_hundred() {
    crate::alone(
        "cycles::a_thousand_cycles_take_no_more_memory_than_two_hundred",
        || {
            (0..200).for_each(|_| live());
            let before = resident();
            (200..1000).for_each(|_| live());
            let grown = resident().saturating_sub(before);
            println!("{grown} B more after 800 lives");
            assert!(grown < 2 << 20, "{grown} B more after 800 lives");
        },
    );
}
