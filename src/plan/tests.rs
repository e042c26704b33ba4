//! The planner on small frames, drawn.

use std::sync::Arc;

use ash::vk;

use super::*;
use crate::frame::{
    BufferDesc, ClearValue, CommandBufferId, Frame, FrameBuilder, ImageDesc, LoadOp, Persistence, ResourceId,
};
use crate::lower::tables::commands::{BarrierCause, ImageBarrierRow};
use crate::lower::{Checked, DeviceQueues, Lowered, Situation, lower};
use crate::measure::{Dedicated, Requirements, ResourceRequirements};
use crate::profile::{
    DeviceProfile, Features, Limits, MemoryHeap, MemoryType, TILE_HEAP_FLAG, TileBlock, TileHeap,
    TileRequirements,
};
use crate::units::{Alignment, Bytes, Span, Step};

const CLEAR: LoadOp = LoadOp::Clear(ClearValue::ZERO);
const EXTENT: vk::Extent2D = vk::Extent2D {
    width: 96,
    height: 32,
};
/// One block of tile memory: what every image of these tests takes.
const BLOCK: Bytes = Bytes(12_288);

/// Type 0 is the tile type, as the ordering rule may demand; type 1 ordinary, type 2 lazily allocated.
fn profile(blocks: u64) -> DeviceProfile {
    let local = vk::MemoryPropertyFlags::DEVICE_LOCAL;
    let size = Bytes(BLOCK.0 * blocks);
    let heap = |size, flags| MemoryHeap { size, flags };
    let kind = |flags, heap| MemoryType { flags, heap };
    DeviceProfile {
        name: "test".to_owned(),
        source: "these tests".to_owned(),
        heaps: vec![
            heap(Bytes::mib(64), vk::MemoryHeapFlags::DEVICE_LOCAL),
            heap(size, vk::MemoryHeapFlags::DEVICE_LOCAL | TILE_HEAP_FLAG),
        ],
        memory_types: vec![
            kind(local, 1),
            kind(local | vk::MemoryPropertyFlags::HOST_VISIBLE, 0),
            kind(local | vk::MemoryPropertyFlags::LAZILY_ALLOCATED, 0),
        ],
        tile: Some(TileHeap {
            heap: 1,
            memory_type: 0,
            size,
            queue_submit_boundary: false,
            buffer_transfers: false,
            block: TileBlock {
                bytes: Alignment::new(BLOCK.0).unwrap(),
                rows: 32,
            },
        }),
        gmem: Bytes::ZERO,
        limits: Limits {
            buffer_image_granularity: Alignment::ONE,
            max_allocation: Bytes::mib(64),
            max_image_dimension_2d: 16_384,
            max_color_attachments: 8,
        },
        features: Features::all(),
    }
}

/// Every resource takes one block, in tile memory as elsewhere.
fn requirements(frame: &Frame) -> Requirements {
    let one = ResourceRequirements {
        size: BLOCK,
        alignment: Alignment::new(4096).unwrap(),
        memory_type_bits: 0b011,
        dedicated: Dedicated::No,
        tile: Some(TileRequirements {
            size: BLOCK,
            alignment: Alignment::new(BLOCK.0).unwrap(),
        }),
        lazy_type_bits: 0b100,
    };
    Requirements {
        resources: vec![one; frame.resources().len()],
    }
}

fn plan_on(frame: &Frame, profile: DeviceProfile, options: &PlanOptions) -> Plan {
    plan(frame, &Arc::new(requirements(frame)), &Arc::new(profile), options).unwrap()
}

fn by(strategy: Strategy) -> PlanOptions {
    PlanOptions {
        strategy,
        ..PlanOptions::default()
    }
}

fn image() -> ImageDesc {
    ImageDesc::new(vk::Format::R8G8B8A8_UNORM, EXTENT)
}

/// One queue, and all of its work in one command buffer.
fn one_command_buffer(frame: &mut FrameBuilder) -> CommandBufferId {
    let queue = frame.queue("graphics", vk::QueueFlags::GRAPHICS);
    let submit = frame.submit(queue);
    let batch = frame.batch(submit);
    frame.command_buffer(batch, "main")
}

