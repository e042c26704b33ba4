//! A render area that changes every frame: the areas passed to the driver, their cost, and refused ones.

use ash::vk;
use tileheap::frame::PassId;
use tileheap::frame::tables::PassKind;
use tileheap::plan::PlanOptions;
use tileheap_testkit::counting;
use tileheap_testkit::fake_driver::{Call, Command, Config};
use tileheap_testkit::runtime_rig::{EXTENT, IN_FLIGHT, on_fake};

use super::Rig;
use tileheap_testkit::frames::rect;

/// The areas in the command buffers of a turn, in order.
fn begun(rig: &Rig, turn: usize) -> Vec<vk::Rect2D> {
    let recorded = rig.fake.commands[turn % IN_FLIGHT].map(|commands| rig.fake.driver.recorded(commands));
    let area = |command: &Command| match command {
        Command::BeginRendering { area, .. } => Some(*area),
        _ => None,
    };
    recorded.iter().flatten().filter_map(area).collect()
}

#[test]
fn another_area_every_frame_creates_and_allocates_nothing() {
    // Only submission allocates without synchronization2.
    for (config, most) in [(Config::modern(), 0), (Config::vulkan_1_1(), 15)] {
        let rig = Rig::new(config);
        let mut bound = rig.bind(&PlanOptions::default());
        let frame = &rig.fake.described.frame;
        let renders = |pass: &PassId| frame.pass(*pass).kind == PassKind::Render;
        let passes: Vec<PassId> = frame.pass_ids().filter(renders).collect();
        let mut allocated = Vec::with_capacity(40);
        for turn in 0..40 {
            let less = turn as u32;
            let area = rect(turn, 0, EXTENT.width - 2 * less, EXTENT.height - less);
            if turn == 20 {
                rig.fake.driver.clear_journal();
            }
            let before = counting::allocation_count();
            let mut recorder = rig.fake.begin(&mut bound).unwrap();
            for &pass in &passes {
                recorder.set_area(pass, area).unwrap();
            }
            let recorder = rig.fake.record_begun(recorder).unwrap();
            let number = on_fake!(recorder.submit()).unwrap();
            assert!(bound.wait(number, u64::MAX).unwrap());
            allocated.push(counting::allocation_count() - before);
            assert_eq!(begun(&rig, turn as usize), vec![area; passes.len()]);
        }
        assert!(
            allocated[20..].iter().all(|&count| count <= most),
            "{allocated:?}"
        );
        let creates = |call: &Call| {
            matches!(
                call,
                Call::Create { .. } | Call::Allocate { .. } | Call::Bind { .. }
            )
        };
        assert!(!rig.fake.driver.journal().iter().any(creates));
        // The next frame uses the described areas again.
        rig.run(&mut bound);
        assert_eq!(begun(&rig, 40), vec![EXTENT.into(); passes.len()]);
    }
}

#[test]
fn areas_that_cannot_be_are_refused_and_change_nothing() {
    let rig = Rig::new(Config::modern());
    let mut bound = rig.bind(&PlanOptions::default());
    let [gbuffer, decals, occlusion] = ["gbuffer", "decals", "occlusion"].map(|name| rig.fake.pass(name));
    let mut recorder = rig.fake.begin(&mut bound).unwrap();
    let part = rect(7, 0, 1, 270);
    recorder.set_area(gbuffer, part).unwrap();
    for wrong in [
        rect(0, 0, 0, 270),
        rect(0, 0, 481, 270),
        rect(-1, 0, 10, 10),
        rect(479, 0, 2, 1),
        rect(0, 269, 1, 2),
        rect(i32::MAX, i32::MIN, u32::MAX, u32::MAX),
    ] {
        let said = recorder.set_area(gbuffer, wrong).unwrap_err().to_string();
        assert!(
            said.contains("pass `gbuffer`") && said.contains("480 x 270 at (0, 0)"),
            "{said}"
        );
        assert_eq!(recorder.area(gbuffer), Some(part));
    }
    let said = recorder.set_area(occlusion, part).unwrap_err().to_string();
    assert!(
        said.contains("pass `occlusion`") && said.contains("not a render pass"),
        "{said}"
    );

    // A pass that renders nothing is not begun.
    recorder.set_area(decals, None).unwrap();
    let (scene, handle) = (rig.fake.described.commands[0], rig.fake.commands[0][0]);
    let mut commands = on_fake!(recorder.record(handle, scene)).unwrap();
    on_fake!(commands.pass_secondary(gbuffer, &[&[]])).unwrap();
    let said = commands.pass(decals, |_| ()).unwrap_err().to_string();
    assert!(
        said.contains("pass `decals` renders nothing in this frame"),
        "{said}"
    );
    commands.skip(decals).unwrap();
    commands.finish().unwrap();
    assert!(recorder.is_skipped(decals));
    assert_eq!(begun(&rig, 0), [part]);
    let said = recorder.set_area(gbuffer, part).unwrap_err().to_string();
    assert!(said.contains("already recorded"), "{said}");
}
