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

use ash::vk::{AccessFlags2 as A, Extent2D, Format, ImageLayout as L, PipelineStageFlags2 as S, QueueFlags};
use tileheap::frame::external::ExternalDesc;
use tileheap::frame::{BufferDesc, ClearValue, Frame, FrameBuilder, ImageDesc, LoadOp, Persistence};
use tileheap::plan::passes::BarrierCause;
use tileheap::plan::{MemoryKind, NotTile, PlacementReason, Plan, Totals};
use tileheap::units::Bytes;

use super::{BLOCK, DEVICE_LOCAL, Pencil, TILE, device, requirement};

const KIB: u64 = 1024;
const TESTS: S = S::from_raw(S::EARLY_FRAGMENT_TESTS.as_raw() | S::LATE_FRAGMENT_TESTS.as_raw());
const SHADERS: S = S::from_raw(S::COMPUTE_SHADER.as_raw() | S::FRAGMENT_SHADER.as_raw());
const NO_LAYOUT: (L, L) = (L::UNDEFINED, L::UNDEFINED);

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
    synchronise(&mut pencil, late);
    let mut blocks = 14;
    if late {
        let (compute, read) = (S::COMPUTE_SHADER, L::SHADER_READ_ONLY_OPTIMAL);
        // The write was made visible to `merge`; what it reads now waits for that pass, and sees what it saw.
        let source = (S::FRAGMENT_SHADER, A::NONE);
        let destination = (compute, A::SHADER_STORAGE_READ);
        pencil.before(
            "late",
            ("bloom", 0),
            BarrierCause::Hazard,
            source,
            destination,
            (read, L::GENERAL),
        );
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

fn synchronise(pencil: &mut Pencil, late: bool) {
    let nothing = (S::NONE, A::NONE);
    let wait = |stages| (stages, A::NONE);
    let sampled = |stages| (stages, A::SHADER_SAMPLED_READ);
    let color = (S::COLOR_ATTACHMENT_OUTPUT, A::COLOR_ATTACHMENT_WRITE);
    let depth = (TESTS, A::DEPTH_STENCIL_ATTACHMENT_WRITE);
    let stored = (S::COMPUTE_SHADER, A::SHADER_STORAGE_WRITE);
    let loaded = (S::FRAGMENT_SHADER, A::SHADER_STORAGE_READ);
    let (read, write) = (L::SHADER_READ_ONLY_OPTIMAL, L::COLOR_ATTACHMENT_OPTIMAL);
    let (test, tested) = (
        L::DEPTH_STENCIL_ATTACHMENT_OPTIMAL,
        L::DEPTH_STENCIL_READ_ONLY_OPTIMAL,
    );
    let to_color = (L::UNDEFINED, write);
    let fragment = S::FRAGMENT_SHADER;

    // The bytes of `albedo` were those of `bloom` in the frame before; `depth` had its own.
    let readers = if late { SHADERS } else { fragment };
    pencil.before(
        "gbuffer",
        ("albedo", 0),
        BarrierCause::Aliasing,
        wait(readers),
        color,
        to_color,
    );
    pencil.before(
        "gbuffer",
        ("depth", 0),
        BarrierCause::NextFrame,
        wait(SHADERS),
        depth,
        (L::UNDEFINED, test),
    );
    // One barrier for the readers in two passes.
    pencil.before(
        "cull",
        ("depth", 0),
        BarrierCause::Hazard,
        depth,
        sampled(SHADERS),
        (test, tested),
    );
    pencil.before(
        "cull",
        ("lights", 0),
        BarrierCause::Aliasing,
        wait(fragment),
        stored,
        NO_LAYOUT,
    );
    pencil.before(
        "lighting",
        ("albedo", 0),
        BarrierCause::Hazard,
        color,
        sampled(fragment),
        (write, read),
    );
    pencil.before(
        "lighting",
        ("lights", 0),
        BarrierCause::Hazard,
        stored,
        loaded,
        NO_LAYOUT,
    );
    pencil.before(
        "lighting",
        ("hdr", 0),
        BarrierCause::NextFrame,
        wait(SHADERS),
        color,
        to_color,
    );
    pencil.before(
        "bloom",
        ("hdr", 0),
        BarrierCause::Hazard,
        color,
        sampled(SHADERS),
        (write, read),
    );
    let to_general = (L::UNDEFINED, L::GENERAL);
    pencil.before(
        "bloom",
        ("bloom", 0),
        BarrierCause::Aliasing,
        wait(fragment),
        stored,
        to_general,
    );
    pencil.before(
        "bloom",
        ("scratch", 0),
        BarrierCause::Aliasing,
        wait(fragment),
        stored,
        NO_LAYOUT,
    );
    pencil.before(
        "merge",
        ("bloom", 0),
        BarrierCause::Hazard,
        stored,
        sampled(fragment),
        (L::GENERAL, read),
    );
    pencil.before(
        "merge",
        ("scratch", 0),
        BarrierCause::Hazard,
        stored,
        loaded,
        NO_LAYOUT,
    );
    // The current version was the previous one in the frame before, and the previous one is as `tonemap` left it.
    pencil.before(
        "merge",
        ("history", 0),
        BarrierCause::NextFrame,
        wait(fragment),
        color,
        to_color,
    );
    pencil.before(
        "tonemap",
        ("history", 0),
        BarrierCause::Hazard,
        color,
        sampled(fragment),
        (write, read),
    );
    let acquired = wait(S::COLOR_ATTACHMENT_OUTPUT);
    pencil.before(
        "tonemap",
        ("screen", 0),
        BarrierCause::Entry,
        acquired,
        color,
        to_color,
    );
    pencil.after(
        "tonemap",
        ("screen", 0),
        BarrierCause::Exit,
        color,
        nothing,
        (write, L::PRESENT_SRC_KHR),
    );
}