/// A chain of full-screen passes: pass n reads image n-1 and writes image n.
fn chain(images: usize) -> Frame {
    let mut frame = FrameBuilder::new("chain", EXTENT);
    let ids: Vec<_> = (0..images)
        .map(|n| frame.image(format!("i{n}"), image()))
        .collect();
    let commands = one_command_buffer(&mut frame);
    frame.render_pass(commands, "p0").color(ids[0], CLEAR);
    for n in 1..images {
        frame
            .render_pass(commands, format!("p{n}"))
            .sampled(ids[n - 1])
            .fragment()
            .color(ids[n], CLEAR);
    }
    let last = ids[images - 1];
    frame.compute_pass(commands, "end").sampled(last);
    frame.build().unwrap()
}

/// ```text
/// passes   p0  p1  p2  p3  end
/// i0       ├───────┤
/// i1           ├───────┤          two blocks are alive at any time: a heap of two holds all four images
/// i2               ├───────┤
/// i3                   ├───────┤
/// ```
#[test]
fn time_slicing_serves_a_chain_from_two_blocks() {
    let frame = chain(4);
    let plan = plan_on(&frame, profile(2), &PlanOptions::default());
    for id in frame.resource_ids() {
        let name = &frame.resource(id).name;
        assert_eq!(plan.memory_of(id), Some(MemoryKind::Tile), "{name}");
    }
    assert_eq!(plan.totals.tile_bytes, Bytes(2 * BLOCK.0));
    assert_eq!(plan.totals.on_chip_bytes, plan.totals.eligible_bytes);
    // Every image is written once and read once.
    assert_eq!(plan.totals.on_chip_bytes, Bytes(4 * 2 * BLOCK.0));
    let mut bound = plan.passes.iter().map(|pass| pass.bound_object);
    assert!(bound.all(|object| object == Some(ObjectId(0))));
}

#[test]
fn the_vendor_policy_takes_what_comes_first() {
    let frame = chain(4);
    let plan = plan_on(&frame, profile(2), &by(Strategy::FirstCome));
    let memories: Vec<_> = frame
        .resource_ids()
        .map(|id| plan.memory_of(id).unwrap())
        .collect();
    let (tile, arena) = (MemoryKind::Tile, MemoryKind::Arena);
    assert_eq!(memories, [tile, tile, arena, arena]);
    assert_eq!(plan.objects[0].size, Bytes(2 * BLOCK.0));
}

/// The G-buffer crosses into the second batch, where its tile contents would be gone.
#[test]
fn a_life_across_batches_stays_out_unless_the_submit_is_the_boundary() {
    let mut frame = FrameBuilder::new("two batches", EXTENT);
    let a = frame.image("a", image());
    let queue = frame.queue("graphics", vk::QueueFlags::GRAPHICS);
    let submit = frame.submit(queue);
    let batch = frame.batch(submit);
    let commands = frame.command_buffer(batch, "one");
    let write = frame.render_pass(commands, "write").color(a, CLEAR).id();
    let batch = frame.batch(submit);
    let commands = frame.command_buffer(batch, "two");
    let read = frame.compute_pass(commands, "read").sampled(a).id();
    let frame = frame.build().unwrap();

    let out = plan_on(&frame, profile(2), &PlanOptions::default());
    assert_eq!(
        out.resources[0].reason,
        PlacementReason::Arena(NotTile::CrossesWindows {
            last: write,
            next: read
        })
    );
    assert!(out.passes.iter().all(|pass| pass.bound_object.is_none()));

    let mut device = profile(2);
    device.tile.as_mut().unwrap().queue_submit_boundary = true;
    let inside = plan_on(&frame, device, &PlanOptions::default());
    assert_eq!(inside.memory_of(a), Some(MemoryKind::Tile));
    assert!(inside.passes.iter().all(|pass| pass.bound_object.is_some()));
}

/// ```text
/// passes   p0  p1  idle  p2  p3
/// a        ├───────┤                   the pass between runs unbound; the second run shares the object
/// b                      ├───────┤
/// ```
#[test]
fn nothing_is_bound_in_passes_without_residents() {
    let mut frame = FrameBuilder::new("two runs", EXTENT);
    let (a, b) = (frame.image("a", image()), frame.image("b", image()));
    let commands = one_command_buffer(&mut frame);
    frame.render_pass(commands, "p0").color(a, CLEAR);
    frame.compute_pass(commands, "p1").sampled(a);
    frame.compute_pass(commands, "idle");
    frame.render_pass(commands, "p2").color(b, CLEAR);
    frame.compute_pass(commands, "p3").sampled(b);
    let frame = frame.build().unwrap();
    let plan = plan_on(&frame, profile(8), &PlanOptions::default());
    let object = Some(ObjectId(0));
    let bound: Vec<_> = plan.passes.iter().map(|pass| pass.bound_object).collect();
    assert_eq!(bound, [object, object, None, object, object]);
    assert_eq!(plan.objects.len(), 1);
}

