//! The bytes of each resource that each pass of a captured frame moves: now, wasted, and kept on chip by a plan.
//!
//! ```text
//! pass      attachment     now                     kept on chip
//! gbuffer   albedo         stores 8 MiB            by tile memory
//! lighting  albedo         reads 8 MiB             by tile memory
//!           depth          loads 8 MiB, stores 8   the store is wasted: nothing reads it
//! ```
//! Sizes count texels and bytes, without driver padding. An attachment moves the bytes that its render pass loads and stores.

use std::collections::BTreeMap;

use tileheap::execute::PassRun;
use tileheap::frame::tables::Access;
use tileheap::frame::{AccessKind, Frame, PassId, ResourceId};
use tileheap::plan::model::savings;
use tileheap::plan::{MemoryKind, OffChipReason, PlacementReason, Plan};
use tileheap::units::Bytes;
use tileheap_capture::document::{AttachmentOperation, Capture};

use super::names::at;
use crate::frames::arrange::ArrangedPlan;

/// Traffic of a pass to a resource, in bytes per frame.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PassTraffic {
    pub(super) now: u64,
    pub(super) wasted: u64,
    /// Bytes kept in tile memory by the frame as described.
    pub(super) tile_as_is: u64,
    /// Bytes kept in tile memory only by the arrangement.
    pub(super) tile_arranged: u64,
    /// Bytes kept in the driver's own tiles by the arrangement, because it merges render passes.
    pub(super) merged: u64,
}

/// The traffic of each pass to each resource.
pub(super) type Traffic = BTreeMap<(PassId, ResourceId), PassTraffic>;

/// Modeled traffic of a described pass to a resource in the arranged plan: in tile memory, in the driver's tiles, in total.
#[derive(Clone, Copy, Default)]
struct ArrangedTraffic {
    tile: u64,
    driver: u64,
    all: u64,
}

pub(super) fn traffic(described: &Plan, best: &ArrangedPlan<'_>, capture: &Capture) -> Traffic {
    let frame = described.described();
    let kept = kept_by(best, described);
    let mut all = Traffic::new();
    for access in frame.accesses() {
        let key = (access.pass, access.resource);
        all.entry(key).or_default().now +=
            moved_now(frame, capture, access, size(described, capture, access.resource));
    }
    for one in &capture.wasted {
        let key = at(frame, one.pass, one.resource);
        if let Some(moved) = key.and_then(|key| all.get_mut(&key)) {
            moved.wasted = (moved.wasted + one.bytes).min(moved.now);
        }
    }
    for (key, moved) in &mut all {
        let left = moved.now - moved.wasted;
        let part =
            |bytes: u64, of: u64| (u128::from(left) * u128::from(bytes) / u128::from(of.max(1))) as u64;
        let kept = kept.get(key).copied().unwrap_or_default();
        let used = used_by(described, *key);
        let was_tile = described.memory_of(used) == Some(MemoryKind::Tile);
        let was_driver = is_kept_by_driver(described.resources[used.index()].reason);
        match was_tile {
            true => moved.tile_as_is = part(kept.tile, kept.all),
            false => moved.tile_arranged = part(kept.tile, kept.all),
        }
        if !was_driver {
            moved.merged = part(kept.driver, kept.all);
        }
    }
    all
}

/// Returns the part of a described resource that a pass accesses; the resource itself if the pass does not access it.
fn used_by(plan: &Plan, (pass, resource): (PassId, ResourceId)) -> ResourceId {
    let mut accesses = plan.input.frame().accesses_of(pass).iter();
    let found = accesses.find(|access| plan.input.origins().resource(access.resource).resource == resource);
    found.map_or(resource, |access| access.resource)
}

/// The size of a resource without padding; its size in the plan if the document has none.
fn size(described: &Plan, capture: &Capture, id: ResourceId) -> Bytes {
    let known = capture.resources.get(id.index()).map(|facts| facts.bytes);
    let known = known.filter(|bytes| *bytes > 0).map(Bytes);
    known.unwrap_or(described.input_requirements.resources[id.index()].size)
}

