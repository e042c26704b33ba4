//! Aliasing only: the previous users of each placement's bytes, for engines that track layouts and barriers themselves.
//!
//! ```text
//! passes            0   1   2   3   4   5
//! bytes [0, 8)      ├─ a ──┤       ├─ c ─┤       c: previous users are a, and b for [8, 12)
//! bytes [8, 12)         ├─ b ──┤   ├─ c ─┤       a: previous user is c of the previous frame
//! ```
//! Before the first pass that uses a resource, the engine waits for the last uses of the previous users, and treats the contents of the
//! resource as undefined (an image is then in `VK_IMAGE_LAYOUT_UNDEFINED`). Within a frame, it orders the uses of a placed resource like
//! those of any other resource.

use ash::vk;
use serde::{Deserialize, Serialize};
use tileheap_units::CompactSort;

use super::access_use::{AccessUse, is_resolved};
use super::error::LowerError;
use super::lowering_desc::{DeviceQueues, Parity};
use super::names::FrameNames;
use super::state::AddressSpace;
use super::tables::{DeviceQueueIndex, OptionalIndex};
use crate::Checked;
use crate::frame::{AccessKind, Frame, PassId, Persistence, ResourceId};
use crate::names;
use crate::plan::{Ladder, MemoryKind, Placement, Plan, ResourcePlan, WindowRule};
use crate::profile::Features;
use crate::units::{Bytes, Run};

/// A placement, with the first pass that uses its resource. Each placement is an image or a buffer of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[repr(C)]
pub struct AliasingRow {
    /// The resource that is placed.
    pub resource: ResourceId,
    /// The placement, a row of [`Plan::placements`].
    pub placement: u32,
    /// The kind of memory: images and buffers in tile memory are created with `VK_IMAGE_USAGE_TILE_MEMORY_BIT_QCOM` or
    /// `VK_BUFFER_USAGE_TILE_MEMORY_BIT_QCOM`, images in lazily allocated memory with `VK_IMAGE_USAGE_TRANSIENT_ATTACHMENT_BIT`.
    pub memory: MemoryKind,
    /// The memory object, a row of [`Plan::objects`].
    pub object: u32,
    /// A first pass that uses the resource: no earlier use is ordered before it. A placement has a row for each first pass; there are several only if queues
    /// begin to use the resource independently of each other.
    pub first_pass: PassId,
    /// `memoryOffset` in the object.
    pub offset: Bytes,
    /// Number of bytes that the resource occupies.
    pub size: Bytes,
    /// Previous users to wait for, including the resource itself in the previous frame: a run of [`Aliasing::previous`].
    pub previous: Run,
    /// True unless the resource is a history. (A history's contents are undefined until they are first written: clear each of its placements once, or do not
    /// read the previous version in the first frame.)
    pub discards: bool,
}

/// A previous user of a placement's bytes, with its uses on one device queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[repr(C)]
pub struct PreviousUser {
    /// The resource.
    pub resource: ResourceId,
    /// The resource's last pass on the queue.
    pub last_pass: PassId,
    /// The device queue.
    pub queue: DeviceQueueIndex,
    /// True if the resource used the bytes in the previous frame; such users do not count in the first frame.
    pub earlier_frame: bool,
    /// The stages of its uses on the queue.
    #[serde(with = "names::bits")]
    pub stages: vk::PipelineStageFlags2,
    /// The access flags of its writes on the queue.
    #[serde(with = "names::bits")]
    pub writes: vk::AccessFlags2,
}

/// Previous users of every placement, and the tile memory to bind, without layouts or barriers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Aliasing {
    /// Placements in memory of the plan, by first pass.
    ///
    /// A history whose previous version is read has two placements with the same first pass. The current version is in the first of
    /// [`ResourcePlan::placements`](crate::plan::ResourcePlan::placements) in even frames, and in the second in odd frames; the previous version is in the
    /// other one. The first frame is frame 0. See [`Aliasing::parity_of`].
    pub placements: Vec<AliasingRow>,
    /// Previous users; each row of `placements` has a run of them.
    pub previous: Vec<PreviousUser>,
    /// Per pass of the frame, the tile memory object to bind, a row of [`Plan::objects`]; `NONE` if nothing is bound.
    pub tile_memory: Vec<OptionalIndex>,
}

