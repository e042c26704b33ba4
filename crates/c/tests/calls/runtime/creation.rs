//! Devices that are created with tileheap's additions.

use std::ffi::CStr;
use std::ptr::{null, null_mut};
use std::sync::Mutex;

use ash::vk;
use tileheap::ffi::tile_memory_heap;
use tileheap_c::additions::*;
use tileheap_c::device::*;
use tileheap_c::opaque::*;
use tileheap_c::status::Status;
use tileheap_testkit::assert_says;
use tileheap_testkit::fake_driver::Config;
use tileheap_testkit::runtime_rig::{Rig, on_fake};

use super::super::c::{self, call, get, sized};
use super::engine::*;

fn names(info: &vk::DeviceCreateInfo<'_>) -> Vec<String> {
    let names = c::slice(info.pp_enabled_extension_names, info.enabled_extension_count);
    let text = |name: &*const std::ffi::c_char| th!(CStr::from_ptr(*name)).to_string_lossy().into_owned();
    names.iter().map(text).collect()
}

fn info_of(additions: DeviceAdditionsHandle) -> vk::DeviceCreateInfo<'static> {
    let info = get(|to, error| th!(get_device_create_info(additions, to, error))).unwrap();
    th!(*info)
}

#[test]
fn a_device_is_created_with_the_additions_and_keeps_what_the_program_asks_for() {
    let config = Config {
        extensions: vec![c"VK_KHR_swapchain"],
        ..Config::modern()
    };
    let rig = Rig::new(config, tileheap::runtime::Capabilities::empty());
    let own = [c"VK_KHR_swapchain".as_ptr()];
    let queues = [vk::DeviceQueueCreateInfo::default()
        .queue_family_index(0)
        .queue_priorities(&[1.0])];
    let mut features = vk::PhysicalDeviceTimelineSemaphoreFeatures::default();
    let info = vk::DeviceCreateInfo::default()
        .queue_create_infos(&queues)
        .enabled_extension_names(&own)
        .push_next(&mut features);
    let desc = additions_desc(&rig, &info);
    let additions = get(|to, error| th!(create_device_additions(&desc, to, error))).unwrap();
    let added = info_of(additions);
    assert_eq!(added.queue_create_info_count, 1);
    let found = names(&added);
    let tile = tile_memory_heap::NAME.to_string_lossy().into_owned();
    assert!(
        found.contains(&"VK_KHR_swapchain".to_owned()) && found.contains(&tile),
        "{found:?}"
    );
    assert!(!added.p_next.is_null());
    let device = on_fake!(rig.instance.create_device(rig.physical, &added, None)).unwrap();
    assert_eq!(rig.driver.violations(), [""; 0]);
    on_fake!(device.destroy_device(None));

    // Without tile memory.
    let desc = DeviceAdditionsDesc {
        without_tile_memory: vk::TRUE,
        ..desc
    };
    let without = get(|to, error| th!(create_device_additions(&desc, to, error))).unwrap();
    assert!(!names(&info_of(without)).contains(&tile));
    for additions in [additions, without, null_mut()] {
        assert_eq!(destroy_device_additions(additions), Status::Success);
    }
    let gone = call(|error| th!(get_device_create_info(additions, &mut null(), error)));
    assert_eq!(gone.unwrap_err().0, Status::ErrorInvalidHandle);
}

/// A loader without functions.
unsafe extern "system" fn nothing(_: vk::Instance, _: *const std::ffi::c_char) -> vk::PFN_vkVoidFunction {
    None
}

