//! Tile shading: the enabled features, per-tile execution, and the size of tile memory declared by render passes. The fake driver checks the last
//! two.

use std::panic::{AssertUnwindSafe, catch_unwind};

use ash::vk;
use tileheap::ffi::{PhysicalDeviceTileShadingFeaturesQCOM, tile_properties, tile_shading};
use tileheap::frame::{ClearValue, CommandBufferId, Frame, FrameBuilder, ImageDesc, LoadOp, PassId};
use tileheap::plan::{MemoryKind, PlanOptions, ResidencyStrategy};
use tileheap::profile::OptionalFeatures;
use tileheap::runtime::{Capabilities, Imports, PassCommands};
use tileheap_testkit::assert_says;
use tileheap_testkit::fake_driver::{Command, Config};
use tileheap_testkit::frames::{by, one_queue};
use tileheap_testkit::runtime_rig::{EXTENT, on_fake};

use super::Rig;

type Parts = fn(&mut PhysicalDeviceTileShadingFeaturesQCOM<'_>);

/// Tile shading with all features for color attachments and dispatches.
const DISPATCHES: Parts = |parts| {
    parts.tile_shading_color_attachments = 1;
    parts.tile_shading_per_tile_dispatch = 1;
    parts.tile_shading_dispatch_tile = 1;
};
/// Only draws per tile.
const DRAWS: Parts = |parts| parts.tile_shading_per_tile_draw = 1;
const NOTHING: Parts = |_| ();

/// A device with these features, with dynamic rendering or render pass objects.
fn rig(parts: Parts, dynamic: bool) -> Rig {
    let mut config = Config {
        extensions: vec![tile_properties::NAME, tile_shading::NAME],
        tile_shading: parts,
        ..Config::modern()
    };
    config.features.set(Capabilities::DYNAMIC_RENDERING, dynamic);
    Rig::new(config)
}

/// A pass with tile shading that draws a color attachment, and accesses it in its tile if `tile` is set; a dispatch reads it.
fn shaded(tile: bool, secondary: bool) -> (Frame, CommandBufferId, [PassId; 2]) {
    let mut frame = FrameBuilder::new("shaded", EXTENT);
    let image = frame.image("color", ImageDesc::new(vk::Format::R8G8B8A8_UNORM, EXTENT));
    let scene = one_queue(&mut frame, vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE);
    let clear = LoadOp::Clear(ClearValue::ZERO);
    let pass = frame.render_pass(scene, "shade").tile_shading();
    let pass = pass.color(image, clear);
    let pass = if tile { pass.tile_write(image) } else { pass };
    let shade = if secondary { pass.secondary() } else { pass }.id();
    let used = frame.compute_pass(scene, "use").sampled(image).id();
    (frame.build().unwrap(), scene, [shade, used])
}

fn refused<T: std::fmt::Debug>(result: tileheap::Result<T>, parts: &[&str]) {
    assert_says(result.unwrap_err(), parts);
}

/// Records per-tile work that the rig of [`DISPATCHES`] runs.
fn record_dispatches(pass: &PassCommands<'_>) {
    let (device, commands) = (pass.device(), pass.command_buffer());
    let recorded = pass.per_tile(|tile| {
        on_fake!(device.cmd_dispatch(commands, 1, 1, 1));
        on_fake!(tile.dispatch_tile()).unwrap();
        refused(pass.per_tile(|_| ()), &["pass `shade`", "it has already begun"]);
    });
    recorded.unwrap();
    pass.per_tile(|_| ()).unwrap();
}

/// The commands of a render pass in a command buffer, except labels.
fn inside(rig: &Rig, commands: vk::CommandBuffer) -> Vec<Command> {
    let recorded = rig.fake.driver.recorded(commands).into_iter();
    let is_begin = |command: &Command| matches!(command, Command::BeginRendering { .. });
    let after = recorded.skip_while(|command| !is_begin(command)).skip(1);
    after
        .take_while(|command| *command != Command::EndRendering)
        .collect()
}

#[test]
fn per_tile_execution_is_recorded_inside_of_the_pass() {
    let (begin, end) = (
        Command::State("vkCmdBeginPerTileExecutionQCOM"),
        Command::State("vkCmdEndPerTileExecutionQCOM"),
    );
    let recorded = [
        begin.clone(),
        Command::Dispatch,
        Command::Dispatch,
        end.clone(),
        begin,
        end,
    ];
    for (dynamic, strategy) in [true, false].into_iter().flat_map(|dynamic| {
        [ResidencyStrategy::Optimal, ResidencyStrategy::Off].map(|strategy| (dynamic, strategy))
    }) {
        let rig = rig(DISPATCHES, dynamic);
        let (frame, scene, [shade, used]) = shaded(true, false);
        let plan = rig.tile.plan(&frame, &by(strategy)).unwrap();
        let memory = plan.memory_of(frame.resource_named("color").unwrap());
        assert_eq!(
            memory == Some(MemoryKind::Tile),
            strategy == ResidencyStrategy::Optimal
        );
        let mut bound = rig.tile.bind(&plan).unwrap();
        let recorder = on_fake!(bound.begin(&Imports::default())).unwrap();
        let handle = rig.fake.commands[0][0];
        let mut commands = on_fake!(recorder.record(handle, scene)).unwrap();
        commands.pass(shade, record_dispatches).unwrap();
        let result = commands.pass(used, |pass| pass.per_tile(|_| ())).unwrap();
        refused(result, &["pass `use`", "describe it with tile shading"]);
        commands.finish().unwrap();
        assert_eq!(inside(&rig, handle), recorded);
        let number = on_fake!(recorder.submit()).unwrap();
        assert!(bound.wait(number, u64::MAX).unwrap());
    }
}

#[test]
fn secondary_command_buffers_begin_per_tile_execution_themselves() {
    for dynamic in [true, false] {
        let rig = rig(DISPATCHES, dynamic);
        let (frame, scene, [shade, used]) = shaded(true, true);
        let plan = rig.tile.plan(&frame, &PlanOptions::default()).unwrap();
        let mut bound = rig.tile.bind(&plan).unwrap();
        let recorder = on_fake!(bound.begin(&Imports::default())).unwrap();
        let (handle, secondary) = (rig.fake.commands[0][0], rig.fake.secondaries[0][0]);
        on_fake!(recorder.begin_secondary(secondary, shade, 0)).unwrap();
        let recorded = on_fake!(recorder.per_tile_secondary(secondary, shade, |tile| {
            on_fake!(tile.dispatch_tile()).unwrap();
        }));
        recorded.unwrap();
        on_fake!(rig.fake.device.end_command_buffer(secondary)).unwrap();
        let mut commands = on_fake!(recorder.record(handle, scene)).unwrap();
        on_fake!(commands.pass_secondary(shade, &[&[secondary]])).unwrap();
        commands.pass(used, |_| ()).unwrap();
        commands.finish().unwrap();
        let number = on_fake!(recorder.submit()).unwrap();
        assert!(bound.wait(number, u64::MAX).unwrap());
    }
}

#[test]
fn a_device_without_a_part_refuses_what_needs_it() {
    let plan = |rig: &Rig| rig.tile.plan(&shaded(true, false).0, &PlanOptions::default());
    let lacks = "a dispatch per tile needs the feature tileShadingPerTileDispatch";
    for parts in [NOTHING, DRAWS] {
        refused(plan(&rig(parts, true)), &["pass `shade`", lacks, "None-10674"]);
    }
    let rows: [(Parts, &[&str]); 2] = [
        (NOTHING, &["tileShadingPerTileDraw or tileShadingPerTileDispatch"]),
        (DRAWS, &["tileShadingDispatchTile and tileShadingPerTileDispatch"]),
    ];
    for (parts, said) in rows {
        let rig = rig(parts, true);
        let (frame, scene, [shade, _]) = shaded(false, false);
        let plan = rig.tile.plan(&frame, &PlanOptions::default()).unwrap();
        let mut bound = rig.tile.bind(&plan).unwrap();
        let recorder = on_fake!(bound.begin(&Imports::default())).unwrap();
        let mut commands = on_fake!(recorder.record(rig.fake.commands[0][0], scene)).unwrap();
        let record = |pass: &PassCommands<'_>| pass.per_tile(|tile| on_fake!(tile.dispatch_tile()));
        let result = commands.pass(shade, record).unwrap();
        refused(result.and_then(|inner| inner), said);
    }
}

#[test]
fn all_parts_that_a_device_offers_are_enabled() {
    use OptionalFeatures as F;
    let all =
        F::TILE_SHADING_COLOR_ATTACHMENTS | F::TILE_SHADING_PER_TILE_DISPATCH | F::TILE_SHADING_DISPATCH_TILE;
    let rig = rig(DISPATCHES, true);
    assert_eq!(rig.fake.support.tile_shading(), all);
    let in_use = |rig: &Rig| {
        let features = rig.tile.profile().optional_features.unwrap();
        features & (F::TILE_SHADING | F::TILE_SHADING_SUBFEATURES)
    };
    assert_eq!(in_use(&rig), F::TILE_SHADING | all);

    // A caller's own structure is left unchanged.
    let mut own = PhysicalDeviceTileShadingFeaturesQCOM::default()
        .tile_shading(true)
        .tile_shading_color_attachments(true);
    let info = vk::DeviceCreateInfo::default().push_next(&mut own);
    let enable = on_fake!(rig.fake.support.enable(&info, Capabilities::RECOMMENDED));
    let found = enable.optional_features() & (F::TILE_SHADING | F::TILE_SHADING_SUBFEATURES);
    assert_eq!(found, F::TILE_SHADING | F::TILE_SHADING_COLOR_ATTACHMENTS);

    // Nothing is enabled without the extension, nor if the runtime is told not to use it.
    let without = Rig::new(Config {
        extensions: vec![tile_properties::NAME],
        tile_shading: DISPATCHES,
        ..Config::modern()
    });
    assert_eq!(without.fake.support.tile_shading(), F::empty());
    assert_eq!(in_use(&without), F::empty());
    let mut unused = rig;
    on_fake!(unused.tile.clone().destroy());
    unused.fake.desc.without = Capabilities::TILE_SHADING;
    unused.tile = unused.fake.runtime().unwrap();
    assert_eq!(in_use(&unused), F::empty());
}

#[test]
fn per_tile_execution_ends_where_its_closure_panics() {
    let rig = rig(DISPATCHES, true);
    let (frame, scene, [shade, used]) = shaded(true, false);
    let plan = rig.tile.plan(&frame, &PlanOptions::default()).unwrap();
    let mut bound = rig.tile.bind(&plan).unwrap();
    let recorder = on_fake!(bound.begin(&Imports::default())).unwrap();
    let mut commands = on_fake!(recorder.record(rig.fake.commands[0][0], scene)).unwrap();
    let recorded = commands.pass(shade, |pass| {
        let panicking = || pass.per_tile(|_| -> () { panic!("the caller's") });
        catch_unwind(AssertUnwindSafe(panicking)).unwrap_err();
        pass.per_tile(|_| ())
    });
    recorded.unwrap().unwrap();
    commands.pass(used, |_| ()).unwrap();
    commands.finish().unwrap();
    let number = on_fake!(recorder.submit()).unwrap();
    assert!(bound.wait(number, u64::MAX).unwrap());
}

#[test]
fn secondary_contents_have_no_per_tile_execution_around_them() {
    let rig = rig(DISPATCHES, false);
    let (frame, scene, [shade, _]) = shaded(true, true);
    let plan = rig.tile.plan(&frame, &PlanOptions::default()).unwrap();
    let mut bound = rig.tile.bind(&plan).unwrap();
    let recorder = on_fake!(bound.begin(&Imports::default())).unwrap();
    let mut commands = on_fake!(recorder.record(rig.fake.commands[0][0], scene)).unwrap();
    commands.begin_pass(shade).unwrap();
    let pass = commands.pass_commands();
    refused(
        pass.per_tile(|_| ()),
        &["pass `shade`", "the pass has secondary contents"],
    );
}
