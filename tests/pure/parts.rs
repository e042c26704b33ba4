//! Parts of images: levels, layers, aspects and slices with separate layouts, hazards and contents.

use ash::vk;
use tileheap::Checked;
use tileheap::frame::external::ExternalDesc;
use tileheap::frame::tables::ResourceKind;
use tileheap::frame::{
    ClearValue, CommandBufferId, Frame, FrameBuilder, ImageDesc, LoadOp, PassBuilder, Persistence,
    SubresourceRange,
};
use tileheap::lower::{DeviceQueues, Lowered, LoweringDesc, lower};
use tileheap::plan::{MemoryKind, Plan, PlanOptions, PlanTotals};
use tileheap::profile::{DeviceProfile, Features, PRESETS};
use tileheap::units::Run;
use tileheap::units::SplitMix64;

use crate::drawn::frame;
use crate::lowered_check::device;
use crate::planned::{plan_on, plan_with};
use tileheap_testkit::frames::{extent, one_queue};

const EXTENT: vk::Extent2D = extent(16, 16);
const CLEAR: LoadOp = LoadOp::Clear(ClearValue::ZERO);

/// A frame with one command buffer.
struct Scene {
    frame: FrameBuilder,
    commands: CommandBufferId,
    passes: u32,
}

impl Scene {
    fn new() -> Scene {
        let mut frame = FrameBuilder::new("parts", EXTENT);
        let commands = one_queue(&mut frame, vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE);
        Scene {
            frame,
            commands,
            passes: 0,
        }
    }

    fn render(&mut self) -> PassBuilder<'_> {
        self.passes += 1;
        self.frame.render_pass(self.commands, format!("p{}", self.passes))
    }

    fn compute(&mut self) -> PassBuilder<'_> {
        self.passes += 1;
        self.frame
            .compute_pass(self.commands, format!("p{}", self.passes))
    }

    fn build(self) -> Frame {
        self.frame.build().unwrap()
    }
}

fn lowered(plan: &Checked<Plan>) -> (LoweringDesc, Checked<Lowered>) {
    let lowering_desc = LoweringDesc::first(DeviceQueues::single_queue(&plan.frame));
    let tables = lower(plan, &lowering_desc).unwrap();
    (lowering_desc, tables)
}

fn layered(format: vk::Format, mip_levels: u32, array_layers: u32) -> ImageDesc {
    ImageDesc {
        mip_levels,
        array_layers,
        ..ImageDesc::new(format, EXTENT)
    }
}

/// A 3D image with the given numbers of levels and slices.
fn volume(mip_levels: u32, depth: u32) -> ImageDesc {
    let vk::Extent2D { width, height } = EXTENT;
    ImageDesc {
        image_type: vk::ImageType::TYPE_3D,
        mip_levels,
        ..ImageDesc::new(vk::Format::R8_UNORM, vk::Extent3D { width, height, depth })
    }
}

fn run(first: u32, end: u32) -> Run {
    Run::new(first, end)
}

#[test]
fn a_part_counts_for_the_bytes_that_it_has() {
    let frame = frame("pyramid");
    let bloom = frame.resource(frame.resource_named("bloom").unwrap());
    let whole = tileheap::units::Bytes(340);
    let part = |levels| SubresourceRange {
        levels,
        ..bloom.whole()
    };
    assert_eq!(bloom.bytes_in(part(run(0, 1)), whole).0, 256);
    assert_eq!(bloom.bytes_in(part(run(3, 4)), whole).0, 4);
    assert_eq!(bloom.bytes_in(bloom.whole(), whole), whole);
}

#[test]
fn what_is_said_of_a_wrong_part_is_refused() {
    let plan = plan_on(&frame("pyramid"), "generous");
    let (lowering_desc, tables) = lowered(&plan);
    let facts = device(&plan, &lowering_desc);
    let refused = |what: &str, change: &dyn Fn(&mut Lowered)| {
        let mut tables = tables.clone().into_inner();
        change(&mut tables);
        let errors = tables.violations(&plan.frame, &lowering_desc, &facts);
        assert!(!errors.is_empty(), "{what} is accepted");
        errors[0].to_string()
    };
    let view = tables.accesses[1].view.get().unwrap() as usize;
    refused("a view of another level", &|tables| {
        tables.views[view].range.levels = run(2, 3)
    });
    let attachment = tables.attachments[2].view as usize;
    refused("an attachment of another level", &|tables| {
        tables.views[attachment].range.levels = run(3, 4)
    });
    refused("another area", &|tables| {
        tables.instances[1].area.extent.width = 16
    });
    refused("views that are not declared", &|tables| {
        tables.instances[1].view_mask = 1
    });
}

