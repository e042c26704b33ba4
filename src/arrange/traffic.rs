//! What an arrangement moves: the bytes that stay off chip, and what halos and repeats cost on top.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::rc::Rc;

use ash::vk;
use tileheap_device::format::texel_block;
use tileheap_pack::{Item, ProblemDesc, Shelf, Steps, select};
use tileheap_units::CompactSort;

use super::error::CannotGroup;
use super::strips::Division;
use super::types::{Arrangement, Group, Way, texels_of};
use crate::frame::tables::{ResourceKind, Share, Version};
use crate::frame::{AccessKind, PassId, ResourceId};
use crate::measure::tile_requirements_of_part;
use crate::plan::{NotTile, PlacementReason, Plan};
use crate::profile::DeviceProfile;
use crate::units::{Alignment, Bytes, Span};

/// What running a pass otherwise costs, in bytes of memory traffic.
///
/// The defaults are assumptions, on the careful side; [`Costs::of`] has what was measured on a device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Costs {
    /// One more execution of a pass, in place of what it [declares](crate::frame::tables::Pass::repeat_bytes) where that is not 0.
    pub repeat: Option<Bytes>,
    /// What a byte of a halo that is read or written off chip once more costs. Default: 1, no cache helps.
    pub halo: f64,
    /// A render pass that runs as part of another one. Default: 0.
    pub merged: Bytes,
}

impl Default for Costs {
    fn default() -> Costs {
        Costs {
            repeat: None,
            halo: 1.0,
            merged: Bytes::ZERO,
        }
    }
}

impl Costs {
    /// Those that a profile has, where they were measured; else the defaults.
    pub fn of(profile: &DeviceProfile) -> Costs {
        profile.costs.map_or_else(Costs::default, |measured| Costs {
            repeat: Some(measured.repeat),
            halo: measured.halo,
            merged: measured.merged,
        })
    }
}

/// The traffic of a frame's eligible resources, in bytes a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Traffic {
    /// As described, were nothing on chip: access count times size of everything that only lack of room keeps out of tile memory.
    pub eligible: Bytes,
    /// Of that, what still moves off chip.
    pub moved: Bytes,
    /// Saved besides, of resources that were not eligible as described.
    pub besides: Bytes,
    /// What repeated passes cost.
    pub repeats: Bytes,
    /// What halos move off chip once more, of any resource.
    pub halos: Bytes,
    /// What merged passes cost.
    pub merges: Bytes,
    /// Texels computed, over those computed as described.
    pub shaded: f64,
}

impl Traffic {
    /// 1 - (what still moves + charges) / what would move: 1 where everything eligible stays on chip at no cost.
    pub fn share(&self) -> f64 {
        let eligible = self.eligible.0 as f64;
        if eligible == 0.0 {
            return 1.0;
        }
        1.0 - (self.moved + self.charges()).0 as f64 / eligible
    }

    /// What repeats, halos and merges cost together.
    pub fn charges(&self) -> Bytes {
        self.repeats + self.halos + self.merges
    }

    /// What counts in the end: less is better.
    pub(super) fn cost(&self) -> i64 {
        (self.moved + self.charges()).0 as i64 - self.besides.0 as i64
    }
}

/// A planned frame, as the search looks at it.
pub(super) struct Model<'a> {
    pub(super) plan: &'a Plan,
    costs: Costs,
    heap: Bytes,
    submit_boundary: bool,
    /// Per resource.
    candidates: Vec<Candidate>,
    divisions: HashMap<Vec<PassId>, Rc<Result<Division, CannotGroup>>>,
    /// How often a frame was looked at.
    pub(super) steps: u64,
    /// What the frame that was looked at last has in tile memory.
    pub(super) residents: Vec<ResourceId>,
    /// How that is laid out.
    pub(super) laid: Layout,
}

#[derive(Clone, Copy, Default)]
struct Candidate {
    /// Whether the rules let it be in tile memory, as described or in other batches.
    admitted: bool,
    /// As the plan of the described frame counts them; 0 for those of other batches.
    eligible: u64,
    /// Bytes that it moves off chip as described.
    described: u64,
    /// Bytes that it moves off chip.
    traffic: u64,
    size: u64,
    alignment: u64,
}