/// Returns the bytes that an access of the unchanged program moves to or from memory.
fn moved_now(frame: &Frame, capture: &Capture, access: &Access, size: Bytes) -> u64 {
    let once = frame.bytes_touched(access, size).0;
    let (pass, resource) = (access.pass.index(), access.resource.index() as u32);
    let Some(facts) = capture.passes.get(pass) else {
        return savings(frame, access, size).0;
    };
    let part = facts.accessed.iter().find(|one| one.resource == resource);
    let once = part.map_or(once, |part| part.bytes.min(once));
    if access.kind.is_attachment() {
        let is_wasted_load = capture.wasted.iter().any(|one| {
            one.operation == AttachmentOperation::Load && (one.pass, one.resource) == (pass as u32, resource)
        });
        let loads = facts.loads.contains(&resource) && (access.reads || is_wasted_load);
        let stores = facts.stores.contains(&resource) && access.writes;
        return once * (u64::from(loads) + u64::from(stores));
    }
    // Contents that the render pass instance keeps in its tiles.
    let is_inside = access.kind == AccessKind::InputAttachment
        && frame.accesses_to(access.resource).any(|other| {
            let of = capture.passes.get(other.pass.index());
            other.kind.is_attachment() && of.is_some_and(|of| of.instance == facts.instance)
        });
    if is_inside {
        0
    } else {
        once * u64::from(frame.times_moved(access))
    }
}

/// Returns true if the driver keeps the resource in its own tiles, because it is an attachment of only one render pass.
pub(crate) fn is_kept_by_driver(reason: PlacementReason) -> bool {
    matches!(
        reason,
        PlacementReason::Lazy { .. }
            | PlacementReason::Arena(OffChipReason::OnePass { .. })
            | PlacementReason::Dedicated(OffChipReason::OnePass { .. })
    )
}

/// Returns the modeled traffic of each described pass to each described resource in the arranged frame, on chip and in total, including strips and merged
/// passes.
fn kept_by(best: &ArrangedPlan<'_>, described: &Plan) -> BTreeMap<(PassId, ResourceId), ArrangedTraffic> {
    let (plan, arranged) = (&best.plan, &best.arranged);
    let mut kept: BTreeMap<_, ArrangedTraffic> = BTreeMap::new();
    let frame = arranged.frame();
    let runs_of = |pass| arranged.described_passes(pass);
    for pass in frame.pass_ids() {
        for access in frame.accesses_of(pass) {
            let id = access.resource;
            let begun = runs_of(pass).take_while(|run| run.subpass <= access.subpass);
            let Some(PassRun { pass: of, .. }) = begun.last() else {
                continue;
            };
            let sums = kept.entry((of, best.described_resource(id))).or_default();
            let bytes = modeled(plan, access);
            let by_tile = plan.memory_of(id) == Some(MemoryKind::Tile);
            let by_driver = is_kept_by_driver(plan.resources[id.index()].reason);
            sums.all += bytes;
            sums.tile += if by_tile { bytes } else { 0 };
            sums.driver += if by_driver && !by_tile { bytes } else { 0 };
        }
    }
    // A merged pass neither loads nor stores contents that its next subpass continues to use, even if the resource is used later.
    let merged = frame.pass_ids().filter(|&pass| runs_of(pass).count() > 1);
    for PassRun { pass, .. } in merged.flat_map(runs_of) {
        let mut before: BTreeMap<ResourceId, u64> = BTreeMap::new();
        let (input, origins) = (described.input.frame(), described.input.origins());
        for access in input.accesses_of(pass) {
            let whole = origins.resource(access.resource).resource;
            *before.entry(whole).or_default() += modeled(described, access);
        }
        for (id, bytes) in before {
            let sums = kept.entry((pass, id)).or_default();
            sums.driver += bytes.saturating_sub(sums.all);
            sums.all = sums.all.max(bytes);
        }
    }
    kept
}

/// Returns the bytes that an access moves if its resource is off chip, according to the cost model.
fn modeled(plan: &Plan, access: &Access) -> u64 {
    let size = plan.input_requirements.resources[access.resource.index()].size;
    savings(plan.input.frame(), access, size).0
}
