//! Areas of copies at the border of strips, in frames whose strips render less than described.
//!
//! ```text
//!              strip 0                                     strip 1
//! described    load hdr ─► tone ─► blur ─► store out       load hdr ─► tone ─► blur ─► store out
//! this frame   load hdr ─► tone ─► a part ─► that part     nothing
//! ```

use ash::vk;

use super::bound_frame::BoundFrame;
use crate::frame::tables::{CommandSource, PassKind};
use crate::frame::{Frame, PassId, ResourceId, intersection, union};

/// The stretches of the lifetime of a strip's image, if it is split: one after another, each stored to the next.
fn stretches(frame: &Frame, image: ResourceId) -> impl Iterator<Item = ResourceId> {
    let stored = move |image: ResourceId, side: usize| {
        let is_store = |pass: PassId| frame.pass(pass).contents == CommandSource::Store;
        let mut stores = frame
            .accesses_to(image)
            .filter(move |access| is_store(access.pass));
        let sides = |pass| [0, 1].map(|side: usize| frame.accesses_of(pass)[side].resource);
        stores.find_map(move |access| {
            let sides = sides(access.pass);
            (sides[1 - side] == image).then_some(sides[side])
        })
    };
    let first = std::iter::successors(Some(image), move |&later| stored(later, 0)).last();
    std::iter::successors(first, move |&earlier| stored(earlier, 1))
}

impl BoundFrame {
    /// Limits the copies at the border of the strip that a pass belongs to, after the render area of the pass has changed.
    pub(super) fn limit_borders(&mut self, pass: PassId) {
        let frame = self.plan.frame.clone();
        for access in frame.accesses_of(pass) {
            if !self.is_of_strip(access.resource) {
                continue;
            }
            for image in stretches(&frame, access.resource) {
                for other in frame.accesses_to(image) {
                    if let CommandSource::Border { .. } = frame.pass(other.pass).contents {
                        self.areas[other.pass.index()] = self.border_area(&frame, other.pass);
                    }
                }
            }
        }
    }

    fn is_of_strip(&self, resource: ResourceId) -> bool {
        self.plan.origins.resource(resource).area.is_some()
    }

    /// The area that a copy at the border of a strip copies in this frame: if it copies out, the area around what passes have rendered to the
    /// strip's image; if it copies in, all of the described area as long as a pass uses the image. The frame does not know what dispatches write.
    fn border_area(&self, frame: &Frame, border: PassId) -> Option<vk::Rect2D> {
        let described = frame.pass(border).area;
        let ([read, write], CommandSource::Border { x, y }) =
            (frame.accesses_of(border), frame.pass(border).contents)
        else {
            return Some(described);
        };
        let leaves = self.is_of_strip(read.resource);
        let part = if leaves { read.resource } else { write.resource };
        let accesses = stretches(frame, part).flat_map(|image| frame.accesses_to(image));
        let mut uses = accesses.filter(|access| !frame.pass(access.pass).contents.is_own());
        if !leaves {
            let is_used = uses.any(|access| self.areas[access.pass.index()].is_some());
            return is_used.then_some(described);
        }
        let mut written: Option<vk::Rect2D> = None;
        for access in uses.filter(|access| access.writes) {
            if frame.pass(access.pass).kind != PassKind::Render {
                return Some(described);
            }
            if let Some(rendered) = self.areas[access.pass.index()] {
                written = Some(written.map_or(rendered, |before| union(before, rendered)));
            }
        }
        let vk::Rect2D { offset, extent } = written?;
        let offset = vk::Offset2D {
            x: offset.x - x,
            y: offset.y - y,
        };
        intersection(vk::Rect2D { offset, extent }, described)
    }
}
