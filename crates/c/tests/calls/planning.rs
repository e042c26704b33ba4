//! C gets the same results as Rust: frames, plans, tables, previous users, arrangements.

use std::ops::ControlFlow;
use std::ptr::null_mut;
use std::sync::Arc;

use tileheap::Checked;
use tileheap::arrange::{ArrangementCosts, SearchOptions, search};
use tileheap::frame::synthetic::{SyntheticDesc, synthetic};
use tileheap::frame::tables::{Access, PassKind};
use tileheap::frame::{AccessKind, Frame, import};
use tileheap::lower::{
    Aliasing, DeviceQueues, FamilyQueue, Lowered as Tables, LoweringDesc, aliasing, lower,
};
use tileheap::measure::estimate;
use tileheap::plan::{Ladder, Plan, PlanOptions, ResidencyStrategy, plan};
use tileheap::profile::DeviceProfile;
use tileheap_c::aliasing::*;
use tileheap_c::arrangement::*;
use tileheap_c::enums;
use tileheap_c::frame::*;
use tileheap_c::lowerer::*;
use tileheap_c::opaque::*;
use tileheap_c::plan::*;
use tileheap_c::status::Status;

use super::c::{self, call, fill, get, sized, slice, string, text};
use super::described::Described;

/// Frames of the test data, and drawn ones.
pub(crate) fn frames() -> Vec<Frame> {
    let data = [
        include_str!("../../../../tests/data/everything.json"),
        include_str!("../../../../tests/data/frames/granite_deferred_taa_bloom.json"),
        include_str!("../../../../tests/data/frames/khronos_local_read_deferred.json"),
        include_str!("../../../../tests/data/frames/qualcomm_tile_memory_sample.json"),
    ];
    let read = data.iter().map(|text| import::read(text, None).unwrap().frame);
    let drawn = (0..1000).map(|seed| synthetic(seed, SyntheticDesc::default()));
    let drawn: Vec<Frame> = drawn.filter(has_render_areas).take(40).collect();
    assert_eq!(drawn.len(), 40);
    read.chain(drawn).collect()
}

/// Returns true if every render pass has attachments or a declared area: C refuses others, which are most likely compute passes.
fn has_render_areas(frame: &Frame) -> bool {
    frame.pass_ids().all(|id| {
        let pass = frame.pass(id);
        let is_attached =
            |access: &Access| access.kind.is_attachment() || access.kind == AccessKind::InputAttachment;
        pass.kind != PassKind::Render
            || pass.render_area.is_some()
            || frame.accesses_of(id).iter().any(is_attached)
    })
}

/// The frame in C, through structures.
pub(crate) fn in_c(frame: &Frame) -> FrameHandle {
    let described = Described::new(frame);
    // SAFETY: the description is alive.
    unsafe { c::frame(&described.desc) }.unwrap_or_else(|fault| panic!("{}: {fault:?}", frame.name()))
}

fn rust_plan(frame: &Frame, options: &PlanOptions) -> Checked<Plan> {
    let profile = Arc::new(DeviceProfile::preset("adreno-830").unwrap());
    let needs = Arc::new(estimate(frame, &profile).unwrap());
    plan(frame, &needs, &profile, options).unwrap()
}

#[test]
fn structures_describe_every_field_of_a_frame() {
    for frame in frames() {
        let handle = in_c(&frame);
        // SAFETY: it can be written.
        let json = text(|to, error| unsafe { create_frame_text(handle, to, error) }).unwrap();
        assert_eq!(json, frame.to_json(), "{}", frame.name());
        // The same from the document.
        let again = c::frame_from_json(&json).unwrap();
        // SAFETY: it can be written.
        let from_json = text(|to, error| unsafe { create_frame_text(again, to, error) }).unwrap();
        assert_eq!(from_json, json);
        for handle in [handle, again] {
            call(|_| destroy_frame(handle)).unwrap();
        }
    }
}

