//! Writes a plan as its document.

use super::form::{self, Document, FORMAT, VERSION};
use crate::execute::Charges;
use crate::frame::tables::{Access, Resource, ResourceKind};
use crate::frame::{BufferDesc, Extent, Frame, IdNames, ImageDesc, PassId, ResourceId};
use crate::plan::PlannedStore;
use crate::plan::{OffChipReason, PlacementReason, Plan};
use crate::units::{Bytes, Step};

/// The names of a frame, by which its plan's JSON refers to passes, resources and queues.
pub(super) fn names_of(frame: &Frame) -> IdNames {
    IdNames::default()
        .of(
            "resource",
            frame.resources().iter().map(|resource| &resource.name),
        )
        .of("pass", frame.passes().iter().map(|pass| &pass.name))
        .of("queue", frame.queues().iter().map(|queue| &queue.name))
}

pub(super) fn document(plan: &Plan) -> Document {
    let extent = plan.frame.base_extent();
    Document {
        format: FORMAT.to_owned(),
        version: VERSION,
        frame: plan.frame.name().to_owned(),
        base_extent: [extent.width, extent.height],
        options: plan.options,
        stores: plan.stores().map(|one| store(plan, one)).collect(),
        profile: (*plan.profile).clone(),
        objects: plan.objects.clone(),
        resources: plan.frame.resource_ids().map(|id| resource(plan, id)).collect(),
        passes: plan.frame.pass_ids().map(|id| pass(plan, id)).collect(),
        binning_cost_bytes: plan.binning_cost(),
        optimality: plan.optimality.map(|found| form::OptimalityEntry {
            proved: found.is_proved(),
            found,
        }),
        totals: plan.totals,
        charges: Some(plan.executed().charges().clone()).filter(|charges| *charges != Charges::NONE),
        _advice: None,
        _arrangement: None,
    }
}

fn store(plan: &Plan, store: PlannedStore) -> form::Store {
    form::Store {
        resource: plan.frame.resource(store.to).name.clone(),
        after: plan.frame.pass(plan.pass_stored_after(&store)).name.clone(),
        pass: plan.frame.pass(store.pass).name.clone(),
        from: plan.frame.resource(store.from).name.clone(),
    }
}

fn resource(plan: &Plan, id: ResourceId) -> form::Resource {
    let frame = &plan.frame;
    let uses = frame.uses_of(id).iter();
    let access = |access: &Access| form::ResourceAccess {
        pass: access.pass,
        kind: access.kind,
        version: access.version,
        reads: access.reads,
        writes: access.writes,
        count: frame.times_moved(access),
    };
    let run = plan.resources[id.index()].placements;
    let placements = run.indices().map(|index| {
        let placement = &plan.placements[index];
        let pass_at = |step: Step| {
            let known = !placement.span.is_empty() && (step.0 as usize) < frame.passes().len();
            known.then_some(PassId(step.0))
        };
        form::Placement {
            index: index as u32,
            memory: placement.memory,
            object: placement.object,
            offset: placement.offset,
            size: placement.size,
            first_pass: pass_at(placement.span.first),
            last_pass: pass_at(Step(placement.span.end.0.saturating_sub(1))),
            first: placement.span.first,
            end: placement.span.end,
        }
    });
    let (image, buffer) = description(frame.resource(id));
    form::Resource {
        name: id,
        origin: origin(plan, id),
        image,
        buffer,
        reason: reason(plan, id),
        accesses: uses
            .map(|&index| access(&frame.accesses()[index as usize]))
            .collect(),
        first_placement: run.first,
        placements: placements.collect(),
        requirements: plan.requirements.resources[id.index()],
    }
}

/// The description of an image or of a buffer.
pub(super) fn description(resource: &Resource) -> (Option<ImageDesc>, Option<BufferDesc>) {
    match resource.kind {
        ResourceKind::Image { desc, extent, usage } => {
            let extent = Extent::Texels(extent);
            (
                Some(ImageDesc {
                    extent,
                    usage,
                    ..desc
                }),
                None,
            )
        }
        ResourceKind::Buffer { desc, usage } => (None, Some(BufferDesc { usage, ..desc })),
    }
}

fn reason(plan: &Plan, id: ResourceId) -> form::ReasonEntry {
    let reason = plan.resources[id.index()].reason;
    let conflicts = match reason {
        PlacementReason::Arena(OffChipReason::NoRoom { conflicts, .. })
        | PlacementReason::Dedicated(OffChipReason::NoRoom { conflicts, .. }) => Some(conflicts),
        _ => None,
    };
    form::ReasonEntry {
        reason,
        first_conflict: conflicts.map(|run| run.first),
        conflicts: conflicts.map(|run| run.of(&plan.conflicts).to_vec()),
        dedicated: matches!(reason, PlacementReason::Dedicated(_)),
        text: plan.reason_text(id),
    }
}

/// The described resource of a resource, if a rewritten frame was planned.
fn origin(plan: &Plan, id: ResourceId) -> Option<String> {
    let origin = plan.origins.resource(id).resource;
    (!plan.input.is_as_described()).then(|| plan.described().resource(origin).name.clone())
}

/// The described passes that a pass runs, if a rewritten frame was planned; empty for a store.
fn runs(plan: &Plan, id: PassId) -> Option<Vec<form::PassRun>> {
    let runs = plan.origins.runs(id).map(|run| form::PassRun {
        pass: plan.described().pass(run.pass).name.clone(),
        subpass: run.subpass,
    });
    (!plan.input.is_as_described()).then(|| runs.collect())
}

fn pass(plan: &Plan, id: PassId) -> form::Pass {
    let planned = &plan.passes[id.index()];
    let bound = planned
        .bound_object
        .map(|object| plan.objects[object.index()].size);
    let commands = plan.frame.pass(id).command_buffer.index();
    form::Pass {
        name: id,
        runs: runs(plan, id),
        within: Some(form::Within {
            queue: plan.frame.queue_of(id),
            submit: plan.frame.submit_of(id).index() as u32,
            batch: plan.frame.batch_of(id).index() as u32,
            command_buffer: plan.frame.command_buffers()[commands].name.clone(),
        }),
        bound_object: planned.bound_object,
        bound_bytes: bound.unwrap_or(Bytes::ZERO),
        live_tile_bytes: planned.live_tile,
    }
}
