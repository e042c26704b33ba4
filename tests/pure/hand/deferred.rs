//! A small deferred frame, planned by hand.
//!
//! ```text
//! pass          0 gbuffer  1 cull │ 2 lighting  3 bloom  4 merge ║ 5 tonemap      │ command buffers, ║ batches
//! tile 0..3     ├─ albedo ────────────────────┤
//!      0..1                                   ├─ bloom ─────────┤                 offsets in blocks of 12,288 B
//!      3..5     ├─ depth ─────────────────────┤
//! bound         ── object 0, five blocks ─────┼─ object 1, one ─┤ nothing
//! arena 0                         ├─ hdr ──────────────────────┤
//!       64 KiB             ├─ lights ───────┤├─ scratch ───────┤                  two buffers take turns
//!       128, 192 KiB  ── history, its two versions take turns ────────────────
//! own           ── screen, a swapchain image ───────────────────────────────
//! ```

use ash::vk::{Extent2D, Format, QueueFlags};
use tileheap::frame::external::ExternalDesc;
use tileheap::frame::{BufferDesc, ClearValue, Frame, FrameBuilder, ImageDesc, LoadOp, Persistence};
use tileheap::plan::{MemoryKind, NotTile, PlacementReason, Plan, Totals};
use tileheap::units::Bytes;

use super::{BLOCK, DEVICE_LOCAL, Pencil, TILE, device, requirement};

const KIB: u64 = 1024;
fn frame(late: bool) -> Frame {
    let extent = Extent2D {
        width: 96,
        height: 96,
    };
    let clear = LoadOp::Clear(ClearValue::ZERO);
    let mut frame = FrameBuilder::new("by hand", extent);
    let image = |format| ImageDesc::new(format, extent);
    let albedo = frame.image("albedo", image(Format::R8G8B8A8_UNORM));
    let depth = frame.image("depth", image(Format::D16_UNORM));
    let lights = frame.buffer("lights", BufferDesc::new(Bytes(64 * KIB)));
    let hdr = frame.image("hdr", image(Format::R16G16B16A16_SFLOAT));
    let bloom = frame.image("bloom", image(Format::R8_UNORM));
    let scratch = frame.buffer("scratch", BufferDesc::new(Bytes(64 * KIB)));
    let history = frame.resource("history", image(Format::R8G8B8A8_UNORM), Persistence::History);
    let swapchain = Persistence::External(ExternalDesc::SWAPCHAIN);
    let screen = frame.resource("screen", image(Format::B8G8R8A8_UNORM), swapchain);
    let graphics = frame.queue("graphics", QueueFlags::GRAPHICS | QueueFlags::COMPUTE);
    let submit = frame.submit(graphics);
    let batch = frame.batch(submit);
    let scene = frame.command_buffer(batch, "scene");
    frame
        .render_pass(scene, "gbuffer")
        .color(albedo, clear)
        .depth(depth, clear);
    frame
        .compute_pass(scene, "cull")
        .sampled(depth)
        .storage_write(lights);
    let shade = frame.command_buffer(batch, "shade");
    frame
        .render_pass(shade, "lighting")
        .sampled(albedo)
        .sampled(depth)
        .storage_read(lights)
        .color(hdr, LoadOp::DontCare);
    frame
        .compute_pass(shade, "bloom")
        .sampled(hdr)
        .storage_write(bloom)
        .storage_write(scratch);
    frame
        .render_pass(shade, "merge")
        .sampled(hdr)
        .sampled(bloom)
        .storage_read(scratch)
        .sampled_previous(history)
        .color(history, LoadOp::DontCare);
    let batch = frame.batch(submit);
    let present = frame.command_buffer(batch, "present");
    frame
        .render_pass(present, "tonemap")
        .sampled(history)
        .color(screen, LoadOp::DontCare);
    if late {
        frame.compute_pass(present, "late").storage_read(bloom);
    }
    frame.build().unwrap()
}

/// A plan that every rule allows.
pub(crate) fn deferred() -> Plan {
    draw(false)
}

/// The same with a seventh pass, `late`, that reads `bloom` from tile memory in the second batch: allowed where tile
/// memory keeps its contents to the end of the submit.
pub(crate) fn late() -> Plan {
    draw(true)
}

