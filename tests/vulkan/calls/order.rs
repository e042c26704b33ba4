//! Order between plans that share a queue, and invariants that safe code cannot break.

use ash::vk;
use ash::vk::PipelineStageFlags2 as S;
use tileheap::Result;
use tileheap::lower::Lowered;
use tileheap::lower::tables::commands::ImageBarrierRow;
use tileheap::plan::{MemoryKind, PlanOptions, ResidencyStrategy};
use tileheap::runtime::import::ImportedImage;
use tileheap::runtime::{Context, ContextDesc, FrameNumber, Imports, SubmitCall};
use tileheap_testkit::fake_driver::{Config, FakeDriver};
use tileheap_testkit::runtime_rig::{describe, on_fake};

use super::Rig;

/// Stages that the first use of each tile memory image waits for.
fn tile_sources(tables: &Lowered) -> Vec<S> {
    let is_tile = |image: u32| {
        let memory = tables.images[image as usize].binding.memory.get();
        memory.is_some_and(|memory| tables.memory[memory as usize].kind == MemoryKind::Tile)
    };
    let first = |one: &&ImageBarrierRow| is_tile(one.image) && one.old_layout == vk::ImageLayout::UNDEFINED;
    let barriers = tables.image_barriers.iter().filter(first);
    barriers.map(|one| one.scopes.src_stages).collect()
}

#[test]
fn a_plan_waits_for_the_tile_memory_of_another() {
    let (rig, default) = (Rig::new(Config::modern()), PlanOptions::default());
    let (mut one, mut other) = (rig.bind(&default), rig.bind(&default));
    let nothing = tile_sources(rig.fake.record(&mut other).unwrap().lowered());
    assert!(
        !nothing.is_empty() && nothing.iter().all(|stages| stages.is_empty()),
        "{nothing:?}"
    );
    rig.run(&mut one);
    // A frame in between that uses no tile memory makes no difference.
    let mut ordinary = rig.bind(&PlanOptions {
        strategy: ResidencyStrategy::Off,
        ..default
    });
    rig.run(&mut ordinary);
    let sources = tile_sources(rig.fake.record(&mut other).unwrap().lowered());
    assert!(sources.iter().all(|stages| !stages.is_empty()), "{sources:?}");
}

#[test]
fn a_frame_that_is_overtaken_waits_for_all_of_its_queue() {
    let (rig, default) = (Rig::new(Config::modern()), PlanOptions::default());
    let (mut one, mut other) = (rig.bind(&default), rig.bind(&default));
    let slow = rig.fake.record(&mut one).unwrap();
    let fast = rig.fake.record(&mut other).unwrap();
    // The stages at which the first batch waits for other frames.
    let waits = |call: &SubmitCall<'_>| -> Vec<S> {
        let (first, count) = (
            call.batches[0].p_wait_semaphore_infos,
            call.batches[0].wait_semaphore_info_count,
        );
        (0..count as usize)
            .map(|index| on_fake!(*first.add(index)).stage_mask)
            .collect()
    };
    let mut found = Vec::new();
    for recorder in [fast, slow] {
        // Nothing is executed; the test only inspects the calls.
        let submitted = on_fake!(recorder.submit_with(|call| {
            found.push(waits(call));
            Ok(())
        }));
        submitted.unwrap();
    }
    assert_eq!(
        (&found[0], &found[2]),
        (&vec![], &vec![S::ALL_COMMANDS]),
        "{found:?}"
    );
    on_fake!(one.destroy());
    on_fake!(other.destroy());
}

fn said(result: Result<()>, wanted: &str) {
    assert_eq!(result.unwrap_err().to_string(), wanted);
}

#[test]
fn passes_come_in_declared_order() {
    let rig = Rig::new(Config::modern());
    let mut bound = rig.bind(&PlanOptions::default());
    let (output, late) = (rig.fake.described.commands[2], rig.fake.commands[0][2]);
    let recorder = on_fake!(bound.begin(&Imports::default())).unwrap();
    said(
        on_fake!(recorder.record(late, output)).map(drop),
        "external image `output` is not imported, and command buffer `post` uses it: add it to Imports, or import it with \
         FrameRecorder::import before the command buffer is recorded",
    );
    let resource = rig.fake.described.frame.resource_named("albedo").unwrap();
    let (image, view) = rig.fake.outputs[0];
    let images = [ImportedImage {
        resource,
        image,
        view,
    }];
    let imports = Imports {
        images: &images,
        ..Imports::default()
    };
    let wrong = on_fake!(bound.begin(&imports));
    said(
        wrong.map(drop),
        "`albedo` is imported as an external image, but the frame does not declare it as one",
    );

    let recorder = rig.fake.begin(&mut bound).unwrap();
    let (handles, scene) = (rig.fake.commands[0], rig.fake.described.commands[0]);
    let [gbuffer, decals] = ["gbuffer", "decals"].map(|name| rig.fake.pass(name));
    let mut commands = on_fake!(recorder.record(handles[0], scene)).unwrap();
    said(
        commands.pass(decals, |_| ()),
        "cannot begin pass `decals`: pass `gbuffer` is next in command buffer `scene`",
    );
    said(
        commands.pass(gbuffer, |_| ()),
        "pass `gbuffer` is declared with secondary contents but recorded with inline contents",
    );
    on_fake!(commands.pass_secondary(gbuffer, &[&[]])).unwrap();
    let twice = on_fake!(recorder.record(handles[1], scene));
    said(
        twice.map(drop),
        "command buffer `scene` is already recorded in this frame",
    );
    said(
        commands.finish(),
        "command buffer `scene` is finished before pass `decals` was recorded: begin it with Commands::begin_pass, or leave it out \
         with Commands::skip",
    );
    let unrecorded = on_fake!(recorder.submit());
    said(
        unrecorded.map(drop),
        "command buffer `scene` is submitted before its recording is finished: FrameRecorder::record begins it, Commands::finish \
         ends it",
    );
    let unknown = bound.wait(FrameNumber(0), 0);
    said(
        unknown.map(drop),
        "cannot wait for frame 0 before FrameRecorder::submit submits it; the number of submitted frames is 0",
    );
}

#[test]
fn what_is_in_use_keeps_its_device() {
    let driver = FakeDriver::new(Config::modern());
    let context = Context::on(driver.entry(), &ContextDesc::default()).unwrap();
    let tile = context.runtime();
    let plan = tile.plan(&describe().frame, &PlanOptions::default()).unwrap();
    let bound = tile.bind(&plan).unwrap();
    context.destroy();
    // Its device is leaked instead of being destroyed first.
    assert_eq!(bound.completed().unwrap(), None);
    assert!(!driver.live().is_empty());
    bound.retire();
    assert_eq!(driver.violations(), [""; 0]);
}
