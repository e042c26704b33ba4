//! Totals: every sum of the plan, recomputed.

use super::checker::Checker;
use super::error::PlanRule;
use super::residence::{stays_on_chip, tile_rule, window_of};
use super::sites::{Site, Space, placement_of, sites};
use crate::frame::tables::{Access, CommandSource};
use crate::frame::{AccessKind, Frame, PassId, Persistence, ResourceId};
use crate::plan::{MemoryKind, Placement, Plan, PlanTotals, ResidencyStrategy, WindowRule};
use crate::units::{Bytes, Step};

pub(super) fn check(checker: &mut Checker<'_>) {
    let plan = checker.plan;
    let sites = sites(plan);
    let live_tile: Vec<Bytes> = plan
        .frame
        .pass_ids()
        .map(|pass| live_tile(&plan.placements, &sites, checker, pass))
        .collect();
    for ((id, pass), &is) in plan.frame.pass_ids().zip(&plan.passes).zip(&live_tile) {
        if pass.live_tile != is {
            let (pass, says) = (checker.pass(id), pass.live_tile);
            let message =
                format!("the plan says that {says} of tile memory are live in pass `{pass}`, but {is} are");
            checker.report(PlanRule::Live, message);
        }
    }
    let arena = |placement: &&Placement| placement.memory == MemoryKind::Arena;
    let objects = |memory| {
        plan.objects
            .iter()
            .filter(move |object| object.memory == memory)
            .map(|object| object.size)
    };
    // Objects bound in each pass.
    let bound = plan.passes.iter().filter_map(|pass| pass.bound_object);
    let reserved = bound.filter_map(|object| Some(plan.objects.get(object.index())?.size));
    let says = plan.totals;
    let executed = traffic(plan, &plan.frame, |index| plan.frame.accesses()[index].resource);
    let holders = holders(plan);
    let described = plan.input.charges().described_traffic;
    let described = described.unwrap_or_else(|| traffic(plan, plan.described(), |index| holders[index]));
    let charges = charges(plan, &holders);
    let is = PlanTotals {
        traffic_bytes: described,
        // Traffic that merged passes save counts as on chip.
        eligible_bytes: saturating_sub(saturating_add(eligible(checker), described), executed),
        on_chip_bytes: {
            let off_chip = saturating_add(saturating_sub(executed, on_chip(checker)), stored(checker));
            saturating_sub(
                described,
                saturating_add(saturating_sub(off_chip, charges.moved), charges.cost),
            )
        },
        charged_bytes: charges.cost,
        stored_bytes: stored(checker),
        arena_bytes: objects(MemoryKind::Arena).fold(Bytes::ZERO, saturating_add),
        arena_bytes_without_aliasing: plan
            .placements
            .iter()
            .filter(arena)
            .map(|placement| placement.size)
            .fold(Bytes::ZERO, saturating_add),
        arena_peak_live: (0..plan.objects.len())
            .map(|object| peak_live(checker, object))
            .fold(Bytes::ZERO, saturating_add),
        tile_peak_live: live_tile.iter().copied().max().unwrap_or_default(),
        tile_bytes: objects(MemoryKind::Tile).max().unwrap_or_default(),
        reserved_bytes: reserved.fold(Bytes::ZERO, saturating_add),
        reserved_bytes_by_runs: reserved_by_runs(checker, &sites),
        live_bytes: live_tile.into_iter().fold(Bytes::ZERO, saturating_add),
    };
    macro_rules! pairs {
        ($($total:ident)+) => { [$((stringify!($total), says.$total, is.$total)),+] };
    }
    let pairs = pairs!(traffic_bytes eligible_bytes on_chip_bytes charged_bytes stored_bytes arena_bytes arena_bytes_without_aliasing arena_peak_live
        tile_peak_live tile_bytes reserved_bytes reserved_bytes_by_runs live_bytes);
    for (total, says, is) in pairs {
        if says != is {
            checker.report(
                PlanRule::Total,
                format!("the plan's `{total}` is {says}, but it should be {is}"),
            );
        }
    }
}

