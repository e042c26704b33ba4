//! Traffic of accesses, plans and arrangements, compared with a count of bytes that shares no code with the library.

use std::ops::ControlFlow;

use ash::vk;
use tileheap::arrange::{SearchOptions, search};
use tileheap::frame::tables::{Access, CommandSource, PassKind, ResourceKind};
use tileheap::frame::{AccessKind, ClearValue, Frame, FrameBuilder, ImageDesc, LoadOp, PassId, Persistence};
use tileheap::lower::{DeviceQueues, LoweringDesc, lower};
use tileheap::measure::Requirements;
use tileheap::plan::{MemoryKind, Plan, Traffic, WindowRule};
use tileheap::units::Bytes;
use tileheap_testkit::frames::{extent, one_queue, rect};

use crate::execute_strips::blurred;
use crate::planned::{plan_on, plan_with, planned};

const CLEAR: LoadOp = LoadOp::Clear(ClearValue::ZERO);

/// An atlas that one pass clears, four passes draw a quarter of each, and a last one samples.
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

/// The bytes that a planned frame moves: as described with nothing in tile memory, and off chip. Counted pass by pass.
fn counted(plan: &Plan) -> [f64; 2] {
    let resources = plan.described().resource_ids();
    let whole = |id| plan.input.origins().whole(id).index();
    let resources = resources.map(|id| plan.input_requirements.resources[whole(id)]);
    let needs = Requirements {
        resources: resources.collect(),
        profile: None,
    };
    let described = counted_in(plan, plan.described(), &needs);
    [described[0], counted_in(plan, &plan.frame, &plan.requirements)[1]]
}

/// Like `counted`, for the described or the executed frame: the second number is only meaningful for the latter.
fn counted_in(plan: &Plan, frame: &Frame, needs: &Requirements) -> [f64; 2] {
    let mut sums = [0.0; 2];
    for pass in frame.pass_ids() {
        let accesses = frame.accesses_of(pass);
        for (at, access) in accesses.iter().enumerate() {
            let id = access.resource;
            let resource = frame.resource(id);
            let needs = needs.resources[id.index()];
            let size = match resource.persistence {
                Persistence::External(_) => resource.content_size(),
                _ => needs.tile.map_or(needs.size, |tile| tile.size),
            };
            let transient = resource.persistence == Persistence::Transient;
            let later = |other: &&Access| other.pass > pass && other.range.intersects(access.range);
            let kept = !transient || frame.accesses_to(id).any(|other| later(&other));
            let attached = access.kind.is_attached();
            // Subpasses load and store one attachment once.
            let before: Vec<&Access> = accesses[..at]
                .iter()
                .filter(|other| {
                    (other.resource, other.version) == (id, access.version)
                        && other.subpass < access.subpass
                        && other.range.intersects(access.range)
                        && attached
                        && other.kind.is_attached()
                })
                .collect();
            let one = !attached || frame.pass(pass).subpasses == 1;
            let loads = access.reads && (one || before.is_empty());
            let stores = access.writes && (one || kept && !before.iter().any(|other| other.writes));
            let times = match access.kind {
                AccessKind::TileAttachment => 0.0,
                _ => f64::from(u8::from(loads) + u8::from(stores)),
            };
            let bytes = size.0 as f64 * times * touched(frame, access);
            let alone = transient
                && plan.options.windows == WindowRule::Device
                && frame.accesses_to(id).all(|other| {
                    other.pass == pass
                        && (other.kind.is_attachment() || other.kind == AccessKind::InputAttachment)
                        && other.kind != AccessKind::ResolveAttachment
                });
            let on_chip = *frame == plan.frame && plan.memory_of(id) == Some(MemoryKind::Tile);
            let store = frame.pass(pass).contents == CommandSource::Store;
            sums[0] += if alone || store { 0.0 } else { bytes };
            sums[1] += match store {
                true if access.writes => size.0 as f64,
                true => 0.0,
                false if alone || on_chip => 0.0,
                false => bytes,
            };
        }
    }
    sums
}

