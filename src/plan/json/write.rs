//! From a plan to its document.

use super::form::{self, Document, FORMAT, VERSION};
use crate::frame::{PassId, QueueId, ResourceId};
use crate::plan::passes::{Barrier, Store};
use crate::plan::{NotTile, PlacementReason, Plan};
use crate::units::{Bytes, Step};

pub(super) fn document(plan: &Plan) -> Document {
    let extent = plan.frame.base_extent();
    let options = &plan.options;
    Document {
        format: FORMAT.to_owned(),
        version: VERSION,
        frame: plan.frame.name().to_owned(),
        base_extent: [extent.width, extent.height],
        options: form::Options {
            strategy: options.strategy,
            windows: options.windows,
            aliasing: options.aliasing,
            ladder: options.ladder,
            split: options.split,
            lazy: options.lazy,
            budget: options.budget,
            bin_cost: options.bin_cost,
            tile_limit: options.tile_limit,
        },
        stores: plan.stores().iter().map(|one| store(plan, one)).collect(),
        profile: (*plan.profile).clone(),
        objects: plan
            .objects
            .iter()
            .map(|object| form::Object {
                memory: object.memory,
                memory_type: object.memory_type,
                size: object.size,
            })
            .collect(),
        resources: plan.frame.resource_ids().map(|id| resource(plan, id)).collect(),
        passes: plan.frame.pass_ids().map(|id| pass(plan, id)).collect(),
        binning_cost_bytes: plan.binning_cost(),
        optimality: plan.optimality.map(|found| form::OptimalityEntry {
            proved: found.is_proved(),
            value: found.value,
            upper_bound: found.upper_bound,
            least_reserved: found.least_reserved,
            steps: found.steps,
        }),
        totals: plan.totals,
        _advice: None,
    }
}

fn store(plan: &Plan, store: &Store) -> form::Store {
    let described = plan.described();
    form::Store {
        resource: name_of_resource(plan, store.to),
        after: described.pass(plan.described_pass(store.pass)).name.clone(),
        pass: name_of_pass(plan, store.pass),
        from: name_of_resource(plan, store.from),
    }
}

fn resource(plan: &Plan, id: ResourceId) -> form::Resource {
    let frame = &plan.frame;
    let accesses = frame
        .uses_of(id)
        .iter()
        .map(|&index| &frame.accesses()[index as usize]);
    let run = plan.resources[id.index()].placements;
    let placements = run.indices().map(|index| {
        let placement = &plan.placements[index];
        let pass_at = |step: Step| frame.passes().get(step.0 as usize).map(|pass| pass.name.clone());
        let inside = !placement.span.is_empty();
        form::Placement {
            index: index as u32,
            memory: placement.memory,
            object: placement.object.map(|object| object.index() as u32),
            offset: placement.offset,
            size: placement.size,
            first_pass: pass_at(placement.span.first).filter(|_| inside),
            last_pass: pass_at(Step(placement.span.end.0.saturating_sub(1))).filter(|_| inside),
            first: placement.span.first,
            end: placement.span.end,
        }
    });
    let needs = &plan.requirements.resources[id.index()];
    form::Resource {
        name: frame.resource(id).name.clone(),
        reason: reason(plan, id),
        accesses: accesses
            .map(|access| form::ResourceAccess {
                pass: name_of_pass(plan, access.pass),
                kind: access.kind,
                version: access.version,
                reads: access.reads,
                writes: access.writes,
                count: access.count(),
            })
            .collect(),
        first_placement: run.first,
        placements: placements.collect(),
        requirements: form::Requirements {
            size: needs.size,
            alignment: needs.alignment,
            memory_type_bits: needs.memory_type_bits,
            dedicated: needs.dedicated,
            tile: needs.tile.map(|tile| form::TileRequirements {
                size: tile.size,
                alignment: tile.alignment,
            }),
            lazy_type_bits: needs.lazy_type_bits,
        },
    }
}

fn reason(plan: &Plan, id: ResourceId) -> form::ReasonEntry {
    let (reason, dedicated) = match plan.resources[id.index()].reason {
        PlacementReason::Unused => (form::PlacementReason::Unused, false),
        PlacementReason::External => (form::PlacementReason::External, false),
        PlacementReason::Lazy { pass } => (
            form::PlacementReason::Lazy {
                pass: name_of_pass(plan, pass),
            },
            false,
        ),
        PlacementReason::Tile { savings } => (form::PlacementReason::Tile { savings }, false),
        PlacementReason::Arena(why) => (not_tile(plan, why), false),
        PlacementReason::Dedicated(why) => (not_tile(plan, why), true),
    };
    form::ReasonEntry {
        reason,
        dedicated,
        text: plan.reason_text(id),
    }
}

