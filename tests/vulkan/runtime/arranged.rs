//! Frames in other arrangements: in strips, merged, fused, reordered. All produce the pixels of the described frame.

use ash::vk;
use tileheap::arrange::{ArrangedBatch, Arrangement, GroupMode, PassGroup, StripGrid};
use tileheap::execute::{ExecutedFrame, Strip};
use tileheap::frame::tables::{CommandSource, PassKind};
use tileheap::frame::{
    ClearValue, Frame, FrameBuilder, ImageDesc, LoadOp, PassBuilder, PassId, ReadReach, ResourceId,
};
use tileheap::plan::{PlanOptions, ResidencyStrategy};
use tileheap::runtime::{BoundFrame, Capabilities, FrameNumber, FrameRecorder, Parity, PassCommands};
use tileheap::units::{Bytes, Run};

use tileheap_testkit::frames::{by, extent, rect};
use tileheap_testkit::gpu::{Binding, Gpu, Pipeline, recording_paths};

use super::{begin, bind, copy_image, host_read, submit, wait};

const EXTENT: vk::Extent2D = extent(64, 32);
const COLOR: vk::Format = vk::Format::R8G8B8A8_UNORM;
const NUMBERS: vk::Format = vk::Format::R32_SFLOAT;

/// The shader program of a pass.
struct Program {
    /// One triangle over everything, or scattered ones; 0 for a dispatch.
    vertices: u32,
    /// Sampled images, in the order of their bindings.
    reads: &'static [&'static str],
    /// A storage image at the next binding.
    stores: Option<&'static str>,
    work: &'static str,
}

/// Triangles with one color and depth each, and corners at sixteenths of a pixel: they cover the same pixels wherever the viewport begins.
const SCATTERED: &str = "#version 460
    layout(location = 0) flat out uint number;
    void main() {
        number = gl_VertexIndex / 3u;
        uint chance = uint(gl_VertexIndex + 1) * 2654435761u;
        vec2 pixel = vec2(chance >> 8 & 1023u, chance >> 20 & 511u) / 16.0;
        gl_Position = vec4(pixel / vec2(32, 16) - 1.0, float(number * 7u % 64u) / 64.0, 1.0);
    }";

/// ```text
/// batch 0  tint
/// batch 1  geometry ─► decal ─► blur, within 3 texels ─► compose ─► grade ─► copy
/// ```
fn program(pass: &str) -> Option<Program> {
    let work = match pass {
        "tint" => "color = vec4(at.x * 3, at.y * 7, 0, 255) / 255.0;",
        "geometry" => "color = vec4(number * 6u, at.x, at.y, 255) / 255.0;",
        "decal" => "color = vec4(at.x * 2, 255u - number, at.y, 255) / 255.0;",
        "blur" => {
            "float sum = 0.0;
            for (int y = -3; y <= 3; y++) for (int x = -3; x <= 3; x++) {
                vec4 near = fetch(image0, 0, clamp(at + ivec2(x, y), ivec2(0), SIZE - 1));
                sum += round(dot(near, vec4(255, 510, 1020, 0))) * float((x + 4) * (y + 5));
            }
            store(at, sum);"
        }
        "compose" => {
            "float sum = round(dot(fetch(image0, 0, at) + fetch(image2, 2, at), vec4(255, 255, 255, 0)));
            color = vec4(fetch(image1, 1, at).x + sum);"
        }
        "grade" => "store(at, fetch(image0, 0, at).x * 2.0 + float(at.x));",
        _ => return None,
    };
    let (vertices, reads, stores): (u32, &[&str], _) = match pass {
        "geometry" => (3 * 40, &[], None),
        "decal" => (3 * 9, &[], None),
        "blur" => (0, &["albedo"], Some("blurred")),
        "compose" => (3, &["albedo", "blurred", "tinted"], None),
        "grade" => (0, &["picture"], Some("graded")),
        _ => (3, &[], None),
    };
    Some(Program {
        vertices,
        reads,
        stores,
        work,
    })
}

