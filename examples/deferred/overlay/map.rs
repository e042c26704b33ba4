//! The panel below the scene: the heap map, the slider that limits the heap, and the keys.

use egui::{
    Align2, Color32, Id, Rangef, Rect, Sense, Stroke, StrokeKind, Ui, pos2, remap, remap_clamp, vec2,
};
use tileheap::frame::PassId;
use tileheap::plan::{Placement, Plan};
use tileheap::units::Bytes;

use super::heap::Heap;
use super::{ACCENT, DIM, EDGE, GROUND, Hovered, INK, LINE, Overlay, TEXT, View, WHITE, color_of, write};

const INK_DIM: Color32 = Color32::from_rgba_premultiplied(9, 11, 17, 184);
const BOUND: Color32 = Color32::from_rgba_premultiplied(38, 63, 105, 191);
const BOUND_EDGE: Color32 = Color32::from_rgb(120, 179, 255);
const LINES: Color32 = Color32::from_rgba_premultiplied(18, 18, 18, 18);
const WINDOW: Color32 = Color32::from_rgba_premultiplied(140, 140, 140, 140);
const SHUT: Color32 = Color32::from_rgba_premultiplied(73, 47, 19, 77);

/// The note shown on a device without tile memory.
const EMULATOR: &str = "No tile memory on this device: this is the plan in ordinary memory, where resources whose lifetimes do not \
overlap share bytes. With the emulator the same program has a tile heap: bash scripts/stage-emulator.sh, then start it with \
VK_ADD_LAYER_PATH=target/emulator VK_INSTANCE_LAYERS=VK_LAYER_TILEHEAP_emulator";

/// The position and contents of the map.
struct Map<'a> {
    plan: &'a Plan,
    heap: Heap,
    plot: Rect,
}

impl Map<'_> {
    /// The y coordinate of an offset.
    fn y(&self, offset: Bytes) -> f32 {
        let heap = 0.0..=self.heap.size.0.max(1) as f32;
        remap_clamp(offset.0 as f32, heap, self.plot.bottom()..=self.plot.top()).round()
    }

    /// The x coordinate of the start of a pass.
    fn x(&self, pass: u32) -> f32 {
        let passes = 0.0..=self.heap.bound.len().max(1) as f32;
        remap(pass as f32, passes, self.plot.x_range()).round()
    }

    /// The area of a placement, with a gap to its neighbors and at least 3 points high.
    fn area(&self, placement: &Placement) -> Rect {
        let (left, right) = (self.x(placement.span.first.0), self.x(placement.span.end.0));
        let (bottom, top) = (
            self.y(placement.offset),
            self.y(placement.offset + placement.size),
        );
        let top = top.min(bottom - 3.0).max(self.plot.top());
        let seam = if bottom - top > 6.0 { 1.0 } else { 0.0 };
        Rect::from_min_max(pos2(left + 1.0, top), pos2(right - 1.0, bottom - seam))
    }

    /// Draws the background of the placements: the grid, and bound tile memory.
    fn ground(&self, painter: &egui::Painter) {
        let plot = self.plot;
        painter.rect_filled(plot, 0.0, GROUND);
        for (pass, &bound) in (0..).zip(&self.heap.bound) {
            let (left, right, top) = (self.x(pass), self.x(pass + 1), self.y(bound));
            let column = Rect::from_min_max(pos2(left, top), pos2(right, plot.bottom()));
            painter.rect_filled(column, 0.0, BOUND);
            if bound > Bytes::ZERO {
                painter.hline(left..=right, top + 1.0, Stroke::new(2.0, BOUND_EDGE));
            }
            painter.vline(left + 0.5, plot.y_range(), Stroke::new(1.0, LINES));
        }
        for quarter in 0..=4 {
            let offset = Bytes(self.heap.size.0 / 4 * quarter);
            let (y, label) = (self.y(offset), format!("{offset:#}"));
            let label = if quarter == 0 { "0" } else { &label };
            let at = pos2(plot.left() - 28.0, y);
            write(painter, Align2::RIGHT_CENTER, at, label, DIM, 80.0);
            painter.hline(plot.x_range(), y, Stroke::new(1.0, LINES));
        }
    }

    /// Marks the places where tile memory loses its contents: between batches, or submits.
    fn windows(&self, painter: &egui::Painter) {
        let (frame, plot) = (&self.plan.frame, self.plot);
        let tile = self.plan.profile.tile;
        let by_submit = tile.is_some_and(|tile| tile.queue_submit_boundary);
        let window = |pass: PassId| match by_submit {
            true => frame.submit_of(pass).index(),
            false => frame.batch_of(pass).index(),
        };
        let what = if by_submit { "submit" } else { "batch" };
        let passes: Vec<PassId> = frame.pass_ids().collect();
        let mut first = 0;
        for run in passes.chunk_by(|&a, &b| window(a) == window(b)) {
            let (left, right) = (self.x(first), self.x(first + run.len() as u32));
            if first > 0 {
                let above = Rangef::new(plot.top() - LINE + 2.0, plot.bottom());
                painter.vline(left, above, Stroke::new(2.0, WINDOW));
            }
            let label = format!("{what} {}", window(run[0]));
            let at = pos2(left + 5.0, plot.top() - 1.0);
            write(painter, Align2::LEFT_BOTTOM, at, &label, DIM, right - left - 8.0);
            first += run.len() as u32;
        }
    }

    /// Draws names of passes below the plot, staggered over several lines.
    fn passes(&self, painter: &egui::Painter, lines: usize) {
        let (plot, passes) = (self.plot, self.plan.frame.passes());
        let column = plot.width() / passes.len().max(1) as f32;
        for (index, pass) in passes.iter().enumerate() {
            let above = (index % lines) as f32 * LINE;
            let middle = plot.left() + (index as f32 + 0.5) * column;
            let tick = plot.bottom()..=plot.bottom() + 4.0 + above;
            painter.vline(middle, tick, Stroke::new(1.0, EDGE));
            // Names at the ends stay inside.
            let room = lines as f32 * column - 6.0;
            let half = (width_of(painter, &pass.name).min(room) / 2.0).min(plot.width() / 2.0);
            let at = middle.clamp(plot.left() + half, plot.right() - half);
            let at = pos2(at, plot.bottom() + 4.0 + above);
            write(painter, Align2::CENTER_TOP, at, &pass.name, TEXT, room);
        }
    }
}