impl Candidate {
    /// What it moves off chip of what was eligible as described, where it is not in tile memory.
    fn moved(&self) -> u64 {
        if self.eligible > 0 { self.traffic } else { 0 }
    }

    /// What it saves of what was not, on chip or not.
    fn besides(&self, on_chip: bool) -> u64 {
        match self.eligible {
            0 if on_chip => self.described,
            0 => self.described.saturating_sub(self.traffic),
            _ => 0,
        }
    }
}

/// What a resource of a planned frame moves off chip, whether the rules let it be in tile memory, and whether it is eligible as planned.
fn traffic_of(plan: &Plan, id: ResourceId) -> (u64, bool, bool) {
    let (admitted, eligible) = match plan.resources[id.index()].reason {
        PlacementReason::Tile { .. } => (true, true),
        PlacementReason::Arena(why) | PlacementReason::Dedicated(why) => match why {
            // Without a tile heap, merged passes can still keep it.
            NotTile::NoTileHeap
            | NotTile::NoRoom { .. }
            | NotTile::CostExceedsSavings { .. }
            | NotTile::TooLarge { .. } => (true, true),
            NotTile::CrossesWindows { .. } => (true, false),
            _ => (false, false),
        },
        _ => (false, false),
    };
    let frame = plan.described();
    let needs = &plan.described_requirements().resources[id.index()];
    let size = needs.tile.map_or(needs.size, |tile| tile.size);
    let uses = frame.accesses_to(id);
    let traffic = uses.map(|access| frame.traffic_of(access, size).0).sum();
    (traffic, admitted, eligible)
}

impl<'a> Model<'a> {
    /// A plan of the frame as described, or of one that describes it otherwise.
    pub(super) fn new(plan: &'a Plan, described: &Plan, costs: Costs) -> Model<'a> {
        let frame = plan.described();
        let candidate = |id: ResourceId| {
            let (traffic, admitted, _) = traffic_of(plan, id);
            let (before, _, eligible) = traffic_of(described, id);
            let needs = &plan.described_requirements().resources[id.index()];
            let (size, alignment) = needs
                .tile
                .map_or((needs.size, needs.alignment), |tile| (tile.size, tile.alignment));
            Candidate {
                admitted,
                eligible: if eligible { before } else { 0 },
                described: before,
                traffic,
                size: size.0,
                alignment: alignment.get(),
            }
        };
        let heap = plan.options.tile_heap(&plan.profile);
        Model {
            plan,
            costs,
            heap: heap.map_or(Bytes::ZERO, |heap| heap.size),
            submit_boundary: heap.is_some_and(|heap| heap.queue_submit_boundary),
            candidates: frame.resource_ids().map(candidate).collect(),
            divisions: HashMap::new(),
            steps: 0,
            residents: Vec::new(),
            laid: Layout::new(frame.resources().len(), frame.passes().len()),
        }
    }

    /// The bytes of the tile heap.
    pub(super) fn heap(&self) -> u64 {
        self.heap.0
    }

    /// The bytes of a resource in tile memory, and those that it moves if it is not there; 0 where the rules keep it out.
    pub(super) fn size_and_traffic(&self, resource: ResourceId) -> (u64, u64) {
        let candidate = &self.candidates[resource.index()];
        (candidate.size, candidate.moved())
    }

    pub(super) fn division(&mut self, run: &[PassId]) -> Rc<Result<Division, CannotGroup>> {
        if let Some(known) = self.divisions.get(run) {
            return known.clone();
        }
        let made = Rc::new(Division::of(self.plan.described(), run));
        self.divisions.insert(run.to_vec(), made.clone());
        made
    }

    /// What an arrangement moves, which must be one that fits; `steps` for choosing residents, none for a quick choice by density.
    /// `None` where a run cannot be divided so.
    pub(super) fn traffic(&mut self, arrangement: &Arrangement, steps: u64) -> Option<Traffic> {
        self.steps += 1;
        let frame = self.plan.described();
        let mut laid = Layout::new(frame.resources().len(), frame.passes().len());
        let mut traffic = Traffic::default();
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
            self.residents.push(items[chosen].resource);
            let candidate = &self.candidates[items[chosen].resource.index()];
            traffic.moved = Bytes(traffic.moved.0 - candidate.moved());
            traffic.halos = Bytes(traffic.halos.0 - laid.resources[items[chosen].resource.index()].halos);
            traffic.besides += Bytes(candidate.besides(true) - candidate.besides(false));
        }
        laid.merges = traffic.merges;
        self.laid = laid;
        Some(traffic)
    }

