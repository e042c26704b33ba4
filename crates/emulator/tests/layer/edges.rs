//! Queries that rendering does not need: names, exports, groups, commitments.

use std::collections::BTreeSet;
use std::ffi::CStr;

use crate::rig;
use crate::rig::Rig;
use ash::vk;
use tileheap_device::ffi;
use tileheap_emulator::LAYER_NAME;

const OWN: [&CStr; 6] = [
    c"vkCmdBindTileMemoryQCOM",
    c"vkGetFramebufferTilePropertiesQCOM",
    c"vkGetDynamicRenderingTilePropertiesQCOM",
    c"vkCmdBeginPerTileExecutionQCOM",
    c"vkCmdEndPerTileExecutionQCOM",
    c"vkCmdDispatchTileQCOM",
];

/// Both look-ups know the extensions' commands; neither returns one that the device lacks or has not enabled.
#[test]
fn names_are_known_where_their_commands_are() {
    let rig = Rig::new(&[]);
    let by_device = |name: &CStr| rig.on.has(&rig.device, name);
    for name in OWN {
        // SAFETY: A live instance and a C string.
        let by_instance = unsafe {
            rig.on
                .entry
                .get_instance_proc_addr(rig.instance.handle(), name.as_ptr())
        };
        assert!(by_device(name) && by_instance.is_some(), "{name:?}");
    }
    for name in [
        c"vkCmdDrawMeshTasksEXT",
        c"vkGetMemoryFdKHR",
        c"vkCmdPushDescriptorSetKHR",
        c"vkGetPhysicalDeviceMemoryProperties",
        c"vkCreateInstance",
        c"vkNoSuchCommandEXT",
    ] {
        assert!(!by_device(name), "{name:?}");
    }
    // Validation warns about names of the instance.
    let ids = rig.take_ids_but(&["WARNING-vkGetDeviceProcAddr-device"]);
    assert!(ids.is_empty(), "{ids:?}");
}

/// Lists of extensions follow the protocol of two calls: the count, then as many entries as there is room for.
#[test]
fn lists_are_given_in_part() {
    let rig = Rig::new(&[]);
    let enumerate = rig.instance.fp_v1_0().enumerate_device_extension_properties;
    for layer in [None, Some(LAYER_NAME)] {
        let name = layer.map_or(std::ptr::null(), CStr::as_ptr);
        let get = |count: &mut u32, entries: &mut [vk::ExtensionProperties]| {
            assert!(entries.is_empty() || *count as usize <= entries.len());
            let into = if entries.is_empty() {
                std::ptr::null_mut()
            } else {
                entries.as_mut_ptr()
            };
            // SAFETY: A live device, a C string or null, and at least that many entries or none.
            unsafe { enumerate(rig.physical, name, count, into) }
        };
        let mut count = 0;
        assert_eq!(get(&mut count, &mut []), vk::Result::SUCCESS, "{layer:?}");
        assert!(layer.is_none() || count == 3, "{layer:?}: {count} extensions");
        // Entries that no call may write.
        let unwritten = vk::ExtensionProperties::default().spec_version(0xDEAD);
        let mut entries = vec![unwritten; count as usize + 8];
        let is_written = |one: &vk::ExtensionProperties| one.spec_version != unwritten.spec_version;
        for (room, expected, written) in [
            (0, vk::Result::INCOMPLETE, 0),
            (count - 1, vk::Result::INCOMPLETE, count - 1),
            (count, vk::Result::SUCCESS, count),
            (count + 8, vk::Result::SUCCESS, count),
        ] {
            entries.fill(unwritten);
            let mut given = room;
            assert_eq!(
                get(&mut given, &mut entries),
                expected,
                "{layer:?}, room for {room}"
            );
            assert_eq!(given, written, "{layer:?}, room for {room}");
            let (within, beyond) = entries.split_at(written as usize);
            assert!(within.iter().all(is_written), "{layer:?}, room for {room}");
            assert!(!beyond.iter().any(is_written), "{layer:?}, room for {room}");
        }
        let known = &entries[..count as usize];
        let names: BTreeSet<_> = known
            .iter()
            .filter_map(|one| one.extension_name_as_c_str().ok())
            .collect();
        assert_eq!(names.len(), known.len(), "{layer:?}: a name is listed twice");
    }
}