#[test]
fn the_access_kinds_of_the_header_are_the_library_s() {
    let names = tileheap::frame::AccessKind::ALL.map(|kind| format!("{kind:?}"));
    let header = include_str!("../../include/tileheap.h");
    let start = header.find("TH_ENUM(ThAccessKind").unwrap();
    let constants = header[start..].lines().skip(1).take_while(|line| *line != "};");
    let constants: Vec<String> = constants
        .filter_map(|line| line.trim().strip_prefix("TH_ACCESS_KIND_"))
        .map(|name| name.trim_end_matches(',').replace('_', "").to_lowercase())
        .collect();
    assert_eq!(constants, names.map(|name| name.to_lowercase()));
}

#[test]
fn plans_and_their_arrays_are_those_of_rust() {
    let profile = c::profile("adreno-830");
    for frame in frames() {
        for (options, desc) in [
            (PlanOptions::default(), sized()),
            (
                PlanOptions {
                    strategy: ResidencyStrategy::Greedy,
                    ladder: Ladder::Off,
                    aliasing: false,
                    lazy: false,
                    budget: 500,
                    bin_cost: tileheap::units::Bytes::ZERO,
                    tile_limit: Some(tileheap::units::Bytes::mib(3)),
                    ..PlanOptions::default()
                },
                PlanOptionsDesc {
                    strategy: enums::Strategy::Greedy as u32,
                    ladder: enums::Ladder::Off as u32,
                    flags: enums::PlanFlag::NoAliasing as u32
                        | enums::PlanFlag::NoLazyMemory as u32
                        | enums::PlanFlag::NoBinCost as u32,
                    budget: 500,
                    tile_limit: 3 << 20,
                    ..sized()
                },
            ),
        ] {
            let expected = rust_plan(&frame, &options);
            let handle = in_c(&frame);
            let plan = c::plan(handle, profile, &desc).unwrap();
            let json = enums::ReportFormat::Json as u32;
            // SAFETY: it can be written.
            let written = text(|to, error| unsafe { create_plan_text(plan, json, to, error) }).unwrap();
            assert_eq!(written, expected.to_json());
            // SAFETY: it can be written.
            let written = text(|to, error| unsafe { create_plan_text(plan, 0, to, error) }).unwrap();
            assert_eq!(written, expected.to_string());
            arrays_are(plan, &expected);
            call(|error| check_plan(plan, error)).unwrap();
            call(|_| destroy_plan(plan)).unwrap();
            call(|_| destroy_frame(handle)).unwrap();
        }
    }
    call(|_| tileheap_c::profile::destroy_profile(profile)).unwrap();
}

fn arrays_are(handle: PlanHandle, plan: &Plan) {
    // SAFETY: it can be written.
    let arrays: PlanArrays = fill(|to, error| unsafe { get_plan(handle, to, error) }).unwrap();
    let placements = slice(arrays.placements, arrays.placement_count);
    assert_eq!(placements.len(), plan.placements.len());
    for (row, placement) in placements.iter().zip(&plan.placements) {
        let object = placement.object.map_or(u32::MAX, |object| object.index() as u32);
        assert_eq!(
            (row.resource as usize, row.object),
            (placement.resource.index(), object)
        );
        assert_eq!((row.offset, row.size), (placement.offset.0, placement.size.0));
        assert_eq!(
            (row.first_pass, row.end_pass),
            (placement.span.first.0, placement.span.end.0)
        );
        assert_eq!(row.memory, placement.memory);
    }
    for (id, row) in plan
        .frame
        .resource_ids()
        .zip(slice(arrays.resources, arrays.resource_count))
    {
        assert_eq!(row.placements, plan.resources[id.index()].placements);
        // SAFETY: it can be written.
        let reason = get(|to, error| unsafe { get_placement_reason(handle, id.index() as u32, to, error) });
        assert_eq!(string(reason.unwrap()), plan.reason_text(id));
    }
    let objects = slice(arrays.objects, arrays.object_count);
    let sizes: Vec<_> = plan
        .objects
        .iter()
        .map(|object| (object.memory, object.memory_type, object.size.0))
        .collect();
    let of_c: Vec<_> = objects
        .iter()
        .map(|object| (object.memory, object.memory_type, object.size))
        .collect();
    assert_eq!(of_c, sizes);
    let bound: Vec<_> = plan
        .passes
        .iter()
        .map(|pass| pass.bound_object.map_or(u32::MAX, |one| one.index() as u32))
        .collect();
    let of_c: Vec<_> = slice(arrays.passes, arrays.pass_count)
        .iter()
        .map(|pass| pass.tile_memory)
        .collect();
    assert_eq!(of_c, bound);
    // SAFETY: it can be written.
    let totals: PlanTotals = fill(|to, error| unsafe { get_plan_totals(handle, to, error) }).unwrap();
    assert_eq!(totals.on_chip_bytes, plan.totals.on_chip_bytes.0);
    assert_eq!(totals.dram_bytes, plan.dram_traffic().0);
}

