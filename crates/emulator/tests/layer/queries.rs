//! Query results per profile: extensions, features, heaps and types, formats, requirements, tiles, tools.

use std::ffi::CStr;
use std::sync::Mutex;

use crate::rig;
use crate::rig::Rig;
use ash::vk;
use tileheap_device::ffi;

const PROFILES: [&str; 7] = [
    "adreno-830",
    "adreno-840",
    "x2-85",
    "validation-icd",
    "hostile",
    "generous",
    "two-tile-types",
];

#[test]
fn heaps_and_types_obey_vulkan() {
    for profile in PROFILES {
        let rig = Rig::new(&[("profile", profile), ("lazy_type", "true")]);
        let types = rig.types.memory_types_as_slice();
        let heaps = rig.types.memory_heaps_as_slice();
        let tile = rig.tile_type() as usize;
        // As ANGLE asserts of Adreno.
        let is_lazy = ["adreno-830", "adreno-840", "x2-85"].contains(&profile);
        let mut flags = vk::MemoryPropertyFlags::DEVICE_LOCAL;
        if is_lazy {
            flags |= vk::MemoryPropertyFlags::LAZILY_ALLOCATED;
        }
        assert_eq!(types[tile].property_flags, flags, "{profile}");
        let on_tile_heap = types
            .iter()
            .filter(|kind| kind.heap_index == types[tile].heap_index);
        assert_eq!(
            on_tile_heap.count(),
            if profile == "two-tile-types" { 2 } else { 1 }
        );
        assert_eq!(heaps[types[tile].heap_index as usize].flags.as_raw(), 0x9);
        for (index, kind) in types.iter().enumerate() {
            let local = kind
                .property_flags
                .contains(vk::MemoryPropertyFlags::DEVICE_LOCAL);
            let heap = heaps[kind.heap_index as usize];
            assert_eq!(
                local,
                heap.flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL),
                "{profile}"
            );
            for earlier in &types[..index] {
                let subset = earlier.property_flags.contains(kind.property_flags);
                assert!(
                    !subset || earlier.property_flags == kind.property_flags,
                    "{profile}: {types:?}"
                );
            }
            let memory = rig.allocate(4096, index as u32);
            assert!(memory.is_ok(), "{profile}: type {index}: {memory:?}");
        }
        assert!(types.iter().any(|kind| {
            kind.property_flags
                .contains(vk::MemoryPropertyFlags::LAZILY_ALLOCATED)
        }));
        rig.finish();
    }
}

/// What a physical device says of its memory and of each heap's budget.
fn budgets(
    rig: &Rig,
) -> (
    vk::PhysicalDeviceMemoryProperties,
    vk::PhysicalDeviceMemoryBudgetPropertiesEXT<'static>,
) {
    let mut budget = vk::PhysicalDeviceMemoryBudgetPropertiesEXT::default();
    let mut properties = vk::PhysicalDeviceMemoryProperties2::default().push_next(&mut budget);
    // SAFETY: A live device.
    unsafe {
        rig.instance
            .get_physical_device_memory_properties2(rig.physical, &mut properties)
    };
    let properties = properties.memory_properties;
    budget.p_next = std::ptr::null_mut();
    (properties, budget)
}

#[test]
fn both_queries_of_memory_agree_and_the_budget_is_within_the_heap() {
    let rig = Rig::new(&[]);
    let (second, budget) = budgets(&rig);
    assert_eq!(format!("{:?}", second), format!("{:?}", rig.types));
    let count = rig.types.memory_heap_count as usize;
    for index in 0..vk::MAX_MEMORY_HEAPS {
        if index >= count {
            assert_eq!((budget.heap_budget[index], budget.heap_usage[index]), (0, 0));
        } else if index == count - 1 {
            assert!(budget.heap_budget[index] > 0 && budget.heap_budget[index] <= rig.heap_size());
        }
    }
    rig.finish();
}

/// Objects share their bytes, so those of the largest are in use.
#[test]
fn the_heaps_usage_follows_its_objects() {
    let rig = Rig::new(&[]);
    let heap = rig.types.memory_types[rig.tile_type() as usize].heap_index as usize;
    let usage = || budgets(&rig).1.heap_usage[heap];
    let allocate = |size| {
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(size)
            .memory_type_index(rig.tile_type());
        // SAFETY: A type of the device.
        unsafe { rig.device.allocate_memory(&info, None) }.expect("tile memory")
    };
    assert_eq!(usage(), 0);
    let (large, small) = (allocate(24_576), allocate(12_288));
    assert_eq!(usage(), 24_576);
    // SAFETY: Nothing uses it; so below.
    unsafe { rig.device.free_memory(large, None) };
    assert_eq!(usage(), 12_288);
    // SAFETY: As above.
    unsafe { rig.device.free_memory(small, None) };
    assert_eq!(usage(), 0);
    rig.finish();
}

