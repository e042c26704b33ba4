//! The devices on which a command is hooked.

use tileheap_layer::dispatch::EntryPoint;

/// The devices on which a command is hooked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Every device.
    Always,
    /// Devices on which order and contents are checked.
    Checked,
    /// [`Checked`](Mode::Checked) devices, and devices that enable an extension of the layer: these extensions add structures and bits to
    /// passes and barriers.
    Own,
}

/// An entry point of the layer, and the devices on which it is hooked.
pub(crate) type Hook = (Mode, EntryPoint);

/// Expands to the `Hook` of a command; `None` for commands that the layer only calls.
macro_rules! hook {
    (down $command:ident) => {
        None
    };
    (always $command:ident) => {
        Some(($crate::hooks::hook::Mode::Always, $command()))
    };
    (checked $command:ident) => {
        Some(($crate::hooks::hook::Mode::Checked, $command()))
    };
    (own $command:ident) => {
        Some(($crate::hooks::hook::Mode::Own, $command()))
    };
}
pub(crate) use hook;
