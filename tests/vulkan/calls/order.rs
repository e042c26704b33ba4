//! Order between plans that share a queue, and what safe code cannot break.

use ash::vk;
use tileheap::lower::Lowered;
use tileheap::plan::{MemoryKind, PlanOptions, Strategy, WindowRule};
use tileheap::units::Bytes;

use super::rig::{Outside, Pool, Rig, frame, record, run};
use tileheap_testkit::fake_driver::Config;

/// Stages that the first use of each tile memory image waits for.
fn tile_sources(tables: &Lowered) -> Vec<vk::PipelineStageFlags2> {
    use tileheap::lower::tables::objects::Binding;
    let is_tile = |image: u32| match tables.images[image as usize].binding {
        Binding::Memory { memory, .. } => tables.memory[memory as usize].kind == MemoryKind::Tile,
        Binding::Imported => false,
    };
    let first = |one: &&tileheap::lower::tables::commands::ImageBarrierRow| {
        is_tile(one.image) && one.old_layout == vk::ImageLayout::UNDEFINED
    };
    let barriers = tables.image_barriers.iter().filter(first);
    barriers.map(|one| one.scopes.src_stages).collect()
}

#[test]
fn a_plan_waits_for_the_tile_memory_of_another() {
    let rig = Rig::new(Config::modern());
    let frame = frame();
    let (pool, outside) = (Pool::new(rig.context()).unwrap(), Outside::new(rig.context()));
    let (mut one, mut other) = (rig.bind(&frame).unwrap(), rig.bind(&frame).unwrap());
    let first = record(rig.context(), &mut other, &frame, &pool, &outside).unwrap();
    let nothing = tile_sources(first.lowered());
    assert!(
        !nothing.is_empty() && nothing.iter().all(|stages| stages.is_empty()),
        "{nothing:?}"
    );
    let number = run(rig.context(), &mut one, &frame, &pool, &outside).unwrap();
    assert!(one.wait(number, u64::MAX).unwrap());
    // One in between that uses none of it makes no difference.
    let options = PlanOptions {
        strategy: Strategy::Off,
        ..PlanOptions::default()
    };
    let tile = rig.context().tile();
    let mut ordinary = tile.bind(&tile.plan(&frame, &options).unwrap()).unwrap();
    let number = run(rig.context(), &mut ordinary, &frame, &pool, &outside).unwrap();
    assert!(ordinary.wait(number, u64::MAX).unwrap());
    let second = record(rig.context(), &mut other, &frame, &pool, &outside).unwrap();
    let sources = tile_sources(second.lowered());
    assert!(sources.iter().all(|stages| !stages.is_empty()), "{sources:?}");
    one.retire();
    other.retire();
    ordinary.retire();
    pool.destroy(rig.context());
    outside.destroy(rig.context());
    rig.finish();
}

#[test]
fn a_frame_that_is_overtaken_waits_for_all_of_its_queue() {
    let rig = Rig::new(Config::modern());
    let frame = frame();
    let pools = [0; 2].map(|_| Pool::new(rig.context()).unwrap());
    let outside = Outside::new(rig.context());
    let (mut one, mut other) = (rig.bind(&frame).unwrap(), rig.bind(&frame).unwrap());
    let waits = |one: &tileheap::runtime::SubmitCall<'_>| -> Vec<(u64, vk::PipelineStageFlags2)> {
        let infos = one.batches.iter().map(|batch| {
            // SAFETY: they are the call's own.
            unsafe {
                std::slice::from_raw_parts(
                    batch.p_wait_semaphore_infos,
                    batch.wait_semaphore_info_count as usize,
                )
            }
        });
        infos
            .flatten()
            .map(|info| (info.value, info.stage_mask))
            .collect()
    };
    let slow = record(rig.context(), &mut one, &frame, &pools[0], &outside).unwrap();
    let fast = record(rig.context(), &mut other, &frame, &pools[1], &outside).unwrap();
    let mut found = Vec::new();
    for recorder in [fast, slow] {
        // SAFETY: nothing is executed; the test looks at the calls alone.
        let submitted = unsafe {
            recorder.submit_with(|call| {
                found.push(waits(call));
                Ok(())
            })
        };
        submitted.unwrap();
    }
    assert_eq!(found, [vec![], vec![(1, vk::PipelineStageFlags2::ALL_COMMANDS)]]);
    // SAFETY: nothing was executed.
    unsafe { one.destroy() };
    // SAFETY: as above.
    unsafe { other.destroy() };
    pools.into_iter().for_each(|pool| pool.destroy(rig.context()));
    outside.destroy(rig.context());
    rig.finish();
}

#[test]
fn a_plan_that_was_changed_is_not_bound() {
    let rig = Rig::new(Config::modern());
    let tile = rig.context().tile();
    let plan = tile.plan(&frame(), &PlanOptions::default()).unwrap();
    let mut changed = tileheap::plan::Plan::clone(&plan);
    changed.placements[0].offset = Bytes(4 << 30);
    let fault = tile.bind(&changed.into()).unwrap_err();
    assert!(matches!(fault, tileheap::Error::Check(_)), "{fault}");
    let options = PlanOptions {
        windows: WindowRule::WholeFrame,
        ..PlanOptions::default()
    };
    let compared = tile.plan(&frame(), &options).unwrap();
    let fault = tile.bind(&compared).unwrap_err();
    assert!(
        fault.to_string().contains("one discard window") && fault.to_string().contains("`calls`"),
        "{fault}"
    );
    rig.finish();
}

#[test]
fn what_is_in_use_keeps_its_device() {
    let rig = Rig::new(Config::modern());
    let frame = frame();
    let bound = rig.bind(&frame).unwrap();
    let (driver, context) = (rig.driver, rig.context.unwrap());
    context.destroy();
    // Its device is leaked instead of destroyed under it.
    assert_eq!(bound.completed().unwrap(), None);
    assert!(!driver.live().is_empty());
    bound.retire();
    assert_eq!(driver.violations(), [""; 0]);
}