#[test]
fn the_extension_is_complete() {
    let rig = Rig::new(&[("profile", "generous")]);
    // SAFETY: A live device.
    let extensions =
        unsafe { rig.instance.enumerate_device_extension_properties(rig.physical) }.expect("extensions");
    for name in [
        ffi::tile_memory_heap::NAME,
        ffi::tile_properties::NAME,
        ffi::tile_shading::NAME,
    ] {
        let listed = extensions
            .iter()
            .filter(|known| known.extension_name_as_c_str() == Ok(name))
            .count();
        assert_eq!(listed, 1, "{name:?}");
    }
    let mut heap = ffi::PhysicalDeviceTileMemoryHeapFeaturesQCOM::default();
    let mut features = vk::PhysicalDeviceFeatures2::default().push_next(&mut heap);
    // SAFETY: A live device.
    unsafe {
        rig.instance
            .get_physical_device_features2(rig.physical, &mut features)
    };
    assert_eq!(heap.tile_memory_heap, vk::TRUE);
    let mut limits = ffi::PhysicalDeviceTileMemoryHeapPropertiesQCOM::default();
    let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut limits);
    // SAFETY: A live device.
    unsafe {
        rig.instance
            .get_physical_device_properties2(rig.physical, &mut properties)
    };
    assert_eq!(
        (limits.queue_submit_boundary, limits.tile_buffer_transfers),
        (vk::TRUE, vk::TRUE)
    );
    rig.finish();
}

fn format_support(
    rig: &Rig,
    info: &vk::ImageCreateInfo<'_>,
) -> Result<vk::ImageFormatProperties, vk::Result> {
    // SAFETY: A live device.
    let first = unsafe {
        rig.instance.get_physical_device_image_format_properties(
            rig.physical,
            info.format,
            info.image_type,
            info.tiling,
            info.usage,
            info.flags,
        )
    };
    let asked = vk::PhysicalDeviceImageFormatInfo2::default()
        .format(info.format)
        .ty(info.image_type)
        .tiling(info.tiling)
        .usage(info.usage)
        .flags(info.flags);
    let mut second = vk::ImageFormatProperties2::default();
    // SAFETY: A live device.
    let result = unsafe {
        rig.instance
            .get_physical_device_image_format_properties2(rig.physical, &asked, &mut second)
    };
    assert_eq!(first.err(), result.err(), "both queries agree");
    result.map(|()| second.image_format_properties)
}

#[test]
fn formats_and_requirements_follow_the_guaranteed_set() {
    use vk::ImageUsageFlags as U;
    let rig = Rig::new(&[]);
    let info = Rig::image_info(vk::Format::R16G16_SFLOAT, 480, U::SAMPLED | U::STORAGE);
    let limits = format_support(&rig, &info).expect("a tile image");
    assert_eq!((limits.max_mip_levels, limits.max_array_layers), (1, 1));
    assert_eq!(limits.sample_counts, vk::SampleCountFlags::TYPE_1);
    for refused in [
        info.usage(info.usage | U::TRANSFER_SRC),
        info.tiling(vk::ImageTiling::LINEAR),
        info.image_type(vk::ImageType::TYPE_3D),
        info.flags(vk::ImageCreateFlags::MUTABLE_FORMAT),
    ] {
        assert_eq!(
            format_support(&rig, &refused).unwrap_err(),
            vk::Result::ERROR_FORMAT_NOT_SUPPORTED
        );
    }
    let extent = vk::Extent3D {
        width: 480,
        height: 270,
        depth: 1,
    };
    let image = rig.image(&info.extent(extent));
    let (needs, tile) = rig.image_needs(image);
    assert_eq!(tile, (552_960, 12_288), "the public reading");
    assert_ne!(needs.memory_type_bits >> rig.tile_type() & 1, 0);
    assert_ne!(
        needs.memory_type_bits & !(1 << rig.tile_type()),
        0,
        "ordinary memory remains possible"
    );

    let mut wanted = ffi::TileMemoryRequirementsQCOM::default();
    let mut out = vk::MemoryRequirements2::default().push_next(&mut wanted);
    let create = info.extent(extent);
    let asked = vk::DeviceImageMemoryRequirements::default().create_info(&create);
    // SAFETY: A valid create info.
    unsafe { rig.device.get_device_image_memory_requirements(&asked, &mut out) };
    assert_eq!(out.memory_requirements.memory_type_bits, needs.memory_type_bits);
    assert_eq!((wanted.size, wanted.alignment), tile);
    let transfers = create.usage(create.usage | U::TRANSFER_SRC);
    let asked = vk::DeviceImageMemoryRequirements::default().create_info(&transfers);
    let mut out = vk::MemoryRequirements2::default().push_next(&mut wanted);
    if !rig::is_validated() {
        // SAFETY: Refused, and so asked without validation alone.
        unsafe { rig.device.get_device_image_memory_requirements(&asked, &mut out) };
        assert_eq!((wanted.size, wanted.alignment), (0, 0));
    }
    rig.finish();
}

