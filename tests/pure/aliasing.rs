//! Aliasing only: previous users, compared with an independent walk over cells of bytes, and with the barriers of lowered tables.

use std::collections::{BTreeMap, BTreeSet};

use ash::vk;
use tileheap::Checked;
use tileheap::frame::{PassId, Persistence, ResourceId};
use tileheap::lower::tables::OptionalIndex;
use tileheap::lower::tables::commands::BarrierCause;
use tileheap::lower::{Aliasing, DeviceQueues, LowerError, LoweringDesc, aliasing, lower};
use tileheap::plan::{Ladder, MemoryKind, Plan, PlanOptions, WindowRule, plan};

use crate::planned::planned;

/// The seed's plan without ladders and stores; `None` if it is for comparison only.
fn without_more(seed: u64) -> Option<Checked<Plan>> {
    let of = planned(seed);
    let options = PlanOptions {
        ladder: Ladder::Off,
        split: false,
        ..of.options
    };
    let again = || plan(&of.input, &of.input_requirements, &of.profile, &options);
    (options.windows == WindowRule::Device).then(|| again().unwrap())
}

/// Per resource, the previous users of any of its bytes, in frames that repeat: found cell by cell.
fn by_cells(plan: &Plan, queues: &DeviceQueues) -> BTreeMap<ResourceId, BTreeSet<(ResourceId, bool)>> {
    type Space = (bool, u32);
    let space = |index: usize| -> Option<Space> {
        let placement = &plan.placements[index];
        let object = placement.object?.index() as u32;
        let uses = plan.frame.accesses_to(placement.resource);
        let queue = uses.map(|access| plan.frame.queue_of(access.pass)).next()?;
        Some(match placement.memory {
            MemoryKind::Tile => (true, queues.declared()[queue.index()].0),
            _ => (false, object),
        })
    };
    let mut found: BTreeMap<ResourceId, BTreeSet<(ResourceId, bool)>> = BTreeMap::new();
    let spaces: BTreeSet<Space> = (0..plan.placements.len()).filter_map(space).collect();
    for here in spaces {
        let mut inside: Vec<usize> = (0..plan.placements.len())
            .filter(|&index| space(index) == Some(here))
            .collect();
        inside.sort_by_key(|&index| (plan.placements[index].span.first, index));
        let bytes = |index: usize| {
            let placement = &plan.placements[index];
            (placement.offset.0, placement.offset.0 + placement.size.0)
        };
        let cuts: BTreeSet<u64> = inside
            .iter()
            .flat_map(|&index| [bytes(index).0, bytes(index).1])
            .collect();
        for cell in cuts {
            let users: Vec<usize> = inside
                .iter()
                .copied()
                .filter(|&index| bytes(index).0 <= cell && cell < bytes(index).1)
                .collect();
            for (at, &index) in users.iter().enumerate() {
                let resource = plan.placements[index].resource;
                let (before, earlier) = match at {
                    0 => (users[users.len() - 1], true),
                    _ => (users[at - 1], false),
                };
                let before = plan.placements[before].resource;
                found.entry(resource).or_default().insert((before, earlier));
            }
        }
    }
    found
}

fn rows(aliasing: &Aliasing) -> BTreeMap<ResourceId, BTreeSet<(ResourceId, bool)>> {
    let mut rows: BTreeMap<ResourceId, BTreeSet<(ResourceId, bool)>> = BTreeMap::new();
    for row in &aliasing.placements {
        let users = row.previous.of(&aliasing.previous).iter();
        let users = users.map(|user| (user.resource, user.earlier_frame));
        rows.entry(row.resource).or_default().extend(users);
    }
    rows
}