#[test]
fn an_attachment_of_one_pass_is_lazy_and_is_not_stored() {
    let mut frame = FrameBuilder::new("depth", EXTENT);
    let color = frame.image("color", image());
    let depth = frame.image("depth", ImageDesc::new(vk::Format::D32_SFLOAT, EXTENT));
    let commands = one_command_buffer(&mut frame);
    let clear = LoadOp::Clear(ClearValue::DepthStencil(0.0, 0));
    let pass = frame
        .render_pass(commands, "p")
        .color(color, CLEAR)
        .depth(depth, clear)
        .id();
    frame.compute_pass(commands, "read").sampled(color);
    let frame = frame.build().unwrap();
    let with = plan_on(&frame, profile(8), &PlanOptions::default());
    assert_eq!(
        with.resources[depth.index()].reason,
        PlacementReason::Lazy { pass }
    );
    let stores = steady(&with, DeviceQueues::one(&frame));
    let stores = stores.attachments.iter().map(|one| one.operations.store);
    assert!(stores.eq([vk::AttachmentStoreOp::STORE, vk::AttachmentStoreOp::DONT_CARE]));

    let options = PlanOptions {
        lazy: false,
        ..PlanOptions::default()
    };
    let without = plan_on(&frame, profile(8), &options);
    assert_eq!(
        without.resources[depth.index()].reason,
        PlacementReason::Arena(NotTile::OnePass { pass })
    );
}

/// The third frame of a plan on these queues.
fn steady(plan: &Plan, queues: DeviceQueues) -> Checked<Lowered> {
    let mut situation = Situation::first(queues);
    for _ in 0..2 {
        situation = situation.after(&lower(plan, &situation).unwrap());
    }
    lower(plan, &situation).unwrap()
}

/// The image barriers before a row of passes.
fn images_before(tables: &Lowered, row: usize) -> &[ImageBarrierRow] {
    tables.passes[row].before.images.of(&tables.image_barriers)
}

/// ```text
/// passes   p0      p1        p2         i0 and i2 share bytes: i2's first barrier waits for i0's reader, and
/// i0       write   read                 i0's waits for i2's reader in the frame before
/// i2                         write
/// ```
#[test]
fn aliases_hand_over_around_the_frame() {
    let frame = chain(3);
    let plan = plan_on(&frame, profile(2), &by(Strategy::Off));
    assert_eq!(plan.totals.arena_bytes, Bytes(2 * BLOCK.0));
    assert_eq!(plan.totals.arena_bytes_without_aliasing, Bytes(3 * BLOCK.0));
    let offset = |index: u32| plan.placements_of(ResourceId(index))[0].offset;
    assert_eq!(offset(0), offset(2));
    let tables = steady(&plan, DeviceQueues::one(&frame));
    let first = images_before(&tables, 0);
    assert_eq!(first.len(), 1);
    // Its bytes were only read since they were written: an execution dependency is enough.
    assert_eq!(first[0].cause, BarrierCause::EarlierFrame);
    assert_eq!(
        first[0].scopes.src_stages,
        vk::PipelineStageFlags2::COMPUTE_SHADER
    );
    let taken = images_before(&tables, 2)
        .iter()
        .find(|one| one.image == 2)
        .unwrap();
    assert_eq!(taken.cause, BarrierCause::Aliasing);
    assert_eq!(taken.old_layout, vk::ImageLayout::UNDEFINED);
    assert_eq!(taken.scopes.src_stages, vk::PipelineStageFlags2::FRAGMENT_SHADER);
}