#[test]
fn additions_without_handles_are_refused() {
    let rig = Rig::new(Config::modern(), tileheap::runtime::Capabilities::empty());
    let info = vk::DeviceCreateInfo::default();
    let wrong = vk::DeviceQueueCreateInfo::default();
    let good = additions_desc(&rig, &info);
    type Change<'a> = &'a dyn Fn(&mut DeviceAdditionsDesc);
    let names = [c"VK_KHR_swapchain".as_ptr(), null()];
    let with_names = |count, names: *const *const std::ffi::c_char| vk::DeviceCreateInfo {
        enabled_extension_count: count,
        pp_enabled_extension_names: names,
        ..Default::default()
    };
    let (no_names, null_name) = (with_names(1, null()), with_names(2, names.as_ptr()));
    let wrongs: [(Change<'_>, Status, &str); 9] = [
        (
            &|desc| desc.create_info = &raw const no_names,
            Status::ErrorNullPointer,
            "ppEnabledExtensionNames",
        ),
        (
            &|desc| desc.create_info = &raw const null_name,
            Status::ErrorNullPointer,
            "ppEnabledExtensionNames[1]",
        ),
        (
            &|desc| desc.struct_size = 8,
            Status::ErrorStructSize,
            "ThDeviceAdditionsDesc",
        ),
        (
            &|desc| desc.create_info = null(),
            Status::ErrorNullPointer,
            "createInfo",
        ),
        (
            &|desc| desc.create_info = (&raw const wrong).cast(),
            Status::ErrorInvalidArgument,
            "sType",
        ),
        (
            &|desc| desc.instance = vk::Instance::null(),
            Status::ErrorNullPointer,
            "instance",
        ),
        (
            &|desc| desc.get_instance_proc_addr = None,
            Status::ErrorNullPointer,
            "getInstanceProcAddr",
        ),
        (
            &|desc| desc.get_instance_proc_addr = Some(nothing),
            Status::ErrorVulkan,
            "vkGetPhysicalDeviceProperties",
        ),
        (
            &|desc| desc.api_version = vk::API_VERSION_1_0,
            Status::ErrorVulkan,
            "1.1",
        ),
    ];
    for (change, expected, words) in wrongs {
        let mut desc = good;
        change(&mut desc);
        let made: c::Result<DeviceAdditionsHandle> =
            get(|to, error| th!(create_device_additions(&desc, to, error)));
        let (status, message) = made.unwrap_err();
        assert_eq!(status, expected, "{message}");
        assert_says(message, &[words]);
    }
    let unwritten = call(|error| th!(create_device_additions(&good, null_mut(), error)));
    assert_eq!(unwritten.unwrap_err().0, Status::ErrorNullPointer);
}

/// The fake driver's loader, but devices have no debug names.
unsafe extern "system" fn without_names(
    instance: vk::Instance,
    name: *const std::ffi::c_char,
) -> vk::PFN_vkVoidFunction {
    unsafe extern "system" fn of_device(
        device: vk::Device,
        name: *const std::ffi::c_char,
    ) -> vk::PFN_vkVoidFunction {
        match th!(CStr::from_ptr(name)).to_bytes() {
            b"vkSetDebugUtilsObjectNameEXT" => None,
            _ => {
                let (instance, loader) = *LOADER.lock().unwrap();
                let real = th!(loader.unwrap()(
                    vk::Handle::from_raw(instance),
                    c"vkGetDeviceProcAddr".as_ptr()
                ));
                let real: vk::PFN_vkGetDeviceProcAddr = th!(std::mem::transmute(real.unwrap()));
                th!(real(device, name))
            }
        }
    }
    if th!(CStr::from_ptr(name)) == c"vkGetDeviceProcAddr" {
        let own: vk::PFN_vkGetDeviceProcAddr = of_device;
        return Some(th!(std::mem::transmute::<
            vk::PFN_vkGetDeviceProcAddr,
            unsafe extern "system" fn(),
        >(own)));
    }
    let (_, loader) = *LOADER.lock().unwrap();
    th!(loader.unwrap()(instance, name))
}

/// The instance and loader of the test that uses [`without_names`].
static LOADER: Mutex<(u64, Option<vk::PFN_vkGetInstanceProcAddr>)> = Mutex::new((0, None));

#[test]
fn devices_without_handles_are_refused() {
    let engine = Engine::new(Config::modern());
    let additions = additions(&engine.rig).unwrap();
    let queues = queues(&engine.rig);
    let good = device_desc(&engine.rig, additions, &queues, &engine.allocator);
    let instance = vk::Handle::as_raw(good.instance);
    *LOADER.lock().unwrap() = (instance, good.get_instance_proc_addr);
    let nowhere = [DeviceQueue {
        queue: vk::Queue::null(),
        ..queues[0]
    }];
    let with_second = |change: fn(&mut DeviceQueue, &DeviceQueue)| {
        let mut all = queues.clone();
        change(&mut all[1], &queues[0]);
        all
    };
    let foreign = with_second(|second, _| second.family = 9);
    let incapable = with_second(|second, _| second.capabilities |= vk::QueueFlags::VIDEO_DECODE_KHR);
    let twice = with_second(|second, first| *second = *first);
    type Change<'a> = &'a dyn Fn(&mut DeviceDesc);
    let wrongs: [(Change<'_>, Status, &str); 18] = [
        (
            &|desc| desc.api_version = vk::API_VERSION_1_2,
            Status::ErrorInvalidArgument,
            "apiVersion",
        ),
        (
            &|desc| desc.physical_device = vk::Handle::from_raw(8),
            Status::ErrorInvalidArgument,
            "physicalDevice",
        ),
        (
            &|desc| desc.instance = vk::Handle::from_raw(8),
            Status::ErrorInvalidArgument,
            "instance",
        ),
        (
            &|desc| desc.get_instance_proc_addr = Some(without_names),
            Status::ErrorVulkan,
            "vkSetDebugUtilsObjectNameEXT: create the instance with VK_EXT_debug_utils",
        ),
        (
            &|desc| desc.struct_size = 4,
            Status::ErrorStructSize,
            "ThDeviceDesc",
        ),
        (
            &|desc| desc.device = vk::Device::null(),
            Status::ErrorNullPointer,
            "device",
        ),
        (
            &|desc| desc.instance = vk::Instance::null(),
            Status::ErrorNullPointer,
            "instance",
        ),
        (
            &|desc| desc.additions = null_mut(),
            Status::ErrorInvalidHandle,
            "ThDeviceAdditions",
        ),
        (
            &|desc| desc.additions = engine.device.cast(),
            Status::ErrorInvalidHandle,
            "is a ThDevice:",
        ),
        (
            &|desc| desc.queue_count = 0,
            Status::ErrorInvalidArgument,
            "queueCount",
        ),
        (
            &|desc| desc.queues = null(),
            Status::ErrorNullPointer,
            "ThDeviceDesc.queues is null, but queueCount is 2",
        ),
        (
            &|desc| (desc.queues, desc.queue_count) = (nowhere.as_ptr(), 1),
            Status::ErrorNullPointer,
            "ThDeviceDesc.queues[0].queue is null",
        ),
        (
            &|desc| desc.queues = foreign.as_ptr(),
            Status::ErrorInvalidArgument,
            "ThDeviceDesc.queues[1].family is 9, but the number of queue families of the physical device is 2",
        ),
        (
            &|desc| desc.queues = incapable.as_ptr(),
            Status::ErrorInvalidArgument,
            "ThDeviceDesc.queues[1].capabilities has ",
        ),
        (
            &|desc| desc.queues = twice.as_ptr(),
            Status::ErrorInvalidArgument,
            "ThDeviceDesc.queues[1].queue is the same as that of queues[0]",
        ),
        (
            &|desc| desc.allocate_block = None,
            Status::ErrorNullPointer,
            "allocateBlock",
        ),
        (
            &|desc| desc.free_block = None,
            Status::ErrorNullPointer,
            "freeBlock",
        ),
        (
            &|desc| desc.get_instance_proc_addr = Some(nothing),
            Status::ErrorVulkan,
            "vkGetPhysicalDeviceProperties",
        ),
    ];
    for (change, expected, words) in wrongs {
        let mut desc = good;
        change(&mut desc);
        let made: c::Result<DeviceHandle> = get(|to, error| th!(create_device(&desc, to, error)));
        let (status, message) = made.unwrap_err();
        assert_eq!(status, expected, "{message}");
        assert_says(message, &[words]);
    }
    assert_eq!(destroy_device_additions(additions), Status::Success);

    // It has a dynamic frame.
    let (status, message) = call(|error| destroy_device(engine.device, error)).unwrap_err();
    assert_eq!(status, Status::ErrorInUse);
    assert_says(message, &["1 dynamic frame:", "thDestroyDynamicFrame"]);
    engine.end();
}

/// Drivers that list an extension without its functions: all that the runtime would call are looked up first.
#[test]
fn a_device_without_a_function_of_its_capabilities_is_refused() {
    use tileheap::runtime::Capabilities as C;
    let cases: [(C, &[&CStr], &str); 3] = [
        (
            C::SUBPASS_MERGE_FEEDBACK,
            &[
                ash::ext::subpass_merge_feedback::NAME,
                ash::khr::create_renderpass2::NAME,
            ],
            "vkCreateRenderPass2KHR",
        ),
        (
            C::SYNCHRONIZATION_2,
            &[ash::khr::synchronization2::NAME],
            "vkCmdPipelineBarrier2KHR",
        ),
        (
            C::TIMELINE_SEMAPHORE,
            &[ash::khr::timeline_semaphore::NAME],
            "vkGetSemaphoreCounterValueKHR",
        ),
    ];
    let engine = Engine::new(Config::modern());
    for (features, extensions, function) in cases {
        let config = Config {
            extensions: extensions.to_vec(),
            features,
            ..Config::vulkan_1_1().without_tile_memory()
        };
        let rig = Rig::new(config, C::empty());
        assert!(rig.desc.enabled.contains(features), "{function}");
        let (additions, queues) = (additions(&rig).unwrap(), queues(&rig));
        let desc = device_desc(&rig, additions, &queues, &engine.allocator);
        let made: c::Result<DeviceHandle> = get(|to, error| th!(create_device(&desc, to, error)));
        let (status, message) = made.unwrap_err();
        assert_eq!(status, Status::ErrorVulkan, "{message}");
        assert_says(message, &[function, "thGetDeviceCreateInfo"]);
        assert_eq!(destroy_device_additions(additions), Status::Success);
    }
    engine.end();
}

#[test]
fn a_device_without_a_capable_queue_cannot_plan() {
    let rig = Rig::new(Config::modern(), tileheap::runtime::Capabilities::empty());
    let compute = [queues(&rig)[1]];
    drop(rig);
    let engine = Engine::with(Config::modern(), |desc| {
        let own = th!(std::slice::from_raw_parts(desc.queues, 2))[1];
        assert_eq!(own.capabilities, compute[0].capabilities);
        desc.queues = Box::leak(Box::new([own])).as_ptr();
        desc.queue_count = 1;
    });
    let (status, message) = engine.select().unwrap_err();
    assert_eq!(status, Status::ErrorCannotPlan);
    assert_says(message, &["graphics"]);
    let _: tileheap_c::dynamic_frame::DynamicFrameDesc = sized();
    engine.end();
}
