//! Split lifetimes: every store is one, and without them the frame is the one that was described.

use super::checker::Checker;
use super::error::Rule;
use crate::frame::tables::{Access, Contents, Pass, Resource, Version};
use crate::frame::{PassId, Persistence, ResourceId};
use crate::plan::{MemoryKind, Split, Store};

pub(super) fn check(checker: &mut Checker<'_>) {
    let Some(split) = &checker.plan.split else {
        return;
    };
    check_stores(checker, split);
    if checker.faults.is_empty() {
        check_stretches(checker, split);
        check_described(checker, split);
    }
}

/// Indices, and what the passes are.
fn check_stores(checker: &mut Checker<'_>, split: &Split) {
    let frame = &checker.plan.frame;
    let (resources, own) = (frame.resources().len(), split.frame.resources().len());
    let mut before: Option<PassId> = None;
    for (index, store) in split.stores.iter().enumerate() {
        let Store { pass, from, to } = *store;
        let why = if pass.index() >= frame.passes().len() || from.index() >= resources || to.index() >= own {
            Some("it names a pass or a resource that is not there")
        } else if before.is_some_and(|before| before >= pass) {
            Some("stores are in the order of their passes")
        } else if from.index() < own {
            Some("what it reads was described")
        } else if frame.pass(pass).contents != Contents::Store {
            Some("the caller records its pass")
        } else {
            match frame.accesses_of(pass) {
                [read, write] if (read.resource, write.resource) != (from, to) => {
                    Some("its pass stores something else")
                }
                [read, write] if read.writes || !write.writes => {
                    Some("its pass does not read and then write")
                }
                [_, _] => None,
                _ => Some("its pass has more or fewer accesses than two"),
            }
        };
        before = Some(pass);
        if let Some(why) = why {
            checker.report(Rule::Store, format!("store {index} of the plan is none: {why}"));
        }
    }
}

/// A stretch ends with its store, and what is stored begins there.
fn check_stretches(checker: &mut Checker<'_>, split: &Split) {
    let plan = checker.plan;
    for store in &split.stores {
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
            "something uses the stretch behind its end"
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

/// The described frame, pass by pass and access by access.
fn check_described(checker: &mut Checker<'_>, split: &Split) {
    let plan = checker.plan;
    let (planned, described) = (&plan.frame, &split.frame);
    let mut different = |what: String| {
        let message =
            format!("without its stores, the plan's frame differs from the one that was described: {what}");
        checker.report(Rule::Described, message);
    };
    let is_store = |pass: PassId| split.stores.iter().any(|store| store.pass == pass);
    let kept: Vec<PassId> = planned.pass_ids().filter(|pass| !is_store(*pass)).collect();
    if kept.len() != described.passes().len()
        || planned.resources().len() != described.resources().len() + split.stores.len()
        || planned.command_buffers().len() != described.command_buffers().len()
        || planned.batches() != described.batches()
        || planned.submits() != described.submits()
        || planned.queues() != described.queues()
        || planned.semaphores() != described.semaphores()
    {
        different("it has other passes, resources or submits".to_owned());
        return;
    }
    let whole = |resource: ResourceId| {
        let store = split.stores.iter().find(|store| store.from == resource);
        store.map_or(resource, |store| store.to)
    };
    for (pass, id) in kept.iter().zip(described.pass_ids()) {
        let (ours, theirs) = (planned.pass(*pass), described.pass(id));
        let alike = |pass: &Pass| {
            (
                pass.name.clone(),
                pass.command_buffer,
                pass.kind,
                pass.contents,
                pass.tile_shading,
                pass.area,
                (pass.layers, pass.view_mask),
            )
        };
        let ours_accesses = planned.accesses_of(*pass).iter().map(|access| Access {
            pass: id,
            resource: whole(access.resource),
            resolves: access.resolves.map(whole),
            ..*access
        });
        if alike(ours) != alike(theirs) || !ours_accesses.eq(described.accesses_of(id).iter().copied()) {
            different(format!("pass `{}`", theirs.name));
        }
    }
    // Of a resource whose lifetime is split, all parts are created alike, with the usage of the whole.
    let alike = |ours: &Resource, theirs: &Resource| {
        let mut ours = ours.clone();
        let mut theirs = theirs.clone();
        for resource in [&mut ours, &mut theirs] {
            resource.declare_usage();
        }
        ours.kind == theirs.kind
    };
    for (id, theirs) in described.resource_ids().zip(described.resources()) {
        let ours = planned.resource(id);
        let same = (&ours.name, ours.persistence, ours.tile_constraint)
            == (&theirs.name, theirs.persistence, theirs.tile_constraint);
        if !same || !alike(ours, theirs) {
            different(format!("resource `{}`", theirs.name));
        }
    }
    let needs = |id: usize| plan.requirements.resources.get(id);
    for store in &split.stores {
        let (from, to) = (planned.resource(store.from), described.resource(store.to));
        if !alike(from, to) || needs(store.from.index()) != needs(store.to.index()) {
            different(format!(
                "resource `{}` is not made as `{}` is",
                from.name, to.name
            ));
        }
    }
    let own = described.resources().len();
    if plan.requirements.resources.get(..own) != Some(&split.requirements.resources[..]) {
        different("the resources need something else".to_owned());
    }
}
