//! The state of the overlay: what it shows, and how input changes it.

use ash::vk;
use tileheap::frame::ResourceId;
use tileheap::plan::Plan;
use tileheap::units::Alignment;

use super::layout::{Layout, limit, listed};
use super::request::Request;
use crate::support::input::{Input, Key};
use crate::support::sheet::Area;

/// The window and the plan that the frame is drawn with.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    /// Size of the window in points.
    pub(crate) extent: vk::Extent2D,
    pub(crate) plan: &'a Plan,
    /// Why the last request was refused.
    pub(crate) refusal: Option<&'a str>,
}

/// Shown on a device without tile memory.
const EMULATOR: [&str; 3] = [
    "No tile memory on this device: this is the plan in ordinary memory, where resources whose lifetimes do not overlap share bytes.",
    "With the emulator the same program has a tile heap: bash scripts/stage-emulator.sh, then start it with",
    "VK_ADD_LAYER_PATH=target/emulator VK_INSTANCE_LAYERS=VK_LAYER_TILEHEAP_emulator",
];

/// Paragraphs above the map.
fn notices(view: &View<'_>) -> Vec<String> {
    match (view.plan.profile.tile, view.refusal) {
        (None, _) => EMULATOR.map(str::to_owned).to_vec(),
        (Some(_), Some(refusal)) => vec![format!("Refused: {refusal}")],
        (Some(_), None) => Vec::new(),
    }
}

/// The effect of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reaction {
    Nothing,
    /// [`Overlay::request`] changed: plan again.
    Plan,
    Close,
}

/// The state of the overlay.
#[derive(Clone, Debug)]
pub(crate) struct Overlay {
    pub(crate) shown: bool,
    pub(crate) request: Request,
    pub(super) chosen: Option<ResourceId>,
    /// Ordinary memory is shown in place of the tile heap: Tab switches.
    ordinary: bool,
    pub(super) pointer: Option<[f32; 2]>,
    /// The slider follows the pointer.
    dragging: bool,
}

impl Overlay {
    pub(crate) fn new(plan: &Plan, request: Request, shown: bool) -> Overlay {
        Overlay {
            shown,
            request,
            chosen: listed(plan).next(),
            ordinary: false,
            pointer: None,
            dragging: false,
        }
    }

    /// Handles an input.
    pub(crate) fn input(&mut self, input: Input, view: &View<'_>) -> Reaction {
        match input {
            Input::Key(Key::Escape) => return Reaction::Close,
            Input::Key(Key::F1) => {
                self.shown = !self.shown;
                self.dragging = false;
                return Reaction::Nothing;
            }
            Input::Pointer(at) => self.pointer = Some(at),
            Input::PointerGone => self.pointer = None,
            Input::Release => self.dragging = false,
            Input::Key(_) | Input::Press => {}
        }
        // A hidden overlay ignores input.
        let Some(layout) = self.shown.then(|| self.layout(view)).flatten() else {
            return Reaction::Nothing;
        };
        let before = self.request.clone();
        match input {
            Input::Key(key) => self.key(key, view.plan, &layout),
            Input::Press => self.press(view.plan, &layout),
            Input::Pointer(at) if self.dragging => {
                self.request.limit = layout.limit_at(at[1], block(view.plan))
            }
            Input::Pointer(_) | Input::PointerGone | Input::Release => {}
        }
        if self.request == before {
            Reaction::Nothing
        } else {
            Reaction::Plan
        }
    }

    fn key(&mut self, key: Key, plan: &Plan, layout: &Layout) {
        let rows = &layout.rows;
        let chosen = rows.iter().position(|row| Some(row.resource) == self.chosen);
        let chosen = chosen.unwrap_or(0);
        let last = rows.len().saturating_sub(1);
        let choose = match key {
            Key::Up => chosen.saturating_sub(1),
            Key::Down => (chosen + 1).min(last),
            Key::Home => 0,
            Key::End => last,
            _ => chosen,
        };
        self.chosen = rows.get(choose).map(|row| row.resource);
        match key {
            Key::Space => self
                .chosen
                .into_iter()
                .for_each(|one| self.request.toggle(plan, one)),
            Key::Plus => self.step(plan, layout, 1),
            Key::Minus => self.step(plan, layout, -1),
            Key::Tab => self.ordinary = !self.ordinary,
            Key::R => self.request = Request::default(),
            _ => {}
        }
    }

    fn press(&mut self, plan: &Plan, layout: &Layout) {
        let Some(at) = self.pointer else { return };
        if layout.slider.is_some_and(|slider| slider.contains(at)) {
            self.dragging = true;
            self.request.limit = layout.limit_at(at[1], block(plan));
        } else if let Some(resource) = layout.resource_at(at) {
            self.chosen = Some(resource);
            self.request.toggle(plan, resource);
        }
    }

    /// Changes the limit by a sixteenth of the heap, in whole blocks.
    fn step(&mut self, plan: &Plan, layout: &Layout, by: i64) {
        if layout.slider.is_none() {
            return;
        }
        let whole = layout.size;
        let sixteenth = (whole.0 / 16) as i64;
        let now = self.request.limit.map_or(whole.0, |limit| limit.0) as i64;
        // To the next sixteenth: a drag or rounding may have left it between two.
        let steps = (now + sixteenth / 2) / sixteenth.max(1) + by;
        let bytes = (steps * sixteenth).clamp(0, whole.0 as i64);
        self.request.limit = limit(whole, bytes as u64, block(plan));
    }

    pub(super) fn shows_tile(&self, plan: &Plan) -> bool {
        plan.profile.tile.is_some() && !self.ordinary
    }

    pub(super) fn layout(&self, view: &View<'_>) -> Option<Layout> {
        let tile = self.shows_tile(view.plan);
        Layout::of(view.extent, view.plan, tile, &notices(view))
    }

    /// The resource whose details are shown: the one below the pointer, or else the selected one.
    pub(super) fn shown_resource(&self, layout: &Layout) -> Option<ResourceId> {
        let hovered = self.pointer.and_then(|at| layout.resource_at(at));
        hovered.or(self.chosen)
    }

    /// Name and area of each control, for tests that send input.
    pub(crate) fn places(&self, view: &View<'_>) -> Vec<(String, Area)> {
        let Some(layout) = self.shown.then(|| self.layout(view)).flatten() else {
            return Vec::new();
        };
        let name = |resource| view.plan.frame.resource(resource).name.clone();
        let mut places = vec![("plot".to_owned(), layout.plot)];
        places.extend(layout.slider.map(|slider| ("slider".to_owned(), slider)));
        let rows = layout.rows.iter();
        places.extend(rows.map(|row| (format!("row {}", name(row.resource)), row.area)));
        let blocks = layout.blocks.iter();
        places.extend(blocks.map(|block| (format!("block {}", name(block.placement.resource)), block.area)));
        places
    }

    /// Name of the resource whose details are shown.
    pub(crate) fn detail<'a>(&self, view: &View<'a>) -> Option<&'a str> {
        let layout = self.shown.then(|| self.layout(view)).flatten()?;
        let resource = self.shown_resource(&layout)?;
        Some(&view.plan.frame.resource(resource).name)
    }
}

/// The granularity of the limit.
fn block(plan: &Plan) -> Alignment {
    plan.profile.tile.map_or(Alignment::ONE, |tile| tile.block.bytes)
}
