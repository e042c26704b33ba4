//! Detection trusts the whole chain and nothing less.

use ash::vk;
use tileheap::plan::MemoryKind;
use tileheap::runtime::detect::Enable;
use tileheap::runtime::{Capabilities, Device, DeviceDesc, Missing, Support};

use super::rig::{Rig, frame};
use tileheap_testkit::fake_driver::{Config, FakeDriver, Tile};

fn missing(tile: Tile) -> Vec<Missing> {
    let rig = Rig::new(Config {
        tile,
        ..Config::modern()
    });
    let missing = rig.context().tile().missing().to_vec();
    let there = rig.context().tile().profile().tile.is_some();
    assert_eq!(there, missing.is_empty());
    assert_eq!(
        there,
        rig.context()
            .tile()
            .capabilities()
            .contains(Capabilities::TILE_MEMORY)
    );
    // The same program, with or without.
    let bound = rig.bind(&frame()).expect("bound");
    let tiled = bound
        .plan()
        .placements
        .iter()
        .any(|placement| placement.memory == MemoryKind::Tile);
    assert_eq!(tiled, there);
    bound.retire();
    rig.finish();
    missing
}

#[test]
fn every_missing_link_is_named() {
    assert_eq!(missing(Tile::whole()), []);
    assert_eq!(missing(Tile::absent()), [Missing::Extension, Missing::Heap]);
    assert_eq!(missing(Tile::name_only()), [Missing::Feature, Missing::Heap]);
    assert_eq!(
        missing(Tile {
            feature: false,
            ..Tile::whole()
        }),
        [Missing::Feature]
    );
    assert_eq!(
        missing(Tile {
            heap_flag: false,
            ..Tile::whole()
        }),
        [Missing::Heap]
    );
    assert_eq!(
        missing(Tile {
            memory_type: false,
            ..Tile::whole()
        }),
        [Missing::MemoryType]
    );
    assert_eq!(
        missing(Tile {
            command: false,
            ..Tile::whole()
        }),
        [Missing::Function]
    );
    let text = Missing::Extension.to_string();
    assert_eq!(text, "the driver does not list VK_QCOM_tile_memory_heap");
}

#[test]
fn a_driver_that_refuses_every_resource_gets_an_ordinary_plan() {
    let rig = Rig::new(Config {
        tile: Tile {
            requirements: false,
            ..Tile::whole()
        },
        ..Config::modern()
    });
    let bound = rig.bind(&frame()).expect("bound");
    assert!(
        bound
            .plan()
            .placements
            .iter()
            .all(|placement| placement.memory != MemoryKind::Tile)
    );
    bound.retire();
    rig.finish();
}

/// A device of a caller who chains `Vulkan13Features` and names the extension: nothing is doubled, and what it denies is
/// not used.
#[test]
fn enabling_doubles_nothing() {
    let driver = FakeDriver::new(Config::modern());
    let entry = driver.entry();
    let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
    let info = vk::InstanceCreateInfo::default().application_info(&application);
    // SAFETY: the fake driver is content with anything.
    let instance = unsafe { entry.create_instance(&info, None) }.expect("an instance");
    // SAFETY: alive.
    let physical = unsafe { instance.enumerate_physical_devices() }.expect("devices")[0];
    // SAFETY: one of the instance's.
    let support = unsafe { Support::query(&instance, physical, vk::API_VERSION_1_3) }.expect("asked");
    let names = [tileheap::ffi::tile_memory_heap::NAME.as_ptr()];
    let mut newer = vk::PhysicalDeviceVulkan13Features::default()
        .synchronization2(true)
        .dynamic_rendering(false);
    let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])];
    let info = vk::DeviceCreateInfo::default()
        .queue_create_infos(&queues)
        .enabled_extension_names(&names)
        .push_next(&mut newer);
    // SAFETY: names and chain are alive.
    let mut enable: Enable = unsafe { support.enable(&info, Capabilities::RECOMMENDED) };
    let capabilities = enable.capabilities();
    assert!(capabilities.contains(Capabilities::SYNCHRONIZATION_2 | Capabilities::TILE_MEMORY));
    assert!(!capabilities.intersects(Capabilities::DYNAMIC_RENDERING | Capabilities::MAINTENANCE_4));
    for _ in 0..2 {
        let more = enable.info(&info);
        assert_eq!(more.enabled_extension_count, 1, "named already");
        let mut kinds = Vec::new();
        let mut next: *const vk::BaseInStructure<'_> = more.p_next.cast();
        while !next.is_null() {
            // SAFETY: the chain is valid.
            let base = unsafe { &*next };
            kinds.push(base.s_type);
            next = base.p_next;
        }
        let doubled = [
            vk::StructureType::PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES,
            vk::StructureType::PHYSICAL_DEVICE_DYNAMIC_RENDERING_FEATURES,
            vk::StructureType::PHYSICAL_DEVICE_MAINTENANCE_4_FEATURES,
        ];
        assert!(kinds.iter().all(|kind| !doubled.contains(kind)), "{kinds:?}");
        assert_eq!(
            kinds.len(),
            3,
            "timeline semaphores, tile memory, and the caller's own: {kinds:?}"
        );
    }
    let info = enable.info(&info);
    // SAFETY: the fake driver is content with anything.
    let device = unsafe { instance.create_device(physical, &info, None) }.expect("a device");
    let desc = DeviceDesc {
        enabled: capabilities,
        ..DeviceDesc::default()
    };
    // SAFETY: they belong together.
    let tile = unsafe { Device::new(&instance, physical, &device, &support, desc) }.expect("the runtime");
    assert!(tile.missing().is_empty());
    let text = tile
        .bind(&tile.plan(&frame(), &Default::default()).expect("a plan"))
        .expect_err("no queue");
    assert!(text.to_string().contains("DeviceDesc::queues"), "{text}");
    // SAFETY: nothing was submitted.
    unsafe { tile.destroy() };
    // SAFETY: nothing is left on it.
    unsafe { device.destroy_device(None) };
    // SAFETY: nothing is left of it.
    unsafe { instance.destroy_instance(None) };
    assert_eq!(driver.violations(), [""; 0]);
    assert!(driver.live().is_empty(), "{:?}", driver.live());
}
