//! Maps the model's findings back to recorded commands.

use tileheap_sync::program::{ResourceId, Tag};
use tileheap_sync::{Action as ModelAction, MemoryUse as ModelUse};

use super::commands::{CommandPosition, Commands};
use super::finding::{Action, ResourceUse};
use super::passes::is_of_attachment;
use super::resources::Resources;
use super::steps::ModelFindings;
use super::words;
use crate::document::recording::{Batch, Command, RecordedStep, Recording};

/// The recording, its resources and commands in the model, and the model's findings.
pub(super) struct Sites<'a> {
    pub(super) recording: &'a Recording,
    pub(super) resources: &'a Resources<'a>,
    pub(super) commands: &'a Commands,
    pub(super) outcome: &'a ModelFindings,
}

/// A command's use of a resource, by position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct UsePosition {
    /// The step that submits the command.
    pub(super) step: u64,
    /// The tag of the command; unused for the presentation engine.
    pub(super) tag: Tag,
    /// The index of the resource in the recording.
    pub(super) resource: usize,
    /// The command's action on the resource.
    pub(super) action: Action,
}

/// Commands that one dependency orders: either those of a render pass instance that access its attachments, or a single command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Unit {
    Instance(u32),
    Command(Tag),
}

impl<'a> Sites<'a> {
    /// Returns the recorded step with this index.
    pub(super) fn step(&self, step: u64) -> &'a RecordedStep {
        &self.recording.steps[step as usize]
    }

    /// Returns the batch that a step submits; `None` for other steps, such as those of the presentation engine.
    pub(super) fn batch(&self, step: u64) -> Option<&'a Batch> {
        match self.step(step) {
            RecordedStep::Submit(batch) => Some(batch),
            _ => None,
        }
    }

    /// Returns the position of a command, unless the step belongs to the presentation engine.
    pub(super) fn site(&self, step: u64, tag: Tag) -> Option<CommandPosition> {
        self.batch(step).map(|_| self.commands.sites[tag.0 as usize])
    }

    /// Returns the command, unless the step belongs to the presentation engine.
    pub(super) fn command(&self, step: u64, tag: Tag) -> Option<&'a Command> {
        let site = self.site(step, tag)?;
        Some(&self.recording.command_buffers[site.buffer].commands[site.index])
    }

    /// Returns the name of a command, or of the presentation engine's call.
    pub(super) fn call(&self, step: u64, tag: Tag) -> &'a str {
        match (self.command(step, tag), self.step(step)) {
            (Some(command), _) => &command.call,
            (None, RecordedStep::Acquire { .. }) => "vkAcquireNextImageKHR",
            (None, _) => "vkQueuePresentKHR",
        }
    }

    /// Returns the name of a resource.
    pub(super) fn name(&self, resource: ResourceId) -> &'a str {
        &self.resources.get(resource).name
    }

    /// Converts a use in the model to a position in the recording.
    pub(super) fn use_position(&self, used: &ModelUse) -> UsePosition {
        UsePosition {
            step: used.batch,
            tag: used.tag,
            resource: self.resources.index(used.resource),
            action: self.action(used),
        }
    }

    fn action(&self, used: &ModelUse) -> Action {
        if self.batch(used.batch).is_none() {
            return Action::Present;
        }
        match used.action {
            ModelAction::Access(stage, access) if tileheap_sync::scopes::WRITES.contains(access) => {
                Action::Write { stage, access }
            }
            ModelAction::Access(stage, access) => Action::Read { stage, access },
            ModelAction::Transition => Action::Transition,
            ModelAction::Release => Action::Release,
            ModelAction::Acquire => Action::Acquire,
        }
    }

    /// Returns the commands that one dependency orders together with a use.
    pub(super) fn unit(&self, spot: &UsePosition) -> Unit {
        let place = self.site(spot.step, spot.tag).and_then(|site| site.place);
        let is_of_instance = match spot.action {
            Action::Read { access, .. } | Action::Write { access, .. } => is_of_attachment(access),
            Action::Transition => true,
            Action::Release | Action::Acquire | Action::Present => false,
        };
        match place {
            Some((instance, _)) if is_of_instance => Unit::Instance(instance),
            _ => Unit::Command(spot.tag),
        }
    }

    /// Converts a use for the report.
    pub(super) fn resource_use(&self, spot: &UsePosition) -> ResourceUse {
        let resource = &self.recording.resources[spot.resource];
        let mut used = ResourceUse {
            call: self.call(spot.step, spot.tag).to_owned(),
            submission: self.outcome.submissions[spot.step as usize],
            resource: resource.name.clone(),
            description: words::description(resource),
            action: spot.action,
            ..ResourceUse::default()
        };
        if let (Some(site), Some(command)) =
            (self.site(spot.step, spot.tag), self.command(spot.step, spot.tag))
        {
            used.command_buffer = self.recording.command_buffers[site.buffer].name.clone();
            used.number = command.number;
            used.label = command.label.clone();
            used.secondary = command.secondary.clone();
        }
        used
    }
}