/// Random accesses to random parts of images that were written whole, or level by level as separate images; if `solid`, two of them have slices in
/// place of layers.
fn random(seed: u64, apart: bool, separate_levels: bool, solid: bool) -> Frame {
    let mut random = SplitMix64::new(seed);
    let mut below = |limit: u32| random.below(u64::from(limit)) as u32;
    let mut scene = Scene::new();
    let mut images = Vec::new();
    for index in 0..3 {
        let mut desc = layered(vk::Format::R8_UNORM, 1 + below(4), 1 + below(4));
        let mut slices = 1;
        if solid && index < 2 {
            slices = 2 * desc.array_layers;
            desc = volume(desc.mip_levels, slices);
        }
        desc.separate_levels = separate_levels && !solid;
        let persistence = [Persistence::History, Persistence::Transient][below(2) as usize];
        let image = scene.frame.resource(format!("i{index}"), desc, persistence);
        let written = if apart { 1 } else { desc.mip_levels };
        for level in (0..desc.mip_levels).step_by(written as usize) {
            let pass = scene.compute().storage_write(image);
            pass.levels(level..level + written);
        }
        images.push((image, desc, slices, persistence));
    }
    for _ in 0..12 {
        let (image, desc, slices, persistence) = images[below(3) as usize];
        let level = below(desc.mip_levels);
        let count = desc.array_layers.max(slices >> level);
        let layer = below(count);
        let levels = level..level + 1 + below(if apart { 1 } else { desc.mip_levels - level });
        let layers = layer..layer + 1 + below(count - layer);
        let what = below(7);
        // The slices of several levels are used together.
        let whole = what > 1 && slices > 1 && levels.len() > 1;
        let pass = match what {
            0 => scene.render().color(image, CLEAR).level(level),
            1 => scene.render().color(image, LoadOp::Load).level(level),
            2 => scene.compute().storage_write(image).levels(levels),
            3 => scene.compute().storage_update(image).levels(levels),
            4 if persistence == Persistence::History => {
                scene.compute().sampled_previous(image).levels(levels)
            }
            5 => scene.compute().storage_read(image).levels(levels),
            _ => scene.compute().sampled(image).levels(levels),
        };
        if !whole {
            pass.layers(layers);
        }
    }
    scene.build()
}

/// Frames of random parts on a device: with slices for seeds divisible by four, with separate layouts for every other one of those.
fn random_plan(seed: u64) -> Checked<Plan> {
    let (apart, solid) = (seed % 3 == 0, seed % 4 == 0);
    let frame = random(seed, apart, apart, solid);
    assert_eq!(Frame::from_json(&frame.to_json()).unwrap(), frame, "seed {seed}");
    let mut profile = DeviceProfile::preset(PRESETS[seed as usize % PRESETS.len()]).unwrap();
    profile.features.set(Features::MAINTENANCE_9, seed % 8 == 0);
    plan_with(&frame, &profile, &PlanOptions::default())
}

#[test]
fn tables_of_random_parts_are_accepted_frame_after_frame() {
    for seed in 0..120 {
        let plan = random_plan(seed);
        let mut lowering_desc = LoweringDesc::first(DeviceQueues::single_queue(&plan.frame));
        for number in 0..4 {
            let tables = lower(&plan, &lowering_desc)
                .unwrap_or_else(|error| panic!("seed {seed}, frame {number}: {error}"));
            let errors = tables.violations(&plan.frame, &lowering_desc, &device(&plan, &lowering_desc));
            assert!(errors.is_empty(), "seed {seed}, frame {number}: {}", errors[0]);
            lowering_desc = lowering_desc.after(&tables);
        }
    }
}

