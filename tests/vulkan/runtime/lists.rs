//! Buffers of lists, one for each tile of the screen: strips have those of their own tiles.

use ash::vk;
use tileheap::arrange::{ArrangedBatch, Arrangement, GroupMode, PassGroup, StripGrid};
use tileheap::execute::{ExecutedFrame, Strip};
use tileheap::frame::{BufferDesc, Frame, FrameBuilder, ImageDesc, PassId, ReadReach, TileLists};
use tileheap::plan::{PlanOptions, ResidencyStrategy};
use tileheap::runtime::{BoundFrame, Parity, PassCommands};
use tileheap::units::{Bytes, Run};

use tileheap_testkit::frames::{by, extent};
use tileheap_testkit::gpu::{Binding, Gpu, Pipeline, recording_paths};

use super::{begin, bind, copy_image, host_read, submit, wait};

/// The tiles at the right and bottom edges are cut off.
const EXTENT: vk::Extent2D = extent(60, 28);
const LISTS: TileLists = TileLists {
    tile: 8,
    bytes: Bytes(8),
};

/// A dispatch: the images that it samples, whether it uses the lists, the image that it writes, and the work at one texel or tile.
type Program = (&'static [&'static str], bool, Option<&'static str>, &'static str);

fn program(pass: &str) -> Option<Program> {
    Some(match pass {
        "draw" => (
            &[],
            false,
            Some("albedo"),
            "store(at, float(at.x * 3 + at.y * at.y % 7));",
        ),
        "cull" => (
            &["albedo"],
            true,
            None,
            "uint sum = 0, count = 0;
            for (int y = 8 * at.y; y < min(8 * at.y + 8, 28); y++) for (int x = 8 * at.x; x < min(8 * at.x + 8, 60); x++) {
                sum += uint(texelFetch(albedo, ivec2(x, y) - unpack(part.albedo), 0).x);
                count++;
            }
            lists[list(at)] = sum;
            lists[list(at) + 1] = count;",
        ),
        "shade" => (
            &["albedo"],
            true,
            Some("picture"),
            "uint found = list(at / 8);
            float own = texelFetch(albedo, at - unpack(part.albedo), 0).x;
            store(at, float(lists[found] * 64 + lists[found + 1]) + own / 64.0);",
        ),
        _ => return None,
    })
}

fn described() -> Frame {
    let mut frame = FrameBuilder::new("lists", EXTENT);
    let image = ImageDesc::new(vk::Format::R32_SFLOAT, EXTENT);
    let [albedo, picture] = ["albedo", "picture"].map(|name| frame.image(name, image));
    let lists = BufferDesc {
        lists: Some(LISTS),
        ..BufferDesc::new(LISTS.size(EXTENT))
    };
    let lists = frame.buffer("lists", lists);
    let result = host_read(&mut frame, "result", 4 * 60 * 28);
    let queue = frame.queue("main", vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE);
    let submit = frame.submit(queue);
    let batch = frame.batch(submit);
    let commands = frame.command_buffer(batch, "commands");
    let draw = frame.compute_pass(commands, "draw");
    draw.storage_write(albedo).in_strips(Bytes::ZERO);
    let cull = frame.compute_pass(commands, "cull");
    let cull = cull.sampled(albedo).reaching(ReadReach::PIXEL);
    cull.storage_write(lists).in_strips(Bytes::ZERO);
    let shade = frame.compute_pass(commands, "shade");
    let shade = shade.sampled(albedo).reaching(ReadReach::PIXEL);
    let shade = shade.storage_read(lists).reaching(ReadReach::PIXEL);
    shade.storage_write(picture).in_strips(Bytes::ZERO);
    let copy = frame.transfer_pass(commands, "copy");
    copy.transfer_source(picture).transfer_destination(result);
    frame.build().expect("a sound frame")
}

