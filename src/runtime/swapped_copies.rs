//! The objects that odd frames use, determined before an odd frame is lowered: those of even frames, with the two copies of each history swapped.

use ash::vk;
use tileheap_units::CompactSort;

use super::device_state::DeviceState;
use super::resources::Handles;
use crate::Result;
use crate::frame::{Persistence, ResourceId};
use crate::lower::tables::ImageOrBuffer;
use crate::lower::tables::objects::ViewRow;
use crate::lower::{Lowered, Parity};
use crate::plan::Plan;

/// The swapped copies of histories with two copies, by access.
#[derive(Debug, Default)]
pub(super) struct SwappedCopies(Vec<SwappedCopy>);

/// The copy that an access uses in odd frames.
#[derive(Clone, Copy, Debug)]
struct SwappedCopy {
    access: u32,
    object: ImageOrBuffer,
    /// The view of the copy; null if the access has none.
    view: vk::ImageView,
}

impl SwappedCopies {
    /// Finds the copies, and creates all views that odd frames use. `even` are the tables of an even frame of a plan that also has odd ones.
    ///
    /// # Errors
    /// When the driver fails to create a view.
    pub(super) fn new(
        plan: &Plan,
        even: &Lowered,
        handles: &Handles,
        state: &DeviceState,
    ) -> Result<SwappedCopies> {
        let has_copies = |id: ResourceId| {
            plan.frame.resource(id).persistence == Persistence::History
                && plan.resources[id.index()].placements.len() == 2
        };
        // The copies of a history are adjacent.
        let other = |row: u32, resource_of: &dyn Fn(u32) -> ResourceId| {
            let is_second = row > 0 && resource_of(row - 1) == resource_of(row);
            if is_second { row - 1 } else { row + 1 }
        };
        let image_of = |row: u32| even.images[row as usize].resource;
        let buffer_of = |row: u32| even.buffers[row as usize].resource;
        let mut views = vec![vk::ImageView::null(); even.views.len()];
        for (view, row) in views.iter_mut().zip(&even.views) {
            if has_copies(image_of(row.image)) {
                let image = other(row.image, &image_of);
                *view = handles.view(&ViewRow { image, ..*row }, even, plan, state)?;
            }
        }
        let mut copies = Vec::new();
        for id in plan.frame.resource_ids().filter(|&id| has_copies(id)) {
            copies.extend(plan.frame.uses_of(id).iter().map(|&access| {
                let row = &even.accesses[access as usize];
                let view = row.view.get().map(|view| views[view as usize]);
                SwappedCopy {
                    access,
                    object: match row.object.get() {
                        ImageOrBuffer::Image(row) => ImageOrBuffer::Image(other(row, &image_of)),
                        ImageOrBuffer::Buffer(row) => ImageOrBuffer::Buffer(other(row, &buffer_of)),
                    },
                    view: view.unwrap_or_default(),
                }
            }));
        }
        copies.compact_sort_by_key(|copy| copy.access);
        Ok(SwappedCopies(copies))
    }

    /// The object of an access in frames of `parity`, and its view; `even` is the one that even frames use.
    pub(super) fn used_in(
        &self,
        parity: Parity,
        access: usize,
        even: (ImageOrBuffer, vk::ImageView),
    ) -> (ImageOrBuffer, vk::ImageView) {
        let found = self.0.binary_search_by_key(&(access as u32), |copy| copy.access);
        match found.ok().filter(|_| parity == Parity::Odd) {
            Some(index) => (self.0[index].object, self.0[index].view),
            None => even,
        }
    }
}
