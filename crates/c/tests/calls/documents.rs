//! Documents and names: profiles, frames and plans as JSON, and errors in invalid documents.

use std::ptr::null_mut;

use ash::vk;
use tileheap::frame::{FrameBuilder, ImageDesc, LoadOp};
use tileheap::profile::{DeviceProfile, PRESETS};
use tileheap_c::enums::NameKind;
use tileheap_c::frame::*;
use tileheap_c::opaque::*;
use tileheap_c::plan::*;
use tileheap_c::profile::*;
use tileheap_c::requirements::*;
use tileheap_c::status::Status;
use tileheap_c::strings::StringView;
use tileheap_testkit::assert_says;

use super::c::{self, call, fill, get, sized, string, text, view};
use super::planning::frames;

#[test]
fn profiles_have_names_documents_and_numbers() {
    let mut count = 0;
    // SAFETY: the count can be written.
    call(|error| unsafe { get_profile_names(&mut count, null_mut(), error) }).unwrap();
    assert_eq!(count as usize, PRESETS.len());
    let mut names = vec![view(""); count as usize];
    // SAFETY: there is room for as many.
    call(|error| unsafe { get_profile_names(&mut count, names.as_mut_ptr(), error) }).unwrap();
    assert_eq!(
        names.iter().map(|name| string(*name)).collect::<Vec<_>>(),
        PRESETS
    );
    let mut room = 3;
    // SAFETY: there is room for three.
    let status = unsafe { get_profile_names(&mut room, names.as_mut_ptr(), null_mut()) };
    assert_eq!(status, Status::Incomplete);
    assert_eq!(room, 3);

    for name in PRESETS {
        let handle = c::profile(name);
        let expected = DeviceProfile::preset(name).unwrap();
        // SAFETY: it can be written.
        let json = text(|to, error| unsafe { create_profile_text(handle, to, error) }).unwrap();
        assert_eq!(json, expected.to_json());
        // SAFETY: the text is alive.
        let again = get(|to, error| unsafe { create_profile_from_json(view(&json), to, error) }).unwrap();
        // SAFETY: it can be written.
        let info: ProfileInfo = fill(|to, error| unsafe { get_profile_info(again, to, error) }).unwrap();
        assert_eq!((string(info.name).as_str(), info.gmem), (name, expected.gmem.0));
        assert_eq!(info.tile_size, expected.tile.map_or(0, |tile| tile.size.0));
        assert_eq!(info.tile_heap, expected.tile.map_or(u32::MAX, |tile| tile.heap));
        // SAFETY: it can be written.
        let resized = get(|to, error| unsafe { create_profile_with_tile_size(handle, 5 << 20, to, error) });
        match expected.tile {
            Some(_) => call(|_| destroy_profile(resized.unwrap())).unwrap(),
            None => assert_says(resized.unwrap_err().1, &["no tile heap"]),
        }
        for handle in [handle, again] {
            call(|_| destroy_profile(handle)).unwrap();
        }
    }
}

