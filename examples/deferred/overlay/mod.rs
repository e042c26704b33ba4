//! The overlay: a heap map of the current plan, and constraints set by keyboard and mouse.
//!
//! ```text
//! input ──► Overlay ──► Request ──► the planner ──► a plan that is bound ──► Layout ──► shapes of the next frame
//! ```

mod draw;
mod layout;
mod request;
mod state;
#[cfg(test)]
mod tests;

pub(crate) use self::request::Request;
pub(crate) use self::state::{Overlay, Reaction, View};
use crate::support::sheet::Sheet;

impl Overlay {
    /// Clears the sheet and draws the overlay for the next frame.
    pub(crate) fn draw(&self, sheet: &mut Sheet, view: &View<'_>) {
        sheet.clear();
        if self.shown {
            match self.layout(view) {
                Some(layout) => draw::draw(sheet, self, view, &layout),
                None => draw::too_small(sheet, view.extent),
            }
        }
    }
}
