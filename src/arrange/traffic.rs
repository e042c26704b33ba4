//! Traffic of an arrangement: the bytes that move off chip, and the additional cost of halos and repeats.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::rc::Rc;

use ash::vk;
use tileheap_device::format::texel_block;
use tileheap_pack::{Item, PartialPacking, ProblemDesc, Steps, select};
use tileheap_units::CompactSort;

use super::error::CannotGroup;
use super::layout::{LaidBorder, LaidRun, Layout, NOT_LAID};
use super::mergeable::MergeablePasses;
use super::strips::Division;
use super::types::{Arrangement, GroupMode, PassGroup};
use crate::execute::{ChargeCause, Charges};
use crate::frame::tables::ResourceKind;
use crate::frame::{AccessKind, PassId, ResourceId};
use crate::plan::traffic::{counted_size, halos, only_render_pass, traffic_off_chip};
use crate::plan::{OffChipReason, PlacementReason, Plan, Traffic, WindowRule};
use crate::profile::DeviceProfile;
use crate::units::{Alignment, Bytes, Span};

/// Costs of repeats, halos and merges, in bytes of memory traffic.
///
/// The defaults are conservative assumptions; [`ArrangementCosts::of`] has the values measured on a device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArrangementCosts {
    /// Cost of one more execution of a pass; replaces the cost that the pass [declares](crate::frame::tables::Pass::repeat_bytes) unless that is 0.
    pub repeat: Option<Bytes>,
    /// Cost per byte of a halo that is read or written off chip again. Default: 1, as if no cache helped.
    pub halo: f64,
    /// Cost of a render pass that runs as part of another one. Default: 0.
    pub merged: Bytes,
}

impl Default for ArrangementCosts {
    fn default() -> ArrangementCosts {
        ArrangementCosts {
            repeat: None,
            halo: 1.0,
            merged: Bytes::ZERO,
        }
    }
}

impl ArrangementCosts {
    /// The same costs for a frame that already has these charges: its halos keep their cost, unless a cost of halos was measured.
    fn after(self, charges: &Charges) -> ArrangementCosts {
        let measured = (self.halo * 1000.0).round() != 1000.0;
        ArrangementCosts {
            halo: match measured {
                true => self.halo,
                false => f64::from(charges.halo_thousandths) / 1000.0,
            },
            ..self
        }
    }

    /// The costs measured in a profile, or the defaults if none were measured.
    pub fn of(profile: &DeviceProfile) -> ArrangementCosts {
        profile
            .costs
            .map_or_else(ArrangementCosts::default, |measured| ArrangementCosts {
                repeat: Some(measured.repeat),
                halo: measured.halo,
                merged: measured.merged,
            })
    }
}

/// Divisions of one run of passes, by the images at the border of its strips.
type Divisions = HashMap<Vec<ResourceId>, Rc<Result<Division, CannotGroup>>>;

/// The search's model of a planned frame.
pub(super) struct Model<'a> {
    pub(super) plan: &'a Plan,
    pub(super) costs: ArrangementCosts,
    /// Traffic of the described frame with nothing in tile memory.
    pub(super) described: Bytes,
    heap: Bytes,
    submit_boundary: bool,
    /// Per resource, its properties as a candidate for tile memory.
    candidates: Vec<Candidate>,
    /// Per pass, the texels that it computes as described.
    pub(super) texels: Vec<u64>,
    /// Charges of the frame that is arranged, which may be a rewritten one: for repeats, and for merges.
    pub(super) input_charges: [Bytes; 2],
    /// Cache: the divisions of each run of passes.
    divisions: HashMap<Vec<PassId>, Divisions>,
    /// Cache: groups in strips, laid out; `None` for those that cannot be divided.
    pub(super) runs: HashMap<PassGroup, Option<Rc<LaidRun>>>,
    /// Cache: per run, the images for which copies at the border of its strips save traffic.
    saving_borders: HashMap<Vec<PassId>, Vec<ResourceId>>,
    /// True if images may be at the border of strips.
    pub(super) with_borders: bool,
    /// Number of frames evaluated.
    pub(super) steps: u64,
    /// Residents of tile memory in the frame evaluated last.
    pub(super) residents: Vec<ResourceId>,
    /// Layout of the frame evaluated last.
    pub(super) laid: Layout,
}

