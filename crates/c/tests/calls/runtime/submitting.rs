//! Submission through the program's callback, in both versions of Vulkan's structures.

use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::Mutex;

use ash::vk;
use tileheap_c::device::trim_device;
use tileheap_c::dynamic_frame::*;
use tileheap_c::recording::*;
use tileheap_c::status::Status;
use tileheap_testkit::assert_says;
use tileheap_testkit::fake_driver::Config;
use tileheap_testkit::runtime_rig::on_fake;

use super::super::c::call;
use super::engine::*;

/// The input of the callback, and the calls that it received.
struct Submitter<'a> {
    engine: &'a Engine,
    calls: Mutex<Vec<(u32, bool)>>,
    fails: Option<vk::Result>,
    statuses: Mutex<Vec<Status>>,
}

/// # Safety
/// The pointers are those that the library was given or passes.
unsafe extern "C" fn submit(data: *mut c_void, given: *const SubmitCall) -> vk::Result {
    let (own, given) = th!((&*data.cast::<Submitter<'_>>(), &*given));
    let device = &own.engine.rig.device;
    assert_eq!(given.struct_size as usize, size_of::<SubmitCall>());
    let is_older = given.submits.is_null();
    own.calls.lock().unwrap().push((given.family, is_older));
    let none = null_mut();
    own.statuses.lock().unwrap().extend([
        submit_frame(own.engine.frame, none),
        wait_for_frame(own.engine.frame, 0, 0, none),
        th!(trim_device(own.engine.device, null_mut(), none)),
        th!(begin_frame(own.engine.frame, null(), null_mut(), none)),
        destroy_dynamic_frame(own.engine.frame, none),
    ]);
    if let Some(result) = own.fails {
        return result;
    }
    let result = if is_older {
        let infos = th!(std::slice::from_raw_parts(
            given.older_submits,
            given.submit_count as usize
        ));
        on_fake!(device.queue_submit(given.queue, infos, given.fence))
    } else {
        let infos = th!(std::slice::from_raw_parts(
            given.submits,
            given.submit_count as usize
        ));
        on_fake!(device.queue_submit2(given.queue, infos, given.fence))
    };
    result.map_or_else(|error| error, |()| vk::Result::SUCCESS)
}

fn record(engine: &Engine) -> u64 {
    engine.select().unwrap();
    let number = engine.begin().unwrap();
    for index in 0..4 {
        engine.record_all(number, index).unwrap();
    }
    number
}

#[test]
fn programs_can_submit_through_a_callback() {
    for (config, older) in [(Config::modern(), false), (Config::vulkan_1_1(), true)] {
        let engine = Engine::new(config.asynchronous());
        for _ in 0..3 {
            let number = record(&engine);
            let submitter = Submitter {
                engine: &engine,
                calls: Mutex::default(),
                fails: None,
                statuses: Mutex::default(),
            };
            let data = (&raw const submitter).cast_mut().cast();
            call(|error| th!(submit_frame_with(engine.frame, Some(submit), data, error))).unwrap();
            let calls = submitter.calls.lock().unwrap();
            assert!(calls.iter().all(|(_, is_older)| *is_older == older));
            assert_eq!(calls.len(), 2);
            let statuses = submitter.statuses.lock().unwrap();
            assert!(
                statuses.iter().all(|status| *status == Status::ErrorInUse),
                "{statuses:?}"
            );
            assert_eq!(engine.wait(number), Status::Success);
        }
        engine.end();
    }
}

#[test]
fn a_callback_that_fails_ends_the_dynamic_frame() {
    for (result, expected) in [
        (vk::Result::ERROR_OUT_OF_HOST_MEMORY, Status::ErrorOutOfMemory),
        (vk::Result::ERROR_UNKNOWN, Status::ErrorVulkan),
        (vk::Result::ERROR_DEVICE_LOST, Status::ErrorDeviceLost),
    ] {
        let engine = Engine::new(Config::modern());
        record(&engine);
        let submitter = Submitter {
            engine: &engine,
            calls: Mutex::default(),
            fails: Some(result),
            statuses: Mutex::default(),
        };
        let data = (&raw const submitter).cast_mut().cast();
        let failed = call(|error| th!(submit_frame_with(engine.frame, Some(submit), data, error)));
        let (status, message) = failed.unwrap_err();
        assert_eq!(status, expected, "{message}");
        assert_says(message, &["submit 0", "rig"]);
        // The recording has ended, and no other frame can begin.
        let again = call(|error| submit_frame(engine.frame, error)).unwrap_err();
        assert_eq!(again.0, Status::ErrorWrongState);
        let begun = engine.select().and_then(|_| engine.begin());
        assert_eq!(begun.unwrap_err().0, expected);
        engine.end();
    }
}

#[test]
fn submitting_needs_a_callback_and_a_recorded_frame() {
    let engine = Engine::new(Config::modern());
    let missing = call(|error| th!(submit_frame_with(engine.frame, None, null_mut(), error)));
    assert_eq!(missing.unwrap_err().0, Status::ErrorNullPointer);
    let early = call(|error| th!(submit_frame_with(engine.frame, Some(submit), null_mut(), error)));
    assert_eq!(early.unwrap_err().0, Status::ErrorWrongState);
    engine.end();
}
