//! The tile memory path, call by call: memory types, commands, and the order of destruction.
//!
//! The emulator checks that the right tile memory is bound for each use; all pixel tests run on its profiles.

use tileheap_testkit::fake_driver;
use tileheap_testkit::runtime_rig;

use std::collections::BTreeMap;

use ash::vk;
use fake_driver::{Call, Command, Config, Object, Tile};
use runtime_rig::{Rig, on_fake};
use tileheap::plan::{MemoryKind, ResidencyStrategy};
use tileheap::runtime::{BoundFrame, Capabilities, Device};
use tileheap_testkit::frames::by;

fn bound(rig: &Rig, strategy: ResidencyStrategy) -> (Device, BoundFrame) {
    let runtime = rig.runtime().unwrap();
    let options = by(strategy);
    let plan = runtime.plan(&rig.described.frame, &options).unwrap();
    let bound = runtime.bind(&plan).unwrap();
    (runtime, bound)
}

/// Every allocation of the journal: type and size by memory object.
fn allocations(journal: &[Call]) -> BTreeMap<vk::DeviceMemory, (u32, u64)> {
    let allocate = |call: &Call| match call {
        Call::Allocate {
            memory,
            memory_type,
            size,
            ..
        } => Some((*memory, (*memory_type, *size))),
        _ => None,
    };
    journal.iter().filter_map(allocate).collect()
}

#[test]
fn ordinary_memory_never_comes_from_a_tile_type() {
    let strategies = [
        ResidencyStrategy::Greedy,
        ResidencyStrategy::Fast,
        ResidencyStrategy::FirstCome,
        ResidencyStrategy::Off,
    ];
    for (type_first, strategy) in [true, false]
        .into_iter()
        .flat_map(|first| strategies.map(|one| (first, one)))
    {
        for base in [Config::modern(), Config::vulkan_1_1()] {
            for without in [Capabilities::empty(), Capabilities::TILE_MEMORY] {
                let config = Config {
                    tile: Tile {
                        type_first,
                        ..Tile::whole()
                    },
                    lazy: true,
                    ..base.clone()
                };
                let rig = Rig::new(config, without);
                let (_, mut bound) = bound(&rig, strategy);
                rig.frame(&mut bound).unwrap();
                let plan = bound.plan();
                let tile_types = plan.profile.tile_type_bits();
                assert_eq!(
                    tile_types.count_ones(),
                    1,
                    "the driver has a tile type, used or not"
                );
                let mut allocated: Vec<u64> = (allocations(&rig.driver.journal()).into_values())
                    .filter(|(kind, _)| tile_types >> kind & 1 == 1)
                    .map(|(_, size)| size)
                    .collect();
                let mut planned: Vec<u64> = (plan.objects.iter())
                    .filter(|object| object.memory == MemoryKind::Tile)
                    .map(|object| object.size.0)
                    .collect();
                allocated.sort_unstable();
                planned.sort_unstable();
                assert_eq!(allocated, planned, "{strategy:?}, tile type first: {type_first}");
                let binds = |command: &Command| matches!(command, Command::BindTileMemory(Some(_)));
                let commands = rig.commands[0].map(|commands| rig.driver.recorded(commands));
                assert_eq!(commands.iter().flatten().any(binds), !planned.is_empty());
                assert_eq!(rig.driver.violations(), [""; 0]);
            }
        }
    }
}

#[test]
fn a_retired_plan_outlives_its_frames_and_no_longer() {
    for config in [Config::modern(), Config::vulkan_1_1()] {
        let rig = Rig::new(config.asynchronous(), Capabilities::empty());
        let (runtime, mut bound) = bound(&rig, ResidencyStrategy::Greedy);
        let frame = rig.frame(&mut bound).unwrap();
        assert_eq!(bound.completed().unwrap(), None);
        assert!(!bound.wait(frame, 0).unwrap());
        let living = rig.driver.live();
        bound.retire();
        assert_eq!(runtime.collect().unwrap(), 1);
        assert_eq!(
            rig.driver.live(),
            living,
            "nothing goes while a frame is in flight"
        );
        rig.driver.complete();
        rig.driver.clear_journal();
        assert_eq!(runtime.collect().unwrap(), 0);
        on_fake!(runtime.destroy());
        assert_eq!(rig.amiss(), [""; 0]);
        goes_in_order(&rig.driver.journal());
    }
}

/// Asserts that pooled objects are destroyed in order: one resource after the other, with its views and their framebuffers; then the render passes.
fn goes_in_order(journal: &[Call]) {
    use vk::ObjectType as T;
    let rank = |object: &Object| match object.kind {
        T::FRAMEBUFFER | T::IMAGE_VIEW | T::IMAGE | T::BUFFER => Some(0),
        T::RENDER_PASS => Some(1),
        _ => None,
    };
    let ranks: Vec<i32> = (journal.iter())
        .filter_map(|call| match call {
            Call::Destroy { object, .. } => rank(object),
            _ => None,
        })
        .collect();
    assert!(ranks.is_sorted(), "{journal:#?}");
    let frees = |call: &Call| matches!(call, Call::Destroy { object, .. } if object.kind == T::DEVICE_MEMORY);
    assert!(journal.iter().any(frees), "memory goes too");
}

#[test]
fn older_and_newer_paths_use_their_own_commands() {
    for (config, newer) in [(Config::modern(), true), (Config::vulkan_1_1(), false)] {
        let rig = Rig::new(config, Capabilities::empty());
        let (_, mut bound) = bound(&rig, ResidencyStrategy::Greedy);
        rig.frame(&mut bound).unwrap();
        // Input attachments are read in render pass objects everywhere.
        for command in rig.driver.recorded(rig.commands[0][0]) {
            match command {
                Command::Barriers {
                    synchronization_2, ..
                } => assert_eq!(synchronization_2, newer),
                Command::BeginRendering { dynamic, .. } => assert_eq!(dynamic, newer),
                _ => {}
            }
        }
        let gbuffer = bound.target(rig.pass("gbuffer"));
        assert_eq!(gbuffer.render_pass == vk::RenderPass::null(), newer);
    }
}