/// The first `run` passes in a grid of strips, the others once.
fn arrangement(frame: &Frame, run: usize, grid: StripGrid) -> Arrangement {
    let passes: Vec<PassId> = frame.pass_ids().collect();
    let mut groups = vec![PassGroup::new(passes[..run].to_vec(), GroupMode::Strips(grid))];
    let rest = passes[run..].iter();
    groups.extend(rest.map(|&pass| PassGroup::new(vec![pass], GroupMode::Once)));
    Arrangement {
        changes: Vec::new(),
        batches: vec![ArrangedBatch {
            batches: Run::new(0, 1),
            groups,
        }],
    }
}

fn packed(vk::Offset2D { x, y }: vk::Offset2D) -> u32 {
    x as u32 | (y as u32) << 16
}

struct Recorded {
    pipeline: Pipeline,
    set: vk::DescriptorSet,
    words: Vec<u32>,
    groups: [u32; 2],
}

fn recorded(
    gpu: &mut Gpu,
    (frame, arranged, at): (&Frame, &ExecutedFrame, PassId),
    bound: &BoundFrame,
    (reads, with_lists, writes, work): Program,
) -> Recorded {
    let here = |name: &str| arranged.resource_in(at, frame.resource_named(name).expect("declared"));
    let grid = LISTS.grid(EXTENT);
    let whole = if writes.is_some() { EXTENT } else { grid };
    let strip = arranged.strip(at).unwrap_or(Strip::whole(whole.into()));
    let vk::Rect2D { offset, extent } = strip.area;
    let end = vk::Offset2D {
        x: offset.x + extent.width as i32,
        y: offset.y + extent.height as i32,
    };
    let ([column, row], groups) = strip.groups([8, 8]);
    let group = vk::Offset2D {
        x: 8 * column as i32,
        y: 8 * row as i32,
    };
    let first = |name: &str| packed(arranged.first_texel(here(name)));
    let pitch = arranged
        .part(here("lists"))
        .area
        .map_or(grid.width, |area| area.extent.width);
    let words = vec![
        packed(offset),
        packed(end),
        packed(group),
        writes.map_or(0, first),
        first("albedo"),
        first("lists"),
        pitch,
    ];
    let mut head = "#version 460
        #extension GL_EXT_samplerless_texture_functions : require
        layout(local_size_x = 8, local_size_y = 8) in;
        layout(push_constant) uniform Part { uint first, end, group, written, albedo, lists, pitch; } part;
        ivec2 unpack(uint both) { return ivec2(both & 0xffffu, both >> 16); }
        uint list(ivec2 tile) { ivec2 own = tile - unpack(part.lists); return (uint(own.y) * part.pitch + uint(own.x)) * 2; }
        "
    .to_owned();
    let (mut types, mut bindings) = (Vec::new(), Vec::new());
    let image = |name: &str, kind| {
        let image = bound.access(at, here(name), Parity::Even);
        (kind, Binding::Image(kind, image.view, image.layout))
    };
    let mut add = |(kind, binding)| {
        types.push(kind);
        bindings.push(binding);
        types.len() - 1
    };
    for read in reads {
        let number = add(image(read, vk::DescriptorType::SAMPLED_IMAGE));
        head += &format!("layout(set = 0, binding = {number}) uniform texture2D {read};\n");
    }
    if with_lists {
        let buffer = bound.access(at, here("lists"), Parity::Even).buffer();
        let number = add((vk::DescriptorType::STORAGE_BUFFER, Binding::Storage(buffer)));
        head += &format!("layout(set = 0, binding = {number}) buffer Lists {{ uint lists[]; }};\n");
    }
    if let Some(written) = writes {
        let number = add(image(written, vk::DescriptorType::STORAGE_IMAGE));
        head += &format!(
            "layout(set = 0, binding = {number}, r32f) uniform writeonly image2D target;
            void store(ivec2 at, float number) {{ imageStore(target, at - unpack(part.written), vec4(number)); }}\n"
        );
    }
    let shader = format!(
        "{head} void main() {{
            ivec2 at = ivec2(gl_GlobalInvocationID.xy) + unpack(part.group);
            if (any(lessThan(at, unpack(part.first))) || any(greaterThanEqual(at, unpack(part.end)))) return;
            {work}
        }}"
    );
    let pipeline = gpu.compute(&types, &shader);
    let set = gpu.set(&pipeline, &bindings);
    Recorded {
        pipeline,
        set,
        words,
        groups,
    }
}

