//! Arranged frames have the same meaning as described ones: an interpreter runs both on symbols, texel by texel.
//!
//! A texel's symbol is a hash of the pass that wrote it and of everything that the pass read for it: all texels within reach. Two frames that leave
//! equal symbols have read the same writes everywhere.

use ash::vk;
use tileheap::arrange::{Arrangement, GroupMode, PassGroup, StripGrid};
use tileheap::execute::ExecutedFrame;
use tileheap::frame::external::ExternalDesc;
use tileheap::frame::tables::{Access, CommandSource, ResourceKind};
use tileheap::frame::{
    BufferDesc, ClearValue, Frame, FrameBuilder, ImageDesc, LoadOp, PassId, Persistence, ReadReach,
    ResourceId, TileLists,
};
use tileheap::units::{Bytes, SplitMix64};
use tileheap_testkit::frames::extent;

const FORMAT: vk::Format = vk::Format::R8G8B8A8_UNORM;

/// The symbols of an image, or of the lists of a buffer, row by row; 0 if nothing was written.
#[derive(Clone, PartialEq)]
struct Image {
    width: i64,
    height: i64,
    texels: Vec<u64>,
}

fn mix(a: u64, b: u64) -> u64 {
    SplitMix64::new(a.rotate_left(17) ^ b.wrapping_mul(0x9E37_79B9_7F4A_7C15)).next_u64()
}

/// The empty image of a resource; `area` is that of a strip.
fn image_of(frame: &Frame, resource: ResourceId, area: Option<vk::Rect2D>) -> Image {
    let grid = match frame.resource(resource).kind {
        ResourceKind::Image { extent, .. } => vk::Extent2D {
            width: extent.width,
            height: extent.height,
        },
        ResourceKind::Buffer { desc, .. } => {
            let lists = desc.lists.map(|lists| lists.grid(frame.base_extent()));
            lists.or(area.map(|area| area.extent)).expect("a buffer of lists")
        }
    };
    let (width, height) = (i64::from(grid.width), i64::from(grid.height));
    Image {
        width,
        height,
        texels: vec![0; (width * height) as usize],
    }
}

/// The symbols that the frame leaves in each resource; `farther` is added to every declared reach.
fn interpret(described: &Frame, arranged: Option<&ExecutedFrame>, farther: u32) -> Vec<Image> {
    let frame = arranged.map_or(described, |arranged| arranged.frame());
    let area = |id: ResourceId| arranged.and_then(|arranged| arranged.origins().resource(id).area);
    let images = frame.resource_ids().map(|id| image_of(frame, id, area(id)));
    let mut images: Vec<Image> = images.collect();
    let zero = vk::Offset2D::default();
    let origin = |id: ResourceId| arranged.map_or(zero, |arranged| arranged.first_texel(id));
    let whole = |id: ResourceId| arranged.map_or(id, |arranged| arranged.origins().resource(id).resource);
    for id in frame.pass_ids() {
        match frame.pass(id).contents {
            CommandSource::Border { x, y } => {
                copy(frame, id, (i64::from(x), i64::from(y)), &mut images);
                continue;
            }
            CommandSource::Store => {
                let [from, to] = [0, 1].map(|side: usize| frame.accesses_of(id)[side].resource.index());
                images[to] = images[from].clone();
                continue;
            }
            _ => {}
        }
        let (passes, strip) = match arranged {
            Some(arranged) => (
                arranged.described_passes(id).map(|run| run.pass).collect(),
                arranged.strip(id),
            ),
            None => (vec![id], None),
        };
        for pass in passes {
            let here = |resource| arranged.map_or(resource, |arranged| arranged.resource_in(id, resource));
            let mut written = Vec::new();
            for (output, access) in described
                .accesses_of(pass)
                .iter()
                .enumerate()
                .filter(|(_, it)| it.writes)
            {
                let all = image_of(described, access.resource, None);
                let area = strip.map_or((0, 0, all.width, all.height), |strip| {
                    let vk::Rect2D { offset, extent } = strip.area;
                    let (x, y) = (i64::from(offset.x), i64::from(offset.y));
                    (x, y, x + i64::from(extent.width), y + i64::from(extent.height))
                });
                for y in area.1..area.3 {
                    for x in area.0..area.2 {
                        let mut symbol = mix(pass.index() as u64 + 1, output as u64);
                        for read in described
                            .accesses_of(pass)
                            .iter()
                            .filter(|it| it.needs_contents())
                        {
                            let target = here(read.resource);
                            let source = (&images[target.index()], origin(target));
                            let extent = image_of(described, whole(target), None);
                            symbol = mix(symbol, seen(read, source, &extent, (x, y), &all, farther));
                        }
                        written.push((here(access.resource), x, y, symbol));
                    }
                }
            }
            for (target, x, y, symbol) in written {
                let vk::Offset2D { x: left, y: top } = origin(target);
                let image = &mut images[target.index()];
                let at = (y - i64::from(top)) * image.width + x - i64::from(left);
                image.texels[at as usize] = symbol;
            }
        }
    }
    images.truncate(described.resources().len());
    images
}

