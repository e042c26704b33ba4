//! The overlay: a heap map of the current plan, and constraints set by keyboard and mouse.
//!
//! ```text
//! key, pointer ──► Overlay ──► Request ──► the planner ──► a bound plan ──► the next frame
//! ```

mod heap;
mod list;
mod map;
mod request;
#[cfg(test)]
mod tests;

use egui::{CentralPanel, Color32, Context, Frame, Key, Response, Stroke, Ui, UiBuilder};
use tileheap::frame::ResourceId;
use tileheap::plan::Plan;
use tileheap::units::{Alignment, Bytes};

use self::heap::{Heap, listed};
pub(crate) use self::request::Request;

const PANEL: Color32 = Color32::from_rgba_premultiplied(8, 10, 14, 219);
const EDGE: Color32 = Color32::from_rgba_premultiplied(31, 36, 45, 56);
const GROUND: Color32 = Color32::from_rgba_premultiplied(21, 25, 32, 235);
const ACCENT: Color32 = Color32::from_rgb(250, 184, 84);
const WHITE: Color32 = Color32::from_rgb(242, 245, 250);
const TEXT: Color32 = Color32::from_rgb(209, 219, 232);
const DIM: Color32 = Color32::from_rgb(148, 163, 184);
const INK: Color32 = Color32::from_rgb(13, 15, 23);
const GOOD: Color32 = Color32::from_rgb(115, 217, 148);

/// Colors of resources: light enough for dark text, and adjacent ones differ.
const COLORS: [Color32; 10] = [
    Color32::from_rgb(107, 199, 168),
    Color32::from_rgb(250, 153, 107),
    Color32::from_rgb(148, 171, 230),
    Color32::from_rgb(237, 153, 201),
    Color32::from_rgb(173, 217, 97),
    Color32::from_rgb(252, 214, 77),
    Color32::from_rgb(224, 196, 153),
    Color32::from_rgb(117, 204, 240),
    Color32::from_rgb(201, 168, 242),
    Color32::from_rgb(245, 173, 168),
];

/// The smallest window that has room for the map and the list, in points.
const SMALLEST: [f32; 2] = [860.0, 580.0];
const LINE: f32 = 17.0;

/// The plan to show, and the refusal of the last request, if any.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) plan: &'a Plan,
    /// The reason that the last request was refused.
    pub(crate) refusal: Option<&'a str>,
}

/// The element below the pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hovered {
    Resource(ResourceId),
    Pass(u32),
}

/// The state of the overlay.
#[derive(Clone, Debug)]
pub(crate) struct Overlay {
    shown: bool,
    /// The requested constraints; when they change, the frame is planned again.
    pub(crate) request: Request,
    chosen: Option<ResourceId>,
    /// True to show ordinary memory instead of the tile heap; toggled by Tab.
    ordinary: bool,
    /// The element under the pointer: in the previous frame, and so far in this one.
    hovered: Option<Hovered>,
    hovering: Option<Hovered>,
}

impl Overlay {
    pub(crate) fn new(plan: &Plan, request: Request, shown: bool) -> Overlay {
        Overlay {
            shown,
            request,
            chosen: listed(plan).next(),
            ordinary: false,
            hovered: None,
            hovering: None,
        }
    }

    /// Handles a key; a hidden overlay handles only the one that shows it.
    pub(crate) fn key(&mut self, key: Key, plan: &Plan) {
        self.shown ^= key == Key::F1;
        if !self.shown {
            return;
        }
        let listed: Vec<ResourceId> = listed(plan).collect();
        let chosen = listed.iter().position(|&one| Some(one) == self.chosen);
        let (chosen, last) = (chosen.unwrap_or(0), listed.len().saturating_sub(1));
        let choose = match key {
            Key::ArrowUp => chosen.saturating_sub(1),
            Key::ArrowDown => (chosen + 1).min(last),
            Key::Home => 0,
            Key::End => last,
            _ => chosen,
        };
        self.chosen = listed.get(choose).copied();
        match (key, self.chosen) {
            (Key::Space, Some(chosen)) => self.request.toggle(plan, chosen),
            // The same key, with or without Shift, if plus has no key of its own.
            (Key::Plus | Key::Equals, _) => self.step(plan, 1),
            (Key::Minus, _) => self.step(plan, -1),
            (Key::Tab, _) => self.ordinary = !self.ordinary,
            (Key::R, _) => self.request = Request::default(),
            _ => {}
        }
    }

