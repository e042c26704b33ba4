//! Out-of-memory errors, and lost devices.

use std::sync::atomic::Ordering;

use ash::vk;
use tileheap_c::device::*;
use tileheap_c::dynamic_frame::*;
use tileheap_c::recording::*;
use tileheap_c::status::Status;
use tileheap_c::text::*;
use tileheap_testkit::assert_says;
use tileheap_testkit::fake_driver::Config;
use tileheap_testkit::runtime_rig::on_fake;

use super::super::c::{call, get, sized};
use super::engine::*;

#[test]
fn allocations_that_fail_are_errors_and_the_frame_can_be_selected_again() {
    for (result, expected, words) in [
        (
            vk::Result::ERROR_OUT_OF_DEVICE_MEMORY,
            Status::ErrorOutOfMemory,
            "OUT_OF_DEVICE_MEMORY",
        ),
        (
            vk::Result::ERROR_TOO_MANY_OBJECTS,
            Status::ErrorVulkan,
            "TOO_MANY_OBJECTS",
        ),
        // A positive result is not success.
        (vk::Result::NOT_READY, Status::ErrorVulkan, "NOT_READY"),
    ] {
        let engine = Engine::new(Config::modern());
        // Even after memory is freed and the request is repeated.
        *engine.allocator.failures.lock().unwrap() = vec![result; 8];
        let (status, message) = engine.select().unwrap_err();
        assert_eq!(status, expected, "{message}");
        assert_says(message, &[words]);
        let begun = engine.begin().unwrap_err();
        assert_eq!(begun.0, Status::ErrorWrongState);
        engine.allocator.failures.lock().unwrap().clear();
        assert_eq!(engine.run().unwrap(), 0);
        engine.end();
    }
}

#[test]
fn blocks_at_wrong_offsets_and_without_memory_are_refused() {
    let engine = Engine::new(Config::modern());
    engine.allocator.offset.store(1, Ordering::Relaxed);
    let (status, message) = engine.select().unwrap_err();
    assert_eq!(status, Status::ErrorVulkan);
    assert_says(message, &["offset 1", "alignment"]);
    assert_eq!(engine.allocator.live.load(Ordering::Relaxed), 0, "it was freed");
    engine.allocator.offset.store(0, Ordering::Relaxed);
    *engine.allocator.failures.lock().unwrap() = vec![vk::Result::SUCCESS];
    let (status, message) = engine.select().unwrap_err();
    assert_eq!(status, Status::ErrorVulkan);
    assert_says(message, &["allocateBlock", "without a memory object"]);
    assert_eq!(engine.run().unwrap(), 0);
    engine.end();
}

#[test]
fn a_memory_limit_is_kept() {
    let engine = Engine::with(Config::modern(), |desc| desc.memory_limit = 512);
    let (status, message) = engine.select().unwrap_err();
    assert_eq!(status, Status::ErrorOutOfMemory);
    assert_says(message, &["512 B"]);
    assert_eq!(engine.allocator.allocated.load(Ordering::Relaxed), 0);
    engine.end();
}

#[test]
fn callbacks_cannot_use_the_frame_that_allocates() {
    let engine = Engine::new(Config::modern());
    let (frame, device) = (engine.frame.addr(), engine.device.addr());
    *engine.allocator.inside.lock().unwrap() = Some(Box::new(move || {
        let frame = std::ptr::without_provenance_mut(frame);
        let device = std::ptr::without_provenance_mut(device);
        let none = std::ptr::null_mut();
        let statuses = [
            submit_frame(frame, none),
            destroy_dynamic_frame(frame, none),
            destroy_device(device, none),
            report_device_lost(device, none),
        ];
        assert_eq!(statuses, [Status::ErrorInUse; 4]);
    }));
    engine.run().unwrap();
    engine.end();
}

/// Every call of a frame that can fail does, one after another: an error, no crash, and no leak.
#[test]
fn every_call_of_a_frame_may_fail() {
    for config in [Config::modern(), Config::vulkan_1_1()] {
        let mut failed = 0;
        for nth in 0.. {
            let engine = Engine::new(config.clone().asynchronous());
            let driver = &engine.rig.driver;
            let before = driver.fallible().len();
            driver.fail_at(nth, vk::Result::ERROR_OUT_OF_HOST_MEMORY);
            let ran = engine.run();
            if let Ok(number) = &ran {
                engine.wait(*number);
            }
            driver.fail_no_more();
            let calls = driver.fallible().len() - before;
            if let Err((status, message)) = &ran {
                assert!(
                    (*status as i32) < 0 && !message.is_empty(),
                    "{nth}: {status:?}, {message}"
                );
                assert_ne!(*status, Status::ErrorInternal, "{nth}: {message}");
                failed += 1;
            }
            let is_last = nth >= calls;
            assert!(ran.is_ok() || !is_last, "nothing failed, and {:?}", ran.err());
            discard_open(&engine);
            engine.end();
            if is_last {
                break;
            }
        }
        assert!(failed > 30, "only {failed} calls made a frame fail");
    }
}

