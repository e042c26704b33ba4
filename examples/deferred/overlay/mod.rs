//! The overlay: the heap map of the plan that the frame is drawn with, and what the keyboard and the mouse change about it.
//!
//! ```text
//! input ──► Overlay ──► Wish ──► the planner ──► a plan that is bound ──► Layout ──► shapes of the next frame
//! ```

mod draw;
mod heap;
mod layout;
#[cfg(test)]
mod tests;
mod wish;

use ash::vk;
use tileheap::frame::ResourceId;
use tileheap::plan::Plan;
use tileheap::units::{Alignment, Bytes};

use self::heap::Memory;
use self::layout::{Layout, limit, listed};
pub(crate) use self::wish::Wish;
use crate::support::input::{Input, Key};
use crate::support::sheet::{Area, Sheet};

/// What the overlay is about: the frame's size and the plan that it is drawn with.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    /// The picture's sides in points.
    pub(crate) extent: vk::Extent2D,
    pub(crate) plan: &'a Plan,
    /// A better plan may come.
    pub(crate) searching: bool,
    /// Why the last wish was refused.
    pub(crate) refusal: Option<&'a str>,
}

/// What follows from an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reaction {
    Nothing,
    /// [`Overlay::wish`] is another.
    Plan,
    Close,
}

/// The state of the overlay.
#[derive(Clone, Debug)]
pub(crate) struct Overlay {
    pub(crate) shown: bool,
    pub(crate) wish: Wish,
    chosen: Option<ResourceId>,
    /// Chosen by the person: until the tile heap is of interest it shows itself.
    memory: Option<Memory>,
    pointer: Option<[f32; 2]>,
    /// The slider follows the pointer.
    dragging: bool,
}

impl Overlay {
    pub(crate) fn new(plan: &Plan, wish: Wish, shown: bool) -> Overlay {
        Overlay {
            shown,
            wish,
            chosen: listed(plan).next(),
            memory: None,
            pointer: None,
            dragging: false,
        }
    }

    /// Draws onto a clean sheet what the next frame shows.
    pub(crate) fn draw(&self, sheet: &mut Sheet, view: &View<'_>) {
        sheet.clear();
        if self.shown {
            match self.layout(view) {
                Some(layout) => draw::draw(sheet, self, view, &layout),
                None => draw::too_small(sheet, view.extent),
            }
        }
    }

    /// Takes an input in.
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
        // What is not to be seen is not to be changed.
        let Some(layout) = self.shown.then(|| self.layout(view)).flatten() else {
            return Reaction::Nothing;
        };
        let before = self.wish.clone();
        match input {
            Input::Key(key) => self.key(key, view.plan, &layout),
            Input::Press => self.press(view.plan, &layout),
            Input::Pointer(at) if self.dragging => self.wish.limit = layout.limit_at(at[1], block(view.plan)),
            Input::Pointer(_) | Input::PointerGone | Input::Release => {}
        }
        if self.wish == before {
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
                .for_each(|one| self.wish.toggle(plan, one)),
            Key::Plus => self.step(plan, layout, 1),
            Key::Minus => self.step(plan, layout, -1),
            Key::Tab => {
                self.memory = Some(match self.memory(plan) {
                    Memory::Tile => Memory::Ordinary,
                    Memory::Ordinary => Memory::Tile,
                });
            }
            Key::R => self.wish = Wish::default(),
            _ => {}
        }
    }

    fn press(&mut self, plan: &Plan, layout: &Layout) {
        let Some(at) = self.pointer else { return };
        if layout.slider.is_some_and(|slider| slider.contains(at)) {
            self.dragging = true;
            self.wish.limit = layout.limit_at(at[1], block(plan));
        } else if let Some(resource) = layout.resource_at(at) {
            self.chosen = Some(resource);
            self.wish.toggle(plan, resource);
        }
    }

    /// A sixteenth of the heap more or less, in whole blocks.
    fn step(&mut self, plan: &Plan, layout: &Layout, by: i64) {
        if layout.slider.is_none() {
            return;
        }
        let whole = layout.heap.size;
        let sixteenth = (whole.0 / 16) as i64;
        let now = self.wish.limit.map_or(whole.0, |limit| limit.0) as i64;
        // To the next sixteenth, wherever a drag or the rounding to blocks has left it.
        let steps = (now + sixteenth / 2) / sixteenth.max(1) + by;
        let bytes = (steps * sixteenth).clamp(0, whole.0 as i64);
        self.wish.limit = limit(whole, bytes as u64, block(plan));
    }

    fn memory(&self, plan: &Plan) -> Memory {
        match self.memory {
            Some(memory) if plan.profile.tile.is_some() => memory,
            _ if plan.profile.tile.is_some() => Memory::Tile,
            _ => Memory::Ordinary,
        }
    }

    fn layout(&self, view: &View<'_>) -> Option<Layout> {
        let memory = self.memory(view.plan);
        Layout::of(view.extent, view.plan, memory, &draw::notices(view))
    }

    /// The resource that details are shown of: below the pointer, or else the chosen one.
    fn shown_resource(&self, layout: &Layout) -> Option<ResourceId> {
        let hovered = self.pointer.and_then(|at| layout.resource_at(at));
        hovered.or(self.chosen)
    }

    /// What there is to take hold of, and where: for who cannot see it.
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
        places.extend(blocks.map(|block| (format!("block {}", name(block.resident.resource)), block.area)));
        places
    }

    /// What details are shown of.
    pub(crate) fn detail<'a>(&self, view: &View<'a>) -> Option<&'a str> {
        let layout = self.shown.then(|| self.layout(view)).flatten()?;
        let resource = self.shown_resource(&layout)?;
        Some(&view.plan.frame.resource(resource).name)
    }
}

/// What the heap's sizes are rounded to.
fn block(plan: &Plan) -> Alignment {
    plan.profile.tile.map_or(Alignment::ONE, |tile| tile.block.bytes)
}

/// The limit in words, and the whole heap's size.
fn limit_of(plan: &Plan, wish: &Wish) -> (Bytes, Bytes) {
    let whole = plan.profile.tile.map_or(Bytes::ZERO, |tile| tile.size);
    (wish.limit.unwrap_or(whole).min(whole), whole)
}
