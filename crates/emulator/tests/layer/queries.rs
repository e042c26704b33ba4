//! Query results per profile: extensions, features, heaps and types, formats, requirements, tiles, tools.

use std::ffi::CStr;

use crate::rig;
use crate::rig::{Instance, PROFILES, Rig, TILE};
use ash::vk;
use tileheap_device::ffi;
use tileheap_testkit::objects::{Objects, color_attachment, framebuffer_info, view_info, with_subpasses};
use vk::ImageUsageFlags as U;

#[test]
fn heaps_and_types_obey_vulkan() {
    use vk::MemoryPropertyFlags as P;
    for profile in PROFILES {
        let rig = Rig::new(&[("profile", profile), ("lazy_type", "true")]);
        let types = rig.types.memory_types_as_slice();
        let heaps = rig.types.memory_heaps_as_slice();
        let tile = types[rig.tile_type() as usize];
        // As ANGLE asserts for Adreno.
        let is_lazy = ["adreno-830", "adreno-840", "x2-85"].contains(&profile);
        let lazy = if is_lazy { P::LAZILY_ALLOCATED } else { P::empty() };
        assert_eq!(tile.property_flags, P::DEVICE_LOCAL | lazy, "{profile}");
        let on_tile_heap = types.iter().filter(|kind| kind.heap_index == tile.heap_index);
        assert_eq!(
            on_tile_heap.count(),
            if profile == "two-tile-types" { 2 } else { 1 }
        );
        assert_eq!(heaps[tile.heap_index as usize].flags.as_raw(), 0x9);
        for (index, kind) in types.iter().enumerate() {
            let is_local = kind.property_flags.contains(P::DEVICE_LOCAL);
            let heap = heaps[kind.heap_index as usize];
            assert_eq!(
                is_local,
                heap.flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL),
                "{profile}"
            );
            for earlier in &types[..index] {
                let is_subset = earlier.property_flags.contains(kind.property_flags);
                let is_same = earlier.property_flags == kind.property_flags;
                assert!(!is_subset || is_same, "{profile}: {types:?}");
            }
            let memory = rig.try_allocate(4096, index as u32);
            assert!(memory.is_ok(), "{profile}: type {index}: {memory:?}");
        }
        assert!(
            types
                .iter()
                .any(|kind| kind.property_flags.contains(P::LAZILY_ALLOCATED))
        );
    }
}

/// The memory properties of a physical device, and the budget of each heap.
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
}

/// Objects share their bytes, so the usage is the size of the largest.
#[test]
fn the_heaps_usage_follows_its_objects() {
    let rig = Rig::new(&[]);
    let heap = rig.types.memory_types[rig.tile_type() as usize].heap_index as usize;
    let usage = || budgets(&rig).1.heap_usage[heap];
    let objects = [24_576, 12_288].map(|size| {
        let info = vk::MemoryAllocateInfo::default().allocation_size(size);
        let before = usage();
        // SAFETY: A type of the device.
        let object = unsafe {
            rig.device
                .allocate_memory(&info.memory_type_index(rig.tile_type()), None)
        };
        assert_eq!(
            (before, usage()),
            (if size > 12_288 { 0 } else { 24_576 }, 24_576)
        );
        object.expect("tile memory")
    });
    for (object, left) in objects.into_iter().zip([12_288, 0]) {
        // SAFETY: Nothing uses it.
        unsafe { rig.device.free_memory(object, None) };
        assert_eq!(usage(), left);
    }
}

fn format_support(
    rig: &Rig,
    info: &vk::ImageCreateInfo<'_>,
) -> Result<vk::ImageFormatProperties, vk::Result> {
    let vk::ImageCreateInfo {
        format,
        image_type,
        tiling,
        usage,
        flags,
        ..
    } = *info;
    let asked = vk::PhysicalDeviceImageFormatInfo2::default()
        .format(format)
        .ty(image_type)
        .tiling(tiling)
        .usage(usage)
        .flags(flags);
    let (instance, device) = (&rig.instance, rig.physical);
    let mut out = vk::ImageFormatProperties2::default();
    // SAFETY: A live device.
    let (first, second) = unsafe {
        (
            instance.get_physical_device_image_format_properties(
                device, format, image_type, tiling, usage, flags,
            ),
            instance.get_physical_device_image_format_properties2(device, &asked, &mut out),
        )
    };
    assert_eq!(first.err(), second.err(), "both queries agree");
    second.map(|()| out.image_format_properties)
}