/// Runs a pass that copies a part of an image; (x, y) is the offset from the written texel to the read one.
fn copy(frame: &Frame, pass: PassId, (x, y): (i64, i64), images: &mut [Image]) {
    let [from, to] = frame.accesses_of(pass) else {
        panic!("it copies one image into another");
    };
    let source = images[from.resource.index()].clone();
    let target = &mut images[to.resource.index()];
    let vk::Rect2D { offset, extent } = frame.pass(pass).area;
    let (left, top) = (i64::from(offset.x), i64::from(offset.y));
    for row in top..top + i64::from(extent.height) {
        for column in left..left + i64::from(extent.width) {
            let at = (row + y) * source.width + column + x;
            target.texels[(row * target.width + column) as usize] = source.texels[at as usize];
        }
    }
}

/// The symbols that one texel's read sees of an image.
fn seen(
    read: &Access,
    (image, origin): (&Image, vk::Offset2D),
    whole: &Image,
    (x, y): (i64, i64),
    target: &Image,
    farther: u32,
) -> u64 {
    let side = |at: i64, target: i64, whole: i64| match read.reach() {
        ReadReach::Anywhere => (0, whole),
        ReadReach::Texels(texels) => {
            let around = i64::from(texels) + if texels > 0 { i64::from(farther) } else { 0 };
            let first = at * whole / target;
            let end = ((at + 1) * whole + target - 1) / target;
            ((first - around).max(0), (end + around).min(whole))
        }
    };
    let (left, right) = side(x, target.width, whole.width);
    let (top, bottom) = side(y, target.height, whole.height);
    let mut symbol = 7;
    for y in top..bottom {
        for x in left..right {
            let (x, y) = (x - i64::from(origin.x), y - i64::from(origin.y));
            let inside = (0..image.width).contains(&x) && (0..image.height).contains(&y);
            symbol = mix(
                symbol,
                if inside {
                    image.texels[(y * image.width + x) as usize]
                } else {
                    1
                },
            );
        }
    }
    symbol
}

/// A frame of render and compute passes on images of three sizes, with reads of every reach.
fn random_frame(random: &mut SplitMix64) -> Frame {
    let extent = extent(24 + 8 * random.below(3) as u32, 16 + 8 * random.below(3) as u32);
    let mut frame = FrameBuilder::new("random", extent);
    let output = frame.resource(
        "output",
        ImageDesc::scaled(FORMAT, 1.0, 1.0),
        Persistence::External(ExternalDesc::in_layout(vk::ImageLayout::GENERAL)),
    );
    let queue = frame.queue("graphics", vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE);
    let submit = frame.submit(queue);
    let (mut made, mut batch, mut commands) = (Vec::<(ResourceId, u32)>::new(), None, None);
    let mut lists = Vec::<ResourceId>::new();
    let passes = 4 + random.below(8) as u32;
    for number in 0..passes {
        if batch.is_none() || random.below(6) == 0 {
            batch = Some(frame.batch(submit));
            commands = None;
        }
        let buffer = match commands {
            Some(commands) if random.below(4) > 0 => commands,
            _ => frame.command_buffer(batch.unwrap(), format!("commands {number}")),
        };
        commands = Some(buffer);
        let scale = [1, 1, 2, 4][random.below(4) as usize];
        let last = number + 1 == passes;
        let of_lists = scale > 1 && !last && random.below(4) == 0;
        let is_image = |id: &ResourceId| !lists.contains(id);
        let again = made
            .iter()
            .rev()
            .find(|(id, size)| *size == scale && is_image(id))
            .copied();
        let side = 1.0 / scale as f32;
        let (target, load) = match again {
            _ if last => (output, false),
            _ if of_lists => {
                let of_tile = TileLists {
                    tile: scale,
                    bytes: Bytes(8),
                };
                let desc = BufferDesc {
                    lists: Some(of_tile),
                    ..BufferDesc::new(of_tile.size(extent))
                };
                lists.push(frame.buffer(format!("lists {number}"), desc));
                (lists[lists.len() - 1], false)
            }
            Some((again, _)) if random.below(4) == 0 => (again, true),
            _ => (
                frame.image(format!("image {number}"), ImageDesc::scaled(FORMAT, side, side)),
                false,
            ),
        };
        let reads: Vec<(ResourceId, ReadReach)> = made
            .iter()
            .rev()
            .filter(|(image, _)| *image != target)
            .take(1 + random.below(3) as usize)
            .map(|(image, _)| {
                let reach = match random.below(8) {
                    0 => ReadReach::Anywhere,
                    texels if texels < 4 => ReadReach::Texels(texels as u32),
                    _ => ReadReach::PIXEL,
                };
                (*image, reach)
            })
            .collect();
        let compute = of_lists || random.below(3) == 0 && !load;
        // Light culling writes lists, and an image with where they begin.
        let with_offsets = of_lists && random.below(2) == 0;
        let offsets = with_offsets
            .then(|| frame.image(format!("offsets {number}"), ImageDesc::scaled(FORMAT, side, side)));
        let kind = if compute {
            tileheap::frame::tables::PassKind::Compute
        } else {
            tileheap::frame::tables::PassKind::Render
        };
        let pass = frame.pass(buffer, format!("pass {number}"), kind);
        let mut pass = match (compute, load) {
            (true, _) => pass.storage_write(target),
            (false, true) => pass.color(target, LoadOp::Load),
            (false, false) if random.below(2) == 0 => pass.color(target, LoadOp::DontCare),
            (false, false) => pass.color(target, LoadOp::Clear(ClearValue::ZERO)),
        };
        if let Some(offsets) = offsets {
            pass = pass.storage_write(offsets);
            made.push((offsets, scale));
        }
        for (read, reach) in reads {
            pass = match lists.contains(&read) {
                true => pass.storage_read(read).reaching(reach),
                false => pass.sampled(read).reaching(reach),
            };
        }
        if random.below(12) > 0 {
            pass.in_strips(Bytes(0));
        }
        if !last && !load {
            made.push((target, scale));
        }
    }
    frame.build().unwrap()
}