/// Checks that the arrays equal the tables.
fn tables_are(lowered: &Lowered, tables: &Tables) {
    macro_rules! same {
        ($($table:ident: $count:ident;)*) => {$(
            assert_eq!(slice(lowered.$table, lowered.$count), &tables.$table[..], stringify!($table));
        )*};
    }
    same! {
        queues: queue_count; memory: memory_count; images: image_count; buffers: buffer_count; views: view_count;
        families: family_count; formats: format_count; accesses: access_count; attachments: attachment_count;
        references: reference_count; indices: index_count; subpass_dependencies: subpass_dependency_count;
        subpasses: subpass_count; instances: instance_count; clears: clear_count; stores: store_count;
        passes: pass_count; image_barriers: image_barrier_count; buffer_barriers: buffer_barrier_count;
        memory_barriers: memory_barrier_count; command_buffers: command_buffer_count; waits: wait_count;
        signals: signal_count; batches: batch_count; submits: submit_count;
    }
    assert_eq!(
        slice(lowered.byte_uses, lowered.byte_use_count),
        &tables.after.bytes[..]
    );
    assert_eq!(
        slice(lowered.contents, lowered.content_count),
        &tables.after.contents[..]
    );
}

#[test]
fn tables_of_frame_after_frame_are_those_of_rust() {
    let profile = c::profile("adreno-830");
    // SAFETY: they can be written.
    let lowerers = [0, 1].map(|_| get(|to, error| unsafe { create_lowerer(to, error) }).unwrap());
    for (number, frame) in frames().into_iter().enumerate() {
        let expected = rust_plan(&frame, &PlanOptions::default());
        let handle = in_c(&frame);
        let plan = c::plan(handle, profile, &sized()).unwrap();
        let families: Vec<FamilyQueue> = (0..frame.queues().len() as u32)
            .map(|family| FamilyQueue {
                family: family % 2,
                index: 0,
            })
            .collect();
        let mut lowering_desc = LoweringDesc::first(DeviceQueues::new(&families));
        let mut before: Option<Vec<tileheap::lower::tables::objects::ImageRow>> = None;
        for turn in 0..4 {
            let tables = match lower(&expected, &lowering_desc) {
                Ok(tables) => tables,
                Err(error) => {
                    // Such as local read without dynamic rendering: C has the same error.
                    let desc = LowerDesc {
                        plan,
                        ..desc(&families)
                    };
                    // SAFETY: everything is alive.
                    let fault = fill(|to, error| unsafe {
                        tileheap_c::lowerer::lower(lowerers[0], &desc, to, error)
                    });
                    let (status, message) = fault.map(|_: Lowered| ()).unwrap_err();
                    assert_eq!((status, message), (Status::ErrorCannotLower, error.to_string()));
                    break;
                }
            };
            // One lowerer for all frames, or two alternating ones.
            let (own, other) = match number % 2 {
                0 => (lowerers[0], lowerers[0]),
                _ => (lowerers[turn % 2], lowerers[(turn + 1) % 2]),
            };
            let previous = if turn == 0 { null_mut() } else { other };
            let desc = LowerDesc {
                plan,
                previous,
                ..desc(&families)
            };
            // SAFETY: everything is alive.
            let lowered: Lowered =
                fill(|to, error| unsafe { tileheap_c::lowerer::lower(own, &desc, to, error) }).unwrap();
            tables_are(&lowered, &tables);
            let queues: Vec<FamilyQueue> = lowering_desc.queues.iter().collect();
            assert_eq!(slice(lowered.device_queues, lowered.device_queue_count), queues);
            call(|error| check_lowered(own, error)).unwrap();
            let json = enums::ReportFormat::Json as u32;
            // SAFETY: it can be written.
            let written = text(|to, error| unsafe { create_lowered_text(own, json, to, error) }).unwrap();
            assert_eq!(written, tables.to_json(&frame, &lowering_desc));
            // The header promises this.
            let images = slice(lowered.images, lowered.image_count).to_vec();
            assert!(before.is_none_or(|before| before == images), "{}", frame.name());
            before = Some(images);
            lowering_desc = lowering_desc.after(&tables);
        }
        call(|_| destroy_plan(plan)).unwrap();
        call(|_| destroy_frame(handle)).unwrap();
    }
    for lowerer in lowerers {
        call(|_| destroy_lowerer(lowerer)).unwrap();
    }
    call(|_| tileheap_c::profile::destroy_profile(profile)).unwrap();
}