#[test]
fn readers_of_one_stretch_share_a_barrier() {
    let mut frame = FrameBuilder::new("readers", EXTENT);
    let a = frame.image("a", image());
    let commands = one_command_buffer(&mut frame);
    frame.render_pass(commands, "write").color(a, CLEAR);
    frame.compute_pass(commands, "compute").sampled(a);
    frame.render_pass(commands, "draw").sampled(a).fragment();
    let frame = frame.build().unwrap();
    let plan = plan_on(&frame, profile(1), &PlanOptions::default());
    let tables = steady(&plan, DeviceQueues::one(&frame));
    let barriers = images_before(&tables, 1);
    assert_eq!(barriers.len(), 1);
    assert_eq!(
        barriers[0].scopes.dst_stages,
        vk::PipelineStageFlags2::COMPUTE_SHADER | vk::PipelineStageFlags2::FRAGMENT_SHADER
    );
    assert_eq!(images_before(&tables, 2), []);
}

#[test]
fn history_takes_turns() {
    let mut frame = FrameBuilder::new("temporal", EXTENT);
    let color = frame.image("color", image());
    let history = frame.resource("history", image(), Persistence::History);
    let commands = one_command_buffer(&mut frame);
    frame.render_pass(commands, "draw").color(color, CLEAR);
    frame
        .render_pass(commands, "resolve")
        .sampled(color)
        .sampled_previous(history)
        .color(history, CLEAR);
    let frame = frame.build().unwrap();
    let plan = plan_on(&frame, profile(4), &PlanOptions::default());
    let placements = plan.placements_of(history);
    assert_eq!(placements.len(), 2);
    assert_ne!(placements[0].offset, placements[1].offset);
    assert_eq!(
        placements[0].span,
        Span {
            first: Step(0),
            end: Step(2)
        }
    );
    assert_eq!(
        plan.resources[history.index()].reason,
        PlacementReason::Arena(NotTile::History)
    );
    let tables = steady(&plan, DeviceQueues::one(&frame));
    let barriers: Vec<_> = images_before(&tables, 1)
        .iter()
        .filter(|one| tables.images[one.image as usize].resource == history)
        .collect();
    assert_eq!(barriers.len(), 2);
    let previous = barriers
        .iter()
        .find(|barrier| barrier.old_layout != vk::ImageLayout::UNDEFINED)
        .unwrap();
    assert_eq!(previous.old_layout, vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL);
    assert_eq!(previous.new_layout, vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL);
}

#[test]
fn a_queue_change_is_a_release_and_an_acquire() {
    let mut frame = FrameBuilder::new("async", EXTENT);
    let a = frame.buffer("a", BufferDesc::new(BLOCK));
    let graphics = frame.queue("graphics", vk::QueueFlags::GRAPHICS);
    let compute = frame.queue("compute", vk::QueueFlags::COMPUTE);
    let done = frame.semaphore("done");
    let all = vk::PipelineStageFlags2::ALL_COMMANDS;
    let submit = frame.submit(graphics);
    let batch = frame.batch(submit);
    frame.signal(batch, done, all);
    let commands = frame.command_buffer(batch, "one");
    let write = frame.compute_pass(commands, "write").storage_write(a).id();
    let submit = frame.submit(compute);
    let batch = frame.batch(submit);
    frame.wait(batch, done, all);
    let commands = frame.command_buffer(batch, "two");
    let read = frame.compute_pass(commands, "read").storage_read(a).id();
    let frame = frame.build().unwrap();
    let plan = plan_on(&frame, profile(4), &PlanOptions::default());
    assert_eq!(
        plan.resources[0].reason,
        PlacementReason::Arena(NotTile::CrossesQueues {
            last: write,
            next: read
        })
    );
    let tables = steady(&plan, DeviceQueues::apart(&frame));
    let release = tables.passes[0].after.buffers.of(&tables.buffer_barriers)[0];
    let acquire = tables.passes[1].before.buffers.of(&tables.buffer_barriers)[0];
    assert_eq!(
        (release.cause, acquire.cause),
        (BarrierCause::Release, BarrierCause::Acquire)
    );
    assert_eq!(release.families, acquire.families);
}

#[test]
fn a_resource_that_no_type_holds_is_an_error_that_names_it() {
    let frame = chain(2);
    let mut needs = requirements(&frame);
    // The tile type alone: ordinary memory must not be taken from it.
    needs.resources[1].memory_type_bits = 0b001;
    needs.resources[1].tile = None;
    let fault = plan(
        &frame,
        &Arc::new(needs),
        &Arc::new(profile(2)),
        &PlanOptions::default(),
    )
    .unwrap_err();
    assert!(fault.to_string().contains("`i1`"), "{fault}");
}
