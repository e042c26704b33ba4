//! The fake driver does what it says: without that, tests built on it prove nothing.

#[path = "support/counting.rs"]
mod counting;
#[path = "support/fake_driver/mod.rs"]
mod fake_driver;

use std::ffi::CStr;

use ash::vk;
use ash::vk::Handle;
use fake_driver::{Call, Command, Config, FakeDriver, Object, Tile, Touched};
use tileheap::ffi::{self, tile_memory_heap};

/// The driver's own books do not count.
fn exempt() -> bool {
    fake_driver::inside()
}

/// Calls a Vulkan command of `ash`: on the fake driver every call is sound, whatever its handles are.
macro_rules! vulkan {
    ($call:expr) => {{
        // SAFETY: The fake driver dereferences no handle, and what is pointed to here is alive.
        unsafe { $call }
    }};
}

/// A device with everything enabled that its driver offers.
struct Rig {
    driver: FakeDriver,
    instance: ash::Instance,
    physical: vk::PhysicalDevice,
    device: ash::Device,
    queue: vk::Queue,
    pool: vk::CommandPool,
}

impl Rig {
    fn new(config: Config) -> Rig {
        let (extension, feature) = (config.tile.extension, config.tile.feature);
        let modern = config.api_version >= vk::API_VERSION_1_3;
        let driver = FakeDriver::new(config);
        let entry = driver.entry();
        let instance = vulkan!(entry.create_instance(&vk::InstanceCreateInfo::default(), None)).unwrap();
        let physical = vulkan!(instance.enumerate_physical_devices()).unwrap()[0];
        let names = if extension {
            vec![tile_memory_heap::NAME.as_ptr()]
        } else {
            Vec::new()
        };
        let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])];
        let mut tile = ffi::PhysicalDeviceTileMemoryHeapFeaturesQCOM::default().tile_memory_heap(feature);
        let mut newer = vk::PhysicalDeviceVulkan13Features::default()
            .synchronization2(true)
            .dynamic_rendering(true)
            .maintenance4(true);
        let mut timeline = vk::PhysicalDeviceTimelineSemaphoreFeatures::default().timeline_semaphore(true);
        let mut info = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .enabled_extension_names(&names)
            .push_next(&mut tile);
        if modern {
            info = info.push_next(&mut newer).push_next(&mut timeline);
        }
        let device = vulkan!(instance.create_device(physical, &info, None)).unwrap();
        let queue = vulkan!(device.get_device_queue(0, 0));
        let pool = vulkan!(device.create_command_pool(&vk::CommandPoolCreateInfo::default(), None)).unwrap();
        Rig {
            driver,
            instance,
            physical,
            device,
            queue,
            pool,
        }
    }

    fn image_info(usage: vk::ImageUsageFlags) -> vk::ImageCreateInfo<'static> {
        vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(vk::Format::R8G8B8A8_UNORM)
            .extent(vk::Extent3D {
                width: 480,
                height: 270,
                depth: 1,
            })
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(usage)
    }

    fn memory(&self, memory_type: u32, size: u64) -> vk::DeviceMemory {
        let info = vk::MemoryAllocateInfo::default()
            .memory_type_index(memory_type)
            .allocation_size(size);
        vulkan!(self.device.allocate_memory(&info, None)).unwrap()
    }

    /// An image in memory of `memory_type` (0 is the tile type) and its view.
    fn target(&self, memory_type: u32, memory: vk::DeviceMemory, offset: u64) -> (vk::Image, vk::ImageView) {
        let mut usage = vk::ImageUsageFlags::COLOR_ATTACHMENT;
        if memory_type == 0 {
            usage |= ffi::IMAGE_USAGE_TILE_MEMORY_BIT_QCOM;
        }
        let image = vulkan!(self.device.create_image(&Rig::image_info(usage), None)).unwrap();
        vulkan!(self.device.bind_image_memory(image, memory, offset)).unwrap();
        let info = vk::ImageViewCreateInfo::default().image(image);
        (
            image,
            vulkan!(self.device.create_image_view(&info, None)).unwrap(),
        )
    }

    fn commands(&self, level: vk::CommandBufferLevel) -> vk::CommandBuffer {
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(self.pool)
            .level(level)
            .command_buffer_count(1);
        vulkan!(self.device.allocate_command_buffers(&info)).unwrap()[0]
    }

    fn begun(&self) -> vk::CommandBuffer {
        let commands = self.commands(vk::CommandBufferLevel::PRIMARY);
        vulkan!(
            self.device
                .begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default())
        )
        .unwrap();
        commands
    }

    fn tile(&self) -> tile_memory_heap::Device {
        tile_memory_heap::Device::new(&self.instance, &self.device).unwrap()
    }

    fn begin_rendering(&self, commands: vk::CommandBuffer, view: vk::ImageView, flags: vk::RenderingFlags) {
        let color = [vk::RenderingAttachmentInfo::default()
            .image_view(view)
            .load_op(vk::AttachmentLoadOp::CLEAR)
            .store_op(vk::AttachmentStoreOp::STORE)];
        let info = vk::RenderingInfo::default()
            .flags(flags)
            .color_attachments(&color);
        vulkan!(self.device.cmd_begin_rendering(commands, &info));
    }

    fn submit(&self, commands: vk::CommandBuffer, fence: vk::Fence) -> Result<(), vk::Result> {
        let buffers = [commands];
        let info = vk::SubmitInfo::default().command_buffers(&buffers);
        vulkan!(self.device.queue_submit(self.queue, &[info], fence))
    }

    /// The one violation, or none.
    fn violation(&self) -> String {
        self.driver.violations().join("\n")
    }
}

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
fn objects_are_counted_and_leaks_reported() {
    let rig = Rig::new(Config::modern());
    assert_eq!(rig.driver.live_below_device(), 1);
    let image = vulkan!(
        rig.device
            .create_image(&Rig::image_info(vk::ImageUsageFlags::SAMPLED), None)
    )
    .unwrap();
    assert_eq!(rig.driver.live()[&vk::ObjectType::IMAGE], 1);
    vulkan!(rig.device.destroy_device(None));
    let text = rig.violation();
    assert!(
        text.contains("vkDestroyDevice: IMAGE") && text.contains("COMMAND_POOL"),
        "{text}"
    );

    vulkan!(rig.device.destroy_image(image, None));
    assert!(
        rig.violation().contains("DEVICE"),
        "a dead device is noticed: {}",
        rig.violation()
    );
}