fn desc(queues: &[FamilyQueue]) -> LowerDesc {
    LowerDesc {
        queue_count: queues.len() as u32,
        queues: queues.as_ptr(),
        ..sized()
    }
}

#[test]
fn previous_users_are_those_of_rust() {
    let profile = c::profile("adreno-830");
    let mut refused = 0;
    for frame in frames() {
        let ladder = Ladder::Off;
        let expected = rust_plan(
            &frame,
            &PlanOptions {
                ladder,
                ..PlanOptions::default()
            },
        );
        let handle = in_c(&frame);
        let off = enums::Ladder::Off as u32;
        let plan = c::plan(
            handle,
            profile,
            &PlanOptionsDesc {
                ladder: off,
                ..sized()
            },
        )
        .unwrap();
        // The default options permit ladders, whether the plan has one or not.
        let ladders = c::plan(handle, profile, &sized()).unwrap();
        let desc = AliasingDesc {
            plan: ladders,
            ..sized()
        };
        // SAFETY: it can be written.
        let fault = get(|to, error| unsafe { create_aliasing(&desc, to, error) }).unwrap_err();
        assert_eq!(fault.0, Status::ErrorCannotLower, "{fault:?}");
        assert!(fault.1.contains("TH_LADDER_OFF"), "{fault:?}");
        call(|_| destroy_plan(ladders)).unwrap();
        // SAFETY: it can be written.
        let found = get(|to, error| unsafe { create_aliasing(&AliasingDesc { plan, ..sized() }, to, error) });
        match (aliasing(&expected, &DeviceQueues::single_queue(&frame)), found) {
            (
                Ok(Aliasing {
                    placements,
                    previous,
                    tile_memory,
                }),
                Ok(handle),
            ) => {
                // SAFETY: it can be written.
                let arrays: AliasingArrays =
                    fill(|to, error| unsafe { get_aliasing(handle, to, error) }).unwrap();
                assert_eq!(slice(arrays.placements, arrays.placement_count), placements);
                assert_eq!(slice(arrays.previous, arrays.previous_count), previous);
                assert_eq!(slice(arrays.tile_memory, arrays.tile_memory_count), tile_memory);
                // SAFETY: it can be written.
                let written =
                    text(|to, error| unsafe { create_aliasing_text(handle, 0, to, error) }).unwrap();
                assert_eq!(
                    written
                        .lines()
                        .filter(|line| line.contains(" in object "))
                        .count(),
                    placements.len()
                );
                call(|_| destroy_aliasing(handle)).unwrap();
            }
            (Err(error), Err(fault)) => {
                refused += 1;
                assert_eq!(fault, (Status::ErrorCannotLower, error.to_string()));
            }
            (rust, c) => panic!("{}: {rust:?}, {c:?}", frame.name()),
        }
        call(|_| destroy_plan(plan)).unwrap();
        call(|_| destroy_frame(handle)).unwrap();
    }
    assert!(refused < 10);
    call(|_| tileheap_c::profile::destroy_profile(profile)).unwrap();
}