/// Bytes of the tile residents of the pass's queue whose spans contain the pass; aliases of one resident count once.
fn live_tile(placements: &[Placement], sites: &[Site], checker: &Checker<'_>, pass: PassId) -> Bytes {
    let alive = alive_in(checker, sites, pass);
    let first = |&index: &usize| {
        let same = |&other: &usize| {
            placements[other].resource == placements[index].resource && sites[other] == sites[index]
        };
        alive.iter().find(|other| same(other)) == Some(&index)
    };
    let once = alive.iter().filter(|index| first(index));
    once.map(|&index| placements[index].size)
        .fold(Bytes::ZERO, saturating_add)
}

/// The tile placements of the pass's queue whose spans contain the pass.
fn alive_in(checker: &Checker<'_>, sites: &[Site], pass: PassId) -> Vec<usize> {
    let queue = checker.plan.frame.queue_of(pass);
    let here = |site: &Site| match site.space {
        Space::Tile(of) => of.is_none_or(|of| of == queue),
        Space::Object(_) | Space::Caller(_) => false,
    };
    let placements = checker.plan.placements.iter().zip(sites).enumerate();
    let alive =
        placements.filter(|(_, (placement, site))| here(site) && placement.span.contains(pass.step()));
    alive.map(|(index, _)| index).collect()
}

/// Bytes reserved, summed over the passes, if all passes of a connected run of lifetimes reserved the same amount.
fn reserved_by_runs(checker: &Checker<'_>, sites: &[Site]) -> Bytes {
    let plan = checker.plan;
    let window = |pass: PassId| window_of(plan, plan.frame.batch_of(pass));
    let mut left: Vec<PassId> = plan.frame.pass_ids().collect();
    let mut sum = Bytes::ZERO;
    while let Some(&first) = left.first() {
        let (of_window, others): (Vec<PassId>, Vec<PassId>) =
            left.iter().partition(|&&pass| window(pass) == window(first));
        left = others;
        // The current run: placements alive at its end, number of passes, and highest end.
        let (mut before, mut passes, mut top): (Vec<usize>, u64, u64) = (Vec::new(), 0, 0);
        for pass in of_window {
            let alive = alive_in(checker, sites, pass);
            if !alive.iter().any(|index| before.contains(index)) {
                sum = saturating_add(sum, Bytes(top.saturating_mul(passes)));
                (passes, top) = (0, 0);
            }
            passes += u64::from(!alive.is_empty());
            top = alive.iter().map(|&index| sites[index].end).fold(top, u64::max);
            before = alive;
        }
        sum = saturating_add(sum, Bytes(top.saturating_mul(passes)));
    }
    sum
}

/// The peak of bytes alive in an arena; 0 for other objects.
fn peak_live(checker: &Checker<'_>, object: usize) -> Bytes {
    let plan = checker.plan;
    let here = |placement: &&Placement| {
        placement.memory == MemoryKind::Arena && placement.object.is_some_and(|other| other.index() == object)
    };
    let live = |step| {
        let alive = plan
            .placements
            .iter()
            .filter(here)
            .filter(|placement| placement.span.contains(Step(step)));
        alive
            .map(|placement| placement.size)
            .fold(Bytes::ZERO, saturating_add)
    };
    (0..plan.passes.len() as u32).map(live).max().unwrap_or_default()
}

/// Traffic of all accesses of a frame, except accesses by stores, and accesses to transient attachments that only one render pass uses and does not resolve
/// into: binning keeps those on chip. `holder` returns the resource of the executed frame whose requirements determine the size.
fn traffic(plan: &Plan, frame: &Frame, holder: impl Fn(usize) -> ResourceId) -> Bytes {
    let mut sum = Bytes::ZERO;
    for (id, resource) in frame.resource_ids().zip(frame.resources()) {
        let transient = resource.persistence == Persistence::Transient;
        let uses = || {
            let accesses = frame.accesses().iter().enumerate();
            accesses.filter(move |(_, access)| access.resource == id)
        };
        let resolved = || uses().any(|(_, access)| access.kind == AccessKind::ResolveAttachment);
        if transient && in_one_render_pass(plan, frame, id) && !resolved() {
            continue;
        }
        for (index, access) in uses() {
            if frame.pass(access.pass).contents == CommandSource::Store {
                continue;
            }
            sum = saturating_add(sum, frame.traffic_of(access, size_of(plan, holder(index))));
        }
    }
    sum
}