/// Makes a random change to an arrangement: fusing, moving, dividing with or without images at the border, merging.
fn changed(frame: &Frame, arrangement: &Arrangement, random: &mut SplitMix64) -> Arrangement {
    let mut changed = arrangement.clone();
    if changed.batches.len() > 1 && random.below(4) == 0 {
        let second = changed.batches.remove(1);
        changed.batches[0].batches.end = second.batches.end;
        changed.batches[0].groups.extend(second.groups);
        return changed;
    }
    let batch = random.below(changed.batches.len() as u64) as usize;
    let groups = &mut changed.batches[batch].groups;
    let first = random.below(groups.len() as u64) as usize;
    match random.below(3) {
        0 => {
            let moved = groups.remove(first);
            groups.insert(random.below(groups.len() as u64 + 1) as usize, moved);
        }
        mode => {
            let end = (first + 2 + random.below(4) as usize).min(groups.len());
            let passes: Vec<PassId> = groups[first..end]
                .iter()
                .flat_map(|group| group.passes.clone())
                .collect();
            let grid = StripGrid {
                columns: 1 + random.below(3) as u32,
                rows: 1 + random.below(4) as u32,
            };
            let mode = if mode == 1 {
                GroupMode::Merged
            } else {
                GroupMode::Strips(grid)
            };
            let mut group = PassGroup::new(passes, mode);
            let some = random.below(3) > 0 && mode != GroupMode::Merged;
            for image in frame.resource_ids().filter(|_| some) {
                let mut uses = frame
                    .accesses_to(image)
                    .map(|access| group.passes.contains(&access.pass));
                let inside = uses.clone().all(|inside| inside);
                if uses.any(|inside| inside) && !inside && random.below(3) > 0 {
                    group.borders.push(image);
                }
            }
            groups.splice(first..end, [group]);
        }
    }
    changed
}

/// Returns true if an order other than the described one is kept in the frame without one pass.
fn is_repaired(arrangement: &Arrangement, frame: &Frame, gone: PassId) -> bool {
    let Ok(without) = frame.without_pass(gone) else {
        return false;
    };
    let (repaired, _) = Arrangement::from_json_lossy(&arrangement.to_json(frame), &without).unwrap();
    repaired.check(&without).unwrap();
    let moved = |pass| without.pass_named(&frame.pass(pass).name);
    let kept = repaired.passes().eq(arrangement.passes().filter_map(moved));
    let same_batches = without.batches().len() == frame.batches().len();
    assert!(kept || !same_batches, "without {gone:?}");
    same_batches && !repaired.passes().is_sorted()
}

