//! The traffic of a planned frame, with one metric for described and executed frames:
//!
//! ```text
//! share on chip = 1 - (bytes that still move off chip + charges) / bytes that the described frame moves
//! ```
//! Every access counts by [`Frame::traffic_of`]; an attachment used by only one render pass, whose contents are discarded, moves nothing, since
//! binning keeps it on chip; resources in tile memory move nothing; stores of split lifetimes move the bytes that they write.
//! [Charges](crate::execute::Charges) are the costs of arrangements: repeated passes, halos, merged passes. [`Traffic`] is the only place that
//! computes the share.

use ash::vk;

use super::executed::holders_of_accesses;
use super::{PlacementReason, Plan, WindowRule};
use crate::execute::{ChargeCause, ExecutedFrame};
use crate::frame::tables::{CommandSource, PassKind, ResourceKind};
use crate::frame::{AccessKind, Frame, PassId, Persistence, ResourceId};
use crate::measure::Requirements;
use crate::units::Bytes;

/// The size by which a resource's traffic is counted: the size in tile memory if it may be placed there, else in ordinary memory; for external resources,
/// which require no memory, the size of their contents.
pub(crate) fn counted_size(frame: &Frame, requirements: &Requirements, id: ResourceId) -> Bytes {
    let (resource, needs) = (frame.resource(id), &requirements.resources[id.index()]);
    match resource.persistence {
        Persistence::External(_) => resource.content_size(),
        _ => needs.tile.map_or(needs.size, |tile| tile.size),
    }
}

/// Bytes that a frame moves for a resource that is off chip, not counting stores.
pub(crate) fn traffic_off_chip(frame: &Frame, requirements: &Requirements, id: ResourceId) -> Bytes {
    frame.traffic_of_uses(id, counted_size(frame, requirements, id))
}

/// Returns true if [`savings`](super::model::savings) of all accesses to a resource are its [traffic](traffic_off_chip): none was measured, and no
/// pass is a store.
pub(super) fn savings_are_traffic(frame: &Frame) -> bool {
    let mut passes = frame.passes().iter();
    let mut accesses = frame.accesses().iter();
    passes.all(|pass| pass.contents != CommandSource::Store)
        && accesses.all(|access| access.measured.is_none())
}

/// The only render pass that uses a transient resource, if it uses the resource only as an attachment other than a resolve target, so that binning keeps it
/// on chip. Always `None` with [`WindowRule::WholeFrame`].
pub(crate) fn only_render_pass(frame: &Frame, id: ResourceId, windows: WindowRule) -> Option<PassId> {
    let first = frame.accesses_to(id).next()?.pass;
    let attached = |kind| {
        matches!(
            kind,
            AccessKind::ColorAttachment | AccessKind::DepthStencilAttachment | AccessKind::InputAttachment
        )
    };
    let is_only = windows == WindowRule::Device
        && frame.resource(id).persistence == Persistence::Transient
        && frame.pass(first).kind == PassKind::Render
        && frame
            .accesses_to(id)
            .all(|access| access.pass == first && attached(access.kind));
    is_only.then_some(first)
}

/// The result of [`only_render_pass`] for each resource.
pub(super) fn only_render_passes(frame: &Frame, windows: WindowRule) -> Vec<Option<PassId>> {
    let ids = frame.resource_ids();
    ids.map(|id| only_render_pass(frame, id, windows)).collect()
}

/// Traffic of the described frame with nothing in tile memory.
pub(super) fn described_traffic(
    executed: &ExecutedFrame,
    requirements: &Requirements,
    windows: WindowRule,
) -> Bytes {
    if let Some(first) = executed.charges().described_traffic {
        return first;
    }
    let described = executed.described();
    let only_passes = only_render_passes(described, windows);
    let accesses = described.accesses().iter();
    let moved = accesses.zip(holders_of_accesses(executed)).filter(|(access, _)| {
        only_passes[access.resource.index()].is_none()
            && described.pass(access.pass).contents != CommandSource::Store
    });
    let bytes = moved.map(|(access, holder)| {
        let size = counted_size(executed.frame(), requirements, holder);
        described.traffic_of(access, size)
    });
    bytes.sum()
}

/// Bytes that strips move off chip in addition to the bytes that their passes move as described: halos, and padding of the strips' images. `is_moved` returns
/// true for resources of the executed frame that move bytes off chip.
pub(crate) fn halos(
    executed: &ExecutedFrame,
    requirements: &Requirements,
    is_moved: impl Fn(ResourceId) -> bool,
) -> Bytes {
    let (frame, described) = (executed.frame(), executed.described());
    if frame.pass_ids().all(|pass| executed.strip(pass).is_none()) {
        return Bytes::ZERO;
    }
    /// The accesses in strips that execute one described access.
    #[derive(Clone, Copy, Default)]
    struct InStrips {
        /// Number of these accesses: in total, and off chip.
        times: [u64; 2],
        moved: Bytes,
    }
    let mut all = vec![InStrips::default(); described.accesses().len()];
    for (index, access) in frame.accesses().iter().enumerate() {
        let in_strip = executed.strip(access.pass).is_some();
        let Some(described) = executed.described_access(index).filter(|_| in_strip) else {
            continue;
        };
        let one = &mut all[described];
        one.times[0] += 1;
        if is_moved(access.resource) {
            one.times[1] += 1;
            let size = counted_size(frame, requirements, access.resource);
            one.moved += frame.traffic_of(access, size);
        }
    }
    let holders = holders_of_accesses(executed);
    let accesses = described.accesses().iter().zip(holders).zip(&all);
    let halos = accesses.filter(|(_, one)| one.times[1] > 0);
    let halos = halos.map(|((access, holder), one)| {
        let size = counted_size(frame, requirements, holder);
        let [times, off_chip] = one.times;
        let own = u128::from(described.traffic_of(access, size).0) * u128::from(off_chip) / u128::from(times);
        Bytes(one.moved.0.saturating_sub(own as u64))
    });
    halos.sum()
}