fn described() -> Frame {
    let mut frame = FrameBuilder::new("arranged", EXTENT);
    let mut image = |name: &str, format| frame.image(name, ImageDesc::new(format, EXTENT));
    let [tinted, albedo] = ["tinted", "albedo"].map(|name| image(name, COLOR));
    let depth = image("depth", vk::Format::D32_SFLOAT);
    let [blurred, picture, graded] = ["blurred", "picture", "graded"].map(|name| image(name, NUMBERS));
    let result = host_read(&mut frame, "result", 4 * 64 * 32);
    let queue = frame.queue("main", vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE);
    let submit = frame.submit(queue);
    let before = frame.batch(submit);
    let before = frame.command_buffer(before, "before");
    let nothing = Bytes::ZERO;
    frame
        .render_pass(before, "tint")
        .color(tinted, LoadOp::DontCare)
        .in_strips(nothing);
    let scene = frame.batch(submit);
    let scene = frame.command_buffer(scene, "scene");
    let clear = LoadOp::Clear(ClearValue::Float([0.2; 4]));
    let far = LoadOp::Clear(ClearValue::DepthStencil(1.0, 0));
    let draw = |pass: PassBuilder<'_>, load, load_depth| {
        pass.color(albedo, load)
            .depth(depth, load_depth)
            .in_strips(nothing);
    };
    draw(frame.render_pass(scene, "geometry"), clear, far);
    draw(frame.render_pass(scene, "decal"), LoadOp::Load, LoadOp::Load);
    frame
        .compute_pass(scene, "blur")
        .sampled(albedo)
        .reaching(ReadReach::Texels(3))
        .storage_write(blurred)
        .in_strips(nothing);
    let compose = frame.render_pass(scene, "compose");
    [albedo, blurred, tinted]
        .into_iter()
        .fold(compose, |pass, read| {
            pass.sampled(read).reaching(ReadReach::PIXEL)
        })
        .color(picture, LoadOp::DontCare)
        .in_strips(nothing);
    frame
        .compute_pass(scene, "grade")
        .sampled(picture)
        .reaching(ReadReach::PIXEL)
        .storage_write(graded)
        .in_strips(nothing);
    frame
        .transfer_pass(scene, "copy")
        .transfer_source(graded)
        .transfer_destination(result);
    frame.build().expect("a sound frame")
}

/// Parses groups of passes; each begins with the way in which it runs and, each after a `+`, the images at the border of strips; `/` separates the
/// two described batches.
fn arrangement(frame: &Frame, text: &str) -> Arrangement {
    let group = |text: &str| {
        let (mode, passes) = text.split_once(": ").expect("a way");
        let mut mode = mode.split('+');
        let (mode, borders) = (mode.next().expect("a way"), mode);
        let side = |text: &str| text.parse().expect("a number");
        let mode = match mode.split_once('x') {
            Some((columns, rows)) => GroupMode::Strips(StripGrid {
                columns: side(columns),
                rows: side(rows),
            }),
            None if mode == "merged" => GroupMode::Merged,
            None => GroupMode::Once,
        };
        let pass = |name| frame.pass_named(name).expect("declared");
        let passes = passes.split(' ').map(pass).collect();
        let borders = borders.map(|name| frame.resource_named(name).expect("declared"));
        PassGroup {
            borders: borders.collect(),
            ..PassGroup::new(passes, mode)
        }
    };
    let batches: Vec<&str> = text.split(" / ").collect();
    let each = 2 / batches.len() as u32;
    let batch = |(first, text): (u32, &&str)| ArrangedBatch {
        batches: Run::from([first, first + each]),
        groups: text.split(", ").map(group).collect(),
    };
    Arrangement {
        changes: Vec::new(),
        batches: (0..).zip(&batches).map(batch).collect(),
    }
}

fn packed(x: i32, y: i32) -> u32 {
    x as u32 | (y as u32) << 16
}

/// A described pass, as recorded in an arranged frame.
struct Recorded {
    pipeline: Pipeline,
    set: Option<vk::DescriptorSet>,
    words: Vec<u32>,
    strip: Strip,
    vertices: u32,
}

/// The area that a pass computes inside an area.
fn strip_in(area: vk::Rect2D, arranged: &ExecutedFrame, at: PassId) -> Option<Strip> {
    let whole = Strip::whole(EXTENT.into());
    arranged.strip(at).unwrap_or(whole).within(area)
}