#[test]
fn formats_and_requirements_follow_the_guaranteed_set() {
    let rig = Rig::new(&[]);
    let info = rig::image_info(vk::Format::R16G16_SFLOAT, 480, U::SAMPLED | U::STORAGE | TILE);
    let limits = format_support(&rig, &info).expect("a tile image");
    assert_eq!((limits.max_mip_levels, limits.max_array_layers), (1, 1));
    assert_eq!(limits.sample_counts, vk::SampleCountFlags::TYPE_1);
    for refused in [
        info.usage(info.usage | U::TRANSFER_SRC),
        info.tiling(vk::ImageTiling::LINEAR),
        info.image_type(vk::ImageType::TYPE_3D),
        info.flags(vk::ImageCreateFlags::MUTABLE_FORMAT),
    ] {
        let error = format_support(&rig, &refused).unwrap_err();
        assert_eq!(error, vk::Result::ERROR_FORMAT_NOT_SUPPORTED);
    }
    let create = info.extent(rig::area(480, 270).extent.into());
    let (needs, tile) = rig.image_needs(rig.create(&create));
    assert_eq!(tile, (552_960, 12_288), "the public reading");
    let tile_bit = 1 << rig.tile_type();
    assert_ne!(needs.memory_type_bits & tile_bit, 0);
    assert_ne!(
        needs.memory_type_bits & !tile_bit,
        0,
        "ordinary memory remains possible"
    );

    let described = |create: &vk::ImageCreateInfo<'_>| {
        let mut wanted = ffi::TileMemoryRequirementsQCOM::default().size(77).alignment(77);
        let mut out = vk::MemoryRequirements2::default().push_next(&mut wanted);
        let asked = vk::DeviceImageMemoryRequirements::default().create_info(create);
        // SAFETY: A valid create info, but for validation.
        unsafe { rig.device.get_device_image_memory_requirements(&asked, &mut out) };
        (
            out.memory_requirements.memory_type_bits,
            (wanted.size, wanted.alignment),
        )
    };
    assert_eq!(described(&create), (needs.memory_type_bits, tile));
    // Refused, and so only queried without validation.
    if !rig::is_validated() {
        assert_eq!(described(&create.usage(create.usage | U::TRANSFER_SRC)).1, (0, 0));
    }
}

#[test]
fn profiles_and_settings_shape_requirements() {
    let words = |settings: &[(&str, &str)]| {
        let rig = Rig::new(settings);
        let buffer = rig.tile_buffer(100, vk::BufferUsageFlags::STORAGE_BUFFER);
        (rig.heap_size(), rig.buffer_needs(buffer).1)
    };
    let (heap, (size, alignment)) = words(&[("profile", "validation-icd")]);
    assert_eq!((heap, size), (1_000_000_000, 4096));
    assert_eq!(alignment % 32, 0, "lavapipe below needs 64");
    let set = words(&[("heap_size", "1000000"), ("alignment", "768")]);
    assert_eq!(set, (1_000_000, (768, 768)));
    let (heap, (size, alignment)) = words(&[("profile", "hostile")]);
    assert_eq!((heap % 2, size % 2, alignment), (1, 1, 12_288));
}

/// A driver may report that a resource larger than the tile heap cannot be placed there, or report its size.
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
    }
}

#[test]
fn tiles_shrink_as_the_reservation_grows() {
    let rig = Rig::new(&[]);
    let object = rig.object(rig.heap_size());
    let usage = U::COLOR_ATTACHMENT | U::STORAGE;
    let (_, view) = rig.tile_image(vk::Format::R32_UINT, rig::SIDE, usage, object, 0);
    let tiles = ffi::tile_properties::Device::new(&rig.instance, &rig.device).expect("the commands");
    let texels = |tile: vk::TilePropertiesQCOM<'_>| u64::from(tile.tile_size.width * tile.tile_size.height);
    let area_of = |reserved: u64| {
        let (_, framebuffer) = rig.pass_object(view, rig::CLEAR, false, reserved);
        // SAFETY: A framebuffer of this device.
        let out = unsafe { tiles.get_framebuffer_tile_properties(framebuffer) }.expect("tiles");
        assert_eq!(out.len(), 1);
        texels(out[0])
    };
    assert!(area_of(0) >= area_of(rig.heap_size()));

    let area = |reserved: u64| {
        let mut size = ffi::TileMemorySizeInfoQCOM::default().size(reserved);
        let color = [vk::RenderingAttachmentInfo::default().image_view(view); 8];
        let info = vk::RenderingInfo::default()
            .render_area(rig::area(4096, 4096))
            .layer_count(1)
            .color_attachments(&color)
            .push_next(&mut size);
        let mut out = vk::TilePropertiesQCOM::default();
        // SAFETY: A valid structure.
        unsafe { tiles.get_dynamic_rendering_tile_properties(&info, &mut out) }.expect("tiles");
        texels(out)
    };
    let areas = [0, 1, 2, 3, 4].map(|quarter| area(rig.heap_size() * quarter / 4));
    let never_grow = areas.windows(2).all(|pair| pair[0] >= pair[1]);
    assert!(never_grow && areas[0] > areas[4], "{areas:?}");
    rig.take_messages();
}

