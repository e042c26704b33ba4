//! Executes the host's steps in the model. Batches are numbered by the index of their step.
//!
//! The presentation engine has its own queue: it reads an image, then signals a semaphore or fence.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ash::vk;
use tileheap_sync::program::{
    self, AccessKind, Command, FenceId, QueueId, ResourcePart, SemaphoreId, SemaphoreUse, Tag,
};
use tileheap_sync::{Findings, Model};
use vk::{AccessFlags2 as A, PipelineStageFlags2 as S};

use super::commands::Commands;
use super::resources::Resources;
use crate::document::recording::{Batch, CommandEffect, RecordedStep, Recording};

/// The queue of the presentation engine.
const PRESENTATION: QueueId = QueueId(u64::MAX);

/// The findings of the model, and what is unknown about the steps.
#[derive(Debug, Default)]
pub(super) struct ModelFindings {
    /// The model's findings, in the order in which batches run.
    pub(super) findings: Findings,
    /// Number of accesses that were checked.
    pub(super) checked: u64,
    /// By step: the number of submissions so far, including that of the step.
    pub(super) submissions: Vec<u64>,
    /// The first step that something outside of the recording may have ordered after earlier ones.
    pub(super) first_unknown: Option<u64>,
    /// Batches that wait for a signal that was not recorded.
    pub(super) waits_outside: Vec<u64>,
    /// Events that the host sets or resets, one entry for each time.
    pub(super) host_events: Vec<u32>,
    /// Calls after which work may be ordered in a way that is not recorded.
    pub(super) outside_calls: Vec<String>,
}

impl ModelFindings {
    /// Returns true if something outside of the recording may have ordered a step after earlier ones.
    pub(super) fn is_unknown(&self, step: u64) -> bool {
        self.first_unknown.is_some_and(|first| step >= first)
    }
}

/// Executes all steps, then everything that still waits for a signal.
pub(super) fn run(
    recording: &Recording,
    resources: &Resources<'_>,
    commands: &Commands,
    model: &mut Model,
) -> ModelFindings {
    let mut signals = Signals::new(recording);
    for (&semaphore, &value) in &signals.initial {
        model.create_timeline(SemaphoreId(semaphore.into()), value);
    }
    let mut outcome = ModelFindings::default();
    let mut submissions = 0;
    for (index, step) in recording.steps.iter().enumerate() {
        let number = index as u64;
        if let RecordedStep::Submit(batch) = step {
            submissions += 1;
            let buffers = batch.command_buffers.iter();
            outcome.checked += buffers
                .map(|buffer| commands.accesses[*buffer as usize])
                .sum::<u64>();
        }
        outcome.submissions.push(submissions);
        signals.follow(step, number, recording, &mut outcome);
        let Some(step) = convert(step, number, resources, commands) else {
            continue;
        };
        if let program::HostStep::Submit(batch) = &step {
            if batch.queue == PRESENTATION {
                outcome.checked += accesses(batch);
            }
        }
        outcome.findings.extend(model.step(&step));
    }
    // Everything that still waits is executed, with possible findings.
    outcome
        .findings
        .extend(model.step(&program::HostStep::WaitIdle(None)));
    outcome.checked = outcome
        .checked
        .saturating_sub(outcome.findings.unchecked.len() as u64);
    outcome
}

/// Returns the number of accesses in a batch of the presentation engine.
fn accesses(batch: &program::Batch) -> u64 {
    let commands = batch.command_buffers.iter().flat_map(|buffer| &buffer.commands);
    let accesses = commands.map(|(_, command)| match command {
        Command::Action(accesses) => accesses.len() as u64,
        _ => 0,
    });
    accesses.sum()
}