#[test]
fn ordinary_resources_have_no_tile_requirements() {
    let rig = Rig::new(&[]);
    let buffer = rig.buffer(4096, vk::BufferUsageFlags::STORAGE_BUFFER);
    let (needs, tile) = rig.buffer_needs(buffer);
    assert_eq!(tile, (0, 0));
    assert_eq!(needs.memory_type_bits >> rig.tile_type() & 1, 0);
    // SAFETY: A buffer of this device.
    let first = unsafe { rig.device.get_buffer_memory_requirements(buffer) };
    assert_eq!(first.memory_type_bits, needs.memory_type_bits);
    rig.finish();
}

#[test]
fn profiles_and_settings_shape_requirements() {
    let words = |settings: &[(&str, &str)]| {
        let rig = Rig::new(settings);
        let buffer = rig.tile_buffer(100, vk::BufferUsageFlags::STORAGE_BUFFER);
        let found = (rig.heap_size(), rig.buffer_needs(buffer).1);
        rig.finish();
        found
    };
    let (heap, (size, alignment)) = words(&[("profile", "validation-icd")]);
    assert_eq!((heap, size), (1_000_000_000, 4096));
    assert_eq!(alignment % 32, 0, "lavapipe below needs 64");
    assert_eq!(
        words(&[("heap_size", "1000000"), ("alignment", "768")]),
        (1_000_000, (768, 768))
    );
    let (heap, (size, alignment)) = words(&[("profile", "hostile")]);
    assert_eq!((heap % 2, size % 2, alignment), (1, 1, 12_288));
}

/// A driver may say that it cannot place in tile memory what is larger than all of it, or say how large it would be.
#[test]
fn what_is_larger_than_the_heap_has_no_requirements_on_the_hostile_profile() {
    for (profile, is_nothing) in [("hostile", true), ("adreno-830", false)] {
        let rig = Rig::new(&[("profile", profile)]);
        for (bytes, fits) in [(rig.heap_size() + 1, false), (rig.heap_size() / 2, true)] {
            let buffer = rig.tile_buffer(bytes, vk::BufferUsageFlags::STORAGE_BUFFER);
            let (needs, tile) = rig.buffer_needs(buffer);
            let is_tile = needs.memory_type_bits >> rig.tile_type() & 1 == 1;
            assert_eq!(is_tile, fits || !is_nothing, "{profile}: {bytes}");
            assert_eq!(tile == (0, 0), !is_tile, "{profile}: {bytes}");
        }
        rig.finish();
    }
}

#[test]
fn tiles_shrink_as_the_reservation_grows() {
    let rig = Rig::new(&[]);
    let object = rig.object(rig.heap_size());
    let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::STORAGE;
    let (_, view) = rig.tile_image(vk::Format::R32_UINT, rig::SIDE, usage, object, 0);
    let tiles = ffi::tile_properties::Device::new(&rig.instance, &rig.device).expect("the commands");
    let area_of = |reserved: u64| {
        let (_, framebuffer) = rig.pass_object(view, rig::CLEAR, false, reserved);
        let mut out = [vk::TilePropertiesQCOM::default()];
        // SAFETY: A framebuffer of this device.
        unsafe { tiles.get_framebuffer_tile_properties(framebuffer, &mut out) }.expect("tiles");
        // SAFETY: As above.
        let count = unsafe { tiles.get_framebuffer_tile_properties_len(framebuffer) };
        assert_eq!(count, Ok(1));
        u64::from(out[0].tile_size.width) * u64::from(out[0].tile_size.height)
    };
    assert!(area_of(0) >= area_of(rig.heap_size()));

    let area = |reserved: u64| {
        let mut size = ffi::TileMemorySizeInfoQCOM::default().size(reserved);
        let color = [vk::RenderingAttachmentInfo::default().image_view(view); 8];
        let info = vk::RenderingInfo::default()
            .render_area(vk::Rect2D::default().extent(vk::Extent2D {
                width: 4096,
                height: 4096,
            }))
            .layer_count(1)
            .color_attachments(&color)
            .push_next(&mut size);
        let mut out = vk::TilePropertiesQCOM::default();
        // SAFETY: A valid structure.
        unsafe { tiles.get_dynamic_rendering_tile_properties(&info, &mut out) }.expect("tiles");
        u64::from(out.tile_size.width) * u64::from(out.tile_size.height)
    };
    let areas: Vec<_> = (0..=4)
        .map(|quarter| area(rig.heap_size() * quarter / 4))
        .collect();
    assert!(
        areas.windows(2).all(|pair| pair[0] >= pair[1]) && areas[0] > areas[4],
        "{areas:?}"
    );
    rig.take_messages();
    rig.finish();
}

