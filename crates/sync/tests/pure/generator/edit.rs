//! Changes to programs whose command buffers are shared.

use std::collections::HashMap;
use std::sync::Arc;

use ash::vk::{AccessFlags2 as A, PipelineStageFlags2 as S};
use tileheap_sync::program::{
    AccessKind, Command, CommandBuffer, Dependency, DependencyScopes, HostStep, Program, SemaphoreUse,
};
use tileheap_units::SplitMix64;

use super::masks;
use super::past::Commands;

/// Changes every command buffer once; shared ones stay shared.
pub(super) fn commands(program: &mut Program, change: &mut dyn FnMut(&mut Commands)) {
    let mut done = HashMap::new();
    for step in &mut program.steps {
        if let HostStep::Submit(batch) = step {
            for buffer in &mut batch.command_buffers {
                *buffer = changed(buffer, &mut done, change);
            }
        }
    }
}

type Done = HashMap<*const CommandBuffer, (Arc<CommandBuffer>, Arc<CommandBuffer>)>;

fn changed(
    buffer: &Arc<CommandBuffer>,
    done: &mut Done,
    change: &mut dyn FnMut(&mut Commands),
) -> Arc<CommandBuffer> {
    if let Some((_, after)) = done.get(&Arc::as_ptr(buffer)) {
        return Arc::clone(after);
    }
    let mut commands = buffer.commands.clone();
    change(&mut commands);
    for (_, command) in &mut commands {
        if let Command::Execute(inner) = command {
            *inner = changed(inner, done, change);
        }
    }
    let after = Arc::new(CommandBuffer { commands });
    // Keeps the old buffer alive, so that its address is not reused.
    done.insert(Arc::as_ptr(buffer), (Arc::clone(buffer), Arc::clone(&after)));
    after
}

/// The scopes of a command.
pub(super) fn scopes(command: &mut Command, change: &mut dyn FnMut(&mut DependencyScopes)) {
    match command {
        Command::Barrier(dependencies) | Command::WaitEvents(_, dependencies) => {
            dependencies.iter_mut().for_each(|one| change(&mut one.scopes));
        }
        Command::BeginRendering { pass, .. } => {
            Arc::make_mut(pass)
                .dependencies
                .iter_mut()
                .for_each(|one| change(&mut one.scopes));
        }
        _ => {}
    }
}

/// The dependencies of a barrier or of a wait for events.
pub(super) fn dependencies(command: &mut Command) -> &mut [Dependency] {
    match command {
        Command::Barrier(dependencies) | Command::WaitEvents(_, dependencies) => dependencies,
        _ => &mut [],
    }
}

/// The semaphores that batches wait for, then those that they signal.
pub(super) fn semaphores(program: &mut Program) -> impl Iterator<Item = &mut SemaphoreUse> {
    program.steps.iter_mut().flat_map(|step| match step {
        HostStep::Submit(batch) => batch.waits.iter_mut().chain(&mut batch.signals),
        _ => [].iter_mut().chain([].iter_mut()),
    })
}

/// Makes some accesses unknown, except for their stage.
pub(super) fn unknown_accesses(random: &mut SplitMix64, program: &mut Program) {
    commands(program, &mut |all| {
        for (_, command) in all {
            let Command::Action(accesses) = command else {
                continue;
            };
            let shaders = accesses.iter_mut().filter(|one| one.kind == AccessKind::Whole);
            shaders
                .filter(|_| random.one_in(4))
                .for_each(|one| one.access = A::NONE);
        }
    });
}

/// Changes one mask, which may cause a hazard.
pub(super) fn one_detail(random: &mut SplitMix64, program: &mut Program) {
    let mut count = 0;
    let uses = semaphores(program).count() as u64;
    commands(program, &mut |all| {
        all.iter_mut()
            .for_each(|(_, command)| scopes(command, &mut |_| count += 1));
    });
    if count + uses == 0 {
        return;
    }
    let chosen = random.below(count + uses);
    if chosen >= count {
        if let Some(one) = semaphores(program).nth((chosen - count) as usize) {
            one.stages = masks::semaphore_stages(random);
        }
        return;
    }
    let mut index = 0;
    commands(program, &mut |all| {
        for (_, command) in all {
            scopes(command, &mut |scopes| {
                if index == chosen {
                    alter(random, scopes);
                }
                index += 1;
            });
        }
    });
}

fn alter(random: &mut SplitMix64, scopes: &mut DependencyScopes) {
    match random.below(6) {
        0 => scopes.src = S::from_raw(without_one(random, scopes.src.as_raw())),
        1 => scopes.dst = S::from_raw(without_one(random, scopes.dst.as_raw())),
        2 => scopes.src_access = A::from_raw(without_one(random, scopes.src_access.as_raw())),
        3 => scopes.dst_access = A::from_raw(without_one(random, scopes.dst_access.as_raw())),
        4 => scopes.src = masks::stages(random),
        _ => scopes.dst = masks::stages(random),
    }
}

/// `mask` without one of its bits.
fn without_one(random: &mut SplitMix64, mask: u64) -> u64 {
    let bits: Vec<u64> = bits(mask).collect();
    if bits.is_empty() {
        mask
    } else {
        mask & !random.pick(&bits)
    }
}

/// The bits of `mask`.
pub(super) fn bits(mask: u64) -> impl Iterator<Item = u64> {
    (0..64).map(|bit| 1 << bit).filter(move |bit| mask & bit != 0)
}
