//! Smaller programs with the same fault.

use std::sync::Arc;

use ash::vk::{AccessFlags2 as A, PipelineStageFlags2 as S};
use tileheap_sync::program::{
    AccessKind, BarrierChange, Command, DependencyMemory, DependencyScopes, HostStep, PassAttachment,
    Program, ResourcePart,
};

use super::past::Commands;
use super::{edit, is_valid, places};

/// The smallest program that removal steps reach from `program` while `fails` stays true.
pub(crate) fn shrink(mut program: Program, fails: impl Fn(&Program) -> bool) -> Program {
    let edits: [fn(&mut Program, &mut Nth); 5] = [steps, batches, buffers, lists, details];
    loop {
        let mut smaller = false;
        for edit in edits {
            let mut at = 0;
            loop {
                let mut candidate = program.clone();
                let mut nth = Nth {
                    left: at,
                    done: false,
                };
                edit(&mut candidate, &mut nth);
                if !nth.done {
                    break;
                }
                if is_valid(&candidate).is_ok() && fails(&candidate) {
                    program = candidate;
                    smaller = true;
                } else {
                    at += 1;
                }
            }
        }
        if !smaller {
            return program;
        }
    }
}

/// Counts down to the single place that is changed.
struct Nth {
    left: usize,
    done: bool,
}

impl Nth {
    fn here(&mut self) -> bool {
        if self.done {
            return false;
        }
        self.done = self.left == 0;
        self.left = self.left.saturating_sub(1);
        self.done
    }

    /// Removes the selected element of `list`, the last ones first.
    fn one_of<T>(&mut self, list: &mut Vec<T>) {
        for index in (0..list.len()).rev() {
            if self.here() {
                list.remove(index);
                return;
            }
        }
    }

    /// Removes the selected bit of `mask`.
    fn bit(&mut self, mask: u64) -> u64 {
        for bit in edit::bits(mask) {
            if self.here() {
                return mask & !bit;
            }
        }
        mask
    }

    fn scopes(&mut self, scopes: &mut DependencyScopes) {
        scopes.src = S::from_raw(self.bit(scopes.src.as_raw()));
        scopes.src_access = A::from_raw(self.bit(scopes.src_access.as_raw()));
        scopes.dst = S::from_raw(self.bit(scopes.dst.as_raw()));
        scopes.dst_access = A::from_raw(self.bit(scopes.dst_access.as_raw()));
    }
}

fn steps(program: &mut Program, nth: &mut Nth) {
    nth.one_of(&mut program.steps);
}

/// Removes parts of batches; or a fence or semaphore with all its uses.
fn batches(program: &mut Program, nth: &mut Nth) {
    let mut semaphore = None;
    for step in program.steps.iter_mut().rev() {
        if let HostStep::Submit(batch) = step {
            nth.one_of(&mut batch.command_buffers);
            nth.one_of(&mut batch.waits);
            nth.one_of(&mut batch.signals);
            if batch.fence.is_some() && nth.here() {
                batch.fence = None;
            }
            for signal in &batch.signals {
                if nth.here() {
                    semaphore = Some(signal.semaphore);
                }
            }
        }
    }
    if semaphore.is_some() {
        let gone = |one: &tileheap_sync::program::SemaphoreUse| Some(one.semaphore) == semaphore;
        for step in &mut program.steps {
            if let HostStep::Submit(batch) = step {
                batch.waits.retain(|one| !gone(one));
                batch.signals.retain(|one| !gone(one));
            }
        }
    }
}

/// Removes commands or whole instances, or inlines secondary command buffers.
fn buffers(program: &mut Program, nth: &mut Nth) {
    edit::commands(program, &mut |all| {
        for first in 0..all.len() {
            if matches!(all[first].1, Command::BeginRendering { .. }) {
                let end = all[first..]
                    .iter()
                    .position(|(_, command)| matches!(command, Command::EndRendering));
                if nth.here() {
                    all.drain(first..=first + end.unwrap_or_default());
                    return;
                }
            }
        }
        nth.one_of(all);
        inline(all, nth);
    });
}