fn width_of(painter: &egui::Painter, text: &str) -> f32 {
    let galley = painter.layout_no_wrap(text.to_owned(), egui::FontId::proportional(13.0), TEXT);
    galley.size().x
}

impl Overlay {
    pub(super) fn map(&mut self, ui: &mut Ui, view: &View<'_>) {
        let (plan, tile) = (view.plan, self.shows_tile(view.plan));
        let heap = Heap::of(plan, tile);
        ui.horizontal(|ui| self.title(ui, plan, &heap));
        match (plan.profile.tile, view.refusal) {
            (None, _) => drop(ui.colored_label(ACCENT, EMULATOR)),
            (_, Some(refusal)) => drop(ui.colored_label(ACCENT, format!("Refused: {refusal}"))),
            _ => {}
        }
        ui.horizontal_wrapped(|ui| keys(ui, plan.profile.tile.is_some()));

        let (area, passes) = (ui.available_rect_before_wrap(), plan.frame.passes());
        let left = area.left() + 92.0;
        let widths = passes.iter().map(|pass| width_of(ui.painter(), &pass.name));
        let longest = widths.fold(0.0, f32::max);
        // Enough lines that names on one line do not overlap.
        let lines = (longest + 6.0) * passes.len().max(1) as f32 / (area.right() - left);
        let lines = lines.ceil().clamp(1.0, 5.0);
        let right_bottom = area.right_bottom() - vec2(0.0, lines * LINE + 4.0);
        let plot = Rect::from_min_max(pos2(left, area.top() + LINE + 2.0).round(), right_bottom.round());
        let map = Map { plan, heap, plot };
        if let Some(at) = ui.interact(plot, Id::new("plot"), Sense::hover()).hover_pos() {
            let share = (at.x - plot.left()) / plot.width();
            let pass = (share * passes.len() as f32) as u32;
            self.hovering = Some(Hovered::Pass(pass.min(passes.len() as u32 - 1)));
        }
        map.ground(ui.painter());
        map.windows(ui.painter());
        self.blocks(ui, &map);
        if tile && map.heap.size > Bytes::ZERO {
            self.slider(ui, &map);
        }
        map.passes(ui.painter(), lines as usize);
    }

    fn title(&self, ui: &mut Ui, plan: &Plan, heap: &Heap) {
        let (limit, whole) = self.request.limit_of(plan);
        let tile = self.shows_tile(plan);
        ui.strong(match tile {
            true if limit < whole => format!("Tile heap, {limit:#} of {whole:#}"),
            true => format!("Tile heap, {whole:#}"),
            false => format!("Ordinary memory, {:#}", heap.size),
        });
        ui.colored_label(DIM, "offsets upward, passes across");
        if tile {
            ui.add_space(12.0);
            let (swatch, _) = ui.allocate_exact_size(vec2(12.0, 9.0), Sense::hover());
            ui.painter().rect_filled(swatch, 0.0, BOUND);
            let top = Stroke::new(2.0, BOUND_EDGE);
            ui.painter().hline(swatch.x_range(), swatch.top() + 1.0, top);
            ui.colored_label(DIM, "bound in the pass");
        }
    }