#[derive(Clone, Copy, Default)]
struct Candidate {
    /// True if the rules admit the resource to tile memory, as described or in other batches.
    admitted: bool,
    /// Bytes that the resource moves with nothing in tile memory, where the halos of strips that the planned frame already has count at their cost; 0
    /// for an attachment of only one render pass.
    traffic: u64,
    size: u64,
    alignment: u64,
}

/// Returns true if the rules admit a resource to tile memory, given enough room and a single batch.
fn is_admitted(reason: PlacementReason) -> bool {
    match reason {
        PlacementReason::Tile { .. } => true,
        PlacementReason::Arena(why) | PlacementReason::Dedicated(why) => matches!(
            why,
            OffChipReason::NoRoom { .. }
                | OffChipReason::CostExceedsSavings { .. }
                | OffChipReason::TooLarge { .. }
                | OffChipReason::CrossesWindows { .. }
        ),
        _ => false,
    }
}

impl<'a> Model<'a> {
    /// Creates the model from a plan of the frame, whose description may have changed since the plan `described`.
    pub(super) fn new(plan: &'a Plan, described: &Plan, costs: ArrangementCosts) -> Model<'a> {
        let (frame, needs) = (plan.input.frame(), &plan.input_requirements);
        let costs = costs.after(plan.input.charges());
        let candidate = |id: ResourceId| {
            let tile = needs.resources[id.index()].tile;
            let traffic = match only_render_pass(frame, id, plan.options.windows) {
                Some(_) => Bytes::ZERO,
                None => {
                    // The frame may be in strips already.
                    let halos = halos(&plan.input, needs, |other| other == id);
                    let cost = Bytes((halos.0 as f64 * costs.halo) as u64);
                    Bytes(
                        (traffic_off_chip(frame, needs, id) + cost)
                            .0
                            .saturating_sub(halos.0),
                    )
                }
            };
            Candidate {
                admitted: is_admitted(plan.resources[id.index()].reason) && tile.is_some(),
                traffic: traffic.0,
                size: counted_size(frame, needs, id).0,
                alignment: tile.map_or(1, |tile| tile.alignment.get()),
            }
        };
        let texels = |pass: PassId| {
            let written = frame.accesses_of(pass).iter().filter(|access| access.writes);
            let texels = written.map(|access| match frame.resource(access.resource).kind {
                ResourceKind::Image { extent, .. } => u64::from(extent.width) * u64::from(extent.height),
                ResourceKind::Buffer { .. } => 0,
            });
            texels.max().unwrap_or(0)
        };
        let heap = plan.options.tile_heap(&plan.profile);
        let charges = described.input.charges();
        Model {
            plan,
            costs,
            described: described.totals.traffic_bytes,
            heap: heap.map_or(Bytes::ZERO, |heap| heap.size),
            submit_boundary: heap.is_some_and(|heap| heap.queue_submit_boundary),
            candidates: frame.resource_ids().map(candidate).collect(),
            texels: frame.pass_ids().map(texels).collect(),
            input_charges: [ChargeCause::Repeat, ChargeCause::Merge].map(|cause| charges.of(cause)),
            divisions: HashMap::new(),
            runs: HashMap::new(),
            saving_borders: HashMap::new(),
            with_borders: true,
            steps: 0,
            residents: Vec::new(),
            laid: Layout::new(frame.resources().len(), frame.passes().len()),
        }
    }

    /// Size of the tile heap.
    pub(super) fn heap(&self) -> u64 {
        self.heap.0
    }

    /// Size of a resource in tile memory.
    pub(super) fn counted_size(&self, resource: ResourceId) -> Bytes {
        Bytes(self.candidates[resource.index()].size)
    }

    /// Returns true if the rules admit a resource to tile memory and there is a tile heap.
    pub(super) fn could_be_resident(&self, resource: ResourceId) -> bool {
        self.candidates[resource.index()].admitted && self.heap > Bytes::ZERO
    }

    /// Bytes that a resource moves off chip with nothing in tile memory and nothing merged.
    pub(super) fn moved_whole(&self, resource: ResourceId) -> Bytes {
        Bytes(self.candidates[resource.index()].traffic)
    }

    /// Returns true if tile memory could hold all of a resource for its whole lifetime, in some arrangement.
    pub(super) fn fits_whole(&self, resource: ResourceId, merging: &MergeablePasses<'_>) -> bool {
        let mut uses = self
            .plan
            .input
            .frame()
            .accesses_to(resource)
            .map(|access| access.pass);
        let (first, last) = (uses.next(), uses.next_back());
        let apart = first
            .zip(last)
            .filter(|_| self.plan.options.windows == WindowRule::Device);
        self.could_be_resident(resource)
            && self.counted_size(resource).0 <= self.heap()
            && apart.is_none_or(|(first, last)| merging.share_window(first, last, self.submit_boundary))
    }

    /// Bytes that a resource still moves in the arrangement evaluated last.
    pub(super) fn still_moved(&self, resource: ResourceId) -> u64 {
        let in_strips = self.laid.moved_in_strips(resource);
        match self.residents.contains(&resource) {
            true => in_strips,
            false => self.off_chip(&self.laid, resource) + in_strips,
        }
    }

    /// Bytes that a resource moves outside tile memory: as described, minus the savings of merged passes. An attachment of only one render
    /// pass moves nothing unless strips repeat the pass.
    fn off_chip(&self, laid: &Layout, resource: ResourceId) -> u64 {
        let traffic = self.candidates[resource.index()].traffic;
        match traffic {
            0 => laid.resources[resource.index()].rendered,
            _ => traffic.saturating_add_signed(-laid.resources[resource.index()].merged),
        }
    }

    pub(super) fn division(
        &mut self,
        run: &[PassId],
        borders: &[ResourceId],
    ) -> Rc<Result<Division, CannotGroup>> {
        let known = self.divisions.get(run).and_then(|known| known.get(borders));
        if let Some(known) = known {
            return known.clone();
        }
        let division = Rc::new(Division::of(self.plan.input.frame(), run, borders));
        let of_run = self.divisions.entry(run.to_vec()).or_default();
        of_run.insert(borders.to_vec(), division.clone());
        division
    }

    /// Images for which copies at the border of the strips of a run save traffic; none without a tile heap, or while such images are not allowed.
    pub(super) fn saving_borders(&mut self, run: &[PassId]) -> Vec<ResourceId> {
        if self.heap == Bytes::ZERO || !self.with_borders {
            return Vec::new();
        }
        if let Some(known) = self.saving_borders.get(run) {
            return known.clone();
        }
        let saving = Division::saving_borders(self.plan.input.frame(), run);
        self.saving_borders.insert(run.to_vec(), saving.clone());
        saving
    }

    /// Traffic of a valid arrangement. `steps` limits the search for residents; 0 means a quick choice by density. `None` if a run cannot be divided
    /// into its strips.
    pub(super) fn traffic(&mut self, arrangement: &Arrangement, steps: u64) -> Option<Traffic> {
        self.steps += 1;
        let frame = self.plan.input.frame();
        let mut laid = Layout::new(frame.resources().len(), frame.passes().len());
        let [repeats, merges] = self.input_charges;
        let mut traffic = Traffic {
            described: self.described,
            repeats,
            merges,
            ..Traffic::default()
        };
        let (mut computed, mut described) = (0u64, 0u64);
        for (number, batch) in (0..).zip(&arrangement.batches) {
            let first = &frame.batches()[batch.batches.first as usize];
            let window = if self.submit_boundary {
                first.submit.0
            } else {
                number
            };
            for group in &batch.groups {
                let texels = self.lay(&mut laid, group, window, &mut traffic)?;
                computed += texels.0;
                described += texels.1;
            }
        }
        traffic.shaded = computed as f64 / described.max(1) as f64;
        let items = self.items(&laid, &mut traffic);
        self.residents.clear();
        for chosen in self.choose(&items, steps) {
            let resource = items[chosen].resource;
            if let Some(border) = items[chosen].border {
                let border: &mut LaidBorder = &mut laid.borders[border];
                border.is_resident = true;
                traffic.moved = Bytes(traffic.moved.0 - border.savings);
                continue;
            }
            self.residents.push(resource);
            traffic.moved = Bytes(traffic.moved.0 - self.off_chip(&laid, resource));
            traffic.halos = Bytes(traffic.halos.0 - laid.resources[resource.index()].halos);
        }
        laid.merges = Bytes(traffic.merges.0 - merges.0);
        self.laid = laid;
        Some(traffic)
    }

    /// Returns true if the driver runs these merged passes as one, within the limits of the device profile.
    fn driver_merges(&self, passes: &[PassId]) -> bool {
        let Some(limits) = self.plan.profile.merge else {
            return true;
        };
        let frame = self.plan.input.frame();
        let mut attached = Vec::new();
        let mut bits = 0;
        for access in passes.iter().flat_map(|&pass| frame.accesses_of(pass)) {
            let counts = matches!(
                access.kind,
                AccessKind::ColorAttachment | AccessKind::InputAttachment
            );
            let resource = frame.resource(access.resource);
            let ResourceKind::Image { desc, .. } = resource.kind else {
                continue;
            };
            let is_color = resource.aspects() == vk::ImageAspectFlags::COLOR;
            if counts && is_color && !attached.contains(&access.resource) {
                attached.push(access.resource);
                bits += texel_block(desc.format).map_or(0, |texel| texel.bytes * 8) * desc.samples.as_raw();
            }
        }
        attached.len() <= limits.attachments as usize && bits <= limits.color_bits
    }

    /// Appends a group to the layout; returns the texels computed, and those computed as described. `None` if the group cannot be divided into its
    /// strips.
    fn lay(
        &mut self,
        laid: &mut Layout,
        group: &PassGroup,
        window: u32,
        traffic: &mut Traffic,
    ) -> Option<(u64, u64)> {
        let frame = self.plan.input.frame();
        let start = laid.end;
        let described: u64 = group.passes.iter().map(|pass| self.texels[pass.index()]).sum();
        for &pass in &group.passes {
            laid.positions[pass.index()] = laid.end;
            laid.end += u32::from(group.mode != GroupMode::Merged);
        }
        laid.end += u32::from(group.mode == GroupMode::Merged);
        let whole = Span::new(start, laid.end);
        if group.mode == GroupMode::Merged && self.driver_merges(&group.passes) {
            let runs_later =
                |pass: PassId| laid.positions[pass.index()] == NOT_LAID && !group.passes.contains(&pass);
            for (resource, saved) in self.merge_savings(&group.passes, runs_later) {
                laid.resources[resource.index()].merged += saved;
            }
        }
        for &pass in &group.passes {
            for access in frame.accesses_of(pass) {
                let at = laid.positions[pass.index()];
                let one = &mut laid.resources[access.resource.index()];
                let span = match group.mode {
                    GroupMode::Strips(_) => whole,
                    _ => Span::new(at, at + 1),
                };
                one.span = Some(one.span.map_or(span, |before| {
                    Span::new(before.first.0.min(span.first.0), before.end.0.max(span.end.0))
                }));
                one.windows = Some(match one.windows {
                    Some((first, _)) => (first, window),
                    None => (window, window),
                });
            }
        }
        if group.mode == GroupMode::Merged {
            let merges = self.costs.merged.0.saturating_mul(group.passes.len() as u64 - 1);
            traffic.merges = Bytes(traffic.merges.0.saturating_add(merges));
        }
        let computed = match group.mode {
            GroupMode::Strips(_) => self.laid_run(group)?.add_to(laid, group, traffic),
            _ => described,
        };
        Some((computed, described))
    }
}

impl Model<'_> {
    /// Candidates for tile memory, each with its time span. Adds the traffic of all resources to `traffic`, as if nothing were in tile memory.
    fn items(&self, all: &Layout, traffic: &mut Traffic) -> Vec<Placeable> {
        let mut items = Vec::new();
        for (resource, (candidate, laid)) in (0..)
            .map(ResourceId)
            .zip(self.candidates.iter().zip(&all.resources))
        {
            let off_chip = self.off_chip(all, resource);
            if off_chip == 0 {
                traffic.halos = Bytes(traffic.halos.0 - laid.halos);
                continue;
            }
            traffic.moved += Bytes(off_chip);
            let Some(span) = laid.span.filter(|_| candidate.admitted) else {
                continue;
            };
            let size = laid.part.flatten().unwrap_or(candidate.size);
            if laid.windows.is_some_and(|(first, last)| first == last) && size <= self.heap.0 {
                items.push(Placeable {
                    resource,
                    border: None,
                    span,
                    size,
                    alignment: Alignment::new(candidate.alignment).unwrap_or(Alignment::ONE),
                    savings: off_chip + laid.halos,
                });
            }
        }
        for (number, border) in all.borders.iter().enumerate() {
            traffic.moved += Bytes(border.savings);
            if let Some(tile) = border.tile.filter(|tile| tile.size <= self.heap) {
                items.push(Placeable {
                    resource: border.resource,
                    border: Some(number),
                    span: border.span,
                    size: tile.size.0,
                    alignment: tile.alignment,
                    savings: border.savings,
                });
            }
        }
        items
    }