#[test]
fn a_stale_handle_is_reported_and_harmless() {
    let rig = Rig::new(Config::modern());
    let fence = vulkan!(rig.device.create_fence(&vk::FenceCreateInfo::default(), None)).unwrap();
    vulkan!(rig.device.destroy_fence(fence, None));
    vulkan!(rig.device.destroy_fence(fence, None));
    assert!(
        rig.violation().contains("was destroyed before"),
        "{}",
        rig.violation()
    );
    vulkan!(rig.device.destroy_fence(vk::Fence::null(), None));
    assert_eq!(rig.driver.violations().len(), 1);
    vulkan!(
        rig.device
            .destroy_fence(vk::Fence::from_raw(rig.pool.as_raw()), None)
    );
    assert!(
        rig.violation().contains("is of another type"),
        "{}",
        rig.violation()
    );
}

#[test]
fn a_call_fails_when_asked_to() {
    let rig = Rig::new(Config::modern());
    let make = || vulkan!(rig.device.create_fence(&vk::FenceCreateInfo::default(), None));
    rig.driver
        .fail("vkCreateFence", 1, vk::Result::ERROR_OUT_OF_DEVICE_MEMORY);
    assert!(make().is_ok());
    rig.commands(vk::CommandBufferLevel::PRIMARY);
    assert_eq!(make(), Err(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY));
    assert!(make().is_ok());
    assert_eq!(rig.driver.live()[&vk::ObjectType::FENCE], 2);

    let so_far = rig.driver.fallible().len();
    rig.driver.fail_at(0, vk::Result::ERROR_OUT_OF_HOST_MEMORY);
    assert_eq!(make(), Err(vk::Result::ERROR_OUT_OF_HOST_MEMORY));
    assert_eq!(rig.driver.fallible()[so_far], "vkCreateFence");
    let failed = Call::Failed {
        function: "vkCreateFence",
        result: vk::Result::ERROR_OUT_OF_HOST_MEMORY,
    };
    assert_eq!(rig.driver.journal().last(), Some(&failed));
}