/// Charges of a plan's arrangement.
struct Charged {
    /// Bytes that strips move off chip in addition to those that the described passes move.
    moved: Bytes,
    /// Cost of `moved`, of repeats and of merges.
    cost: Bytes,
}

/// Sums the charges of the plan's arrangement. The bytes of a halo are those that the accesses of strips move off chip in excess of their part of the
/// described access.
fn charges(plan: &Plan, holders: &[ResourceId]) -> Charged {
    let charges = plan.input.charges();
    let mut moved = Bytes::ZERO;
    for (described, access) in plan.described().accesses().iter().enumerate() {
        let all = plan.frame.accesses().iter().enumerate();
        let of_it = all.filter(|(index, ours)| {
            let in_strip = plan.origins.runs(ours.pass).any(|run| run.strip.is_some());
            plan.origins.access(*index) == Some(described) && in_strip
        });
        let strips: Vec<&Access> = of_it.map(|(_, ours)| ours).collect();
        let off_chip: Vec<&Access> = strips
            .iter()
            .copied()
            .filter(|ours| is_off_chip(plan, ours))
            .collect();
        if off_chip.is_empty() {
            continue;
        }
        let all_of_it = plan
            .described()
            .traffic_of(access, size_of(plan, holders[described]));
        let part = u128::from(all_of_it.0) * off_chip.len() as u128 / strips.len() as u128;
        let bytes = off_chip
            .iter()
            .map(|ours| plan.frame.traffic_of(ours, size_of(plan, ours.resource)));
        moved = saturating_add(
            moved,
            saturating_sub(bytes.fold(Bytes::ZERO, saturating_add), Bytes(part as u64)),
        );
    }
    let halos = u128::from(moved.0) * u128::from(charges.halo_thousandths) / 1000;
    let passes = charges.passes.iter().map(|charge| charge.bytes);
    let carried = [charges.carried.repeats, charges.carried.merges];
    Charged {
        moved,
        cost: passes
            .chain(carried)
            .fold(Bytes(u64::try_from(halos).unwrap_or(u64::MAX)), saturating_add),
    }
}

/// Returns true if an access moves bytes off chip: its resource is neither in tile memory nor an attachment that stays on chip during a single render pass.
fn is_off_chip(plan: &Plan, access: &Access) -> bool {
    if plan.placements[placement_of(plan, access)].memory == MemoryKind::Tile {
        return false;
    }
    let transient = plan.frame.resource(access.resource).persistence == Persistence::Transient;
    let mut uses = plan.frame.accesses().iter();
    let resolved =
        uses.any(|other| other.resource == access.resource && other.kind == AccessKind::ResolveAttachment);
    let stays = transient && !resolved && in_one_render_pass(plan, &plan.frame, access.resource);
    !stays
}

/// The counted size of a resource of the executed frame.
fn size_of(plan: &Plan, resource: ResourceId) -> Bytes {
    let needs = &plan.requirements.resources[resource.index()];
    match plan.frame.resource(resource).persistence {
        Persistence::External(_) => plan.frame.resource(resource).content_size(),
        _ => needs.tile.map_or(needs.size, |tile| tile.size),
    }
}

/// Per described access, the resource of the executed frame that holds everything that it uses: the described resource, or its value.
fn holders(plan: &Plan) -> Vec<ResourceId> {
    let mut holders = vec![None; plan.described().accesses().len()];
    for (index, access) in plan.frame.accesses().iter().enumerate() {
        let used = plan.origins.resource(access.resource);
        let mut all = plan.frame.resource_ids();
        let whole = all.find(|&id| {
            let origin = plan.origins.resource(id);
            let is_part = origin.until.is_some() || origin.area.is_some();
            !is_part && (origin.resource, origin.value) == (used.resource, used.value)
        });
        if let Some(described) = plan.origins.access(index) {
            holders[described] = whole;
        }
    }
    let every = holders.into_iter();
    every
        .map(|holder| holder.expect("every described access runs, and one resource holds all that it uses"))
        .collect()
}

