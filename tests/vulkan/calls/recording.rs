//! The tile path as it is recorded.

use ash::vk;
use tileheap::plan::{MemoryKind, Strategy};

use super::rig::{Outside, Pool, Rig, frame, run};
use tileheap_testkit::fake_driver::{Call, Command, Config, Tile};

/// The commands that matter here, in short.
fn short(commands: &[Command]) -> Vec<String> {
    let text = |command: &Command| match command {
        Command::BindTileMemory(Some(_)) => Some("bind".to_owned()),
        Command::BindTileMemory(None) => Some("unbind".to_owned()),
        Command::Barriers { .. } => Some("barriers".to_owned()),
        Command::BeginRendering { .. } => Some("begin".to_owned()),
        Command::EndRendering => Some("end".to_owned()),
        Command::Draw => Some("draw".to_owned()),
        Command::Dispatch => Some("dispatch".to_owned()),
        Command::Execute(_) => Some("execute".to_owned()),
        _ => None,
    };
    commands.iter().filter_map(text).collect()
}

#[test]
fn every_command_buffer_binds_before_its_first_action() {
    for config in [Config::modern(), Config::vulkan_1_1()] {
        let rig = Rig::new(config);
        let frame = frame();
        let (pool, outside) = (
            Pool::new(rig.context()).expect("a pool"),
            Outside::new(rig.context()),
        );
        let mut bound = rig.bind(&frame).expect("bound");
        let plan = bound.plan().clone();
        let memory = |name| {
            let id = frame.resource_named(name).expect("declared");
            plan.resources[id.index()].placements.of(&plan.placements)[0].memory
        };
        assert_eq!(
            (memory("albedo"), memory("depth")),
            (MemoryKind::Tile, MemoryKind::Tile)
        );
        assert_ne!(memory("sum"), MemoryKind::Tile);
        for _ in 0..3 {
            rig.driver.clear_journal();
            let number = run(rig.context(), &mut bound, &frame, &pool, &outside).expect("submitted");
            assert!(bound.wait(number, u64::MAX).expect("waited"));
            let first = short(&rig.driver.recorded(pool.primaries[0]));
            assert_eq!(
                first[..5],
                ["bind", "barriers", "begin", "draw", "end"],
                "{first:?}"
            );
            let second = short(&rig.driver.recorded(pool.primaries[1]));
            assert_eq!(
                second[0], "bind",
                "a binding ends with its command buffer: {second:?}"
            );
            let execute = second
                .iter()
                .position(|one| one == "execute")
                .expect("secondary contents");
            // The next pass binds again, or unbinds: after secondaries nothing is known.
            let next = &second[execute + 1..];
            assert_eq!(next[0], "end");
            assert!(next[1] == "bind" || next[1] == "unbind", "{second:?}");
            let inherits = rig.driver.journal().iter().find_map(|call| match call {
                Call::Begin {
                    command_buffer,
                    inherits,
                } if *command_buffer == pool.secondaries[0] => Some(*inherits),
                _ => None,
            });
            assert!(
                inherits.expect("begun").is_some(),
                "the secondary inherits the binding"
            );
        }
        bound.retire();
        pool.destroy(rig.context());
        outside.destroy(rig.context());
        rig.finish();
    }
}

#[test]
fn tile_memory_is_allocated_for_tile_objects_alone() {
    for type_first in [true, false] {
        let rig = Rig::new(Config {
            tile: Tile {
                type_first,
                ..Tile::whole()
            },
            ..Config::modern()
        });
        let bound = rig.bind(&frame()).expect("bound");
        let tile = rig.context().tile().profile().tile.expect("a tile heap");
        let mut planned: Vec<_> = bound
            .plan()
            .objects
            .iter()
            .filter(|one| one.memory == MemoryKind::Tile)
            .map(|one| one.size.0)
            .collect();
        let mut allocated = Vec::new();
        for call in rig.driver.journal() {
            if let Call::Allocate {
                memory_type, size, ..
            } = call
            {
                if memory_type == tile.memory_type {
                    allocated.push(size);
                }
            }
        }
        planned.sort_unstable();
        allocated.sort_unstable();
        assert!(!planned.is_empty());
        assert_eq!(planned, allocated);
        bound.retire();
        rig.finish();
    }
}

#[test]
fn without_tile_memory_nothing_is_bound() {
    let rig = Rig::new(Config::modern());
    let frame = frame();
    let tile = rig.context().tile();
    let options = tileheap::plan::PlanOptions {
        strategy: Strategy::Off,
        ..Default::default()
    };
    let mut bound = tile
        .bind(&tile.plan(&frame, &options).expect("a plan"))
        .expect("bound");
    let (pool, outside) = (
        Pool::new(rig.context()).expect("a pool"),
        Outside::new(rig.context()),
    );
    run(rig.context(), &mut bound, &frame, &pool, &outside).expect("submitted");
    for buffer in &pool.primaries {
        let commands = rig.driver.recorded(*buffer);
        assert!(
            !commands
                .iter()
                .any(|one| matches!(one, Command::BindTileMemory(Some(_))))
        );
    }
    bound.retire();
    pool.destroy(rig.context());
    outside.destroy(rig.context());
    rig.finish();
}

#[test]
fn older_and_newer_paths_use_their_own_commands() {
    for (config, newer) in [(Config::modern(), true), (Config::vulkan_1_1(), false)] {
        let rig = Rig::new(config);
        let frame = frame();
        let (pool, outside) = (
            Pool::new(rig.context()).expect("a pool"),
            Outside::new(rig.context()),
        );
        let mut bound = rig.bind(&frame).expect("bound");
        run(rig.context(), &mut bound, &frame, &pool, &outside).expect("submitted");
        for command in rig.driver.recorded(pool.primaries[0]) {
            match command {
                Command::Barriers {
                    synchronization_2, ..
                } => assert_eq!(synchronization_2, newer),
                Command::BeginRendering { dynamic, .. } => assert_eq!(dynamic, newer),
                _ => {}
            }
        }
        let gbuffer = frame.pass_named("gbuffer").expect("declared");
        assert_eq!(bound.target(gbuffer).render_pass == vk::RenderPass::null(), newer);
        bound.retire();
        pool.destroy(rig.context());
        outside.destroy(rig.context());
        rig.finish();
    }
}
