//! The uses of each resource in the previous frame, the captured frame and the next one, in order.

use std::collections::HashMap;

use ash::vk;
use tileheap::format;
use tileheap::frame::{AccessKind, LoadOp, SubresourceRange};

use super::access::{Coverage, FollowedAccess};
use super::contents::{ComparedFrame, ContentUse, Effect, FollowedContents, WHOLE, contents};
use super::flatten::Pass;
use super::objects::Resource;
use super::submits::Submits;

/// The captured frame, and the frames before and after it, if there are any.
#[derive(Clone, Copy)]
pub(crate) struct ComparedFrames<'a> {
    pub(crate) before: Option<&'a Submits>,
    pub(crate) captured: &'a Submits,
    pub(crate) next: Option<&'a Submits>,
}

/// The cells of a resource: its aspects, levels and layers. A buffer and a 3D image have one layer.
pub(crate) struct Cells {
    aspects: Vec<u32>,
    pub(crate) size: [u32; 3],
}

impl Cells {
    pub(crate) fn of(resource: &Resource) -> Cells {
        let Resource::Image(image) = resource else {
            return Cells {
                aspects: Vec::new(),
                size: [1; 3],
            };
        };
        let bits = format::aspects(image.desc.format).as_raw();
        let aspects: Vec<u32> = (0..32)
            .map(|bit| 1u32 << bit)
            .filter(|bit| bits & bit != 0)
            .collect();
        let layers = if image.is_3d() { 1 } else { image.desc.array_layers };
        Cells {
            size: [aspects.len() as u32, image.desc.mip_levels, layers],
            aspects,
        }
    }

    /// Returns the cells of a range.
    pub(crate) fn range(&self, range: SubresourceRange) -> [(u32, u32); 3] {
        let of = |first: u32, end: u32, all: u32| if first == end { (0, all) } else { (first, end) };
        let is_in = |bit: &u32| range.aspects.as_raw() & bit != 0;
        let first = self.aspects.iter().position(is_in).unwrap_or(0) as u32;
        let count = self.aspects.iter().filter(|bit| is_in(bit)).count() as u32;
        let layers = if self.size[2] == 1 {
            (0, 1)
        } else {
            of(range.layers.first, range.layers.end, self.size[2])
        };
        [
            of(first, first + count, self.size[0]),
            of(range.levels.first, range.levels.end, self.size[1]),
            layers,
        ]
    }
}

/// Follows the contents of every resource of the compared frames, by key.
pub(crate) fn follow(frames: ComparedFrames<'_>) -> HashMap<usize, FollowedContents> {
    let mut uses: HashMap<usize, (Resource, Vec<ContentUse>)> = HashMap::new();
    let in_order = [
        (ComparedFrame::Before, frames.before),
        (ComparedFrame::Captured, Some(frames.captured)),
        (ComparedFrame::Next, frames.next),
        (ComparedFrame::Repeated, Some(frames.captured)),
    ];
    for (which, submits) in in_order {
        if let Some(submits) = submits {
            add_frame(which, submits, &mut uses);
        }
    }
    let followed = uses.into_iter().map(|(key, (resource, uses))| {
        let size = Cells::of(&resource).size;
        (key, contents(&uses, size))
    });
    followed.collect()
}

fn add_frame(
    which: ComparedFrame,
    submits: &Submits,
    uses: &mut HashMap<usize, (Resource, Vec<ContentUse>)>,
) {
    let mut add = |resource: &Resource, one: ContentUse| {
        let known = uses.entry(resource.key());
        known
            .or_insert_with(|| (resource.clone(), Vec::new()))
            .1
            .push(one);
    };
    let mut first = 0;
    for flat in submits.flats() {
        for (number, pass) in flat.passes.iter().enumerate() {
            let place = first + number;
            for (resource, range) in flat.discards_before(number) {
                add(resource, discard(which, place, Cells::of(resource).range(*range)));
            }
            for (position, access) in pass.accesses.iter().enumerate() {
                let ends = AttachmentLoadsAndStores::of(&flat.passes, number, access);
                add(
                    &access.resource,
                    of_access(which, (place, position), pass, access, ends),
                );
            }
            for (resource, range) in &pass.also_read {
                let read = ContentUse {
                    reads: true,
                    effect: Effect::None,
                    ..discard(which, place, Cells::of(resource).range(*range))
                };
                add(resource, read);
            }
        }
        first += flat.passes.len();
        // Discards after the last pass.
        for (resource, range) in flat.discards_before(flat.passes.len()) {
            add(resource, discard(which, first, Cells::of(resource).range(*range)));
        }
    }
}