#[test]
fn both_kinds_of_barrier_read_alike() {
    let rig = Rig::new(Config::modern());
    let memory = rig.memory(1, 1 << 20);
    let (image, _) = rig.target(1, memory, 0);
    let commands = rig.begun();
    let (old, new) = (vk::ImageLayout::UNDEFINED, vk::ImageLayout::GENERAL);
    let one = [vk::ImageMemoryBarrier::default()
        .image(image)
        .old_layout(old)
        .new_layout(new)
        .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .dst_access_mask(vk::AccessFlags::SHADER_WRITE)];
    let stage = vk::PipelineStageFlags::COMPUTE_SHADER;
    let none = vk::DependencyFlags::empty();
    vulkan!(
        rig.device
            .cmd_pipeline_barrier(commands, stage, stage, none, &[], &[], &one)
    );
    let two = [vk::ImageMemoryBarrier2::default()
        .image(image)
        .old_layout(old)
        .new_layout(new)
        .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .src_stage_mask(vk::PipelineStageFlags2::COMPUTE_SHADER)
        .dst_stage_mask(vk::PipelineStageFlags2::COMPUTE_SHADER)
        .dst_access_mask(vk::AccessFlags2::SHADER_WRITE)];
    let info = vk::DependencyInfo::default().image_memory_barriers(&two);
    vulkan!(rig.device.cmd_pipeline_barrier2(commands, &info));
    let recorded = rig.driver.recorded(commands);
    let [
        Command::Barriers {
            synchronization_2: false,
            barriers: first,
        },
        Command::Barriers {
            synchronization_2: true,
            barriers: second,
        },
    ] = &recorded[..]
    else {
        panic!("{recorded:?}")
    };
    assert_eq!(first, second);
    assert_eq!(first[0].touched, Touched::Image(image));
    assert_eq!(rig.violation(), "");
}

#[test]
fn tile_memory_is_bound_by_identity() {
    let rig = Rig::new(Config::modern());
    let (tile, none) = (rig.tile(), vk::RenderingFlags::empty());
    let (a, b) = (rig.memory(0, 1_056_768), rig.memory(0, 1_056_768));
    let (_, view) = rig.target(0, a, 0);
    let commands = rig.begun();
    let bind = |memory| {
        let info = ffi::TileMemoryBindInfoQCOM::default().memory(memory);
        vulkan!(tile.cmd_bind_tile_memory(commands, Some(&info)));
    };
    bind(a);
    rig.begin_rendering(commands, view, none);
    vulkan!(rig.device.cmd_draw(commands, 3, 1, 0, 0));
    vulkan!(rig.device.cmd_end_rendering(commands));
    assert_eq!(rig.violation(), "");
    let expected = [
        Command::BindTileMemory(Some(a)),
        Command::Draw,
        Command::EndRendering,
    ];
    let recorded = rig.driver.recorded(commands);
    assert_eq!([&recorded[0], &recorded[2], &recorded[3]], expected.each_ref());

    bind(b);
    rig.begin_rendering(commands, view, none);
    assert!(
        rig.violation().contains("is in tile memory"),
        "{}",
        rig.violation()
    );
    bind(a);
    assert!(
        rig.violation()
            .contains("vkCmdBindTileMemoryQCOM: inside a render pass"),
        "{}",
        rig.violation()
    );
    vulkan!(rig.device.cmd_end_rendering(commands));
    let before = rig.driver.violations().len();
    bind(rig.memory(1, 4096));
    assert!(
        rig.driver.violations()[before].contains("is not of a tile heap"),
        "{}",
        rig.violation()
    );
}