/// The frame with up to two lifetimes split at random.
fn with_splits(arranged: &ExecutedFrame, random: &mut SplitMix64) -> ExecutedFrame {
    let mut executed = arranged.clone();
    for _ in 0..2 {
        let offered: Vec<(ResourceId, PassId)> = executed.splittable().collect();
        if offered.is_empty() {
            break;
        }
        let (resource, after) = random.pick(&offered);
        if let Some(split) = executed.split(resource, after) {
            executed = split.unwrap();
        }
    }
    executed
}

/// The number of stores of resources that are also copied at the border of a strip.
fn stores_at_borders(executed: &ExecutedFrame) -> u32 {
    let frame = executed.frame();
    let is_copied = |resource: ResourceId| {
        frame
            .accesses_to(resource)
            .any(|access| matches!(frame.pass(access.pass).contents, CommandSource::Border { .. }))
    };
    let stores = executed.origins().stores();
    stores
        .filter(|&(store, ..)| {
            let mut sides = frame.accesses_of(store).iter();
            sides.any(|access| is_copied(access.resource))
        })
        .count() as u32
}

/// Runs random arrangements of random frames. Returns the numbers of strips, other orders, merges, repaired orders, copies at borders and stores of
/// what is copied there, and how many frames the interpreter found wrong when reads look farther than declared.
fn run(seeds: std::ops::Range<u64>, farther: u32) -> ([u32; 8], u32) {
    let (mut had, mut wrong) = ([0; 8], 0);
    let mut other = r#"{ "format": "tileheap-arrangement", "version": 1, "batches": [] }"#.to_owned();
    for seed in seeds {
        let mut random = SplitMix64::new(seed);
        let mut random_splits = SplitMix64::new(!seed);
        let frame = random_frame(&mut random);
        let wanted = interpret(&frame, None, farther);
        let mut arrangement = Arrangement::described(&frame);
        // An arrangement of another frame is applied as far as possible.
        let (repaired, _) = Arrangement::from_json_lossy(&other, &frame).unwrap();
        repaired.check(&frame).unwrap();
        for _ in 0..24 {
            let candidate = changed(&frame, &arrangement, &mut random);
            if candidate.check(&frame).is_err() {
                continue;
            }
            arrangement = candidate;
            let arranged = arrangement.apply(&frame).unwrap();
            arranged.check().unwrap();
            let output = frame.resource_named("output").unwrap().index();
            let same = interpret(&frame, Some(&arranged), farther)[output] == wanted[output];
            if farther == 0 {
                assert!(same, "seed {seed}: {}", arrangement.to_json(&frame));
                let split = with_splits(&arranged, &mut random_splits);
                assert_eq!(split.violations(), [], "seed {seed}");
                let same = interpret(&frame, Some(&split), 0)[output] == wanted[output];
                assert!(same, "seed {seed}, split: {}", arrangement.to_json(&frame));
                had[7] += stores_at_borders(&split);
            }
            wrong += u32::from(!same);
            let text = arrangement.to_json(&frame);
            let back = Arrangement::from_json(&text, &frame).unwrap();
            assert_eq!(back, arrangement);
            assert_eq!(
                Arrangement::from_json_lossy(&text, &frame).unwrap(),
                (arrangement.clone(), Vec::new())
            );
            let repaired = frame
                .pass_ids()
                .filter(|&gone| is_repaired(&arrangement, &frame, gone));
            had[3] += repaired.count() as u32;
            other = text;
            for pass in arranged.frame().passes() {
                if let CommandSource::Border { x, y } = pass.contents {
                    had[if x + y < 0 { 4 } else { 5 }] += 1;
                }
            }
            let parts = arranged.frame().resource_ids().skip(frame.resources().len());
            had[6] += parts
                .filter(|&part| !arranged.frame().resource(part).is_image())
                .count() as u32;
            let ways = arrangement.groups().map(|group| group.mode);
            for mode in ways {
                had[0] += u32::from(matches!(mode, GroupMode::Strips(_)));
                had[2] += u32::from(mode == GroupMode::Merged);
            }
            had[1] += u32::from(!arrangement.passes().is_sorted());
        }
    }
    (had, wrong)
}

#[test]
fn arranged_frames_read_what_described_ones_read() {
    let (had, _) = run(0..400, 0);
    println!(
        "strips, other orders, merges, repaired orders, copies out of strips, other copies, lists of strips, stores at borders: {had:?}"
    );
    assert!(had.iter().all(|count| *count > 20), "{had:?}");
}

/// The interpreter detects a halo that is too narrow.
#[test]
fn reads_that_look_farther_than_declared_are_seen() {
    let (_, wrong) = run(0..100, 1);
    assert!(wrong > 10, "{wrong}");
}