/// Creates a device with some of the layer's extensions, but without the tile memory feature.
fn device_with(on: &Instance, extensions: &[&CStr]) -> ash::Device {
    let names: Vec<_> = extensions.iter().map(|name| name.as_ptr()).collect();
    let mut tiles = vk::PhysicalDeviceTilePropertiesFeaturesQCOM::default()
        .tile_properties(extensions.contains(&ffi::tile_properties::NAME));
    let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])];
    let info = vk::DeviceCreateInfo::default()
        .queue_create_infos(&queues)
        .enabled_extension_names(&names)
        .push_next(&mut tiles);
    // SAFETY: Every device has a family 0 with a queue.
    unsafe { on.instance.create_device(on.physical(), &info, None) }.expect("a device")
}

/// Each of the three extensions works without the others: its commands exist if it is enabled, and tiles can be queried without tile memory.
/// for without tile memory.
#[test]
fn each_extension_stands_alone() {
    let on = Instance::new(&[]);
    let device = device_with(&on, &[ffi::tile_memory_heap::NAME]);
    assert!(
        on.has(&device, c"vkCmdBindTileMemoryQCOM"),
        "enabled, though its feature is off"
    );
    assert!(!on.has(&device, c"vkGetFramebufferTilePropertiesQCOM"));
    // SAFETY: Unused.
    unsafe { device.destroy_device(None) };

    let device = device_with(&on, &[ffi::tile_properties::NAME]);
    assert!(!on.has(&device, c"vkCmdBindTileMemoryQCOM"));
    let tiles = ffi::tile_properties::Device::new(&on.instance, &device).expect("the commands");
    let (objects, attachment) = (Objects::default(), color_attachment(vk::Format::R8G8B8A8_UNORM));
    let pass = with_subpasses(&[attachment], 2, |info| objects.create(&device, &info));
    let info = rig::image_info(vk::Format::R8G8B8A8_UNORM, 512, U::COLOR_ATTACHMENT);
    let image = objects.image(&device, &info, u32::MAX);
    let color = vk::ImageAspectFlags::COLOR;
    let view = view_info(image, info.format, color);
    let views = [objects.create(&device, &view)];
    let framebuffer = objects.create(&device, &framebuffer_info(pass, &views, 512));
    let mut limits = ffi::PhysicalDeviceTileShadingPropertiesQCOM::default();
    let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut limits);
    // SAFETY: A live framebuffer.
    let out = unsafe { tiles.get_framebuffer_tile_properties(framebuffer) }.expect("tiles");
    assert_eq!(out.len(), 2, "one for each subpass");
    // SAFETY: Live handles, and the last calls of the device.
    unsafe {
        objects.destroy(&device);
        device.destroy_device(None);
        on.instance
            .get_physical_device_properties2(on.physical(), &mut properties);
    }
    assert!(
        out.iter()
            .all(|tile| tile.tile_size.width > 0 && tile.tile_size.height > 0)
    );
    // Suites test that aprons up to the limit, and one less, are refused: with 0 there would be nothing to test.
    assert!(limits.max_apron_size > 1);
    assert_eq!(on.take_messages(), []);
}

#[test]
fn the_layer_reports_itself_as_a_tool() {
    let rig = Rig::new(&[]);
    // SAFETY: A live device.
    let count = unsafe { rig.instance.get_physical_device_tool_properties_len(rig.physical) }.expect("tools");
    let mut tools = vec![vk::PhysicalDeviceToolProperties::default(); count];
    // SAFETY: As above.
    let filled = unsafe {
        rig.instance
            .get_physical_device_tool_properties(rig.physical, &mut tools)
    };
    filled.expect("tools");
    tools.retain(|tool| tool.layer_as_c_str() == Ok(tileheap_emulator::LAYER_NAME));
    assert_eq!(tools.len(), 1);
    assert!(
        tools[0]
            .purposes
            .contains(vk::ToolPurposeFlags::ADDITIONAL_FEATURES)
    );
}

#[test]
fn a_device_without_the_feature_is_left_alone() {
    let on = Instance::new(&[]);
    let (device, objects) = (device_with(&on, &[]), Objects::default());
    assert!(!on.has(&device, c"vkCmdBindTileMemoryQCOM"));
    let usage = vk::BufferUsageFlags::STORAGE_BUFFER;
    let buffer = objects.create(&device, &vk::BufferCreateInfo::default().size(64).usage(usage));
    // SAFETY: Live handles, and the last calls of the device.
    unsafe {
        let needs = device.get_buffer_memory_requirements(buffer);
        let index = needs.memory_type_bits.trailing_zeros();
        let types = on.instance.get_physical_device_memory_properties(on.physical());
        let heap = types.memory_heaps[types.memory_types[index as usize].heap_index as usize];
        assert!(!heap.flags.contains(ffi::MEMORY_HEAP_TILE_MEMORY_BIT_QCOM));
        let info = vk::MemoryAllocateInfo::default().allocation_size(needs.size);
        let memory = objects.create(&device, &info.memory_type_index(index));
        device
            .bind_buffer_memory(buffer, memory, 0)
            .expect("bound memory");
        objects.destroy(&device);
        device.destroy_device(None);
    }
    assert_eq!(on.take_messages(), []);
}
