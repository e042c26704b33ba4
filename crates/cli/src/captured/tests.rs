//! Reports about small frames: the proposed changes, the devices that they help, and the wording.

use ash::vk;
use clap::Parser;
use tileheap::frame::external::ExternalDesc;
use tileheap::frame::tables::PassKind;
use tileheap::frame::{AccessKind, BufferDesc, FrameBuilder, ImageDesc, LoadOp, Persistence, ResourceId};
use tileheap::units::Bytes;
use tileheap_capture::document::{
    AttachmentOperation, FrameChoice, PassFacts, ResourceFacts, WastedOperation,
};

use super::*;
use crate::frames::arrange::ArrangeOptions;
use crate::frames::plan::FrameArguments;

const EXTENT: vk::Extent2D = vk::Extent2D {
    width: 1920,
    height: 1080,
};
const SIZE: u64 = 1920 * 1080 * 4;

#[derive(Parser)]
struct Options {
    #[command(flatten)]
    frame: FrameArguments,
    #[command(flatten)]
    limits: Limits,
}

/// A frame, and the facts that a capture records.
struct Captured {
    builder: FrameBuilder,
    commands: tileheap::frame::CommandBufferId,
    capture: Capture,
}

impl Captured {
    fn new() -> Captured {
        let mut builder = FrameBuilder::new("game frame 37", EXTENT);
        let queue = builder.queue("graphics", vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE);
        let submit = builder.submit(queue);
        let batch = builder.batch(submit);
        let commands = builder.command_buffer(batch, "commands");
        Captured {
            builder,
            commands,
            capture: Capture {
                program: "game".to_owned(),
                device: "a GPU".to_owned(),
                frame: 37,
                compared: true,
                choice: Some(FrameChoice {
                    moved_bytes: vec![1, 100, 90],
                    repeated_frames: 2,
                    is_repeated: true,
                }),
                ..Capture::default()
            },
        }
    }

    fn resource(&mut self, name: &str, inferred: InferredLifetime, desc: ImageDesc) -> ResourceId {
        self.capture.resources.push(ResourceFacts {
            inferred,
            bytes: SIZE,
            decided: LifetimeEvidence::NextFrame,
            ..ResourceFacts::default()
        });
        let persistence = match inferred {
            InferredLifetime::Transient => Persistence::Transient,
            InferredLifetime::History => Persistence::History,
            InferredLifetime::External => {
                Persistence::External(ExternalDesc::in_layout(vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL))
            }
        };
        self.builder.resource(name, desc, persistence)
    }

    fn color(&mut self, name: &str, inferred: InferredLifetime) -> ResourceId {
        use vk::ImageUsageFlags as U;
        let desc = ImageDesc {
            usage: U::COLOR_ATTACHMENT | U::SAMPLED,
            ..ImageDesc::new(vk::Format::R8G8B8A8_UNORM, EXTENT)
        };
        self.resource(name, inferred, desc)
    }

    fn depth(&mut self, name: &str) -> ResourceId {
        let desc = ImageDesc {
            usage: vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT,
            ..ImageDesc::new(vk::Format::D32_SFLOAT, EXTENT)
        };
        self.resource(name, InferredLifetime::Transient, desc)
    }

    /// A render pass that samples some images and renders to others, each loaded or cleared, and stored or not.
    fn render(&mut self, name: &str, sampled: &[ResourceId], attached: &[(ResourceId, bool, bool)]) {
        let number = self.capture.passes.len() as u32;
        let mut facts = PassFacts {
            instance: number + 1,
            ..PassFacts::default()
        };
        let mut pass = self.builder.pass(self.commands, name, PassKind::Render);
        for id in sampled {
            pass = pass.access(*id, AccessKind::SampledImage, true, false, LoadOp::Load);
        }
        for (id, loads, stores) in attached {
            let is_depth = self.capture.resources[id.index()].reason == "depth";
            let kind = match is_depth {
                true => AccessKind::DepthStencilAttachment,
                false => AccessKind::ColorAttachment,
            };
            let load = if *loads { LoadOp::Load } else { LoadOp::DontCare };
            pass = pass.access(*id, kind, *loads, true, load);
            facts.loads.extend(loads.then_some(id.index() as u32));
            facts.stores.extend(stores.then_some(id.index() as u32));
        }
        self.capture.passes.push(facts);
    }

