//! Traffic: what accesses, plans and arrangements move, beside a count of bytes that shares no code with the library's.

use ash::vk;
use tileheap::frame::{ClearValue, Frame, FrameBuilder, ImageDesc, LoadOp};
use tileheap::units::Bytes;
use tileheap_testkit::frames::{extent, one_queue, rect};

const CLEAR: LoadOp = LoadOp::Clear(ClearValue::ZERO);

/// An atlas that a pass clears, four passes draw a quarter of each, and a last one samples.
fn atlas() -> Frame {
    let mut frame = FrameBuilder::new("atlas", extent(64, 64));
    let commands = one_queue(&mut frame, vk::QueueFlags::GRAPHICS);
    let desc = ImageDesc::new(vk::Format::R16_UNORM, extent(64, 64));
    let atlas = frame.image("atlas", desc);
    let out = frame.image("out", desc);
    frame.render_pass(commands, "clear").color(atlas, CLEAR);
    for quarter in 0..4 {
        let (x, y) = (quarter % 2 * 32, quarter / 2 * 32);
        frame
            .render_pass(commands, format!("cascade {quarter}"))
            .area(rect(x, y, 32, 32))
            .color(atlas, LoadOp::Load);
    }
    frame
        .render_pass(commands, "lit")
        .sampled(atlas)
        .color(out, LoadOp::DontCare);
    frame.build().unwrap()
}

#[test]
fn an_atlas_drawn_in_quarters_moves_four_times() {
    let frame = atlas();
    let atlas = frame.resource_ids().next().unwrap();
    let moved = frame
        .accesses_to(atlas)
        .map(|access| frame.traffic_of(access, Bytes(4096)).0);
    let quarter = 2 * 1024;
    assert_eq!(
        moved.collect::<Vec<_>>(),
        [4096, quarter, quarter, quarter, quarter, 4096]
    );
}