/// A device with some of the layer's extensions, and not the feature of tile memory.
fn device_with(instance: &ash::Instance, physical: vk::PhysicalDevice, extensions: &[&CStr]) -> ash::Device {
    let names: Vec<_> = extensions.iter().map(|name| name.as_ptr()).collect();
    let mut tiles = vk::PhysicalDeviceTilePropertiesFeaturesQCOM::default()
        .tile_properties(extensions.contains(&ffi::tile_properties::NAME));
    let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])];
    let info = vk::DeviceCreateInfo::default()
        .queue_create_infos(&queues)
        .enabled_extension_names(&names)
        .push_next(&mut tiles);
    // SAFETY: Every device has a family 0 with a queue.
    unsafe { instance.create_device(physical, &info, None) }.expect("a device")
}

/// Each of the three extensions is whole without the others: its commands are there where it is enabled, and tiles can be asked
/// for without tile memory.
#[test]
fn each_extension_stands_alone() {
    let messages = Mutex::default();
    let (_entry, instance, utils, messenger) = rig::instance_with(&[], &messages);
    // SAFETY: A live instance; devices of it and their objects are destroyed in order.
    unsafe {
        let physical = instance.enumerate_physical_devices().expect("devices")[0];
        let device = device_with(&instance, physical, &[ffi::tile_memory_heap::NAME]);
        let look_up = |device: &ash::Device, name: &CStr| {
            (instance.fp_v1_0().get_device_proc_addr)(device.handle(), name.as_ptr()).is_some()
        };
        assert!(
            look_up(&device, c"vkCmdBindTileMemoryQCOM"),
            "enabled, though its feature is off"
        );
        assert!(!look_up(&device, c"vkGetFramebufferTilePropertiesQCOM"));
        device.destroy_device(None);

        let device = device_with(&instance, physical, &[ffi::tile_properties::NAME]);
        assert!(!look_up(&device, c"vkCmdBindTileMemoryQCOM"));
        let tiles = ffi::tile_properties::Device::new(&instance, &device).expect("the commands");
        let attachments = [vk::AttachmentDescription::default()
            .format(vk::Format::R8G8B8A8_UNORM)
            .samples(vk::SampleCountFlags::TYPE_1)
            .load_op(vk::AttachmentLoadOp::CLEAR)
            .final_layout(vk::ImageLayout::GENERAL)];
        let references = [vk::AttachmentReference::default().layout(vk::ImageLayout::GENERAL)];
        let subpasses = [vk::SubpassDescription::default().color_attachments(&references); 2];
        let info = vk::RenderPassCreateInfo::default()
            .attachments(&attachments)
            .subpasses(&subpasses);
        let pass = device.create_render_pass(&info, None).expect("a render pass");
        let info = vk::ImageCreateInfo {
            usage: vk::ImageUsageFlags::COLOR_ATTACHMENT,
            ..Rig::image_info(vk::Format::R8G8B8A8_UNORM, 512, vk::ImageUsageFlags::empty())
        };
        let image = device.create_image(&info, None).expect("an image");
        let needs = device.get_image_memory_requirements(image);
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(needs.size)
            .memory_type_index(needs.memory_type_bits.trailing_zeros());
        let memory = device.allocate_memory(&info, None).expect("memory");
        device.bind_image_memory(image, memory, 0).expect("bound memory");
        let info = vk::ImageViewCreateInfo::default()
            .image(image)
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(vk::Format::R8G8B8A8_UNORM)
            .subresource_range(rig::whole(vk::ImageAspectFlags::COLOR));
        let views = [device.create_image_view(&info, None).expect("a view")];
        let info = vk::FramebufferCreateInfo::default()
            .render_pass(pass)
            .attachments(&views)
            .width(512)
            .height(512)
            .layers(1);
        let framebuffer = device.create_framebuffer(&info, None).expect("a framebuffer");
        let mut out = [vk::TilePropertiesQCOM::default(); 2];
        assert_eq!(
            tiles.get_framebuffer_tile_properties_len(framebuffer),
            Ok(2),
            "one for each subpass"
        );
        tiles
            .get_framebuffer_tile_properties(framebuffer, &mut out)
            .expect("tiles");
        assert!(
            out.iter()
                .all(|tile| tile.tile_size.width > 0 && tile.tile_size.height > 0)
        );
        device.destroy_framebuffer(framebuffer, None);
        device.destroy_image_view(views[0], None);
        device.destroy_image(image, None);
        device.free_memory(memory, None);
        device.destroy_render_pass(pass, None);
        device.destroy_device(None);

        let mut limits = ffi::PhysicalDeviceTileShadingPropertiesQCOM::default();
        let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut limits);
        instance.get_physical_device_properties2(physical, &mut properties);
        // Suites ask for aprons up to the limit, and for one less, to see them refused: 0 would leave them nothing to ask for.
        assert!(limits.max_apron_size > 1);
        utils.destroy_debug_utils_messenger(messenger, None);
        instance.destroy_instance(None);
    }
    let said = messages.into_inner().expect("no panic while collecting");
    assert!(said.is_empty(), "{said:#?}");
}