    fn report(self) -> CaptureReport {
        let frame = self.builder.build().expect("a frame");
        let options = Options::try_parse_from(["test", "frame.json"]).expect("options");
        let imported = options
            .frame
            .frame_from(&frame.to_json(), None)
            .expect("the frame");
        let settings = &options.frame.options;
        let profile = settings.read_profile().expect("a profile");
        let described = settings.plan(&imported, &profile).expect("a plan");
        let search = ArrangeOptions::best(options.limits.clone());
        let best = search.arrange(settings, &imported, &described).expect("a search");
        let best = best.expect("a search was requested");
        let report = CaptureReport::new(&described, &best, &self.capture, &options.limits, &[]);
        report.expect("a report")
    }
}

/// Asserts that text and JSON contain the whole report, and no word that only this project uses.
fn assert_complete(report: &CaptureReport) {
    let text = report.text();
    let json = serde_json::to_string(report).expect("JSON");
    let changes = report.changes.iter();
    let told = changes.flat_map(|change| [&change.title, &change.how].into_iter().chain(&change.details));
    for part in told
        .chain(report.limits.iter())
        .chain([&report.verdict, &report.async_compute])
        .map(String::as_str)
        .chain(report.notice.as_deref())
    {
        let quoted = serde_json::to_string(part).expect("JSON");
        assert!(text.contains(part), "{part}\n{text}");
        assert!(json.contains(&quoted), "{part}");
    }
    for word in ["declared", "window", "summed", " MB", "arena", "eligible traffic"] {
        assert!(!text.contains(word), "{word}\n{text}");
    }
}

#[test]
fn a_store_that_nothing_reads_is_the_first_change() {
    let mut captured = Captured::new();
    let (depth, shown) = (
        captured.depth("image 12"),
        captured.color("swapchain image 1", InferredLifetime::External),
    );
    captured.capture.resources[depth.index()].reason = "depth".to_owned();
    captured.capture.resources[depth.index()].memoryless = true;
    captured.capture.resources[shown.index()].swapchain = true;
    captured.render("scene", &[], &[(depth, false, true), (shown, false, true)]);
    captured.capture.wasted.push(WastedOperation {
        pass: 0,
        resource: 0,
        operation: AttachmentOperation::Store,
        bytes: SIZE,
        reason: "pass `scene` of the next frame replaces the contents before anything reads them".to_owned(),
        assumed: false,
    });
    let report = captured.report();
    assert_complete(&report);
    assert_eq!((report.now_bytes, report.proposed_bytes), (2 * SIZE, SIZE));
    assert_eq!(
        report.verdict,
        "A frame moves 15.8 MiB to and from memory; the proposed changes remove 7.9 MiB (50.0 %) on every tiler, and tile memory \
         removes nothing more."
    );
    let changes: Vec<_> = report.changes.iter().collect();
    assert_eq!(
        (changes[0].saves_bytes, changes[0].helps),
        (SIZE, HelpedDevices::EveryTiler)
    );
    assert!(
        changes[0].details[0].starts_with(
            "depth (`image 12`), D32, 1920x1080, from `scene`: stored by `scene` but never read; STORE_OP_DONT_CARE saves 7.9 MiB per frame"
        ),
        "{}",
        changes[0].details[0]
    );
    assert_eq!(
        (changes[1].saves_bytes, changes[1].frees_bytes),
        (0, SIZE),
        "{}",
        changes[1].title
    );
    assert!(report.facts[0].1.starts_with(
        "37, the heaviest of 2 repeating frames (3 captured); 1 frame moves less than half as much"
    ));
}