    /// Chooses the items to place in tile memory, by a search of at most `steps` steps or, if `steps` is 0, by density; returns their indices.
    fn choose(&self, items: &[Placeable], steps: u64) -> Vec<usize> {
        if steps > 0 {
            let packed = items
                .iter()
                .map(|item| Item::new(item.span, Bytes(item.size), item.alignment));
            if let Ok(problem) = ProblemDesc::new(packed.collect()).capacity(self.heap).build() {
                let savings: Vec<u64> = items.iter().map(|item| item.savings).collect();
                let found = select(&problem, &savings, Steps(steps), &mut |_| {
                    ControlFlow::Continue(())
                });
                return (0..items.len())
                    .filter(|&item| found.offsets[item].is_some())
                    .collect();
            }
        }
        let mut order: Vec<usize> = (0..items.len()).collect();
        let area = |item: &Placeable| u128::from(item.size) * u128::from(item.span.len());
        order.compact_sort_by(|&a, &b| {
            let (a, b) = (&items[a], &items[b]);
            (u128::from(b.savings) * area(a)).cmp(&(u128::from(a.savings) * area(b)))
        });
        let mut shelf = PartialPacking::with_capacity(Some(self.heap));
        order.retain(|&number| {
            let item = &items[number];
            let offset = shelf.lowest_fit(item.span, Bytes(item.size), item.alignment);
            if let Some(offset) = offset {
                shelf.place(number as u32, item.span, offset, Bytes(item.size));
            }
            offset.is_some()
        });
        order
    }
}

/// A candidate for tile memory.
struct Placeable {
    resource: ResourceId,
    /// Index in [`Layout::borders`], for an image at the border of strips.
    border: Option<usize>,
    span: Span,
    size: u64,
    alignment: Alignment,
    savings: u64,
}
