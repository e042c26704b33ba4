//! Damaged barriers: stages, accesses, layouts, transfers.

use ash::vk;
use ash::vk::{AccessFlags2 as A, PipelineStageFlags2 as S};
use tileheap::lower::Lowered;
use tileheap::lower::check::Rule;
use tileheap::lower::tables::commands::BarrierCause;
use tileheap::lower::tables::objects::Binding;
use tileheap::units::Run;

use super::{Sound, is_contents, is_hazard, is_layout, is_parameter, refused, refused_or_harmless, rows};

/// Image barriers that change a layout and transfer nothing.
fn transitions(sound: &Sound<'_>) -> Vec<usize> {
    let external = |image: u32| sound.tables.images[image as usize].binding == Binding::Imported;
    rows(&sound.tables.image_barriers, |barrier| {
        barrier.old_layout != barrier.new_layout
            && barrier.families.src == barrier.families.dst
            && barrier.cause != BarrierCause::Exit
            && !external(barrier.image)
    })
}

/// Image barriers that wait for a write of the same image in the same frame on the same queue.
fn hazards(sound: &Sound<'_>) -> Vec<usize> {
    let writes = A::COLOR_ATTACHMENT_WRITE | A::DEPTH_STENCIL_ATTACHMENT_WRITE | A::TRANSFER_WRITE;
    rows(&sound.tables.image_barriers, |barrier| {
        barrier.cause == BarrierCause::Hazard && barrier.scopes.src_access.intersects(writes)
    })
}

/// The first half or the second of transfers.
fn halves(sound: &Sound<'_>, cause: BarrierCause) -> Vec<usize> {
    rows(&sound.tables.image_barriers, |barrier| barrier.cause == cause)
}

fn without_image_barrier(tables: &mut Lowered, row: usize) {
    // The barrier remains in its run, and does nothing.
    let barrier = &mut tables.image_barriers[row];
    barrier.scopes = Default::default();
    barrier.old_layout = vk::ImageLayout::GENERAL;
    barrier.new_layout = vk::ImageLayout::GENERAL;
    barrier.families.dst = barrier.families.src;
    let row = row as u32;
    for pass in &mut tables.passes {
        for dependency in [&mut pass.before, &mut pass.after] {
            let run = &mut dependency.images;
            if run.first == row && run.first < run.end {
                run.first += 1;
            } else if run.end == row + 1 && run.first < run.end {
                run.end -= 1;
            }
        }
    }
}

/// Image barriers at an end of their run, which can be left out.
fn at_an_end(sound: &Sound<'_>, wanted: Vec<usize>) -> Vec<usize> {
    let ends = |row: &usize| {
        let row = *row as u32;
        let mut runs = sound
            .tables
            .passes
            .iter()
            .flat_map(|pass| [pass.before.images, pass.after.images]);
        runs.any(|run| !run.is_empty() && (run.first == row || run.end == row + 1))
    };
    wanted.into_iter().filter(ends).collect()
}

#[test]
fn a_transition_is_left_out() {
    let sites = |sound: &Sound<'_>| at_an_end(sound, transitions(sound));
    refused(
        sites,
        |tables, &row| without_image_barrier(tables, row),
        is_layout,
    );
}

#[test]
fn a_source_stage_is_left_out() {
    let damage = |tables: &mut Lowered, &row: &usize| {
        let scopes = &mut tables.image_barriers[row].scopes;
        (scopes.src_stages, scopes.src_access) = (S::NONE, A::NONE);
    };
    refused(hazards, damage, is_hazard);
}

#[test]
fn a_source_access_is_left_out() {
    let damage = |tables: &mut Lowered, &row: &usize| tables.image_barriers[row].scopes.src_access = A::NONE;
    refused_or_harmless(hazards, damage, is_hazard);
}

#[test]
fn a_destination_is_left_out() {
    let damage = |tables: &mut Lowered, &row: &usize| {
        let scopes = &mut tables.image_barriers[row].scopes;
        (scopes.dst_stages, scopes.dst_access) = (S::NONE, A::NONE);
    };
    refused(hazards, damage, is_hazard);
}

#[test]
fn an_access_is_named_that_no_stage_makes() {
    let damage = |tables: &mut Lowered, &row: &usize| {
        let scopes = &mut tables.image_barriers[row].scopes;
        (scopes.src_stages, scopes.src_access) = (S::COPY, A::UNIFORM_READ);
    };
    refused(hazards, damage, |error| is_parameter(error, "srcAccessMask"));
}

#[test]
fn a_memory_barrier_of_aliasing_is_left_out() {
    let sites = |sound: &Sound<'_>| {
        rows(&sound.tables.passes, |pass| {
            let barriers = pass.before.memory.of(&sound.tables.memory_barriers);
            barriers
                .iter()
                .any(|barrier| !barrier.scopes.src_access.is_empty())
        })
    };
    let damage = |tables: &mut Lowered, &row: &usize| tables.passes[row].before.memory = Run::default();
    refused_or_harmless(sites, damage, is_hazard);
}

#[test]
fn an_old_layout_is_another_one() {
    let sites = |sound: &Sound<'_>| {
        let kept = |row: &usize| sound.tables.image_barriers[*row].old_layout != vk::ImageLayout::UNDEFINED;
        transitions(sound).into_iter().filter(kept).collect()
    };
    let damage = |tables: &mut Lowered, &row: &usize| {
        tables.image_barriers[row].old_layout = vk::ImageLayout::PRESENT_SRC_KHR;
    };
    refused(sites, damage, |error| error.rule == Rule::OldLayout);
}

#[test]
fn contents_are_discarded_by_a_barrier() {
    let damage = |tables: &mut Lowered, &row: &usize| {
        tables.image_barriers[row].old_layout = vk::ImageLayout::UNDEFINED;
    };
    let sites = |sound: &Sound<'_>| {
        let reads = A::SHADER_SAMPLED_READ | A::INPUT_ATTACHMENT_READ | A::TRANSFER_READ;
        let read = |row: &usize| {
            let barrier = &sound.tables.image_barriers[*row];
            barrier.old_layout != vk::ImageLayout::UNDEFINED && barrier.scopes.dst_access.intersects(reads)
        };
        transitions(sound).into_iter().filter(read).collect()
    };
    refused(sites, damage, is_contents);
}

#[test]
fn a_new_layout_is_another_one() {
    let damage = |tables: &mut Lowered, &row: &usize| {
        tables.image_barriers[row].new_layout = vk::ImageLayout::PRESENT_SRC_KHR;
    };
    refused(transitions, damage, |error| {
        matches!(error.rule, Rule::Layout | Rule::OldLayout)
    });
}

#[test]
fn half_of_a_transfer_is_left_out() {
    for (half, rule) in [
        (BarrierCause::Release, Rule::NotReleased),
        (BarrierCause::Acquire, Rule::NotAcquired),
    ] {
        refused(
            |sound| at_an_end(sound, halves(sound, half)),
            |tables, &row| without_image_barrier(tables, row),
            |error| error.rule == rule,
        );
    }
}

#[test]
fn the_families_of_a_release_are_swapped() {
    let damage = |tables: &mut Lowered, &row: &usize| {
        let families = &mut tables.image_barriers[row].families;
        std::mem::swap(&mut families.src, &mut families.dst);
    };
    refused(|sound| halves(sound, BarrierCause::Release), damage, is_layout);
}