/// The fraction of its resource that an access touches.
fn touched(frame: &Frame, access: &Access) -> f64 {
    let resource = frame.resource(access.resource);
    let share = access
        .share
        .map(|share| share.part.min(share.of) as f64 / share.of as f64);
    let ResourceKind::Image { desc, extent, .. } = resource.kind else {
        return share.unwrap_or(1.0);
    };
    let level = |level: u32| {
        let side = |texels: u32| f64::from((texels >> level).max(1));
        [side(extent.width), side(extent.height), side(extent.depth)]
    };
    let volume = desc.image_type == vk::ImageType::TYPE_3D;
    let texels = |number: u32, layers: f64| {
        let [width, height, depth] = level(number);
        width * height * if volume { layers.min(depth) } else { layers }
    };
    let layers = if volume { extent.depth } else { desc.array_layers };
    let all: f64 = (0..desc.mip_levels)
        .map(|number| texels(number, f64::from(layers)))
        .sum();
    let [levels, range] = [access.range.levels, access.range.layers];
    let used: f64 = (levels.first..levels.end)
        .map(|number| texels(number, range.len() as f64))
        .sum();
    let pass = frame.pass(access.pass);
    if share.is_some() || !access.kind.is_attached() || pass.kind != PassKind::Render {
        return used / all * share.unwrap_or(1.0);
    }
    let [width, height, _] = level(levels.first);
    let inside = |first: i32, length: u32, limit: f64| {
        (f64::from(first) + f64::from(length)).min(limit) - f64::from(first).min(limit)
    };
    let rendered = inside(pass.area.offset.x, pass.area.extent.width, width)
        * inside(pass.area.offset.y, pass.area.extent.height, height);
    let views = match pass.view_mask {
        0 => f64::from(pass.layers),
        mask => f64::from(mask.count_ones()),
    };
    rendered * views.min(range.len() as f64) / all
}

fn assert_counted(plan: &Plan, what: &str) {
    let counted = counted(plan);
    let says = [plan.totals.traffic_bytes, plan.dram_traffic()];
    for (counted, says) in counted.into_iter().zip(says) {
        let rounding = plan.frame.accesses().len() as f64 * 4.0 + counted / 1e9;
        assert!(
            (counted - says.0 as f64).abs() <= rounding,
            "{what}: {says} of {counted}"
        );
    }
}

#[test]
fn totals_are_those_of_an_independent_count() {
    for seed in 0..300 {
        assert_counted(&planned(seed), &format!("seed {seed}"));
    }
    assert_counted(&plan_on(&atlas(), "adreno-830"), "atlas");
}

/// The plan of an arranged frame moves what the search expects, except for the rounding of strips; it is never worse than the described frame, and
/// never above its cap.
#[test]
fn arranged_frames_move_what_the_search_expects() {
    for seed in 0..60 {
        let plan = planned(seed);
        let found = search(&plan, &SearchOptions::default(), &mut |_| {
            ControlFlow::Continue(())
        });
        let (described, arranged) = (found.described.share(), found.traffic.share());
        assert_eq!(found.described, Traffic::of(&plan), "seed {seed}");
        assert!(
            described <= arranged && arranged <= found.cap() + 1e-9,
            "seed {seed}: {described} {arranged} {}",
            found.cap()
        );
        let arranged = found.arrangement.apply(&plan.input).unwrap();
        let executed = plan_with(&arranged, &plan.profile, &plan.options);
        assert_eq!(executed.described(), plan.described());
        assert_counted(&executed, &format!("seed {seed}, arranged"));
    }
}

/// Three passes that draw to one image, which a fourth samples.
fn drawn_on_three_times() -> Frame {
    let mut frame = FrameBuilder::new("drawn on", extent(1920, 1080));
    let commands = one_queue(&mut frame, vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE);
    let hdr = frame.image(
        "hdr",
        ImageDesc::new(vk::Format::R16G16B16A16_SFLOAT, extent(1920, 1080)),
    );
    let other = frame.image("other", ImageDesc::new(vk::Format::R8_UNORM, extent(64, 64)));
    let out = frame.image(
        "out",
        ImageDesc::new(vk::Format::R8G8B8A8_UNORM, extent(1920, 1080)),
    );
    frame.render_pass(commands, "opaque").color(hdr, CLEAR);
    frame.render_pass(commands, "unrelated").color(other, CLEAR);
    frame.render_pass(commands, "sky").color(hdr, LoadOp::Load);
    frame
        .render_pass(commands, "transparent")
        .color(hdr, LoadOp::Load);
    frame
        .render_pass(commands, "tonemap")
        .sampled(hdr)
        .sampled(other)
        .color(out, LoadOp::DontCare);
    frame.build().unwrap()
}