unsafe extern "C" fn count(traffic: *const Traffic, calls: *mut std::ffi::c_void) -> u32 {
    // SAFETY: the search passes the pointer that it was given.
    let calls = unsafe { &mut *calls.cast::<u32>() };
    // SAFETY: valid during the call.
    assert!(unsafe { (*traffic).share } <= 1.0);
    *calls += 1;
    // The search ends at the second call.
    u32::from(*calls < 2)
}

#[test]
fn searches_find_what_rust_finds_and_end_when_asked() {
    let profile = c::profile("adreno-830");
    let improved = |plan: &Plan| {
        let found = search(
            plan,
            &SearchOptions::default(),
            &mut |_| ControlFlow::Continue(()),
        );
        found.traffic.share() > found.described.share()
    };
    let mut candidates = frames()
        .into_iter()
        .map(|frame| (rust_plan(&frame, &PlanOptions::default()), frame));
    let (expected, frame) = &candidates
        .find(|(plan, _)| improved(plan))
        .expect("a frame to improve");
    let handle = in_c(frame);
    let plan = c::plan(handle, profile, &sized()).unwrap();
    let limits = SearchDesc {
        steps: 4_000,
        ..sized()
    };
    // SAFETY: it can be written.
    let found = get(|to, error| unsafe { create_arrangement(plan, &limits, to, error) }).unwrap();
    let allowed = SearchOptions {
        steps: 4_000,
        costs: ArrangementCosts::of(&expected.profile),
        ..SearchOptions::default()
    };
    let of_rust = search(expected, &allowed, &mut |_| ControlFlow::Continue(()));
    let json = enums::ReportFormat::Json as u32;
    // SAFETY: it can be written.
    let written = text(|to, error| unsafe { create_arrangement_text(found, json, to, error) }).unwrap();
    assert_eq!(written, of_rust.arrangement.to_json(frame));
    // SAFETY: it can be written.
    let info: ArrangementInfo = fill(|to, error| unsafe { get_arrangement_info(found, to, error) }).unwrap();
    assert_eq!(info.arranged.share, of_rust.traffic.share());
    assert!(info.arranged.share > info.described.share);

    // The arranged frame is planned like any other, and maps back to the described one.
    // SAFETY: it can be written.
    let arranged = get(|to, error| unsafe { create_arranged_frame(found, to, error) }).unwrap();
    // SAFETY: it can be written.
    let arrays: ArrangementArrays = fill(|to, error| unsafe { get_arrangement(found, to, error) }).unwrap();
    // SAFETY: it can be written.
    let size: FrameInfo = fill(|to, error| unsafe { get_frame_info(arranged, to, error) }).unwrap();
    assert_eq!(
        (arrays.pass_count, arrays.resource_count),
        (size.pass_count, size.resource_count)
    );
    let described = slice(arrays.described, arrays.described_count);
    for pass in slice(arrays.passes, arrays.pass_count) {
        assert!(pass.strip < pass.strip_count);
        for one in pass.described.of(described) {
            assert!((one.pass as usize) < frame.passes().len());
        }
    }
    let arranged_plan = c::plan(arranged, profile, &sized()).unwrap();

    // The same from the document.
    let from_json = |text: &str| {
        // SAFETY: the text is alive.
        get(|to, error| unsafe { create_arrangement_from_json(plan, c::view(text), to, error) })
    };
    let again = from_json(&written).unwrap();
    // SAFETY: it can be written.
    let same: ArrangementInfo = fill(|to, error| unsafe { get_arrangement_info(again, to, error) }).unwrap();
    assert_eq!(same.arranged.share, info.arranged.share);
    assert_eq!(from_json("{").unwrap_err().0, Status::ErrorInvalidDocument);

    let mut calls = 0_u32;
    let watched = SearchDesc {
        progress: Some(count),
        user_data: (&raw mut calls).cast(),
        ..sized()
    };
    // SAFETY: it can be written; `calls` outlives the search.
    let ended = get(|to, error| unsafe { create_arrangement(plan, &watched, to, error) }).unwrap();
    assert_eq!(calls, 2);
    for arrangement in [found, again, ended] {
        call(|_| destroy_arrangement(arrangement)).unwrap();
    }
    for plan in [plan, arranged_plan] {
        call(|_| destroy_plan(plan)).unwrap();
    }
    for frame in [handle, arranged] {
        call(|_| destroy_frame(frame)).unwrap();
    }
    call(|_| tileheap_c::profile::destroy_profile(profile)).unwrap();
}

