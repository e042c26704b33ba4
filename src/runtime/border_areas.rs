//! Areas of copies at the border of strips, in frames whose strips render less than described.
//!
//! ```text
//!              strip 0                                     strip 1
//! described    load hdr ─► tone ─► blur ─► store out       load hdr ─► tone ─► blur ─► store out
//! this frame   load hdr ─► tone ─► a part ─► that part     nothing
//! ```

use ash::vk;

use super::bound_frame::BoundFrame;
use crate::frame::tables::{Access, CommandSource, PassKind, ResourceKind};
use crate::frame::{Frame, PassId, Persistence, ResourceId, intersection, union};

/// The stretches of the lifetime of a strip's image, in order, or only the image if its lifetime is not split.
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

/// Returns true if the image that a border copy reads (or writes, if `enters`) is the whole image, and not a strip's. The image of a strip is used first by
/// the copy into it and last by the copy out of it, and there is at most one of each.
fn is_whole(frame: &Frame, border: PassId, image: ResourceId, enters: bool) -> bool {
    let mut accesses = stretches(frame, image).flat_map(|image| frame.accesses_to(image));
    let is_outside = |access: &Access| match enters {
        true => access.pass < border,
        false => access.pass > border,
    };
    frame.resource(image).persistence != Persistence::Transient
        || accesses.any(|access| {
            let is_other = is_border(frame, access.pass) && access.pass != border;
            is_outside(access) || is_other && access.writes == enters
        })
}

fn is_border(frame: &Frame, pass: PassId) -> bool {
    matches!(frame.pass(pass).contents, CommandSource::Border { .. })
}

/// Returns true if a copy at the border of a strip copies out of the strip's image. Only needed if the two images have the same size.
fn leaves_strip(frame: &Frame, border: PassId, [read, write]: [ResourceId; 2]) -> bool {
    match [
        is_whole(frame, border, read, false),
        is_whole(frame, border, write, true),
    ] {
        [false, true] => true,
        [true, false] => false,
        // One strip that covers everything, which is only left or only entered. In either case, only what passes have rendered needs a copy, unless
        // other copies have written it.
        _ => {
            let mut accesses = stretches(frame, read).flat_map(|image| frame.accesses_to(image));
            accesses.all(|access| !is_border(frame, access.pass) || access.pass == border)
        }
    }
}

/// The image of a strip that a border copy reads or writes.
#[derive(Clone, Copy, PartialEq, Eq)]
struct StripPart {
    image: ResourceId,
    /// True if the copy reads the image: contents leave the strip.
    leaves: bool,
}

impl BoundFrame {
    /// Limits the areas of the copies at the border of the strip that a pass belongs to, after the render area of the pass has changed.
    pub(super) fn limit_borders(&mut self, pass: PassId) {
        let frame = self.plan.frame.clone();
        for access in frame.accesses_of(pass) {
            for image in stretches(&frame, access.resource) {
                for other in frame.accesses_to(image) {
                    let part = self.strip_part(&frame, other.pass);
                    if let Some(part) = part.filter(|part| part.image == image) {
                        self.recording.areas[other.pass.index()] =
                            self.border_area(&frame, (other.pass, part));
                    }
                }
            }
        }
    }

    /// The image of the strip at whose border a pass copies; `None` for other passes. If a frame is bound without its origin map, the areas of strips are
    /// unknown: the image of a strip is then the smaller one, or, if a strip covers everything, the one that only the strip uses.
    fn strip_part(&self, frame: &Frame, border: PassId) -> Option<StripPart> {
        let ([read, write], CommandSource::Border { .. }) =
            (frame.accesses_of(border), frame.pass(border).contents)
        else {
            return None;
        };
        let images = [read.resource, write.resource];
        let has_area = images.map(|id| self.plan.origins.resource(id).area.is_some());
        let texels = images.map(|id| match frame.resource(id).kind {
            ResourceKind::Image { extent, .. } => u64::from(extent.width) * u64::from(extent.height),
            ResourceKind::Buffer { .. } => 0,
        });
        let leaves = match has_area {
            [true, _] => true,
            [_, true] => false,
            _ if texels[0] == texels[1] => leaves_strip(frame, border, images),
            _ => texels[0] < texels[1],
        };
        let image = images[usize::from(!leaves)];
        Some(StripPart { image, leaves })
    }

    /// The area that a copy at the border of a strip copies in this frame: if it copies out, the area around what passes have rendered to the strip's image;
    /// if it copies in, all of the described area as long as a pass uses the image. If a compute or transfer pass writes the image, the area is the described
    /// one, since the written area is unknown.
    fn border_area(&self, frame: &Frame, (border, part): (PassId, StripPart)) -> Option<vk::Rect2D> {
        let described = frame.pass(border).area;
        let CommandSource::Border { x, y } = frame.pass(border).contents else {
            return Some(described);
        };
        let accesses = stretches(frame, part.image).flat_map(|image| frame.accesses_to(image));
        let mut uses = accesses.filter(|access| !frame.pass(access.pass).contents.is_recorded_by_runtime());
        if !part.leaves {
            let is_used = uses.any(|access| self.recording.areas[access.pass.index()].is_some());
            return is_used.then_some(described);
        }
        let mut written: Option<vk::Rect2D> = None;
        for access in uses.filter(|access| access.writes) {
            if frame.pass(access.pass).kind != PassKind::Render {
                return Some(described);
            }
            if let Some(rendered) = self.recording.areas[access.pass.index()] {
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
