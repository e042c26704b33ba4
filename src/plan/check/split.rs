//! Split lifetimes: the map leads from the frame that runs to the described one, and every stretch is in tile memory.

use super::checker::Checker;
use super::error::Rule;
use crate::execute::OriginRule;
use crate::frame::tables::{Access, Resource, Version};
use crate::frame::{PassId, Persistence, ResourceId};
use crate::plan::MemoryKind;

pub(super) fn check(checker: &mut Checker<'_>) {
    check_origins(checker);
    if checker.faults.is_empty() && !checker.plan.origins.is_identity() {
        check_stretches(checker);
        check_submits(checker);
        check_needs(checker);
    }
}

/// The frame that runs does what the described one does.
fn check_origins(checker: &mut Checker<'_>) {
    let plan = checker.plan;
    if plan.origins.is_identity() {
        if plan.frame != plan.described || plan.requirements != plan.described_requirements {
            let what = "the frame that runs, or what its resources need, differs from the described one, and the plan has no map";
            checker.report(Rule::Described, what.to_owned());
        }
        return;
    }
    for fault in plan.executed().violations() {
        let rule = match fault.rule {
            OriginRule::Store => Rule::Store,
            _ => Rule::Described,
        };
        checker.report(rule, fault.message);
    }
}

/// A stretch ends with its store, and what is stored begins there.
fn check_stretches(checker: &mut Checker<'_>) {
    let plan = checker.plan;
    for store in plan.stores() {
        let accesses = plan.frame.accesses().iter();
        let mut others = accesses.filter(|access| access.pass != store.pass);
        let late = |access: &Access| access.resource == store.from && access.pass > store.pass;
        let early = |access: &Access| {
            access.resource == store.to && access.version == Version::Current && access.pass < store.pass
        };
        let elsewhere = plan
            .placements
            .iter()
            .any(|placement| placement.resource == store.from && placement.memory != MemoryKind::Tile);
        let transient = plan.frame.resource(store.from).persistence == Persistence::Transient;
        let why = if others.clone().any(late) {
            "something uses the stretch after its end"
        } else if others.any(early) {
            "something uses what is stored before it is"
        } else if elsewhere || !transient {
            "the stretch is not in tile memory, and a store is for nothing else"
        } else {
            continue;
        };
        let (from, to) = (checker.resource(store.from), checker.resource(store.to));
        let pass = checker.pass(store.pass);
        checker.report(
            Rule::Stretch,
            format!("pass `{pass}` stores `{from}` in `{to}`: {why}"),
        );
    }
}

/// Passes are recorded and submitted where they are described.
fn check_submits(checker: &mut Checker<'_>) {
    let plan = checker.plan;
    let (planned, described) = (&plan.frame, &plan.described);
    let same_place = |pass: PassId| {
        let here = planned.pass(pass).command_buffer;
        let mut runs = plan.origins.runs(pass);
        runs.all(|run| described.pass(run.pass).command_buffer == here)
    };
    let same = planned.command_buffers().len() == described.command_buffers().len()
        && planned.batches() == described.batches()
        && planned.submits() == described.submits()
        && planned.pass_ids().all(same_place);
    if !same {
        let message =
            "the frame that runs has other submits, batches or command buffers than the described one";
        checker.report(Rule::Described, message.to_owned());
    }
}

/// Of a resource whose lifetime is split, all parts are created alike, with the usage of the whole: they need the same of memory.
fn check_needs(checker: &mut Checker<'_>) {
    let plan = checker.plan;
    let alike = |ours: &Resource, theirs: &Resource| {
        let [ours, theirs] = [ours, theirs].map(|resource| {
            let mut resource = resource.clone();
            resource.declare_usage();
            resource.kind
        });
        ours == theirs
    };
    let differs = |&id: &ResourceId| {
        let described = plan.origins.resource(id).resource;
        let needs = plan.requirements.resources.get(id.index());
        !alike(plan.frame.resource(id), plan.described.resource(described))
            || needs != plan.described_requirements.resources.get(described.index())
    };
    for id in plan.frame.resource_ids().filter(differs) {
        let described = plan.described.resource(plan.origins.resource(id).resource);
        let message = format!(
            "resource `{}` is made otherwise than described resource `{}`, or needs other memory",
            plan.frame.resource(id).name,
            described.name
        );
        checker.report(Rule::Described, message);
    }
}
