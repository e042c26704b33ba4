//! The overlay without a window: requests that follow from inputs, and its layout.

use std::sync::Arc;

use ash::vk;
use tileheap::frame::{ResourceId, TileConstraint};
use tileheap::measure::estimate;
use tileheap::plan::{MemoryKind, Plan, PlanOptions, plan};
use tileheap::profile::DeviceProfile;
use tileheap::units::Bytes;

use super::*;
use crate::frame::describe;
use crate::support::input::{Input, Key};
use crate::support::output::Output;
use crate::support::sheet::Area;

fn planned(profile: &str, extent: vk::Extent2D, request: &Request) -> Plan {
    let profile = Arc::new(DeviceProfile::preset(profile).expect("a preset"));
    let output = Output::Swapchain(vk::Format::B8G8R8A8_UNORM);
    let frame = describe(extent, output).expect("a sound frame").frame;
    let frame = request.frame(&frame);
    let needs = Arc::new(estimate(&frame, &profile).expect("sizes"));
    let options = request.options(PlanOptions::default());
    plan(&frame, &needs, &profile, &options).expect("a plan")
}

const EXTENT: vk::Extent2D = vk::Extent2D {
    width: 1280,
    height: 720,
};

fn view(plan: &Plan) -> View<'_> {
    View {
        extent: EXTENT,
        plan,
        searching: false,
        refusal: None,
    }
}

/// An overlay in which the resource of this name is selected.
fn choosing(plan: &Plan, name: &str) -> (Overlay, ResourceId) {
    let mut overlay = Overlay::new(plan, Request::default(), true);
    let resource = plan.frame.resource_named(name).expect("declared");
    overlay.chosen = Some(resource);
    (overlay, resource)
}

#[test]
fn space_constrains_a_resource_to_the_other_memory_and_again_removes_the_constraint() {
    let plan = planned("adreno-830", EXTENT, &Request::default());
    for (name, home, demand) in [
        ("depth", MemoryKind::Tile, TileConstraint::Excluded),
        ("albedo", MemoryKind::Arena, TileConstraint::Pinned),
    ] {
        let (mut overlay, resource) = choosing(&plan, name);
        assert_eq!(plan.memory_of(resource), Some(home));
        let space = Input::Key(Key::Space);
        assert_eq!(overlay.input(space, &view(&plan)), Reaction::Plan);
        assert_eq!(overlay.request.constraint(resource), demand);
        // The planner obeys; a second press removes the constraint.
        let other = planned("adreno-830", EXTENT, &overlay.request);
        assert_eq!(other.violations(), []);
        assert_ne!(other.memory_of(resource), Some(home));
        assert_eq!(overlay.input(space, &view(&other)), Reaction::Plan);
        assert_eq!(overlay.request, Request::default());
    }
}

#[test]
fn ineligible_resources_cannot_be_constrained() {
    let plan = planned("adreno-830", EXTENT, &Request::default());
    let (mut overlay, _) = choosing(&plan, "hdr");
    assert_eq!(
        overlay.input(Input::Key(Key::Space), &view(&plan)),
        Reaction::Nothing
    );
    let none = planned("no-tile-memory", EXTENT, &Request::default());
    let (mut overlay, _) = choosing(&none, "depth");
    for key in [Key::Space, Key::Plus, Key::Minus, Key::Tab, Key::R] {
        assert_eq!(
            overlay.input(Input::Key(key), &view(&none)),
            Reaction::Nothing,
            "{key:?}"
        );
    }
    assert_eq!(
        overlay.input(Input::Key(Key::Escape), &view(&none)),
        Reaction::Close
    );
}

