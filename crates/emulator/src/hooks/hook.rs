//! The devices on which a command is hooked.

use tileheap_layer::dispatch::EntryPoint;

/// The devices on which a command is hooked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Every device whose memory types are remapped.
    Always,
    /// Devices that enabled tile memory.
    Tile,
    /// Devices that enabled one of the layer's extensions: each has structures and bits of its own in passes and barriers.
    Own,
}

/// An entry point of the layer, and the devices on which it is hooked.
pub(crate) type Hook = (Mode, EntryPoint);

/// The layer's entry point of a command, which has the command's type; none for commands that are only called down.
macro_rules! hook {
    (down $command:ident $pointer:ty) => {
        None
    };
    (always $command:ident $pointer:ty) => {
        $crate::hooks::hook::hook!(@ Always $command $pointer)
    };
    (tile $command:ident $pointer:ty) => {
        $crate::hooks::hook::hook!(@ Tile $command $pointer)
    };
    (own $command:ident $pointer:ty) => {
        $crate::hooks::hook::hook!(@ Own $command $pointer)
    };
    (@ $mode:ident $command:ident $pointer:ty) => {{
        let function: $pointer = $command;
        // SAFETY: A function pointer, which is called as what its name says.
        let entry = unsafe { ::std::mem::transmute::<$pointer, tileheap_layer::dispatch::EntryPoint>(function) };
        Some(($crate::hooks::hook::Mode::$mode, entry))
    }};
}
pub(crate) use hook;