#[test]
fn tile_memory_helps_only_devices_that_have_it() {
    let mut captured = Captured::new();
    let hdr = captured.color("hdr", InferredLifetime::Transient);
    let shown = captured.color("swapchain image 1", InferredLifetime::External);
    captured.capture.resources[shown.index()].swapchain = true;
    captured.render("scene", &[], &[(hdr, false, true)]);
    captured.render("tone map", &[hdr], &[(shown, false, true)]);
    let report = captured.report();
    assert_complete(&report);
    assert_eq!((report.now_bytes, report.proposed_bytes), (3 * SIZE, SIZE));
    let [change] = &report.changes[..] else {
        panic!("{}", report.text());
    };
    assert_eq!(
        (change.saves_bytes, change.helps),
        (2 * SIZE, HelpedDevices::OnlyTileHeap)
    );
    assert_eq!(
        change.details,
        ["`hdr`, R8G8B8A8, 1920x1080, from `scene`: 15.8 MiB"]
    );
    assert_eq!(report.stays.len(), 1);
    assert_eq!(
        (report.stays[0].bytes, &*report.stays[0].why),
        (SIZE, "belong to images that are presented")
    );
    assert_eq!((report.stays[0].is_required, report.required_bytes), (true, SIZE));
}

#[test]
fn of_a_buffer_only_the_accessed_bytes_count() {
    use tileheap_capture::document::AccessedBytes;
    let mut captured = Captured::new();
    captured.capture.resources.push(ResourceFacts {
        bytes: 1_000_000,
        ..ResourceFacts::default()
    });
    let desc = BufferDesc {
        usage: vk::BufferUsageFlags::STORAGE_BUFFER,
        ..BufferDesc::new(Bytes(1_000_000))
    };
    let particles = captured
        .builder
        .resource("particles", desc, Persistence::Transient);
    let pass = captured
        .builder
        .pass(captured.commands, "move", PassKind::Compute);
    pass.access(
        particles,
        AccessKind::StorageBuffer,
        false,
        true,
        LoadOp::DontCare,
    );
    captured.capture.passes.push(PassFacts {
        accessed: vec![AccessedBytes {
            resource: 0,
            bytes: 4_000,
        }],
        ..PassFacts::default()
    });
    let report = captured.report();
    assert_eq!(report.now_bytes, 4_000);
    assert_complete(&report);
}

#[test]
fn measured_times_are_listed_by_duration() {
    let mut captured = Captured::new();
    let shown = captured.color("swapchain image 1", InferredLifetime::External);
    captured.render("scene", &[], &[(shown, false, true)]);
    captured.render("menu", &[], &[(shown, true, true)]);
    captured.render("late", &[], &[(shown, true, true)]);
    captured.capture.passes[0].nanoseconds = Some(1_250_000);
    captured.capture.passes[1].nanoseconds = Some(2_000_000);
    let report = captured.report();
    assert_complete(&report);
    let time = report.facts.iter().find(|(name, _)| *name == "GPU time");
    let expected = "3.25 ms in 2 measured passes; the longest: `menu` 2.00 ms, `scene` 1.25 ms";
    assert_eq!(time.map(|(_, text)| text.as_str()), Some(expected));
    let of_times = "times are those of the device that the frame was captured on";
    assert!(report.limits.iter().any(|limit| limit.contains(of_times)));
}

#[test]
fn nothing_is_explained() {
    let mut captured = Captured::new();
    let shown = captured.color("swapchain image 1", InferredLifetime::External);
    captured.capture.resources[shown.index()].swapchain = true;
    captured.capture.choice = None;
    assert_eq!(which_frame(&captured.capture), "37, as requested");
    captured.capture.choice = Some(FrameChoice::default());
    captured.capture.border = FrameBoundary::End;
    captured.render("scene", &[], &[(shown, false, true)]);
    let report = captured.report();
    assert_complete(&report);
    assert_eq!(
        report.verdict,
        "A frame moves 7.9 MiB to and from memory; nothing is eligible for tile memory, because 7.9 MiB belong to images that are presented."
    );
    assert!(report.changes.is_empty());
    let early = "37: the program ended before a later frame could be captured";
    assert_eq!(report.facts[0].1, early);
    assert_eq!(
        report.notice.as_deref(),
        Some("The program ended in this frame: it may be incomplete.")
    );
}

