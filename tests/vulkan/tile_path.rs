//! The tile memory path, call by call: memory types, placements, bound memory, commands, and the order of destruction.

use tileheap_testkit::fake_driver;
use tileheap_testkit::runtime_rig;

use std::collections::BTreeMap;

use ash::vk;
use ash::vk::Handle;
use fake_driver::{Call, Command, Config, Object, Tile};
use runtime_rig::{Rig, on_fake};
use tileheap::frame::PassId;
use tileheap::frame::tables::{Access, HistoryVersion};
use tileheap::plan::{MemoryKind, ResidencyStrategy};
use tileheap::runtime::access::BoundObject;
use tileheap::runtime::{BoundFrame, Capabilities, Device, Parity};
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

/// Every binding of the journal: memory object and offset by the handle of an image or buffer.
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

/// The handle of the image or buffer that an access uses in even frames; null for external resources.
fn handle_of(bound: &BoundFrame, pass: PassId, access: &Access) -> u64 {
    match bound
        .access(pass, (access.resource, access.version), Parity::Even)
        .object
    {
        BoundObject::Image(image) => image.as_raw(),
        BoundObject::Buffer(buffer) => buffer.handle.as_raw(),
    }
}

/// The commands of a frame, replayed as the driver received them, and compared with the plan.
struct Replay<'a> {
    rig: &'a Rig,
    bound: &'a BoundFrame,
    allocations: BTreeMap<vk::DeviceMemory, (u32, u64)>,
    bindings: BTreeMap<u64, (vk::DeviceMemory, u64)>,
    tile_types: u32,
    /// Action commands in passes with live contents in tile memory.
    checked: usize,
    /// Number of times that a command buffer replaced bound tile memory with nothing.
    unbound: usize,
}

impl Replay<'_> {
    fn is_tile(&self, memory: vk::DeviceMemory) -> bool {
        let allocation = self.allocations.get(&memory);
        allocation.is_some_and(|(memory_type, _)| self.tile_types >> memory_type & 1 == 1)
    }

    /// Replays a primary command buffer.
    fn replay(&mut self, commands: vk::CommandBuffer) {
        let (mut active, mut pass) = (None, None);
        for command in self.rig.driver.recorded(commands) {
            match command {
                Command::Label(name) => {
                    pass = name.and_then(|name| self.rig.described.frame.pass_named(&name));
                }
                Command::BindTileMemory(memory) => {
                    self.unbound += usize::from(memory.is_none() && active.is_some());
                    active = memory;
                }
                // The fake driver reports secondaries that inherit other tile memory than their primary has bound.
                Command::Execute(_) => {
                    self.check(pass.expect("commands are in passes"), active);
                    active = None;
                }
                Command::Draw | Command::Dispatch | Command::Transfer(_) => {
                    self.check(pass.expect("commands are in passes"), active);
                }
                _ => {}
            }
        }
    }

    /// Checks an action command of `pass` while `active` is bound.
    fn check(&mut self, pass: PassId, active: Option<vk::DeviceMemory>) {
        let (plan, frame) = (self.bound.plan(), &self.rig.described.frame);
        let name = &frame.pass(pass).name;
        let live: Vec<_> = (plan.placements.iter())
            .filter(|one| one.memory == MemoryKind::Tile && one.span.contains(pass.step()))
            .collect();
        if live.is_empty() {
            assert_eq!(active, None, "`{name}` needs no tile memory");
            return;
        }
        self.checked += 1;
        let memory = active.unwrap_or_else(|| panic!("`{name}` runs without tile memory"));
        let (_, size) = self.allocations[&memory];
        for one in live {
            let resource = &frame.resource(one.resource).name;
            let end = one.offset.0 + one.size.0;
            assert!(
                end <= size,
                "`{resource}` ends at {end} of the {size} B bound in `{name}`"
            );
        }
        for access in frame.accesses_of(pass) {
            let Some((bound_to, _)) = self.bindings.get(&handle_of(self.bound, pass, access)) else {
                assert_eq!(access.resource, self.rig.described.output, "only it is imported");
                continue;
            };
            if self.is_tile(*bound_to) {
                let resource = &frame.resource(access.resource).name;
                assert_eq!(
                    *bound_to, memory,
                    "`{resource}` is in tile memory that `{name}` does not bind"
                );
            }
        }
    }
}

#[test]
fn tile_memory_is_bound_before_it_is_needed_and_by_identity() {
    for config in [Config::modern(), Config::vulkan_1_1()] {
        for strategy in [ResidencyStrategy::Greedy, ResidencyStrategy::Fast] {
            let rig = Rig::new(config.clone(), Capabilities::empty());
            let (runtime, mut bound) = bound(&rig, strategy);
            assert!(bound.plan().totals.on_chip_bytes.0 > 0, "nothing is on chip");
            rig.frame(&mut bound).unwrap();
            let journal = rig.driver.journal();
            let mut replay = Replay {
                rig: &rig,
                bound: &bound,
                allocations: allocations(&journal),
                bindings: bindings(&journal),
                tile_types: bound.plan().profile.tile_type_bits(),
                checked: 0,
                unbound: 0,
            };
            for commands in rig.commands[0] {
                replay.replay(commands);
            }
            // At least those of gbuffer, decals, occlusion and lighting.
            assert!(replay.checked >= 4, "{} commands were checked", replay.checked);
            assert_eq!(replay.unbound, 1, "before `meter`");
            assert_eq!(rig.driver.violations(), [""; 0]);
            on_fake!(bound.destroy());
            on_fake!(runtime.destroy());
            assert_eq!(rig.problems(), [""; 0]);
        }
    }
}

#[test]
fn resources_are_bound_where_the_plan_places_them() {
    let rig = Rig::new(Config::modern(), Capabilities::empty());
    let (_, bound) = bound(&rig, ResidencyStrategy::Greedy);
    let (journal, plan) = (rig.driver.journal(), bound.plan());
    let (allocations, bindings) = (allocations(&journal), bindings(&journal));
    let mut checked = 0;
    for pass in plan.frame.pass_ids() {
        for access in plan.frame.accesses_of(pass) {
            // The first placement of a history is of its current version in even frames.
            let first = plan.resources[access.resource.index()].placements.indices().start;
            let planned = &plan.placements[first];
            if planned.memory != MemoryKind::Tile || access.version != HistoryVersion::Current {
                continue;
            }
            let name = &plan.frame.resource(access.resource).name;
            let (memory, offset) = bindings[&handle_of(&bound, pass, access)];
            let object = &plan.objects[planned.object.expect("tile memory has objects").index()];
            assert_eq!(offset, planned.offset.0, "offset of `{name}`");
            let expected = (object.memory_type, object.size.0);
            assert_eq!(allocations[&memory], expected, "memory object of `{name}`");
            checked += 1;
        }
    }
    assert!(checked > 0, "nothing is on chip");
}

#[test]
fn histories_alternate_between_two_images() {
    let rig = Rig::new(Config::modern(), Capabilities::empty());
    let (_, bound) = bound(&rig, ResidencyStrategy::Greedy);
    let past = rig.described.frame.resource_named("past").unwrap();
    let lighting = rig.pass("lighting");
    let [even, odd] = [Parity::Even, Parity::Odd].map(|parity| {
        [HistoryVersion::Current, HistoryVersion::Previous]
            .map(|version| bound.access(lighting, (past, version), parity).image())
    });
    assert_ne!(even[0], even[1]);
    assert_eq!([even[0], even[1]], [odd[1], odd[0]]);
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
                        ..Tile::supported()
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
        assert_eq!(rig.problems(), [""; 0]);
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
