//! Copies at the border of strips, in frames that are bound with the map to their described frame and without.

use std::ops::Range;

use ash::vk;
use tileheap::arrange::{ArrangedBatch, Arrangement, GroupMode, PassGroup, StripGrid};
use tileheap::execute::ExecutedFrame;
use tileheap::frame::tables::CommandSource;
use tileheap::frame::{Frame, FrameBuilder, ImageDesc, LoadOp, PassId, ReadReach};
use tileheap::plan::PlanOptions;
use tileheap::runtime::{Capabilities, Imports};
use tileheap::units::{Bytes, Run};
use tileheap_testkit::frames::{extent, one_queue};
use tileheap_testkit::gpu::Gpu;

/// Passes that write `made`, change it, read it within a number of texels into an image of another size, and show both.
fn read_within(reach: u32, out: vk::Extent2D) -> Frame {
    let whole = extent(64, 32);
    let mut frame = FrameBuilder::new("read", whole);
    let mut image =
        |name, extent: vk::Extent2D| frame.image(name, ImageDesc::new(vk::Format::R8G8B8A8_UNORM, extent));
    let (made, read, shown) = (image("made", whole), image("read", out), image("shown", whole));
    let scene = one_queue(&mut frame, vk::QueueFlags::GRAPHICS);
    let nothing = Bytes::ZERO;
    let pass = frame.render_pass(scene, "make");
    pass.color(made, LoadOp::DontCare).in_strips(nothing);
    let pass = frame.render_pass(scene, "change");
    pass.color(made, LoadOp::Load).in_strips(nothing);
    let pass = frame.render_pass(scene, "read").sampled(made);
    let pass = pass.reaching(ReadReach::Texels(reach));
    pass.color(read, LoadOp::DontCare).in_strips(nothing);
    let pass = frame.render_pass(scene, "show");
    pass.sampled(made).sampled(read).color(shown, LoadOp::DontCare);
    frame.build().expect("a sound frame")
}

/// The frame with some passes in two strips, and `made` at their border.
fn with_border(frame: &Frame, run: Range<usize>) -> ExecutedFrame {
    let passes: Vec<PassId> = frame.pass_ids().collect();
    let strips = GroupMode::Strips(StripGrid { columns: 1, rows: 2 });
    let once = |range: Range<usize>| {
        passes[range]
            .iter()
            .map(|&pass| PassGroup::new(vec![pass], GroupMode::Once))
    };
    let group = PassGroup {
        borders: vec![frame.resource_named("made").unwrap()],
        ..PassGroup::new(passes[run.clone()].to_vec(), strips)
    };
    let (before, after) = (once(0..run.start), once(run.end..passes.len()));
    let arrangement = Arrangement {
        changes: Vec::new(),
        batches: vec![ArrangedBatch {
            batches: Run::new(0, 1),
            groups: before.chain([group]).chain(after).collect(),
        }],
    };
    arrangement.apply(frame).expect("an arrangement")
}

/// The areas of the copies at the border of strips, if one pass has nothing to render.
fn copied_without(gpu: &Gpu, executed: &ExecutedFrame, left_out: PassId) -> Vec<Option<vk::Rect2D>> {
    let plan = gpu.runtime().plan(executed, &PlanOptions::default()).unwrap();
    let mut bound = gpu.runtime().bind(&plan).unwrap();
    // SAFETY: nothing is imported.
    let mut recorder = unsafe { bound.begin(&Imports::default()) }.unwrap();
    recorder.set_area(left_out, None).unwrap();
    let frame = executed.frame();
    let is_border = |pass: &PassId| matches!(frame.pass(*pass).contents, CommandSource::Border { .. });
    let borders = frame.pass_ids().filter(is_border);
    let areas = borders.map(|pass| recorder.area(pass)).collect();
    bound.retire();
    areas
}

/// Without the map to the described frame, the copies of a strip are found even if it covers everything: because of the texels around it, or because
/// no other strip is left.
#[test]
fn copies_of_strips_that_cover_everything_keep_to_their_areas() {
    let gpu = Gpu::new(Capabilities::empty());
    let (whole, half, least) = (extent(64, 32), extent(32, 16), extent(2, 1));
    // The reach of the read, the size of its image, the passes in strips, and the number of copies.
    let cases = [
        (1, whole, 0..3, 2),
        (32, whole, 0..3, 2),
        (32, whole, 2..3, 2),
        (32, half, 0..3, 2),
        (0, whole, 1..2, 4),
        (0, least, 0..3, 1),
        (0, least, 1..3, 2),
    ];
    for (reach, out, run, count) in cases {
        let executed = with_border(&read_within(reach, out), run.clone());
        let described = executed.frame();
        for pass in described.pass_ids() {
            if described.pass(pass).contents != CommandSource::Inline {
                continue;
            }
            let with_map = copied_without(&gpu, &executed, pass);
            let without = copied_without(&gpu, &ExecutedFrame::as_described(described), pass);
            assert_eq!(with_map.len(), count, "{reach} {out:?} {run:?}");
            let name = &described.pass(pass).name;
            assert_eq!(without, with_map, "{reach} {out:?} {run:?}, without `{name}`");
        }
    }
}
