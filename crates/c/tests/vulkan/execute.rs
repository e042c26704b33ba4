//! The executor of `examples/cpp/tables` executes frames of any kind, not only that of its renderer: validation reports nothing.

use ash::vk;
use tileheap::frame::synthetic::{SyntheticDesc, synthetic};
use tileheap::frame::{
    BufferDesc, ClearValue, Extent, Frame, FrameBuilder, ImageDesc, LoadOp, Persistence, import,
};
use tileheap::units::Bytes;
use tileheap_testkit::{cpp_program, emulate, own_file};

/// Subpasses that read colors in place, resolved samples, stencil, a volume, layers, histories that are read before they are written, two queues
/// with a semaphore between them, and one that is signaled outside of the frame.
fn of_many_kinds() -> Frame {
    let extent = vk::Extent2D {
        width: 320,
        height: 180,
    };
    let (all, hdr, rgba) = (
        vk::PipelineStageFlags2::ALL_COMMANDS,
        vk::Format::R16G16B16A16_SFLOAT,
        vk::Format::R8G8B8A8_UNORM,
    );
    let zero = LoadOp::Clear(ClearValue::ZERO);
    let far = LoadOp::Clear(ClearValue::DepthStencil(1.0, 3));
    let mut frame = FrameBuilder::new("many kinds", extent);
    let whole = |format| ImageDesc::scaled(format, 1.0, 1.0);
    let multisampled = |format| ImageDesc {
        samples: vk::SampleCountFlags::TYPE_4,
        ..whole(format)
    };
    let samples = frame.image("samples", multisampled(rgba));
    let sample_depth = frame.image("sample_depth", multisampled(vk::Format::D32_SFLOAT));
    let color = frame.image("color", whole(rgba));
    let normal = frame.image("normal", whole(rgba));
    let depth = frame.image("depth", whole(vk::Format::D32_SFLOAT_S8_UINT));
    let lit = frame.resource("lit", whole(hdr), Persistence::History);
    let counts = frame.resource("counts", BufferDesc::new(Bytes(4096)), Persistence::History);
    let volume = ImageDesc {
        image_type: vk::ImageType::TYPE_3D,
        extent: Extent::Texels(vk::Extent3D {
            width: 32,
            height: 32,
            depth: 8,
        }),
        ..whole(hdr)
    };
    let volume = frame.image("volume", volume);
    let layers = frame.image(
        "layers",
        ImageDesc {
            array_layers: 3,
            ..ImageDesc::new(
                vk::Format::D16_UNORM,
                vk::Extent2D {
                    width: 64,
                    height: 64,
                },
            )
        },
    );
    let graphics = frame.queue("graphics", vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE);
    let compute = frame.queue("compute", vk::QueueFlags::COMPUTE);
    let drawn = frame.semaphore("drawn");
    let acquired = frame.external_semaphore("acquired");

    let submit = frame.submit(graphics);
    let batch = frame.batch(submit);
    frame.wait(batch, acquired, all);
    frame.signal(batch, drawn, all);
    let commands = frame.command_buffer(batch, "draw");
    let _ = frame.render_pass(commands, "shadow").depth(layers, far);
    let pass = frame.render_pass(commands, "multisampled").color(samples, zero);
    pass.depth(sample_depth, LoadOp::Clear(ClearValue::DepthStencil(0.0, 0)))
        .resolve(samples, color);
    let pass = frame
        .render_pass(commands, "subpasses")
        .color(color, LoadOp::Load);
    let pass = pass.color(normal, zero).depth(depth, far);
    let pass = pass
        .next_subpass()
        .input(color)
        .input(normal)
        .sampled_previous(lit);
    pass.sampled(layers).color(lit, LoadOp::DontCare);
    let submit = frame.submit(compute);
    let batch = frame.batch(submit);
    frame.wait(batch, drawn, all);
    let commands = frame.command_buffer(batch, "compute");
    let pass = frame.compute_pass(commands, "fill").sampled(lit);
    pass.storage_write(volume)
        .storage_read(counts)
        .previous()
        .storage_write(counts);
    frame.build().expect("a sound description")
}

/// Drawn frames, except those that the executor refuses or that have a swapchain, and one of many kinds.
fn frames() -> Vec<Frame> {
    let drawn = (0..24).map(|seed| {
        let desc = SyntheticDesc {
            passes: 6 + seed as u32,
            resources: 8 + seed as u32,
            batches: 1 + seed as u32 % 4,
            queues: 1 + seed as u32 % 3,
            base_extent: vk::Extent2D {
                width: 320,
                height: 180,
            },
        };
        let json = synthetic(seed, desc).to_json();
        let json = json.replace("\"contents\": \"secondary\"", "\"contents\": \"inline\"");
        let json = json.replace("PRESENT_SRC_KHR", "GENERAL");
        import::read(&json, None).expect("it was a frame before").frame
    });
    drawn.chain([of_many_kinds()]).collect()
}

