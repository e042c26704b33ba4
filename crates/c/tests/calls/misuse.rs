//! Misuse returns a status and a message, and never crashes.

use std::ptr::{null, null_mut};

use ash::vk;
use tileheap_c::enums::{AccessKind, PassFlag};
use tileheap_c::frame::*;
use tileheap_c::lowerer::*;
use tileheap_c::opaque::*;
use tileheap_c::plan::*;
use tileheap_c::profile::*;
use tileheap_c::status::Status;
use tileheap_c::strings::*;
use tileheap_c::text::*;
use tileheap_testkit::assert_says;

use super::c::{self, call, fill, get, sized, view};
use super::small::{Small, small};

type Change = fn(&mut Small);

#[test]
fn structures_of_other_sizes_are_refused() {
    type SetSize = fn(&mut Small, u32);
    let sizes: [(SetSize, &str); 4] = [
        (|small, size| small.frame.struct_size = size, "ThFrameDesc"),
        (
            |small, size| small.resources[0].struct_size = size,
            "ThResourceDesc",
        ),
        (|small, size| small.passes[0].struct_size = size, "ThPassDesc"),
        (|small, size| small.first[0].struct_size = size, "ThAccessDesc"),
    ];
    for (set, name) in sizes {
        for size in [0, 4, 8, 5000, u32::MAX] {
            let mut wrong = small();
            set(&mut wrong, size);
            let (status, message) = wrong.create().unwrap_err();
            assert_eq!(status, Status::ErrorStructSize, "{message}");
            assert_says(message, &[name, &size.to_string(), "sizeof"]);
        }
    }
    // The element of an array is named.
    let mut second = small();
    second.resources[1].struct_size = 0;
    assert_says(
        second.create().unwrap_err().1,
        &["ThFrameDesc.resources[1]: structSize of ThResourceDesc is 0"],
    );
    let mut access = small();
    access.second[1].struct_size = 0;
    assert_says(
        access.create().unwrap_err().1,
        &["pass `lighting`: ThFrameDesc.passes[1].accesses[1]: structSize of ThAccessDesc is 0"],
    );
    // The elements of an array have one size.
    let mut mixed = small();
    mixed.resources[1].struct_size += 8;
    assert_says(
        mixed.create().unwrap_err().1,
        &["ThFrameDesc.resources[1]", "that of element 0 is"],
    );
}

/// A structure of a newer header.
#[repr(C)]
struct Newer<T> {
    known: T,
    new: [u64; 2],
}

#[test]
fn structures_of_newer_headers_are_read_as_long_as_their_new_fields_are_zero() {
    let mut small = small();
    let frame = small.create().unwrap();
    let profile = c::profile("adreno-830");
    let requirements = c::estimated(frame, profile).unwrap();
    let mut newer = Newer {
        known: PlanDesc {
            struct_size: size_of::<Newer<PlanDesc>>() as u32,
            frame,
            requirements,
            profile,
            ..sized()
        },
        new: [0; 2],
    };
    // SAFETY: the structure is as large as it says.
    let plan = get(|to, error| unsafe { create_plan((&raw const newer).cast(), to, error) }).unwrap();
    newer.new[1] = 1;
    // SAFETY: as above.
    let refused =
        get(|to: *mut PlanHandle, error| unsafe { create_plan((&raw const newer).cast(), to, error) });
    let (status, message) = refused.unwrap_err();
    assert_eq!(status, Status::ErrorStructSize);
    assert_says(message, &["newer header", "ThPlanDesc"]);

    // Fields of a result that the library does not know are set to zero.
    let mut totals = Newer {
        known: PlanTotals {
            struct_size: size_of::<Newer<PlanTotals>>() as u32,
            ..sized()
        },
        new: [u64::MAX; 2],
    };
    // SAFETY: as above.
    call(|error| unsafe { get_plan_totals(plan, (&raw mut totals).cast(), error) }).unwrap();
    assert_eq!(totals.new, [0; 2]);
    assert_eq!(totals.known.struct_size as usize, size_of::<Newer<PlanTotals>>());
    call(|_| destroy_plan(plan)).unwrap();
    call(|_| tileheap_c::requirements::destroy_requirements(requirements)).unwrap();
    call(|_| destroy_frame(frame)).unwrap();
    call(|_| destroy_profile(profile)).unwrap();
}