#[test]
fn a_program_that_does_not_present_is_told_first_that_its_whole_run_counts() {
    let mut captured = Captured::new();
    let result = captured.color("result", InferredLifetime::External);
    captured.capture.border = FrameBoundary::End;
    captured.capture.frame = 0;
    captured.render("scene", &[], &[(result, false, true)]);
    let report = captured.report();
    assert_complete(&report);
    let moves = "All work that the program submitted moves 7.9 MiB to and from memory; ";
    assert!(report.verdict.starts_with(moves), "{}", report.verdict);
    let notice = report.notice.as_ref().expect("a notice");
    assert!(notice.starts_with("No frame ended before") && notice.contains("--border submits:N"));
    let text = report.text();
    let (first, _) = text.split_once("\n\n").expect("paragraphs");
    assert!(
        first.contains(&report.verdict) && first.ends_with(notice.as_str()),
        "{text}"
    );
    assert_eq!(
        report.facts[0].1,
        "all that the program submitted before it ended"
    );
}

#[test]
fn asynchronous_compute_hides_at_most_what_is_independent() {
    let mut captured = Captured::new();
    let (shadow, shown) = (
        captured.color("shadow", InferredLifetime::Transient),
        captured.color("swapchain image 1", InferredLifetime::External),
    );
    captured.capture.resources.push(ResourceFacts {
        bytes: 1_000_000,
        ..ResourceFacts::default()
    });
    let usage = vk::BufferUsageFlags::STORAGE_BUFFER;
    let desc = BufferDesc {
        usage,
        ..BufferDesc::new(Bytes(1_000_000))
    };
    let culled = captured.builder.resource("culled", desc, Persistence::Transient);
    captured.render("shadow", &[], &[(shadow, false, true)]);
    let kind = AccessKind::StorageBuffer;
    let pass = captured
        .builder
        .pass(captured.commands, "cull", PassKind::Compute);
    pass.access(culled, kind, false, true, LoadOp::DontCare);
    captured.capture.passes.push(PassFacts::default());
    let pass = captured
        .builder
        .pass(captured.commands, "light", PassKind::Compute);
    pass.access(culled, kind, true, false, LoadOp::Load).access(
        shadow,
        AccessKind::SampledImage,
        true,
        false,
        LoadOp::Load,
    );
    captured.capture.passes.push(PassFacts::default());
    captured.render("show", &[shadow], &[(shown, false, true)]);
    let report = captured.report();
    // `cull` can overlap both render passes, `light` can overlap `show`: together 1.9 MiB and 7.9 MiB.
    assert_eq!(report.async_compute_bytes, 2_000_000 + SIZE);
    assert_complete(&report);
}

#[test]
fn merged_passes_help_every_tiler_by_what_they_no_longer_move() {
    let mut captured = Captured::new();
    let (depth, hdr) = (
        captured.depth("depth"),
        captured.color("hdr", InferredLifetime::Transient),
    );
    let shown = captured.color("swapchain image 1", InferredLifetime::External);
    captured.capture.resources[depth.index()].reason = "depth".to_owned();
    captured.capture.resources[shown.index()].swapchain = true;
    captured.render("opaque", &[], &[(hdr, false, true), (depth, false, true)]);
    captured.render("sky", &[], &[(hdr, true, true), (depth, true, false)]);
    captured.render("tone map", &[hdr], &[(shown, false, true)]);
    let report = captured.report();
    assert_complete(&report);
    // hdr is stored, loaded, stored and sampled; depth is stored and loaded; the seventh is the presented image.
    assert_eq!(report.now_bytes, 7 * SIZE);
    let everywhere = report
        .changes
        .iter()
        .filter(|change| change.helps == HelpedDevices::EveryTiler);
    let details: Vec<&str> = everywhere
        .flat_map(|change| &change.details)
        .map(String::as_str)
        .collect();
    // Merged, hdr is stored once instead of stored, loaded and stored: the store and the read that remain need a tile heap.
    assert_eq!(
        details,
        [
            "`depth`, D32, 1920x1080, from `opaque`: 15.8 MiB",
            "`hdr`, R8G8B8A8, 1920x1080, from `opaque`: 15.8 MiB"
        ],
        "{}",
        report.text()
    );
}