/// Replaces the execution of a secondary command buffer by its commands.
fn inline(all: &mut Commands, nth: &mut Nth) {
    for index in 0..all.len() {
        let Command::Execute(inner) = &all[index].1 else {
            continue;
        };
        let inner = Arc::clone(inner);
        if nth.here() {
            all.splice(index..=index, inner.commands.iter().cloned());
            return;
        }
    }
}

/// Removes accesses, dependencies, transitions and events.
fn lists(program: &mut Program, nth: &mut Nth) {
    edit::commands(program, &mut |all| {
        for (_, command) in all {
            match command {
                Command::Action(accesses) => nth.one_of(accesses),
                Command::Barrier(dependencies) => nth.one_of(dependencies),
                Command::WaitEvents(events, dependencies) => {
                    nth.one_of(events);
                    nth.one_of(dependencies);
                }
                Command::BeginRendering { pass, .. } => {
                    let pass = Arc::make_mut(pass);
                    nth.one_of(&mut pass.dependencies);
                    nth.one_of(&mut pass.attachments);
                    for attachment in &mut pass.attachments {
                        nth.one_of(&mut attachment.uses);
                    }
                }
                _ => {}
            }
        }
    });
}

/// Simplifies masks, extents, changes, areas and the resources themselves.
fn details(program: &mut Program, nth: &mut Nth) {
    edit::commands(program, &mut |all| {
        for (_, command) in all {
            edit::scopes(command, &mut |scopes| nth.scopes(scopes));
            for dependency in edit::dependencies(command) {
                if dependency.change != BarrierChange::None && nth.here() {
                    dependency.change = BarrierChange::None;
                }
                if matches!(dependency.memory, DependencyMemory::Part(..))
                    && dependency.change == BarrierChange::None
                    && nth.here()
                {
                    dependency.memory = DependencyMemory::All;
                }
            }
            match command {
                Command::SetEvent(_, stages) => *stages = S::from_raw(nth.bit(stages.as_raw())),
                Command::BeginRendering { pass, .. } => {
                    let attachments = &mut Arc::make_mut(pass).attachments;
                    attachments.iter_mut().for_each(|one| same_layouts(one, nth));
                }
                Command::Action(accesses) => {
                    for access in accesses {
                        if access.kind == AccessKind::Partial && nth.here() {
                            access.kind = AccessKind::Whole;
                        }
                        if places::without_area(access.part) != access.part && nth.here() {
                            access.part = places::without_area(access.part);
                        }
                        if access.discards && nth.here() {
                            access.discards = false;
                        }
                        narrow(&mut access.part, nth);
                    }
                }
                _ => {}
            }
        }
    });
    for one in edit::semaphores(program) {
        one.stages = S::from_raw(nth.bit(one.stages.as_raw()));
    }
    for resource in &mut program.resources {
        if resource.alias_of.is_some() && nth.here() {
            resource.alias_of = None;
        }
    }
    if program.granularity > 1 && nth.here() {
        program.granularity = 1;
    }
}

/// Replaces a layout by the next one.
fn same_layouts(attachment: &mut PassAttachment, nth: &mut Nth) {
    let mut next = attachment.final_layout;
    let earlier = attachment.uses.iter_mut().rev().map(|(_, layout)| layout);
    for layout in earlier.chain([&mut attachment.initial_layout]) {
        if *layout != next && nth.here() {
            *layout = next;
        }
        next = *layout;
    }
}

/// Narrows a part to half of the bytes, or by one level or layer.
fn narrow(part: &mut ResourcePart, nth: &mut Nth) {
    match part {
        ResourcePart::Bytes(first, end) if *end - *first > 1 => {
            let middle = first.midpoint(*end);
            if nth.here() {
                *end = middle;
            } else if nth.here() {
                *first = middle;
            }
        }
        ResourcePart::Bytes(..) => {}
        ResourcePart::Texels(texels) => {
            for run in [&mut texels.levels, &mut texels.layers] {
                if run.len() > 1 && nth.here() {
                    run.end -= 1;
                } else if run.len() > 1 && nth.here() {
                    run.first += 1;
                }
            }
        }
    }
}
