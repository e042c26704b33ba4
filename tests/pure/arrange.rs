//! Arrangements: results of the search on published frames, and that every read still sees the same contents.

use std::ops::ControlFlow;

use ash::vk;
use tileheap::Checked;
use tileheap::arrange::{
    Arrangement, DescriptionChange, GroupMode, PassGroup, SearchOptions, SearchResult, StripGrid, search,
};
use tileheap::frame::import::read;
use tileheap::frame::tables::ResourceKind;
use tileheap::frame::{
    BufferDesc, ClearValue, Frame, FrameBuilder, ImageDesc, LoadOp, ReachAssumptions, ReadReach, TileLists,
};
use tileheap::plan::Plan;
use tileheap::units::Bytes;

use crate::drawn::frame;
use crate::planned::{plan_on, plan_with};

fn planned(file: &str, size: [u32; 2], profile: &str) -> Checked<Plan> {
    let text = std::fs::read_to_string(tileheap_testkit::data("frames").join(file)).unwrap();
    let reach = std::fs::read_to_string(tileheap_testkit::data("reach.json")).unwrap();
    let [width, height] = size;
    let frame = read(&text, Some(vk::Extent2D { width, height })).unwrap().frame;
    let frame = frame
        .with_reaches(&ReachAssumptions::from_json(&reach, file).unwrap())
        .unwrap();
    plan_on(&frame, profile)
}

fn found(plan: &Plan) -> SearchResult {
    search(
        plan,
        &SearchOptions::default(),
        &mut |_| ControlFlow::Continue(()),
    )
}

/// The frames of `tests/data/frames`, the size, the share in percent that an arrangement must keep on chip, and how many points
/// below the cap it may be. The cap of Granite's frame counts strips that hold `taa-output`, but not the wide halo that the bloom needs around them.
const WANTED: [(&str, [u32; 2], f64, f64); 5] = [
    (GRANITE, [1920, 1080], 56.0, 8.2),
    (GRANITE, [2560, 1440], 60.0, 10.2),
    (GRANITE, [3840, 2160], 65.0, 10.5),
    ("qualcomm_tile_memory_sample.json", [1920, 1080], 47.5, 8.8),
    ("khronos_local_read_deferred.json", [1920, 1080], 93.0, 1.0),
];

#[test]
fn published_frames_mostly_stay_on_chip() {
    for (file, size, wanted, gap) in WANTED {
        let plan = planned(file, size, "adreno-830");
        let found = found(&plan);
        let described = plan.described();
        let share = found.traffic.share() * 100.0;
        println!(
            "{file} {size:?}: {:.1} % as described, {share:.1} % arranged, cap {:.1} %, {} steps",
            found.described.share() * 100.0,
            found.cap() * 100.0,
            found.steps
        );
        assert!(share >= wanted, "{file} {size:?}: {share}");
        assert!(found.traffic.shaded <= 1.5);
        let cap = found.cap() * 100.0;
        assert!(
            share <= cap + 1e-7 && share >= cap - gap,
            "{file} {size:?}: {share} of {cap}"
        );
        let arranged = found.arrangement.apply(described).unwrap();
        let replanned = plan_with(&arranged, &plan.profile, &plan.options);
        replanned.check().unwrap();
        // The plan of the executed frame keeps on chip what the search expects, and its totals count the bytes that strips move.
        let off_chip = replanned.dram_traffic().0;
        let moved = (found.traffic.moved + found.traffic.halos).0;
        let rounding = moved / 50 + plan.totals.traffic_bytes.0 / 500;
        assert!(
            off_chip.abs_diff(moved) <= rounding,
            "{file} {size:?}: {off_chip} of {moved}"
        );
        // The causes explain the difference between the share and the cap to the last percent.
        let named: u64 = found.shortfalls.iter().map(|one| one.bytes.0).sum();
        let all = found.described.described.0 as f64;
        let short = (found.cap() - found.traffic.share()) * all;
        assert!(
            (named as f64 - short).abs() <= all / 100.0,
            "{file} {size:?}: {named} of {short}"
        );
    }
}

