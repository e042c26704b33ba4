//! Damage to split lives.

use tileheap::frame::PassId;
use tileheap::plan::Store;
use tileheap::plan::check::Rule;
use tileheap::plan::{MemoryKind, Plan};

use super::refused;

/// The stores of split lives, by place.
fn stores(plan: &Plan) -> Vec<usize> {
    (0..plan.stores().len()).collect()
}

fn change(plan: &mut Plan, store: usize, change: impl FnOnce(&mut Store)) {
    let split = plan.split.as_mut().expect("it has stores");
    change(&mut split.stores[store]);
}

#[test]
fn a_store_is_not_the_plans() {
    refused(
        stores,
        |plan, &store| {
            plan.split.as_mut().expect("it has stores").stores.remove(store);
        },
        |fault, _| fault.rule == Rule::Described,
    );
}

#[test]
fn a_store_stores_something_else() {
    refused(
        stores,
        |plan, &store| {
            let other = plan
                .described()
                .resource_ids()
                .find(|id| *id != plan.stores()[store].to)
                .expect("a frame has several resources");
            change(plan, store, |store| store.to = other);
        },
        |fault, store| fault.rule == Rule::Store && fault.message.starts_with(&format!("store {store} ")),
    );
}

#[test]
fn the_caller_records_a_store() {
    refused(
        stores,
        |plan, &store| {
            let before = plan.stores()[store].pass.index() - 1;
            let before: PassId = plan
                .frame
                .pass_ids()
                .nth(before)
                .expect("a stretch is behind a pass");
            change(plan, store, |store| store.pass = before);
        },
        |fault, _| fault.rule == Rule::Store,
    );
}

#[test]
fn a_stretch_is_in_ordinary_memory() {
    refused(
        stores,
        |plan, &store| {
            let from = plan.stores()[store].from;
            for index in plan.resources[from.index()].placements.indices() {
                plan.placements[index].memory = MemoryKind::Arena;
            }
        },
        |fault, _| fault.rule == Rule::Stretch,
    );
}

/// The frame that was described is another one: a pass of it does less.
#[test]
fn another_frame_was_described() {
    refused(
        |plan| {
            let described = plan.described();
            let without = |index: &usize| described.without_access(*index).is_ok();
            let split = plan.split.is_some();
            let all = 0..described.accesses().len();
            all.filter(|index| split && without(index)).take(3).collect()
        },
        |plan: &mut Plan, access: &usize| {
            let split = plan.split.as_mut().expect("it has stores");
            split.frame = split.frame.without_access(*access).expect("it was tried");
        },
        |fault, _| fault.rule == Rule::Described,
    );
}

#[test]
fn the_parts_of_a_life_need_different_memory() {
    refused(
        stores,
        |plan, &store| {
            let to = plan.stores()[store].to;
            let mut requirements = (*plan.requirements).clone();
            requirements.resources[to.index()].size.0 += 1;
            plan.requirements = std::sync::Arc::new(requirements);
        },
        |fault, _| fault.rule == Rule::Described,
    );
}