#[test]
fn a_secondary_inherits_tile_memory_or_is_told_off() {
    let rig = Rig::new(Config::modern());
    let memory = rig.memory(0, 1_056_768);
    let (_, view) = rig.target(0, memory, 0);
    let secondary = |inherits: bool| {
        let commands = rig.commands(vk::CommandBufferLevel::SECONDARY);
        let mut bind = ffi::TileMemoryBindInfoQCOM::default().memory(memory);
        let mut inheritance = vk::CommandBufferInheritanceInfo::default();
        if inherits {
            inheritance = inheritance.push_next(&mut bind);
        }
        let info = vk::CommandBufferBeginInfo::default()
            .flags(vk::CommandBufferUsageFlags::RENDER_PASS_CONTINUE)
            .inheritance_info(&inheritance);
        vulkan!(rig.device.begin_command_buffer(commands, &info)).unwrap();
        vulkan!(rig.device.cmd_draw(commands, 3, 1, 0, 0));
        vulkan!(rig.device.end_command_buffer(commands)).unwrap();
        commands
    };
    let commands = rig.begun();
    let info = ffi::TileMemoryBindInfoQCOM::default().memory(memory);
    vulkan!(rig.tile().cmd_bind_tile_memory(commands, Some(&info)));
    rig.begin_rendering(
        commands,
        view,
        vk::RenderingFlags::CONTENTS_SECONDARY_COMMAND_BUFFERS,
    );
    vulkan!(rig.device.cmd_execute_commands(commands, &[secondary(true)]));
    assert_eq!(rig.violation(), "");
    vulkan!(rig.device.cmd_end_rendering(commands));
    vulkan!(rig.tile().cmd_bind_tile_memory(commands, Some(&info)));
    rig.begin_rendering(
        commands,
        view,
        vk::RenderingFlags::CONTENTS_SECONDARY_COMMAND_BUFFERS,
    );
    vulkan!(rig.device.cmd_execute_commands(commands, &[secondary(false)]));
    assert!(
        rig.violation().contains("inherits None while"),
        "{}",
        rig.violation()
    );
}

#[test]
fn what_is_in_flight_must_not_be_destroyed() {
    let rig = Rig::new(Config {
        asynchronous: true,
        ..Config::modern()
    });
    let (tile, fence) = (rig.tile(), vk::FenceCreateInfo::default());
    let memory = rig.memory(0, 1_056_768);
    let (image, view) = rig.target(0, memory, 0);
    let fence = vulkan!(rig.device.create_fence(&fence, None)).unwrap();
    let commands = rig.begun();
    let info = ffi::TileMemoryBindInfoQCOM::default().memory(memory);
    vulkan!(tile.cmd_bind_tile_memory(commands, Some(&info)));
    rig.begin_rendering(commands, view, vk::RenderingFlags::empty());
    vulkan!(rig.device.cmd_end_rendering(commands));
    vulkan!(rig.device.end_command_buffer(commands)).unwrap();
    rig.submit(commands, fence).unwrap();
    assert_eq!(
        (rig.driver.pending(), vulkan!(rig.device.get_fence_status(fence))),
        (1, Ok(false))
    );
    // Named through the view alone.
    vulkan!(rig.device.destroy_image(image, None));
    assert!(
        rig.violation().contains("IMAGE") && rig.violation().contains("in use"),
        "{}",
        rig.violation()
    );

    vulkan!(rig.device.wait_for_fences(&[fence], true, u64::MAX)).unwrap();
    assert_eq!(
        (rig.driver.pending(), vulkan!(rig.device.get_fence_status(fence))),
        (0, Ok(true))
    );
    let before = rig.driver.violations().len();
    vulkan!(rig.device.destroy_image_view(view, None));
    vulkan!(rig.device.free_memory(memory, None));
    assert_eq!(rig.driver.violations().len(), before);
    rig.submit(commands, vk::Fence::null()).unwrap();
    assert!(
        rig.violation().contains("names IMAGE_VIEW"),
        "{}",
        rig.violation()
    );
}

