//! The panel next to the scene: statistics of the plan, the list of resources, and details of one of them.

use egui::{
    Align2, Color32, Id, ProgressBar, Rect, RichText, Sense, Stroke, StrokeKind, Ui, Vec2, pos2, vec2,
};
use tileheap::frame::tables::ResourceKind;
use tileheap::frame::{ResourceId, TileConstraint};
use tileheap::plan::{MemoryKind, Plan};
use tileheap::units::{Bytes, Span};

use super::heap::listed;
use super::request::has_choice;
use super::{ACCENT, DIM, GOOD, GROUND, Hovered, INK, LINE, Overlay, TEXT, WHITE, color_of, write};

const ROW_CHOSEN: Color32 = Color32::from_rgba_premultiplied(32, 44, 68, 71);

impl Overlay {
    pub(super) fn list(&mut self, ui: &mut Ui, plan: &Plan) {
        figures(ui, plan);
        ui.separator();
        for resource in listed(plan) {
            self.row(ui, plan, resource);
        }
        ui.separator();
        // The pass or resource below the pointer as of the previous frame, since the map is described after this.
        match (self.hovered, self.focus()) {
            (Some(Hovered::Pass(step)), _) => pass_details(ui, plan, step),
            (_, Some(resource)) => resource_details(ui, plan, resource),
            _ => {}
        }
    }

    /// Shows a resource: check box, name, size and memory.
    fn row(&mut self, ui: &mut Ui, plan: &Plan, resource: ResourceId) {
        let (_, area) = ui.allocate_space(vec2(ui.available_width(), LINE));
        let response = ui.interact(area, Id::new(("row", resource.index())), Sense::click());
        self.react(&response, plan, resource);
        let (painter, focused) = (ui.painter(), self.focus() == Some(resource));
        if self.chosen == Some(resource) {
            painter.rect_filled(area, 3.0, ROW_CHOSEN);
        } else if focused {
            painter.rect_filled(area, 3.0, Color32::from_white_alpha(26));
        }
        let middle = area.center().y;
        let boxed = Rect::from_center_size(pos2(area.left() + 10.0, middle), Vec2::splat(11.0));
        self.check(ui, boxed, plan, resource);
        let (memory, color) = self.memory_of(plan, resource);
        let painter = ui.painter();
        let line =
            |anchor, x, text: &str, color, width| write(painter, anchor, pos2(x, middle), text, color, width);
        line(Align2::RIGHT_CENTER, area.right() - 2.0, memory, color, 70.0);
        let placement = plan.placements_of(resource).first();
        let size = format!("{:#}", placement.map_or(Bytes::ZERO, |placement| placement.size));
        line(Align2::RIGHT_CENTER, area.right() - 66.0, &size, DIM, 80.0);
        let name = &plan.frame.resource(resource).name;
        let color = if focused { WHITE } else { TEXT };
        line(
            Align2::LEFT_CENTER,
            area.left() + 22.0,
            name,
            color,
            area.width() - 156.0,
        );
    }

    /// Draws a check box: filled in tile memory, crossed if excluded, a dash if the resource is not eligible.
    fn check(&self, ui: &Ui, area: Rect, plan: &Plan, resource: ResourceId) {
        let (painter, color) = (ui.painter(), color_of(resource));
        if !has_choice(plan, resource) {
            painter.hline(
                area.shrink(2.0).x_range(),
                area.center().y,
                Stroke::new(2.0, color),
            );
            return;
        }
        if plan.memory_of(resource) == Some(MemoryKind::Tile) {
            painter.rect_filled(area, 3.0, color);
        } else {
            painter.rect_stroke(area, 3.0, Stroke::new(1.0, color), StrokeKind::Inside);
        }
        let (inner, stroke) = (area.shrink(2.5), Stroke::new(1.5, ACCENT));
        match self.request.constraint(resource) {
            TileConstraint::None => {}
            // A filled circle marks a pin.
            TileConstraint::Pinned => drop(painter.circle_filled(area.center(), 2.5, INK)),
            TileConstraint::Excluded => {
                painter.line_segment([inner.left_top(), inner.right_bottom()], stroke);
                painter.line_segment([inner.left_bottom(), inner.right_top()], stroke);
            }
        }
    }