const GRANITE: &str = "granite_deferred_taa_bloom.json";

/// Texts of Granite's frame and of the published reaches.
fn granite() -> [String; 2] {
    [
        tileheap_testkit::data("frames").join(GRANITE),
        tileheap_testkit::data("reach.json"),
    ]
    .map(|path| std::fs::read_to_string(path).unwrap())
}

/// Granite's frame from edited texts, planned as described, with the best arrangement.
fn arranged([text, reach]: [String; 2]) -> (Checked<Plan>, SearchResult) {
    let (width, height) = (1920, 1080);
    let frame = read(&text, Some(vk::Extent2D { width, height })).unwrap().frame;
    let frame = frame
        .with_reaches(&ReachAssumptions::from_json(&reach, GRANITE).unwrap())
        .unwrap();
    let plan = plan_on(&frame, "adreno-830");
    let found = found(&plan);
    (plan, found)
}

/// Plans an arrangement that was found.
fn replanned(plan: &Plan, found: &SearchResult) -> Checked<Plan> {
    let arranged = found.arrangement.apply(plan.described()).unwrap();
    let replanned = plan_with(&arranged, &plan.profile, &plan.options);
    replanned.check().unwrap();
    replanned
}

#[test]
fn render_passes_with_attachments_of_different_sizes_do_not_run_in_strips() {
    let [text, reach] = granite();
    let mut frame: serde_json::Value = serde_json::from_str(&text).unwrap();
    let resources = frame["resources"].as_array_mut().unwrap().iter_mut();
    let mut depth = resources.filter(|resource| resource["name"] == "depth-prepass/transient");
    depth.next().unwrap()["extent_scale"] = serde_json::json!([0.25, 0.25]);
    let (plan, found) = arranged([frame.to_string(), reach]);
    replanned(&plan, &found);
}

#[test]
fn repeats_that_cost_more_than_the_largest_resource_are_refused() {
    let [text, reach] = granite();
    let reach = reach.replace("1048576", "2199023255552");
    let frame = read(&text, None).unwrap().frame;
    let refused = frame
        .with_reaches(&ReachAssumptions::from_json(&reach, GRANITE).unwrap())
        .unwrap_err();
    let wanted = "costs 2,199,023,255,552 B to repeat: at most 1,099,511,627,776 B is allowed";
    assert!(refused.to_string().contains(wanted), "{refused}");
}

#[test]
fn images_of_strips_avoid_the_names_of_the_frame() {
    let (plan, found) = arranged(granite().map(|text| text.replace("emissive/HDR", "ssao-output #1")));
    let replanned = replanned(&plan, &found);
    let names = replanned.frame.resources().iter();
    assert!(names.filter(|one| one.name.starts_with("ssao-output #1")).count() > 1);
}

/// Limited by the driver's merging: Arm's, at most 128 or 256 color bits per pixel.
#[test]
fn merging_alone_keeps_what_input_attachments_allow() {
    let allowed = SearchOptions {
        order: false,
        fuse: false,
        strips: false,
        ..SearchOptions::default()
    };
    let merged = |profile: &str| {
        let plan = planned("khronos_local_read_deferred.json", [1920, 1080], profile);
        let found = search(&plan, &allowed, &mut |_| ControlFlow::Continue(()));
        let merged = found
            .arrangement
            .groups()
            .filter(|group| group.mode == GroupMode::Merged);
        (
            merged.map(|group| group.passes.len()).collect::<Vec<_>>(),
            found.traffic.share(),
        )
    };
    for profile in ["no-tile-memory", "adreno-740", "mali-g72"] {
        let (groups, share) = merged(profile);
        assert_eq!(groups, [3], "{profile}");
        // Only the external output is left.
        assert!(share >= 0.93, "{profile}: {share}");
    }
    // 160 bits exceed its limit.
    let (groups, share) = merged("mali-g71");
    assert!(!groups.contains(&3) && share < 0.9, "{groups:?}: {share}");
}