#[test]
fn timelines_are_reached_by_waiting() {
    let rig = Rig::new(Config {
        asynchronous: true,
        ..Config::modern()
    });
    let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
    let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
    let semaphore = vulkan!(rig.device.create_semaphore(&info, None)).unwrap();
    for value in 1..=3 {
        let signals = [vk::SemaphoreSubmitInfo::default()
            .semaphore(semaphore)
            .value(value)];
        let info = [vk::SubmitInfo2::default().signal_semaphore_infos(&signals)];
        vulkan!(rig.device.queue_submit2(rig.queue, &info, vk::Fence::null())).unwrap();
    }
    let wait = |value: u64, timeout| {
        let (semaphores, values) = ([semaphore], [value]);
        let info = vk::SemaphoreWaitInfo::default()
            .semaphores(&semaphores)
            .values(&values);
        vulkan!(rig.device.wait_semaphores(&info, timeout))
    };
    let now = || vulkan!(rig.device.get_semaphore_counter_value(semaphore));
    assert_eq!((wait(2, 0), now()), (Err(vk::Result::TIMEOUT), Ok(0)));
    assert_eq!((wait(2, 1), now(), rig.driver.pending()), (Ok(()), Ok(2), 1));
    assert_eq!((wait(9, u64::MAX), now()), (Err(vk::Result::TIMEOUT), Ok(2)));
    rig.driver.complete();
    assert_eq!(now(), Ok(3));
}

#[test]
fn a_lost_device_stays_lost() {
    let rig = Rig::new(Config {
        asynchronous: true,
        ..Config::modern()
    });
    let lost = Err(vk::Result::ERROR_DEVICE_LOST);
    rig.driver.fail("vkQueueSubmit", 0, vk::Result::ERROR_DEVICE_LOST);
    let commands = rig.begun();
    vulkan!(rig.device.end_command_buffer(commands)).unwrap();
    assert_eq!(rig.submit(commands, vk::Fence::null()), lost);
    assert_eq!(rig.submit(commands, vk::Fence::null()), lost);
    assert_eq!(vulkan!(rig.device.device_wait_idle()), lost);
    assert_eq!(rig.driver.pending(), 0);
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

#[test]
fn mapped_memory_can_be_written() {
    let rig = Rig::new(Config::modern());
    let memory = rig.memory(2, 64);
    let pointer = vulkan!(
        rig.device
            .map_memory(memory, 16, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())
    )
    .unwrap();
    // SAFETY: 48 bytes are mapped.
    unsafe { pointer.cast::<u8>().write_bytes(7, 48) };
    vulkan!(rig.device.unmap_memory(memory));
    let tile = rig.memory(0, 4096);
    let refused = vulkan!(
        rig.device
            .map_memory(tile, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())
    );
    assert_eq!(refused, Err(vk::Result::ERROR_MEMORY_MAP_FAILED));
}

#[test]
fn the_drivers_own_allocations_do_not_count() {
    let rig = Rig::new(Config::modern());
    let commands = rig.begun();
    let before = counting::so_far();
    for _ in 0..100 {
        vulkan!(rig.device.cmd_dispatch(commands, 1, 1, 1));
    }
    assert_eq!(counting::so_far(), before);
    assert_eq!(rig.driver.recorded(commands).len(), 100);
    assert!(
        counting::so_far() > before,
        "the allocator counts outside the driver"
    );
}
