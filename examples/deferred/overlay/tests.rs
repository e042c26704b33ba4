//! The overlay without a window: requests that follow from inputs, and its layout.

use std::sync::Arc;

use ash::vk;
use tileheap::measure::estimate;
use tileheap::plan::{Plan, PlanOptions, plan};
use tileheap::profile::DeviceProfile;
use tileheap::units::Bytes;

use super::*;
use crate::frame::describe;
use crate::support::input::{Input, Key};
use crate::support::output::Output;
use crate::support::sheet::Area;
use crate::support::sizes::extent;

fn planned(profile: &str, extent: vk::Extent2D, request: &Request) -> Plan {
    let profile = Arc::new(DeviceProfile::preset(profile).expect("a preset"));
    let output = Output::Swapchain(vk::Format::B8G8R8A8_UNORM);
    let frame = describe(extent, output).expect("a sound frame").frame;
    let frame = request.frame(&frame);
    let needs = Arc::new(estimate(&frame, &profile).expect("sizes"));
    let options = request.options(PlanOptions::default());
    plan(&frame, &needs, &profile, &options).expect("a plan")
}

const EXTENT: vk::Extent2D = extent(1280, 720);

fn view(plan: &Plan) -> View<'_> {
    View {
        extent: EXTENT,
        plan,
        refusal: None,
    }
}

/// What a key does.
fn press(overlay: &mut Overlay, key: Key, plan: &Plan) -> Reaction {
    overlay.input(Input::Key(key), &view(plan))
}

#[test]
fn keys_and_slider_limit_the_heap_in_whole_blocks() {
    let plan = planned("adreno-830", EXTENT, &Request::default());
    let tile = plan.profile.tile.expect("a tile heap");
    let mut overlay = Overlay::new(&plan, Request::default(), true);
    for step in 1..=16 {
        assert_eq!(press(&mut overlay, Key::Minus, &plan), Reaction::Plan);
        let limit = overlay.request.limit.expect("less than all");
        assert!(limit.is_aligned(tile.block.bytes));
        let wanted = tile.size.0 * (16 - step) / 16;
        assert!(limit.0 <= wanted && limit.0 + tile.block.bytes.get() > wanted);
    }
    assert_eq!(overlay.request.limit, Some(Bytes::ZERO));
    assert_eq!(press(&mut overlay, Key::Minus, &plan), Reaction::Nothing);
    for _ in 0..16 {
        press(&mut overlay, Key::Plus, &plan);
    }
    assert_eq!(overlay.request.limit, None, "all of it again");

    let layout = overlay.layout(&view(&plan)).expect("room");
    let slider = layout.slider.expect("a heap to limit");
    let (left, plot) = (slider.left + 5.0, layout.plot);
    let at = |share: f32| [left, plot.bottom() - plot.height * share];
    overlay.input(Input::Pointer(at(0.5)), &view(&plan));
    assert_eq!(overlay.request.limit, None, "no button is pressed");
    assert_eq!(overlay.input(Input::Press, &view(&plan)), Reaction::Plan);
    overlay.input(Input::Pointer([5.0, at(0.25)[1]]), &view(&plan));
    let quarter = overlay.request.limit.expect("a quarter");
    let off = quarter.0.abs_diff(tile.size.0 / 4);
    assert!(off < tile.size.0 / 100, "{quarter}");
    overlay.input(Input::Release, &view(&plan));
    overlay.input(Input::Pointer(at(1.0)), &view(&plan));
    assert_eq!(overlay.request.limit, Some(quarter), "released");
    press(&mut overlay, Key::R, &plan);
    assert_eq!(overlay.request, Request::default());
}

#[test]
fn nothing_overlaps_or_leaves_its_panel_at_any_size() {
    let inside = |inner: Area, outer: Area| {
        inner.left >= outer.left - 0.5
            && inner.top >= outer.top - 0.5
            && inner.right() <= outer.right() + 0.5
            && inner.bottom() <= outer.bottom() + 0.5
    };
    for profile in "adreno-830 x2-85 validation-icd hostile no-tile-memory".split(' ') {
        for (width, height) in [(860, 580), (1024, 600), (1280, 720), (1920, 1080), (3840, 2160)] {
            let extent = vk::Extent2D { width, height };
            let plan = planned(profile, extent, &Request::default());
            let view = View {
                extent,
                ..view(&plan)
            };
            let overlay = Overlay::new(&plan, Request::default(), true);
            let layout = overlay.layout(&view).expect("room");
            let what = format!("{profile} at {width} x {height}");
            let picture = Area::new(0.0, 0.0, width as f32, height as f32);
            for area in [layout.side, layout.panel] {
                assert!(inside(area, picture), "{what}: {area:?}");
            }
            for area in [layout.plot, layout.keys] {
                assert!(inside(area, layout.panel), "{what}: {area:?}");
            }
            assert!(layout.plot.bottom() < layout.keys.top, "{what}");
            for area in layout.rows.iter().map(|row| row.area).chain([layout.details]) {
                assert!(inside(area, layout.side), "{what}: {area:?}");
            }
            for (index, block) in layout.blocks.iter().enumerate() {
                let area = block.area;
                assert!(inside(area, layout.plot), "{what}: {block:?}");
                let resident = block.placement;
                let mut placements = plan.placements_of(resident.resource).iter();
                let is_placed = placements.any(|one| (one.size, one.span) == (resident.size, resident.span));
                assert!(is_placed, "{what}: {block:?}");
                // The smallest are drawn three pixels high, and may overlap by that.
                for other in layout.blocks[..index].iter().map(|block| block.area) {
                    let apart = area.right() <= other.left
                        || other.right() <= area.left
                        || area.bottom() <= other.top + 3.0
                        || other.bottom() <= area.top + 3.0;
                    assert!(apart, "{what}: {area:?} and {other:?}");
                }
            }
            let mut sheet = Sheet::default();
            overlay.draw(&mut sheet, &view);
            assert!(sheet.len() > 500, "{what}: {} shapes", sheet.len());
        }
    }
}