/// The picture of a frame.
fn pixels(gpu: &mut Gpu, frame: &Frame, arrangement: &Arrangement, options: &PlanOptions) -> Vec<u32> {
    let arranged = arrangement.apply(frame).expect("an arrangement of the frame");
    arranged.check().expect("the same frame");
    let mut bound = bind(gpu, arranged.frame(), options);
    let id = |name| frame.resource_named(name).expect("declared");
    let host = gpu.host_buffer(4 * 60 * 28);
    let mut all = Vec::new();
    for at in arranged.frame().pass_ids() {
        let run = arranged.described_passes(at).next().expect("no copies");
        let work = program(&frame.pass(run.pass).name);
        all.push(work.map(|work| recorded(gpu, (frame, &arranged, at), &bound, work)));
    }
    let handle = gpu.primaries(1)[0];
    let recorder = begin(&mut bound, id("result"), &host);
    let buffer = arranged.frame().command_buffer_ids().next().expect("one");
    // SAFETY: the command buffer is new.
    let mut commands = unsafe { recorder.record(handle, buffer) }.expect("recording");
    for (at, recorded) in arranged.frame().pass_ids().zip(&all) {
        let record = |pass: &PassCommands<'_>| {
            let Some(Recorded {
                pipeline,
                set,
                words,
                groups: [x, y],
            }) = recorded
            else {
                return copy_image(pass, id("picture"), id("result"), EXTENT);
            };
            let (device, commands) = (pass.device(), pass.command_buffer());
            pipeline.bind(device, commands, Some(*set));
            pipeline.push(device, commands, words);
            // SAFETY: recording outside render passes.
            unsafe { device.cmd_dispatch(commands, *x, *y, 1) };
        };
        commands.pass(at, record).expect("recorded");
    }
    commands.finish().expect("recorded");
    let number = submit(recorder);
    wait(&bound, number.0);
    let words = host.words();
    bound.retire();
    gpu.runtime().collect().expect("collected");
    words
}

/// Strips find the lists of their tiles in buffers that hold no others, in memory of all kinds.
#[test]
fn strips_find_the_lists_of_their_own_tiles() {
    let frame = described();
    let lists = frame.resource_named("lists").expect("declared");
    for (mode, without) in recording_paths() {
        let mut gpu = Gpu::new(without);
        let plain = Arrangement::described(&frame);
        let wanted = pixels(&mut gpu, &frame, &plain, &by(ResidencyStrategy::Off));
        let mut kinds = wanted.clone();
        kinds.sort_unstable();
        kinds.dedup();
        assert!(
            kinds.len() > wanted.len() / 8,
            "{} of {}",
            kinds.len(),
            wanted.len()
        );
        for (columns, rows) in [(1, 4), (4, 1), (3, 2)] {
            let arranged = arrangement(&frame, 3, StripGrid { columns, rows });
            let executed = arranged.apply(&frame).expect("an arrangement of the frame");
            let parts = executed.frame().resource_ids().filter(|&id| {
                let origin = executed.origins().resource(id);
                origin.resource == lists && origin.area.is_some()
            });
            assert!(parts.count() > 1, "{columns} x {rows}");
            for strategy in [ResidencyStrategy::Optimal, ResidencyStrategy::Off] {
                let got = pixels(&mut gpu, &frame, &arranged, &by(strategy));
                assert!(
                    got == wanted,
                    "{mode}, {columns} x {rows}, {strategy:?}: pixels differ"
                );
            }
        }
    }
}
