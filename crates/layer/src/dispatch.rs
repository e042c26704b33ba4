//! Command tables: function pointers of the next layer, by name.

use std::ffi::CStr;

/// An entry point of any type, as look-ups return it.
pub type EntryPoint = unsafe extern "system" fn();

/// Converts bytes whose only NUL is the last one to a C string.
///
/// # Panics
/// If the last byte is not the only NUL; in a constant, at compile time.
pub const fn c_name(bytes: &'static [u8]) -> &'static CStr {
    match CStr::from_bytes_with_nul(bytes) {
        Ok(name) => name,
        Err(_) => panic!("an identifier contains no NUL"),
    }
}

/// Expands to the name of a command as a constant C string.
#[macro_export]
macro_rules! command_name {
    ($command:ident) => {{
        const NAME: &::std::ffi::CStr =
            $crate::dispatch::c_name(concat!(stringify!($command), "\0").as_bytes());
        NAME
    }};
}

/// Returns true if an extension defines the command: the names of such commands end with the author's tag, in capitals.
pub const fn is_of_extension(name: &CStr) -> bool {
    match name.to_bytes() {
        [.., last] => last.is_ascii_uppercase(),
        [] => false,
    }
}

/// Declares a table of commands: `command: pointer type, or aliases;` for each. The table's function `load` looks up each
/// command in the next layer.
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
            /// Looks up every command by its names: first by those of extensions, which exist only if the extension is
            /// enabled, since drivers return core commands even for instances that are too old for them.
            ///
            /// # Safety
            /// `get` returns null or the command of the name.
            pub(crate) unsafe fn load(get: impl Fn(&::std::ffi::CStr) -> ::ash::vk::PFN_vkVoidFunction) -> $table {
                $table {
                    $($command: {
                        let names = [$crate::command_name!($command) $($(, $crate::command_name!($alias))+)?];
                        let found = |of_extension: bool| {
                            let mut names = names.iter().filter(|name| $crate::dispatch::is_of_extension(name) == of_extension);
                            names.find_map(|name| get(name))
                        };
                        let pointer = found(true).or_else(|| found(false));
                        // SAFETY: As the caller guarantees, the command of this name and so of this type.
                        unsafe { ::std::mem::transmute::<::ash::vk::PFN_vkVoidFunction, Option<$pointer>>(pointer) }
                    },)+
                }
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    command_table! {
        /// A table of commands that also have a name with, or without, an extension's suffix.
        Table {
            vkQueueSubmit2: ash::vk::PFN_vkQueueSubmit2, or vkQueueSubmit2KHR;
            vkMapMemory2KHR: ash::vk::PFN_vkMapMemory2KHR, or vkMapMemory2;
        }
    }

    unsafe extern "system" fn anything() {}

    /// The names under which the table's two commands were found, on a device on which `has` returns true for existing names.
    fn found(has: fn(&CStr) -> bool) -> Vec<String> {
        let names = Mutex::new(Vec::new());
        let get = |name: &CStr| -> ash::vk::PFN_vkVoidFunction {
            let found = has(name).then_some(anything as unsafe extern "system" fn());
            if found.is_some() {
                names.lock().unwrap().push(name.to_str().unwrap().to_owned());
            }
            found
        };
        // SAFETY: Nothing is called.
        let table = unsafe { Table::load(get) };
        assert!(table.vkQueueSubmit2.is_some() && table.vkMapMemory2KHR.is_some());
        names.into_inner().unwrap()
    }

    #[test]
    fn names_of_extensions_come_first() {
        assert_eq!(found(|_| true), ["vkQueueSubmit2KHR", "vkMapMemory2KHR"]);
        assert_eq!(
            found(|name| !is_of_extension(name)),
            ["vkQueueSubmit2", "vkMapMemory2"]
        );
    }
}