const _: () = assert!(size_of::<AliasingRow>() == 56);
const _: () = assert!(size_of::<PreviousUser>() == 32);

/// Lists the previous users of each placement's bytes, in frames that follow one another on the same queues.
///
/// O(placements x placements that share bytes with them).
///
/// ```
/// # use std::sync::Arc;
/// # use tileheap::frame::synthetic::{SyntheticDesc, synthetic};
/// # use tileheap::{measure::estimate, plan::{Ladder, PlanOptions, plan}, profile::DeviceProfile};
/// use tileheap::lower::{DeviceQueues, aliasing};
/// # let frame = synthetic(7, SyntheticDesc::default());
/// # let profile = Arc::new(DeviceProfile::preset("adreno-830")?);
/// # let needs = Arc::new(estimate(&frame, &profile)?);
/// let options = PlanOptions { ladder: Ladder::Off, ..PlanOptions::default() };
/// let plan = plan(&frame, &needs, &profile, &options)?;
/// let aliasing = aliasing(&plan, &DeviceQueues::single_queue(&frame))?;
/// for row in &aliasing.placements {
///     let users = row.previous.of(&aliasing.previous); // wait for these before `row.first_pass`
///     # let _ = users;
/// }
/// # Ok::<(), tileheap::Error>(())
/// ```
///
/// # Errors
/// If the number of device queues does not match the number of declared queues. If the plan was made only for comparison. If its options permit more than
/// aliasing, whether the plan uses it or not: an image in each of several memory objects (plan with [`Ladder::Off`]), or stores (plan without
/// [`split`](crate::plan::PlanOptions::split)). If parts of an image are first used on several queues at the same time.
pub fn aliasing(plan: &Checked<Plan>, queues: &DeviceQueues) -> Result<Aliasing, LowerError> {
    queues.check(&plan.frame)?;
    check(plan, queues)?;
    let bound = plan.passes.iter().map(|pass| pass.bound_object);
    let mut aliasing = Aliasing {
        tile_memory: bound
            .map(|object| object.map(|object| object.index() as u32).into())
            .collect(),
        ..Aliasing::default()
    };
    let mut order: Vec<(AddressSpace, u32)> = (0..)
        .zip(&plan.placements)
        .filter_map(|(index, placement)| Some((space_of(plan, queues, placement)?, index)))
        .collect();
    order.compact_sort_by_key(|&(space, index)| (space, plan.placements[index as usize].span.first, index));
    for placements in order.chunk_by(|(a, _), (b, _)| a == b) {
        // The first round determines what a frame leaves for the next one.
        let mut holders = Holders::default();
        placements
            .iter()
            .for_each(|&(_, index)| _ = holders.take(plan, index));
        holders.end_frame();
        for &(_, index) in placements {
            let earlier = holders.take(plan, index);
            add(plan, queues, (index, &earlier), &mut aliasing);
        }
    }
    aliasing
        .placements
        .compact_sort_by_key(|row| (row.first_pass, row.placement));
    Ok(aliasing)
}

/// Returns an error if a plan permits or needs more than aliasing, or was made only for comparison.
fn check(plan: &Plan, queues: &DeviceQueues) -> Result<(), LowerError> {
    let more = |why| {
        let frame = plan.frame.name().to_owned();
        Err(LowerError::NotOnlyAliasing { frame, why })
    };
    let is_ladder = |resource: &ResourcePlan| {
        let rows = resource.placements.of(&plan.placements);
        rows.len() > 1 && rows[0].memory == MemoryKind::Tile
    };
    // The options decide even if the plan has neither: at another size, or on another device, the same options may give a plan with ladders or stores.
    if plan.options.ladder != Ladder::Off || plan.resources.iter().any(is_ladder) {
        return more("it may have an image in several tile memory objects: plan with `Ladder::Off`");
    }
    if plan.options.split || plan.stores().next().is_some() {
        return more("it may split lifetimes by stores: plan without `PlanOptions::split`");
    }
    if plan.options.windows == WindowRule::WholeFrame {
        let frame = plan.frame.name().to_owned();
        return Err(LowerError::WholeFrame { frame });
    }
    let frame = &plan.frame;
    let is_split = |&id: &ResourceId| {
        let history = frame.resource(id).persistence == Persistence::History;
        let external = matches!(frame.resource(id).persistence, Persistence::External(_));
        frame.resource(id).is_image() && !history && !external && first_passes(frame, queues, id).len() > 1
    };
    if frame.resource_ids().any(|id| is_split(&id)) {
        return more("parts of an image are first used on several queues at the same time");
    }
    if frame
        .passes()
        .iter()
        .any(|pass| pass.contents.is_recorded_by_runtime())
    {
        return more("it copies images at the border of strips: arrange it without `borders`");
    }
    Ok(())
}

