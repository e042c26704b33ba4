//! A frame on two queues, planned by hand.
//!
//! ```text
//! graphics   0 draw ──► release                       acquire ──► 2 present
//!                  └─ semaphore ─┐                 ┌─ semaphore ─┘
//! compute                  acquire ──► 1 blur ──► release
//! arena 0    ├─ scene ─────────────────────────┤            drawn and blurred
//!       64   │             ├─ blurred ──────────────────────┤  written by blur, read by present
//! ```

use ash::vk::{Extent2D, Format, PipelineStageFlags2 as S, QueueFlags};
use tileheap::frame::external::ExternalDesc;
use tileheap::frame::{Frame, FrameBuilder, ImageDesc, LoadOp, Persistence};
use tileheap::plan::{MemoryKind, NotTile, PlacementReason, Plan, Totals};
use tileheap::units::Bytes;

use super::{DEVICE_LOCAL, Pencil, device, requirement};

const KIB: u64 = 1024;

/// `arrives` are the stages of each batch that wait for the batch on the other queue.
fn frame(arrives: S) -> Frame {
    let extent = Extent2D {
        width: 128,
        height: 128,
    };
    let mut frame = FrameBuilder::new("two queues", extent);
    let image = |format| ImageDesc::new(format, extent);
    let scene = frame.image("scene", image(Format::R8G8B8A8_UNORM));
    let blurred = frame.image("blurred", image(Format::R8G8B8A8_UNORM));
    let swapchain = Persistence::External(ExternalDesc::SWAPCHAIN);
    let screen = frame.resource("screen", image(Format::B8G8R8A8_UNORM), swapchain);
    let graphics = frame.queue("graphics", QueueFlags::GRAPHICS);
    let compute = frame.queue("compute", QueueFlags::COMPUTE);
    let there = frame.semaphore("there");
    let back = frame.semaphore("back");

    let submit = frame.submit(graphics);
    let batch = frame.batch(submit);
    frame.signal(batch, there, S::ALL_COMMANDS);
    let commands = frame.command_buffer(batch, "first");
    frame.render_pass(commands, "draw").color(scene, LoadOp::DontCare);

    let submit = frame.submit(compute);
    let batch = frame.batch(submit);
    frame.wait(batch, there, arrives);
    frame.signal(batch, back, S::ALL_COMMANDS);
    let commands = frame.command_buffer(batch, "second");
    frame
        .compute_pass(commands, "blur")
        .sampled(scene)
        .storage_write(blurred);

    let submit = frame.submit(graphics);
    let batch = frame.batch(submit);
    frame.wait(batch, back, arrives);
    let commands = frame.command_buffer(batch, "third");
    frame
        .render_pass(commands, "present")
        .sampled(blurred)
        .color(screen, LoadOp::DontCare);
    frame.build().unwrap()
}

/// A plan that every rule allows if `arrives` is `ALL_COMMANDS`.
pub(crate) fn two_queues(arrives: S) -> Plan {
    let frame = frame(arrives);
    let requirements = vec![requirement(64 * KIB, 0); 3];
    let mut pencil = Pencil::new(&frame, device(), requirements);
    let arena = pencil.object(MemoryKind::Arena, DEVICE_LOCAL, 128 * KIB);
    let reason = PlacementReason::Arena(NotTile::Refused);
    pencil.place(
        "scene",
        reason,
        MemoryKind::Arena,
        &[(Some(arena), 0, 64 * KIB)],
        (0, 2),
    );
    pencil.place(
        "blurred",
        reason,
        MemoryKind::Arena,
        &[(Some(arena), 64 * KIB, 64 * KIB)],
        (1, 3),
    );
    pencil.place(
        "screen",
        PlacementReason::External,
        MemoryKind::Dedicated,
        &[(None, 0, 64 * KIB)],
        (2, 3),
    );

    pencil.finish(Totals {
        eligible_bytes: Bytes::ZERO,
        on_chip_bytes: Bytes::ZERO,
        arena_bytes: Bytes(128 * KIB),
        arena_bytes_without_aliasing: Bytes(128 * KIB),
        arena_peak_live: Bytes(128 * KIB),
        tile_peak_live: Bytes::ZERO,
        tile_bytes: Bytes::ZERO,
        ..Totals::default()
    })
}