    /// Changes the limit by `by` sixteenths of the heap, in whole blocks.
    fn step(&mut self, plan: &Plan, by: i64) {
        if !self.shows_tile(plan) {
            return;
        }
        let whole = Heap::of(plan, true).size;
        let sixteenth = (whole.0 / 16) as i64;
        let now = self.request.limit.map_or(whole.0, |limit| limit.0) as i64;
        // To the next sixteenth: a drag or rounding may have left it between two.
        let steps = (now + sixteenth / 2) / sixteenth.max(1) + by;
        let bytes = (steps * sixteenth).clamp(0, whole.0 as i64);
        self.limit(plan, whole, bytes as u64);
    }

    /// Sets the limit, in whole blocks of the heap; removes it if it would be within a block of the heap's end.
    fn limit(&mut self, plan: &Plan, heap: Bytes, bytes: u64) {
        let tile = plan.profile.tile;
        let block = tile.map_or(Alignment::ONE, |tile| tile.block.bytes).get();
        let whole = bytes / block * block;
        self.request.limit = (whole + block <= heap.0).then_some(Bytes(whole));
    }

    fn shows_tile(&self, plan: &Plan) -> bool {
        plan.profile.tile.is_some() && !self.ordinary
    }

    /// The resource whose details are shown: the one below the pointer, or else the selected one.
    fn focus(&self) -> Option<ResourceId> {
        match self.hovered {
            Some(Hovered::Resource(resource)) => Some(resource),
            _ => self.chosen,
        }
    }

    /// Handles the pointer on a row or a block: hovering shows the resource, a click selects and toggles it.
    fn react(&mut self, response: &Response, plan: &Plan, resource: ResourceId) {
        if response.hovered() {
            self.hovering = Some(Hovered::Resource(resource));
        }
        if response.clicked() {
            self.chosen = Some(resource);
            self.request.toggle(plan, resource);
        }
    }

    /// Describes the overlay of a frame; clicks and drags change the request.
    pub(crate) fn show(&mut self, context: &Context, view: &View<'_>) {
        if !self.shown {
            return;
        }
        let room = context.screen_rect();
        if room.width() < SMALLEST[0] || room.height() < SMALLEST[1] {
            let text = "The heap map needs a larger window.";
            let at = room.min + egui::vec2(8.0, 8.0);
            context
                .debug_painter()
                .debug_text(at, egui::Align2::LEFT_TOP, TEXT, text);
            return;
        }
        let room = room.shrink(12.0);
        let side = room.with_max_x(room.left() + 308.0);
        let map = room.with_min_x(side.right() + 12.0);
        let map = map.with_min_y(map.bottom() - (0.46 * room.height()).clamp(270.0, 440.0));
        let frame = Frame::new().fill(PANEL).stroke(Stroke::new(1.0, EDGE));
        let frame = frame.corner_radius(8).inner_margin(10);
        CentralPanel::default().frame(Frame::NONE).show(context, |ui| {
            let panel = |ui: &mut Ui, place, content: &mut dyn FnMut(&mut Ui)| {
                ui.scope_builder(UiBuilder::new().max_rect(place), |ui| {
                    frame.show(ui, |ui| {
                        ui.set_min_size(ui.available_size());
                        content(ui);
                    });
                });
            };
            panel(ui, side, &mut |ui| self.list(ui, view.plan));
            panel(ui, map, &mut |ui| self.map(ui, view));
        });
        self.hovered = self.hovering.take();
    }
}

/// The color of a resource in the list and on the map; paler where the palette repeats.
fn color_of(resource: ResourceId) -> Color32 {
    let (round, index) = (resource.index() / COLORS.len(), resource.index() % COLORS.len());
    COLORS[index].lerp_to_gamma(Color32::WHITE, 0.45 * (round % 2) as f32)
}

/// Draws a line of text, cut to a width in points.
fn write(
    painter: &egui::Painter,
    anchor: egui::Align2,
    at: egui::Pos2,
    text: &str,
    color: Color32,
    width: f32,
) {
    let mut job =
        egui::text::LayoutJob::simple_singleline(text.to_owned(), egui::FontId::proportional(13.0), color);
    job.wrap = egui::text::TextWrapping::truncate_at_width(width.max(0.0));
    let galley = painter.layout_job(job);
    painter.galley(anchor.anchor_size(at, galley.size()).min, galley, color);
}