fn convert(
    step: &RecordedStep,
    number: u64,
    resources: &Resources<'_>,
    commands: &Commands,
) -> Option<program::HostStep> {
    let fence_of = |fence: u32| FenceId(fence.into());
    let semaphore_of = |semaphore: u32| SemaphoreId(semaphore.into());
    Some(match step {
        RecordedStep::Submit(batch) => program::HostStep::Submit(submit(batch, number, commands)),
        RecordedStep::WaitFence(fence) => program::HostStep::WaitFence(fence_of(*fence)),
        RecordedStep::ResetFence(fence) => program::HostStep::ResetFence(fence_of(*fence)),
        RecordedStep::WaitSemaphore { semaphore, value } => {
            program::HostStep::WaitSemaphore(semaphore_of(*semaphore), *value)
        }
        RecordedStep::SignalSemaphore { semaphore, value } => {
            program::HostStep::SignalSemaphore(semaphore_of(*semaphore), *value)
        }
        RecordedStep::WaitIdle(queue) => {
            program::HostStep::WaitIdle(queue.map(|queue| QueueId(queue.into())))
        }
        RecordedStep::Acquire {
            resource,
            semaphore,
            fence,
        } => program::HostStep::Submit(program::Batch {
            signals: uses(semaphore.iter().copied()),
            fence: fence.map(fence_of),
            ..presentation(&[*resource], number, resources)
        }),
        // `vkQueuePresentKHR`: memory that is available when it is called is visible to the presentation engine without a barrier.
        RecordedStep::Present {
            resources: images,
            waits,
        } => program::HostStep::Submit(program::Batch {
            waits: uses(waits.iter().copied()),
            ..presentation(images, number, resources)
        }),
        RecordedStep::HostEvent(_) | RecordedStep::Outside(_) => return None,
    })
}

fn submit(batch: &Batch, number: u64, commands: &Commands) -> program::Batch {
    let used = |uses: &[crate::document::SemaphoreUse]| {
        let uses = uses.iter().map(|one| SemaphoreUse {
            semaphore: SemaphoreId(one.semaphore.into()),
            value: one.value,
            stages: one.stages,
        });
        uses.collect()
    };
    let buffers = batch.command_buffers.iter();
    program::Batch {
        number,
        queue: QueueId(batch.queue.into()),
        family: batch.family,
        waits: used(&batch.waits),
        command_buffers: buffers
            .map(|buffer| Arc::clone(&commands.buffers[*buffer as usize]))
            .collect(),
        signals: used(&batch.signals),
        fence: batch.fence.map(|fence| FenceId(fence.into())),
    }
}

fn uses(semaphores: impl Iterator<Item = u32>) -> Vec<SemaphoreUse> {
    let uses = semaphores.map(|semaphore| SemaphoreUse {
        semaphore: SemaphoreId(semaphore.into()),
        value: 0,
        stages: S::ALL_COMMANDS,
    });
    uses.collect()
}

/// Returns a batch in which the presentation engine reads images.
fn presentation(images: &[u32], number: u64, resources: &Resources<'_>) -> program::Batch {
    let reads = images.iter().filter_map(|&image| {
        Some(program::MemoryAccess {
            resource: resources.id(image)?,
            part: ResourcePart::Texels(resources.all_texels(image as usize)),
            stage: S::COPY,
            access: A::TRANSFER_READ,
            kind: AccessKind::Whole,
            discards: false,
        })
    });
    let commands = vec![(Tag(0), Command::Action(reads.collect()))];
    program::Batch {
        number,
        queue: PRESENTATION,
        family: vk::QUEUE_FAMILY_EXTERNAL,
        command_buffers: vec![Arc::new(program::CommandBuffer { commands })],
        ..program::Batch::default()
    }
}

/// The signals of the recording, used to recognize waits for unrecorded ones.
struct Signals {
    /// Timeline semaphores, with their values before the frame.
    initial: BTreeMap<u32, u64>,
    /// The highest value of each timeline semaphore that is signaled anywhere in the recording.
    highest: BTreeMap<u32, u64>,
    /// The highest value of each timeline semaphore that was signaled by the steps so far.
    reached: BTreeMap<u32, u64>,
    /// Binary semaphores that are signaled.
    binary: BTreeSet<u32>,
    /// Events that the host sets or resets.
    host_events: BTreeSet<u32>,
}