#[test]
fn previous_users_are_those_that_held_the_bytes_last() {
    let (mut users, mut earlier) = (0, 0);
    for seed in 0..200 {
        let Some(plan) = without_more(seed) else { continue };
        for queues in [
            DeviceQueues::single_queue(&plan.frame),
            DeviceQueues::separate_families(&plan.frame),
        ] {
            let aliasing = aliasing(&plan, &queues).unwrap();
            assert_eq!(rows(&aliasing), by_cells(&plan, &queues), "seed {seed}");
            users += aliasing.previous.len();
            earlier += aliasing.previous.iter().filter(|user| user.earlier_frame).count();
            for row in &aliasing.placements {
                let history = plan.frame.resource(row.resource).persistence == Persistence::History;
                assert_eq!(row.discards, !history);
                let uses = plan.frame.accesses_to(row.resource);
                let passes: Vec<PassId> = uses.map(|access| access.pass).collect();
                assert!(passes.contains(&row.first_pass));
                for user in row.previous.of(&aliasing.previous) {
                    let mut uses = plan.frame.accesses_to(user.resource);
                    assert!(uses.any(|access| access.pass == user.last_pass));
                    // Within a frame, the planner lets lifetimes share bytes only if one ends before the other begins.
                    let (last, first) = (user.last_pass, row.first_pass);
                    let device = |pass| queues.declared()[plan.frame.queue_of(pass).index()];
                    let here = device(last) == device(first) && last < first;
                    let ends = user.earlier_frame || here || plan.frame.happens_before(last, first);
                    assert!(ends, "seed {seed}: {row:?} {user:?}");
                }
            }
        }
    }
    assert!(
        users > 1000 && earlier > 200 && earlier < users,
        "{users}, {earlier}"
    );
}

#[test]
fn what_lowered_tables_wait_for_is_listed() {
    let mut found = 0;
    for seed in 0..100 {
        let Some(plan) = without_more(seed) else { continue };
        let queues = DeviceQueues::single_queue(&plan.frame);
        let aliasing = aliasing(&plan, &queues).unwrap();
        let first = LoweringDesc::first(queues);
        let second = first.after(&lower(&plan, &first).unwrap());
        let tables = lower(&plan, &second).unwrap();
        for (pass, barrier) in tables.passes.iter().flat_map(|pass| {
            let barriers = pass.before.images.of(&tables.image_barriers);
            barriers.iter().map(move |barrier| (pass.pass, barrier))
        }) {
            if barrier.cause != BarrierCause::Aliasing {
                continue;
            }
            let resource = tables.images[barrier.image as usize].resource;
            let rows = aliasing.placements.iter().filter(|row| row.resource == resource);
            let users = rows.clone().flat_map(|row| row.previous.of(&aliasing.previous));
            let stages = users.fold(vk::PipelineStageFlags2::NONE, |all, user| all | user.stages);
            let sources = barrier.scopes.src_stages;
            assert!(stages.contains(sources), "seed {seed}: {sources:?} of {stages:?}");
            assert!(rows.clone().all(|row| row.discards && row.first_pass <= pass));
            found += 1;
        }
        for (row, bound) in tables
            .passes
            .iter()
            .map(|row| (row, aliasing.tile_memory[row.pass.index()]))
        {
            assert_eq!(row.tile_memory, bound);
        }
    }
    assert!(found > 100, "{found}");
}

#[test]
fn plans_that_need_more_than_aliasing_are_refused() {
    let refused =
        |plan: &Checked<Plan>| aliasing(plan, &DeviceQueues::single_queue(&plan.frame)).unwrap_err();
    let mut reasons = BTreeSet::new();
    for seed in 0..60 {
        let plan = planned(seed);
        let ladder = plan.resources.iter().any(|resource| {
            let rows = resource.placements.of(&plan.placements);
            rows.len() > 1 && rows[0].memory == MemoryKind::Tile
        });
        if ladder || plan.stores().next().is_some() {
            let error = refused(&plan);
            assert!(matches!(error, LowerError::NotOnlyAliasing { .. }), "{error}");
            reasons.insert(error.to_string().contains("Ladder::Off"));
        }
    }
    assert!(reasons.contains(&true), "no plan has a ladder");
    let plan = (0..60).find_map(without_more).unwrap();
    let bound = aliasing(&plan, &DeviceQueues::single_queue(&plan.frame))
        .unwrap()
        .tile_memory;
    assert_eq!(bound.len(), plan.frame.passes().len());
    assert!(
        bound
            .iter()
            .all(|one: &OptionalIndex| one.get().is_none_or(|row| (row as usize) < plan.objects.len()))
    );
}