#[test]
fn wrong_numbers_in_descriptions_name_the_pass_or_resource() {
    type Case<'a> = (Change, Status, &'a [&'a str]);
    let wrong: [Case<'_>; 27] = [
        (
            |s| s.second[1] = s.second[0],
            Status::ErrorInvalidFrame,
            &["pass `lighting`: it has no attachments", "TH_PASS_TYPE_COMPUTE"],
        ),
        (
            // The reason why it has none is more helpful.
            |s| (s.second[1].kind, s.second[1].resource) = (AccessKind::UniformBuffer as u32, 1),
            Status::ErrorInvalidFrame,
            &["`lighting`", "`lit`", "buffer"],
        ),
        (
            |s| s.second[0].resource = 2,
            Status::ErrorInvalidArgument,
            &["`lighting`", "resource 2", "has 2 resources"],
        ),
        (
            |s| s.second[0].kind = 99,
            Status::ErrorInvalidArgument,
            &["`lighting`", "kind is 99", "ThAccessKind has the values 0 to 17"],
        ),
        (
            |s| s.first[0].flags = 1 << 9,
            Status::ErrorInvalidArgument,
            &["`gbuffer`", "ThAccessFlag", "0x200"],
        ),
        (
            |s| s.second[1].subpass = u32::MAX,
            Status::ErrorInvalidArgument,
            &["`lighting`", "subpass"],
        ),
        (
            |s| s.second[0].subpass = 1,
            Status::ErrorInvalidArgument,
            &["`lighting`", "in the order of their subpasses"],
        ),
        (
            |s| s.first[0].load_op = vk::AttachmentLoadOp::from_raw(7),
            Status::ErrorInvalidArgument,
            &["accesses[0].loadOp is 7"],
        ),
        (
            |s| s.first[0].kind = AccessKind::StorageImage as u32,
            Status::ErrorInvalidArgument,
            &["TH_ACCESS_FLAG_READ"],
        ),
        (
            |s| s.first[0].kind = AccessKind::VertexBuffer as u32,
            Status::ErrorInvalidFrame,
            &["`gbuffer`", "`albedo`"],
        ),
        (
            |s| s.passes[1].pass_type = 3,
            Status::ErrorInvalidArgument,
            &["`lighting`", "ThPassType"],
        ),
        (
            |s| s.passes[1].flags = 64,
            Status::ErrorInvalidArgument,
            &["ThPassFlag"],
        ),
        (
            |s| s.passes[1].skipped_outputs = 3,
            Status::ErrorInvalidArgument,
            &["ThSkippedOutputs"],
        ),
        (
            |s| s.passes[1].name = view("gbuffer"),
            Status::ErrorInvalidFrame,
            &["`gbuffer`"],
        ),
        (
            |s| s.passes[1].name = view("\u{7}"),
            Status::ErrorInvalidFrame,
            &["name"],
        ),
        (
            |s| s.resources[0].resource_type = 2,
            Status::ErrorInvalidArgument,
            &["`albedo`", "ThResourceType"],
        ),
        (
            |s| s.resources[0].flags = 6,
            Status::ErrorInvalidArgument,
            &["`albedo`", "both 1D and 3D"],
        ),
        (
            |s| (s.second[0].flags, s.second[0].view_type) = (1 << 3, vk::ImageViewType::from_raw(99)),
            Status::ErrorInvalidArgument,
            &["pass `lighting`: ThFrameDesc.passes[1].accesses[0].viewType is 99"],
        ),
        (
            |s| s.second[1].subpass = 2,
            Status::ErrorInvalidArgument,
            &["`lighting`", "subpass is 2", "needs an access"],
        ),
        (
            |s| s.resources[0].extent.width = 4,
            Status::ErrorInvalidArgument,
            &["extent and scale"],
        ),
        (
            |s| s.resources[0].scale = [0.0; 2],
            Status::ErrorInvalidArgument,
            &["`albedo`", "has neither extent nor scale"],
        ),
        (
            |s| s.frame.base_extent = vk::Extent2D::default(),
            Status::ErrorInvalidFrame,
            &["`albedo`", "base extent, which is 0 x 0"],
        ),
        (
            |s| s.resources[0].scale = [f32::NAN, 1.0],
            Status::ErrorInvalidFrame,
            &["`albedo`"],
        ),
        (
            |s| s.resources[0].format = vk::Format::from_raw(-5),
            Status::ErrorInvalidFrame,
            &["`albedo`"],
        ),
        (
            |s| s.resources[0].persistence = 9,
            Status::ErrorInvalidArgument,
            &["ThPersistence"],
        ),
        (
            |s| s.second[0].range.base_array_layer = u32::MAX,
            Status::ErrorInvalidArgument,
            &["`lighting`", "layer 4294967295", "has 1 layer"],
        ),
        (
            |s| s.second[0].range.layer_count = 3,
            Status::ErrorInvalidFrame,
            &["`lighting`", "layers", "`albedo`"],
        ),
    ];
    for (number, (change, status, words)) in wrong.into_iter().enumerate() {
        let mut frame = small();
        change(&mut frame);
        let Err(fault) = frame.create() else {
            panic!("{number} is accepted");
        };
        assert_eq!(fault.0, status, "{number}: {}", fault.1);
        assert_says(fault.1, words);
    }
    // A render pass without attachments has to declare its area.
    let mut frame = small();
    frame.second[1] = frame.second[0];
    frame.passes[1].flags = PassFlag::RenderArea as u32;
    frame.passes[1].render_area.extent = frame.frame.base_extent;
    destroy_frame(frame.create().unwrap());
}

#[test]
fn null_pointers_are_named() {
    let null_of: [(Change, &str); 3] = [
        (
            |s| {
                s.frame.name = StringView {
                    data: null(),
                    length: 4,
                }
            },
            "ThFrameDesc.name is null, but its length is 4",
        ),
        (
            |s| {
                s.passes[1].name = StringView {
                    data: null(),
                    length: 0,
                }
            },
            "ThFrameDesc.passes[1].name is null",
        ),
        (
            |s| {
                s.resources[1].name = StringView {
                    data: null(),
                    length: 0,
                }
            },
            "ThFrameDesc.resources[1].name is null",
        ),
    ];
    for (set, name) in null_of {
        let mut frame = small();
        set(&mut frame);
        let (status, message) = frame.create().unwrap_err();
        assert_eq!(status, Status::ErrorNullPointer, "{message}");
        assert_says(message, &[name]);
    }
    let mut desc = small().frame;
    (desc.resources, desc.resource_count) = (null(), 3);
    // SAFETY: the arrays are null.
    let (status, message) = unsafe { c::frame(&desc) }.unwrap_err();
    assert_eq!(status, Status::ErrorNullPointer);
    assert_says(
        message,
        &["ThFrameDesc.resources is null, but resourceCount is 3"],
    );
    let mut unlisted = small();
    (unlisted.passes[0].accesses, unlisted.passes[0].access_count) = (null(), 4);
    (unlisted.frame.passes, unlisted.frame.pass_count) = (unlisted.passes.as_ptr(), 2);
    (unlisted.frame.resources, unlisted.frame.resource_count) = (unlisted.resources.as_ptr(), 2);
    // SAFETY: everything else is alive.
    let (_, message) = unsafe { c::frame(&unlisted.frame) }.unwrap_err();
    assert_says(
        message,
        &["pass `gbuffer`: ThFrameDesc.passes[0].accesses is null, but accessCount is 4"],
    );
    desc.resource_count = u32::MAX;
    // SAFETY: as above.
    let (status, _) = unsafe { c::frame(&desc) }.unwrap_err();
    assert_eq!(status, Status::ErrorInvalidArgument);
    // SAFETY: null pointers are what is tried.
    let (status, _) = unsafe { c::frame(null()) }.unwrap_err();
    assert_eq!(status, Status::ErrorNullPointer);
    // SAFETY: as above.
    assert_eq!(unsafe { create_error(null_mut()) }, Status::ErrorNullPointer);
    let desc = small().frame;
    // SAFETY: as above.
    let status = unsafe { create_frame(&desc, null_mut(), null_mut()) };
    assert_eq!(status, Status::ErrorNullPointer);
    // SAFETY: as above.
    let status = unsafe { create_profile(view("adreno-830"), null_mut(), null_mut()) };
    assert_eq!(status, Status::ErrorNullPointer);
    // SAFETY: as above.
    let status = unsafe { create_lowerer(null_mut(), null_mut()) };
    assert_eq!(status, Status::ErrorNullPointer);
    // Text that is not UTF-8.
    let bytes = [0xff_u8, 0xfe];
    let name = StringView {
        data: bytes.as_ptr().cast(),
        length: 2,
    };
    // SAFETY: the text is alive.
    let fault = get(|to: *mut ProfileHandle, error| unsafe { create_profile(name, to, error) }).unwrap_err();
    assert_says(fault.1, &["not UTF-8"]);
    // A string that ends in zero.
    let name = StringView {
        data: c"hostile".as_ptr(),
        length: usize::MAX,
    };
    // SAFETY: the text is alive.
    let profile = get(|to, error| unsafe { create_profile(name, to, error) }).unwrap();
    call(|_| destroy_profile(profile)).unwrap();
}

#[test]
fn destroyed_and_foreign_handles_are_refused() {
    let frame = small().create().unwrap();
    let profile = c::profile("adreno-830");
    let plan = c::plan(frame, profile, &sized()).unwrap();
    // SAFETY: it can be written.
    let lowerer = get(|to, error| unsafe { create_lowerer(to, error) }).unwrap();
    let heap = Box::new([0_u64; 4]);
    let foreign = |address: usize| std::ptr::without_provenance_mut::<PlanT>(address);
    let wrong: [(PlanHandle, &str); 5] = [
        (null_mut(), "is null"),
        (frame.cast(), "is a ThFrame"),
        (lowerer.cast(), "is a ThLowerer"),
        (foreign(&raw const *heap as usize), "not created by this library"),
        (foreign(usize::MAX), "not created by this library"),
    ];
    for (plan, words) in wrong {
        for fault in [
            call(|error| check_plan(plan, error)).unwrap_err(),
            // SAFETY: it can be written.
            fill(|to, error| unsafe { get_plan(plan, to, error) })
                .map(|_: PlanArrays| ())
                .unwrap_err(),
            // SAFETY: everything is alive but the plan.
            fill(|to, error| unsafe { lower(lowerer, &LowerDesc { plan, ..sized() }, to, error) })
                .map(|_: Lowered| ())
                .unwrap_err(),
        ] {
            assert_eq!(fault.0, Status::ErrorInvalidHandle);
            assert_says(fault.1, &[words, "expected a ThPlan"]);
        }
    }
    call(|_| destroy_plan(plan)).unwrap();
    assert_says(
        call(|error| check_plan(plan, error)).unwrap_err().1,
        &["was destroyed"],
    );
    assert_eq!(
        call(|_| destroy_plan(plan)).unwrap_err().0,
        Status::ErrorInvalidHandle
    );
    // Nothing to destroy.
    call(|_| destroy_plan(null_mut())).unwrap();
    assert_eq!(destroy_error(null_mut()), Status::Success);
    // An error object that is not one: the function fails as it would, without a message.
    assert_eq!(check_plan(plan, frame.cast()), Status::ErrorInvalidHandle);
    assert_eq!(destroy_error(frame.cast()), Status::ErrorInvalidHandle);

    call(|_| destroy_lowerer(lowerer)).unwrap();
    call(|_| destroy_frame(frame)).unwrap();
    call(|_| destroy_profile(profile)).unwrap();
}

#[test]
fn objects_outlive_the_handles_of_what_they_were_made_from() {
    let frame = small().create().unwrap();
    let profile = c::profile("adreno-830");
    let plan = c::plan(frame, profile, &sized()).unwrap();
    call(|_| destroy_frame(frame)).unwrap();
    call(|_| destroy_profile(profile)).unwrap();
    // SAFETY: it can be written.
    let lowerer = get(|to, error| unsafe { create_lowerer(to, error) }).unwrap();
    let first = LowerDesc { plan, ..sized() };
    // SAFETY: everything is alive.
    let _: Lowered = fill(|to, error| unsafe { lower(lowerer, &first, to, error) }).unwrap();
    call(|_| destroy_plan(plan)).unwrap();
    call(|error| check_lowered(lowerer, error)).unwrap();
    call(|_| destroy_lowerer(lowerer)).unwrap();
}

#[test]
fn tables_follow_only_tables_of_the_same_plan() {
    let frame = small().create().unwrap();
    let profile = c::profile("adreno-830");
    let off = PlanOptionsDesc {
        strategy: 4,
        ..sized()
    };
    let plans = [
        c::plan(frame, profile, &sized()).unwrap(),
        c::plan(frame, profile, &off).unwrap(),
    ];
    // SAFETY: it can be written.
    let lowerer = get(|to, error| unsafe { create_lowerer(to, error) }).unwrap();
    let after = |plan, previous| {
        let desc = LowerDesc {
            plan,
            previous,
            ..sized()
        };
        // SAFETY: everything is alive.
        fill(|to, error| unsafe { lower(lowerer, &desc, to, error) }).map(|_: Lowered| ())
    };
    assert_says(after(plans[0], lowerer).unwrap_err().1, &["no tables"]);
    after(plans[0], null_mut()).unwrap();
    assert_says(after(plans[1], lowerer).unwrap_err().1, &["another plan"]);
    // The tables are still there.
    after(plans[0], lowerer).unwrap();
    let two = [tileheap::lower::FamilyQueue { family: 0, index: 0 }; 2];
    let desc = LowerDesc {
        plan: plans[0],
        queue_count: 2,
        queues: two.as_ptr(),
        ..sized()
    };
    // SAFETY: everything is alive.
    let (status, message) = fill(|to: *mut Lowered, error| unsafe { lower(lowerer, &desc, to, error) })
        .map(|_| ())
        .unwrap_err();
    assert_eq!(status, Status::ErrorCannotLower, "{message}");
    // SAFETY: it can be written.
    assert_says(
        fill(|to: *mut Lowered, error| unsafe { get_lowered(lowerer, to, error) })
            .map(|_| ())
            .unwrap_err()
            .1,
        &["no tables"],
    );
    for plan in plans {
        call(|_| destroy_plan(plan)).unwrap();
    }
    call(|_| destroy_lowerer(lowerer)).unwrap();
    call(|_| destroy_frame(frame)).unwrap();
    call(|_| destroy_profile(profile)).unwrap();
}

#[test]
fn random_numbers_in_descriptions_are_never_a_defect() {
    use tileheap::units::SplitMix64;
    let profile = c::profile("adreno-830");
    let mut planned = 0;
    for seed in 0..4_200 {
        let mut random = SplitMix64::new(seed);
        let mut small = small();
        for _ in 0..1 + random.below(3) {
            let value = match random.below(4) {
                0 => random.next_u64() as u32,
                1 => u32::MAX,
                _ => random.below(9) as u32,
            };
            let resource = random.below(2) as usize;
            let resource = &mut small.resources[resource];
            let access = &mut small.second[0];
            match random.below(20) {
                0 => resource.resource_type = value,
                1 => resource.persistence = value,
                2 => resource.format = vk::Format::from_raw(value as i32),
                3 => (resource.scale, resource.extent.width, resource.extent.height) = ([0.0; 2], value, 64),
                4 => resource.extent.depth = value,
                5 => resource.mip_levels = value,
                6 => resource.array_layers = value,
                7 => resource.samples = vk::SampleCountFlags::from_raw(value),
                8 => resource.image_usage = vk::ImageUsageFlags::from_raw(value),
                9 => resource.image_flags = vk::ImageCreateFlags::from_raw(value),
                10 => resource.flags = value,
                11 => access.kind = value,
                12 => access.flags = value,
                13 => access.range.base_mip_level = value,
                14 => access.range.level_count = value,
                15 => access.range.layer_count = value,
                16 => access.subpass = value,
                17 => small.passes[1].pass_type = value,
                18 => small.passes[1].view_mask = value,
                _ => (small.passes[1].flags, small.passes[1].render_area.extent.width) = (value, value),
            }
        }
        let fault = match small.create() {
            Err(fault) => Some(fault),
            Ok(frame) => {
                let plan = c::plan(frame, profile, &sized());
                call(|_| destroy_frame(frame)).unwrap();
                match plan {
                    Err(fault) => Some(fault),
                    Ok(plan) => {
                        planned += 1;
                        // SAFETY: it can be written.
                        let lowerer = get(|to, error| unsafe { create_lowerer(to, error) }).unwrap();
                        let desc = LowerDesc { plan, ..sized() };
                        // SAFETY: everything is alive.
                        let lowered = fill(|to, error| unsafe { lower(lowerer, &desc, to, error) });
                        call(|_| destroy_lowerer(lowerer)).unwrap();
                        call(|_| destroy_plan(plan)).unwrap();
                        lowered.map(|_: Lowered| ()).err()
                    }
                }
            }
        };
        if let Some((status, message)) = fault {
            assert_ne!(status, Status::ErrorInternal, "{seed}: {message}");
            assert!(!message.is_empty());
        }
    }
    assert!(planned > 400, "{planned}");
    call(|_| destroy_profile(profile)).unwrap();
}
