//! With a driver: profiles of devices, and requirements from the driver's answers, equal the runtime's; C++ programs draw the same as Rust.

#[path = "../calls/c.rs"]
#[allow(dead_code, reason = "the other test program uses the rest")]
mod c;
mod execute;
mod guide;
mod plaza;

use std::ptr::null_mut;

use ash::vk;
use tileheap::ffi::{IMAGE_USAGE_TILE_MEMORY_BIT_QCOM, TileMemoryRequirementsQCOM};
use tileheap::frame::{Frame, import};
use tileheap::plan::MemoryKind;
use tileheap::runtime::Capabilities;
use tileheap_c::enums::{FeatureFlag, ResourceType};
use tileheap_c::frame::destroy_frame;
use tileheap_c::opaque::*;
use tileheap_c::profile::*;
use tileheap_c::requirements::*;
use tileheap_c::status::Status;
use tileheap_testkit::gpu::Gpu;

use c::{call, fill, get, sized, text, view};

fn desc(gpu: &Gpu) -> PhysicalDeviceDesc {
    PhysicalDeviceDesc {
        api_version: gpu.context.support().version(),
        enabled: u32::MAX,
        get_instance_proc_addr: Some(gpu.context.entry().static_fn().get_instance_proc_addr),
        instance: gpu.context.instance().handle(),
        physical_device: gpu.context.physical_device(),
        ..sized()
    }
}

fn queried(desc: &PhysicalDeviceDesc) -> c::Result<ProfileHandle> {
    // SAFETY: the instance and physical device are alive.
    get(|to, error| unsafe { create_profile_from_physical_device(desc, to, error) })
}

#[test]
fn profiles_of_devices_are_those_of_the_runtime() {
    let gpu = Gpu::new(Capabilities::empty());
    let profile = queried(&desc(&gpu)).unwrap();
    // SAFETY: it can be written.
    let json = text(|to, error| unsafe { create_profile_text(profile, to, error) }).unwrap();
    assert_eq!(json, gpu.context.support().profile().to_json());

    // Of a device that is created with fewer features.
    let enabled = FeatureFlag::Synchronization2 as u32 | FeatureFlag::Maintenance4 as u32;
    let less = queried(&PhysicalDeviceDesc {
        enabled,
        ..desc(&gpu)
    })
    .unwrap();
    // SAFETY: it can be written.
    let info: ProfileInfo = fill(|to, error| unsafe { get_profile_info(less, to, error) }).unwrap();
    assert_eq!((info.features & !enabled, info.tile_size), (0, 0));
    for profile in [profile, less] {
        call(|_| destroy_profile(profile)).unwrap();
    }
}

/// A loader without functions.
unsafe extern "system" fn nothing(_: vk::Instance, _: *const std::ffi::c_char) -> vk::PFN_vkVoidFunction {
    None
}

#[test]
fn missing_functions_and_handles_are_errors() {
    let gpu = Gpu::new(Capabilities::empty());
    let with = |change: fn(&mut PhysicalDeviceDesc)| {
        let mut desc = desc(&gpu);
        change(&mut desc);
        queried(&desc).unwrap_err()
    };
    let (status, message) = with(|desc| desc.get_instance_proc_addr = Some(nothing));
    assert_eq!(status, Status::ErrorVulkan);
    assert!(message.contains("vkGetPhysicalDeviceProperties"), "{message}");
    assert_eq!(
        with(|desc| desc.get_instance_proc_addr = None).0,
        Status::ErrorNullPointer
    );
    assert_eq!(
        with(|desc| desc.instance = vk::Instance::null()).0,
        Status::ErrorNullPointer
    );
    let (status, message) = with(|desc| desc.api_version = vk::API_VERSION_1_0);
    assert_eq!(status, Status::ErrorVulkan, "{message}");
}