/// Refused: no barrier, or one for other levels or slices.
#[test]
fn a_barrier_of_another_part_is_refused() {
    let (none, own) = (Features::empty(), Features::MAINTENANCE_9);
    let (computed, drawn) = ("volume in GENERAL", "volume drawn by slices");
    for (name, features) in [("pyramid", none), (computed, none), (drawn, none), (drawn, own)] {
        let mut profile = DeviceProfile::preset("adreno-830").unwrap();
        profile.features |= features;
        let plan = plan_with(&frame(name), &profile, &PlanOptions::default());
        let (lowering_desc, tables) = lowered(&plan);
        let facts = device(&plan, &lowering_desc);
        for (barrier, row) in tables.image_barriers.iter().enumerate() {
            // No transition, and no wait.
            let mut changed = vec![*row; 2];
            changed[0].new_layout = row.old_layout;
            if row.old_layout != vk::ImageLayout::UNDEFINED {
                changed[1].scopes.src_stages = vk::PipelineStageFlags2::HOST;
            }
            for part in [run(0, 1), run(3, 4), run(1, 3), run(0, 5), run(2, 2)] {
                changed.extend([*row; 2]);
                let [.., levels, slices] = &mut changed[..] else {
                    unreachable!()
                };
                (levels.range.levels, slices.range.layers) = (part, part);
            }
            for other in changed.into_iter().filter(|other| other != row) {
                let mut tables = tables.clone().into_inner();
                tables.image_barriers[barrier] = other;
                let errors = tables.violations(&plan.frame, &lowering_desc, &facts);
                // Levels without contents may change their layout early: their own transitions come after that one without a barrier (Vulkan
                // specification, "Image Layout Transitions").
                let contains = |outer: Run, inner: Run| outer.first <= inner.first && inner.end <= outer.end;
                let is_early = row.old_layout == vk::ImageLayout::UNDEFINED
                    && other.scopes == row.scopes
                    && other.new_layout == row.new_layout
                    && contains(other.range.levels, row.range.levels)
                    && contains(other.range.layers, row.range.layers);
                assert!(
                    is_early || !errors.is_empty(),
                    "{name}: {other:?} for {row:?} is accepted"
                );
            }
        }
    }
}

#[test]
fn levels_that_no_access_uses_together_are_images_of_their_own() {
    for seed in 0..30 {
        let [one, apart] = [false, true].map(|separate| random(seed, true, separate, false));
        for (access, other) in one.accesses().iter().zip(apart.accesses()) {
            let image = apart.level(access.resource, access.range.levels.first);
            let mut range = access.range;
            range.levels = run(0, 1);
            assert_eq!((other.resource, other.range), (image, range), "seed {seed}");
            let areas = [&one, &apart].map(|frame| frame.pass(access.pass).area);
            assert_eq!(areas[0], areas[1], "seed {seed}");
        }
    }
}

/// Levels are found by the data of the frame, not by name.
#[test]
fn an_image_that_is_named_like_a_level_is_not_one() {
    let mut scene = Scene::new();
    let mut desc = layered(vk::Format::R8G8B8A8_UNORM, 1, 1);
    desc.separate_levels = true;
    let names = ["bloom", "bloom level 1", "bloom level x"];
    let [bloom, named, _] = names.map(|name| scene.frame.image(name, desc));
    scene.render().color(bloom, CLEAR).color(named, CLEAR);
    let frame = scene.build();
    assert_eq!(frame.level(bloom, 0), bloom);
    assert_eq!(frame.level(bloom, 1), bloom, "it has no level 1");
    assert!(
        frame
            .resources()
            .iter()
            .all(|resource| resource.level_of.is_none())
    );

    // An image with another name is a level if the frame declares it.
    let text = pyramid().to_json().replace("bloom level 1", "half");
    let frame = Frame::from_json(&text).unwrap();
    let id = |name: &str| frame.resource_named(name).expect("a resource of this name");
    assert_eq!(frame.level(id("bloom"), 1), id("half"));
    assert_eq!(frame.level(id("bloom"), 2), id("bloom level 2"));
    let origin = |name: &str| frame.resource(id(name)).level_of.map(|of| (of.image, of.level));
    assert_eq!([origin("bloom"), origin("half")], [None, Some((id("bloom"), 1))]);
}

pub(crate) fn pyramid() -> Frame {
    bloom(true, Persistence::Transient, "last level").unwrap()
}

#[test]
fn levels_follow_their_image_to_other_sizes() {
    let mut scene = Scene::new();
    let mut desc = ImageDesc::scaled(vk::Format::R8G8B8A8_UNORM, 1.0, 1.0);
    (desc.separate_levels, desc.mip_levels) = (true, 3);
    let bloom = scene.frame.image("bloom", desc);
    for level in 0..3 {
        scene.render().color(bloom, CLEAR).level(level);
    }
    let mut again = scene.build().to_builder();
    again.set_base_extent(extent(40, 24));
    let frame = again.build().unwrap();
    assert_eq!(Frame::from_json(&frame.to_json()).unwrap(), frame);
    let sides = [0, 1, 2].map(|level| match frame.resource(frame.level(bloom, level)).kind {
        ResourceKind::Image { extent, .. } => [extent.width, extent.height],
        ResourceKind::Buffer { .. } => unreachable!("bloom is an image"),
    });
    assert_eq!(sides, [[40, 24], [20, 12], [10, 6]]);
}

