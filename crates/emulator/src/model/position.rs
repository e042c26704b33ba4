//! Positions in the application's work: command buffer, command, bound tile memory, submit call.

use std::fmt;

use ash::vk;
use serde_json::{Value, json};

use super::objects::{Names, Object};
use crate::tables::layer::Layer;

/// The bound tile memory object, and its size in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BoundMemory {
    pub(crate) memory: u64,
    pub(crate) size: u64,
}

/// The binding that a secondary command buffer inherits with an unknown memory object, which is assumed to be the one that its primary has bound.
///
/// Validation 1.4.363 passes its own handles to lower layers in this one structure, where they are invalid. Reporting such a handle would be strict,
/// but then no correct program with secondaries would run under validation, which reports the mistake itself
/// (VUID-VkTileMemoryBindInfoQCOM-memory-10726).
pub(crate) const UNKNOWN: BoundMemory = BoundMemory {
    memory: 0,
    size: u64::MAX,
};

/// A recorded command, and the tile memory that is bound when it executes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Position {
    /// The handle of the command buffer.
    pub(crate) commands: u64,
    /// Number of action commands so far, including this one: draws, dispatches, transfers, the beginnings and ends of render passes,
    /// and `vkCmdExecuteCommands`. Other commands are not counted, since the layer does not see all of them.
    pub(crate) actions: u32,
    /// The command's name. While untracked commands are recorded, the name of the last tracked one.
    command: &'static str,
    is_action: bool,
    pub(crate) bound: Option<BoundMemory>,
    /// Number of action commands recorded before `bound` was set; `None` if nothing was ever bound or unbound.
    bound_after: Option<u32>,
}

impl Position {
    /// The position at the beginning of a command buffer.
    pub(crate) fn beginning_of(commands: vk::CommandBuffer) -> Position {
        Position {
            commands: vk::Handle::as_raw(commands),
            ..Position::default()
        }
    }

    /// Sets the command, which is the action command that was counted last.
    pub(crate) fn is_at(&mut self, command: &'static str) {
        (self.command, self.is_action) = (command, true);
    }

    /// The command's name.
    pub(crate) fn command(&self) -> &'static str {
        self.command
    }

    /// Counts the next action command.
    pub(crate) fn act(&mut self, command: &'static str) {
        self.actions += 1;
        self.is_at(command);
    }

    /// Sets the command, which is not an action command.
    pub(crate) fn is_between(&mut self, command: &'static str) {
        (self.command, self.is_action) = (command, false);
    }

    /// Binds a tile memory object, or nothing.
    pub(crate) fn bind(&mut self, bound: Option<BoundMemory>) {
        (self.bound, self.bound_after) = (bound, Some(self.actions));
    }

    /// Converts the command to JSON.
    pub(crate) fn json(&self, names: &Names) -> Value {
        let bound = self.bound.filter(|bound| *bound != UNKNOWN);
        json!({
            "commandBuffer": names.json(Object(vk::ObjectType::COMMAND_BUFFER, self.commands)),
            "command": self.command,
            "action": self.actions,
            "isAction": self.is_action,
            "bound": bound.map(|bound| names.json(Object(vk::ObjectType::DEVICE_MEMORY, bound.memory))),
            "boundBytes": bound.map(|bound| bound.size),
            "boundAfterAction": self.bound_after,
        })
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let commands = Object(vk::ObjectType::COMMAND_BUFFER, self.commands);
        let Position { command, actions, .. } = self;
        match (self.is_action, actions) {
            (true, _) => write!(f, "{command}, action command {actions} of {commands}")?,
            (false, 0) => write!(f, "{command} before the first action command of {commands}")?,
            (false, _) => write!(f, "{command} after action command {actions} of {commands}")?,
        }
        if Layer::loaded() == Layer::Aliasing {
            return Ok(()); // There is no tile memory to bind.
        }
        match self.bound {
            None => write!(f, ", with nothing bound"),
            Some(UNKNOWN) => write!(f, ", with the tile memory bound by its primary command buffer"),
            Some(BoundMemory { memory, size }) => {
                let memory = Object(vk::ObjectType::DEVICE_MEMORY, memory);
                write!(f, ", with {memory} of {size} B bound")
            }
        }?;
        match self.bound_after {
            Some(after) => write!(f, " before action command {}", after + 1),
            None => Ok(()),
        }
    }
}

/// A batch of a submit call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Submit {
    /// The number of the submit call on the device, from 1.
    pub(crate) number: u64,
    pub(crate) batch: usize,
    pub(crate) queue: u64,
}

impl Submit {
    /// Converts the batch to JSON.
    pub(crate) fn json(&self, names: &Names) -> Value {
        let queue = names.json(Object(vk::ObjectType::QUEUE, self.queue));
        json!({ "number": self.number, "batch": self.batch, "queue": queue })
    }
}

impl fmt::Display for Submit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let queue = Object(vk::ObjectType::QUEUE, self.queue);
        write!(f, "batch {} of submit {} to {queue}", self.batch, self.number)
    }
}
