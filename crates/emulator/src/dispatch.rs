//! How a table of commands is declared: the next layer's pointers, and which of its names the layer answers itself.

/// When the layer's own entry point is given for a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// On every device where memory types are remapped.
    Always,
    /// On devices that enabled tile memory.
    Tile,
    /// On devices that enabled one of the layer's extensions: each has structures and bits of its own in passes and barriers.
    Own,
}

/// An entry point of any type, as look-ups give it.
pub(crate) type EntryPoint = unsafe extern "system" fn();

/// An entry point of the layer, and when it is given.
pub(crate) type Hook = (Mode, EntryPoint);

/// A name as a look-up is asked for it.
macro_rules! name {
    ($command:ident) => {{
        const NAME: &::std::ffi::CStr =
            match ::std::ffi::CStr::from_bytes_with_nul(concat!(stringify!($command), "\0").as_bytes()) {
                Ok(name) => name,
                Err(_) => panic!("an identifier holds no NUL"),
            };
        NAME
    }};
}

/// The layer's entry point of a command, which has the command's type; none for commands that are only called down.
macro_rules! hook {
    (down $command:ident $pointer:ty) => {
        None
    };
    (always $command:ident $pointer:ty) => {
        $crate::dispatch::hook!(@ Always $command $pointer)
    };
    (tile $command:ident $pointer:ty) => {
        $crate::dispatch::hook!(@ Tile $command $pointer)
    };
    (own $command:ident $pointer:ty) => {
        $crate::dispatch::hook!(@ Own $command $pointer)
    };
    (@ $mode:ident $command:ident $pointer:ty) => {{
        let function: $pointer = $command;
        // SAFETY: A function pointer, which whoever asked for it by name calls as what it is.
        let entry = unsafe { ::std::mem::transmute::<$pointer, $crate::dispatch::EntryPoint>(function) };
        Some(($crate::dispatch::Mode::$mode, entry))
    }};
}

/// Declares a table: `mode command: pointer type, or aliases;` for each command. `load` asks the next layer for each; `hooks`
/// lists the layer's own entry points by name.
macro_rules! commands {
    ($(#[$doc:meta])* $table:ident { $($mode:ident $command:ident: $pointer:ty $(, or $($alias:ident)+)?;)+ }) => {
        $(#[$doc])*
        #[allow(non_snake_case, reason = "Vulkan's names")]
        #[allow(dead_code, reason = "some of the commands answered are never called down")]
        pub(crate) struct $table {
            $(pub(crate) $command: Option<$pointer>,)+
        }

        impl $table {
            /// Asks for every command by name, and by its aliases where that gives nothing.
            ///
            /// # Safety
            /// `get` gives nothing or the command of the name.
            pub(crate) unsafe fn load(get: impl Fn(&::std::ffi::CStr) -> ::ash::vk::PFN_vkVoidFunction) -> $table {
                $table {
                    $($command: {
                        let pointer = get($crate::dispatch::name!($command));
                        $($(let pointer = pointer.or_else(|| get($crate::dispatch::name!($alias)));)+)?
                        // SAFETY: By the caller's promise the command of this name, and so of this type.
                        unsafe { ::std::mem::transmute::<::ash::vk::PFN_vkVoidFunction, Option<$pointer>>(pointer) }
                    },)+
                }
            }

            /// The layer's own entry points among these commands.
            pub(crate) fn hooks() -> Vec<(&'static ::std::ffi::CStr, $crate::dispatch::Hook)> {
                let mut hooks = Vec::new();
                $(
                    let hook: Option<$crate::dispatch::Hook> = $crate::dispatch::hook!($mode $command $pointer);
                    if let Some(hook) = hook {
                        hooks.push(($crate::dispatch::name!($command), hook));
                        $($(hooks.push(($crate::dispatch::name!($alias), hook));)+)?
                    }
                )+
                hooks
            }
        }
    };
}
pub(crate) use {commands, hook, name};