/// Traffic, with sizes in tile memory, of all accesses to resources that the rules admit to tile memory, whether they fit or not.
///
/// Attachments of one render pass do not count, lazily allocated or not: binning already keeps their bytes on chip. Nothing counts if the options
/// exclude tile memory.
fn eligible(checker: &Checker<'_>) -> Bytes {
    let plan = checker.plan;
    if plan.options.strategy == ResidencyStrategy::Off {
        return Bytes::ZERO;
    }
    let mut sum = Bytes::ZERO;
    for access in plan
        .frame
        .accesses()
        .iter()
        .filter(|access| !in_store(checker, access))
    {
        let resource = access.resource;
        let tile = plan.requirements.resources[resource.index()].tile;
        let admitted =
            tile_rule(checker, resource).is_none() && !in_one_render_pass(plan, &plan.frame, resource);
        let admitted = admitted
            && stored_source(checker, resource).is_none_or(|from| {
                // A stored resource counts if only lack of room prevented keeping it on chip as a whole.
                let mut uses = plan.frame.accesses().iter().filter(|access| {
                    (access.resource == from || access.resource == resource) && !in_store(checker, access)
                });
                let place = |access: &Access| {
                    (
                        window_of(plan, plan.frame.batch_of(access.pass)),
                        plan.frame.queue_of(access.pass),
                    )
                };
                let first = place(access);
                let published = plan.options.windows == WindowRule::WholeFrame;
                tile_rule(checker, from).is_none() && (published || uses.all(|access| place(access) == first))
            });
        if let Some(tile) = tile.filter(|_| admitted) {
            sum = saturating_add(sum, moved(checker, access, tile.size));
        }
    }
    sum
}

/// Returns true if the access belongs to a store.
fn in_store(checker: &Checker<'_>, access: &Access) -> bool {
    checker.plan.frame.pass(access.pass).contents == CommandSource::Store
}

/// The resource that a store copies into `resource`, if any.
fn stored_source(checker: &Checker<'_>, resource: ResourceId) -> Option<ResourceId> {
    let frame = &checker.plan.frame;
    let accesses = frame.accesses();
    let writes = |access: &&Access| access.resource == resource && access.writes && in_store(checker, access);
    let pass = accesses.iter().find(writes)?.pass;
    let read = |access: &&Access| access.pass == pass && access.reads;
    Some(accesses.iter().find(read)?.resource)
}

/// Bytes written by the stores of tile placements.
fn stored(checker: &Checker<'_>) -> Bytes {
    let plan = checker.plan;
    let accesses = plan.frame.accesses().iter();
    let read = accesses.filter(|access| access.reads && in_store(checker, access));
    let placements = read.map(|access| plan.placements[placement_of(plan, access)]);
    let of_tile = placements.filter(|placement| placement.memory == MemoryKind::Tile);
    of_tile
        .map(|placement| placement.size)
        .fold(Bytes::ZERO, saturating_add)
}

/// Returns true if only one render pass uses the resource, and only as an attachment; always false with [`WindowRule::WholeFrame`].
fn in_one_render_pass(plan: &Plan, frame: &Frame, resource: ResourceId) -> bool {
    let mut uses = frame
        .accesses()
        .iter()
        .filter(|access| access.resource == resource);
    let lifetime = frame.lifetime_of(resource);
    plan.options.windows == WindowRule::Device
        && lifetime.len() == 1
        && uses.all(|access| stays_on_chip(access.kind))
}

/// Traffic of all accesses to tile placements, except accesses by stores.
fn on_chip(checker: &Checker<'_>) -> Bytes {
    let plan = checker.plan;
    let accesses = plan.frame.accesses().iter();
    let accesses = accesses.filter(|access| !in_store(checker, access));
    let of_tile = accesses.filter_map(|access| {
        let placement = plan.placements[placement_of(plan, access)];
        let bytes = moved(checker, access, placement.size);
        (placement.memory == MemoryKind::Tile).then_some(bytes)
    });
    of_tile.fold(Bytes::ZERO, saturating_add)
}

/// Bytes that an access to a resource of `size` bytes moves.
fn moved(checker: &Checker<'_>, access: &Access, size: Bytes) -> Bytes {
    checker.plan.frame.traffic_of(access, size)
}

/// Returns the difference, or 0 if it would be negative.
fn saturating_sub(sum: Bytes, part: Bytes) -> Bytes {
    Bytes(sum.0.saturating_sub(part.0))
}

/// Returns the sum, saturated at 2^64 - 1: the plan may come from any source.
fn saturating_add(sum: Bytes, more: Bytes) -> Bytes {
    Bytes(sum.0.saturating_add(more.0))
}