fn not_tile(plan: &Plan, why: NotTile) -> form::PlacementReason {
    let name = |pass| name_of_pass(plan, pass);
    match why {
        NotTile::NoTileHeap => form::PlacementReason::NoTileHeap,
        NotTile::History => form::PlacementReason::History,
        NotTile::CrossesWindows { last, next } => form::PlacementReason::CrossesWindows {
            last: name(last),
            next: name(next),
        },
        NotTile::CrossesQueues { last, next } => form::PlacementReason::CrossesQueues {
            last: name(last),
            next: name(next),
        },
        NotTile::Transfer { pass } => form::PlacementReason::Transfer { pass: name(pass) },
        NotTile::ResolveTarget { pass } => form::PlacementReason::ResolveTarget { pass: name(pass) },
        NotTile::BufferUse { pass, kind } => form::PlacementReason::BufferUse {
            pass: name(pass),
            access: kind,
        },
        NotTile::Stored { pass } => form::PlacementReason::Stored { pass: name(pass) },
        NotTile::OnePass { pass } => form::PlacementReason::OnePass { pass: name(pass) },
        NotTile::DeclaredUsage => form::PlacementReason::DeclaredUsage,
        NotTile::Refused => form::PlacementReason::Refused,
        NotTile::TooLarge { size, heap } => form::PlacementReason::TooLarge { size, heap },
        NotTile::CostExceedsSavings {
            savings,
            binning_cost,
        } => form::PlacementReason::CostExceedsSavings {
            savings,
            binning_cost,
        },
        NotTile::Excluded { savings } => form::PlacementReason::Excluded { savings },
        NotTile::NoRoom { savings, conflicts } => form::PlacementReason::NoRoom {
            savings,
            first_conflict: conflicts.first,
            conflicts: conflicts
                .of(&plan.conflicts)
                .iter()
                .map(|&other| name_of_resource(plan, other))
                .collect(),
        },
    }
}

fn pass(plan: &Plan, id: PassId) -> form::Pass {
    let planned = &plan.passes[id.index()];
    let bound = planned
        .bound_object
        .map(|object| plan.objects[object.index()].size);
    let accesses = plan.frame.accesses_of(id).iter().zip(plan.accesses_of(id));
    let commands = &plan.frame.command_buffers()[plan.frame.pass(id).command_buffer.index()];
    let submit = plan.frame.batches()[commands.batch.index()].submit;
    let queue = plan.frame.submits()[submit.index()].queue;
    form::Pass {
        name: name_of_pass(plan, id),
        within: form::Within {
            queue: plan.frame.queues()[queue.index()].name.clone(),
            submit: submit.index() as u32,
            batch: commands.batch.index() as u32,
            command_buffer: commands.name.clone(),
        },
        bound_object: planned.bound_object.map(|object| object.index() as u32),
        bound_bytes: bound.unwrap_or(Bytes::ZERO),
        live_tile_bytes: planned.live_tile,
        accesses: accesses
            .map(|(access, planned)| form::PassAccess {
                resource: name_of_resource(plan, access.resource),
                placement: planned.placement.index() as u32,
                layout: planned.layout,
                load_op: planned.load_op,
                store_op: planned.store_op,
            })
            .collect(),
        first_barrier_before: planned.before.first,
        barriers_before: plan
            .barriers_before(id)
            .iter()
            .map(|one| barrier(plan, one))
            .collect(),
        first_barrier_after: planned.after.first,
        barriers_after: plan
            .barriers_after(id)
            .iter()
            .map(|one| barrier(plan, one))
            .collect(),
    }
}

fn barrier(plan: &Plan, barrier: &Barrier) -> form::Barrier {
    let queue = |id: QueueId| plan.frame.queues()[id.index()].name.clone();
    form::Barrier {
        resource: name_of_resource(plan, barrier.resource),
        placement: barrier.placement.index() as u32,
        cause: barrier.cause,
        src_stages: barrier.src_stages,
        src_access: barrier.src_access,
        dst_stages: barrier.dst_stages,
        dst_access: barrier.dst_access,
        old_layout: barrier.old_layout,
        new_layout: barrier.new_layout,
        transfer: barrier.transfer.map(|transfer| form::QueueTransfer {
            from: queue(transfer.from),
            to: queue(transfer.to),
            half: transfer.half,
        }),
    }
}

fn name_of_pass(plan: &Plan, id: PassId) -> String {
    plan.frame.pass(id).name.clone()
}

fn name_of_resource(plan: &Plan, id: ResourceId) -> String {
    plan.frame.resource(id).name.clone()
}