impl Signals {
    fn new(recording: &Recording) -> Signals {
        let mut initial: BTreeMap<u32, u64> = recording.timelines.iter().copied().collect();
        let batches = || {
            recording.steps.iter().filter_map(|step| match step {
                RecordedStep::Submit(batch) => Some(batch),
                _ => None,
            })
        };
        // Only timeline semaphores have a value.
        for one in batches().flat_map(|batch| batch.waits.iter().chain(&batch.signals)) {
            if one.value != 0 {
                initial.entry(one.semaphore).or_default();
            }
        }
        for step in &recording.steps {
            if let RecordedStep::WaitSemaphore { semaphore, .. }
            | RecordedStep::SignalSemaphore { semaphore, .. } = step
            {
                initial.entry(*semaphore).or_default();
            }
        }
        let mut signals = Signals {
            highest: initial.clone(),
            reached: initial.clone(),
            initial,
            binary: recording.signaled.iter().copied().collect(),
            host_events: BTreeSet::new(),
        };
        for step in &recording.steps {
            for (semaphore, value) in signaled(step) {
                raise(&mut signals.highest, semaphore, value);
            }
            if let RecordedStep::HostEvent(event) = step {
                signals.host_events.insert(*event);
            }
        }
        signals
    }

    /// Records what is unknown about a step, and the signals that it waits for or makes.
    fn follow(
        &mut self,
        step: &RecordedStep,
        number: u64,
        recording: &Recording,
        outcome: &mut ModelFindings,
    ) {
        let mut is_outside = false;
        match step {
            RecordedStep::Submit(batch) => {
                for wait in &batch.waits {
                    is_outside |= match self.highest.get(&wait.semaphore) {
                        Some(highest) => wait.value > *highest,
                        None => !self.binary.remove(&wait.semaphore),
                    };
                }
                if is_outside {
                    outcome.waits_outside.push(number);
                }
                is_outside |= self.waits_for_host(batch, recording);
                let signals = batch.signals.iter().map(|signal| signal.semaphore);
                self.binary
                    .extend(signals.filter(|semaphore| !self.initial.contains_key(semaphore)));
            }
            RecordedStep::Acquire { semaphore, .. } => self.binary.extend(semaphore),
            RecordedStep::Present { waits, .. } => {
                for wait in waits {
                    is_outside |= !self.binary.remove(wait);
                }
            }
            RecordedStep::WaitSemaphore { semaphore, value } => {
                is_outside = self.reached.get(semaphore).is_none_or(|reached| reached < value);
            }
            RecordedStep::HostEvent(event) => outcome.host_events.push(*event),
            RecordedStep::Outside(call) => {
                outcome.outside_calls.push(call.clone());
                is_outside = true;
            }
            _ => {}
        }
        for (semaphore, value) in signaled(step) {
            raise(&mut self.reached, semaphore, value);
        }
        if is_outside {
            outcome.first_unknown.get_or_insert(number);
        }
    }

    /// Returns true if a batch waits for an event that the host sets or resets.
    fn waits_for_host(&self, batch: &Batch, recording: &Recording) -> bool {
        if self.host_events.is_empty() {
            return false;
        }
        let buffers = batch.command_buffers.iter();
        let mut commands = buffers.flat_map(|buffer| &recording.command_buffers[*buffer as usize].commands);
        commands.any(|command| match &command.action {
            CommandEffect::WaitEvents { events, .. } => {
                events.iter().any(|event| self.host_events.contains(event))
            }
            _ => false,
        })
    }
}

/// Returns the semaphores that a step signals, each with its value; 0 for a binary semaphore.
fn signaled(step: &RecordedStep) -> Vec<(u32, u64)> {
    match step {
        RecordedStep::Submit(batch) => {
            let signals = batch.signals.iter();
            signals.map(|signal| (signal.semaphore, signal.value)).collect()
        }
        RecordedStep::SignalSemaphore { semaphore, value } => vec![(*semaphore, *value)],
        _ => Vec::new(),
    }
}

/// Raises the known value of a timeline semaphore to `value`, if that is higher; ignores other semaphores.
fn raise(values: &mut BTreeMap<u32, u64>, semaphore: u32, value: u64) {
    if let Some(known) = values.get_mut(&semaphore) {
        *known = value.max(*known);
    }
}
