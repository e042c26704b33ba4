//! What the driver offers: the chain of tile memory, old devices, names.

use super::*;

#[test]
fn every_link_of_the_chain_can_be_missing() {
    let find = |tile: Tile| {
        let rig = Rig::new(Config {
            tile,
            ..Config::modern()
        });
        let names = vulkan!(rig.instance.enumerate_device_extension_properties(rig.physical)).unwrap();
        let listed = names
            .iter()
            .any(|one| one.extension_name_as_c_str() == Ok(tile_memory_heap::NAME));
        let mut feature = ffi::PhysicalDeviceTileMemoryHeapFeaturesQCOM::default();
        let mut features = vk::PhysicalDeviceFeatures2::default().push_next(&mut feature);
        vulkan!(
            rig.instance
                .get_physical_device_features2(rig.physical, &mut features)
        );
        let memory = vulkan!(rig.instance.get_physical_device_memory_properties(rig.physical));
        let heaps = memory.memory_heaps_as_slice();
        let flag = ffi::MEMORY_HEAP_TILE_MEMORY_BIT_QCOM;
        let heap = heaps.iter().position(|heap| heap.flags.contains(flag));
        let on_heap = memory
            .memory_types_as_slice()
            .iter()
            .any(|kind| Some(kind.heap_index as usize) == heap);
        let command = tile_memory_heap::Device::new(&rig.instance, &rig.device).is_ok();
        (
            listed,
            feature.tile_memory_heap != 0,
            heap.is_some(),
            on_heap,
            command,
        )
    };
    assert_eq!(find(Tile::whole()), (true, true, true, true, true));
    assert_eq!(find(Tile::absent()), (false, false, false, false, false));
    assert_eq!(find(Tile::name_only()), (true, false, false, false, false));
    assert_eq!(
        find(Tile {
            feature: false,
            ..Tile::whole()
        }),
        (true, false, true, true, true)
    );
    assert_eq!(
        find(Tile {
            heap_flag: false,
            ..Tile::whole()
        }),
        (true, true, false, false, true)
    );
    assert_eq!(
        find(Tile {
            memory_type: false,
            ..Tile::whole()
        }),
        (true, true, true, false, true)
    );
    assert_eq!(
        find(Tile {
            command: false,
            ..Tile::whole()
        }),
        (true, true, true, true, false)
    );
}

#[test]
fn requirements_know_tile_memory() {
    let rig = Rig::new(Config::modern());
    let ask = |usage| {
        let image = Rig::image_info(usage);
        let info = vk::DeviceImageMemoryRequirements::default().create_info(&image);
        let mut tile = ffi::TileMemoryRequirementsQCOM::default();
        let mut all = vk::MemoryRequirements2::default().push_next(&mut tile);
        vulkan!(rig.device.get_device_image_memory_requirements(&info, &mut all));
        let ordinary = all.memory_requirements.size;
        (ordinary, tile.size, tile.alignment)
    };
    use vk::ImageUsageFlags as U;
    let tile = ffi::IMAGE_USAGE_TILE_MEMORY_BIT_QCOM;
    assert_eq!(ask(U::SAMPLED | tile), (520_192, 528_384, 12_288));
    assert_eq!(ask(U::SAMPLED), (520_192, 0, 0));
    assert_eq!(ask(U::SAMPLED | U::TRANSFER_DST | tile), (520_192, 0, 0));
    assert_eq!(rig.violation(), "");
}

#[test]
fn binding_is_judged_by_the_memory_that_is_bound() {
    let rig = Rig::new(Config::modern());
    let memory = rig.memory(0, 540_672);
    rig.target(0, memory, 12_288);
    assert_eq!(rig.violation(), "");
    rig.target(0, memory, 4096);
    assert!(
        rig.violation().contains("at offset 4096, no multiple of 12288"),
        "{}",
        rig.violation()
    );
    rig.target(1, memory, 0);
    assert!(
        rig.violation().contains("cannot live in tile memory"),
        "{}",
        rig.violation()
    );
    rig.target(0, memory, 24_576);
    assert!(
        rig.violation()
            .contains("of 528384 B at offset 24576 of 540672 B"),
        "{}",
        rig.violation()
    );
}

#[test]
fn an_old_device_lacks_new_commands() {
    let rig = Rig::new(Config::vulkan_1_1());
    let has = |name: &CStr| {
        vulkan!(
            rig.instance
                .get_device_proc_addr(rig.device.handle(), name.as_ptr())
        )
        .is_some()
    };
    assert!(has(c"vkCmdPipelineBarrier") && has(c"vkGetImageMemoryRequirements2"));
    for name in [
        c"vkCmdPipelineBarrier2",
        c"vkCmdBeginRendering",
        c"vkWaitSemaphores",
        c"vkQueueSubmit2",
    ] {
        assert!(!has(name), "{name:?}");
    }
    assert!(has(c"vkCmdBindTileMemoryQCOM") && !has(c"vkCmdPipelineBarrier2KHR"));
    assert!(
        !has(c"vkSetDebugUtilsObjectNameEXT"),
        "the instance has not enabled it"
    );
}

#[test]
fn drivers_do_not_meet() {
    let (one, other) = (Rig::new(Config::modern()), Rig::new(Config::vulkan_1_1()));
    one.commands(vk::CommandBufferLevel::PRIMARY);
    assert_eq!(one.driver.live_below_device(), 2);
    assert_eq!(other.driver.live_below_device(), 1);
}

#[test]
fn names_and_labels_need_the_extension_and_are_kept() {
    let driver = FakeDriver::new(Config::modern());
    let entry = driver.entry();
    let names = [ash::ext::debug_utils::NAME.as_ptr()];
    let info = vk::InstanceCreateInfo::default().enabled_extension_names(&names);
    let instance = vulkan!(entry.create_instance(&info, None)).unwrap();
    let physical = vulkan!(instance.enumerate_physical_devices()).unwrap()[0];
    let device = vulkan!(instance.create_device(physical, &vk::DeviceCreateInfo::default(), None)).unwrap();
    let debug = ash::ext::debug_utils::Device::new(&instance, &device);
    let fence = vulkan!(device.create_fence(&vk::FenceCreateInfo::default(), None)).unwrap();
    let info = vk::DebugUtilsObjectNameInfoEXT::default()
        .object_handle(fence)
        .object_name(c"done");
    vulkan!(debug.set_debug_utils_object_name(&info)).unwrap();
    let named = Call::Name {
        object: Object::of(fence),
        name: "done".to_owned(),
    };
    assert_eq!(driver.journal().last(), Some(&named));
}