/// Queries the driver's answers as an engine would.
fn answer(gpu: &Gpu, query: &RequirementQuery) -> RequirementAnswer {
    let mut answer = RequirementAnswer {
        resource: query.resource,
        memory: query.memory as u32,
        ..sized()
    };
    let mut tile = TileMemoryRequirementsQCOM::default();
    let mut dedicated = vk::MemoryDedicatedRequirements::default();
    let mut needs = vk::MemoryRequirements2::default().push_next(&mut dedicated);
    if query.memory == MemoryKind::Tile {
        needs = needs.push_next(&mut tile);
    }
    if query.resource_type == ResourceType::Image {
        let info = query.image;
        assert_eq!(
            info.usage.contains(IMAGE_USAGE_TILE_MEMORY_BIT_QCOM),
            query.memory == MemoryKind::Tile
        );
        let format = vk::PhysicalDeviceImageFormatInfo2::default()
            .format(info.format)
            .ty(info.image_type)
            .tiling(info.tiling)
            .usage(info.usage)
            .flags(info.flags);
        let mut limits = vk::ImageFormatProperties2::default();
        // SAFETY: the physical device is alive.
        let supported = unsafe {
            gpu.context
                .instance()
                .get_physical_device_image_format_properties2(
                    gpu.context.physical_device(),
                    &format,
                    &mut limits,
                )
        };
        if supported.is_err() {
            return answer;
        }
        let question = vk::DeviceImageMemoryRequirements::default().create_info(&query.image);
        // SAFETY: Vulkan 1.3; the device supports the image.
        unsafe {
            gpu.device()
                .get_device_image_memory_requirements(&question, &mut needs)
        };
    } else {
        let question = vk::DeviceBufferMemoryRequirements::default().create_info(&query.buffer);
        // SAFETY: Vulkan 1.3.
        unsafe {
            gpu.device()
                .get_device_buffer_memory_requirements(&question, &mut needs)
        };
    }
    (answer.supported, answer.requirements) = (vk::TRUE, needs.memory_requirements);
    answer.dedicated = match (
        dedicated.requires_dedicated_allocation,
        dedicated.prefers_dedicated_allocation,
    ) {
        (vk::FALSE, vk::FALSE) => 0,
        (vk::FALSE, _) => 1,
        _ => 2,
    };
    (answer.tile_size, answer.tile_alignment) = (tile.size, tile.alignment);
    answer
}

#[test]
fn requirements_from_a_drivers_answers_are_those_that_the_runtime_measures() {
    let gpu = Gpu::new(Capabilities::empty());
    if gpu.context.support().version() < vk::API_VERSION_1_3 {
        return tileheap_testkit::skip("the device offers less than Vulkan 1.3");
    }
    let data = include_str!("../../../../tests/data/frames/granite_deferred_taa_bloom.json");
    let frame: Frame = import::read(
        data,
        Some(vk::Extent2D {
            width: 320,
            height: 180,
        }),
    )
    .unwrap()
    .frame;
    let measured = gpu.runtime().measure(&frame).unwrap();
    let handle = c::frame_from_json(&frame.to_json()).unwrap();
    let profile = gpu.runtime().profile().to_json();
    // SAFETY: the text is alive.
    let profile = get(|to, error| unsafe { create_profile_from_json(view(&profile), to, error) }).unwrap();
    let mut count = 0;
    // SAFETY: the count can be written.
    call(|error| unsafe { get_requirement_queries(handle, profile, &mut count, null_mut(), error) }).unwrap();
    let mut queries: Vec<RequirementQuery> = vec![sized(); count as usize];
    // SAFETY: there is room for as many.
    call(|error| unsafe {
        get_requirement_queries(handle, profile, &mut count, queries.as_mut_ptr(), error)
    })
    .unwrap();
    let answers: Vec<RequirementAnswer> = queries.iter().map(|query| answer(&gpu, query)).collect();
    // SAFETY: the answers are alive.
    let requirements =
        get(|to, error| unsafe { create_requirements(handle, profile, count, answers.as_ptr(), to, error) })
            .unwrap();
    let mut on_tile = 0;
    for (index, needs) in (0..).zip(&measured.resources) {
        // SAFETY: it can be written.
        let found: ResourceRequirements =
            fill(|to, error| unsafe { get_resource_requirements(requirements, index, to, error) }).unwrap();
        assert_eq!(
            (found.size, found.memory_type_bits),
            (needs.size.0, needs.memory_type_bits)
        );
        assert_eq!(
            (found.alignment, found.lazy_type_bits),
            (needs.alignment.get(), needs.lazy_type_bits)
        );
        assert_eq!(found.tile_size, needs.tile.map_or(0, |tile| tile.size.0));
        assert_eq!(found.dedicated as u32, needs.dedicated as u32);
        on_tile += u32::from(found.tile_size > 0);
    }
    assert_eq!(on_tile > 0, gpu.runtime().profile().tile.is_some());
    call(|_| destroy_requirements(requirements)).unwrap();
    call(|_| destroy_profile(profile)).unwrap();
    call(|_| destroy_frame(handle)).unwrap();
}