#[test]
fn the_executor_executes_frames_of_any_kind() {
    let Some(mut program) = cpp_program("execute") else {
        return;
    };
    let frames = frames();
    for (index, frame) in frames.iter().enumerate() {
        let path = own_file(&format!("execute-{index}.json"));
        std::fs::write(&path, frame.to_json()).unwrap();
        program.arg(path);
    }
    let output = program.output().unwrap();
    let (printed, said) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    // Subpasses need local read, which not every driver has, and none of these for depth.
    let refused = said.lines().count();
    for line in said.lines() {
        assert!(
            line.ends_with("executor: the frame needs render pass objects"),
            "{line}"
        );
    }
    // The validation layer prints the path of its log.
    let lines = || printed.lines().filter(|line| line.contains("execute-"));
    let executed = lines().count();
    assert_eq!(executed + refused, frames.len(), "{printed}{said}");
    assert!(executed >= 16, "{said}");
    for line in lines() {
        let index = line
            .split_once("execute-")
            .and_then(|(_, rest)| rest.split_once(".json"))
            .unwrap();
        let frame = &frames[index.0.parse::<usize>().unwrap()];
        assert!(
            index.1.starts_with(&format!(": {} passes", frame.passes().len())),
            "{line}"
        );
    }
}

#[test]
fn the_executor_names_mistakes() {
    let Some(mut program) = cpp_program("execute") else {
        return;
    };
    let path = own_file("mistakes.json");
    std::fs::write(&path, frames()[0].to_json()).unwrap();
    let output = program.arg("--mistakes").arg(path).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    for expected in [
        "too many queues: executor: the number of VkQueues differs from that of Tables::device_queues",
        "an invalid index: executor: the frame uses no external image or buffer with the index 9999",
        "nothing imported: executor: resource 2 was not imported", // The first external image.
        "no command buffers: executor: fewer command buffers were given than the frame has",
        "other tables: executor: the tables are those of another plan",
    ] {
        assert!(printed.contains(expected), "{expected}: {printed}");
    }
}

/// Runs a program in ordinary memory (`None`) and on each profile, where it reports nothing on standard error; `check` gets what it printed.
fn on_all_profiles(name: &str, check: impl Fn(Option<&str>, &str)) {
    for profile in [None, Some("adreno-830"), Some("hostile")] {
        let Some(mut program) = cpp_program(name) else {
            return;
        };
        if profile.is_some_and(|profile| !emulate(&mut program, profile)) {
            return;
        }
        let output = program.output().unwrap();
        let (printed, said) = (
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr),
        );
        assert!(output.status.success(), "{profile:?}: {printed}{said}");
        assert_eq!(said, "", "{profile:?}");
        check(profile, &printed);
    }
}

#[test]
fn strips_with_images_at_their_border_leave_the_texels_of_the_described_frame() {
    on_all_profiles("strips", |profile, printed| {
        let equal = printed
            .lines()
            .filter(|line| line.ends_with(" stores, 0 bytes differ"));
        assert_eq!(equal.count(), 10, "{profile:?}: {printed}");
        for (name, copies) in [
            ("into strips", 6),
            ("out of strips", 3),
            ("into and out of strips", 18),
        ] {
            let of_case = |line: &&str| line.starts_with(&format!("{name}: "));
            let line = printed.lines().find(of_case).unwrap();
            assert!(line.contains(&format!(" {copies} stores")), "{profile:?}: {line}");
            let in_tile_memory = !line.contains(" 0 tile memory objects");
            assert!(in_tile_memory || profile.is_none(), "{profile:?}: {line}");
        }
        let refused = "without Stores: executor: the plan copies images or buffers (ThLowered::stores): pass a Stores, of stores.hpp";
        assert!(printed.contains(refused), "{profile:?}: {printed}");
    });
}

#[test]
fn split_lifetimes_are_stored_by_the_copied_files() {
    on_all_profiles("split", |profile, printed| {
        let prints = |stored: &str| {
            let expected = format!("{stored}; 0 of 3072 words are wrong");
            printed.lines().any(|line| line == expected)
        };
        assert!(prints("whole: stores of"), "{profile:?}: {printed}");
        // Every kind of store: of floats, unsigned and signed integers, depth, a history, and of a buffer. Without tile memory there is none.
        let stored = prints("split: stores of color depth list numbers past signs");
        let unstored = profile.is_none() && prints("split: stores of");
        assert!(stored || unstored, "{profile:?}: {printed}");
    });
}
