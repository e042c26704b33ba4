//! Structure: table lengths, indices and runs; each placement in exactly one run; spans that cover the uses.

use std::fmt::Display;

use super::checker::Checker;
use super::error::PlanRule;
use super::sites::{placement_of, uses_of};
use crate::frame::tables::HistoryVersion;
use crate::frame::{Persistence, ResourceId};
use crate::plan::{MemoryKind, OffChipReason, PlacementReason};
use crate::units::Run;

/// Checks lengths, indices and runs, which everything else relies on.
pub(super) fn check_tables(checker: &mut Checker<'_>) {
    check_lengths(checker);
    if checker.faults.is_empty() {
        check_profile(checker);
        check_placements(checker);
        check_runs(checker);
        check_references(checker);
    }
    if checker.faults.is_empty() {
        check_owners(checker);
        check_counts(checker);
    }
}

/// Checks spans and reasons.
pub(super) fn check_lifetimes(checker: &mut Checker<'_>) {
    check_spans(checker);
    check_reasons(checker);
}

fn check_lengths(checker: &mut Checker<'_>) {
    let plan = checker.plan;
    let frame = &plan.frame;
    let tables = [
        ("resources", plan.resources.len(), frame.resources().len()),
        (
            "requirements",
            plan.requirements.resources.len(),
            frame.resources().len(),
        ),
        ("passes", plan.passes.len(), frame.passes().len()),
    ];
    for (table, entries, needs) in tables {
        if entries != needs {
            let message =
                format!("the length of the plan's `{table}` is {entries}, but its frame needs {needs}");
            checker.report(PlanRule::Length, message);
        }
    }
}

fn check_profile(checker: &mut Checker<'_>) {
    let profile = &checker.plan.profile;
    let entries = profile.memory_types.len();
    if entries > 32 {
        let message = format!("the profile has {entries} memory types: at most 32 are possible");
        checker.report(PlanRule::MemoryTypes, message);
    }
    if let Err(broken) = checker.plan.frame.check_on(profile) {
        checker.report(PlanRule::Device, broken.to_string());
    }
    for (index, kind) in profile.memory_types.iter().enumerate() {
        let by = format!("memory type {index}");
        check_index(checker, &by, "heaps", kind.heap as usize, profile.heaps.len());
    }
    if let Some(tile) = profile.tile {
        let by = "the tile heap";
        check_index(checker, by, "heaps", tile.heap as usize, profile.heaps.len());
        let types = profile.memory_types.len();
        check_index(checker, by, "memory_types", tile.memory_type as usize, types);
    }
}

fn check_placements(checker: &mut Checker<'_>) {
    let plan = checker.plan;
    for (index, object) in plan.objects.iter().enumerate() {
        let types = plan.profile.memory_types.len();
        let by = format!("object {index}");
        check_index(checker, &by, "memory_types", object.memory_type as usize, types);
    }
    for (index, placement) in plan.placements.iter().enumerate() {
        let by = format!("placement {index}");
        let resources = plan.resources.len();
        check_index(checker, &by, "resources", placement.resource.index(), resources);
        if let Some(object) = placement.object {
            check_index(checker, &by, "objects", object.index(), plan.objects.len());
        }
    }
}

fn check_runs(checker: &mut Checker<'_>) {
    let plan = checker.plan;
    let mut placed = vec![0; plan.placements.len()];
    for (index, resource) in plan.resources.iter().enumerate() {
        let by = format!("resource {index}");
        check_run(checker, &by, "placements", resource.placements, &mut placed);
        if let PlacementReason::Arena(OffChipReason::NoRoom { conflicts, .. })
        | PlacementReason::Dedicated(OffChipReason::NoRoom { conflicts, .. }) = resource.reason
        {
            // Runs of conflicts may overlap, so the entries that they cover are not counted.
            let mut ignored = vec![0; plan.conflicts.len()];
            check_run(checker, &by, "conflicts", conflicts, &mut ignored);
        }
    }
    for (index, times) in placed.into_iter().enumerate().filter(|&(_, times)| times != 1) {
        let message =
            format!("placement {index} must be in the range of exactly one resource, but is in {times}");
        checker.report(PlanRule::NotInOneRun, message);
    }
}

fn check_references(checker: &mut Checker<'_>) {
    let plan = checker.plan;
    for (index, pass) in plan.passes.iter().enumerate() {
        if let Some(object) = pass.bound_object {
            let by = format!("pass {index}");
            check_index(checker, &by, "objects", object.index(), plan.objects.len());
        }
    }
    for (index, resource) in plan.conflicts.iter().enumerate() {
        let by = format!("conflict {index}");
        check_index(checker, &by, "resources", resource.index(), plan.resources.len());
    }
}

/// Checks that the runs of a resource contain only its own placements.
fn check_owners(checker: &mut Checker<'_>) {
    let plan = checker.plan;
    for (id, resource) in plan.frame.resource_ids().zip(&plan.resources) {
        for placement in resource.placements.indices() {
            if plan.placements[placement].resource != id {
                let (name, owner) = (checker.resource(id), checker.resident(placement));
                let message = format!(
                    "the range of resource {}, `{name}`, includes placement {placement}, which belongs to `{owner}`",
                    id.index()
                );
                checker.report(PlanRule::ForeignPlacement, message);
            }
        }
    }
}

