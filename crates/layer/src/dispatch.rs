//! Command tables: function pointers of the next layer, by name.

use std::ffi::CStr;

/// An entry point of any type, as look-ups return it.
pub type EntryPoint = unsafe extern "system" fn();

/// The C string of bytes that end with their only NUL.
///
/// # Panics
/// Where they do not, at compile time in a constant.
pub const fn c_name(bytes: &'static [u8]) -> &'static CStr {
    match CStr::from_bytes_with_nul(bytes) {
        Ok(name) => name,
        Err(_) => panic!("an identifier holds no NUL"),
    }
}

/// The name of a command as a constant C string.
#[macro_export]
macro_rules! command_name {
    ($command:ident) => {{
        const NAME: &::std::ffi::CStr =
            $crate::dispatch::c_name(concat!(stringify!($command), "\0").as_bytes());
        NAME
    }};
}

/// Declares a table of commands: `command: pointer type, or aliases;` for each. Its function `load` looks each up in the next
/// layer.
#[macro_export]
macro_rules! command_table {
    ($(#[$doc:meta])* $table:ident { $($command:ident: $pointer:ty $(, or $($alias:ident)+)?;)+ }) => {
        $(#[$doc])*
        #[allow(non_snake_case, reason = "Vulkan's names")]
        #[allow(dead_code, reason = "some of the commands are never called")]
        pub(crate) struct $table {
            $(pub(crate) $command: Option<$pointer>,)+
        }

        impl $table {
            /// Looks every command up by name, and by its aliases where that returns null.
            ///
            /// # Safety
            /// `get` returns null or the command of the name.
            pub(crate) unsafe fn load(get: impl Fn(&::std::ffi::CStr) -> ::ash::vk::PFN_vkVoidFunction) -> $table {
                $table {
                    $($command: {
                        let pointer = get($crate::command_name!($command));
                        $($(let pointer = pointer.or_else(|| get($crate::command_name!($alias)));)+)?
                        // SAFETY: By the caller's promise the command of this name, and so of this type.
                        unsafe { ::std::mem::transmute::<::ash::vk::PFN_vkVoidFunction, Option<$pointer>>(pointer) }
                    },)+
                }
            }
        }
    };
}