/// Merged passes store an image that is used later only once and do not load it, on every tiler; unrelated passes are moved away.
#[test]
fn merged_passes_save_loads_and_stores_of_what_lives_on() {
    for preset in ["adreno-830", "no-tile-memory", "adreno-740", "mali-g72"] {
        let plan = plan_on(&drawn_on_three_times(), preset);
        let found = search(&plan, &SearchOptions::default(), &mut |_| {
            ControlFlow::Continue(())
        });
        let saved = found.described.moved.0 - found.traffic.moved.0;
        assert!(saved >= 66_000_000, "{preset}: {:?}", found.traffic);
        let frame = found.arrangement.apply(&plan.input).unwrap();
        let executed = plan_with(&frame, &plan.profile, &plan.options);
        assert_eq!(executed.dram_traffic(), found.traffic.moved, "{preset}");
        // The tables load nothing, and store the sampled image.
        let tables = lower(
            &executed,
            &LoweringDesc::first(DeviceQueues::single_queue(&executed.frame)),
        )
        .unwrap();
        let merged = tables
            .instances
            .iter()
            .find(|instance| instance.subpasses.len() == 3)
            .unwrap();
        let attached = merged.attachments.of(&tables.attachments);
        assert_eq!(attached.len(), 1);
        let operations = attached[0].operations;
        assert_eq!(
            (operations.load, operations.store),
            (vk::AttachmentLoadOp::CLEAR, vk::AttachmentStoreOp::STORE)
        );
    }
}

fn pass_of(frame: &Frame, number: usize) -> PassId {
    frame.pass_ids().nth(number).unwrap()
}

/// Passes that draw parts of an atlas run as one, after the clear of all of it: one store and one read are left of four moves.
#[test]
fn passes_with_different_areas_of_an_atlas_merge() {
    let plan = plan_on(&atlas(), "no-tile-memory");
    let found = search(&plan, &SearchOptions::default(), &mut |_| {
        ControlFlow::Continue(())
    });
    let frame = found.arrangement.apply(&plan.input).unwrap();
    let pass = &frame.frame().passes()[0];
    assert_eq!((pass.subpasses, pass.area), (5, extent(64, 64).into()));
    let executed = plan_with(&frame, &plan.profile, &plan.options);
    let size = executed.requirements.resources[0].size;
    assert_eq!(found.described.moved.0 - executed.dram_traffic().0, 2 * size.0);
    assert_eq!(executed.dram_traffic(), found.traffic.moved);
    // Nothing else can be saved: whatever is merged stores all of the atlas.
    assert_eq!(found.cap(), found.traffic.share());
    // Not after a pass that clears or resolves only a part: the contents around it would be lost.
    let frame = plan.described();
    assert!(frame.merged(pass_of(frame, 1)).is_some(), "quarters that load");
    let mut builder = FrameBuilder::new("parts", extent(64, 64));
    let commands = one_queue(&mut builder, vk::QueueFlags::GRAPHICS);
    let image = builder.image("image", ImageDesc::new(vk::Format::R8_UNORM, extent(64, 64)));
    builder.render_pass(commands, "all").color(image, CLEAR);
    builder
        .render_pass(commands, "left")
        .area(rect(0, 0, 32, 64))
        .color(image, LoadOp::Load);
    let mask = builder.image("mask", ImageDesc::new(vk::Format::R8_UNORM, extent(64, 64)));
    builder
        .render_pass(commands, "right")
        .area(rect(32, 0, 32, 64))
        .color(image, LoadOp::Load)
        .color(mask, CLEAR);
    let frame = builder.build().unwrap();
    assert!(frame.merged(pass_of(&frame, 0)).is_some());
    assert!(
        frame.merged(pass_of(&frame, 1)).is_none(),
        "`right` clears only its half of `mask`"
    );
}

/// Passes that draw a layer each store all layers, whatever is merged: nothing of a cascade that is sampled later can be saved.
#[test]
fn caps_count_every_layer_that_merged_passes_store() {
    let mut builder = FrameBuilder::new("cascades", extent(64, 64));
    let commands = one_queue(&mut builder, vk::QueueFlags::GRAPHICS);
    let layered = ImageDesc {
        array_layers: 4,
        ..ImageDesc::new(vk::Format::R16_UNORM, extent(64, 64))
    };
    let cascades = builder.image("cascades", layered);
    for layer in 0..4 {
        builder
            .render_pass(commands, format!("cascade {layer}"))
            .color(cascades, CLEAR)
            .layer(layer);
    }
    let out = ImageDesc::new(vk::Format::R16_UNORM, extent(64, 64));
    let out = builder.image("out", out);
    builder
        .render_pass(commands, "lit")
        .sampled(cascades)
        .color(out, LoadOp::DontCare);
    let plan = plan_on(&builder.build().unwrap(), "no-tile-memory");
    let found = search(&plan, &SearchOptions::default(), &mut |_| {
        ControlFlow::Continue(())
    });
    assert_eq!((found.traffic.share(), found.cap()), (0.0, 0.0));
}

/// Without a tile heap, strips keep nothing on chip, and the cap does not assume that they do.
#[test]
fn caps_without_a_tile_heap_allow_no_strips() {
    let plan = plan_on(&blurred(), "no-tile-memory");
    let found = search(&plan, &SearchOptions::default(), &mut |_| {
        ControlFlow::Continue(())
    });
    assert_eq!((found.traffic.share(), found.cap()), (0.0, 0.0));
}
