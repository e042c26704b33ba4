//! Rewrites and split lifetimes: checks that the origin map relates the executed frame to the described one, and that every stretch is in tile memory.

use super::checker::Checker;
use super::error::PlanRule;
use crate::execute::{ExecutedFrame, OriginRule};
use crate::frame::tables::{Access, CommandSource, HistoryVersion, Resource, ResourceKind};
use crate::frame::{BufferDesc, ImageDesc, PassId, Persistence, ResourceId};
use crate::plan::MemoryKind;

pub(super) fn check(checker: &mut Checker<'_>) {
    let plan = checker.plan;
    if !plan.origins.is_identity() {
        check_stretches(checker);
        check_submits(checker);
        check_needs(checker);
    } else if plan.requirements != plan.input_requirements {
        let what = "the requirements of the resources differ from those of the planned frame";
        checker.report(PlanRule::Described, what.to_owned());
    }
}

/// Checks that the executed frame is equivalent to the described one.
pub(super) fn check_origins(checker: &mut Checker<'_>) {
    let plan = checker.plan;
    if plan.origins.is_identity() {
        let same = plan.input == plan.executed() && plan.frame == *plan.described();
        if !same || !plan.splits.is_identity() {
            let what = "the executed frame differs from the described one, but the plan has no origin map";
            checker.report(PlanRule::Described, what.to_owned());
        }
        return;
    }
    let split = ExecutedFrame::new(
        plan.frame.clone(),
        plan.input.frame().clone(),
        plan.splits.clone(),
    );
    // If the planned frame runs as described, the map of the stores is the only one.
    let input = (!plan.input.is_as_described()).then(|| [plan.input.clone(), split]);
    let maps = std::iter::once(plan.executed()).chain(input.into_iter().flatten());
    for fault in maps.flat_map(|map| map.violations()) {
        let rule = match fault.rule {
            OriginRule::Store => PlanRule::Store,
            _ => PlanRule::Described,
        };
        checker.report(rule, fault.message);
    }
    if checker.faults.is_empty() && plan.origins != plan.input.origins().then(&plan.splits) {
        let what = "the origin map must be that of the planned frame followed by that of the stores";
        checker.report(PlanRule::Described, what.to_owned());
    }
}

/// Checks that a stretch that a store ends is a transient resource in tile memory that no later pass uses, and that no earlier pass uses the stored resource.
fn check_stretches(checker: &mut Checker<'_>) {
    let plan = checker.plan;
    for store in plan.stores() {
        let accesses = plan.frame.accesses().iter();
        let mut others = accesses.filter(|access| access.pass != store.pass);
        let late = |access: &Access| access.resource == store.from && access.pass > store.pass;
        let early = |access: &Access| {
            access.resource == store.to
                && access.version == HistoryVersion::Current
                && access.pass < store.pass
        };
        let elsewhere = plan
            .placements
            .iter()
            .any(|placement| placement.resource == store.from && placement.memory != MemoryKind::Tile);
        let transient = plan.frame.resource(store.from).persistence == Persistence::Transient;
        let why = if others.clone().any(late) {
            "the stretch is used after its end"
        } else if others.any(early) {
            "the stored resource is used before the store"
        } else if elsewhere {
            "the stretch is not in tile memory, so it must not end in a store"
        } else if !transient {
            "the stretch is not a transient resource, so it must not end in a store"
        } else {
            continue;
        };
        let (from, to) = (checker.resource(store.from), checker.resource(store.to));
        let pass = checker.pass(store.pass);
        checker.report(
            PlanRule::Stretch,
            format!("pass `{pass}` stores `{from}` in `{to}`: {why}"),
        );
    }
}

/// Checks that the executed frame has the submits, batches and command buffers of the planned frame.
fn check_submits(checker: &mut Checker<'_>) {
    let plan = checker.plan;
    let (runs, planned) = (&plan.frame, plan.input.frame());
    let same_place = |pass: PassId| {
        let here = runs.pass(pass).command_buffer;
        planned.pass(plan.input_pass(pass)).command_buffer == here
    };
    let same = runs.command_buffers().len() == planned.command_buffers().len()
        && runs.batches() == planned.batches()
        && runs.submits() == planned.submits()
        && runs.pass_ids().all(same_place);
    if !same {
        let message = "the submits, batches or command buffers of the executed frame differ from those of the planned frame";
        checker.report(PlanRule::Described, message.to_owned());
    }
}

/// Checks the requirements: all parts of a resource with a split lifetime have the creation parameters and usage of the whole, and so the same requirements.
/// Each separate value of a resource has only the usage of its own accesses.
fn check_needs(checker: &mut Checker<'_>) {
    let plan = checker.plan;
    let made = |resource: &Resource| {
        let mut resource = resource.clone();
        resource.declare_usage();
        resource.kind
    };
    let differs = |&id: &ResourceId| {
        let origin = plan.origins.resource(id);
        let needs = &plan.requirements.resources[id.index()];
        let input = plan.splits.resource(id).resource;
        let whole = plan.origins.whole(origin.resource);
        let ours = made(plan.frame.resource(id));
        let same_as_whole = ours == made(plan.frame.resource(whole));
        // The image of a strip is smaller. At its border, passes that the runtime records also use the whole image, maybe in one stretch only.
        let mut uses = plan.input.frame().accesses_to(input);
        let at_border = uses.any(|access| {
            matches!(
                plan.input.frame().pass(access.pass).contents,
                CommandSource::Border { .. }
            )
        });
        let mut theirs = plan.described().resource(origin.resource).clone();
        if at_border {
            theirs = crate::frame::with_usage_of_stores(&theirs);
        }
        let apart = origin.area.is_none()
            && (!is_made_within(ours, made(&theirs))
                || same_as_whole && *needs != plan.requirements.resources[whole.index()]);
        apart
            || ours != made(plan.input.frame().resource(input))
            || plan.input_requirements.resources.get(input.index()) != Some(needs)
    };
    for id in plan.frame.resource_ids().filter(differs) {
        let described = plan.described().resource(plan.origins.resource(id).resource);
        let message = format!(
            "resource `{}` must have the same creation parameters and memory requirements as described resource `{}`",
            plan.frame.resource(id).name,
            described.name
        );
        checker.report(PlanRule::Described, message);
    }
}

/// Returns true if `ours` has the creation parameters of `theirs`, and no additional usage; `separate_levels` may differ.
fn is_made_within(ours: ResourceKind, theirs: ResourceKind) -> bool {
    match (ours, theirs) {
        (
            ResourceKind::Image { desc, extent, usage },
            ResourceKind::Image {
                desc: described,
                extent: whole,
                usage: allowed,
            },
        ) => {
            let desc = ImageDesc {
                usage: described.usage,
                separate_levels: described.separate_levels,
                ..desc
            };
            allowed.contains(usage) && (desc, extent) == (described, whole)
        }
        (
            ResourceKind::Buffer { desc, usage },
            ResourceKind::Buffer {
                desc: described,
                usage: allowed,
            },
        ) => {
            let desc = BufferDesc {
                usage: described.usage,
                ..desc
            };
            allowed.contains(usage) && desc == described
        }
        _ => false,
    }
}
