//! Damage to split lifetimes.

use tileheap::execute::{ExecutedFrame, OriginTables, PassOrigin, PassRun};
use tileheap::plan::check::PlanRule;
use tileheap::plan::{MemoryKind, Plan, PlannedStore};

use super::refused;

fn stores(plan: &Plan) -> Vec<PlannedStore> {
    plan.stores().collect()
}

fn change(plan: &mut Plan, change: impl Fn(&mut OriginTables)) {
    for map in [&mut plan.origins, &mut plan.splits] {
        let mut tables = map.to_tables(&plan.frame);
        change(&mut tables);
        *map = tables.into();
    }
}

#[test]
fn a_store_is_not_the_plans() {
    refused(
        stores,
        |plan, store| {
            let after = plan.described_pass(store.pass);
            change(plan, |tables| {
                tables.passes[store.pass.index()] = PassOrigin::Runs(vec![PassRun::whole(after)]);
            });
        },
        |fault, _| fault.rule == PlanRule::Described,
    );
}

#[test]
fn a_store_stores_something_else() {
    refused(
        stores,
        |plan, store| {
            let stored = plan.origins.resource(store.to).resource;
            let other = plan.described().resource_ids().find(|id| *id != stored);
            let after = plan.described_pass(store.pass);
            change(plan, |tables| {
                tables.passes[store.pass.index()] = PassOrigin::Store {
                    resource: other.expect("a frame has several resources"),
                    after,
                };
            });
        },
        |fault, _| {
            fault.rule == PlanRule::Store && fault.message.contains("it does not copy between stretches")
        },
    );
}

#[test]
fn the_caller_records_a_store() {
    refused(
        stores,
        |plan, store| {
            let resource = plan.origins.resource(store.to).resource;
            let after = plan.described_pass(store.pass);
            let before = plan.executed_pass(after);
            change(plan, |tables| {
                tables.passes[before.index()] = PassOrigin::Store { resource, after };
            });
        },
        |fault, _| fault.rule == PlanRule::Store && fault.message.contains("the caller records it"),
    );
}

#[test]
fn a_stretch_is_in_ordinary_memory() {
    refused(
        stores,
        |plan, store| {
            for index in plan.resources[store.from.index()].placements.indices() {
                plan.placements[index].memory = MemoryKind::Arena;
            }
        },
        |fault, _| fault.rule == PlanRule::Stretch,
    );
}

/// The described frame is another one: one of its passes does less.
#[test]
fn another_frame_was_described() {
    let sites = |plan: &Plan| -> Vec<usize> {
        let described = plan.described();
        let all = 0..described.accesses().len();
        all.filter(|index| described.without_access(*index).is_ok())
            .take(3)
            .collect()
    };
    let damage = |plan: &mut Plan, access: &usize| {
        let described = plan.described().without_access(*access);
        plan.input = ExecutedFrame::as_described(&described.expect("it was tried"));
    };
    let split = |plan: &Plan| match plan.origins.is_identity() {
        true => Vec::new(),
        false => sites(plan),
    };
    refused(split, damage, |fault, _| fault.rule == PlanRule::Described);
    // As in plans without a map.
    let whole = |plan: &Plan| match plan.origins.is_identity() {
        true => sites(plan),
        false => Vec::new(),
    };
    refused(whole, damage, |fault, _| fault.rule == PlanRule::Described);
}

#[test]
fn the_parts_of_a_life_need_different_memory() {
    refused(
        stores,
        |plan, store| {
            let mut requirements = (*plan.requirements).clone();
            requirements.resources[store.to.index()].size.0 += 1;
            plan.requirements = std::sync::Arc::new(requirements);
        },
        |fault, _| fault.rule == PlanRule::Described,
    );
}