/// The same inputs give the same answer, also with few steps; a search that is ended keeps its best result.
#[test]
fn the_search_is_repeatable_and_can_be_ended() {
    let plan = planned(WANTED[0].0, WANTED[0].1, "adreno-830");
    assert_eq!(found(&plan), found(&plan));
    let few = SearchOptions {
        steps: 100,
        ..SearchOptions::default()
    };
    let some = search(&plan, &few, &mut |_| ControlFlow::Continue(()));
    // Of each of the three searches, and a little more to end them.
    assert!(some.steps <= 3 * 130 && some.traffic.share() >= some.described.share());
    let mut seen = 0;
    let ended = search(&plan, &SearchOptions::default(), &mut |_| {
        seen += 1;
        ControlFlow::Break(())
    });
    assert_eq!(seen, 1);
    assert!(ended.steps < found(&plan).steps);
    ended.arrangement.check(plan.described()).unwrap();
}

/// Passes that each read the image of the pass before.
fn chain(passes: u32) -> Frame {
    let extent = vk::Extent2D {
        width: 64,
        height: 64,
    };
    let mut frame = FrameBuilder::new("chain", extent);
    let queue = frame.queue("main", vk::QueueFlags::GRAPHICS);
    let submit = frame.submit(queue);
    let batch = frame.batch(submit);
    let commands = frame.command_buffer(batch, "commands");
    let mut before = None;
    for pass in 0..passes {
        let desc = ImageDesc::new(vk::Format::R8G8B8A8_UNORM, extent);
        let image = frame.image(format!("image {pass}"), desc);
        let draw = frame.render_pass(commands, format!("draw {pass}"));
        let draw = match before.replace(image) {
            Some(before) => draw.sampled(before),
            None => draw,
        };
        draw.color(image, LoadOp::DontCare);
    }
    frame.build().unwrap()
}

/// The moves of a large frame are listed, not applied: there are 14,000, and a copy of the arrangement for each would take 170 MB.
#[test]
fn the_search_needs_little_memory() {
    let plan = plan_on(&chain(120), "adreno-830");
    let few = SearchOptions {
        steps: 10,
        ..SearchOptions::default()
    };
    let search = || search(&plan, &few, &mut |_| ControlFlow::Continue(()));
    let (found, bytes) = tileheap_testkit::counting::peak_of(search);
    assert!(found.traffic.share() >= found.described.share());
    assert!(bytes < 16 << 20, "{bytes} B");
}

/// A strip of a smaller level would be a part of the first one, at the wrong place.
#[test]
fn passes_that_write_to_smaller_levels_do_not_run_in_strips() {
    let extent = vk::Extent2D {
        width: 800,
        height: 600,
    };
    let mut frame = FrameBuilder::new("levels", extent);
    let color = ImageDesc::new(vk::Format::R16G16B16A16_SFLOAT, extent);
    let levels = ImageDesc {
        mip_levels: 3,
        ..color
    };
    let levels = frame.image("levels", levels);
    let [source, out] = ["source", "out"].map(|name| frame.image(name, color));
    let queue = frame.queue("graphics", vk::QueueFlags::GRAPHICS);
    let submit = frame.submit(queue);
    let batch = frame.batch(submit);
    let commands = frame.command_buffer(batch, "commands");
    let draw = frame.render_pass(commands, "draw");
    draw.color(source, LoadOp::DontCare).in_strips(Bytes::ZERO);
    for level in 0..3 {
        let down = frame.render_pass(commands, format!("down {level}"));
        let down = match level {
            0 => down.sampled(source),
            _ => down.sampled(levels).level(level - 1),
        };
        let down = down.reaching(ReadReach::Texels(2));
        down.color(levels, LoadOp::DontCare)
            .level(level)
            .in_strips(Bytes::ZERO);
    }
    let last = frame.render_pass(commands, "last");
    let last = last.sampled(levels).levels(0..3).reaching(ReadReach::Texels(1));
    last.color(out, LoadOp::DontCare).in_strips(Bytes::ZERO);
    let plan = plan_on(&frame.build().unwrap(), "adreno-830");
    let frame = plan.described();
    let mut arrangement = Arrangement::described(frame);
    let groups = &mut arrangement.batches[0].groups;
    let passes = groups[..3].iter().map(|group| group.passes[0]).collect();
    let grid = StripGrid { columns: 1, rows: 2 };
    groups.splice(..3, [PassGroup::new(passes, GroupMode::Strips(grid))]);
    let error = arrangement.check(frame).unwrap_err().to_string();
    let why = "pass `down 1` writes to a mip level other than the first";
    assert!(error.ends_with(why), "{error}");
    replanned(&plan, &found(&plan));
}

