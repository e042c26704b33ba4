//! Debug names of pooled objects follow the bound frame that uses them.

use std::collections::BTreeMap;

use ash::vk;
use tileheap::frame::{BufferDesc, ClearValue, FrameBuilder, ImageDesc, LoadOp};
use tileheap::plan::PlanOptions;
use tileheap::runtime::Capabilities;
use tileheap::units::Bytes;
use tileheap_testkit::fake_driver::{Call, Config, FakeDriver, Object};
use tileheap_testkit::frames::one_queue;
use tileheap_testkit::runtime_rig::{EXTENT, on_fake};

use super::{Rig, dynamic};

/// Draws an image and counts its texels, all named after the time of day.
fn describe(frame: &mut FrameBuilder, time: &str) {
    frame.reset(time, EXTENT);
    let name = |what: &str| format!("{what} by {time}");
    let color = frame.image(name("color"), ImageDesc::new(vk::Format::R8G8B8A8_UNORM, EXTENT));
    let bins = frame.buffer(name("bins"), BufferDesc::new(Bytes(1024)));
    let scene = one_queue(frame, vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE);
    let clear = LoadOp::Clear(ClearValue::ZERO);
    frame.render_pass(scene, name("draw")).color(color, clear);
    let pass = frame.compute_pass(scene, name("count")).sampled(color);
    pass.storage_write(bins);
}

/// The last name of each live object of the runtime.
fn names(driver: &FakeDriver) -> BTreeMap<Object, String> {
    let mut names = BTreeMap::new();
    for call in driver.journal() {
        match call {
            Call::Name { object, name } => drop(names.insert(object, name)),
            Call::Destroy { object, .. } => drop(names.remove(&object)),
            _ => {}
        }
    }
    names
}

/// The names of all objects of one type, without duplicates, in alphabetical order.
fn of_kind(names: &BTreeMap<Object, String>, kind: vk::ObjectType) -> Vec<&str> {
    let of_kind = names.iter().filter(|(object, _)| object.kind == kind);
    let mut of_kind: Vec<&str> = of_kind.map(|(_, name)| &**name).collect();
    of_kind.sort_unstable();
    of_kind.dedup();
    of_kind
}

/// Asserts that all objects have the names of the frame of a time of day.
fn assert_names_of(rig: &Rig, time: &str) {
    use vk::ObjectType as T;
    let names = names(&rig.fake.driver);
    assert_eq!(of_kind(&names, T::IMAGE), [format!("color by {time}")]);
    assert_eq!(of_kind(&names, T::IMAGE_VIEW), [format!("color by {time}")]);
    assert_eq!(of_kind(&names, T::BUFFER), [format!("bins by {time}")]);
    let framebuffers = of_kind(&names, T::FRAMEBUFFER);
    assert!(framebuffers.is_empty() || framebuffers == [format!("draw by {time}")]);
    for memory in of_kind(&names, T::DEVICE_MEMORY) {
        assert!(memory.ends_with(&format!(" of frame `{time}`")), "{memory}");
    }
    for render_pass in of_kind(&names, T::RENDER_PASS) {
        assert_eq!(render_pass, "R8G8B8A8_UNORM CLEAR STORE");
    }
}

fn configs() -> [Config; 3] {
    [
        Config::modern(),
        Config::vulkan_1_1(),
        Config::modern().without_tile_memory(),
    ]
}

#[test]
fn the_next_bound_frame_names_what_it_borrows() {
    for config in configs() {
        let rig = Rig::new(config);
        let mut created = None;
        for time in ["day", "night"] {
            let mut builder = FrameBuilder::default();
            describe(&mut builder, time);
            let frame = builder.to_frame().unwrap();
            let plan = rig.tile.plan(&frame, &PlanOptions::default()).unwrap();
            let bound = rig.tile.bind(&plan).unwrap();
            assert_names_of(&rig, time);
            let all = *created.get_or_insert(rig.tile.pool_created());
            assert_eq!(rig.tile.pool_created(), all, "nothing is created for the second");
            bound.retire();
            rig.tile.collect().unwrap();
        }
    }
}

#[test]
fn shared_objects_have_the_names_of_the_description_selected_last() {
    for config in configs() {
        let rig = Rig::new(config);
        let mut frames = rig.tile.dynamic_frame(PlanOptions::default()).unwrap();
        let mut builder = FrameBuilder::default();
        let turns = ["day", "night", "day", "day", "night", "night"];
        let mut before = None;
        for (turn, time) in turns.into_iter().enumerate() {
            describe(&mut builder, time);
            let calls = rig.fake.driver.calls();
            frames.select(&builder).unwrap();
            if before == Some(time) {
                assert_eq!(rig.fake.driver.calls(), calls, "a known frame calls nothing");
            }
            before = Some(time);
            assert_names_of(&rig, time);
            dynamic::run(&rig, &mut frames, &builder, turn);
            rig.fake.driver.complete();
            assert_names_of(&rig, time);
        }
        drop(frames);
        rig.tile.collect().unwrap();
    }
}

#[test]
fn without_debug_names_nothing_is_named() {
    let mut rig = Rig::new(Config::vulkan_1_1());
    on_fake!(rig.tile.clone().destroy());
    rig.fake.desc.without = Capabilities::DEBUG_UTILS;
    rig.tile = rig.fake.runtime().unwrap();
    rig.fake.driver.clear_journal();
    let mut frames = rig.tile.dynamic_frame(PlanOptions::default()).unwrap();
    let mut builder = FrameBuilder::default();
    for time in ["day", "night", "day"] {
        describe(&mut builder, time);
        frames.select(&builder).unwrap();
    }
    assert_eq!(names(&rig.fake.driver), BTreeMap::new());
    drop(frames);
}