    /// Whether the driver runs merged passes as one.
    fn driver_merges(&self, passes: &[PassId]) -> bool {
        let Some(limits) = self.plan.profile.merge else {
            return true;
        };
        let frame = self.plan.described();
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

    /// Lays a group behind those before it; texels computed, and as described.
    fn lay(
        &mut self,
        laid: &mut Layout,
        group: &Group,
        window: u32,
        traffic: &mut Traffic,
    ) -> Option<(u64, u64)> {
        let frame = self.plan.described();
        let start = laid.end;
        let texels = |pass: PassId| {
            let written = frame.accesses_of(pass).iter().filter(|access| access.writes);
            let texels = written.map(|access| match frame.resource(access.resource).kind {
                ResourceKind::Image { extent, .. } => u64::from(extent.width) * u64::from(extent.height),
                ResourceKind::Buffer { .. } => 0,
            });
            texels.max().unwrap_or(0)
        };
        let described: u64 = group.passes.iter().map(|&pass| texels(pass)).sum();
        for &pass in &group.passes {
            laid.positions[pass.index()] = laid.end;
            laid.end += u32::from(group.way != Way::Merged);
        }
        laid.end += u32::from(group.way == Way::Merged);
        let whole = Span::new(start, laid.end);
        let merged = group.way == Way::Merged && self.driver_merges(&group.passes);
        for &pass in &group.passes {
            for access in frame.accesses_of(pass) {
                let at = laid.positions[pass.index()];
                let one = &mut laid.resources[access.resource.index()];
                let span = match group.way {
                    Way::Strips(_) => whole,
                    _ => Span::new(at, at + 1),
                };
                one.span = Some(one.span.map_or(span, |before| {
                    Span::new(before.first.0.min(span.first.0), before.end.0.max(span.end.0))
                }));
                one.windows = Some(match one.windows {
                    Some((first, _)) => (first, window),
                    None => (window, window),
                });
                let attached = access.kind.is_attachment() || access.kind == AccessKind::InputAttachment;
                one.pass = match one.pass {
                    OnePass::Unused if merged && attached => OnePass::In(start),
                    OnePass::In(first) if first == start && attached => OnePass::In(first),
                    _ => OnePass::No,
                };
            }
        }
        let Way::Strips(grid) = group.way else {
            if group.way == Way::Merged {
                traffic.merges += Bytes(self.costs.merged.0 * (group.passes.len() as u64 - 1));
            }
            return Some((described, described));
        };
        let division = self.division(&group.passes);
        let division = division.as_ref().as_ref().ok()?;
        let strips = division.strips(grid).ok()?;
        for image in &division.inside {
            let areas = strips
                .iter()
                .map(|strip| division.region(*strip, image.halo, image.scale));
            let one = &mut laid.resources[image.resource.index()];
            one.part = areas
                .map(|area| area.extent)
                .max_by_key(|it| it.width * it.height);
            let uses = frame.uses_of(image.resource).iter();
            let positions = uses.map(|&index| laid.positions[frame.accesses()[index as usize].pass.index()]);
            let (first, last) = positions.fold((u32::MAX, 0), |(a, b), at| (a.min(at), b.max(at)));
            one.span = Some(Span::new(first, last + 1));
        }
        let mut computed = 0;
        for (&pass, divided) in group.passes.iter().zip(&division.passes) {
            let area = |halo: u32| -> u64 {
                let regions = strips.iter().map(|strip| division.region(*strip, halo, 1));
                regions.map(texels_of).sum()
            };
            let whole = texels_of(division.all());
            computed +=
                (u128::from(texels(pass)) * u128::from(area(divided.halo)) / u128::from(whole)) as u64;
            let declared = frame.pass(pass).repeat_bytes.unwrap_or_default();
            let repeat = match self.costs.repeat {
                Some(bytes) if declared > Bytes::ZERO => bytes,
                _ => declared,
            };
            let times = strips.len() as u32 - 1;
            let bytes = Bytes(repeat.0 * u64::from(times));
            traffic.repeats += bytes;
            laid.repeats.push((pass, times, bytes));
            for access in frame.accesses_of(pass) {
                let touched = |&strip| division.touched(frame, access, divided.halo, strip);
                let shares: Option<Vec<Share>> = strips.iter().map(touched).collect();
                let Some(shares) = shares else { continue };
                let whole = shares[0].of;
                let more = shares.iter().map(|share| share.part).sum::<u64>() - whole;
                let needs = &self.plan.described_requirements().resources[access.resource.index()];
                let size = needs.tile.map_or(needs.size, |tile| tile.size);
                let bytes = frame.traffic_of(access, size).0;
                let halo = (bytes as f64 * self.costs.halo * more as f64 / whole as f64) as u64;
                traffic.halos += Bytes(halo);
                if access.version == Version::Current {
                    laid.resources[access.resource.index()].halos += halo;
                }
            }
        }
        Some((computed, described))
    }
}

impl Model<'_> {
    /// What may be in tile memory, where it must be to be there; counts what cannot as moved.
    fn items(&self, laid: &Layout, traffic: &mut Traffic) -> Vec<Placeable> {
        let mut items = Vec::new();
        for (resource, (candidate, laid)) in (0..)
            .map(ResourceId)
            .zip(self.candidates.iter().zip(&laid.resources))
        {
            traffic.eligible += Bytes(candidate.eligible);
            if candidate.admitted && matches!(laid.pass, OnePass::In(_)) {
                traffic.besides += Bytes(candidate.besides(true));
                traffic.halos = Bytes(traffic.halos.0 - laid.halos);
                continue;
            }
            traffic.moved += Bytes(candidate.moved());
            traffic.besides += Bytes(candidate.besides(false));
            let Some(span) = laid.span.filter(|_| candidate.admitted) else {
                continue;
            };
            let part = laid.part.and_then(|part| {
                let resource = self.plan.described().resource(resource);
                tile_requirements_of_part(resource, part, &self.plan.profile)
            });
            let size = part.map_or(candidate.size, |tile| tile.size.0);
            if laid.windows.is_some_and(|(first, last)| first == last) && size <= self.heap.0 {
                items.push(Placeable {
                    resource,
                    span,
                    size,
                    alignment: Alignment::new(candidate.alignment).unwrap_or(Alignment::ONE),
                    savings: candidate.traffic + laid.halos,
                });
            }
        }
        items
    }

