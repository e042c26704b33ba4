//! Aliasing only: previous users, compared with an independent walk over cells of bytes, and with the barriers of lowered tables.

use std::collections::{BTreeMap, BTreeSet};

use ash::vk;
use tileheap::Checked;
use tileheap::frame::tables::HistoryVersion;
use tileheap::frame::{PassId, Persistence, ResourceId};
use tileheap::lower::tables::commands::BarrierCause;
use tileheap::lower::tables::{ImageOrBuffer, OptionalIndex};
use tileheap::lower::{Aliasing, DeviceQueues, LowerError, LoweringDesc, Parity, aliasing, lower};
use tileheap::plan::{Ladder, MemoryKind, Plan, PlanOptions, ResidencyStrategy, WindowRule, plan};

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
fn a_history_has_a_placement_for_each_parity() {
    let mut found = 0;
    for seed in 0..100 {
        let Some(plan) = without_more(seed) else { continue };
        let queues = DeviceQueues::single_queue(&plan.frame);
        let aliasing = aliasing(&plan, &queues).unwrap();
        let mut lowering_desc = LoweringDesc::first(queues);
        for parity in Parity::BOTH {
            let tables = lower(&plan, &lowering_desc).unwrap();
            for row in &aliasing.placements {
                let is_pair = plan.resources[row.resource.index()].placements.len() == 2;
                assert_eq!(aliasing.parity_of(row).is_some(), is_pair, "seed {seed}: {row:?}");
            }
            for access in &tables.accesses {
                let binding = match access.object.get() {
                    ImageOrBuffer::Image(row) => tables.images[row as usize].binding,
                    ImageOrBuffer::Buffer(row) => tables.buffers[row as usize].binding,
                };
                let mut rows = aliasing.placements.iter();
                let Some(row) = rows.find(|row| {
                    let place = (binding.memory.get(), binding.offset);
                    row.resource == access.resource && place == (Some(row.object), row.offset)
                }) else {
                    continue; // External.
                };
                if let Some(current) = aliasing.parity_of(row) {
                    let is_current = access.version == HistoryVersion::Current;
                    assert_eq!(current == parity, is_current, "seed {seed}: {row:?}");
                    found += 1;
                }
            }
            lowering_desc = lowering_desc.after(&tables);
        }
        let text = aliasing.text(&plan.frame);
        let pairs = aliasing
            .placements
            .iter()
            .filter(|row| aliasing.parity_of(row) == Some(Parity::Odd));
        assert_eq!(text.matches("current in odd frames").count(), pairs.count());
        let reads = aliasing.previous.iter().filter(|user| user.writes.is_empty());
        assert_eq!(text.matches("; no writes\n").count(), reads.count());
        let users = aliasing.previous.len();
        assert_eq!(
            text.matches("; ").count() - text.matches("; no writes").count(),
            text.matches("; writes VK_ACCESS_2_").count()
        );
        assert_eq!(text.matches("; ").count(), users);
    }
    assert!(found > 50, "{found}");
}

#[test]
fn plans_whose_options_permit_more_than_aliasing_are_refused() {
    let refused =
        |plan: &Checked<Plan>| aliasing(plan, &DeviceQueues::single_queue(&plan.frame)).unwrap_err();
    let of = (0..60).find_map(without_more).unwrap();
    let ladders = [Ladder::Auto, Ladder::Always].map(|ladder| PlanOptions { ladder, ..of.options });
    let split = PlanOptions {
        split: true,
        ..of.options
    };
    let strategies = [ResidencyStrategy::Optimal, ResidencyStrategy::Off];
    for (options, advice) in ladders
        .map(|options| (options, "plan with `Ladder::Off`"))
        .into_iter()
        .chain([(split, "plan without `PlanOptions::split`")])
    {
        for strategy in strategies {
            let options = PlanOptions { strategy, ..options };
            let plan = plan(&of.input, &of.input_requirements, &of.profile, &options).unwrap();
            let error = refused(&plan);
            assert!(matches!(error, LowerError::NotOnlyAliasing { .. }), "{error}");
            assert!(error.to_string().contains(advice), "{error}");
        }
    }
    let bound = aliasing(&of, &DeviceQueues::single_queue(&of.frame))
        .unwrap()
        .tile_memory;
    assert_eq!(bound.len(), of.frame.passes().len());
    assert!(
        bound
            .iter()
            .all(|one: &OptionalIndex| one.get().is_none_or(|row| (row as usize) < of.objects.len()))
    );
}
