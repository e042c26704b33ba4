//! Parts of images: levels, layers, aspects and slices with layouts, hazards and contents of their own.

use ash::vk;
use tileheap::frame::{
    ClearValue, CommandBufferId, Frame, FrameBuilder, ImageDesc, LoadOp, PassBuilder, Persistence,
    ResourceId, SubresourceRange,
};
use tileheap::lower::tables::commands::ImageBarrierRow;
use tileheap::lower::{Checked, DeviceQueues, Lowered, Situation, lower};
use tileheap::plan::Plan;
use tileheap::profile::PRESETS;
use tileheap::units::Run;
use tileheap::units::SplitMix64;

use crate::lowered_check::device;
use crate::planned::plan_on;
use tileheap_testkit::frames::one_queue;

const EXTENT: vk::Extent2D = vk::Extent2D {
    width: 16,
    height: 16,
};
const CLEAR: LoadOp = LoadOp::Clear(ClearValue::ZERO);

/// A frame of one command buffer.
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

    fn image(&mut self, name: &str, desc: ImageDesc) -> ResourceId {
        self.frame.image(name, desc)
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

fn lowered(plan: &Plan) -> (Situation, Checked<Lowered>) {
    let situation = Situation::first(DeviceQueues::one(&plan.frame));
    let tables = lower(plan, &situation).unwrap();
    (situation, tables)
}

fn layered(format: vk::Format, mip_levels: u32, array_layers: u32) -> ImageDesc {
    ImageDesc {
        mip_levels,
        array_layers,
        ..ImageDesc::new(format, EXTENT)
    }
}

/// Every level of an image is drawn from the one above; a last pass samples all.
fn pyramid() -> Frame {
    let mut scene = Scene::new();
    let bloom = scene.image("bloom", layered(vk::Format::R8_UNORM, 4, 1));
    let out = scene.image("out", ImageDesc::new(vk::Format::R8_UNORM, EXTENT));
    scene.render().color(bloom, CLEAR);
    for level in 1..4 {
        let pass = scene.render().sampled(bloom).level(level - 1);
        pass.color(bloom, LoadOp::DontCare).level(level);
    }
    scene.render().sampled(bloom).color(out, CLEAR);
    scene.build()
}

fn barriers_before(tables: &Lowered, pass: usize) -> &[ImageBarrierRow] {
    tables.passes[pass].before.images.of(&tables.image_barriers)
}

fn run(first: u32, end: u32) -> Run {
    Run::new(first, end)
}

#[test]
fn the_levels_of_a_pyramid_change_layout_one_by_one() {
    let frame = pyramid();
    let bloom = frame.resource_named("bloom").unwrap();
    assert_eq!(frame.parts_of(bloom).len(), 4);
    assert_eq!(
        frame.passes()[2].area.extent,
        vk::Extent2D { width: 4, height: 4 }
    );
    let plan = plan_on(&frame, "generous");
    let (_, tables) = lowered(&plan);
    for level in 1..4 {
        let levels: Vec<_> = barriers_before(&tables, level)
            .iter()
            .map(|barrier| (barrier.range.levels, barrier.new_layout))
            .collect();
        let at = level as u32;
        assert_eq!(
            levels,
            [
                (run(at - 1, at), vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL),
                (run(at, at + 1), vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL),
            ]
        );
    }
    // Only the last level is not readable yet.
    let of_bloom = barriers_before(&tables, 4)
        .iter()
        .map(|barrier| barrier.range.levels);
    assert_eq!(
        of_bloom.filter(|levels| *levels != run(0, 1)).collect::<Vec<_>>(),
        [run(3, 4)]
    );
    let views = tables.accesses.iter().filter_map(|access| access.view);
    let seen: Vec<Run> = views
        .map(|view| tables.views[view as usize].range.levels)
        .collect();
    assert_eq!(seen, [run(0, 1), run(1, 2), run(2, 3), run(0, 4)]);
}

#[test]
fn a_part_counts_for_the_bytes_that_it_has() {
    let frame = pyramid();
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
    let plan = plan_on(&pyramid(), "generous");
    let (situation, tables) = lowered(&plan);
    let facts = device(&plan, &situation);
    let refused = |what: &str, change: &dyn Fn(&mut Lowered)| {
        let mut tables = tables.clone().into_inner();
        change(&mut tables);
        let errors = tables.violations(&plan.frame, &situation, &facts);
        assert!(!errors.is_empty(), "{what} is accepted");
        errors[0].to_string()
    };
    let of_pass = |pass: usize| tables.passes[pass].before.images.indices();
    for pass in 1..4 {
        for barrier in of_pass(pass) {
            // Another level of the image, all of them, none.
            let levels = |tables: &mut Lowered, levels| tables.image_barriers[barrier].range.levels = levels;
            let own = tables.image_barriers[barrier].range.levels;
            let other = (own.first + 2) % 4;
            refused("another level", &|tables| levels(tables, run(other, other + 1)));
            refused("all levels", &|tables| levels(tables, run(0, 4)));
            refused("a level that is not there", &|tables| levels(tables, run(4, 5)));
            let again = tables.image_barriers[barrier].old_layout;
            refused("no transition", &|tables| {
                tables.image_barriers[barrier].new_layout = again
            });
            if again != vk::ImageLayout::UNDEFINED {
                refused("no wait", &|tables| {
                    tables.image_barriers[barrier].scopes.src_stages = vk::PipelineStageFlags2::HOST;
                });
            }
        }
    }
    let view = tables.accesses[1].view.unwrap() as usize;
    refused("a view of another level", &|tables| {
        tables.views[view].range.levels = run(2, 3)
    });
    let attachment = tables.attachments[2].view as usize;
    refused("an attachment of another level", &|tables| {
        tables.views[attachment].range.levels = run(3, 4)
    });
    refused("another area", &|tables| {
        tables.renderings[1].area.extent.width = 16
    });
    refused("views that are not declared", &|tables| {
        tables.renderings[1].view_mask = 1
    });
}

#[test]
fn parts_that_are_not_there_are_named() {
    type Describe<'a> = &'a dyn for<'b> Fn(PassBuilder<'b>, ResourceId) -> PassBuilder<'b>;
    let cases: [(Describe<'_>, &str); 8] = [
        (
            &|pass, image| pass.color(image, CLEAR).level(2),
            "pass `p1` uses levels [2, 3) of `image`, which has 2",
        ),
        (
            &|pass, image| pass.color(image, CLEAR).layers(1..4),
            "pass `p1` uses layers [1, 4) of `image`, which has 3",
        ),
        (
            &|pass, image| pass.color(image, CLEAR).levels(0..2),
            "pass `p1` uses `image` as ColorAttachment: an attachment is one level",
        ),
        (
            &|pass, image| pass.color(image, CLEAR).aspect(vk::ImageAspectFlags::DEPTH),
            "pass `p1` uses `image` as ColorAttachment: its format does not have the aspects",
        ),
        (
            &|pass, image| pass.color(image, CLEAR).level(1).sampled(image).level(0),
            "pass `p1` reads level 0 of `image` before anything in the frame has written it: write or clear it first, or declare it History or External",
        ),
        (
            &|pass, image| pass.color(image, CLEAR).layer(1).color(image, CLEAR).layers(0..2),
            "pass `p1` declares two writers of `image`: merge the accesses or split the pass",
        ),
        (
            &|pass, image| pass.color(image, CLEAR).layers(0..2).views(0b101),
            "pass `p1` renders views 0b101, and its attachments have 2 layers",
        ),
        (
            &|pass, image| {
                let (offset, extent) = (vk::Offset2D { x: 4, y: 0 }, vk::Extent2D { width: 5, height: 8 });
                pass.color(image, CLEAR)
                    .level(1)
                    .area(vk::Rect2D { offset, extent })
            },
            "the render area of pass `p1`, 5 x 8 at (4, 0), is not inside of the 8 x 8 texels that its attachments cover",
        ),
    ];
    for (describe, needs) in cases {
        let mut scene = Scene::new();
        let image = scene.image("image", layered(vk::Format::R8_UNORM, 2, 3));
        describe(scene.render(), image);
        let built = scene.frame.build();
        assert_eq!(built.expect_err("refused").to_string(), needs);
    }
}

/// Random accesses of random parts of images that were written whole.
fn random(seed: u64) -> Frame {
    let mut random = SplitMix64::new(seed);
    let mut below = |limit: u32| random.below(u64::from(limit)) as u32;
    let mut scene = Scene::new();
    let mut images = Vec::new();
    for index in 0..3 {
        let desc = layered(vk::Format::R8_UNORM, 1 + below(4), 1 + below(4));
        let persistence = [Persistence::History, Persistence::Transient][below(2) as usize];
        let image = scene.frame.resource(format!("i{index}"), desc, persistence);
        scene.compute().storage_write(image);
        images.push((image, desc, persistence));
    }
    for _ in 0..12 {
        let (image, desc, persistence) = images[below(3) as usize];
        let (level, layer) = (below(desc.mip_levels), below(desc.array_layers));
        let levels = level..level + 1 + below(desc.mip_levels - level);
        let layers = layer..layer + 1 + below(desc.array_layers - layer);
        let pass = match below(6) {
            0 => scene.render().color(image, CLEAR).level(level),
            1 => scene.render().color(image, LoadOp::Load).level(level),
            2 => scene.compute().storage_write(image).levels(levels),
            3 => scene.compute().storage_update(image).levels(levels),
            4 if persistence == Persistence::History => {
                scene.compute().sampled_previous(image).levels(levels)
            }
            _ => scene.compute().sampled(image).levels(levels),
        };
        pass.layers(layers);
    }
    scene.build()
}

#[test]
fn tables_of_random_parts_are_accepted_frame_after_frame() {
    for seed in 0..60 {
        let frame = random(seed);
        assert_eq!(Frame::from_json(&frame.to_json()).unwrap(), frame, "seed {seed}");
        let plan = plan_on(&frame, PRESETS[seed as usize % PRESETS.len()]);
        let mut situation = Situation::first(DeviceQueues::one(&plan.frame));
        for number in 0..4 {
            let tables = lower(&plan, &situation)
                .unwrap_or_else(|error| panic!("seed {seed}, frame {number}: {error}"));
            let errors = tables.violations(&plan.frame, &situation, &device(&plan, &situation));
            assert!(errors.is_empty(), "seed {seed}, frame {number}: {}", errors[0]);
            situation = situation.after(&tables);
        }
    }
}