#[test]
fn the_layer_reports_itself_as_a_tool() {
    let rig = Rig::new(&[]);
    // SAFETY: A live device.
    let count = unsafe { rig.instance.get_physical_device_tool_properties_len(rig.physical) }.expect("tools");
    let mut tools = vec![vk::PhysicalDeviceToolProperties::default(); count];
    // SAFETY: As above.
    unsafe {
        rig.instance
            .get_physical_device_tool_properties(rig.physical, &mut tools)
    }
    .expect("tools");
    let own: Vec<_> = tools
        .iter()
        .filter(|tool| tool.layer_as_c_str() == Ok(tileheap_emulator::LAYER_NAME))
        .collect();
    assert_eq!(own.len(), 1);
    assert!(
        own[0]
            .purposes
            .contains(vk::ToolPurposeFlags::ADDITIONAL_FEATURES)
    );
    rig.finish();
}

#[test]
fn a_device_without_the_feature_is_left_alone() {
    let messages = Mutex::default();
    let (_entry, instance, utils, messenger) = rig::instance_with(&[], &messages);
    // SAFETY: A live instance, one device of it, destroyed in order.
    unsafe {
        let physical = instance.enumerate_physical_devices().expect("devices")[0];
        let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])];
        let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues);
        let device = instance.create_device(physical, &info, None).expect("a device");
        let look_up = instance.fp_v1_0().get_device_proc_addr;
        assert!(look_up(device.handle(), c"vkCmdBindTileMemoryQCOM".as_ptr()).is_none());
        let info = vk::BufferCreateInfo::default()
            .size(64)
            .usage(vk::BufferUsageFlags::STORAGE_BUFFER);
        let buffer = device.create_buffer(&info, None).expect("a buffer");
        let needs = device.get_buffer_memory_requirements(buffer);
        let index = needs.memory_type_bits.trailing_zeros();
        let types = instance.get_physical_device_memory_properties(physical);
        let heap = types.memory_types[index as usize].heap_index;
        assert!(
            !types.memory_heaps[heap as usize]
                .flags
                .contains(ffi::MEMORY_HEAP_TILE_MEMORY_BIT_QCOM)
        );
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(needs.size)
            .memory_type_index(index);
        let memory = device.allocate_memory(&info, None).expect("memory");
        device
            .bind_buffer_memory(buffer, memory, 0)
            .expect("bound memory");
        device.destroy_buffer(buffer, None);
        device.free_memory(memory, None);
        device.destroy_device(None);
        utils.destroy_debug_utils_messenger(messenger, None);
        instance.destroy_instance(None);
    }
    let said = messages.into_inner().expect("no panic while collecting");
    assert!(said.is_empty(), "{said:#?}");
}

#[test]
fn settings_that_cannot_be_read_are_reported() {
    let messages = Mutex::default();
    let (_entry, instance, utils, messenger) = rig::instance_with(&[("poison", "maybe")], &messages);
    // SAFETY: A live instance.
    unsafe {
        utils.destroy_debug_utils_messenger(messenger, None);
        instance.destroy_instance(None);
    }
    let ids: Vec<_> = messages
        .into_inner()
        .expect("no panic")
        .into_iter()
        .map(|(id, _): rig::Message| id)
        .collect();
    assert_eq!(ids, ["TILEHEAP-setting"]);
}