    /// Draws every placement.
    fn blocks(&mut self, ui: &Ui, map: &Map<'_>) {
        let (painter, focus) = (ui.painter(), self.focus());
        for (index, placement) in map.heap.placements.iter().enumerate() {
            let (area, resource) = (map.area(placement), placement.resource);
            let response = ui.interact(area, Id::new(("block", resource.index(), index)), Sense::click());
            self.react(&response, map.plan, resource);
            painter.rect_filled(area, 0.0, color_of(resource));
            let (at, width) = (area.left_center() + vec2(5.0, 0.0), area.width() - 8.0);
            let name = &map.plan.frame.resource(resource).name;
            let size = format!("{:#}", placement.size);
            if area.height() >= 2.0 * LINE + 4.0 && width_of(painter, &size) <= width {
                write(painter, Align2::LEFT_BOTTOM, at, name, INK, width);
                write(painter, Align2::LEFT_TOP, at, &size, INK_DIM, width);
            } else if area.height() >= LINE - 2.0 {
                write(painter, Align2::LEFT_CENTER, at, name, INK, width);
            }
            if focus == Some(resource) {
                painter.rect_stroke(area, 0.0, Stroke::new(2.0, WHITE), StrokeKind::Inside);
            }
        }
    }

    /// Draws the slider for the limit on tile memory.
    fn slider(&mut self, ui: &Ui, map: &Map<'_>) {
        let (plot, plan) = (map.plot, map.plan);
        let track = Rect::from_x_y_ranges(plot.left() - 15.0..=plot.left() - 11.0, plot.y_range());
        let wider = track.expand2(vec2(7.0, 6.0));
        let response = ui.interact(wider, Id::new("slider"), Sense::click_and_drag());
        if let Some(at) = response.interact_pointer_pos() {
            let share = remap_clamp(at.y, plot.bottom()..=plot.top(), 0.0..=1.0);
            let size = map.heap.size;
            self.limit(plan, size, (size.0 as f64 * f64::from(share)) as u64);
        }
        let (limit, whole) = self.request.limit_of(plan);
        let (painter, y) = (ui.painter(), map.y(limit));
        painter.rect_filled(track, 2.0, GROUND);
        painter.rect_filled(track.with_min_y(y), 2.0, ACCENT);
        if limit < whole {
            painter.rect_filled(plot.with_max_y(y), 0.0, SHUT);
            painter.hline(plot.x_range(), y, Stroke::new(2.0, ACCENT));
            let label = format!("limit {limit:#}");
            // Above the line, or below it if there is no room.
            let anchor = if y - LINE >= plot.top() {
                Align2::RIGHT_BOTTOM
            } else {
                Align2::RIGHT_TOP
            };
            let size = vec2(width_of(painter, &label) + 12.0, LINE + 2.0);
            let tag = anchor.anchor_size(pos2(plot.right(), y), size);
            painter.rect_filled(tag, 0.0, ACCENT);
            write(
                painter,
                Align2::CENTER_CENTER,
                tag.center(),
                &label,
                INK,
                tag.width(),
            );
        }
        let handle = Rect::from_center_size(pos2(track.center().x, y), vec2(18.0, 10.0));
        painter.rect(handle, 4.0, ACCENT, Stroke::new(2.0, WHITE), StrokeKind::Inside);
    }
}

/// Lists the key bindings.
fn keys(ui: &mut Ui, tile: bool) {
    ui.style_mut().wrap_mode = Some(egui::TextWrapMode::Extend);
    let all: [(&[&str], &str, bool); 7] = [
        (&["F1"], "hide", true),
        (&["Up", "Down"], "select", true),
        (&["Space"], "toggle tile memory", tile),
        (&["+", "-"], "heap size", tile),
        (&["Tab"], "switch heap", tile),
        (&["R"], "reset", tile),
        (&["Esc"], "close", true),
    ];
    for (caps, what, _) in all.into_iter().filter(|(_, _, there)| *there) {
        for cap in caps {
            ui.code(format!(" {cap} "));
        }
        ui.label(what);
        ui.add_space(8.0);
    }
}