/// The address space of a placement's bytes; `None` for the caller's memory.
fn space_of(plan: &Plan, queues: &DeviceQueues, placement: &Placement) -> Option<AddressSpace> {
    let object = placement.object?;
    let first = plan.frame.lifetime_of(placement.resource).first.0;
    Some(match placement.memory {
        MemoryKind::Tile => AddressSpace::tile(queue_of(&plan.frame, queues, PassId(first))),
        _ => AddressSpace::memory(object.index() as u32),
    })
}

fn queue_of(frame: &Frame, queues: &DeviceQueues, pass: PassId) -> DeviceQueueIndex {
    queues.declared()[frame.queue_of(pass).index()]
}

/// The placements that last used each byte range of an address space.
#[derive(Default)]
struct Holders(Vec<Holder>);

/// A byte range `[first, end)`, last used by one placement.
#[derive(Clone, Copy)]
struct Holder {
    first: Bytes,
    end: Bytes,
    placement: u32,
    earlier_frame: bool,
}

impl Holders {
    /// Makes a placement the holder of its bytes; returns the previous holders, deduplicated.
    fn take(&mut self, plan: &Plan, index: u32) -> Vec<Holder> {
        let placement = &plan.placements[index as usize];
        let (first, end) = (placement.offset, placement.offset + placement.size);
        let mut before: Vec<Holder> = Vec::new();
        let mut left = Vec::with_capacity(self.0.len() + 2);
        for one in self.0.drain(..) {
            if one.end <= first || end <= one.first {
                left.push(one);
                continue;
            }
            if before.iter().all(|known| known.placement != one.placement) {
                before.push(one);
            }
            let rest = [(one.first, first.min(one.end)), (end.max(one.first), one.end)];
            let rest = rest.into_iter().filter(|(first, end)| first < end);
            left.extend(rest.map(|(first, end)| Holder { first, end, ..one }));
        }
        left.push(Holder {
            first,
            end,
            placement: index,
            earlier_frame: false,
        });
        self.0 = left;
        before
    }

    fn end_frame(&mut self) {
        self.0.iter_mut().for_each(|one| one.earlier_frame = true);
    }
}

/// Adds the rows of a placement; `earlier` are the previous holders of its bytes.
fn add(plan: &Plan, queues: &DeviceQueues, (index, earlier): (u32, &[Holder]), to: &mut Aliasing) {
    let (frame, placement) = (&plan.frame, &plan.placements[index as usize]);
    let first = to.previous.len() as u32;
    for one in earlier {
        let resource = plan.placements[one.placement as usize].resource;
        add_users(plan, queues, (resource, one.earlier_frame), &mut to.previous);
    }
    let previous = Run::new(first, to.previous.len() as u32);
    let object = placement
        .object
        .expect("a placement with an address space is in a memory object")
        .index() as u32;
    let firsts = first_passes(frame, queues, placement.resource).into_iter();
    to.placements.extend(firsts.map(|first_pass| AliasingRow {
        resource: placement.resource,
        placement: index,
        memory: placement.memory,
        object,
        first_pass,
        offset: placement.offset,
        size: placement.size,
        previous,
        discards: frame.resource(placement.resource).persistence != Persistence::History,
    }));
}

/// The passes that use a resource and have no earlier use of it ordered before them.
fn first_passes(frame: &Frame, queues: &DeviceQueues, resource: ResourceId) -> Vec<PassId> {
    let mut passes: Vec<PassId> = frame.accesses_to(resource).map(|access| access.pass).collect();
    passes.compact_sort();
    passes.dedup();
    let queue = |pass| queue_of(frame, queues, pass);
    let ordered = |a: PassId, b: PassId| a < b && (queue(a) == queue(b) || frame.happens_before(a, b));
    let is_first = |pass: &PassId| !passes.iter().any(|&other| ordered(other, *pass));
    passes.iter().copied().filter(is_first).collect()
}