/// Tile memory cannot be exported from a process: its images and buffers report no export, ordinary ones are unchanged.
#[test]
fn tile_resources_are_not_exported() {
    let rig = Rig::new(&[]);
    let kind = vk::ExternalMemoryHandleTypeFlags::OPAQUE_FD;
    let buffers = |usage: vk::BufferUsageFlags| {
        let info = vk::PhysicalDeviceExternalBufferInfo::default()
            .usage(usage)
            .handle_type(kind);
        let mut out = vk::ExternalBufferProperties::default();
        let instance = &rig.instance;
        // SAFETY: A live device.
        unsafe { instance.get_physical_device_external_buffer_properties(rig.physical, &info, &mut out) };
        out.external_memory_properties.external_memory_features
    };
    let storage = vk::BufferUsageFlags::STORAGE_BUFFER;
    assert!(buffers(storage | ffi::BUFFER_USAGE_TILE_MEMORY_BIT_QCOM).is_empty());
    let images = |usage: vk::ImageUsageFlags, external: bool| {
        let mut wanted = vk::PhysicalDeviceExternalImageFormatInfo::default().handle_type(kind);
        let mut info = vk::PhysicalDeviceImageFormatInfo2::default()
            .format(vk::Format::R8G8B8A8_UNORM)
            .ty(vk::ImageType::TYPE_2D)
            .tiling(vk::ImageTiling::OPTIMAL)
            .usage(usage);
        if external {
            info = info.push_next(&mut wanted);
        }
        let mut out = vk::ImageFormatProperties2::default();
        let instance = &rig.instance;
        // SAFETY: As above.
        unsafe { instance.get_physical_device_image_format_properties2(rig.physical, &info, &mut out) }
    };
    let (sampled, tile) = (vk::ImageUsageFlags::SAMPLED, rig::TILE);
    let refused = Err(vk::Result::ERROR_FORMAT_NOT_SUPPORTED);
    assert_eq!(images(sampled | tile, true), refused);
    assert_eq!(images(sampled | tile, false), Ok(()));
    assert_eq!(images(sampled, false), Ok(()));
}

/// Device group queries with one device: every heap can be queried, including the tile heap.
#[test]
fn a_group_of_one_has_no_peers() {
    let rig = Rig::new(&[]);
    if !rig::is_validated() {
        let heap = rig.types.memory_heap_count - 1;
        // SAFETY: The heap is one of those shown. Validation requires two devices, and so is not used.
        let features = unsafe { rig.device.get_device_group_peer_memory_features(heap, 0, 0) };
        assert!(features.is_empty());
    }
}

/// No tile memory is committed, like unused lazily allocated memory.
#[test]
fn lazy_memory_commits_nothing() {
    let rig = Rig::new(&[("lazy_type", "true")]);
    let lazy = vk::MemoryPropertyFlags::LAZILY_ALLOCATED;
    let mut types = rig.types.memory_types_as_slice().iter();
    let index = types.position(|kind| kind.property_flags.contains(lazy));
    let memory = rig.allocate(4096, index.expect("a lazily allocated type") as u32);
    // SAFETY: Memory of this device, of a lazily allocated type.
    assert_eq!(unsafe { rig.device.get_device_memory_commitment(memory) }, 0);
}

/// Dedicated allocations work like any other.
#[test]
fn tile_memory_can_be_dedicated() {
    let rig = Rig::new(&[]);
    let usage = vk::ImageUsageFlags::SAMPLED | rig::TILE;
    let image = rig.create(&rig::image_info(vk::Format::R8G8B8A8_UNORM, 64, usage));
    let mut dedicated = vk::MemoryDedicatedRequirements::default();
    let mut tile = ffi::TileMemoryRequirementsQCOM::default();
    let mut needs = vk::MemoryRequirements2::default()
        .push_next(&mut dedicated)
        .push_next(&mut tile);
    let of = vk::ImageMemoryRequirementsInfo2::default().image(image);
    // SAFETY: An image of this device.
    unsafe { rig.device.get_image_memory_requirements2(&of, &mut needs) };
    let mut only = vk::MemoryDedicatedAllocateInfo::default().image(image);
    let info = vk::MemoryAllocateInfo::default()
        .allocation_size(tile.size)
        .memory_type_index(rig.tile_type())
        .push_next(&mut only);
    rig.bind_image(image, rig.create(&info), 0);
}
