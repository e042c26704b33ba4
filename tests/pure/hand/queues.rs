//! A frame on two queues, planned by hand.
//!
//! ```text
//! graphics   0 draw ──► release                       acquire ──► 2 present
//!                  └─ semaphore ─┐                 ┌─ semaphore ─┘
//! compute                  acquire ──► 1 blur ──► release
//! arena 0    ├─ scene ─────────────────────────┤            drawn and blurred
//!       64   │             ├─ blurred ──────────────────────┤  written by blur, read by present
//! ```

use ash::vk::{AccessFlags2 as A, Extent2D, Format, ImageLayout as L, PipelineStageFlags2 as S, QueueFlags};
use tileheap::frame::external::ExternalDesc;
use tileheap::frame::{Frame, FrameBuilder, ImageDesc, LoadOp, Persistence};
use tileheap::plan::passes::{BarrierCause, TransferHalf};
use tileheap::plan::{MemoryKind, NotTile, PlacementReason, Plan, Totals};
use tileheap::units::Bytes;

use super::{DEVICE_LOCAL, Pencil, device, half, requirement};

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
    let queue = |pass| frame.queue_of(frame.pass_named(pass).unwrap());
    let (graphics, compute) = (queue("draw"), queue("blur"));

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

    let nothing = (S::NONE, A::NONE);
    let everything = (S::ALL_COMMANDS, A::NONE);
    let color = (S::COLOR_ATTACHMENT_OUTPUT, A::COLOR_ATTACHMENT_WRITE);
    let stored = (S::COMPUTE_SHADER, A::SHADER_STORAGE_WRITE);
    let sampled = |stages| (stages, A::SHADER_SAMPLED_READ);
    let (read, write) = (L::SHADER_READ_ONLY_OPTIMAL, L::COLOR_ATTACHMENT_OPTIMAL);
    let to_color = (L::UNDEFINED, write);

    // The frame before read `scene` on the other queue: the wait for that frame holds all commands.
    pencil.before(
        "draw",
        ("scene", 0),
        BarrierCause::NextFrame,
        everything,
        color,
        to_color,
    );
    let release = pencil.after(
        "draw",
        ("scene", 0),
        BarrierCause::Hazard,
        color,
        nothing,
        (write, read),
    );
    release.transfer = half(TransferHalf::Release, graphics, compute);
    let acquire = pencil.before(
        "blur",
        ("scene", 0),
        BarrierCause::Hazard,
        nothing,
        sampled(S::COMPUTE_SHADER),
        (write, read),
    );
    acquire.transfer = half(TransferHalf::Acquire, graphics, compute);
    let to_general = (L::UNDEFINED, L::GENERAL);
    pencil.before(
        "blur",
        ("blurred", 0),
        BarrierCause::NextFrame,
        everything,
        stored,
        to_general,
    );
    let release = pencil.after(
        "blur",
        ("blurred", 0),
        BarrierCause::Hazard,
        stored,
        nothing,
        (L::GENERAL, read),
    );
    release.transfer = half(TransferHalf::Release, compute, graphics);
    let acquire = pencil.before(
        "present",
        ("blurred", 0),
        BarrierCause::Hazard,
        nothing,
        sampled(S::FRAGMENT_SHADER),
        (L::GENERAL, read),
    );
    acquire.transfer = half(TransferHalf::Acquire, compute, graphics);
    let acquired = (S::COLOR_ATTACHMENT_OUTPUT, A::NONE);
    pencil.before(
        "present",
        ("screen", 0),
        BarrierCause::Entry,
        acquired,
        color,
        to_color,
    );
    pencil.after(
        "present",
        ("screen", 0),
        BarrierCause::Exit,
        color,
        nothing,
        (write, L::PRESENT_SRC_KHR),
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