#[test]
fn what_is_not_a_document_is_an_error_with_the_place() {
    // SAFETY: the texts are alive.
    let profile = |json: &str| get(|to, error| unsafe { create_profile_from_json(view(json), to, error) });
    let (status, message) = profile("{ \"format\": 3 }").unwrap_err();
    assert_eq!(status, Status::ErrorInvalidDocument);
    assert_says(message, &["line 1", "format"]);
    let (status, message) = profile("").unwrap_err();
    assert_eq!(status, Status::ErrorInvalidDocument, "{message}");
    // SAFETY: the text is alive.
    let unknown = get(|to: *mut ProfileHandle, error| unsafe { create_profile(view("adreno"), to, error) });
    let (status, message) = unknown.unwrap_err();
    assert_eq!(status, Status::ErrorInvalidArgument);
    assert_says(message, &["`adreno`", "adreno-830"]);

    for (json, words) in [
        ("[1, 2", &["line 1"] as &[&str]),
        ("{}", &["format"]),
        (r#"{ "resources": [], "passes": [] }"#, &["format"]),
        (r#"{ "format": "tileheap-frame", "version": 99 }"#, &["99"]),
        (&"[".repeat(100_000), &["line"]),
    ] {
        let (status, message) = c::frame_from_json(json).unwrap_err();
        assert_eq!(status, Status::ErrorInvalidDocument, "{message}");
        assert_says(message, words);
    }
}

#[test]
fn names_lead_to_indices_and_back() {
    let data = &frames()[1];
    let frame = c::frame_from_json(&data.to_json()).unwrap();
    // SAFETY: it can be written.
    let info: FrameInfo = fill(|to, error| unsafe { get_frame_info(frame, to, error) }).unwrap();
    assert_eq!(string(info.name), data.name());
    for (kind, count) in [
        (NameKind::Resource, info.resource_count),
        (NameKind::Pass, info.pass_count),
        (NameKind::CommandBuffer, info.command_buffer_count),
        (NameKind::Semaphore, info.semaphore_count),
        (NameKind::Queue, info.queue_count),
    ] {
        for index in 0..count {
            // SAFETY: it can be written.
            let name: StringView =
                get(|to, error| unsafe { get_frame_name(frame, kind as u32, index, to, error) }).unwrap();
            // SAFETY: it can be written.
            let found = get(|to, error| unsafe { find_frame_name(frame, kind as u32, name, to, error) });
            assert_eq!(found.unwrap(), index);
        }
        // SAFETY: it can be written.
        let beyond = get(|to, error| unsafe { get_frame_name(frame, kind as u32, count, to, error) });
        assert_eq!(beyond.unwrap_err().0, Status::ErrorInvalidArgument);
    }
    for index in 0..info.resource_count {
        // SAFETY: it can be written.
        let resource: ResourceInfo =
            fill(|to, error| unsafe { get_frame_resource(frame, index, to, error) }).unwrap();
        let expected = &data.resources()[index as usize];
        assert_eq!(
            (string(resource.name), resource.format),
            (expected.name.clone(), expected.format())
        );
        assert_eq!((resource.level_of, resource.level), (u32::MAX, 0));
    }
    for index in 0..info.pass_count {
        // SAFETY: it can be written.
        let pass: PassInfo = fill(|to, error| unsafe { get_frame_pass(frame, index, to, error) }).unwrap();
        let expected = &data.passes()[index as usize];
        assert_eq!(
            (pass.first_access, pass.end_access),
            (expected.accesses.first, expected.accesses.end)
        );
        assert_eq!(pass.area, expected.area);
    }
    call(|_| destroy_frame(frame)).unwrap();
}

#[test]
fn separate_levels_name_their_image() {
    let extent = vk::Extent2D {
        width: 640,
        height: 360,
    };
    let mut frame = FrameBuilder::new("pyramid", extent);
    let bloom = frame.image(
        "bloom",
        ImageDesc {
            mip_levels: 3,
            separate_levels: true,
            ..ImageDesc::scaled(vk::Format::R8G8B8A8_UNORM, 1.0, 1.0)
        },
    );
    let other = frame.image("other", ImageDesc::new(vk::Format::R8G8B8A8_UNORM, extent));
    let queue = frame.queue("graphics", vk::QueueFlags::GRAPHICS);
    let submit = frame.submit(queue);
    let batch = frame.batch(submit);
    let commands = frame.command_buffer(batch, "frame");
    frame.render_pass(commands, "draw").color(bloom, LoadOp::DontCare);
    for level in 1..3 {
        let pass = frame.render_pass(commands, format!("down {level}"));
        let pass = pass.sampled(bloom).level(level - 1);
        pass.color(bloom, LoadOp::DontCare).level(level);
    }
    let pass = frame.render_pass(commands, "compose").sampled(bloom).level(2);
    pass.color(other, LoadOp::DontCare);
    let frame = c::frame_from_json(&frame.build().unwrap().to_json()).unwrap();
    let found = [0, 1, 2, 3].map(|index| {
        // SAFETY: it can be written.
        let info: ResourceInfo =
            fill(|to, error| unsafe { get_frame_resource(frame, index, to, error) }).unwrap();
        (string(info.name), info.extent.width, info.level_of, info.level)
    });
    let expected = [
        ("bloom", 640, u32::MAX, 0),
        ("other", 640, u32::MAX, 0),
        ("bloom level 1", 320, 0, 1),
        ("bloom level 2", 160, 0, 2),
    ];
    assert_eq!(
        found,
        expected.map(|(name, width, of, level)| (name.to_owned(), width, of, level))
    );
    call(|_| destroy_frame(frame)).unwrap();
}

#[test]
fn a_drivers_answers_are_counted_and_checked() {
    let profile = c::profile("adreno-830");
    let frame = c::frame_from_json(&frames()[1].to_json()).unwrap();
    let mut count = 0;
    // SAFETY: the count can be written.
    call(|error| unsafe { get_requirement_queries(frame, profile, &mut count, null_mut(), error) }).unwrap();
    assert!(count > 10);
    let mut queries: Vec<RequirementQuery> = vec![sized(); count as usize];
    // SAFETY: there is room for as many.
    call(|error| unsafe { get_requirement_queries(frame, profile, &mut count, queries.as_mut_ptr(), error) })
        .unwrap();
    let mut answers: Vec<RequirementAnswer> = queries
        .iter()
        .map(|query| RequirementAnswer {
            resource: query.resource,
            memory: query.memory as u32,
            supported: 1,
            requirements: ash::vk::MemoryRequirements {
                size: u64::from(query.image.extent.width) * 4096 + query.buffer.size,
                alignment: 256,
                memory_type_bits: 0x7f,
            },
            ..sized()
        })
        .collect();
    let create = |answers: &[RequirementAnswer]| {
        // SAFETY: the answers are alive.
        get(|to, error| unsafe {
            create_requirements(frame, profile, answers.len() as u32, answers.as_ptr(), to, error)
        })
    };
    let requirements = create(&answers).unwrap();
    // SAFETY: it can be written.
    let first: ResourceRequirements =
        fill(|to, error| unsafe { get_resource_requirements(requirements, queries[0].resource, to, error) })
            .unwrap();
    assert_eq!((first.size, first.alignment), (answers[0].requirements.size, 256));
    call(|_| destroy_requirements(requirements)).unwrap();

    let (status, message) = create(&answers[1..]).unwrap_err();
    assert_eq!(status, Status::ErrorInvalidArgument);
    assert_says(message, &["thCreateRequirements: answerCount is ", "queries"]);
    // Sizes and alignments that no device has, and answers to another query.
    type Change = fn(&mut RequirementAnswer);
    let wrong: [(Change, &str); 11] = [
        (|answer| answer.requirements.alignment = 0, "alignment is 0"),
        (
            |answer| answer.requirements.alignment = 12_288,
            "not a power of two",
        ),
        (
            |answer| answer.requirements.alignment = u64::MAX,
            "alignment is 18446744073709551615",
        ),
        (|answer| answer.requirements.size = 0, "size is 0"),
        (
            |answer| answer.requirements.size = u64::MAX,
            "size is 18446744073709551615",
        ),
        (
            |answer| (answer.tile_size, answer.tile_alignment) = (4096, 0),
            "tileAlignment is 0",
        ),
        (
            |answer| answer.requirements.memory_type_bits = 0,
            "memoryTypeBits is 0b0",
        ),
        (
            |answer| answer.requirements.memory_type_bits |= 1 << 31,
            "memoryTypeBits",
        ),
        (
            |answer| answer.dedicated = 3,
            "answers[0].dedicated is 3: ThDedicated has the values 0 to 2",
        ),
        (|answer| answer.reserved = 1, "answers[0].reserved is 1"),
        (|answer| answer.resource += 1, "the query is for resource"),
    ];
    for (change, words) in wrong {
        let kept = answers[0];
        change(&mut answers[0]);
        let (status, message) = create(&answers).unwrap_err();
        assert_eq!(status, Status::ErrorInvalidArgument);
        assert_says(message, &[words, "answers[0]"]);
        answers[0] = kept;
    }
    answers[0].supported = 0;
    let (status, message) = create(&answers).unwrap_err();
    assert_eq!(status, Status::ErrorInvalidFrame);
    let refused = frames()[1].resources()[queries[0].resource as usize].name.clone();
    assert_says(
        message,
        &[
            &refused,
            "does not support an image of VK_FORMAT_D16_UNORM, 2048 x 2048 x 1, 1 level, 4 layers, 1 sample, with VK_IMAGE_USAGE_",
        ],
    );

    // Requirements of another frame, of another size of the same one, and on another device.
    let hostile = c::profile("hostile");
    let resized = ash::vk::Extent2D {
        width: 64,
        height: 64,
    };
    let json = frames()[1].to_json();
    // SAFETY: the text and the extent are alive.
    let small = get(|to, error| unsafe { create_frame_from_json(view(&json), &resized, to, error) }).unwrap();
    let other = c::frame_from_json(&frames()[2].to_json()).unwrap();
    for (of, on) in [(other, profile), (small, profile), (frame, hostile)] {
        let requirements = c::estimated(of, on).unwrap();
        let desc = PlanDesc {
            frame,
            requirements,
            profile,
            ..sized()
        };
        // SAFETY: everything is alive.
        let fault = get(|to: *mut PlanHandle, error| unsafe { create_plan(&desc, to, error) }).unwrap_err();
        assert_eq!(fault.0, Status::ErrorInvalidArgument);
        assert_says(fault.1, &[data_name()]);
        call(|_| destroy_requirements(requirements)).unwrap();
    }
    for frame in [frame, other, small] {
        call(|_| destroy_frame(frame)).unwrap();
    }
    for profile in [profile, hostile] {
        call(|_| destroy_profile(profile)).unwrap();
    }
}

/// The name of the frame that most tests use.
fn data_name() -> &'static str {
    frames()[1].name().to_owned().leak()
}
