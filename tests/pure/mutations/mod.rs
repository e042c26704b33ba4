//! Damage: valid plans are broken in one place, and the checker must refuse them with the right reason.
//!
//! `tests/data/damaged_plans.json` has damage to single rows; damage to several is here: *sites*, the positions in a plan at which it certainly
//! breaks a rule; the change made there; and the error that belongs to it. Every kind must find enough sites among the planned frames, so that none
//! is vacuous.

mod bytes;
mod ladders;
mod residence;
mod splits;
mod structure;

use std::fmt::Debug;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tileheap::frame::tables::Access;
use tileheap::frame::{LoadOp, PassId, ResourceId};
use tileheap::measure::{Requirements, ResourceRequirements};
use tileheap::plan::check::PlanCheckError;
use tileheap::plan::{
    MemoryKind, MemoryObject, PassPlan, Placement, Plan, PlanOptions, PlanTotals, WindowRule,
};
use tileheap::units::SplitMix64;

use crate::damage::{self, Amount, assert_refused};
use crate::planned::planned;

const AMOUNT: Amount = Amount {
    enough: 30,
    seeds: 1500,
    per_seed: 3,
};

/// Breaks planned frames and asserts that the checker reports why they are broken.
///
/// `sites` finds the positions in a valid plan; `damage` breaks it at one of them; `right` recognizes the fault that belongs to it.
fn refused<S: Debug>(
    sites: impl Fn(&Plan) -> Vec<S>,
    damage: impl Fn(&mut Plan, &S),
    right: impl Fn(&PlanCheckError, &S) -> bool,
) {
    let violations = |plan: &Plan, site: &S| {
        let mut damaged = plan.clone();
        damage(&mut damaged, site);
        damaged.violations()
    };
    damage::refused(
        &AMOUNT,
        |seed, _| Some(planned(seed).into_inner()),
        sites,
        violations,
        right,
    );
}

/// The tables of a plan that are damaged row by row.
#[derive(Serialize, Deserialize)]
struct Tables {
    placements: Vec<Placement>,
    objects: Vec<MemoryObject>,
    passes: Vec<PassPlan>,
    requirements: Vec<ResourceRequirements>,
    options: [PlanOptions; 1],
    totals: [PlanTotals; 1],
}

#[test]
fn damaged_rows_are_refused() {
    let sound = |seed, _: &mut SplitMix64| {
        let plan = planned(seed).into_inner();
        let tables = serde_json::to_value(Tables {
            placements: plan.placements.clone(),
            objects: plan.objects.clone(),
            passes: plan.passes.clone(),
            requirements: plan.requirements.resources.clone(),
            options: [plan.options],
            totals: [plan.totals],
        });
        Some((plan, tables.unwrap()))
    };
    let check = |plan: &Plan, damaged| {
        let tables: Tables = serde_json::from_value(damaged).unwrap();
        let resources = tables.requirements;
        let requirements = Arc::new(Requirements {
            resources,
            profile: None,
        });
        let input_requirements = match plan.origins.is_identity() {
            true => requirements.clone(),
            false => plan.input_requirements.clone(),
        };
        let damaged = Plan {
            placements: tables.placements,
            objects: tables.objects,
            passes: tables.passes,
            requirements,
            input_requirements,
            options: tables.options[0],
            totals: tables.totals[0],
            ..plan.clone()
        };
        let errors = damaged.violations().into_iter();
        errors
            .map(|error| (format!("{:?}", error.rule), error.message))
            .collect()
    };
    assert_refused("damaged_plans.json", &AMOUNT, sound, check);
}

/// The accesses of a placement, in timeline order.
fn uses(plan: &Plan, placement: usize) -> Vec<Access> {
    let accesses = plan.frame.accesses().iter().copied();
    accesses
        .filter(|access| plan.placement_of(access).index() == placement)
        .collect()
}

/// Returns true if the access certainly needs contents written by earlier passes.
fn needs(plan: &Plan, access: &Access) -> bool {
    let made_here = plan
        .frame
        .accesses_of(access.pass)
        .iter()
        .any(|other| other.resource == access.resource && other.writes && other.load_op != LoadOp::Load);
    !made_here && (access.reads || access.writes && access.load_op == LoadOp::Load)
}

/// Returns true if two placements are in the same range of addresses.
fn same_space(plan: &Plan, a: usize, b: usize) -> bool {
    let (first, second) = (plan.placements[a], plan.placements[b]);
    if first.memory != MemoryKind::Tile || second.memory != MemoryKind::Tile {
        return first.object.is_some() && first.object == second.object;
    }
    let queue = |index| {
        uses(plan, index)
            .first()
            .map(|access| plan.frame.queue_of(access.pass))
    };
    plan.options.windows == WindowRule::WholeFrame || queue(a) == queue(b)
}

/// Pairs of placements in one space for which `wanted` returns true.
fn pairs_where(plan: &Plan, wanted: impl Fn(usize, usize) -> bool) -> Vec<(usize, usize)> {
    let all = 0..plan.placements.len();
    let pairs = all.clone().flat_map(|a| all.clone().map(move |b| (a, b)));
    pairs
        .filter(|&(a, b)| a != b && same_space(plan, a, b) && wanted(a, b))
        .collect()
}

/// The placements in memory of the plan for which `wanted` returns true.
fn placements_where(plan: &Plan, wanted: impl Fn(usize) -> bool) -> Vec<usize> {
    let all = 0..plan.placements.len();
    all.filter(|&index| plan.placements[index].object.is_some() && wanted(index))
        .collect()
}

/// A pass that runs while tile memory has contents that are needed later.
#[derive(Clone, Debug)]
struct Passing {
    pass: PassId,
    /// End of the contents in the tile heap.
    end: u64,
    resource: String,
}

/// The passes during which previously written contents of tile memory are kept for a later use; includes the using pass itself if `own_use`.
fn passings(plan: &Plan, own_use: bool) -> Vec<Passing> {
    let tile = |&index: &usize| plan.placements[index].memory == MemoryKind::Tile;
    let mut found = Vec::new();
    for index in (0..plan.placements.len()).filter(tile) {
        let placement = plan.placements[index];
        let uses = uses(plan, index);
        for pass in plan.frame.pass_ids() {
            let before = uses.iter().any(|access| access.pass < pass);
            let next = uses
                .iter()
                .find(|access| access.pass > pass || own_use && access.pass == pass);
            let touches = |access: &Access| access.pass == pass;
            let same_queue = |access: &&Access| plan.frame.queue_of(access.pass) == plan.frame.queue_of(pass);
            let needed = next.filter(same_queue).is_some_and(|access| needs(plan, access));
            if before && needed && (own_use || !uses.iter().any(touches)) {
                found.push(Passing {
                    pass,
                    end: placement.offset.0 + placement.size.0,
                    resource: name(plan, placement.resource),
                });
            }
        }
    }
    found
}

fn name(plan: &Plan, resource: ResourceId) -> String {
    plan.frame.resource(resource).name.clone()
}

fn pass_name(plan: &Plan, pass: PassId) -> String {
    plan.frame.pass(pass).name.clone()
}