    /// Those that are placed in tile memory, by number.
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
        let mut shelf = Shelf::with_capacity(Some(self.heap));
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

/// What may be in tile memory.
struct Placeable {
    resource: ResourceId,
    span: Span,
    size: u64,
    alignment: Alignment,
    savings: u64,
}

/// The frame laid out along time, strips on top of one another.
#[derive(Default)]
pub(super) struct Layout {
    /// Per pass, its position.
    positions: Vec<u32>,
    /// The next position.
    end: u32,
    pub(super) resources: Vec<Laid>,
    /// Passes that run more than once: how often more, and what that costs.
    pub(super) repeats: Vec<(PassId, u32, Bytes)>,
    /// What merged passes cost.
    pub(super) merges: Bytes,
}

impl Layout {
    fn new(resources: usize, passes: usize) -> Layout {
        Layout {
            positions: vec![0; passes],
            resources: vec![Laid::default(); resources],
            ..Layout::default()
        }
    }
}

/// What is known of a resource by its uses.
#[derive(Clone, Copy, Default)]
pub(super) struct Laid {
    /// All of a run of strips, where it lives on.
    span: Option<Span>,
    /// The first and last window that use it.
    pub(super) windows: Option<(u32, u32)>,
    pub(super) pass: OnePass,
    /// The largest part, where it is divided.
    pub(super) part: Option<vk::Extent2D>,
    /// What halos move of it off chip.
    pub(super) halos: u64,
}

/// Whether all uses are as attachments of one merged pass.
#[derive(Clone, Copy, Default)]
pub(super) enum OnePass {
    #[default]
    Unused,
    /// The group that begins at this position.
    In(u32),
    No,
}