/// The traffic of a described frame's resources, in bytes per frame, as described or as arranged.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Traffic {
    /// Traffic of all resources as originally described, with nothing in tile memory: [`PlanTotals::traffic_bytes`](super::PlanTotals). An arrangement does
    /// not change it.
    pub described: Bytes,
    /// Bytes that still move off chip, other than those of halos; charges are not included.
    pub moved: Bytes,
    /// Cost of repeated passes.
    pub repeats: Bytes,
    /// Cost of the additional off-chip transfers of halos.
    pub halos: Bytes,
    /// Cost of merged passes.
    pub merges: Bytes,
    /// Number of texels that the passes compute, relative to the frame as described.
    pub shaded: f64,
}

impl Traffic {
    /// Traffic and charges of a plan, for a described or an [executed](ExecutedFrame) frame.
    pub fn of(plan: &Plan) -> Traffic {
        let executed = plan.executed();
        let is_moved = |id| plan.moves(id);
        let halos = halos(&executed, &plan.requirements, is_moved);
        Traffic {
            described: plan.totals.traffic_bytes,
            shaded: shaded(&executed),
            ..Traffic::charged(&executed, plan.dram_traffic(), halos)
        }
    }

    /// Traffic and charges of a frame whose accesses and stores move `moved` bytes, `halos` of them for halos; leaves `described` and `shaded` at 0.
    pub(super) fn charged(executed: &ExecutedFrame, moved: Bytes, halos: Bytes) -> Traffic {
        let charges = executed.charges();
        let cost = u128::from(halos.0) * u128::from(charges.halo_thousandths) / 1000;
        Traffic {
            moved: Bytes(moved.0 - halos.0),
            repeats: charges.of(ChargeCause::Repeat),
            halos: Bytes(cost as u64),
            merges: charges.of(ChargeCause::Merge),
            ..Traffic::default()
        }
    }

    /// 1 - (bytes still moved + charges) / bytes moved as described: 1 if everything stays on chip at no cost, negative if an arrangement costs more
    /// than the described frame moves with nothing in tile memory.
    pub fn share(&self) -> f64 {
        let described = self.described.0 as f64;
        if described == 0.0 {
            return 1.0;
        }
        1.0 - self.off_chip().0 as f64 / described
    }

    /// Bytes that stay on chip, minus charges; 0 if the result would be negative.
    pub fn on_chip(&self) -> Bytes {
        Bytes(self.described.0.saturating_sub(self.off_chip().0))
    }

    /// Total cost of repeats, halos and merges.
    pub fn charges(&self) -> Bytes {
        // The sum saturates, since the numbers may come from a document.
        [self.repeats, self.halos, self.merges].into_iter().sum()
    }

    /// Bytes that still move, plus charges: less is better.
    pub fn off_chip(&self) -> Bytes {
        [self.moved, self.charges()].into_iter().sum()
    }
}

/// Number of texels that the passes compute, relative to the frame as described.
fn shaded(executed: &ExecutedFrame) -> f64 {
    let area = |extent: vk::Extent2D| u64::from(extent.width) * u64::from(extent.height);
    let described = executed.described();
    let texels = |pass| {
        let written = described.accesses_of(pass).iter().filter(|access| access.writes);
        let extents = written.filter_map(|access| match described.resource(access.resource).kind {
            ResourceKind::Image { extent, .. } => Some((extent.width, extent.height)),
            ResourceKind::Buffer { .. } => None,
        });
        extents
            .map(|(width, height)| area(vk::Extent2D { width, height }))
            .max()
            .unwrap_or(0)
    };
    let (mut computed, mut whole) = (0, 0);
    for pass in executed.frame().pass_ids() {
        for run in executed.described_passes(pass) {
            // A fraction of the area that the pass computes: strips cover all of it, plus halos.
            computed += match run.strip {
                Some(strip) => area(strip.area.extent).min(texels(run.pass)),
                None => texels(run.pass),
            };
        }
    }
    for pass in described.pass_ids() {
        whole += texels(pass);
    }
    match whole {
        0 => 1.0,
        _ => computed as f64 / whole as f64,
    }
}

impl Plan {
    /// Returns true if a resource of [`Plan::frame`] moves any bytes off chip.
    fn moves(&self, id: ResourceId) -> bool {
        let is_tile = matches!(self.resources[id.index()].reason, PlacementReason::Tile { .. });
        !is_tile && only_render_pass(&self.frame, id, self.options.windows).is_none()
    }

    /// Bytes that cross the memory bus per frame: those of all resources that are neither in tile memory nor kept on chip by binning, and those that stores
    /// write. [Charges](crate::execute::Charges) are not included.
    pub fn dram_traffic(&self) -> Bytes {
        let off_chip = self.frame.resource_ids().filter(|&id| self.moves(id));
        let moved: Bytes = off_chip
            .map(|id| traffic_off_chip(&self.frame, &self.requirements, id))
            .sum();
        moved + self.totals.stored_bytes
    }
}
