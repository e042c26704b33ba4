//! What the driver writes down: objects, calls, what is in flight.

use super::*;

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
fn a_call_fails_when_set_to_fail() {
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
