//! Advice: what would bring a resource on chip that is not.
//!
//! Every change is tried: the frame or the requirements are changed, planned again with the same options, and what does not
//! bring the resource on chip, or costs more elsewhere than it gains, is not advised. It takes a plan per change: milliseconds
//! for a frame, not something for every frame.

use std::sync::Arc;

use ash::vk;

use super::{MemoryKind, NotTile, PlacementReason, Plan, PlanError, model, plan};
use crate::frame::tables::ResourceKind;
use crate::frame::{BatchId, Frame, PassId, ResourceId};
use crate::measure::Requirements;
use crate::profile::TileRequirements;
use crate::units::{Alignment, Bytes};

/// What would bring one resource on chip.
#[derive(Clone, Debug, PartialEq)]
pub struct Advice {
    /// The resource, which is not in tile memory.
    pub resource: ResourceId,
    /// What keeps it out.
    pub constraint: NotTile,
    /// Changes that would bring it there, the most DRAM traffic saved first; empty where none was found.
    pub changes: Vec<Change>,
}

/// A change that brings a resource on chip.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// What to change.
    pub kind: ChangeKind,
    /// Bytes of DRAM traffic that the whole frame has less then, every frame.
    pub saves: Bytes,
}

/// What to change.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ChangeKind {
    /// Another format of the same class, of fewer bytes a texel. Its size in tile memory is estimated.
    Format(vk::Format),
    /// The largest extent of the same shape that is admitted. Its size in tile memory is estimated.
    Extent(vk::Extent2D),
    /// The pass does not use the resource any more: its lifetime ends sooner, or a use that is not allowed is gone.
    WithoutUse(PassId),
    /// The batch and the one behind it are submitted as one.
    Fused(BatchId),
    /// A pass behind this one stores the resource in ordinary memory, drawing or dispatching, and later passes use that: of its lifetime,
    /// the first stretch is in tile memory. See [`Frame::split`]; [`PlanOptions::split`](super::PlanOptions::split) does it.
    Stored(PassId),
}

/// Advice for every resource that the plan keeps out of tile memory for a reason that something can be done about, in the
/// frame's order. A plan for a device without tile memory has none.
///
/// ```
/// # use std::sync::Arc;
/// # use tileheap::frame::synthetic::{SyntheticDesc, synthetic};
/// # use tileheap::measure::estimate;
/// # use tileheap::profile::DeviceProfile;
/// # use tileheap::units::Bytes;
/// use tileheap::plan::{PlanOptions, plan};
/// use tileheap::plan::advise::advise;
/// # let frame = synthetic(7, SyntheticDesc::default());
/// # let profile = Arc::new(DeviceProfile::preset("adreno-830")?.with_tile_heap_size(Bytes::mib(2))?);
/// # let needs = Arc::new(estimate(&frame, &profile)?);
///
/// let plan = plan(&frame, &needs, &profile, &PlanOptions::default())?;
/// for advice in advise(&plan)? {
///     for change in &advice.changes {
///         println!("{}: {:?} saves {} a frame", frame.resource(advice.resource).name, change.kind, change.saves);
///     }
/// }
/// # Ok::<(), tileheap::Error>(())
/// ```
///
/// # Errors
/// As [`plan()`].
pub fn advise(plan: &Plan) -> crate::Result<Vec<Advice>> {
    let mut advice = Vec::new();
    for (resource, planned) in plan.described().resource_ids().zip(&plan.resources) {
        let (PlacementReason::Arena(constraint) | PlacementReason::Dedicated(constraint)) = planned.reason
        else {
            continue;
        };
        let trial = Trial { plan, resource };
        let mut changes = match constraint {
            NotTile::NoTileHeap
            | NotTile::OnePass { .. }
            | NotTile::Excluded { .. }
            | NotTile::Stored { .. } => continue,
            NotTile::NoRoom { .. } | NotTile::CostExceedsSavings { .. } => {
                [trial.smaller()?, trial.shorter()?, trial.stored()?].concat()
            }
            NotTile::TooLarge { .. } => trial.smaller()?,
            NotTile::CrossesWindows { .. } => [trial.fused()?, trial.shorter()?, trial.stored()?].concat(),
            NotTile::Transfer { pass }
            | NotTile::ResolveTarget { pass }
            | NotTile::BufferUse { pass, .. } => {
                let pass = plan.described_pass(pass);
                trial.without(pass)?.into_iter().collect()
            }
            _ => Vec::new(),
        };
        changes.sort_by_key(|change| std::cmp::Reverse(change.saves));
        advice.push(Advice {
            resource,
            constraint,
            changes,
        });
    }
    Ok(advice)
}