/// Adds the uses of a resource, merged per device queue.
fn add_users(
    plan: &Plan,
    queues: &DeviceQueues,
    (resource, earlier_frame): (ResourceId, bool),
    to: &mut Vec<PreviousUser>,
) {
    let (frame, first) = (&plan.frame, to.len());
    let store_none = plan.profile.features.contains(Features::STORE_OP_NONE);
    for access in frame.accesses_to(resource) {
        let queue = queue_of(frame, queues, access.pass);
        let depth = !access.range.aspects.contains(vk::ImageAspectFlags::COLOR);
        let mut made = AccessUse::of(access, depth, store_none, is_resolved(frame, access));
        if access.kind == AccessKind::ResolveAttachment {
            // The caller may record the pass with a render pass object.
            made.add_target_operations(access, depth);
        }
        let AccessUse { stages, writes, .. } = made;
        match to[first..].iter_mut().find(|known| known.queue == queue) {
            Some(known) => {
                known.last_pass = known.last_pass.max(access.pass);
                known.stages |= stages;
                known.writes |= writes;
            }
            None => to.push(PreviousUser {
                resource,
                last_pass: access.pass,
                queue,
                earlier_frame,
                stages,
                writes,
            }),
        }
    }
}

/// The format name of the document.
const FORMAT: &str = "tileheap-aliasing";
const VERSION: u64 = 1;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    format: String,
    version: u64,
    frame: String,
    names: FrameNames,
    aliasing: Aliasing,
}

impl Aliasing {
    /// The rows as JSON, with the names of the planned frame.
    pub fn to_json(&self, frame: &Frame) -> String {
        tileheap_json::write(&Document {
            format: FORMAT.to_owned(),
            version: VERSION,
            frame: frame.name().to_owned(),
            names: FrameNames::of(frame),
            aliasing: self.clone(),
        })
    }

    /// The frames in which a row's placement has the current version of its history; in the others, it has the previous version. `None` unless the resource has
    /// two placements. O(placements).
    pub fn parity_of(&self, row: &AliasingRow) -> Option<Parity> {
        let is_other =
            |other: &&AliasingRow| other.resource == row.resource && other.placement != row.placement;
        let other = self.placements.iter().find(is_other)?;
        let is_first = row.placement < other.placement;
        Some(if is_first { Parity::Even } else { Parity::Odd })
    }

    /// The rows as text: one line for each placement, for each of its previous users, and for each pass that binds tile memory.
    pub fn text(&self, frame: &Frame) -> String {
        let mut text = String::new();
        for row in &self.placements {
            let name = &frame.resource(row.resource).name;
            let pass = &frame.pass(row.first_pass).name;
            let (object, offset, size) = (row.object, row.offset.0, row.size);
            let contents = match self.parity_of(row) {
                _ if row.discards => "contents undefined",
                None => "contents kept",
                Some(Parity::Even) => "current in even frames, contents kept",
                Some(Parity::Odd) => "current in odd frames, contents kept",
            };
            text += &format!(
                "`{name}` in object {object} at {offset} ({size}), {contents} before pass `{pass}`\n"
            );
            for user in row.previous.of(&self.previous) {
                let name = &frame.resource(user.resource).name;
                let pass = &frame.pass(user.last_pass).name;
                let when = if user.earlier_frame {
                    ", in the previous frame"
                } else {
                    ""
                };
                let queue = user.queue.0;
                let stages = names::bit_names(user.stages).join(" ");
                let writes = match names::bit_names(user.writes).join(" ") {
                    none if none.is_empty() => "; no writes".to_owned(),
                    writes => format!("; writes {writes}"),
                };
                text += &format!(
                    "    after `{name}`, last used by pass `{pass}` on queue {queue}{when}: {stages}{writes}\n"
                );
            }
        }
        for (pass, object) in frame.passes().iter().zip(&self.tile_memory) {
            if let Some(object) = object.get() {
                text += &format!("pass `{}`: object {object} is bound as tile memory\n", pass.name);
            }
        }
        text
    }
}