#[test]
fn a_planner_finds_known_frames_again() {
    let profile = c::profile("adreno-830");
    let frame = in_c(&frames()[1]);
    let requirements = c::estimated(frame, profile).unwrap();
    // SAFETY: it can be written.
    let planner = get(|to, error| unsafe { create_planner(to, error) }).unwrap();
    let made: Vec<PlanHandle> = [
        enums::PlanMode::Now,
        enums::PlanMode::Plan,
        enums::PlanMode::Improve,
        enums::PlanMode::Plan,
    ]
    .map(|mode| {
        let desc = PlanDesc {
            mode: mode as u32,
            frame,
            requirements,
            profile,
            planner,
            ..sized()
        };
        // SAFETY: everything is alive.
        get(|to, error| unsafe { create_plan(&desc, to, error) }).unwrap()
    })
    .to_vec();
    let value = |plan: PlanHandle| {
        // SAFETY: it can be written.
        let totals: PlanTotals = fill(|to, error| unsafe { get_plan_totals(plan, to, error) }).unwrap();
        totals.on_chip_bytes
    };
    assert!(value(made[1]) >= value(made[0]) && value(made[2]) >= value(made[1]));
    let equal = |one, other| {
        // SAFETY: it can be written.
        get(|to, error| unsafe { compare_plans(one, other, to, error) }).unwrap() == 1
    };
    assert!(equal(made[2], made[3]), "a known frame has the known plan");
    // A plan that was made elsewhere replaces a fast one.
    // SAFETY: it can be written.
    let other = get(|to, error| unsafe { create_planner(to, error) }).unwrap();
    let now = PlanDesc {
        mode: enums::PlanMode::Now as u32,
        frame,
        requirements,
        profile,
        planner: other,
        ..sized()
    };
    // SAFETY: everything is alive.
    let plan_now = || get(|to, error| unsafe { create_plan(&now, to, error) }).unwrap();
    let fast = plan_now();
    // SAFETY: it can be written.
    let adopted = get(|to, error| unsafe { adopt_plan(other, made[1], to, error) });
    assert_eq!(adopted.unwrap(), 1);
    let adopted = plan_now();
    assert!(equal(adopted, made[1]));
    for plan in [fast, adopted] {
        call(|_| destroy_plan(plan)).unwrap();
    }
    call(|_| destroy_planner(other)).unwrap();
    for plan in made {
        call(|_| destroy_plan(plan)).unwrap();
    }
    call(|_| destroy_planner(planner)).unwrap();
    call(|_| tileheap_c::requirements::destroy_requirements(requirements)).unwrap();
    call(|_| destroy_frame(frame)).unwrap();
    call(|_| tileheap_c::profile::destroy_profile(profile)).unwrap();
}
