//! Damaged semaphores, sharing between queues, and what is left for the next frame.

use std::sync::Arc;

use ash::vk;
use ash::vk::{PipelineStageFlags2 as S, QueueFlags};
use tileheap::frame::{FrameBuilder, ImageDesc, LoadOp};
use tileheap::lower::check::{CheckError, Rule};
use tileheap::lower::tables::commands::BarrierCause;
use tileheap::lower::tables::objects::ImageRow;
use tileheap::lower::tables::submission::Semaphore;
use tileheap::lower::{DeviceQueues, FamilyQueue, Lowered, Situation, Space, lower};
use tileheap::measure::estimate;
use tileheap::plan::{Plan, PlanOptions, plan};
use tileheap::profile::DeviceProfile;
use tileheap::units::Run;

use super::{
    ENOUGH, Sound, arrangements, device, executable, is_hazard, is_layout, is_parameter, refused,
    refused_or_harmless, rows,
};

#[test]
fn a_semaphore_is_waited_for_at_no_stage() {
    let sites = |sound: &Sound<'_>| {
        let declared = |row: &tileheap::lower::tables::submission::SemaphoreRow| {
            matches!(row.semaphore, Semaphore::Declared(_))
        };
        rows(&sound.tables.waits, declared)
    };
    let damage = |tables: &mut Lowered, &row: &usize| tables.waits[row].stages = S::NONE;
    refused(sites, damage, |error| is_parameter(error, "stageMask"));
}

#[test]
fn a_declared_wait_is_left_out() {
    let sites = |sound: &Sound<'_>| {
        rows(&sound.tables.batches, |batch| {
            let waits = batch.waits.of(&sound.tables.waits);
            waits
                .iter()
                .any(|wait| matches!(wait.semaphore, Semaphore::Declared(_)))
        })
    };
    let damage = |tables: &mut Lowered, &row: &usize| tables.batches[row].waits = Run::default();
    refused(sites, damage, |error| is_parameter(error, "declared semaphores"));
}

/// Waits for what earlier frames did on other queues.
fn earlier_waits(sound: &Sound<'_>) -> Vec<usize> {
    rows(
        &sound.tables.waits,
        |row| matches!(row.semaphore, Semaphore::Queue { value, .. } if value <= 0),
    )
}

#[test]
fn an_earlier_frame_is_not_waited_for() {
    let damage = |tables: &mut Lowered, &row: &usize| {
        if let Semaphore::Queue { value, .. } = &mut tables.waits[row].semaphore {
            *value -= 1000;
        }
    };
    refused_or_harmless(earlier_waits, damage, is_hazard);
}

#[test]
fn a_wait_is_for_what_nothing_signals() {
    let damage = |tables: &mut Lowered, &row: &usize| {
        if let Semaphore::Queue { value, .. } = &mut tables.waits[row].semaphore {
            *value += 1000;
        }
    };
    refused(earlier_waits, damage, |error| is_parameter(error, "value"));
}

#[test]
fn a_batch_signals_another_value() {
    let sites = |sound: &Sound<'_>| {
        rows(&sound.tables.signals, |row| {
            matches!(row.semaphore, Semaphore::Queue { .. })
        })
    };
    let damage = |tables: &mut Lowered, &row: &usize| {
        if let Semaphore::Queue { value, .. } = &mut tables.signals[row].semaphore {
            *value += 1;
        }
    };
    refused(sites, damage, |error| is_parameter(error, "timeline semaphores"));
}

#[test]
fn a_last_use_is_not_left_to_the_next_frame() {
    let after = |sound: &Sound<'_>| {
        let bytes = &sound.tables.after.bytes;
        // Of uses on several queues one may cover the other.
        let alone = |row: &usize| {
            let mine = &bytes[*row];
            let same = |one: &&tileheap::lower::ByteUse| {
                one.space == mine.space && one.first < mine.end && mine.first < one.end
            };
            bytes.iter().filter(same).count() == 1
        };
        (0..bytes.len()).filter(alone).collect::<Vec<_>>()
    };
    let uncovered = |error: &CheckError| error.rule == Rule::AfterUncovered;
    refused(
        after,
        |tables, &row| {
            tables.after.bytes.remove(row);
        },
        uncovered,
    );
    refused(
        after,
        |tables, &row| tables.after.bytes[row].last.stages = S::HOST,
        uncovered,
    );
    refused(
        after,
        |tables, &row| tables.after.bytes[row].last.value = -1_000_000,
        uncovered,
    );
    refused(
        after,
        |tables, &row| tables.after.bytes[row].last.value = 1,
        |error| error.rule == Rule::AfterPoint,
    );
}

#[test]
fn what_a_history_is_left_in_is_said_wrongly() {
    let sites = |sound: &Sound<'_>| (0..sound.tables.after.contents.len()).collect::<Vec<_>>();
    let right = |error: &CheckError| error.rule == Rule::AfterContents;
    refused(
        sites,
        |tables, &row| {
            tables.after.contents.remove(row);
        },
        right,
    );
    refused(
        sites,
        |tables, &row| tables.after.contents[row].defined = false,
        right,
    );
    refused(
        sites,
        |tables, &row| tables.after.contents[row].layout = vk::ImageLayout::PREINITIALIZED,
        right,
    );
}

