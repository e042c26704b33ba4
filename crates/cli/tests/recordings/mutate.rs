//! Changes to one dependency of a recording.
//!
//! A recording stays valid: layout transitions are kept, and an event is waited for with the scopes that it was set with.

use ash::vk::{AccessFlags2 as A, PipelineStageFlags2 as S};
use tileheap_units::SplitMix64;

use crate::masks::valid;
use crate::recording::*;

/// A place in a recording that requires order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Site {
    /// A member of the barrier of this step, or of the event that this step waits for.
    Member { step: u32, member: usize },
    /// A dependency of the pass that begins with this step.
    Dependency { step: u32, index: usize },
    /// The semaphore wait and the host wait of a submit.
    Submit(usize),
}

/// All places that require order.
pub(crate) fn sites(recording: &Recording) -> Vec<Site> {
    let mut sites = Vec::new();
    for (_, step) in recording.steps() {
        let id = step.id;
        match &step.command {
            Command::Barrier(barrier) | Command::WaitEvent { barrier, .. } => {
                sites.extend((0..barrier.members.len()).map(|member| Site::Member { step: id, member }));
            }
            Command::BeginPass(pass) => {
                sites.extend((0..pass.dependencies.len()).map(|index| Site::Dependency { step: id, index }));
            }
            _ => {}
        }
    }
    for (index, submit) in recording.submits.iter().enumerate() {
        if submit.waits_at.is_some() || submit.is_waited_for && index + 1 < recording.submits.len() {
            sites.push(Site::Submit(index));
        }
    }
    sites
}

/// Removes a dependency; for a layout transition, only its source scopes. Returns `false` if nothing is removed.
pub(crate) fn delete(recording: &mut Recording, site: Site) -> bool {
    match site {
        Site::Member { step, member } => {
            edit_barrier(recording, step, |barrier| match barrier.members[member].scope {
                Scope::Image { from, to, .. } if from != to => {
                    let masks = &mut barrier.members[member].masks;
                    let had_any = masks.source != (S::NONE, A::NONE);
                    masks.source = (S::NONE, A::NONE);
                    had_any
                }
                _ => {
                    barrier.members.remove(member);
                    true
                }
            })
        }
        Site::Dependency { step, index } => {
            let dependencies = &mut pass(recording, step).dependencies;
            // A subpass must depend on those whose attachments it preserves or reads.
            let is_between = dependencies[index].from.is_some() && dependencies[index].to.is_some();
            if !is_between {
                dependencies.remove(index);
            }
            !is_between
        }
        Site::Submit(index) => {
            let submit = &mut recording.submits[index];
            (submit.waits_at, submit.is_waited_for) = (None, false);
            true
        }
    }
}

/// Changes the order at one place, or does nothing.
pub(crate) fn mutate(recording: &mut Recording, random: &mut SplitMix64) {
    let sites = sites(recording);
    if sites.is_empty() {
        return;
    }
    let site = random.pick(&sites);
    if random.one_in(3) {
        delete(recording, site);
        return;
    }
    match site {
        Site::Member { step, member } => {
            edit_barrier(recording, step, |barrier| {
                let member = &mut barrier.members[member];
                if random.one_in(5) {
                    narrow(&mut member.scope, random);
                } else {
                    member.masks = changed(member.masks, random);
                }
                true
            });
        }
        Site::Dependency { step, index } => {
            let dependency = &mut pass(recording, step).dependencies[index];
            dependency.masks = changed(dependency.masks, random);
        }
        Site::Submit(index) => {
            let stages = [
                S::COMPUTE_SHADER,
                S::COPY,
                S::COLOR_ATTACHMENT_OUTPUT,
                S::TOP_OF_PIPE,
            ];
            let submit = &mut recording.submits[index];
            submit.is_waited_for = false;
            submit.waits_at = Some(random.pick(&stages));
        }
    }
}

/// Edits the barrier of a step, and of the command that sets the event if it waits for one.
fn edit_barrier(recording: &mut Recording, id: u32, edit: impl FnOnce(&mut Barrier) -> bool) -> bool {
    let mut edit = Some(edit);
    let mut edited = None;
    for step in recording
        .command_buffers
        .iter_mut()
        .flat_map(|one| &mut one.steps)
    {
        if let (true, Command::Barrier(barrier)) = (step.id == id, &mut step.command) {
            return edit.take().is_some_and(|edit| edit(barrier));
        }
        if let (true, Command::WaitEvent { event, barrier }) = (step.id == id, &mut step.command) {
            let changes = edit.take().is_some_and(|edit| edit(barrier));
            edited = Some((*event, barrier.clone(), changes));
        }
    }
    let Some((waited, changed, changes)) = edited else {
        return false;
    };
    for step in recording
        .command_buffers
        .iter_mut()
        .flat_map(|one| &mut one.steps)
    {
        if let Command::SetEvent { event, barrier } = &mut step.command {
            if *event == waited {
                *barrier = changed.clone();
            }
        }
    }
    changes
}

fn pass(recording: &mut Recording, id: u32) -> &mut Pass {
    let steps = recording
        .command_buffers
        .iter_mut()
        .flat_map(|one| &mut one.steps);
    let found = steps
        .filter(|step| step.id == id)
        .find_map(|step| match &mut step.command {
            Command::BeginPass(pass) => Some(pass),
            _ => None,
        });
    found.expect("a pass")
}

/// Different valid masks.
fn changed(masks: Masks, random: &mut SplitMix64) -> Masks {
    let stages = [
        S::NONE,
        S::TOP_OF_PIPE,
        S::BOTTOM_OF_PIPE,
        S::COPY,
        S::CLEAR,
        S::BLIT,
        S::ALL_TRANSFER,
        S::COMPUTE_SHADER,
        S::FRAGMENT_SHADER,
        S::VERTEX_SHADER,
        S::COLOR_ATTACHMENT_OUTPUT,
        S::LATE_FRAGMENT_TESTS,
        S::ALL_GRAPHICS,
        S::ALL_COMMANDS,
    ];
    let mut masks = masks;
    let side = match random.one_in(2) {
        true => &mut masks.source,
        false => &mut masks.destination,
    };
    match random.below(5) {
        0 => side.1 = A::NONE,
        1 => side.1 = without_one(side.1.as_raw(), random).map_or(A::NONE, A::from_raw),
        2 => side.0 = without_one(side.0.as_raw(), random).map_or(S::NONE, S::from_raw),
        3 => side.0 = random.pick(&stages),
        _ => *side = (random.pick(&stages), A::MEMORY_READ | A::MEMORY_WRITE),
    }
    valid(masks)
}

/// The bits without one of them.
fn without_one(bits: u64, random: &mut SplitMix64) -> Option<u64> {
    let set: Vec<u64> = (0..64)
        .map(|shift| 1 << shift)
        .filter(|bit| bits & bit != 0)
        .collect();
    (!set.is_empty()).then(|| bits & !random.pick(&set))
}

/// Limits a scope to other memory.
fn narrow(scope: &mut Scope, random: &mut SplitMix64) {
    if let Scope::Buffer(cells) = scope {
        if cells.first > 0 {
            cells.first -= 1;
        } else if random.one_in(2) {
            *scope = Scope::Memory;
        }
    }
}