fn draw(late: bool) -> Plan {
    let frame = frame(late);
    let requirements = vec![
        requirement(36 * KIB, 3),
        requirement(18 * KIB, 2),
        requirement(64 * KIB, 0),
        requirement(64 * KIB, 0),
        requirement(9 * KIB, 1),
        requirement(64 * KIB, 0),
        requirement(64 * KIB, 3),
        requirement(36 * KIB, 3),
    ];
    let mut pencil = Pencil::new(&frame, device(), requirements);
    place(&mut pencil, late);
    let mut blocks = 14;
    if late {
        blocks += 1;
    }
    let bloom_passes = if late { 4 } else { 2 };
    pencil.finish(Totals {
        // albedo: 3 blocks, 2 accesses; depth: 2 blocks, 3 accesses; bloom: 1 block, 2 accesses.
        eligible_bytes: Bytes(blocks * BLOCK),
        on_chip_bytes: Bytes(blocks * BLOCK),
        stored_bytes: Bytes::ZERO,
        arena_bytes: Bytes(256 * KIB),
        arena_bytes_without_aliasing: Bytes(320 * KIB),
        arena_peak_live: Bytes(256 * KIB),
        tile_peak_live: Bytes(5 * BLOCK),
        tile_bytes: Bytes(5 * BLOCK),
        // Five blocks in three passes, one in two or four; all of them full.
        reserved_bytes: Bytes((15 + bloom_passes) * BLOCK),
        reserved_bytes_by_runs: Bytes((15 + bloom_passes) * BLOCK),
        live_bytes: Bytes((15 + bloom_passes) * BLOCK),
    })
}

fn place(pencil: &mut Pencil, late: bool) {
    let steps = if late { 7 } else { 6 };
    let large = pencil.object(MemoryKind::Tile, TILE, 5 * BLOCK);
    let small = pencil.object(MemoryKind::Tile, TILE, BLOCK);
    let arena = pencil.object(MemoryKind::Arena, DEVICE_LOCAL, 256 * KIB);
    let tile = PlacementReason::Tile {
        savings: Bytes(BLOCK),
    };
    let refused = PlacementReason::Arena(NotTile::Refused);
    let history = PlacementReason::Arena(NotTile::History);
    let stay = |object, offset, size| [(Some(object), offset, size)];
    pencil.place(
        "albedo",
        tile,
        MemoryKind::Tile,
        &stay(large, 0, 3 * BLOCK),
        (0, 3),
    );
    pencil.place(
        "depth",
        tile,
        MemoryKind::Tile,
        &stay(large, 3 * BLOCK, 2 * BLOCK),
        (0, 3),
    );
    pencil.place(
        "bloom",
        tile,
        MemoryKind::Tile,
        &stay(small, 0, BLOCK),
        if late { (3, 7) } else { (3, 5) },
    );
    pencil.place(
        "hdr",
        refused,
        MemoryKind::Arena,
        &stay(arena, 0, 64 * KIB),
        (2, 5),
    );
    pencil.place(
        "lights",
        refused,
        MemoryKind::Arena,
        &stay(arena, 64 * KIB, 64 * KIB),
        (1, 3),
    );
    pencil.place(
        "scratch",
        refused,
        MemoryKind::Arena,
        &stay(arena, 64 * KIB, 64 * KIB),
        (3, 5),
    );
    let versions = [
        (Some(arena), 128 * KIB, 64 * KIB),
        (Some(arena), 192 * KIB, 64 * KIB),
    ];
    pencil.place("history", history, MemoryKind::Arena, &versions, (0, steps));
    pencil.place(
        "screen",
        PlacementReason::External,
        MemoryKind::Dedicated,
        &[(None, 0, 36 * KIB)],
        (5, 6),
    );
    for pass in ["gbuffer", "cull", "lighting"] {
        pencil.bind(pass, large, 5 * BLOCK);
    }
    let with_bloom: &[&str] = if late {
        &["bloom", "merge", "tonemap", "late"]
    } else {
        &["bloom", "merge"]
    };
    for pass in with_bloom {
        pencil.bind(pass, small, BLOCK);
    }
}