#[test]
fn tile_memory_of_the_frame_before_is_not_waited_for() {
    // A4, A5: on one device queue a barrier waits for whatever used the bytes before, in whatever submit and by whatever declared queue.
    let mut found = 0;
    for seed in 0..100 {
        let Some(plan) = executable(seed) else { continue };
        for queues in arrangements(&plan) {
            let first = Situation::first(queues);
            let second = first.after(&lower(&plan, &first).unwrap());
            if !second
                .before
                .bytes
                .iter()
                .any(|one| matches!(one.space, Space::Tile(_)))
            {
                continue;
            }
            // Tables for untouched memory, run where a frame has used it.
            let mut fresh = second.clone();
            fresh.before.bytes.clear();
            let tables = lower(&plan, &fresh).unwrap();
            let errors = tables.violations(&plan.frame, &second, &device(&plan, &second));
            assert!(errors.iter().any(is_hazard), "seed {seed}: {errors:?}");
            found += 1;
        }
    }
    assert!(found >= ENOUGH, "{found}");
}

#[test]
fn families_that_share_a_resource_are_listed_wrongly() {
    let images = |sound: &Sound<'_>| (0..sound.tables.images.len()).collect::<Vec<_>>();
    for families in [vec![0], vec![0, 0], vec![0, 999]] {
        let damage = |tables: &mut Lowered, &row: &usize| {
            let first = tables.families.len() as u32;
            tables.families.extend(&families);
            let end = tables.families.len() as u32;
            tables.images[row].sharing.families = Run::new(first, end);
        };
        refused(images, damage, |error| is_parameter(error, "pQueueFamilyIndices"));
    }
}

/// `scene` is drawn on one queue, sampled there and on another one of the same family, and sampled on a third one of another family.
/// Semaphores name the stages at hand.
fn three_queues() -> Plan {
    let extent = vk::Extent2D {
        width: 64,
        height: 64,
    };
    let mut frame = FrameBuilder::new("three queues", extent);
    let image = || ImageDesc::new(vk::Format::R8G8B8A8_UNORM, extent);
    let scene = frame.image("scene", image());
    let outputs = ["near", "far", "wide"].map(|name| (name, frame.image(name, image())));
    let queues = [
        ("first", QueueFlags::GRAPHICS),
        ("second", QueueFlags::GRAPHICS),
        ("third", QueueFlags::COMPUTE),
    ];
    let queues = queues.map(|(name, can)| frame.queue(name, can));
    let semaphores = ["one", "two"].map(|name| frame.semaphore(name));
    for (index, (name, output)) in outputs.into_iter().enumerate() {
        let submit = frame.submit(queues[index]);
        let batch = frame.batch(submit);
        let commands = frame.command_buffer(batch, name);
        if index == 0 {
            frame.render_pass(commands, "draw").color(scene, LoadOp::DontCare);
        } else {
            let stages = if index == 2 {
                S::COMPUTE_SHADER
            } else {
                S::FRAGMENT_SHADER
            };
            frame.wait(batch, semaphores[index - 1], stages);
        }
        if index == 2 {
            frame
                .compute_pass(commands, name)
                .sampled(scene)
                .storage_write(output);
        } else {
            frame
                .render_pass(commands, name)
                .sampled(scene)
                .color(output, LoadOp::DontCare);
            frame.signal(batch, semaphores[index], S::COLOR_ATTACHMENT_OUTPUT);
        }
    }
    let frame = frame.build().unwrap();
    let profile = Arc::new(DeviceProfile::preset("adreno-830").unwrap());
    let needs = Arc::new(estimate(&frame, &profile).unwrap());
    plan(&frame, &needs, &profile, &PlanOptions::default()).unwrap()
}

fn real_queues(queues: [(u32, u32); 3]) -> Situation {
    let queues = queues.map(|(family, index)| FamilyQueue { family, index });
    Situation::first(DeviceQueues::new(&queues))
}

#[test]
fn a_resource_that_families_share_is_exclusive() {
    let plan = three_queues();
    let situation = real_queues([(0, 0), (0, 1), (1, 0)]);
    let mut tables = lower(&plan, &situation).unwrap().into_inner();
    let is_shared = |image: &&mut ImageRow| !image.sharing.families.is_empty();
    let shared = tables.images.iter_mut().find(is_shared).expect("a shared image");
    shared.sharing.families = Run::default();
    let errors = tables.violations(&plan.frame, &situation, &device(&plan, &situation));
    assert!(errors.iter().any(is_layout), "{errors:?}");
}

#[test]
fn transfers_go_through_narrow_semaphores() {
    // A6: without maintenance8, ALL_COMMANDS alone orders both halves.
    let plan = three_queues();
    let situation = real_queues([(0, 0), (1, 0), (2, 0)]);
    let tables = lower(&plan, &situation).unwrap().into_inner();
    let mut releases = tables.image_barriers.iter();
    assert!(releases.any(|barrier| barrier.cause == BarrierCause::Release));
    let device = device(&plan, &situation);
    for row in 0..tables.waits.len() {
        let mut narrow = tables.clone();
        narrow.waits[row].stages &= !S::ALL_COMMANDS;
        let errors = narrow.violations(&plan.frame, &situation, &device);
        assert!(
            errors.iter().any(is_hazard),
            "wait {row}: {errors:?}\n{}",
            tables.text(&plan.frame)
        );
    }
    for row in 0..tables.signals.len() {
        if let Semaphore::Declared(_) = tables.signals[row].semaphore {
            let mut narrow = tables.clone();
            narrow.signals[row].stages &= !S::ALL_COMMANDS;
            let errors = narrow.violations(&plan.frame, &situation, &device);
            assert!(errors.iter().any(is_hazard), "signal {row}: {errors:?}");
        }
    }
}