fn discard(frame: ComparedFrame, pass: usize, cells: [(u32, u32); 3]) -> ContentUse {
    ContentUse {
        frame,
        place: (pass, usize::MAX),
        cells,
        area: WHOLE,
        reads: false,
        effect: Effect::Discards,
        attached: false,
        loads: false,
        only_blends: false,
        stores: None,
    }
}

/// The operations of an attachment that a pass performs: the load operation in the first pass of the render pass instance that uses the attachment, and the
/// store operation in the last.
#[derive(Clone, Copy, Default)]
pub(crate) struct AttachmentLoadsAndStores {
    pub(crate) loads: bool,
    pub(crate) stores: bool,
}

impl AttachmentLoadsAndStores {
    /// Returns the operations that pass `number` performs for the attachment that `access` uses; none for other accesses.
    pub(crate) fn of(passes: &[Pass], number: usize, access: &FollowedAccess) -> AttachmentLoadsAndStores {
        let pass = &passes[number];
        let Some(instance) = pass.instance.filter(|_| access.kind.is_attachment()) else {
            return AttachmentLoadsAndStores::default();
        };
        let uses = |other: &Pass| {
            let mut all = other.accesses.iter();
            other.instance == Some(instance)
                && all.any(|one| {
                    one.kind.is_attachment()
                        && one.resource.key() == access.resource.key()
                        && one.range.intersects(access.range)
                })
        };
        let is_used_in = |passes: &[Pass]| {
            let of_instance = |other: &&Pass| other.instance == Some(instance);
            passes.iter().filter(of_instance).any(uses)
        };
        AttachmentLoadsAndStores {
            loads: access.described_as.is_none() && !pass.facts.resumes && !is_used_in(&passes[..number]),
            stores: !pass.suspends && !is_used_in(&passes[number + 1..]),
        }
    }
}

fn of_access(
    frame: ComparedFrame,
    place: (usize, usize),
    pass: &Pass,
    access: &FollowedAccess,
    ends: AttachmentLoadsAndStores,
) -> ContentUse {
    let is_attachment = access.kind.is_attachment();
    // Contents that the pass itself clears do not come from before it.
    let own = access.kind == AccessKind::InputAttachment
        && pass.accesses.iter().any(|other| {
            other.resource.key() == access.resource.key()
                && other.kind.is_attachment()
                && other.load != LoadOp::Load
        });
    let effect = match access.coverage {
        _ if !access.writes => Effect::None,
        _ if access.is_conditional => Effect::Updates,
        _ if is_attachment && access.load == LoadOp::Load => Effect::Updates,
        _ if is_attachment => Effect::Replaces,
        Coverage::Whole => Effect::Replaces,
        Coverage::Unknown if !access.reads => Effect::MayReplace,
        Coverage::Unknown | Coverage::Part => Effect::Updates,
    };
    let stores = access.store.filter(|_| ends.stores && access.writes);
    let stores = stores.and_then(|store| match store {
        vk::AttachmentStoreOp::STORE => Some(true),
        vk::AttachmentStoreOp::DONT_CARE => Some(false),
        _ => None,
    });
    ContentUse {
        frame,
        place,
        cells: Cells::of(&access.resource).range(access.range),
        area: attached_area(pass, access),
        reads: access.reads && !own,
        effect,
        attached: is_attachment || access.kind == AccessKind::InputAttachment,
        loads: ends.loads && access.reads && access.load == LoadOp::Load,
        only_blends: access.kind == AccessKind::ColorAttachment,
        stores,
    }
}

/// Returns the area of an attachment that its pass renders to; for other accesses, the whole area.
fn attached_area(pass: &Pass, access: &FollowedAccess) -> [(u32, u32); 2] {
    let (Some(area), Resource::Image(image), true) =
        (pass.area, &access.resource, access.kind.is_attachment())
    else {
        return WHOLE;
    };
    let size = [area.extent.width, area.extent.height];
    let part = image.area(access.range.levels.first, [area.offset.x, area.offset.y], size);
    part.map_or(WHOLE, |part| part.map(|[first, end]| (first, end)))
}

/// Returns the bytes that one read or one write of the accessed part moves, without padding; for attachments, only those in the area of the pass.
pub(crate) fn moved_bytes(pass: &Pass, access: &FollowedAccess) -> u64 {
    if !access.kind.is_attachment() {
        return access.touched_bytes();
    }
    let area = attached_area(pass, access);
    access.part_bytes(Some(area.map(|(first, end)| [first, end])))
}
