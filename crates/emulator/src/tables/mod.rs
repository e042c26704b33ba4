//! Plain data: the driver's commands and properties, and those that the emulator adds.
//!
//! Commands as lists that macros expand, settings, message ids, the emulated physical device, structures that ash lacks.

pub(crate) mod action_commands;
pub(crate) mod device_commands;
pub(crate) mod emulation;
pub(crate) mod extended_flags;
pub(crate) mod instance_commands;
pub(crate) mod layer;
pub(crate) mod memory_types;
pub(crate) mod messages;
pub(crate) mod own_commands;
pub(crate) mod setting_descs;
pub(crate) mod settings;
pub(crate) mod unseen_writes;
