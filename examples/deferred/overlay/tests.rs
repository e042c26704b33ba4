//! Tests of the overlay without a window or a device: the requests that follow from keys and pointer.

use std::sync::Arc;

use egui::{Event, Id, Modifiers, PointerButton, Pos2, RawInput, Rect, pos2};
use tileheap::Checked;
use tileheap::measure::estimate;
use tileheap::plan::{PlanOptions, plan};
use tileheap::profile::DeviceProfile;

use super::*;
use crate::frame::describe;
use crate::support::output::Output;
use crate::support::sizes::extent;

fn planned(profile: &str, request: &Request) -> Checked<Plan> {
    let profile = Arc::new(DeviceProfile::preset(profile).expect("a preset"));
    let frame = describe(extent(1280, 720), Output::Buffer)
        .expect("a sound frame")
        .frame;
    let frame = request.frame(&frame);
    let needs = Arc::new(estimate(&frame, &profile).expect("sizes"));
    let options = request.options(PlanOptions::default());
    plan(&frame, &needs, &profile, &options).expect("a plan")
}

/// Shows a frame after the pointer moved to `at`, optionally with its button pressed or released.
fn show(context: &Context, overlay: &mut Overlay, plan: &Plan, at: Pos2, button: Option<bool>) {
    let mut input = RawInput {
        screen_rect: Some(Rect::from_min_max(Pos2::ZERO, pos2(1280.0, 720.0))),
        events: vec![Event::PointerMoved(at)],
        ..RawInput::default()
    };
    input.events.extend(button.map(|pressed| Event::PointerButton {
        pos: at,
        button: PointerButton::Primary,
        pressed,
        modifiers: Modifiers::NONE,
    }));
    let refusal = None;
    let _ = context.run(input, |context| overlay.show(context, &View { plan, refusal }));
}

#[test]
fn keys_and_slider_limit_the_heap_in_whole_blocks() {
    let plan = planned("adreno-830", &Request::default());
    let tile = plan.profile.tile.expect("a tile heap");
    let mut overlay = Overlay::new(&plan, Request::default(), true);
    for step in 1..=16 {
        overlay.key(Key::Minus, &plan);
        let limit = overlay.request.limit.expect("less than all");
        assert!(limit.is_aligned(tile.block.bytes));
        let wanted = tile.size.0 * (16 - step) / 16;
        assert!(limit.0 <= wanted && limit.0 + tile.block.bytes.get() > wanted);
    }
    (0..16).for_each(|_| overlay.key(Key::Plus, &plan));
    assert_eq!(overlay.request.limit, None, "all of it again");

    let context = Context::default();
    let drag = |overlay: &mut Overlay, at, button| show(&context, overlay, &plan, at, button);
    drag(&mut overlay, Pos2::ZERO, None);
    let of = |name: &str| context.read_response(Id::new(name)).expect("it was shown").rect;
    let (slider, plot) = (of("slider"), of("plot"));
    let at = |share: f32| pos2(slider.center().x, plot.bottom() - plot.height() * share);
    drag(&mut overlay, at(0.5), None);
    assert_eq!(overlay.request.limit, None, "no button is pressed");
    drag(&mut overlay, at(0.5), Some(true));
    // The pointer may leave the slider during a drag.
    drag(&mut overlay, at(0.25) - egui::vec2(60.0, 0.0), None);
    let quarter = overlay.request.limit.expect("a quarter");
    assert!(quarter.is_aligned(tile.block.bytes));
    assert!(
        quarter.0.abs_diff(tile.size.0 / 4) < tile.size.0 / 100,
        "{quarter}"
    );
    drag(&mut overlay, at(0.25), Some(false));
    drag(&mut overlay, at(1.0), None);
    let limit = overlay.request.limit.expect("released");
    assert!(limit.0.abs_diff(quarter.0) < tile.size.0 / 100, "{limit}");

    // Less traffic stays on chip, and tile memory stays within the limit.
    let less = planned("adreno-830", &overlay.request);
    assert!(less.totals.on_chip_bytes < plan.totals.on_chip_bytes);
    assert!(less.totals.tile_bytes <= limit);
    overlay.key(Key::R, &plan);
    assert_eq!(overlay.request, Request::default());
}