/// Discards recordings that an error has left open.
fn discard_open(engine: &Engine) {
    let open = engine.open.lock().unwrap().take();
    if let Some(commands) = open {
        // Finished recordings no longer exist.
        let _ = tileheap_c::commands::discard_commands(commands, std::ptr::null_mut());
    }
}

#[test]
fn a_lost_device_is_abandoned() {
    for config in [
        Config::modern().asynchronous(),
        Config::vulkan_1_1().asynchronous(),
    ] {
        let engine = Engine::new(config);
        let number = engine.run().unwrap();
        let early = call(|error| abandon_dynamic_frame(engine.frame, error)).unwrap_err();
        assert_eq!(early.0, Status::ErrorWrongState);
        assert_says(early.1, &["not lost", "thDestroyDynamicFrame"]);
        for wait in ["vkWaitSemaphores", "vkWaitForFences"] {
            engine.rig.driver.fail(wait, 0, vk::Result::ERROR_DEVICE_LOST);
        }
        let lost = call(|error| wait_for_frame(engine.frame, number, u64::MAX, error)).unwrap_err();
        assert_eq!(lost.0, Status::ErrorDeviceLost, "{}", lost.1);
        engine.rig.driver.fail_no_more();
        let is_lost = get(|to, error| th!(get_device_lost(engine.device, to, error))).unwrap();
        assert_eq!(is_lost, vk::TRUE);
        assert_eq!(
            engine.select().and_then(|_| engine.begin()).unwrap_err().0,
            Status::ErrorDeviceLost
        );
        let _ = on_fake!(engine.rig.device.device_wait_idle());
        call(|error| abandon_dynamic_frame(engine.frame, error)).unwrap();
        engine.end_device();
    }
}

#[test]
fn error_objects_have_the_result_of_the_call_that_failed() {
    let engine = Engine::new(Config::modern());
    let mut error = std::ptr::null_mut();
    assert_eq!(th!(create_error(&mut error)), Status::Success);
    let result = || {
        let mut result = vk::Result::ERROR_UNKNOWN;
        assert_eq!(th!(get_error_result(error, &mut result)), Status::Success);
        result
    };
    assert_eq!(result(), vk::Result::SUCCESS);
    *engine.allocator.failures.lock().unwrap() = vec![vk::Result::ERROR_OUT_OF_HOST_MEMORY; 8];
    let desc = &engine.described.desc;
    let status = th!(select_frame(engine.frame, desc, &mut sized(), error));
    assert_eq!(
        (status, result()),
        (Status::ErrorOutOfMemory, vk::Result::ERROR_OUT_OF_DEVICE_MEMORY)
    );
    engine.allocator.failures.lock().unwrap().clear();
    engine
        .rig
        .driver
        .fail("vkCreateImage", 0, vk::Result::ERROR_TOO_MANY_OBJECTS);
    let status = th!(select_frame(engine.frame, desc, &mut sized(), error));
    assert_eq!(
        (status, result()),
        (Status::ErrorVulkan, vk::Result::ERROR_TOO_MANY_OBJECTS)
    );
    // A failure without a Vulkan call.
    assert_eq!(submit_frame(engine.frame, error), Status::ErrorWrongState);
    assert_eq!(result(), vk::Result::SUCCESS);
    assert_eq!(destroy_error(error), Status::Success);
    engine.end();
}

#[test]
fn queues_are_used_while_no_frame_is_submitted() {
    /// # Safety
    /// The pointer is the engine.
    unsafe extern "C" fn wait_idle(data: *mut std::ffi::c_void) {
        let engine = th!(&*data.cast::<Engine>());
        on_fake!(engine.rig.device.device_wait_idle()).unwrap();
        let none = std::ptr::null_mut();
        assert_eq!(
            th!(use_queues(engine.device, Some(wait_idle), data, none)),
            Status::ErrorInUse
        );
        assert_eq!(submit_frame(engine.frame, none), Status::ErrorInUse);
    }
    let engine = Engine::new(Config::modern().asynchronous());
    engine.run().unwrap();
    let data = (&raw const engine).cast_mut().cast();
    call(|error| th!(use_queues(engine.device, Some(wait_idle), data, error))).unwrap();
    assert_eq!(engine.rig.driver.pending(), 0);
    let missing = call(|error| th!(use_queues(engine.device, None, data, error)));
    assert_eq!(missing.unwrap_err().0, Status::ErrorNullPointer);
    engine.run().unwrap();
    engine.end();
}

#[test]
fn a_loss_that_the_program_saw_is_reported() {
    let engine = Engine::new(Config::modern());
    engine.run().unwrap();
    engine.select().unwrap();
    engine.begin().unwrap();
    call(|error| report_device_lost(engine.device, error)).unwrap();
    assert_eq!(
        engine.select().unwrap_err().0,
        Status::ErrorWrongState,
        "it is being recorded"
    );
    let _ = on_fake!(engine.rig.device.device_wait_idle());
    call(|error| abandon_dynamic_frame(engine.frame, error)).unwrap();
    engine.end_device();
}