#[test]
fn an_image_that_cannot_be_a_level_is_refused() {
    let with = |image: &str, level: u32| {
        let mut document: serde_json::Value = serde_json::from_str(&pyramid().to_json()).unwrap();
        let mut resources = document["resources"]
            .as_array_mut()
            .expect("resources")
            .iter_mut();
        let first = resources
            .find(|one| one["name"] == "bloom level 1")
            .expect("level 1");
        first["level_of"] = serde_json::json!({ "image": image, "level": level });
        Frame::from_json(&document.to_string()).unwrap_err().to_string()
    };
    let refused = [
        (
            with("lake", 1),
            "resource `lake`, which the frame does not declare",
        ),
        (
            with("last level", 1),
            "`last level` must not itself be a level of another image",
        ),
        (
            with("bloom level 3", 1),
            "`bloom level 3` must not itself be a level of another image",
        ),
        (with("bloom", 2), "level 2 of `bloom` is already `bloom level 1`"),
        (with("bloom", 0), "level 0 is not between 1 and 31"),
        (with("bloom", 32), "level 32 is not between 1 and 31"),
    ];
    for (message, why) in refused {
        assert!(message.contains(why), "{message}");
    }
}

/// Seven levels, of which the largest fits into tile memory, but not all together.
fn bloom(separate_levels: bool, persistence: Persistence, out: &str) -> tileheap::Result<Frame> {
    let mut scene = Scene::new();
    let mut desc = ImageDesc::new(vk::Format::R8G8B8A8_UNORM, extent(1024, 1792));
    (desc.separate_levels, desc.mip_levels) = (separate_levels, 7);
    let bloom = scene.frame.resource("bloom", desc, persistence);
    scene.render().color(bloom, CLEAR);
    for level in 1..7 {
        let pass = scene.render().sampled(bloom).level(level - 1);
        pass.color(bloom, CLEAR).level(level);
    }
    let joins = out == "all levels";
    let out = scene.frame.image(out, layered(vk::Format::R8_UNORM, 1, 1));
    let pass = scene.render().color(out, CLEAR).sampled(bloom);
    pass.levels(if joins { 0..7 } else { 6..7 });
    scene.frame.build()
}

#[test]
fn a_large_level_lives_on_chip_where_the_pyramid_does_not_fit() {
    let frames = [(false, "last level"), (true, "last level"), (true, "all levels")];
    let [one, apart, joined] = frames.map(|(separate, out)| {
        let frame = bloom(separate, Persistence::Transient, out).unwrap();
        assert_eq!(Frame::from_json(&frame.to_json()).unwrap(), frame);
        plan_on(&frame, "adreno-830")
    });
    let id = one.frame.resource_named("bloom").unwrap();
    assert_eq!(one.memory_of(id), Some(MemoryKind::Arena));
    assert_eq!(apart.memory_of(id), Some(MemoryKind::Tile), "{apart}");
    assert!(apart.totals.on_chip_bytes > one.totals.on_chip_bytes);
    // It reads all levels instead of one; everything else is the same.
    let totals = PlanTotals {
        traffic_bytes: one.totals.traffic_bytes,
        ..joined.totals
    };
    assert_eq!(totals, one.totals);
    let why = "its levels are one image: `p8` uses several at once";
    let noted = [&one, &apart, &joined].map(|plan| plan.reason_text(id).contains(why));
    assert_eq!(noted, [false, false, true]);
    let remedy = "`separate_levels` makes each level an image of its own";
    let noted = [&one, &apart, &joined].map(|plan| plan.reason_text(id).contains(remedy));
    assert_eq!(noted, [true, false, false]);
    let external = Persistence::External(ExternalDesc::SWAPCHAIN);
    let refused = [(external, "out"), (Persistence::Transient, "bloom level 1")]
        .map(|(persistence, out)| bloom(true, persistence, out).unwrap_err().to_string());
    assert!(refused[0].contains("the levels of `bloom`"), "{refused:?}");
    assert!(refused[1].contains("named `bloom level 1`"), "{refused:?}");
}