/// Two batches, and an image between them that fits into tile memory only in strips.
#[test]
fn batches_are_fused_for_strips() {
    let planned = plan_on(&frame("two batches, in strips"), "adreno-830");
    let found = found(&planned);
    assert_eq!(found.arrangement.batches.len(), 1);
    assert!(found.traffic.moved < found.described.moved, "{:?}", found.traffic);
    let apart = SearchOptions {
        fuse: false,
        ..SearchOptions::default()
    };
    let apart = search(&planned, &apart, &mut |_| ControlFlow::Continue(()));
    assert!(apart.traffic.moved > found.traffic.moved, "{:?}", apart.traffic);
}

/// Documents edited by hand, or invalid ones.
#[test]
fn nonsense_is_refused_or_left_out() {
    let plan = planned(WANTED[0].0, WANTED[0].1, "adreno-830");
    let described = plan.described();
    let good = Arrangement::described(described).to_json(described);
    let first = described.passes()[0].name.as_str();
    for (from, to) in [
        (format!("\"{first}\""), "\"nobody\"".to_owned()),
        (format!("\"{first}\""), String::new()),
        (
            "\"groups\"".to_owned(),
            "\"fuses\": 4294967295, \"groups\"".to_owned(),
        ),
        ("\"groups\"".to_owned(), "\"fuses\": 0, \"groups\"".to_owned()),
    ] {
        let bad = good.replacen(&from, &to, 1);
        assert_ne!(bad, good);
        let error = Arrangement::from_json(&bad, described).unwrap_err().to_string();
        assert!(error.starts_with("arrangement"), "{error}");
        let repaired = Arrangement::from_json_lossy(&bad, described).unwrap();
        assert_eq!(repaired.0, Arrangement::described(described));
    }
    // A reach beyond the whole image is one of the whole image.
    let far = |texels| {
        let reach = format!(r#"{{ "reach": {{ "lighting": {{ "ssao-output": {texels} }} }} }}"#);
        let reaches = ReachAssumptions::from_json(&reach, "").unwrap();
        let frame = described.with_reaches(&reaches).unwrap();
        found(&tileheap::plan::plan(&frame, &plan.requirements, &plan.profile, &plan.options).unwrap())
    };
    let (far, farther) = (far(100_000), far(u32::MAX));
    assert_eq!(far.traffic, farther.traffic);
}

/// Narrower formats and smaller extents save bytes in addition to an arrangement; the executed frame is the changed one, and its plan moves no more
/// than the search expects.
#[test]
fn descriptions_change_where_that_is_allowed() {
    let plan = planned(WANTED[0].0, [2560, 1440], "adreno-830");
    let as_described = found(&plan);
    let search = |allowed: SearchOptions| search(&plan, &allowed, &mut |_| ControlFlow::Continue(()));
    let narrow = search(SearchOptions {
        format: true,
        ..SearchOptions::default()
    });
    let any = search(SearchOptions {
        format: true,
        extent: true,
        usage: true,
        ..SearchOptions::default()
    });
    let costs = [&as_described, &narrow, &any].map(|found| found.traffic.moved + found.traffic.charges());
    assert!(costs[1] < costs[0] && costs[2] < costs[1], "{costs:?}");
    for found in [narrow, any] {
        let described = plan.described();
        let text = found.arrangement.to_json(described);
        let read = [
            Arrangement::from_json(&text, described),
            Arrangement::from_json_lossy(&text, described).map(|(repaired, _)| repaired),
        ];
        assert_eq!(
            read.map(Result::unwrap),
            [(); 2].map(|()| found.arrangement.clone())
        );
        let arranged = found.arrangement.apply(described).unwrap();
        for change in &found.arrangement.changes {
            if let DescriptionChange::Format { image, format } = *change {
                let first = arranged.origins().whole(image).index();
                let kind = arranged.frame().resources()[first].kind;
                assert!(matches!(kind, ResourceKind::Image { desc, .. } if desc.format == format));
            }
        }
        let replanned = plan_with(&arranged, &plan.profile, &plan.options);
        replanned.check().unwrap();
    }
}

/// Invalid changes are refused with the change and the reason.
#[test]
fn impossible_changes_of_a_description_are_named() {
    let plan = planned(WANTED[0].0, WANTED[0].1, "adreno-830");
    let frame = plan.described();
    let mut arrangement = Arrangement::described(frame);
    let image = frame
        .resource_ids()
        .find(|&id| frame.resource(id).is_image())
        .unwrap();
    let writer = frame.accesses_to(image).next().unwrap().pass;
    for (change, says) in [
        (
            DescriptionChange::Format {
                image,
                format: vk::Format::UNDEFINED,
            },
            "images need a format other than VK_FORMAT_UNDEFINED",
        ),
        (
            DescriptionChange::Extent { image, quarters: 4 },
            "must be 1, 2 or 3, but is 4",
        ),
        (
            DescriptionChange::Use {
                resource: image,
                pass: writer,
            },
            "before anything in the frame has written it",
        ),
    ] {
        arrangement.changes = vec![change];
        let error = arrangement.check(frame).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
}

/// A list of 2048 lights for each tile of 16 x 16 pixels: together they are larger than tile memory.
const LISTS: TileLists = TileLists {
    tile: 16,
    bytes: Bytes(4096),
};

/// Light culling and lighting at 1280 x 720, planned.
fn culled(lists: Option<TileLists>) -> Checked<Plan> {
    let extent = vk::Extent2D {
        width: 1280,
        height: 720,
    };
    let mut frame = FrameBuilder::new("culled", extent);
    let mut image = |name, format| frame.image(name, ImageDesc::new(format, extent));
    let depth = image("depth", vk::Format::D32_SFLOAT);
    let lit = image("lit", vk::Format::R16G16B16A16_SFLOAT);
    let out = image("out", vk::Format::R8G8B8A8_UNORM);
    let indices = BufferDesc {
        lists,
        ..BufferDesc::new(LISTS.size(extent))
    };
    let indices = frame.buffer("indices", indices);
    let queue = frame.queue("graphics", vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE);
    let submit = frame.submit(queue);
    let batch = frame.batch(submit);
    let commands = frame.command_buffer(batch, "commands");
    let far = LoadOp::Clear(ClearValue::DepthStencil(1.0, 0));
    let draw = frame.render_pass(commands, "draw");
    draw.depth(depth, far).in_strips(Bytes::mib(1));
    let cull = frame.compute_pass(commands, "cull");
    let cull = cull.sampled(depth).reaching(ReadReach::PIXEL);
    cull.storage_write(indices).in_strips(Bytes::ZERO);
    let light = frame.render_pass(commands, "light");
    let light = light.sampled(depth).reaching(ReadReach::PIXEL);
    let light = light.storage_read(indices).reaching(match lists {
        Some(_) => ReadReach::PIXEL,
        None => ReadReach::Anywhere,
    });
    light.color(lit, LoadOp::DontCare).in_strips(Bytes::ZERO);
    let tone = frame.render_pass(commands, "tone");
    let tone = tone.sampled(lit).reaching(ReadReach::PIXEL);
    tone.color(out, LoadOp::DontCare).in_strips(Bytes::ZERO);
    let frame = frame.build().unwrap();
    assert_eq!(Frame::from_json(&frame.to_json()).unwrap(), frame);
    plan_on(&frame, "adreno-830")
}

/// Light culling and lighting run in the same strips, which hold their own lists.
#[test]
fn strips_hold_the_lists_of_their_tiles() {
    let plan = culled(Some(LISTS));
    let lists = plan.described().resource_named("indices").unwrap();
    let found = found(&plan);
    let whole = self::found(&culled(None));
    let shares = [&found, &whole].map(|found| found.traffic.share());
    assert!(shares[0] > shares[1] + 0.1, "{shares:?}");
    let arranged = found.arrangement.apply(plan.described()).unwrap();
    let frame = arranged.frame();
    let parts = frame.resource_ids().filter(|&id| {
        let origin = arranged.origins().resource(id);
        origin.resource == lists && origin.area.is_some()
    });
    let bytes = |id| match frame.resource(id).kind {
        ResourceKind::Buffer { desc, .. } => (desc.size, desc.lists),
        ResourceKind::Image { .. } => panic!("a buffer is divided into buffers"),
    };
    let mut all = Bytes::ZERO;
    for part in parts {
        let extent = arranged.part(part).area.unwrap().extent;
        let tiles = u64::from(extent.width) * u64::from(extent.height);
        assert_eq!(bytes(part), (Bytes(tiles * LISTS.bytes.0), None));
        all += bytes(part).0;
    }
    assert_eq!(all, LISTS.size(frame.base_extent()));
    replanned(&plan, &found);
}

/// Lists that do not fit their buffer, and lists of an image.
#[test]
fn lists_without_room_are_refused() {
    let frame = culled(None).described().clone();
    let with = |tile: u32, bytes| {
        let mut builder = frame.to_builder();
        let indices = frame.resource_named("indices").unwrap();
        let bytes = Bytes(bytes);
        builder.set_lists(indices, Some(TileLists { tile, bytes }));
        builder.build().unwrap_err().to_string()
    };
    let small = with(16, 8192);
    let wanted = "buffer `indices` of 14,745,600 B has no room for 80 x 45 lists of 8,192 B, one for each 16 x 16 pixels: 29,491,200 B are needed";
    assert!(small.ends_with(wanted), "{small}");
    let nothing = "must be at least 1";
    assert!(with(0, 4).ends_with(nothing) && with(16, 0).ends_with(nothing));
    let assumed = |text: &str| frame.with_reaches(&ReachAssumptions::from_json(text, "").unwrap());
    let refused = |text: &str| assumed(text).unwrap_err().to_string();
    let image = refused(r#"{ "lists": { "depth": 16 } }"#);
    assert!(
        image.contains("image `depth`: only a buffer can hold a list for each tile"),
        "{image}"
    );
    let unknown = refused(r#"{ "lists": { "nothing": 16 } }"#);
    assert!(unknown.contains("resource `nothing`"), "{unknown}");
    // The lists take up all of the buffer.
    let known = assumed(r#"{ "lists": { "indices": 16 } }"#).unwrap();
    let indices = known.resource(known.resource_named("indices").unwrap());
    assert!(matches!(indices.kind, ResourceKind::Buffer { desc, .. } if desc.lists == Some(LISTS)));
}
