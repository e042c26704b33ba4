//! Passes in the wrong order, and objects that several threads use at once.

use std::ptr::null_mut;
use std::sync::atomic::{AtomicU32, Ordering};

use tileheap_c::commands::*;
use tileheap_c::dynamic_frame::select_frame;
use tileheap_c::recording::*;
use tileheap_c::status::Status;
use tileheap_testkit::assert_says;
use tileheap_testkit::fake_driver::Config;
use tileheap_testkit::runtime_rig::on_fake;

use super::super::c::{call, sized};
use super::engine::*;

#[test]
fn passes_are_recorded_in_the_described_order() {
    let engine = Engine::new(Config::modern());
    engine.select().unwrap();
    let number = engine.begin().unwrap();
    let commands = engine.record(number, 0).unwrap();
    let refused = |function: &dyn Fn() -> Status, expected: Status| assert_eq!(function(), expected);
    let none = null_mut();
    let begin = |pass| th!(begin_pass(commands, pass, null_mut(), none));
    let secondary = engine.secondary(number, GBUFFER);
    let execute = || th!(execute_secondaries(commands, 1, &secondary, none));
    let wrong = Status::ErrorWrongState;
    let (status, message) = call(|error| th!(begin_pass(commands, DECALS, null_mut(), error))).unwrap_err();
    assert_eq!(status, wrong);
    assert_says(
        message,
        &["cannot begin pass `decals`: pass `gbuffer` is next in command buffer `scene`"],
    );
    refused(&|| end_pass(commands, none), wrong);
    refused(&|| next_subpass(commands, none), wrong);
    refused(&execute, wrong);
    refused(
        &|| skip_pass(commands, GBUFFER, none),
        Status::ErrorInvalidArgument,
    );
    call(|error| begin_secondary(engine.frame, secondary, GBUFFER, 0, error)).unwrap();
    assert_eq!(begin(GBUFFER), Status::Success);
    refused(&|| begin(GBUFFER), wrong);
    refused(&|| next_subpass(commands, none), wrong);
    refused(&|| skip_pass(commands, DECALS, none), wrong);
    let (status, message) = call(|error| end_commands(commands, error)).unwrap_err();
    assert_eq!(status, wrong);
    assert_says(message, &["gbuffer", "begun but not ended: call thEndPass first"]);
    // The handle is destroyed, even after an error.
    refused(&|| end_pass(commands, none), Status::ErrorInvalidHandle);
    refused(&|| discard_commands(commands, none), Status::ErrorInvalidHandle);

    // Ended before every pass was recorded; inline contents cannot execute secondary command buffers.
    let commands = engine.record(number, 1).unwrap();
    engine.record_pass(commands, number, OCCLUSION).unwrap();
    assert_eq!(
        th!(begin_pass(commands, LIGHTING, null_mut(), none)),
        Status::Success
    );
    let (status, message) =
        call(|error| th!(execute_secondaries(commands, 1, &secondary, error))).unwrap_err();
    assert_eq!(status, Status::ErrorInvalidArgument);
    assert_says(message, &["lighting", "TH_PASS_FLAG_SECONDARY"]);
    assert_eq!(end_pass(commands, none), Status::Success);
    let (status, message) = call(|error| end_commands(commands, error)).unwrap_err();
    assert_eq!(status, wrong);
    assert_says(message, &["light", "meter", "thBeginPass", "thSkipPass"]);
    let (status, message) = call(|error| submit_frame(engine.frame, error)).unwrap_err();
    assert_eq!(status, wrong);
    assert_says(message, &["thBeginCommands begins it, thEndCommands ends it"]);
    let (status, message) = call(|error| wait_for_frame(engine.frame, 999, 0, error)).unwrap_err();
    assert_eq!(status, wrong);
    assert_says(
        message,
        &["cannot wait for frame 999 before thSubmitFrame submits it"],
    );
    call(|error| discard_frame(engine.frame, error)).unwrap();
    engine.rig.driver.clear_journal();
    call(|error| tileheap_c::dynamic_frame::destroy_dynamic_frame(engine.frame, error)).unwrap();
    call(|error| tileheap_c::device::destroy_device(engine.device, error)).unwrap();
}

#[test]
fn one_recording_is_used_by_one_thread_at_a_time_and_a_frame_by_one_that_changes_it() {
    let engine = Engine::new(Config::modern());
    engine.select().unwrap();
    let number = engine.begin().unwrap();
    let commands = engine.record(number, 0).unwrap();
    engine.record_pass(commands, number, GBUFFER).unwrap();
    let (address, ends) = (commands.addr(), AtomicU32::new(0));
    let in_use = AtomicU32::new(0);
    std::thread::scope(|scope| {
        let engine = &engine;
        for _ in 0..4 {
            scope.spawn(|| {
                let commands = std::ptr::without_provenance_mut(address);
                for _ in 0..20_000 {
                    // If several threads begin the same pass, one succeeds.
                    match th!(begin_pass(commands, DECALS, null_mut(), null_mut())) {
                        Status::Success => ends.fetch_add(1, Ordering::Relaxed),
                        Status::ErrorInUse => in_use.fetch_add(1, Ordering::Relaxed),
                        other => {
                            assert_eq!(other, Status::ErrorWrongState);
                            0
                        }
                    };
                    let selected = th!(select_frame(
                        engine.frame,
                        &engine.described.desc,
                        &mut sized(),
                        null_mut()
                    ));
                    assert_eq!(selected, Status::ErrorInUse, "a command buffer is being recorded");
                }
            });
        }
    });
    assert_eq!(ends.load(Ordering::Relaxed), 1);
    call(|error| end_pass(commands, error)).unwrap();
    call(|error| end_commands(commands, error)).unwrap();
    for index in 1..4 {
        engine.record_all(number, index).unwrap();
    }
    call(|error| submit_frame(engine.frame, error)).unwrap();
    engine.end();
}

/// The handles of a recording that has ended stay invalid although its object is reused.
#[test]
fn handles_of_ended_recordings_stay_invalid() {
    let engine = Engine::new(Config::modern());
    let mut ended = Vec::new();
    for _ in 0..10 {
        engine.select().unwrap();
        let number = engine.begin().unwrap();
        for index in 0..4 {
            let commands = engine.record(number, index).unwrap();
            for old in &ended {
                assert_eq!(end_pass(*old, null_mut()), Status::ErrorInvalidHandle);
            }
            call(|error| discard_commands(commands, error)).unwrap();
            ended.push(commands);
        }
        call(|error| discard_frame(engine.frame, error)).unwrap();
        for buffer in engine.rig.commands[0] {
            on_fake!(engine.rig.device.end_command_buffer(buffer)).unwrap();
        }
    }
    engine.end();
}