/// The copies out of images of strips that dispatches write, each with the part of its area inside an area.
fn copies_of_dispatches(arranged: &ExecutedFrame, area: vk::Rect2D) -> Vec<(PassId, Option<vk::Rect2D>)> {
    let frame = arranged.frame();
    let is_dispatched = |image: ResourceId| {
        let dispatches = frame
            .pass_ids()
            .filter(|&pass| frame.pass(pass).kind == PassKind::Compute);
        let mut accesses = dispatches.flat_map(|pass| frame.accesses_of(pass));
        accesses.any(|access| access.resource == image && access.writes)
    };
    let copies = frame.pass_ids().filter_map(|at| {
        let CommandSource::Border { .. } = frame.pass(at).contents else {
            return None;
        };
        let from = frame.accesses_of(at)[0].resource;
        let leaves = arranged.origins().resource(from).area.is_some();
        let copied = Strip::whole(frame.pass(at).area).within(area);
        (leaves && is_dispatched(from)).then(|| (at, copied.map(|strip| strip.area)))
    });
    copies.collect()
}

fn recorded(
    gpu: &mut Gpu,
    (arranged, at, subpass, strip): (&ExecutedFrame, PassId, u32, Strip),
    bound: &BoundFrame,
    run: &Program,
) -> Recorded {
    let here = |name: &str| -> ResourceId {
        let described = arranged.frame().resource_named(name).expect("declared");
        arranged.resource_in(at, described)
    };
    let vk::Rect2D { offset, extent } = strip.area;
    let (x, y) = (offset.x + extent.width as i32, offset.y + extent.height as i32);
    let ([column, row], _) = strip.groups([8, 8]);
    let mut words = vec![
        packed(strip.origin.x, strip.origin.y),
        packed(offset.x, offset.y),
        packed(x, y),
        packed(8 * column as i32, 8 * row as i32),
    ];
    let (mut types, mut bindings, mut head) = (Vec::new(), Vec::new(), String::new());
    for (number, name) in run.reads.iter().enumerate() {
        let origin = arranged.first_texel(here(name));
        words.push(packed(origin.x, origin.y));
        head += &format!("layout(set = 0, binding = {number}) uniform texture2D image{number};\n");
        types.push((vk::DescriptorType::SAMPLED_IMAGE, name));
    }
    if let Some(stores) = &run.stores {
        head += &format!(
            "layout(local_size_x = 8, local_size_y = 8) in;
            layout(set = 0, binding = {}, r32f) uniform writeonly image2D target;
            void store(ivec2 at, float number) {{ imageStore(target, at - unpack(part.origin), vec4(number)); }}
            void main() {{
                ivec2 at = ivec2(gl_GlobalInvocationID.xy) + unpack(part.group);
                if (is_outside(at)) return;",
            types.len()
        );
        types.push((vk::DescriptorType::STORAGE_IMAGE, stores));
    } else {
        if run.vertices > 3 {
            head += "layout(location = 0) flat in uint number;\n";
        }
        head += "layout(location = 0) out vec4 color;
            void main() { ivec2 at = ivec2(gl_FragCoord.xy) + unpack(part.origin);";
    }
    for (kind, name) in &types {
        let resource = here(name);
        let image = bound.access(at, resource, Parity::Even);
        bindings.push(Binding::Image(*kind, image.view, image.layout));
    }
    let types: Vec<_> = types.into_iter().map(|(kind, _)| kind).collect();
    let shader = format!("{}{head}{}}}", include_str!("shaders/arranged.glsl"), run.work);
    let pipeline = match run.stores {
        Some(_) => gpu.compute(&types, &shader),
        None => gpu.triangles(
            bound.target_in(at, subpass),
            &types,
            (run.vertices > 3).then_some(SCATTERED),
            &shader,
        ),
    };
    let set = (!types.is_empty()).then(|| gpu.set(&pipeline, &bindings));
    Recorded {
        pipeline,
        set,
        words,
        strip,
        vertices: run.vertices,
    }
}

impl Recorded {
    fn record(&self, pass: &PassCommands<'_>) {
        let (device, commands) = (pass.device(), pass.command_buffer());
        self.pipeline.bind(device, commands, self.set);
        self.pipeline.push(device, commands, &self.words);
        if self.vertices == 0 {
            let (_, [x, y]) = self.strip.groups([8, 8]);
            // SAFETY: recording outside render passes.
            return unsafe { device.cmd_dispatch(commands, x, y, 1) };
        }
        // SAFETY: recording inside the render pass.
        unsafe { device.cmd_set_viewport(commands, 0, &[self.strip.viewport(EXTENT)]) };
        // SAFETY: as above.
        unsafe { device.cmd_set_scissor(commands, 0, &[self.strip.scissor()]) };
        // SAFETY: as above; the pipeline's state is set.
        unsafe { device.cmd_draw(commands, self.vertices, 1, 0, 0) };
    }
}

/// Per pass of an arranged frame, the described passes that it runs in an area.
fn prepared(
    gpu: &mut Gpu,
    frame: &Frame,
    arranged: &ExecutedFrame,
    bound: &BoundFrame,
    area: vk::Rect2D,
) -> Vec<Vec<Option<Recorded>>> {
    let of_pass = |at: PassId| {
        let runs = arranged.described_passes(at);
        let programs = runs.filter_map(|run| Some((run.subpass, program(&frame.pass(run.pass).name)?)));
        let strip = strip_in(area, arranged, at);
        let programs =
            programs.map(|(subpass, run)| Some(recorded(gpu, (arranged, at, subpass, strip?), bound, &run)));
        programs.collect()
    };
    arranged.frame().pass_ids().map(of_pass).collect()
}

/// Records and submits an arranged frame.
fn record(
    mut recorder: FrameRecorder<'_>,
    (frame, arranged): (&Frame, &ExecutedFrame),
    prepared: &[Vec<Option<Recorded>>],
    primaries: &[vk::CommandBuffer],
    area: vk::Rect2D,
) -> FrameNumber {
    let id = |name| frame.resource_named(name).expect("declared");
    let is_border = |at: &PassId| matches!(arranged.frame().pass(*at).contents, CommandSource::Border { .. });
    let renders = |at: &PassId| arranged.frame().pass(*at).kind == PassKind::Render && !is_border(at);
    for at in arranged.frame().pass_ids().filter(renders) {
        let scissor = strip_in(area, arranged, at).map(|strip| strip.scissor());
        recorder.set_area(at, scissor).expect("a part");
    }
    for (at, copied) in copies_of_dispatches(arranged, area) {
        recorder.set_area(at, copied).expect("a part");
    }
    let buffers = arranged.frame().command_buffers().len();
    for (index, &handle) in primaries.iter().enumerate().take(buffers) {
        let of_buffer = |at: &PassId| arranged.frame().pass(*at).command_buffer.index() == index;
        let mut of_buffer = arranged.frame().pass_ids().filter(of_buffer).peekable();
        let first = of_buffer.peek().expect("passes");
        let buffer = arranged.frame().pass(*first).command_buffer;
        // SAFETY: the previous frame is complete.
        let mut commands = unsafe { recorder.record(handle, buffer) }.expect("recording");
        for at in of_buffer.filter(|at| !is_border(at)) {
            let record = |pass: &PassCommands<'_>| match &prepared[at.index()][..] {
                [] => copy_image(pass, id("graded"), id("result"), EXTENT),
                programs => programs
                    .iter()
                    .flatten()
                    .enumerate()
                    .for_each(|(number, program)| {
                        if number > 0 {
                            pass.next_subpass();
                        }
                        program.record(pass);
                    }),
            };
            match renders(&at) && recorder.area(at).is_none() {
                true => commands.skip(at).expect("left out"),
                false => commands.pass(at, record).expect("recorded"),
            }
        }
        commands.finish().expect("recorded");
    }
    submit(recorder)
}

/// The pixels of two consecutive frames, which are the same; for an area, only those whose blur reads no others.
fn pixels(
    gpu: &mut Gpu,
    frame: &Frame,
    arrangement: &Arrangement,
    options: &PlanOptions,
    area: vk::Rect2D,
) -> Vec<u32> {
    let arranged = arrangement.apply(frame).expect("an arrangement of the frame");
    // With the map to the described frame, and without.
    let mut bound = match options.strategy {
        ResidencyStrategy::Optimal => bind(gpu, &arranged, options),
        _ => bind(gpu, arranged.frame(), options),
    };
    let result = frame.resource_named("result").expect("declared");
    let host = gpu.host_buffer(4 * 64 * 32);
    let all = prepared(gpu, frame, &arranged, &bound, area);
    let primaries = gpu.primaries(arranged.frame().command_buffers().len() as u32);
    let mut seen: Vec<Vec<u32>> = Vec::new();
    for _ in 0..2 {
        let recorder = begin(&mut bound, result, &host);
        let number = record(recorder, (frame, &arranged), &all, &primaries, area);
        wait(&bound, number.0);
        let words = (0..).zip(host.words());
        let kept = words.filter(|(at, _)| area == EXTENT.into() || is_within_3(area, at % 64, at / 64));
        seen.push(kept.map(|(_, word)| word).collect());
    }
    bound.retire();
    gpu.runtime().collect().expect("collected");
    assert!(seen[0] == seen[1], "two frames differ");
    seen.remove(0)
}

/// Returns true if all texels within 3 of this one are in an area.
fn is_within_3(area: vk::Rect2D, x: i32, y: i32) -> bool {
    let side = |at: i32, first: i32, length: u32| (first + 3..first + length as i32 - 3).contains(&at);
    side(x, area.offset.x, area.extent.width) && side(y, area.offset.y, area.extent.height)
}

/// Compares every arrangement with the described frame, in memory of all kinds.
fn compare(area: vk::Rect2D, arrangements: &[&str]) {
    let frame = described();
    for (mode, without) in recording_paths() {
        let mut gpu = Gpu::new(without);
        assert!(!gpu.runtime().capabilities().intersects(without), "{mode}");
        let plain = Arrangement::described(&frame);
        let own = PlanOptions {
            aliasing: false,
            lazy: false,
            ..by(ResidencyStrategy::Off)
        };
        let wanted = pixels(&mut gpu, &frame, &plain, &own, area);
        let mut kinds = wanted.clone();
        kinds.sort_unstable();
        kinds.dedup();
        let (colors, all) = (kinds.len(), wanted.len());
        assert!(5 * colors > all, "{colors} colors in {all} pixels");
        for text in arrangements {
            let arranged = arrangement(&frame, text);
            for strategy in [ResidencyStrategy::Optimal, ResidencyStrategy::Off] {
                let got = pixels(&mut gpu, &frame, &arranged, &by(strategy), area);
                let differ = got.iter().zip(&wanted).filter(|(a, b)| a != b).count();
                assert_eq!(differ, 0, "{mode}, {text}, {strategy:?}: pixels differ");
            }
        }
    }
}

#[test]
fn every_arrangement_leaves_the_pixels_of_the_described_frame() {
    let arrangements = [
        "once: tint / 1x2: geometry decal blur compose grade, once: copy",
        "once: tint / 3x1: geometry decal blur compose grade, once: copy",
        "once: tint / 3x5: geometry decal blur compose grade, once: copy",
        // Into a whole attachment.
        "once: tint / 1x3: geometry decal blur compose, once: grade copy",
        "once: tint / 5x2: geometry decal blur compose, once: grade copy",
        // From a whole attachment.
        "once: tint / once: geometry decal, 2x3: blur compose grade, once: copy",
        // Copied out of strips, and into strips with the texels that are read around them.
        "once: tint / 1x3+picture: geometry decal blur compose, once: grade copy",
        "once: tint / 3x2+picture: geometry decal blur compose, once: grade copy",
        "once: tint / once: geometry decal, 2x3+albedo: blur compose grade, once: copy",
        "once: tint / once: geometry, 3x2+albedo+depth: decal blur compose grade, once: copy",
        "once: tint / 2x2+albedo: geometry decal, 1x5+albedo: blur compose grade, once: copy",
        // Into strips and out of them.
        "once: geometry, 2x3+albedo+depth: decal tint, once: blur compose grade copy",
        // Merged, fused, in another order.
        "once: tint geometry decal blur compose grade copy",
        "once: geometry decal blur tint compose grade copy",
        "once: tint / merged: geometry decal, once: blur compose grade copy",
        "merged: geometry decal, once: blur tint compose grade copy",
        "merged: geometry decal, 2x2: blur tint compose grade, once: copy",
    ];
    compare(EXTENT.into(), &arrangements);
}

/// Strips outside the area have nothing to render.
#[test]
fn strips_keep_to_an_area_of_the_frame() {
    let arrangements = [
        "once: tint / 3x5: geometry decal blur compose grade, once: copy",
        "once: tint / 1x5: geometry decal blur compose, once: grade copy",
        "once: tint / 1x5+picture: geometry decal blur compose, once: grade copy",
        "once: tint / 3x5+albedo: geometry decal, 2x4+picture: blur compose, once: grade copy",
        "once: geometry, 5x3+albedo+depth: decal tint, once: blur compose grade copy",
        "once: tint / once: geometry decal, 3x2+albedo: blur compose grade, once: copy",
        "once: tint / once: geometry decal blur, 4x4+graded: compose grade, once: copy",
        "merged: geometry decal, 8x2: blur tint compose grade, once: copy",
    ];
    compare(rect(9, 3, 40, 15), &arrangements);
}

/// The described frame and arrangements of it alternate in one dynamic frame.
#[test]
fn dynamic_frames_run_arrangements() {
    let frame = described();
    let arrangements = [
        "once: tint / 1x2: geometry decal blur compose grade, once: copy",
        "once: tint / 3x2+picture: geometry decal blur compose, once: grade copy",
        "merged: geometry decal, 2x2: blur tint compose grade, once: copy",
    ];
    let apply = |text: &str| arrangement(&frame, text).apply(&frame).expect("sound");
    let arranged = arrangements.map(apply);
    let plain = ExecutedFrame::as_described(&frame);
    for (mode, without) in recording_paths() {
        let mut gpu = Gpu::new(without);
        let options = PlanOptions::default();
        let wanted = pixels(
            &mut gpu,
            &frame,
            &Arrangement::described(&frame),
            &options,
            EXTENT.into(),
        );
        let mut frames = gpu.runtime().dynamic_frame(options).expect("a dynamic frame");
        let (host, primaries) = (gpu.host_buffer(4 * 64 * 32), gpu.primaries(2));
        let result = frame.resource_named("result").expect("declared");
        let (mut known, mut numbers) = (Vec::new(), Vec::new());
        for _ in 0..3 {
            for executed in arranged.iter().chain([&plain]) {
                let selected = frames.select_executed(executed).expect("bound");
                let bound = selected.number();
                numbers.push(bound);
                if !known.iter().any(|(number, _)| *number == bound) {
                    let all = prepared(&mut gpu, &frame, executed, &selected, EXTENT.into());
                    known.push((bound, all));
                }
                let (_, all) = known
                    .iter()
                    .find(|(number, _)| *number == bound)
                    .expect("prepared");
                let recorder = begin(selected, result, &host);
                let number = record(recorder, (&frame, executed), all, &primaries, EXTENT.into());
                assert!(frames.wait(number, u64::MAX).expect("waited"));
                assert!(host.words() == wanted, "{mode}: pixels differ");
            }
        }
        // Binding a larger one may replace blocks of the others, once.
        assert_eq!(numbers[8..], numbers[4..8], "{mode}");
        // An equal frame that is not a clone.
        let again = frames.select_executed(&apply(arrangements[1])).expect("bound");
        assert_eq!(again.number(), numbers[9], "{mode}");
        frames.forget_executed(&arranged[1]);
        let again = frames.select_executed(&arranged[1]).expect("bound");
        assert!(!numbers.contains(&again.number()), "{mode}");
        // A description that is equal to an executed frame is bound separately.
        let described = frames.select(&frame.to_builder()).expect("bound");
        assert!(!numbers.contains(&described.number()), "{mode}");
        drop(frames);
        assert_eq!(gpu.runtime().collect().expect("collected"), 0, "{mode}");
    }
}

#[test]
fn measuring_with_and_without_creating_agree() {
    let measured = [Capabilities::empty(), Capabilities::MAINTENANCE_4].map(|without| {
        let gpu = Gpu::new(without);
        gpu.runtime().measure(&described()).expect("measured")
    });
    assert_eq!(measured[0], measured[1]);
}