/// Bytes that cross the memory bus in a frame: reads and writes times size, or as measured, of everything that is not on chip.
pub fn dram_traffic(plan: &Plan) -> Bytes {
    let moved = plan.frame.accesses().iter().map(|access| {
        let placement = &plan.placements[plan.placement_of(access).index()];
        let reason = plan.resources[access.resource.index()].reason;
        match placement.memory {
            MemoryKind::Lazy | MemoryKind::Tile => Bytes::ZERO,
            // Neither loaded nor stored: binning keeps it on chip.
            _ if matches!(
                reason,
                PlacementReason::Arena(NotTile::OnePass { .. })
                    | PlacementReason::Dedicated(NotTile::OnePass { .. })
            ) =>
            {
                Bytes::ZERO
            }
            MemoryKind::Arena | MemoryKind::Dedicated => model::savings(&plan.frame, access, placement.size),
        }
    });
    moved.sum()
}

/// The same device and options with another frame of the same resources, or other requirements.
fn again(old: &Plan, frame: &Frame, requirements: Option<Requirements>) -> crate::Result<Plan> {
    let requirements = requirements.map_or_else(|| old.described_requirements().clone(), Arc::new);
    match plan(frame, &requirements, &old.profile, &old.options) {
        // What must stay on chip would not: a change that changes nothing is none.
        Err(crate::Error::Plan(PlanError::Pinned { .. })) => Ok(old.clone()),
        planned => planned,
    }
}

/// Changes tried for one resource.
struct Trial<'a> {
    plan: &'a Plan,
    resource: ResourceId,
}

impl Trial<'_> {
    /// The change, if it brings the resource on chip and saves something.
    fn judge(&self, kind: ChangeKind, changed: &Plan) -> Option<Change> {
        self.judge_home(kind, changed, self.resource)
    }

    /// The same, if it is `resident` that it brings there.
    fn judge_home(&self, kind: ChangeKind, changed: &Plan, resident: ResourceId) -> Option<Change> {
        let saves = dram_traffic(self.plan).0.saturating_sub(dram_traffic(changed).0);
        let helps = changed.memory_of(resident) == Some(MemoryKind::Tile) && saves > 0;
        helps.then_some(Change {
            kind,
            saves: Bytes(saves),
        })
    }

    /// With another size in tile memory, and in ordinary memory in proportion.
    fn sized(&self, tile: TileRequirements) -> crate::Result<Plan> {
        let mut requirements = Requirements::clone(self.plan.described_requirements());
        let needs = &mut requirements.resources[self.resource.index()];
        let before = needs.tile.map_or(tile.size.0, |tile| tile.size.0);
        let scaled = u128::from(needs.size.0) * u128::from(tile.size.0) / u128::from(before.max(1));
        let whole = Bytes(scaled as u64).align_up(needs.alignment.max(Alignment::ONE));
        needs.size = whole.min(needs.size);
        needs.tile = Some(tile);
        again(self.plan, self.plan.described(), Some(requirements))
    }

    /// Narrower formats, and the largest smaller extent.
    fn smaller(&self) -> crate::Result<Vec<Change>> {
        let ResourceKind::Image { desc, extent, usage } = &self.plan.described().resource(self.resource).kind
        else {
            return Ok(Vec::new());
        };
        let Some(heap) = self.plan.profile.tile else {
            return Ok(Vec::new());
        };
        let info = |format: vk::Format, extent: vk::Extent3D| {
            vk::ImageCreateInfo::default()
                .image_type(desc.image_type)
                .format(format)
                .extent(extent)
                .mip_levels(desc.mip_levels)
                .array_layers(desc.array_layers)
                .samples(desc.samples)
                .usage(*usage)
        };
        let mut changes = Vec::new();
        for &format in narrower(desc.format) {
            if let Some(tile) = heap.image(&info(format, *extent)) {
                changes.extend(self.judge(ChangeKind::Format(format), &self.sized(tile)?));
            }
        }
        // Halves of the sides' range: the largest of 256 steps that is admitted.
        let scaled = |step: u32| vk::Extent3D {
            width: (extent.width * step / STEPS).max(1),
            height: (extent.height * step / STEPS).max(1),
            depth: extent.depth,
        };
        let admitted = |step: u32| -> crate::Result<Option<Change>> {
            let Some(tile) = heap.image(&info(desc.format, scaled(step))) else {
                return Ok(None);
            };
            let vk::Extent3D { width, height, .. } = scaled(step);
            let kind = ChangeKind::Extent(vk::Extent2D { width, height });
            Ok(self.judge(kind, &self.sized(tile)?))
        };
        let (mut fits, mut fits_not, mut found) = (0, STEPS, None);
        while fits_not - fits > 1 {
            let middle = u32::midpoint(fits, fits_not);
            match admitted(middle)? {
                Some(change) => (fits, found) = (middle, Some(change)),
                None => fits_not = middle,
            }
        }
        changes.extend(found);
        Ok(changes)
    }

    /// Without its last use, where an earlier one reads it too.
    fn shorter(&self) -> crate::Result<Vec<Change>> {
        let frame = self.plan.described();
        let uses = || frame.accesses_to(self.resource);
        let Some(last) = uses().next_back().map(|access| access.pass) else {
            return Ok(Vec::new());
        };
        // What nobody reads any more is no help to anybody.
        if !uses().any(|access| access.pass != last && access.reads) {
            return Ok(Vec::new());
        }
        Ok(self.without(last)?.into_iter().collect())
    }

    /// Without what one pass does with it.
    fn without(&self, pass: PassId) -> crate::Result<Option<Change>> {
        let mut frame = self.plan.described().clone();
        let use_there = |frame: &Frame| {
            frame
                .accesses()
                .iter()
                .position(|access| access.pass == pass && access.resource == self.resource)
        };
        while let Some(access) = use_there(&frame) {
            // Some frames need the use: who else would write what others read?
            let Ok(without) = frame.without_access(access) else {
                return Ok(None);
            };
            frame = without;
        }
        if frame.uses_of(self.resource).is_empty() {
            return Ok(None);
        }
        Ok(self.judge(ChangeKind::WithoutUse(pass), &again(self.plan, &frame, None)?))
    }

    /// Stored after one of its passes, the best of them.
    fn stored(&self) -> crate::Result<Vec<Change>> {
        if self.plan.options.splits() {
            // All of them were weighed.
            return Ok(Vec::new());
        }
        let frame = &self.plan.frame;
        let mut best: Option<Change> = None;
        let uses = frame.accesses_to(self.resource);
        let mut passes: Vec<PassId> = uses.map(|access| access.pass).collect();
        passes.dedup();
        for pass in passes {
            // Some frames cannot be built so: names too long, attachments of another extent.
            let Some(Ok(split)) = frame.split(self.resource, pass) else {
                continue;
            };
            let mut requirements = Requirements::clone(&self.plan.requirements);
            let stretch = ResourceId(requirements.resources.len() as u32);
            requirements
                .resources
                .push(requirements.resources[self.resource.index()]);
            let changed = again(self.plan, &split, Some(requirements))?;
            let change = self.judge_home(ChangeKind::Stored(pass), &changed, stretch);
            if let Some(change) = change {
                if best.as_ref().is_none_or(|best| change.saves > best.saves) {
                    best = Some(change);
                }
            }
        }
        Ok(best.into_iter().collect())
    }

    /// With two batches as one.
    fn fused(&self) -> crate::Result<Vec<Change>> {
        let frame = self.plan.described();
        let lifetime = frame.lifetime_of(self.resource);
        let (first, last) = (PassId(lifetime.first.0), PassId(lifetime.end.0.saturating_sub(1)));
        let mut changes = Vec::new();
        let between = frame.batch_of(first).0..frame.batch_of(last).0;
        for batch in between.map(BatchId) {
            if let Some(fused) = frame.fused(batch) {
                changes.extend(self.judge(ChangeKind::Fused(batch), &again(self.plan, &fused?, None)?));
            }
        }
        Ok(changes)
    }
}

