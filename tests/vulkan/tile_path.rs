//! The tile path, call by call: what is bound when, where everything is put, and in which order it goes.

use tileheap_testkit::fake_driver;
use tileheap_testkit::runtime_rig;

use std::collections::BTreeMap;

use ash::vk;
use ash::vk::Handle;
use fake_driver::{Call, Command, Config, Object, Tile};
use runtime_rig::{Rig, on_fake};
use tileheap::frame::PassId;
use tileheap::plan::{MemoryKind, Strategy};
use tileheap::runtime::{BoundFrame, Capabilities, Device, Parity};
use tileheap_testkit::frames::by;

fn bound(rig: &Rig, strategy: Strategy) -> (Device, BoundFrame) {
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

/// Every binding of the journal: memory and offset by image or buffer.
fn bindings(journal: &[Call]) -> BTreeMap<u64, (vk::DeviceMemory, u64)> {
    let bind = |call: &Call| match call {
        Call::Bind {
            object,
            memory,
            offset,
        } => Some((object.handle, (*memory, *offset))),
        _ => None,
    };
    journal.iter().filter_map(bind).collect()
}

/// A recorded frame, replayed against the plan by what the driver saw.
struct Replay<'a> {
    rig: &'a Rig,
    bound: &'a BoundFrame,
    allocations: BTreeMap<vk::DeviceMemory, (u32, u64)>,
    bindings: BTreeMap<u64, (vk::DeviceMemory, u64)>,
    tile_types: u32,
    /// Action commands judged while something lived in tile memory.
    judged: usize,
    /// Times that memory was let go of within a command buffer.
    unbound: usize,
}

impl Replay<'_> {
    fn is_tile(&self, memory: vk::DeviceMemory) -> bool {
        self.allocations
            .get(&memory)
            .is_some_and(|(kind, _)| self.tile_types >> kind & 1 == 1)
    }

    /// Replays a command buffer, which starts with `active` bound.
    fn replay(
        &mut self,
        commands: vk::CommandBuffer,
        mut active: Option<vk::DeviceMemory>,
        mut pass: Option<PassId>,
    ) {
        for command in self.rig.driver.recorded(commands) {
            match &command {
                Command::Label(Some(name)) => pass = self.rig.described.frame.pass_named(name),
                Command::Label(None) => pass = None,
                Command::BindTileMemory(memory) => {
                    self.unbound += usize::from(memory.is_none() && active.is_some());
                    active = *memory;
                }
                Command::Execute(secondaries) => {
                    let inherited = self.inherited(secondaries[0]);
                    assert_eq!(inherited, active, "a secondary inherits what is bound");
                    for secondary in secondaries {
                        self.replay(*secondary, inherited, pass);
                    }
                    active = None;
                }
                command if command.is_action() => self.judge(pass.expect("commands are in passes"), active),
                _ => {}
            }
        }
    }

    fn inherited(&self, secondary: vk::CommandBuffer) -> Option<vk::DeviceMemory> {
        let journal = self.rig.driver.journal();
        journal.iter().rev().find_map(|call| match call {
            Call::Begin {
                command_buffer,
                inherits,
            } if *command_buffer == secondary => Some(*inherits),
            _ => None,
        })?
    }

    /// An action command of `pass` while `active` is bound.
    fn judge(&mut self, pass: PassId, active: Option<vk::DeviceMemory>) {
        let frame = &self.rig.described.frame;
        let plan = self.bound.plan();
        let name = &frame.pass(pass).name;
        let living: Vec<_> = (plan.placements.iter())
            .filter(|one| one.memory == MemoryKind::Tile && one.span.contains(pass.step()))
            .collect();
        if living.is_empty() {
            assert_eq!(active, None, "nothing is placed in `{name}`, so nothing is bound");
            return;
        }
        self.judged += 1;
        let memory = active.unwrap_or_else(|| panic!("`{name}` runs with nothing bound"));
        let (_, size) = self.allocations[&memory];
        for one in living {
            let resource = &frame.resource(one.resource).name;
            assert!(
                one.offset.0 + one.size.0 <= size,
                "`{resource}` is placed above what is bound in `{name}`"
            );
        }
        for access in frame.accesses_of(pass) {
            let resource = frame.resource(access.resource);
            if access.resource == self.rig.described.output || !resource.is_image() {
                continue;
            }
            let image = self
                .bound
                .image_in(pass, access.resource, access.version, Parity::Even);
            let (bound_to, _) = self.bindings[&image.handle.as_raw()];
            if self.is_tile(bound_to) {
                assert_eq!(
                    bound_to, memory,
                    "`{}` is in another memory object than the one bound",
                    resource.name
                );
            }
        }
    }
}

#[test]
fn tile_memory_is_bound_before_it_is_needed_and_by_identity() {
    for config in [Config::modern(), Config::vulkan_1_1()] {
        for strategy in [Strategy::Greedy, Strategy::Fast] {
            let rig = Rig::new(config.clone(), Capabilities::empty());
            let (runtime, mut bound) = bound(&rig, strategy);
            assert!(
                bound.plan().totals.on_chip_bytes.0 > 0,
                "something is on the chip"
            );
            rig.frame(&mut bound).unwrap();
            let journal = rig.driver.journal();
            let mut replay = Replay {
                rig: &rig,
                bound: &bound,
                allocations: allocations(&journal),
                bindings: bindings(&journal),
                tile_types: bound.plan().profile.tile_type_bits(),
                judged: 0,
                unbound: 0,
            };
            for commands in rig.commands[0] {
                replay.replay(commands, None, None);
            }
            assert!(
                replay.judged >= 4,
                "gbuffer, decals, occlusion, lighting: {}",
                replay.judged
            );
            assert_eq!(replay.unbound, 1, "before meter, which needs nothing bound");
            assert_eq!(rig.driver.violations(), [""; 0]);
            on_fake!(bound.destroy());
            on_fake!(runtime.destroy());
            assert_eq!(rig.amiss(), [""; 0]);
        }
    }
}

#[test]
fn placements_are_where_the_plan_says() {
    let rig = Rig::new(Config::modern(), Capabilities::empty());
    let (_, bound) = bound(&rig, Strategy::Greedy);
    let (journal, plan) = (rig.driver.journal(), bound.plan());
    let (allocations, bindings) = (allocations(&journal), bindings(&journal));
    let mut found = 0;
    for access in plan.frame.accesses() {
        let planned = &plan.placements[plan.resources[access.resource.index()].placements.indices().start];
        if planned.memory != MemoryKind::Tile {
            continue;
        }
        let image = bound.image_in(access.pass, access.resource, access.version, Parity::Even);
        let (memory, offset) = bindings[&image.handle.as_raw()];
        let object = &plan.objects[planned.object.expect("a tile resident has an object").index()];
        assert_eq!(
            (offset, allocations[&memory]),
            (planned.offset.0, (object.memory_type, object.size.0))
        );
        found += 1;
    }
    assert!(found > 0, "something is on the chip");
}

#[test]
fn ordinary_memory_never_comes_from_a_tile_type() {
    let strategies = [
        Strategy::Greedy,
        Strategy::Fast,
        Strategy::FirstCome,
        Strategy::Off,
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
        let (runtime, mut bound) = bound(&rig, Strategy::Greedy);
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

/// What the pool had, one resource after the other, with its views and their framebuffers; then the render passes of those.
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
        let (_, mut bound) = bound(&rig, Strategy::Greedy);
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