fn check_counts(checker: &mut Checker<'_>) {
    let plan = checker.plan;
    for (id, resource) in plan.frame.resource_ids().zip(&plan.resources) {
        let has = resource.placements.len();
        let (fits, needs) = if plan.frame.uses_of(id).is_empty() {
            (has == 0, "0: no pass uses it")
        } else {
            match plan.frame.resource(id).persistence {
                Persistence::Transient => (has >= 1, "at least 1"),
                Persistence::External(_) => (has == 1, "1: the caller's memory"),
                Persistence::History if reads_previous(checker, id) => {
                    (has == 2, "2: the current and the previous version")
                }
                Persistence::History => (has == 1, "1: nothing reads the previous version"),
            }
        };
        if !fits {
            let resource = checker.resource(id);
            let message = format!("the number of placements of `{resource}` is {has}, but must be {needs}");
            checker.report(PlanRule::PlacementCount, message);
        }
    }
}

fn check_spans(checker: &mut Checker<'_>) {
    let plan = checker.plan;
    let steps = plan.passes.len();
    for (index, placement) in plan.placements.iter().enumerate() {
        let span = placement.span;
        if span.is_empty() || span.end.0 as usize > steps {
            let resource = checker.resident(index);
            let message =
                format!("the placement of `{resource}` spans {span}, but the frame has steps [0, {steps})");
            checker.report(PlanRule::SpanOutside, message);
        }
        if uses_of(plan, index).next().is_none() {
            let resource = checker.resident(index);
            let message = format!("placement {index} of `{resource}` is used by no pass");
            checker.report(PlanRule::Idle, message);
        }
    }
    for access in plan.frame.accesses() {
        let span = plan.placements[placement_of(plan, access)].span;
        if !span.contains(access.pass.step()) {
            let (pass, resource) = (checker.pass(access.pass), checker.resource(access.resource));
            let step = access.pass.step().0;
            let message = format!(
                "pass `{pass}` uses `{resource}` at step {step}, outside the span {span} of its placement"
            );
            checker.report(PlanRule::SpanMissesUse, message);
        }
    }
}

fn check_reasons(checker: &mut Checker<'_>) {
    let plan = checker.plan;
    for (id, resource) in plan.frame.resource_ids().zip(&plan.resources) {
        let memories: Vec<MemoryKind> = resource
            .placements
            .of(&plan.placements)
            .iter()
            .map(|placement| placement.memory)
            .collect();
        let external = matches!(plan.frame.resource(id).persistence, Persistence::External(_));
        let all = |memory| memories.iter().all(|&other| other == memory);
        let (reason, fits) = match resource.reason {
            PlacementReason::Unused => ("unused", memories.is_empty()),
            PlacementReason::Lazy { .. } => ("lazy", all(MemoryKind::Lazy)),
            // If a lifetime is split, a part may be in other memory.
            PlacementReason::Tile { .. } => ("tile", memories.contains(&MemoryKind::Tile)),
            PlacementReason::Arena(_) => ("arena", all(MemoryKind::Arena)),
            PlacementReason::Dedicated(_) => ("dedicated", all(MemoryKind::Dedicated) && !external),
            PlacementReason::External => ("external", external),
        };
        let Some(&memory) = memories.first() else { continue };
        if !fits {
            let resource = checker.resource(id);
            let message = format!(
                "resource `{resource}` is placed in {memory:?}, but the reason for the placement is `{reason}`"
            );
            checker.report(PlanRule::PlacementReason, message);
        }
    }
}

/// Returns true if some pass reads what the previous frame left in `resource`.
pub(super) fn reads_previous(checker: &Checker<'_>, resource: ResourceId) -> bool {
    let accesses = checker.plan.frame.accesses();
    accesses
        .iter()
        .any(|access| access.resource == resource && access.version == HistoryVersion::Previous)
}

fn check_index(
    checker: &mut Checker<'_>,
    by: impl Display,
    table: &'static str,
    index: usize,
    entries: usize,
) {
    if index >= entries {
        let message = format!(
            "{by} refers to entry {index} of `{table}`, which is out of range (number of entries: {entries})"
        );
        checker.report(PlanRule::Index, message);
    }
}

fn check_run(
    checker: &mut Checker<'_>,
    by: impl Display,
    table: &'static str,
    run: Run,
    covered: &mut [usize],
) {
    let (first, end, entries) = (run.first, run.end, covered.len());
    match covered.get_mut(first as usize..end as usize) {
        Some(covered) => covered.iter_mut().for_each(|times| *times += 1),
        None => {
            let message = format!(
                "{by} refers to entries [{first}, {end}) of `{table}`, which is not a valid range (number of entries: {entries})"
            );
            checker.report(PlanRule::Index, message);
        }
    }
}