    /// The memory of a resource, or its constraint, with the color of the text.
    fn memory_of(&self, plan: &Plan, resource: ResourceId) -> (&'static str, Color32) {
        match self.request.constraint(resource) {
            TileConstraint::Pinned => ("pinned", ACCENT),
            TileConstraint::Excluded => ("excluded", ACCENT),
            TileConstraint::None => match plan.memory_of(resource) {
                None => ("unused", DIM),
                Some(MemoryKind::Tile) => ("on chip", GOOD),
                Some(MemoryKind::Lazy) => ("lazy", GOOD),
                Some(MemoryKind::Arena) => ("memory", DIM),
                Some(MemoryKind::Dedicated) => ("dedicated", DIM),
            },
        }
    }
}

/// Shows the frame, the device, the on-chip traffic, and whether the plan is proved optimal.
fn figures(ui: &mut Ui, plan: &Plan) {
    let (extent, totals) = (plan.frame.base_extent(), &plan.totals);
    let name = plan.frame.name();
    ui.strong(format!("{name}, {} x {}", extent.width, extent.height));
    ui.add(egui::Label::new(RichText::new(&plan.profile.name).color(DIM)).truncate());
    if plan.profile.tile.is_none() {
        ui.label(format!("{:#} in ordinary memory", totals.arena_bytes));
        let apart = totals.arena_bytes_without_aliasing;
        ui.colored_label(DIM, format!("{apart:#} without aliasing"));
        ui.colored_label(DIM, "no tile memory");
        return;
    }
    let share = totals.on_chip_bytes.0 as f64 / totals.traffic_bytes.0.max(1) as f64;
    let tenths = (1000.0 * share).floor() / 10.0;
    let all = totals.traffic_bytes;
    ui.label(format!("{tenths:.1} % of {all:#} stay on chip"));
    let bar = ProgressBar::new(share as f32).desired_height(8.0).fill(GOOD);
    ui.visuals_mut().extreme_bg_color = GROUND;
    ui.add(bar.corner_radius(4));
    match plan.optimality {
        Some(found) if found.is_proved() => {
            ui.colored_label(GOOD, format!("proved optimal in {} steps", found.steps))
        }
        Some(found) => ui.colored_label(DIM, format!("not proved optimal in {} steps", found.steps)),
        None => ui.colored_label(DIM, "heuristic plan"),
    };
}

fn resource_details(ui: &mut Ui, plan: &Plan, resource: ResourceId) {
    let described = plan.frame.resource(resource);
    ui.colored_label(color_of(resource), &described.name);
    match described.kind {
        ResourceKind::Image { extent, .. } => {
            let format = described.format();
            ui.label(format!("{format:?}, {} x {}", extent.width, extent.height))
        }
        ResourceKind::Buffer { .. } => ui.label("buffer"),
    };
    if let Some(placement) = plan.placements_of(resource).first() {
        ui.label(format!("{} at {}", placement.size, placement.offset));
        ui.label(span_text(plan, placement.span));
    }
    ui.colored_label(DIM, plan.reason_text(resource).replace('`', ""));
}

fn pass_details(ui: &mut Ui, plan: &Plan, step: u32) {
    let (planned, pass) = (&plan.passes[step as usize], &plan.frame.passes()[step as usize]);
    let object = planned.bound_object;
    let bound = object.map_or(Bytes::ZERO, |object| plan.objects[object.index()].size);
    ui.strong(format!("pass {}", pass.name));
    let live = planned.live_tile;
    ui.label(format!("{bound} of tile memory bound, {live} live"));
    ui.colored_label(DIM, format!("{} accesses", pass.accesses.len()));
}

fn span_text(plan: &Plan, span: Span) -> String {
    let name = |step: u32| &plan.frame.passes()[step as usize].name;
    match span.len() {
        0 => "no pass".to_owned(),
        1 => format!("{} alone", name(span.first.0)),
        passes => {
            let (first, last) = (name(span.first.0), name(span.end.0 - 1));
            format!("{first} to {last}, {passes} passes")
        }
    }
}