#[test]
fn keys_and_slider_limit_the_heap_in_whole_blocks() {
    let plan = planned("adreno-830", EXTENT, &Request::default());
    let tile = plan.profile.tile.expect("a tile heap");
    let (mut overlay, _) = choosing(&plan, "depth");
    let minus = Input::Key(Key::Minus);
    for step in 1..=16 {
        assert_eq!(overlay.input(minus, &view(&plan)), Reaction::Plan);
        let limit = overlay.request.limit.expect("less than all");
        assert!(limit.is_aligned(tile.block.bytes));
        let wanted = tile.size.0 * (16 - step) / 16;
        assert!(limit.0 <= wanted && limit.0 + tile.block.bytes.get() > wanted);
    }
    assert_eq!(overlay.request.limit, Some(Bytes::ZERO));
    assert_eq!(overlay.input(minus, &view(&plan)), Reaction::Nothing);
    for _ in 0..16 {
        overlay.input(Input::Key(Key::Plus), &view(&plan));
    }
    assert_eq!(overlay.request.limit, None, "all of it again");

    let layout = overlay.layout(&view(&plan)).expect("room");
    let slider = layout.slider.expect("a heap to limit");
    let at = |share: f32| {
        [
            slider.left + 5.0,
            layout.plot.bottom() - layout.plot.height * share,
        ]
    };
    overlay.input(Input::Pointer(at(0.5)), &view(&plan));
    assert_eq!(
        overlay.request.limit, None,
        "the pointer without a button changes nothing"
    );
    assert_eq!(overlay.input(Input::Press, &view(&plan)), Reaction::Plan);
    overlay.input(Input::Pointer([5.0, at(0.25)[1]]), &view(&plan));
    let quarter = overlay.request.limit.expect("a quarter");
    assert!(
        quarter.0.abs_diff(tile.size.0 / 4) < tile.size.0 / 100,
        "{quarter}"
    );
    overlay.input(Input::Release, &view(&plan));
    overlay.input(Input::Pointer(at(1.0)), &view(&plan));
    assert_eq!(overlay.request.limit, Some(quarter), "released");
    overlay.input(Input::Key(Key::R), &view(&plan));
    assert_eq!(overlay.request, Request::default());
}

#[test]
fn a_hidden_or_too_large_overlay_ignores_input() {
    let plan = planned("adreno-830", EXTENT, &Request::default());
    let (mut overlay, _) = choosing(&plan, "depth");
    overlay.input(Input::Key(Key::F1), &view(&plan));
    assert_eq!(
        overlay.input(Input::Key(Key::Space), &view(&plan)),
        Reaction::Nothing
    );
    overlay.input(Input::Key(Key::F1), &view(&plan));
    let small = View {
        extent: vk::Extent2D {
            width: 320,
            height: 180,
        },
        ..view(&plan)
    };
    assert_eq!(overlay.input(Input::Key(Key::Space), &small), Reaction::Nothing);
    let mut sheet = Sheet::default();
    overlay.draw(&mut sheet, &small);
    assert!(sheet.len() > 10, "it draws a message");
}

#[test]
fn nothing_overlaps_or_leaves_its_panel_at_any_size() {
    let inside = |inner: Area, outer: Area| {
        inner.left >= outer.left - 0.5
            && inner.top >= outer.top - 0.5
            && inner.right() <= outer.right() + 0.5
            && inner.bottom() <= outer.bottom() + 0.5
    };
    for profile in [
        "adreno-830",
        "x2-85",
        "validation-icd",
        "hostile",
        "no-tile-memory",
    ] {
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
            for row in &layout.rows {
                assert!(inside(row.area, layout.side), "{what}: {row:?}");
            }
            assert!(inside(layout.details, layout.side), "{what}");
            for (index, block) in layout.blocks.iter().enumerate() {
                let area = block.area;
                assert!(inside(area, layout.plot), "{what}: {block:?}");
                let placements = plan.placements_of(block.resident.resource);
                let same = |size, span| (size, span) == (block.resident.size, block.resident.span);
                assert!(
                    placements.iter().any(|one| same(one.size, one.span)),
                    "{what}: {block:?}"
                );
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

#[test]
fn the_pointer_finds_rows_and_blocks() {
    let plan = planned("adreno-830", EXTENT, &Request::default());
    let mut overlay = Overlay::new(&plan, Request::default(), true);
    let layout = overlay.layout(&view(&plan)).expect("room");
    let middle = |area: Area| [area.left + area.width / 2.0, area.top + area.height / 2.0];
    let block = layout
        .blocks
        .iter()
        .max_by(|a, b| a.area.height.total_cmp(&b.area.height));
    let block = block.expect("residents");
    let name = plan.frame.resource(block.resident.resource).name.as_str();
    overlay.input(Input::Pointer(middle(block.area)), &view(&plan));
    assert_eq!(overlay.detail(&view(&plan)), Some(name));
    assert_eq!(overlay.input(Input::Press, &view(&plan)), Reaction::Plan);
    assert_eq!(
        overlay.request.constraint(block.resident.resource),
        TileConstraint::Excluded
    );
    overlay.input(Input::PointerGone, &view(&plan));
    assert_eq!(overlay.detail(&view(&plan)), Some(name), "it is selected now");
    overlay.input(Input::Key(Key::Home), &view(&plan));
    assert_eq!(overlay.detail(&view(&plan)), Some("shadow"));
    overlay.input(Input::Key(Key::End), &view(&plan));
    assert_eq!(overlay.detail(&view(&plan)), Some("up_0"));
}