/// Steps of the extent that are told apart.
const STEPS: u32 = 256;

/// Formats of the same class with fewer bytes a texel: as many channels (alpha may go), the same kind of number.
fn narrower(format: vk::Format) -> &'static [vk::Format] {
    use vk::Format as F;
    match format {
        F::R32G32B32A32_SFLOAT => &[F::R16G16B16A16_SFLOAT, F::B10G11R11_UFLOAT_PACK32],
        F::R16G16B16A16_SFLOAT => &[F::B10G11R11_UFLOAT_PACK32],
        F::R32G32_SFLOAT => &[F::R16G16_SFLOAT],
        F::R32_SFLOAT => &[F::R16_SFLOAT],
        F::R16G16B16A16_UNORM => &[F::A2B10G10R10_UNORM_PACK32, F::R8G8B8A8_UNORM],
        F::R16G16B16A16_SNORM => &[F::R8G8B8A8_SNORM],
        F::R16G16_UNORM => &[F::R8G8_UNORM],
        F::R16G16_SNORM => &[F::R8G8_SNORM],
        F::R16_UNORM => &[F::R8_UNORM],
        F::R8G8B8A8_UNORM | F::B8G8R8A8_UNORM => &[F::R5G6B5_UNORM_PACK16],
        F::R32G32B32A32_UINT => &[F::R16G16B16A16_UINT, F::R8G8B8A8_UINT],
        F::R16G16B16A16_UINT => &[F::R8G8B8A8_UINT],
        F::R32G32_UINT => &[F::R16G16_UINT, F::R8G8_UINT],
        F::R32_UINT => &[F::R16_UINT, F::R8_UINT],
        F::R16_UINT => &[F::R8_UINT],
        F::D32_SFLOAT | F::X8_D24_UNORM_PACK32 => &[F::D16_UNORM],
        F::D32_SFLOAT_S8_UINT => &[F::D24_UNORM_S8_UINT, F::D16_UNORM_S8_UINT],
        _ => &[],
    }
}
