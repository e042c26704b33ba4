//! Null, destroyed and foreign handles, wrong sizes and indices: every function returns a status and a message.

use std::ptr::{null, null_mut};

use ash::vk;
use tileheap_c::additions::get_device_create_info;
use tileheap_c::bound::*;
use tileheap_c::commands::*;
use tileheap_c::device::*;
use tileheap_c::dynamic_frame::*;
use tileheap_c::frame_desc::FrameDesc;
use tileheap_c::opaque::*;
use tileheap_c::plan::destroy_plan;
use tileheap_c::recording::*;
use tileheap_c::status::Status;
use tileheap_testkit::assert_says;
use tileheap_testkit::fake_driver::Config;

use super::super::c::{self, call, fill, get, sized, view};
use super::engine::*;

/// The name of a function of a handle, and a call with otherwise valid arguments.
type Named<H> = (&'static str, fn(H, ErrorHandle) -> Status);
type OfFrame = fn(DynamicFrameHandle, ErrorHandle) -> Status;
type OfDevice = fn(DeviceHandle, ErrorHandle) -> Status;
type OfCommands = fn(CommandsHandle, ErrorHandle) -> Status;

fn buffer() -> vk::CommandBuffer {
    vk::Handle::from_raw(1)
}

unsafe extern "C" fn submits(_: *mut std::ffi::c_void, _: *const SubmitCall) -> vk::Result {
    vk::Result::ERROR_UNKNOWN
}

/// The functions that change a frame.
const EXCLUSIVE: [(&str, OfFrame); 8] = [
    ("select", |frame, error| {
        let desc = FrameDesc {
            name: view("empty"),
            ..sized()
        };
        th!(select_frame(frame, &desc, &mut sized(), error))
    }),
    ("begin", |frame, error| {
        th!(begin_frame(frame, NONE, null_mut(), error))
    }),
    ("import", |frame, error| {
        th!(import_resources(frame, &sized(), error))
    }),
    ("area", |frame, error| {
        th!(set_render_area(frame, 0, null(), error))
    }),
    ("submit", |frame, error| submit_frame(frame, error)),
    ("submit with", |frame, error| {
        th!(submit_frame_with(frame, Some(submits), null_mut(), error))
    }),
    ("abandon", |frame, error| discard_frame(frame, error)),
    ("forget", |frame, error| {
        forget_imported_view(frame, vk::Handle::from_raw(1), error)
    }),
];

/// The functions that several threads may call.
const SHARED: [(&str, OfFrame); 9] = [
    ("record", |frame, error| {
        th!(begin_commands(frame, 0, buffer(), &mut null_mut(), error))
    }),
    ("secondary", |frame, error| {
        begin_secondary(frame, buffer(), 0, 0, error)
    }),
    ("bind", |frame, error| {
        bind_secondary_tile_memory(frame, buffer(), 0, error)
    }),
    ("access", |frame, error| {
        th!(get_bound_access(frame, 0, 0, &mut sized(), error))
    }),
    ("target", |frame, error| {
        th!(get_pass_target(frame, 0, 0, &mut sized(), error))
    }),
    ("plan", |frame, error| {
        th!(create_selected_plan(frame, &mut null_mut(), error))
    }),
    ("queue", |frame, error| {
        let mut queue = DeviceQueue {
            queue: vk::Queue::null(),
            family: 0,
            capabilities: vk::QueueFlags::empty(),
        };
        th!(get_selected_queue(frame, 0, &mut queue, error))
    }),
    ("wait", |frame, error| wait_for_frame(frame, 0, 0, error)),
    ("completed", |frame, error| {
        th!(get_completed_frame_count(frame, &mut 0, error))
    }),
];

const DESTROY: [(&str, OfFrame); 2] = [
    ("destroy", |frame, error| destroy_dynamic_frame(frame, error)),
    ("abandon frame", |frame, error| {
        abandon_dynamic_frame(frame, error)
    }),
];

const OF_DEVICE: [(&str, OfDevice); 7] = [
    ("frame", |device, error| {
        let desc = DynamicFrameDesc { device, ..sized() };
        th!(create_dynamic_frame(&desc, &mut null_mut(), error))
    }),
    ("profile", |device, error| {
        th!(create_device_profile(device, &mut null_mut(), error))
    }),
    ("write", |device, error| {
        th!(create_device_text(device, &mut null_mut(), error))
    }),
    ("lost", |device, error| {
        th!(get_device_lost(device, &mut 0, error))
    }),
    ("trim", |device, error| {
        th!(trim_device(device, null_mut(), error))
    }),
    ("destroy", |device, error| destroy_device(device, error)),
    ("report", |device, error| report_device_lost(device, error)),
];

const OF_COMMANDS: [(&str, OfCommands); 7] = [
    ("begin", |commands, error| {
        th!(begin_pass(commands, 0, null_mut(), error))
    }),
    ("next", |commands, error| next_subpass(commands, error)),
    ("execute", |commands, error| {
        th!(execute_secondaries(commands, 1, &buffer(), error))
    }),
    ("end", |commands, error| end_pass(commands, error)),
    ("skip", |commands, error| skip_pass(commands, 0, error)),
    ("finish", |commands, error| end_commands(commands, error)),
    ("discard", |commands, error| discard_commands(commands, error)),
];

/// Functions that destroy accept null.
fn destroys(name: &str) -> bool {
    ["destroy", "abandon frame", "discard"].contains(&name)
}

fn refuses<T>(functions: &[Named<*mut T>], bad: &[*mut T]) {
    for (name, function) in functions {
        for handle in bad {
            if handle.is_null() && destroys(name) {
                assert_eq!(function(*handle, null_mut()), Status::Success, "{name}");
                continue;
            }
            let refused = call(|error| function(*handle, error));
            let (status, message) = refused.unwrap_err();
            assert_eq!(status, Status::ErrorInvalidHandle, "{name}: {message}");
            assert_says(message, &[": expected a "]);
            assert_eq!(function(*handle, null_mut()), Status::ErrorInvalidHandle);
        }
    }
}

#[test]
fn null_foreign_and_destroyed_handles_are_errors() {
    let engine = Engine::new(Config::modern());
    engine.select().unwrap();
    let number = engine.begin().unwrap();
    let commands = engine.record(number, 0).unwrap();
    call(|error| discard_commands(commands, error)).unwrap();
    call(|error| discard_frame(engine.frame, error)).unwrap();
    let address: DynamicFrameHandle = std::ptr::without_provenance_mut((&raw const engine).addr());
    let (frame, device) = (engine.frame, engine.device);
    let bad_frames = [null_mut(), device.cast(), address];
    let bad_devices = [null_mut(), frame.cast(), address.cast()];
    let bad_commands = [null_mut(), device.cast(), commands, address.cast()];
    refuses_all(&bad_frames, &bad_devices, &bad_commands);
    engine.end();
    refuses_all(&[frame], &[device], &[commands]);
    let additions = device.cast();
    let refused = call(|error| th!(get_device_create_info(additions, &mut null(), error)));
    assert_eq!(refused.unwrap_err().0, Status::ErrorInvalidHandle);
}

fn refuses_all(frames: &[DynamicFrameHandle], devices: &[DeviceHandle], commands: &[CommandsHandle]) {
    for functions in [&EXCLUSIVE[..], &SHARED, &DESTROY] {
        refuses(functions, frames);
    }
    refuses(&OF_DEVICE, devices);
    refuses(&OF_COMMANDS, commands);
}

#[test]
fn functions_in_the_wrong_state_name_the_one_to_call() {
    let engine = Engine::new(Config::modern());
    let check = |name: &str, function: OfFrame, words: &[&str]| {
        let refused = call(|error| function(engine.frame, error));
        let (status, message) = refused.expect_err(name);
        assert_eq!(status, Status::ErrorWrongState, "{name}: {message}");
        assert_says(message, words);
    };
    let is_any_time = |name: &str| ["select", "forget", "completed", "wait"].contains(&name);
    // Idle: everything needs a selected frame, or a recorded one.
    for (name, function) in EXCLUSIVE.iter().chain(&SHARED) {
        if !is_any_time(name) {
            check(name, *function, &["thSelectFrame"]);
        }
    }
    check("wait", SHARED[7].1, &["frame 0", "submitted frames is 0"]);
    engine.select().unwrap();
    for (name, function) in EXCLUSIVE.iter().chain(&SHARED[..3]) {
        if !is_any_time(name) && *name != "begin" {
            check(name, *function, &["thBeginFrame"]);
        }
    }
    let number = engine.begin().unwrap();
    for name in ["select", "begin", "forget"] {
        let (_, function) = EXCLUSIVE.iter().find(|(other, _)| *other == name).unwrap();
        check(name, *function, &["thSubmitFrame", "thDiscardFrame"]);
    }
    check(
        "submit",
        EXCLUSIVE[4].1,
        &["scene", "before its recording is finished"],
    );
    // Open command buffers.
    let commands = engine.record(number, 0).unwrap();
    for (name, function) in EXCLUSIVE.iter().chain(&DESTROY[..1]) {
        let (status, message) = call(|error| function(engine.frame, error)).unwrap_err();
        assert_eq!(status, Status::ErrorInUse, "{name}: {message}");
        assert_says(
            message,
            &["1 command buffer ", "thEndCommands", "thDiscardCommands"],
        );
    }
    call(|error| discard_commands(commands, error)).unwrap();
    // A frame that is begun and never submitted can be destroyed.
    engine.end();
}

#[test]
fn indices_that_do_not_exist_are_errors() {
    let engine = Engine::new(Config::modern());
    engine.select().unwrap();
    let number = engine.begin().unwrap();
    let commands = engine.record(number, 0).unwrap();
    let frame = engine.frame;
    type Call<'a> = &'a dyn Fn(ErrorHandle) -> Status;
    let mut queue = queues(&engine.rig)[0];
    let to_queue = &raw mut queue;
    let wrongs: [(Call<'_>, &[&str]); 14] = [
        (
            &|error| th!(begin_pass(commands, 8, null_mut(), error)),
            &["pass 8", "has 8 passes"],
        ),
        (
            &|error| skip_pass(commands, u32::MAX, error),
            &["pass 4294967295"],
        ),
        (
            &|error| th!(get_bound_access(frame, 8, 0, &mut sized(), error)),
            &["pass 8"],
        ),
        (
            &|error| th!(get_bound_access(frame, 0, 3, &mut sized(), error)),
            &["access 3", "gbuffer"],
        ),
        (
            &|error| th!(get_pass_target(frame, 8, 0, &mut sized(), error)),
            &["pass 8"],
        ),
        (
            &|error| th!(get_pass_target(frame, 0, 1, &mut sized(), error)),
            &["gbuffer", "no subpass 1"],
        ),
        (
            &|error| th!(get_pass_target(frame, OCCLUSION, 0, &mut sized(), error)),
            &["occlusion", "not a render pass"],
        ),
        (
            &|error| th!(get_selected_queue(frame, 2, to_queue, error)),
            &["queue 2", "has 2 queues"],
        ),
        (
            &|error| begin_secondary(frame, buffer(), 0, 1, error),
            &["gbuffer", "no subpass 1"],
        ),
        (
            &|error| begin_secondary(frame, buffer(), OCCLUSION, 0, error),
            &["not a render pass"],
        ),
        (
            &|error| bind_secondary_tile_memory(frame, buffer(), 8, error),
            &["pass 8"],
        ),
        (
            &|error| bind_secondary_tile_memory(frame, buffer(), LIGHTING, error),
            &["lighting", "render pass", "thBeginSecondary"],
        ),
        (
            &|error| {
                th!(execute_secondaries(
                    commands,
                    1,
                    std::ptr::without_provenance(9),
                    error
                ))
            },
            &["not aligned"],
        ),
        (
            &|error| th!(begin_commands(frame, 4, buffer(), &mut null_mut(), error)),
            &["command buffer 4", "has 4 command buffers"],
        ),
    ];
    for (function, words) in wrongs {
        let (status, message) = call(function).unwrap_err();
        assert_eq!(status, Status::ErrorInvalidArgument, "{message}");
        assert_says(message, words);
    }
    call(|error| discard_commands(commands, error)).unwrap();
    let areas = [(8, "pass 8"), (OCCLUSION, "occlusion"), (LIGHTING, "lighting")];
    let wide = vk::Rect2D {
        offset: vk::Offset2D { x: 400, y: 0 },
        extent: vk::Extent2D {
            width: 400,
            height: 10,
        },
    };
    for (pass, words) in areas {
        let (status, message) = call(|error| th!(set_render_area(frame, pass, &wide, error))).unwrap_err();
        assert_eq!(status, Status::ErrorInvalidArgument, "{message}");
        assert_says(message, &[words]);
    }
    engine.end();
}

#[test]
fn null_pointers_and_wrong_sizes_are_errors() {
    let engine = Engine::new(Config::modern());
    let (frame, device) = (engine.frame, engine.device);
    let desc = &engine.described.desc;
    let size = || SelectedFrame {
        struct_size: 3,
        ..sized()
    };
    type Call<'a> = &'a dyn Fn(ErrorHandle) -> Status;
    let nulls: [Call<'_>; 12] = [
        &|error| th!(select_frame(frame, desc, null_mut(), error)),
        &|error| th!(select_frame(frame, null(), &mut sized(), error)),
        &|error| th!(create_dynamic_frame(null(), &mut null_mut(), error)),
        &|error| th!(create_device(null(), &mut null_mut(), error)),
        &|error| th!(create_device_profile(device, null_mut(), error)),
        &|error| th!(create_device_text(device, null_mut(), error)),
        &|error| th!(get_device_lost(device, null_mut(), error)),
        &|error| th!(get_completed_frame_count(frame, null_mut(), error)),
        &|error| th!(create_selected_plan(frame, null_mut(), error)),
        &|error| th!(begin_commands(frame, 0, buffer(), null_mut(), error)),
        &|error| begin_secondary(frame, vk::CommandBuffer::null(), 0, 0, error),
        &|error| forget_imported_view(frame, vk::ImageView::null(), error),
    ];
    for (index, function) in nulls.into_iter().enumerate() {
        let (status, message) = call(function).unwrap_err();
        assert_eq!(status, Status::ErrorNullPointer, "{index}: {message}");
    }
    engine.select().unwrap();
    let number = engine.begin().unwrap();
    let commands = engine.record(number, 0).unwrap();
    let recorded: [Call<'_>; 5] = [
        &|error| th!(get_bound_access(frame, 0, 0, null_mut(), error)),
        &|error| th!(get_pass_target(frame, 0, 0, null_mut(), error)),
        &|error| th!(get_selected_queue(frame, 0, null_mut(), error)),
        &|error| {
            th!(begin_commands(
                frame,
                1,
                vk::CommandBuffer::null(),
                &mut null_mut(),
                error
            ))
        },
        &|error| th!(execute_secondaries(commands, 1, null(), error)),
    ];
    for (index, function) in recorded.into_iter().enumerate() {
        let (status, message) = call(function).unwrap_err();
        assert_eq!(status, Status::ErrorNullPointer, "{index}: {message}");
    }
    let none = vk::CommandBuffer::null();
    let executed = call(|error| th!(execute_secondaries(commands, 1, &none, error)));
    assert_eq!(executed.unwrap_err().0, Status::ErrorNullPointer);
    let sizes: [Call<'_>; 4] = [
        &|error| {
            th!(begin_pass(
                commands,
                0,
                &mut PassCommands {
                    struct_size: 5,
                    ..sized()
                },
                error
            ))
        },
        &|error| {
            th!(get_bound_access(
                frame,
                0,
                0,
                &mut BoundAccess {
                    struct_size: 5,
                    ..sized()
                },
                error
            ))
        },
        &|error| {
            th!(get_pass_target(
                frame,
                0,
                0,
                &mut PassTarget {
                    struct_size: 5,
                    ..sized()
                },
                error
            ))
        },
        &|error| th!(select_frame(frame, desc, &mut size(), error)),
    ];
    for function in sizes {
        let (status, message) = call(function).unwrap_err();
        assert_eq!(status, Status::ErrorStructSize, "{message}");
    }
    // The pass has not begun.
    let (status, message) = call(|error| end_pass(commands, error)).unwrap_err();
    assert_eq!(status, Status::ErrorWrongState, "{message}");
    call(|error| discard_commands(commands, error)).unwrap();
    engine.end();
}

#[test]
fn options_and_modes_of_dynamic_frames_are_checked() {
    let engine = Engine::new(Config::modern());
    let device = engine.device;
    for (mode, words) in [(2, "TH_PLAN_MODE_IMPROVE"), (9, "ThPlanMode")] {
        let desc = DynamicFrameDesc {
            mode,
            device,
            ..sized()
        };
        let made: c::Result<DynamicFrameHandle> =
            get(|to, error| th!(create_dynamic_frame(&desc, to, error)));
        let (status, message) = made.unwrap_err();
        assert_eq!(status, Status::ErrorInvalidArgument);
        assert_says(message, &[words]);
    }
    let options = tileheap_c::plan::PlanOptionsDesc {
        strategy: 77,
        ..sized()
    };
    let desc = DynamicFrameDesc {
        device,
        options: &options,
        ..sized()
    };
    let made: c::Result<DynamicFrameHandle> = get(|to, error| th!(create_dynamic_frame(&desc, to, error)));
    assert_eq!(made.unwrap_err().0, Status::ErrorInvalidArgument);
    // A plan stays valid after the frame that it was selected for.
    engine.select().unwrap();
    let plan = get(|to, error| th!(create_selected_plan(engine.frame, to, error))).unwrap();
    engine.end();
    call(|_| destroy_plan(plan)).unwrap();
}

#[test]
fn after_a_selection_that_fails_nothing_is_selected() {
    let engine = Engine::new(Config::modern());
    engine.run().unwrap();
    // Still available after the frame was submitted.
    let target: c::Result<PassTarget> = fill(|to, error| th!(get_pass_target(engine.frame, 0, 0, to, error)));
    assert!(target.is_ok());
    let nameless: FrameDesc = sized();
    let failed = call(|error| th!(select_frame(engine.frame, &nameless, &mut sized(), error)));
    assert_eq!(failed.unwrap_err().0, Status::ErrorNullPointer);
    for (name, function) in &SHARED[3..7] {
        let (status, message) = call(|error| function(engine.frame, error)).unwrap_err();
        assert_eq!(status, Status::ErrorWrongState, "{name}");
        assert_says(message, &["thSelectFrame"]);
    }
    engine.run().unwrap();
    engine.end();
}
