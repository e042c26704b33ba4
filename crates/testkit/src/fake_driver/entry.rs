//! Declarations of entry points, and the version or extension that adds them.

use std::ffi::CStr;

use ash::vk;

/// The version or extension that adds a function.
#[derive(Clone, Copy)]
pub(super) enum Since {
    /// Available without an instance, in every version.
    Global,
    Instance,
    InstanceExtension(&'static CStr),
    /// Part of this version of Vulkan, at device level.
    Core(u32),
    /// Part of this device extension.
    Extension(&'static CStr),
}

pub(super) const V1_0: Since = Since::Core(vk::API_VERSION_1_0);
pub(super) const V1_1: Since = Since::Core(vk::API_VERSION_1_1);
pub(super) const V1_2: Since = Since::Core(vk::API_VERSION_1_2);
pub(super) const V1_3: Since = Since::Core(vk::API_VERSION_1_3);
pub(super) const DEBUG_UTILS: Since = Since::InstanceExtension(ash::ext::debug_utils::NAME);

/// `attempt!(call, fail)`: returns the error if the call is set to fail. `attempt!(call, unless_lost)`: also fails on a lost device.
macro_rules! attempt {
    ($call:ident, fail) => {
        if let Some(error) = $call.fails() {
            return error;
        }
    };
    ($call:ident, unless_lost) => {
        if let Some(error) = $call.fails_or_lost() {
            return error;
        }
    };
}

/// Declares functions by their pointer types, from which their names derive, and a function that looks them up by name. With `|call|`, a
/// function enters the driver of its first argument; with `|call may fail|`, it also fails on request.
macro_rules! entry_points {
    ($look_up:ident: $($since:expr => $($pointer:ident)::+($first:tt $(, $arg:tt)*)
        $(|$call:ident $(may $fail:ident)?|)? $body:block)+) => {
        pub(super) fn $look_up(name: &str) -> Option<($crate::fake_driver::entry::Since, tileheap_layer::dispatch::EntryPoint)> {
            $({
                const POINTER: &str = stringify!($($pointer)::+);
                if name == $crate::fake_driver::entry::command(POINTER) {
                    let entry = tileheap_layer::entry_point!(|_: &()| None::<$($pointer)::+>, |$first $(, $arg)*| {
                        $(
                            let function = $crate::fake_driver::entry::command(POINTER);
                            #[allow(unused_mut, reason = "some change nothing")]
                            let mut $call = $crate::fake_driver::state::enter($first, function);
                            $($crate::fake_driver::entry::attempt!($call, $fail);)?
                        )?
                        $body
                    });
                    return Some(($since, entry));
                }
            })+
            None
        }
    };
}

pub(super) use {attempt, entry_points};

/// The function name of a pointer type: `vkQueueSubmit` for `vk::PFN_vkQueueSubmit`.
pub(super) fn command(pointer: &'static str) -> &'static str {
    pointer.rsplit("PFN_").next().unwrap_or(pointer)
}
